/* SPDX-License-Identifier: MIT */
/* test_sum_of_convs.c — fuse_sum_of_convs: branches that become one convolution, and near
 * misses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "fuse_sum_of_convs"
#define NORM                                                                                       \
    "s = const f32[4] {2,0.5,-1,1}\nt = const f32[4] {1,-1,0.25,0}\n"                              \
    "m = const f32[4] {0.5,0,-0.5,1}\nv = const f32[4] {1,4,0.25,2}\n"

/* Returns the text with numbers in place of each "random" that follows the dims of a constant. */
static const char *with_numbers(const char *text)
{
    static char all[16384];
    size_t at = 0;
    unsigned seed = 7;
    for (const char *next; (next = strstr(text, " random")) != NULL; text = next + 7) {
        const char *dims = next;
        long count = 1;
        while (*dims != '[')
            dims--;
        for (char *end; *dims == '[' || *dims == ','; dims = end)
            count *= strtol(dims + 1, &end, 10);
        ck_assert_uint_lt(at + (size_t)(next - text) + 8 * (size_t)count, sizeof(all));
        at += (size_t)snprintf(all + at, sizeof(all) - at, "%.*s {", (int)(next - text), text);
        while (count-- > 0) {
            seed = seed * 1103515245u + 12345u;
            at += (size_t)snprintf(all + at, sizeof(all) - at, "%.2f%s",
                (int)(seed >> 16 & 255u) / 64.0 - 2.0, count > 0 ? "," : "}");
        }
    }
    (void)snprintf(all + at, sizeof(all) - at, "%s", text);
    return all;
}

/* Becomes one operator, with the same results. */
static void becomes_one(const char *plain)
{
    const char *text = with_numbers(plain);
    prt_graph *g = graph_from_text(text);
    int convs = 0, others = 0;
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    prt_for_each_op (op, g) {
        convs += prt_op_is(op, PRT_OP_conv);
        others += prt_op_is(op, PRT_OP_add) || prt_op_is(op, PRT_OP_batch_normalization);
    }
    ck_assert_msg(convs == 1 && others == 0, "%s", text);
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-5);
}

START_TEST(two_convolutions_become_one)
{
    static const char *const cases[][4] = {
        /* x, w, attributes; the other's */
        { "2,3,6,7", "4,3,3,3", "pads=[1,1,1,1]", "4,3,1,1|" },
        { "2,3,6,7", "4,3,3,3", "pads=[1,1,1,1]", "4,3,3,3|pads=[1,1,1,1]" },
        { "2,3,6,7", "4,3,5,3", "pads=[2,1,2,1]", "4,3,1,3|pads=[0,1,0,1]" },
        { "2,3,9,7", "4,3,3,3", "pads=[1,1,1,1],strides=[2,2]", "4,3,1,1|strides=[2,2]" },
        { "2,4,6,7", "4,1,3,3", "pads=[1,1,1,1],group=4", "4,1,1,1|group=4" },
        { "2,4,6,7", "4,2,3,3", "pads=[1,1,1,1],group=2", "4,2,1,1|group=2" },
        { "2,3,9,9", "4,3,3,3", "pads=[2,2,2,2],dilations=[2,2]", "4,3,1,1|" },
        { "2,3,9", "4,3,5", "pads=[1,3]", "4,3,3|pads=[0,2]" },
        { "1,2,4,5,6", "4,2,3,3,3", "pads=[1,1,1,1,1,1]", "4,2,1,1,1|" },
        { "n,3,h,w", "4,3,3,3", "pads=[1,1,1,1]", "4,3,1,1|" },
    };
    char text[1024];
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        for (int form = 0; form < 4; form++) {
            char other[64];
            (void)snprintf(other, sizeof(other), "%s", cases[i][3]);
            char *attrs = strchr(other, '|');
            *attrs++ = '\0';
            (void)snprintf(text, sizeof(text),
                "x = input f32[%s]\nw = const f32[%s] random\n"
                "u = const f32[%s] random\nb = const f32[4] {1,2,3,4}\n"
                "c = const f32[4] {5,6,7,8}\np = conv x w %s {%s}\nq = conv x u %s {%s}\n"
                "y = add %s\nreturn y\n",
                cases[i][0], cases[i][1], other, (form & 1) != 0 ? "b" : "", cases[i][2],
                (form & 2) != 0 ? "c" : "", attrs, form % 3 == 0 ? "p q" : "q p");
            becomes_one(text);
        }
}
END_TEST

START_TEST(normalisations_are_merged_too)
{
    becomes_one("x = input f32[2,4,5,6]\nw = const f32[4,4,3,3] random\n" NORM
                "p = conv x w {pads=[1,1,1,1]}\nq = batch_normalization x s t m v\n"
                "y = add p q\nreturn y\n");
    becomes_one("x = input f32[2,4,5,6]\nw = const f32[4,1,1,1] {1,2,3,4}\n" NORM
                "p = conv x w t {group=4}\nq = batch_normalization x s t m v {epsilon=0.5}\n"
                "y = add q p\nreturn y\n");
    becomes_one("x = input f32[2,4,5]\nw = const f32[4,2,3] random\n" NORM
                "p = conv x w {pads=[1,1],group=2}\nq = batch_normalization x s t m v\n"
                "y = add q p\nreturn y\n");
    /* The unchanged input as one branch, with a normalisation after the sum. */
    const char *text = with_numbers("x = input f32[2,4,5,6]\nw = const f32[4,1,3,3] random\n" NORM
                                    "p = conv x w {pads=[1,1,1,1],group=4}\nq = add p x\n"
                                    "y = batch_normalization q s t m v\nreturn y\n");
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, PASS, NULL));
    prt_for_each_op (op, g)
        ck_assert(!prt_op_is(op, PRT_OP_add));
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-5);
}
END_TEST

#define TWO(x, w, a, u, b)                                                                         \
    "x = input f32[" x "]\nw = const f32[" w "] zeros\nu = const f32[" u "] zeros\n"               \
    "p = conv x w {" a "}\nq = conv x u {" b "}\ny = add p q\nreturn y\n"

START_TEST(near_misses_are_left)
{
    static const char *const graphs[] = {
        TWO("2,4,6,6", "4,4,3,3", "pads=[1,1,1,1]", "4,1,1,1", "group=4"),
        TWO("2,4,6,6", "4,4,3,3", "pads=[1,1,1,1]", "1,4,1,1", ""),
        TWO("2,4,6,6", "4,4,3,3", "pads=[0,0,2,2]", "4,4,3,3", "pads=[2,2,0,0]"),
        TWO("2,4,9,9", "4,4,3,3", "pads=[2,2,2,2],dilations=[2,2]", "4,4,3,3", "pads=[1,1,1,1]"),
        TWO("2,4,8,8", "4,4,3,3", "pads=[1,1,1,1],strides=[4,4]", "4,4,4,4", "strides=[4,4]"),
        TWO("2,4,6,6", "4,4,3,3", "auto_pad=\"SAME_UPPER\"", "4,4,1,1", ""),
        /* other inputs, other readers, weights that are not constants, x without a following
         * norm */
        "x = input f32[2,4,6,6]\nz = input f32[2,4,6,6]\nw = const f32[4,4,1,1] zeros\n"
        "p = conv x w\nq = conv z w\ny = add p q\nreturn y\n",
        "x = input f32[2,4,6,6]\nw = const f32[4,4,1,1] zeros\nu = const f32[4,4,1,1] zeros\n"
        "p = conv x w\nq = conv x u\ny = add p q\nr = relu q\nreturn y, r\n",
        "x = input f32[2,4,6,6]\nw = const f32[4,4,1,1] zeros\nu = input f32[4,4,1,1]\n"
        "p = conv x w\nq = conv x u\ny = add p q\nreturn y\n",
        "x = input f32[2,4,6,6]\nw = const f32[4,4,1,1] zeros\np = conv x w\ny = add p x\n"
        "return y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_pass_leaves(PASS, NULL, graphs[i]);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/sum_of_convs", two_convolutions_become_one, normalisations_are_merged_too,
    near_misses_are_left)
