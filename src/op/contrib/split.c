/* SPDX-License-Identifier: MIT */
/*
 * split.c — StringSplit: the pieces of a vector of strings as a sparse matrix, one row for each
 * string. Every byte of the separator separates; without separator, each byte is a piece. Empty
 * strings have no pieces.
 */
#include "op/share/strings.h"

static poprt_status infer(prt_infer *c)
{
    const int64_t indices[2] = { PRT_DIM_UNKNOWN, 2 };
    PRT_TRY(prt_infer_single(c, 1));
    PRT_TRY(prt_infer_single(c, 2));
    if (prt_infer_ranked(c, 0) && c->in[0].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 1",
            c->in[0].rank);
    PRT_TRY(prt_infer_set(c, 0, PRT_DTYPE_i64, 2, indices));
    PRT_TRY(prt_infer_set(c, 1, PRT_DTYPE_string, 1, indices));
    return prt_infer_set(c, 2, PRT_DTYPE_i64, 1, indices + 1);
}

typedef struct splitter {
    prt_str separator;
    bool skip_empty;
    const char *at, *end; /* the text that is left; `at` is NULL after the last piece */
} splitter;

/* Reads the next piece. Returns false at the end. */
static bool next_piece(splitter *s, prt_str *piece)
{
    while (s->at != NULL) {
        const char *from = s->at, *stop = from;
        if (s->separator.size == 0) {
            s->at = from + 1 < s->end ? from + 1 : NULL;
            *piece = (prt_str){ from, 1 };
            return true;
        }
        while (stop < s->end && memchr(s->separator.data, *stop, s->separator.size) == NULL)
            stop++;
        s->at = stop < s->end ? stop + 1 : NULL;
        *piece = (prt_str){ from, (uint32_t)(stop - from) };
        if (piece->size != 0 || !s->skip_empty)
            return true;
    }
    return false;
}

static void start(splitter *s, poprt_string text)
{
    s->at = text.size != 0 ? text.data : NULL;
    s->end = s->at != NULL ? s->at + text.size : NULL;
}

/* Writes all pieces and their indices. */
static poprt_status write_pieces(prt_eval *c, splitter *s)
{
    const poprt_string *x = c->in[0]->data;
    size_t to = 0;
    prt_str piece;
    for (size_t i = 0; i < prt_tensor_count(c->in[0]); i++) {
        PRT_TRY(c->host->check(c));
        start(s, x[i]);
        for (int64_t k = 0; next_piece(s, &piece); k++, to++) {
            if (prt_eval_wants(c, 0))
                memcpy((int64_t *)c->out[0]->data + 2 * to, (int64_t[]){ (int64_t)i, k },
                    2 * sizeof(int64_t));
            if (prt_eval_wants(c, 1))
                PRT_TRY(prt_string_write(c, 1, to, piece.data, piece.size));
        }
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const poprt_string *x = c->in[0]->data;
    int64_t skip_empty, dims[2] = { 0, 2 }, columns = 0;
    const int64_t two = 2;
    splitter s = { 0 };
    prt_str piece;
    PRT_TRY(prt_eval_string(c, 1, &s.separator));
    PRT_TRY(prt_eval_integer(c, 2, &skip_empty));
    s.skip_empty = skip_empty != 0;
    for (size_t i = 0; i < prt_tensor_count(c->in[0]); i++) {
        int64_t count = 0;
        PRT_TRY(c->host->check(c));
        if (x[i].size > UINT32_MAX)
            return prt_eval_fail(c, POPRT_E_LIMIT, "string %zu has %zu bytes; the limit is 4 GiB",
                i, x[i].size);
        for (start(&s, x[i]); next_piece(&s, &piece);)
            count++;
        columns = count > columns ? count : columns;
        dims[0] += count;
    }
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_i64, 2, dims));
    PRT_TRY(prt_eval_shape(c, 1, PRT_DTYPE_string, 1, dims));
    PRT_TRY(prt_eval_shape(c, 2, PRT_DTYPE_i64, 1, &two));
    if (prt_eval_wants(c, 2)) {
        int64_t *shape = c->out[2]->data;
        shape[0] = c->in[0]->dims[0];
        shape[1] = columns;
    }
    return write_pieces(c, &s);
}

const prt_op_hooks prt_op_contrib_string_split = { .infer = infer, .eval = eval };
