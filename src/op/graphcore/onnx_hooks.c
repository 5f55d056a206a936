/* SPDX-License-Identifier: MIT */
/* onnx_hooks.c — hooks of ONNX operators run on other attributes and inputs; reductions of losses;
   shapes of fills. */
#include "op/graphcore/onnx_hooks.h"

poprt_status prt_gc_infer_as(prt_infer *c, const prt_op_hooks *as, const void *attrs)
{
    prt_infer other = *c;
    other.attrs = attrs;
    return as->infer(&other);
}

poprt_status prt_gc_eval_as(prt_eval *c, const prt_op_hooks *as, const void *attrs)
{
    prt_eval other = *c;
    other.attrs = attrs;
    return as->eval(&other);
}

static void list_tensors(uint32_t n, const prt_i64s *lists, prt_tensor *to)
{
    PRT_ASSERT(n <= PRT_GC_LISTS);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t count = lists[i].count;
        (void)prt_tensor_init(&to[i], PRT_DTYPE_i64, 1, &count, (void *)(uintptr_t)lists[i].data);
    }
}

poprt_status prt_gc_infer_lists(prt_infer *c, const prt_op_hooks *as, const void *attrs, uint32_t n,
    const prt_i64s *lists)
{
    prt_tensor tensors[PRT_GC_LISTS];
    prt_shape in[PRT_GC_LISTS + 1] = { c->in[0] };
    const prt_tensor *value[PRT_GC_LISTS + 1] = { c->value[0] };
    prt_content content[PRT_GC_LISTS + 1] = { c->content[0] };
    list_tensors(n, lists, tensors);
    for (uint32_t i = 0; i < n; i++) {
        prt_shape_of_tensor(&tensors[i], &in[i + 1]);
        value[i + 1] = &tensors[i];
    }
    prt_infer other = *c;
    other.attrs = attrs;
    other.n_in = n + 1;
    other.in = in;
    other.value = value;
    other.content = content;
    return as->infer(&other);
}

poprt_status prt_gc_eval_lists(prt_eval *c, const prt_op_hooks *as, const void *attrs, uint32_t n,
    const prt_i64s *lists)
{
    prt_tensor tensors[PRT_GC_LISTS];
    const prt_tensor *in[PRT_GC_LISTS + 1] = { c->in[0] };
    list_tensors(n, lists, tensors);
    for (uint32_t i = 0; i < n; i++)
        in[i + 1] = &tensors[i];
    prt_eval other = *c;
    other.attrs = attrs;
    other.n_in = n + 1;
    other.in = in;
    return as->eval(&other);
}

static bool find_reduction(prt_str text, prt_gc_reduction *out)
{
    *out = PRT_GC_NONE;
    if (prt_str_is(text, "Sum"))
        *out = PRT_GC_SUM;
    else if (prt_str_is(text, "Mean"))
        *out = PRT_GC_MEAN;
    else
        return prt_str_is(text, "None") || prt_str_is(text, "NoReduction");
    return true;
}

poprt_status prt_gc_reduction_of(const prt_infer *c, prt_str text, prt_gc_reduction *out)
{
    if (!find_reduction(text, out))
        return prt_infer_fail(c, POPRT_E_ARG, "reduction is \"%.*s\"; accepted: Sum, Mean, None",
            PRT_STR_ARG(text));
    return POPRT_OK;
}

prt_gc_reduction prt_gc_reduction_again(prt_str text)
{
    prt_gc_reduction r;
    (void)find_reduction(text, &r);
    return r;
}

poprt_status prt_gc_infer_shape(prt_infer *c, int32_t dtype, prt_i64s shape)
{
    if (shape.count > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "shape has %u dims; at most %d are possible",
            shape.count, PRT_MAX_RANK);
    for (uint32_t i = 0; i < shape.count; i++)
        if (shape.data[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "dim %u of shape is %lld", i,
                (long long)shape.data[i]);
    return prt_infer_set(c, 0, dtype, (int32_t)shape.count, shape.data);
}
