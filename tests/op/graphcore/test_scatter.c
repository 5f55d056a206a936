/* SPDX-License-Identifier: MIT */
/* test_scatter.c — GroupedGather, ScatterReduce, SequenceSlice of ai.graphcore. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(grouped_gather_takes_rows_of_each_group)
{
    const char *in = "x = const f32[2,3] {1,2,3,4,5,6}\ni = const i32[2,2] {2,0,1,-1}\n";
    char text[256];
    (void)snprintf(text, sizeof(text),
        "%sy = gc_grouped_gather x i {axis=1,group_size=2}\n"
        "return y\n",
        in);
    ck_result(text, "f32[2,2] {3,1,5,6}");
    (void)snprintf(text, sizeof(text), "%sy = gc_grouped_gather x i {axis=1}\nreturn y\n", in);
    ck_result(text, "f32[2,2,2] {3,1,2,3,6,4,5,6}");
    (void)snprintf(text, sizeof(text),
        "%sy = gc_grouped_gather x i {axis=0,group_size=2}\n"
        "return y\n",
        in);
    ck_failure(text, POPRT_E_ARG, "axis 0");
    (void)snprintf(text, sizeof(text),
        "%sy = gc_grouped_gather x i {axis=1,group_size=3}\n"
        "return y\n",
        in);
    ck_failure(text, POPRT_E_SHAPE, "group_size 3");
    ck_failure("x = const f32[1] {1}\ni = const i32[1] {1}\ny = gc_grouped_gather x i\nreturn y\n",
        POPRT_E_ARG, "outside");
}
END_TEST

#define SRC "x = const f32[3,2] {1,-2,3,4,5,nan}\ni = const i32[3] {2,0,2}\n"

START_TEST(scatter_reduce_has_its_values)
{
    const struct {
        const char *how, *want;
    } cases[] = {
        { "sum", "f32[4,2] {3,4,0,0,6,nan,0,0}" },
        { "max", "f32[4,2] {3,4,0,0,5,nan,0,0}" },
        { "min", "f32[4,2] {3,4,0,0,1,nan,0,0}" },
        { "mul", "f32[4,2] {3,4,1,1,5,nan,1,1}" },
        { "none", "f32[4,2] {3,4,0,0,5,nan,0,0}" },
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            SRC "y = gc_scatter_reduce x i "
                "{axis=0,axis_size=4,reduction=%s}\nreturn y\n",
            cases[k].how);
        ck_result(text, cases[k].want);
    }
    /* All contributions are negative: the extreme is one of them, not the initial zero. */
    ck_result("x = const i8[2] {-3,-5}\ni = const i32[2] {0,0}\n"
              "y = gc_scatter_reduce x i {axis_size=2,reduction=max}\nreturn y\n",
        "i8[2] {-3,0}");
    ck_result("x = const u64[2] {18446744073709551615,5}\ni = const u32[2] {0,0}\n"
              "y = gc_scatter_reduce x i {axis_size=1,reduction=min}\nreturn y\n",
        "u64[1] {5}");
}
END_TEST

START_TEST(initial_values_take_part)
{
    ck_result("x = const i32[2] {-3,7}\ni = const i32[2] {0,1}\nv = const i32[3] {1,2,3}\n"
              "y = gc_scatter_reduce x i v {axis_size=3,reduction=max}\nreturn y\n",
        "i32[3] {1,7,3}");
    ck_result("x = const f32[2,2] {1,2,3,4}\ni = const i32[2,2] {1,0,0,0}\n"
              "v = const f32[2,2] {10,20,30,40}\n"
              "y = gc_scatter_reduce x i v {axis=1,axis_size=2}\nreturn y\n",
        "f32[2,2] {12,21,37,40}");
    ck_result("x = const f32[2,2] {1,2,3,4}\ni = const i32[2,2] {1,1,0,1}\n"
              "y = gc_scatter_reduce x i {axis=1,axis_size=2,group_size=2}\nreturn y\n",
        "f32[2,2] {0,3,3,4}");
    ck_result("x = const f32[2,1,2] {1,2,3,4}\ni = const i32[2,2] {1,1,0,1}\n"
              "y = gc_scatter_reduce x i {axis=2,axis_size=2,group_size=2}\nreturn y\n",
        "f32[2,1,2] {0,3,3,4}");
}
END_TEST

START_TEST(wrong_indices_and_sizes_are_refused)
{
    ck_failure(SRC "y = gc_scatter_reduce x i {axis=0,axis_size=2}\nreturn y\n", POPRT_E_ARG,
        "index 2");
    ck_failure(SRC "y = gc_scatter_reduce x i {axis=0}\nreturn y\n", POPRT_E_ARG, "axis_size");
    ck_failure(SRC "y = gc_scatter_reduce x i {axis=0,axis_size=4,reduction=mean}\nreturn y\n",
        POPRT_E_ARG, "sum, max, min, mul, none");
    ck_failure(SRC "y = gc_scatter_reduce x i {axis=0,axis_size=4,enable_index_broadcast=0}\n"
                   "return y\n",
        POPRT_E_SHAPE, "enable_index_broadcast");
    ck_failure("x = const f32[2,2] {1,2,3,4}\ni = const i32[2,1] {0,1}\n"
               "y = gc_scatter_reduce x i {axis=0,axis_size=4}\nreturn y\n",
        POPRT_E_SHAPE, "indices");
}
END_TEST

#define ROWS                                                                                       \
    "x = const f32[3,1] {1,2,3}\nd = const f32[4,1] {10,20,30,40}\n"                               \
    "n = const u32[2] {2,1}\nf = const u32[2] {1,0}\n"

START_TEST(sequence_slice_copies_rows)
{
    ck_result(ROWS "t = const u32[2] {0,3}\ny = gc_sequence_slice x d n f t\nreturn y\n",
        "f32[4,1] {2,3,30,1}");
    ck_result(ROWS "t = const u32[2] {0,3}\ny = gc_sequence_slice x d n f t {zeroUnused=1}\n"
                   "return y\n",
        "f32[4,1] {2,3,0,1}");
    ck_failure(ROWS "t = const u32[2] {3,0}\ny = gc_sequence_slice x d n f t\nreturn y\n",
        POPRT_E_ARG, "sequence 0");
    ck_failure(ROWS "t = const u32[1] {3}\ny = gc_sequence_slice x d n f t\nreturn y\n",
        POPRT_E_SHAPE, "sequences");
    ck_failure(ROWS "y = gc_sequence_slice n d n n n\nreturn y\n", POPRT_E_TYPE, "float32");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/scatter", grouped_gather_takes_rows_of_each_group,
    scatter_reduce_has_its_values, initial_values_take_part, wrong_indices_and_sizes_are_refused,
    sequence_slice_copies_rows)
