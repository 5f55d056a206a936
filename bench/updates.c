/* SPDX-License-Identifier: MIT */
/*
 * updates.c — updates of optimizers against copying memory, with one thread and with two.
 *
 *     updates [ROUNDS]        rounds of all measurements in turn; 15 if not given
 *
 * A float32 weight of 64 MiB is updated in place by the operators of src/fast. One line of a table
 * for each: the median over rounds of the bytes that are read and written in a second, and the
 * median over rounds of the ratio to memcpy of 64 MiB in the same round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cpu/cpu.h"
#include "fast/fast.h"
#include "op/training/update.h"

enum { N = 1 << 24 /* elements */, MOST_ROUNDS = 101, ARRAYS = 5 };

static float *arrays[ARRAYS]; /* a weight, a gradient and three states */

/* ---- an operator without a session */

static poprt_status check(prt_eval *c)
{
    (void)c;
    return POPRT_OK;
}

typedef struct step {
    const char *name;
    uint32_t op;
    const void *attrs;
    double streams; /* arrays that are read, and arrays that are written */
    uint32_t n_in, n_out;
    int8_t array_of[PRT_ADAM_INPUTS]; /* number of an array; SCALAR, or ABSENT */
} step;

enum { SCALAR = -1, ABSENT = -2 };

static void run_step(const step *s, const prt_kern *kern, const prt_par *par)
{
    static const prt_eval_host host = { .check = check };
    static float scalar = 0.25f;
    prt_tensor tensors[PRT_ADAM_INPUTS], *out[8];
    const prt_tensor *in[PRT_ADAM_INPUTS];
    const int64_t dim = N;
    bool done = true;
    for (uint32_t i = 0; i < s->n_in; i++) {
        const bool is_array = s->array_of[i] >= 0;
        void *data = is_array ? arrays[s->array_of[i]] : &scalar;
        (void)prt_tensor_init(&tensors[i], PRT_DTYPE_f32, is_array ? 1 : 0, &dim, data);
        in[i] = s->array_of[i] == ABSENT ? NULL : &tensors[i];
    }
    for (uint32_t i = 0; i < s->n_out; i++)
        out[i] = s->array_of[i] >= 0 ? &tensors[i] : NULL;
    prt_eval c = { .def = prt_op_of(s->op),
        .attrs = s->attrs,
        .n_in = s->n_in,
        .n_out = s->n_out,
        .in = in,
        .out = out,
        .host = &host,
        .par = par };
    if (prt_fast_of(s->op)(&c, kern, &done) != POPRT_OK || !done)
        exit(1);
}

/* ---- memcpy */

static void copy_half(void *user, uint32_t half)
{
    const size_t size = (size_t)N * sizeof(float) / 2;
    (void)user;
    memcpy((char *)arrays[1] + half * size, (const char *)arrays[0] + half * size, size);
}

static void run_copy(const prt_par *par)
{
    if (par != NULL)
        prt_par_for(par, 2, copy_half, NULL);
    else
        memcpy(arrays[1], arrays[0], (size_t)N * sizeof(float));
}

/* ---- measurement */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

/* Seconds of a step, or, if it is NULL, of the copy. */
static double seconds(const step *s, const prt_kern *kern, const prt_par *par)
{
    const uint64_t start = prt_clock_ns();
    if (s != NULL)
        run_step(s, kern, par);
    else
        run_copy(par);
    return 1e-9 * (double)(prt_clock_ns() - start);
}

static void measure(size_t n, const step *steps, size_t rounds, const prt_kern *kern,
    const prt_par *par)
{
    static double copies[MOST_ROUNDS], rates[16][MOST_ROUNDS], ratios[16][MOST_ROUNDS];
    const double size = (double)N * sizeof(float);
    for (size_t r = 0; r < rounds; r++) {
        copies[r] = 2 * size / seconds(NULL, kern, par);
        for (size_t i = 0; i < n; i++) {
            /* Half of the copy is measured before the step, half after it. */
            const double before = seconds(NULL, kern, par);
            rates[i][r] = steps[i].streams * size / seconds(&steps[i], kern, par);
            const double after = seconds(NULL, kern, par);
            ratios[i][r] = rates[i][r] / (2 * size / ((before + after) / 2));
        }
    }
    const int threads = par != NULL ? 2 : 1;
    (void)printf("| memcpy | %d | %.1f | |\n", threads, median(copies, rounds) / 1e9);
    for (size_t i = 0; i < n; i++)
        (void)printf("| %s | %d | %.1f | %.2f |\n", steps[i].name, threads,
            median(rates[i], rounds) / 1e9, median(ratios[i], rounds));
}

int main(int argc, char **argv)
{
    prt_sgd_update_attrs combined = PRT_ATTRS_OF(sgd_update), separate = combined;
    prt_adam_update_attrs adamax = PRT_ATTRS_OF(adam_update);
    prt_adaptive_update_attrs centered = PRT_ATTRS_OF(adaptive_update);
    combined.momentum = PRT_STR("combined");
    separate.momentum = PRT_STR("separate");
    adamax.mode = PRT_STR("adamax");
    centered.mode = PRT_STR("centered_rmsprop");
    const step steps[] = {
        { "accumulate", PRT_OP_accumulate, &PRT_ATTRS_OF(accumulate), 3, 2, 1, { 0, 1 } },
        { "sgd_update", PRT_OP_sgd_update, &PRT_ATTRS_OF(sgd_update), 3, 5, 1,
            { 0, ABSENT, 1, SCALAR, SCALAR } },
        { "sgd_update, combined", PRT_OP_sgd_update, &combined, 5, 7, 2,
            { 0, 2, 1, SCALAR, SCALAR, SCALAR, SCALAR } },
        { "sgd_update, separate", PRT_OP_sgd_update, &separate, 5, 7, 2,
            { 0, 2, 1, SCALAR, SCALAR, SCALAR, SCALAR } },
        { "adam_update", PRT_OP_adam_update, &PRT_ATTRS_OF(adam_update), 7, 12, 3,
            { 0, 2, 3, SCALAR, ABSENT, 1, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR } },
        { "adam_update, adamax", PRT_OP_adam_update, &adamax, 7, 12, 3,
            { 0, 2, 3, SCALAR, ABSENT, 1, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR } },
        { "adaptive_update", PRT_OP_adaptive_update, &PRT_ATTRS_OF(adaptive_update), 5, 11, 2,
            { 0, 2, ABSENT, ABSENT, 1, SCALAR, SCALAR, SCALAR, ABSENT, SCALAR, SCALAR } },
        { "adaptive_update, centered, momentum", PRT_OP_adaptive_update, &centered, 9, 11, 4,
            { 0, 2, 3, 4, 1, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR, SCALAR } },
    };
    const prt_kern *kern = prt_kern_of(prt_cpu_features());
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 15;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    prt_pool *pool = NULL;
    for (size_t i = 0; i < ARRAYS; i++) {
        arrays[i] = prt_mem_libc.alloc(NULL, (size_t)N * sizeof(float), 64);
        if (arrays[i] == NULL)
            return 1;
        for (size_t k = 0; k < N; k++)
            arrays[i][k] = 1.0f + (float)((k * 2654435761u >> 8) % 2001) / 2000;
    }
    if (prt_pool_create(&prt_mem_libc, 2, 50000, &pool) != POPRT_OK)
        return 1;
    const prt_par par = prt_pool_par(pool);
    (void)printf("Level %s, %zu rounds.\n\n| update | threads | GB/s | share of memcpy |\n"
                 "| --- | ---: | ---: | ---: |\n",
        kern->level, rounds);
    measure(PRT_COUNT_OF(steps), steps, rounds, kern, NULL);
    measure(PRT_COUNT_OF(steps), steps, rounds, kern, &par);
    prt_pool_release(pool);
    return 0;
}
