/* SPDX-License-Identifier: MIT */
/* test_bias.c — sums with a bias and what follows them.
 * Values are those of onnxruntime 1.31.1 or, where it has no kernel for CPUs, of numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(gelus)
{
    ck_result_near(
        "x0 = const f32[2,3] {0.899999976,0.699999988,0.800000012,-0.200000003,-0.5,"
        "0.699999988}\n"
        "x1 = const f32[3] {0.600000024,0.300000012,-0.800000012}\n"
        "y0 = ms_fast_gelu x0 x1\n"
        "return y0\n",
        "f32[2,3] {1.39957154,0.841192007,0,0.262161195,-0.0841485709,-0.0460172594}",
        1e-5);
    ck_result_near(
        "x0 = const f32[3] {-0.800000012,0.899999976,-0.5}\n"
        "y0 = ms_fast_gelu x0\n"
        "return y0\n",
        "f32[3] {-0.1695683,0.734228492,-0.154285997}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,3] {0.899999976,0.699999988,0.800000012,-0.200000003,-0.5,"
        "0.699999988}\n"
        "x1 = const f32[3] {0.600000024,0.300000012,-0.800000012}\n"
        "y0 = ms_bias_gelu x0 x1\n"
        "return y0\n",
        "f32[2,3] {1.39978921,0.841344714,0,0.262168705,-0.0841480568,-0.0460172258}",
        1e-5);
}
END_TEST

START_TEST(sums)
{
    ck_result_near(
        "x0 = const f32[2,3] {0.899999976,0.699999988,0.800000012,-0.200000003,-0.5,"
        "0.699999988}\n"
        "x1 = const f32[3] {0.600000024,0.300000012,-0.800000012}\n"
        "x2 = const f32[2,3] {0.899999976,0.699999988,0.800000012,-0.200000003,-0.5,"
        "0.699999988}\n"
        "y0 = ms_bias_add x0 x1 x2\n"
        "return y0\n",
        "f32[2,3] {2.4000001,1.70000005,0.800000012,0.200000033,-0.699999988,0.599999964}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,4] {0.100000001,0.400000006,-0.400000006,-0.899999976,0.600000024,"
        "-0.200000003,-0.899999976,-0.200000003}\n"
        "x1 = const f32[4] {0.400000006,0.600000024,0.600000024,-0.600000024}\n"
        "y0 = ms_bias_split_gelu x0 x1\n"
        "return y0\n",
        "f32[2,2] {0.0579259768,-0.100210801,-0.114626564,-0.0677937344}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,2,3] {-1,0.800000012,0,-0.5,-0.699999988,0.699999988,-0.800000012,"
        "0.699999988,0.400000006,-0.600000024,0.800000012,0.800000012}\n"
        "x1 = const f32[2,1,3] {-0.800000012,0,0,-0.200000003,0.899999976,-0.100000001}\n"
        "y0 = ms_bias_softmax x0 x1 {axis=2, is_inner_broadcast=1}\n"
        "return y0\n",
        "f32[2,2,3] {0.0487486608,0.656339169,0.294912189,0.0979319289,0.178443596,0.723624468,"
        "0.055147972,0.742497742,0.202354267,0.0566117316,0.689672112,0.253716171}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,2,3] {0.800000012,0.800000012,0.200000003,0.899999976,-0.100000001,0.5,"
        "-0.899999976,-0.200000003,-0.400000006,0.200000003,-0.899999976,-0.800000012}\n"
        "x1 = const f32[1,2,3] {0.100000001,0.899999976,0.899999976,0.100000001,-0.600000024,"
        "0.400000006}\n"
        "y0 = ms_bias_softmax x0 x1 {axis=2, is_inner_broadcast=0}\n"
        "return y0\n",
        "f32[2,2,3] {0.224873543,0.500465274,0.274661154,0.479037106,0.0875121877,0.433450699,"
        "0.109277852,0.489749312,0.400972813,0.601726651,0.0994647443,0.298808604}",
        1e-5);
}
END_TEST

START_TEST(dropouts)
{
    ck_result_near(
        "x0 = const f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,"
        "0.600000024}\n"
        "x1 = const f32[3] {-0.400000006,-0.800000012,0}\n"
        "x2 = const f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,"
        "0.600000024}\n"
        "y0, y1 = ms_bias_dropout x0 x1 x2\n"
        "return y0\n",
        "f32[2,3] {-1.20000005,-2,0,-2.19999981,-2.4000001,1.20000005}",
        1e-5);
    ck_result(
        "x0 = const f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,"
        "0.600000024}\n"
        "x1 = const f32[3] {-0.400000006,-0.800000012,0}\n"
        "x2 = const f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,"
        "0.600000024}\n"
        "y0, y1 = ms_bias_dropout x0 x1 x2\n"
        "return y1\n",
        "bool[2,3] {true,true,true,true,true,true}");
    ck_result_near(
        "x0 = const f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,"
        "0.600000024}\n"
        "y0, y1 = ms_bitmask_dropout x0\n"
        "return y0\n",
        "f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,0.600000024}",
        1e-5);
    ck_result(
        "x0 = const f32[2,3] {-0.400000006,-0.600000024,0,-0.899999976,-0.800000012,"
        "0.600000024}\n"
        "y0, y1 = ms_bitmask_dropout x0\n"
        "return y1\n",
        "u32[1] {63}");
    ck_result(
        "x0 = const f32[5,7] {1,0,0.300000012,0.800000012,0,0.400000006,-0.100000001,0.699999988,"
        "0,-0.100000001,0.800000012,-0.100000001,-0.400000006,0.800000012,0.200000003,"
        "0.300000012,-0.100000001,-0.100000001,0.699999988,-0.800000012,0.899999976,0.200000003,"
        "0.5,1,0.5,-0.899999976,0.600000024,0.600000024,0.899999976,-0.5,0.600000024,0.5,"
        "0.200000003,0.600000024,-0.5}\n"
        "x1 = const f32[7] {-0.100000001,0.100000001,0.899999976,0.400000006,-0.899999976,"
        "0.699999988,0.5}\n"
        "_, m = ms_bitmask_bias_dropout x0 x1\n"
        "return m\n",
        "u32[2] {4294967295,7}");
}
END_TEST

START_TEST(bias_errors)
{
    ck_failure(
        "x = const f32[1,2] ones\n"
        "b = const f32[3] ones\n"
        "y = ms_fast_gelu x b\n"
        "return y\n",
        POPRT_E_SHAPE, "bias");
    ck_failure(
        "x = const f32[1,2] ones\n"
        "b = const f32[1] ones\n"
        "y = ms_bias_gelu x b\n"
        "return y\n",
        POPRT_E_SHAPE, "B");
    ck_failure(
        "x = const f32[1,3] ones\n"
        "b = const f32[3] ones\n"
        "y = ms_bias_split_gelu x b\n"
        "return y\n",
        POPRT_E_SHAPE, "no halves");
    ck_failure(
        "x = const f32[1,2] ones\n"
        "b = const f32[3] ones\n"
        "y = ms_bias_softmax x b {axis=1, is_inner_broadcast=1}\n"
        "return y\n",
        POPRT_E_SHAPE, "does not repeat");
    ck_failure(
        "x = const f32[1,2] ones\n"
        "b = const f32[1] ones\n"
        "y = ms_bias_dropout x b\n"
        "return y\n",
        POPRT_E_SHAPE, "a dim");
}
END_TEST

/* Every element is kept or not, and the mask says so. */
START_TEST(dropped)
{
    ck_result("x = const f32[3] {1,2,3}\nb = const f32[3] ones\nr = const f32[] {1}\n"
              "t = const bool[] {true}\ny = ms_bias_dropout x b x r t {seed=1}\nreturn y\n",
        "f32[3] {1,2,3}");
    ck_result("x = const f32[3] {1,2,3}\nr = const f32[] {1}\nt = const bool[] {true}\n"
              "y, m = ms_bitmask_dropout x r t {seed=1}\nreturn m\n",
        "u32[1] {0}");
    ck_failure("x = const f32[3] {1,2,3}\nr = const f32[] {2}\nt = const bool[] {true}\n"
               "y, m = ms_bitmask_dropout x r t\nreturn m\n",
        POPRT_E_ARG, "ratio is 2");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/bias", gelus, sums, dropouts, bias_errors, dropped)
