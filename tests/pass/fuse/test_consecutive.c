/* SPDX-License-Identifier: MIT */
/* test_consecutive.c — two Casts, Reshapes, Squeezes, Unsqueezes, Transposes become one. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* Element types as Cast numbers them. */
enum {
    F32 = 1,
    U8 = 2,
    I8 = 3,
    I16 = 5,
    I32 = 6,
    I64 = 7,
    BOOL = 9,
    F16 = 10,
    F64 = 11,
    BF16 = 16
};

static const char *casts(const char *from, int by, int to)
{
    static char text[256];
    (void)snprintf(text, sizeof(text),
        "x = input %s[20]\na = cast x {to=%d}\ny = cast a {to=%d}\nreturn y\n", from, by, to);
    return text;
}

START_TEST(casts_without_loss_are_removed)
{
    static const char *const pass = "fuse_consecutive_cast";
    static const struct {
        const char *from;
        int by, to;
    } fused[] = { { "f16", F32, F16 }, { "f16", F32, I32 }, { "bf16", F32, F16 },
        { "f32", F64, F16 }, { "u8", I16, I8 }, { "i8", I64, F32 }, { "i8", F16, F32 },
        { "i32", F64, F32 }, { "bool", F32, I64 }, { "bool", I32, BOOL }, { "i16", F32, I64 },
        { "i16", F32, BOOL }, { "i64", I64, I8 }, { "f32", F32, F16 } },
      left[] = { { "f32", I32, F32 }, { "f32", F16, F32 }, { "i32", BOOL, I32 },
          { "i32", F32, F64 }, { "i64", F64, I64 }, { "i32", I16, I64 }, { "i8", U8, I64 },
          { "f16", BF16, F32 }, { "bf16", F16, F32 }, { "i16", F32, I8 }, { "f32", BOOL, F32 },
          { "i16", F16, F32 } };
    for (size_t i = 0; i < PRT_COUNT_OF(fused); i++) {
        char after[128];
        (void)snprintf(after, sizeof(after), "x = input %s[20]\ny = cast x {to=%d}\nreturn y\n",
            fused[i].from, fused[i].to);
        assert_pass_rewrites(pass, NULL, casts(fused[i].from, fused[i].by, fused[i].to), after);
        assert_pass_keeps_results(casts(fused[i].from, fused[i].by, fused[i].to), pass, 0);
    }
    for (size_t i = 0; i < PRT_COUNT_OF(left); i++)
        assert_pass_leaves(pass, NULL, casts(left[i].from, left[i].by, left[i].to));
    assert_pass_leaves(pass, NULL,
        "x = input f16[2]\na = cast x {to=1}\ny = cast a {to=10}\n"
        "return y, a\n");
}
END_TEST

START_TEST(two_reshapes_become_one)
{
    static const char *const pass = "fuse_consecutive_reshape";
    static const char *const text =
        "x = input f32[2,6]\na = const i64[3] {2,2,3}\nb = const i64[2] {0,-1}\n"
        "r = reshape x a\ny = reshape r b @last\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[2,6]\na = const i64[3] {2,2,3}\nb = const i64[2] {0,-1}\n"
        "%0 = const i64[2] {2,-1}\ny = reshape x %0 @last\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n,6]\na = input i64[3]\nb = const i64[1] {-1}\nr = reshape x a\n"
        "y = reshape r b\nreturn y\n",
        "x = input f32[n,6]\na = input i64[3]\nb = const i64[1] {-1}\ny = reshape x b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n,6]\na = const i64[2] {6,-1}\nb = const i64[2] {-1,0}\nr = reshape x a\n"
        "y = reshape r b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n,6]\na = const i64[1] {-1}\nb = input i64[2]\nr = reshape x a\n"
        "y = reshape r b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,6]\na = const i64[1] {12}\nb = const i64[2] {3,4}\nr = reshape x a\n"
        "y = reshape r b\nz = neg r\nreturn y, z\n");
}
END_TEST

START_TEST(reshapes_of_flatten_become_one)
{
    static const char *const pass = "fuse_consecutive_reshape";
    static const char *const text = "x = input f32[2,3]\nf = flatten x {axis=2}\n"
                                    "s = const i64[4] {2,1,1,-1}\ny = reshape f s\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[2,3]\ns = const i64[4] {2,1,1,-1}\n%0 = const i64[4] {2,1,1,3}\n"
        "y = reshape x %0\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_leaves(pass, NULL,
        "x = input f32[n,3]\nf = flatten x {axis=2}\ns = const i64[2] {1,-1}\n"
        "y = reshape f s\nreturn y\n");
}
END_TEST

START_TEST(two_squeezes_become_one)
{
    static const char *const pass = "fuse_consecutive_squeeze";
    static const char *const text =
        "x = input f32[1,2,1,3,1]\na = const i64[1] {2}\nb = const i64[2] {0,-1}\nr = squeeze x a\n"
        "y = squeeze r b\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[1,2,1,3,1]\na = const i64[1] {2}\nb = const i64[2] {0,-1}\n"
        "%0 = const i64[3] {0,2,4}\ny = squeeze x %0\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_keeps_results("x = input f32[1,1,3]\na = const i64[1] {0}\nr = squeeze x a\n"
                              "y = squeeze r a\nreturn y\n",
        pass, 0);
    assert_pass_rewrites(pass, NULL,
        "x = input f32[*]\na = const i64[1] {0}\nb = const i64[1] {1}\nr = squeeze x a\n"
        "y = squeeze r b\nreturn y\n",
        "x = input f32[*]\na = const i64[1] {0}\nb = const i64[1] {1}\n%0 = const i64[2] {0,2}\n"
        "y = squeeze x %0\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[*]\na = const i64[1] {0}\nb = const i64[1] {-1}\nr = squeeze x a\n"
        "y = squeeze r b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[1,2,1]\na = const i64[1] {0}\nr = squeeze x a\ny = squeeze r\nreturn y\n");
}
END_TEST

START_TEST(two_unsqueezes_become_one)
{
    static const char *const pass = "fuse_consecutive_unsqueeze";
    static const char *const text =
        "x = input f32[2,3]\na = const i64[1] {1}\nb = const i64[2] {0,-1}\nr = unsqueeze x a\n"
        "y = unsqueeze r b\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[2,3]\na = const i64[1] {1}\nb = const i64[2] {0,-1}\n"
        "%0 = const i64[3] {0,2,4}\ny = unsqueeze x %0\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_keeps_results("x = input f32[n,3]\na = const i64[1] {1}\nr = unsqueeze x a\n"
                              "y = unsqueeze r a\nreturn y\n",
        pass, 0);
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\na = const i64[1] {0}\nb = input i64[1]\nr = unsqueeze x a\n"
        "y = unsqueeze r b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\na = const i64[1] {0}\nr = unsqueeze x a\ny = unsqueeze r a\n"
        "z = neg r\nreturn y, z\n");
}
END_TEST

START_TEST(two_transposes_become_one)
{
    static const char *const pass = "fuse_consecutive_transpose";
    static const char *const text = "x = input f32[2,3,4]\nr = transpose x {perm=[1,2,0]}\n"
                                    "y = transpose r {perm=[0,2,1]}\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[2,3,4]\ny = transpose x {perm=[1,0,2]}\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_rewrites(pass, NULL,
        "x = input f32[2,n]\nr = transpose x\ns = transpose r\ny = neg s\nreturn y\n",
        "x = input f32[2,n]\ny = neg x\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        "x = input f32[2,n]\nr = transpose x\ny = transpose r\nreturn y\n",
        "x = input f32[2,n]\ny = transpose x {perm=[0,1]}\nreturn y\n");
    /* the form in which torch's exporters transpose the last two axes */
    static const char *const swap =
        "x = input f32[2,3,4,5]\na = const i64[3] {-1,4,5}\nb = const i64[4] {2,3,5,4}\n"
        "r = reshape x a\ns = transpose r {perm=[0,2,1]}\ny = reshape s b {allowzero=1}\n"
        "return y\n";
    assert_pass_rewrites(pass, NULL, swap,
        "x = input f32[2,3,4,5]\na = const i64[3] {-1,4,5}\nb = const i64[4] {2,3,5,4}\n"
        "y = transpose x {perm=[0,1,3,2]}\nreturn y\n");
    assert_pass_keeps_results(swap, pass, 0);
    static const char *const others =
        "x = input f32[2,3,4,5]\na = const i64[3] {-1,4,5}\nb = const i64[4] {3,2,5,4}\n"
        "r = reshape x a\ns = transpose r {perm=[0,2,1]}\ny = reshape s b\nreturn y\n";
    assert_pass_rewrites(pass, NULL, others,
        "x = input f32[2,3,4,5]\na = const i64[3] {-1,4,5}\nb = const i64[4] {3,2,5,4}\n"
        "%0 = const i64[4] {3,2,4,5}\n%1 = reshape x %0\ny = transpose %1 {perm=[0,1,3,2]}\n"
        "return y\n");
    assert_pass_keeps_results(others, pass, 0);
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,3,4,4]\na = const i64[3] {6,2,8}\nb = const i64[4] {2,3,4,4}\n"
        "r = reshape x a\ns = transpose r {perm=[0,2,1]}\ny = reshape s b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[*]\nr = transpose x\ny = transpose r\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,3]\nr = transpose x\ny = transpose r\nz = neg r\nreturn y, z\n");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    static const char *const passes[][2] = {
        { "fuse_consecutive_cast", "a = cast x {to=11}; b = cast a {to=10};" },
        { "fuse_consecutive_reshape", "a = reshape x k; b = reshape a k2;" },
        { "fuse_consecutive_squeeze", "a = squeeze x z; b = squeeze a z;" },
        { "fuse_consecutive_unsqueeze", "a = unsqueeze x z; b = unsqueeze a z;" },
        { "fuse_consecutive_transpose", "a = transpose x; b = transpose a {perm=[0,2,1]};" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(passes); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,1,4]\nq = input bool[]\nk = const i64[1] {4}\nk2 = const i64[2] "
            "{2,2}\n"
            "z = const i64[1] {0}\nr = if q {\n  then_branch { %s c = shape b; return c }\n"
            "  else_branch { d = shape x; return d }\n}\nreturn r\n",
            passes[i][1]);
        prt_graph *g = graph_from_text(text), *before = graph_from_text(text);
        ck_assert(run_pass(g, passes[i][0], NULL));
        assert_same_results(before, g, 0, 5);
        module_free(g);
        module_free(before);
    }
}
END_TEST

PRT_TEST_MAIN("pass/fuse/consecutive", casts_without_loss_are_removed, two_reshapes_become_one,
    reshapes_of_flatten_become_one, two_squeezes_become_one, two_unsqueezes_become_one,
    two_transposes_become_one, regions_are_rewritten)
