/* SPDX-License-Identifier: MIT */
/*
 * resize.c — a nearest or linear Resize of volumes becomes a Resize along the depth, with planes as
 * pixels, and a Resize of planes. The order that writes less first is used.
 *
 *     Reshape to [n * c, d, 1, h * w], Resize, Reshape to [n, c * d, h, w], Resize, Reshape
 *
 * Requires known dims except for the batch, and constant scales or sizes.
 */
#include "pass/expand/expand.h"

enum { RANK = 5, PIXEL = 4 };

typedef struct resize_3d {
    const prt_resize_attrs *attrs;
    bool by_sizes;
    double by[RANK]; /* scales or sizes */
    int64_t in[RANK], out[RANK];
} resize_3d;

static bool match(resize_3d *v, const prt_op *root)
{
    const prt_value *x = prt_op_input(root, 0), *y = &root->out[0];
    prt_tensor by;
    v->attrs = root->attrs;
    v->by_sizes = prt_op_input(root, 3) != NULL;
    if (!prt_match_is_sized(x, RANK) || !prt_match_is_sized(y, RANK) || v->attrs->axes.count != 0 ||
        v->attrs->antialias != 0 || v->attrs->exclude_outside != 0 ||
        (!prt_str_is(v->attrs->mode, "nearest") && !prt_str_is(v->attrs->mode, "linear")) ||
        prt_str_is(v->attrs->coordinate_transformation_mode, "tf_crop_and_resize") ||
        !prt_str_is(v->attrs->keep_aspect_ratio_policy, "stretch") ||
        !prt_match_constant(root, v->by_sizes ? 3 : 2, &by) || prt_tensor_count(&by) != RANK)
        return false;
    for (uint32_t i = 0; i < RANK; i++) {
        v->by[i] = prt_load_f64(by.dtype, by.data, i);
        v->in[i] = x->type->dims[i];
        v->out[i] = y->type->dims[i];
    }
    const bool same = v->by_sizes ? v->out[1] == v->in[1] : v->by[1] == 1.0;
    return same &&
        (v->by_sizes ? prt_dim_is_number(v->in[0]) && v->in[0] == v->out[0] : v->by[0] == 1.0);
}

/* Resizes axis `first` (with `both` also the next one) of a tensor with these dims, by the volume's
 * scales or sizes from axis `from` on. */
static prt_value *resized(prt_build *b, const resize_3d *v, prt_value *x, const int64_t *dims,
    uint32_t first, uint32_t from, bool both)
{
    const int64_t four = PIXEL;
    float scales[PIXEL] = { 1.0f, 1.0f, 1.0f, 1.0f };
    int64_t sizes[PIXEL];
    memcpy(sizes, dims, sizeof(sizes));
    for (uint32_t i = 0; i < (both ? 2u : 1u); i++) {
        scales[first + i] = (float)v->by[from + i];
        sizes[first + i] = v->out[from + i];
    }
    prt_value *in[4] = { x, NULL, NULL, NULL };
    const uint32_t slot = v->by_sizes ? 3 : 2;
    in[slot] = v->by_sizes ? prt_build_i64s(b, PIXEL, sizes)
                           : prt_build_tensor(b, PRT_DTYPE_f32, 1, &four, scales);
    return prt_build_op(b, PRT_OP_resize, v->attrs, slot + 1, in);
}

/* batch * count; -1, which Reshape accepts for one dim, if the batch is not a number. */
static int64_t times(int64_t batch, int64_t count)
{
    return prt_dim_is_number(batch) ? batch * count : -1;
}

static prt_value *resize_depth(prt_build *b, const resize_3d *v, prt_value *x, int64_t height,
    int64_t width)
{
    const int64_t dims[PIXEL] = { times(v->in[0], v->in[1]), v->in[2], 1, height * width };
    return resized(b, v, prt_match_add_reshape(b, x, PIXEL, dims), dims, 1, 2, false);
}

static prt_value *resize_planes(prt_build *b, const resize_3d *v, prt_value *x, int64_t depth)
{
    const int64_t dims[PIXEL] = { times(v->in[0], 1), v->in[1] * depth, v->in[3], v->in[4] };
    return resized(b, v, prt_match_add_reshape(b, x, PIXEL, dims), dims, 2, 3, true);
}

bool prt_expand_resize(prt_pass *p, prt_build *b, prt_op *root)
{
    resize_3d v = { .by_sizes = false };
    (void)p;
    if (!match(&v, root))
        return false;
    const int64_t last[RANK] = { times(v.in[0], 1), v.out[1], v.out[2], v.out[3], v.out[4] };
    prt_value *x = prt_op_input(root, 0);
    if (v.out[2] > v.in[2])
        x = resize_planes(b, &v, resize_depth(b, &v, x, v.in[3], v.in[4]), v.out[2]);
    else
        x = resize_depth(b, &v, resize_planes(b, &v, x, v.in[2]), v.out[3], v.out[4]);
    return prt_match_replace(b, root, prt_match_add_reshape(b, x, RANK, last));
}
