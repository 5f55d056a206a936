/* SPDX-License-Identifier: MIT */
/*
 * recurrent.h — what the fast forms of RNN, GRU and LSTM share: the products of W with all steps
 * of a stretch of time, R packed once for all steps unless it came so (op/internal/recurrent.def),
 * and the walk over time. An operator adds what happens in a step.
 *
 * Time goes by absolute positions in both directions: a position beyond an entry's length leaves
 * its states alone.
 */
#ifndef PRT_FAST_RECURRENT_RECURRENT_H
#define PRT_FAST_RECURRENT_RECURRENT_H

#include "fast/fast.h"
#include "op/internal/packed_rnn.h"

/* Rows of R that are multiplied with the same vector: GRU has two groups. */
typedef struct prt_recurrent_part {
    size_t rows;
    const float *r;      /* [rows, hidden]; NULL: came as panels */
    const float *panels; /* as kern/gemm/gemm.h has them; NULL: `r` itself is used */
    float *packed;       /* room for them; NULL: not needed */
} prt_recurrent_part;

/* One direction. */
typedef struct prt_recurrent_side {
    const float *w;    /* [rows, input], or panels of that */
    float *bias;       /* [rows], of W's products; NULL: none */
    const float *late; /* [hidden], of R's product for gate h of a GRU that resets after it */
    const float *peepholes;
    prt_recurrent_part part[2];
    prt_cell_acts acts;
    float *h, *c; /* [batch, hidden] */
    float *gates; /* [steps, batch, rows], of the stretch at hand */
    size_t first; /* position where the stretch begins */
    bool backward;
} prt_recurrent_side;

typedef struct prt_recurrent prt_recurrent;

/* Entries [entry, entry + count) of the batch at one step of a direction. */
typedef struct prt_recurrent_step {
    const prt_recurrent_side *side;
    size_t at, entry, count;
    float *gates;             /* [count, rows]: products of W, with biases */
    float *spare;             /* [count, hidden] */
    float *sums;              /* [rows], for prt_recurrent_product */
    float *extra;             /* as many as the operator asks for */
    prt_gemv_overlap *beside; /* gates of later steps, computed with R's products; NULL: none */
} prt_recurrent_step;

struct prt_recurrent {
    /* The operator gives: */
    prt_rnn_form form;
    uint32_t initial_c, peepholes; /* inputs; UINT32_MAX: none */
    bool late;                     /* GRU: the last gate's bias of R is added before the reset */
    size_t late_rows; /* in units of `hidden`: R's last gates that are a part of their own */
    void (*step)(const prt_recurrent *n, const prt_recurrent_step *s);
    size_t extra; /* floats that a step needs besides */
    /* W and R are the operator's, which lays them out once all else is known, or finds that it is
     * not its own, and multiplies all steps of the stretch with W. NULL: they are float32. */
    poprt_status (*prepare)(prt_recurrent *n, bool *ours);
    poprt_status (*multiply)(const prt_recurrent *n, const prt_recurrent_side *side);
    const void *attrs;
    const prt_packed_rnn *ready; /* W and R came as panels; NULL: as ONNX has them */
    /* The rest is found by prt_recurrent_read: */
    prt_eval *eval;
    const prt_kern *kern;
    size_t seq, batch, input, hidden, directions, rows, parts;
    size_t most;           /* steps of a stretch */
    size_t steps, pieces;  /* of the stretch at hand; of the batch */
    size_t threads;        /* of a row's product; 0: those that walk are enough */
    size_t early, ahead;   /* of those steps: whose gates are computed before the walk; at a time */
    const size_t *lengths; /* by entry; NULL: all are `seq` */
    prt_recurrent_side side[2];
};

/* Finds the rest but `eval` and `kern`, with room for all that is computed; or that the operator
 * is not `ours`. */
poprt_status prt_recurrent_read(prt_recurrent *n, bool *ours);

/* Last states to Y_h and Y_c. */
void prt_recurrent_write(const prt_recurrent *n);

/* Fills in the rest and runs the whole operator. */
poprt_status prt_recurrent_run(prt_recurrent *n, prt_eval *c, const prt_kern *k, bool *done);

/* y[i] = (add: y[i] +) x[i] times part `part` of R, for the entries of a step. Rows of x are
 * `hidden` apart, those of y `stride`. */
void prt_recurrent_product(const prt_recurrent *n, const prt_recurrent_step *s, size_t part,
    const float *x, bool add, float *y, size_t stride);

/* Entry b is still running. */
static inline bool prt_recurrent_active(const prt_recurrent *n, const prt_recurrent_step *s,
    size_t b)
{
    return n->lengths == NULL || s->at < n->lengths[b];
}

#endif
