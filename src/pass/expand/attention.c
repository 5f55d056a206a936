/* SPDX-License-Identifier: MIT */
/*
 * attention.c — Attention of com.microsoft becomes the MatMul of Q, K and V, and MultiHeadAttention
 * on its parts. A cache [2, batch, heads, rows, size] is split before it and joined after it.
 *
 * Requires weights of known width and no shared buffer.
 */
#include "pass/expand/expand.h"

enum { X, W, BIAS, MASK, PAST, ADDED };

/* Sets `sizes` to the columns of Q, K and V; returns their sum, or 0 if it is not known. */
static int64_t columns(const prt_op *root, const prt_ms_attention_attrs *a, int64_t sizes[3])
{
    const prt_type *w = prt_match_ranked(prt_op_input(root, W));
    if (w == NULL || w->rank != 2 || !prt_dim_is_number(w->dims[1]) || w->dims[1] > INT32_MAX)
        return 0;
    for (uint32_t i = 0; i < 3; i++) {
        sizes[i] = a->qkv_hidden_sizes.count == 3 ? a->qkv_hidden_sizes.data[i] : w->dims[1] / 3;
        if (sizes[i] < 1 || sizes[i] > w->dims[1])
            return 0;
    }
    return sizes[0] + sizes[1] + sizes[2] == w->dims[1] ? w->dims[1] : 0;
}

/* Returns half `which` of the cache. */
static prt_value *half(prt_build *b, prt_value *past, int64_t which)
{
    prt_gather_attrs attrs = PRT_ATTRS_OF(gather);
    prt_value *in[2] = { past, prt_build_i64(b, which) };
    PRT_ATTR_SET(attrs, gather, axis, 0);
    return prt_build_op(b, PRT_OP_gather, &attrs, 2, in);
}

static void join(prt_build *b, prt_op *root, prt_op *heads)
{
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    const int64_t first = 0;
    prt_value *in[2];
    PRT_ATTR_SET(attrs, concat, axis, 0);
    for (uint32_t i = 0; i < 2; i++)
        in[i] =
            prt_build_binary(b, PRT_OP_unsqueeze, &heads->out[1 + i], prt_build_i64s(b, 1, &first));
    prt_value *present = prt_build_op(b, PRT_OP_concat, &attrs, 2, in);
    if (present != NULL)
        (void)prt_pass_replace(b, &root->out[1], present);
}

bool prt_expand_attention(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_attention_attrs *a = root->attrs;
    prt_value *past = prt_op_input(root, PAST);
    const bool present = root->n_out > 1 && prt_value_used(&root->out[1]);
    int64_t sizes[3];
    (void)p;
    if (!prt_match_is_f32(prt_op_input(root, X)) || a->past_present_share_buffer != 0 ||
        a->do_rotary != 0 || columns(root, a, sizes) == 0)
        return false;
    prt_value *all =
        prt_build_binary(b, PRT_OP_matmul, prt_op_input(root, X), prt_op_input(root, W));
    if (prt_op_input(root, BIAS) != NULL)
        all = prt_build_binary(b, PRT_OP_add, all, prt_op_input(root, BIAS));
    prt_split_attrs split = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(split, split, axis, -1);
    prt_value *in[2] = { all, prt_build_i64s(b, 3, sizes) };
    prt_op *parts = prt_build_op_n(b, PRT_OP_split, &split, 2, in, 3);
    prt_ms_multi_head_attention_attrs attrs = PRT_ATTRS_OF(ms_multi_head_attention);
    PRT_ATTR_SET(attrs, ms_multi_head_attention, num_heads, a->num_heads);
    PRT_ATTR_SET(attrs, ms_multi_head_attention, scale, a->scale);
    PRT_ATTR_SET(attrs, ms_multi_head_attention, unidirectional, a->unidirectional);
    PRT_ATTR_SET(attrs, ms_multi_head_attention, mask_filter_value, a->mask_filter_value);
    if (parts == NULL)
        return true; /* b keeps the failure */
    prt_value *of[8] = { &parts->out[0], &parts->out[1], &parts->out[2], NULL,
        prt_op_input(root, MASK), prt_op_input(root, ADDED), past != NULL ? half(b, past, 0) : NULL,
        past != NULL ? half(b, past, 1) : NULL };
    uint32_t n = 8;
    while (of[n - 1] == NULL)
        n--;
    prt_op *heads =
        prt_build_op_n(b, PRT_OP_ms_multi_head_attention, &attrs, n, of, present ? 3 : 1);
    if (heads == NULL)
        return true;
    if (present)
        join(b, root, heads);
    return prt_match_replace(b, root, &heads->out[0]);
}
