/* SPDX-License-Identifier: MIT */
/* test_constant.c — constants of TFLite files: views, strings, sparse tensors (sparse.c). */
#include "tflite/constant.h"

#include "support/check_main.h"
#include "support/flat_bytes.h"

static prt_arena *arena;

/* Parses a model and returns the elements of its tensor 1. */
static poprt_status elements(flat *f, size_t limit, prt_blob **out)
{
    prt_tflite_model *m = NULL;
    if (arena == NULL)
        ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    PRT_TRY(prt_tflite_parse(arena, flat_blob(f), &m));
    return prt_tflite_constant(m, &m->subgraphs[0].tensors[1], NULL, &limit, out);
}

START_TEST(dense_data_is_a_view)
{
    prt_blob *w = NULL;
    tflite m = tflite_sample();
    ck_assert_int_eq(elements(m.f, 0, &w), POPRT_OK);
    ck_assert_uint_eq(w->size, 24);
    ck_assert(w->data > m.f->data && w->data < m.f->data + m.f->size);
    prt_blob_release(w);
}
END_TEST

static poprt_status strings(const void *data, size_t size, int64_t count, prt_blob **out)
{
    tflite m = tflite_sample();
    tflite_data(&m, 1, data, size);
    (void)tflite_tensor(&m, 1, "w", 5, 1, &count, 1);
    return elements(m.f, 1000, out);
}

START_TEST(strings_are_read)
{
    prt_blob *w = NULL;
    uint32_t data[] = { 2, 16, 16, 19, 0x00636261 };
    ck_assert_int_eq(strings(data, 19, 2, &w), POPRT_OK);
    const poprt_string *s = (const poprt_string *)(const void *)w->data;
    ck_assert_uint_eq(s[0].size, 0);
    ck_assert_uint_eq(s[1].size, 3);
    ck_assert_mem_eq(s[1].data, "abc", 3);
    prt_blob_release(w);
    ck_assert_int_eq(strings(data, 18, 2, &w), POPRT_E_PARSE);
    ck_assert_int_eq(strings(data, 15, 2, &w), POPRT_E_PARSE);
    ck_assert_int_eq(strings(data, 19, 3, &w), POPRT_E_PARSE);
    data[2] = 20;
    ck_assert_int_eq(strings(data, 19, 2, &w), POPRT_E_PARSE);
}
END_TEST

/* A level of a sparse tensor: dense with a size, or compressed with segments and indices. */
typedef struct level {
    int64_t size;
    size_t n_segments, n_indices;
    const int64_t *segments, *indices;
} level;

/* The parts of a sparse float tensor, of which tests change single ones. */
typedef struct sparse {
    int64_t dims[2];
    size_t n_order, n_blocks, n_levels, n_values;
    int64_t order[4], blocks[2];
    level levels[4];
    float values[8];
} sparse;

static void index_vector(flat *f, size_t t, const prt_flat_field *field, size_t count,
    const int64_t *values)
{
    const size_t v = flat_union(f, t, field, PRT_TFLITE_MESSAGE(Uint16Vector));
    flat_ints(f, v, PRT_TFLITE_FIELD(Uint16Vector, values), count, values);
}

static poprt_status densify(const sparse *s, size_t limit, prt_blob **out)
{
    tflite m = tflite_sample();
    flat *f = m.f;
    tflite_data(&m, 1, s->values, s->n_values * sizeof(float));
    const size_t w = tflite_tensor(&m, 1, "w", 0, 2, s->dims, 1);
    const size_t p = flat_child(f, w, PRT_TFLITE_FIELD(Tensor, sparsity));
    flat_ints(f, p, PRT_TFLITE_FIELD(SparsityParameters, traversal_order), s->n_order, s->order);
    flat_ints(f, p, PRT_TFLITE_FIELD(SparsityParameters, block_map), s->n_blocks, s->blocks);
    const size_t v =
        flat_tables(f, p, PRT_TFLITE_FIELD(SparsityParameters, dim_metadata), s->n_levels);
    for (size_t i = 0; i < s->n_levels; i++) {
        const level *l = &s->levels[i];
        const size_t t = flat_item(f, v, i);
        flat_int(f, t, PRT_TFLITE_FIELD(DimensionMetadata, format), l->segments != NULL);
        flat_int(f, t, PRT_TFLITE_FIELD(DimensionMetadata, dense_size), l->size);
        if (l->segments == NULL)
            continue;
        index_vector(f, t, PRT_TFLITE_FIELD(DimensionMetadata, array_segments), l->n_segments,
            l->segments);
        index_vector(f, t, PRT_TFLITE_FIELD(DimensionMetadata, array_indices), l->n_indices,
            l->indices);
    }
    return elements(f, limit, out);
}

static void expect(const sparse *s, size_t count, const float *want)
{
    prt_blob *w = NULL;
    const poprt_status status = densify(s, count * sizeof(float), &w);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_uint_eq(w->size, count * sizeof(float));
    ck_assert_mem_eq(w->data, want, w->size);
    prt_blob_release(w);
}

static const int64_t segments[] = { 0, 2, 2, 3 }, indices[] = { 0, 3, 1 };

/* Rows of four, of which the second is empty. */
static const sparse rows = { .dims = { 3, 4 },
    .n_order = 2,
    .order = { 0, 1 },
    .n_levels = 2,
    .levels = { { .size = 3 },
        { .n_segments = 4, .n_indices = 3, .segments = segments, .indices = indices } },
    .n_values = 3,
    .values = { 1, 2, 3 } };

START_TEST(compressed_rows_become_dense)
{
    const float want[] = { 1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0 };
    expect(&rows, 12, want);
}
END_TEST

START_TEST(columns_may_come_first)
{
    sparse s = rows;
    s.dims[0] = 4;
    s.dims[1] = 3;
    s.order[0] = 1;
    s.order[1] = 0;
    const float want[] = { 1, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0 };
    expect(&s, 12, want);
}
END_TEST

/* 4x4 in blocks of 2x2, of which two are stored. */
static const int64_t block_segments[] = { 0, 1, 2 }, block_indices[] = { 1, 0 };
static const sparse blocks = { .dims = { 4, 4 },
    .n_order = 4,
    .order = { 0, 1, 2, 3 },
    .n_blocks = 2,
    .blocks = { 0, 1 },
    .n_levels = 4,
    .levels = { { .size = 2 },
        { .n_segments = 3, .n_indices = 2, .segments = block_segments, .indices = block_indices },
        { .size = 2 }, { .size = 2 } },
    .n_values = 8,
    .values = { 1, 2, 3, 4, 5, 6, 7, 8 } };

START_TEST(blocks_become_dense)
{
    const float want[] = { 0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0 };
    expect(&blocks, 16, want);
    sparse s = blocks; /* columns first inside the blocks */
    s.order[2] = 3;
    s.order[3] = 2;
    const float transposed[] = { 0, 0, 1, 3, 0, 0, 2, 4, 5, 7, 0, 0, 6, 8, 0, 0 };
    expect(&s, 16, transposed);
}
END_TEST

static void refuse(const sparse *s, size_t limit, poprt_status status)
{
    prt_blob *w = NULL;
    ck_assert_int_eq(densify(s, limit, &w), status);
    ck_assert_ptr_null(w);
}

START_TEST(contradictory_trees_are_refused)
{
    static const int64_t falling[] = { 0, 2, 1, 3 }, shifted[] = { 1, 2, 2, 3 },
                         large[] = { 0, 4, 1 };
    static const int64_t overflow[] = { 0, 2, 2, 65535 };
    sparse s = rows;
    refuse(&s, 47, POPRT_E_LIMIT);
    s.n_values = 2;
    refuse(&s, 48, POPRT_E_PARSE);
    s = rows;
    s.order[1] = 0;
    refuse(&s, 48, POPRT_E_PARSE);
    s.order[1] = 2;
    refuse(&s, 48, POPRT_E_PARSE);
    s = rows;
    s.levels[0].size = 2;
    refuse(&s, 48, POPRT_E_PARSE);
    s = rows;
    s.levels[1].n_segments = 3;
    refuse(&s, 48, POPRT_E_PARSE);
    const int64_t *const bad[] = { falling, shifted, overflow };
    for (size_t i = 0; i < PRT_COUNT_OF(bad); i++) {
        s = rows;
        s.levels[1].segments = bad[i];
        refuse(&s, 48, POPRT_E_PARSE);
    }
    s = rows;
    s.levels[1].indices = large;
    refuse(&s, 48, POPRT_E_PARSE);
    s = blocks;
    s.levels[3].size = 3; /* does not divide 4 */
    refuse(&s, 64, POPRT_E_PARSE);
    s = blocks;
    s.blocks[1] = 0;
    refuse(&s, 64, POPRT_E_PARSE);
}
END_TEST

PRT_TEST_MAIN("tflite/constant", dense_data_is_a_view, strings_are_read,
    compressed_rows_become_dense, columns_may_come_first, blocks_become_dense,
    contradictory_trees_are_refused)
