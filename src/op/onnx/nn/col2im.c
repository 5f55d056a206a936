/* SPDX-License-Identifier: MIT */
/*
 * col2im.c — Col2Im: sums overlapping blocks into an image. It is computed per image element:
 * element x sums tap k of block b where x = b * stride - begin + k * dilation.
 */
#include "op/share/sliding.h"

static prt_window_spec spec_of(const prt_col2im_attrs *a)
{
    return (prt_window_spec){ .strides = a->strides, .dilations = a->dilations, .pads = a->pads };
}

static int64_t product(const int64_t *dims, uint32_t n)
{
    int64_t p = 1;
    for (uint32_t i = 0; i < n; i++)
        p = prt_dim_mul(NULL, p, dims[i]);
    return p;
}

/* Checks the rows and columns of the input against the blocks. */
static poprt_status check_blocks(const prt_infer *c, uint32_t spatial, const int64_t *image,
    const int64_t *block)
{
    const prt_window_spec spec = spec_of(c->attrs);
    const int64_t rows = prt_infer_dim(c, 0, 1), cols = prt_infer_dim(c, 0, 2);
    const int64_t taps = product(block, spatial);
    prt_window w;
    int64_t merged;
    prt_window_fill(NULL, &spec, spatial, image, block, &w);
    for (uint32_t i = 0; i < spatial; i++)
        if (w.out[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "a block does not fit into the image");
    if (prt_dim_is_number(rows) && (!prt_dim_is_number(taps) || rows % taps != 0))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "dim 1 is %lld, which is not a multiple of the block size", (long long)rows);
    return prt_infer_merge(c, cols, product(w.out, spatial), "number of blocks", &merged);
}

static poprt_status infer(prt_infer *c)
{
    const prt_window_spec spec = spec_of(c->attrs);
    const int32_t dtype = c->in[0].dtype;
    int64_t image[PRT_MAX_SPATIAL], block[PRT_MAX_SPATIAL], dims[PRT_MAX_RANK];
    uint32_t spatial, count;
    PRT_TRY(prt_infer_rank(c, 0, 3));
    if (!prt_infer_ints(c, 1, image, PRT_MAX_SPATIAL, &spatial) ||
        !prt_infer_ints(c, 2, block, PRT_MAX_SPATIAL, &count)) {
        if (c->dims == NULL)
            return prt_infer_fail(c, POPRT_E_LIMIT,
                "image_shape or block_shape has more than %d values", PRT_MAX_SPATIAL);
        return prt_infer_unranked(c, 0, dtype, PRT_RANK_UNKNOWN);
    }
    if (count != spatial)
        return prt_infer_fail(c, POPRT_E_SHAPE, "image_shape has %u values, but block_shape has %u",
            spatial, count);
    PRT_TRY(prt_window_check(c, &spec, spatial));
    bool known = true;
    for (uint32_t i = 0; i < spatial; i++) {
        known = known && prt_dim_is_number(image[i]) && prt_dim_is_number(block[i]);
        if (prt_dim_is_number(block[i]) && (block[i] < 1 || block[i] > INT32_MAX))
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "block_shape contains %lld; accepted: 1 to 2147483647", (long long)block[i]);
        if (prt_dim_is_number(image[i]) && (image[i] < 0 || image[i] > INT32_MAX))
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "image_shape contains %lld; accepted: 0 to 2147483647", (long long)image[i]);
        dims[i + 2] = image[i];
    }
    if (known)
        PRT_TRY(check_blocks(c, spatial, image, block));
    dims[0] = prt_infer_dim(c, 0, 0);
    dims[1] = known ? prt_dim_floordiv(c->dims, prt_infer_dim(c, 0, 1), product(block, spatial))
                    : PRT_DIM_UNKNOWN;
    return prt_infer_exact(c, 0, dtype, (int32_t)spatial + 2, dims);
}

/* Returns the block whose tap `k` is at image position `at`; SIZE_MAX if there is none. */
static size_t block_of(const prt_window *w, const int64_t *at, const int64_t *k)
{
    size_t index = 0;
    for (uint32_t i = 0; i < w->rank; i++) {
        const int64_t x = at[i] + w->begin[i] - k[i] * w->dilation[i];
        if (x < 0 || x % w->stride[i] != 0 || x / w->stride[i] >= w->out[i])
            return SIZE_MAX;
        index = index * (size_t)w->out[i] + (size_t)(x / w->stride[i]);
    }
    return index;
}

static poprt_status eval(prt_eval *c)
{
    const prt_window_spec spec = spec_of(c->attrs);
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    int64_t block[PRT_MAX_SPATIAL], at[PRT_MAX_RANK] = { 0 };
    uint32_t spatial;
    prt_window w;
    PRT_TRY(prt_eval_ints(c, 2, block, PRT_MAX_SPATIAL, &spatial));
    prt_window_fill(NULL, &spec, spatial, y->dims + 2, block, &w);
    const bool integer = prt_dtype_is_integer(y->dtype);
    /* A complex number is summed as two reals; a bool sum is true if any element is true. */
    const int32_t part = y->dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32
        : y->dtype == PRT_DTYPE_c128               ? PRT_DTYPE_f64
                                                   : y->dtype;
    const size_t parts = part != y->dtype ? 2 : 1;
    const size_t taps = prt_dims_product(block, 0, spatial), blocks = (size_t)x->dims[2];
    const size_t n = prt_tensor_count(y), size = prt_dims_product(y->dims, 2, y->rank);
    for (size_t to = 0; to < n; to++) {
        const size_t plane = to / size * taps * blocks;
        int64_t k[PRT_MAX_SPATIAL] = { 0 };
        double sum[2] = { 0 };
        uint64_t words = 0;
        PRT_TRY(c->host->check(c));
        for (size_t t = 0; t < taps; t++) {
            const size_t b = block_of(&w, at + 2, k);
            double value[2] = { 0 };
            (void)prt_at_next(spatial, block, k);
            if (b == SIZE_MAX)
                continue;
            if (integer)
                words += (uint64_t)prt_load_i64(x->dtype, x->data, plane + t * blocks + b);
            else
                prt_reals_load(part, x->data, (plane + t * blocks + b) * parts, 1, parts, value);
            sum[0] += value[0];
            sum[1] += value[1];
        }
        if (integer)
            prt_store_u64(y->dtype, y->data, to, words);
        else
            prt_reals_store(part, y->data, to * parts, 1, parts, sum);
        (void)prt_at_next(y->rank, y->dims, at);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_col2im = { .infer = infer, .eval = eval };
