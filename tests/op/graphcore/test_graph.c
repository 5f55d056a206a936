/* SPDX-License-Identifier: MIT */
/* test_graph.c — Call, PackedDataBlock, 8-bit casts, identities, Abort.
 * Covers: state.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(calls_run_their_graph)
{
    ck_result("x = const f32[2] {1,2}\nk = const f32[] {10}\n"
              "y = gc_call x {callee {\na = input f32[*]\nb = mul a k\nreturn b\n}}\nreturn y\n",
        "f32[2] {10,20}");
    ck_type("x = input f32[n]\n"
            "y = gc_call x {callee {\na = input f32[*]\nb = shape a\nreturn b\n}}\nreturn y\n",
        "i64[1]");
    ck_content("x = input f32[n,2]\ns = shape x\n"
               "y = gc_call s {callee {\na = input i64[2]\nb = add a a\nreturn b\n}}\nreturn y\n",
        "(2*n) 4");
    ck_failure("x = const f32[2] {1,2}\ny = gc_call x\nreturn y\n", POPRT_E_PARSE, "callee");
    ck_failure("x = const f32[2] {1,2}\ny = gc_call x {modifiedInputs=[1],callee {\n"
               "a = input f32[*]\nb = neg a\nreturn b\n}}\nreturn y\n",
        POPRT_E_ARG, "modifiedInputs");
}
END_TEST

#define PACKED(size, each)                                                                         \
    "y = gc_packed_data_block x o n t n {maxSequenceLengths=[2],resultSize=" size                  \
    ",callbackBatchSize=" each                                                                     \
    ",callback {\nr = input f32[*]\ns = neg r\nreturn s\n}}\nreturn y\n"
#define DATA "x = const f32[4] {1,2,3,4}\no = const u32[3] {2,0,1}\nn = const u32[3] {2,1,1}\n"

START_TEST(packed_sequences_run_their_graph)
{
    ck_result(DATA "t = const u32[3] {0,3,4}\n" PACKED("5", "1"), "f32[5] {-3,-4,0,-1,-2}");
    /* Three sequences in groups of two: the last sequence is left out. */
    ck_result(DATA "t = const u32[3] {0,3,4}\n" PACKED("5", "2"), "f32[5] {-3,-4,0,-1,0}");
    /* Fewer sequences than a group: the graph does not run. */
    ck_result(DATA "t = const u32[3] {0,3,4}\n"
                   "y = gc_packed_data_block x o n t n {maxSequenceLengths=[2],resultSize=5,"
                   "callbackBatchSize=4,callback {\nr = input f32[4,2]\ns = neg r\nreturn s\n}}\n"
                   "return y\n",
        "f32[5] {0,0,0,0,0}");
    ck_failure(DATA "t = const u32[3] {0,3,5}\n" PACKED("5", "1"), POPRT_E_ARG, "sequence 2");
    ck_failure(DATA "t = const u32[2] {0,3}\n" PACKED("5", "1"), POPRT_E_SHAPE, "sequences");
    ck_failure(DATA "t = const u32[3] {0,3,4}\n" PACKED("5", "0"), POPRT_E_ARG,
        "callbackBatchSize");
    ck_failure("x = const f32[1] {1}\no = const u32[1] {4294967295}\nn = const u32[1] {2}\n"
               "t = const u32[1] {0}\n" PACKED("5", "1"),
        POPRT_E_ARG, "sequence 0");
}
END_TEST

START_TEST(casts_scale_by_powers_of_two)
{
    ck_result("x = const f32[5] {0.5,-3,68,1e9,-1e-9}\ns = const i8[] {0}\n"
              "y = gc_pow2_scale_then_cast x s {to=FLOAT8_143}\nreturn y\n",
        "f8e4m3fnuz[5] {0.5,-3,64,nan,0}");
    ck_result("x = const f16[3] {0.5,-3,17}\ns = const i8[] {-1}\n"
              "y = gc_pow2_scale_then_cast x s {to=FLOAT8_152}\nreturn y\n",
        "f8e5m2fnuz[3] {0.25,-1.5,8}");
    ck_result("x = const f8e4m3fnuz[3] {0.5,-3,nan}\ns = const i8[] {4}\n"
              "y = gc_cast_then_pow2_scale x s\nreturn y\n",
        "f16[3] {8,-48,nan}");
    ck_failure("x = const f32[1] {1}\ns = const i8[] {32}\ny = gc_pow2_scale_then_cast x s\n"
               "return y\n",
        POPRT_E_ARG, "[-32, 31]");
    ck_failure("x = const f32[1] {1}\ns = const i8[] {0}\n"
               "y = gc_pow2_scale_then_cast x s {to=FLOAT}\nreturn y\n",
        POPRT_E_TYPE, "FLOAT8_143");
    ck_failure("x = const f32[1] {1}\ns = const i8[2] {0,0}\ny = gc_pow2_scale_then_cast x s\n"
               "return y\n",
        POPRT_E_SHAPE, "one number");
}
END_TEST

START_TEST(identities_return_their_input)
{
    const char *ops[] = { "gc_nop x", "gc_detach x", "gc_tensor_remap x {remap_type=2}",
        "gc_auto_loss_scale_proxy x", "gc_shaped_dropout x {shape=[3],ratio=0.9}",
        "gc_print_tensor x" };
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        char text[128];
        (void)snprintf(text, sizeof(text), "x = const f32[2,3] {1,2,3,4,5,nan}\ny = %s\nreturn y\n",
            ops[i]);
        ck_result(text, "f32[2,3] {1,2,3,4,5,nan}");
    }
    ck_failure("x = const f32[2] {1,2}\ny = gc_shaped_dropout x {shape=[3]}\nreturn y\n",
        POPRT_E_SHAPE, "shape has 3");
    ck_failure("x = const f32[2] {1,2}\ny = gc_shaped_dropout x {shape=[2],ratio=1}\nreturn y\n",
        POPRT_E_ARG, "ratio");
    ck_failure("x = const f32[2] {1,2}\ny = gc_tensor_remap x {remap_type=3}\nreturn y\n",
        POPRT_E_ARG, "remap_type");
    ck_result("v = const f32[2] {1,2}\nu = const f32[2] {3,4}\ny = gc_copy_var_update v u\n"
              "return y\n",
        "f32[2] {3,4}");
    ck_failure(
        "v = const f32[2] {1,2}\nu = const f32[1] {3}\ny = gc_copy_var_update v u\nreturn y\n",
        POPRT_E_SHAPE, "a dim");
}
END_TEST

START_TEST(abort_fails_on_a_true_condition)
{
    ck_result("x = const f32[1] {1}\nc = const bool[] {false}\n= gc_abort c\nreturn x\n",
        "f32[1] {1}");
    ck_failure("x = const f32[1] {1}\nc = const i32[1] {-1}\n= gc_abort c\nreturn x\n",
        POPRT_E_STATE, "its condition is true");
    ck_failure("x = const f32[1] {1}\n= gc_abort\nreturn x\n", POPRT_E_STATE, "stops the run");
    ck_failure("x = const f32[2] {1,1}\n= gc_abort x\nreturn x\n", POPRT_E_SHAPE, "one element");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/graph", calls_run_their_graph, packed_sequences_run_their_graph,
    casts_scale_by_powers_of_two, identities_return_their_input, abort_fails_on_a_true_condition)
