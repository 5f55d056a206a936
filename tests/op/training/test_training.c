/* SPDX-License-Identifier: MIT */
/*
 * test_training.c — operators of training programs: values, refused inputs, NaN and infinity.
 * Covers: accumulate.c, sgd.c, adam.c, adaptive.c, statistics.c, update.c.
 */
#include "op/op.h"
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(accumulate_adds_gradients)
{
    ck_result("a = const f32[3] {1,2,3}\ng = const f32[3] {10,20,30}\ny = accumulate a g\n"
              "return y\n",
        "f32[3] {11,22,33}");
    ck_result("a = const f32[2] {1,2}\ng = const f16[2] {0.5,4}\ny = accumulate a g\nreturn y\n",
        "f32[2] {1.5,6}");
    ck_result("a = const f32[2] {nan,inf}\ng = const f32[2] {1,2}\nc = const i64[] {0}\n"
              "y = accumulate a g c\nreturn y\n",
        "f32[2] {1,2}");
    ck_result("a = const f32[2] {nan,inf}\ng = const f32[2] {1,-inf}\nc = const i64[] {1}\n"
              "y = accumulate a g c\nreturn y\n",
        "f32[2] {nan,nan}");
}
END_TEST

START_TEST(accumulate_keeps_a_running_mean)
{
    const char *graph = "a = const f32[2] {1,2}\nb = const f32[2] {2,4}\nd = const f32[2] {6,9}\n"
                        "n0 = const f32[1] {0}\nn1 = const f32[1] {1}\nn2 = const f32[1] {2}\n"
                        "z = const f32[2] {nan,nan}\nx = accumulate z a n0 {mode=\"mean\"}\n"
                        "y = accumulate x b n1 {mode=\"mean\"}\n"
                        "r = accumulate y d n2 {mode=\"mean\"}\nreturn r\n";
    ck_result_within(graph, "f32[2] {3,5}", 1e-6);
}
END_TEST

START_TEST(assign_copies_converts_and_fills)
{
    ck_result("a = const f32[2] {1,2}\nb = const f32[2] {3,nan}\ny = assign a b\nreturn y\n",
        "f32[2] {3,nan}");
    ck_result("a = const f16[3] {1,2,3}\nb = const f32[] {0}\ny = assign a b\nreturn y\n",
        "f16[3] {0,0,0}");
    ck_result("a = const i64[2] {1,2}\nb = const i32[2] {7,-8}\ny = assign a b\nreturn y\n",
        "i64[2] {7,-8}");
    ck_failure("a = const f32[2] {1,2}\nb = const f32[3] {1,2,3}\ny = assign a b\nreturn y\n",
        POPRT_E_SHAPE, "a dim of the value");
    ck_failure("a = const f32[2] {1,2}\nb = const f32[1,2] {1,2}\ny = assign a b\nreturn y\n",
        POPRT_E_SHAPE, "rank 2");
}
END_TEST

/* w = 1, g = 2; learning rate 0.5, decay factor 0.75. */
#define SGD                                                                                        \
    "w = const f32[1] {1}\ng = const f32[1] {2}\nr = const f32[] {0.5}\nd = const f32[] {0.75}\n"

START_TEST(sgd_update_clips_and_decays)
{
    ck_result(SGD "y = sgd_update w _ g r d\nreturn y\n", "f32[1] {-0.25}");
    ck_result(SGD "c = const f32[] {0.5}\ny = sgd_update w _ g r d _ _ _ _ _ _ c\nreturn y\n",
        "f32[1] {0.25}");
    ck_result("w = const f32[2] {1,1}\ng = const f32[2] {nan,inf}\nr = const f32[] {0.5}\n"
              "d = const f32[] {1}\ny = sgd_update w _ g r d\nreturn y\n",
        "f32[2] {nan,-inf}");
}
END_TEST

START_TEST(sgd_update_refuses_inputs_that_do_not_fit)
{
    ck_failure(SGD "y = sgd_update w w g r d\nreturn y\n", POPRT_E_ARG, "it must be absent");
    ck_failure(SGD "y = sgd_update w _ g r d {momentum=\"combined\"}\nreturn y\n", POPRT_E_ARG,
        "input 1 (V) is missing");
    ck_failure(SGD "y = sgd_update w _ g r d {momentum=\"fast\"}\nreturn y\n", POPRT_E_ARG,
        "accepted: none, combined, separate");
    ck_failure(SGD "y = sgd_update w _ g r d {nesterov=1}\nreturn y\n", POPRT_E_ARG,
        "nesterov needs momentum");
    ck_failure(SGD "y = sgd_update w _ g r d {replicas=0}\nreturn y\n", POPRT_E_ARG, "at least 1");
    ck_failure("w = const f32[2] {1,1}\ng = const f32[3] {1,2,3}\nr = const f32[] {1}\n"
               "y = sgd_update w _ g r r\nreturn y\n",
        POPRT_E_SHAPE, "a dim of a state or gradient");
    ck_failure("w = const f32[2] {1,1}\nr = const f32[2] {1,2}\ny = sgd_update w _ w r r\n"
               "return y\n",
        POPRT_E_SHAPE, "one element");
    ck_failure("w = const f64[1] {1}\nr = const f32[] {1}\ny = sgd_update w _ w r r\nreturn y\n",
        POPRT_E_TYPE, "either all inputs or none are float64");
}
END_TEST

#define ADAM                                                                                       \
    "w = const f32[2] {1,1}\nm = const f32[2] {0,0}\nv = const f32[2] {0,0}\n"                     \
    "t = const f32[] {0}\ng = const f32[2] {2,-3}\nr = const f32[] {0.5}\nd = const f32[] {0}\n"   \
    "b = const f32[] {0.5}\ne = const f32[] {1}\ns = const f32[] {1}\n"

START_TEST(adam_update_refuses_inputs_that_do_not_fit)
{
    ck_failure(ADAM "y, p, q, z = adam_update w m v _ _ g r d b b e s\nreturn y\n", POPRT_E_ARG,
        "input 3 (Step) is missing");
    ck_failure(ADAM "y, p, q, z = adam_update w m v t t g r d b b e s\nreturn y\n", POPRT_E_ARG,
        "input 12 (loss_scaling) is missing");
    ck_failure(ADAM "y, p, q, z = adam_update w m v t _ g r d b b e s {mode=\"lamb\"}\nreturn y\n",
        POPRT_E_ARG, "input 15 (weight_squares) is missing");
    ck_failure(ADAM "y, p, q, z = adam_update w m v t _ g r d b b e s _ _ r\nreturn y\n",
        POPRT_E_ARG, "max_weight_norm");
    ck_failure(ADAM
        "y, p, q, z = adam_update w m v t _ g r d b b e s {weight_decay_mode=\"no\"}\nreturn y\n",
        POPRT_E_ARG, "accepted: decay, l2");
    ck_failure(ADAM "y, p, q, z = adam_update w m v g _ g r d b b e s\nreturn y\n", POPRT_E_SHAPE,
        "one element");
}
END_TEST

START_TEST(adam_update_propagates_nan_and_infinity)
{
    const char *adamax = "w = const f32[3] {1,1,1}\nm = const f32[3] {0,0,0}\n"
                         "v = const f32[3] {nan,0,0}\nt = const f32[] {0}\n"
                         "g = const f32[3] {1,nan,inf}\nr = const f32[] {0.5}\n"
                         "d = const f32[] {0}\nb = const f32[] {0.5}\ne = const f32[] {1}\n"
                         "y, n, u, z = adam_update w m v t _ g r d b b e r {mode=\"adamax\"}\n"
                         "return u\n";
    ck_result(adamax, "f32[3] {nan,nan,inf}");
}
END_TEST

START_TEST(adaptive_update_refuses_inputs_that_do_not_fit)
{
    ck_failure(ADAM "y, p = adaptive_update w v _ _ g r d _ _ e s\nreturn y\n", POPRT_E_ARG,
        "input 7 (alpha) is missing");
    ck_failure(ADAM "y, p = adaptive_update w v _ m g r d b _ e s\nreturn y\n", POPRT_E_ARG,
        "input 8 (momentum) is missing");
    ck_failure(ADAM "y, p = adaptive_update w v m _ g r d b _ e s\nreturn y\n", POPRT_E_ARG,
        "input 2 (A2) is not used");
    ck_failure(ADAM
        "y, p = adaptive_update w v _ _ g r d _ _ e s {mode=\"adagrad\", tf_variant=1}\n"
        "return y\n",
        POPRT_E_ARG, "tf_variant needs");
}
END_TEST

START_TEST(norms_have_one_sum_for_each_block)
{
    ck_result(SGD "y = sgd_norm w _ g r d\nreturn y\n", "f64[1] {4}");
    ck_result(ADAM "y = adam_norm g r\nreturn y\n", "f64[1] {3.25}");
    ck_result(ADAM "y = adam_norm g r w s\nreturn y\n", "f64[1] {4.25}");
    ck_type("w = input f32[5000]\nr = input f32[]\ny = sgd_norm w _ w r r\nreturn y\n", "f64[2]");
    ck_type("w = input f32[0,7]\nr = input f32[]\ny = sgd_norm w _ w r r\nreturn y\n", "f64[0]");
    ck_type("w = input f32[n]\nr = input f32[]\ny = sgd_norm w _ w r r\nreturn y\n", "f64[?]");
}
END_TEST

START_TEST(clip_factor_bounds_the_global_norm)
{
    ck_result("m = const f32[] {1}\na = const f64[2] {4,5}\nb = const f64[1] {7}\n"
              "f, n = clip_factor m a b\nreturn f\n",
        "f32[] {0.25}");
    ck_result("m = const f32[] {1}\na = const f64[2] {4,5}\nb = const f64[1] {7}\n"
              "f, n = clip_factor m a b\nreturn n\n",
        "f32[] {4}");
    ck_result("m = const f32[] {8}\na = const f64[1] {16}\nf = clip_factor m a\nreturn f\n",
        "f32[] {1}");
    ck_result("m = const f32[] {8}\na = const f64[1] {nan}\nf = clip_factor m a\nreturn f\n",
        "f32[] {nan}");
    ck_result("m = const f32[] {8}\na = const f64[1] {inf}\nf = clip_factor m a\nreturn f\n",
        "f32[] {0}");
    ck_failure("m = const f32[] {8}\na = const f64[] {1}\nf = clip_factor m a\nreturn f\n",
        POPRT_E_SHAPE, "a norm has rank 1");
}
END_TEST

START_TEST(overflow_count_adds_a_histogram)
{
    ck_result("c = const i64[2] {10,20}\nx = const f16[4] {1,-2,3,nan}\n"
              "y = const f32[3] {-inf,0,1.5}\nr = overflow_count c x y {edge=2}\nreturn r\n",
        "i64[2] {13,24}");
    ck_failure("c = const i64[3] {0,0,0}\nx = const f16[1] {1}\nr = overflow_count c x\nreturn r\n",
        POPRT_E_SHAPE, "2 elements");
    ck_failure("c = const i64[2] {0,0}\nx = const f16[1] {1}\nr = overflow_count c x {edge=-1}\n"
               "return r\n",
        POPRT_E_ARG, "at least 0");
}
END_TEST

START_TEST(updates_are_marked_as_such)
{
    static const uint32_t writers[] = { PRT_OP_accumulate, PRT_OP_assign, PRT_OP_sgd_update,
        PRT_OP_adam_update, PRT_OP_adaptive_update, PRT_OP_overflow_count };
    static const uint32_t readers[] = { PRT_OP_sgd_norm, PRT_OP_adam_norm, PRT_OP_lamb_norm,
        PRT_OP_clip_factor };
    for (size_t i = 0; i < PRT_COUNT_OF(writers); i++) {
        const prt_op_def *def = prt_op_of(writers[i]);
        ck_assert((def->traits & PRT_UPDATES) != 0 && (def->traits & PRT_PURE) == 0);
        for (uint32_t k = 0; k < def->n_out; k++)
            ck_assert_str_eq(def->out[k].var, def->in[k].var);
    }
    for (size_t i = 0; i < PRT_COUNT_OF(readers); i++)
        ck_assert((prt_op_of(readers[i])->traits & (PRT_UPDATES | PRT_PURE)) == PRT_PURE);
}
END_TEST

PRT_TEST_MAIN("op/training", accumulate_adds_gradients, accumulate_keeps_a_running_mean,
    assign_copies_converts_and_fills, sgd_update_clips_and_decays,
    sgd_update_refuses_inputs_that_do_not_fit, adam_update_refuses_inputs_that_do_not_fit,
    adam_update_propagates_nan_and_infinity, adaptive_update_refuses_inputs_that_do_not_fit,
    norms_have_one_sum_for_each_block, clip_factor_bounds_the_global_norm,
    overflow_count_adds_a_histogram, updates_are_marked_as_such)
