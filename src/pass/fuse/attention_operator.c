/* SPDX-License-Identifier: MIT */
/*
 * attention_operator.c — fuse_attention_operator: replaces the formula
 *
 *     MatMul(Softmax(MatMul(Q, Transpose(K)) · s + mask), V)
 *
 * on tensors of rank 4 (batch, heads, rows, elements) by the operator Attention of ai.onnx 23. The
 * factor and the mask may be absent. For models that are written: compiling has fuse_attention.
 */
#include "ir/build_ops.h"
#include "pass/fuse/scores.h"

enum { RANK = 4 };

typedef struct match {
    prt_value *q, *keys, *v, *mask; /* keys: of the product, transposed */
    prt_op *transpose;
    double scale;
} match;

static bool is_rank_4(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank == RANK;
}

/* Returns whether the value can be the mask. It may be one for all images or heads, but ONNX
 * Runtime needs all queries and keys. */
static bool is_mask(const match *m)
{
    const prt_type *type = m->mask->type, *keys = m->transpose->out[0].type;
    return is_rank_4(m->mask) && type->dtype == m->q->type->dtype &&
        type->dims[2] != PRT_DIM_UNKNOWN && type->dims[2] == m->q->type->dims[2] &&
        type->dims[3] != PRT_DIM_UNKNOWN && type->dims[3] == keys->dims[3];
}

/* Matches the operators between the Softmax and the product, from the Softmax on. */
static prt_op *match_scores(const prt_op *softmax, match *m)
{
    const prt_op *at = softmax;
    prt_op *op = prt_match_interior(at, 0, PRT_OP_add);
    prt_value *added[2] = { NULL, NULL };
    uint32_t slot = 0;
    m->scale = 1.0;
    if (op != NULL) {
        for (uint32_t i = 0; i < 2; i++)
            added[i] = prt_op_input(op, i);
        /* The scores are the input that only the sum reads, and that a product or factor makes. */
        slot = prt_match_interior(op, 0, PRT_OP_matmul) != NULL ||
                prt_match_interior(op, 0, PRT_OP_mul) != NULL ||
                prt_match_interior(op, 0, PRT_OP_div) != NULL
            ? 0
            : 1;
        m->mask = added[1 - slot];
        at = op;
    }
    prt_op *factor = prt_match_interior(at, slot, PRT_OP_mul);
    if (factor == NULL)
        factor = prt_match_interior(at, slot, PRT_OP_div);
    if (factor != NULL) {
        if (!prt_scores_factor(factor, &m->scale, &slot))
            return NULL;
        at = factor;
    }
    return prt_match_interior(at, slot, PRT_OP_matmul);
}

static bool find(prt_op *root, match *m)
{
    const prt_op *softmax = prt_match_interior(root, 0, PRT_OP_softmax);
    if (softmax == NULL || !is_rank_4(&root->out[0]))
        return false;
    const int64_t axis = ((const prt_softmax_attrs *)softmax->attrs)->axis;
    const prt_op *product = match_scores(softmax, m);
    if (product == NULL || (axis != -1 && axis != RANK - 1))
        return false;
    m->q = prt_op_input(product, 0);
    m->v = prt_op_input(root, 1);
    m->transpose = prt_match_producer(product, 1, PRT_OP_transpose);
    if (m->transpose == NULL || !is_rank_4(m->q) || !is_rank_4(m->v) ||
        !is_rank_4(&m->transpose->out[0]) || (m->mask != NULL && !is_mask(m)) ||
        (m->q->type->dtype != PRT_DTYPE_f32 && m->q->type->dtype != PRT_DTYPE_f16 &&
            m->q->type->dtype != PRT_DTYPE_bf16))
        return false;
    /* Batch and heads are equal: Attention repeats heads, which MatMul does for one head only. */
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t dim = m->q->type->dims[i];
        if (dim == PRT_DIM_UNKNOWN || m->v->type->dims[i] != dim ||
            m->transpose->out[0].type->dims[i] != dim)
            return false;
    }
    return m->scale > 0.0;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    match m = { .q = NULL };
    int64_t perm[RANK];
    (void)p;
    if (!find(root, &m))
        return false;
    const prt_i64s order = ((const prt_transpose_attrs *)m.transpose->attrs)->perm;
    for (uint32_t i = 0; i < RANK; i++)
        perm[i] = order.count == RANK ? order.data[i] : (int64_t)(RANK - 1 - i);
    const int64_t last = perm[RANK - 1];
    perm[RANK - 1] = perm[RANK - 2];
    perm[RANK - 2] = last;
    prt_value *k = prt_build_transpose(b, prt_op_input(m.transpose, 0), RANK, perm);
    prt_attention_attrs a = PRT_ATTRS_OF(attention);
    PRT_ATTR_SET(a, attention, scale, (float)m.scale);
    prt_value *in[] = { m.q, k, m.v, m.mask };
    prt_value *y = prt_build_op(b, PRT_OP_attention, &a, m.mask != NULL ? 4 : 3, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_matmul, apply } };

const prt_pass_hooks prt_pass_fuse_attention_operator = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
