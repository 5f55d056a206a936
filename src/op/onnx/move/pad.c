/* SPDX-License-Identifier: MIT */
/*
 * pad.c — Pad and CenterCropPad: add or remove elements at both ends of axes.
 *
 * Negative pads crop first; the padding then reflects, repeats or wraps the remaining elements.
 */
#include "op/share/shape_values.h"

typedef enum mode { CONSTANT, REFLECT, EDGE, WRAP } mode;

typedef struct pads {
    int64_t begin[PRT_MAX_RANK], end[PRT_MAX_RANK];
} pads;

/* ---- Pad: its inputs */

static bool find_mode(prt_str text, mode *out)
{
    static const char *const names[] = { "constant", "reflect", "edge", "wrap" };
    for (uint32_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (prt_str_is(text, names[i])) {
            *out = (mode)i;
            return true;
        }
    return false;
}

/* Distributes the lists of inputs 1 and 3 to axes (`axes` NULL: all axes in order). Returns
 * false if an axis is outside or named twice, or if the numbers of elements do not match. */
static bool read_pads(uint32_t rank, const int64_t *list, uint32_t n_list, const int64_t *axes,
    uint32_t n_axes, pads *out)
{
    uint32_t set;
    memset(out, 0, sizeof(*out));
    if (axes == NULL)
        n_axes = rank;
    else if (!prt_shape_axes(axes, n_axes, rank, &set) ||
        (uint32_t)__builtin_popcount(set) != n_axes)
        return false;
    if (n_list != 2 * n_axes)
        return false;
    for (uint32_t i = 0; i < n_axes; i++) {
        const int64_t axis = axes == NULL ? i : axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];
        out->begin[axis] = list[i];
        out->end[axis] = list[n_axes + i];
    }
    return true;
}

static poprt_status infer_pad(prt_infer *c)
{
    const prt_pad_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t list[2 * PRT_MAX_RANK], axes[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t n_list, n_axes = 0;
    mode m;
    pads p;
    if (!find_mode(a->mode, &m))
        return prt_infer_fail(c, POPRT_E_ARG,
            "mode is \"%.*s\"; accepted: constant, reflect, edge, wrap", PRT_STR_ARG(a->mode));
    if (x->rank < 0 || !prt_infer_ints(c, 1, list, 2 * PRT_MAX_RANK, &n_list) ||
        (prt_infer_has(c, 3) && !prt_infer_ints(c, 3, axes, PRT_MAX_RANK, &n_axes)))
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    if (!read_pads((uint32_t)x->rank, list, n_list, prt_infer_has(c, 3) ? axes : NULL, n_axes, &p))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "pads has %u elements and axes has %u, which does not match rank %d", n_list, n_axes,
            x->rank);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = prt_dim_add(c->dims, x->dims[i], prt_dim_add(c->dims, p.begin[i], p.end[i]));
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

/* ---- copying */

/* Returns the index of the element at position `i` relative to the `n` kept elements; -1 for the
 * constant. */
static int64_t source_of(mode m, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (m == CONSTANT)
        return -1;
    if (m == EDGE || n == 1)
        return i < 0 ? 0 : n - 1;
    const int64_t period = m == WRAP ? n : 2 * (n - 1);
    int64_t at = i % period;
    at = at < 0 ? at + period : at;
    return at < n ? at : period - at;
}

/* One axis: output positions from `before` on hold `kept` elements of the input, of which the
 * first `skip` are cropped. */
typedef struct span {
    int64_t skip, kept, before;
} span;

static poprt_status span_of(const prt_eval *c, mode m, int64_t dim, int64_t begin, int64_t end,
    int64_t count, span *s)
{
    const int64_t skip = begin < 0 ? -begin : 0, drop = end < 0 ? -end : 0;
    *s = (span){ skip, skip + drop < dim ? dim - skip - drop : 0, begin > 0 ? begin : 0 };
    if (s->kept == 0 && m != CONSTANT && count != 0)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "an axis without elements can only be padded in mode constant");
    return POPRT_OK;
}

/* Returns the input index at output position `i`; -1 for the constant. */
static int64_t source_at(mode m, const span *s, int64_t i)
{
    const int64_t from = source_of(m, i - s->before, s->kept);
    return from < 0 ? -1 : s->skip + from;
}

/* Computes output 0 from input 0 (rank above 0); `fill` is one element, NULL for zero. Elements
 * along the axes after the last padded axis are copied in one block. */
static poprt_status pad(prt_eval *c, const pads *p, mode m, const void *fill)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    uint32_t last = x->rank - 1;
    span spans[PRT_MAX_RANK];
    size_t unit = 1;
    const size_t n = prt_tensor_count(y);
    for (; last > 0 && p->begin[last] == 0 && p->end[last] == 0; last--)
        unit *= (size_t)x->dims[last];
    for (uint32_t i = 0; i <= last; i++)
        PRT_TRY(span_of(c, m, x->dims[i], p->begin[i], p->end[i], y->dims[i], &spans[i]));
    if (m == CONSTANT && fill != NULL)
        prt_fill_elements(y->dtype, y->data, 0, fill, 0, n);
    else if (m == CONSTANT)
        prt_zero_elements(y->dtype, y->data, 0, n);
    const span *row = &spans[last];
    const int64_t count = y->dims[last];
    const int64_t first = m == CONSTANT ? row->before : 0;
    const int64_t end = m == CONSTANT ? row->before + row->kept : count;
    /* the ends are written element by element */
    const bool words = unit == 1 && prt_dtype_bits(x->dtype) == 32;
    int64_t at[PRT_MAX_RANK] = { 0 };
    for (size_t to = 0; to < n; to += (size_t)count * unit) {
        int64_t from = 0;
        for (uint32_t i = 0; from >= 0 && i < last; i++) {
            const int64_t index = source_at(m, &spans[i], at[i]);
            from = index < 0 ? -1 : from * x->dims[i] + index;
        }
        for (int64_t i = first, run; from >= 0 && i < end; i += run) {
            const int64_t index = from * x->dims[last] + source_at(m, row, i);
            run = i == row->before ? row->kept : 1;
            if (run == 1 && words) {
                ((uint32_t *)y->data)[to + (size_t)i] = ((const uint32_t *)x->data)[index];
                continue;
            }
            prt_element_copy(x->dtype, y->data, to + (size_t)i * unit, x->data,
                (size_t)index * unit, (size_t)run * unit);
        }
        (void)prt_at_next(last, y->dims, at);
    }
    return POPRT_OK;
}

/* Computes the output dims from the pads. They may differ from the dims that infer assumed. */
static poprt_status shape_by_pads(prt_eval *c, const pads *p)
{
    const prt_tensor *x = c->in[0];
    const int64_t most = (int64_t)1 << 61;
    int64_t dims[PRT_MAX_RANK];
    for (uint32_t i = 0; i < x->rank; i++) {
        const int64_t b = p->begin[i], e = p->end[i];
        if (b < -most || b > most || e < -most || e > most)
            return prt_eval_fail(c, POPRT_E_SHAPE, "axis %u cannot be padded by %lld and %lld", i,
                (long long)b, (long long)e);
        dims[i] = x->dims[i] + (b + e);
    }
    return prt_shape_output(c, 0, x->dtype, x->rank, dims);
}

static poprt_status eval_pad(prt_eval *c)
{
    const prt_pad_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t list[2 * PRT_MAX_RANK], axes[PRT_MAX_RANK];
    uint32_t n_list, n_axes = 0;
    mode m = CONSTANT;
    pads p;
    (void)find_mode(a->mode, &m);
    PRT_TRY(prt_eval_ints(c, 1, list, 2 * PRT_MAX_RANK, &n_list));
    if (prt_eval_has(c, 3))
        PRT_TRY(prt_eval_ints(c, 3, axes, PRT_MAX_RANK, &n_axes));
    if (!read_pads(x->rank, list, n_list, prt_eval_has(c, 3) ? axes : NULL, n_axes, &p))
        return prt_eval_fail(c, POPRT_E_SHAPE, "pads and axes do not match rank %u", x->rank);
    PRT_TRY(shape_by_pads(c, &p));
    if (x->rank == 0)
        return prt_copy_flat(c);
    const void *fill = NULL;
    if (prt_eval_has(c, 2)) {
        if (prt_tensor_count(c->in[2]) != 1)
            return prt_eval_fail(c, POPRT_E_SHAPE, "constant_value has %zu elements, not 1",
                prt_tensor_count(c->in[2]));
        fill = c->in[2]->data;
    }
    return pad(c, &p, m, fill);
}

/* ---- CenterCropPad */

/* Reads the axis of each element of `shape`, and their number. Returns false if they do not
 * match the rank. */
static bool crop_axes(const prt_center_crop_pad_attrs *a, uint32_t rank, uint32_t *axes,
    uint32_t *count)
{
    uint32_t set;
    *count = a->axes.count != 0 ? a->axes.count : rank;
    if (!prt_shape_axes(a->axes.data, a->axes.count, rank, &set) ||
        (uint32_t)__builtin_popcount(set) != a->axes.count)
        return false;
    for (uint32_t i = 0; i < *count; i++) {
        const int64_t axis = a->axes.count == 0 ? i : a->axes.data[i];
        axes[i] = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
    }
    return true;
}

static poprt_status infer_crop(prt_infer *c)
{
    const prt_center_crop_pad_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], shape[PRT_MAX_RANK];
    uint32_t axes[PRT_MAX_RANK], count, given;
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (!crop_axes(a, (uint32_t)x->rank, axes, &count))
        return prt_infer_fail(c, POPRT_E_SHAPE, "axes do not match rank %d", x->rank);
    const bool known = prt_infer_ints(c, 1, shape, PRT_MAX_RANK, &given);
    if (known && given != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "shape has %u elements, but there are %u axes",
            given, count);
    memcpy(dims, x->dims, sizeof(dims));
    for (uint32_t i = 0; i < count; i++)
        dims[axes[i]] = known ? shape[i] : PRT_DIM_UNKNOWN;
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

static poprt_status eval_crop(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t shape[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t axes[PRT_MAX_RANK], count, given;
    PRT_TRY(prt_eval_ints(c, 1, shape, PRT_MAX_RANK, &given));
    if (!crop_axes(c->attrs, x->rank, axes, &count) || given != count)
        return prt_eval_fail(c, POPRT_E_SHAPE, "shape has %u elements, but there are %u axes",
            given, count);
    memcpy(dims, x->dims, sizeof(dims));
    pads p = { .begin = { 0 } };
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t axis = axes[i];
        dims[axis] = shape[i];
        if (shape[i] < 0)
            return prt_eval_fail(c, POPRT_E_SHAPE, "dim %u would be %lld; at least 0 is required",
                axis, (long long)shape[i]);
        const int64_t more = shape[i] - x->dims[axis];
        p.begin[axis] = more / 2; /* rounds toward zero, so an odd element goes to the end */
        p.end[axis] = more - more / 2;
    }
    PRT_TRY(prt_shape_output(c, 0, x->dtype, x->rank, dims));
    return x->rank != 0 ? pad(c, &p, CONSTANT, NULL) : prt_copy_flat(c);
}

const prt_op_hooks prt_op_pad = { .infer = infer_pad, .eval = eval_pad };
const prt_op_hooks prt_op_center_crop_pad = { .infer = infer_crop, .eval = eval_crop };
