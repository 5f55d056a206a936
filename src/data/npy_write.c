/* SPDX-License-Identifier: MIT */
/* npy_write.c — writes tensors as .npy, version 1.0, with data at a multiple of 64 bytes. */
#include <stdio.h>

#include "data/npy.h"
#include "num/dtype.h"

enum { HEADER_ALIGN = 64, PREFIX = 10, MAX_HEADER = 512, CHUNK = 4096 };

static poprt_status write_bytes(poprt_write_fn write, void *user, const void *bytes, size_t size)
{
    if (size != 0 && write(user, bytes, size) != 0)
        return prt_fail(POPRT_E_IO, NULL, "the write function refused the data");
    return POPRT_OK;
}

enum { NOT_UTF8 = -1 };

/* Returns the next code point, or NOT_UTF8. */
static int32_t next_code(const char *text, size_t size, size_t *at)
{
    static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* of a sequence of n bytes */
    const unsigned char *p = (const unsigned char *)text + *at;
    const size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n == 0 || n > size - *at || p[0] >= 0xf8)
        return NOT_UTF8;
    int32_t code = n == 1 ? p[0] : p[0] & (0x7f >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return NOT_UTF8;
        code = code << 6 | (p[i] & 0x3f);
    }
    *at += n;
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[n] || is_surrogate || code > 0x10ffff ? NOT_UTF8 : code;
}

/* How a file has strings: as code points ('U'), or as bytes ('S') if one of them is not UTF-8. The
 * width is the length of the longest, at least 1, since numpy has no strings of length 0. */
typedef struct string_form {
    bool bytes;
    size_t width;
} string_form;

static string_form form_of(const prt_tensor *t)
{
    const poprt_string *strings = t->data;
    const size_t count = prt_tensor_count(t);
    string_form form = { .width = 1 };
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        for (size_t at = 0; at < strings[i].size && !form.bytes; n++)
            form.bytes = next_code(strings[i].data, strings[i].size, &at) == NOT_UTF8;
        form.width = n > form.width ? n : form.width;
        bytes = strings[i].size > bytes ? strings[i].size : bytes;
    }
    if (form.bytes)
        form.width = bytes;
    return form;
}

static void describe(const prt_tensor *t, char *to, size_t size)
{
    const prt_dtype_info *info = prt_dtype_of(t->dtype);
    const uint32_t bytes = info->bits < 8 ? 1 : info->bits / 8;
    char kind = 'V';
    string_form form;
    switch (info->kind) {
    case PRT_KIND_bool:
        kind = 'b';
        break;
    case PRT_KIND_int:
        kind = 'i';
        break;
    case PRT_KIND_uint:
        kind = 'u';
        break;
    case PRT_KIND_complex:
        kind = 'c';
        break;
    case PRT_KIND_float:
        if (t->dtype == PRT_DTYPE_f16 || t->dtype == PRT_DTYPE_f32 || t->dtype == PRT_DTYPE_f64)
            kind = 'f';
        break;
    default:
        form = form_of(t);
        (void)snprintf(to, size, "%s%zu", form.bytes ? "|S" : "<U", form.width);
        return;
    }
    (void)snprintf(to, size, "%c%c%u", bytes == 1 ? '|' : '<', kind, bytes);
}

static poprt_status put_header(const prt_tensor *t, poprt_write_fn write, void *user)
{
    char descr[32], text[MAX_HEADER];
    describe(t, descr, sizeof(descr));
    int n = snprintf(text + PREFIX, sizeof(text) - PREFIX,
        "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    size_t used = PREFIX + (size_t)n;
    for (uint32_t i = 0; i < t->rank; i++) {
        n = snprintf(text + used, sizeof(text) - used, "%lld,%s", (long long)t->dims[i],
            i + 1 < t->rank ? " " : "");
        used += (size_t)n;
    }
    n = snprintf(text + used, sizeof(text) - used, "), }");
    used += (size_t)n;
    const size_t whole = prt_size_align(used + 1, HEADER_ALIGN);
    memset(text + used, ' ', whole - used);
    text[whole - 1] = '\n';
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    text[8] = (char)((whole - PREFIX) & 0xff);
    text[9] = (char)((whole - PREFIX) >> 8);
    return write_bytes(write, user, text, whole);
}

static poprt_status put_strings(prt_arena *arena, const prt_tensor *t, poprt_write_fn write,
    void *user)
{
    const poprt_string *strings = t->data;
    const size_t count = prt_tensor_count(t);
    const string_form form = form_of(t);
    for (size_t i = 0; i < count; i++) {
        int32_t *codes = PRT_NEW_N(arena, int32_t, form.width);
        if (codes == NULL)
            return POPRT_E_NOMEM;
        if (form.bytes) {
            if (strings[i].size != 0)
                memcpy(codes, strings[i].data, strings[i].size);
            PRT_TRY(write_bytes(write, user, codes, form.width));
            continue;
        }
        for (size_t at = 0, n = 0; at < strings[i].size; n++)
            codes[n] = next_code(strings[i].data, strings[i].size, &at);
        PRT_TRY(write_bytes(write, user, codes, form.width * sizeof(*codes)));
    }
    return POPRT_OK;
}

/* Writes types below 8 bits as one byte an element, sign-extended if signed. */
static poprt_status write_packed(const prt_tensor *t, poprt_write_fn write, void *user)
{
    const prt_dtype_info *info = prt_dtype_of(t->dtype);
    const size_t count = prt_tensor_count(t);
    unsigned char chunk[CHUNK];
    for (size_t start = 0; start < count; start += CHUNK) {
        const size_t n = count - start < CHUNK ? count - start : CHUNK;
        for (size_t i = 0; i < n; i++) {
            uint32_t value = prt_packed_load(info->bits, t->data, start + i);
            if (info->kind == PRT_KIND_int && value >> (info->bits - 1) != 0)
                value |= ~((1u << info->bits) - 1);
            chunk[i] = (unsigned char)value;
        }
        PRT_TRY(write_bytes(write, user, chunk, n));
    }
    return POPRT_OK;
}

poprt_status prt_npy_write(prt_arena *arena, const prt_tensor *tensor, poprt_write_fn write,
    void *user)
{
    const uint32_t bits = prt_dtype_bits(tensor->dtype);
    if (tensor->kind != PRT_VALUE_TENSOR || bits == 0)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "only tensors can be written as .npy");
    PRT_TRY(put_header(tensor, write, user));
    if (tensor->dtype == PRT_DTYPE_string)
        return put_strings(arena, tensor, write, user);
    if (bits < 8)
        return write_packed(tensor, write, user);
    return write_bytes(write, user, tensor->data, tensor->size);
}
