/* SPDX-License-Identifier: MIT */
/*
 * recurrent.h — the common part of RNN, GRU and LSTM: the products of W for a stretch of time
 * steps, R packed once for all steps (unless it is packed already, op/internal/recurrent.def), and
 * the loop over time. An operator adds the step.
 *
 * Time is an absolute position in both directions. A position beyond an entry's length does not
 * change its states.
 */
#ifndef PRT_FAST_RECURRENT_RECURRENT_H
#define PRT_FAST_RECURRENT_RECURRENT_H

#include "fast/fast.h"
#include "op/internal/packed_rnn.h"

/* Rows of R that are multiplied by the same vector. GRU has two such parts. */
typedef struct prt_recurrent_part {
    size_t rows;
    const float *r;      /* [rows, hidden]; NULL: packed at compile time */
    const float *panels; /* panels, see kern/gemm/gemm.h; NULL: `r` is used */
    float *packed;       /* memory for the panels; NULL: not needed */
} prt_recurrent_part;

/* One direction. */
typedef struct prt_recurrent_direction {
    const float *w;              /* [rows, input], or its panels */
    float *bias;                 /* [rows], added to W's products; NULL: no bias */
    const float *recurrent_bias; /* [hidden], bias of R's product for gate h of a GRU that resets
                                      after it */
    const float *peepholes;
    prt_recurrent_part part[2];
    prt_cell_acts acts;
    float *h, *c; /* [batch, hidden] */
    float *gates; /* [steps, batch, rows], of the current stretch */
    size_t first; /* position of the first step of the stretch */
    bool backward;
} prt_recurrent_direction;

typedef struct prt_recurrent prt_recurrent;

/* Entries [entry, entry + count) of the batch at one step of a direction. */
typedef struct prt_recurrent_step {
    const prt_recurrent_direction *side;
    size_t at, entry, count;
    float *gates;              /* [count, rows]: products of W, with biases */
    float *hidden_scratch;     /* [count, hidden] */
    float *sums;               /* [rows], used by prt_recurrent_product */
    float *extra;              /* the floats that the operator asks for */
    prt_gemv_overlap *overlap; /* gates of later steps, computed together with R's products; NULL:
                                * none */
} prt_recurrent_step;

struct prt_recurrent {
    /* Set by the operator: */
    prt_rnn_params form;
    uint32_t initial_c, peepholes; /* inputs; UINT32_MAX: absent */
    bool linear_before_reset;      /* GRU: the bias of R for the last gate is added before the
                                    * reset */
    size_t separate_rows; /* in units of `hidden`: R's last gates that form a part of their own */
    void (*step)(const prt_recurrent *n, const prt_recurrent_step *s);
    size_t extra; /* additional floats for a step */
    /* If not NULL, the operator has its own weights. `prepare` packs them, or clears `supported`.
     * `multiply` multiplies all steps of a stretch by W. NULL: W and R are float32. */
    poprt_status (*prepare)(prt_recurrent *n, bool *supported);
    poprt_status (*multiply)(const prt_recurrent *n, const prt_recurrent_direction *side);
    const void *attrs;
    const prt_packed_rnn *ready; /* W and R were packed at compile time; NULL: as in ONNX */
    /* Set by prt_recurrent_read: */
    prt_eval *eval;
    const prt_kern *kern;
    size_t seq, batch, input, hidden, directions, rows, parts;
    size_t most;           /* steps of a stretch, at most */
    size_t steps, pieces;  /* steps of the current stretch; pieces of the batch */
    size_t threads;        /* threads that share the product of a row; 0: one */
    size_t early, ahead;   /* steps whose gates are computed before the loop; steps computed at a
                            * time during it */
    const size_t *lengths; /* by entry; NULL: all are `seq` */
    prt_recurrent_direction side[2];
};

/* Reads the operands, sets the members and allocates memory, given `eval` and `kern`. Clears
 * `*ours` if the operator is not supported. */
poprt_status prt_recurrent_read(prt_recurrent *n, bool *supported);

/* Writes the last states to Y_h and Y_c. */
void prt_recurrent_write(const prt_recurrent *n);

/* Reads the operands and runs the whole operator. */
poprt_status prt_recurrent_run(prt_recurrent *n, prt_eval *c, const prt_kern *k, bool *done);

/* Computes y[i] = (add: y[i] +) x[i] times part `part` of R for the entries of a step. Rows of x
 * are `hidden` apart, rows of y `stride`. */
void prt_recurrent_product(const prt_recurrent *n, const prt_recurrent_step *s, size_t part,
    const float *x, bool add, float *y, size_t stride);

/* Returns whether entry b is still running. */
static inline bool prt_recurrent_active(const prt_recurrent *n, const prt_recurrent_step *s,
    size_t b)
{
    return n->lengths == NULL || s->at < n->lengths[b];
}

#endif
