/* SPDX-License-Identifier: MIT */
/*
 * replicas.c — the sum of the accumulators and gradients of all replicas, in replica 0.
 *
 * The order of the sum is a tree that depends on the number of replicas only, so that results do
 * not depend on who computes it: T(lo, hi) = T(lo, m) + T(m, hi), where m - lo is the largest power
 * of two below hi - lo. Elements are added in their own type.
 */
#include "runtime/flow_run.h"

enum { ITEM = 4096 }; /* elements of an item of parallel work */

typedef struct sum {
    int32_t dtype;
    size_t n;
    void *to;
    const void *from; /* NULL: multiply by `factor` instead */
    double factor;
} sum;

static void add_f32(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void run_item(void *arg, uint32_t item)
{
    const sum *s = arg;
    const size_t first = (size_t)item * ITEM;
    const size_t end = s->n - first < ITEM ? s->n : first + ITEM;
    if (s->from != NULL && s->dtype == PRT_DTYPE_f32) {
        add_f32((float *)s->to + first, (const float *)s->from + first, end - first);
        return;
    }
    for (size_t i = first; i < end; i++)
        if (s->from == NULL)
            prt_store_f64(s->dtype, s->to, i, prt_load_f64(s->dtype, s->to, i) * s->factor);
        else if (prt_dtype_is_float(s->dtype))
            prt_store_f64(s->dtype, s->to, i,
                prt_load_f64(s->dtype, s->to, i) + prt_load_f64(s->dtype, s->from, i));
        else
            prt_store_i64(s->dtype, s->to, i,
                prt_load_i64(s->dtype, s->to, i) + prt_load_i64(s->dtype, s->from, i));
}

static void run(const prt_par *par, sum *s)
{
    for (size_t done = 0; done < s->n;) { /* items are counted by 32 bits */
        const size_t most = (size_t)ITEM << 20, n = s->n - done < most ? s->n - done : most;
        const size_t bytes = done * (prt_dtype_bits(s->dtype) / 8);
        sum part = { s->dtype, n, (char *)s->to + bytes,
            s->from != NULL ? (const char *)s->from + bytes : NULL, s->factor };
        prt_par_for(par, (uint32_t)((n + ITEM - 1) / ITEM), run_item, &part);
        done += n;
    }
}

void prt_add_elements(const prt_par *par, int32_t dtype, size_t n, void *to, const void *from)
{
    sum s = { dtype, n, to, from, 0.0 };
    run(par, &s);
}

static void add_tree(const prt_session *s, uint32_t variable, uint32_t lo, uint32_t hi, size_t n)
{
    uint32_t half = 1;
    if (hi - lo < 2)
        return;
    while (2 * half < hi - lo)
        half *= 2;
    add_tree(s, variable, lo, lo + half, n);
    add_tree(s, variable, lo + half, hi, n);
    prt_add_elements(s->par, s->program->variables[variable].type->dtype, n,
        prt_store_working(s->store, variable, lo),
        prt_store_working(s->store, variable, lo + half));
}

void prt_session_sum_replicas(prt_session *s)
{
    const prt_program *p = s->program;
    const uint32_t replicas = prt_store_replicas(s->store);
    for (uint32_t i = 0; replicas > 1 && i < p->n_variables; i++) {
        const prt_variable *v = &p->variables[i];
        if (v->role != PRT_VARIABLE_accumulator && v->role != PRT_VARIABLE_gradient)
            continue;
        const size_t n = prt_store_size(s->store, i) / (prt_dtype_bits(v->type->dtype) / 8);
        add_tree(s, i, 0, replicas, n);
        if (p->flow.reduction == PRT_REDUCTION_mean_running && prt_dtype_is_float(v->type->dtype)) {
            sum mean = { v->type->dtype, n, prt_store_working(s->store, i, 0), NULL,
                1.0 / replicas };
            run(s->par, &mean);
        }
    }
}
