/* SPDX-License-Identifier: MIT */
/* test_broadcast.c — runs of prt_rows: merged axes, repeated elements, lengths, and each element
 * once. */
#include "op/share/broadcast.h"

#include "support/check_main.h"

static prt_tensor make_header(uint32_t rank, const int64_t *dims)
{
    prt_tensor t;
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, rank, dims, NULL));
    return t;
}

START_TEST(equal_shapes_are_one_row)
{
    const prt_tensor t = make_header(3, (int64_t[]){ 4, 5, 6 });
    prt_rows r;
    prt_rows_init(&r, &t, 2, (const prt_tensor *[]){ &t, &t });
    r.most = SIZE_MAX;
    ck_assert(prt_rows_next(&r));
    ck_assert_uint_eq(r.count, 120);
    ck_assert_uint_eq(r.step[0], 1);
    ck_assert(!prt_rows_next(&r));
}
END_TEST

START_TEST(rows_are_cut_into_runs)
{
    const prt_tensor t = make_header(1, (int64_t[]){ 2 * PRT_RUN + 1 });
    prt_rows r;
    size_t at = 0, runs = 0;
    prt_rows_init(&r, &t, 1, (const prt_tensor *[]){ &t });
    for (; prt_rows_next(&r); runs++) {
        ck_assert_uint_eq(r.to, at);
        ck_assert_uint_eq(r.from[0], at);
        at += r.count;
    }
    ck_assert_uint_eq(runs, 3);
    ck_assert_uint_eq(at, 2 * PRT_RUN + 1);
}
END_TEST

START_TEST(empty_tensors_have_no_rows_and_scalars_one)
{
    const prt_tensor none = make_header(2, (int64_t[]){ 3, 0 }), one = make_header(0, NULL);
    prt_rows r;
    prt_rows_init(&r, &none, 2, (const prt_tensor *[]){ &none, &one });
    ck_assert(!prt_rows_next(&r));
    prt_rows_init(&r, &one, 2, (const prt_tensor *[]){ &one, NULL });
    ck_assert(prt_rows_next(&r));
    ck_assert_uint_eq(r.count, 1);
    ck_assert(!prt_rows_next(&r));
}
END_TEST

/* Returns the index in an input of an element of the output, by the definition of broadcasting. */
static size_t input_index(const prt_tensor *out, const prt_tensor *in, size_t index)
{
    size_t at = 0, stride = 1;
    for (uint32_t k = 1; k <= out->rank; k++) {
        const size_t dim = (size_t)out->dims[out->rank - k], i = index % dim;
        index /= dim;
        if (k > in->rank)
            continue;
        if (in->dims[in->rank - k] != 1)
            at += i * stride;
        stride *= (size_t)in->dims[in->rank - k];
    }
    return at;
}

START_TEST(every_element_is_visited_once)
{
    const int64_t shapes[][PRT_MAX_RANK] = { { 2, 3, 1, 2, 3, 2, 1, 2 }, { 2, 3, 1, 1, 3, 2, 1, 2 },
        { 1, 3, 1, 2, 1, 1, 1, 2 }, { 2, 1, 1, 1, 1, 2, 1, 1 }, { 1, 1, 1, 1, 1, 1, 1, 1 } };
    const prt_tensor out = make_header(PRT_MAX_RANK, shapes[0]);
    const size_t total = prt_tensor_count(&out);
    for (size_t s = 0; s < 5; s++)
        for (uint32_t cut = 0; cut < PRT_MAX_RANK; cut++) {
            const prt_tensor in = make_header(PRT_MAX_RANK - cut, shapes[s] + cut);
            size_t seen = 0, wrong = 0;
            prt_rows r;
            prt_rows_init(&r, &out, 2, (const prt_tensor *[]){ &out, &in });
            r.most = 5;
            while (prt_rows_next(&r))
                for (size_t i = 0; i < r.count; i++, seen++) {
                    wrong += r.to + i != seen || r.from[0] + i * r.step[0] != seen;
                    wrong += r.from[1] + i * r.step[1] != input_index(&out, &in, seen);
                }
            ck_assert_uint_eq(wrong, 0);
            ck_assert_uint_eq(seen, total);
        }
}
END_TEST

PRT_TEST_MAIN("op/broadcast", equal_shapes_are_one_row, rows_are_cut_into_runs,
    empty_tensors_have_no_rows_and_scalars_one, every_element_is_visited_once)
