/* SPDX-License-Identifier: MIT */
/*
 * graph_text.h — graphs as text in tests: parses and compares graphs, runs a pass on a graph, and
 * runs a graph before and after a pass on the same random inputs.
 */
#ifndef PRT_TESTS_SUPPORT_GRAPH_TEXT_H
#define PRT_TESTS_SUPPORT_GRAPH_TEXT_H

#include "ir/ir.h"

/* Parses, infers and verifies; a failure ends the test with the error. The caller releases the
 * module by module_free, or leaves it until the test's process ends. */
prt_graph *graph_from_text(const char *text);
void module_free(prt_graph *graph);

/* Returns the error message of a text that must not parse; fails the test if it parses. */
const char *graph_error(const char *text);

/* Returns the graph as text, which is valid as long as the module. */
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

/* Runs one pass with options "key=value, …" (or NULL) and verifies; returns whether it changed
 * anything. Unnamed constants without readers are dropped. */
bool run_pass(prt_graph *graph, const char *name, const char *options);
poprt_status try_pass(prt_graph *graph, const char *name, const char *options);

/* Runs one pass on a graph whose named constants are initializers. Every weight that a constant
 * holds afterwards must have the bits that it had before. Returns the number of such weights. */
int held_after_pass(const char *text, const char *pass);

/* Runs one pass with these arguments and verifies. */
struct prt_pass_arg;
void run_pass_with(prt_graph *graph, const char *name, uint32_t n_args,
    const struct prt_pass_arg *args);

/* Runs a pass and returns its warnings, a line each, which are valid as long as the module. */
const char *pass_notes(prt_graph *graph, const char *pass, const char *options);

/* The pass turns `before` into `after`, and changes nothing when it runs again. */
void assert_pass_rewrites(const char *pass, const char *options, const char *before,
    const char *after);
/* The pass reports no change, and the graph is unchanged. */
void assert_pass_leaves(const char *pass, const char *options, const char *text);
/* The pass fails with this status and a message that contains `part`. */
void assert_pass_fails(const char *pass, const char *options, const char *text, poprt_status status,
    const char *part);

/* Runs both graphs on the same random inputs and fails the test if an output differs by more
 * than `tolerance` times the largest element (0: the same bits). Symbols are replaced by 3. */
void assert_same_results(const prt_graph *a, const prt_graph *b, double tolerance, uint64_t seed);

/* `text` contains all of `parts`, which are separated by blanks. Parts that begin with "!" must
 * not occur. */
void assert_text_has(const char *text, const char *parts);

/* The graph of `text` gives the same results before and after a pass, which must change it. */
void assert_pass_keeps_results(const char *text, const char *pass, double tolerance);

#endif
