/* SPDX-License-Identifier: MIT */
/*
 * rotary.c — RotaryEmbedding of ai.onnx and com.microsoft, not interleaved, is expanded. With c and
 * s the cosines and sines of the rows' positions:
 *
 *     Concat(x0 c - x1 s, x1 c + x0 s, rest),   x0, x1, rest = Split(x)
 *
 * Requires heads of known size and positions, if given, of shape [batch, row].
 */
#include "pass/expand/expand.h"

enum { MOST_PARTS = 3 };

typedef struct rotary {
    prt_value *x, *positions, *cosine, *sine; /* positions NULL: caches are indexed by row */
    int64_t heads, size, half, rest;
    uint32_t axis; /* axis of the heads in the tensor of rank 4 */
} rotary;

static bool match_rotary(rotary *r, int64_t heads, int64_t rotated, bool interleaved)
{
    const prt_type *x = prt_match_ranked(r->x);
    const prt_type *p = r->positions != NULL ? prt_match_ranked(r->positions) : NULL;
    if (x == NULL || x->dtype != PRT_DTYPE_f32 || interleaved || (x->rank != 3 && x->rank != 4) ||
        (x->rank == 3 && heads < 1) || (r->positions != NULL && (p == NULL || p->rank != 2)) ||
        !prt_dim_is_number(x->dims[x->rank - 1]))
        return false;
    r->heads = x->rank == 3 ? heads : 0;
    r->axis = x->rank == 3 ? 2 : 1;
    r->size = x->dims[x->rank - 1] / (r->heads != 0 ? r->heads : 1);
    rotated = rotated != 0 ? rotated : r->size;
    r->half = rotated / 2;
    r->rest = r->size - rotated;
    return r->half > 0 && rotated % 2 == 0 && r->rest >= 0;
}

/* Looks up a cache for each row and inserts an axis for the heads. */
static prt_value *angles(prt_build *b, const rotary *r, prt_value *cache)
{
    const int64_t axis = r->axis;
    if (r->positions != NULL)
        cache = prt_build_binary(b, PRT_OP_gather, cache, r->positions);
    return prt_build_binary(b, PRT_OP_unsqueeze, cache, prt_build_i64s(b, 1, &axis));
}

static bool become_rotary(prt_build *b, prt_op *root, const rotary *r)
{
    const int64_t four[4] = { 0, 0, r->heads, r->size }, three[3] = { 0, 0, r->heads * r->size };
    const int64_t sizes[MOST_PARTS] = { r->half, r->half, r->rest };
    const uint32_t parts = r->rest != 0 ? 3 : 2;
    prt_split_attrs split = PRT_ATTRS_OF(split);
    prt_concat_attrs concat = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(split, split, axis, -1);
    PRT_ATTR_SET(concat, concat, axis, -1);
    prt_value *x = r->heads != 0 ? prt_match_add_reshape(b, r->x, 4, four) : r->x;
    prt_value *in[2] = { x, prt_build_i64s(b, parts, sizes) };
    prt_op *halves = prt_build_op_n(b, PRT_OP_split, &split, 2, in, parts);
    if (halves == NULL)
        return true; /* b keeps the failure */
    prt_value *c = angles(b, r, r->cosine), *s = angles(b, r, r->sine);
    prt_value *x0 = &halves->out[0], *x1 = &halves->out[1];
    prt_value *rotated[MOST_PARTS] = { prt_build_binary(b, PRT_OP_sub,
                                           prt_build_binary(b, PRT_OP_mul, x0, c),
                                           prt_build_binary(b, PRT_OP_mul, x1, s)),
        prt_build_binary(b, PRT_OP_add, prt_build_binary(b, PRT_OP_mul, x1, c),
            prt_build_binary(b, PRT_OP_mul, x0, s)),
        parts == 3 ? &halves->out[2] : NULL };
    prt_value *y = prt_build_op(b, PRT_OP_concat, &concat, parts, rotated);
    return prt_match_replace(b, root, r->heads != 0 ? prt_match_add_reshape(b, y, 3, three) : y);
}

bool prt_expand_rotary(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_rotary_embedding_attrs *a = root->attrs;
    rotary r = { .x = prt_op_input(root, 0),
        .cosine = prt_op_input(root, 1),
        .sine = prt_op_input(root, 2),
        .positions = prt_op_input(root, 3) };
    (void)p;
    return match_rotary(&r, a->num_heads, a->rotary_embedding_dim, a->interleaved != 0) &&
        become_rotary(b, root, &r);
}

/* Positions may also be a single number, the position of the first row; that variant is not
 * expanded. */
bool prt_expand_ms_rotary(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_rotary_embedding_attrs *a = root->attrs;
    rotary r = { .x = prt_op_input(root, 0),
        .positions = prt_op_input(root, 1),
        .cosine = prt_op_input(root, 2),
        .sine = prt_op_input(root, 3) };
    (void)p;
    return a->is_packed_batching == 0 &&
        match_rotary(&r, a->num_heads, a->rotary_embedding_dim, a->interleaved != 0) &&
        become_rotary(b, root, &r);
}
