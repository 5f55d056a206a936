/* SPDX-License-Identifier: MIT */
/* update.inl — kernels of optimizers for one level, in the order of operations of
   op/training/training.def. */
#ifndef PRT_KERN_TRAIN_UPDATE_INL
#define PRT_KERN_TRAIN_UPDATE_INL

#include "kern/train/update.h"
#include "kern/vector/simd.h"

/* Elements [i, i + VL) of a row; the last ones of the row if it is not `whole`. */
static inline vf load_elements(const float *p, size_t i, size_t n, const bool whole)
{
    return whole ? v_load(p + i) : v_load_n(p + i, n - i);
}

static inline void store_elements(float *p, size_t i, size_t n, const bool whole, vf v)
{
    if (whole)
        v_store(p + i, v);
    else
        v_store_n(p + i, v, n - i);
}

/* Calls BODY(i, whole) for each vector of n elements. */
#define EACH_VECTOR(n, BODY)                                                                       \
    do {                                                                                           \
        size_t i_ = 0;                                                                             \
        for (; i_ + VL <= (n); i_ += VL)                                                           \
            BODY(i_, true);                                                                        \
        if (i_ < (n))                                                                              \
            BODY(i_, false);                                                                       \
    } while (0)

/* The larger one; NaN if either is NaN. */
static inline vf larger_or_nan(vf a, vf b)
{
    return v_select(v_equal(a, a), v_max(a, b), a);
}

typedef struct sgd_vectors {
    vf rate, decay, dampening, momentum, replicas, nesterov_momentum, weight_decay, scale, factor;
    vf clip;
} sgd_vectors;

static inline void sgd_elements(const prt_sgd_scalars *s, const sgd_vectors *v,
    const prt_update_rows *r, size_t i, const bool whole)
{
    const vf g = load_elements(r->g, i, r->n, whole), w = load_elements(r->w, i, r->n, whole);
    vf x = g, velocity = g, kept = w;
    if (s->kind == PRT_SGD_MOMENTUM_none) {
        kept = v_mul(w, v->decay);
    } else {
        velocity = load_elements(r->state[0], i, r->n, whole);
        velocity = s->kind == PRT_SGD_MOMENTUM_combined
            ? v_mul(velocity, v->replicas)
            : v_fma(v->momentum, velocity, v_mul(v->decay, w));
        x = velocity = v_fma(v->dampening, g, velocity);
    }
    if (s->nesterov)
        x = v_fma(v->scale, v_fma(v->factor, g, v_mul(v->weight_decay, w)),
            v_mul(v->nesterov_momentum, velocity));
    if (r->x != NULL) {
        store_elements(r->x, i, r->n, whole, x);
        return;
    }
    const vf to = v_sub(kept, v_mul(v->rate, v_mul(x, v->clip)));
    store_elements(r->w_to, i, r->n, whole, to);
    if (s->kind == PRT_SGD_MOMENTUM_none)
        return;
    if (s->kind == PRT_SGD_MOMENTUM_combined)
        velocity = v_fma(v->momentum, velocity, v_mul(v->decay, to));
    store_elements(r->state_to[0], i, r->n, whole, velocity);
}

static void run_sgd(const prt_sgd_scalars *s, const prt_update_rows *r)
{
    const sgd_vectors v = { .rate = v_set((float)s->learning_rate),
        .decay = v_set((float)s->decay),
        .dampening = v_set((float)s->dampening),
        .momentum = v_set((float)s->momentum),
        .replicas = v_set((float)s->replicas),
        .nesterov_momentum = v_set((float)s->nesterov_momentum),
        .weight_decay = v_set((float)s->weight_decay),
        .scale = v_set((float)s->gradient_scale),
        .factor = v_set((float)s->gradient_factor),
        .clip = v_set((float)s->clip) };
#define SGD(i, whole) sgd_elements(s, &v, r, i, whole)
    EACH_VECTOR(r->n, SGD);
#undef SGD
}

typedef struct adam_vectors {
    vf scaling, clip, decay, keep1, add1, keep2, add2, bias1, bias2, eps, rate;
} adam_vectors;

static inline void adam_elements(const prt_adam_scalars *s, const adam_vectors *a,
    const prt_update_rows *r, size_t i, const bool whole)
{
    const vf w = load_elements(r->w, i, r->n, whole);
    vf g = v_mul(load_elements(r->g, i, r->n, whole), a->scaling);
    if (s->l2)
        g = v_fma(a->decay, w, g);
    g = v_mul(g, a->clip);
    const vf m =
        v_fma(a->keep1, load_elements(r->state[0], i, r->n, whole), v_mul(a->add1, g));
    const vf kept = v_mul(a->keep2, load_elements(r->state[1], i, r->n, whole));
    const vf v = s->adamax ? larger_or_nan(kept, v_abs(g))
                           : v_fma(a->add2, v_mul(g, g), kept);
    const vf root = s->adamax ? v : v_sqrt(v_mul(a->bias2, v));
    vf u = v_div(v_mul(a->bias1, m), v_add(root, a->eps));
    if (!s->l2)
        u = v_fma(a->decay, w, u);
    if (r->x != NULL) {
        store_elements(r->x, i, r->n, whole, u);
        return;
    }
    store_elements(r->w_to, i, r->n, whole, v_sub(w, v_mul(a->rate, u)));
    store_elements(r->state_to[0], i, r->n, whole, m);
    store_elements(r->state_to[1], i, r->n, whole, v);
}

static void run_adam(const prt_adam_scalars *s, const prt_update_rows *r)
{
    const adam_vectors a = { .scaling = v_set((float)s->gradient_scaling),
        .clip = v_set((float)s->clip),
        .decay = v_set((float)s->weight_decay),
        .keep1 = v_set((float)s->keep1),
        .add1 = v_set((float)s->add1),
        .keep2 = v_set((float)s->keep2),
        .add2 = v_set((float)s->add2),
        .bias1 = v_set((float)s->bias1),
        .bias2 = v_set((float)s->bias2),
        .eps = v_set((float)s->eps),
        .rate = v_set((float)s->rate) };
#define ADAM(i, whole) adam_elements(s, &a, r, i, whole)
    EACH_VECTOR(r->n, ADAM);
#undef ADAM
}

typedef struct adaptive_vectors {
    vf scaling, decay, alpha, rest, momentum, eps, rate, keep;
} adaptive_vectors;

/* Returns u, and stores the states a1 and a2. */
static inline vf adaptive_direction(const prt_adaptive_scalars *s, const adaptive_vectors *a,
    const prt_update_rows *r, size_t i, const bool whole, vf g)
{
    const vf squares = v_mul(a->rest, v_mul(g, g));
    const vf a1 = v_fma(a->alpha, load_elements(r->state[0], i, r->n, whole), squares);
    store_elements(r->state_to[0], i, r->n, whole, a1);
    if (s->mode == PRT_ADAPTIVE_adadelta) {
        const vf old = load_elements(r->state[1], i, r->n, whole);
        const vf u =
            v_div(v_mul(g, v_sqrt(v_add(old, a->eps))), v_sqrt(v_add(a1, a->eps)));
        store_elements(r->state_to[1], i, r->n, whole,
            v_fma(a->alpha, old, v_mul(a->rest, v_mul(u, u))));
        return u;
    }
    vf radicand = a1;
    if (s->mode == PRT_ADAPTIVE_centered_rmsprop) {
        const vf a2 = v_fma(a->alpha, load_elements(r->state[1], i, r->n, whole),
            v_mul(a->rest, g));
        store_elements(r->state_to[1], i, r->n, whole, a2);
        radicand = larger_or_nan(v_sub(a1, v_mul(a2, a2)), v_set(0.0f));
    }
    if (s->tf_variant)
        return v_div(g, v_sqrt(v_add(radicand, a->eps)));
    return v_div(g, v_add(v_sqrt(radicand), a->eps));
}

static inline void adaptive_elements(const prt_adaptive_scalars *s, const adaptive_vectors *a,
    const prt_update_rows *r, size_t i, const bool whole)
{
    const vf w = load_elements(r->w, i, r->n, whole);
    vf g = v_mul(load_elements(r->g, i, r->n, whole), a->scaling);
    if (s->l2)
        g = v_fma(a->decay, w, g);
    vf u = adaptive_direction(s, a, r, i, whole, g);
    const bool rate_is_inside = s->has_momentum && s->tf_variant;
    if (rate_is_inside)
        u = v_mul(a->rate, u);
    if (s->has_momentum) {
        u = v_fma(a->momentum, load_elements(r->state[2], i, r->n, whole), u);
        store_elements(r->state_to[2], i, r->n, whole, u);
    }
    if (!rate_is_inside)
        u = v_mul(a->rate, u);
    store_elements(r->w_to, i, r->n, whole, v_sub(v_mul(a->keep, w), u));
}

static void run_adaptive(const prt_adaptive_scalars *s, const prt_update_rows *r)
{
    const adaptive_vectors a = { .scaling = v_set((float)s->gradient_scaling),
        .decay = v_set((float)s->weight_decay),
        .alpha = v_set((float)s->alpha),
        .rest = v_set((float)s->rest),
        .momentum = v_set((float)s->momentum),
        .eps = v_set((float)s->eps),
        .rate = v_set((float)s->learning_rate),
        .keep = v_set((float)s->keep) };
#define ADAPTIVE(i, whole) adaptive_elements(s, &a, r, i, whole)
    EACH_VECTOR(r->n, ADAPTIVE);
#undef ADAPTIVE
}

static void run_combine(size_t n, float a, const float *x, float b, const float *y, float *to)
{
    const vf va = v_set(a), vb = v_set(b);
#define COMBINE(i, whole)                                                                          \
    store_elements(to, i, n, whole,                                                                \
        v_fma(va, load_elements(x, i, n, whole),                                                   \
            y != NULL ? v_mul(vb, load_elements(y, i, n, whole)) : v_set(0.0f)))
    EACH_VECTOR(n, COMBINE);
#undef COMBINE
}

/* The squares of floats are exact in float64. The lanes are the same at every level, so all levels
 * give the same bits. */
static double run_sum_of_squares(size_t n, const float *x)
{
    enum { LANES = 16 };
    double sums[LANES] = { 0.0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        PRT_UNROLL(LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += (double)x[i + k] * (double)x[i + k];
    for (size_t k = 0; i + k < n; k++)
        sums[k] += (double)x[i + k] * (double)x[i + k];
    for (size_t half = LANES / 2; half != 0; half /= 2)
        for (size_t k = 0; k < half; k++)
            sums[k] += sums[k + half];
    return sums[0];
}

#endif
