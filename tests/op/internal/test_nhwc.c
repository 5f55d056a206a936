/* SPDX-License-Identifier: MIT */
/* test_nhwc.c — operators with channels last against the same operators with channels first, and
 * invalid attributes.
 * Covers: nhwc_separable.c, nhwc_spread.c, nhwc_norm.c, nhwc_shuffle.c, nhwc_weights.c,
 * delegate.c. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/interp.h"
#include "op/internal/nhwc.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/nhwc_text.h"
#include "support/op_check.h"

/* Checks that outputs 0 and 1 of the graph are equal within `bound` times the largest element,
 * and outputs 2 and 3 too, if there are as many. */
static void ck_pairs(const char *text, double bound)
{
    prt_graph *g = graph_from_text(text);
    prt_tensor out[4];
    const uint32_t n = g->ret->n_in;
    const poprt_status status = prt_ir_run(g, 0, NULL, n, out, g->module->arena);
    ck_assert_msg(status == POPRT_OK, "%s\n%s", prt_error_last()->message, text);
    for (uint32_t k = 0; k < n; k += 2) {
        const prt_tensor *a = &out[k], *b = &out[k + 1];
        double largest = 0, worst = 0;
        ck_assert_msg(a->rank == b->rank && a->size == b->size &&
                memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) == 0,
            "shapes\n%s", text);
        for (size_t i = 0; i < prt_tensor_count(a); i++) {
            const double x = prt_load_f64(a->dtype, a->data, i);
            const double y = prt_load_f64(b->dtype, b->data, i);
            largest = y > largest ? y : -y > largest ? -y : largest;
            if (!(x == y || (x != x && y != y)) && !(x - y <= worst && y - x <= worst))
                worst = x > y ? x - y : x < y ? y - x : 1e300;
        }
        ck_assert_msg(worst <= bound * largest, "differs by %g of %g\n%s", worst, largest, text);
    }
    module_free(g);
}

static void ck_conv(const nhwc_conv_case *c, uint32_t seed, double bound)
{
    char *text = nhwc_conv_text(c, seed, true);
    ck_pairs(text, bound);
    free(text);
}

static const char *const activations[] = { "", "Relu\"", "Clip\",alpha=-0.5,beta=0.75",
    "LeakyRelu\",alpha=0.125", "Sigmoid\"", "Tanh\"", "Silu\"", "HardSigmoid\",alpha=0.5,beta=0.25",
    "HardSwish\"", "Gelu\"", "GeluTanh\"" };

/* ---- NhwcConv */

START_TEST(panels_and_taps_equal_conv)
{
    uint32_t state = 7;
    for (uint32_t i = 0; i < 120; i++) {
        const int rank = i % 4 == 3 ? 3 : i % 9 == 8 ? 5 : 4;
        nhwc_conv_case c = { .rank = rank,
            .n = (int)nhwc_random(&state, 3) + 1,
            .w = nhwc_random_window(&state, rank, 5, 3),
            .group = 1,
            .channels = 1,
            .filters = 1,
            .activation = activations[i % PRT_COUNT_OF(activations)],
            .bias = i % 3 != 0,
            .residual = i % 5 < 2 };
        c.form = i % 3 == 1 ? "taps" : "panels";
        if (i % 3 == 1) {
            c.group = 1 + (int)nhwc_random(&state, 9);
        } else {
            c.group = i % 6 == 2 ? 2 : 1;
            c.channels = 1 + (int)nhwc_random(&state, 6);
            c.filters = 1 + (int)nhwc_random(&state, i % 7 == 0 ? 70 : 20);
            c.gate = c.group == 1 && i % 4 == 0;
            c.images = !c.gate && i % 4 == 2;
        }
        ck_conv(&c, 100 + i, 1e-6);
    }
}
END_TEST

START_TEST(winograd_equals_conv)
{
    uint32_t state = 9;
    for (uint32_t i = 0; i < 12; i++) {
        nhwc_conv_case c = { .rank = 4,
            .n = 1 + (int)(i % 2),
            .group = 1,
            .form = i % 4 < 2 ? "winograd" : "winograd2",
            .transformed = i % 3 == 0,
            .channels = 1 + (int)nhwc_random(&state, 5),
            .filters = 1 + (int)nhwc_random(&state, 70),
            .activation = activations[i % PRT_COUNT_OF(activations)],
            .bias = i % 2 == 0,
            .residual = i % 3 == 0,
            .w = { .in = { 3 + (int)nhwc_random(&state, 6), 3 + (int)nhwc_random(&state, 6) },
                .kernel = { 3, 3 },
                .stride = { 1, 1 },
                .dilation = { 1, 1 },
                .pads = { (int)nhwc_random(&state, 3), 1, 0, (int)nhwc_random(&state, 4) } } };
        ck_conv(&c, 300 + i, 2e-6);
        c.form = "winograd5";
        c.transformed = true;
        c.w.in[0] += 2;
        c.w.in[1] += 2;
        c.w.kernel[0] = c.w.kernel[1] = 5;
        ck_conv(&c, 300 + i, 2e-6);
        c.form = "winograd_line";
        c.transformed = false;
        c.w.kernel[i % 2] = 1;
        ck_conv(&c, 300 + i, 1e-6);
    }
}
END_TEST

START_TEST(zero_batches_give_no_elements)
{
    nhwc_conv_case c = { .rank = 4,
        .n = 0,
        .form = "panels",
        .group = 1,
        .channels = 2,
        .filters = 3,
        .activation = "",
        .gate = true,
        .w = { .in = { 3, 3 }, .kernel = { 2, 2 }, .stride = { 1, 1 }, .dilation = { 1, 1 } } };
    ck_conv(&c, 1, 0);
    c.n = 1;
    c.w.in[0] = 0;
    c.w.pads[0] = 3;
    c.bias = true;
    ck_conv(&c, 1, 0);
}
END_TEST

/* `y` NULL: the operator is refused. */
typedef struct form_row {
    const char *attrs;
    int w;
    const char *y;
} form_row;

static void ck_winograd_attrs(const form_row *row, const char *before)
{
    char text[256];
    (void)snprintf(text, sizeof(text),
        "x = input f32[1,9,9,1]\nw = input f32[%d]\n"
        "y = nhwc_conv x w {%s%s}\nreturn y\n",
        row->w, before, row->attrs);
    if (row->y != NULL)
        ck_type(text, row->y);
    else
        ck_failure(text, POPRT_E_ARG, "weights do not fit the form");
}

/* Strides of two need large tiles and weights stored as adjacent taps. */
START_TEST(winograd_accepts_strides_of_two)
{
    static const form_row rows[] = { { "strides=[2,2],form=\"winograd\"", 144, "f32[1,4,4,1]" },
        { "form=\"winograd\",strides=[2,1]", 144, NULL },
        { "form=\"winograd\",strides=[3,3]", 144, NULL },
        { "form=\"winograd\",strides=[2,2],dilations=[2,2]", 144, NULL },
        { "form=\"winograd\",strides=[2,2],transformed=1", 576, NULL },
        { "form=\"winograd2\",strides=[2,2]", 144, NULL } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        ck_winograd_attrs(&rows[i], "kernel_shape=[3,3],");
}
END_TEST

/* Three or more taps along one axis, with weights stored as taps. */
START_TEST(winograd_accepts_lines)
{
    static const form_row rows[] = { { "kernel_shape=[1,3]", 48, "f32[1,9,7,1]" },
        { "kernel_shape=[3,1],dilations=[2,1]", 48, "f32[1,5,9,1]" },
        { "kernel_shape=[1,2]", 32, NULL }, { "kernel_shape=[3,3]", 144, NULL },
        { "kernel_shape=[1,3],strides=[1,2]", 48, NULL },
        { "kernel_shape=[1,3],strides=[2,2]", 48, NULL },
        { "kernel_shape=[1,3],transformed=1", 1024, NULL }, { "kernel_shape=[1,1]", 16, NULL } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        ck_winograd_attrs(&rows[i], "form=\"winograd_line\",");
}
END_TEST

START_TEST(packed_weights_unpack_to_the_same)
{
    static const prt_nhwc_weights forms[] = { { PRT_NHWC_panels, 2, 3, 65, 4, false },
        { PRT_NHWC_panels, 1, 1, 1, 1, false }, { PRT_NHWC_panels, 3, 5, 16, 9, false },
        { PRT_NHWC_panels, 1, 2, 130, 1, false }, { PRT_NHWC_taps, 7, 1, 1, 9, false },
        { PRT_NHWC_winograd, 1, 3, 70, 9, false }, { PRT_NHWC_winograd2, 1, 3, 7, 9, false },
        { PRT_NHWC_winograd, 1, 3, 70, 9, true }, { PRT_NHWC_winograd, 1, 1, 1, 9, true },
        { PRT_NHWC_winograd5, 1, 3, 70, 25, true }, { PRT_NHWC_winograd6, 1, 3, 70, 9, false },
        { PRT_NHWC_winograd_line, 1, 3, 70, 7, false } };
    for (size_t k = 0; k < PRT_COUNT_OF(forms); k++) {
        const prt_nhwc_weights *w = &forms[k];
        const size_t plain = w->group * w->filters * w->channels * w->taps;
        size_t count, wrong = 0;
        ck_assert(prt_nhwc_weights_size(w, &count));
        ck_assert_uint_ge(count, plain);
        float *from = calloc(plain, sizeof(float)), *packed = calloc(count, sizeof(float));
        float *back = calloc(plain, sizeof(float));
        for (size_t i = 0; i < plain; i++)
            from[i] = (float)(i % 1001) - 500.0f;
        prt_nhwc_weights_pack(w, from, packed);
        prt_nhwc_weights_unpack(w, packed, back);
        const float bound = w->transformed ? 500 * 1e-6f : 0.0f;
        for (size_t i = 0; i < plain; i++)
            wrong += !(back[i] - from[i] <= bound && from[i] - back[i] <= bound);
        ck_assert_uint_eq(wrong, 0);
        free(from);
        free(packed);
        free(back);
    }
    size_t count;
    const prt_nhwc_weights refused[] = { { PRT_NHWC_taps, 7, 2, 1, 9, false },
        { PRT_NHWC_taps, 7, 1, 2, 9, false }, { PRT_NHWC_taps, 7, 1, 1, 9, true },
        { PRT_NHWC_panels, 1, 3, 3, 9, true }, { PRT_NHWC_winograd, 1, 3, 3, 8, true },
        { PRT_NHWC_winograd, 2, 3, 3, 9, false }, { PRT_NHWC_winograd5, 1, 3, 3, 9, true },
        { PRT_NHWC_winograd_line, 2, 3, 3, 3, false }, { PRT_NHWC_winograd_line, 1, 3, 3, 3, true },
        { PRT_NHWC_winograd6, 1, 3, 3, 9, true }, { PRT_NHWC_winograd6, 2, 3, 3, 9, false },
        { PRT_NHWC_winograd, 1, 3, 3, 25, true }, { PRT_NHWC_winograd5, 1, 3, 3, 25, false },
        { PRT_NHWC_panels, SIZE_MAX / 2, 3, 3, 9, false },
        { PRT_NHWC_panels, 1, SIZE_MAX / 2, 3, 9, false },
        { PRT_NHWC_panels, 1, 1, SIZE_MAX - 3, 9, false },
        { PRT_NHWC_taps, SIZE_MAX / 2, 1, 1, 9, false } };
    for (size_t k = 0; k < PRT_COUNT_OF(refused); k++)
        ck_assert(!prt_nhwc_weights_size(&refused[k], &count));
}
END_TEST

/* ---- NhwcSeparable */

START_TEST(separable_equals_its_parts)
{
    uint32_t state = 11;
    for (uint32_t i = 0; i < 64; i++) {
        nhwc_separable_case c = { .n = 1 + (int)(i % 3 == 2),
            .hidden = 1 + (int)nhwc_random(&state, 9),
            .w = nhwc_random_window(&state, 4, 5, 3),
            .bias = (i & 4) != 0,
            .activation = { activations[i % 11], activations[i / 2 % 11],
                activations[i / 3 % 11] } };
        c.channels = (i & 1) != 0 ? 1 + (int)nhwc_random(&state, 5) : 0;
        c.filters = (i & 2) != 0 ? 1 + (int)nhwc_random(&state, 5) : 0;
        c.mean = c.filters == 0 && (i & 8) != 0;
        c.residual = c.filters != 0 && (i & 8) != 0;
        char *text = nhwc_separable_text(&c, 500 + i, true);
        ck_pairs(text, 1e-6);
        free(text);
    }
}
END_TEST

START_TEST(separable_types_are_inferred)
{
    ck_type("x = input f32[n,h,5,3]\nv = input f32[48]\nw = input f32[4]\n"
            "y = nhwc_separable x w _ v {hidden=2,kernel_shape=[2,1]}\nreturn y\n",
        "f32[n,(h-1),5,2]");
    ck_type("x = input f32[n,h,5,c]\nv = input f32[48]\nw = input f32[4]\n"
            "y = nhwc_separable x w _ v {hidden=2,kernel_shape=[2,1]}\nreturn y\n",
        "f32[?,?,?,?]");
    ck_type("x = input f32\nw = input f32[4]\n"
            "y = nhwc_separable x w {hidden=2,kernel_shape=[2,1]}\nreturn y\n",
        "f32[?,?,?,2]");
}
END_TEST

START_TEST(the_mean_can_be_the_only_output)
{
    ck_result("x = const f32[1,1,2,2] {1,2,5,4}\nw = const f32[2] {1,10}\n"
              "_, m = nhwc_separable x w {hidden=2,kernel_shape=[1,1]}\nreturn m\n",
        "f32[1,1,1,2] {3,30}");
}
END_TEST

/* ---- NhwcSpread, pools, NhwcShuffle */

START_TEST(spread_equals_conv_transpose)
{
    /* [channels, filters, rows, columns] = [2,1,2,2]; one row of the kernel is one matrix */
    ck_result("x = const f32[1,1,2,2] {1,2, 3,4}\nb = const f32[1] {0.5}\n"
              "w = const f32[64] {1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0, 10,20,0,0,0,0,0,0,0,0,0,0,0,0,0,"
              "0, 3,4,0,0,0,0,0,0,0,0,0,0,0,0,0,0, -30,-40,0,0,0,0,0,0,0,0,0,0,0,0,0,0}\n"
              "y = nhwc_spread x w b {filters=1,kernel_shape=[2,2],activation=\"Relu\"}\n"
              "return y\n",
        "f32[1,2,4,1] {21.5,42.5,43.5,86.5, 0,0,0,0}");
    ck_type("x = input f32[n,h,5,2]\nw = input f32[?]\n"
            "y = nhwc_spread x w {filters=3,kernel_shape=[2,4]}\nreturn y\n",
        "f32[n,(2*h),20,3]");
    ck_type("x = input f32\nw = input f32\ny = nhwc_spread x w {filters=3,kernel_shape=[2,4]}\n"
            "return y\n",
        "f32[?,?,?,?]");
    ck_result("x = const f32[0,1,2,2] {}\nw = const f32[64] zeros\n"
              "y = nhwc_spread x w {filters=1,kernel_shape=[2,2]}\nreturn y\n",
        "f32[0,2,4,1] {}");
    ck_result("x = const f32[1,1,1,0] {}\nw = const f32[0] {}\nb = const f32[1] {7}\n"
              "y = nhwc_spread x w b {filters=1,kernel_shape=[1,2]}\nreturn y\n",
        "f32[1,1,2,1] {7,7}");
}
END_TEST

/* Against each norm that NhwcGroupNorm replaces. */
START_TEST(group_norm_equals_the_norms_it_replaces)
{
    static const char *const norms[] = { "group_normalization x s b {num_groups=2}",
        "group_normalization x s b {num_groups=1}", "instance_normalization x s b" };
    static const int groups[] = { 2, 1, 4 };
    for (size_t i = 0; i < PRT_COUNT_OF(norms); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            "x = const f32[2,4,3,1] {5,1,2, 3,-4,0.5, 7,8,-9, 2,2,1, 0,-1,3, 1e3,1001,1002, 6,1,1, "
            "-3,-5,0}\ns = const f32[4] {1,-2,0.5,3}\nb = const f32[4] {0,1,-1,0.25}\n"
            "u = transpose x {perm=[0,2,3,1]}\n"
            "y = nhwc_group_norm u s b {num_groups=%d,activation=\"Relu\"}\nn = %s\nv = relu n\n"
            "z = transpose v {perm=[0,2,3,1]}\nreturn y, z\n",
            groups[i], norms[i]);
        ck_pairs(text, 1e-6);
    }
    ck_type("x = input f32[n,h,w,6]\ns = input f32[6]\nb = input f32[6]\n"
            "y = nhwc_group_norm x s b {num_groups=3}\nreturn y\n",
        "f32[n,h,w,6]");
    ck_result("x = const f32[2,0,3] {}\ns = const f32[3] ones\n"
              "y = nhwc_group_norm x s s {num_groups=3}\nreturn y\n",
        "f32[2,0,3] {}");
}
END_TEST

static void ck_pool(const char *x, const char *op, const char *attrs)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
        "x = const f32%s\nu = transpose x {perm=[0,2,3,1]}\ny = nhwc_%s u {%s}\n"
        "v = %s x {%s}\nz = transpose v {perm=[0,2,3,1]}\nreturn y, z\n",
        x, op, attrs, op, attrs);
    ck_pairs(text, 0);
}

START_TEST(pools_equal_channels_first_pools)
{
    static const char *const attrs[] = { "kernel_shape=[2,2]",
        "kernel_shape=[2,3],strides=[2,1],pads=[1,0,0,2]",
        "kernel_shape=[2,2],strides=[3,2],ceil_mode=1", "kernel_shape=[2,2],dilations=[2,1]",
        "kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1],ceil_mode=1",
        "kernel_shape=[2,2],auto_pad=\"SAME_UPPER\"", "kernel_shape=[3,2],auto_pad=\"SAME_LOWER\"",
        "kernel_shape=[3,2],strides=[2,2],auto_pad=\"VALID\"" };
    static const char *const include[] = { ",count_include_pad=1", ",count_include_pad=0" };
    const char *x = "[1,2,4,3] {5,1,2,3,-4,0.5,7,8,-9,2,2,1, 0,-1,3,nan,4,5,6,1,1,-3,-5,0}";
    for (size_t i = 0; i < PRT_COUNT_OF(attrs); i++) {
        ck_pool(x, "max_pool", attrs[i]);
        for (size_t k = 0; k < 2; k++) {
            char all[256];
            (void)snprintf(all, sizeof(all), "%s%s", attrs[i], include[k]);
            ck_pool(x, "average_pool", all);
        }
    }
    ck_result("x = const f32[1,3,2] {1,-1,5,2,3,4}\ny = nhwc_max_pool x {kernel_shape=[2]}\n"
              "return y\n",
        "f32[1,2,2] {5,2,5,4}");
    ck_type("x = input f32[n,h,7,c]\ny = nhwc_average_pool x {kernel_shape=[2,2],strides=[2,2]}\n"
            "return y\n",
        "f32[n,(h/2),3,c]");
}
END_TEST

START_TEST(shuffle_alternates_channels)
{
    ck_result("a = const f32[1,2,3] {1,2,3,4,5,6}\nb = const f32[1,2,3] {10,20,30,40,50,60}\n"
              "y = nhwc_shuffle a b\nreturn y\n",
        "f32[1,2,6] {1,10,2,20,3,30,4,40,5,50,6,60}");
    const char *odd = "a = const f32[2,3] {1,2,3,4,5,6}\nb = const f32[2,3] {10,20,30,40,50,60}\n"
                      "y, h = nhwc_shuffle a b {halves=1}\ns = concat y h {axis=0}\nreturn s\n";
    ck_result(odd, "f32[4,3] {1,10,2,4,40,5, 20,3,30,50,6,60}");
    const char *even = "a = const f32[2,2] {1,2,3,4}\nb = const f32[2,2] {10,20,30,40}\n"
                       "y, h = nhwc_shuffle a b {halves=1}\ns = concat y h {axis=0}\nreturn s\n";
    ck_result(even, "f32[4,2] {1,10,3,30, 2,20,4,40}");
    ck_result("a = const f32[1] {1}\nb = const f32[1] {2}\n_, h = nhwc_shuffle a b {halves=1}\n"
              "return h\n",
        "f32[1] {2}");
    ck_result("a = const f32[1] {1}\nb = const f32[1] {2}\ny, h = nhwc_shuffle a b {halves=1}\n"
              "return y\n",
        "f32[1] {1}");
    ck_failure("a = const f32[1] {1}\nb = const f32[1] {2}\ny, h = nhwc_shuffle a b\nreturn h\n",
        POPRT_E_ARG, "needs halves 1");
    ck_result("a = const f32[2,0] {}\nb = const f32[2,0] {}\ny = nhwc_shuffle a b\nreturn y\n",
        "f32[2,0] {}");
    ck_type("a = input f32[n,c]\nb = input f32[n,c]\ny = nhwc_shuffle a b\nreturn y\n",
        "f32[n,(2*c)]");
    ck_type("a = input f32\nb = input f32[n,c]\ny = nhwc_shuffle a b\nreturn y\n", "f32[*]");
    ck_failure("a = const f32[] {1}\nb = const f32[] {2}\ny = nhwc_shuffle a b\nreturn y\n",
        POPRT_E_SHAPE, "rank 0");
    ck_failure("a = const f32[2] {1,2}\nb = const f32[3] {2,3,4}\ny = nhwc_shuffle a b\n"
               "return y\n",
        POPRT_E_SHAPE, "a dim of both");
    ck_failure("a = const f32[2] {1,2}\nb = const f32[1,2] {2,3}\ny = nhwc_shuffle a b\n"
               "return y\n",
        POPRT_E_SHAPE, "rank 2");
}
END_TEST

PRT_TEST_MAIN("op/nhwc", panels_and_taps_equal_conv, winograd_equals_conv,
    winograd_accepts_strides_of_two, winograd_accepts_lines, zero_batches_give_no_elements,
    packed_weights_unpack_to_the_same, separable_equals_its_parts, separable_types_are_inferred,
    the_mean_can_be_the_only_output, spread_equals_conv_transpose,
    group_norm_equals_the_norms_it_replaces, pools_equal_channels_first_pools,
    shuffle_alternates_channels)
