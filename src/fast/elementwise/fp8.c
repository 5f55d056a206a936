/* SPDX-License-Identifier: MIT */
/*
 * fp8.c — 8-bit floats: Cast to float32 by a table of 256 entries, and CastToUint8 by counting
 * units of the last bit.
 */
#include <math.h>

#include "fast/fast.h"
#include "fast/parallel.h"
#include "num/half.h"
#include "op/graphcore/fp8.h"

enum { PIECE = 1 << 15 }; /* elements of an item, at least */

/* ---- decoding ---- */

typedef struct decoder {
    const uint8_t *from;
    float *to;
    size_t count, pieces;
    float table[256];
} decoder;

static void decode_piece(const void *user, size_t item, float *scratch)
{
    const decoder *d = user;
    const size_t end = prt_parallel_piece_begin(d->count, d->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(d->count, d->pieces, item); i < end; i++)
        d->to[i] = d->table[d->from[i]];
}

static bool is_small_float(int32_t dtype)
{
    return dtype == PRT_DTYPE_f8e4m3fn || dtype == PRT_DTYPE_f8e4m3fnuz ||
        dtype == PRT_DTYPE_f8e5m2 || dtype == PRT_DTYPE_f8e5m2fnuz;
}

poprt_status prt_fast_cast_from_fp8(prt_eval *c, bool *done)
{
    const prt_tensor *x = c->in[0];
    if (!is_small_float(x->dtype) || c->out[0]->dtype != PRT_DTYPE_f32)
        return prt_fast_use_reference(done);
    decoder d = { .from = x->data, .to = c->out[0]->data, .count = prt_tensor_count(x) };
    for (uint32_t i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;
        d.table[i] = (float)prt_load_f64(x->dtype, &byte, 0);
    }
    d.pieces = prt_parallel_pieces(d.count, PIECE);
    return prt_parallel_for(c, d.pieces, 0, decode_piece, &d);
}

#ifndef PRT_NO_GRAPHCORE
/* ---- encoding ---- */

typedef struct encoder {
    const prt_tensor *x;
    uint8_t *to;
    double factor, most;
    int32_t digits, least; /* bits of the mantissa; exponent of the smallest normal number */
    size_t count, pieces;
} encoder;

/* Encodes a number: counts units of the last bit, 2^(exponent - digits). */
static uint8_t encode(const encoder *e, double value)
{
    const double size = fabs(value) * e->factor, many = 0x1p52;
    uint64_t bits;
    if (!(size < e->most))
        return isfinite(value) ? (uint8_t)(value < 0 ? 0xff : 0x7f) : 0x80;
    memcpy(&bits, &size, sizeof(bits));
    int32_t exponent = (int32_t)(bits >> 52) - 1023;
    exponent = exponent > e->least ? exponent : e->least;
    const uint64_t unit = (uint64_t)(e->digits - exponent + 1023) << 52;
    double per;
    memcpy(&per, &unit, sizeof(per));
    const uint32_t count =
        (uint32_t)(size * per + many - many) + ((uint32_t)(exponent - e->least) << e->digits);
    return (uint8_t)(count | (count != 0 && value < 0 ? 0x80u : 0u));
}

static void encode_piece(const void *user, size_t item, float *scratch)
{
    const encoder *e = user;
    const size_t end = prt_parallel_piece_begin(e->count, e->pieces, item + 1);
    const uint16_t *halves = e->x->data;
    const float *floats = e->x->data;
    const bool half = e->x->dtype == PRT_DTYPE_f16;
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(e->count, e->pieces, item); i < end; i++)
        e->to[i] = encode(e, (double)(half ? prt_half_to_f32(halves[i]) : floats[i]));
}

poprt_status prt_fast_cast_to_uint8(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_gc_cast_to_uint8_attrs *a = c->attrs;
    const bool f143 = prt_fp8_format(a->fp8Format) == PRT_DTYPE_f8e4m3fnuz;
    const int64_t scale = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    (void)k;
    if (!prt_fast_has_output(c) || scale < PRT_FP8_SCALE_MIN || scale > PRT_FP8_SCALE_MAX ||
        (c->in[0]->dtype != PRT_DTYPE_f32 && c->in[0]->dtype != PRT_DTYPE_f16))
        return prt_fast_use_reference(done);
    encoder e = { .x = c->in[0],
        .to = c->out[0]->data,
        .factor = ldexp(1, (int)-scale),
        .most = f143 ? 240 : 57344,
        .digits = f143 ? 3 : 2,
        .least = f143 ? -7 : -15,
        .count = prt_tensor_count(c->in[0]) };
    e.pieces = prt_parallel_pieces(e.count, PIECE);
    return prt_parallel_for(c, e.pieces, 0, encode_piece, &e);
}
#endif
