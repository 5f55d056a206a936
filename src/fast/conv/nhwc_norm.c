/* SPDX-License-Identifier: MIT */
/*
 * nhwc_norm.c — NhwcGroupNorm: means and squared deviations by channel for blocks of pixels that
 * fit into L1 or L2, combined to the statistics of the groups (Chan, Golub, LeVeque: Updating
 * formulae and a pairwise algorithm for computing sample variances, 1979). A second pass
 * normalises.
 */
#include <math.h>

#include "fast/fast.h"
#include "fast/parallel.h"
#include "op/internal/fused.h"

enum {
    BLOCK = 1 << 14, /* floats of a block of pixels */
    PART = 1 << 12   /* floats that are normalised before the activation is applied */
};

typedef struct group_norm_work {
    const prt_kern_rows *kern;
    size_t images, pixels, channels, groups;
    size_t blocks, most; /* blocks of an image; pixels of a block */
    float epsilon;
    prt_act act;
    const float *x, *gamma, *beta;
    float *ones;            /* a vector of ones, as long as a block */
    float *means, *squares; /* [images, blocks, channels] */
    float *middle, *scale;  /* [images, channels]: the mean of the group, and the factor */
    float *y;
} group_norm_work;

/* Returns the first pixel of a block. For the index behind the last block: the number of pixels. */
static size_t block_at(const group_norm_work *j, size_t block)
{
    return block < j->blocks ? block * j->most : j->pixels;
}

static void measure(const void *user, size_t item, float *scratch)
{
    const group_norm_work *j = user;
    const size_t image = item / j->blocks, from = block_at(j, item % j->blocks);
    const size_t n = block_at(j, item % j->blocks + 1) - from, m = j->channels;
    const float *x = j->x + (image * j->pixels + from) * m;
    float *mean = j->means + item * m;
    (void)scratch;
    j->kern->sums(n, m, j->ones, x, m, NULL, mean);
    j->kern->scale(m, mean, 1.0f / (float)n, 0.0f, mean);
    j->kern->deviations(n, m, x, m, mean, j->squares + item * m);
}

/* Combines the blocks of one group of an image; all its channels get one mean, and a factor
 * each. */
static void combine_blocks(const group_norm_work *j, size_t image, size_t group)
{
    const size_t each = j->channels / j->groups, first = group * each;
    double sum = 0.0, squares = 0.0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t b = 0; b < j->blocks; b++) {
            const size_t at = (image * j->blocks + b) * j->channels + first;
            const double n = (double)(block_at(j, b + 1) - block_at(j, b));
            for (size_t k = 0; k < each; k++) {
                const double mean = (double)j->means[at + k];
                if (pass == 0)
                    sum += n * mean;
                else
                    squares += (double)j->squares[at + k] + n * (mean - sum) * (mean - sum);
            }
            if (pass == 0 && b + 1 == j->blocks)
                sum /= (double)(j->pixels * each);
        }
    const double variance = squares / (double)(j->pixels * each);
    const double inverse = 1.0 / sqrt(variance + (double)j->epsilon);
    for (size_t k = first; k < first + each; k++) {
        j->middle[image * j->channels + k] = (float)sum;
        j->scale[image * j->channels + k] = (float)(inverse * (double)j->gamma[k]);
    }
}

static void apply(const void *user, size_t item, float *scratch)
{
    const group_norm_work *j = user;
    const size_t image = item / j->blocks, m = j->channels, end = block_at(j, item % j->blocks + 1);
    const size_t most = m < PART ? PART / m : 1;
    (void)scratch;
    for (size_t p = block_at(j, item % j->blocks), n; p < end; p += n) {
        const size_t at = (image * j->pixels + p) * m;
        n = end - p < most ? end - p : most;
        j->kern->standardise(n, m, j->x + at, j->middle + image * m, j->scale + image * m, j->beta,
            j->y + at);
        if (j->act.kind != PRT_ACT_none)
            j->kern->act(&j->act, n * m, j->y + at, j->y + at);
    }
}

poprt_status prt_fast_nhwc_group_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_nhwc_group_norm_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    if (!prt_fast_has_output(c) || prt_tensor_count(x) == 0)
        return prt_fast_use_reference(done);
    group_norm_work j = { .kern = &k->rows,
        .images = (size_t)x->dims[0],
        .pixels = prt_dims_product(x->dims, 1, x->rank - 1),
        .channels = (size_t)x->dims[x->rank - 1],
        .groups = (size_t)a->num_groups,
        .epsilon = a->epsilon,
        .x = x->data,
        .gamma = c->in[1]->data,
        .beta = c->in[2]->data,
        .y = c->out[0]->data,
        .act = { a->activation, a->alpha, a->beta } };
    j.most = j.channels < BLOCK ? BLOCK / j.channels : 1;
    j.blocks = (j.pixels + j.most - 1) / j.most;
    j.ones = prt_parallel_uninitialized_floats(c, j.most, 1);
    j.means = prt_parallel_uninitialized_floats(c, 2 * j.images * j.blocks, j.channels);
    j.middle = prt_parallel_uninitialized_floats(c, 2 * j.images, j.channels);
    if (j.ones == NULL || j.means == NULL || j.middle == NULL)
        return POPRT_E_NOMEM;
    j.squares = j.means + j.images * j.blocks * j.channels;
    j.scale = j.middle + j.images * j.channels;
    for (size_t i = 0; i < j.most; i++)
        j.ones[i] = 1.0f;
    PRT_TRY(prt_parallel_for(c, j.images * j.blocks, 0, measure, &j));
    for (size_t i = 0; i < j.images * j.groups; i++)
        combine_blocks(&j, i / j.groups, i % j.groups);
    return prt_parallel_for(c, j.images * j.blocks, 0, apply, &j);
}
