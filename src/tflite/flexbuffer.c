/* SPDX-License-Identifier: MIT */
/* flexbuffer.c — reads maps and vectors of FlexBuffers. */
#include "tflite/flexbuffer.h"

#include "base/status.h"

/* The types of FlexBuffers that are read. */
enum {
    INT = 1,
    UINT,
    FLOAT,
    KEY,
    STRING,
    INDIRECT_INT,
    INDIRECT_UINT,
    INDIRECT_FLOAT,
    MAP,
    VECTOR,
    BLOB = 25,
    BOOL = 26
};

static poprt_status fail_at(size_t at, const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "custom options, byte %zu: %s", at, what);
}

/* Returns whether `size` bytes at `at` lie in the buffer. */
static bool inside(const prt_flex *f, size_t at, size_t size)
{
    return at <= f->size && f->size - at >= size;
}

/* Reads an unsigned number of 1, 2, 4 or 8 bytes that lies in the buffer. */
static uint64_t load(const prt_flex *f, size_t at, uint32_t width)
{
    uint64_t value = 0;
    memcpy(&value, f->data + at, width);
    return value;
}

static int64_t load_signed(const prt_flex *f, size_t at, uint32_t width)
{
    const uint32_t shift = 64 - 8 * width;
    return (int64_t)(load(f, at, width) << shift) >> shift;
}

/* Floats have 4 or 8 bytes. */
static bool load_float(const prt_flex *f, size_t at, uint32_t width, double *out)
{
    float single;
    if (width == sizeof(single)) {
        memcpy(&single, f->data + at, sizeof(single));
        *out = (double)single;
        return true;
    }
    if (width == sizeof(*out))
        memcpy(out, f->data + at, sizeof(*out));
    return width == sizeof(*out);
}

/* Follows the offset at `at`, which points backwards. */
static bool follow(const prt_flex *f, size_t at, uint32_t width, size_t *out)
{
    const uint64_t offset = load(f, at, width);
    *out = at - (size_t)offset;
    return offset != 0 && offset <= at;
}

/* Opens the map or vector whose items begin at `at`; its count lies before them, and before that,
 * for a map, the offset of the vector of keys and the width of a key. */
static poprt_status open_items(prt_flex *f, size_t at, bool map)
{
    if (at < (map ? 3 : 1) * (size_t)f->width)
        return fail_at(at, "a map or vector begins before the buffer");
    const uint64_t count = load(f, at - f->width, f->width);
    /* An item and the byte of its type. */
    if (count > (f->size - at) / (f->width + 1))
        return fail_at(at, "a map or vector exceeds the buffer");
    f->items = at;
    f->count = (size_t)count;
    if (!map)
        return POPRT_OK;
    const uint64_t width = load(f, at - 2 * (size_t)f->width, f->width);
    if ((width != 1 && width != 2 && width != 4 && width != 8) ||
        !follow(f, at - 3 * (size_t)f->width, f->width, &f->keys) || f->keys == 0 ||
        count > (f->size - f->keys) / width)
        return fail_at(at, "the keys of a map exceed the buffer");
    f->key_width = (uint32_t)width;
    return POPRT_OK;
}

poprt_status prt_flex_open(const void *data, size_t size, prt_flex *out)
{
    prt_flex f = { .data = data, .size = size };
    size_t at;
    if (size < 3)
        return fail_at(0, "has fewer than 3 bytes");
    const uint32_t width = f.data[size - 1], packed = f.data[size - 2];
    if ((width != 1 && width != 2 && width != 4 && width != 8) || size - 2 < width)
        return fail_at(size - 1, "the root has no valid width");
    if (packed >> 2 != MAP && packed >> 2 != VECTOR)
        return fail_at(size - 2, "the root is neither a map nor a vector");
    if (!follow(&f, size - 2 - width, width, &at))
        return fail_at(size - 2 - width, "the root points outside of the buffer");
    f.width = 1u << (packed & 3);
    PRT_TRY(open_items(&f, at, packed >> 2 == MAP));
    *out = f;
    return POPRT_OK;
}

/* Reads the text at `at`: a key ends in a zero byte; others have their size before them. */
static bool read_text(const prt_flex *f, size_t at, uint32_t width, bool key, prt_str *out)
{
    uint64_t size;
    if (key) {
        const void *end = memchr(f->data + at, 0, f->size - at);
        size = end != NULL ? (uint64_t)((const unsigned char *)end - (f->data + at)) : UINT64_MAX;
    } else {
        size = at >= width ? load(f, at - width, width) : UINT64_MAX;
    }
    if (size > UINT32_MAX || !inside(f, at, (size_t)size))
        return false;
    *out = (prt_str){ (const char *)f->data + at, (uint32_t)size };
    return true;
}

/* Reads a number of a type without INDIRECT_ at `at`. */
static bool read_number(const prt_flex *f, uint32_t type, size_t at, uint32_t width,
    prt_flex_value *out)
{
    if (!inside(f, at, width))
        return false;
    if (type == FLOAT) {
        out->kind = PRT_FLEX_float;
        return load_float(f, at, width, &out->f);
    }
    const uint64_t plain = load(f, at, width);
    out->kind = type == BOOL ? PRT_FLEX_bool : PRT_FLEX_int;
    out->i = type == INT ? load_signed(f, at, width)
        : type == BOOL   ? plain != 0
                         : (int64_t)(plain < INT64_MAX ? plain : INT64_MAX);
    out->f = (double)out->i;
    return true;
}

poprt_status prt_flex_item(const prt_flex *f, size_t index, prt_flex_value *out)
{
    PRT_ASSERT(index < f->count);
    const size_t at = f->items + index * f->width;
    const uint32_t packed = f->data[f->items + f->count * f->width + index];
    const uint32_t type = packed >> 2, width = 1u << (packed & 3);
    prt_flex_value v = { .kind = PRT_FLEX_other };
    size_t to = 0;
    bool good = true;
    if (type == INT || type == UINT || type == FLOAT || type == BOOL)
        good = read_number(f, type, at, f->width, &v);
    else if (type >= INDIRECT_INT && type <= INDIRECT_FLOAT)
        good = follow(f, at, f->width, &to) &&
            read_number(f, type - INDIRECT_INT + INT, to, width, &v);
    else if (type == KEY || type == STRING || type == BLOB) {
        v.kind = PRT_FLEX_text;
        good = follow(f, at, f->width, &to) && read_text(f, to, width, type == KEY, &v.s);
    }
    if (!good)
        return fail_at(at, "an item exceeds the buffer");
    *out = v;
    return POPRT_OK;
}

poprt_status prt_flex_find(const prt_flex *f, const char *key, prt_flex_value *out)
{
    const size_t size = strlen(key) + 1; /* with its zero byte */
    size_t at;
    for (size_t i = 0; f->keys != 0 && i < f->count; i++) {
        const size_t slot = f->keys + i * f->key_width;
        if (!follow(f, slot, f->key_width, &at))
            return fail_at(slot, "a key lies outside of the buffer");
        if (inside(f, at, size) && memcmp(f->data + at, key, size) == 0)
            return prt_flex_item(f, i, out);
    }
    *out = (prt_flex_value){ 0 };
    return POPRT_OK;
}
