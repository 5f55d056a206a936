/* SPDX-License-Identifier: MIT */
/*
 * float.c — conversions of small float formats.
 *
 * One decoder and one encoder serve every format with sign, exponent and mantissa; a row of
 * constants describes the format. The encoder works on the bits of a double, so it neither depends
 * on the host's rounding mode nor rounds twice. bfloat16 is a float32 shifted and has conversions
 * of its own.
 */
#include "num/float.h"

#include <math.h>
#include <string.h>

#include "num/half.h"

/* Codes exclude the sign bit, which lies just above `exp_bits + mant_bits`. */
typedef struct format {
    int mant_bits, bias;
    uint32_t sign; /* the sign bit */
    uint32_t max;  /* code of the largest finite value */
    uint32_t inf;  /* code of infinity; of NaN in a format without infinity */
    uint32_t nan;  /* code of NaN; in an FNUZ format the sign bit, the code of -0 elsewhere */
} format;

static const format f16 = { 10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00 };
static const format bf16 = { 7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0 };
static const format e4m3fn = { 3, 7, 0x80, 0x7e, 0x7f, 0x7f };
static const format e4m3fnuz = { 3, 8, 0x80, 0x7f, 0x80, 0x80 };
static const format e5m2 = { 2, 15, 0x80, 0x7b, 0x7c, 0x7f };
static const format e5m2fnuz = { 2, 16, 0x80, 0x7f, 0x80, 0x80 };
static const format e2m1 = { 1, 1, 0x8, 0x7, 0x7, 0x7 };
static const format e2m3 = { 3, 1, 0x20, 0x1f, 0x1f, 0x1f };
static const format e3m2 = { 2, 3, 0x20, 0x1f, 0x1f, 0x1f };

static uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Returns the value of a finite code. */
static float decode(const format *f, uint32_t bits)
{
    const uint32_t code = bits & (f->sign - 1);
    const int exp = (int)(code >> f->mant_bits);
    const uint32_t one = 1u << f->mant_bits;
    const uint32_t mant = (code & (one - 1)) | (exp != 0 ? one : 0);
    const float value = ldexpf((float)mant, (exp != 0 ? exp : 1) - f->bias - f->mant_bits);
    return (bits & f->sign) != 0 ? -value : value;
}

/*
 * Returns the code of the finite magnitude in `bits` (a double without sign), rounded to nearest
 * even, or a code above f->max when it is out of range. A mantissa that rounds up to the next
 * binade carries into the exponent, since codes are ordered like values.
 */
static uint32_t encode_finite(const format *f, uint64_t bits)
{
    const int exp = (int)(bits >> 52) - 1023;
    const uint64_t mant = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    const int least = 1 - f->bias;            /* exponent of the smallest normal */
    const int at = exp > least ? exp : least; /* exponent of the result */
    const int shift = 52 - f->mant_bits + (at - exp);
    if (shift > 53) /* below half of the smallest subnormal, which includes subnormal doubles */
        return 0;
    const uint64_t rest = mant & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    uint64_t code = mant >> shift;
    code += rest > half || (rest == half && (code & 1) != 0);
    code += (uint64_t)(at - least) << f->mant_bits;
    return code > f->max ? f->max + 1 : (uint32_t)code;
}

static uint32_t encode(const format *f, double value, bool saturate)
{
    const uint64_t magnitude = bits_of_f64(value) & (UINT64_MAX >> 1);
    const uint32_t sign = signbit(value) ? f->sign : 0;
    const bool no_negative_zero = f->nan == f->sign;
    uint32_t code;
    if (isnan(value)) {
        code = f->nan;
    } else if (isinf(value)) {
        code = saturate && !no_negative_zero ? f->max : f->inf;
    } else {
        code = encode_finite(f, magnitude);
        if (code > f->max)
            code = saturate ? f->max : f->inf;
    }
    if (no_negative_zero && (code == 0 || code == f->nan))
        return code;
    return code | sign;
}

/* The 16-bit formats keep the high bits of a NaN's payload, as processors do. */
static uint16_t encode16(const format *f, double value)
{
    uint32_t code = encode(f, value, false);
    if (isnan(value))
        code |= (uint32_t)(bits_of_f64(value) >> (52 - f->mant_bits)) & ((1u << f->mant_bits) - 1);
    return (uint16_t)code;
}

float prt_f16_to_f32(uint16_t bits)
{
    return prt_half_to_f32(bits);
}

uint16_t prt_f32_to_f16(float value)
{
    return prt_f32_to_half(value);
}

uint16_t prt_f64_to_f16(double value)
{
    return encode16(&f16, value);
}

float prt_bf16_to_f32(uint16_t bits)
{
    return f32_of_bits((uint32_t)bits << 16);
}

uint16_t prt_f32_to_bf16(float value)
{
    const uint32_t bits = bits_of_f32(value);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40u);
    /* Adds just below half, plus one where the kept part is odd: ties go to even. */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

uint16_t prt_f64_to_bf16(double value)
{
    return encode16(&bf16, value);
}

float prt_f8e4m3fn_to_f32(uint8_t bits)
{
    return (bits & 0x7f) == e4m3fn.nan ? NAN : decode(&e4m3fn, bits);
}

float prt_f8e4m3fnuz_to_f32(uint8_t bits)
{
    return bits == e4m3fnuz.nan ? NAN : decode(&e4m3fnuz, bits);
}

float prt_f8e5m2_to_f32(uint8_t bits)
{
    const uint32_t code = bits & 0x7fu;
    if (code > e5m2.inf)
        return NAN;
    if (code == e5m2.inf)
        return bits > 0x7f ? -INFINITY : INFINITY;
    return decode(&e5m2, bits);
}

float prt_f8e5m2fnuz_to_f32(uint8_t bits)
{
    return bits == e5m2fnuz.nan ? NAN : decode(&e5m2fnuz, bits);
}

float prt_f8e8m0_to_f32(uint8_t bits)
{
    return bits == 0xff ? NAN : ldexpf(1.0f, bits - 127);
}

float prt_f4e2m1_to_f32(uint8_t bits)
{
    return decode(&e2m1, bits & 0xfu);
}

float prt_f6e2m3_to_f32(uint8_t bits)
{
    return decode(&e2m3, bits & 0x3fu);
}

float prt_f6e3m2_to_f32(uint8_t bits)
{
    return decode(&e3m2, bits & 0x3fu);
}

uint8_t prt_f64_to_f8e4m3fn(double value, bool saturate)
{
    return (uint8_t)encode(&e4m3fn, value, saturate);
}

uint8_t prt_f64_to_f8e4m3fnuz(double value, bool saturate)
{
    return (uint8_t)encode(&e4m3fnuz, value, saturate);
}

uint8_t prt_f64_to_f8e5m2(double value, bool saturate)
{
    return (uint8_t)encode(&e5m2, value, saturate);
}

uint8_t prt_f64_to_f8e5m2fnuz(double value, bool saturate)
{
    return (uint8_t)encode(&e5m2fnuz, value, saturate);
}

uint8_t prt_f64_to_f8e8m0(double value, bool saturate)
{
    if (!isfinite(value))
        return 0xff;
    /* The code is the exponent of a float; the midpoint to the next power is 1.5 times this one. */
    const uint64_t bits = bits_of_f64(value) & (UINT64_MAX >> 1);
    const int code = (int)((bits + (UINT64_C(1) << 51)) >> 52) - 1023 + 127;
    if (code > 0xfe)
        return saturate ? 0xfe : 0xff;
    return code < 0 ? 0 : (uint8_t)code;
}

static uint8_t encode_finite_only(const format *f, double value)
{
    return isnan(value) ? (uint8_t)f->nan : (uint8_t)encode(f, value, true);
}

uint8_t prt_f64_to_f4e2m1(double value)
{
    return encode_finite_only(&e2m1, value);
}

uint8_t prt_f64_to_f6e2m3(double value)
{
    return encode_finite_only(&e2m3, value);
}

uint8_t prt_f64_to_f6e3m2(double value)
{
    return encode_finite_only(&e3m2, value);
}
