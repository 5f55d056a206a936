/* SPDX-License-Identifier: MIT */
/*
 * pattern.h — patterns written as text, in the reference's language for custom passes and packing.
 * A pattern is one or more chains "TOKEN->TOKEN->…", with tokens
 *
 *     OpType:label   a node of that operator; equal tokens in several chains are the same node
 *     s:label        start of a chain: any producer     e:label   end of a chain: any reader
 *
 * An arrow says that an output of the left node is an input of the right node, at any position.
 * Blanks are ignored. Different tokens are different nodes, all in one graph.
 *
 *     s:0->MatMul:1->Add:2->Split:3->Squeeze:4->e:5
 *     Split:3->Squeeze:6->e:7
 */
#ifndef PRT_PASS_ENGINE_PATTERN_H
#define PRT_PASS_ENGINE_PATTERN_H

#include "ir/ir.h"

enum { PRT_PATTERN_NODES = 64 };

typedef struct prt_pattern prt_pattern;

/* Parses a pattern. Errors name the token. The pattern is allocated in `arena` and copies the texts
 * it needs. */
poprt_status prt_pattern_parse(prt_arena *arena, uint32_t n_chains, const prt_str *chains,
    prt_pattern **out);

/*
 * Finds the next match whose combination of nodes has not been returned before. The graph may have
 * been edited since the last call. `*found` is false if there is no further match. Fails with
 * POPRT_E_LIMIT if matching takes too many steps.
 */
poprt_status prt_pattern_next(prt_pattern *pattern, const prt_graph *graph, bool *found);

/* Nodes of the last match, by label ("3") or by index. Indices follow the first appearance in the
 * text. */
prt_op *prt_pattern_node(const prt_pattern *pattern, prt_str label);
uint32_t prt_pattern_count(const prt_pattern *pattern);
prt_str prt_pattern_label(const prt_pattern *pattern, uint32_t index);
prt_op *prt_pattern_node_at(const prt_pattern *pattern, uint32_t index);

#endif
