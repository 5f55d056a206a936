/* SPDX-License-Identifier: MIT */
/* test_parts.c — steps 1 and 2 of auto-sharding, and the needs of a device, compared with hand
 * computation. */
#include "pass/shard/parts.h"

#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

typedef struct fixture {
    prt_arena *arena;
    prt_graph *graph;
    prt_pass pass;
    prt_net net;
    prt_parts parts;
} fixture;

static void setup(fixture *f, const char *text)
{
    *f = (fixture){ .graph = graph_from_text(text) };
    ck_assert_int_eq(prt_arena_create(NULL, 0, &f->arena), POPRT_OK);
    f->pass.arena = f->arena;
    ck_assert_int_eq(prt_net_build(f->arena, f->graph, &f->net), POPRT_OK);
}

static void teardown(fixture *f)
{
    prt_arena_release(f->arena);
    module_free(f->graph);
}

/* The parts as "NODE:PART" words. */
static void check_parts(const char *text, prt_parts_by by, const char *expected)
{
    fixture f;
    char got[512] = "";
    setup(&f, text);
    ck_assert_int_eq(prt_parts_find(&f.pass, &f.net, by, &f.parts), POPRT_OK);
    for (uint32_t i = 0; i < f.net.n_nodes; i++) {
        const size_t at = strlen(got);
        (void)snprintf(got + at, sizeof(got) - at, "%s%s:%u", i > 0 ? " " : "",
            f.net.nodes[i].op->origin.data, f.parts.of_node[i]);
    }
    ck_assert_str_eq(got, expected);
    teardown(&f);
}

#define BLOCK(n, x)                                                                                \
    "m" #n " = matmul " x " w" #n " @M" #n "\na" #n " = add m" #n " " x " @A" #n "\n"
#define WEIGHT(n) "w" #n " = const f32[2,2] {1,2,3,4}\n"

/* Four blocks of 16 bytes and 8 + 2 FLOPs... */
#define FOUR                                                                                       \
    "x = input f32[1,2]\n" WEIGHT(1) WEIGHT(2) WEIGHT(3) WEIGHT(4) BLOCK(1, "x") BLOCK(2, "a1")    \
        BLOCK(3, "a2") BLOCK(4, "a3")

START_TEST(joins_take_their_dependencies)
{
    check_parts(FOUR "return a4\n", PRT_PARTS_JOINS, "M1:0 A1:0 M2:1 A2:1 M3:2 A3:2 M4:3 A4:3");
    fixture f;
    setup(&f, FOUR "return a4\n");
    ck_assert_int_eq(prt_parts_find(&f.pass, &f.net, PRT_PARTS_JOINS, &f.parts), POPRT_OK);
    ck_assert_uint_eq(f.parts.count, 4);
    ck_assert_uint_eq(f.parts.bytes, 64);
    for (uint32_t k = 0; k < 4; k++) {
        ck_assert_uint_eq(f.parts.part[k].bytes, 16);
        ck_assert_uint_eq(f.parts.part[k].flops, 10);
        ck_assert_uint_eq(f.parts.part[k].n_from, k > 0);
        ck_assert_uint_eq(f.parts.part[k].n_to, k < 3);
    }
    ck_assert_uint_eq(f.parts.from[f.parts.part[3].first_from], 2);
    ck_assert_uint_eq(f.parts.to[f.parts.part[0].first_to], 1);
    teardown(&f);
}
END_TEST

START_TEST(light_parts_are_left_to_later_joins)
{
    /* By bytes of weights: block 2 has no weights. */
    check_parts("x = input f32[1,2]\n" WEIGHT(1) WEIGHT(3) WEIGHT(4) BLOCK(1,
                    "x") "m2 = exp a1 @M2\nn2 = exp m2 @N2\no2 = exp n2 @O2\np2 = exp o2 @P2\n"
                         "a2 = add p2 a1 @A2\n" BLOCK(3, "a2") BLOCK(4, "a3") "return a4\n",
        PRT_PARTS_JOINS, "M1:0 A1:0 M2:1 N2:1 O2:1 P2:1 A2:1 M3:1 A3:1 M4:2 A4:2");
    /* In FLOPs: 16 bytes of block 2 are enough, its 2 + 2 operations are not. */
    check_parts(
        "x = input f32[1,2]\n" WEIGHT(1) WEIGHT(
            3) "w2 = const f32[4] {1,2,3,4}\n"
               "s = const i64[2] {1,2}\n" BLOCK(1,
                   "x") "g2 = gather w2 s @G2\nm2 = mul a1 g2 @M2\na2 = add m2 a1 @A2\n" BLOCK(3,
                   "a2") "return a3\n",
        PRT_PARTS_JOINS, "M1:0 A1:0 G2:1 M2:1 A2:1 M3:1 A3:1");
}
END_TEST

START_TEST(remaining_nodes_are_the_last_part)
{
    check_parts(FOUR "r = transpose a4 @R\ns = transpose a1 @S\nreturn r, s\n", PRT_PARTS_JOINS,
        "M1:0 A1:0 M2:1 A2:1 M3:2 A3:2 M4:3 A4:3 R:4 S:4");
}
END_TEST

START_TEST(without_joins_all_nodes_are_candidates)
{
    static const char chain[] = "x = input f32[1,2]\n" WEIGHT(1) WEIGHT(
        2) "a = matmul x w1 @A\nb = relu a @B\nc = matmul b w2 @C\nd = relu c @D\nreturn d\n";
    /* Averages are 8 bytes and 5 FLOPs. */
    check_parts(chain, PRT_PARTS_JOINS, "A:0 B:1 C:1 D:2");
    check_parts(chain, PRT_PARTS_NODES, "A:0 B:1 C:1 D:2");
    check_parts(chain, PRT_PARTS_SINGLE, "A:0 B:1 C:2 D:3");
    check_parts(FOUR "return a4\n", PRT_PARTS_NODES, "M1:0 A1:1 M2:1 A2:2 M3:2 A3:3 M4:3 A4:4");
}
END_TEST

START_TEST(weights_of_some_operators_do_not_count)
{
    fixture f;
    setup(&f,
        "x = input f32[2]\ns = const i64[2] {1,2}\nw = const f32[2] {1,2}\n"
        "a = reshape x s @A\nb = add a w @B\nc = expand b s @C\nreturn c\n");
    ck_assert_uint_eq(f.net.nodes[0].bytes, 0);
    ck_assert_uint_eq(f.net.nodes[1].bytes, 8);
    ck_assert_uint_eq(f.net.nodes[2].bytes, 0);
    teardown(&f);
}
END_TEST

/* When d is computed, a, b and c (a view of b) are live: 48 bytes. */
static const char views[] = "x = input f32[4]\nw = const f32[4] {1,2,3,4}\ns = const i64[1] {4}\n"
                            "a = mul x w @A\nb = exp a @B\nc = reshape b s @C\nd = add a c @D\n"
                            "return d\n";

static void check_need(fixture *f, const uint32_t *device_of, uint32_t device, uint64_t weights,
    uint64_t activations, uint64_t received)
{
    prt_meter meter;
    prt_shard_need need;
    ck_assert_int_eq(prt_meter_init(f->arena, &f->net, &meter), POPRT_OK);
    for (int round = 0; round < 2; round++) {
        prt_meter_read(&meter, device_of, device, &need);
        ck_assert_uint_eq(need.weights, weights);
        ck_assert_uint_eq(need.activations, activations);
        ck_assert_uint_eq(need.received, received);
        ck_assert_uint_eq(need.bytes, weights + activations + received);
    }
}

START_TEST(a_device_needs_weights_live_values_and_inputs)
{
    fixture f;
    setup(&f, views);
    check_need(&f, (const uint32_t[]){ 0, 0, 0, 0 }, 0, 16 + 8, 48, 16);
    /* b ends its lifetime on its device; on the other device c is a view of the received copy. */
    check_need(&f, (const uint32_t[]){ 0, 0, 1, 1 }, 0, 16, 32, 16);
    check_need(&f, (const uint32_t[]){ 0, 0, 1, 1 }, 1, 8, 16, 32);
    teardown(&f);
    /* A weight that two nodes read is there once; an output of the model stays. */
    setup(&f,
        "x = input f32[4]\nw = const f32[4] {1,2,3,4}\na = mul x w @A\nb = mul a w @B\n"
        "c = exp b @C\nd = exp c @D\nreturn d, a\n");
    check_need(&f, (const uint32_t[]){ 0, 0, 0, 0 }, 0, 16, 48, 16);
    ck_assert_uint_eq(f.net.nodes[1].bytes, 16);
    teardown(&f);
}
END_TEST

START_TEST(regions_belong_to_their_node)
{
    fixture f;
    setup(&f,
        "c = input bool[]\nx = input f32[4]\nw = const f32[4] {1,2,3,4}\n"
        "r = if c {\n  then_branch { v = const f32[4] {1,2,3,4}; t = add x v; return t }\n"
        "  else_branch { u = mul x w; return u }\n} @R\nreturn r\n");
    ck_assert_uint_eq(f.net.n_nodes, 1);
    ck_assert_uint_eq(f.net.nodes[0].bytes, 32);
    ck_assert_uint_eq(f.net.nodes[0].flops, 8);
    /* Both branches' results, and the node's own. */
    check_need(&f, (const uint32_t[]){ 0 }, 0, 32, 48, 16 + 1);
    teardown(&f);
}
END_TEST

PRT_TEST_MAIN("pass/shard/parts", joins_take_their_dependencies,
    light_parts_are_left_to_later_joins, remaining_nodes_are_the_last_part,
    without_joins_all_nodes_are_candidates, weights_of_some_operators_do_not_count,
    a_device_needs_weights_live_values_and_inputs, regions_belong_to_their_node)
