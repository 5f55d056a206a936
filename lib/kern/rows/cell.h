/* SPDX-License-Identifier: MIT */
/*
 * cell.h — the elementwise part of a recurrent cell, for one step of one batch entry: applies the
 * functions to the gates and replaces the states. Vectors have `n` elements (hidden units) without
 * alignment; vectors of one cell do not overlap.
 */
#ifndef PRT_KERN_ROWS_CELL_H
#define PRT_KERN_ROWS_CELL_H

#include <stdbool.h>

#include "kern/vector/act.h"

/* The functions f, g and h of ONNX. Gates are clipped to [-clip, clip] before f and g. */
typedef struct prt_cell_acts {
    prt_act act[3];
    float clip; /* INFINITY: no clipping */
} prt_cell_acts;

typedef struct prt_lstm_cell {
    size_t n;
    const prt_cell_acts *acts;
    const float *gates;     /* i, o, f, c: n of each */
    const float *peepholes; /* i, o, f; NULL: no peepholes */
    float *c, *h;           /* c is read and replaced, h is replaced */
    bool coupled;           /* f = 1 - i */
} prt_lstm_cell;

typedef struct prt_gru_cell {
    size_t n;
    const prt_cell_acts *acts;
    float *gates;      /* z, r, h; `reset` replaces z by its value */
    const float *with; /* scaled by r: h, or the recurrent product of gate h */
    const float *bias; /* added to `with`; NULL: no bias */
    float *reset;      /* r * (with + bias); may be `with` */
    float *h;          /* read and replaced by `state` */
    bool add;          /* `state` adds `reset` to gate h */
} prt_gru_cell;

typedef struct prt_kern_cells {
    void (*lstm)(const prt_lstm_cell *l);
    /* The first half of a GRU step, before the product that depends on r. */
    void (*gru_reset)(const prt_gru_cell *u);
    /* The second half: h = (1 - z) * g(gate h) + z * h */
    void (*gru_state)(const prt_gru_cell *u);
} prt_kern_cells;

#endif
