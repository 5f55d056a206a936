/* SPDX-License-Identifier: MIT */
/* text.c — names, elements and the output buffer of the text form. */
#include "ir/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "op/share/number_text.h"

bool prt_text_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
        c == '.' || c == ':' || c == '/' || c == '-';
}

bool prt_text_is_plain(prt_str name)
{
    if (name.size == 0 || name.data[0] == ':' || prt_str_is(name, "_") ||
        prt_str_is(name, "return"))
        return false;
    for (uint32_t i = 0; i < name.size; i++)
        if (!prt_text_name_char(name.data[i]))
            return false;
    return true;
}

/* ---- bits of one element */

static uint64_t get_bits(int32_t dtype, const void *data, size_t index)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    const unsigned char *p = data;
    if (bits < 8)
        return prt_packed_load(bits, data, index);
    uint64_t value = 0;
    memcpy(&value, p + index * (bits / 8), bits / 8);
    return value;
}

static bool set_bits(int32_t dtype, void *data, size_t index, uint64_t value)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    if (bits < 64 && value >> bits != 0)
        return false;
    prt_element_copy(dtype, data, index, &value, 0, 1);
    return true;
}

/* Writes the shortest decimal, or the bits if no decimal reads back to them (for instance a NaN
 * payload). */
static void float_text(int32_t dtype, const void *data, size_t index, char *to, size_t size)
{
    const double value = prt_load_f64(dtype, data, index);
    const uint64_t bits = get_bits(dtype, data, index);
    const char *sign = signbit(value) ? "-" : "";
    char text[PRT_NUMBER_TEXT];
    uint64_t reread = 0;
    /* integers are printed exactly; the shortest decimal may differ */
    if (fabs(value) < 1e15 && value == trunc(value)) {
        (void)snprintf(to, size, "%s%lld", sign, (long long)fabs(value));
    } else if (isfinite(value)) {
        size_t n = prt_print_f64(dtype, value, text);
        if (n > 2 && memcmp(text + n - 2, ".0", 2) == 0)
            text[n - 2] = '\0';
        (void)snprintf(to, size, "%s", text);
    } else {
        (void)snprintf(to, size, "%s%s", sign, isnan(value) ? "nan" : "inf");
    }
    if (!prt_text_to_element(dtype, prt_str_of(to), &reread, 0) || reread != bits)
        (void)snprintf(to, size, "0x%llx", (unsigned long long)bits);
}

void prt_text_of_element(int32_t dtype, const void *data, size_t index, char *to, size_t size)
{
    switch (prt_dtype_of(dtype)->kind) {
    case PRT_KIND_bool:
        if (get_bits(dtype, data, index) <= 1)
            (void)snprintf(to, size, "%s", get_bits(dtype, data, index) != 0 ? "true" : "false");
        else
            (void)snprintf(to, size, "0x%x", (unsigned)get_bits(dtype, data, index));
        return;
    case PRT_KIND_uint:
        (void)snprintf(to, size, "%llu", (unsigned long long)prt_load_u64(dtype, data, index));
        return;
    case PRT_KIND_int:
        (void)snprintf(to, size, "%lld", (long long)prt_load_i64(dtype, data, index));
        return;
    case PRT_KIND_float:
        float_text(dtype, data, index, to, size);
        return;
    default:
        (void)snprintf(to, size, "?");
        return;
    }
}

/* ---- text to element */

static bool to_bits(prt_str text, uint64_t *out)
{
    char digits[17] = { 0 };
    if (text.size < 3 || text.size > 18)
        return false;
    memcpy(digits, text.data + 2, text.size - 2);
    char *end;
    *out = strtoull(digits, &end, 16);
    return *end == '\0' && isxdigit((unsigned char)digits[0]);
}

static bool to_integer(int32_t dtype, prt_str text, void *data, size_t index)
{
    const bool negative = text.size != 0 && text.data[0] == '-';
    uint64_t value = 0;
    if (text.size == (negative ? 1u : 0u))
        return false;
    for (uint32_t i = negative; i < text.size; i++) {
        const unsigned digit = (unsigned)(text.data[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    const uint32_t bits = prt_dtype_bits(dtype);
    const bool is_signed = prt_dtype_of(dtype)->kind == PRT_KIND_int;
    const uint64_t most = ((uint64_t)1 << (bits - 1)) - 1; /* largest value of the signed type */
    if (is_signed ? value > most + negative : (negative && value != 0))
        return false;
    if (!is_signed && bits < 64 && value >> bits != 0)
        return false;
    prt_store_u64(dtype, data, index, negative ? 0 - value : value);
    return true;
}

bool prt_text_to_element(int32_t dtype, prt_str text, void *data, size_t index)
{
    const uint8_t kind = prt_dtype_of(dtype)->kind;
    uint64_t bits;
    double value;
    if ((kind == PRT_KIND_float || kind == PRT_KIND_bool) && text.size > 2 &&
        memcmp(text.data, "0x", 2) == 0)
        return to_bits(text, &bits) && set_bits(dtype, data, index, bits);
    switch (kind) {
    case PRT_KIND_bool: {
        const bool on = prt_str_is(text, "true") || prt_str_is(text, "1");
        if (!on && !prt_str_is(text, "false") && !prt_str_is(text, "0"))
            return false;
        ((unsigned char *)data)[index] = on;
        return true;
    }
    case PRT_KIND_uint:
    case PRT_KIND_int:
        return to_integer(dtype, text, data, index);
    case PRT_KIND_float:
        if (!prt_parse_f64(text.data, text.size, &value))
            return false;
        prt_store_f64_as(dtype, data, index, value, false);
        return true;
    default:
        return false;
    }
}

/* ---- the buffer */

static bool reserve(prt_text_out *out, size_t size)
{
    if (out->failed)
        return false;
    if (size == SIZE_MAX ||
        !prt_vec_reserve(out->arena, (void **)&out->data, &out->capacity, out->size, size + 1, 1)) {
        out->failed = true;
        return false;
    }
    return true;
}

void prt_text_put(prt_text_out *out, const char *bytes, size_t size)
{
    if (!reserve(out, size))
        return;
    if (size != 0)
        memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

void prt_text_format(prt_text_out *out, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    PRT_ASSERT(n >= 0 && (size_t)n < sizeof(text));
    prt_text_put(out, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void prt_text_quote(prt_text_out *out, const char *bytes, size_t size)
{
    prt_text_put(out, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        const char c = bytes[i];
        if (c == '"' || c == '\\')
            prt_text_format(out, "\\%c", c);
        else if (c == '\n')
            prt_text_put(out, "\\n", 2);
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            prt_text_format(out, "\\x%02x", (unsigned char)c);
        else
            prt_text_put(out, &c, 1);
    }
    prt_text_put(out, "\"", 1);
}

poprt_status prt_text_finish(prt_text_out *out, prt_str *text)
{
    if (out->size > UINT32_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL, "text of %zu bytes is too long", out->size);
    if (!reserve(out, 1))
        return POPRT_E_NOMEM;
    out->data[out->size] = '\0';
    *text = (prt_str){ out->data, (uint32_t)out->size };
    return POPRT_OK;
}
