/* SPDX-License-Identifier: MIT */
/* test_number_text.c — numbers as text: layouts, text that is not a number, round trips, other
 * locales. */
#include "op/share/number_text.h"

#include <locale.h>
#include <math.h>

#include "support/check_main.h"

static const char *print_number(int32_t dtype, double value)
{
    static char text[PRT_NUMBER_TEXT];
    const size_t size = prt_print_f64(dtype, value, text);
    ck_assert_uint_eq(size, strlen(text));
    return text;
}

static double parse_number(const char *text)
{
    double value = -77.0;
    ck_assert_msg(prt_parse_f64(text, strlen(text), &value), "%s is no number", text);
    return value;
}

START_TEST(floats_are_printed_as_specified)
{
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 0.0), "0.0");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, -0.0), "-0.0");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 100.0), "100.0");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 0.0001), "0.0001");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 0.00001), "1e-05");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 123.456), "123.456");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 1e15), "1000000000000000.0");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 1.5e16), "1.5e+16");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, 5e-324), "5e-324");
    ck_assert_str_eq(print_number(PRT_DTYPE_f64, -1.7976931348623157e308),
        "-1.7976931348623157e+308");
    ck_assert_str_eq(print_number(PRT_DTYPE_f32, (double)0.1f), "0.1");
    ck_assert_str_eq(print_number(PRT_DTYPE_f16, 0.0999755859375), "0.1");
}
END_TEST

START_TEST(numbers_are_read)
{
    ck_assert_double_eq(parse_number("3.14"), 3.14);
    ck_assert_double_eq(parse_number(" \t+.5e1\n"), 5.0);
    ck_assert_double_eq(parse_number("5."), 5.0);
    ck_assert_double_eq(parse_number("0e99999999999999999999"), 0.0);
    ck_assert_double_eq(parse_number("1e-99999999999999999999"), 0.0);
    ck_assert(isinf(parse_number("1e99999999999999999999")));
    ck_assert(isinf(parse_number("-iNf")) && parse_number("-iNf") < 0.0);
    ck_assert(isnan(parse_number("NaN")));
    ck_assert(signbit(parse_number("-0")));
}
END_TEST

START_TEST(other_text_is_not_a_number)
{
    const char *texts[] = { "", " ", "x", "1x", "e5", "1e", "1e+", ".", "--1", "0x10", "1 2",
        "1.2.3", "infinity", "+-1" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double value;
        int64_t whole;
        ck_assert_msg(!prt_parse_f64(texts[i], strlen(texts[i]), &value), "\"%s\"", texts[i]);
        ck_assert_msg(!prt_parse_i64(texts[i], strlen(texts[i]), &whole), "\"%s\"", texts[i]);
    }
}
END_TEST

/* 1 + 2^-53 + 10^-1000: only its last digit lifts it above the middle of two doubles. */
START_TEST(long_texts_round_correctly)
{
    char text[1100] = "1.00000000000000011102230246251565404236316680908203125";
    const size_t n = strlen(text);
    ck_assert_double_eq(parse_number(text), 1.0);
    memset(text + n, '0', 1000 - n);
    text[1000] = '1';
    ck_assert_double_eq(parse_number(text), 1.0000000000000002);
}
END_TEST

START_TEST(integers_are_parsed)
{
    int64_t value;
    ck_assert(prt_parse_i64("-9223372036854775808", 20, &value) && value == INT64_MIN);
    ck_assert(prt_parse_i64("18446744073709551615", 20, &value) && value == -1);
    ck_assert(!prt_parse_i64("18446744073709551616", 20, &value));
    ck_assert(!prt_parse_i64("-9223372036854775809", 20, &value));
    ck_assert(!prt_parse_i64("1.0", 3, &value));
}
END_TEST

START_TEST(locales_do_not_matter)
{
    const char *names[] = { "de_DE.UTF-8", "fr_FR.UTF-8" };
    for (size_t i = 0; i < 2; i++)
        if (setlocale(LC_ALL, names[i]) != NULL) {
            ck_assert_double_eq(parse_number("2.5"), 2.5);
            ck_assert_str_eq(print_number(PRT_DTYPE_f64, 2.5), "2.5");
        }
}
END_TEST

PRT_TEST_MAIN("op/number_text", floats_are_printed_as_specified, numbers_are_read,
    other_text_is_not_a_number, long_texts_round_correctly, integers_are_parsed,
    locales_do_not_matter)
