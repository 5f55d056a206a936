/* SPDX-License-Identifier: MIT */
/*
 * cell.h — the body of a Loop as the cell of a recurrent layer: an LSTM, a GRU or a simple RNN. The
 * inputs of its activation functions are sums of products with constant weights: of the input x of
 * the step, of the state h, and of their concatenation, with biases at any place. The columns of
 * such a sum may belong to several gates.
 */
#ifndef PRT_PASS_RECURRENT_CELL_H
#define PRT_PASS_RECURRENT_CELL_H

#include "pass/recurrent/loop.h"

enum { PRT_CELL_GATES = 4, PRT_CELL_BIASES = 4, PRT_CELL_FUNCTIONS = 3 };

/* Rows and columns of a matrix [rows, columns], or [columns, rows] if it is transposed, that a
 * vector is multiplied with. `matrix` NULL: no product. */
typedef struct prt_cell_product {
    prt_value *matrix;
    bool transposed;
    int64_t row, rows, column;
} prt_cell_product;

typedef struct prt_cell_bias {
    prt_value *value; /* outer; one element, or a vector of which the columns from `column` on */
    int64_t column;
} prt_cell_bias;

/* The input of an activation function. */
typedef struct prt_cell_gate {
    prt_cell_product x, h;
    const prt_value *h_of; /* the factor of the product h */
    prt_cell_bias bias[PRT_CELL_BIASES];
    uint32_t n_bias;
    prt_value *peephole; /* outer vector, times `peephole_of` */
    const prt_value *peephole_of;
    const prt_op *scaled; /* a Mul that is a term of the sum and not a peephole */
} prt_cell_gate;

typedef struct prt_cell_function {
    const char *name; /* as ONNX writes it in `activations`; NULL: not known */
    bool has_alpha, has_beta;
    float alpha, beta;
} prt_cell_function;

typedef struct prt_cell {
    const prt_loop *loop;
    uint32_t op;              /* PRT_OP_lstm, PRT_OP_gru or PRT_OP_rnn */
    uint32_t h, c;            /* carried values; c of an LSTM only */
    prt_value *new_h, *new_c; /* before a mask keeps the old ones */
    int64_t hidden;
    uint32_t n_gates; /* in the order of ONNX */
    prt_cell_gate gates[PRT_CELL_GATES];
    prt_cell_gate reset; /* of a GRU that applies the reset gate to a sum: this sum */
    bool linear_before_reset;
    uint32_t n_functions;
    prt_cell_function functions[PRT_CELL_FUNCTIONS];
    prt_value *x; /* outer [time, batch, input], or [batch, time, input] if `axis` is 1 */
    uint32_t axis;
    bool backwards;     /* the first iteration reads the last step */
    prt_value *lengths; /* states change while the iteration is below these; NULL: always */
} prt_cell;

/* Returns whether carried value `h` of the loop is the output of such a cell, and describes it. */
bool prt_cell_match(const prt_loop *loop, uint32_t h, prt_cell *out);

/* Columns of a value of the body, from `column` on. */
typedef struct prt_cell_columns {
    prt_value *of;
    int64_t column;
} prt_cell_columns;

/* Reads the input of an activation function: `hidden` columns. */
bool prt_cell_read_gate(prt_cell *cell, prt_cell_columns in, prt_cell_gate *gate);
/* Reads the first column of the part of its input that the Split or Slice that makes `v` returns.
 * Returns false if it divides another axis. */
bool prt_cell_first_column(const prt_value *v, int64_t *first);

/* Build the inputs W, R and B of the operator, and P if there are peepholes; B and P may be NULL.
 * A failure is in `b`. */
typedef struct prt_cell_weights {
    prt_value *w, *r, *b, *p;
} prt_cell_weights;
prt_cell_weights prt_cell_build(const prt_cell *cell, prt_build *b);

#endif
