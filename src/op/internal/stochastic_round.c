/* SPDX-License-Identifier: MIT */
/* stochastic_round.c — StochasticRound: rounds to float16 up or down at random. */
#include <math.h>

#include "op/op.h"
#include "op/share/random_word.h"

static const double largest = 65504.0;

static poprt_status infer(prt_infer *c)
{
    return prt_infer_like(c, 0, 0, PRT_DTYPE_f16);
}

/* Returns the number of float16 to which the random number `u` in [0, 1) rounds x. */
static double round_to_half(double x, double u)
{
    const double size = fabs(x);
    if (!(size < largest) || size == 0.0)
        return x;
    const int exponent = ilogb(size) < -14 ? -14 : ilogb(size);
    const double steps = ldexp(size, 10 - exponent), below = floor(steps);
    return copysign(ldexp(below + (u < steps - below ? 1.0 : 0.0), exponent - 10), x);
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const uint64_t seed = prt_random_mix(c->host->seed(c));
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++)
        prt_store_f64(PRT_DTYPE_f16, c->out[0]->data, i,
            round_to_half(prt_load_f64(x->dtype, x->data, i),
                prt_random_uniform(prt_random_word(seed, i))));
    return POPRT_OK;
}

const prt_op_hooks prt_op_stochastic_round = { .infer = infer, .eval = eval };
