/* SPDX-License-Identifier: MIT */
/*
 * together.c — what two processors are to each other: times as many multiply-adds as one does that
 * both do at once. 2 of two cores, little more than 1 of one core that is shared.
 *
 *     together CPU CPU
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cpu/cpu.h"
#include "peak.h"

enum { TURNS = 400000, TIMES = 3 };

static const peak_level *level;
static volatile float sinks[2];
static _Atomic int waiting;

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct side {
    int cpu, index;
    double best; /* seconds */
} side;

/* As soon as all are here. */
static void *work(void *arg)
{
    side *s = arg;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)s->cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
    sinks[s->index] = level->turns(TURNS);
    (void)atomic_fetch_sub(&waiting, 1);
    while (atomic_load(&waiting) > 0)
        (void)sched_yield();
    for (int i = 0; i < TIMES; i++) {
        const double begin = now_s();
        sinks[s->index] = level->turns(TURNS);
        const double taken = now_s() - begin;
        s->best = i == 0 || taken < s->best ? taken : s->best;
    }
    return NULL;
}

/* Seconds of the slower one. */
static double run(int n, side *sides)
{
    pthread_t threads[2];
    double most = 0.0;
    atomic_store(&waiting, n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, &sides[i]) != 0)
            exit(1);
    for (int i = 0; i < n; i++) {
        (void)pthread_join(threads[i], NULL);
        most = sides[i].best > most ? sides[i].best : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: %s CPU CPU\n", argv[0]);
        return 2;
    }
    side sides[2] = { { .cpu = atoi(argv[1]) }, { .cpu = atoi(argv[2]), .index = 1 } };
    const uint64_t features = prt_cpu_features();
    level = &peak_portable;
#if defined(__x86_64__)
    if ((features & PRT_CPU_AVX2) != 0)
        level = &peak_avx2;
    if ((features & PRT_CPU_AVX512) != 0)
        level = &peak_avx512;
#endif
    const double alone = run(1, sides);
    (void)printf("%.2f\n", 2.0 * alone / run(2, sides));
    return 0;
}
