/* SPDX-License-Identifier: MIT */
/*
 * optimize_transposes.c — optimize_transposes: moves Transposes through operators, so that inverse
 * ones meet and vanish. Models of frameworks with channels last have two of them around each
 * convolution; one at the input and one at the output remain.
 *
 * The pass does not push Transposes one by one. It chooses for each value one of two layouts:
 *
 * 1. plan.c collects values that differ by Transposes only in families. A family is read in the
 *    layouts that its readers need, and written in the one of its maker.
 * 2. propagate.c begins at the Transposes, and finds the operators that can compute the same from
 *    permuted inputs (rules.c), with the permutations of all their inputs and outputs. Each family
 *    then has at most two layouts, a and b, and each of these operators reads and writes either a
 * or b everywhere.
 * 3. The elements that are transposed are a sum over families: those of the root for each layout
 *    that is read and not written. This is the capacity of a cut between the operators with a and
 *    those with b, and cut.c finds the least one. Operators that cannot move, inputs and outputs
 *    hold their sides.
 * 4. apply.c rewrites the operators that change sides. Each layout of a family is then made by at
 *    most one Transpose of what the maker writes; that merges Transposes, and folds those of
 *    constants.
 *
 * The decision to move no operator is one of the cuts, so that no run makes a graph worse. A run
 * that changes something transposes fewer elements, and therefore the rounds end. Two rounds
 * begin at different Transposes, since the first layout that reaches a family excludes others.
 */
#include "pass/transpose/plan.h"

enum { MAX_ROUNDS = 16 };

static poprt_status improve(prt_pass *p, prt_graph *graph, bool *changed)
{
    bool idle = false;
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        prt_plan plan;
        bool better = false;
        PRT_TRY(prt_plan_build(p, graph, &plan));
        PRT_TRY(prt_plan_propagate(&plan, round % 2 != 0));
        PRT_TRY(prt_plan_cut(&plan));
        PRT_TRY(prt_plan_apply(&plan, &better));
        *changed = *changed || better;
        if (!better && idle)
            return POPRT_OK;
        idle = !better;
    }
    return POPRT_OK;
}

/* A rewritten body of If or Loop may leave Transposes of the outer graph without readers. */
static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        bool better = false;
        PRT_TRY(prt_pass_each_graph(p, graph, improve, &better));
        if (!better)
            return POPRT_OK;
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_optimize_transposes = { .run = run };
