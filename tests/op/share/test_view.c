/* SPDX-License-Identifier: MIT */
/* test_view.c — strided copies against a copy element by element: transposed, repeated, reversed
 * and picked dims, all element sizes, one thread and three.
 * Covers: shape_values.c. */
#include "op/share/shape_values.h"
#include "support/check_main.h"

enum { MOST = 1 << 21 };

/* Copies the view element by element: the expected result. */
static void copy_elements(const prt_view *v, int32_t dtype, void *to, const void *from)
{
    int64_t at[PRT_VIEW_RANK] = { 0 };
    for (size_t done = 0;; done++) {
        int64_t index = v->first;
        for (uint32_t i = 0; i < v->rank; i++)
            index += at[i] * v->stride[i];
        prt_element_copy(dtype, to, done, from, (size_t)index, 1);
        if (!prt_at_next(v->rank, v->dims, at))
            return;
    }
}

static size_t bytes_of(int32_t dtype, size_t count)
{
    return (count * prt_dtype_bits(dtype) + 7) / 8;
}

/* `n` elements in the source; the elements of the view, 16 bytes each, must not exceed MOST
 * bytes. */
static void check(const prt_view *v, int32_t dtype, size_t n, const prt_par *par)
{
    size_t count = 1;
    for (uint32_t i = 0; i < v->rank; i++)
        count *= (size_t)v->dims[i];
    const size_t size = bytes_of(dtype, count);
    unsigned char *from = malloc(bytes_of(dtype, n) + 1), *want = calloc(size + 1, 1);
    unsigned char *found = calloc(size + 1, 1);
    ck_assert(from != NULL && want != NULL && found != NULL && size <= MOST);
    uint32_t state = 7;
    for (size_t i = 0; i < bytes_of(dtype, n); i++) {
        state = state * 1664525u + 1013904223u;
        from[i] = (unsigned char)(state >> 24);
    }
    want[size] = found[size] = 0xa5;
    if (count != 0)
        copy_elements(v, dtype, want, from);
    prt_view_copy(v, dtype, found, from);
    ck_assert_int_eq(memcmp(want, found, size + 1), 0);
    memset(found, 0, size);
    const prt_tensor x = { .dtype = dtype, .data = from };
    prt_tensor y = { .dtype = dtype, .data = found, .size = size };
    prt_eval c = { .in = &(const prt_tensor *){ &x }, .out = &(prt_tensor *){ &y }, .par = par };
    prt_view_eval(&c, v);
    ck_assert_int_eq(memcmp(want, found, size + 1), 0);
    free(from);
    free(want);
    free(found);
}

static void check_types(const prt_view *v, size_t n)
{
    static const int32_t types[] = { PRT_DTYPE_i4, PRT_DTYPE_u2, PRT_DTYPE_u8, PRT_DTYPE_f16,
        PRT_DTYPE_f32, PRT_DTYPE_i64, PRT_DTYPE_c128 };
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(&prt_mem_libc, 3, 1000, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    for (size_t i = 0; i < PRT_COUNT_OF(types); i++) {
        check(v, types[i], n, NULL);
        check(v, types[i], n, &par);
    }
    prt_pool_release(pool);
}

/* Checks a tensor of `dims` with its axes permuted. */
static void check_transposed(uint32_t rank, const int64_t *dims, const uint32_t *perm)
{
    prt_view v = { .rank = rank };
    for (uint32_t i = 0; i < rank; i++) {
        v.dims[i] = dims[perm[i]];
        v.stride[i] = (int64_t)prt_dims_product(dims, perm[i] + 1, rank);
    }
    check_types(&v, prt_dims_product(dims, 0, rank));
}

START_TEST(matrices_are_transposed)
{
    static const int64_t sizes[][2] = { { 1, 1 }, { 2, 3 }, { 8, 8 }, { 7, 33 }, { 65, 8 },
        { 3, 500 }, { 300, 301 }, { 0, 5 } };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++)
        check_transposed(2, sizes[i], (const uint32_t[]){ 1, 0 });
}
END_TEST

START_TEST(any_axis_order_equals_the_plain_copy)
{
    static const int64_t dims[][4] = { { 3, 4, 5, 6 }, { 1, 9, 12, 10 }, { 2, 16, 1, 8 },
        { 10, 60, 12, 16 } };
    for (size_t i = 0; i < PRT_COUNT_OF(dims); i++)
        for (uint32_t order = 0; order < 256; order++) {
            const uint32_t perm[4] = { order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6 };
            if ((1u << perm[0] | 1u << perm[1] | 1u << perm[2] | 1u << perm[3]) == 15)
                check_transposed(4, dims[i], perm);
        }
}
END_TEST

START_TEST(any_strides_equal_the_plain_copy)
{
    static const prt_view views[] = {
        { .rank = 0, .first = 3 },
        { .rank = 3, .dims = { 4, 5, 6 }, .stride = { 0, 6, 1 } }, /* rows repeated */
        { .rank = 3, .dims = { 5, 1000, 7 }, .stride = { 7, 0, 1 } },
        { .rank = 2, .dims = { 30, 70 }, .stride = { 1, 0 } }, /* elements repeated */
        { .rank = 2, .dims = { 1, 90000 }, .stride = { 0, 0 }, .first = 1 },
        { .rank = 3, .dims = { 3, 10, 9 }, .stride = { 200, 20, 2 } }, /* every second element */
        { .rank = 2, .dims = { 20, 30 }, .stride = { -30, -1 }, .first = 599 },
        { .rank = 2, .dims = { 20, 30 }, .stride = { 1, -20 }, .first = 580 },
        { .rank = 3, .dims = { 6, 4, 4 }, .stride = { 1, 6, 12 } }, /* overlapping */
    };
    for (size_t i = 0; i < PRT_COUNT_OF(views); i++)
        check_types(&views[i], 600);
}
END_TEST

START_TEST(fills_repeat_one_element)
{
    static const size_t counts[] = { 0, 1, 2, 3, 100, 5000, 70001 };
    static const int32_t types[] = { PRT_DTYPE_i4, PRT_DTYPE_u8, PRT_DTYPE_f16, PRT_DTYPE_f32,
        PRT_DTYPE_c128 };
    const unsigned char one[16] = { 0x73, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    unsigned char *found = malloc(MOST), *want = malloc(MOST);
    ck_assert(found != NULL && want != NULL);
    for (size_t i = 0; i < PRT_COUNT_OF(types); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(counts); k++) {
            memset(found, 0xcc, MOST);
            memset(want, 0xcc, MOST);
            for (size_t e = 0; e < counts[k]; e++)
                prt_element_copy(types[i], want, e + 1, one, 0, 1);
            prt_fill_elements(types[i], found, 1, one, 0, counts[k]);
            ck_assert_int_eq(memcmp(found, want, MOST), 0);
        }
    free(found);
    free(want);
}
END_TEST

PRT_TEST_MAIN("op/view", matrices_are_transposed, any_axis_order_equals_the_plain_copy,
    any_strides_equal_the_plain_copy, fills_repeat_one_element)
