/* SPDX-License-Identifier: MIT */
/* test_element.c — single elements of every type, packed ones between their neighbours. */
#include <math.h>
#include <string.h>

#include "num/dtype.h"
#include "support/check_main.h"

static bool same_value(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

START_TEST(integers_wrap_and_come_back)
{
    static const int32_t types[] = { PRT_DTYPE_u8, PRT_DTYPE_i8, PRT_DTYPE_u16, PRT_DTYPE_i16,
        PRT_DTYPE_u32, PRT_DTYPE_i32, PRT_DTYPE_u64, PRT_DTYPE_i64, PRT_DTYPE_u4, PRT_DTYPE_i4,
        PRT_DTYPE_u2, PRT_DTYPE_i2 };
    enum { COUNT = 37 };
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        const uint32_t bits = prt_dtype_bits(types[k]);
        const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        unsigned char data[COUNT * 8 + 1];
        uint64_t wanted[COUNT] = { 0 };
        int wrong = 0;
        memset(data, 0, sizeof(data));
        for (int round = 0; round < 2000; round++) {
            const size_t at = random_number() % COUNT;
            wanted[at] = random_number();
            if (round % 2 == 0)
                prt_store_u64(types[k], data + 1, at, wanted[at]);
            else
                prt_store_i64(types[k], data + 1, at, (int64_t)wanted[at]);
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t word = prt_load_u64(types[k], data + 1, i);
                wrong += (word & mask) != (wanted[i] & mask);
                const bool top = (wanted[i] >> (bits - 1) & 1) != 0;
                const bool fills = prt_dtype_of(types[k])->kind == PRT_KIND_int && top;
                wrong += (word & ~mask) != (fills ? ~mask : 0);
                wrong += prt_load_i64(types[k], data + 1, i) != (int64_t)word;
            }
        }
        ck_assert_int_eq(wrong, 0);
    }
}
END_TEST

START_TEST(packing_is_low_bits_first)
{
    unsigned char data[2] = { 0, 0 };
    prt_store_i64(PRT_DTYPE_u4, data, 0, 1);
    prt_store_i64(PRT_DTYPE_u4, data, 1, 2);
    prt_store_i64(PRT_DTYPE_u4, data, 2, 15);
    ck_assert_uint_eq(data[0], 0x21);
    ck_assert_uint_eq(data[1], 0x0f);
    ck_assert_int_eq(prt_load_i64(PRT_DTYPE_i4, data, 2), -1);
    for (size_t i = 0; i < 4; i++)
        prt_store_i64(PRT_DTYPE_u2, data, i, (int64_t)i);
    ck_assert_uint_eq(data[0], 0xe4);
    ck_assert_int_eq(prt_load_i64(PRT_DTYPE_i2, data, 2), -2);
    prt_store_f64(PRT_DTYPE_f4e2m1, data, 1, -6);
    prt_store_f64(PRT_DTYPE_f4e2m1, data, 0, 0.5);
    ck_assert_uint_eq(data[0], 0xf1);
    ck_assert(same_value(prt_load_f64(PRT_DTYPE_f4e2m1, data, 1), -6));
    /* Four elements of 6 bits in three bytes, for any order of stores; their neighbours stay. */
    static const double sixes[] = { 1, -2.5, 0.125, 7.5, -0.375 };
    static const unsigned char packed[] = { 0x88, 0x1c, 0x7c, 0x23, 0xff };
    unsigned char six[5] = { 0, 0xff, 0, 0, 0xff };
    for (size_t i = 5; i-- > 0;)
        prt_store_f64(PRT_DTYPE_f6e2m3, six, i, sixes[i]);
    ck_assert_mem_eq(six, packed, sizeof(six));
    for (size_t i = 0; i < 5; i++)
        ck_assert(same_value(prt_load_f64(PRT_DTYPE_f6e2m3, six, i), sixes[i]));
}
END_TEST

START_TEST(bools_are_zero_or_one)
{
    unsigned char data[4] = { 0, 1, 2, 255 };
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(prt_load_i64(PRT_DTYPE_bool, data, i), i != 0);
        ck_assert(same_value(prt_load_f64(PRT_DTYPE_bool, data, i), i != 0));
    }
    prt_store_f64(PRT_DTYPE_bool, data, 0, 0.25);
    prt_store_f64(PRT_DTYPE_bool, data, 1, -0.0);
    prt_store_f64(PRT_DTYPE_bool, data, 2, (double)NAN);
    prt_store_i64(PRT_DTYPE_bool, data, 3, 256);
    ck_assert_int_eq(memcmp(data, "\1\0\1\1", 4), 0);
}
END_TEST

START_TEST(floats_to_integers_truncate_then_wrap)
{
    int64_t i = 0;
    uint64_t u = 0;
    unsigned char b = 0;
    prt_store_f64(PRT_DTYPE_i64, &i, 0, -2.9);
    ck_assert_int_eq(i, -2);
    prt_store_f64(PRT_DTYPE_i64, &i, 0, 1e30);
    ck_assert_int_eq(i, INT64_MAX);
    prt_store_f64(PRT_DTYPE_i64, &i, 0, -1e30);
    ck_assert_int_eq(i, INT64_MIN);
    prt_store_f64(PRT_DTYPE_i64, &i, 0, (double)NAN);
    ck_assert_int_eq(i, 0);
    prt_store_f64(PRT_DTYPE_u64, &u, 0, 0x1p63);
    ck_assert_uint_eq(u, UINT64_C(1) << 63);
    prt_store_f64(PRT_DTYPE_u64, &u, 0, (double)INFINITY);
    ck_assert_uint_eq(u, UINT64_MAX);
    prt_store_f64(PRT_DTYPE_u64, &u, 0, -1);
    ck_assert_uint_eq(u, UINT64_MAX);
    prt_store_f64(PRT_DTYPE_u8, &b, 0, 257.9);
    ck_assert_uint_eq(b, 1);
    prt_store_f64(PRT_DTYPE_i8, &b, 0, -129);
    ck_assert_uint_eq(b, 127);
    const float f = -3.75f;
    ck_assert_int_eq(prt_load_i64(PRT_DTYPE_f32, &f, 0), -3);
    ck_assert_uint_eq(prt_load_u64(PRT_DTYPE_f32, &f, 0), (uint64_t)-3);
}
END_TEST

START_TEST(floats_round_trip)
{
    static const int32_t types[] = { PRT_DTYPE_f32, PRT_DTYPE_f64, PRT_DTYPE_f16, PRT_DTYPE_bf16,
        PRT_DTYPE_f8e4m3fn, PRT_DTYPE_f8e4m3fnuz, PRT_DTYPE_f8e5m2, PRT_DTYPE_f8e5m2fnuz,
        PRT_DTYPE_f4e2m1, PRT_DTYPE_f6e2m3, PRT_DTYPE_f6e3m2, PRT_DTYPE_c64, PRT_DTYPE_c128 };
    static const double values[] = { 0, 1, -1, 0.5, 6, -1.5, 4 };
    enum { COUNT = sizeof(values) / sizeof(values[0]) };
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        unsigned char data[COUNT * 16 + 1];
        memset(data, 0xff, sizeof(data));
        for (size_t i = 0; i < COUNT; i++)
            prt_store_f64(types[k], data + 1, i, values[i]);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert(same_value(prt_load_f64(types[k], data + 1, i), values[i]));
        prt_store_i64(types[k], data + 1, 3, -3);
        ck_assert_int_eq(prt_load_i64(types[k], data + 1, 3), -3);
        ck_assert(same_value(prt_load_f64(types[k], data + 1, 2), values[2]));
        ck_assert(same_value(prt_load_f64(types[k], data + 1, 4), values[4]));
    }
    unsigned char e8m0[3];
    prt_store_f64(PRT_DTYPE_f8e8m0, e8m0, 1, 0.125);
    ck_assert(same_value(prt_load_f64(PRT_DTYPE_f8e8m0, e8m0, 1), 0.125));
}
END_TEST

START_TEST(saturation_is_optional)
{
    unsigned char b = 0;
    prt_store_f64(PRT_DTYPE_f8e4m3fn, &b, 0, 1e6);
    ck_assert_uint_eq(b, 0x7e);
    prt_store_f64_as(PRT_DTYPE_f8e4m3fn, &b, 0, 1e6, false);
    ck_assert_uint_eq(b, 0x7f);
    prt_store_i64(PRT_DTYPE_f8e5m2, &b, 0, INT64_MIN);
    ck_assert_uint_eq(b, 0xfb);
    uint16_t h = 0;
    prt_store_f64(PRT_DTYPE_f16, &h, 0, 65520);
    ck_assert_uint_eq(h, 0x7c00);
}
END_TEST

START_TEST(complex_numbers_load_as_their_real_part)
{
    float c64[4] = { 1, 2, 3, 4 };
    ck_assert(same_value(prt_load_f64(PRT_DTYPE_c64, c64, 1), 3));
    prt_store_f64(PRT_DTYPE_c64, c64, 0, 9);
    ck_assert(same_value((double)c64[0], 9) && same_value((double)c64[1], 0));
    ck_assert(same_value((double)c64[2], 3));
    double c128[2] = { 1, 2 };
    prt_store_u64(PRT_DTYPE_c128, c128, 0, 7);
    ck_assert(same_value(c128[0], 7) && same_value(c128[1], 0));
}
END_TEST

/* Large integers round once, to float as well as to bfloat16. */
START_TEST(integers_to_floats_round_once)
{
    float f;
    uint16_t h;
    int wrong = 0;
    for (int i = 0; i < 300000; i++) {
        const uint64_t word = random_number() >> (random_number() % 64);
        prt_store_u64(PRT_DTYPE_f32, &f, 0, word);
        wrong += !same_value((double)f, (double)(float)word);
        prt_store_i64(PRT_DTYPE_f32, &f, 0, (int64_t)(0 - word));
        wrong += word != 0 && !same_value((double)f, (double)(float)(int64_t)(0 - word));
    }
    ck_assert_int_eq(wrong, 0);
    const uint64_t above_tie = (UINT64_C(0x101) << 54) + 1; /* halfway, and one more */
    prt_store_u64(PRT_DTYPE_bf16, &h, 0, above_tie);
    ck_assert_uint_eq(h, 0x5e81);
    prt_store_u64(PRT_DTYPE_bf16, &h, 0, above_tie - 1);
    ck_assert_uint_eq(h, 0x5e80);
    double d;
    prt_store_i64(PRT_DTYPE_f64, &d, 0, INT64_MIN);
    ck_assert(same_value(d, -0x1p63));
    prt_store_u64(PRT_DTYPE_f64, &d, 0, UINT64_MAX);
    ck_assert(same_value(d, 0x1p64));
}
END_TEST

START_TEST(types_without_numbers_do_nothing)
{
    unsigned char data[16];
    memset(data, 5, sizeof(data));
    prt_store_f64(PRT_DTYPE_string, data, 0, 1);
    prt_store_i64(PRT_DTYPE_undefined, data, 0, 1);
    prt_store_u64(99, data, 0, 1);
    ck_assert_uint_eq(data[0], 5);
    ck_assert(same_value(prt_load_f64(PRT_DTYPE_string, data, 0), 0));
    ck_assert_int_eq(prt_load_i64(-1, data, 0), 0);
}
END_TEST

START_TEST(arrays_are_converted)
{
    const float reals[] = { 1.5f, -2.75f, 70000.0f };
    const int64_t integers[] = { INT64_MAX, -3, 7 };
    uint16_t half[3];
    int64_t copies[3];
    double doubles[3];
    prt_convert(PRT_DTYPE_f32, reals, PRT_DTYPE_f16, half, 3);
    ck_assert_uint_eq(half[0], 0x3e00);
    ck_assert_uint_eq(half[1], 0xc180);
    ck_assert_uint_eq(half[2], 0x7c00);
    prt_convert(PRT_DTYPE_f16, half, PRT_DTYPE_f64, doubles, 2);
    ck_assert(same_value(doubles[0], 1.5) && same_value(doubles[1], -2.75));
    prt_convert(PRT_DTYPE_i64, integers, PRT_DTYPE_i64, copies, 3);
    ck_assert_mem_eq(copies, integers, sizeof(integers));
    prt_convert(PRT_DTYPE_i64, integers + 1, PRT_DTYPE_f64, doubles, 2);
    ck_assert(same_value(doubles[0], -3) && same_value(doubles[1], 7));
    prt_convert(PRT_DTYPE_f32, NULL, PRT_DTYPE_f32, NULL, 0);
}
END_TEST

PRT_TEST_MAIN("num/element", integers_wrap_and_come_back, packing_is_low_bits_first,
    bools_are_zero_or_one, floats_to_integers_truncate_then_wrap, floats_round_trip,
    saturation_is_optional, complex_numbers_load_as_their_real_part, integers_to_floats_round_once,
    types_without_numbers_do_nothing, arrays_are_converted)
