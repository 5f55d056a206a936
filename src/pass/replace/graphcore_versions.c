/* SPDX-License-Identifier: MIT */
/*
 * graphcore_versions.c — replaces standard operators by the second versions in ai.graphcore,
 * because the first versions of that backend are slower or differ in meaning. In this library the
 * results are bitwise equal:
 *
 *     replace_erf_with_erfv2      Erf      ErfV2
 *     replace_isinf               IsInf    IsInfV2, with its attributes
 *     replace_round               Round    RoundV2
 *     replace_softmax             Softmax  SoftmaxV2, if the size of the last axis is odd
 *     replace_where_with_wherev2  Where    WhereV2
 */
#include "pass/engine/match.h"

static bool same_inputs(prt_build *b, prt_op *root, uint32_t id, const void *attrs)
{
    prt_value *in[3];
    for (uint32_t i = 0; i < root->n_in && i < 3; i++)
        in[i] = prt_op_input(root, i);
    return prt_match_replace_op(b, root, id, attrs, root->n_in, in);
}

static bool apply_erf(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return same_inputs(b, root, PRT_OP_gc_erf_v2, NULL);
}

static bool apply_isinf(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_isinf_attrs *a = root->attrs;
    prt_gc_is_inf_v2_attrs attrs = PRT_ATTRS_OF(gc_is_inf_v2);
    (void)p;
    PRT_ATTR_SET(attrs, gc_is_inf_v2, detect_negative, a->detect_negative);
    PRT_ATTR_SET(attrs, gc_is_inf_v2, detect_positive, a->detect_positive);
    return same_inputs(b, root, PRT_OP_gc_is_inf_v2, &attrs);
}

static bool apply_round(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return same_inputs(b, root, PRT_OP_gc_round_v2, NULL);
}

static bool apply_softmax(prt_pass *p, prt_build *b, prt_op *root)
{
    const int64_t axis = ((const prt_softmax_attrs *)root->attrs)->axis;
    const prt_type *x = prt_match_ranked(prt_op_input(root, 0));
    prt_gc_softmax_v2_attrs attrs = PRT_ATTRS_OF(gc_softmax_v2);
    (void)p;
    if (x == NULL || (axis != -1 && axis != x->rank - 1) ||
        prt_match_dim(prt_op_input(root, 0), -1) % 2 != 1)
        return false;
    PRT_ATTR_SET(attrs, gc_softmax_v2, axis, axis);
    return same_inputs(b, root, PRT_OP_gc_softmax_v2, &attrs);
}

static bool apply_where(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return same_inputs(b, root, PRT_OP_gc_where_v2, NULL);
}

PRT_PASS_OF_REWRITE(replace_erf_with_erfv2, PRT_OP_erf, apply_erf);
PRT_PASS_OF_REWRITE(replace_isinf, PRT_OP_isinf, apply_isinf);
PRT_PASS_OF_REWRITE(replace_round, PRT_OP_round, apply_round);
PRT_PASS_OF_REWRITE(replace_softmax, PRT_OP_softmax, apply_softmax);
PRT_PASS_OF_REWRITE(replace_where_with_wherev2, PRT_OP_where, apply_where);
