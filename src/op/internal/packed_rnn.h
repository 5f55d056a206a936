/* SPDX-License-Identifier: MIT */
/* packed_rnn.h — recurrent operators with weights packed as op/internal/recurrent.def describes. */
#ifndef PRT_OP_INTERNAL_PACKED_RNN_H
#define PRT_OP_INTERNAL_PACKED_RNN_H

#include "op/share/rnn_core.h"

/* The attributes of an ONNX RNN, GRU or LSTM. */
typedef union prt_rnn_attrs_any {
    prt_rnn_attrs rnn;
    prt_gru_attrs gru;
    prt_lstm_attrs lstm;
} prt_rnn_attrs_any;

/* The attributes of an operator of op/internal/recurrent.def. */
typedef union prt_packed_rnn_attrs_any {
    prt_packed_rnn_attrs rnn;
    prt_packed_gru_attrs gru;
    prt_packed_lstm_attrs lstm;
} prt_packed_rnn_attrs_any;

typedef struct prt_packed_rnn {
    uint32_t plain;          /* the ONNX operator, PRT_OP_* */
    prt_rnn_attrs_any attrs; /* its attributes */
    size_t directions, rows;
    size_t separate_rows; /* rows of gate h of a GRU, which are packed separately */
    size_t input, hidden;
    size_t w, r; /* elements of W and R */
} prt_packed_rnn;

/* Returns whether operator `id` is one of op/internal/recurrent.def. */
static inline bool prt_packed_rnn_is(uint32_t id)
{
    return id == PRT_OP_packed_rnn || id == PRT_OP_packed_gru || id == PRT_OP_packed_lstm;
}

/* Reads the sizes from the attributes. Returns false where a size is invalid or the weights do not
   fit in memory. */
bool prt_packed_rnn_of(uint32_t id, const void *attrs, prt_packed_rnn *out);

/* Pack W and R from [directions, rows, input] and [directions, rows, hidden], and unpack them. */
void prt_packed_rnn_w(const prt_packed_rnn *p, const float *w, float *to);
void prt_packed_rnn_r(const prt_packed_rnn *p, const float *r, float *to);
void prt_packed_rnn_plain_w(const prt_packed_rnn *p, const float *from, float *w);
void prt_packed_rnn_plain_r(const prt_packed_rnn *p, const float *from, float *r);

#endif
