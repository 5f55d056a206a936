/* SPDX-License-Identifier: MIT */
/* q_moe_weights.c — shapes of QMoE, and unpacking of its weights by column. */
#include "op/microsoft/q_moe.h"
#include "op/share/quant.h"

enum { IN_X, IN_ROUTER, IN_ROUTER_WEIGHTS = 14, IN_GLOBAL = 15 };

static bool is_fp8(const prt_ms_qmoe_attrs *a)
{
    return prt_str_is(a->quant_type, "fp8");
}

static int64_t bits_of(const prt_ms_qmoe_attrs *a, uint32_t which)
{
    const int64_t own[] = { a->fc1_expert_weight_bits, a->fc2_expert_weight_bits,
        a->fc3_expert_weight_bits };
    return own[which] != 0 ? own[which] : a->expert_weight_bits;
}

static int64_t packing(const prt_ms_qmoe_attrs *a, uint32_t which)
{
    return is_fp8(a) ? 1 : 8 / bits_of(a, which);
}

size_t prt_moe_packing(const prt_eval *c, uint32_t which)
{
    return (size_t)packing(c->attrs, which);
}

/* ---- shapes ---- */

static poprt_status check_names(const prt_infer *c)
{
    static const char *const activations[] = { "relu", "gelu", "silu", "swiglu", "identity" };
    const prt_ms_qmoe_attrs *a = c->attrs;
    bool known = false;
    for (size_t i = 0; i < PRT_COUNT_OF(activations); i++)
        known = known || prt_str_is(a->activation_type, activations[i]);
    if (!known)
        return prt_infer_fail(c, POPRT_E_ARG,
            "activation_type is \"%.*s\"; accepted: relu, gelu, silu, swiglu, identity",
            PRT_STR_ARG(a->activation_type));
    if (!prt_str_is(a->quant_type, "int") && !is_fp8(a))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "quant_type is \"%.*s\"; accepted: int, fp8",
            PRT_STR_ARG(a->quant_type));
    if (a->use_sparse_mixer != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "use_sparse_mixer is set; accepted: 0");
    if (a->weights_prepacked == 1)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "weights_prepacked is 1: weights packed for a device are not supported");
    return POPRT_OK;
}

static poprt_status check_numbers(const prt_infer *c)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const bool third = prt_infer_has(c, prt_moe_slot(2));
    const bool is_swiglu = prt_str_is(a->activation_type, "swiglu");
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t bits = bits_of(a, i);
        if (bits != 2 && bits != 4 && bits != 8)
            return prt_infer_fail(c, POPRT_E_ARG, "weights have %lld bits; accepted: 2, 4, 8",
                (long long)bits);
    }
    if (a->block_size < 0 || a->block_size > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "block_size is %lld", (long long)a->block_size);
    if (a->swiglu_fusion < 0 || a->swiglu_fusion > 2)
        return prt_infer_fail(c, POPRT_E_ARG, "swiglu_fusion is %lld; accepted: 0, 1, 2",
            (long long)a->swiglu_fusion);
    if (is_swiglu && (a->swiglu_fusion == 0) != third)
        return prt_infer_fail(c, POPRT_E_ARG,
            "swiglu takes its second half from fc3 or, with swiglu_fusion, from fc1");
    return POPRT_OK;
}

/* Checks scales, zero points and bias of a matrix [experts, n, k]. */
static poprt_status check_parts(prt_infer *c, uint32_t which, int64_t experts, int64_t n, int64_t k)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const uint32_t slot = prt_moe_slot(which), zeros = prt_moe_zeros_slot(which);
    const int64_t block = a->block_size, bits = bits_of(a, which);
    const bool fp8 = is_fp8(a);
    const int64_t blocks = block == 0 ? 1 : prt_dim_ceildiv(c->dims, k, block);
    const int64_t rows = fp8 && block != 0 ? prt_dim_ceildiv(c->dims, n, block) : n;
    const int64_t all = prt_dim_mul(c->dims, experts, n);
    if (fp8 ? (block != 0) != prt_infer_has(c, slot + 1) : !prt_infer_has(c, slot + 1))
        return prt_infer_fail(c, POPRT_E_ARG, "scales of fc%u: %s", which + 1,
            fp8 ? "present exactly when there are blocks" : "missing");
    if (fp8 && block == 0 && (which == 2 || !prt_infer_has(c, IN_GLOBAL + which)))
        return prt_infer_fail(c, POPRT_E_ARG, "fc%u has neither blocks nor a global scale",
            which + 1);
    if (!fp8 && prt_dim_is_number(k) && block != 0 && k % block != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "fc%u: %lld does not divide into blocks of %lld",
            which + 1, (long long)k, (long long)block);
    PRT_TRY(prt_check_count(c, slot + 1,
        prt_dim_mul(c->dims, prt_dim_mul(c->dims, experts, rows), blocks)));
    PRT_TRY(prt_check_count(c, slot + 2, all));
    if (which < 2)
        PRT_TRY(prt_check_count(c, IN_GLOBAL + which, experts));
    if (fp8 && prt_infer_has(c, zeros))
        return prt_infer_fail(c, POPRT_E_ARG, "float weights cannot have zero points");
    const int64_t line = block == 0 ? n : blocks;
    const int64_t bytes = prt_dim_ceildiv(c->dims, prt_dim_mul(c->dims, line, bits), 8);
    return prt_check_count(c, zeros, prt_dim_mul(c->dims, block == 0 ? experts : all, bytes));
}

static poprt_status check_matrix(prt_infer *c, uint32_t which, int64_t experts, int64_t n,
    int64_t k)
{
    const uint32_t slot = prt_moe_slot(which);
    const int32_t want = is_fp8(c->attrs) ? PRT_DTYPE_f8e4m3fn : PRT_DTYPE_u8;
    int64_t merged;
    if (!prt_infer_has(c, slot))
        return POPRT_OK;
    if (c->in[slot].dtype != PRT_DTYPE_undefined && c->in[slot].dtype != want)
        return prt_infer_fail(c, POPRT_E_TYPE, "weights of fc%u are %s; %s is needed", which + 1,
            prt_dtype_of(c->in[slot].dtype)->name, prt_dtype_of(want)->name);
    PRT_TRY(prt_infer_rank(c, slot, 3));
    PRT_TRY(
        prt_infer_merge(c, experts, prt_infer_dim(c, slot, 0), "the number of experts", &merged));
    PRT_TRY(
        prt_infer_merge(c, n, prt_infer_dim(c, slot, 1), "rows of an expert's weights", &merged));
    PRT_TRY(prt_infer_merge(c, k,
        prt_dim_mul(c->dims, prt_infer_dim(c, slot, 2), packing(c->attrs, which)),
        "columns of an expert's weights", &merged));
    return check_parts(c, which, experts, n, k);
}

poprt_status prt_moe_infer(prt_infer *c)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const prt_shape *x = &c->in[IN_X];
    int64_t tokens = PRT_DIM_UNKNOWN, hidden = PRT_DIM_UNKNOWN, merged;
    PRT_TRY(check_names(c));
    PRT_TRY(check_numbers(c));
    if (x->rank >= 0) {
        if (x->rank != 2 && x->rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; 2 or 3 is needed",
                x->rank);
        hidden = x->dims[x->rank - 1];
        tokens = prt_infer_product(c, x->dims, 0, (uint32_t)x->rank - 1);
    }
    PRT_TRY(prt_infer_rank(c, IN_ROUTER, 2));
    PRT_TRY(prt_infer_rank(c, IN_ROUTER_WEIGHTS, 2));
    const int64_t experts = prt_infer_dim(c, IN_ROUTER, 1);
    PRT_TRY(prt_infer_merge(c, tokens, prt_infer_dim(c, IN_ROUTER, 0), "the number of tokens",
        &merged));
    PRT_TRY(prt_check_count(c, IN_ROUTER_WEIGHTS, prt_dim_mul(c->dims, tokens, experts)));
    if (a->k < 1 || (prt_dim_is_number(experts) && a->k > experts))
        return prt_infer_fail(c, POPRT_E_ARG, "k is %lld, but there are %lld experts",
            (long long)a->k, (long long)experts);
    const bool fused = prt_str_is(a->activation_type, "swiglu") && a->swiglu_fusion != 0;
    const int64_t inter = prt_dim_mul(c->dims, prt_infer_dim(c, prt_moe_slot(1), 2), packing(a, 1));
    if (inter == 0 || hidden == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "experts have no rows or no columns");
    PRT_TRY(check_matrix(c, 0, experts, prt_dim_mul(c->dims, inter, fused ? 2 : 1), hidden));
    PRT_TRY(check_matrix(c, 1, experts, hidden, inter));
    PRT_TRY(check_matrix(c, 2, experts, inter, hidden));
    return prt_infer_like(c, 0, IN_X, x->dtype);
}

/* ---- evaluation ---- */

static void bits_column(const void *user, size_t column, double *to, size_t step)
{
    const prt_moe_weights *w = user;
    prt_n_bits_column(&w->bits, column, to, step);
}

static void float_column(const void *user, size_t column, double *to, size_t step)
{
    const prt_moe_weights *w = user;
    const size_t row = w->expert * w->n + column;
    const size_t lines = w->block != 0 ? (w->n + w->block - 1) / w->block : 0;
    const size_t blocks = w->block != 0 ? (w->k + w->block - 1) / w->block : 0;
    for (size_t i = 0; i < w->k; i++) {
        double scale = w->scale;
        if (w->block != 0)
            scale = prt_load_f64(w->scales->dtype, w->scales->data,
                (w->expert * lines + column / w->block) * blocks + i / w->block);
        to[i * step] = prt_load_f64(w->t->dtype, w->t->data, row * w->k + i) * scale;
    }
}

/* Unpacks zero points of whole rows, which are packed along the rows, to one double for each. */
static poprt_status row_zeros(prt_eval *c, uint32_t slot, const prt_moe_weights *w, prt_tensor *to)
{
    const int64_t dims[] = { (int64_t)w->n };
    const size_t bytes = (w->n * w->bits.bits + 7) / 8;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 1, dims, to));
    for (size_t i = 0; i < w->n; i++)
        ((double *)to->data)[i] = (double)prt_packed_load(w->bits.bits,
            (const uint8_t *)c->in[slot]->data + w->expert * bytes, i);
    return POPRT_OK;
}

static poprt_status init_bits(prt_eval *c, uint32_t which, prt_moe_weights *w)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const uint32_t slot = prt_moe_slot(which), zeros = prt_moe_zeros_slot(which);
    w->bits = (prt_n_bits){ .k = w->k,
        .block = w->block != 0 ? w->block : w->k,
        .bits = (uint32_t)bits_of(a, which),
        .row = (size_t)w->t->dims[2],
        .scales = c->in[slot + 1],
        .first = w->expert * w->n };
    w->bits.blocks = w->k / w->bits.block;
    w->bits.data = (const uint8_t *)w->t->data + w->expert * w->n * w->bits.row;
    w->column = bits_column;
    if (!prt_eval_has(c, zeros))
        return POPRT_OK;
    w->bits.zeros = c->in[zeros];
    w->bits.first_zero = w->bits.first;
    if (w->block != 0)
        return POPRT_OK;
    w->bits.first_zero = 0;
    prt_tensor *all = prt_eval_scratch(c, 1, sizeof(prt_tensor));
    if (all == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(row_zeros(c, zeros, w, all));
    w->bits.zeros = all;
    return POPRT_OK;
}

poprt_status prt_moe_weights_init(prt_eval *c, uint32_t which, size_t expert, prt_moe_weights *w,
    const double **bias)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const uint32_t slot = prt_moe_slot(which);
    const prt_tensor *t = c->in[slot];
    *w = (prt_moe_weights){ .t = t,
        .expert = expert,
        .n = (size_t)t->dims[1],
        .k = (size_t)t->dims[2] * (size_t)packing(a, which),
        .block = (size_t)a->block_size,
        .scales = prt_eval_has(c, slot + 1) ? c->in[slot + 1] : NULL,
        .scale = 1,
        .column = float_column };
    *bias = NULL;
    if (prt_eval_has(c, slot + 2)) {
        double *b = prt_eval_scratch(c, w->n, sizeof(double));
        if (b == NULL)
            return POPRT_E_NOMEM;
        prt_reals_load(c->in[slot + 2]->dtype, c->in[slot + 2]->data, expert * w->n, 1, w->n, b);
        *bias = b;
    }
    if (!is_fp8(a))
        return init_bits(c, which, w);
    if (w->block == 0)
        prt_reals_load(PRT_DTYPE_f32, c->in[IN_GLOBAL + which]->data, expert, 1, 1, &w->scale);
    return POPRT_OK;
}
