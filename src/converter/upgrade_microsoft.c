/* SPDX-License-Identifier: MIT */
/*
 * upgrade_microsoft.c — upgrades operators of com.microsoft that equal operators of ai.onnx under
 * another name, with an input of another type, or with channels last.
 */
#include "converter/conversions.h"
#include "ir/extra.h"

/* Sets input `slot`, which is added if the op has fewer inputs. */
static poprt_status set_input(prt_op *op, uint32_t slot, prt_value *value)
{
    while (op->n_in <= slot)
        PRT_TRY(prt_op_add_input(op, NULL));
    prt_op_set_input(op, slot, value);
    return POPRT_OK;
}

static poprt_status need_inputs(const prt_op *op, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (i >= op->n_in || op->in[i].value == NULL)
            return prt_fail(POPRT_E_PARSE, prt_op_label(op), "%.100s: input %u is missing",
                op->name.data, i);
    return POPRT_OK;
}

/* Drops all inputs from `count` on. */
static void drop_inputs(prt_op *op, uint32_t count)
{
    for (uint32_t i = count; i < op->n_in; i++)
        prt_op_set_input(op, i, NULL);
    op->n_in = op->n_in < count ? op->n_in : count;
}

/* Fails if an attribute does not have the only supported value. */
static poprt_status need_number(prt_upgrade *u, const char *name, int64_t number)
{
    if (prt_upgrade_i64(u, name, number) != number)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(u->op), "%.100s: %s must be %lld",
            u->op->name.data, name, (long long)number);
    return POPRT_OK;
}

/* ---- normalisations ---- */

/* RMSNormalization does not return the inverse deviation, which only training reads. */
poprt_status prt_up_ms_simplified(prt_upgrade *u)
{
    prt_op *op = u->op;
    for (uint32_t i = 1; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
                "SimplifiedLayerNormalization: output %u is for training and is not computed", i);
    if (op->n_out > 1)
        op->n_out = 1;
    return prt_upgrade_become(u, PRT_OP_rms_normalization);
}

poprt_status prt_up_ms_layer_norm(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_layer_normalization);
}

/* ---- element-wise functions ---- */

poprt_status prt_up_ms_gelu(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_gelu);
}

/* FastGelu with a bias stays unchanged. */
poprt_status prt_up_ms_fast_gelu(prt_upgrade *u)
{
    if (u->op->n_in > 1 && u->op->in[1].value != NULL)
        return POPRT_OK;
    drop_inputs(u->op, 1);
    PRT_TRY(prt_upgrade_become(u, PRT_OP_gelu));
    prt_gelu_attrs *a = u->op->attrs;
    a->approximate = PRT_STR("tanh");
    a->present |= 1;
    return POPRT_OK;
}

poprt_status prt_up_ms_quick_gelu(prt_upgrade *u)
{
    PRT_TRY(prt_upgrade_become(u, PRT_OP_swish));
    prt_swish_attrs *a = u->op->attrs;
    if (!prt_attr_given(a, 0))
        a->alpha = 1.702f;
    a->present |= 1;
    return POPRT_OK;
}

poprt_status prt_up_ms_sample(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_identity);
}

/* ---- matrix products ---- */

/* Sparse operands are dense after reading. */
poprt_status prt_up_ms_fused_matmul(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_ms_fused_matmul);
}

/* ---- operators that move elements ---- */

poprt_status prt_up_ms_trilu(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_trilu);
}

poprt_status prt_up_ms_grid_sample(prt_upgrade *u)
{
    PRT_TRY(prt_upgrade_become(u, PRT_OP_grid_sample));
    prt_grid_sample_attrs *a = u->op->attrs;
    if (prt_str_is(a->mode, "bilinear"))
        a->mode = PRT_STR("linear");
    else if (prt_str_is(a->mode, "bicubic"))
        a->mode = PRT_STR("cubic");
    return POPRT_OK;
}

/* Each bound may be a list of one number; the step may be absent. */
poprt_status prt_up_ms_range(prt_upgrade *u)
{
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 2));
    prt_build b = prt_build_before(op);
    prt_value *shape = prt_build_i64s(&b, 0, NULL), *in[3];
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = prt_op_input(op, i);
        if (in[i] != NULL)
            in[i] = prt_build_binary(&b, PRT_OP_reshape, in[i], shape);
    }
    if (in[2] == NULL)
        in[2] =
            prt_build_binary(&b, PRT_OP_cast_like, prt_build_scalar(&b, PRT_DTYPE_i64, 1), in[0]);
    PRT_TRY(prt_build_status(&b));
    for (uint32_t i = 0; i < 3; i++)
        PRT_TRY(set_input(op, i, in[i]));
    return prt_upgrade_become(u, PRT_OP_range);
}

static prt_value *as_i64(prt_build *b, prt_value *value)
{
    const prt_cast_attrs to = { .to = PRT_DTYPE_i64, .saturate = 1, .round_mode = PRT_STR("up") };
    return prt_build_op(b, PRT_OP_cast, &to, 1, &value);
}

static prt_value *as_list(prt_build *b, prt_value *value)
{
    static const int64_t all = -1;
    return prt_build_binary(b, PRT_OP_reshape, value, prt_build_i64s(b, 1, &all));
}

poprt_status prt_up_ms_expand_dims(prt_upgrade *u)
{
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 2));
    prt_build b = prt_build_before(op);
    prt_value *axes = as_list(&b, as_i64(&b, prt_op_input(op, 1)));
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, axes);
    return prt_upgrade_become(u, PRT_OP_unsqueeze);
}

poprt_status prt_up_ms_gather_nd(prt_upgrade *u)
{
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 2));
    prt_build b = prt_build_before(op);
    prt_value *indices = as_i64(&b, prt_op_input(op, 1));
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, indices);
    return prt_upgrade_become(u, PRT_OP_gather_nd);
}

/* The pads may be a tensor of one row, and the value a list of one number. */
poprt_status prt_up_ms_pad(prt_upgrade *u)
{
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 2));
    prt_build b = prt_build_before(op);
    prt_value *pads = as_list(&b, prt_op_input(op, 1)), *value = prt_op_input(op, 2);
    if (value != NULL)
        value = prt_build_binary(&b, PRT_OP_reshape, value, prt_build_i64s(&b, 0, NULL));
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, pads);
    if (value != NULL)
        prt_op_set_input(op, 2, value);
    return prt_upgrade_become(u, PRT_OP_pad);
}

/* Drops the inputs that concern gradients. */
poprt_status prt_up_ms_embedding(prt_upgrade *u)
{
    drop_inputs(u->op, 2);
    return prt_upgrade_become(u, PRT_OP_gather);
}

/* Moves the uses and the name of an output to another value. */
static poprt_status move_uses(prt_value *from, prt_value *to)
{
    const prt_str name = from->name;
    prt_value_replace(from, to);
    from->name = PRT_STR("");
    return name.size != 0 ? prt_value_set_name(to, name) : POPRT_OK;
}

/* Maps to Unique without sorting. Its second output, the first indices, is not an output of this
 * one. */
poprt_status prt_up_ms_unique(prt_upgrade *u)
{
    static const uint32_t place[3] = { 0, 2, 3 };
    const prt_unique_attrs attrs = { .present = 2, .sorted = 0 };
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 1));
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0);
    prt_op *unique = prt_build_op_n(&b, PRT_OP_unique, &attrs, 1, &x, 4);
    PRT_TRY(prt_build_status(&b));
    PRT_TRY(prt_op_copy_notes(unique, op));
    for (uint32_t i = 0; i < op->n_out && i < 3; i++)
        PRT_TRY(move_uses(&op->out[i], &unique->out[place[i]]));
    prt_op_erase(op);
    u->op = unique;
    return POPRT_OK;
}

/* ---- attention ---- */

/* Attention of a single query. A buffer shared by past and present is refused, because its keys
 * have an order that Attention does not support. */
poprt_status prt_up_ms_decoder_self_attention(prt_upgrade *u)
{
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 2));
    PRT_TRY(need_number(u, "past_present_share_buffer", 0));
    if (op->n_in > 8 && op->in[8].value != NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "DecoderMaskedSelfAttention: cache_indirection is not supported");
    drop_inputs(op, 6);
    return prt_upgrade_become(u, PRT_OP_ms_attention);
}

/* ---- operators with a state; a window of states, which ai.onnx lacks, is refused ---- */

poprt_status prt_up_ms_linear_attention(prt_upgrade *u)
{
    PRT_TRY(need_number(u, "state_window", 0));
    return prt_upgrade_become(u, PRT_OP_linear_attention);
}

poprt_status prt_up_ms_causal_conv(prt_upgrade *u)
{
    PRT_TRY(need_number(u, "state_window", 0));
    PRT_TRY(need_number(u, "channels_last", 0));
    PRT_TRY(need_number(u, "dilation", 1));
    PRT_TRY(need_number(u, "ndim", 1));
    return prt_upgrade_become(u, PRT_OP_causal_conv_with_state);
}

/* ---- Fourier transforms ---- */

/* DFT expects and returns the parts of complex numbers in a last dim. */
poprt_status prt_up_ms_rfft(prt_upgrade *u)
{
    static const int64_t last = -1;
    prt_op *op = u->op;
    PRT_TRY(need_inputs(op, 1));
    if (prt_upgrade_i64(u, "signal_ndim", 1) != 1 || prt_upgrade_i64(u, "onesided", 1) != 1 ||
        prt_upgrade_i64(u, "normalized", 0) != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "Rfft: signal_ndim and onesided must be 1, normalized 0");
    prt_build b = prt_build_before(op);
    prt_value *x =
        prt_build_binary(&b, PRT_OP_unsqueeze, prt_op_input(op, 0), prt_build_i64s(&b, 1, &last));
    prt_value *axis = prt_build_i64(&b, -2);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 0, x);
    PRT_TRY(set_input(op, 2, axis));
    PRT_TRY(prt_upgrade_become(u, PRT_OP_dft));
    prt_dft_attrs *a = op->attrs;
    a->onesided = 1;
    a->present |= (uint64_t)1 << prt_op_attr(op->def, PRT_STR("onesided"));
    return POPRT_OK;
}

/* ---- channels last ---- */

static int32_t rank_of(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

/* Returns the rank of the images: from input 0, from the filters, or from kernel_shape. */
static poprt_status image_rank(prt_upgrade *u, int32_t *rank)
{
    const prt_op *op = u->op;
    *rank = rank_of(prt_op_input(op, 0));
    if (*rank < 0 && op->n_in > 1)
        *rank = rank_of(prt_op_input(op, 1));
    for (uint32_t i = 0; *rank < 0 && i < u->n_attrs; i++)
        if (prt_str_is(u->attrs[i].name, "kernel_shape") && u->attrs[i].ints.count < PRT_MAX_RANK)
            *rank = (int32_t)u->attrs[i].ints.count + 2;
    if (*rank < 3 || *rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "%.100s: the rank of the images must be known and from 3 to %d", op->name.data,
            PRT_MAX_RANK);
    return POPRT_OK;
}

/* Returns the permutation that moves channels from the end to axis 1, or back. */
static prt_transpose_attrs channel_transpose(int32_t rank, bool back, int64_t *perm)
{
    for (int32_t i = 0; i < rank; i++)
        perm[i] = back ? (i == 0                ? 0
                                 : i + 1 < rank ? i + 1
                                                : 1)
                       : (i == 0          ? 0
                                 : i == 1 ? rank - 1
                                          : i - 1);
    return (prt_transpose_attrs){ .present = 1, .perm = { perm, (uint32_t)rank } };
}

/* Turns the op into a Transpose of operator `id` on the transposed image (and residual, input
 * 3). */
static poprt_status channels_first(prt_upgrade *u, uint32_t id)
{
    prt_op *op = u->op;
    int64_t perm[PRT_MAX_RANK];
    int32_t rank;
    prt_value *in[4] = { NULL };
    PRT_TRY(need_inputs(op, id == PRT_OP_max_pool ? 1 : 2));
    PRT_TRY(image_rank(u, &rank));
    PRT_TRY(prt_upgrade_become(u, id)); /* fills in attributes, which the inner op takes over */
    const void *attrs = op->attrs;
    const uint32_t n_in = op->n_in < 4 ? op->n_in : 4;
    prt_transpose_attrs first = channel_transpose(rank, false, perm);
    prt_build b = prt_build_before(op);
    for (uint32_t i = 0; i < n_in; i++) {
        in[i] = prt_op_input(op, i);
        if ((i == 0 || i == 3) && in[i] != NULL)
            in[i] = prt_build_op(&b, PRT_OP_transpose, &first, 1, &in[i]);
    }
    prt_value *y = prt_build_op(&b, id, attrs, n_in, in);
    PRT_TRY(prt_build_status(&b));
    int64_t *back = PRT_NEW_N(op->graph->module->arena, int64_t, (size_t)rank);
    if (back == NULL)
        return POPRT_E_NOMEM;
    u->inner = y->def;
    PRT_TRY(prt_op_copy_notes(u->inner, op));
    PRT_TRY(prt_upgrade_become(u, PRT_OP_transpose));
    *(prt_transpose_attrs *)op->attrs = channel_transpose(rank, true, back);
    prt_op_set_input(op, 0, y);
    drop_inputs(op, 1);
    return POPRT_OK;
}

poprt_status prt_up_ms_nhwc_conv(prt_upgrade *u)
{
    return channels_first(u, PRT_OP_conv);
}

poprt_status prt_up_ms_nhwc_fused_conv(prt_upgrade *u)
{
    return channels_first(u, PRT_OP_ms_fused_conv);
}

poprt_status prt_up_ms_nhwc_max_pool(prt_upgrade *u)
{
    return channels_first(u, PRT_OP_max_pool);
}
