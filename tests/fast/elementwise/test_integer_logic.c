/* SPDX-License-Identifier: MIT */
/* test_integer_logic.c — fast comparisons, logic, Where, Cast, Pow and rounding, and variadic
 * operators, against the reference. Inputs other than float32 are made by Cast.
 * Covers: unary_binary.c, gather.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/fast_check.h"

static const char *const pairs[][2] = { { "3,4,50", "3,4,50" }, { "3,4,50", "" }, { "", "7" },
    { "2,5,1,1", "2,5,7,7" }, { "4,1", "1,33" }, { "3,40000", "40000" }, { "0,4", "4" } };

enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

/* Element types as values of the attribute `to`. */
enum { F32 = 1, I32 = 6, I64 = 7, BOOL = 9, F16 = 10, F64 = 11 };

START_TEST(comparisons_equal_the_reference)
{
    static const char *const ops[] = { "equal", "less", "less_or_equal", "greater",
        "greater_or_equal" };
    static const int types[] = { F32, I32, I64, F64 };
    char text[512];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        for (size_t k = 0; k < PAIRS; k++)
            for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
                (void)snprintf(text, sizeof(text),
                    "a = input f32[%s]\nb = input f32[%s]\np = cast a {to=%d}\nq = cast b {to=%d}\n"
                    "r = %s p q\ny = cast r {to=1}\nreturn y\n",
                    pairs[k][0], pairs[k][1], types[t], types[t], ops[i]);
                fast_check(text, -3, 3, 0);
            }
        (void)snprintf(text, sizeof(text),
            "a = const f32[6,1] {nan,inf,-inf,-0,0,1}\nb = const f32[6] {nan,inf,-inf,-0,0,1}\n"
            "r = %s a b\ny = cast r {to=1}\nreturn y\n",
            ops[i]);
        fast_check(text, 0, 1, 0);
    }
}
END_TEST

/* Values that wrap differ much from values that do not. */
START_TEST(integer_operators_equal_the_reference)
{
    static const char *const two[] = { "add", "sub", "mul", "max", "min" };
    static const char *const one[] = { "neg", "abs", "sign", "relu" };
    static const char *const bounds[] = { "low high", "low", "_ high", "high low" };
    static const int types[] = { I32, I64 };
    char text[512];
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
            for (size_t k = 0; k < PAIRS; k++) {
                (void)snprintf(text, sizeof(text),
                    "a = input f32[%s]\nb = input f32[%s]\np = cast a {to=%d}\nq = cast b {to=%d}\n"
                    "r = %s p q\ny = cast r {to=1}\nreturn y\n",
                    pairs[k][0], pairs[k][1], types[t], types[t], two[i]);
                fast_check(text, -100, 100, 0);
                fast_check(text, -3e9, 3e9, 0);
                fast_check(text, -1e19, 1e19, 0);
            }
        for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
            (void)snprintf(text, sizeof(text),
                "a = input f32[3,40001]\np = cast a {to=%d}\nr = %s p\ny = cast r {to=1}\n"
                "return y\n",
                types[t], one[i]);
            fast_check(text, -100, 100, 0);
            fast_check(text, -1e19, 1e19, 0);
        }
        for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
            (void)snprintf(text, sizeof(text),
                "a = input f32[3,4001]\nl = const f32[] {-7}\nh = const f32[] {9}\n"
                "p = cast a {to=%d}\nlow = cast l {to=%d}\nhigh = cast h {to=%d}\n"
                "r = clip p %s\ny = cast r {to=1}\nreturn y\n",
                types[t], types[t], types[t], bounds[i]);
            fast_check(text, -100, 100, 0);
        }
    }
    fast_check("a = input f32[5,31]\nb = input f32[31]\nc = input f32[5,1]\np = cast a {to=7}\n"
               "q = cast b {to=7}\nr = cast c {to=7}\ns = max q p r\ny = cast s {to=1}\n"
               "return y\n",
        -100, 100, 0);
    fast_check("x = const f32[9] {nan,inf,-inf,-0,0,1e-45,-1e-45,-7,3}\ny = sign x\n"
               "z = reciprocal y\nreturn z\n",
        0, 1, 0);
}
END_TEST

START_TEST(logic_equals_the_reference)
{
    static const char *const ops[] = { "and", "or", "xor" };
    char text[512];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        for (size_t k = 0; k < PAIRS; k++) {
            (void)snprintf(text, sizeof(text),
                "a = input f32[%s]\nb = input f32[%s]\nz = const f32[] {0}\np = less a z\n"
                "q = less b z\nr = %s p q\nn = not r\ny = cast n {to=1}\nreturn y\n",
                pairs[k][0], pairs[k][1], ops[i]);
            fast_check(text, -3, 3, 0);
        }
}
END_TEST

START_TEST(where_equals_the_reference)
{
    static const char *const shapes[][3] = { { "3,50", "3,50", "3,50" }, { "", "3,50", "3,50" },
        { "3,1", "3,50", "" }, { "3,50", "", "" }, { "2,1,7", "5,1", "1,7" },
        { "4,20000", "20000", "1" }, { "0", "1", "" } };
    static const int types[] = { F32, I64, F16, BOOL, F64 };
    char text[512];
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
            for (int below = -9; below <= 9; below += 9) {
                (void)snprintf(text, sizeof(text),
                    "a = input f32[%s]\nb = input f32[%s]\nc = input f32[%s]\n"
                    "z = const f32[] {%d}\ns = less a z\np = cast b {to=%d}\nq = cast c {to=%d}\n"
                    "r = where s p q\ny = cast r {to=1}\nreturn y\n",
                    shapes[i][0], shapes[i][1], shapes[i][2], below, types[t], types[t]);
                fast_check(text, -3, 3, 0);
            }
}
END_TEST

START_TEST(casts_equal_the_reference)
{
    static const int types[] = { F32, F16, I32, I64, BOOL, F64 };
    static const char *const values[] = {
        "f32[21] {nan,inf,-inf,-0,0,1,-1.5,0.99,-0.99,65504,65519.99,65520,-70000,3e9,-3e9,"
        "9223372036854775807,-9223372036854775808,1e30,5.9604645e-8,2.9802322e-8,6.1e-5}",
        "f32[7] {2049,2051,1.00048828125,1.00146484375,-2.98023242e-8,1e-10,16777217}",
        "i64[9] {0,1,-1,9223372036854775807,-9223372036854775808,16777217,4294967296,2147483648,"
        "65520}",
    };
    char text[512];
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
            for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                (void)snprintf(text, sizeof(text),
                    "x = const %s\np = cast x {to=%d}\nq = cast p {to=%d}\ny = cast q {to=1}\n"
                    "return y\n",
                    values[v], types[i], types[k]);
                fast_check(text, 0, 1, 0);
            }
            (void)snprintf(text, sizeof(text),
                "x = input f32[3,40001]\np = cast x {to=%d}\nq = cast p {to=%d}\n"
                "y = cast q {to=1}\nreturn y\n",
                types[i], types[k]);
            fast_check(text, -100000, 100000, 0);
            fast_check(text, -0.0001, 0.0001, 0);
        }
}
END_TEST

START_TEST(powers_equal_the_reference)
{
    static const char *const exponents[] = { "2", "3", "0.5", "-0.5", "-1", "1.5", "0" };
    char text[256];
    for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[3,67]\ne = const f32[1,1] {%s}\ny = pow x e\nreturn y\n", exponents[i]);
        fast_check(text, 0.1, 9, 1e-6);
        fast_check(text, -9, -0.1, 1e-6);
        (void)snprintf(text, sizeof(text),
            "x = const f32[7] {nan,inf,-inf,-0,0,1,-4}\n"
            "e = const f64[] {%s}\ny = pow x e\nz = reciprocal y\nreturn z\n",
            exponents[i]);
        fast_check(text, 0, 1, 1e-6);
    }
    fast_check("x = input f32[67]\ne = const i64[1] {2}\ny = pow x e\nreturn y\n", -3, 3, 0);
    fast_check("x = input f32[9,1,33]\ne = input f32[2,33]\ny = pow x e\nreturn y\n", 0.1, 3, 1e-6);
    fast_check("x = input f32[3]\ne = const f32[2,3] {0,-2,nan,inf,3,0.5}\ny = pow x e\nreturn y\n",
        0.1, 3, 1e-6);
    fast_check("x = input f32[]\ne = const f32[1,3] {2,2,2}\ny = pow x e\nreturn y\n", 1, 3, 1e-6);
    fast_check("x = input f32[5]\ne = const f32[1,1] {2}\ny = pow x e\nreturn y\n", 1, 3, 0);
}
END_TEST

START_TEST(roundings_equal_the_reference)
{
    static const char *const ops[] = { "floor", "ceil", "round" };
    char text[512];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[3,67]\ny = %s x\nreturn y\n", ops[i]);
        fast_check(text, -5, 5, 0);
        fast_check(text, 4194303, 8388609, 0);
        fast_check(text, -3e9, 3e9, 0);
        /* 1 / y shows the sign of a zero. */
        (void)snprintf(text, sizeof(text),
            "x = const f32[18] {nan,inf,-inf,-0,0,0.5,-0.5,1.5,2.5,-1.5,-2.5,0.3,-0.3,0.7,-0.7,"
            "4194304.5,-8388607.5,1e20}\ny = %s x\nz = reciprocal y\nreturn z\n",
            ops[i]);
        fast_check(text, 0, 1, 0);
    }
}
END_TEST

START_TEST(transcendental_functions_are_near_the_reference)
{
    static const char *const ops[] = { "log", "sin", "cos", "tan", "atan" };
    static const double ranges[][2] = { { -9, 9 }, { 0.01, 2 }, { -8100, 8100 }, { -1e6, 1e6 },
        { 0, 1e-38 }, { 1e30, 3e38 }, { 0.9999, 1.0001 } };
    char text[512];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[3,677]\ny = %s x\nreturn y\n", ops[i]);
        for (size_t k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++)
            fast_check(text, ranges[k][0], ranges[k][1], 1e-6);
        (void)snprintf(text, sizeof(text),
            "x = const f32[8] {nan,inf,-inf,-0,0,1,-1,1e-40}\ny = %s x\nz = reciprocal y\n"
            "w = sub y z\nreturn w\n",
            ops[i]);
        fast_check(text, 0, 1, 1e-6);
    }
}
END_TEST

START_TEST(prelu_equals_the_reference)
{
    fast_check("x = input f32[2,5,7,7]\ns = input f32[5,1,1]\ny = prelu x s\nreturn y\n", -3, 3,
        1e-6);
    fast_check("x = input f32[3,40000]\ns = input f32[1]\ny = prelu x s\nreturn y\n", -3, 3, 1e-6);
    fast_check("x = const f32[5] {nan,inf,-inf,-0,0}\ns = input f32[1]\ny = prelu x s\nreturn y\n",
        0.5, 1, 1e-6);
}
END_TEST

START_TEST(gather_equals_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[3,40,5]\ni = const i64[2,3] {0,-1,7,39,3,-40}\n"
        "y = gather x i {axis=1}\nreturn y\n",
        "x = input f32[70,300]\ni = const i32[4] {299,-300,1,1}\n"
        "y = gather x i {axis=-1}\nreturn y\n",
        "x = input f32[400,129]\ni = const i64[] {-7}\ny = gather x i\nreturn y\n",
        "x = input f32[0,5]\ni = const i64[1] {2}\ny = gather x i {axis=1}\nreturn y\n",
        "x = input f32[600,64]\n"
        "s = const i64[] {600}\nz = const i64[] {0}\nd = const i64[] {1}\ni = range z s d\n"
        "y = gather x i\nreturn y\n",
    };
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++)
        fast_check(graphs[i], -3, 3, 0);
}
END_TEST

START_TEST(variadic_operators_equal_the_reference)
{
    static const char *const ops[] = { "sum", "max", "min" };
    char text[512];
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "a = input f32[4,1]\nb = input f32[1,33]\n"
            "c = input f32[3,1,1]\nd = input f32[]\ny = %s a b c d\nreturn y\n",
            ops[i]);
        fast_check(text, -3, 3, 1e-6);
        (void)snprintf(text, sizeof(text),
            "a = input f32[3,40000]\nb = input f32[40000]\n"
            "c = input f32[3,40000]\ny = %s a b c\nreturn y\n",
            ops[i]);
        fast_check(text, -3, 3, 1e-6);
        (void)snprintf(text, sizeof(text), "a = input f32[9]\ny = %s a\nreturn y\n", ops[i]);
        fast_check(text, -3, 3, 0);
    }
}
END_TEST

PRT_TEST_MAIN("fast/integer_logic", comparisons_equal_the_reference,
    integer_operators_equal_the_reference, logic_equals_the_reference, where_equals_the_reference,
    casts_equal_the_reference, powers_equal_the_reference, roundings_equal_the_reference,
    transcendental_functions_are_near_the_reference, prelu_equals_the_reference,
    gather_equals_the_reference, variadic_operators_equal_the_reference)
