/* SPDX-License-Identifier: MIT */
/*
 * graph_text.h — graphs in tests are text: making one, comparing one, running a pass on it, and
 * running it before and after on the same random inputs.
 */
#ifndef PRT_TESTS_SUPPORT_GRAPH_TEXT_H
#define PRT_TESTS_SUPPORT_GRAPH_TEXT_H

#include "ir/ir.h"

/* Parses, infers and verifies; a failure ends the test with the error. The module is released by
 * module_free, or by the end of the test's process. */
prt_graph *graph_from_text(const char *text);
void module_free(prt_graph *graph);

/* The error message of a text that must not parse; fails the test when it does. */
const char *graph_error(const char *text);

/* The graph as text; lives as long as the module. */
const char *graph_text(const prt_graph *graph);

/* `expected` is parsed and printed first, so that spacing and numbering do not matter. */
#define ck_assert_graph(graph, expected)                                                           \
    do {                                                                                           \
        const prt_graph *graph_ = (graph);                                                         \
        prt_graph *expected_ = graph_from_text(expected);                                          \
        ck_assert_int_eq(prt_ir_verify(graph_->module), POPRT_OK);                                 \
        ck_assert_str_eq(graph_text(graph_), graph_text(expected_));                               \
        module_free(expected_);                                                                    \
    } while (0)

/* Runs one pass with options "key=value, …" (or NULL) and verifies; tells whether it changed
 * anything. Constants without a name that nobody reads any more are dropped. */
bool run_pass(prt_graph *graph, const char *name, const char *options);
poprt_status try_pass(prt_graph *graph, const char *name, const char *options);

/* Runs one pass with these arguments and verifies. */
struct prt_pass_arg;
void run_pass_with(prt_graph *graph, const char *name, uint32_t n_args,
    const struct prt_pass_arg *args);

/* Runs a pass and gives all that it warned of, a line each; lives as long as the module. */
const char *pass_notes(prt_graph *graph, const char *pass, const char *options);

/* The pass makes `after` of `before`, and nothing more the second time. */
void assert_pass_rewrites(const char *pass, const char *options, const char *before,
    const char *after);
/* The pass says that it changed nothing, and the graph is as it was. */
void assert_pass_leaves(const char *pass, const char *options, const char *text);
/* The pass fails with this status and a message that has `part` in it. */
void assert_pass_fails(const char *pass, const char *options, const char *text, poprt_status status,
    const char *part);

/* Runs both graphs on the same random inputs and ends the test where an output differs by more
 * than `tolerance` times the largest element (0: the same bits). Symbols become 3. */
void assert_same_results(const prt_graph *a, const prt_graph *b, double tolerance, uint64_t seed);

/* `text` has all of `parts`, set apart by blanks, but not those with a "!" before them. */
void assert_text_has(const char *text, const char *parts);

/* The graph that `text` describes gives the same results before and after a pass, which must
 * change it. */
void assert_pass_keeps_results(const char *text, const char *pass, double tolerance);

#endif
