/* SPDX-License-Identifier: MIT */
/* test_policy.c — the policy that options of compiling and kernels give, and the options of passes
 * that follow from it. */
#include "compiler/policy.h"

#include "base/status.h"
#include "support/check_main.h"

static const prt_policy_options defaults = { .winograd = "auto",
    .weights = "f32",
    .compute = "model",
    .winograd_growth = 10,
    .bf16x3 = true };

static prt_policy policy_of(const prt_policy_options *options, const prt_kern *kern)
{
    prt_policy policy;
    ck_assert_int_eq(prt_policy_choose(options, kern, &policy), POPRT_OK);
    return policy;
}

static void multiply_nothing(const prt_bf16x3_block *g)
{
    (void)g;
}

START_TEST(auto_follows_the_kernels)
{
    const prt_kern avx2 = { .level = "avx2" }, portable = { .level = "portable" };
    const prt_kern amx = { .level = "avx512_amx", .bf16x3 = { .multiply = multiply_nothing } };
    prt_policy p = policy_of(&defaults, &avx2);
    ck_assert_int_eq(p.tiles, PRT_TILES_largest);
    ck_assert_int_eq(p.products, PRT_PRODUCTS_avx2);
    p = policy_of(&defaults, &portable);
    ck_assert_int_eq(p.tiles, PRT_TILES_large);
    ck_assert_int_eq(p.products, PRT_PRODUCTS_float32);
    p = policy_of(&defaults, NULL);
    ck_assert_int_eq(p.tiles, PRT_TILES_large);
    p = policy_of(&defaults, &amx);
    ck_assert_int_eq(p.tiles, PRT_TILES_split);
    ck_assert_int_eq(p.products, PRT_PRODUCTS_split);
    prt_policy_options exact = defaults;
    exact.bf16x3 = false;
    p = policy_of(&exact, &amx);
    ck_assert_int_eq(p.tiles, PRT_TILES_large);
    ck_assert_int_eq(p.products, PRT_PRODUCTS_float32);
}
END_TEST

START_TEST(a_chosen_tile_stays)
{
    const prt_kern avx2 = { .level = "avx2" };
    prt_policy_options options = defaults;
    options.winograd = "small";
    ck_assert_int_eq(policy_of(&options, &avx2).tiles, PRT_TILES_small);
    options.winograd = "off";
    ck_assert_int_eq(policy_of(&options, NULL).tiles, PRT_TILES_off);
}
END_TEST

START_TEST(weights_must_go_with_the_arithmetic)
{
    static const struct {
        const char *weights, *compute;
        bool fits;
    } rows[] = { { "f16", "model", true }, { "i4", "f32", true }, { "f32", "bf16", true },
        { "bf16", "bf16", true }, { "i8", "bf16", false }, { "i8", "i8", true },
        { "i4", "i8", true }, { "i4", "bf16", false }, { "f16", "i8", false } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        prt_policy_options options = defaults;
        prt_policy policy;
        options.weights = rows[i].weights;
        options.compute = rows[i].compute;
        ck_assert_int_eq(prt_policy_choose(&options, NULL, &policy),
            rows[i].fits ? POPRT_OK : POPRT_E_ARG);
        if (!rows[i].fits)
            ck_assert_ptr_nonnull(strstr(prt_error_last()->message, rows[i].weights));
    }
}
END_TEST

START_TEST(passes_take_the_policy_and_refuse_other_words)
{
    prt_pass_manager *manager;
    const prt_policy policy = policy_of(&defaults, NULL);
    const prt_pass_arg wrong = { "winograd", "huge" };
    ck_assert_int_eq(prt_pass_manager_create(NULL, &manager), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add_pipeline(manager, "inference", NULL), POPRT_OK);
    ck_assert_int_eq(prt_policy_apply(&policy, manager), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(manager, "channels_last", 1, &wrong), POPRT_E_ARG);
    ck_assert_str_eq(prt_error_last()->message,
        "option winograd of pass channels_last must be one of off, small, large, largest, split, "
        "not 'huge'");
    prt_pass_manager_release(manager);
}
END_TEST

PRT_TEST_MAIN("compiler/policy", auto_follows_the_kernels, a_chosen_tile_stays,
    weights_must_go_with_the_arithmetic, passes_take_the_policy_and_refuse_other_words)
