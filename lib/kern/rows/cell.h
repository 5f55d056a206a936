/* SPDX-License-Identifier: MIT */
/*
 * cell.h — what a recurrent cell does with the products of a step, for one batch entry: gates
 * through their functions, states replaced. Vectors have `n` elements (hidden units) and may be
 * anywhere; those of one cell do not overlap.
 */
#ifndef PRT_KERN_ROWS_CELL_H
#define PRT_KERN_ROWS_CELL_H

#include <stdbool.h>

#include "kern/vector/act.h"

/* The functions f, g and h of ONNX; gates are clipped to [-clip, clip] before f and g. */
typedef struct prt_cell_acts {
    prt_act act[3];
    float clip; /* INFINITY: none */
} prt_cell_acts;

typedef struct prt_lstm_cell {
    size_t n;
    const prt_cell_acts *acts;
    const float *gates;     /* i, o, f, c: n of each */
    const float *peepholes; /* i, o, f; NULL: none */
    float *c, *h;           /* read and replaced; replaced */
    bool coupled;           /* f = 1 - i */
} prt_lstm_cell;

typedef struct prt_gru_cell {
    size_t n;
    const prt_cell_acts *acts;
    float *gates;      /* z, r, h; `reset` replaces z by its value */
    const float *with; /* what r scales: h, or the recurrent product of gate h */
    const float *bias; /* added to `with`; NULL: none */
    float *reset;      /* r * (with + bias); may be `with` */
    float *h;          /* read and replaced by `state` */
    bool add;          /* `reset` to gate h, in `state` */
} prt_gru_cell;

typedef struct prt_kern_cells {
    void (*lstm)(const prt_lstm_cell *l);
    /* The first half of a GRU's step, before what hangs on r. */
    void (*gru_reset)(const prt_gru_cell *u);
    /* The second half: h = (1 - z) * g(gate h) + z * h */
    void (*gru_state)(const prt_gru_cell *u);
} prt_kern_cells;

#endif
