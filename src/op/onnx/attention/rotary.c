/* SPDX-License-Identifier: MIT */
/*
 * rotary.c — RotaryEmbedding: rotates pairs of elements of each head by angles whose cosine and
 * sine are given per position. X is [batch, heads, sequence, size] or [batch, sequence, heads *
 * size].
 */
#include "op/share/heads.h"
#include "op/share/reals.h"
#include "op/share/rotary_core.h"

enum { IN_X, IN_COS, IN_SIN, IN_POSITIONS };

/* Computes the head size and the number of rotated elements from the attributes and X; dims may
 * be unknown. */
static poprt_status head_size(const prt_infer *c, int64_t *size, int64_t *rotated)
{
    const prt_rotary_embedding_attrs *a = c->attrs;
    const prt_shape *x = &c->in[IN_X];
    *size = x->dims[x->rank - 1];
    if (x->rank == 3) {
        if (a->num_heads < 1)
            return prt_infer_fail(c, POPRT_E_ARG,
                "an input of rank 3 requires num_heads of at least 1");
        PRT_TRY(prt_infer_head_size(c, *size, a->num_heads, size));
    }
    *rotated = a->rotary_embedding_dim != 0 ? a->rotary_embedding_dim : *size;
    if (prt_dim_is_number(*rotated) &&
        (*rotated < 0 || *rotated % 2 != 0 || (prt_dim_is_number(*size) && *rotated > *size)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "%lld of %lld elements cannot be rotated; an even number up to the head size is "
            "required",
            (long long)*rotated, (long long)*size);
    return POPRT_OK;
}

static poprt_status check_cache(const prt_infer *c, uint32_t i, int64_t rotated)
{
    const prt_shape *x = &c->in[IN_X], *s = &c->in[i];
    const bool by_position = prt_infer_has(c, IN_POSITIONS);
    int64_t dim;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    if (s->rank != (by_position ? 2 : 3))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "input %u has rank %d; rank 2 with position_ids or rank 3 without is required", i,
            s->rank);
    PRT_TRY(prt_infer_merge(c, prt_dim_floordiv(c->dims, rotated, 2), s->dims[s->rank - 1],
        "the number of angles", &dim));
    if (by_position)
        return POPRT_OK;
    PRT_TRY(prt_infer_merge(c, x->dims[0], s->dims[0], "the batch", &dim));
    return prt_infer_merge(c, x->dims[x->rank == 4 ? 2 : 1], s->dims[1], "the sequence", &dim);
}

static poprt_status infer(prt_infer *c)
{
    const prt_shape *x = &c->in[IN_X], *p = &c->in[IN_POSITIONS];
    int64_t size = 0, rotated = 0, dim;
    if (prt_infer_ranked(c, IN_X)) {
        if (x->rank != 3 && x->rank != 4)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 3, 4",
                x->rank);
        PRT_TRY(head_size(c, &size, &rotated));
        PRT_TRY(check_cache(c, IN_COS, rotated));
        PRT_TRY(check_cache(c, IN_SIN, rotated));
        if (prt_infer_ranked(c, IN_COS) && prt_infer_ranked(c, IN_SIN))
            PRT_TRY(prt_infer_merge(c, c->in[IN_COS].dims[0], c->in[IN_SIN].dims[0],
                "the number of positions", &dim));
        if (prt_infer_ranked(c, IN_POSITIONS)) {
            if (p->rank != 2)
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "position_ids has rank %d; rank 2 is required", p->rank);
            PRT_TRY(prt_infer_merge(c, x->dims[0], p->dims[0], "the batch", &dim));
            PRT_TRY(prt_infer_merge(c, x->dims[x->rank == 4 ? 2 : 1], p->dims[1], "the sequence",
                &dim));
        }
    }
    return prt_infer_like(c, 0, IN_X, x->dtype);
}

typedef struct rotary {
    const prt_tensor *x, *cosine, *sine;
    size_t batch, heads, rows, size, half;
    bool interleaved;
    double *row; /* elements of a head, then its cosines and sines */
} rotary;

/* Rotates the row at element `at` by the angles at `angle` in the caches. */
static void rotate_row(const rotary *r, prt_tensor *y, size_t at, size_t angle)
{
    const int32_t t = r->x->dtype;
    double *row = r->row, *cosine = row + r->size, *sine = cosine + r->half;
    prt_reals_load(t, r->x->data, at, 1, r->size, row);
    prt_reals_load(t, r->cosine->data, angle, 1, r->half, cosine);
    prt_reals_load(t, r->sine->data, angle, 1, r->half, sine);
    prt_rotary_rotate(r->half, r->interleaved, cosine, sine, row);
    prt_reals_store(t, y->data, at, 1, r->size, row);
}

static poprt_status eval(prt_eval *c)
{
    const prt_rotary_embedding_attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_X];
    const prt_tensor *p = prt_eval_has(c, IN_POSITIONS) ? c->in[IN_POSITIONS] : NULL;
    const bool four = x->rank == 4;
    rotary r = { .x = x,
        .cosine = c->in[IN_COS],
        .sine = c->in[IN_SIN],
        .batch = (size_t)x->dims[0],
        .heads = (size_t)(four ? x->dims[1] : a->num_heads),
        .rows = (size_t)x->dims[four ? 2 : 1],
        .interleaved = a->interleaved != 0 };
    if (!prt_eval_wants(c, 0) || prt_tensor_count(x) == 0)
        return POPRT_OK;
    r.size = four ? (size_t)x->dims[3] : (size_t)x->dims[2] / r.heads;
    r.half = (a->rotary_embedding_dim != 0 ? (size_t)a->rotary_embedding_dim : r.size) / 2;
    r.row = prt_eval_scratch(c, r.size + 2 * r.half, sizeof(double));
    if (r.row == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < r.batch; b++)
        for (size_t i = 0; i < r.rows; i++) {
            size_t place = b * r.rows + i;
            if (p != NULL) {
                const int64_t at = prt_load_i64(p->dtype, p->data, place);
                if (at < 0 || at >= r.cosine->dims[0])
                    return prt_eval_fail(c, POPRT_E_ARG,
                        "position %lld is outside the cache of %lld positions", (long long)at,
                        (long long)r.cosine->dims[0]);
                place = (size_t)at;
            }
            for (size_t h = 0; h < r.heads; h++)
                rotate_row(&r, c->out[0],
                    four ? ((b * r.heads + h) * r.rows + i) * r.size
                         : ((b * r.rows + i) * r.heads + h) * r.size,
                    place * r.half);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_rotary_embedding = { .infer = infer, .eval = eval };
