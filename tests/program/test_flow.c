/* SPDX-License-Identifier: MIT */
/*
 * test_flow.c — arithmetic of data flow: every combination of batches, accumulation, replicas,
 * groups and return types against a loop that hands out blocks one after another, and the rows of a
 * table with known shapes.
 */
#include "program/flow.h"
#include "support/check_main.h"

/* Blocks of an input in the order in which a loop asks for new ones. */
static void compare_inputs(const prt_flow *f, bool broadcast)
{
    int64_t next = 0;
    const int64_t size = broadcast ? f->replicas : f->input_group, n = f->replicas / size;
    for (int64_t step = 0; step < f->batches * f->accumulation; step++) {
        for (int64_t g = 0; g < n; g++, next++)
            for (int64_t k = 0; k < size; k++) {
                const bool rows = broadcast || f->input_grouping == PRT_GROUPING_consecutive;
                const int64_t r = rows ? g * size + k : k * n + g;
                ck_assert_int_eq(prt_flow_block_in(f, broadcast, step, r), next);
                ck_assert_int_eq(prt_flow_first_reader(f, broadcast, r), rows ? g * size : g);
            }
    }
    ck_assert_int_eq(prt_flow_blocks_in(f, broadcast), next);
}

/* Counts micro-batches as a device would: a counter of batches for everyn. */
static void compare_outputs(const prt_flow *f, const prt_anchor *a)
{
    int64_t next = 0, counter = 0, dims[3], product = 1;
    for (int64_t b = 0; b < f->batches; b++) {
        const bool chosen = ++counter == a->period;
        counter = chosen ? 0 : counter;
        for (int64_t i = 0; i < f->accumulation; i++) {
            const bool last = b + 1 == f->batches && i + 1 == f->accumulation;
            const bool one = a->mode == PRT_ANCHOR_final || a->mode == PRT_ANCHOR_sum;
            const int64_t step = b * f->accumulation + i;
            const bool wanted = one ? last : chosen;
            ck_assert(prt_flow_returns(f, a, step) == wanted);
            for (int64_t r = 0; wanted && r < f->replicas; r++)
                ck_assert_int_eq(prt_flow_block_out(f, a, step, r), next++);
        }
    }
    ck_assert_int_eq(prt_flow_blocks_out(f, a), next);
    const uint32_t n = prt_flow_prefix_out(f, a, dims);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_int_ne(dims[i], 1);
        product *= dims[i];
    }
    ck_assert_int_eq(product, next);
}

START_TEST(every_combination_agrees_with_a_loop)
{
    int combinations = 0;
    for (int64_t b = 1; b <= 6; b++)
        for (int64_t a = 1; a <= 4; a++)
            for (int64_t r = 1; r <= 8; r++)
                for (int64_t s = 1; s <= r; s++)
                    for (uint32_t grouping = 0; grouping < PRT_GROUPING_COUNT; grouping++) {
                        const prt_flow f = { b, a, r, s, grouping, PRT_REDUCTION_sum };
                        if (r % s != 0) {
                            ck_assert_int_eq(prt_flow_check(&f), POPRT_E_ARG);
                            continue;
                        }
                        ck_assert_int_eq(prt_flow_check(&f), POPRT_OK);
                        compare_inputs(&f, false);
                        compare_inputs(&f, true);
                        for (int64_t period = 1; period <= b; period++)
                            for (uint32_t m = 0; m < PRT_ANCHOR_MODE_COUNT; m++) {
                                const prt_anchor anchor = { m, period };
                                const bool fits =
                                    m == PRT_ANCHOR_everyn ? b % period == 0 : period == 1;
                                ck_assert_int_eq(prt_anchor_check(&f, &anchor, "y"),
                                    fits ? POPRT_OK : POPRT_E_ARG);
                                if (fits)
                                    compare_outputs(&f, &anchor);
                                combinations++;
                            }
                    }
    ck_assert_int_gt(combinations, 5000);
}
END_TEST

START_TEST(known_shapes)
{
    static const struct {
        prt_flow flow;
        prt_anchor anchor;
        int64_t in, out;
        uint32_t n;
        int64_t dims[3];
    } rows[] = {
        { { 10, 1, 1, 1, 0, 0 }, { PRT_ANCHOR_all, 1 }, 10, 10, 1, { 10 } },
        { { 10, 1, 1, 1, 0, 0 }, { PRT_ANCHOR_everyn, 5 }, 10, 2, 1, { 2 } },
        { { 10, 1, 1, 1, 0, 0 }, { PRT_ANCHOR_sum, 1 }, 10, 1, 0, { 0 } },
        { { 1000, 1, 1, 1, 0, 0 }, { PRT_ANCHOR_everyn, 20 }, 1000, 50, 1, { 50 } },
        { { 100, 1, 4, 1, 0, 0 }, { PRT_ANCHOR_final, 1 }, 400, 4, 1, { 4 } },
        { { 4, 8, 2, 1, 0, 0 }, { PRT_ANCHOR_all, 1 }, 64, 64, 3, { 4, 8, 2 } },
        { { 4, 8, 2, 1, 0, 0 }, { PRT_ANCHOR_everyn, 4 }, 64, 16, 2, { 8, 2 } },
        { { 1, 1, 8, 4, 0, 0 }, { PRT_ANCHOR_final, 1 }, 2, 8, 1, { 8 } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t dims[3] = { 0 };
        ck_assert_int_eq(prt_flow_blocks_in(&rows[i].flow, false), rows[i].in);
        ck_assert_int_eq(prt_flow_blocks_out(&rows[i].flow, &rows[i].anchor), rows[i].out);
        ck_assert_uint_eq(prt_flow_prefix_out(&rows[i].flow, &rows[i].anchor, dims), rows[i].n);
        for (uint32_t k = 0; k < rows[i].n; k++)
            ck_assert_int_eq(dims[k], rows[i].dims[k]);
    }
}
END_TEST

START_TEST(bad_flows_are_refused)
{
    static const prt_flow bad[] = { { 0, 1, 1, 1, 0, 0 }, { 1, 0, 1, 1, 0, 0 },
        { 1, 1, 0, 1, 0, 0 }, { 1, 1, 1, 0, 0, 0 }, { 1, 1, 6, 4, 0, 0 }, { 1, 1, 1, 1, 2, 0 },
        { 1, 1, 1, 1, 0, 3 }, { 1, 1, 1025, 1, 0, 0 }, { INT64_MAX, INT64_MAX, 1, 1, 0, 0 },
        { 1 << 20, 1 << 20, 1, 1, 0, 0 } };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_ne(prt_flow_check(&bad[i]), POPRT_OK);
}
END_TEST

PRT_TEST_MAIN("program/flow", every_combination_agrees_with_a_loop, known_shapes,
    bad_flows_are_refused)
