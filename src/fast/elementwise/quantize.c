/* SPDX-License-Identifier: MIT */
/*
 * quantize.c — QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between float32 and 8-bit
 * integers, with scales by tensor or by axis; QuantizedAdd, QuantizedMul and ByteTable.
 */
#include "fast/fast.h"
#include "fast/gemm/integer.h"
#include "fast/parallel.h"
#include "op/share/quant.h"

enum {
    QUANTIZE_LEAST = 1 << 14 /* elements of an item, at least */
};

typedef struct quantize_work {
    const prt_kern *kern;
    const prt_tensor *x, *scale, *zero;
    prt_tensor *y;
    size_t axis, inner; /* `inner` consecutive elements share a scale */
    size_t total, pieces;
} quantize_work;

static void run_part(const quantize_work *s, size_t from, size_t count, size_t at)
{
    const float scale = ((const float *)s->scale->data)[at];
    const float zero =
        s->zero != NULL ? (float)prt_load_i64(s->zero->dtype, s->zero->data, at) : 0.0f;
    const prt_kern_bytes *k = &s->kern->bytes;
    if (s->x->dtype == PRT_DTYPE_f32)
        k->quantize(count, (const float *)s->x->data + from, scale, zero,
            s->y->dtype == PRT_DTYPE_i8, (uint8_t *)s->y->data + from);
    else if (s->x->dtype == PRT_DTYPE_i32)
        k->dequantize_i32(count, (const int32_t *)s->x->data + from, (double)zero, (double)scale,
            (float *)s->y->data + from);
    else
        k->dequantize(count, (const uint8_t *)s->x->data + from, s->x->dtype == PRT_DTYPE_i8, zero,
            scale, (float *)s->y->data + from);
}

static void run_piece(const void *user, size_t item, float *scratch)
{
    const quantize_work *s = user;
    const size_t end = prt_parallel_piece_begin(s->total, s->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(s->total, s->pieces, item); i < end;) {
        const size_t row = i / s->inner, left = (row + 1) * s->inner - i;
        const size_t count = left < end - i ? left : end - i;
        run_part(s, i, count, row % s->axis);
        i += count;
    }
}

static poprt_status run(prt_eval *c, const prt_kern *k, int64_t axis_attr)
{
    const prt_tensor *x = c->in[0];
    quantize_work s = { .kern = k,
        .x = x,
        .scale = c->in[1],
        .zero = prt_eval_has(c, 2) ? c->in[2] : NULL,
        .y = c->out[0],
        .axis = 1,
        .total = prt_tensor_count(x) };
    s.inner = s.total;
    if (s.total == 0)
        return POPRT_OK;
    if (s.scale->rank != 0 && s.scale->dims[0] != 1) {
        const uint32_t axis = (uint32_t)(axis_attr < 0 ? axis_attr + (int64_t)x->rank : axis_attr);
        s.axis = (size_t)x->dims[axis];
        s.inner = prt_dims_product(x->dims, axis + 1, x->rank);
    }
    s.pieces = prt_parallel_pieces(s.total, QUANTIZE_LEAST);
    return prt_parallel_for(c, s.pieces, 0, run_piece, &s);
}

static bool is_byte(int32_t dtype)
{
    return dtype == PRT_DTYPE_u8 || dtype == PRT_DTYPE_i8;
}

poprt_status prt_fast_quantize(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_quantize_linear_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_output(c) ||
        a->block_size != 0 || (a->precision != 0 && a->precision != PRT_DTYPE_f32) ||
        !is_byte(c->out[0]->dtype))
        return prt_fast_use_reference(done);
    return run(c, k, a->axis);
}

poprt_status prt_fast_dequantize(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_dequantize_linear_attrs *a = c->attrs;
    if (!prt_eval_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_output(c) ||
        a->block_size != 0 || c->out[0]->dtype != PRT_DTYPE_f32 ||
        (!is_byte(c->in[0]->dtype) && c->in[0]->dtype != PRT_DTYPE_i32))
        return prt_fast_use_reference(done);
    return run(c, k, a->axis);
}

/* ---- QuantizedAdd and QuantizedMul ---- */

enum { GATE_BYTES = 1024 };

typedef struct both {
    void (*run)(const prt_add_bytes *g);
    prt_add_bytes of;
    size_t total, pieces;
    /* If one side is a gate, a row of channels for all rows of an image: */
    size_t rows, channels, repeat;
    bool first; /* side a is the gate */
} both;

static void run_both(const void *user, size_t item, float *scratch)
{
    const both *s = user;
    prt_add_bytes part = s->of;
    const size_t from = prt_parallel_piece_begin(s->total, s->pieces, item);
    (void)scratch;
    part.n = prt_parallel_piece_begin(s->total, s->pieces, item + 1) - from;
    part.a.x += from;
    part.b.x += from;
    part.y += from;
    s->run(&part);
}

/* Repeats the gate's row, so that a call of the kernel processes several rows. */
static void run_gated(const void *user, size_t item, float *scratch)
{
    const both *s = user;
    const size_t image = item / s->pieces, piece = item % s->pieces, c = s->channels;
    const size_t end = prt_parallel_piece_begin(s->rows, s->pieces, piece + 1);
    const uint8_t *gate = (s->first ? s->of.a.x : s->of.b.x) + image * c;
    const uint8_t *x = (s->first ? s->of.b.x : s->of.a.x) + image * s->rows * c;
    uint8_t *repeated = (uint8_t *)(void *)scratch, *y = s->of.y + image * s->rows * c;
    prt_add_bytes part = s->of;
    for (size_t i = 0; i < s->repeat; i++)
        memcpy(repeated + i * c, gate, c);
    for (size_t i = prt_parallel_piece_begin(s->rows, s->pieces, piece), some; i < end; i += some) {
        some = end - i < s->repeat ? end - i : s->repeat;
        part.n = some * c;
        part.a.x = s->first ? repeated : x + i * c;
        part.b.x = s->first ? x + i * c : repeated;
        part.y = y + i * c;
        s->run(&part);
    }
}

/* Returns whether `gate` is [N, 1..., C] where y is [N, ..., C]. */
static bool is_gate(const prt_tensor *gate, const prt_tensor *y)
{
    const uint32_t last = y->rank - 1;
    return y->rank >= 3 && gate->rank == y->rank && gate->dims[0] == y->dims[0] &&
        gate->dims[last] == y->dims[last] && prt_dims_product(gate->dims, 1, last) == 1;
}

static prt_byte_side side(const prt_eval *c, uint32_t i)
{
    return (prt_byte_side){ .x = c->in[i]->data,
        .sign = c->in[i]->dtype == PRT_DTYPE_i8,
        .scale = (float)prt_quant_number(c, i + 1, 1),
        .zero = (float)prt_quant_number(c, i + 2, 0) };
}

poprt_status prt_fast_quantized_add(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_tensor *y = c->out[0], *a = c->in[0], *b = c->in[3];
    const size_t n = prt_fast_has_output(c) ? prt_tensor_count(y) : 0;
    if (n == 0)
        return prt_fast_use_reference(done);
    const bool whole_a = prt_tensor_count(a) == n, whole_b = prt_tensor_count(b) == n;
    both s = { .run = k->bytes.add,
        .total = n,
        .pieces = prt_parallel_pieces(n, QUANTIZE_LEAST),
        .of = { .multiply = c->def->id == PRT_OP_quantized_mul,
            .a = side(c, 0),
            .b = side(c, 3),
            .scale = (float)prt_quant_number(c, 6, 1),
            .zero = (float)prt_quant_number(c, 7, 0),
            .sign = y->dtype == PRT_DTYPE_i8,
            .y = y->data } };
    if (whole_a && whole_b)
        return prt_parallel_for(c, s.pieces, 0, run_both, &s);
    s.first = whole_b;
    if (!(whole_b ? is_gate(a, y) : whole_a && is_gate(b, y)))
        return prt_fast_use_reference(done); /* other broadcasts run by the reference */
    s.channels = (size_t)y->dims[y->rank - 1];
    s.rows = n / s.channels / (size_t)y->dims[0];
    s.repeat = s.channels < GATE_BYTES ? GATE_BYTES / s.channels : 1;
    s.pieces = prt_parallel_pieces(s.rows, QUANTIZE_LEAST / s.channels + 1);
    return prt_parallel_for(c, (size_t)y->dims[0] * s.pieces,
        (s.repeat * s.channels + sizeof(float) - 1) / sizeof(float), run_gated, &s);
}

/* ---- ByteTable ---- */

typedef struct lookup {
    const prt_kern *kern;
    const uint8_t *x, *table;
    uint8_t *y;
    size_t rows, columns, x_pitch, y_pitch, pieces; /* a single row if neither tensor has gaps */
} lookup;

static void run_lookup(const void *user, size_t item, float *scratch)
{
    const lookup *l = user;
    const bool one = l->rows == 1;
    const size_t total = one ? l->columns : l->rows,
                 from = prt_parallel_piece_begin(total, l->pieces, item);
    const size_t end = prt_parallel_piece_begin(total, l->pieces, item + 1);
    (void)scratch;
    if (one)
        l->kern->bytes.look_up(end - from, l->x + from, l->table, l->y + from);
    for (size_t i = from; !one && i < end; i++)
        l->kern->bytes.look_up(l->columns, l->x + i * l->x_pitch, l->table, l->y + i * l->y_pitch);
}

poprt_status prt_fast_byte_table(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_tensor *x = c->in[0], *y = c->out[0];
    const size_t n = prt_tensor_count(x);
    if (!prt_fast_has_output(c) || n == 0)
        return prt_fast_use_reference(done);
    lookup l = { .kern = k,
        .x = x->data,
        .table = c->in[1]->data,
        .y = y->data,
        .rows = 1,
        .columns = n };
    if (x->pitch != 0 || y->pitch != 0) {
        l.x_pitch = prt_tensor_pitch(x);
        l.y_pitch = prt_tensor_pitch(y);
        l.columns = (size_t)x->dims[x->rank - 1];
        l.rows = n / l.columns;
    }
    l.pieces = prt_parallel_pieces(n, 4 * QUANTIZE_LEAST);
    return prt_parallel_for(c, l.pieces, 0, run_lookup, &l);
}

/* ---- DynamicQuantizeLinear ---- */

typedef struct range {
    const prt_kern *kern;
    const float *x;
    size_t n, pieces;
    float *low, *high; /* by piece */
} range;

static void run_range(const void *user, size_t item, float *scratch)
{
    const range *r = user;
    const size_t from = prt_parallel_piece_begin(r->n, r->pieces, item);
    const size_t count = prt_parallel_piece_begin(r->n, r->pieces, item + 1) - from;
    (void)scratch;
    r->low[item] = r->kern->rows.extreme(PRT_BINARY_min, count, r->x + from);
    r->high[item] = r->kern->rows.extreme(PRT_BINARY_max, count, r->x + from);
}

poprt_status prt_fast_dynamic_quantize(prt_eval *c, const prt_kern *k, bool *done)
{
    enum { MOST_PIECES = 64 };
    if (!prt_fast_has(c, 0) || !prt_fast_has_output(c) || prt_tensor_count(c->in[0]) == 0)
        return prt_fast_use_reference(done);
    const prt_tensor *x = c->in[0];
    float ends[2 * MOST_PIECES], scale;
    uint8_t zero;
    const range r = { .kern = k,
        .x = x->data,
        .n = prt_tensor_count(x),
        .pieces = prt_parallel_pieces(prt_tensor_count(x), QUANTIZE_LEAST),
        .low = ends,
        .high = ends + MOST_PIECES };
    PRT_TRY(prt_parallel_for(c, r.pieces, 0, run_range, &r));
    if (c->is_measuring) /* nothing was written to `ends` */
        return POPRT_OK;
    const float low = k->rows.extreme(PRT_BINARY_min, r.pieces, r.low);
    const float high = k->rows.extreme(PRT_BINARY_max, r.pieces, r.high);
    if (!isfinite(low) || !isfinite(high))
        return prt_fast_use_reference(done);
    /* The two extremes determine the scale and zero point of all. */
    prt_quant_dynamic_run(2, (const float[]){ low, high }, NULL, &scale, &zero);
    const prt_tensor scales = { .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_f32, .data = &scale };
    const prt_tensor zeros = { .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_u8, .data = &zero };
    const quantize_work s = { .kern = k,
        .x = x,
        .scale = &scales,
        .zero = &zeros,
        .y = c->out[0],
        .axis = 1,
        .inner = r.n,
        .total = r.n,
        .pieces = r.pieces };
    if (prt_eval_wants(c, 1))
        *(float *)c->out[1]->data = scale;
    if (prt_eval_wants(c, 2))
        *(uint8_t *)c->out[2]->data = zero;
    return prt_parallel_for(c, s.pieces, 0, run_piece, &s);
}
