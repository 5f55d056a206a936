/* SPDX-License-Identifier: MIT */
/*
 * sparse.c — makes sparse tensors dense.
 *
 * The format is a tree. Each level stands for a dimension of the tensor or of its blocks, in
 * traversal order; the children of a node are the indices along that dimension. The leaves, in
 * order, are the values. Where a dimension has blocks, its level counts blocks, and the level of
 * the block dimension counts the elements inside.
 */
#include "base/size.h"
#include "tflite/constant.h"

typedef struct walk {
    const prt_tflite_sparsity *s;
    const unsigned char *values;
    unsigned char *to;
    uint32_t width;                     /* bytes of an element */
    size_t strides[PRT_TFLITE_LEVELS];  /* elements from one index of a level to the next */
    int64_t extents[PRT_TFLITE_LEVELS]; /* indices of a level are below it */
} walk;

static poprt_status malformed(const prt_tflite_tensor *t, const char *problem)
{
    return prt_fail(POPRT_E_PARSE, NULL, "sparse tensor '%.*s': %s", PRT_STR_ARG(t->name), problem);
}

/* Finds the strides and the extents of the levels. */
static poprt_status measure(const prt_tflite_tensor *t, walk *w)
{
    const prt_tflite_sparsity *s = t->sparsity;
    int64_t blocks[PRT_MAX_RANK]; /* size of the blocks of each dimension */
    size_t rows[PRT_MAX_RANK], row = 1;
    for (uint32_t d = t->rank; d-- > 0;) {
        blocks[d] = 1;
        rows[d] = row;
        row *= (size_t)t->dims[d];
    }
    for (uint32_t i = 0; i < s->n_levels; i++) {
        const prt_tflite_level *level = &s->levels[i];
        if (level->dim < t->rank)
            continue;
        const uint32_t d = s->block_map[level->dim - t->rank];
        if (level->compressed || level->size < 1 || t->dims[d] % level->size != 0)
            return malformed(t, "the size of a block does not divide the dimension");
        blocks[d] = level->size;
        w->strides[i] = rows[d];
        w->extents[i] = level->size;
    }
    for (uint32_t i = 0; i < s->n_levels; i++) {
        const uint32_t d = s->levels[i].dim;
        if (d >= t->rank)
            continue;
        w->strides[i] = rows[d] * (size_t)blocks[d];
        w->extents[i] = t->dims[d] / blocks[d];
        if (!s->levels[i].compressed && s->levels[i].size != w->extents[i])
            return malformed(t, "the size of a dense level differs from that of the dimension");
    }
    return POPRT_OK;
}

/* Checks a compressed level below `nodes` nodes. */
static bool compressed_is_valid(const prt_tflite_level *level, uint64_t nodes, int64_t extent)
{
    const prt_tflite_ints *s = &level->segments, *x = &level->indices;
    if (s->count == 0 || s->count - 1 != nodes || s->data[0] != 0 ||
        (uint64_t)s->data[nodes] != x->count)
        return false;
    for (size_t i = 1; i < s->count; i++)
        if (s->data[i] < s->data[i - 1])
            return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->data[i] < 0 || x->data[i] >= extent)
            return false;
    return true;
}

/* Checks that the levels form a tree with a leaf for each value. A level has at most as many nodes
 * as the dense tensor has elements. */
static poprt_status check_tree(const prt_tflite_tensor *t, const walk *w, uint64_t count)
{
    uint64_t nodes = 1;
    for (uint32_t i = 0; i < w->s->n_levels; i++) {
        const prt_tflite_level *level = &w->s->levels[i];
        if (level->compressed && !compressed_is_valid(level, nodes, w->extents[i]))
            return malformed(t, "segments or indices do not fit the level above or the dimension");
        nodes = level->compressed ? level->indices.count
                                  : prt_saturating_mul(nodes, (uint64_t)level->size);
        if (nodes > count)
            return malformed(t, "has more values than elements");
    }
    if (prt_saturating_mul(nodes, w->width) != t->data.size)
        return malformed(t, "the number of values differs from that of the indices");
    return POPRT_OK;
}

/* Copies the values below a node of a level; recurs once for each level. */
static void place(const walk *w, uint32_t i, size_t node, size_t at)
{
    if (i == w->s->n_levels) {
        memcpy(w->to + at * w->width, w->values + node * w->width, w->width);
        return;
    }
    const prt_tflite_level *level = &w->s->levels[i];
    if (level->compressed) {
        const size_t end = (size_t)level->segments.data[node + 1];
        for (size_t child = (size_t)level->segments.data[node]; child < end; child++)
            place(w, i + 1, child, at + (size_t)level->indices.data[child] * w->strides[i]);
        return;
    }
    const size_t size = (size_t)level->size;
    for (size_t k = 0; k < size; k++)
        place(w, i + 1, node * size + k, at + k * w->strides[i]);
}

poprt_status prt_tflite_densify(const prt_tflite_tensor *t, uint64_t count, unsigned char *to)
{
    walk w = { .s = t->sparsity,
        .values = t->data.data,
        .to = to,
        .width = prt_dtype_bits(t->dtype) / 8 };
    PRT_TRY(measure(t, &w));
    PRT_TRY(check_tree(t, &w, count));
    if (count != 0)
        place(&w, 0, 0, 0);
    return POPRT_OK;
}
