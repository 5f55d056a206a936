/* SPDX-License-Identifier: MIT */
/*
 * test_optimizer.c — optimizers as objects: keys, value checks, values of single weights, clipping
 * groups, replacement, identity.
 * Covers: optimizer.c, optimizer_compare.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/update_run.h"

static const char *message(void)
{
    return prt_error_last()->message;
}

static void ck_refused(poprt_status got, poprt_status want, const char *part)
{
    ck_assert_msg(got == want, "gives %s (%s)", prt_status_name(got), message());
    ck_assert_msg(strstr(message(), part) != NULL, "says %s, not %s", message(), part);
}

static prt_optimizer *create(const char *kind)
{
    return optimizer_from_text(kind, "");
}

static poprt_status set(prt_optimizer *o, const char *key, float value)
{
    return prt_optimizer_set(o, key, (prt_optimizer_value){ value, true });
}

static double value_of(const prt_optimizer *o, const char *weight, prt_optimizer_value_id id)
{
    return (double)prt_optimizer_value_of(o, prt_str_of(weight), id).value;
}

START_TEST(kinds_have_the_defaults_of_their_family)
{
    static const char *const kinds[] = { "sgd", "const_sgd", "adam", "adamw", "adam_no_bias",
        "adamax", "lamb", "lamb_no_bias", "adagrad", "rmsprop", "centered_rmsprop", "adadelta" };
    for (size_t i = 0; i < PRT_COUNT_OF(kinds); i++) {
        prt_optimizer *o = create(kinds[i]);
        const bool adaptive = prt_optimizer_family_of(o) == PRT_OPTIMIZER_ADAPTIVE;
        ck_assert_uint_eq(prt_optimizer_kind_of(o), i);
        ck_assert_double_eq(value_of(o, "w", PRT_OPTIMIZER_VALUE_learning_rate),
            (double)(adaptive ? 0.01f : 0.1f));
        ck_assert_double_eq(value_of(o, "w", PRT_OPTIMIZER_VALUE_loss_scaling), 1);
        ck_assert(prt_optimizer_loss_scaling(o).is_constant);
        prt_optimizer_release(o);
    }
    prt_optimizer *o = NULL;
    ck_refused(prt_optimizer_create(&prt_mem_libc, "adm", &o), POPRT_E_NOT_FOUND, "adam");
    ck_assert_ptr_null(o);
    prt_optimizer_release(NULL);
}
END_TEST

START_TEST(keys_are_in_camel_case_or_snake_case)
{
    static const char *const keys[] = { "defaultLearningRate", "default_learning_rate",
        "learningRate", "learning_rate" };
    prt_optimizer *o = create("sgd");
    for (size_t i = 0; i < PRT_COUNT_OF(keys); i++) {
        ck_assert_int_eq(set(o, keys[i], 0.5f + (float)i), POPRT_OK);
        ck_assert_double_eq(value_of(o, "w", PRT_OPTIMIZER_VALUE_learning_rate), 0.5 + (double)i);
    }
    ck_refused(set(o, "learning", 1), POPRT_E_NOT_FOUND,
        "sgd has no such value; accepted: defaultLearningRate, defaultWeightDecay, "
        "defaultMomentum, "
        "defaultDampening, defaultVelocityScaling, nesterov, lossScaling");
    ck_refused(set(o, "defaultBeta1", 1), POPRT_E_NOT_FOUND, "accepted: ");
    ck_assert_int_eq(prt_optimizer_set_text(o, "accumulatorAndMomentum", "separate"), POPRT_OK);
    ck_assert_uint_eq(prt_optimizer_setting(o, PRT_OPTIMIZER_SETTING_accumulator_and_momentum), 1);
    ck_refused(prt_optimizer_set_text(o, "accumulator_and_momentum", "Both"), POPRT_E_ARG,
        "Combined");
    ck_refused(prt_optimizer_set_text(o, "weight_decay_mode", "Decay"), POPRT_E_NOT_FOUND,
        "accepted: accumulatorAndMomentum, accumType, accl1Type");
    prt_optimizer_release(o);
}
END_TEST

START_TEST(values_out_of_range_are_refused)
{
    static const struct {
        const char *kind, *key;
        float value;
    } rows[] = { { "sgd", "learning_rate", -1 }, { "sgd", "learning_rate", 0 },
        { "sgd", "weight_decay", -0.1f }, { "sgd", "momentum", -0.1f },
        { "sgd", "dampening", -0.1f }, { "sgd", "velocity_scaling", 0 },
        { "sgd", "loss_scaling", 0 }, { "sgd", "learning_rate", NAN },
        { "sgd", "loss_scaling", INFINITY }, { "adam", "beta1", -0.1f }, { "adam", "beta2", -0.1f },
        { "adam", "eps", 0 }, { "adam", "max_weight_norm", -1 }, { "adam", "learning_rate", 0 },
        { "rmsprop", "alpha", -0.1f }, { "rmsprop", "eps", 0 }, { "rmsprop", "eps", -1 },
        { "rmsprop", "loss_scaling", 0 } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        prt_optimizer *o = create(rows[i].kind);
        ck_refused(set(o, rows[i].key, rows[i].value), POPRT_E_ARG, "is refused; accepted: ");
        prt_optimizer_release(o);
    }
    prt_optimizer *o = create("sgd");
    ck_assert_int_eq(prt_optimizer_set(o, "learning_rate", (prt_optimizer_value){ 0, false }),
        POPRT_OK);
    ck_assert_int_eq(set(o, "dampening", 0.5f), POPRT_OK);
    ck_refused(set(o, "nesterov", 1), POPRT_E_ARG, "dampening is 0.5; with nesterov it must be 0");
    ck_assert_double_eq(value_of(o, "w", PRT_OPTIMIZER_VALUE_nesterov), 0);
    prt_optimizer_release(o);
}
END_TEST

START_TEST(const_sgd_has_three_constant_values)
{
    prt_optimizer *o = create("const_sgd");
    ck_assert_int_eq(set(o, "learning_rate", 0.5f), POPRT_OK);
    ck_refused(set(o, "momentum", 0.5f), POPRT_E_ARG, "use sgd");
    ck_refused(prt_optimizer_set(o, "learning_rate", (prt_optimizer_value){ 1, false }),
        POPRT_E_ARG, "constant");
    ck_refused(prt_optimizer_set_text(o, "accumulator_and_momentum", "Separate"), POPRT_E_ARG,
        "use sgd");
    prt_optimizer_release(o);
}
END_TEST

START_TEST(weights_have_values_of_their_own)
{
    const prt_optimizer_specific given[] = { { "learningRate", { 0.5f, false } },
        { "weight_decay", { 0.25f, true } } };
    const prt_optimizer_specific twice[] = { { "momentum", { 0.5f, true } },
        { "momentum", { 0.25f, true } } };
    const prt_optimizer_specific wrong = { "defaultMomentum", { 0.5f, true } };
    const prt_optimizer_specific scaling = { "lossScaling", { 0.5f, true } };
    const prt_optimizer_specific negative = { "momentum", { -0.5f, true } };
    prt_optimizer *o = optimizer_from_text("sgd", "momentum=0.75");
    ck_assert_int_eq(prt_optimizer_insert_specific(o, "a", 2, given), POPRT_OK);
    ck_assert_int_eq(set(o, "momentum", 0.5f), POPRT_OK);
    ck_assert(prt_optimizer_has_specific(o, PRT_STR("a")));
    ck_assert(!prt_optimizer_has_specific(o, PRT_STR("b")));
    ck_assert_double_eq(value_of(o, "a", PRT_OPTIMIZER_VALUE_learning_rate), 0.5);
    ck_assert_double_eq(value_of(o, "a", PRT_OPTIMIZER_VALUE_weight_decay), 0.25);
    ck_assert_double_eq(value_of(o, "a", PRT_OPTIMIZER_VALUE_momentum), 0.75);
    ck_assert_double_eq(value_of(o, "b", PRT_OPTIMIZER_VALUE_momentum), 0.5);
    ck_refused(prt_optimizer_insert_specific(o, "a", 2, given), POPRT_E_ARG, "already");
    ck_refused(prt_optimizer_insert_specific(o, "b", 2, twice), POPRT_E_ARG, "twice");
    ck_refused(prt_optimizer_insert_specific(o, "b", 1, &wrong), POPRT_E_NOT_FOUND,
        "accepted: learningRate, weightDecay, momentum, dampening, velocityScaling, nesterov");
    ck_refused(prt_optimizer_insert_specific(o, "b", 1, &scaling), POPRT_E_NOT_FOUND, "accepted");
    ck_refused(prt_optimizer_insert_specific(o, "b", 1, &negative), POPRT_E_ARG, "from 0");
    ck_refused(prt_optimizer_insert_specific(o, "", 0, NULL), POPRT_E_ARG, "empty");
    ck_assert(!prt_optimizer_has_specific(o, PRT_STR("b")));
    prt_optimizer_release(o);
}
END_TEST

START_TEST(settings_fit_their_kind)
{
    prt_optimizer *o = create("adagrad");
    ck_refused(prt_optimizer_set_text(o, "rmsprop_tf_variant", "true"), POPRT_E_ARG, "rmsprop");
    ck_assert_int_eq(prt_optimizer_set_text(o, "rmsprop_tf_variant", "false"), POPRT_OK);
    prt_optimizer_release(o);
    o = create("adamw");
    ck_refused(prt_optimizer_set_text(o, "weight_decay_mode", "L2Regularization"), POPRT_E_ARG,
        "use adam");
    ck_refused(prt_optimizer_set_text(o, "use_max_weight_norm", "false"), POPRT_E_ARG, "lamb");
    ck_assert_int_eq(prt_optimizer_set_text(o, "accl1_type", "float16"), POPRT_OK);
    prt_optimizer_release(o);
}
END_TEST

START_TEST(clipping_groups_are_disjoint)
{
    static const char *const ab[] = { "a", "b" }, *const b[] = { "b" }, *const cc[] = { "c", "c" };
    prt_optimizer *o = create("sgd");
    ck_assert_uint_eq(prt_optimizer_clip_group(o, PRT_STR("a")), UINT32_MAX);
    ck_assert_int_eq(prt_optimizer_clip(o, 2, ab, 2), POPRT_OK);
    ck_assert_uint_eq(prt_optimizer_clip_group(o, PRT_STR("b")), 0);
    ck_assert_uint_eq(prt_optimizer_clip_group(o, PRT_STR("c")), UINT32_MAX);
    ck_refused(prt_optimizer_clip(o, 1, b, 3), POPRT_E_ARG, "in a clipping group already");
    ck_refused(prt_optimizer_clip(o, 0, NULL, 3), POPRT_E_ARG, "the only group");
    ck_refused(prt_optimizer_clip(o, 2, cc, 3), POPRT_E_ARG, "in the group twice");
    ck_assert_uint_eq(prt_optimizer_clip_group(o, PRT_STR("c")), UINT32_MAX);
    ck_assert_int_eq(prt_optimizer_clip(o, 1, cc, 3), POPRT_OK);
    ck_assert_uint_eq(prt_optimizer_clip_group(o, PRT_STR("c")), 1);
    ck_assert_double_eq((double)prt_optimizer_clip_max_norm(o, 1), 3);
    ck_assert_uint_eq(prt_optimizer_clip_groups(o), 2);
    prt_optimizer_release(o);
    o = create("adam");
    ck_refused(prt_optimizer_clip(o, 0, NULL, 0), POPRT_E_ARG, "above 0");
    ck_assert_int_eq(prt_optimizer_clip(o, 0, NULL, 3), POPRT_OK);
    ck_assert_uint_eq(prt_optimizer_clip_group(o, PRT_STR("any")), 0);
    ck_assert_uint_eq(prt_optimizer_clip_weights(o, 0).count, 0);
    ck_refused(prt_optimizer_clip(o, 1, b, 3), POPRT_E_ARG, "the only group");
    prt_optimizer_release(o);
    o = create("rmsprop");
    ck_refused(prt_optimizer_clip(o, 0, NULL, 3), POPRT_E_UNSUPPORTED, "does not clip");
    prt_optimizer_release(o);
}
END_TEST

START_TEST(step_counters_start_from_a_number)
{
    prt_optimizer *o = create("adam");
    ck_assert_int_eq(prt_optimizer_set_step(o, NULL, 5), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_set_step(o, "a", 7), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_step(o, PRT_STR("a")), 7);
    ck_assert_int_eq(prt_optimizer_step(o, PRT_STR("b")), 5);
    ck_assert(!prt_optimizer_has_specific(o, PRT_STR("a")));
    ck_refused(prt_optimizer_set_step(o, NULL, -1), POPRT_E_ARG, "not in [0");
    prt_optimizer_release(o);
    o = create("lamb_no_bias");
    ck_refused(prt_optimizer_set_step(o, NULL, 1), POPRT_E_UNSUPPORTED, "no step counter");
    prt_optimizer_release(o);
}
END_TEST

/* A pair of optimizers, and why the second cannot replace the first; NULL: it can. */
typedef struct replacement {
    const char *kinds[2], *texts[2], *reason;
} replacement;

static const replacement replacements[] = {
    { { "sgd", "sgd" }, { "learning_rate=0.1?", "learning_rate=0.2?" }, NULL },
    { { "sgd", "sgd" }, { "momentum=0.5", "momentum=0.5" }, NULL },
    { { "adam", "adamw" }, { "", "" }, NULL },
    { { "sgd", "const_sgd" }, { "", "" }, NULL },
    { { "sgd", "adam" }, { "", "" }, "made for the optimizer sgd" },
    { { "adam", "lamb" }, { "", "" }, "made for the optimizer adam" },
    { { "sgd", "sgd" }, { "learning_rate=0.1", "learning_rate=0.2" }, "the constant 0.1" },
    { { "sgd", "sgd" }, { "learning_rate=0.1", "learning_rate=0.1?" },
        "a variable value cannot replace a constant one" },
    { { "sgd", "sgd" }, { "momentum=0?", "momentum=0" }, "a constant value cannot replace" },
    { { "sgd", "sgd" }, { "dampening=0.5", "dampening=0.25" }, "the constant 0.5" },
    { { "sgd", "sgd" }, { "velocity_scaling=2", "velocity_scaling=3" }, "the constant 2" },
    { { "sgd", "sgd" }, { "loss_scaling=2", "loss_scaling=3" }, "the constant 2" },
    { { "sgd", "sgd" }, { "weight_decay=2", "weight_decay=3" }, "the constant 2" },
    { { "sgd", "sgd" }, { "nesterov=1?", "nesterov=0?" }, "cannot be switched" },
    { { "sgd", "sgd" }, { "accl1_type=FLOAT", "" }, "the setting differs" },
    { { "sgd", "sgd" }, { "accum_type=FLOAT", "" }, "the setting differs" },
    { { "sgd", "sgd" }, { "accumulator_and_momentum=Separate", "" }, "the setting differs" },
    { { "adam", "adam" }, { "weight_decay_mode=L2Regularization", "" }, "the setting differs" },
    { { "adam", "adam" }, { "scaled_optimizer_state=true", "" }, "the setting differs" },
    { { "adam", "adam" }, { "beta1=0.5?", "beta1=0.6?" }, NULL },
    { { "adam", "adam" }, { "beta2=0.5", "beta2=0.6" }, "the constant 0.5" },
    { { "rmsprop", "rmsprop" }, { "rmsprop_tf_variant=true", "" }, "the setting differs" },
    { { "rmsprop", "rmsprop" }, { "alpha=0.5", "alpha=0.6" }, "the constant 0.5" },
};

START_TEST(replacements_keep_what_a_program_was_made_for)
{
    for (size_t i = 0; i < PRT_COUNT_OF(replacements); i++) {
        const replacement *r = &replacements[i];
        prt_optimizer *a = optimizer_from_text(r->kinds[0], r->texts[0]);
        prt_optimizer *b = optimizer_from_text(r->kinds[1], r->texts[1]);
        const poprt_status status = prt_optimizer_check_replacement(a, b);
        if (r->reason != NULL)
            ck_refused(status, POPRT_E_ARG, r->reason);
        else
            ck_assert_msg(status == POPRT_OK, "row %zu: %s", i, message());
        prt_optimizer_release(a);
        prt_optimizer_release(b);
    }
}
END_TEST

START_TEST(replacements_have_the_same_weights_and_groups)
{
    static const char *const names[] = { "a", "b" };
    const prt_optimizer_specific rate = { "learning_rate", { 0.5f, false } };
    const prt_optimizer_specific other = { "learning_rate", { 0.75f, false } };
    const prt_optimizer_specific fixed = { "learning_rate", { 0.5f, true } };
    prt_optimizer *a = create("sgd"), *b = create("sgd");
    ck_assert_int_eq(prt_optimizer_insert_specific(a, "a", 1, &rate), POPRT_OK);
    ck_refused(prt_optimizer_check_replacement(a, b), POPRT_E_ARG, "has none now");
    ck_refused(prt_optimizer_check_replacement(b, a), POPRT_E_ARG, "has some now");
    ck_assert_int_eq(prt_optimizer_insert_specific(b, "a", 1, &other), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_check_replacement(a, b), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_insert_specific(a, "b", 1, &rate), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_insert_specific(b, "b", 1, &fixed), POPRT_OK);
    ck_refused(prt_optimizer_check_replacement(a, b), POPRT_E_ARG, "a constant value");
    ck_assert_str_eq(prt_error_last()->subject, "defaultLearningRate of b");
    prt_optimizer_release(a);
    prt_optimizer_release(b);
    a = create("sgd");
    b = create("sgd");
    ck_assert_int_eq(prt_optimizer_clip(a, 2, names, 1), POPRT_OK);
    ck_refused(prt_optimizer_check_replacement(a, b), POPRT_E_ARG, "0 groups instead of 1");
    ck_assert_int_eq(prt_optimizer_clip(b, 1, names, 1), POPRT_OK);
    ck_refused(prt_optimizer_check_replacement(a, b), POPRT_E_ARG, "other weights");
    prt_optimizer_release(b);
    b = create("sgd");
    ck_assert_int_eq(prt_optimizer_clip(b, 2, names, 2), POPRT_OK);
    ck_refused(prt_optimizer_check_replacement(a, b), POPRT_E_ARG, "norm 2 instead of 1");
    prt_optimizer_release(a);
    prt_optimizer_release(b);
}
END_TEST

static bool same_identity(const prt_optimizer *a, const prt_optimizer *b)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    const prt_str x = prt_optimizer_identity(a, arena), y = prt_optimizer_identity(b, arena);
    ck_assert_ptr_nonnull(x.data);
    ck_assert_ptr_nonnull(y.data);
    const bool same = prt_str_equal(x, y);
    prt_arena_release(arena);
    return same;
}

START_TEST(identity_has_what_is_constant)
{
    for (size_t i = 0; i < PRT_COUNT_OF(replacements); i++) {
        const replacement *r = &replacements[i];
        prt_optimizer *a = optimizer_from_text(r->kinds[0], r->texts[0]);
        prt_optimizer *b = optimizer_from_text(r->kinds[1], r->texts[1]);
        ck_assert_msg(same_identity(a, b) == (r->reason == NULL), "row %zu", i);
        prt_optimizer_release(a);
        prt_optimizer_release(b);
    }
}
END_TEST

/* Fills an optimizer with everything that it can hold. */
static poprt_status fill(prt_optimizer *o)
{
    static const char *const ab[] = { "a", "b" }, *const c[] = { "c" };
    const prt_optimizer_specific rate = { "learning_rate", { 0.5f, false } };
    PRT_TRY(set(o, "weight_decay", 0.5f));
    PRT_TRY(prt_optimizer_set_text(o, "accl1_type", "FLOAT16"));
    PRT_TRY(prt_optimizer_insert_specific(o, "weight with a long name", 1, &rate));
    PRT_TRY(prt_optimizer_insert_specific(o, "a", 1, &rate));
    PRT_TRY(prt_optimizer_clip(o, 2, ab, 1));
    PRT_TRY(prt_optimizer_clip(o, 1, c, 2));
    return prt_optimizer_set_step(o, "d", 3);
}

START_TEST(copies_are_equal_and_independent)
{
    prt_optimizer *o = create("adam"), *copy = NULL;
    ck_assert_int_eq(fill(o), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_copy(o, &prt_mem_libc, &copy), POPRT_OK);
    ck_assert(same_identity(o, copy));
    ck_assert_int_eq(prt_optimizer_check_replacement(o, copy), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_set_step(copy, "d", 4), POPRT_OK);
    ck_assert(!same_identity(o, copy));
    prt_optimizer_release(o);
    ck_assert_int_eq(prt_optimizer_step(copy, PRT_STR("d")), 4);
    ck_assert_uint_eq(prt_optimizer_clip_group(copy, PRT_STR("b")), 0);
    prt_optimizer_release(copy);
}
END_TEST

static void *refuse_after(void *user, size_t size, size_t align)
{
    int *left = user;
    return --*left < 0 ? NULL : prt_mem_libc.alloc(NULL, size, align);
}

static void release_memory(void *user, void *memory)
{
    (void)user;
    prt_mem_libc.release(NULL, memory);
}

START_TEST(refused_memory_fails_and_leaks_nothing)
{
    poprt_status status = POPRT_E_NOMEM;
    for (int n = 0; status != POPRT_OK; n++) {
        int left = n;
        const prt_allocator allocator = { .user = &left,
            .alloc = refuse_after,
            .release = release_memory };
        prt_optimizer *o = NULL, *copy = NULL;
        ck_assert_int_lt(n, 1000);
        status = prt_optimizer_create(&allocator, "adam", &o);
        for (int i = 0; status == POPRT_OK && i < 200; i++) {
            char name[32];
            (void)snprintf(name, sizeof(name), "weight%d", i);
            status = prt_optimizer_set_step(o, name, i);
        }
        if (status == POPRT_OK)
            status = fill(o);
        if (status == POPRT_OK)
            status = prt_optimizer_copy(o, &allocator, &copy);
        ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
        prt_optimizer_release(copy);
        prt_optimizer_release(o);
    }
}
END_TEST

PRT_TEST_MAIN("train/optimizer", kinds_have_the_defaults_of_their_family,
    keys_are_in_camel_case_or_snake_case, values_out_of_range_are_refused,
    const_sgd_has_three_constant_values, weights_have_values_of_their_own, settings_fit_their_kind,
    clipping_groups_are_disjoint, step_counters_start_from_a_number,
    replacements_keep_what_a_program_was_made_for, replacements_have_the_same_weights_and_groups,
    identity_has_what_is_constant, copies_are_equal_and_independent,
    refused_memory_fails_and_leaks_nothing)
