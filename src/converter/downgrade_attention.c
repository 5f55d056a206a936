/* SPDX-License-Identifier: MIT */
/*
 * downgrade_attention.c — Attention and RotaryEmbedding as matrix products, Softmax and Slice. Data
 * of less than 32 bits is computed in float32.
 */
#include <math.h>

#include "converter/downgrade.h"
#include "converter/conversions.h"

#define BINARY(id, x, y) prt_build_binary(b, PRT_OP_##id, x, y)

enum { IN_Q, IN_K, IN_V, IN_MASK, IN_PAST_KEY, IN_PAST_VALUE, IN_LENGTHS };
enum { OUT_Y, OUT_KEY, OUT_VALUE, OUT_SCORES };

static const int64_t swap_heads[4] = { 0, 2, 1, 3 };

static bool is_used(const prt_op *op, uint32_t i)
{
    return i < op->n_out && (op->out[i].name.size != 0 || prt_value_used(&op->out[i]));
}

static prt_value *concat(prt_build *b, prt_value *x, prt_value *y, int64_t axis)
{
    const prt_concat_attrs attrs = { .axis = axis };
    return prt_build_op(b, PRT_OP_concat, &attrs, 2, (prt_value *[]){ x, y });
}

/* Returns [batch, sequence, heads · size] as [batch, heads, sequence, size]. */
static prt_value *split_heads(prt_build *b, prt_value *x, int64_t heads)
{
    const int64_t dims[4] = { 0, 0, heads, -1 };
    if (x != NULL && x->type->rank == 4)
        return x;
    return prt_down_transpose(b, prt_down_reshape(b, x, 4, dims), 4, swap_heads);
}

static prt_value *merge_heads(prt_build *b, prt_value *x)
{
    const int64_t dims[3] = { 0, 0, -1 };
    return prt_down_reshape(b, prt_down_transpose(b, x, 4, swap_heads), 3, dims);
}

/* Repeats each of `heads` heads `times` times in a row. */
static prt_value *repeat_heads(prt_build *b, prt_value *x, int64_t heads, int64_t times)
{
    const int64_t axis = 2, many[5] = { 1, 1, times, 1, 1 };
    if (times == 1 || x == NULL)
        return x;
    const prt_type *type = x->type;
    const int64_t dims[4] = { 0, heads * times, -1, type->dims[3] };
    x = BINARY(unsqueeze, x, prt_build_i64s(b, 1, &axis));
    x = BINARY(expand, x, prt_build_i64s(b, 5, many));
    return prt_down_reshape(b, x, 4, dims);
}

/* ---- the mask of keys ---- */

/* Returns a bool for each score, or NULL if all are allowed; `*bias` is added to the scores. */
static prt_value *build_mask(prt_build *b, const prt_op *op, prt_value *scores, prt_value *past,
    prt_value **bias)
{
    const prt_attention_attrs *a = op->attrs;
    prt_value *mask = prt_op_input(op, IN_MASK), *open = NULL;
    *bias = NULL;
    if (mask != NULL && prt_down_dtype(mask) == PRT_DTYPE_bool) {
        open = mask;
    } else if (mask != NULL) {
        *bias = prt_down_cast(b, mask, prt_down_dtype(scores));
        open = BINARY(greater, *bias, prt_down_scalar(b, -HUGE_VAL, *bias));
    }
    if (a->is_causal != 0) {
        prt_value *row = prt_down_indices(b, scores, -2, true);
        if (past != NULL) {
            const int64_t from = 2, to = 3, zero = 0;
            prt_value *in[4] = { prt_build_unary(b, PRT_OP_shape, past),
                prt_build_i64s(b, 1, &from), prt_build_i64s(b, 1, &to),
                prt_build_i64s(b, 1, &zero) };
            row = BINARY(add, row, prt_build_op(b, PRT_OP_slice, NULL, 4, in));
        }
        prt_value *ahead = BINARY(greater, prt_down_indices(b, scores, -1, false), row);
        prt_value *causal = prt_build_unary(b, PRT_OP_not, ahead);
        open = open != NULL ? BINARY(and, open, causal) : causal;
    }
    return open;
}

static prt_value *select_where(prt_build *b, prt_value *test, prt_value *x, prt_value *y)
{
    return prt_build_op(b, PRT_OP_where, NULL, 3, (prt_value *[]){ test, x, y });
}

/* Softmax over the keys. Masked keys get 0, even if all keys are masked. */
static prt_value *attention_weights(prt_build *b, const prt_op *op, prt_value *scores,
    prt_value *past)
{
    const prt_softmax_attrs last = { .axis = -1 };
    prt_value *bias, *open = build_mask(b, op, scores, past, &bias);
    if (bias != NULL)
        scores = BINARY(add, scores, bias);
    if (open != NULL)
        scores = select_where(b, open, scores, prt_down_scalar(b, -HUGE_VAL, scores));
    prt_value *y = prt_build_op(b, PRT_OP_softmax, &last, 1, &scores);
    return open != NULL ? select_where(b, open, y, prt_down_scalar(b, 0, y)) : y;
}

/* ---- Attention ---- */

static void hand_out(prt_build *b, prt_op *op, uint32_t i, prt_value *v)
{
    if (!is_used(op, i))
        return;
    v = prt_down_cast(b, v, prt_down_dtype(&op->out[i]));
    if (v != NULL && (v->def == NULL || v->name.size != 0))
        v = prt_build_unary(b, PRT_OP_identity, v);
    prt_build_replace_uses(b, &op->out[i], v);
}

/* Hands out the scores at one of the stages that qk_matmul_output_mode selects. */
static void hand_out_scores(prt_build *b, prt_op *op, int64_t mode, prt_value *scores)
{
    if (((const prt_attention_attrs *)op->attrs)->qk_matmul_output_mode == mode)
        hand_out(b, op, OUT_SCORES, scores);
}

static poprt_status check(const prt_downgrade *d, const prt_type *q, const prt_type *k)
{
    const prt_op *op = d->op;
    const prt_attention_attrs *a = op->attrs;
    const prt_type *mask = prt_down_ranked(prt_op_input(op, IN_MASK));
    const prt_type *v = prt_down_ranked(prt_op_input(op, IN_V));
    if (q == NULL || k == NULL || v == NULL || (q->rank != 3 && q->rank != 4) ||
        k->rank != q->rank || v->rank != q->rank || !prt_dim_is_number(q->dims[q->rank - 1]) ||
        !prt_dim_is_number(k->dims[q->rank - 1]) || !prt_dim_is_number(v->dims[q->rank - 1]) ||
        (q->rank == 4 && (!prt_dim_is_number(q->dims[1]) || !prt_dim_is_number(k->dims[1]))) ||
        (q->rank == 3 && (a->q_num_heads < 1 || a->kv_num_heads < 1)) ||
        (q->rank == 4 && (q->dims[1] < 1 || k->dims[1] < 1)))
        return prt_down_refuse(d, "the number and the size of its heads must be known");
    if (prt_op_input(op, IN_LENGTHS) != NULL || a->left_window_size >= 0 ||
        a->right_window_size >= 0 || (is_used(op, OUT_SCORES) && a->qk_matmul_output_mode == 2))
        return prt_down_refuse(d,
            "inputs of lengths, windows and outputs of masked scores cannot be expressed");
    if (prt_op_input(op, IN_MASK) != NULL && (mask == NULL || mask->rank == 0))
        return prt_down_refuse(d, "the rank of the mask must be known and above 0");
    if (mask != NULL && mask->dims[mask->rank - 1] != 1 && k->rank == 4 &&
        prt_op_input(op, IN_PAST_KEY) == NULL && mask->dims[mask->rank - 1] != k->dims[2])
        return prt_down_refuse(d, "the mask must cover all keys");
    return POPRT_OK;
}

/* Computes scale · Q · K' and applies the softcap. */
static prt_value *compute_scores(prt_build *b, prt_op *op, prt_value *q, prt_value *k, double scale)
{
    static const int64_t swap_last_axes[4] = { 0, 1, 3, 2 };
    const double softcap = (double)((const prt_attention_attrs *)op->attrs)->softcap;
    q = BINARY(mul, q, prt_down_scalar(b, scale, q));
    prt_value *scores = BINARY(matmul, q, prt_down_transpose(b, k, 4, swap_last_axes));
    hand_out_scores(b, op, 0, scores);
    if (softcap > 0) {
        prt_value *cap = prt_down_scalar(b, softcap, scores);
        scores = BINARY(mul, prt_build_unary(b, PRT_OP_tanh, BINARY(div, scores, cap)), cap);
    }
    hand_out_scores(b, op, 1, scores);
    return scores;
}

poprt_status prt_down_attention(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_attention_attrs *a = op->attrs;
    const prt_type *qt = prt_down_ranked(prt_op_input(op, IN_Q));
    const prt_type *kt = prt_down_ranked(prt_op_input(op, IN_K));
    PRT_TRY(check(d, qt, kt));
    const bool is_rank3 = qt->rank == 3;
    const int64_t heads = is_rank3 ? a->q_num_heads : qt->dims[1];
    const int64_t groups = is_rank3 ? a->kv_num_heads : kt->dims[1];
    const int64_t size = is_rank3 ? qt->dims[2] / heads : qt->dims[3];
    const int32_t dtype = prt_down_dtype(prt_op_input(op, IN_Q));
    const int32_t wide = prt_dtype_bits(dtype) < 32 ? PRT_DTYPE_f32 : dtype;
    const bool given = prt_attr_given(a, prt_op_attr(op->def, PRT_STR("scale")));
    const double scale = given ? (double)a->scale : 1.0 / sqrt((double)size);
    prt_build builder = prt_build_before(op), *b = &builder;
    prt_value *in[3], *past[2] = { prt_op_input(op, IN_PAST_KEY), prt_op_input(op, IN_PAST_VALUE) };
    for (uint32_t i = 0; i < 3; i++)
        in[i] = split_heads(b, prt_op_input(op, i), i == 0 ? heads : groups);
    for (uint32_t i = 1; i < 3; i++) {
        if (past[i - 1] != NULL)
            in[i] = concat(b, past[i - 1], in[i], 2);
        hand_out(b, op, i, in[i]);
        in[i] = prt_down_cast(b, in[i], wide);
        in[i] = repeat_heads(b, in[i], groups, heads / groups);
    }
    prt_value *scores = compute_scores(b, op, prt_down_cast(b, in[0], wide), in[1], scale);
    prt_value *weights = attention_weights(b, op, scores, past[0]);
    hand_out_scores(b, op, 3, weights);
    prt_value *y = prt_down_cast(b, BINARY(matmul, weights, in[2]), dtype);
    return prt_down_replace(d, b, is_rank3 ? merge_heads(b, y) : y);
}

/* ---- RotaryEmbedding ---- */

/* Elements first, first + step, … below `last` of the last axis. */
static prt_value *slice_last_axis(prt_build *b, prt_value *x, int64_t first, int64_t last,
    int64_t step)
{
    const int64_t axis = 3;
    prt_value *in[5] = { x, prt_build_i64s(b, 1, &first), prt_build_i64s(b, 1, &last),
        prt_build_i64s(b, 1, &axis), prt_build_i64s(b, 1, &step) };
    return prt_build_op(b, PRT_OP_slice, NULL, step == 1 ? 4 : 5, in);
}

/* Interleaves x and y. */
static prt_value *interleave(prt_build *b, prt_value *x, prt_value *y, int64_t size)
{
    const int64_t axis = 4, dims[4] = { 0, 0, 0, size };
    prt_value *axes = prt_build_i64s(b, 1, &axis);
    prt_value *pairs = concat(b, BINARY(unsqueeze, x, axes), BINARY(unsqueeze, y, axes), 4);
    return prt_down_reshape(b, pairs, 4, dims);
}

poprt_status prt_down_rotary(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_rotary_embedding_attrs *a = op->attrs;
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    const int64_t by_heads = 2;
    if (type == NULL || (type->rank != 3 && type->rank != 4) ||
        !prt_dim_is_number(type->dims[type->rank - 1]) || (type->rank == 3 && a->num_heads < 1))
        return prt_down_refuse(d, "the size of its heads must be known");
    prt_build builder = prt_build_before(op), *b = &builder;
    prt_value *x = prt_op_input(op, 0), *angle[2];
    const int64_t last = type->dims[type->rank - 1];
    const int64_t size = type->rank == 3 ? last / a->num_heads : last;
    const int64_t rotary_size = a->rotary_embedding_dim != 0 ? a->rotary_embedding_dim : size;
    const int64_t split[4] = { 0, 0, a->num_heads, size };
    x = type->rank == 3 ? prt_down_reshape(b, x, 4, split)
                        : prt_down_transpose(b, x, 4, swap_heads);
    for (uint32_t i = 0; i < 2; i++) {
        angle[i] = prt_op_input(op, i + 1);
        if (prt_op_input(op, 3) != NULL)
            angle[i] = BINARY(gather, angle[i], prt_op_input(op, 3));
        angle[i] = BINARY(unsqueeze, angle[i], prt_build_i64s(b, 1, &by_heads));
    }
    const bool pairs = a->interleaved != 0;
    prt_value *p = slice_last_axis(b, x, 0, pairs ? rotary_size : rotary_size / 2, pairs ? 2 : 1);
    prt_value *q = slice_last_axis(b, x, pairs ? 1 : rotary_size / 2, rotary_size, pairs ? 2 : 1);
    prt_value *u = BINARY(sub, BINARY(mul, angle[0], p), BINARY(mul, angle[1], q));
    prt_value *v = BINARY(add, BINARY(mul, angle[1], p), BINARY(mul, angle[0], q));
    prt_value *y = pairs ? interleave(b, u, v, rotary_size) : concat(b, u, v, 3);
    if (rotary_size < size)
        y = concat(b, y, slice_last_axis(b, x, rotary_size, size, 1), 3);
    const int64_t merged[3] = { 0, 0, last };
    y = type->rank == 3 ? prt_down_reshape(b, y, 3, merged)
                        : prt_down_transpose(b, y, 4, swap_heads);
    return prt_down_replace(d, b, y);
}
