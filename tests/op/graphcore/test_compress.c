/* SPDX-License-Identifier: MIT */
/* test_compress.c — MaskCompress of ai.graphcore. */
#include "support/check_main.h"
#include "support/op_check.h"

#define X "x = const f32[2,3] {1,2,3,4,5,6}\n"

START_TEST(selected_elements_come_first)
{
    ck_result(X "c = const bool[3] {false,true,true}\ny = gc_mask_compress x c {axis=1}\n"
                "return y\n",
        "f32[2,3] {2,3,0,5,6,0}");
    ck_result(X "c = const bool[2] {false,true}\ny = gc_mask_compress x c {axis=-2}\nreturn y\n",
        "f32[2,3] {4,5,6,0,0,0}");
    ck_result(X "c = const bool[6] {true,false,false,false,true,true}\n"
                "y = gc_mask_compress x c\nreturn y\n",
        "f32[6] {1,5,6,0,0,0}");
    ck_result(X "c = const bool[2] {false,true}\ny = gc_mask_compress x c\nreturn y\n",
        "f32[6] {2,0,0,0,0,0}");
    ck_result(X "c = const bool[5] {false,true,false,true,true}\n"
                "y = gc_mask_compress x c {axis=1}\nreturn y\n",
        "f32[2,3] {2,0,0,5,0,0}");
    ck_result(X "c = const bool[0] {}\ny = gc_mask_compress x c {axis=0}\nreturn y\n",
        "f32[2,3] {0,0,0,0,0,0}");
    ck_result("x = const string[2] {\"a\",\"b\"}\nc = const bool[2] {false,true}\n"
              "y = gc_mask_compress x c\nreturn y\n",
        "string[2] {\"b\",\"\"}");
    ck_result("x = const f32[0,3] {}\nc = const bool[3] {true,true,true}\n"
              "y = gc_mask_compress x c {axis=1}\nreturn y\n",
        "f32[0,3] {}");
}
END_TEST

START_TEST(shapes_are_inferred_or_refused)
{
    ck_type("x = input i8[n,4]\nc = input bool[4]\ny = gc_mask_compress x c {axis=1}\nreturn y\n",
        "i8[n,4]");
    ck_type("x = input i8[2,4]\nc = input bool[?]\ny = gc_mask_compress x c\nreturn y\n", "i8[8]");
    ck_failure(X "c = const bool[1,1] {true}\ny = gc_mask_compress x c\nreturn y\n", POPRT_E_SHAPE,
        "rank 2");
    ck_failure(X "c = const bool[1] {true}\ny = gc_mask_compress x c {axis=2}\nreturn y\n",
        POPRT_E_SHAPE, "axis");
    ck_failure("x = const f32[] {1}\nc = const bool[1] {true}\ny = gc_mask_compress x c\n"
               "return y\n",
        POPRT_E_SHAPE, "is a scalar");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/compress", selected_elements_come_first, shapes_are_inferred_or_refused)
