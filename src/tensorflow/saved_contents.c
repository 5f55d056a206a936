/* SPDX-License-Identifier: MIT */
/* saved_contents.c — reads the contents of variables and lookup tables. */
#include <stdio.h>

#include "base/file.h"
#include "tensorflow/saved_parts.h"

enum { WHOLE_LINE = -2, LINE_NUMBER = -1 };

poprt_status prt_saved_variable_read(prt_saved_model *m, const prt_saved_resource *variable,
    bool check, prt_tensor *out, prt_blob **blob)
{
    prt_bundle_tensor t;
    if (m->bundle == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, NULL, "the model has no checkpoint");
    PRT_TRY(prt_bundle_find(m->bundle, variable->key, &t));
    PRT_TRY(prt_bundle_read(m->bundle, &t, variable->part, check, blob));
    const int64_t *dims = variable->part != NULL ? variable->part->length : t.dims;
    if (prt_tensor_init(out, t.dtype, t.rank, dims, (void *)(uintptr_t)(*blob)->data))
        return POPRT_OK;
    prt_blob_release(*blob);
    return prt_fail(POPRT_E_LIMIT, NULL, "a variable is too large");
}

/* ---- tables of the checkpoint */

/* Reads a tensor into the arena. The characters of strings stay in a block that the arena outlives:
 * they are copied. */
static poprt_status read_entry(prt_saved_model *m, prt_str key, prt_tensor *out)
{
    const prt_saved_resource variable = { .key = key };
    prt_blob *blob;
    PRT_TRY(prt_saved_variable_read(m, &variable, true, out, &blob));
    out->data = prt_arena_copy(m->arena, blob->data, blob->size);
    poprt_string *strings = out->dtype == PRT_DTYPE_string ? out->data : NULL;
    bool copied = out->data != NULL;
    for (size_t i = 0; strings != NULL && copied && i < prt_tensor_count(out); i++) {
        strings[i].data = prt_arena_copy(m->arena, strings[i].data, strings[i].size);
        copied = strings[i].data != NULL;
    }
    prt_blob_release(blob);
    return copied ? POPRT_OK : POPRT_E_NOMEM;
}

/* ---- tables of text files */

typedef struct lines {
    const char *at, *end;
} lines;

/* Reads the next line, without its end. */
static bool next_line(lines *l, prt_str *line)
{
    if (l->at == l->end)
        return false;
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    const char *end = stop != NULL ? stop : l->end;
    *line = (prt_str){ l->at, (uint32_t)(end - l->at) };
    if (line->size != 0 && line->data[line->size - 1] == '\r')
        line->size--;
    l->at = stop != NULL ? stop + 1 : l->end;
    return true;
}

static bool find_column(prt_str line, char delimiter, int64_t index, prt_str *out)
{
    const char *at = line.data, *end = line.data + line.size;
    for (;; index--) {
        const char *stop = memchr(at, delimiter, (size_t)(end - at));
        *out = (prt_str){ at, (uint32_t)((stop != NULL ? stop : end) - at) };
        if (index == 0)
            return true;
        if (stop == NULL)
            return false;
        at = stop + 1;
    }
}

static bool parse_int(prt_str text, int64_t *out)
{
    const bool negative = text.size != 0 && text.data[0] == '-';
    *out = 0;
    for (uint32_t i = negative; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9' || !prt_i64_mul(*out, 10, out) ||
            !prt_i64_add(*out, negative ? '0' - text.data[i] : text.data[i] - '0', out))
            return false;
    return text.size > (uint32_t)negative;
}

/* Stores what a column of a line says as element `i`. */
static poprt_status put(prt_saved_model *m, const prt_saved_table *table, int64_t column,
    prt_str line, size_t i, prt_tensor *to)
{
    prt_str text = line;
    int64_t number = 0;
    if (column >= 0 && !find_column(line, table->delimiter, column, &text))
        return prt_fail(POPRT_E_PARSE, NULL, "line %zu has no column %lld", i + 1,
            (long long)column);
    if (to->dtype == PRT_DTYPE_string) {
        const char *kept = prt_arena_text(m->arena, text.data, text.size);
        ((poprt_string *)to->data)[i] = (poprt_string){ kept, text.size };
        return kept != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    if (column == LINE_NUMBER) {
        if (!prt_i64_add((int64_t)i, table->offset, &number))
            return prt_fail(POPRT_E_PARSE, NULL, "the offset of the table is too large");
    } else if (!parse_int(text, &number)) {
        return prt_fail(POPRT_E_PARSE, NULL, "line %zu has no integer", i + 1);
    }
    ((int64_t *)to->data)[i] = number;
    return POPRT_OK;
}

/* Prepares an array for a column of `count` lines. */
static poprt_status start_column(prt_saved_model *m, int64_t column, int32_t dtype, size_t count,
    prt_tensor *out)
{
    const int64_t dims[] = { (int64_t)count };
    const bool text = dtype == PRT_DTYPE_string;
    if ((!text && dtype != PRT_DTYPE_i64) || (text && column == LINE_NUMBER) ||
        (!text && column == WHOLE_LINE))
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "keys and values from a file are strings or int64 (lines are strings, numbers of lines "
            "are int64)");
    if (!prt_tensor_init(out, dtype, 1, dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "the table is too large");
    out->data = prt_arena_alloc_n(m->arena, count, text ? sizeof(poprt_string) : sizeof(int64_t));
    return out->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status read_lines(prt_saved_model *m, const prt_saved_table *table, lines all,
    int32_t key_type, int32_t value_type, prt_tensor *keys, prt_tensor *values)
{
    size_t count = 0, i = 0;
    prt_str line;
    for (lines l = all; next_line(&l, &line);)
        count++;
    if (table->vocab_size >= 0) {
        if ((uint64_t)table->vocab_size > count)
            return prt_fail(POPRT_E_PARSE, NULL, "the file has %zu lines; the table needs %lld",
                count, (long long)table->vocab_size);
        count = (size_t)table->vocab_size;
    }
    PRT_TRY(start_column(m, table->key_index, key_type, count, keys));
    PRT_TRY(start_column(m, table->value_index, value_type, count, values));
    for (; i < count && next_line(&all, &line); i++) {
        PRT_TRY(put(m, table, table->key_index, line, i, keys));
        PRT_TRY(put(m, table, table->value_index, line, i, values));
    }
    return POPRT_OK;
}

static poprt_status read_file(prt_saved_model *m, const prt_saved_table *table, int32_t key_type,
    int32_t value_type, prt_tensor *keys, prt_tensor *values)
{
    prt_blob *file = NULL;
    PRT_TRY(prt_file_map_below(prt_arena_allocator(m->arena), m->folder, m->path, table->file, NULL,
        &file));
    const char *text = (const char *)file->data;
    poprt_status status = file->size <= INT32_MAX
        ? read_lines(m, table, (lines){ text, text + file->size }, key_type, value_type, keys,
              values)
        : prt_fail(POPRT_E_LIMIT, NULL, "the vocabulary has more than 2 GiB");
    prt_blob_release(file);
    return prt_fail_in_file(status, table->file);
}

/* ---- */

poprt_status prt_saved_table_read(prt_saved_model *m, const prt_saved_table *table,
    int32_t key_type, int32_t value_type, prt_tensor *keys, prt_tensor *values)
{
    if (table->file != NULL) {
        PRT_TRY(read_file(m, table, key_type, value_type, keys, values));
    } else if (table->key_entry.data != NULL && table->value_entry.data != NULL) {
        PRT_TRY(read_entry(m, table->key_entry, keys));
        PRT_TRY(read_entry(m, table->value_entry, values));
    } else {
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "the keys and values of the table are computed, or come from a file that is not an "
            "asset of the model");
    }
    if (keys->rank != 1 || values->rank != 1 || keys->dims[0] != values->dims[0])
        return prt_fail(POPRT_E_PARSE, NULL, "the table has different numbers of keys and values");
    return POPRT_OK;
}
