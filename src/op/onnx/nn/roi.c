/* SPDX-License-Identifier: MIT */
/* roi.c — RoiAlign and MaxRoiPool: compute a grid of values from each region of interest. */
#include <math.h>

#include "op/internal/gradient.h"
#include "op/share/reals.h"

/* MAX_SAMPLES: limit of samples along one side of a bin. SAMPLES: samples computed at a time. */
enum { MAX_SAMPLES = 1 << 14, SAMPLES = 16 };

typedef struct region {
    size_t image;
    double top, left, height, width; /* in units of elements */
} region;

/* ---- RoiAlign ---- */

static poprt_status infer_align(prt_infer *c)
{
    const prt_roi_align_attrs *a = c->attrs;
    const prt_str coords = a->coordinate_transformation_mode;
    int64_t dims[4] = { 0, prt_infer_dim(c, 0, 1), a->output_height, a->output_width }, merged;
    PRT_TRY(prt_infer_rank(c, 0, 4));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_rank(c, 2, 1));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 1, 0), prt_infer_dim(c, 2, 0), "number of regions",
        &dims[0]));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 1, 1), 4, "columns of rois", &merged));
    if (!prt_str_is(coords, "half_pixel") && !prt_str_is(coords, "output_half_pixel"))
        return prt_infer_fail(c, POPRT_E_ARG,
            "coordinate_transformation_mode is \"%.*s\"; accepted: half_pixel, output_half_pixel",
            PRT_STR_ARG(coords));
    if (!prt_str_is(a->mode, "avg") && !prt_str_is(a->mode, "max"))
        return prt_infer_fail(c, POPRT_E_ARG, "mode is \"%.*s\"; accepted: avg, max",
            PRT_STR_ARG(a->mode));
    if (a->output_height < 1 || a->output_width < 1 || a->output_height > INT32_MAX ||
        a->output_width > INT32_MAX || a->sampling_ratio < 0 || a->sampling_ratio > MAX_SAMPLES)
        return prt_infer_fail(c, POPRT_E_ARG,
            "output_height, output_width or sampling_ratio is out of range");
    return prt_infer_exact(c, 0, c->in[0].dtype, 4, dims);
}

/* Computes the corners and weights of a bilinear sample. Returns false if the sample is outside
 * and counts as zero. */
static bool corners(double y, double x, int64_t height, int64_t width, size_t *at, double *weight)
{
    if (!(y >= -1.0 && y <= (double)height && x >= -1.0 && x <= (double)width))
        return false;
    y = fmax(y, 0.0);
    x = fmax(x, 0.0);
    int64_t top = (int64_t)y, left = (int64_t)x;
    if (top >= height - 1)
        y = (double)(top = height - 1);
    if (left >= width - 1)
        x = (double)(left = width - 1);
    const int64_t bottom = top + 1 < height ? top + 1 : top;
    const int64_t right = left + 1 < width ? left + 1 : left;
    const double dy = y - (double)top, dx = x - (double)left;
    const int64_t row[4] = { top, top, bottom, bottom }, col[4] = { left, right, left, right };
    for (size_t i = 0; i < 4; i++)
        at[i] = (size_t)row[i] * (size_t)width + (size_t)col[i];
    weight[0] = (1.0 - dy) * (1.0 - dx);
    weight[1] = (1.0 - dy) * dx;
    weight[2] = dy * (1.0 - dx);
    weight[3] = dy * dx;
    return true;
}

typedef struct bins {
    int64_t rows, cols; /* of the output */
    int64_t ny, nx;     /* samples per bin along each side */
    bool largest;
} bins;

/* The corners of a sample and their weights; all zero if the sample is outside. */
typedef struct sample {
    size_t at[4];
    double weight[4];
} sample;

static void find_samples(const prt_tensor *x, const region *r, const bins *b, int64_t row,
    int64_t col, int64_t first, size_t count, sample *to)
{
    const double height = r->height / (double)b->rows, width = r->width / (double)b->cols;
    memset(to, 0, count * sizeof(*to));
    for (size_t s = 0; s < count; s++) {
        const int64_t i = first + (int64_t)s;
        const double dy = ((double)(i / b->nx) + 0.5) / (double)b->ny;
        const double dx = ((double)(i % b->nx) + 0.5) / (double)b->nx;
        (void)corners(r->top + ((double)row + dy) * height, r->left + ((double)col + dx) * width,
            x->dims[2], x->dims[3], to[s].at, to[s].weight);
    }
}

/* Accumulates samples of a bin into `value`. The plane starts at element `from`. */
static double add_samples(const prt_tensor *x, size_t from, const sample *s, size_t count,
    const bins *b, bool begun, double value)
{
    const float *f32 = x->dtype == PRT_DTYPE_f32 ? (const float *)x->data + from : NULL;
    for (size_t i = 0; i < count; i++, begun = true) {
        double most = 0.0, sum = 0.0;
        for (size_t k = 0; k < 4; k++) {
            const double part = s[i].weight[k] *
                (f32 != NULL ? (double)f32[s[i].at[k]]
                             : prt_load_f64(x->dtype, x->data, from + s[i].at[k]));
            sum += part;
            most = k == 0 || part > most ? part : most;
        }
        value = !b->largest ? value + sum : !begun || most > value ? most : value;
    }
    return value;
}

/* Computes one bin for all channels; the samples are computed once for all of them. */
static void compute_bin(const prt_tensor *x, const region *r, const bins *b, int64_t row,
    int64_t col, double *values)
{
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, 4);
    const int64_t all = b->ny * b->nx;
    sample samples[SAMPLES];
    memset(values, 0, channels * sizeof(double));
    for (int64_t i = 0; i < all; i += SAMPLES) {
        const size_t count = all - i < SAMPLES ? (size_t)(all - i) : SAMPLES;
        find_samples(x, r, b, row, col, i, count, samples);
        for (size_t ch = 0; ch < channels; ch++)
            values[ch] = add_samples(x, (r->image * channels + ch) * size, samples, count, b,
                i != 0, values[ch]);
    }
    for (size_t ch = 0; !b->largest && all != 0 && ch < channels; ch++)
        values[ch] /= (double)all;
}

static poprt_status read_region(const prt_eval *c, const prt_roi_align_attrs *a, size_t n,
    region *r, bins *b)
{
    const prt_tensor *x = c->in[0];
    const bool half = prt_str_is(a->coordinate_transformation_mode, "half_pixel");
    const int64_t image = prt_load_i64(PRT_DTYPE_i64, c->in[2]->data, n);
    double box[4];
    if (image < 0 || image >= x->dims[0])
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "batch_indices contains %lld, which is outside [0, %lld)", (long long)image,
            (long long)x->dims[0]);
    prt_reals_load(c->in[1]->dtype, c->in[1]->data, 4 * n, 1, 4, box);
    for (size_t i = 0; i < 4; i++)
        box[i] = box[i] * (double)a->spatial_scale - (half ? 0.5 : 0.0);
    *r = (region){ .image = (size_t)image,
        .top = box[1],
        .left = box[0],
        .height = box[3] - box[1],
        .width = box[2] - box[0] };
    if (!half) {
        r->height = fmax(r->height, 1.0);
        r->width = fmax(r->width, 1.0);
    }
    const double ny = ceil(r->height / (double)a->output_height);
    const double nx = ceil(r->width / (double)a->output_width);
    *b = (bins){ .rows = a->output_height,
        .cols = a->output_width,
        .ny = a->sampling_ratio,
        .nx = a->sampling_ratio,
        .largest = prt_str_is(a->mode, "max") };
    if (a->sampling_ratio > 0)
        return POPRT_OK;
    if (!(ny <= MAX_SAMPLES && nx <= MAX_SAMPLES))
        return prt_eval_fail(c, POPRT_E_LIMIT,
            "region %zu is too large; at most 16384 samples per side are supported", n);
    b->ny = ny > 0.0 ? (int64_t)ny : 0;
    b->nx = nx > 0.0 ? (int64_t)nx : 0;
    return POPRT_OK;
}

static poprt_status eval_align(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, 4);
    const size_t cells = prt_dims_product(y->dims, 2, 4);
    if (prt_tensor_count(y) == 0)
        return POPRT_OK;
    if (size == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the images are empty; at least one element is required");
    double *values = prt_eval_scratch(c, channels, sizeof(double));
    if (values == NULL)
        return POPRT_E_NOMEM;
    for (size_t n = 0; n < (size_t)y->dims[0]; n++) {
        region r = { 0 };
        bins b = { 0 };
        PRT_TRY(read_region(c, c->attrs, n, &r, &b));
        for (size_t i = 0; i < cells; i++) {
            PRT_TRY(c->host->check(c));
            compute_bin(x, &r, &b, (int64_t)i / b.cols, (int64_t)i % b.cols, values);
            prt_reals_store(y->dtype, y->data, n * channels * cells + i, cells, channels, values);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_roi_align = { .infer = infer_align, .eval = eval_align };

/* ---- RoiAlignGrad ---- */

static prt_roi_align_attrs align_attrs(const prt_roi_align_grad_attrs *a)
{
    prt_roi_align_attrs forward = PRT_ATTRS_OF(roi_align);
    forward.coordinate_transformation_mode = a->coordinate_transformation_mode;
    forward.mode = a->mode;
    forward.output_height = a->output_height;
    forward.output_width = a->output_width;
    forward.sampling_ratio = a->sampling_ratio;
    forward.spatial_scale = a->spatial_scale;
    return forward;
}

static poprt_status infer_align_grad(prt_infer *c)
{
    static const uint32_t like[1] = { 0 };
    const prt_roi_align_attrs forward = align_attrs(c->attrs);
    const prt_gradient g = { PRT_OP_roi_align, &forward, 3, 1, 1, like };
    return prt_gradient_infer(c, &g);
}

/* Adds the gradient `d` of one bin of one channel to the plane of dX. The average shares it among
 * the corners of all samples; of the maximum, the first largest weighted corner gets it. */
static void add_bin_gradient(const prt_tensor *x, const region *r, const bins *b, int64_t row,
    int64_t col, size_t from, double d, double *dx)
{
    const int64_t all = b->ny * b->nx;
    double most = 0.0, best_weight = 0.0;
    size_t best = SIZE_MAX;
    for (int64_t i = 0; i < all; i++) {
        sample s;
        find_samples(x, r, b, row, col, i, 1, &s);
        for (size_t k = 0; k < 4; k++) {
            const double part = s.weight[k] * prt_real_at(x, from + s.at[k]);
            if (!b->largest)
                dx[s.at[k]] += s.weight[k] * d / (double)all;
            else if (best == SIZE_MAX || part > most) {
                most = part;
                best = s.at[k];
                best_weight = s.weight[k];
            }
        }
    }
    if (best != SIZE_MAX)
        dx[best] += best_weight * d;
}

static poprt_status eval_align_grad(prt_eval *c)
{
    const prt_roi_align_attrs a = align_attrs(c->attrs);
    const prt_tensor *x = c->in[0], *dy = c->in[3];
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, 4);
    const size_t cells = prt_dims_product(dy->dims, 2, 4), n_x = prt_tensor_count(x);
    double *dx = prt_eval_scratch(c, n_x + 1, sizeof(double));
    if (dx == NULL)
        return POPRT_E_NOMEM;
    for (size_t n = 0; size != 0 && channels != 0 && n < (size_t)dy->dims[0]; n++) {
        region r = { 0 };
        bins b = { 0 };
        PRT_TRY(c->host->check(c));
        PRT_TRY(read_region(c, &a, n, &r, &b));
        for (size_t i = 0; i < channels * cells; i++) {
            const size_t from = (r.image * channels + i / cells) * size;
            const int64_t cell = (int64_t)(i % cells);
            add_bin_gradient(x, &r, &b, cell / b.cols, cell % b.cols, from,
                prt_real_at(dy, n * channels * cells + i), dx + from);
        }
    }
    prt_reals_store(x->dtype, c->out[0]->data, 0, 1, n_x, dx);
    return POPRT_OK;
}

const prt_op_hooks prt_op_roi_align_grad = { .infer = infer_align_grad, .eval = eval_align_grad };

/* ---- MaxRoiPool ---- */

static poprt_status infer_pool(prt_infer *c)
{
    const prt_max_roi_pool_attrs *a = c->attrs;
    int64_t merged;
    PRT_TRY(prt_infer_rank(c, 0, 4));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 1, 1), 5, "columns of rois", &merged));
    if (a->pooled_shape.count != 2)
        return prt_infer_fail(c, POPRT_E_ARG, "pooled_shape has %u values; 2 are required",
            a->pooled_shape.count);
    for (uint32_t i = 0; i < 2; i++)
        if (a->pooled_shape.data[i] < 1 || a->pooled_shape.data[i] > INT32_MAX)
            return prt_infer_fail(c, POPRT_E_ARG,
                "pooled_shape contains %lld; accepted: 1 to 2147483647",
                (long long)a->pooled_shape.data[i]);
    const int64_t dims[4] = { prt_infer_dim(c, 1, 0), prt_infer_dim(c, 0, 1),
        a->pooled_shape.data[0], a->pooled_shape.data[1] };
    return prt_infer_exact(c, 0, c->in[0].dtype, 4, dims);
}

/* Computes the first and last (exclusive) input of a bin along one side, clipped to the image. */
static void bin_range(double start, double size, int64_t count, int64_t bin, int64_t limit,
    int64_t *first, int64_t *last)
{
    const double each = size / (double)count, most = (double)limit;
    *first = (int64_t)fmin(fmax(floor((double)bin * each) + start, 0.0), most);
    *last = (int64_t)fmin(fmax(ceil((double)(bin + 1) * each) + start, 0.0), most);
}

/* The place of a region: its image, and the rows and columns of its first element and its size. */
typedef struct pooled {
    size_t image;
    double top, left, height, width;
} pooled;

static poprt_status read_pooled(const prt_eval *c, float scale, size_t n, pooled *to)
{
    const prt_tensor *x = c->in[0];
    double box[5], side[4];
    prt_reals_load(c->in[1]->dtype, c->in[1]->data, 5 * n, 1, 5, box);
    if (!(box[0] >= 0.0 && box[0] < (double)x->dims[0]))
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "region %zu has image index %g, which is out of range", n, box[0]);
    for (size_t i = 0; i < 4; i++)
        /* Rounds ties in float precision. */
        side[i] = (double)roundf((float)box[i + 1] * scale);
    *to = (pooled){ .image = (size_t)box[0],
        .top = side[1],
        .left = side[0],
        .height = fmax(side[3] - side[1] + 1.0, 1.0),
        .width = fmax(side[2] - side[0] + 1.0, 1.0) };
    return POPRT_OK;
}

/* Returns the first maximum of bin `i`, one of cells[0] * cells[1]; SIZE_MAX if the bin is empty.
 */
static size_t largest_of(const prt_tensor *x, const pooled *p, const int64_t *cells, int64_t i,
    const double *plane)
{
    int64_t top, bottom, left, right;
    size_t best = SIZE_MAX;
    bin_range(p->top, p->height, cells[0], i / cells[1], x->dims[2], &top, &bottom);
    bin_range(p->left, p->width, cells[1], i % cells[1], x->dims[3], &left, &right);
    for (int64_t h = top; h < bottom; h++)
        for (int64_t w = left; w < right; w++) {
            const size_t at = (size_t)(h * x->dims[3] + w);
            if (best == SIZE_MAX || plane[at] > plane[best] || isnan(plane[best]))
                best = at;
        }
    return best;
}

static poprt_status pool_region(prt_eval *c, size_t n, double *plane)
{
    const prt_max_roi_pool_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, 4);
    const size_t cells = (size_t)(y->dims[2] * y->dims[3]);
    pooled p;
    PRT_TRY(read_pooled(c, a->spatial_scale, n, &p));
    for (size_t ch = 0; ch < channels; ch++) {
        PRT_TRY(c->host->check(c));
        prt_reals_load(x->dtype, x->data, (p.image * channels + ch) * size, 1, size, plane);
        for (size_t i = 0; i < cells; i++) {
            const size_t best = largest_of(x, &p, y->dims + 2, (int64_t)i, plane);
            /* NaN counts as less than any number. */
            const double value = best == SIZE_MAX ? 0.0
                : isnan(plane[best])              ? (double)-INFINITY
                                                  : plane[best];
            prt_reals_store(y->dtype, y->data, (n * channels + ch) * cells + i, 1, 1, &value);
        }
    }
    return POPRT_OK;
}

static poprt_status eval_pool(prt_eval *c)
{
    if (prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    double *plane = prt_eval_scratch(c, prt_dims_product(c->in[0]->dims, 2, 4), sizeof(double));
    if (plane == NULL)
        return POPRT_E_NOMEM;
    for (size_t n = 0; n < (size_t)c->out[0]->dims[0]; n++)
        PRT_TRY(pool_region(c, n, plane));
    return POPRT_OK;
}

const prt_op_hooks prt_op_max_roi_pool = { .infer = infer_pool, .eval = eval_pool };

/* ---- MaxRoiPoolGrad ---- */

static poprt_status infer_pool_grad(prt_infer *c)
{
    static const uint32_t like[1] = { 0 };
    const prt_max_roi_pool_grad_attrs *a = c->attrs;
    prt_max_roi_pool_attrs forward = PRT_ATTRS_OF(max_roi_pool);
    forward.spatial_scale = a->spatial_scale;
    forward.pooled_shape = a->pooled_shape;
    const prt_gradient g = { PRT_OP_max_roi_pool, &forward, 2, 1, 1, like };
    return prt_gradient_infer(c, &g);
}

static poprt_status eval_pool_grad(prt_eval *c)
{
    const prt_max_roi_pool_grad_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *dy = c->in[2];
    const size_t channels = (size_t)x->dims[1], size = prt_dims_product(x->dims, 2, 4);
    const size_t cells = prt_dims_product(dy->dims, 2, 4), n_x = prt_tensor_count(x);
    double *values = prt_eval_reals(c, x), *dx = prt_eval_scratch(c, n_x + 1, sizeof(double));
    if (values == NULL || dx == NULL)
        return POPRT_E_NOMEM;
    for (size_t n = 0; n < (size_t)dy->dims[0]; n++) {
        pooled p;
        PRT_TRY(c->host->check(c));
        PRT_TRY(read_pooled(c, a->spatial_scale, n, &p));
        for (size_t i = 0; i < channels * cells; i++) {
            const size_t plane = (p.image * channels + i / cells) * size;
            const size_t best =
                largest_of(x, &p, dy->dims + 2, (int64_t)(i % cells), values + plane);
            if (best != SIZE_MAX)
                dx[plane + best] += prt_real_at(dy, n * channels * cells + i);
        }
    }
    prt_reals_store(x->dtype, c->out[0]->data, 0, 1, n_x, dx);
    return POPRT_OK;
}

const prt_op_hooks prt_op_max_roi_pool_grad = { .infer = infer_pool_grad, .eval = eval_pool_grad };
