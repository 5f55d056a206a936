/* SPDX-License-Identifier: MIT */
/*
 * reshape.c — Reshape: the same elements with the dims of a shape input; 0 copies the dim of the
 * input, and -1 is inferred from the number of elements.
 */
#include "op/share/shape_values.h"

/* The requested dims during shape inference. */
typedef struct target {
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
    int32_t rest;    /* index of the dim that is -1; -1 if no dim is */
    uint32_t copied; /* bit i: dim i is copied from the input */
} target;

static poprt_status read_target(const prt_infer *c, target *t)
{
    const prt_reshape_attrs *a = c->attrs;
    const prt_shape *in = &c->in[0];
    t->rest = -1;
    t->copied = 0;
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t *d = &t->dims[i];
        if (!prt_dim_is_number(*d) || *d > 0)
            continue;
        if (*d == 0 && a->allowzero != 0)
            continue;
        if (*d == 0) {
            if (in->rank >= 0 && i >= (uint32_t)in->rank)
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "the shape has a 0 at index %u, but the input has rank %d", i, in->rank);
            *d = in->rank >= 0 ? in->dims[i] : PRT_DIM_UNKNOWN;
            t->copied |= 1u << i;
        } else if (*d == -1 && t->rest < 0) {
            t->rest = (int32_t)i;
        } else {
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the shape has %lld at index %u; only one dim may be -1, and all others must be at "
                "least 0",
                (long long)*d, i);
        }
    }
    return POPRT_OK;
}

/*
 * Computes the products of the dims of input and target (without -1) that do not cancel. A copied
 * dim cancels even if it is unknown; so do equal numbers and equal expressions. Zeros cancel too:
 * -1 then has the value that it has for any other number in place of the zero, which is what models
 * with a symbolic dim there intend.
 */
static void cancel(const prt_infer *c, const target *t, int64_t *in, int64_t *out)
{
    const prt_shape *x = &c->in[0];
    uint32_t used = t->copied;
    *in = *out = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if ((t->copied >> i & 1) != 0 || t->rest == (int32_t)i)
            continue;
        uint32_t k = 0;
        while (k < (uint32_t)x->rank &&
            ((used >> k & 1) != 0 || x->dims[k] != t->dims[i] || x->dims[k] == PRT_DIM_UNKNOWN))
            k++;
        if (k < (uint32_t)x->rank)
            used |= 1u << k;
        else
            *out = prt_dim_mul(c->dims, *out, t->dims[i]);
    }
    for (int32_t k = 0; k < x->rank; k++)
        if ((used >> k & 1) == 0)
            *in = prt_dim_mul(c->dims, *in, x->dims[k]);
}

/* Infers the dim that is -1, and compares the numbers of elements where both are known. */
static poprt_status infer_rest(const prt_infer *c, target *t)
{
    const prt_shape *x = &c->in[0];
    int64_t in, out;
    if (x->rank < 0) {
        if (t->rest >= 0)
            t->dims[t->rest] = PRT_DIM_UNKNOWN;
        return POPRT_OK;
    }
    cancel(c, t, &in, &out);
    const bool numbers = prt_dim_is_number(in) && prt_dim_is_number(out);
    if (t->rest < 0) {
        if (numbers && in != out &&
            prt_infer_product(c, t->dims, 0, t->rank) !=
                prt_infer_product(c, x->dims, 0, (uint32_t)x->rank))
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "%lld elements cannot be reshaped to %lld (common dims left out)", (long long)in,
                (long long)out);
        return POPRT_OK;
    }
    if (out == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "-1 is ambiguous because another dim is 0");
    if (numbers && in % out != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "%lld elements cannot be divided by %lld for -1 (common dims left out)", (long long)in,
            (long long)out);
    t->dims[t->rest] = prt_dim_floordiv(c->dims, in, out);
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const int32_t dtype = c->in[0].dtype;
    target t = { .rank = 0 };
    if (!prt_infer_ints(c, 1, t.dims, PRT_MAX_RANK, &t.rank)) {
        int64_t rank;
        if (!prt_shape_values_count(c, 1, &rank))
            rank = PRT_RANK_UNKNOWN;
        if (rank > PRT_MAX_RANK)
            return prt_infer_fail(c, POPRT_E_LIMIT,
                "the shape would have rank %lld; the limit is 8", (long long)rank);
        PRT_TRY(prt_infer_unranked(c, 0, dtype, (int32_t)rank));
        return rank == 0 || rank == 1 ? prt_shape_values_pass(c) : POPRT_OK;
    }
    PRT_TRY(read_target(c, &t));
    PRT_TRY(infer_rest(c, &t));
    PRT_TRY(prt_infer_set(c, 0, dtype, (int32_t)t.rank, t.dims));
    return prt_shape_values_pass(c);
}

const prt_op_hooks prt_op_reshape = { .infer = infer, .eval = prt_copy_flat };
