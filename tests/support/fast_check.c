/* SPDX-License-Identifier: MIT */
/* fast_check.c — runs a graph with fast forms and without. */
#include "support/fast_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "runtime/session.h"
#include "support/program_text.h"

enum { MOST_IN = 6 };

typedef struct inputs {
    prt_tensor t[MOST_IN];
} inputs;

static void fill(const prt_program *p, inputs *in, double low, double high)
{
    uint32_t state = 99;
    ck_assert_uint_le(p->n_inputs, MOST_IN);
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const prt_type *type = p->inputs[i].type;
        uint64_t count;
        ck_assert(prt_type_count(type, &count));
        float *data = malloc((count + 1) * sizeof(float));
        for (uint64_t k = 0; k < count; k++) {
            state = state * 1664525u + 1013904223u;
            data[k] = (float)(low + (high - low) * (double)(state >> 8) / 16777216.0);
        }
        ck_assert(prt_tensor_init(&in->t[i], type->dtype, (uint32_t)type->rank, type->dims, data));
    }
}

static float *run(prt_program *p, const inputs *in, const prt_kern *kern, const prt_par *par,
    size_t *count)
{
    const prt_session_options options = { .kern = kern, .par = par };
    prt_session *s = NULL;
    prt_tensor out = { 0 };
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    const poprt_status status = prt_session_run(s, in->t, &out);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    *count = prt_tensor_count(&out);
    float *copy = malloc(out.size + 1);
    if (out.size != 0)
        memcpy(copy, out.data, out.size);
    prt_session_release(s);
    return copy;
}

static void check_level(prt_program *p, const inputs *in, const prt_kern *kern, const prt_par *par,
    double bound, const char *text)
{
    size_t n, m;
    float *want = run(p, in, NULL, NULL, &n), *found = run(p, in, kern, NULL, &m);
    float *again = run(p, in, kern, par, &m);
    double most = 0.0;
    ck_assert_uint_eq(n, m);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, isfinite(want[i]) ? fabs((double)want[i]) : 0.0);
    for (size_t i = 0; i < n; i++) {
        const bool same = want[i] == found[i] || (isnan(want[i]) && isnan(found[i])) ||
            fabs((double)want[i] - (double)found[i]) <= bound * most;
        if (!same)
            ck_abort_msg("%s: element %zu is %.9g, not %.9g (largest %g)\n%.1000s", kern->level, i,
                (double)found[i], (double)want[i], most, text);
    }
    if (n != 0 && memcmp(found, again, n * sizeof(float)) != 0)
        ck_abort_msg("%s: other bits with three threads\n%.1000s", kern->level, text);
    free(want);
    free(found);
    free(again);
}

/* A graph without the contents of its constants, which may be long. */
static const char *short_text(const char *text)
{
    static char to[3000];
    size_t n = 0;
    for (bool skip = false; *text != '\0' && n + 1 < sizeof(to); text++) {
        const bool is_constant = n > 1 && to[n - 1] == ' ' && to[n - 2] == ']';
        skip = (skip && *text != '\n') || (*text == '{' && is_constant);
        if (!skip)
            to[n++] = *text;
    }
    to[n] = '\0';
    return to;
}

void fast_check(const char *text, double low, double high, double bound)
{
    static const char *const levels[] = { "portable", "avx2", "avx512", "avx512_vnni",
        "avx512_bf16" };
    prt_program *p = program_from_text(text);
    prt_pool *pool = NULL;
    inputs in;
    ck_assert_int_eq(prt_pool_create(&prt_mem_libc, 3, 1000, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    fill(p, &in, low, high);
    text = short_text(text);
    for (size_t i = 0; i < PRT_COUNT_OF(levels); i++) {
        const uint64_t want = prt_cpu_level(levels[i]);
        if ((want & prt_cpu_features()) == want)
            check_level(p, &in, prt_kern_of(want), &par, bound, text);
    }
    for (uint32_t i = 0; i < p->n_inputs; i++)
        free(in.t[i].data);
    prt_pool_release(pool);
    prt_program_release(p);
}
