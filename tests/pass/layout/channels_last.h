/* SPDX-License-Identifier: MIT */
/* channels_last.h — helpers shared by the tests of channels_last. */
#ifndef PRT_TESTS_PASS_LAYOUT_CHANNELS_LAST_H
#define PRT_TESTS_PASS_LAYOUT_CHANNELS_LAST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "channels_last"

static inline size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

/* Asserts that the pass keeps the results, that `transposes` Transposes and all of `parts`
 * (separated by blanks) are in the graph afterwards, and that a second run changes nothing. */
static inline void ck_channels_last(const char *text, size_t transposes, const char *parts)
{
    prt_graph *g = graph_from_text(text);
    assert_pass_keeps_results(text, PASS, 1e-5);
    ck_assert(run_pass(g, PASS, NULL));
    const char *after = graph_text(g);
    ck_assert_msg(count(after, "= transpose") == transposes, "%zu turns, not %zu:\n%s",
        count(after, "= transpose"), transposes, after);
    assert_text_has(after, parts);
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
}

static inline void ck_left_alone(const char *text)
{
    assert_pass_leaves(PASS, NULL, text);
}

/* Writes `count` different numbers. */
static inline size_t put_numbers(char *text, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += (size_t)sprintf(text + n, "%s%lld", i == 0 ? "" : ",",
            (long long)(i * 7919 % count) - (long long)count / 2);
    return n;
}

#endif
