/* SPDX-License-Identifier: MIT */
/*
 * concat_squeeze.c — remove_empty_concat_inputs: removes empty inputs of a Concat; a Concat of one
 * value becomes an Identity. fill_squeeze_axes: a Squeeze without axes gets the axes of size 1 as
 * an input, so that its rank does not depend on the shape.
 *
 * Both are bitwise equal.
 */
#include "pass/engine/match.h"

static bool is_empty(const prt_value *v, int64_t axis)
{
    uint32_t at;
    return prt_type_is_tensor(v->type) && v->type->rank > 0 &&
        prt_match_axis(axis, v->type->rank, &at) && v->type->dims[at] == 0;
}

/* If all inputs are empty, the first one stays. */
static bool apply_concat(prt_pass *p, prt_build *b, prt_op *root)
{
    const int64_t axis = ((const prt_concat_attrs *)root->attrs)->axis;
    prt_value **kept = PRT_NEW_N(p->arena, prt_value *, root->n_in);
    uint32_t n = 0;
    if (kept == NULL) {
        b->status = POPRT_E_NOMEM;
        return true;
    }
    for (uint32_t i = 0; i < root->n_in; i++)
        if (!is_empty(prt_op_input(root, i), axis))
            kept[n++] = prt_op_input(root, i);
    if (n == 0)
        kept[n++] = prt_op_input(root, 0);
    if (n == root->n_in && n != 1)
        return false;
    return n == 1 ? prt_match_replace_named(b, root, PRT_OP_identity, NULL, 1, kept)
                  : prt_match_replace_named(b, root, PRT_OP_concat, root->attrs, n, kept);
}

static bool apply_squeeze(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_type *x = prt_op_input(root, 0)->type;
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    (void)p;
    if (prt_op_input(root, 1) != NULL || !prt_type_is_static(x) || x->rank > PRT_MAX_RANK)
        return false;
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dims[i] == 1)
            axes[n++] = i;
    if (n == 0)
        return false;
    prt_value *in[2] = { prt_op_input(root, 0), prt_build_i64s(b, n, axes) };
    return prt_match_replace_named(b, root, PRT_OP_squeeze, NULL, 2, in);
}

static const prt_rewrite concats[] = { { PRT_OP_concat, apply_concat } };
static const prt_rewrite squeezes[] = { { PRT_OP_squeeze, apply_squeeze } };

const prt_pass_hooks prt_pass_remove_empty_concat_inputs = { .rewrites = concats, .n_rewrites = 1 };
const prt_pass_hooks prt_pass_fill_squeeze_axes = { .rewrites = squeezes, .n_rewrites = 1 };
