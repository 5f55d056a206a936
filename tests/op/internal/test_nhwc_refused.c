/* SPDX-License-Identifier: MIT */
/* test_nhwc_refused.c — errors of the operators with channels last: attributes as a file may
 * have them.
 * Covers: nhwc.c, nhwc_qconv.c, nhwc_quantized.c. */
#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/op_check.h"

/* `x`, the size of the weights, the inputs that follow them, and the attributes. */
static void ck_conv(const char *x, const char *w, const char *more, const char *attrs,
    poprt_status status, const char *part)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
        "x = const f32%s\nw = const f32%s zeros\n"
        "b = const f32[3] zeros\nr = const f32[1,2,2,3] zeros\ng = const f32[1,1,1,2] zeros\n"
        "y = nhwc_conv x w %s {%s}\nreturn y\n",
        x, w, more, attrs);
    ck_failure(text, status, part);
}

#define X "[1,2,2,2] zeros"
#define ONE "channels=2,filters=3,kernel_shape=[1,1]"

START_TEST(wrong_convolutions_are_refused)
{
    ck_conv(X, "[32]", "", ONE ",activation=\"Relu6\"", POPRT_E_ARG,
        "activation is 'Relu6'; accepted: '', 'Relu'");
    ck_conv(X, "[32]", "", ONE ",form=\"rows\"", POPRT_E_ARG, "form is 'rows'; accepted: 'panels'");
    ck_conv(X, "[32]", "", "channels=2,filters=3", POPRT_E_ARG, "kernel_shape");
    ck_conv(X, "[32]", "", "channels=2,filters=3,kernel_shape=[1,1,1,1,1,1,1]", POPRT_E_ARG,
        "kernel_shape");
    ck_conv(X, "[32]", "", "channels=0,filters=3,kernel_shape=[1,1]", POPRT_E_ARG, "positive");
    ck_conv(X, "[32]", "", "channels=2,filters=-3,kernel_shape=[1,1]", POPRT_E_ARG, "positive");
    ck_conv(X, "[32]", "", ONE ",group=-1", POPRT_E_ARG, "positive");
    ck_conv(X, "[32]", "", ONE ",group=9223372036854775807", POPRT_E_ARG, "positive");
    ck_conv(X, "[32]", "", "channels=2,filters=3,kernel_shape=[1,-1]", POPRT_E_ARG,
        "kernel_shape has -1");
    ck_conv(X, "[32]", "", "channels=2,filters=3,kernel_shape=[0,1]", POPRT_E_ARG,
        "kernel_shape has 0");
    ck_conv(X, "[32]", "",
        "channels=2147483647,filters=2147483647,kernel_shape=[2147483647,2147483647]", POPRT_E_ARG,
        "form 'panels'");
    ck_conv(X, "[32]", "", "channels=2,filters=3,kernel_shape=[4611686018427387904,4]", POPRT_E_ARG,
        "form 'panels'");
    ck_conv(X, "[32]", "", "channels=2,filters=3,kernel_shape=[4294967296,1]", POPRT_E_SHAPE,
        "size of W");
    ck_conv(X, "[33]", "", ONE, POPRT_E_SHAPE, "size of W");
    ck_conv(X, "[1,32]", "", ONE, POPRT_E_SHAPE, "rank 2");
    ck_conv("[1,2,2,3] zeros", "[32]", "", ONE, POPRT_E_SHAPE, "number of channels");
    ck_conv("[1,2,2] zeros", "[32]", "", ONE, POPRT_E_SHAPE, "rank");
    ck_conv("[] zeros", "[32]", "", ONE, POPRT_E_SHAPE, "rank");
    ck_conv(X, "[32]", "", ONE ",strides=[0,1]", POPRT_E_ARG, "strides");
    ck_conv(X, "[32]", "", ONE ",strides=[1]", POPRT_E_SHAPE, "strides");
    ck_conv(X, "[32]", "", ONE ",pads=[0,0,-1,0]", POPRT_E_ARG, "pads");
    ck_conv(X, "[32]", "", ONE ",pads=[0,0,9223372036854775807,0]", POPRT_E_ARG, "pads");
    ck_conv(X, "[32]", "", ONE ",dilations=[4294967296,1]", POPRT_E_ARG, "dilations");
    ck_conv(X, "[128]", "", "channels=2,filters=3,kernel_shape=[4,1]", POPRT_E_SHAPE, "dim 2");
    ck_conv(X, "[32]", "r", ONE, POPRT_E_SHAPE, "");
    ck_conv(X, "[32]", "b g", ONE, POPRT_E_SHAPE, "dim of the residual");
}
END_TEST

static void ck_quantized(const char *w, const char *more, const char *attrs, poprt_status status,
    const char *part)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
        "x = const f32" X "\nw = const i8%s zeros\n"
        "t = const i32[3] zeros\ns = const f32[3] zeros\nb = const f32[4] zeros\n"
        "r = const f32[1,2,2,4] zeros\ny = nhwc_quantized_conv x w %s {%s}\nreturn y\n",
        w, more, attrs);
    ck_failure(text, status, part);
}

START_TEST(wrong_quantized_convolutions_are_refused)
{
    ck_quantized("[64]", "t s", ONE ",activation=\"Relu6\"", POPRT_E_ARG, "Relu6");
    ck_quantized("[64]", "t s", "channels=2,filters=0,kernel_shape=[1,1]", POPRT_E_ARG, "positive");
    ck_quantized("[60]", "t s", ONE, POPRT_E_SHAPE, "size of W");
    ck_quantized("[64]", "t s b", ONE, POPRT_E_SHAPE, "");
    ck_quantized("[64]", "t s _ r", ONE, POPRT_E_SHAPE, "dim of the residual");
    ck_quantized("[64]", "t b", ONE, POPRT_E_SHAPE, "");
    ck_quantized("[128]", "t s", "channels=2,filters=3,kernel_shape=[3,1]", POPRT_E_SHAPE, "");
    ck_quantized("[64]", "t s", "channels=3,filters=3,kernel_shape=[1,1]", POPRT_E_SHAPE,
        "number of channels");
}
END_TEST

START_TEST(wrong_algorithms_are_refused)
{
    ck_conv(X, "[18]", "", "form=\"taps\",channels=2,filters=1,kernel_shape=[3,3]", POPRT_E_ARG,
        "form 'taps'");
    ck_conv(X, "[576]", "", "form=\"winograd\",channels=1,filters=1,kernel_shape=[2,3]",
        POPRT_E_ARG, "form 'winograd'");
    ck_conv(X, "[576]", "",
        "form=\"winograd\",channels=1,filters=1,group=2,kernel_shape=[3,3],pads=[1,1,1,1]",
        POPRT_E_ARG, "form 'winograd'");
    /* nine taps, but not three by three */
    ck_conv("[1,9,9,1] zeros", "[576]", "",
        "form=\"winograd\",channels=1,filters=1,kernel_shape=[1,9]", POPRT_E_ARG, "winograd");
    ck_conv("[1,9,1] zeros", "[576]", "", "form=\"winograd\",channels=1,filters=1,kernel_shape=[9]",
        POPRT_E_ARG, "winograd");
    ck_conv("[1,9,9,1] zeros", "[576]", "",
        "form=\"winograd\",channels=1,filters=1,kernel_shape=[3,3],strides=[2,1]", POPRT_E_ARG,
        "winograd");
    ck_conv(X, "[32]", "", ONE ",transformed=1", POPRT_E_ARG, "form 'panels'");
}
END_TEST

START_TEST(wrong_gates_are_refused)
{
    ck_conv(X, "[32]", "_ _ r", ONE, POPRT_E_SHAPE, "a dim of the gate");
    ck_conv(X, "[32]", "_ _ b", ONE, POPRT_E_SHAPE, "rank 1");
    ck_conv("[2,2,2,2] zeros", "[32]", "_ _ g", ONE, POPRT_E_SHAPE, "images");
    ck_conv("[1,2,2,2] zeros", "[32]", "_ _ g", ONE ",images=1", POPRT_E_ARG, "a gate needs");
    ck_conv("[1,2,2,4] zeros", "[64]", "_ _ g", ONE ",group=2", POPRT_E_ARG, "a gate needs");
    ck_conv("[1,2,2,3] zeros", "[48]", "_ _ g", "channels=3,filters=3,kernel_shape=[1,1]",
        POPRT_E_SHAPE, "channels of the gate");
}
END_TEST

static void ck_separable(const char *x, const char *inputs, const char *attrs, bool means,
    poprt_status status, const char *part)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
        "x = const f32%s\nw1 = const f32[18] zeros\n"
        "w = const f32[32] zeros\nr = const f32[1,2,2,3] zeros\n"
        "y%s = nhwc_separable x %s {%s}\nreturn y%s\n",
        x, means ? ", m" : "", inputs, attrs, means ? ", m" : "");
    ck_failure(text, status, part);
}

#define TWO "hidden=2,kernel_shape=[3,3],pads=[1,1,1,1]"

START_TEST(wrong_separables_are_refused)
{
    ck_separable(X, "w1", "hidden=0,kernel_shape=[3,3]", false, POPRT_E_ARG, "hidden");
    ck_separable(X, "w1", "hidden=-2,kernel_shape=[3,3]", false, POPRT_E_ARG, "hidden");
    ck_separable(X, "w1", "hidden=2,kernel_shape=[9]", false, POPRT_E_ARG, "2 sizes");
    ck_separable(X, "w1", TWO ",filters=-1", false, POPRT_E_ARG, "2 sizes");
    ck_separable(X, "w1", TWO ",filters=1", false, POPRT_E_ARG, "filters needs W2");
    ck_separable(X, "w1 _ _ _ w", TWO, false, POPRT_E_ARG, "filters needs W2");
    ck_separable(X, "w1 _ _ _ w", TWO ",filters=3", true, POPRT_E_ARG, "mean needs W2 absent");
    ck_separable(X, "w1 _ _ _ _ _ r", TWO, false, POPRT_E_ARG, "residual");
    ck_separable("[2,2,2] zeros", "w1", TWO, false, POPRT_E_SHAPE, "rank 3");
    ck_separable("[1,2,2,3] zeros", "w1", TWO, false, POPRT_E_SHAPE, "number of channels");
    ck_separable(X, "w", TWO, false, POPRT_E_SHAPE, "size of W");
    ck_separable(X, "w1 _ w1", TWO, false, POPRT_E_SHAPE, "size of W");
    ck_separable(X, "w1", "hidden=9223372036854775807,kernel_shape=[3,3]", false, POPRT_E_ARG,
        "positive");
    ck_separable(X, "w1", TWO ",activation1=\"no\"", false, POPRT_E_ARG, "activation1 is 'no'");
    ck_separable("[1,1,2,2] zeros", "w1", "hidden=2,kernel_shape=[3,3]", false, POPRT_E_SHAPE,
        "dim 2");
}
END_TEST

static void ck_norm(const char *x, const char *s, const char *attrs, poprt_status status,
    const char *part)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
        "x = const f32%s\ns = const f32%s ones\n"
        "y = nhwc_group_norm x s s {%s}\nreturn y\n",
        x, s, attrs);
    ck_failure(text, status, part);
}

START_TEST(wrong_group_norms_are_refused)
{
    ck_norm(X, "[2]", "num_groups=0", POPRT_E_SHAPE, "0 groups");
    ck_norm(X, "[2]", "num_groups=3", POPRT_E_SHAPE, "3 groups");
    ck_norm(X, "[3]", "num_groups=1", POPRT_E_SHAPE, "3");
    ck_norm("[2,2] zeros", "[2]", "num_groups=1", POPRT_E_SHAPE, "rank 2");
    ck_norm(X, "[2]", "num_groups=1,activation=\"no\"", POPRT_E_ARG, "activation is 'no'");
}
END_TEST

static void ck_depth_to_space(const char *x, const char *w, const char *attrs, poprt_status status,
    const char *part)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
        "x = const f32%s\nw = const f32%s zeros\n"
        "y = nhwc_spread x w {%s}\nreturn y\n",
        x, w, attrs);
    ck_failure(text, status, part);
}

START_TEST(wrong_spreads_are_refused)
{
    ck_depth_to_space(X, "[64]", "filters=0,kernel_shape=[2,2]", POPRT_E_ARG, "filters");
    ck_depth_to_space(X, "[64]", "filters=1,kernel_shape=[2]", POPRT_E_ARG, "2 sizes");
    ck_depth_to_space(X, "[64]", "filters=1,kernel_shape=[2,0]", POPRT_E_ARG, "2 sizes");
    ck_depth_to_space(X, "[64]", "filters=1,kernel_shape=[-2,2]", POPRT_E_ARG, "2 sizes");
    ck_depth_to_space(X, "[64]", "filters=2147483647,kernel_shape=[2,2]", POPRT_E_ARG, "filters");
    ck_depth_to_space(X, "[64]", "filters=1,kernel_shape=[2,2147483647]", POPRT_E_SHAPE,
        "size of W");
    ck_depth_to_space(X, "[65]", "filters=1,kernel_shape=[2,2]", POPRT_E_SHAPE, "size of W");
    ck_depth_to_space("[2,2,2] zeros", "[64]", "filters=1,kernel_shape=[2,2]", POPRT_E_SHAPE,
        "rank 3");
    ck_depth_to_space(X, "[64]", "filters=1,kernel_shape=[2,2],activation=\"?\"", POPRT_E_ARG,
        "activation is '?'");
    ck_depth_to_space("[1,0,0,1073741824] zeros", "[64]",
        "filters=2,kernel_shape=[1073741823,1073741823]", POPRT_E_LIMIT, "fit in memory");
}
END_TEST

static void ck_pool(const char *x, const char *attrs, poprt_status status, const char *part)
{
    static const char *const ops[] = { "nhwc_max_pool", "nhwc_average_pool" };
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), "x = const f32%s\ny = %s x {%s}\nreturn y\n", x, ops[i],
            attrs);
        ck_failure(text, status, part);
    }
}

START_TEST(wrong_pools_are_refused)
{
    ck_pool(X, "kernel_shape=[2]", POPRT_E_SHAPE, "");
    ck_pool(X, "", POPRT_E_ARG, "kernel_shape is missing");
    ck_pool(X, "kernel_shape=[0,2]", POPRT_E_ARG, "kernel_shape");
    ck_pool(X, "kernel_shape=[2,2],strides=[0,1]", POPRT_E_ARG, "strides");
    ck_pool(X, "kernel_shape=[2,2],auto_pad=\"SOME\"", POPRT_E_ARG, "auto_pad");
    ck_pool(X, "kernel_shape=[4,2]", POPRT_E_SHAPE, "");
    ck_pool("[] zeros", "kernel_shape=[2,2]", POPRT_E_SHAPE, "");
    ck_pool("[2] zeros", "kernel_shape=[2,2]", POPRT_E_SHAPE, "");
    ck_pool("[2,2] zeros", "kernel_shape=[2,2]", POPRT_E_SHAPE, "");
}
END_TEST

PRT_TEST_MAIN("op/nhwc_refused", wrong_convolutions_are_refused,
    wrong_quantized_convolutions_are_refused, wrong_algorithms_are_refused, wrong_gates_are_refused,
    wrong_separables_are_refused, wrong_group_norms_are_refused, wrong_spreads_are_refused,
    wrong_pools_are_refused)
