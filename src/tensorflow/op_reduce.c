/* SPDX-License-Identifier: MIT */
/* op_reduce.c — reductions, cumulative sums, products of matrices, sorting. */
#include <float.h>
#include <math.h>

#include "num/dtype.h"
#include "pass/expand/expand.h"
#include "tensorflow/formulas.h"

#define NUMBER(like, value) prt_build_number(&n->b, like, value)

/* ---- reductions */

/* Returns whether ONNX's reductions lack an integer type, which is computed as int32 then. */
static bool is_small_integer(int32_t dtype)
{
    return prt_dtype_is_integer(dtype) && prt_dtype_bits(dtype) < 32;
}

/* Reduces over the axes of input 1, of which there may be none. */
static prt_value *reduce(prt_tf_call *n, uint32_t id, prt_value *x)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t count;
    const bool keep = prt_tf_attr_bool(n, "keep_dims", false);
    if (prt_tf_ints(n, 1, PRT_MAX_RANK, axes, &count) && count == 0)
        return x;
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum); /* all reductions have the same */
    PRT_ATTR_SET(attrs, reduce_sum, keepdims, keep);
    prt_value *in[] = { x, prt_tf_in_i64(n, 1, true) };
    if (in[0] == NULL || in[1] == NULL)
        return NULL;
    if (!prt_value_is_constant(in[1]))
        PRT_ATTR_SET(attrs, reduce_sum, noop_with_empty_axes, 1);
    return prt_build_op(&n->b, id, &attrs, 2, in);
}

poprt_status prt_tf_row_reduce(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int32_t dtype = prt_tf_dtype(x);
    if (is_small_integer(dtype))
        x = prt_build_cast(&n->b, x, PRT_DTYPE_i32);
    prt_value *y = reduce(n, n->node->row->id, x);
    return prt_tf_end_with(n, is_small_integer(dtype) ? prt_build_cast(&n->b, y, dtype) : y);
}

/* The mean of integers is the quotient of their sum and number, truncated. */
poprt_status prt_tf_row_mean(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    if (!prt_dtype_is_integer(prt_tf_dtype(x)))
        return prt_tf_end_with(n, reduce(n, PRT_OP_reduce_mean, x));
    prt_value *sizes =
        prt_build_gather(&n->b, prt_build_shape(&n->b, x), prt_tf_in_i64(n, 1, true), 0);
    prt_value *count = prt_build_reduce(&n->b, PRT_OP_reduce_prod, sizes, NULL, false);
    prt_value *sum = reduce(n, PRT_OP_reduce_sum, x);
    return prt_tf_end_with(n, BINARY(div, sum, prt_build_cast_as(&n->b, count, x)));
}

poprt_status prt_tf_row_l2_loss(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_value *sum = prt_build_reduce(&n->b, PRT_OP_reduce_sum_square, x, NULL, false);
    return prt_tf_end_with(n, BINARY(mul, sum, NUMBER(x, 0.5)));
}

poprt_status prt_tf_row_arg(prt_tf_call *n)
{
    int64_t axis;
    prt_value *x = prt_tf_in(n, 0);
    if (!prt_tf_need_int(n, 1, "the axis", &axis))
        return prt_tf_end(n);
    if (prt_tf_dtype(x) == PRT_DTYPE_bool)
        x = prt_build_cast(&n->b, x, PRT_DTYPE_u8);
    prt_argmax_attrs attrs = PRT_ATTRS_OF(argmax); /* ArgMin has the same */
    PRT_ATTR_SET(attrs, argmax, axis, axis);
    PRT_ATTR_SET(attrs, argmax, keepdims, 0);
    prt_value *y = prt_build_op(&n->b, n->node->row->id, &attrs, 1, &x);
    const int32_t dtype = prt_tf_attr_dtype(n, "output_type", PRT_DTYPE_i64);
    return prt_tf_end_with(n, prt_build_cast(&n->b, y, dtype));
}

/* ---- cumulative sums */

poprt_status prt_tf_row_cumulate(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int32_t dtype = prt_tf_dtype(x);
    prt_cumsum_attrs attrs = PRT_ATTRS_OF(cumsum);
    if (is_small_integer(dtype))
        x = prt_build_cast(&n->b, x, PRT_DTYPE_i32);
    if (prt_tf_attr_bool(n, "exclusive", false))
        PRT_ATTR_SET(attrs, cumsum, exclusive, 1);
    if (prt_tf_attr_bool(n, "reverse", false))
        PRT_ATTR_SET(attrs, cumsum, reverse, 1);
    prt_value *axis = prt_build_reshape(&n->b, prt_tf_in_i64(n, 1, false), 0, NULL);
    prt_value *in[] = { x, axis };
    prt_value *y = prt_build_op(&n->b, PRT_OP_cumsum, &attrs, 2, in);
    return prt_tf_end_with(n, is_small_integer(dtype) ? prt_build_cast(&n->b, y, dtype) : y);
}

/* Returns x moved by `by` cells along an axis; `pad` fills the gap. */
static prt_value *shifted(prt_tf_call *n, prt_value *x, int64_t axis, int64_t by, bool reverse,
    prt_value *pad)
{
    prt_value *kept = reverse ? prt_build_slice(&n->b, x, axis, by, INT64_MAX, 1)
                              : prt_build_slice(&n->b, x, axis, 0, -by, 1);
    prt_value *gap = prt_build_slice(&n->b, x, axis, 0, by, 1);
    gap = prt_build_expand(&n->b, pad, prt_build_shape(&n->b, gap));
    prt_value *parts[] = { reverse ? kept : gap, reverse ? gap : kept };
    prt_value *y = prt_build_concat(&n->b, axis, 2, parts);
    if (y != NULL && prt_value_refine_type(y, x->type) != POPRT_OK)
        n->status = POPRT_E_NOMEM;
    return y;
}

/* log(exp x + exp y). The maximum is made finite, so that no infinities are subtracted. */
static prt_value *log_add_exp(prt_tf_call *n, prt_value *x, prt_value *y)
{
    const double most = prt_tf_dtype(x) == PRT_DTYPE_f16 ? 65504 : (double)FLT_MAX;
    prt_value *top = prt_build_clip(&n->b, BINARY(max, x, y), -most, most);
    prt_value *sum = BINARY(add, UNARY(exp, BINARY(sub, x, top)), UNARY(exp, BINARY(sub, y, top)));
    return BINARY(add, UNARY(log, sum), top);
}

/* Cumprod, and CumulativeLogsumexp, whose row names Exp: the range that each cell covers doubles
 * with every step. An axis of unknown size gets all steps that one of 2^31 cells needs. */
poprt_status prt_tf_row_cumulative_scan(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const bool product = n->node->row->id == PRT_OP_NONE;
    const bool reverse = prt_tf_attr_bool(n, "reverse", false);
    const bool exclusive = prt_tf_attr_bool(n, "exclusive", false);
    const int64_t most = (int64_t)1 << 31;
    int64_t axis;
    if (!prt_tf_need_int(n, 1, "the axis", &axis))
        return prt_tf_end(n);
    axis += axis < 0 && prt_tf_rank(x) > 0 ? prt_tf_rank(x) : 0;
    int64_t size = prt_tf_dim(x, (uint32_t)axis);
    size = prt_dim_is_number(size) && size < most ? size : most;
    prt_value *pad = NUMBER(x, product ? 1 : -(double)INFINITY);
    if (exclusive)
        x = shifted(n, x, axis, 1, reverse, pad);
    for (int64_t by = 1; by < size; by *= 2) {
        prt_value *other = shifted(n, x, axis, by, reverse, pad);
        x = product ? BINARY(mul, x, other) : log_add_exp(n, x, other);
    }
    return prt_tf_end_with(n, x);
}

/* ---- products of matrices */

static prt_value *operand(prt_tf_call *n, uint32_t i, const char *transpose, const char *adjoint)
{
    prt_value *x = prt_tf_in(n, i);
    if (strcmp(n->node->row->name, "MatMul") == 0)
        return prt_tf_attr_bool(n, transpose, false)
            ? prt_build_transpose(&n->b, x, 2, (int64_t[]){ 1, 0 })
            : x;
    return prt_tf_attr_bool(n, adjoint, false) ? prt_build_swap_last(&n->b, x) : x;
}

/* A product of bytes may have a wider type than its operands. */
poprt_status prt_tf_row_matmul(prt_tf_call *n)
{
    prt_value *x = operand(n, 0, "transpose_a", "adj_x");
    prt_value *y = operand(n, 1, "transpose_b", "adj_y");
    const int32_t from = prt_tf_dtype(x), to = prt_tf_attr_dtype(n, "Tout", from);
    if (to == PRT_DTYPE_i32 && prt_dtype_bits(from) == 8 && prt_dtype_bits(prt_tf_dtype(y)) == 8)
        return prt_tf_end_with(n, BINARY(matmul_integer, x, y));
    x = prt_build_cast(&n->b, x, to);
    y = prt_build_cast(&n->b, y, to);
    return prt_tf_end_with(n, BINARY(matmul, x, y));
}

/* Becomes products of matrices where that is possible, since Einsum begins with opset 12, and
 * readers such as ONNX Runtime do not broadcast ellipses of different rank. */
poprt_status prt_tf_row_einsum(prt_tf_call *n)
{
    prt_value *in[16];
    prt_einsum_attrs attrs = PRT_ATTRS_OF(einsum);
    if (n->n_in > PRT_COUNT_OF(in))
        return prt_tf_refuse(n, "%u inputs are too many", n->n_in);
    for (uint32_t i = 0; i < n->n_in; i++)
        if ((in[i] = prt_tf_in(n, i)) == NULL)
            return prt_tf_end(n);
    PRT_ATTR_SET(attrs, einsum, equation, prt_tf_attr_str(n, "equation", ""));
    prt_op *op = prt_build_op_n(&n->b, PRT_OP_einsum, &attrs, n->n_in, in, 1);
    if (op == NULL)
        return prt_tf_end(n);
    prt_value *y = UNARY(identity, &op->out[0]);
    if (y == NULL)
        return prt_tf_end(n);
    prt_build b = prt_build_before(op);
    (void)prt_expand_equal_einsum(&b, op);
    PRT_TRY(prt_build_status(&b));
    return prt_tf_end_with(n, prt_op_input(y->def, 0));
}

/* ---- sorting */

/* Builds TopK along the last axis. `k` has one element, of any shape. */
static prt_op *top_k(prt_tf_call *n, prt_value *x, prt_value *k, bool largest)
{
    prt_topk_attrs attrs = PRT_ATTRS_OF(topk);
    k = prt_build_reshape(&n->b, k, 1, (int64_t[]){ 1 });
    if (!largest)
        PRT_ATTR_SET(attrs, topk, largest, 0);
    return prt_build_op_n(&n->b, PRT_OP_topk, &attrs, 2, (prt_value *[]){ x, k }, 2);
}

/* The results are always sorted. TopKV2 has k as an input. */
poprt_status prt_tf_row_top_k(prt_tf_call *n)
{
    prt_value *k = n->n_in > 1 ? prt_tf_in_i64(n, 1, false) : I64(prt_tf_attr_i64(n, "k", 1));
    prt_op *op = top_k(n, prt_tf_in(n, 0), k, true);
    if (op == NULL)
        return prt_tf_end(n);
    prt_tf_set(n, 0, &op->out[0]);
    prt_tf_set(n, 1,
        prt_build_cast(&n->b, &op->out[1], prt_tf_attr_dtype(n, "index_type", PRT_DTYPE_i32)));
    return prt_tf_end(n);
}

/* The element n of each row in ascending order, or in descending order with `reverse`. */
poprt_status prt_tf_row_nth_element(prt_tf_call *n)
{
    prt_value *at = prt_build_reshape(&n->b, prt_tf_in_i64(n, 1, false), 0, NULL);
    prt_op *op =
        top_k(n, prt_tf_in(n, 0), BINARY(add, at, I64(1)), prt_tf_attr_bool(n, "reverse", false));
    return op == NULL ? prt_tf_end(n)
                      : prt_tf_end_with(n, prt_build_gather(&n->b, &op->out[0], at, -1));
}

/* Counts the predictions above that of the target. The answer is false for a target out of range,
 * and for predictions that are not finite. */
poprt_status prt_tf_row_in_top_k(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *target = prt_tf_in_i64(n, 1, false), *zero = I64(0);
    prt_value *k = n->n_in > 2 ? prt_tf_in_i64(n, 2, false) : I64(prt_tf_attr_i64(n, "k", 1));
    prt_value *classes = prt_build_size_of(&n->b, x, 1);
    prt_value *inside =
        BINARY(and, BINARY(less, target, classes), UNARY(not, BINARY(less, target, zero)));
    prt_value *row = prt_build_where(&n->b, inside, target, zero);
    row = prt_build_unsqueeze(&n->b, row, 1, (int64_t[]){ 1 });
    prt_gather_elements_attrs attrs = PRT_ATTRS_OF(gather_elements);
    PRT_ATTR_SET(attrs, gather_elements, axis, 1);
    prt_value *best =
        prt_build_op(&n->b, PRT_OP_gather_elements, &attrs, 2, (prt_value *[]){ x, row });
    prt_value *above = prt_build_cast(&n->b, BINARY(greater, x, best), PRT_DTYPE_i64);
    prt_value *odd =
        prt_build_cast(&n->b, BINARY(or, UNARY(isnan, x), UNARY(isinf, x)), PRT_DTYPE_i64);
    above = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, above, 1, false);
    odd = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, odd, 1, false);
    prt_value *first = BINARY(and, BINARY(less, above, k), BINARY(equal, odd, zero));
    return prt_tf_end_with(n, BINARY(and, first, inside));
}
