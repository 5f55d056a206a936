/* SPDX-License-Identifier: MIT */
/*
 * float_ops.c — float_ops_workaround: inserts casts around operators that a backend supports for
 * floats only, for 8-bit and 16-bit integers and bool. The operators select one of their operands
 * or return a sign, so results are bitwise equal.
 *
 * Difference from the reference: wider integers stay, because float32 cannot represent all of them;
 * a note gives their number.
 */
#include "pass/engine/match.h"

static bool is_small(int32_t dtype)
{
    return dtype == PRT_DTYPE_bool || (prt_dtype_is_integer(dtype) && prt_dtype_bits(dtype) <= 16);
}

/* Returns whether the op may reduce zero elements, which gives the lowest or highest number of the
 * type; another type has other limits. */
static bool reduces_nothing(const prt_op *op)
{
    uint32_t set;
    if (!prt_op_is(op, PRT_OP_reduce_max) && !prt_op_is(op, PRT_OP_reduce_min))
        return false;
    if (!prt_match_reduce_axes(op, &set))
        return true;
    for (int32_t i = 0; i < prt_op_input(op, 0)->type->rank; i++)
        if ((set >> i & 1) != 0 && prt_match_dim(prt_op_input(op, 0), i) < 1)
            return true;
    return false;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const int32_t dtype = prt_match_dtype(prt_op_input(root, 0));
    if (!is_small(dtype) || reduces_nothing(root) || !prt_match_outputs_unused(root, 1) ||
        !prt_match_allows(root->def->id, PRT_DTYPE_f32))
        return false;
    prt_value **in = PRT_NEW_N(p->arena, prt_value *, root->n_in);
    if (in == NULL) {
        b->status = POPRT_E_NOMEM;
        return true;
    }
    for (uint32_t i = 0; i < root->n_in; i++) {
        in[i] = prt_op_input(root, i);
        if (in[i] != NULL && strcmp(prt_op_in_slot(root->def, i)->var, root->def->in[0].var) == 0)
            in[i] = prt_match_add_cast(b, in[i], PRT_DTYPE_f32);
    }
    prt_value *y = prt_build_op(b, root->def->id, root->attrs, root->n_in, in);
    return prt_match_replace(b, root, b->status == POPRT_OK ? prt_match_add_cast(b, y, dtype) : y);
}

static const prt_rewrite rewrites[] = { { PRT_OP_clip, apply }, { PRT_OP_max, apply },
    { PRT_OP_max_pool, apply }, { PRT_OP_min, apply }, { PRT_OP_reduce_max, apply },
    { PRT_OP_reduce_min, apply }, { PRT_OP_relu, apply }, { PRT_OP_sign, apply } };

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    uint32_t left = 0;
    PRT_TRY(prt_rewrite_graph(p, graph, rewrites, PRT_COUNT_OF(rewrites), changed));
    prt_for_each_op (op, graph)
        for (size_t i = 0; i < PRT_COUNT_OF(rewrites); i++)
            left += prt_op_is(op, rewrites[i].root) &&
                prt_dtype_is_integer(prt_match_dtype(prt_op_input(op, 0)));
    if (left != 0)
        prt_pass_note(p, graph->name.data != NULL ? graph->name.data : "",
            "%u operators keep integers of 32 bits or more, which float32 cannot represent", left);
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_float_ops_workaround = { .run = run };
