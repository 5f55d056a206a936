/* SPDX-License-Identifier: MIT */
/* scatter.c — ScatterND with a reduction. */
#include "tensorflow/scatter.h"

#include <float.h>
#include <math.h>

#include "num/dtype.h"
#include "tensorflow/formulas.h"

prt_value *prt_tf_extreme(prt_tf_call *n, int32_t dtype, bool low, bool finite)
{
    unsigned char bytes[8];
    const uint32_t bits = prt_dtype_bits(dtype);
    if (prt_dtype_of(dtype)->kind == PRT_KIND_float) {
        const double most = !finite   ? (double)INFINITY
            : dtype == PRT_DTYPE_f64  ? DBL_MAX
            : dtype == PRT_DTYPE_f16  ? 65504
            : dtype == PRT_DTYPE_bf16 ? 0x1.FEp127
                                      : (double)FLT_MAX;
        return prt_build_scalar(&n->b, dtype, low ? -most : most);
    }
    if (!prt_dtype_is_integer(dtype) || bits > 64) {
        (void)prt_tf_refuse(n, "the element type has no order");
        return NULL;
    }
    if (prt_dtype_of(dtype)->kind == PRT_KIND_uint)
        prt_store_u64(dtype, bytes, 0, low ? 0 : UINT64_MAX);
    else
        prt_store_i64(dtype, bytes, 0, low ? INT64_MIN >> (64 - bits) : INT64_MAX >> (64 - bits));
    return prt_build_tensor(&n->b, dtype, 0, NULL, bytes);
}

/* The result that combines nothing. */
static prt_value *neutral(prt_tf_call *n, uint32_t id, prt_value *x)
{
    if (id == PRT_OP_max || id == PRT_OP_min)
        return prt_tf_extreme(n, prt_tf_dtype(x), id == PRT_OP_max, false);
    return prt_build_number(&n->b, x, id == PRT_OP_mul);
}

static prt_value *product(prt_tf_call *n, prt_value *shape, int64_t from, int64_t to)
{
    shape = prt_build_slice(&n->b, shape, 0, from, to, 1);
    return prt_build_reduce(&n->b, PRT_OP_reduce_prod, shape, NULL, true);
}

/* Returns the rows of a tensor of `shape` that index tuples of `depth` numbers name: rank 1. */
static prt_value *rows_of(prt_tf_call *n, prt_value *indices, prt_value *shape, int64_t depth)
{
    prt_value *strides[PRT_MAX_RANK];
    indices = prt_build_reshape(&n->b, prt_build_cast(&n->b, indices, PRT_DTYPE_i64), 2,
        (int64_t[]){ -1, depth });
    for (int64_t i = 0; i < depth; i++)
        strides[i] = product(n, shape, i + 1, depth);
    prt_value *weights = prt_build_concat(&n->b, 0, (uint32_t)depth, strides);
    return prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, BINARY(mul, indices, weights), 1, false);
}

/* Row r of the result is the reduction of the updates whose index is r, combined with row r of
 * x. */
static prt_value *compare(prt_tf_call *n, uint32_t id, prt_value *x, prt_value *indices,
    prt_value *updates)
{
    static const int64_t column[] = { -1, 1 }, last[] = { 2 };
    const int32_t rank = prt_tf_rank(indices);
    const int64_t depth = rank > 0 ? prt_tf_dim(indices, (uint32_t)rank - 1) : PRT_DIM_UNKNOWN;
    if (!prt_dim_is_number(depth) || depth < 1 || depth > PRT_MAX_RANK) {
        (void)prt_tf_refuse(n,
            "the opset has no ScatterND with a reduction, and the number of "
            "indices of an element is not known");
        return NULL;
    }
    prt_value *shape = prt_build_shape(&n->b, x), *rows = rows_of(n, indices, shape, depth);
    prt_value *size[] = { product(n, shape, 0, depth), product(n, shape, depth, INT64_MAX) };
    prt_value *of[] = { prt_build_shape(&n->b, rows), size[1] };
    updates = prt_build_reshape_to(&n->b, updates, prt_build_concat(&n->b, 0, 2, of));
    prt_value *count = prt_build_squeeze(&n->b, size[0], 1, (int64_t[]){ 0 });
    prt_value *range = prt_build_range(&n->b, I64(0), count, I64(1));
    prt_value *same = BINARY(equal, prt_build_reshape(&n->b, range, 2, column), rows);
    prt_value *parts = prt_build_where(&n->b, prt_build_unsqueeze(&n->b, same, 1, last), updates,
        neutral(n, id, updates));
    const uint32_t reduction = id == PRT_OP_max ? PRT_OP_reduce_max
        : id == PRT_OP_min                      ? PRT_OP_reduce_min
        : id == PRT_OP_mul                      ? PRT_OP_reduce_prod
                                                : PRT_OP_reduce_sum;
    prt_value *y = prt_build_reduce_axis(&n->b, reduction, parts, 1, false);
    return prt_build_binary(&n->b, id, x, prt_build_reshape_to(&n->b, y, shape));
}

prt_value *prt_tf_scatter(prt_tf_call *n, uint32_t id, prt_value *x, prt_value *indices,
    prt_value *updates)
{
    const bool ordered = id == PRT_OP_max || id == PRT_OP_min;
    if (prt_module_opset(n->c->module, PRT_STR("")) < (ordered ? 18 : 16))
        return compare(n, id, x, indices, updates);
    const char *name = id == PRT_OP_max ? "max"
        : id == PRT_OP_min              ? "min"
        : id == PRT_OP_mul              ? "mul"
                                        : "add";
    return prt_build_scatter_nd(&n->b, x, indices, updates, name);
}
