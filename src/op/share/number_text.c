/* SPDX-License-Identifier: MIT */
/*
 * number_text.c — numbers as text. The C library does the arithmetic, on texts without a decimal
 * point, because that character depends on the locale.
 */
#include "op/share/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_DIGITS = 800, /* more digits than the exact rounding of a double can need */
    MAX_EXPONENT = 1000000
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Drops blanks around the text and reads the sign. Returns true for '-'. */
static bool trim(const char **text, size_t *size)
{
    while (*size > 0 && is_blank((*text)[0])) {
        (*text)++;
        (*size)--;
    }
    while (*size > 0 && is_blank((*text)[*size - 1]))
        (*size)--;
    const bool negative = *size > 0 && (*text)[0] == '-';
    if (negative || (*size > 0 && (*text)[0] == '+')) {
        (*text)++;
        (*size)--;
    }
    return negative;
}

/* Compares without regard to case; `word` is in lower case. */
static bool same_word(const char *text, size_t size, const char *word)
{
    if (size != strlen(word))
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
        if (c != word[i])
            return false;
    }
    return true;
}

/* Returns digits · 10^exponent. The buffer `digits` has space for an exponent after its `n`
 * characters. */
static double compose(char *digits, size_t n, int64_t exponent)
{
    (void)snprintf(digits + n, 24, "e%lld", (long long)exponent);
    return strtod(digits, NULL);
}

/* Reads an exponent part from `at` on and adds it to `exponent`. Returns false if it is
 * malformed. */
static bool parse_exponent(const char *text, size_t size, size_t at, int64_t *exponent)
{
    if (at == size)
        return true;
    if (text[at] != 'e' && text[at] != 'E')
        return false;
    at++;
    const bool negative = at < size && text[at] == '-';
    if (negative || (at < size && text[at] == '+'))
        at++;
    if (at == size)
        return false;
    int64_t e = 0;
    for (; at < size; at++) {
        if (!is_digit(text[at]))
            return false;
        e = e < MAX_EXPONENT ? e * 10 + (text[at] - '0') : e;
    }
    *exponent += negative ? -e : e;
    return true;
}

bool prt_parse_f64(const char *text, size_t size, double *out)
{
    char digits[MAX_DIGITS + 32];
    size_t n = 0, at = 0;
    int64_t exponent = 0;
    bool point = false, any = false;
    const bool negative = trim(&text, &size);
    if (same_word(text, size, "nan") || same_word(text, size, "inf")) {
        const double value = text[0] == 'n' || text[0] == 'N' ? (double)NAN : (double)INFINITY;
        *out = negative ? -value : value;
        return true;
    }
    for (; at < size && (is_digit(text[at]) || (text[at] == '.' && !point)); at++) {
        if (text[at] == '.') {
            point = true;
            continue;
        }
        any = true;
        exponent -= point;
        if (n == 0 && text[at] == '0')
            continue;
        if (n < MAX_DIGITS)
            digits[n++] = text[at];
        else { /* beyond the precision of a double; only the difference from zero still matters */
            exponent++;
            if (text[at] != '0')
                digits[n - 1] = digits[n - 1] == '0' ? '1' : digits[n - 1];
        }
    }
    if (!any || !parse_exponent(text, size, at, &exponent))
        return false;
    if (n == 0)
        digits[n++] = '0';
    const double value = compose(digits, n, exponent);
    *out = negative ? -value : value;
    return true;
}

bool prt_parse_i64(const char *text, size_t size, int64_t *out)
{
    uint64_t value = 0;
    const bool negative = trim(&text, &size);
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(text[i]) || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    if (negative && value > (uint64_t)1 << 63)
        return false;
    *out = (int64_t)(negative ? 0 - value : value);
    return true;
}

/* Rounds a positive value to `precision` digits. Returns the exponent of the first digit. */
static int64_t round_digits(double value, int precision, char *digits)
{
    char text[PRT_NUMBER_TEXT];
    size_t n = 0;
    (void)snprintf(text, sizeof(text), "%.*e", precision - 1, value);
    const char *e = strchr(text, 'e');
    for (const char *p = text; e != NULL && p < e; p++)
        if (is_digit(*p))
            digits[n++] = *p;
    digits[n] = '\0';
    return e != NULL ? strtol(e + 1, NULL, 10) : 0;
}

/* Returns true if the digits read back as the same element. Finite values of a type never
 * overflow it, except for types below 8 bits, where "8" would read back as 7.5; their few values
 * are printed in full. */
static bool reads_back(int32_t dtype, double value, const char *digits, int64_t exponent)
{
    char text[PRT_NUMBER_TEXT + 24];
    unsigned char element[8] = { 0 };
    const size_t n = strlen(digits);
    memcpy(text, digits, n);
    const double back = compose(text, n, exponent - (int64_t)n + 1);
    if (prt_dtype_bits(dtype) < 8)
        return back == value;
    prt_store_f64_as(dtype, element, 0, back, false);
    return prt_load_f64(dtype, element, 0) == value;
}

/* Prints "12.5", "0.001", "100.0"; the exponent is in [-4, 16). */
static size_t print_plain(const char *digits, int64_t exponent, char *to)
{
    size_t at = 0;
    const int64_t n = (int64_t)strlen(digits);
    const int64_t first = exponent < 0 ? exponent : 0;
    const int64_t last = n - 1 > exponent ? n - 1 : exponent + 1;
    for (int64_t i = first; i <= last; i++) {
        to[at++] = i >= 0 && i < n ? digits[i] : '0';
        if (i == (exponent < 0 ? first : exponent))
            to[at++] = '.';
    }
    to[at] = '\0';
    return at;
}

/* Prints "1e-05", "1.5e+20". */
static size_t print_scientific(const char *digits, int64_t exponent, char *to)
{
    const int n =
        snprintf(to, PRT_NUMBER_TEXT, "%c%s%se%c%02lld", digits[0], digits[1] != '\0' ? "." : "",
            digits + 1, exponent < 0 ? '-' : '+', (long long)(exponent < 0 ? -exponent : exponent));
    return n > 0 ? (size_t)n : 0;
}

size_t prt_print_f64(int32_t dtype, double value, char *to)
{
    enum { MOST = 17 };
    char digits[PRT_NUMBER_TEXT];
    size_t at = 0;
    int64_t exponent = 0;
    if (isnan(value)) {
        memcpy(to, "NaN", 4);
        return 3;
    }
    if (signbit(value))
        to[at++] = '-';
    value = fabs(value);
    if (isinf(value)) {
        memcpy(to + at, "INF", 4);
        return at + 3;
    }
    for (int precision = 1; precision <= MOST; precision++) {
        exponent = round_digits(value, precision, digits);
        if (reads_back(dtype, value, digits, exponent))
            break;
    }
    if (value == 0.0 || (exponent >= -4 && exponent < 16))
        return at + print_plain(digits, exponent, to + at);
    return at + print_scientific(digits, exponent, to + at);
}
