/* SPDX-License-Identifier: MIT */
/*
 * q_ordered.c — operators on int8 matrices with a memory order: QuantizeWithOrder,
 * DequantizeWithOrder, QOrderedMatMul, QOrderedGelu and QOrderedLayerNormalization. Row-major is
 * supported, and column-major for the weights of QOrderedMatMul.
 */
#include "op/check.h"
#include "op/share/quant_params.h"
#include "op/share/delegate.h"
#include "op/share/product.h"
#include "op/share/quant.h"

enum { ORDER_COL, ORDER_ROW };

static poprt_status check_order(const prt_infer *c, const char *name, int64_t order, int64_t want)
{
    if (order != want)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "%s is %lld; accepted: %lld (%s)", name,
            (long long)order, (long long)want, want == ORDER_ROW ? "rows" : "columns");
    return POPRT_OK;
}

/* ---- QuantizeWithOrder, DequantizeWithOrder ---- */

static poprt_status infer_quantize(prt_infer *c)
{
    const prt_ms_quantize_with_order_attrs *a = c->attrs;
    int64_t unused;
    PRT_TRY(check_order(c, "order_input", a->order_input, ORDER_ROW));
    PRT_TRY(check_order(c, "order_output", a->order_output, ORDER_ROW));
    PRT_TRY(prt_infer_scalar(c, 1, &unused));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_i8);
}

static poprt_status eval_quantize(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const double scale = prt_quant_number(c, 1, 1);
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++)
        prt_quant_store(PRT_DTYPE_i8, c->out[0]->data, i,
            prt_load_f64(x->dtype, x->data, i) / scale, 0);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_quantize_with_order = { .infer = infer_quantize,
    .eval = eval_quantize };

static poprt_status infer_dequantize(prt_infer *c)
{
    const prt_ms_dequantize_with_order_attrs *a = c->attrs;
    int64_t unused;
    PRT_TRY(check_order(c, "order_input", a->order_input, ORDER_ROW));
    PRT_TRY(check_order(c, "order_output", a->order_output, ORDER_ROW));
    PRT_TRY(prt_infer_dtype_attr(c, "to", PRT_T(f32) | PRT_T(f16), a->to));
    PRT_TRY(prt_infer_scalar(c, 1, &unused));
    return prt_infer_like(c, 0, 0, (int32_t)a->to);
}

static poprt_status eval_dequantize(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const double scale = prt_quant_number(c, 1, 1);
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++)
        prt_store_f64(c->out[0]->dtype, c->out[0]->data, i,
            (double)prt_load_i64(x->dtype, x->data, i) * scale);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_dequantize_with_order = { .infer = infer_dequantize,
    .eval = eval_dequantize };

/* ---- QOrderedGelu, QOrderedLayerNormalization: functions of X * scale_X ---- */

/* Returns input 0 times the scale in input 1. */
static poprt_status dequantize_x(prt_eval *c, prt_tensor *to)
{
    const prt_tensor *x = c->in[0];
    const double scale = prt_quant_number(c, 1, 1);
    const size_t n = prt_tensor_count(x);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, to));
    for (size_t i = 0; i < n; i++)
        ((double *)to->data)[i] = (double)prt_load_i64(x->dtype, x->data, i) * scale;
    return POPRT_OK;
}

static poprt_status infer_gelu(prt_infer *c)
{
    const prt_ms_qordered_gelu_attrs *a = c->attrs;
    int64_t unused;
    if (a->order_X != a->order_Y && a->present == 3)
        return prt_infer_fail(c, POPRT_E_ARG,
            "order_X is %lld and order_Y %lld; they must be equal", (long long)a->order_X,
            (long long)a->order_Y);
    PRT_TRY(prt_infer_scalar(c, 1, &unused));
    PRT_TRY(prt_infer_scalar(c, 2, &unused));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_i8);
}

static poprt_status eval_gelu(prt_eval *c)
{
    prt_tensor x, y;
    const prt_tensor *in[] = { &x };
    prt_tensor *out[] = { &y };
    PRT_TRY(dequantize_x(c, &x));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x.rank, x.dims, &y));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_gelu, prt_op_of(PRT_OP_gelu)->defaults, 1, in, 1, out));
    prt_quant_quantize_output(c, &y, 2);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qordered_gelu = { .infer = infer_gelu, .eval = eval_gelu };

static prt_layer_normalization_attrs norm_attrs(const prt_ms_qordered_layer_normalization_attrs *a)
{
    return (
        prt_layer_normalization_attrs){ .axis = a->axis, .epsilon = a->epsilon, .stash_type = 1 };
}

static poprt_status infer_norm(prt_infer *c)
{
    const prt_ms_qordered_layer_normalization_attrs *a = c->attrs;
    const prt_layer_normalization_attrs attrs = norm_attrs(a);
    const prt_shape in[3] = { c->in[0], c->in[2],
        prt_infer_has(c, 3) ? c->in[3] : (prt_shape){ .kind = PRT_VALUE_ABSENT } };
    prt_shape y;
    int64_t unused;
    PRT_TRY(check_order(c, "order_X", a->order_X, ORDER_ROW));
    PRT_TRY(check_order(c, "order_Y", a->order_Y, ORDER_ROW));
    PRT_TRY(prt_infer_scalar(c, 1, &unused));
    PRT_TRY(prt_infer_scalar(c, 4, &unused));
    PRT_TRY(prt_delegate_infer(c, PRT_OP_layer_normalization, &attrs, 3, in, NULL, 1, &y));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_i8);
}

static poprt_status eval_norm(prt_eval *c)
{
    const prt_layer_normalization_attrs attrs = norm_attrs(c->attrs);
    prt_tensor x, y;
    const prt_tensor *in[] = { &x, c->in[2], prt_eval_has(c, 3) ? c->in[3] : NULL };
    prt_tensor *out[] = { &y };
    PRT_TRY(dequantize_x(c, &x));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x.rank, x.dims, &y));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_layer_normalization, &attrs, 3, in, 1, out));
    prt_quant_quantize_output(c, &y, 4);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qordered_layer_normalization = { .infer = infer_norm,
    .eval = eval_norm };

/* ---- QOrderedMatMul: A is row-major, B column-major ---- */

enum { M_A, M_A_SCALE, M_B, M_B_SCALE, M_Y_SCALE, M_BIAS, M_C, M_C_SCALE };

static poprt_status check_added(const prt_infer *c, const prt_shape *y)
{
    const prt_shape *added = &c->in[M_C];
    int64_t merged;
    if (prt_infer_has(c, M_C) != prt_infer_has(c, M_C_SCALE))
        return prt_infer_fail(c, POPRT_E_ARG, "C and scale_C must be given together");
    if (!prt_infer_ranked(c, M_C) || y->rank < 2)
        return POPRT_OK;
    if (added->rank < 2 || added->rank > y->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "C has rank %d; at least 2 and at most that of the product is needed", added->rank);
    for (int32_t k = 1; k <= added->rank; k++) {
        const int64_t dim = added->dims[added->rank - k];
        if (k < 3 || !prt_dim_is_number(dim) || dim != 1)
            PRT_TRY(prt_infer_merge(c, y->dims[y->rank - k], dim, "a dim of C", &merged));
    }
    return POPRT_OK;
}

static poprt_status infer_matmul(prt_infer *c)
{
    const prt_ms_qordered_matmul_attrs *a = c->attrs;
    prt_shape out;
    int64_t unused;
    PRT_TRY(check_order(c, "order_A", a->order_A, ORDER_ROW));
    PRT_TRY(check_order(c, "order_B", a->order_B, ORDER_COL));
    PRT_TRY(check_order(c, "order_Y", a->order_Y, ORDER_ROW));
    PRT_TRY(prt_infer_scalar(c, M_A_SCALE, &unused));
    PRT_TRY(prt_infer_scalar(c, M_Y_SCALE, &unused));
    PRT_TRY(prt_infer_scalar(c, M_C_SCALE, &unused));
    for (uint32_t i = M_A; i <= M_B; i += M_B)
        if (prt_infer_ranked(c, i) && c->in[i].rank < 2)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d", i, c->in[i].rank);
    PRT_TRY(prt_matmul_infer(c, M_A, M_B, &out));
    if (c->in[M_B].rank > 1)
        PRT_TRY(prt_infer_vector(c, M_BIAS, c->in[M_B].dims[c->in[M_B].rank - 1]));
    PRT_TRY(check_added(c, &out));
    return prt_infer_exact(c, 0, PRT_DTYPE_i8, out.rank, out.dims);
}

typedef struct sink {
    prt_tensor *y;
    const prt_tensor *added; /* C; NULL: absent */
    size_t first, added_first;
    double a, y_scale, c;
    prt_quant_params b;
    const double *bias;
} sink;

static void store(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    for (size_t k = 0; k < count; k++) {
        const size_t at = i * p->n + j + k;
        double v = sums[k] * to->a * to->b.values[j + k];
        if (to->bias != NULL)
            v += to->bias[j + k];
        if (to->added != NULL)
            v += to->c * (double)prt_load_i64(PRT_DTYPE_i8, to->added->data, to->added_first + at);
        prt_quant_store(PRT_DTYPE_i8, to->y->data, to->first + at, v / to->y_scale, 0);
    }
}

static poprt_status eval_matmul(prt_eval *c)
{
    const prt_tensor *a = c->in[M_A], *b = c->in[M_B];
    sink to = { .y = c->out[0],
        .added = prt_eval_has(c, M_C) ? c->in[M_C] : NULL,
        .a = prt_quant_number(c, M_A_SCALE, 1),
        .y_scale = prt_quant_number(c, M_Y_SCALE, 1),
        .c = prt_quant_number(c, M_C_SCALE, 1) };
    prt_matmul mm, with_c;
    prt_matmul_init(&mm, a, b);
    if (prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    prt_matmul_init(&with_c, to.y, to.added != NULL ? to.added : to.y);
    if (prt_eval_has(c, M_BIAS) && (to.bias = prt_eval_reals(c, c->in[M_BIAS])) == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_quant_params_init(c, &to.b, M_B_SCALE, mm.n, 1));
    PRT_TRY(prt_quant_params_load(c, &to.b, 0, 1));
    prt_product p = { .m = mm.m, .n = mm.n, .k = mm.k, .store = store, .user = &to };
    p.a = (prt_operand){ .dtype = a->dtype, .data = a->data, .row = mm.k, .col = 1 };
    p.b = (prt_operand){ .dtype = b->dtype, .data = b->data, .row = 1, .col = mm.k };
    PRT_TRY(prt_product_init(c, &p));
    for (size_t i = 0; i < mm.batches; i++) {
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        prt_matmul_at(&with_c, i, &to.first, &to.added_first);
        PRT_TRY(prt_product_run(c, &p));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qordered_matmul = { .infer = infer_matmul, .eval = eval_matmul };
