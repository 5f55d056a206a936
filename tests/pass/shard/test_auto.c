/* SPDX-License-Identifier: MIT */
/*
 * test_auto.c — auto_sharding: first cuts, moves, balance, invariants, refused options.
 * Covers: cuts.c, net.c, search.c.
 */
#include "ir/extra.h"
#include "support/check_main.h"
#include "support/random_graph.h"

/* A block: 64 bytes of weights, 32 + 4 FLOPs on one row, values of 16 bytes. */
#define BLOCK(n, x, w)                                                                             \
    "m" #n " = matmul " x " " w " @M" #n "\na" #n " = add m" #n " " x " @A" #n "\n"
#define NUMBERS "{1,2,3,4, 5,6,7,8, 9,1,2,3, 4,5,6,7}"
#define WEIGHT(n) "w" #n " = const f32[4,4] " NUMBERS "\n"
#define WEIGHTS WEIGHT(1) WEIGHT(2) WEIGHT(3) WEIGHT(4) WEIGHT(5)

static const char five[] = "x = input f32[1,4]\n" WEIGHTS BLOCK(1, "x", "w1") BLOCK(2, "a1", "w2")
    BLOCK(3, "a2", "w3") BLOCK(4, "a3", "w4") BLOCK(5, "a4", "w5") "return a5\n";

/* Blocks 3, 4 and 5 have one weight: each counts it for the first cut, a device has it once. */
static const char shared[] = "x = input f32[1,4]\n" WEIGHTS BLOCK(1, "x", "w1") BLOCK(2, "a1", "w2")
    BLOCK(3, "a2", "w3") BLOCK(4, "a3", "w3") BLOCK(5, "a4", "w3") "return a5\n";

/* Blocks 1 and 2 on eight rows: 288 FLOPs each; 36 for each of the others. */
static const char skewed[] = "x = input f32[8,4]\ni = const i64[1] {0}\n" WEIGHTS WEIGHT(6)
    BLOCK(1, "x", "w1") BLOCK(2, "a1", "w2") "s = gather a2 i {axis=0} @S\n" BLOCK(3, "s", "w3")
        BLOCK(4, "a3", "w4") BLOCK(5, "a4", "w5") BLOCK(6, "a5", "w6") "return a6\n";

/* Devices of all nodes, in list order, as digits; stages must be the same. */
static const char *devices(const prt_graph *g)
{
    static char text[512];
    size_t at = 0;
    prt_for_each_op (op, g) {
        int64_t device = -1, stage = -1;
        ck_assert(prt_op_mark_i64(op, "__ipu_number", &device));
        ck_assert(prt_op_mark_i64(op, "__pipeline_stage", &stage));
        ck_assert_int_eq(device, stage);
        text[at++] = (char)('0' + device);
    }
    text[at] = '\0';
    return text;
}

static void check_devices(const char *text, const char *options, const char *expected)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, "auto_sharding", options));
    ck_assert_str_eq(devices(g), expected);
    module_free(g);
}

START_TEST(devices_are_filled_to_their_share)
{
    /* 320 bytes: 160 a device are reached with the third block; 107 with the second. */
    check_devices(five, "num_ipus=2", "0000001111");
    check_devices(five, "num_ipus=3", "0000111122");
    check_devices(five, "num_ipus=4", "0000112233"); /* 80, but every device gets a node */
    check_devices(five, "num_ipus=5", "0011223344");
}
END_TEST

START_TEST(parts_move_where_memory_lacks)
{
    /* Device 0 needs 192 + 48 + 16 bytes, device 1 64 + 48 + 16; with block 3 moved 192 and 128. */
    check_devices(shared, "num_ipus=2", "0000001111");
    check_devices(shared, "num_ipus=2, memory_per_ipu=256", "0000001111");
    check_devices(shared, "num_ipus=2, memory_per_ipu=255", "0000111111");
    check_devices(shared, "num_ipus=2, memory_per_ipu=192", "0000111111");
}
END_TEST

START_TEST(nodes_are_cut_apart_where_joins_are_too_few)
{
    check_devices("x = input f32[1,4]\n" WEIGHT(1) WEIGHT(2) BLOCK(1, "x", "w1")
                      BLOCK(2, "a1", "w2") "return a2\n",
        "num_ipus=4", "0123");
    check_devices("x = input f32[1,4]\n" WEIGHT(1)
                      WEIGHT(2) "a = matmul x w1 @A\nb = relu a @B\nc = matmul b w2 @C\nreturn c\n",
        "num_ipus=2", "011");
}
END_TEST

START_TEST(missing_memory_is_reported)
{
    /* In the best cut device 0 has blocks 1 and 2 and the product of block 3. */
    assert_pass_fails("auto_sharding", "num_ipus=2, memory_per_ipu=200", five, POPRT_E_LIMIT,
        "bytes (weights 192, activations");
    assert_pass_fails("auto_sharding", "num_ipus=2, memory_per_ipu=200", five, POPRT_E_LIMIT,
        "and has 200: try 3 devices");
    assert_pass_fails("auto_sharding", "num_ipus=2, memory_per_ipu=63", five, POPRT_E_LIMIT,
        "the node alone reads 64 bytes of weights");
}
END_TEST

START_TEST(flops_are_evened_out)
{
    /* By bytes one device has 576 of the 720 FLOPs; at best 432. */
    check_devices(skewed, "num_ipus=2", "0000111111111");
    check_devices(skewed, "num_ipus=2, optimal_perf=true", "0011111111111");
    /* Device 1 would need 320 + 8 bytes of weights, two values of 128, and a third from device 0.
     */
    check_devices(skewed, "num_ipus=2, optimal_perf=true, memory_per_ipu=712", "0011111111111");
    check_devices(skewed, "num_ipus=2, optimal_perf=true, memory_per_ipu=640", "0000111111111");
}
END_TEST

START_TEST(regions_go_with_their_node)
{
    check_devices("c = input bool[]\nx = input f32[4]\nw = const f32[4] {1,2,3,4}\na = mul x w @A\n"
                  "b = exp a @B\nr = if c {\n  then_branch { t = neg b; return t }\n"
                  "  else_branch { v = mul a w; return v }\n} @R\ny = exp r @Y\nreturn y\n",
        "num_ipus=4", "0123");
}
END_TEST

START_TEST(nodes_get_names_where_they_lack_them)
{
    static const char unnamed[] = "x = input f32[2]\na = exp x\nb = neg a @N\nc = exp b @N\n"
                                  "return c\n";
    prt_graph *g = graph_from_text(unnamed);
    ck_assert_ptr_nonnull(strstr(pass_notes(g, "auto_sharding", NULL), "unique_name_for_nodes"));
    prt_for_each_op (op, g)
        ck_assert_uint_ne(op->origin.size, 0);
    module_free(g);
    g = graph_from_text(five);
    ck_assert_str_eq(pass_notes(g, "auto_sharding", NULL), "");
    module_free(g);
}
END_TEST

START_TEST(data_dependent_sizes_are_reported)
{
    prt_graph *g = graph_from_text("x = input f32[4]\na = exp x @A\ni = nonzero a @I\n"
                                   "s = shape i @S\nreturn i, s\n");
    const char *notes = pass_notes(g, "auto_sharding", NULL);
    ck_assert_ptr_nonnull(strstr(notes, "1 nodes, first this one"));
    module_free(g);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    static const char open[] = "x = input f32[batch,4]\na = exp x @A\nb = exp a @B\nreturn b\n";
    assert_pass_fails("auto_sharding", "num_ipus=1", five, POPRT_E_ARG, "from 2 to");
    assert_pass_fails("auto_sharding", "num_ipus=1025", five, POPRT_E_ARG, "from 2 to");
    assert_pass_fails("auto_sharding", "num_ipus=11", five, POPRT_E_ARG,
        "11 devices are more than the 10 nodes");
    assert_pass_fails("auto_sharding", "memory_per_ipu=0", five, POPRT_E_ARG, "1 byte or more");
    assert_pass_fails("auto_sharding", NULL, open, POPRT_E_ARG, "f32[batch,4]");
    assert_pass_fails("auto_sharding", NULL, open, POPRT_E_ARG, "input_shape");
    assert_pass_fails("auto_sharding", NULL, "x = input f32[2]\nreturn x\n", POPRT_E_ARG,
        "2 devices are more than the 0 nodes");
}
END_TEST

/* ---- invariants */

static int64_t device_of(const prt_op *op)
{
    int64_t device = -1;
    ck_assert(prt_op_mark_i64(op, "__ipu_number", &device));
    return device;
}

/* Every device has a node, and no node reads a value of a later device. */
static void check_invariants(const prt_graph *g, int64_t n)
{
    uint64_t used = 0;
    prt_for_each_op (op, g) {
        const int64_t device = device_of(op);
        ck_assert(device >= 0 && device < n);
        used |= UINT64_C(1) << device;
        for (uint32_t i = 0; i < op->n_in; i++)
            if (op->in[i].value->def != NULL)
                ck_assert_int_le(device_of(op->in[i].value->def), device);
    }
    ck_assert_uint_eq(used, (UINT64_C(1) << n) - 1);
}

START_TEST(no_device_depends_on_a_later_one)
{
    uint64_t state = 11;
    uint32_t done = 0;
    for (int round = 0; round < 200; round++) {
        prt_graph *g = random_graph(&state, 8 + (uint32_t)random_below(&state, 60));
        const int64_t n = 2 + (int64_t)random_below(&state, 6);
        char options[128];
        (void)snprintf(options, sizeof(options), "num_ipus=%d, optimal_perf=%s, memory_per_ipu=%d",
            (int)n, random_below(&state, 2) == 0 ? "true" : "false",
            300 + (int)random_below(&state, 400));
        const poprt_status status = try_pass(g, "auto_sharding", options);
        ck_assert(status == POPRT_OK || status == POPRT_E_LIMIT);
        if (status == POPRT_OK) {
            check_invariants(g, n);
            done++;
        }
        module_free(g);
    }
    ck_assert_uint_gt(done, 100);
}
END_TEST

START_TEST(sharding_keeps_the_results)
{
    assert_pass_keeps_results(five, "auto_sharding", 0);
}
END_TEST

PRT_TEST_MAIN("pass/shard/auto", devices_are_filled_to_their_share, parts_move_where_memory_lacks,
    nodes_are_cut_apart_where_joins_are_too_few, missing_memory_is_reported, flops_are_evened_out,
    regions_go_with_their_node, nodes_get_names_where_they_lack_them,
    data_dependent_sizes_are_reported, wrong_options_are_refused, no_device_depends_on_a_later_one,
    sharding_keeps_the_results)
