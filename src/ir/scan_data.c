/* SPDX-License-Identifier: MIT */
/*
 * scan_data.c — contents of constants and values of attributes as text.
 *
 *     data      = "{" [ element { "," element } ] "}" | "zeros" | "ones" | "fill" element
 *     element   = number | "true" | "false" | "inf" | "nan" | "0x" bits | "(" re "," im ")" | name
 *     attribute = number | name | "[" … "]" | type data | type
 *
 * "{... hash}" stands for contents that were too long to print; it cannot be read back.
 */
#include "ir/scan.h"

#include <stdio.h>

#include "op/words.h"

enum { MAX_BYTES = 256 << 20 }; /* largest size of one constant in text, in bytes */

/* Destination of the elements: numbers go directly to `data`; strings are collected first and laid
 * out at the end. */
typedef struct filler {
    const prt_type *type;
    void *data;
    size_t count;
    poprt_string *strings;
} filler;

static poprt_status scan_number(prt_scan *s, int32_t dtype, void *data, size_t index)
{
    const size_t before = s->at;
    const prt_str text = prt_scan_number(s);
    if (prt_text_to_element(dtype, text, data, index))
        return POPRT_OK;
    s->at = before;
    return prt_scan_fail(s, POPRT_E_PARSE, "'%.*s' is not a value of type %s", PRT_STR_ARG(text),
        prt_dtype_id(dtype));
}

static poprt_status scan_element(prt_scan *s, const filler *f, size_t index)
{
    const int32_t dtype = f->type->dtype;
    const uint8_t kind = prt_dtype_of(dtype)->kind;
    if (kind == PRT_KIND_string) {
        prt_str text;
        PRT_TRY(prt_scan_name(s, &text));
        f->strings[index] = (poprt_string){ text.data, text.size };
        return POPRT_OK;
    }
    if (kind == PRT_KIND_complex) {
        const int32_t half = dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
        PRT_TRY(prt_scan_expect(s, '('));
        PRT_TRY(scan_number(s, half, f->data, index * 2));
        PRT_TRY(prt_scan_expect(s, ','));
        PRT_TRY(scan_number(s, half, f->data, index * 2 + 1));
        return prt_scan_expect(s, ')');
    }
    return scan_number(s, dtype, f->data, index);
}

static poprt_status scan_list(prt_scan *s, const filler *f)
{
    size_t n = 0;
    prt_scan_space(s, true);
    if (s->size - s->at >= 3 && memcmp(s->text + s->at, "...", 3) == 0)
        return prt_scan_fail(s, POPRT_E_UNSUPPORTED,
            "contents were left out when this was printed, and cannot be read back");
    while (!prt_scan_accept(s, '}')) {
        if (n != 0)
            PRT_TRY(prt_scan_expect(s, ','));
        prt_scan_space(s, true);
        if (n == f->count)
            return prt_scan_fail(s, POPRT_E_PARSE, "more than %zu elements", f->count);
        PRT_TRY(scan_element(s, f, n++));
        prt_scan_space(s, true);
    }
    if (n != f->count)
        return prt_scan_fail(s, POPRT_E_PARSE, "%zu elements where %zu are needed", n, f->count);
    return POPRT_OK;
}

static poprt_status scan_fill(prt_scan *s, const filler *f)
{
    const int32_t dtype = f->type->dtype;
    if (prt_scan_accept_word(s, "zeros"))
        return POPRT_OK;
    const bool ones = prt_scan_accept_word(s, "ones");
    const uint8_t kind = prt_dtype_of(dtype)->kind;
    if (!ones && !prt_scan_accept_word(s, "fill"))
        return prt_scan_fail(s, POPRT_E_PARSE, "expected '{', zeros, ones or fill");
    if (kind == PRT_KIND_string || kind == PRT_KIND_complex)
        return prt_scan_fail(s, POPRT_E_UNSUPPORTED, "this element type must be listed");
    unsigned char one[16] = { 0 };
    if (!ones)
        PRT_TRY(scan_number(s, dtype, one, 0));
    else if (!prt_text_to_element(dtype, PRT_STR("1"), one, 0))
        return prt_scan_fail(s, POPRT_E_PARSE, "type %s has no 1", prt_dtype_id(dtype));
    for (size_t i = 0; i < f->count; i++)
        prt_element_copy(dtype, f->data, i, one, 0, 1);
    return POPRT_OK;
}

/* Makes a blob of poprt_string elements followed by their characters. */
static poprt_status write_strings(prt_scan *s, const filler *f, prt_blob **out)
{
    size_t size = f->count * sizeof(poprt_string);
    for (size_t i = 0; i < f->count; i++)
        size += f->strings[i].size + 1;
    PRT_TRY(prt_blob_create(s->module->allocator, size, out));
    unsigned char *bytes = prt_blob_bytes(*out);
    size_t at = f->count * sizeof(poprt_string);
    for (size_t i = 0; i < f->count; i++) {
        const poprt_string moved = { (const char *)bytes + at, f->strings[i].size };
        if (moved.size != 0)
            memcpy(bytes + at, f->strings[i].data, moved.size);
        memcpy(bytes + i * sizeof(poprt_string), &moved, sizeof(moved));
        at += moved.size + 1;
    }
    return POPRT_OK;
}

poprt_status prt_scan_data(prt_scan *s, const prt_type *type, prt_blob **out)
{
    size_t size;
    uint64_t count;
    if (!prt_type_count(type, &count) || !prt_type_size(type, &size))
        return prt_scan_fail(s, POPRT_E_PARSE, "contents need a type with numbers for dimensions");
    if (size > MAX_BYTES)
        return prt_scan_fail(s, POPRT_E_LIMIT, "%zu bytes are too many for a constant in text",
            size);
    filler f = { .type = type, .count = (size_t)count };
    prt_blob *blob = NULL;
    if (type->dtype == PRT_DTYPE_string) {
        f.strings = PRT_NEW_N(s->arena, poprt_string, f.count);
        if (f.strings == NULL)
            return POPRT_E_NOMEM;
    } else {
        PRT_TRY(prt_blob_create(s->module->allocator, size, &blob));
        f.data = prt_blob_bytes(blob);
    }
    poprt_status status = prt_scan_accept(s, '{') ? scan_list(s, &f) : scan_fill(s, &f);
    if (status == POPRT_OK && f.strings != NULL)
        status = write_strings(s, &f, &blob);
    if (status != POPRT_OK) {
        prt_blob_release(blob);
        return status;
    }
    *out = blob;
    return POPRT_OK;
}

/* ---- attributes */

/* Reads "[a, b]" into the module's arena: elements of `size` bytes, each read by `item`. */
static poprt_status scan_array(prt_scan *s, size_t size, const void **data, uint32_t *count,
    poprt_status (*item)(prt_scan *s, void *to))
{
    char *items = NULL;
    uint32_t n = 0, capacity = 0;
    PRT_TRY(prt_scan_expect(s, '['));
    while (!prt_scan_accept(s, ']')) {
        if (n != 0)
            PRT_TRY(prt_scan_expect(s, ','));
        if (n == capacity) {
            capacity = capacity != 0 ? capacity * 2 : 8;
            char *grown = prt_arena_alloc_n(s->module->arena, capacity, size);
            if (grown == NULL)
                return POPRT_E_NOMEM;
            if (n != 0)
                memcpy(grown, items, n * size);
            items = grown;
        }
        PRT_TRY(item(s, items + n * size));
        n++;
    }
    *data = items;
    *count = n;
    return POPRT_OK;
}

static poprt_status item_i64(prt_scan *s, void *to)
{
    return scan_number(s, PRT_DTYPE_i64, to, 0);
}

static poprt_status item_f32(prt_scan *s, void *to)
{
    return scan_number(s, PRT_DTYPE_f32, to, 0);
}

static poprt_status item_str(prt_scan *s, void *to)
{
    prt_str text;
    PRT_TRY(prt_scan_name(s, &text));
    text = prt_module_str(s->module, text);
    *(prt_str *)to = text;
    return text.data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status scan_tensor_attr(prt_scan *s, const prt_tensor **out)
{
    const prt_type *type;
    prt_blob *blob;
    PRT_TRY(prt_scan_type(s, &type));
    PRT_TRY(prt_scan_data(s, type, &blob));
    PRT_TRY(prt_module_keep(s->module, blob));
    prt_tensor *t = PRT_NEW(s->module->arena, prt_tensor);
    if (t == NULL)
        return POPRT_E_NOMEM;
    if (!prt_tensor_init(t, type->dtype, (uint32_t)type->rank, type->dims, prt_blob_bytes(blob)))
        return prt_scan_fail(s, POPRT_E_LIMIT, "tensor is too large");
    *out = t;
    return POPRT_OK;
}

static poprt_status scan_word(prt_scan *s, const prt_attr_def *row, void *field)
{
    prt_str word;
    char accepted[160];
    size_t n = 0;
    uint32_t count;
    const prt_str *words = prt_attr_words(row->kind, &count);
    PRT_TRY(prt_scan_name(s, &word));
    if (prt_attr_set_word(row->kind, word, field))
        return POPRT_OK;
    for (uint32_t i = 0; i < count && n < sizeof(accepted); i++)
        n += (size_t)snprintf(accepted + n, sizeof(accepted) - n, "%s'%s'", i != 0 ? ", " : "",
            words[i].data);
    return prt_scan_fail(s, POPRT_E_ARG, "%s is '%.*s'; accepted: %s", prt_attr_name(row),
        word.size < 100 ? (int)word.size : 100, word.data, accepted);
}

poprt_status prt_scan_attr(prt_scan *s, prt_op *op, uint32_t index)
{
    const prt_attr_def *row = &op->def->attrs[index];
    char *field = (char *)op->attrs + row->offset;
    *(uint64_t *)op->attrs |= (uint64_t)1 << index;
    switch (row->kind) {
    case PRT_ATTR_i64:
        return item_i64(s, field);
    case PRT_ATTR_f32:
        return item_f32(s, field);
    case PRT_ATTR_str:
        return item_str(s, field);
    case PRT_ATTR_act:
    case PRT_ATTR_form:
    case PRT_ATTR_products:
        return scan_word(s, row, field);
    case PRT_ATTR_i64s: {
        prt_i64s *list = (prt_i64s *)(void *)field;
        return scan_array(s, sizeof(int64_t), (const void **)&list->data, &list->count, item_i64);
    }
    case PRT_ATTR_f32s: {
        prt_f32s *list = (prt_f32s *)(void *)field;
        return scan_array(s, sizeof(float), (const void **)&list->data, &list->count, item_f32);
    }
    case PRT_ATTR_strs: {
        prt_strs *list = (prt_strs *)(void *)field;
        return scan_array(s, sizeof(prt_str), (const void **)&list->data, &list->count, item_str);
    }
    case PRT_ATTR_tensor:
        return scan_tensor_attr(s, (const prt_tensor **)(void *)field);
    case PRT_ATTR_type:
        return prt_scan_type(s, (const prt_type **)(void *)field);
    default:
        return prt_scan_fail(s, POPRT_E_PARSE, "attribute %s is a graph", prt_attr_name(row));
    }
}
