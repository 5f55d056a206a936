/* SPDX-License-Identifier: MIT */
/* depth_to_space_conv.c — converts a ConvTranspose whose kernel equals its stride, or whose input
 * has a single pixel, to NhwcSpread. */
#include "op/internal/nhwc.h"
#include "pass/layout/to_nhwc.h"
#include "pass/pack/pack.h"

/* Returns whether the ConvTranspose has one group, no padding and no dilation, and its stride
 * equals the kernel (or the input has size 1 along the axis). */
static bool kernel_is_stride(const prt_op *root, const prt_tensor *w, const prt_value *x)
{
    const prt_conv_transpose_attrs *a = root->attrs;
    if (a->group != 1 || a->output_shape.count != 0 || w->rank != 4 || w->dtype != PRT_DTYPE_f32 ||
        !prt_to_nhwc_is_image(x) || x->type->rank != 4 || x->type->dtype != PRT_DTYPE_f32 ||
        prt_tensor_count(w) == 0 ||
        (a->auto_pad.size != 0 && !prt_str_is(a->auto_pad, "NOTSET") &&
            !prt_str_is(a->auto_pad, "VALID")))
        return false;
    for (uint32_t i = 0; i < a->pads.count; i++)
        if (a->pads.data[i] != 0)
            return false;
    for (uint32_t i = 0; i < a->output_padding.count; i++)
        if (a->output_padding.data[i] != 0)
            return false;
    for (uint32_t i = 0; i < 2; i++)
        if ((prt_i64s_at(a->strides, i, 1) != w->dims[i + 2] && x->type->dims[i + 2] != 1) ||
            prt_i64s_at(a->dilations, i, 1) != 1)
            return false;
    return true;
}

/* Packs weights [channels, filters, rows, columns]. */
static void pack_weights(const void *user, const float *from, float *to)
{
    const prt_tensor *w = user;
    const size_t channels = (size_t)w->dims[0], filters = (size_t)w->dims[1];
    const size_t rows = (size_t)w->dims[2], width = (size_t)w->dims[3], columns = width * filters;
    const size_t step = channels * prt_nhwc_panels_width(columns);
    for (size_t c = 0; c < channels; c++)
        for (size_t f = 0; f < filters; f++)
            for (size_t t = 0; t < rows * width; t++)
                to[t / width * step +
                    prt_nhwc_panel_at(columns, channels, c, t % width * filters + f)] = *from++;
}

bool prt_to_nhwc_depth_to_space_conv(prt_pass *p, prt_build *b, prt_op *root)
{
    static const int64_t by_row[4] = { 2, 0, 3, 1 };
    prt_tensor w;
    prt_value *x = prt_op_input(root, 0);
    if (!prt_match_constant(root, 1, &w) || !kernel_is_stride(root, &w, x))
        return false;
    prt_nhwc_spread_attrs attrs = PRT_ATTRS_OF(nhwc_spread);
    const int64_t sizes[2] = { w.dims[2], w.dims[3] };
    const prt_i64s kernel = { .data = sizes, .count = 2 };
    PRT_ATTR_SET(attrs, nhwc_spread, filters, w.dims[1]);
    PRT_ATTR_SET(attrs, nhwc_spread, kernel_shape, kernel);
    prt_pack how = { .write = pack_weights, .user = &w };
    if (!prt_nhwc_spread_size(&attrs, (size_t)w.dims[0], &how.count))
        return false;
    prt_pack_add_transpose(&how, 4, w.dims, by_row);
    prt_pack_add_panels(&how, (size_t)w.dims[2], (size_t)w.dims[0], (size_t)(w.dims[3] * w.dims[1]),
        0);
    prt_value *in[3] = { NULL, prt_pack_constant(p, root, 1, &w, &how), prt_op_input(root, 2) };
    if (in[1] == NULL)
        return false;
    in[0] = prt_to_nhwc_last(b, x);
    prt_to_nhwc_replace(b, root, 0,
        prt_build_op(b, PRT_OP_nhwc_spread, &attrs, in[2] != NULL ? 3 : 2, in));
    return true;
}
