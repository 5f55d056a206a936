/* SPDX-License-Identifier: MIT */
/* test_noise.c — which values added rounding errors move, how far, and what comes of it. */
#include "fuzz/noise.h"

#include <math.h>

#include "ir/interp.h"
#include "support/check_main.h"
#include "support/graph_text.h"

/* Output 0 on one input; lives as long as the module. */
static prt_tensor result_of(const prt_graph *g, const prt_tensor *x)
{
    prt_tensor out;
    const prt_tensor *in[] = { x };
    ck_assert_int_eq(prt_ir_run(g, 1, in, 1, &out, g->module->arena), POPRT_OK);
    return out;
}

/* The distance between the results with and without noise. */
static double moved(const char *text, const prt_tensor *x, double unit, uint64_t seed)
{
    prt_graph *plain = graph_from_text(text), *noisy = graph_from_text(text);
    ck_assert_int_eq(fuzz_add_noise(noisy->module, unit, seed), POPRT_OK);
    const prt_tensor a = result_of(noisy, x), b = result_of(plain, x);
    const double distance = fuzz_distance(&a, &b);
    module_free(plain);
    module_free(noisy);
    return distance;
}

static float odd[4] = { 0.3f, -1.7f, 100.2f, 5e-4f }, even[4] = { 0.25f, -3, 64, INFINITY };

static prt_tensor tensor_of(float *data)
{
    const int64_t dims[1] = { 4 };
    prt_tensor t;
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, 1, dims, data));
    return t;
}

START_TEST(values_move_by_some_units)
{
    static const char *const half = "x = input f32[4]\nh = cast x {to=10}\ny = neg h\nreturn y\n";
    const prt_tensor x = tensor_of(odd);
    double most = 0, most_half = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        most = fmax(most,
            moved("x = input f32[4]\ny = neg x\nz = abs y\nreturn z\n", &x, 0x1p-24, seed));
        most_half = fmax(most_half, moved(half, &x, 0x1p-24, seed));
    }
    ck_assert_double_gt(most, 0);
    ck_assert_double_le(most, 8 * 0x1p-24);
    ck_assert_double_gt(most_half, 0x1p-13);
    ck_assert_double_le(most_half, 12 * 0x1p-11);
}
END_TEST

START_TEST(numbers_of_every_type_stay)
{
    const prt_tensor x = tensor_of(even), y = tensor_of(odd);
    for (uint64_t seed = 0; seed < 8; seed++)
        ck_assert_double_eq(moved("x = input f32[4]\ny = neg x\nz = neg y\nreturn z\n", &x, 0x1p-8,
                                seed),
            0);
    /* Inputs stay where no pass rounds them, and so does what is only moved. */
    ck_assert_double_eq(moved("x = input f32[4]\nh = const i64[2] {2,2}\ny = reshape x h\n"
                              "z = transpose y\nreturn z\n",
                            &y, 0x1p-24, 1),
        0);
    ck_assert_double_gt(moved("x = input f32[4]\ny = identity x\nreturn y\n", &y, 0x1p-11, 1), 0);
}
END_TEST

/* The rows of a normalised value add up to 0, or nearly. */
START_TEST(steps_are_found)
{
    static const char *const text =
        "x = input f32[4]\ng = const f32[] {1}\nn = layer_normalization x g\n"
        "s = reduce_sum n {keepdims=0}\nt = mul s s\ne = const f32[] {1e-8}\n"
        "c = greater t e\ny = if c {\n  then_branch { return x }\n"
        "  else_branch { a = neg x; return a }\n}\nreturn y\n";
    const prt_tensor x = tensor_of(odd);
    double plain = 0, noisy = 0;
    for (uint64_t seed = 0; seed < 16; seed++) {
        plain = fmax(plain, moved(text, &x, 0x1p-24, seed));
        noisy = fmax(noisy, moved(text, &x, 0x1p-11, seed));
    }
    ck_assert_double_lt(plain, 1e-5);
    ck_assert_double_gt(noisy, 1.9);
}
END_TEST

START_TEST(distance_is_relative_and_infinite_for_other_shapes)
{
    float a[4] = { 1, 2, INFINITY, 4 }, b[4] = { 1, 2.5f, INFINITY, 5 };
    prt_tensor x = tensor_of(a), y = tensor_of(b);
    ck_assert_double_eq_tol(fuzz_distance(&x, &y), 0.2, 1e-12);
    ck_assert_double_eq(fuzz_distance(&x, &x), 0);
    b[2] = 3;
    ck_assert(isinf(fuzz_distance(&x, &y)));
    b[2] = INFINITY;
    y.dims[0] = 3;
    ck_assert(isinf(fuzz_distance(&x, &y)));
}
END_TEST

PRT_TEST_MAIN("fuzz/noise", values_move_by_some_units, numbers_of_every_type_stay, steps_are_found,
    distance_is_relative_and_infinite_for_other_shapes)
