/* SPDX-License-Identifier: MIT */
/*
 * concat_split.c — Concat and Split as copies of columns of matrices. Parts that alias their place
 * in the whole tensor are not copied.
 */
#include "fast/parallel.h"

#include "fast/fast.h"

enum {
    PARTS = 64,     /* parts, at most */
    LEAST = 1 << 17 /* bytes of an item, at least */
};

typedef struct part {
    char *data;
    size_t columns, pitch; /* bytes of a row; bytes from row to row */
    size_t first;          /* bytes from the start of a row of the whole tensor */
} part;

typedef struct concat_work {
    const prt_kern *kern;
    bool join; /* Concat, from the parts to the whole; else Split */
    char *whole;
    size_t rows, columns, pitch, bands, odd; /* odd: the OR of all addresses and sizes, to check
                                              * alignment */
    uint32_t n;
    part part[PARTS];
} concat_work;

static void copy(const concat_work *j, size_t rows, size_t columns, const char *x, size_t x_pitch,
    char *y, size_t y_pitch)
{
    const size_t word = sizeof(float);
    if (j->odd % word == 0)
        j->kern->moves.copy(rows, columns / word, (const float *)(const void *)x, x_pitch / word,
            (float *)(void *)y, y_pitch / word);
    else
        for (size_t i = 0; i < rows; i++)
            memcpy(y + i * y_pitch, x + i * x_pitch, columns);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const concat_work *j = user;
    const part *p = &j->part[item % j->n];
    const size_t band = item / j->n, row = prt_parallel_piece_begin(j->rows, j->bands, band);
    const size_t rows = prt_parallel_piece_begin(j->rows, j->bands, band + 1) - row;
    char *whole = j->whole + row * j->pitch + p->first, *data = p->data + row * p->pitch;
    (void)scratch;
    if (j->join)
        copy(j, rows, p->columns, data, p->pitch, whole, j->pitch);
    else
        copy(j, rows, p->columns, whole, j->pitch, data, p->pitch);
}

/* Returns the bytes from one row to the next. Tensors with gaps have them along the last axis. */
static size_t pitch_of(const prt_tensor *t, uint32_t axis)
{
    return (t->pitch != 0 ? t->pitch : prt_dims_product(t->dims, axis, t->rank)) *
        (prt_dtype_bits(t->dtype) / 8);
}

static bool set_whole(concat_work *j, const prt_tensor *whole, uint32_t axis)
{
    j->whole = whole->data;
    j->pitch = pitch_of(whole, axis);
    j->rows = prt_dims_product(whole->dims, 0, axis);
    j->odd = (size_t)(uintptr_t)whole->data | j->pitch;
    return whole->kind == PRT_VALUE_TENSOR && whole->dtype != PRT_DTYPE_string &&
        prt_dtype_bits(whole->dtype) >= 8;
}

/* Adds the next part. Returns false if it is not supported. */
static bool add_part(concat_work *j, const prt_tensor *t, uint32_t axis)
{
    if (t->kind != PRT_VALUE_TENSOR || t->data == NULL || j->n == PARTS)
        return false;
    const part p = { .data = t->data,
        .pitch = pitch_of(t, axis),
        .first = j->columns,
        .columns = prt_dims_product(t->dims, axis, t->rank) * (prt_dtype_bits(t->dtype) / 8) };
    if (p.data != j->whole + p.first || p.pitch != j->pitch) {
        j->part[j->n++] = p;
        j->odd |= (size_t)(uintptr_t)p.data | p.pitch | p.columns | p.first;
    }
    j->columns += p.columns;
    return true;
}

static poprt_status run(prt_eval *c, concat_work *j)
{
    j->bands = prt_parallel_balanced_pieces(c, j->rows * j->columns, LEAST);
    j->bands = j->bands < j->rows ? j->bands : j->rows;
    return prt_parallel_for(c, j->n * j->bands, 0, run_item, j);
}

poprt_status prt_fast_concat(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_concat_attrs *a = c->attrs;
    if (!prt_fast_has_output(c) || prt_tensor_count(c->out[0]) == 0)
        return prt_fast_use_reference(done);
    const prt_tensor *y = c->out[0];
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + y->rank : a->axis);
    concat_work j = { .kern = k, .join = true };
    if (!set_whole(&j, y, axis))
        return prt_fast_use_reference(done);
    for (uint32_t i = 0; i < c->n_in; i++)
        if (prt_tensor_count(c->in[i]) != 0 && !add_part(&j, c->in[i], axis))
            return prt_fast_use_reference(done);
    return run(c, &j);
}

poprt_status prt_fast_split(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_split_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    if (prt_tensor_count(x) == 0)
        return prt_fast_use_reference(done);
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
    concat_work j = { .kern = k };
    if (!set_whole(&j, x, axis))
        return prt_fast_use_reference(done);
    for (uint32_t i = 0; i < c->n_out; i++)
        if (!prt_eval_wants(c, i) || !add_part(&j, c->out[i], axis))
            return prt_fast_use_reference(done);
    if (j.columns != prt_dims_product(x->dims, axis, x->rank) * (prt_dtype_bits(x->dtype) / 8))
        return prt_fast_use_reference(done);
    return run(c, &j);
}
