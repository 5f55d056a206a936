/* SPDX-License-Identifier: MIT */
/*
 * work.c — estimates for products, convolutions, resizing and determinants from their loops. Other
 * operators that are not linear count the square of their elements. Numbers saturate at UINT64_MAX.
 */
#include "pass/fold/work.h"

#include "base/size.h"

enum { CUBIC_TAPS = 64, ROI_SAMPLES = 1 << 28 };

static uint64_t count_of(const prt_value *v)
{
    uint64_t count;
    return v != NULL && prt_type_count(v->type, &count) ? count : 0;
}

static const prt_type *type_of(const prt_op *op, uint32_t slot)
{
    const prt_value *v = prt_op_input(op, slot);
    return v != NULL && v->type->kind == PRT_VALUE_TENSOR ? v->type : NULL;
}

/* Returns the elements of a tensor for one step along axis 0 (axes 1), or along axes 0 and 1 (axes
 * 2). */
static uint64_t product_from(const prt_value *v, int32_t axes)
{
    uint64_t product = 1;
    for (int32_t i = axes; i < v->type->rank; i++)
        product = prt_saturating_mul(product, (uint64_t)v->type->dims[i]);
    return product;
}

/* Returns the steps for one element of the result, or of the operand of a transposed convolution or
 * determinant; 0 for other operators. All operands are constants. */
static uint64_t steps_each(const prt_op *op)
{
    const prt_type *x = type_of(op, 0), *w = type_of(op, 1);
    if (x == NULL || op->def->id == PRT_OP_einsum)
        return 0;
    if (prt_op_is(op, PRT_OP_det) && x->rank >= 2)
        return (uint64_t)x->dims[x->rank - 1];
    if (prt_op_is(op, PRT_OP_resize))
        return ((const prt_resize_attrs *)op->attrs)->antialias != 0
            ? product_from(op->in[0].value, 2)
            : CUBIC_TAPS;
    if (prt_op_is(op, PRT_OP_roi_align))
        return ROI_SAMPLES;
    if (w != NULL && w->rank > 0 && prt_op_is(op, PRT_OP_matmul))
        return (uint64_t)(w->rank == 1 ? w->dims[0] : w->dims[w->rank - 2]);
    if (w != NULL && w->rank == 2 && prt_op_is(op, PRT_OP_gemm))
        return (uint64_t)w->dims[((const prt_gemm_attrs *)op->attrs)->transB != 0];
    if (w != NULL && w->rank > 2 &&
        (prt_op_is(op, PRT_OP_conv) || prt_op_is(op, PRT_OP_conv_transpose)))
        return product_from(op->in[1].value, 1);
    return 0;
}

static bool by_operand(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_conv_transpose) || prt_op_is(op, PRT_OP_det);
}

uint64_t prt_fold_work(const prt_op *op)
{
    const uint32_t light = PRT_ELEMENTWISE | PRT_VIEW | PRT_MOVES | PRT_LIGHT;
    uint64_t read = 0, made = 0, product = 1;
    if ((op->def->traits & light) != 0)
        return 0;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const uint64_t count = count_of(op->in[i].value);
        read = prt_saturating_add(read, count);
        product = prt_saturating_mul(product, count > 0 ? count : 1);
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        made = prt_saturating_add(made, count_of(&op->out[i]));
    const uint64_t each = steps_each(op), most = read > made ? read : made;
    if (prt_op_is(op, PRT_OP_einsum))
        return product;
    if (each != 0)
        return prt_saturating_mul(by_operand(op) ? count_of(op->in[0].value)
                : made != 0                      ? made
                                                 : read,
            each);
    return prt_saturating_mul(most, most);
}
