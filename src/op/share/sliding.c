/* SPDX-License-Identifier: MIT */
/* sliding.c — checks of window attributes, and the arithmetic of sizes and padding. */
#include "op/share/sliding.h"

enum { MAX_STEP = INT32_MAX }; /* limit of each attribute, so that a product of two fits int64 */

static poprt_status check_list(const prt_infer *c, prt_i64s list, uint32_t count, int64_t least,
    const char *name)
{
    if (list.count == 0)
        return POPRT_OK;
    if (list.count != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%s has %u values where %u are needed", name,
            list.count, count);
    for (uint32_t i = 0; i < count; i++)
        if (list.data[i] < least || list.data[i] > MAX_STEP)
            return prt_infer_fail(c, POPRT_E_ARG, "%s has value %lld; it must be in [%lld, %d]",
                name, (long long)list.data[i], (long long)least, MAX_STEP);
    return POPRT_OK;
}

poprt_status prt_window_check(const prt_infer *c, const prt_window_spec *spec, uint32_t rank)
{
    static const char *const modes[] = { "", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID" };
    bool known = false;
    if (rank == 0 || rank > PRT_MAX_SPATIAL)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has %u spatial dims; accepted: 1 to %d",
            rank, PRT_MAX_SPATIAL);
    for (size_t i = 0; i < PRT_COUNT_OF(modes); i++)
        known = known || prt_str_is(spec->auto_pad, modes[i]);
    if (!known)
        return prt_infer_fail(c, POPRT_E_ARG,
            "auto_pad is \"%.*s\"; accepted: NOTSET, SAME_UPPER, "
            "SAME_LOWER, VALID",
            PRT_STR_ARG(spec->auto_pad));
    PRT_TRY(check_list(c, spec->kernel, rank, 1, "kernel_shape"));
    PRT_TRY(check_list(c, spec->strides, rank, 1, "strides"));
    PRT_TRY(check_list(c, spec->dilations, rank, 1, "dilations"));
    return check_list(c, spec->pads, 2 * rank, 0, "pads");
}

/* Computes output size and padding of one dim. `span` is the extent of a dilated window. */
static void fill_dim(prt_dims *d, const prt_window_spec *spec, uint32_t i, prt_window *w)
{
    const int64_t s = w->stride[i], in = w->in[i];
    const int64_t span =
        prt_dim_add(d, prt_dim_mul(d, w->dilation[i], prt_dim_sub(d, w->kernel[i], 1)), 1);
    if (prt_window_is_same(spec)) {
        w->out[i] = prt_dim_ceildiv(d, in, s);
        const int64_t reach = prt_dim_add(d, prt_dim_mul(d, prt_dim_sub(d, w->out[i], 1), s), span);
        const int64_t total = prt_dim_max(d, prt_dim_sub(d, reach, in), 0);
        const int64_t less = prt_dim_floordiv(d, total, 2), more = prt_dim_sub(d, total, less);
        const bool upper = prt_str_is(spec->auto_pad, "SAME_UPPER");
        w->begin[i] = upper ? less : more;
        w->end[i] = upper ? more : less;
        return;
    }
    const bool valid = prt_str_is(spec->auto_pad, "VALID");
    w->begin[i] = valid ? 0 : prt_i64s_at(spec->pads, i, 0);
    w->end[i] = valid ? 0 : prt_i64s_at(spec->pads, w->rank + i, 0);
    const int64_t before = prt_dim_add(d, in, w->begin[i]);
    const int64_t slack = prt_dim_sub(d, prt_dim_add(d, before, w->end[i]), span);
    if (!spec->ceil_mode || valid) {
        w->out[i] = prt_dim_add(d, prt_dim_floordiv(d, slack, s), 1);
        return;
    }
    /* The last window must start inside the input or the padding before it. */
    w->out[i] = prt_dim_min(d, prt_dim_add(d, prt_dim_ceildiv(d, slack, s), 1),
        prt_dim_ceildiv(d, before, s));
}

void prt_window_fill(prt_dims *dims, const prt_window_spec *spec, uint32_t rank, const int64_t *in,
    const int64_t *kernel, prt_window *w)
{
    w->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        w->in[i] = in[i];
        w->kernel[i] = kernel != NULL ? kernel[i] : prt_i64s_at(spec->kernel, i, 1);
        w->stride[i] = prt_i64s_at(spec->strides, i, 1);
        w->dilation[i] = prt_i64s_at(spec->dilations, i, 1);
        fill_dim(dims, spec, i, w);
    }
}

bool prt_window_is_padded(const prt_window *w)
{
    for (uint32_t i = 0; i < w->rank; i++)
        if (w->begin[i] != 0 || w->end[i] != 0)
            return true;
    return false;
}

bool prt_window_goes_beyond(const prt_window *w)
{
    for (uint32_t i = 0; i < w->rank; i++)
        if ((w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] >=
            w->in[i] + w->begin[i] + w->end[i])
            return true;
    return false;
}

poprt_status prt_window_kernel(const prt_infer *c, uint32_t i, const prt_window_spec *spec,
    uint32_t rank, int64_t *kernel)
{
    for (uint32_t k = 0; k < rank; k++) {
        const int64_t given = prt_i64s_at(spec->kernel, k, PRT_DIM_UNKNOWN);
        const int64_t size = prt_infer_dim(c, i, k + 2);
        if (prt_dim_is_number(size) && prt_dim_is_number(given) && size != given)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "kernel_shape is %lld at spatial axis %u, but the size of the weight is %lld",
                (long long)given, k, (long long)size);
        PRT_TRY(prt_infer_merge(c, size, given, "kernel_shape", &kernel[k]));
        if (prt_dim_is_number(kernel[k]) && (kernel[k] < 1 || kernel[k] > MAX_STEP))
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the kernel has a dim of %lld; accepted: 1 to 2147483647", (long long)kernel[k]);
    }
    return POPRT_OK;
}

size_t prt_window_source(const prt_window *w, const int64_t *out, const int64_t *k)
{
    size_t at = 0;
    for (uint32_t i = 0; i < w->rank; i++) {
        const int64_t x = out[i] * w->stride[i] - w->begin[i] + k[i] * w->dilation[i];
        if (x < 0 || x >= w->in[i])
            return SIZE_MAX;
        at = at * (size_t)w->in[i] + (size_t)x;
    }
    return at;
}
