/* SPDX-License-Identifier: MIT */
/*
 * as_string.c — AsString: numbers as text, in the formats of the C library's printf but independent
 * of the locale; booleans are "true" and "false".
 */
#include <math.h>
#include <stdio.h>

#include "op/share/broadcast.h"
#include "op/share/number_text.h"
#include "op/share/strings.h"

enum {
    MOST_WIDTH = 4096,    /* limit of width and precision */
    MOST_WHOLE = 320,     /* more digits than a float64 has before the point */
    DEFAULT_PRECISION = 6 /* of printf */
};

typedef prt_text_as_string_attrs attrs;

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const bool plain = a->scientific == 0 && a->shortest == 0 && a->precision < 0;
    if (a->width > MOST_WIDTH || a->precision > MOST_WIDTH)
        return prt_infer_fail(c, POPRT_E_LIMIT, "width and precision are limited to %d",
            MOST_WIDTH);
    if (a->fill.size > 1 || (a->fill.size == 1 && strchr(" +-0#", a->fill.data[0]) == NULL))
        return prt_infer_fail(c, POPRT_E_ARG,
            "fill is not known; accepted: nothing, space, +, -, 0, #");
    if (a->scientific != 0 && a->shortest != 0)
        return prt_infer_fail(c, POPRT_E_ARG, "only one of scientific and shortest can be set");
    if (!plain && !prt_dtype_is_float(c->in[0].dtype))
        return prt_infer_fail(c, POPRT_E_ARG,
            "scientific, shortest and precision need a floating-point input");
    return prt_infer_unary(c);
}

/* Makes the decimal point of the locale, which follows the first digits, a dot. */
static size_t fix_point(char *text, size_t size)
{
    size_t at = 0, end;
    while (at < size && text[at] >= '0' && text[at] <= '9')
        at++;
    if (at == size || text[at] == 'e' || text[at] == '.')
        return size;
    for (end = at; end < size && (text[end] < '0' || text[end] > '9') && text[end] != 'e';)
        end++;
    text[at] = '.';
    memmove(text + at + 1, text + end, size - end);
    return size - (end - at - 1);
}

/* Prints a non-negative number. Returns the number of bytes. */
static size_t print_float(const attrs *a, double value, char *to, size_t capacity)
{
    const int precision = a->precision < 0 ? DEFAULT_PRECISION : (int)a->precision;
    const bool point = a->fill.size != 0 && a->fill.data[0] == '#';
    const char *format = a->shortest != 0 ? (point ? "%#.*g" : "%.*g")
        : a->scientific != 0              ? (point ? "%#.*e" : "%.*e")
                                          : (point ? "%#.*f" : "%.*f");
    const int n = snprintf(to, capacity, format, precision, value);
    return isfinite(value) && n > 0 ? fix_point(to, (size_t)n) : n > 0 ? (size_t)n : 0;
}

/* Writes sign, digits and padding. */
static poprt_status write_padded(prt_eval *c, size_t at, const char *sign, const char *digits,
    size_t size, bool finite)
{
    const attrs *a = c->attrs;
    const char fill = a->fill.size != 0 ? a->fill.data[0] : '\0';
    const size_t used = strlen(sign) + size;
    const size_t width = a->width > 0 ? (size_t)a->width : 0;
    const size_t pad = width > used ? width - used : 0;
    const size_t zeros = fill == '0' && finite ? pad : 0, right = fill == '-' ? pad : 0;
    char *to = prt_string_reserve(c, 0, at, used + pad);
    if (to == NULL)
        return POPRT_E_NOMEM;
    memset(to, ' ', used + pad);
    to += pad - zeros - right;
    prt_string_append(&to, sign, strlen(sign));
    memset(to, '0', zeros);
    to += zeros;
    prt_string_append(&to, digits, size);
    return POPRT_OK;
}

static poprt_status write_number(prt_eval *c, size_t at, char *buffer, size_t capacity)
{
    const attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const char fill = a->fill.size != 0 ? a->fill.data[0] : '\0';
    const char *positive = fill == '+' ? "+" : fill == ' ' ? " " : "";
    if (prt_dtype_is_float(x->dtype)) {
        const double value = prt_load_f64(x->dtype, x->data, at);
        const size_t size = print_float(a, fabs(value), buffer, capacity);
        return write_padded(c, at, signbit(value) ? "-" : positive, buffer, size, isfinite(value));
    }
    const bool is_signed = !prt_dtype_is_unsigned(x->dtype);
    const int64_t value = is_signed ? prt_load_i64(x->dtype, x->data, at) : 0;
    const uint64_t size = is_signed ? (value < 0 ? 0 - (uint64_t)value : (uint64_t)value)
                                    : prt_load_u64(x->dtype, x->data, at);
    const int n = snprintf(buffer, capacity, "%llu", (unsigned long long)size);
    return write_padded(c, at,
        value < 0       ? "-"
            : is_signed ? positive
                        : "",
        buffer, n > 0 ? (size_t)n : 0, true);
}

static poprt_status eval(prt_eval *c)
{
    const attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t capacity =
        (size_t)(a->precision > 0 ? a->precision : DEFAULT_PRECISION) + MOST_WHOLE;
    char *buffer = prt_eval_scratch_raw(c, capacity, 1);
    if (buffer == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; prt_eval_wants(c, 0) && i < prt_tensor_count(x); i++) {
        PRT_TRY(c->host->check(c));
        if (x->dtype != PRT_DTYPE_bool)
            PRT_TRY(write_number(c, i, buffer, capacity));
        else if (((const unsigned char *)x->data)[i] != 0)
            PRT_TRY(prt_string_write(c, 0, i, "true", 4));
        else
            PRT_TRY(prt_string_write(c, 0, i, "false", 5));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_text_as_string = { .infer = infer, .eval = eval };
