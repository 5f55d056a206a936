/* SPDX-License-Identifier: MIT */
/* test_replicas.c — groupings of replicas and the shapes of their weights, against tables. Covers:
 * replicas.c. */
#include "api_test.h"

#include "poprt/builder.h"

enum { MOST = 64 };

START_TEST(groups_are_those_of_a_table)
{
    static const struct {
        poprt_replica_grouping g;
        int64_t group[8];
    } rows[] = {
        { { 8, 1, 8 }, { 0, 0, 0, 0, 0, 0, 0, 0 } },
        { { 8, 1, 1 }, { 0, 1, 2, 3, 4, 5, 6, 7 } },
        { { 8, 1, 2 }, { 0, 0, 1, 1, 2, 2, 3, 3 } },
        { { 8, 4, 2 }, { 0, 1, 2, 3, 0, 1, 2, 3 } },
        { { 8, 2, 2 }, { 0, 1, 0, 1, 2, 3, 2, 3 } },
        { { 8, 2, 4 }, { 0, 1, 0, 1, 0, 1, 0, 1 } },
        { { 6, 3, 2 }, { 0, 1, 2, 0, 1, 2 } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t seen[MOST] = { 0 };
        for (int64_t q = 0; q < rows[i].g.replicas; q++) {
            int64_t group = -1, index = -1, replica = -1;
            ck_assert_ok(poprt_replica_grouping_find(&rows[i].g, q, &group, &index));
            ck_assert_int_eq(group, rows[i].group[q]);
            ck_assert_int_eq(index, seen[group]++); /* in the order of the replicas */
            ck_assert_ok(poprt_replica_grouping_at(&rows[i].g, group, index, &replica));
            ck_assert_int_eq(replica, q);
        }
    }
}
END_TEST

START_TEST(settings_are_groupings)
{
    static const struct {
        poprt_variable_settings s;
        poprt_replica_grouping g;
    } rows[] = {
        { { 0, 0, 0 }, { 8, 1, 8 } },
        { { 1, 2, 0 }, { 8, 1, 2 } },
        { { 1, 1, 0 }, { 8, 1, 1 } },
        { { 1, 8, 0 }, { 8, 1, 8 } },
        { { 2, 2, 0 }, { 8, 4, 2 } },
        { { 2, 1, 0 }, { 8, 1, 1 } },
        { { 2, 8, 0 }, { 8, 1, 8 } },
        { { 3, 5, 0 }, { 8, 1, 1 } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        poprt_replica_grouping g, again;
        poprt_variable_settings s;
        ck_assert_ok(poprt_replica_grouping_of(8, &rows[i].s, &g));
        ck_assert_mem_eq(&g, &rows[i].g, sizeof(g));
        ck_assert_ok(poprt_replica_grouping_settings(&g, &s));
        ck_assert_ok(poprt_replica_grouping_of(8, &s, &again));
        ck_assert_mem_eq(&again, &g, sizeof(g));
    }
    const poprt_replica_grouping middle = { 8, 2, 2 };
    poprt_variable_settings s;
    ck_assert_int_eq(poprt_replica_grouping_settings(&middle, &s), POPRT_E_UNSUPPORTED);
}
END_TEST

START_TEST(a_transposed_grouping_meets_every_group_once)
{
    for (int64_t n = 1; n <= 24; n++)
        for (int64_t stride = 1; stride <= n; stride++)
            for (int64_t size = 1; size <= n / stride; size++) {
                const poprt_replica_grouping g = { n, stride, size };
                poprt_replica_grouping t, back;
                int64_t a, b;
                if (n % (stride * size) != 0 || (size == 1 && stride != 1) ||
                    poprt_replica_grouping_transpose(&g, &t) != POPRT_OK)
                    continue;
                ck_assert_int_eq(t.size * size, n);
                bool met[MOST][MOST] = { { false } };
                for (int64_t q = 0; q < n; q++) {
                    ck_assert_ok(poprt_replica_grouping_find(&g, q, &a, NULL));
                    ck_assert_ok(poprt_replica_grouping_find(&t, q, &b, NULL));
                    ck_assert(!met[a][b]);
                    met[a][b] = true;
                }
                ck_assert_ok(poprt_replica_grouping_transpose(&t, &back));
                ck_assert_mem_eq(&back, &g, sizeof(g));
            }
    const poprt_replica_grouping middle = { 8, 2, 2 };
    poprt_replica_grouping t;
    ck_assert_int_eq(poprt_replica_grouping_transpose(&middle, &t), POPRT_E_UNSUPPORTED);
}
END_TEST

START_TEST(shapes_have_a_value_for_each_group)
{
    static const struct {
        poprt_variable_settings s;
        int64_t writes, reads; /* values; 1: no dimension */
    } rows[] = { { { 0, 0, 0 }, 1, 1 }, { { 0, 0, 2 }, 1, 8 }, { { 1, 2, 0 }, 4, 4 },
        { { 1, 2, 2 }, 4, 8 }, { { 2, 4, 0 }, 2, 2 }, { { 3, 0, 0 }, 8, 8 },
        { { 1, 8, 0 }, 1, 1 } };
    static const int64_t dims[] = { 3, 5 };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int32_t reads = 0; reads < 2; reads++) {
            const int64_t count = reads ? rows[i].reads : rows[i].writes;
            int64_t shape[3] = { 0 }, own[3] = { 0 };
            uint32_t rank = 0, own_rank = 0;
            ck_assert_ok(poprt_variable_shape_on_host(8, &rows[i].s, reads, 2, dims, &rank, shape));
            ck_assert_uint_eq(rank, count != 1 ? 3 : 2);
            ck_assert_int_eq(shape[0], count != 1 ? count : 3);
            ck_assert_mem_eq(shape + rank - 2, dims, sizeof(dims));
            if (reads)
                continue;
            ck_assert_ok(
                poprt_variable_shape_on_replica(8, &rows[i].s, rank, shape, &own_rank, own));
            ck_assert_uint_eq(own_rank, 2);
            ck_assert_mem_eq(own, dims, sizeof(dims));
        }
    const poprt_variable_settings pairs = { 1, 2, 0 }, sum = { 0, 0, 1 };
    int64_t shape[3];
    uint32_t rank;
    ck_assert_int_eq(poprt_variable_shape_on_replica(8, &pairs, 2, dims, &rank, shape),
        POPRT_E_SHAPE);
    ck_assert_int_eq(poprt_variable_shape_on_host(8, &sum, 1, 2, dims, &rank, shape),
        POPRT_E_UNSUPPORTED);
    ck_assert_ok(poprt_variable_shape_on_host(8, &pairs, 0, 0, NULL, &rank, shape));
    ck_assert_uint_eq(rank, 1);
    ck_assert_int_eq(shape[0], 4);
}
END_TEST

START_TEST(impossible_numbers_are_refused)
{
    static const poprt_replica_grouping bad[] = { { 0, 1, 1 }, { 8, 0, 1 }, { 8, 1, 0 },
        { 8, 1, 3 }, { 8, 3, 2 }, { 8, 2, 1 }, { 8, 8, 2 }, { 8, INT64_MAX, INT64_MAX },
        { 8, -1, -1 } };
    static const poprt_variable_settings worse[] = { { -1, 1, 0 }, { 4, 1, 0 }, { 1, 0, 0 },
        { 1, 3, 0 }, { 2, 16, 0 } };
    const poprt_replica_grouping good = { 8, 2, 2 };
    poprt_replica_grouping g;
    int64_t a;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(poprt_replica_grouping_find(&bad[i], 0, &a, NULL), POPRT_E_ARG);
    for (size_t i = 0; i < sizeof(worse) / sizeof(worse[0]); i++)
        ck_assert_int_eq(poprt_replica_grouping_of(8, &worse[i], &g), POPRT_E_ARG);
    ck_assert_int_eq(poprt_replica_grouping_find(&good, 8, &a, NULL), POPRT_E_ARG);
    ck_assert_int_eq(poprt_replica_grouping_at(&good, 4, 0, &a), POPRT_E_ARG);
    ck_assert_int_eq(poprt_replica_grouping_at(&good, 0, 2, &a), POPRT_E_ARG);
}
END_TEST

PRT_TEST_MAIN("api/replicas", groups_are_those_of_a_table, settings_are_groupings,
    a_transposed_grouping_meets_every_group_once, shapes_have_a_value_for_each_group,
    impossible_numbers_are_refused)
