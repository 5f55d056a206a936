/* SPDX-License-Identifier: MIT */
/*
 * formulas.c — expand_formulas: float32 operators without kernels of their own become operators
 * that have kernels:
 *
 *     Acos, Asin          2 atan(sqrt((1 - x) / (1 + x))), atan(x / sqrt((1 - x) (1 + x)))
 *     Elu, Selu, Celu     max(x, 0) + a (exp(min(x, 0) / c) - 1), with their factors
 *     GlobalMaxPool       ReduceMax
 *     IsInf, IsNaN        Abs, Equal with infinity; Not(Equal(x, x))
 *     LRN                 x / (bias + alpha m)^beta, m: AveragePool of squares over channels
 *     Mean                Sum, times 1 / n
 *     MeanVarianceNormalization   ReduceMean of x and of the squared differences from it
 *     Mish                x n / (n + 2), n = e (e + 2), e = exp(min(x, 20)); x Tanh(Softplus(x))
 *     Softplus            max(x, 0) + log(1 + exp(-|x|))
 *     Softsign            x / (1 + |x|)
 *     Swish               x Sigmoid(alpha x), if alpha is not 1
 *     ThresholdedRelu     Where(x > alpha, x, 0)
 *     Attention           com.microsoft: MatMul, MultiHeadAttention (attention.c)
 *     FusedConv, FusedGemm   com.microsoft: the operator, Add, an activation (fused.c)
 *     Gemm                factors, Transpose, Add (gemm.c)
 *     Einsum              two operands: Transpose, MatMul (einsum.c)
 *     MaxPool, AveragePool   three spatial dims: two pools (pool.c)
 *     ReduceL1, ReduceLogSumExp, LpPool, Hardmax   reductions (reduce.c)
 *     Resize              volumes: along the depth, and of planes (resize.c)
 *     RotaryEmbedding     Split, Mul, Add, Concat (rotary.c)
 *     DFT, STFT           products with cosines and sines (spectrum.c)
 */
#include "pass/expand/expand.h"

#include <math.h>

/* Shorthands for ops built at `b`. */
#define NUMBER(v) prt_build_scalar(b, PRT_DTYPE_f32, (double)(v))
#define UNARY(id, x) prt_build_unary(b, PRT_OP_##id, x)
#define BINARY(id, x, y) prt_build_binary(b, PRT_OP_##id, x, y)

/* Both differences are exact near the ends of the range, where they are small. */
static bool apply_acos(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (!prt_match_is_f32(x))
        return false;
    prt_value *ratio = BINARY(div, BINARY(sub, NUMBER(1), x), BINARY(add, NUMBER(1), x));
    return prt_match_replace(b, root, BINARY(mul, UNARY(atan, UNARY(sqrt, ratio)), NUMBER(2)));
}

static bool apply_asin(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (!prt_match_is_f32(x))
        return false;
    prt_value *rest = BINARY(mul, BINARY(sub, NUMBER(1), x), BINARY(add, NUMBER(1), x));
    return prt_match_replace(b, root, UNARY(atan, BINARY(div, x, UNARY(sqrt, rest))));
}

/* factor * max(x, 0) + low * (exp(min(x, 0) / by) - 1) */
static bool become_elu(prt_build *b, prt_op *root, float factor, float low, float by)
{
    prt_value *x = prt_op_input(root, 0);
    prt_value *above = BINARY(max, x, NUMBER(0)), *below = BINARY(min, x, NUMBER(0));
    if (by != 1.0f)
        below = BINARY(div, below, NUMBER(by));
    below = BINARY(sub, UNARY(exp, below), NUMBER(1));
    if (low != 1.0f)
        below = BINARY(mul, below, NUMBER(low));
    if (factor != 1.0f)
        above = BINARY(mul, above, NUMBER(factor));
    return prt_match_replace(b, root, BINARY(add, above, below));
}

static bool apply_elu(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_elu_attrs *a = root->attrs;
    (void)p;
    return prt_match_is_f32(prt_op_input(root, 0)) && become_elu(b, root, 1, a->alpha, 1);
}

static bool apply_selu(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_selu_attrs *a = root->attrs;
    (void)p;
    return prt_match_is_f32(prt_op_input(root, 0)) &&
        become_elu(b, root, a->gamma, a->gamma * a->alpha, 1);
}

static bool apply_celu(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_celu_attrs *a = root->attrs;
    (void)p;
    return prt_match_is_f32(prt_op_input(root, 0)) && a->alpha > 0.0f && isfinite(a->alpha) &&
        become_elu(b, root, 1, a->alpha, a->alpha);
}

static bool apply_is_inf(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_isinf_attrs *a = root->attrs;
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (!prt_match_is_f32(x) || (a->detect_negative == 0 && a->detect_positive == 0))
        return false;
    const bool both = a->detect_negative != 0 && a->detect_positive != 0;
    return prt_match_replace(b, root,
        BINARY(equal, both ? UNARY(abs, x) : x,
            NUMBER(a->detect_positive != 0 ? HUGE_VALF : -HUGE_VALF)));
}

static bool apply_is_nan(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return prt_match_is_f32(x) && prt_match_replace(b, root, UNARY(not, BINARY(equal, x, x)));
}

static bool apply_mean(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *in[64];
    (void)p;
    if (!prt_match_is_f32(&root->out[0]) || root->n_in < 2 || root->n_in > PRT_COUNT_OF(in))
        return false;
    for (uint32_t i = 0; i < root->n_in; i++)
        in[i] = prt_op_input(root, i);
    prt_value *sum = prt_build_op(b, PRT_OP_sum, NULL, root->n_in, in);
    return prt_match_replace(b, root, BINARY(mul, sum, NUMBER(1.0 / root->n_in)));
}

/* Uses the shape [n, 1, channels, pixels], so that windows run over channels. */
static bool apply_lrn(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_lrn_attrs *a = root->attrs;
    const prt_type *x = prt_match_static(prt_op_input(root, 0));
    int64_t pixels = 1;
    (void)p;
    if (x == NULL || x->dtype != PRT_DTYPE_f32 || x->rank < 3 || a->size < 1 || a->size > 64 ||
        !(a->alpha >= 0.0f) || !(a->bias > 0.0f))
        return false;
    for (int32_t i = 2; i < x->rank; i++)
        pixels *= x->dims[i];
    const int64_t planes[4] = { x->dims[0], 1, x->dims[1], pixels };
    const int64_t kernel[2] = { a->size, 1 };
    const int64_t pads[4] = { (a->size - 1) / 2, 0, a->size / 2, 0 };
    const prt_i64s kernels = { kernel, 2 }, edges = { pads, 4 };
    if (prt_dims_product(x->dims, 0, (uint32_t)x->rank) == 0)
        return false;
    prt_average_pool_attrs attrs = PRT_ATTRS_OF(average_pool);
    PRT_ATTR_SET(attrs, average_pool, kernel_shape, kernels);
    PRT_ATTR_SET(attrs, average_pool, pads, edges);
    PRT_ATTR_SET(attrs, average_pool, count_include_pad, 1);
    prt_value *flat = prt_match_add_reshape(b, prt_op_input(root, 0), 4, planes);
    prt_value *m = BINARY(mul, flat, flat);
    m = prt_build_op(b, PRT_OP_average_pool, &attrs, 1, &m);
    m = BINARY(add, BINARY(mul, m, NUMBER(a->alpha)), NUMBER(a->bias));
    if (a->beta == 0.75f) /* m^0.75 = sqrt(m) sqrt(sqrt(m)) */
        m = BINARY(mul, UNARY(sqrt, m), UNARY(sqrt, UNARY(sqrt, m)));
    else
        m = BINARY(pow, m, NUMBER(a->beta));
    return prt_match_replace(b, root,
        prt_match_add_reshape(b, BINARY(div, flat, m), (uint32_t)x->rank, x->dims));
}

static prt_value *mean_of(prt_build *b, prt_value *x, prt_value *axes)
{
    prt_value *in[2] = { x, axes };
    return prt_build_op(b, PRT_OP_reduce_mean, NULL, 2, in);
}

static bool apply_normalization(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_mean_variance_normalization_attrs *a = root->attrs;
    static const int64_t usual[] = { 0, 2, 3 };
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (!prt_match_is_f32(x) || (prt_attr_given(a, 0) && a->axes.count == 0))
        return false;
    prt_value *axes = prt_attr_given(a, 0) ? prt_build_i64s(b, a->axes.count, a->axes.data)
                                           : prt_build_i64s(b, PRT_COUNT_OF(usual), usual);
    prt_value *rest = BINARY(sub, x, mean_of(b, x, axes));
    prt_value *variance = mean_of(b, BINARY(mul, rest, rest), axes);
    return prt_match_replace(b, root,
        BINARY(div, rest, BINARY(add, UNARY(sqrt, variance), NUMBER(1e-9))));
}

/* Reduces all dims except for the first two. */
static bool apply_global_max(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_type *x = prt_match_ranked(prt_op_input(root, 0));
    int64_t axes[PRT_MAX_RANK];
    (void)p;
    if (x == NULL || x->dtype != PRT_DTYPE_f32 || x->rank < 3)
        return false;
    for (int32_t i = 2; i < x->rank; i++)
        axes[i - 2] = i;
    prt_value *in[2] = { prt_op_input(root, 0), prt_build_i64s(b, (uint32_t)x->rank - 2, axes) };
    return prt_match_replace_op(b, root, PRT_OP_reduce_max, NULL, 2, in);
}

/* For x >= 20 the quotient n / (n + 2) rounds to 1. */
static bool become_mish(prt_build *b, prt_op *root, prt_value *x)
{
    prt_value *e = UNARY(exp, BINARY(min, x, NUMBER(20)));
    prt_value *n = BINARY(mul, e, BINARY(add, e, NUMBER(2)));
    return prt_match_replace(b, root, BINARY(mul, x, BINARY(div, n, BINARY(add, n, NUMBER(2)))));
}

static bool apply_mish(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return prt_match_is_f32(x) && become_mish(b, root, x);
}

/* Returns the Mul that completes x Tanh(Softplus(x)) from this Softplus; NULL if there is none. */
static prt_op *mish_of(const prt_op *softplus)
{
    const prt_value *x = prt_op_input(softplus, 0);
    const prt_op *tanh = prt_match_reader(&softplus->out[0], PRT_OP_tanh);
    prt_op *mul = tanh != NULL ? prt_match_reader(&tanh->out[0], PRT_OP_mul) : NULL;
    return mul != NULL && (prt_op_input(mul, 0) == x || prt_op_input(mul, 1) == x) ? mul : NULL;
}

static bool apply_softplus(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    prt_op *mul = mish_of(root);
    (void)p;
    if (!prt_match_is_f32(x))
        return false;
    if (mul != NULL) {
        prt_build at = prt_build_before(mul);
        (void)become_mish(&at, mul, x);
        b->status = prt_build_status(&at);
        return true;
    }
    prt_value *small = UNARY(exp, UNARY(neg, UNARY(abs, x)));
    return prt_match_replace(b, root,
        BINARY(add, BINARY(max, x, NUMBER(0)), UNARY(log, BINARY(add, small, NUMBER(1)))));
}

static bool apply_softsign(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return prt_match_is_f32(x) &&
        prt_match_replace(b, root, BINARY(div, x, BINARY(add, UNARY(abs, x), NUMBER(1))));
}

static bool apply_swish(prt_pass *p, prt_build *b, prt_op *root)
{
    const float alpha = ((const prt_swish_attrs *)root->attrs)->alpha;
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return prt_match_is_f32(x) && alpha != 1.0f &&
        prt_match_replace(b, root, BINARY(mul, x, UNARY(sigmoid, BINARY(mul, x, NUMBER(alpha)))));
}

static bool apply_thresholded(prt_pass *p, prt_build *b, prt_op *root)
{
    const float alpha = ((const prt_thresholded_relu_attrs *)root->attrs)->alpha;
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (!prt_match_is_f32(x))
        return false;
    prt_value *in[3] = { BINARY(greater, x, NUMBER(alpha)), x, NUMBER(0) };
    return prt_match_replace_op(b, root, PRT_OP_where, NULL, 3, in);
}

static const prt_rewrite rewrites[] = {
    { PRT_OP_acos, apply_acos },
    { PRT_OP_asin, apply_asin },
    { PRT_OP_elu, apply_elu },
    { PRT_OP_selu, apply_selu },
    { PRT_OP_celu, apply_celu },
    { PRT_OP_global_max_pool, apply_global_max },
    { PRT_OP_isinf, apply_is_inf },
    { PRT_OP_isnan, apply_is_nan },
    { PRT_OP_lrn, apply_lrn },
    { PRT_OP_mean, apply_mean },
    { PRT_OP_mean_variance_normalization, apply_normalization },
    { PRT_OP_mish, apply_mish },
    { PRT_OP_softplus, apply_softplus },
    { PRT_OP_softsign, apply_softsign },
    { PRT_OP_swish, apply_swish },
    { PRT_OP_thresholded_relu, apply_thresholded },
    { PRT_OP_ms_attention, prt_expand_attention },
    { PRT_OP_ms_fused_conv, prt_expand_conv },
    { PRT_OP_ms_fused_gemm, prt_expand_gemm },
    { PRT_OP_gemm, prt_expand_plain_gemm },
    { PRT_OP_einsum, prt_expand_einsum },
    { PRT_OP_max_pool, prt_expand_max_pool },
    { PRT_OP_average_pool, prt_expand_average_pool },
    { PRT_OP_dft, prt_expand_dft },
    { PRT_OP_stft, prt_expand_stft },
    { PRT_OP_reduce_l1, prt_expand_l1 },
    { PRT_OP_reduce_log_sum_exp, prt_expand_log_sum_exp },
    { PRT_OP_lp_pool, prt_expand_lp_pool },
    { PRT_OP_hardmax, prt_expand_hardmax },
    { PRT_OP_resize, prt_expand_resize },
    { PRT_OP_rotary_embedding, prt_expand_rotary },
    { PRT_OP_ms_rotary_embedding, prt_expand_ms_rotary },
};

const prt_pass_hooks prt_pass_expand_formulas = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
