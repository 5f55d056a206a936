/* SPDX-License-Identifier: MIT */
/*
 * onnx_tensor.c — decodes TensorProto to bytes.
 *
 * raw_data and external data have the layout of memory already (little-endian, like the machines
 * this library runs on), so they become views. Typed fields are decoded once.
 */
#include "converter/onnx_tensor.h"

#include "base/file.h"
#include "converter/onnx_raw.h"

void prt_onnx_source_close(prt_onnx_source *source)
{
    for (size_t i = 0; i < source->externals.capacity; i++)
        prt_blob_release(source->externals.entries[i].value);
    source->externals = prt_map_in(source->arena);
}

static bool parse_u64(prt_str text, uint64_t *out)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(c - '0'), &n))
            return false;
    }
    *out = n;
    return text.size != 0;
}

/* Reads location, offset and length; other keys do not affect the position of the bytes. */
static poprt_status read_external(prt_bytes bytes, uint32_t depth, prt_raw_tensor *t)
{
    prt_str key = PRT_STR(""), value = PRT_STR("");
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_StringStringEntry, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_StringStringEntry_key)
            key = prt_wire_text(&w, &f);
        else if (f.number == PRT_ONNX_StringStringEntry_value)
            value = prt_wire_text(&w, &f);
    }
    PRT_TRY(w.status);
    if (prt_str_is(key, "location"))
        t->location = value;
    else if (prt_str_is(key, "offset") && !parse_u64(value, &t->offset))
        return prt_fail(POPRT_E_PARSE, NULL, "offset of external data is not a number");
    else if (prt_str_is(key, "length")) {
        t->has_length = true;
        if (!parse_u64(value, &t->length))
            return prt_fail(POPRT_E_PARSE, NULL, "length of external data is not a number");
    }
    return POPRT_OK;
}

static poprt_status add_dims(prt_wire *w, prt_field *f, prt_raw_tensor *t)
{
    uint64_t word;
    while (prt_wire_item(w, f, &word)) {
        if (t->rank >= PRT_MAX_RANK)
            return prt_wire_fail(w, POPRT_E_LIMIT, "a tensor has more than 8 dimensions");
        if (word > INT64_MAX)
            return prt_wire_fail(w, POPRT_E_PARSE, "a tensor has a negative dimension");
        t->dims[t->rank++] = (int64_t)word;
    }
    return w->status;
}

/* Computes the numbers of elements and bytes from the dims. */
static poprt_status measure(prt_raw_tensor *t)
{
    const prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = t->dtype,
        .rank = (int32_t)t->rank,
        .dims = t->dims };
    uint64_t count;
    if (prt_dtype_bits(t->dtype) == 0)
        return prt_onnx_fail(POPRT_E_UNSUPPORTED, t->name,
            "tensor has element type %d, which is not supported", t->dtype);
    if (!prt_type_count(&type, &count) || !prt_dtype_size(t->dtype, count, &t->size) ||
        t->size > PTRDIFF_MAX)
        return prt_onnx_fail(POPRT_E_LIMIT, t->name, "the tensor's dims give too many bytes");
    t->count = (size_t)count;
    return POPRT_OK;
}

poprt_status prt_raw_tensor_open(prt_bytes bytes, uint32_t depth, prt_raw_tensor *out)
{
    *out = (prt_raw_tensor){ .name = PRT_STR(""),
        .bytes = bytes,
        .depth = depth,
        .location = PRT_STR("") };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Tensor, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Tensor_dims:
            PRT_TRY(add_dims(&w, &f, out));
            break;
        case PRT_ONNX_Tensor_data_type:
            out->dtype = (int32_t)f.word;
            break;
        case PRT_ONNX_Tensor_name:
            out->name = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Tensor_raw_data:
            out->has_raw = true;
            out->raw = f.bytes;
            break;
        case PRT_ONNX_Tensor_external_data:
            PRT_TRY(read_external(f.bytes, depth + 1, out));
            break;
        case PRT_ONNX_Tensor_data_location:
            out->external = f.word == 1;
            break;
        case PRT_ONNX_Tensor_segment:
            return prt_onnx_fail(POPRT_E_UNSUPPORTED, out->name,
                "tensor is stored in segments, which are not supported");
        default:
            break;
        }
    }
    PRT_TRY(w.status);
    return measure(out);
}

/* Returns the typed field that carries an element type, and the bytes of memory per entry. Types of
 * less than a byte are stored as whole bytes, except types of 6 bits, which have one element per
 * entry. Complex elements are two entries. */
static uint32_t typed_field(int32_t dtype, size_t *unit)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    *unit = bits < 8 ? 1 : bits / 8;
    switch (dtype) {
    case PRT_DTYPE_f32:
        return PRT_ONNX_Tensor_float_data;
    case PRT_DTYPE_c64:
        *unit = 4;
        return PRT_ONNX_Tensor_float_data;
    case PRT_DTYPE_f64:
        return PRT_ONNX_Tensor_double_data;
    case PRT_DTYPE_c128:
        *unit = 8;
        return PRT_ONNX_Tensor_double_data;
    case PRT_DTYPE_i64:
        return PRT_ONNX_Tensor_int64_data;
    case PRT_DTYPE_u32:
    case PRT_DTYPE_u64:
        return PRT_ONNX_Tensor_uint64_data;
    case PRT_DTYPE_string:
        return PRT_ONNX_Tensor_string_data;
    default:
        return PRT_ONNX_Tensor_int32_data;
    }
}

size_t prt_onnx_align(int32_t dtype)
{
    size_t unit;
    (void)typed_field(dtype, &unit);
    return dtype == PRT_DTYPE_string ? _Alignof(poprt_string) : unit;
}

static poprt_status wrong_size(const prt_raw_tensor *t)
{
    return prt_onnx_fail(POPRT_E_PARSE, t->name,
        "tensor does not hold the %zu bytes that its dims and type need", t->size);
}

static void put_word(unsigned char *to, size_t unit, uint64_t word)
{
    switch (unit) {
    case 1:
        *to = (unsigned char)word;
        break;
    case 2:
        memcpy(to, &(uint16_t){ (uint16_t)word }, 2);
        break;
    case 4:
        memcpy(to, &(uint32_t){ (uint32_t)word }, 4);
        break;
    default:
        memcpy(to, &word, 8);
        break;
    }
}

/* Copies packed floats, which have the layout of memory already. */
static bool copy_packed_floats(const prt_raw_tensor *t, const prt_field *f, unsigned char *to,
    size_t *at)
{
    if (f->wire != PRT_WIRE_BYTES ||
        (f->number != PRT_ONNX_Tensor_float_data && f->number != PRT_ONNX_Tensor_double_data))
        return false;
    if (f->bytes.size > t->size - *at)
        return false;
    if (f->bytes.size != 0)
        memcpy(to + *at, f->bytes.data, f->bytes.size);
    *at += f->bytes.size;
    return true;
}

/* Decodes elements of 6 bits, one per entry. */
static poprt_status decode_6_bits(const prt_raw_tensor *t, unsigned char *to)
{
    size_t at = 0;
    prt_wire w = prt_onnx_open(t->bytes, PRT_ONNX_Tensor, t->depth);
    prt_field f;
    uint64_t word;
    memset(to, 0, t->size);
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_ONNX_Tensor_int32_data)
            continue;
        while (prt_wire_item(&w, &f, &word)) {
            if (at == t->count)
                return wrong_size(t);
            prt_packed_store(6, to, at++, (uint32_t)word);
        }
    }
    PRT_TRY(w.status);
    return at == t->count ? POPRT_OK : wrong_size(t);
}

static poprt_status decode_numbers(const prt_raw_tensor *t, unsigned char *to)
{
    size_t unit, at = 0;
    const uint32_t field = typed_field(t->dtype, &unit);
    prt_wire w = prt_onnx_open(t->bytes, PRT_ONNX_Tensor, t->depth);
    prt_field f;
    uint64_t word;
    while (prt_wire_next(&w, &f)) {
        if (f.number != field || copy_packed_floats(t, &f, to, &at))
            continue;
        while (prt_wire_item(&w, &f, &word)) {
            if (t->size - at < unit)
                return wrong_size(t);
            put_word(to + at, unit, t->dtype == PRT_DTYPE_bool ? word != 0 : word);
            at += unit;
        }
    }
    PRT_TRY(w.status);
    return at == t->size ? POPRT_OK : wrong_size(t);
}

static poprt_status decode_strings(const prt_raw_tensor *t, poprt_string *to, char *chars)
{
    size_t at = 0;
    prt_wire w = prt_onnx_open(t->bytes, PRT_ONNX_Tensor, t->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_ONNX_Tensor_string_data)
            continue;
        if (at == t->count)
            return wrong_size(t);
        const char *data = (const char *)f.bytes.data;
        if (chars != NULL && f.bytes.size != 0) {
            data = memcpy(chars, data, f.bytes.size);
            chars += f.bytes.size;
        }
        to[at++] = (poprt_string){ data, f.bytes.size };
    }
    PRT_TRY(w.status);
    return at == t->count ? POPRT_OK : wrong_size(t);
}

poprt_status prt_raw_tensor_decode(const prt_raw_tensor *t, void *to, char *chars)
{
    if (t->dtype == PRT_DTYPE_string)
        return t->has_raw ? wrong_size(t) : decode_strings(t, to, chars);
    if (!t->has_raw)
        return prt_dtype_bits(t->dtype) == 6 ? decode_6_bits(t, to) : decode_numbers(t, to);
    if (t->raw.size != t->size)
        return wrong_size(t);
    if (t->size != 0)
        memcpy(to, t->raw.data, t->size);
    return POPRT_OK;
}

/* ---- blobs ---- */

static poprt_status make_owned(prt_onnx_source *s, prt_str name, size_t size, prt_blob **out)
{
    if (size > s->owned_limit - s->owned)
        return prt_onnx_fail(POPRT_E_LIMIT, name, "constants need more than %zu bytes of memory",
            s->owned_limit);
    PRT_TRY(prt_blob_create(s->allocator, size, out));
    s->owned += size;
    return POPRT_OK;
}

static poprt_status map_external(prt_onnx_source *s, const prt_raw_tensor *t, prt_blob **out)
{
    *out = prt_map_find(&s->externals, t->location);
    if (*out != NULL)
        return POPRT_OK;
    if (s->folder == NULL)
        return prt_onnx_fail(POPRT_E_UNSUPPORTED, t->name,
            "tensor is in an external file; a model from memory cannot have external files");
    if (memchr(t->location.data, 0, t->location.size) != NULL)
        return prt_onnx_fail(POPRT_E_PARSE, t->name, "location of external data is not a path");
    const char *path = prt_arena_text(s->arena, t->location.data, t->location.size);
    const char *subject = prt_arena_text(s->arena, t->name.data, t->name.size);
    if (path == NULL || subject == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_file_map_below(s->allocator, s->folder, s->owner, path, subject, out));
    const poprt_status status = prt_map_set(&s->externals, t->location, *out);
    if (status != POPRT_OK)
        prt_blob_release(*out);
    return status;
}

static poprt_status view_external(prt_onnx_source *s, const prt_raw_tensor *t, prt_blob **out)
{
    prt_blob *file = NULL;
    if (t->location.size == 0 || t->dtype == PRT_DTYPE_string)
        return prt_onnx_fail(POPRT_E_PARSE, t->name,
            "external data has no location, or consists of strings");
    if (t->has_length && t->length != t->size)
        return wrong_size(t);
    PRT_TRY(map_external(s, t, &file));
    if (t->size > file->size || t->offset > file->size - t->size)
        return prt_onnx_fail(POPRT_E_PARSE, t->name,
            "external data lies outside '%.*s' of %zu bytes", PRT_SHOW(t->location), file->size);
    return prt_blob_view(file, (size_t)t->offset, t->size, out);
}

/* Stores the characters after the array in one block, of which the view shows only the array. So a
 * string constant stays complete wherever its blob is kept. */
static poprt_status own_strings(prt_onnx_source *s, const prt_raw_tensor *t, prt_blob **out)
{
    size_t chars = 0, whole;
    prt_wire w = prt_onnx_open(t->bytes, PRT_ONNX_Tensor, t->depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_ONNX_Tensor_string_data)
            chars += f.bytes.size;
    if (!prt_size_add(t->size, chars, &whole) || t->count > t->bytes.size)
        return wrong_size(t);
    prt_blob *block = NULL;
    PRT_TRY(make_owned(s, t->name, whole, &block));
    unsigned char *to = prt_blob_bytes(block);
    poprt_status status = prt_raw_tensor_decode(t, to, (char *)to + t->size);
    if (status == POPRT_OK)
        status = prt_blob_view(block, 0, t->size, out);
    prt_blob_release(block);
    return status;
}

poprt_status prt_onnx_tensor_blob(prt_onnx_source *s, const prt_raw_tensor *t, prt_blob **out)
{
    if (t->external)
        return view_external(s, t, out);
    if (t->dtype == PRT_DTYPE_string)
        return own_strings(s, t, out);
    if (t->has_raw && t->raw.size != t->size)
        return wrong_size(t);
    const bool aligned = t->has_raw && (uintptr_t)t->raw.data % prt_onnx_align(t->dtype) == 0;
    if (t->has_raw && t->size != 0 && (aligned || t->size > s->copy_below))
        return prt_blob_view(s->file, (size_t)(t->raw.data - s->file->data), t->size, out);
    /* A typed entry takes at least one byte in the file and at most 8 in memory. */
    if (!t->has_raw && t->size / 8 > t->bytes.size)
        return wrong_size(t);
    prt_blob *blob = NULL;
    PRT_TRY(make_owned(s, t->name, t->size, &blob));
    const poprt_status status = prt_raw_tensor_decode(t, prt_blob_bytes(blob), NULL);
    if (status != POPRT_OK)
        prt_blob_release(blob);
    else
        *out = blob;
    return status;
}
