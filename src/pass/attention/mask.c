/* SPDX-License-Identifier: MIT */
/*
 * mask.c — insert_attention_mask: rewrites the mask path of BERT-like models.
 *
 *     mask [B, S] -> [B, 1, 1, S] -> float -> 1 - m -> * -10000 -> scores + bias
 *
 * becomes scores + AttentionMask(mask as int32, scores). The mask may then hold ids of samples
 * packed into one row: tokens attend to tokens with the same id. With a mask of 0 and 1, rows of
 * valid tokens do not change where exp(-7616) is 0; rows of padding attend to padding only.
 * Reshape, Unsqueeze and Cast may come in any order.
 */
#include "pass/engine/match.h"

enum { MOST_STEPS = 8 };

/* Returns the other operand of the Sub or Mul at input `slot` that has a constant number as operand
 * (of Sub, as the first one); NULL if there is none. */
static prt_value *other_than_number(const prt_op *op, uint32_t slot, uint32_t id, double *number)
{
    const prt_op *def = prt_match_producer(op, slot, id);
    for (uint32_t k = 0; def != NULL && k < 2; k++)
        if (prt_match_number(def, k, number) && (id != PRT_OP_sub || k == 0))
            return prt_op_input(def, 1 - k);
    return NULL;
}

/* Follows views and casts from [B, 1, 1, S] back to [B, S]; returns NULL if another operator is on
 * the way. */
static prt_value *source_of(prt_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS && v != NULL; i++) {
        const prt_type *type = prt_match_ranked(v);
        if (type == NULL)
            return NULL;
        if (type->rank == 2)
            break;
        const prt_op *op = v->def;
        if (!prt_op_is(op, PRT_OP_reshape) && !prt_op_is(op, PRT_OP_unsqueeze) &&
            !prt_op_is(op, PRT_OP_cast))
            return NULL;
        v = prt_op_input(op, 0);
    }
    while (v != NULL && prt_op_is(v->def, PRT_OP_cast) && prt_dtype_is_float(prt_match_dtype(v)))
        v = prt_op_input(v->def, 0);
    return v;
}

/* Returns whether `expanded` is the mask [B, S] as [B, 1, 1, S] and `scores` is [B, heads, S, S].
 * The dims show that the views on the way only insert ones. */
static bool fits(const prt_type *mask, const prt_type *expanded, const prt_type *scores)
{
    return mask != NULL && expanded != NULL && scores != NULL && mask->rank == 2 &&
        expanded->rank == 4 && scores->rank == 4 && expanded->dims[0] == mask->dims[0] &&
        expanded->dims[1] == 1 && expanded->dims[2] == 1 && expanded->dims[3] == mask->dims[1] &&
        mask->dims[0] != PRT_DIM_UNKNOWN && mask->dims[1] != PRT_DIM_UNKNOWN &&
        scores->dims[0] == mask->dims[0] && scores->dims[2] == mask->dims[1] &&
        scores->dims[3] == mask->dims[1];
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    for (uint32_t slot = 0; slot < 2; slot++) {
        double big, one;
        const prt_op *mul = prt_match_producer(root, slot, PRT_OP_mul);
        prt_value *scores = prt_op_input(root, 1 - slot);
        const prt_value *sub = other_than_number(root, slot, PRT_OP_mul, &big);
        if (sub == NULL || !(big <= -1000))
            continue;
        const uint32_t at = prt_op_input(mul, 0) == sub ? 0 : 1;
        prt_value *expanded = other_than_number(mul, at, PRT_OP_sub, &one);
        prt_value *mask = expanded != NULL && one == 1 ? source_of(expanded) : NULL;
        const int32_t dtype = prt_match_dtype(scores);
        if (mask == NULL || (dtype != PRT_DTYPE_f32 && dtype != PRT_DTYPE_f16) ||
            !fits(prt_match_ranked(mask), prt_match_ranked(expanded), prt_match_ranked(scores)) ||
            prt_match_dtype(mask) == PRT_DTYPE_string)
            continue;
        prt_gc_attention_mask_attrs attrs = PRT_ATTRS_OF(gc_attention_mask);
        PRT_ATTR_SET(attrs, gc_attention_mask, dataType,
            dtype == PRT_DTYPE_f16 ? PRT_STR("FLOAT16") : PRT_STR("FLOAT"));
        prt_value *in[2] = { prt_match_add_cast(b, mask, PRT_DTYPE_i32), scores };
        prt_value *sum[2] = { scores, prt_build_op(b, PRT_OP_gc_attention_mask, &attrs, 2, in) };
        return prt_match_replace_op(b, root, PRT_OP_add, NULL, 2, sum);
    }
    return false;
}

PRT_PASS_OF_REWRITE(insert_attention_mask, PRT_OP_add, apply);
