/* SPDX-License-Identifier: MIT */
/*
 * separable.c — fuse_separable: fuses a depthwise NhwcConv with one or both 1x1 convolutions around
 * it, if the tensor between them is larger than the L2 cache. The mean of the result (squeeze and
 * excite) is fused too, at any size.
 */
#include "op/internal/nhwc.h"
#include "pass/layout/conv_algorithm.h"
#include "pass/engine/choices.h"
#include "pass/engine/rewrite.h"

enum {
    MIN_HIDDEN = 160 << 10,       /* least floats of an image between two convolutions */
    MIN_HIDDEN_BF16X3 = 24 << 10, /* the same with bf16x3 products, */
    MIN_PIXELS = 128,             /* and at least this many pixels */
    MIN_HIDDEN_AVX2 = 70 << 10,   /* the same for 3x3 kernels with AVX2 (smaller caches) */
    CLOSE = 4                     /* the rule is close to its threshold within this factor */
};

/* Returns the elements of one image (without the batch); 0: not known. */
static int64_t image_size(const prt_value *v)
{
    int64_t size = 1;
    if (!prt_type_is_tensor(v->type) || v->type->rank != 4)
        return 0;
    for (uint32_t i = 1; i < 4; i++)
        size *= prt_dim_is_number(v->type->dims[i]) && v->type->dims[i] < 1 << 16 ? v->type->dims[i]
                                                                                  : 0;
    return size;
}

static bool has_algorithm(const prt_op *op, prt_nhwc_algorithm algorithm)
{
    return op != NULL && prt_op_is(op, PRT_OP_nhwc_conv) && image_size(&op->out[0]) != 0 &&
        ((const prt_nhwc_conv_attrs *)op->attrs)->form == (int32_t)algorithm;
}

/* Returns whether the op is a depthwise convolution. */
static bool is_depthwise(const prt_op *op)
{
    return has_algorithm(op, PRT_NHWC_taps) &&
        ((const prt_nhwc_conv_attrs *)op->attrs)->channels == 1;
}

/* Returns whether the op is a 1x1 convolution: a product of pixels with a matrix. */
static bool is_pointwise(const prt_op *op)
{
    if (!has_algorithm(op, PRT_NHWC_panels))
        return false;
    const prt_nhwc_conv_attrs *a = op->attrs;
    const prt_i64s *lists[3] = { &a->kernel_shape, &a->strides, &a->dilations };
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            if (lists[k]->data[i] != 1)
                return false;
    for (uint32_t i = 0; i < a->pads.count; i++)
        if (a->pads.data[i] != 0)
            return false;
    return a->group == 1 && a->images == 0 && prt_op_input(op, 4) == NULL;
}

/* Returns the ReduceMean over all pixels of `v` with keepdims; NULL: there is none. */
static prt_op *mean_of(const prt_value *v)
{
    prt_for_each_use (use, v) {
        prt_tensor axes;
        prt_op *op = use->user;
        if (prt_op_is(op, PRT_OP_reduce_mean) && prt_match_constant(op, 1, &axes) &&
            ((const prt_reduce_mean_attrs *)op->attrs)->keepdims != 0 &&
            prt_tensor_count(&axes) == 2 && prt_load_f64(axes.dtype, axes.data, 0) == 1.0 &&
            prt_load_f64(axes.dtype, axes.data, 1) == 2.0)
            return op;
    }
    return NULL;
}

/* Returns the only reader of a value that is not a graph output; otherwise NULL. */
static prt_op *only_reader(const prt_value *v)
{
    prt_op *reader = NULL;
    prt_for_each_use (use, v) {
        if (reader != NULL || use->user == v->graph->ret)
            return NULL;
        reader = use->user;
    }
    return reader;
}

static void copy_windows(prt_nhwc_separable_attrs *to, const prt_nhwc_conv_attrs *a)
{
    PRT_ATTR_SET(*to, nhwc_separable, hidden, a->group);
    PRT_ATTR_SET(*to, nhwc_separable, kernel_shape, a->kernel_shape);
    PRT_ATTR_SET(*to, nhwc_separable, pads, a->pads);
    PRT_ATTR_SET(*to, nhwc_separable, strides, a->strides);
    PRT_ATTR_SET(*to, nhwc_separable, dilations, a->dilations);
    PRT_ATTR_SET(*to, nhwc_separable, activation1, a->activation);
    PRT_ATTR_SET(*to, nhwc_separable, alpha1, a->alpha);
    PRT_ATTR_SET(*to, nhwc_separable, beta1, a->beta);
}

/* Copies attributes and inputs of the convolution before the windows; `op` may be NULL. */
static void copy_first(prt_nhwc_separable_attrs *to, const prt_op *op, prt_value **in)
{
    if (op == NULL)
        return;
    const prt_nhwc_conv_attrs *a = op->attrs;
    PRT_ATTR_SET(*to, nhwc_separable, activation0, a->activation);
    PRT_ATTR_SET(*to, nhwc_separable, alpha0, a->alpha);
    PRT_ATTR_SET(*to, nhwc_separable, beta0, a->beta);
    in[0] = prt_op_input(op, 0);
    in[3] = prt_op_input(op, 1);
    in[4] = prt_op_input(op, 2);
}

static void copy_last(prt_nhwc_separable_attrs *to, const prt_op *op, prt_value **in)
{
    if (op == NULL)
        return;
    const prt_nhwc_conv_attrs *a = op->attrs;
    PRT_ATTR_SET(*to, nhwc_separable, filters, a->filters);
    PRT_ATTR_SET(*to, nhwc_separable, activation2, a->activation);
    PRT_ATTR_SET(*to, nhwc_separable, alpha2, a->alpha);
    PRT_ATTR_SET(*to, nhwc_separable, beta2, a->beta);
    in[5] = prt_op_input(op, 1);
    in[6] = prt_op_input(op, 2);
    in[7] = prt_op_input(op, 3);
}

static bool is_three_by_three(const prt_op *depthwise)
{
    const prt_i64s *kernel = &((const prt_nhwc_conv_attrs *)depthwise->attrs)->kernel_shape;
    return kernel->count == 2 && kernel->data[0] == 3 && kernel->data[1] == 3;
}

/* Returns whether keeping the tensor between two convolutions out of memory pays. */
static bool is_large(const prt_pass *p, const prt_op *depthwise, const prt_value *v)
{
    const int64_t size = image_size(v), channels = v->type->dims[3];
    const int products = prt_pass_choice(p, "products");
    if (products == PRT_PRODUCTS_split && size >= MIN_HIDDEN_BF16X3 &&
        size / channels >= MIN_PIXELS)
        return true;
    return size >= MIN_HIDDEN ||
        (products == PRT_PRODUCTS_avx2 && size >= MIN_HIDDEN_AVX2 && is_three_by_three(depthwise));
}

static bool is_close(int64_t size)
{
    return size >= MIN_HIDDEN / CLOSE && size <= MIN_HIDDEN * CLOSE;
}

/* Fuses around `depthwise`; `last` is the 1x1 convolution after it, or NULL. New ops go before the
 * root. */
static bool replace(const prt_pass *p, prt_build *b, prt_op *depthwise, prt_op *last)
{
    prt_nhwc_separable_attrs attrs = PRT_ATTRS_OF(nhwc_separable);
    prt_op *first = prt_match_interior(depthwise, 0, PRT_OP_nhwc_conv);
    prt_op *mean = last == NULL ? mean_of(&depthwise->out[0]) : NULL;
    if (!is_pointwise(first) || prt_op_input(first, 3) != NULL)
        first = NULL;
    const int64_t before = first != NULL ? image_size(&first->out[0]) : 0;
    const int64_t behind = image_size(&depthwise->out[0]);
    const bool large = first != NULL && is_large(p, depthwise, &first->out[0]);
    const bool rule = large || is_large(p, depthwise, &depthwise->out[0]);
    if ((rule || mean != NULL) && !large)
        first = NULL;
    if (prt_op_input(depthwise, 3) != NULL || (first == NULL && last == NULL && mean == NULL))
        return false;
    prt_value *in[8] = { prt_op_input(depthwise, 0), prt_op_input(depthwise, 1),
        prt_op_input(depthwise, 2) };
    copy_windows(&attrs, depthwise->attrs);
    copy_first(&attrs, first, in);
    copy_last(&attrs, last, in);
    uint32_t n = 8;
    while (in[n - 1] == NULL)
        n--;
    const prt_op *const parts[3] = { first, depthwise, last };
    const bool close = is_close(before > behind ? before : behind);
    if (mean == NULL && !prt_conv_algorithm_of_separable(p, parts, &attrs, n, in, rule, close))
        return false;
    prt_op *op = prt_build_op_n(b, PRT_OP_nhwc_separable, &attrs, n, in, mean != NULL ? 2 : 1);
    if (op == NULL)
        return true;
    if (mean != NULL)
        (void)prt_pass_replace(b, &mean->out[0], &op->out[1]);
    (void)prt_pass_replace(b, last != NULL ? &last->out[0] : &depthwise->out[0], &op->out[0]);
    return true;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    if (is_pointwise(root)) {
        prt_op *depthwise = prt_match_interior(root, 0, PRT_OP_nhwc_conv);
        return is_depthwise(depthwise) && replace(p, b, depthwise, root);
    }
    if (!is_depthwise(root))
        return false;
    const prt_op *reader = only_reader(&root->out[0]);
    if (reader != NULL && is_pointwise(reader) && prt_op_input(reader, 0) == &root->out[0])
        return false; /* the rewrite of the reader fuses it */
    return replace(p, b, root, NULL);
}

static const prt_rewrite rewrites[] = { { PRT_OP_nhwc_conv, apply } };

const prt_pass_hooks prt_pass_fuse_separable = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
