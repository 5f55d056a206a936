/* SPDX-License-Identifier: MIT */
/* profile.c — records and reports the times of steps; see profile.h. */
#include "tools/common/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum { MOST_STEPS = 1 << 22 };

static void record_step(void *user, const poprt_step *step)
{
    prt_profile *p = user;
    if (p->steps.count == MOST_STEPS || !PRT_VEC_PUSH(p->arena, &p->steps, *step))
        p->missed++;
}

poprt_status prt_profile_start(prt_profile *profile, prt_arena *arena, poprt_session *session)
{
    *profile = (prt_profile){ .arena = arena };
    return poprt_session_watch(session, record_step, profile);
}

poprt_status prt_profile_stop(poprt_session *session)
{
    return poprt_session_watch(session, NULL, NULL);
}

/* Order by block, step, time. */
static int compare(const void *a, const void *b)
{
    const poprt_step *x = a, *y = b;
    const uint64_t p = (uint64_t)x->block << 32 | x->index, q = (uint64_t)y->block << 32 | y->index;
    if (p != q)
        return p < q ? -1 : 1;
    const uint64_t s = x->stop_ns - x->start_ns, t = y->stop_ns - y->start_ns;
    return (s > t) - (s < t);
}

/* Returns the number of entries from `i` on that belong to the same step. */
static size_t count_alike(const poprt_step *steps, size_t n, size_t i)
{
    size_t k = i + 1;
    while (k < n && steps[k].block == steps[i].block && steps[k].index == steps[i].index)
        k++;
    return k - i;
}

/* Returns the median of `n` sorted times, times the number of executions in a run. */
static double us_of(const poprt_step *s, size_t n, size_t runs)
{
    const poprt_step *middle = &s[n / 2];
    return (double)(middle->stop_ns - middle->start_ns) * 1e-3 * (double)n / (double)runs;
}

poprt_status prt_profile_print(const prt_profile *profile)
{
    const size_t n = profile->steps.count, runs = profile->runs != 0 ? profile->runs : 1;
    poprt_step *s = PRT_NEW_N(profile->arena, poprt_step, n);
    double total = 0;
    if (s == NULL)
        return POPRT_E_NOMEM;
    if (n != 0) {
        memcpy(s, profile->steps.data, n * sizeof(*s));
        qsort(s, n, sizeof(*s), compare);
    }
    for (size_t i = 0, k; i < n && s[i].block == 0; i += k) {
        k = count_alike(s, n, i);
        total += us_of(&s[i], k, runs);
    }
    (void)printf("%12s %7s %10s  operator, node\n", "us per run", "share", "step");
    for (size_t i = 0, k; i < n; i += k) {
        k = count_alike(s, n, i);
        const double us = us_of(&s[i], k, runs);
        (void)printf("%12.3f %6.2f%% %4u.%-5u  %s%s%s, %s\n", us, total > 0 ? us * 100 / total : 0,
            s[i].block, s[i].index, s[i].op, s[i].form[0] != '\0' ? " as " : "", s[i].form,
            s[i].node);
    }
    (void)printf("%12.3f %6.2f%%            all of block 0, %zu runs\n", total, 100.0, runs);
    if (profile->missed != 0)
        (void)printf("%zu more steps were not recorded\n", profile->missed);
    return POPRT_OK;
}
