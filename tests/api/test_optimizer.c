/* SPDX-License-Identifier: MIT */
/* test_optimizer.c — optimizers through the public interface; tests/train has their results. */
#include "api_test.h"
#include "poprt/train.h"

#include <math.h>

static void ck_value(const poprt_optimizer *o, const char *weight, const char *key, float want,
    int32_t constant)
{
    float value = NAN;
    int32_t is_constant = -1;
    ck_assert_ok(poprt_optimizer_get(o, weight, key, &value, &is_constant));
    ck_assert_float_eq(value, want);
    ck_assert_int_eq(is_constant, constant);
}

START_TEST(values_are_set_for_all_weights_or_one)
{
    poprt_optimizer *o = NULL, *copy = NULL;
    const poprt_optimizer_value values[] = { { "learningRate", 0.5f, 0 },
        { "momentum", 0.75f, 1 } };
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &o));
    ck_value(o, NULL, "defaultLearningRate", 0.1f, 1);
    ck_assert_ok(poprt_optimizer_set(o, "default_learning_rate", 0.25f, 0));
    ck_assert_ok(poprt_optimizer_set_text(o, "accumulator_and_momentum", "Separate"));
    ck_assert_ok(poprt_optimizer_insert_specific(o, "w", 2, values));
    ck_assert_ok(poprt_optimizer_copy(o, &copy));
    poprt_optimizer_release(o);
    ck_value(copy, NULL, "learning_rate", 0.25f, 0);
    ck_value(copy, "v", "learning_rate", 0.25f, 0);
    ck_value(copy, "w", "learning_rate", 0.5f, 0);
    ck_value(copy, "w", "momentum", 0.75f, 1);
    ck_value(copy, "w", "loss_scaling", 1, 1);
    poprt_optimizer_release(copy);
}
END_TEST

START_TEST(errors_say_what_is_accepted)
{
    poprt_optimizer *o = NULL;
    const poprt_optimizer_value wrong = { "beta1", 0.5f, 1 }, unnamed = { NULL, 0.5f, 1 };
    const char *const weights[] = { "w", NULL };
    float value;
    int32_t constant;
    ck_assert_fails(poprt_optimizer_create(NULL, "sdg", &o), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "sgd"));
    ck_assert_fails(poprt_optimizer_create(NULL, NULL, &o), POPRT_E_ARG);
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &o));
    ck_assert_fails(poprt_optimizer_set(o, "beta1", 0.5f, 1), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "defaultMomentum"));
    ck_assert_fails(poprt_optimizer_set(o, "momentum", -1, 1), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_set_text(o, "accl1_type", "FLOAT8"), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_set_text(o, NULL, "FLOAT"), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_insert_specific(o, "w", 1, &wrong), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_optimizer_insert_specific(o, "w", 1, &unnamed), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_insert_specific(o, "w", 1, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_insert_specific(o, "w", SIZE_MAX, &wrong), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_clip(o, 2, weights, 1), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_clip(o, 1, weights, -1), POPRT_E_ARG);
    ck_assert_fails(poprt_optimizer_set_step(o, NULL, 1), POPRT_E_UNSUPPORTED);
    ck_assert_fails(poprt_optimizer_get(o, "w", "beta1", &value, &constant), POPRT_E_NOT_FOUND);
    poprt_optimizer_release(o);
    poprt_optimizer_release(NULL);
}
END_TEST

START_TEST(replacements_are_checked)
{
    poprt_optimizer *a = NULL, *b = NULL;
    const char *const weight = "w";
    ck_assert_ok(poprt_optimizer_create(NULL, "adam", &a));
    ck_assert_ok(poprt_optimizer_copy(a, &b));
    ck_assert_ok(poprt_optimizer_check_replacement(a, b));
    ck_assert_ok(poprt_optimizer_set(b, "beta1", 0.5f, 1));
    ck_assert_fails(poprt_optimizer_check_replacement(a, b), POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "defaultBeta1");
    poprt_optimizer_release(b);
    ck_assert_ok(poprt_optimizer_copy(a, &b));
    ck_assert_ok(poprt_optimizer_clip(b, 1, &weight, 1));
    ck_assert_fails(poprt_optimizer_check_replacement(a, b), POPRT_E_ARG);
    ck_assert_ok(poprt_optimizer_set_step(b, weight, 3));
    poprt_optimizer_release(a);
    poprt_optimizer_release(b);
}
END_TEST

PRT_TEST_MAIN("api/optimizer", values_are_set_for_all_weights_or_one, errors_say_what_is_accepted,
    replacements_are_checked)
