/* SPDX-License-Identifier: MIT */
/* test_float.c — small floats, against tables made here: each value follows from the definition
 * of the format, and the correct rounding is found by trying all values. */
#include <math.h>
#include <string.h>

#include "num/float.h"
#include "support/check_main.h"

enum { NO_INFINITY = -1 };

/* A format by its definition, and the library's decoder and encoder. */
typedef struct format {
    const char *name;
    int bits, exp_bits, mant_bits, bias;
    int largest;  /* code of the largest finite value */
    int infinity; /* code of infinity, or NO_INFINITY */
    bool fnuz;
    float (*decode)(uint32_t code);
    uint32_t (*encode)(double value, bool saturate);
} format;

static float get_f16(uint32_t c)
{
    return prt_f16_to_f32((uint16_t)c);
}

static float get_bf16(uint32_t c)
{
    return prt_bf16_to_f32((uint16_t)c);
}

static float get_e4m3fn(uint32_t c)
{
    return prt_f8e4m3fn_to_f32((uint8_t)c);
}

static float get_e4m3fnuz(uint32_t c)
{
    return prt_f8e4m3fnuz_to_f32((uint8_t)c);
}

static float get_e5m2(uint32_t c)
{
    return prt_f8e5m2_to_f32((uint8_t)c);
}

static float get_e5m2fnuz(uint32_t c)
{
    return prt_f8e5m2fnuz_to_f32((uint8_t)c);
}

static float get_e2m1(uint32_t c)
{
    return prt_f4e2m1_to_f32((uint8_t)c);
}

static float get_e2m3(uint32_t c)
{
    return prt_f6e2m3_to_f32((uint8_t)c);
}

static float get_e3m2(uint32_t c)
{
    return prt_f6e3m2_to_f32((uint8_t)c);
}

static uint32_t put_e4m3fn(double v, bool s)
{
    return prt_f64_to_f8e4m3fn(v, s);
}

static uint32_t put_e4m3fnuz(double v, bool s)
{
    return prt_f64_to_f8e4m3fnuz(v, s);
}

static uint32_t put_e5m2(double v, bool s)
{
    return prt_f64_to_f8e5m2(v, s);
}

static uint32_t put_e5m2fnuz(double v, bool s)
{
    return prt_f64_to_f8e5m2fnuz(v, s);
}

static uint32_t put_f16(double v, bool s)
{
    (void)s;
    return prt_f64_to_f16(v);
}

static uint32_t put_bf16(double v, bool s)
{
    (void)s;
    return prt_f64_to_bf16(v);
}

static uint32_t put_e2m1(double v, bool s)
{
    (void)s;
    return prt_f64_to_f4e2m1(v);
}

static uint32_t put_e2m3(double v, bool s)
{
    (void)s;
    return prt_f64_to_f6e2m3(v);
}

static uint32_t put_e3m2(double v, bool s)
{
    (void)s;
    return prt_f64_to_f6e3m2(v);
}

static const format formats[] = {
    { "f16", 16, 5, 10, 15, 0x7bff, 0x7c00, false, get_f16, put_f16 },
    { "bf16", 16, 8, 7, 127, 0x7f7f, 0x7f80, false, get_bf16, put_bf16 },
    { "e4m3fn", 8, 4, 3, 7, 0x7e, NO_INFINITY, false, get_e4m3fn, put_e4m3fn },
    { "e4m3fnuz", 8, 4, 3, 8, 0x7f, NO_INFINITY, true, get_e4m3fnuz, put_e4m3fnuz },
    { "e5m2", 8, 5, 2, 15, 0x7b, 0x7c, false, get_e5m2, put_e5m2 },
    { "e5m2fnuz", 8, 5, 2, 16, 0x7f, NO_INFINITY, true, get_e5m2fnuz, put_e5m2fnuz },
    { "e2m1", 4, 2, 1, 1, 7, NO_INFINITY, false, get_e2m1, put_e2m1 },
    { "e2m3", 6, 2, 3, 1, 31, NO_INFINITY, false, get_e2m3, put_e2m3 },
    { "e3m2", 6, 3, 2, 3, 31, NO_INFINITY, false, get_e3m2, put_e3m2 },
};
enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

static bool same_value(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Returns the value of a finite code by the definition. */
static double value_of(const format *f, int code)
{
    const int sign = code >> (f->bits - 1);
    const int exp = code >> f->mant_bits & ((1 << f->exp_bits) - 1);
    const double mant = (double)(code & ((1 << f->mant_bits) - 1)) / (double)(1 << f->mant_bits);
    const double value = exp != 0 ? ldexp(1 + mant, exp - f->bias) : ldexp(mant, 1 - f->bias);
    return sign != 0 ? -value : value;
}

START_TEST(every_code_decodes_by_the_definition)
{
    for (int k = 0; k < N_FORMATS; k++) {
        const format *f = &formats[k];
        const int sign = 1 << (f->bits - 1);
        for (int code = 0; code < 2 * sign; code++) {
            const int magnitude = code & (sign - 1);
            const float got = f->decode((uint32_t)code);
            const bool finite = magnitude <= f->largest && !(f->fnuz && code == sign);
            if (finite)
                ck_assert_msg(same_value((double)got, value_of(f, code)), "%s %x", f->name, code);
            else if (magnitude == f->infinity)
                ck_assert(isinf(got) && (got < 0) == (code >= sign));
            else
                ck_assert_msg(isnan(got), "%s %x", f->name, code);
        }
    }
}
END_TEST

START_TEST(every_code_survives_the_round_trip)
{
    for (int k = 0; k < N_FORMATS; k++) {
        const format *f = &formats[k];
        for (uint32_t code = 0; code < 1u << f->bits; code++) {
            const double value = (double)f->decode(code);
            const uint32_t back = f->encode(value, false);
            if (!isnan(value))
                ck_assert_msg(back == code, "%s %x gives %x", f->name, code, back);
            else
                ck_assert_msg(isnan(f->decode(back)), "%s %x gives %x", f->name, code, back);
        }
    }
}
END_TEST

START_TEST(sixteen_bit_nans_keep_their_payload)
{
    for (uint32_t code = 0; code < 1u << 16; code++) {
        if (isnan(get_f16(code))) {
            ck_assert_uint_eq(prt_f32_to_f16(get_f16(code)), code | 0x200);
            ck_assert_uint_eq(prt_f64_to_f16((double)get_f16(code)), code | 0x200);
        } else {
            ck_assert_uint_eq(prt_f32_to_f16(get_f16(code)), code);
        }
        const bool nan = isnan(get_bf16(code));
        ck_assert_uint_eq(prt_f32_to_bf16(get_bf16(code)), nan ? code | 0x40 : code);
        ck_assert_uint_eq(prt_f64_to_bf16((double)get_bf16(code)), nan ? code | 0x40 : code);
    }
}
END_TEST

/* Halfway between neighbours, and slightly to either side: a tie goes to the even code. */
START_TEST(ties_go_to_even)
{
    for (int k = 0; k < N_FORMATS; k++) {
        const format *f = &formats[k];
        const uint32_t sign = 1u << (f->bits - 1);
        for (int code = 0; code < f->largest; code++) {
            const double low = value_of(f, code), high = value_of(f, code + 1);
            const double mid = low + (high - low) / 2;
            const uint32_t even = (uint32_t)(code + (code & 1));
            const uint32_t below = (uint32_t)code, above = below + 1;
            ck_assert_uint_eq(f->encode(mid, false), even);
            ck_assert_uint_eq(f->encode(nextafter(mid, 0), false), below);
            ck_assert_uint_eq(f->encode(nextafter(mid, (double)INFINITY), false), above);
            ck_assert_uint_eq(f->encode(-mid, true), even == 0 && f->fnuz ? 0 : even | sign);
        }
    }
}
END_TEST

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Returns the code of the nearest value, by trying all of them. A value one step above the largest
 * stands for overflow. */
static int nearest_code(const format *f, double magnitude)
{
    int best = 0;
    double least = magnitude;
    for (int code = 1; code <= f->largest + 1; code++) {
        const double step = value_of(f, f->largest) - value_of(f, f->largest - 1);
        const double end = value_of(f, f->largest);
        const double value = code <= f->largest ? value_of(f, code) : end + step;
        const double distance = fabs(magnitude - value);
        const bool tie = !(distance < least) && !(distance > least);
        if (distance < least || (tie && (code & 1) == 0)) {
            best = code;
            least = distance;
        }
    }
    return best;
}

START_TEST(random_values_go_to_the_nearest)
{
    for (int k = 0; k < N_FORMATS; k++) {
        const format *f = &formats[k];
        const uint32_t sign = 1u << (f->bits - 1);
        const int rounds = f->bits == 16 ? 300 : 20000;
        for (int i = 0; i < rounds; i++) {
            const int span = (1 << f->exp_bits) + f->mant_bits + 2;
            const int exp = (int)(random_number() % (uint64_t)span) - f->bias - f->mant_bits;
            const double unit = (double)(random_number() >> 11) * 0x1p-53;
            const double value = ldexp(1 + unit, exp);
            const int code = nearest_code(f, value);
            const uint32_t wanted = (uint32_t)(code > f->largest ? f->largest : code);
            if (f->bits < 16) {
                ck_assert_uint_eq(f->encode(value, true), wanted);
                ck_assert_uint_eq(f->encode(-value, true),
                    wanted == 0 && f->fnuz ? 0 : wanted | sign);
            }
            const double back = (double)f->decode(f->encode(value, false));
            if (code <= f->largest)
                ck_assert_uint_eq(f->encode(value, false), wanted);
            else if (f->infinity != NO_INFINITY)
                ck_assert(isinf(back));
            else if (f->bits > 6)
                ck_assert(isnan(back));
            else
                ck_assert_uint_eq(f->encode(value, false), wanted);
        }
    }
}
END_TEST

START_TEST(float_and_double_conversions_agree)
{
    int wrong = 0;
    for (int i = 0; i < 2000000; i++) {
        const uint32_t bits = (uint32_t)random_number();
        float value;
        memcpy(&value, &bits, sizeof(value));
        wrong += prt_f32_to_f16(value) != prt_f64_to_f16((double)value);
        wrong += prt_f32_to_bf16(value) != prt_f64_to_bf16((double)value);
    }
    ck_assert_int_eq(wrong, 0);
    /* A double that would round twice by way of float. */
    ck_assert_uint_eq(prt_f64_to_f16(1 + 0x1p-11 + 0x1p-40), 0x3c01);
    ck_assert_uint_eq(prt_f32_to_f16((float)(1 + 0x1p-11 + 0x1p-40)), 0x3c00);
    ck_assert_uint_eq(prt_f64_to_bf16(1 + 0x1p-8 + 0x1p-40), 0x3f81);
}
END_TEST

START_TEST(extremes_of_double_round_as_specified)
{
    for (int k = 0; k < N_FORMATS; k++) {
        const format *f = &formats[k];
        const uint32_t minus_zero = f->fnuz ? 0 : 1u << (f->bits - 1);
        ck_assert_uint_eq(f->encode(0, true), 0);
        ck_assert_uint_eq(f->encode(-0.0, true), minus_zero);
        ck_assert_uint_eq(f->encode(5e-324, true), 0);
        ck_assert_uint_eq(f->encode(-5e-324, true), minus_zero);
        ck_assert_uint_eq(f->encode(-2.3e-308, true), minus_zero);
        const int most = f->bits == 16 ? f->infinity : f->largest;
        ck_assert_int_eq((int)f->encode(1.7e308, true), most);
    }
}
END_TEST

START_TEST(overflow_follows_onnx_cast)
{
    const double inf = (double)INFINITY, nan = (double)NAN;
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(inf, true), 0x7e);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(-inf, true), 0xfe);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(inf, false), 0x7f);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(-1e9, false), 0xff);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(464, true), 0x7e);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(464, false),
        0x7e); /* a tie with 480, not in the format */
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(464.01, false), 0x7f);
    ck_assert_uint_eq(prt_f64_to_f8e5m2(inf, true), 0x7b);
    ck_assert_uint_eq(prt_f64_to_f8e5m2(inf, false), 0x7c);
    ck_assert_uint_eq(prt_f64_to_f8e5m2(-70000, false), 0xfc);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(inf, true), 0x80);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(-inf, false), 0x80);
    ck_assert_uint_eq(prt_f64_to_f8e5m2fnuz(-inf, true), 0x80);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(nan, true), 0x7f);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fn(-nan, true), 0xff);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(-nan, true), 0x80);
    ck_assert_uint_eq(prt_f64_to_f8e5m2fnuz(nan, true), 0x80);
    ck_assert_uint_eq(prt_f64_to_f4e2m1(inf), 7);
    ck_assert_uint_eq(prt_f64_to_f4e2m1(-1e30), 15);
    ck_assert_uint_eq(prt_f64_to_f4e2m1(-nan), 7);
}
END_TEST

/* Codes from Python's ml_dtypes. */
START_TEST(float6_codes_equal_ml_dtypes)
{
    static const struct {
        double value;
        uint8_t e2m3, e3m2;
    } rows[] = {
        { 0.0624, 0, 1 },
        { 0.0625, 0, 1 },
        { 0.06251, 1, 1 },
        { 0.19, 2, 3 },
        { 1.0625, 8, 12 },
        { 1.1875, 10, 13 },
        { -3.3, 53, 51 },
        { 7.74, 31, 24 },
        { 100, 31, 31 },
        { 0.1875, 2, 3 },
        { -0.1875, 34, 35 },
        { 29.9, 31, 31 },
        { -1e30, 63, 63 },
        { (double)INFINITY, 31, 31 },
        { -(double)INFINITY, 63, 63 },
        { -0.0, 32, 32 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_uint_eq(prt_f64_to_f6e2m3(rows[i].value), rows[i].e2m3);
        ck_assert_uint_eq(prt_f64_to_f6e3m2(rows[i].value), rows[i].e3m2);
    }
    ck_assert_uint_eq(prt_f64_to_f6e2m3((double)NAN), 31);
    ck_assert(prt_f6e2m3_to_f32(0x1f) == 7.5f && prt_f6e2m3_to_f32(0x21) == -0.125f);
    ck_assert(prt_f6e3m2_to_f32(0x1f) == 28.0f && prt_f6e3m2_to_f32(0x21) == -0.0625f);
}
END_TEST

/* Codes of PopRT's float8: F143 is E4M3FNUZ, F152 is E5M2FNUZ. */
START_TEST(f143_and_f152_codes_equal_poprt)
{
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(0.75, true), 0x3c);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(0.75 * 0.25, true), 0x2c);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(0.75 * 2, true), 0x44);
    ck_assert_uint_eq(prt_f64_to_f8e5m2fnuz(0.25, true), 0x38);
    ck_assert_uint_eq(prt_f64_to_f8e5m2fnuz(0.25 * 0.125, true), 0x2c);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(250, true), 0x7f);
    ck_assert_uint_eq(prt_f64_to_f8e4m3fnuz(250, false), 0x80);
    ck_assert_uint_eq(prt_f64_to_f8e5m2fnuz(70000, true), 0x7f);
    ck_assert_uint_eq(prt_f64_to_f8e5m2fnuz(70000, false), 0x80);
    ck_assert(same_value((double)prt_f8e4m3fnuz_to_f32(0x7f), 240));
    ck_assert(same_value((double)prt_f8e5m2fnuz_to_f32(0x7f), 57344));
    ck_assert(same_value((double)prt_f8e4m3fnuz_to_f32(0x01), 0x1p-10));
    ck_assert(same_value((double)prt_f8e5m2fnuz_to_f32(0x01), 0x1p-17));
}
END_TEST

START_TEST(e8m0_is_powers_of_two)
{
    for (uint32_t code = 0; code < 255; code++) {
        const double value = ldexp(1, (int)code - 127);
        ck_assert(same_value((double)prt_f8e8m0_to_f32((uint8_t)code), value));
        ck_assert_uint_eq(prt_f64_to_f8e8m0(value, false), code);
        ck_assert_uint_eq(prt_f64_to_f8e8m0(-value, false), code);
        ck_assert_uint_eq(prt_f64_to_f8e8m0(nextafter(value * 1.5, 0), false), code);
        ck_assert_uint_eq(prt_f64_to_f8e8m0(value * 1.5, false), code + 1);
        ck_assert_uint_eq(prt_f64_to_f8e8m0(value * 1.5, true), code < 254 ? code + 1 : 254);
    }
    ck_assert(isnan(prt_f8e8m0_to_f32(0xff)));
    ck_assert_uint_eq(prt_f64_to_f8e8m0((double)NAN, true), 0xff);
    ck_assert_uint_eq(prt_f64_to_f8e8m0((double)INFINITY, true), 0xff);
    ck_assert_uint_eq(prt_f64_to_f8e8m0(1e300, true), 0xfe);
    ck_assert_uint_eq(prt_f64_to_f8e8m0(1e300, false), 0xff);
    ck_assert_uint_eq(prt_f64_to_f8e8m0(0, true), 0);
    ck_assert_uint_eq(prt_f64_to_f8e8m0(5e-324, true), 0);
}
END_TEST

PRT_TEST_MAIN("num/float", every_code_decodes_by_the_definition, every_code_survives_the_round_trip,
    sixteen_bit_nans_keep_their_payload, ties_go_to_even, random_values_go_to_the_nearest,
    float_and_double_conversions_agree, extremes_of_double_round_as_specified,
    overflow_follows_onnx_cast, float6_codes_equal_ml_dtypes, f143_and_f152_codes_equal_poprt,
    e8m0_is_powers_of_two)
