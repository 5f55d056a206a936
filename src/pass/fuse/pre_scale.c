/* SPDX-License-Identifier: MIT */
/*
 * pre_scale.c — pre_scale: of attention, the factor behind Q K' goes into what makes Q:
 *
 *     Q = x W + b, moved;  MatMul(Q, K') * c   →   Q = x (W c) + b c;  MatMul(Q, K')
 *
 * and so does a divisor, and a factor of either operand, as torch's scaled_dot_product_attention
 * has them: MatMul(Q * c, K' * c). Moved: by Reshape, Transpose, Squeeze, Unsqueeze, Identity. Each
 * step is read by the next one alone; W is a constant that nobody else reads. Where the left side
 * is no such product, the right one is tried.
 *
 * Scores no longer get large before they get small, which half precision is glad of. By powers of
 * two (heads of 16, 64 or 256 numbers) results are bitwise equal; else they differ by the rounding
 * of weight and bias.
 */
#include "pass/engine/match.h"

enum { MOST_STEPS = 16 };

/* The product at the end of what only moves elements, and the sum behind it (or NULL). */
typedef struct projection {
    prt_op *matmul, *add;
    uint32_t bias_slot;
} projection;

static prt_op *past_moves(const prt_op *op, uint32_t slot)
{
    static const uint32_t moves[] = { PRT_OP_reshape, PRT_OP_transpose, PRT_OP_squeeze,
        PRT_OP_unsqueeze, PRT_OP_identity };
    prt_value *v = prt_op_input(op, slot);
    for (uint32_t step = 0; step < MOST_STEPS; step++) {
        if (v == NULL || v->def == NULL || v->graph != op->graph || !prt_value_used_once(v))
            return NULL;
        bool is_move = false;
        for (size_t i = 0; i < PRT_COUNT_OF(moves); i++)
            is_move = is_move || prt_op_is(v->def, moves[i]);
        if (!is_move)
            return v->def;
        v = prt_op_input(v->def, 0);
    }
    return NULL;
}

static bool is_product(const prt_op *op)
{
    prt_tensor w;
    return prt_op_is(op, PRT_OP_matmul) && prt_match_own_constant(op, 1, &w) && w.rank >= 2;
}

static bool find_projection(const prt_op *scores, uint32_t slot, projection *q)
{
    prt_op *op = past_moves(scores, slot);
    prt_tensor t;
    *q = (projection){ 0 };
    if (prt_op_is(op, PRT_OP_add)) {
        q->add = op;
        q->bias_slot = prt_match_constant(op, 1, &t) ? 1 : 0;
        if (q->bias_slot == 0 && !prt_match_constant(op, 0, &t))
            return false;
        op = past_moves(op, 1 - q->bias_slot);
    }
    q->matmul = op;
    return op != NULL && is_product(op);
}

static prt_value *scale(prt_pass *p, prt_build *b, const prt_op *by, prt_value *w, prt_value *c)
{
    prt_value *scalar = prt_match_reshaped(b, c, 0, NULL), *in[2] = { w, scalar };
    return scalar != NULL ? prt_match_compute(p, b, w, by->def->id, NULL, 2, in) : NULL;
}

/* Does the value lead to a Softmax, past factors and sums, read by one op at a time? */
static bool leads_to_softmax(const prt_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS && prt_value_used_once(v); i++) {
        const prt_op *op = v->uses->user;
        if (prt_op_is(op, PRT_OP_softmax))
            return true;
        if (!prt_op_is(op, PRT_OP_mul) && !prt_op_is(op, PRT_OP_div) &&
            !prt_op_is(op, PRT_OP_add) && !prt_op_is(op, PRT_OP_where) &&
            !prt_op_is(op, PRT_OP_reshape))
            return false;
        v = &op->out[0];
    }
    return false;
}

/* The scores, when `root` is their product with one number. */
static prt_op *read_scores(const prt_op *root, prt_value **c)
{
    prt_tensor t, w;
    for (uint32_t slot = 2; slot-- > (prt_op_is(root, PRT_OP_div) ? 1u : 0u);) {
        prt_op *scores = prt_match_interior(root, 1 - slot, PRT_OP_matmul);
        *c = prt_op_input(root, slot);
        if (scores != NULL && prt_match_constant(root, slot, &t) && prt_tensor_count(&t) == 1 &&
            prt_dtype_is_float(t.dtype) && prt_match_fits((*c)->type, scores->out[0].type) &&
            !prt_match_constant(scores, 0, &w) && !prt_match_constant(scores, 1, &w))
            return scores;
    }
    return NULL;
}

/* The factor `by` of `root` goes into weights and bias of a projection. */
static bool take_in(prt_pass *p, prt_build *b, const prt_op *by, prt_value *c, projection *q)
{
    prt_value *bias = NULL, *w = scale(p, b, by, prt_op_input(q->matmul, 1), c);
    if (w != NULL && q->add != NULL)
        bias = scale(p, b, by, prt_op_input(q->add, q->bias_slot), c);
    if (w == NULL || (q->add != NULL && bias == NULL)) {
        if (w != NULL)
            w->name = PRT_STR(""); /* made in vain */
        return false;
    }
    prt_op_set_input(q->matmul, 1, w);
    if (q->add != NULL)
        prt_op_set_input(q->add, q->bias_slot, bias);
    return true;
}

/* A factor of one operand of the scores: `root` is read by their product alone. */
static bool apply_operand(prt_pass *p, prt_build *b, prt_op *root)
{
    projection q;
    prt_tensor t;
    const prt_value *y = &root->out[0];
    const prt_op *scores = prt_value_used_once(y) ? y->uses->user : NULL;
    if (!prt_op_is(scores, PRT_OP_matmul) || scores->graph != root->graph ||
        !leads_to_softmax(&scores->out[0]))
        return false;
    for (uint32_t slot = 2; slot-- > (prt_op_is(root, PRT_OP_div) ? 1u : 0u);) {
        prt_value *c = prt_op_input(root, slot), *x = prt_op_input(root, 1 - slot);
        if (!prt_match_constant(root, slot, &t) || prt_tensor_count(&t) != 1 ||
            !prt_dtype_is_float(t.dtype) || !prt_match_fits(c->type, x->type) ||
            !find_projection(root, 1 - slot, &q) || !prt_pass_may_replace(y, x))
            continue;
        if (!take_in(p, b, root, c, &q))
            return b->status != POPRT_OK;
        x->name = PRT_STR(""); /* another value from now on */
        (void)prt_pass_replace(b, &root->out[0], x);
        return true;
    }
    return false;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *c;
    projection q;
    prt_op *scores = read_scores(root, &c);
    if (scores == NULL)
        return apply_operand(p, b, root);
    if ((!find_projection(scores, 0, &q) && !find_projection(scores, 1, &q)) ||
        !prt_pass_may_replace(&root->out[0], &scores->out[0]))
        return false;
    if (!take_in(p, b, root, c, &q))
        return b->status != POPRT_OK;
    scores->out[0].name = PRT_STR(""); /* another value from now on */
    (void)prt_pass_replace(b, &root->out[0], &scores->out[0]);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_mul, apply }, { PRT_OP_div, apply } };

const prt_pass_hooks prt_pass_pre_scale = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
