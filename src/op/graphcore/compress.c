/* SPDX-License-Identifier: MIT */
/*
 * compress.c — MaskCompress of ai.graphcore: Compress with a result as long as its input. The
 * selected elements come first, in order; zeros (false, empty strings) follow. Without an axis the
 * input is flattened. A condition that is too short selects nothing beyond its end.
 */
#include "op/share/shape_values.h"

enum { ATTR_AXIS = 0 }; /* index of the attribute */

static poprt_status infer(prt_infer *c)
{
    const prt_gc_mask_compress_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    uint32_t axis;
    if (c->in[1].rank > 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the condition has rank %d, not 1", c->in[1].rank);
    if (x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input is a scalar; at least rank 1 is needed");
    if (prt_attr_given(a, ATTR_AXIS)) {
        if (x->rank > 0)
            PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
        return prt_infer_like(c, 0, 0, x->dtype);
    }
    const int64_t whole =
        x->rank < 0 ? PRT_DIM_UNKNOWN : prt_infer_product(c, x->dims, 0, (uint32_t)x->rank);
    return prt_infer_set(c, 0, x->dtype, 1, &whole);
}

static poprt_status eval(prt_eval *c)
{
    const prt_gc_mask_compress_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *condition = c->in[1];
    size_t outer = 1, whole = prt_tensor_count(x), inner = 1;
    if (prt_attr_given(a, ATTR_AXIS)) {
        uint32_t axis;
        PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
        outer = prt_dims_product(x->dims, 0, axis);
        whole = (size_t)x->dims[axis];
        inner = prt_dims_product(x->dims, axis + 1, x->rank);
        PRT_TRY(prt_shape_output(c, 0, x->dtype, x->rank, x->dims));
    } else {
        const int64_t count = (int64_t)whole;
        PRT_TRY(prt_shape_output(c, 0, x->dtype, 1, &count));
    }
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const size_t listed = prt_tensor_count(condition);
    for (size_t o = 0; o < outer; o++) {
        size_t to = o * whole;
        for (size_t i = 0; i < whole && i < listed; i++)
            if (prt_load_u64(condition->dtype, condition->data, i) != 0)
                prt_element_copy(x->dtype, c->out[0]->data, to++ * inner, x->data,
                    (o * whole + i) * inner, inner);
        prt_zero_elements(x->dtype, c->out[0]->data, to * inner, ((o + 1) * whole - to) * inner);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_mask_compress = { .infer = infer, .eval = eval };
