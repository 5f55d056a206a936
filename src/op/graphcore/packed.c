/* SPDX-License-Identifier: MIT */
/*
 * packed.c — Unpack and Repack of ai.graphcore: conversion between contiguous samples and one row
 * for each sample.
 *
 *     packed [B, S, ...]    a a a b | b c c .     tokens in order; samples may cross rows
 *     unpacked [N, M, ...]  a a a | b b . | c c . one row for each sample, padded with zeros
 *
 * unpack_info [N, segments] gives the lengths. The segments of a sample are adjacent in the packed
 * order; in its row each segment has its own range of segment_max_size tokens.
 */
#include "op/share/shape_values.h"
#include "op/share/reals.h"

/* The attributes, which are equal for both operators. */
typedef struct params {
    int64_t samples; /* 0: the dim of unpack_info */
    prt_i64s most;   /* maximum number of tokens of each segment */
} params;

static params params_of(const struct prt_op_def *def, const void *attrs)
{
    if (def->id == PRT_OP_gc_repack) {
        const prt_gc_repack_attrs *a = attrs;
        return (params){ a->max_valid_num, a->segment_max_size };
    }
    const prt_gc_unpack_attrs *a = attrs;
    return (params){ a->max_valid_num, a->segment_max_size };
}

/* Checks attributes and unpack_info, and returns the first two dims of the unpacked tensor. */
static poprt_status check_params(prt_infer *c, int64_t *samples, int64_t *length)
{
    const params f = params_of(c->def, c->attrs);
    int64_t segments = prt_infer_dim(c, 1, 1);
    if (f.samples < 0)
        return prt_infer_fail(c, POPRT_E_ARG, "max_valid_num is %lld; at least 0 is needed",
            (long long)f.samples);
    if (f.most.count == 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "segment_max_size is empty; at least 1 segment is needed");
    *length = 0;
    for (uint32_t i = 0; i < f.most.count; i++) {
        if (f.most.data[i] < 0 || f.most.data[i] > INT32_MAX)
            return prt_infer_fail(c, POPRT_E_ARG, "segment_max_size %u is %lld", i,
                (long long)f.most.data[i]);
        *length += f.most.data[i];
    }
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_merge(c, segments, f.most.count, "number of segments", &segments));
    *samples = prt_infer_dim(c, 1, 0);
    return f.samples == 0 ? POPRT_OK
                          : prt_infer_merge(c, *samples, f.samples, "number of samples", samples);
}

static poprt_status check_rank(const prt_infer *c, uint32_t i)
{
    if (prt_infer_ranked(c, i) && c->in[i].rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; at least 2 is needed", i,
            c->in[i].rank);
    return POPRT_OK;
}

/* Infers output 0 as input 0 with other first dims. */
static poprt_status set_front(prt_infer *c, int64_t first, int64_t second)
{
    int64_t dims[PRT_MAX_RANK];
    if (c->in[0].rank < 0)
        return prt_infer_unranked(c, 0, c->in[0].dtype, PRT_RANK_UNKNOWN);
    memcpy(dims, c->in[0].dims, sizeof(dims));
    dims[0] = first;
    dims[1] = second;
    return prt_infer_set(c, 0, c->in[0].dtype, c->in[0].rank, dims);
}

static poprt_status infer_unpack(prt_infer *c)
{
    int64_t samples, length;
    PRT_TRY(check_params(c, &samples, &length));
    PRT_TRY(check_rank(c, 0));
    return set_front(c, samples, length);
}

static poprt_status infer_repack(prt_infer *c)
{
    int64_t samples, length;
    PRT_TRY(check_params(c, &samples, &length));
    PRT_TRY(check_rank(c, 0));
    PRT_TRY(check_rank(c, 2));
    PRT_TRY(prt_infer_merge(c, samples, prt_infer_dim(c, 0, 0), "number of samples", &samples));
    PRT_TRY(prt_infer_merge(c, length, prt_infer_dim(c, 0, 1), "length of a sample", &length));
    return set_front(c, prt_infer_dim(c, 2, 0), prt_infer_dim(c, 2, 1));
}

/* Moves each segment between its position among `tokens` packed tokens and its range in its row. */
static poprt_status move_segments(prt_eval *c, size_t tokens, size_t inner, bool repack)
{
    const params f = params_of(c->def, c->attrs);
    const prt_tensor *x = c->in[0], *info = c->in[1];
    const size_t samples = (size_t)info->dims[0];
    size_t at = 0, place = 0;
    prt_zero_elements(x->dtype, c->out[0]->data, 0, prt_tensor_count(c->out[0]));
    for (size_t i = 0; i < samples; i++)
        for (uint32_t k = 0; k < f.most.count; k++) {
            const int64_t n = prt_load_i64(info->dtype, info->data, i * f.most.count + k);
            if (n < 0 || n > f.most.data[k])
                return prt_eval_fail(c, POPRT_E_ARG,
                    "sample %zu has %lld tokens in segment %u; accepted: 0 to %lld", i,
                    (long long)n, k, (long long)f.most.data[k]);
            if ((size_t)n > tokens - at)
                return prt_eval_fail(c, POPRT_E_ARG,
                    "unpack_info has more tokens than the %zu of the packed tensor", tokens);
            prt_element_copy(x->dtype, c->out[0]->data, (repack ? at : place) * inner, x->data,
                (repack ? place : at) * inner, (size_t)n * inner);
            at += (size_t)n;
            place += (size_t)f.most.data[k];
        }
    return POPRT_OK;
}

static poprt_status eval_unpack(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    return move_segments(c, prt_dims_product(x->dims, 0, 2), prt_dims_product(x->dims, 2, x->rank),
        false);
}

static poprt_status eval_repack(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    return move_segments(c, prt_dims_product(c->in[2]->dims, 0, 2),
        prt_dims_product(x->dims, 2, x->rank), true);
}

const prt_op_hooks prt_op_gc_unpack = { .infer = infer_unpack, .eval = eval_unpack };
const prt_op_hooks prt_op_gc_repack = { .infer = infer_repack, .eval = eval_repack };
