/* SPDX-License-Identifier: MIT */
/* fast_check.c — runs a graph with fast operators and with reference kernels. */
#include "support/fast_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "runtime/session.h"
#include "support/program_text.h"

enum { MOST_IN = 8 };

typedef struct inputs {
    prt_tensor t[MOST_IN];
} inputs;

static void fill_inputs(const prt_program *p, inputs *in, double low, double high)
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
    bool strassen, bool bf16x3, size_t *count)
{
    const prt_session_options options = { .kern = kern,
        .par = par,
        .strassen = strassen,
        .bf16x3 = bf16x3 };
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

typedef struct check {
    prt_program *program;
    inputs in;
    const prt_par *par;
    double bound, most; /* most: the largest finite element */
    const char *text;
    const float *want;
    size_t n;
} check;

enum { IN_ORDER, STRASSEN, BF16X3 };

static float *run_level(const check *c, const prt_kern *kern, const prt_par *par, int how)
{
    size_t n;
    float *found = run(c->program, &c->in, kern, par, how == STRASSEN, how == BF16X3, &n);
    ck_assert_uint_eq(n, c->n);
    return found;
}

static bool differs(const check *c, const float *a, const float *b)
{
    return c->n != 0 && memcmp(a, b, c->n * sizeof(float)) != 0;
}

/* Checks that output 0 matches the reference and has the same bits with three threads. */
static void check_output(const check *c, const prt_kern *kern, int how, const float *found)
{
    const double bound = c->bound + (how == BF16X3 ? 1e-5 : 0.0);
    for (size_t i = 0; i < c->n; i++) {
        const float x = found[i], y = c->want[i];
        const bool same =
            x == y || (isnan(x) && isnan(y)) || fabs((double)x - (double)y) <= bound * c->most;
        if (!same)
            ck_abort_msg("%s: element %zu is %.9g, not %.9g (largest %g)\n%.1000s", kern->level, i,
                (double)x, (double)y, c->most, c->text);
    }
    float *again = run_level(c, kern, c->par, how);
    if (differs(c, found, again))
        ck_abort_msg("%s: other bits with three threads\n%.1000s", kern->level, c->text);
    free(again);
}

static bool splits; /* the result of fast_check_bf16x3 */

/* Returns whether an algorithm gives other bits than products in order. Such bits are checked. */
static bool check_algorithm(const check *c, const prt_kern *kern, int how, const float *in_order)
{
    float *found = run_level(c, kern, NULL, how);
    const bool other = differs(c, found, in_order);
    if (other)
        check_output(c, kern, how, found);
    free(found);
    return other;
}

static bool check_level(const check *c, const prt_kern *kern)
{
    float *in_order = run_level(c, kern, NULL, IN_ORDER);
    check_output(c, kern, IN_ORDER, in_order);
    const bool other = check_algorithm(c, kern, STRASSEN, in_order);
    if (kern->bf16x3.multiply != NULL)
        splits = check_algorithm(c, kern, BF16X3, in_order);
    free(in_order);
    return other;
}

/* Returns the graph without the contents of its constants, which may be long. */
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

bool fast_check_bf16x3(void)
{
    return splits;
}

bool fast_check(const char *text, double low, double high, double bound)
{
    return fast_check_program(program_from_text(text), text, low, high, bound);
}

bool fast_check_program(prt_program *program, const char *text, double low, double high,
    double bound)
{
    static const char *const levels[] = {
#ifndef PRT_EMULATE /* slow, and other builds may lack the level; bf16 includes vnni */
        "portable", "avx2", "avx512_vnni",
#endif
        "avx512", "avx512_bf16", "avx512_amx"
    };
    prt_pool *pool = NULL;
    bool other = true;
    ck_assert_int_eq(prt_pool_create(&prt_mem_libc, 3, 1000, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    check c = { .program = program, .par = &par, .bound = bound, .text = short_text(text) };
    fill_inputs(c.program, &c.in, low, high);
    splits = true;
    float *want = run(c.program, &c.in, NULL, NULL, false, false, &c.n);
    for (size_t i = 0; i < c.n; i++)
        c.most = fmax(c.most, isfinite(want[i]) ? fabs((double)want[i]) : 0.0);
    c.want = want;
    for (size_t i = 0; i < PRT_COUNT_OF(levels); i++) {
        const uint64_t level = prt_cpu_level(levels[i]);
        if ((level & prt_cpu_features()) == level)
            other = check_level(&c, prt_kern_of(level)) && other;
    }
    for (uint32_t i = 0; i < c.program->n_inputs; i++)
        free(c.in.t[i].data);
    free(want);
    prt_pool_release(pool);
    prt_program_release(c.program);
    return other;
}
