/* SPDX-License-Identifier: MIT */
/*
 * random_graph.h — reproducible random numbers, and graphs of nodes that each read a few of the
 * values before them.
 */
#ifndef PRT_TESTS_SUPPORT_RANDOM_GRAPH_H
#define PRT_TESTS_SUPPORT_RANDOM_GRAPH_H

#include <stdio.h>

#include "support/graph_text.h"

static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* A graph of `count` nodes N1 …: half of them add two of the nine preceding values, half
 * multiply one of them by one of five matrices of 64 bytes. */
static inline prt_graph *random_graph(uint64_t *state, uint32_t count)
{
    static char text[1 << 14];
    size_t at = (size_t)snprintf(text, sizeof(text), "v0 = input f32[1,4]\n");
    for (uint32_t i = 1; i <= 5; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at,
            "w%u = const f32[4,4] {1,2,3,4, 5,6,7,8, 9,1,2,3, 4,5,6,7}\n", i);
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t reach = i < 9 ? i : 9;
        const uint32_t a = i - 1 - (uint32_t)random_below(state, reach);
        const uint32_t b = i - 1 - (uint32_t)random_below(state, reach);
        const bool sum = random_below(state, 2) == 0;
        at += (size_t)snprintf(text + at, sizeof(text) - at, "v%u = %s v%u %s%u @N%u\n", i,
            sum ? "add" : "matmul", a, sum ? "v" : "w", sum ? b : 1 + b % 5, i);
    }
    (void)snprintf(text + at, sizeof(text) - at, "return v%u\n", count);
    return graph_from_text(text);
}

#endif
