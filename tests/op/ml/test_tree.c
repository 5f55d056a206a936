/* SPDX-License-Identifier: MIT */
/* test_tree.c — the three tree operators: modes, missing values, sums, two classes, and models
 * with cycles or indices out of range.
 * Covers: tree_build.c, tree_regressor_classifier.c, tree_ensemble.c, tree_decision.c, ml.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

/* Feature 0 against 0.5: leaf 1 or leaf 2; the input holds NaN and 0.5 itself. */
#define STUMP_X "x = const f32[4,1] {0,0.5,1,nan}\n"
#define NODES(mode)                                                                                \
    "nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], "                     \
    "nodes_values=[0.5,0,0], nodes_modes=[" mode ",LEAF,LEAF], nodes_truenodeids=[1,0,0], "        \
    "nodes_falsenodeids=[2,0,0]"
#define TARGETS                                                                                    \
    "target_treeids=[0,0], target_nodeids=[1,2], target_ids=[0,0], target_weights=[1,2], "         \
    "n_targets=1"
#define STUMP(mode, more)                                                                          \
    STUMP_X "y = ml_tree_ensemble_regressor x {" NODES(mode) ", " TARGETS more "}\nreturn y\n"

START_TEST(every_mode_branches_as_specified)
{
    ck_result(STUMP("BRANCH_LEQ", ""), "f32[4,1] {1,1,2,2}");
    ck_result(STUMP("BRANCH_LT", ""), "f32[4,1] {1,2,2,2}");
    ck_result(STUMP("BRANCH_GTE", ""), "f32[4,1] {2,1,1,2}");
    ck_result(STUMP("BRANCH_GT", ""), "f32[4,1] {2,2,1,2}");
    ck_result(STUMP("BRANCH_EQ", ""), "f32[4,1] {2,1,2,2}");
    ck_result(STUMP("BRANCH_NEQ", ""), "f32[4,1] {1,2,1,1}");
    ck_result(STUMP("BRANCH_LEQ", ", nodes_missing_value_tracks_true=[1,0,0]"),
        "f32[4,1] {1,1,2,1}");
    ck_failure(STUMP("BRANCH_OR", ""), POPRT_E_ARG, "node 0 of tree 0 has mode \"BRANCH_OR\"");
}
END_TEST

/* Two trees: a stump as above, and a single leaf; two targets, of which the second is in one
 * tree only. */
#define TWO_TREES(more)                                                                            \
    "x = const f64[2,1] {0,1}\ny = ml_tree_ensemble_regressor x {nodes_treeids=[4,4,4,9], "        \
    "nodes_nodeids=[0,1,2,0], nodes_featureids=[0,0,0,0], nodes_values=[0.5,0,0,0], "              \
    "nodes_modes=[BRANCH_LT,LEAF,LEAF,LEAF], nodes_truenodeids=[1,0,0,0], "                        \
    "nodes_falsenodeids=[2,0,0,0], target_treeids=[4,4,9,9], target_nodeids=[1,2,0,0], "           \
    "target_ids=[0,0,0,1], target_weights=[1,6,4,-3], n_targets=2" more "}\nreturn y\n"

START_TEST(trees_are_aggregated)
{
    ck_result(TWO_TREES(""), "f32[2,2] {5,-3,10,-3}");
    ck_result(TWO_TREES(", aggregate_function=AVERAGE"), "f32[2,2] {2.5,-1.5,5,-1.5}");
    ck_result(TWO_TREES(", aggregate_function=MIN"), "f32[2,2] {1,-3,4,-3}");
    ck_result(TWO_TREES(", aggregate_function=MAX"), "f32[2,2] {4,-3,6,-3}");
    ck_result(TWO_TREES(", aggregate_function=AVERAGE, base_values=[10,20]"),
        "f32[2,2] {12.5,18.5,15,18.5}");
    ck_result(TWO_TREES(", base_values_as_tensor=f64[2] {10,20}"), "f32[2,2] {15,17,20,17}");
    ck_result_within(TWO_TREES(", post_transform=SOFTMAX"),
        "f32[2,2] {0.99966465,0.00033535013,0.99999774,2.2603243e-06}", 1e-7);
    ck_failure(TWO_TREES(", aggregate_function=MEDIAN"), POPRT_E_ARG, "aggregate_function");
    ck_failure(TWO_TREES(", base_values=[1]"), POPRT_E_ARG, "1 numbers for 2 targets");
}
END_TEST

/* A threshold between two doubles that are one float. */
START_TEST(double_thresholds_are_exact)
{
    ck_result("x = const f64[2,1] {0.1,0.10000000000000002}\ny = ml_tree_ensemble_regressor x "
              "{nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], "
              "nodes_values_as_tensor=f64[3] {0.1,0,0}, nodes_modes=[BRANCH_LEQ,LEAF,LEAF], "
              "nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], target_treeids=[0,0], "
              "target_nodeids=[1,2], target_ids=[0,0], target_weights_as_tensor=f64[2] {1,2}, "
              "n_targets=1}\nreturn y\n",
        "f32[2,1] {1,2}");
    ck_failure(STUMP("BRANCH_LT", ", nodes_values_as_tensor=f64[3] {1,2,3}"), POPRT_E_ARG,
        "nodes_values is given both");
    ck_failure(STUMP("BRANCH_LT", ", base_values_as_tensor=i64[1] {1}"), POPRT_E_TYPE,
        "base_values is a tensor of int64");
}
END_TEST

/* nodes_treeids and the other lists as given, one weight for node 0. */
#define HOSTILE(nodes)                                                                             \
    "x = const f32[1,2] {0,1}\ny = ml_tree_ensemble_regressor x {" nodes                           \
    ", target_treeids=[0], target_nodeids=[0], target_ids=[0], target_weights=[1], n_targets=1}\n" \
    "return y\n"
#define PAIR(features, modes, yes, no)                                                             \
    "nodes_treeids=[0,0], nodes_nodeids=[0,1], nodes_values=[0,0], nodes_featureids=[" features    \
    "], nodes_modes=[" modes "], nodes_truenodeids=[" yes "], nodes_falsenodeids=[" no "]"

START_TEST(hostile_nodes_are_refused)
{
    const char *twice = HOSTILE("nodes_treeids=[0,0], nodes_nodeids=[0,0], nodes_values=[0,0], "
                                "nodes_featureids=[0,0], nodes_modes=[LEAF,LEAF], "
                                "nodes_truenodeids=[0,0], nodes_falsenodeids=[0,0]");
    ck_failure(HOSTILE(PAIR("0,0", "BRANCH_LT,BRANCH_LT", "1,0", "1,0")), POPRT_E_ARG,
        "node 0 of tree 0 is its own descendant");
    ck_failure(HOSTILE(PAIR("0,0", "BRANCH_LT,LEAF", "1,0", "0,0")), POPRT_E_ARG,
        "node 0 of tree 0 is its own descendant");
    ck_failure(HOSTILE(PAIR("0,0", "BRANCH_LT,LEAF", "1,0", "2,0")), POPRT_E_ARG,
        "node 0 of tree 0 branches to node 2, which does not exist");
    ck_failure(HOSTILE(PAIR("0,0", "BRANCH_LT,LEAF", "-1,0", "1,0")), POPRT_E_ARG,
        "branches to node -1");
    ck_failure(HOSTILE(PAIR("2,0", "BRANCH_LT,LEAF", "1,0", "1,0")), POPRT_E_ARG,
        "node 0 of tree 0 tests a feature that the input does not have (2)");
    ck_failure(HOSTILE(PAIR("-1,0", "BRANCH_LT,LEAF", "1,0", "1,0")), POPRT_E_ARG,
        "tests a negative feature");
    ck_failure(HOSTILE(PAIR("0", "BRANCH_LT,LEAF", "1,0", "1,0")), POPRT_E_ARG,
        "nodes_featureids has 1 entries, but other lists have 2");
    ck_failure(twice, POPRT_E_ARG, "node 0 of tree 0 is defined twice");
    /* A node with two parents is no cycle; a leaf's feature does not matter. */
    ck_result(HOSTILE(PAIR("1,77", "BRANCH_LT,LEAF", "1,0", "1,0")), "f32[1,1] {0}");
}
END_TEST

START_TEST(hostile_weights_are_refused)
{
    const char *text = STUMP_X "y = ml_tree_ensemble_regressor x {" NODES("BRANCH_LT") ", %s}\n"
                                                                                       "return y\n";
    static const char *const lists[][2] = {
        { "n_targets=0", "n_targets is 0" },
        { "n_targets=1, target_treeids=[0], target_nodeids=[1], target_ids=[1], "
          "target_weights=[1]",
            "weight 0 is for target 1 of 1" },
        { "n_targets=1, target_treeids=[1], target_nodeids=[1], target_ids=[0], "
          "target_weights=[1]",
            "target weight 0 is for node 1 of tree 1, which does not exist" },
        { "n_targets=1, target_treeids=[0], target_nodeids=[1], target_ids=[0]",
            "the list of weights has 0 entries" },
        { "n_targets=1, nodes_missing_value_tracks_true=[1]",
            "nodes_missing_value_tracks_true has 1 entries" },
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char graph[1024];
        (void)snprintf(graph, sizeof(graph), text, lists[i][0]);
        ck_failure(graph, POPRT_E_ARG, lists[i][1]);
    }
}
END_TEST

#define CLASSIFY(x, more, out)                                                                     \
    "x = const " x                                                                                 \
    "\ny, z = ml_tree_ensemble_classifier x {" NODES("BRANCH_LEQ") ", " more "}\nreturn " out "\n"
#define ONE_CLASS(weights)                                                                         \
    "class_treeids=[0,0], class_nodeids=[1,2], class_ids=[0,0], class_weights=[" weights "]"
#define BOTH                                                                                       \
    "class_treeids=[0,0,0,0], class_nodeids=[1,1,2,2], class_ids=[0,1,0,1], "                      \
    "class_weights=[0.7,0.3,0.2,0.8]"

/* As in ONNX Runtime if one set of weights decides. */
START_TEST(one_set_of_weights_decides_two_classes)
{
    ck_result(CLASSIFY("f32[2,1] {0,1}", ONE_CLASS("0.75,0.25") ", classlabels_int64s=[5,7]", "y"),
        "i64[2] {7,5}");
    ck_result(CLASSIFY("f32[2,1] {0,1}", ONE_CLASS("0.75,0.25") ", classlabels_int64s=[5,7]", "z"),
        "f32[2,2] {0.25,0.75,0.75,0.25}");
    ck_result(CLASSIFY("i64[2,1] {0,1}", ONE_CLASS("-0.75,0.25") ", classlabels_strings=[a,b]",
                  "y"),
        "string[2] {a,b}");
    ck_result(CLASSIFY("i64[2,1] {0,1}", ONE_CLASS("-0.75,0.25") ", classlabels_strings=[a,b]",
                  "z"),
        "f32[2,2] {0.75,-0.75,-0.25,0.25}");
    ck_result_within(CLASSIFY("f32[2,1] {0,1}",
                         ONE_CLASS("-0.7,0.3") ", base_values=[0.1], "
                                               "classlabels_int64s=[5,7], post_transform=LOGISTIC",
                         "z"),
        "f32[2,2] {0.64565628,0.35434371,0.40131235,0.59868766}", 1e-6);
    ck_result(CLASSIFY("f32[2,1] {0,1}",
                  "class_treeids=[0,0], class_nodeids=[1,2], "
                  "class_ids=[1,1], class_weights=[0.75,0.25], classlabels_int64s=[5,7]",
                  "z"),
        "f32[2,2] {0,0.75,0,0.25}");
}
END_TEST

START_TEST(the_largest_score_gives_the_class)
{
    ck_result(CLASSIFY("i32[2,1] {0,1}", BOTH ", classlabels_int64s=[5,7]", "y"), "i64[2] {5,7}");
    ck_result_within(CLASSIFY("i32[2,1] {0,1}",
                         BOTH ", classlabels_int64s=[5,7], "
                              "base_values=[1,2]",
                         "z"),
        "f32[2,2] {1.7,2.3,1.2,2.8}", 1e-6);
    /* A class without a score does not win over a negative score. */
    ck_result(CLASSIFY("f32[2,1] {0,1}",
                  "class_treeids=[0,0], class_nodeids=[1,2], "
                  "class_ids=[0,2], class_weights=[0.7,-0.3], classlabels_int64s=[5,6,7]",
                  "y"),
        "i64[2] {5,7}");
    ck_result(CLASSIFY("f32[2,1] {0,1}",
                  "class_treeids=[0,0], class_nodeids=[1,2], "
                  "class_ids=[0,2], class_weights=[0.7,-0.3], classlabels_int64s=[5,6,7], "
                  "base_values=[0,0.5,0]",
                  "y"),
        "i64[2] {5,6}");
    ck_result(CLASSIFY("f32[2,1] {0,1}", ONE_CLASS("0.7,-0.3") ", classlabels_int64s=[5]", "y"),
        "i64[2] {1,0}");
    ck_result(CLASSIFY("f64[0,1] {}", BOTH ", classlabels_strings=[a,b]", "z"), "f32[0,2] {}");
    ck_type("x = input f32[n,1]\ny, z = ml_tree_ensemble_classifier x {" NODES(
                "LEAF") ", "
                        "classlabels_strings=[a,b,c]}\nreturn z\n",
        "f32[n,3]");
    ck_failure(CLASSIFY("f32[1,1] {0}", BOTH ", classlabels_int64s=[5]", "z"), POPRT_E_ARG,
        "weight 1 is for target 1 of 1");
    ck_failure(CLASSIFY("f32[1,1] {0}", BOTH, "z"), POPRT_E_ARG, "exactly one of the lists");
}
END_TEST

/* Node 0: x0 <= 0.5 ? leaf 0 : node 1. Node 1: x1 in {2, 4} ? leaf 1 : leaf 2. */
#define ENSEMBLE(dtype, modes, yes, no, more)                                                      \
    "x = const " dtype "[4,2] {0,0,1,2,1,3,1,nan}\ny = ml_tree_ensemble x {tree_roots=[0], "       \
    "nodes_featureids=[0,1], nodes_modes=u8[2] {" modes "}, nodes_splits=" dtype "[2] {0.5,0}, "   \
    "nodes_truenodeids=[" yes "], nodes_trueleafs=[1,1], nodes_falsenodeids=[" no                  \
    "], nodes_falseleafs=[0,1], membership_values=" dtype "[3] {2,4,nan}, "                        \
    "leaf_targetids=[0,1,0], leaf_weights=" dtype "[3] {5.25,12.5,-3}, n_targets=2" more           \
    "}\nreturn y\n"

START_TEST(ensemble_follows_modes_and_members)
{
    ck_result(ENSEMBLE("f32", "0,6", "0,1", "1,2", ""), "f32[4,2] {5.25,0,0,12.5,-3,0,-3,0}");
    ck_result(ENSEMBLE("f64", "0,6", "0,1", "1,2", ", nodes_missing_value_tracks_true=[0,1]"),
        "f64[4,2] {5.25,0,0,12.5,-3,0,0,12.5}");
    ck_result(ENSEMBLE("f16", "0,6", "0,1", "1,2", ", aggregate_function=0"),
        "f16[4,2] {5.25,0,0,12.5,-3,0,-3,0}");
    ck_result_within(ENSEMBLE("f32", "0,6", "0,1", "1,2", ", post_transform=2"),
        "f32[4,2] {0.9947799,0.5,0.5,0.9999963,0.04742587,0.5,0.04742587,0.5}", 1e-6);
}
END_TEST

START_TEST(wrong_ensembles_are_refused)
{
    ck_failure(ENSEMBLE("f32", "0,7", "0,1", "1,2", ""), POPRT_E_ARG, "node 1 has mode 7");
    ck_failure(ENSEMBLE("f32", "0,6", "3,1", "1,2", ""), POPRT_E_ARG,
        "node 0 branches to leaf 3, which does not exist");
    ck_failure(ENSEMBLE("f32", "0,6", "0,1", "2,2", ""), POPRT_E_ARG, "node 0 branches to node 2");
    ck_failure(ENSEMBLE("f32", "0,6", "0,1", "0,2", ""), POPRT_E_ARG, "is its own descendant");
    ck_failure(ENSEMBLE("f32", "0,6", "0", "1,2", ""), POPRT_E_ARG,
        "nodes_truenodeids has 1 entries");
    ck_failure(ENSEMBLE("f32", "6,6", "0,1", "1,2", ", aggregate_function=4"), POPRT_E_ARG,
        "aggregate_function is 4");
    ck_failure(ENSEMBLE("f32", "0,6", "0,1", "1,2", ", post_transform=5"), POPRT_E_ARG,
        "post_transform is 5");
    ck_failure("x = const f32[1,1] {0}\ny = ml_tree_ensemble x {tree_roots=[1], n_targets=1, "
               "nodes_modes=u8[0] {}}\nreturn y\n",
        POPRT_E_ARG, "tree_roots[0] is node 1 of 0");
    ck_failure("x = const f32[1,1] {0}\ny = ml_tree_ensemble x {n_targets=1}\nreturn y\n",
        POPRT_E_TYPE, "nodes_modes is not a tensor of uint8");
    ck_failure("x = const f32[1,1] {0}\ny = ml_tree_ensemble x {tree_roots=[0], n_targets=1, "
               "nodes_featureids=[0], nodes_modes=u8[1] {6}, nodes_splits=f32[1] {0}, "
               "nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[0], "
               "nodes_falseleafs=[1], leaf_targetids=[0], leaf_weights=f32[1] {1}}\nreturn y\n",
        POPRT_E_ARG, "membership_values has no set for node 0");
}
END_TEST

PRT_TEST_MAIN("op/ml/tree", every_mode_branches_as_specified, trees_are_aggregated,
    double_thresholds_are_exact, hostile_nodes_are_refused, hostile_weights_are_refused,
    one_set_of_weights_decides_two_classes, the_largest_score_gives_the_class,
    ensemble_follows_modes_and_members, wrong_ensembles_are_refused)
