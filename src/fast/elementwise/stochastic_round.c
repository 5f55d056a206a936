/* SPDX-License-Identifier: MIT */
/* stochastic_round.c — StochasticRound of float32, with the bits of the reference kernel. */
#include "fast/fast.h"
#include "fast/parallel.h"
#include "num/half.h"
#include "op/share/random_word.h"

enum { ITEM = 1 << 14 /* elements */ };

typedef struct rounding_work {
    const float *x;
    uint16_t *y;
    size_t n;
    uint64_t seed;
} rounding_work;

/* 13 bits of a float are not part of a normal half: it is rounded up if these bits, as a number,
 * are above 13 random bits. The last bit of a subnormal half has the value 2^-24. */
static uint16_t round_to_half(float x, uint64_t word)
{
    enum { LARGEST = 0x477fe000 /* 65504 */, SMALLEST_NORMAL = 0x38800000 /* 2^-14 */ };
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest >= LARGEST)
        return prt_f32_to_half(x);
    if (rest >= SMALLEST_NORMAL) {
        const uint32_t up = (rest & 0x1fffu) > (uint32_t)(word >> 51);
        return (uint16_t)(sign | ((rest >> 13) - (112u << 10) + up));
    }
    float size;
    memcpy(&size, &rest, sizeof(size));
    const double steps = (double)size * 0x1p24;
    const uint32_t below = (uint32_t)steps;
    return (uint16_t)(sign | (below + (prt_random_uniform(word) < steps - (double)below)));
}

static void run_rounding(const void *user, size_t item, float *scratch)
{
    const rounding_work *j = user;
    const size_t end = (item + 1) * ITEM < j->n ? (item + 1) * ITEM : j->n;
    (void)scratch;
    for (size_t i = item * ITEM; i < end; i++)
        j->y[i] = round_to_half(j->x[i], prt_random_word(j->seed, i));
}

poprt_status prt_fast_stochastic_round(prt_eval *c, const prt_kern *k, bool *done)
{
    (void)k;
    if (!prt_fast_has(c, 0) || !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    const rounding_work j = { .x = c->in[0]->data,
        .y = c->out[0]->data,
        .n = prt_tensor_count(c->in[0]),
        .seed = prt_random_mix(c->host->seed(c)) };
    return prt_parallel_for(c, (j.n + ITEM - 1) / ITEM, 0, run_rounding, &j);
}
