/* SPDX-License-Identifier: MIT */
/*
 * periodic_initializer.c — fold_periodic_initializer: stores one period of a constant whose
 * elements repeat along axes. An Expand (if the period is one element on each repeated axis) or a
 * Tile restores it at the start of its graph, so that the full bytes are not in memory all the
 * time. Bitwise equal.
 *
 * Difference from the reference: applies if it saves at least min_saved_bytes. Outputs, strings and
 * elements of fewer than 8 bits are excluded.
 */
#include "pass/engine/match.h"

/* A constant as [outer, dim, inner] for one axis; inner in bytes. */
typedef struct rows {
    const unsigned char *data;
    size_t outer, dim, inner;
} rows;

static bool has_period(const rows *r, size_t p)
{
    const size_t shift = p * r->inner, rest = (r->dim - p) * r->inner;
    for (size_t o = 0; o < r->outer; o++) {
        const unsigned char *at = r->data + o * r->dim * r->inner;
        if (memcmp(at, at + shift, rest) != 0)
            return false;
    }
    return true;
}

/* Returns the smallest period that divides the dim. If two divisors are periods, so is their
 * greatest common divisor; dividing by one prime after the other therefore finds it. */
static size_t period_of(const rows *r)
{
    size_t p = r->dim, rest = r->dim;
    for (size_t q = 2; rest > 1; q++) {
        if (q > rest / q)
            q = rest;
        if (rest % q != 0)
            continue;
        while (rest % q == 0)
            rest /= q;
        while (p % q == 0 && has_period(r, p / q))
            p /= q;
    }
    return p;
}

/* Copies the first p[axis] elements of each axis. */
static void copy_period(const prt_tensor *t, const int64_t *p, size_t unit, unsigned char *to)
{
    int64_t index[PRT_MAX_RANK] = { 0 };
    const uint32_t last = t->rank - 1;
    const size_t run = (size_t)p[last] * unit;
    for (;;) {
        size_t at = 0;
        for (uint32_t i = 0; i < t->rank; i++)
            at = at * (size_t)t->dims[i] + (size_t)index[i];
        memcpy(to, (const unsigned char *)t->data + at * unit, run);
        to += run;
        uint32_t axis = last;
        while (axis > 0 && ++index[axis - 1] == p[axis - 1])
            index[--axis] = 0;
        if (axis == 0)
            return;
    }
}

typedef struct fold {
    prt_tensor t;
    size_t unit; /* bytes of an element */
    int64_t period[PRT_MAX_RANK];
    size_t size; /* bytes of one period */
    bool single; /* on each axis, one element repeats or nothing does */
} fold;

static bool find_fold(prt_value *v, size_t least, fold *f)
{
    if (!prt_value_is_fixed(v) || !prt_value_used(v) || prt_value_is_output(v) ||
        !prt_value_tensor(v, &f->t) || f->t.dtype == PRT_DTYPE_string || f->t.rank == 0 ||
        prt_dtype_bits(f->t.dtype) < 8 || f->t.size < least || f->t.size == 0)
        return false;
    f->unit = prt_dtype_bits(f->t.dtype) / 8;
    f->size = f->unit;
    f->single = true;
    for (uint32_t i = 0; i < f->t.rank; i++) {
        const rows r = { f->t.data, prt_dims_product(f->t.dims, 0, i), (size_t)f->t.dims[i],
            prt_dims_product(f->t.dims, i + 1, f->t.rank) * f->unit };
        f->period[i] = (int64_t)period_of(&r);
        f->size *= (size_t)f->period[i];
        f->single = f->single && (f->period[i] == 1 || f->period[i] == f->t.dims[i]);
    }
    return f->size < f->t.size && f->t.size - f->size >= least;
}

static poprt_status replace_constant(prt_pass *p, prt_graph *graph, prt_value *v, const fold *f)
{
    prt_build b = graph->first != NULL ? prt_build_before(graph->first) : prt_build_at_end(graph);
    int64_t how[PRT_MAX_RANK];
    prt_blob *blob = NULL;
    const prt_type *type =
        prt_type_tensor(p->module->types, f->t.dtype, (int32_t)f->t.rank, f->period);
    if (type == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_blob_create(p->module->allocator, f->size, &blob));
    copy_period(&f->t, f->period, f->unit, prt_blob_bytes(blob));
    for (uint32_t i = 0; i < f->t.rank; i++)
        how[i] = f->single ? f->t.dims[i] : f->t.dims[i] / f->period[i];
    b.origin = PRT_STR("");
    b.like = NULL;
    prt_value *in[2] = { prt_pass_derive(graph, v, type, blob), NULL };
    if (in[0] == NULL)
        return POPRT_E_NOMEM;
    in[1] = prt_build_i64s(&b, f->t.rank, how);
    prt_value *y = prt_build_op(&b, f->single ? PRT_OP_expand : PRT_OP_tile, NULL, 2, in);
    prt_pass_note(p, v->name.data != NULL ? v->name.data : "",
        "%zu of %zu bytes are repetitions and are not stored", f->t.size - f->size, f->t.size);
    if (y != NULL && prt_pass_replace(&b, v, y))
        v->name = PRT_STR("");
    return prt_build_status(&b);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    const int64_t least = prt_pass_i64(p, "min_saved_bytes");
    const size_t count = graph->constants.count; /* without constants made here */
    if (least < 1)
        return prt_fail(POPRT_E_ARG, "min_saved_bytes",
            "min_saved_bytes is %lld; at least 1 is needed", (long long)least);
    for (size_t i = 0; i < count; i++) {
        prt_value *v = graph->constants.data[i];
        fold f;
        PRT_TRY(prt_pass_check(p));
        if (!find_fold(v, (size_t)least, &f))
            continue;
        PRT_TRY(replace_constant(p, graph, v, &f));
        *changed = true;
    }
    if (*changed)
        (void)prt_graph_drop_constants(graph, true);
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_fold_periodic_initializer = { .run = run };
