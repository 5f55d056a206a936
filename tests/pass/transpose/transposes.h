/* SPDX-License-Identifier: MIT */
/* transposes.h — helpers shared by the tests of optimize_transposes. */
#ifndef PRT_TESTS_PASS_TRANSPOSE_TRANSPOSES_H
#define PRT_TESTS_PASS_TRANSPOSE_TRANSPOSES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "optimize_transposes"

/* Returns the elements of all Transposes whose results are used, also those in regions. Symbols
 * count 32. */
static inline uint64_t transposed_elements(const prt_graph *g)
{
    uint64_t sum = 0;
    prt_for_each_op (op, g) {
        uint64_t n = 1;
        for (uint32_t i = 0; i < op->n_regions; i++)
            sum += transposed_elements(op->regions[i]);
        if (!prt_op_is(op, PRT_OP_transpose) || !prt_value_used(&op->out[0]))
            continue;
        const prt_type *type = op->out[0].type;
        for (int32_t i = 0; i < type->rank; i++)
            n *= prt_dim_is_number(type->dims[i]) ? (uint64_t)type->dims[i] : 32;
        sum += n;
    }
    return sum;
}

/* Removes the blanks behind commas. */
static inline char *dense(const char *text)
{
    char *to = malloc(strlen(text) + 1);
    size_t n = 0;
    ck_assert(to != NULL);
    for (size_t i = 0; text[i] != '\0'; i++)
        if (i == 0 || text[i] != ' ' || text[i - 1] != ',')
            to[n++] = text[i];
    to[n] = '\0';
    return to;
}

/* Asserts that the pass keeps the results, that Transposes of `elements` elements remain, and that
 * all of `parts` (separated by blanks) are in the graph afterwards, lists without blanks. A second
 * run must change nothing. */
static inline void ck_transposes(const char *text, uint64_t elements, const char *parts)
{
    prt_graph *g = graph_from_text(text);
    assert_pass_keeps_results(text, PASS, 1e-5);
    ck_assert(run_pass(g, PASS, NULL));
    char *after = dense(graph_text(g));
    ck_assert_msg(transposed_elements(g) == elements, "%llu elements are transposed, not %llu:\n%s",
        (unsigned long long)transposed_elements(g), (unsigned long long)elements, after);
    assert_text_has(after, parts);
    free(after);
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
}

#endif
