/* SPDX-License-Identifier: MIT */
/* test_packed_rnn.c — recurrent operators with weights in panels: values, shapes, wrong sizes. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/op_text.h"

/* One hidden unit: a matrix of one row per gate, padded to 16 columns. */
#define ROW0 "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
#define X "x = const f32[2,1,1] {1,2}\n"
#define LINEAR "activations=[Affine,Affine],direction=bidirectional"

START_TEST(values_follow_the_recurrence)
{
    /* Forward h = x, then 10 h + x; reverse 2 x, then 3 h + 2 x. */
    ck_assert_str_eq(op_value(X "w = const f32[32] {1," ROW0 ",2," ROW0 "}\n"
                                "r = const f32[32] {10,9,0,0,0,0,0,0,0,0,0,0,0,0,0,7,3," ROW0 "}\n"
                                "y = packed_rnn x w r {hidden_size=1,input_size=1," LINEAR
                                "}\nreturn y\n"),
        "f32[2,2,1,1]: 1 14 12 4");
    /* z = 0 and r = 1 at each step: h = 5 x, then 5 x + 10 h; gate h of R is separate. */
    ck_assert_str_eq(op_value(X "w = const f32[16] {0,0,5,0,0,0,0,0,0,0,0,0,0,0,0,0}\n"
                                "r = const f32[32] {" ROW0 ",0,10," ROW0 "}\n"
                                "b = const f32[1,6] {0,1,0,0,0,0}\n"
                                "y = packed_gru x w r b {hidden_size=1,input_size=1,"
                                "activations=[Affine,Affine]}\nreturn y\n"),
        "f32[2,1,1,1]: 5 60");
}
END_TEST

/* Checks that panels of 64 rows and a partial panel, with R's last gate separate, equal the
 * matrices. */
static void check_equal(const char *op, int gates, int separate, const char *attrs)
{
    enum { HIDDEN = 23, INPUT = 2, MOST = 1 << 16 };
    static char plain[MOST], packed[MOST];
    const int rows = gates * HIDDEN, first = rows - separate * HIDDEN;
    const int parts[2] = { first, rows - first };
    size_t a = 0, b = 0;
    a += (size_t)snprintf(plain, MOST, "x = input f32[3,2,%d]\nw = const f32[1,%d,%d] {", INPUT,
        rows, INPUT);
    for (int i = 0; i < rows * INPUT; i++)
        a += (size_t)snprintf(plain + a, MOST - a, "%s%d", i != 0 ? "," : "", i % 13 - 6);
    a += (size_t)snprintf(plain + a, MOST - a, "}\nr = const f32[1,%d,%d] {", rows, HIDDEN);
    for (int i = 0; i < rows * HIDDEN; i++)
        a += (size_t)snprintf(plain + a, MOST - a, "%s%d", i != 0 ? "," : "", i % 5 - 2);
    (void)snprintf(plain + a, MOST - a, "}\ny = %s x w r {%s}\nreturn y\n", op, attrs);
    const int w_width = (rows + 15) / 16 * 16;
    b += (size_t)snprintf(packed, MOST, "x = input f32[3,2,%d]\nw = const f32[%d] {", INPUT,
        w_width * INPUT);
    int comma = 0;
    for (int at = 0; at < rows; at += 64)
        for (int k = 0; k < INPUT; k++)
            for (int j = at; j < at + 64 && j < w_width; j++)
                b += (size_t)snprintf(packed + b, MOST - b, "%s%d", comma++ != 0 ? "," : "",
                    j < rows ? (j * INPUT + k) % 13 - 6 : 1);
    int r_count = 0;
    for (int p = 0; p < 2; p++)
        r_count += (parts[p] + 15) / 16 * 16 * HIDDEN;
    b += (size_t)snprintf(packed + b, MOST - b, "}\nr = const f32[%d] {", r_count);
    comma = 0;
    for (int p = 0; p < 2; p++)
        for (int at = 0; at < parts[p]; at += 64)
            for (int k = 0; k < HIDDEN; k++)
                for (int j = at; j < at + 64 && j < (parts[p] + 15) / 16 * 16; j++)
                    b += (size_t)snprintf(packed + b, MOST - b, "%s%d", comma++ != 0 ? "," : "",
                        j < parts[p] ? ((p * first + j) * HIDDEN + k) % 5 - 2 : 1);
    (void)snprintf(packed + b, MOST - b,
        "}\ny = packed_%s x w r {hidden_size=%d,input_size=%d,%s}\nreturn y\n", op, HIDDEN, INPUT,
        attrs);
    prt_graph *one = graph_from_text(plain), *other = graph_from_text(packed);
    assert_same_results(one, other, 0, 1);
    module_free(one);
    module_free(other);
}

START_TEST(panels_equal_matrices)
{
    check_equal("rnn", 1, 0, "direction=reverse");
    check_equal("gru", 3, 1, "linear_before_reset=1");
    check_equal("gru", 3, 1, "clip=0.5");
    check_equal("lstm", 4, 0, "input_forget=1");
}
END_TEST

START_TEST(shapes_are_inferred)
{
    ck_assert_str_eq(op_type("x = input f32[s,b,3]\nw = input f32[384]\nr = input f32[2048]\n"
                             "y = packed_lstm x w r {direction=bidirectional,hidden_size=16,"
                             "input_size=3}\nreturn y\n"),
        "f32[s,2,b,16]");
    ck_assert_str_eq(op_type("x = input f32[b,s,3]\nw = input f32\nr = input f32\n"
                             "_, h = packed_gru x w r {hidden_size=16,input_size=3,layout=1}\n"
                             "return h\n"),
        "f32[b,1,16]");
}
END_TEST

START_TEST(wrong_sizes_are_refused)
{
    static const char *const cases[][2] = {
        { "hidden_size=16,input_size=2", "" },
        { "hidden_size=16,input_size=4", "" },
        { "hidden_size=15,input_size=3", "" },
        { "hidden_size=16,input_size=3,direction=bidirectional", "" },
        { "hidden_size=16,input_size=3,direction=around", "direction is \"around\"" },
        { "hidden_size=16", "at least 1" },
        { "input_size=3", "at least 1" },
        { "hidden_size=-16,input_size=3", "at least 1" },
        { "hidden_size=16,input_size=-3", "at least 1" },
        { "hidden_size=2147483647,input_size=2147483647", "fit in memory" },
        { "hidden_size=4611686018427387904,input_size=3", "at least 1" },
        { "hidden_size=16,input_size=9223372036854775807", "at least 1" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,1,3]\nw = input f32[192]\nr = input f32[1024]\n"
            "y = packed_lstm x w r {%s}\nreturn y\n",
            cases[i][0]);
        const char *error = graph_error(text);
        ck_assert_msg(strstr(error, cases[i][1]) != NULL, "%s\n%s", text, error);
    }
    (void)graph_error("x = input f32[2,1,4]\nw = input f32[192]\nr = input f32[1024]\n"
                      "y = packed_lstm x w r {hidden_size=16,input_size=3}\nreturn y\n");
    (void)graph_error("x = input f32[2,1,3]\nw = input f32[192]\nr = input f32[1,1024]\n"
                      "y = packed_lstm x w r {hidden_size=16,input_size=3}\nreturn y\n");
    (void)graph_error("x = input f32[2,1,3]\nw = input f32[192]\nr = input f32[1024]\n"
                      "b = input f32[1,127]\n"
                      "y = packed_lstm x w r b {hidden_size=16,input_size=3}\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("op/packed_rnn", values_follow_the_recurrence, panels_equal_matrices,
    shapes_are_inferred, wrong_sizes_are_refused)
