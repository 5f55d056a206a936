/* SPDX-License-Identifier: MIT */
/* test_slice.c — Slice, Split, Concat, Expand, Tile: symbolic dims, unusual steps, errors.
 * Covers: split.c, concat.c, expand.c, shape_values.c. */
#include "op/op.h"
#include "support/check_main.h"
#include "support/op_text.h"

#define SLICE(type, start, end, step)                                                              \
    "x = input " type "\ns = const i64[1] {" start "}\ne = const i64[1] {" end                     \
    "}\na = const i64[1] {0}\np = const i64[1] {" step "}\ny = slice x s e a p\nreturn y\n"
#define CUT(start, end, step)                                                                      \
    "x = const i32[5] {1,2,3,4,5}\ns = const i64[1] {" start "}\ne = const i64[1] {" end           \
    "}\na = const i64[1] {-1}\np = const i64[1] {" step "}\ny = slice x s e a p\nreturn y\n"

START_TEST(sizes_are_symbolic)
{
    ck_assert_str_eq(op_type(SLICE("f32[seq]", "0", "9223372036854775807", "1")), "f32[seq]");
    ck_assert_str_eq(op_type(SLICE("f32[seq]", "0", "2147483647", "2")), "f32[((seq+1)/2)]");
    ck_assert_str_eq(op_type(SLICE("f32[seq]", "-1", "9223372036854775807", "1")),
        "f32[min(seq, 1)]");
    ck_assert_str_eq(op_type(SLICE("f32[seq]", "0", "4", "1")), "f32[min(seq, 4)]");
    ck_assert_str_eq(op_type(SLICE("f32[seq]", "-1", "-9223372036854775808", "-1")), "f32[seq]");
    ck_assert_str_eq(op_type(SLICE("f32[?]", "1", "3", "1")), "f32[?]");
    /* The end is computed from another shape. */
    ck_assert_str_eq(op_type("x = input f32[1024,8]\nm = input f32[batch,seq]\nsh = shape m\n"
                             "i = const i64[] {1}\nz = const i64[1] {0}\nn = gather sh i\n"
                             "e = unsqueeze n z\ny = slice x z e z\nreturn y\n"),
        "f32[min(seq, 1024),8]");
    /* An end of unknown sign, and the sum of the sizes of the two halves of a rotation. */
    ck_assert_str_eq(op_type("x = input f32[n,8]\nsh = shape x\nz = const i64[1] {0}\n"
                             "o = const i64[1] {1}\nw = const i64[1] {2}\nn = slice sh z o\n"
                             "e = sub n w\ny = slice x z e z\nreturn y\n"),
        "f32[bound((n-2), n),8]");
    ck_assert_str_eq(op_type("x = input f32[n,8]\nz = const i64[1] {0}\nk = const i64[1] {-2}\n"
                             "m = const i64[1] {9223372036854775807}\na = slice x k m z\n"
                             "b = slice x z k z\ny = concat a b {axis=0}\nreturn y\n"),
        "f32[n,8]");
}
END_TEST

START_TEST(ends_and_steps_are_clamped)
{
    ck_assert_str_eq(op_value(CUT("4", "-9223372036854775808", "-2")), "i32[3]: 5 3 1");
    ck_assert_str_eq(op_value(CUT("9223372036854775807", "0", "-1")), "i32[4]: 5 4 3 2");
    ck_assert_str_eq(op_value(CUT("-9223372036854775808", "9223372036854775807", "1")),
        "i32[5]: 1 2 3 4 5");
    ck_assert_str_eq(op_value(CUT("1", "4", "9223372036854775807")), "i32[1]: 2");
    ck_assert_str_eq(op_value(CUT("3", "-6", "-9223372036854775808")), "i32[1]: 4");
    ck_assert_str_eq(op_value(CUT("3", "1", "1")), "i32[0]:");
    ck_assert_str_eq(op_status(CUT("3", "1", "0")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ns = const i64[2] {0,0}\n"
                               "e = const i64[2] {1,1}\na = const i64[2] {1,-1}\n"
                               "y = slice x s e a\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ns = const i64[2] {0,0}\n"
                               "e = const i64[1] {1}\ny = slice x s e\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value("x = const i4[3] {1,2,3}\ns = const i64[1] {-1}\n"
                              "e = const i64[1] {-5}\na = const i64[1] {0}\n"
                              "y = slice x s e a s\nreturn y\n"),
        "i4[3]: 3 2 1");
}
END_TEST

START_TEST(known_contents_are_sliced_and_joined)
{
    ck_assert_str_eq(op_content("x = input f32[a,b,c]\nsh = shape x\ns = const i64[1] {1}\n"
                                "e = const i64[1] {9223372036854775807}\ny = slice sh s e\n"
                                "return y\n"),
        "b c");
    ck_assert_str_eq(op_content("x = input f32[a,b,c]\nsh = shape x\ny, z = split sh "
                                "{num_outputs=2}\nreturn z\n"),
        "c");
    ck_assert_str_eq(op_content("x = input f32[a,b]\nu = input i64[1]\nsh = shape x\n"
                                "y = concat u sh {axis=0}\nreturn y\n"),
        "? a b");
}
END_TEST

START_TEST(split_sizes_are_inferred_and_checked)
{
    ck_assert_str_eq(op_type("x = input f32[8,n]\ny, z = split x {axis=1, num_outputs=2}\n"
                             "return y\n"),
        "f32[8,((n+1)/2)]");
    ck_assert_str_eq(op_value_of("x = const i32[5] {1,2,3,4,5}\ny, z = split x {num_outputs=2}\n"
                                 "return y, z\n",
                         1),
        "i32[2]: 4 5");
    ck_assert_str_eq(op_value_of("x = const i32[5] {1,2,3,4,5}\n"
                                 "y, z, u, v = split x {num_outputs=4}\nreturn y, z, u, v\n",
                         2),
        "i32[1]: 5");
    ck_assert_str_eq(op_type("x = input f32[n,6]\nt = const i64[2] {1,3}\nw = tile x t\n"
                             "y, z, u = split w {axis=1, num_outputs=3}\nreturn z\n"),
        "f32[n,6]");
    ck_assert_str_eq(op_type("x = input f32[n]\nw = concat x x x {axis=0}\n"
                             "y, z, u = split w {num_outputs=3}\nreturn z\n"),
        "f32[n]");
    ck_assert_str_eq(op_status("x = const f32[5] zeros\ns = const i64[2] {6,-1}\n"
                               "y, z = split x s\nreturn y, z\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[5] zeros\ns = const i64[3] {1,2,2}\n"
                               "y, z = split x s\nreturn y, z\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[5] zeros\n"
                               "s = const i64[2] {9223372036854775807,9223372036854775807}\n"
                               "y, z = split x s\nreturn y, z\n"),
        "POPRT_E_LIMIT");
}
END_TEST

START_TEST(concat_dims_are_added_and_checked)
{
    ck_assert_str_eq(op_type("x = input f32[a,3]\ny = input f32[b,3]\nz = concat x y {axis=-2}\n"
                             "return z\n"),
        "f32[(a+b),3]");
    ck_assert_str_eq(op_type("x = input f32[a,3]\ny = input f32[2,?]\nz = concat x y {axis=1}\n"
                             "return z\n"),
        "f32[2,?]");
    ck_assert_str_eq(op_value("x = const string[1] {a}\ny = const string[0] {}\n"
                              "z = concat x y x {axis=0}\nreturn z\n"),
        "string[2]: 'a' 'a'");
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ny = const f32[2,4] zeros\n"
                               "z = concat x y {axis=0}\nreturn z\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[] zeros\nz = concat x x {axis=0}\nreturn z\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(expand_and_tile_repeat_elements)
{
    ck_assert_str_eq(op_type("x = input f32[1,8]\nm = input f32[n,1]\ns = shape m\n"
                             "y = expand x s\nreturn y\n"),
        "f32[n,8]");
    ck_assert_str_eq(op_value("x = const i4[2,1] {1,2}\ns = const i64[3] {2,1,2}\ny = expand x s\n"
                              "return y\n"),
        "i4[2,2,2]: 1 1 2 2 1 1 2 2");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[1] {-1}\ny = expand x s\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[1] {3}\ny = expand x s\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_type(
                         "x = input f32[a,2]\ns = const i64[2] {3,2}\ny = tile x s\nreturn y\n"),
        "f32[(3*a),4]");
    ck_assert_str_eq(op_value("x = const i32[2] {1,2}\ns = const i64[1] {0}\ny = tile x s\n"
                              "return y\n"),
        "i32[0]:");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[1] {-1}\ny = tile x s\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ns = const i64[1] {9223372036854775807}\n"
                               "y = tile x s\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

/* A model may declare a shape that its contents contradict: evaluation must not rely on it. */
START_TEST(evaluation_ignores_wrong_declared_shapes)
{
    float data[4] = { 1, 2, 3, 4 }, buffer[2];
    int64_t numbers[3] = { 0, 4, 0 };
    const int64_t four = 4, two = 2, one = 1;
    prt_tensor x, y, in[4];
    ck_assert(prt_tensor_init(&x, PRT_DTYPE_f32, 1, &four, data));
    ck_assert(prt_tensor_init(&y, PRT_DTYPE_f32, 1, &two, buffer));
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(prt_tensor_init(&in[i], PRT_DTYPE_i64, 1, &one, &numbers[i]));
    ck_assert(prt_tensor_init(&in[3], PRT_DTYPE_i64, 1, &one, &numbers[1]));
    const uint32_t ids[4] = { PRT_OP_slice, PRT_OP_tile, PRT_OP_expand, PRT_OP_reshape };
    const prt_tensor *inputs[4][4] = { { &x, &in[0], &in[1], &in[2] }, { &x, &in[1] },
        { &x, &in[1] }, { &x, &in[1] } };
    prt_tensor *out = &y;
    for (uint32_t i = 0; i < 4; i++) {
        const prt_op_def *def = prt_op_of(ids[i]);
        prt_eval c = { .def = def,
            .attrs = def->defaults,
            .origin = PRT_STR("node"),
            .n_in = i == 0 ? 4 : 2,
            .n_out = 1,
            .in = inputs[i],
            .out = &out };
        ck_assert_int_eq(prt_op_eval(&c), POPRT_E_SHAPE);
    }
}
END_TEST

PRT_TEST_MAIN("op/slice", sizes_are_symbolic, ends_and_steps_are_clamped,
    known_contents_are_sliced_and_joined, split_sizes_are_inferred_and_checked,
    concat_dims_are_added_and_checked, expand_and_tile_repeat_elements,
    evaluation_ignores_wrong_declared_shapes)
