/* SPDX-License-Identifier: MIT */
/* test_trees.c — pack_weights of tree ensembles: bitwise equal results for all trees.
 * Covers: tree_packed.c. */
#include <stdio.h>
#include <stdlib.h>

#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/graph_text.h"
#include "support/op_check.h"

#define PASS "pack_weights"

enum { TEXT = 1 << 17, FEATURES = 5 };

typedef struct lists {
    char tree[TEXT], node[TEXT], feature[TEXT], value[TEXT], mode[TEXT], yes[TEXT], no[TEXT];
    char missing[TEXT], vote_tree[TEXT], vote_node[TEXT], vote_target[TEXT], weight[TEXT];
} lists;

static uint32_t below(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*state >> 8) * n) >> 24);
}

static void append_number(char *list, const char *fmt, int number)
{
    const size_t at = strlen(list);
    ck_assert_uint_lt(at, TEXT - 32);
    if (at != 0)
        list[at] = ',';
    (void)snprintf(list + at + (at != 0), 31, fmt, number);
}

/* Appends a tree of `count` inner nodes. The children of node k are 2 k + 1 and 2 k + 2. */
static void add_tree(lists *l, uint32_t *state, int tree, int count, int targets, bool plain)
{
    static const char *const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT",
        "BRANCH_EQ", "BRANCH_NEQ" };
    for (int k = 0; k < 2 * count + 1; k++) {
        const bool leaf = k >= count;
        append_number(l->tree, "%d", tree);
        append_number(l->node, "%d", k);
        append_number(l->feature, "%d", (int)below(state, FEATURES));
        append_number(l->value, "%d", (int)below(state, 9) - 4);
        append_number(l->missing, "%d", plain ? 0 : (int)below(state, 2));
        append_number(l->mode, leaf ? "LEAF" : modes[plain ? 0 : below(state, 6)], 0);
        append_number(l->yes, "%d", leaf ? 0 : 2 * k + 1);
        append_number(l->no, "%d", leaf ? 0 : 2 * k + 2);
        for (int t = 0; leaf && t < targets; t++)
            if (below(state, 3) != 0) {
                append_number(l->vote_tree, "%d", tree);
                append_number(l->vote_node, "%d", k);
                append_number(l->vote_target, "%d", t);
                append_number(l->weight, "%d", (int)below(state, 100) - (plain ? 0 : 50));
            }
    }
}

static const char *forest(uint32_t seed, int trees, int targets, bool plain, const char *kind)
{
    static char text[16 * TEXT];
    lists *l = calloc(1, sizeof(*l));
    uint32_t state = seed;
    ck_assert_ptr_nonnull(l);
    for (int t = 0; t < trees; t++)
        add_tree(l, &state, t, (int)below(&state, 20), targets, plain);
    (void)snprintf(text, sizeof(text),
        "nodes_treeids=[%s], nodes_nodeids=[%s], "
        "nodes_featureids=[%s], nodes_values=[%s], nodes_modes=[%s], nodes_truenodeids=[%s], "
        "nodes_falsenodeids=[%s], nodes_missing_value_tracks_true=[%s], %s_treeids=[%s], "
        "%s_nodeids=[%s], %s_ids=[%s], %s_weights=[%s]",
        l->tree, l->node, l->feature, l->value, l->mode, l->yes, l->no, l->missing, kind,
        l->vote_tree, kind, l->vote_node, kind, l->vote_target, kind, l->weight);
    free(l);
    return text;
}

static void ck_packs(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "packed_trees"));
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
    assert_pass_keeps_results(text, PASS, 0);
}

static char text[17 * TEXT];

START_TEST(regressors_are_packed)
{
    static const char *const sums[] = { "SUM", "AVERAGE", "MIN", "MAX" };
    static const char *const types[] = { "f32", "f64", "i32", "i64" };
    static const char *const rows[] = { "3,5", "5", "100,5", "n,5" };
    for (int i = 0; i < 24; i++) {
        const int targets = 1 + i % 3;
        (void)snprintf(text, sizeof(text),
            "x = input %s[%s]\n"
            "y = ml_tree_ensemble_regressor x {%s, n_targets=%d, aggregate_function=%s%s%s}\n"
            "return y\n",
            types[i % 4], rows[i / 4 % 4],
            forest((uint32_t)i, 1 + i % 20, targets, i % 2 == 0, "target"), targets,
            sums[i / 2 % 4], i % 5 == 0 ? ", post_transform=SOFTMAX" : "",
            i % 4 != 3         ? ""
                : targets == 1 ? ", base_values=[2]"
                : targets == 2 ? ", base_values=[1,3]"
                               : ", base_values=[1,2,3]");
        ck_packs(text);
    }
}
END_TEST

START_TEST(classifiers_are_packed)
{
    for (int i = 0; i < 24; i++) {
        const int classes = 1 + i % 3;
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,5]\ny, z = ml_tree_ensemble_classifier x {%s, %s%s%s}\n"
            "w = cast y {to=%d}\nreturn %s\n",
            1 + i * 9 % 70,
            forest((uint32_t)i + 99, 1 + i % 20, i % 4 == 3 ? 1 : classes, i % 2 == 0, "class"),
            i % 2 == 0 ? "classlabels_int64s=[7" : "classlabels_strings=[\"7\"",
            classes == 1       ? "]"
                : i % 2 == 0   ? classes == 2 ? ",9]" : ",9,-3]"
                : classes == 2 ? ",\"9\"]"
                               : ",\"9\",\"-3\"]",
            i % 5 == 0 ? ", post_transform=LOGISTIC" : "", i % 2 == 0 ? 1 : 7,
            i % 6 == 0       ? "z"
                : i % 6 == 1 ? "w"
                             : "w, z");
        ck_packs(text);
    }
}
END_TEST

#define ENSEMBLE(type, modes, more)                                                                \
    "x = input " type "[4,2]\ny = ml_tree_ensemble x {n_targets=2, tree_roots=[0], "               \
    "nodes_featureids=[0,1], nodes_modes=u8[2] {" modes "}, nodes_splits=" type "[2] {0.5,-0.5}, " \
    "nodes_truenodeids=[1,1], nodes_trueleafs=[0,1], nodes_falsenodeids=[0,2], "                   \
    "nodes_falseleafs=[1,1], leaf_targetids=[0,1,0], leaf_weights=" type "[3] {1,2,3}" more "}\n"  \
    "return y\n"

START_TEST(ensembles_are_packed)
{
    ck_packs(ENSEMBLE("f32", "0,1", ""));
    ck_packs(ENSEMBLE("f64", "3,5", ", aggregate_function=0, post_transform=1"));
}
END_TEST

static void ck_left(const char *graph)
{
    assert_pass_leaves(PASS, NULL, graph);
}

START_TEST(near_misses_are_left)
{
    ck_left(ENSEMBLE("f32", "0,6", ", membership_values=f32[2] {1,2}"));
    ck_left(ENSEMBLE("f16", "0,1", ""));
    /* Both branches lead to one node. */
    ck_left("x = input f32[1,2]\ny = ml_tree_ensemble_regressor x {nodes_treeids=[0,0], "
            "nodes_nodeids=[0,1], nodes_values=[0,0], nodes_featureids=[1,0], "
            "nodes_modes=[BRANCH_LT,LEAF], nodes_truenodeids=[1,0], nodes_falsenodeids=[1,0], "
            "target_treeids=[0], target_nodeids=[1], target_ids=[0], target_weights=[1], "
            "n_targets=1}\nreturn y\n");
}
END_TEST

/* Words of nodes: value, then kind + next * 2^32, with kind = mode + 16 * feature or votes. */
#define WALK(nodes, roots, votes, more)                                                            \
    "x = const f32[1,2] {0,1}\nn = const i64" nodes "\nr = const i64" roots                        \
    "\nv = const i64" votes "\ny = packed_trees x n r v {n_targets=1" more "}\nreturn y\n"
#define LEAF_1 "0,23"                      /* one vote, from vote 0 on */
#define BRANCH "0,4294967296"              /* LEQ 0 of feature 0: the true branch is one node */
#define VOTE "[2] {4607182418800017408,0}" /* 1 for target 0 */

START_TEST(broken_packed_trees_are_refused)
{
    static const char *const broken =
        "the trees refer to nodes, votes or features that do not exist";
    ck_result(WALK("[6] {" BRANCH "," LEAF_1 "," LEAF_1 "}", "[1] {0}", VOTE, ""), "f32[1,1] {1}");
    ck_result(WALK("[2] {" LEAF_1 "}", "[0] {}", VOTE, ""), "f32[1,1] {0}");
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {1}", VOTE, ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {-1}", VOTE, ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {" BRANCH "}", "[1] {0}", VOTE, ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[4] {0,32," LEAF_1 "}", "[1] {0}", VOTE, ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {0,4294967319}", "[1] {0}", VOTE, ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {0,39}", "[1] {0}", VOTE, ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {0}", "[2] {0,1}", ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {0}", "[2] {0,-1}", ""), POPRT_E_PARSE, broken);
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {0}", VOTE, ",features=3"), POPRT_E_SHAPE,
        "a tree tests feature 2");
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {0}", VOTE, ",one_set=1"), POPRT_E_ARG,
        "one_set needs 2 labels");
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {0}", VOTE, ",classlabels_int64s=[1,2]"), POPRT_E_ARG,
        "for 2 labels");
    ck_failure(WALK("[2] {" LEAF_1 "}", "[1] {0}", VOTE, ",post_transform=5"), POPRT_E_ARG,
        "post_transform");
}
END_TEST

/* The fast operator and the reference give the same results at any number of threads. */
START_TEST(packed_trees_agree_at_any_number_of_threads)
{
    fast_check("x = input f32[1000,2]\nn = const i64[6] {" BRANCH "," LEAF_1 "," LEAF_1 "}\n"
               "r = const i64[1] {0}\nv = const i64" VOTE "\n"
               "y = packed_trees x n r v {n_targets=1}\nreturn y\n",
        -1, 1, 0);
}
END_TEST

PRT_TEST_MAIN("pass/pack/trees", regressors_are_packed, classifiers_are_packed,
    ensembles_are_packed, near_misses_are_left, broken_packed_trees_are_refused,
    packed_trees_agree_at_any_number_of_threads)
