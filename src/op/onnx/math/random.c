/* SPDX-License-Identifier: MIT */
/*
 * random.c — RandomNormal, RandomUniform and their Like variants, Bernoulli, Multinomial.
 *
 * The generator is that of random_word.h. With a seed attribute, the bits of the attribute are the
 * seed, and every run gives the same result; otherwise the host returns a new seed for each call.
 * Uniform numbers have 53 random bits; a normal number is computed from two uniform numbers by the
 * Box-Muller transform.
 */
#include <math.h>

#include "op/check.h"
#include "op/op.h"
#include "op/share/random_word.h"

/* Returns a uniform number in [0, 1). */
static double uniform(uint64_t seed, uint64_t i)
{
    return prt_random_uniform(prt_random_word(seed, i));
}

static double normal(uint64_t seed, uint64_t i)
{
    const double u = 1 - uniform(seed, 2 * i), v = uniform(seed, 2 * i + 1);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static uint64_t seed_of(prt_eval *c, bool given, float attr)
{
    if (!given)
        return prt_random_mix(c->host->seed(c));
    uint32_t bits;
    memcpy(&bits, &attr, sizeof(bits));
    return prt_random_mix(bits);
}

/* ---- RandomNormal, RandomUniform: shape attribute; Like variants: shape of the input ---- */

static poprt_status infer_shape(prt_infer *c, prt_i64s shape, int64_t dtype)
{
    PRT_TRY(prt_infer_dtype_attr(c, "dtype", PRT_T_FB, dtype));
    if (shape.count > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "shape has %u dims; the limit is 8", shape.count);
    for (uint32_t i = 0; i < shape.count; i++)
        if (shape.data[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "dim %u is %lld; it must be at least 0", i,
                (long long)shape.data[i]);
    return prt_infer_set(c, 0, (int32_t)dtype, (int32_t)shape.count, shape.data);
}

/* Without a dtype attribute the output has the input's type, which must be an allowed output
 * type. */
static poprt_status infer_like(prt_infer *c, uint64_t set, int64_t dtype)
{
    if (dtype == 0)
        dtype = c->in[0].dtype;
    if (dtype != PRT_DTYPE_undefined)
        PRT_TRY(prt_infer_dtype_attr(c, "dtype", set, dtype));
    return prt_infer_like(c, 0, 0, (int32_t)dtype);
}

static poprt_status normal_infer(prt_infer *c)
{
    const prt_random_normal_attrs *a = c->attrs;
    return infer_shape(c, a->shape, a->dtype);
}

static poprt_status uniform_infer(prt_infer *c)
{
    const prt_random_uniform_attrs *a = c->attrs;
    return infer_shape(c, a->shape, a->dtype);
}

static poprt_status normal_like_infer(prt_infer *c)
{
    const prt_random_normal_like_attrs *a = c->attrs;
    return infer_like(c, PRT_T_FB, a->dtype);
}

static poprt_status uniform_like_infer(prt_infer *c)
{
    const prt_random_uniform_like_attrs *a = c->attrs;
    return infer_like(c, PRT_T_FB, a->dtype);
}

static poprt_status fill(prt_eval *c, bool is_normal, uint64_t seed, double base, double scale)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const size_t n = prt_tensor_count(y);
    for (size_t i = 0; i < n; i++)
        prt_store_f64(y->dtype, y->data, i,
            base + scale * (is_normal ? normal(seed, i) : uniform(seed, i)));
    return POPRT_OK;
}

/* Index of `seed` among the attributes. */
enum { SEED_OF_SHAPED = 2, SEED_OF_LIKE = 1 };

static poprt_status normal_eval(prt_eval *c)
{
    const prt_random_normal_attrs *a = c->attrs;
    const uint64_t seed = seed_of(c, prt_attr_given(a, SEED_OF_SHAPED), a->seed);
    return fill(c, true, seed, (double)a->mean, (double)a->scale);
}

static poprt_status uniform_eval(prt_eval *c)
{
    const prt_random_uniform_attrs *a = c->attrs;
    const uint64_t seed = seed_of(c, prt_attr_given(a, SEED_OF_SHAPED), a->seed);
    return fill(c, false, seed, (double)a->low, (double)a->high - (double)a->low);
}

static poprt_status normal_like_eval(prt_eval *c)
{
    const prt_random_normal_like_attrs *a = c->attrs;
    const uint64_t seed = seed_of(c, prt_attr_given(a, SEED_OF_LIKE), a->seed);
    return fill(c, true, seed, (double)a->mean, (double)a->scale);
}

static poprt_status uniform_like_eval(prt_eval *c)
{
    const prt_random_uniform_like_attrs *a = c->attrs;
    const uint64_t seed = seed_of(c, prt_attr_given(a, SEED_OF_LIKE), a->seed);
    return fill(c, false, seed, (double)a->low, (double)a->high - (double)a->low);
}

/* ---- Bernoulli ---- */

static poprt_status bernoulli_infer(prt_infer *c)
{
    const prt_bernoulli_attrs *a = c->attrs;
    return infer_like(c, PRT_T_NUM | PRT_T(bool), a->dtype);
}

static poprt_status bernoulli_eval(prt_eval *c)
{
    const prt_bernoulli_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const uint64_t seed = seed_of(c, prt_attr_given(a, SEED_OF_LIKE), a->seed);
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const size_t n = prt_tensor_count(y);
    for (size_t i = 0; i < n; i++)
        prt_store_f64(y->dtype, y->data, i,
            uniform(seed, i) < prt_load_f64(x->dtype, x->data, i) ? 1 : 0);
    return POPRT_OK;
}

/* ---- Multinomial: draws classes by their unnormalised log-probabilities ---- */

static poprt_status multinomial_infer(prt_infer *c)
{
    const prt_multinomial_attrs *a = c->attrs;
    int64_t dims[2] = { PRT_DIM_UNKNOWN, a->sample_size };
    PRT_TRY(prt_infer_dtype_attr(c, "dtype", PRT_T_INDEX, a->dtype));
    if (a->sample_size < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "sample_size is %lld; it must be at least 1",
            (long long)a->sample_size);
    if (prt_infer_ranked(c, 0)) {
        if (c->in[0].rank != 2)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; rank 2 is required",
                c->in[0].rank);
        dims[0] = c->in[0].dims[0];
    }
    return prt_infer_set(c, 0, (int32_t)a->dtype, 2, dims);
}

/* Computes the running sums of the probabilities of one row, up to a common factor. */
static double sums_of_row(const prt_tensor *x, size_t row, size_t classes, double *sums)
{
    double most = -HUGE_VAL, sum = 0;
    for (size_t k = 0; k < classes; k++)
        most = fmax(most, prt_load_f64(x->dtype, x->data, row * classes + k));
    for (size_t k = 0; k < classes; k++) {
        const double p = exp(prt_load_f64(x->dtype, x->data, row * classes + k) - most);
        sums[k] = sum += p > 0 ? p : 0;
    }
    return sum;
}

static poprt_status multinomial_eval(prt_eval *c)
{
    const prt_multinomial_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const uint64_t seed = seed_of(c, prt_attr_given(a, 1), a->seed);
    const size_t rows = (size_t)x->dims[0], classes = (size_t)x->dims[1];
    if (!prt_eval_wants(c, 0) || rows == 0)
        return POPRT_OK;
    if (classes == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the input has no classes; at least one is required");
    double *sums = prt_eval_scratch(c, classes, sizeof(double));
    if (sums == NULL)
        return POPRT_E_NOMEM;
    prt_tensor *y = c->out[0];
    const size_t draws = (size_t)y->dims[1];
    for (size_t r = 0; r < rows; r++) {
        const double sum = sums_of_row(x, r, classes, sums);
        for (size_t i = 0; i < draws; i++) {
            const double at = uniform(seed, r * draws + i) * sum;
            /* finds the first class whose running sum is above `at` */
            size_t low = 0, high = classes - 1;
            while (low < high) {
                const size_t mid = low + (high - low) / 2;
                if (sums[mid] > at)
                    high = mid;
                else
                    low = mid + 1;
            }
            prt_store_i64(y->dtype, y->data, r * draws + i, (int64_t)low);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_random_normal = { .infer = normal_infer, .eval = normal_eval };
const prt_op_hooks prt_op_random_normal_like = { .infer = normal_like_infer,
    .eval = normal_like_eval };
const prt_op_hooks prt_op_random_uniform = { .infer = uniform_infer, .eval = uniform_eval };
const prt_op_hooks prt_op_random_uniform_like = { .infer = uniform_like_infer,
    .eval = uniform_like_eval };
const prt_op_hooks prt_op_bernoulli = { .infer = bernoulli_infer, .eval = bernoulli_eval };
const prt_op_hooks prt_op_multinomial = { .infer = multinomial_infer, .eval = multinomial_eval };
