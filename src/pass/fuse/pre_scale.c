/* SPDX-License-Identifier: MIT */
/*
 * pre_scale.c — pre_scale: in attention, folds the factor behind Q K' into the weights that compute
 * Q:
 *
 *     Q = x W + b, moved;  MatMul(Q, K') * c   →   Q = x (W c) + b c;  MatMul(Q, K')
 *
 * It also folds a divisor, and a factor of either operand, as in torch's
 * scaled_dot_product_attention: MatMul(Q * c, K' * c). "Moved" is a chain of Reshape, Transpose,
 * Squeeze, Unsqueeze and Identity. Each step has one reader; W is a constant without other readers.
 * If the left operand is not such a product, the right one is tried.
 *
 * Scores stay smaller, which avoids overflow in float16. For powers of two (heads of 16, 64 or 256
 * elements) results are bitwise equal; otherwise they differ by the rounding of weight and bias.
 */
#include "pass/engine/match.h"

enum { MAX_STEPS = 16 }; /* operators that a search passes */

/* The product before the moves, and the Add of its bias (or NULL). */
typedef struct projection {
    prt_op *matmul, *add;
    uint32_t bias_slot;
} projection;

static prt_op *skip_moves(const prt_op *op, uint32_t slot)
{
    static const uint32_t moves[] = { PRT_OP_reshape, PRT_OP_transpose, PRT_OP_squeeze,
        PRT_OP_unsqueeze, PRT_OP_identity };
    prt_value *v = prt_op_input(op, slot);
    for (uint32_t step = 0; step < MAX_STEPS; step++) {
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
    prt_op *op = skip_moves(scores, slot);
    prt_tensor t;
    *q = (projection){ 0 };
    if (prt_op_is(op, PRT_OP_add)) {
        q->add = op;
        q->bias_slot = prt_match_constant(op, 1, &t) ? 1 : 0;
        if (q->bias_slot == 0 && !prt_match_constant(op, 0, &t))
            return false;
        op = skip_moves(op, 1 - q->bias_slot);
    }
    q->matmul = op;
    return op != NULL && is_product(op);
}

static prt_value *scale(prt_pass *p, prt_build *b, const prt_op *by, prt_value *w, prt_value *c)
{
    prt_value *scalar = prt_match_reshape_constant(b, c, 0, NULL), *in[2] = { w, scalar };
    return scalar != NULL ? prt_match_compute(p, b, w, by->def->id, NULL, 2, in) : NULL;
}

/* Returns whether the value reaches a Softmax through factors, sums, Where and Reshape, each with
 * one reader. */
static bool leads_to_softmax(const prt_value *v)
{
    for (uint32_t i = 0; i < MAX_STEPS && prt_value_used_once(v); i++) {
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

/* Returns the MatMul of the scores if `root` multiplies or divides it by one number; otherwise
 * NULL. */
static prt_op *read_scores(const prt_op *root, prt_value **c)
{
    prt_tensor t, w;
    for (uint32_t slot = 2; slot-- > (prt_op_is(root, PRT_OP_div) ? 1u : 0u);) {
        prt_op *scores = prt_match_interior(root, 1 - slot, PRT_OP_matmul);
        *c = prt_op_input(root, slot);
        if (scores != NULL && prt_match_constant(root, slot, &t) && prt_tensor_count(&t) == 1 &&
            prt_dtype_is_float(t.dtype) && prt_match_broadcasts((*c)->type, scores->out[0].type) &&
            !prt_match_constant(scores, 0, &w) && !prt_match_constant(scores, 1, &w))
            return scores;
    }
    return NULL;
}

/* Folds the factor `c` of operator `by` into the weights and the bias of a projection. Returns
 * false if nothing was done. */
static bool fold_factor(prt_pass *p, prt_build *b, const prt_op *by, prt_value *c, projection *q)
{
    prt_value *bias = NULL, *w = scale(p, b, by, prt_op_input(q->matmul, 1), c);
    if (w != NULL && q->add != NULL)
        bias = scale(p, b, by, prt_op_input(q->add, q->bias_slot), c);
    if (w == NULL || (q->add != NULL && bias == NULL)) {
        if (w != NULL)
            w->name = PRT_STR(""); /* not used */
        return false;
    }
    prt_op_set_input(q->matmul, 1, w);
    if (q->add != NULL)
        prt_op_set_input(q->add, q->bias_slot, bias);
    return true;
}

/* Folds a factor of one operand of the scores; only their product reads `root`. */
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
            !prt_dtype_is_float(t.dtype) || !prt_match_broadcasts(c->type, x->type) ||
            !find_projection(root, 1 - slot, &q) || !prt_pass_may_replace(y, x))
            continue;
        if (!fold_factor(p, b, root, c, &q))
            return b->status != POPRT_OK;
        x->name = PRT_STR(""); /* the value has changed */
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
    if (!fold_factor(p, b, root, c, &q))
        return b->status != POPRT_OK;
    scores->out[0].name = PRT_STR(""); /* the value has changed */
    (void)prt_pass_replace(b, &root->out[0], &scores->out[0]);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_mul, apply }, { PRT_OP_div, apply } };

const prt_pass_hooks prt_pass_pre_scale = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
