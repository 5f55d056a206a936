/* SPDX-License-Identifier: MIT */
/*
 * npy_read.c — reads .npy files: magic, version, the header (a Python dict with three known keys)
 * and data. Everything is checked against the size of the file before it is used.
 */
#include "data/npy.h"

#include "num/dtype.h"

enum { MAX_HEADER = 1 << 20, MAX_DESCR = 32, MAX_ITEM = 1 << 20 };

/* The unread part of the header. */
typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct header {
    char descr[MAX_DESCR];
    bool has_descr, has_order, has_shape, fortran;
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
} header;

/* The meaning of `descr`. */
typedef struct layout {
    int32_t dtype;
    size_t item;  /* bytes of an element in the file */
    char kind;    /* numpy's kind letter; 0 for a type given by name */
    bool swapped; /* the file is big-endian */
} layout;

static poprt_status fail(const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "not a usable .npy file: %s", what);
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool accept(cursor *c, char ch)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != ch)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    const size_t n = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* Reads a quoted string without escapes. */
static bool read_text(cursor *c, char *to, size_t size)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char quote = *c->at++;
    size_t n = 0;
    while (c->at < c->end && *c->at != quote) {
        if (*c->at == '\\' || n + 1 >= size)
            return false;
        to[n++] = *c->at++;
    }
    to[n] = '\0';
    return accept(c, quote);
}

static bool take_number(cursor *c, int64_t *out)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return false;
    int64_t value = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        if (!prt_i64_mul(value, 10, &value) || !prt_i64_add(value, *c->at - '0', &value))
            return false;
        c->at++;
    }
    if (c->at < c->end && *c->at == 'L')
        c->at++;
    *out = value;
    return true;
}

static poprt_status take_shape(cursor *c, header *h)
{
    if (!accept(c, '('))
        return fail("the shape is not a tuple");
    while (!accept(c, ')')) {
        if (h->rank == PRT_MAX_RANK)
            return prt_fail(POPRT_E_LIMIT, NULL, "the array has more than %d dimensions",
                PRT_MAX_RANK);
        if (!take_number(c, &h->dims[h->rank++]))
            return fail("a dimension is not a number");
        if (!accept(c, ',')) {
            if (!accept(c, ')'))
                return fail("the shape does not end");
            break;
        }
    }
    h->has_shape = true;
    return POPRT_OK;
}

static poprt_status take_entry(cursor *c, header *h)
{
    char key[MAX_DESCR];
    if (!read_text(c, key, sizeof(key)) || !accept(c, ':'))
        return fail("the header is not a dict of strings");
    if (strcmp(key, "descr") == 0) {
        if (!read_text(c, h->descr, sizeof(h->descr)))
            return prt_fail(POPRT_E_UNSUPPORTED, NULL, "arrays of structures cannot be read");
        h->has_descr = true;
        return POPRT_OK;
    }
    if (strcmp(key, "shape") == 0 && !h->has_shape)
        return take_shape(c, h);
    if (strcmp(key, "fortran_order") != 0)
        return fail("the header has an unknown key");
    h->fortran = take_word(c, "True");
    if (!h->fortran && !take_word(c, "False"))
        return fail("fortran_order is neither True nor False");
    h->has_order = true;
    return POPRT_OK;
}

static poprt_status parse_header(cursor c, header *h)
{
    if (!accept(&c, '{'))
        return fail("the header is not a dict");
    while (!accept(&c, '}')) {
        PRT_TRY(take_entry(&c, h));
        if (!accept(&c, ',')) {
            if (!accept(&c, '}'))
                return fail("the header does not end");
            break;
        }
    }
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return fail("descr, fortran_order or shape is missing");
    return POPRT_OK;
}

/* Returns the type for numpy's kind letter and element size. */
static int32_t dtype_of_kind(char kind, size_t item)
{
    static const struct {
        char kind;
        uint8_t item;
        int32_t dtype;
    } rows[] = { { 'f', 2, PRT_DTYPE_f16 }, { 'f', 4, PRT_DTYPE_f32 }, { 'f', 8, PRT_DTYPE_f64 },
        { 'i', 1, PRT_DTYPE_i8 }, { 'i', 2, PRT_DTYPE_i16 }, { 'i', 4, PRT_DTYPE_i32 },
        { 'i', 8, PRT_DTYPE_i64 }, { 'u', 1, PRT_DTYPE_u8 }, { 'u', 2, PRT_DTYPE_u16 },
        { 'u', 4, PRT_DTYPE_u32 }, { 'u', 8, PRT_DTYPE_u64 }, { 'b', 1, PRT_DTYPE_bool },
        { 'c', 8, PRT_DTYPE_c64 }, { 'c', 16, PRT_DTYPE_c128 } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        if (rows[i].kind == kind && rows[i].item == item)
            return rows[i].dtype;
    return PRT_DTYPE_undefined;
}

/* Returns the bytes of an element in a file; types below 8 bits take one byte. */
static size_t item_of_dtype(int32_t dtype)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    return bits < 8 ? 1 : bits / 8;
}

static bool is_packed(int32_t dtype)
{
    return prt_dtype_bits(dtype) != 0 && prt_dtype_bits(dtype) < 8;
}

static poprt_status parse_item(const char *text, layout *l)
{
    size_t item = 0;
    if (*text == '\0')
        return fail("the element type has no size");
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || item > MAX_ITEM)
            return fail("the element type has no usable size");
        item = item * 10 + (size_t)(*text - '0');
    }
    l->item = l->kind == 'U' ? item * 4 : item;
    return POPRT_OK;
}

static poprt_status parse_descr(const char *descr, int32_t want, layout *l)
{
    const int32_t named = prt_dtype_by_name(descr);
    if (named != PRT_DTYPE_undefined && named != PRT_DTYPE_string) {
        *l = (layout){ .dtype = named, .item = item_of_dtype(named) };
        return POPRT_OK;
    }
    const char *at = descr;
    const char order = strchr("<>|=", *at) != NULL && *at != '\0' ? *at++ : '=';
    *l = (layout){ .kind = *at, .swapped = order == '>' };
    if (*at == 'O')
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "arrays of Python objects cannot be read: save them as strings or numbers");
    PRT_TRY(*at != '\0' ? parse_item(at + 1, l) : fail("the element type is empty"));
    l->dtype = dtype_of_kind(l->kind, l->item);
    if (l->kind == 'S' || l->kind == 'U')
        l->dtype = PRT_DTYPE_string;
    /* Raw bytes, and single bytes for packed types, get the type that the caller expects. */
    const bool raw = l->kind == 'V' && want != PRT_DTYPE_undefined && want != PRT_DTYPE_string;
    const bool unpacked = is_packed(want) && (l->kind == 'i' || l->kind == 'u');
    if ((raw || unpacked) && l->item == item_of_dtype(want))
        l->dtype = want;
    if (l->dtype == PRT_DTYPE_undefined)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "elements of type '%s' cannot be read%s", descr,
            l->kind == 'V' ? " without an expected element type" : "");
    return POPRT_OK;
}

/* Returns the position in a column-major file of the element at row-major position `index`. */
static size_t fortran_index(const header *h, size_t index)
{
    size_t at = 0, coordinates[PRT_MAX_RANK] = { 0 };
    for (uint32_t i = h->rank; i-- > 0;) {
        coordinates[i] = index % (size_t)h->dims[i];
        index /= (size_t)h->dims[i];
    }
    for (uint32_t i = h->rank; i-- > 0;)
        at = at * (size_t)h->dims[i] + coordinates[i];
    return at;
}

/* Writes a code point as UTF-8; returns the bytes written, 0 for an invalid code point. */
static size_t put_utf8(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code >= 0xd800 && code < 0xe000)
        return 0;
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    if (code >= 0x110000)
        return 0;
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Reads a string, padded at its end with zero bytes (S) or zero code points (U). */
static poprt_status read_string(prt_arena *arena, const layout *l, const unsigned char *from,
    poprt_string *out)
{
    size_t size = l->item;
    if (l->kind == 'S') {
        while (size > 0 && from[size - 1] == 0)
            size--;
        *out =
            (poprt_string){ .data = prt_arena_text(arena, (const char *)from, size), .size = size };
        return out->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    size_t count = size / 4, used = 0;
    char *text = prt_arena_alloc(arena, size + 1);
    if (text == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t code;
        memcpy(&code, from + 4 * i, 4);
        if (l->swapped)
            code = __builtin_bswap32(code);
        if (code == 0)
            break;
        const size_t n = put_utf8(code, text + used);
        if (n == 0)
            return fail("a string has an invalid code point");
        used += n;
    }
    *out = (poprt_string){ .data = text, .size = used };
    return POPRT_OK;
}

/* Copies an element and reverses its bytes; a complex one part by part. */
static void copy_item(const layout *l, const unsigned char *from, unsigned char *to)
{
    if (!l->swapped) {
        memcpy(to, from, l->item);
        return;
    }
    const size_t part = l->kind == 'c' ? l->item / 2 : l->item;
    for (size_t start = 0; start < l->item; start += part)
        for (size_t i = 0; i < part; i++)
            to[start + i] = from[start + part - 1 - i];
}

static poprt_status copy_elements(prt_arena *arena, const header *h, const layout *l,
    const unsigned char *from, prt_tensor *out)
{
    const size_t count = prt_tensor_count(out);
    unsigned char *to = prt_arena_alloc(arena, out->size);
    if (to == NULL)
        return POPRT_E_NOMEM;
    out->data = to;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *item = from + (h->fortran ? fortran_index(h, i) : i) * l->item;
        if (l->dtype == PRT_DTYPE_string) {
            poprt_string *strings = out->data;
            PRT_TRY(read_string(arena, l, item, &strings[i]));
        } else if (is_packed(l->dtype)) {
            prt_packed_store(prt_dtype_bits(l->dtype), to, i, *item);
        } else {
            copy_item(l, item, to + i * l->item);
        }
    }
    return POPRT_OK;
}

static poprt_status read_data(prt_arena *arena, const unsigned char *from, size_t there,
    const header *h, const layout *l, prt_tensor *out)
{
    if (!prt_tensor_init(out, l->dtype, h->rank, h->dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "the array is too large");
    size_t size = 0;
    if (l->item == 0 && prt_tensor_count(out) != 0)
        return fail("the elements have size 0");
    if (!prt_size_mul(prt_tensor_count(out), l->item, &size) || size != there)
        return prt_fail(POPRT_E_PARSE, NULL,
            "the header states %zu bytes of data, the file has %zu", size, there);
    const bool same = l->dtype != PRT_DTYPE_string && !is_packed(l->dtype) && !l->swapped &&
        (!h->fortran || h->rank < 2);
    const size_t align = l->item < 8 ? l->item : 8;
    if (!same || (uintptr_t)from % align != 0)
        return copy_elements(arena, h, l, from, out);
    out->data = (void *)(uintptr_t)from;
    return POPRT_OK;
}

poprt_status prt_npy_elements(prt_arena *arena, const char *descr, bool fortran, uint32_t rank,
    const int64_t *dims, const unsigned char *bytes, size_t size, prt_tensor *out)
{
    header h = { .fortran = fortran, .rank = rank };
    layout l = { 0 };
    if (rank != 0)
        memcpy(h.dims, dims, rank * sizeof(int64_t));
    PRT_TRY(parse_descr(descr, PRT_DTYPE_undefined, &l));
    return read_data(arena, bytes, size, &h, &l, out);
}

poprt_status prt_npy_read(prt_arena *arena, const prt_blob *bytes, int32_t want, prt_tensor *out)
{
    const unsigned char *p = bytes->data;
    if (bytes->size < 12 || memcmp(p, "\x93NUMPY", 6) != 0)
        return fail("the file does not begin with the magic of .npy");
    const bool is_short = p[6] == 1;
    if (p[6] < 1 || p[6] > 3)
        return prt_fail(POPRT_E_VERSION, NULL, "version %u of the .npy format is not known", p[6]);
    const size_t start = is_short ? 10 : 12;
    size_t size = (size_t)p[8] | (size_t)p[9] << 8;
    if (!is_short)
        size |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (size > MAX_HEADER || size > bytes->size - start)
        return fail("the header is longer than the file");
    header h = { 0 };
    const char *text = (const char *)p + start;
    PRT_TRY(parse_header((cursor){ .at = text, .end = text + size }, &h));
    layout l = { 0 };
    PRT_TRY(parse_descr(h.descr, want, &l));
    prt_tensor tensor;
    PRT_TRY(read_data(arena, p + start + size, bytes->size - start - size, &h, &l, &tensor));
    *out = tensor;
    return POPRT_OK;
}
