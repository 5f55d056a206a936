/* SPDX-License-Identifier: MIT */
/* test_points.c — sharding points lead back to the marked nodes that they were computed from. */
#include "ir/extra.h"
#include "pass/shard/points.h"
#include "support/check_main.h"
#include "support/random_graph.h"

/* Points of these places, applied: every node is back where it was. Gives their number. */
static size_t check_back(prt_graph *g, prt_arena *arena, const prt_net *net,
    const prt_shard_point *places)
{
    prt_shard_points list = { 0 };
    prt_pass p = { .arena = arena, .module = g->module };
    prt_shard_point *points = PRT_NEW_N(arena, prt_shard_point, g->n_ops);
    ck_assert_int_eq(prt_shard_points_of(arena, net, places, &list), POPRT_OK);
    for (size_t i = 0; i < list.count; i++)
        points[list.data[i].op->id] = list.data[i];
    ck_assert_int_eq(prt_shard_apply(&p, g, points), POPRT_OK);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        int64_t device = -1, stage = -1;
        (void)prt_op_mark_i64(net->nodes[i].op, PRT_MARK_DEVICE, &device);
        (void)prt_op_mark_i64(net->nodes[i].op, PRT_MARK_STAGE, &stage);
        ck_assert_int_eq(device, places[i].device);
        ck_assert_int_eq(stage, places[i].stage);
    }
    return list.count;
}

START_TEST(points_give_back_their_places)
{
    uint64_t state = 7;
    for (int round = 0; round < 300; round++) {
        prt_graph *g = random_graph(&state, 1 + (uint32_t)random_below(&state, 60));
        prt_arena *arena = NULL;
        prt_net net;
        const uint64_t devices = 1 + random_below(&state, 5), stages = random_below(&state, 4);
        const bool ascending = random_below(&state, 2) == 0;
        ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
        ck_assert_int_eq(prt_net_build(arena, g, &net), POPRT_OK);
        prt_shard_point *places = PRT_NEW_N(arena, prt_shard_point, net.n_nodes);
        for (uint32_t i = 0; i < net.n_nodes; i++) {
            const int64_t device = ascending ? (int64_t)(i * devices / net.n_nodes)
                                             : (int64_t)random_below(&state, devices);
            places[i] = (prt_shard_point){ net.nodes[i].op, device,
                stages == 0     ? -1
                    : ascending ? device
                                : (int64_t)random_below(&state, stages) };
        }
        (void)check_back(g, arena, &net, places);
        prt_arena_release(arena);
        module_free(g);
    }
}
END_TEST

START_TEST(the_last_place_needs_no_points)
{
    prt_graph *g = graph_from_text("x = input f32[2]\na = exp x @A\nb = exp a @B\nc = exp b @C\n"
                                   "d = add c a @D\nreturn d, b\n");
    prt_arena *arena = NULL;
    prt_net net;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_net_build(arena, g, &net), POPRT_OK);
    prt_shard_point places[4];
    for (uint32_t i = 0; i < 4; i++)
        places[i] = (prt_shard_point){ net.nodes[i].op, i >= 2, i >= 2 };
    ck_assert_uint_eq(check_back(g, arena, &net, places), 2); /* A, which D reads too, and B */
    for (uint32_t i = 0; i < 4; i++)
        places[i].device = i >= 2 ? 5 : 0; /* not the next number: D is a point */
    ck_assert_uint_eq(check_back(g, arena, &net, places), 3);
    prt_arena_release(arena);
    module_free(g);
}
END_TEST

START_TEST(points_need_names_of_their_own)
{
    static const char *const graphs[] = {
        "x = input f32[2]\na = exp x\nb = exp a @B\nreturn b\n",
        "x = input f32[2]\na = exp x @B\nb = exp a @B\nreturn b\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        prt_arena *arena = NULL;
        prt_net net;
        prt_shard_points list = { 0 };
        ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
        ck_assert_int_eq(prt_net_build(arena, g, &net), POPRT_OK);
        const prt_shard_point places[2] = { { net.nodes[0].op, 0, 0 }, { net.nodes[1].op, 1, 1 } };
        ck_assert_int_eq(prt_shard_points_of(arena, &net, places, &list), POPRT_E_ARG);
        ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "unique_name_for_nodes"));
        prt_arena_release(arena);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/shard/points", points_give_back_their_places, the_last_place_needs_no_points,
    points_need_names_of_their_own)
