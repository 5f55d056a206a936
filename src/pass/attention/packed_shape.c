/* SPDX-License-Identifier: MIT */
/* packed_shape.c — output shape of a Reshape whose input dims have changed. */
#include "pass/attention/packed.h"

typedef struct walk {
    const int64_t *x, *now;
    uint32_t n, at;
} walk;

static bool is_known(const prt_type *type)
{
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]) || type->dims[i] < 1)
            return false;
    return type->rank >= 0 && type->rank <= PRT_MAX_RANK;
}

/* Multiplies old and new dims until the old product reaches `size`. */
static bool multiply_until(walk *w, int64_t size, int64_t *old, int64_t *fresh)
{
    *old = *fresh = 1;
    while (w->at < w->n && *old < size) {
        if (w->x[w->at] > INT64_MAX / *old || w->now[w->at] > INT64_MAX / *fresh)
            return false;
        *old *= w->x[w->at];
        *fresh *= w->now[w->at++];
    }
    return *old >= size;
}

bool prt_packed_reshape(const prt_type *x, const prt_type *y, const prt_type *now, int64_t *out)
{
    if (!is_known(x) || !is_known(y) || !is_known(now) || x->rank != now->rank)
        return false;
    walk w = { x->dims, now->dims, (uint32_t)x->rank, 0 };
    for (int32_t j = 0; j < y->rank; j++) {
        int64_t old, fresh;
        if (w.at < w.n && w.x[w.at] == y->dims[j]) {
            out[j] = w.now[w.at++];
            continue;
        }
        if (y->dims[j] == 1) {
            out[j] = 1;
            continue;
        }
        if (!multiply_until(&w, y->dims[j], &old, &fresh))
            return false;
        out[j] = fresh;
        if (old == y->dims[j])
            continue;
        /* one dim is split into several, which must be unchanged */
        int64_t whole = out[j] = y->dims[j];
        while (whole < old && ++j < y->rank && y->dims[j] <= INT64_MAX / whole)
            whole *= out[j] = y->dims[j];
        if (whole != old || fresh != old)
            return false;
    }
    for (; w.at < w.n; w.at++)
        if (w.now[w.at] != 1)
            return false;
    return true;
}
