/* SPDX-License-Identifier: MIT */
/*
 * pattern.h — patterns written as text, the reference's language for custom passes and packing. A
 * pattern is one or more chains "TOKEN->TOKEN->…", with tokens
 *
 *     OpType:label   a node of that operator; equal tokens in several chains are the same node
 *     s:label        what comes before: anything        e:label   what comes after: anything
 *
 * An arrow says that an output of the left node is an input of the right one, at any place. Blanks
 * do not count. Different tokens are different nodes, all in one graph.
 *
 *     s:0->MatMul:1->Add:2->Split:3->Squeeze:4->e:5
 *     Split:3->Squeeze:6->e:7
 */
#ifndef PRT_PASS_ENGINE_PATTERN_H
#define PRT_PASS_ENGINE_PATTERN_H

#include "ir/ir.h"

enum { PRT_PATTERN_NODES = 64 };

typedef struct prt_pattern prt_pattern;

/* Errors name the token. The pattern lives in `arena` and copies what it needs. */
poprt_status prt_pattern_parse(prt_arena *arena, uint32_t n_chains, const prt_str *chains,
    prt_pattern **out);

/*
 * The next match, of nodes that have not been returned together before. The graph may have been
 * edited since. `*found` false: there is none left. A pattern and a graph for which matching would
 * take too many steps are POPRT_E_LIMIT.
 */
poprt_status prt_pattern_next(prt_pattern *pattern, const prt_graph *graph, bool *found);

/* Nodes of the last match: by label ("3"), or all in order of first sight in the text. */
prt_op *prt_pattern_node(const prt_pattern *pattern, prt_str label);
uint32_t prt_pattern_count(const prt_pattern *pattern);
prt_str prt_pattern_label(const prt_pattern *pattern, uint32_t index);
prt_op *prt_pattern_node_at(const prt_pattern *pattern, uint32_t index);

#endif
