/* SPDX-License-Identifier: MIT */
/*
 * map.c — CastMap, DictVectorizer and ZipMap: conversions between maps and tensors. Keys are int64
 * or strings; the values of a map are one tensor (tensor.h).
 */
#include <math.h>
#include <stdio.h>

#include "base/size.h"
#include "op/ml/lookup.h"
#include "op/ml/ml.h"
#include "op/share/type_wrap.h"
#include "op/share/number_text.h"
#include "op/share/order.h"

/* Fails unless input 0 is a map with keys of type `key` (undefined: any type). */
static poprt_status check_map(const prt_infer *c, int32_t key)
{
    const prt_shape *x = &c->in[0];
    if (x->kind == PRT_VALUE_UNKNOWN ||
        (x->kind == PRT_VALUE_MAP && (key == PRT_DTYPE_undefined || x->dtype == key)))
        return POPRT_OK;
    return prt_infer_fail(c, POPRT_E_TYPE, "the input is not a map from %s",
        key == PRT_DTYPE_undefined ? "keys" : prt_dtype_of(key)->name);
}

/* Returns the values of the map in input 0. They are checked, because the caller of a run may pass
   any value. */
static poprt_status values_of(const prt_eval *c, uint64_t set, const prt_tensor **out)
{
    const prt_tensor *x = c->in[0], *v = x->items;
    if (x->kind != PRT_VALUE_MAP || v == NULL || v->kind != PRT_VALUE_TENSOR ||
        prt_tensor_count(v) != x->count || (set >> v->dtype & 1) == 0 ||
        (x->dtype != PRT_DTYPE_i64 && x->dtype != PRT_DTYPE_string))
        return prt_eval_fail(c, POPRT_E_TYPE,
            "the input is not a map to values of an accepted type");
    *out = v;
    return POPRT_OK;
}

/* Keys that are sorted by index. */
typedef struct keys {
    int32_t dtype;
    const void *data;
} keys;

static int compare_keys(const void *user, int64_t a, int64_t b)
{
    const keys *k = user;
    return prt_order_compare(k->dtype, k->data, (size_t)a, (size_t)b);
}

/* Returns the indices of the keys in ascending order, in scratch; NULL, with the failure recorded,
   on allocation failure. */
static int64_t *sort_keys(prt_eval *c, const keys *k, size_t count)
{
    int64_t *order = prt_eval_scratch(c, count + 1, sizeof(*order));
    int64_t *scratch = prt_eval_scratch(c, count + 1, sizeof(*scratch));
    if (order == NULL || scratch == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (int64_t)i;
    prt_order_sort(order, scratch, count, compare_keys, k);
    return order;
}

/* ---- CastMap ---- */

static int32_t cast_dtype(prt_str to)
{
    if (prt_str_is(to, "TO_FLOAT"))
        return PRT_DTYPE_f32;
    if (prt_str_is(to, "TO_INT64"))
        return PRT_DTYPE_i64;
    return prt_str_is(to, "TO_STRING") ? PRT_DTYPE_string : PRT_DTYPE_undefined;
}

static poprt_status cast_infer(prt_infer *c)
{
    const prt_ml_cast_map_attrs *a = c->attrs;
    const bool sparse = prt_str_is(a->map_form, "SPARSE");
    int64_t dims[2] = { 1, PRT_DIM_UNKNOWN };
    PRT_TRY(check_map(c, PRT_DTYPE_i64));
    if (cast_dtype(a->cast_to) == PRT_DTYPE_undefined)
        return prt_infer_fail(c, POPRT_E_ARG,
            "cast_to is not one of TO_FLOAT, TO_STRING, TO_INT64");
    if (!sparse && !prt_str_is(a->map_form, "DENSE"))
        return prt_infer_fail(c, POPRT_E_ARG, "map_form is neither DENSE nor SPARSE");
    if (sparse && (a->max_map < 0 || a->max_map > INT32_MAX))
        return prt_infer_fail(c, POPRT_E_ARG, "max_map is %lld; accepted: 0 to 2^31 - 1",
            (long long)a->max_map);
    if (sparse)
        dims[1] = a->max_map;
    else if (c->value[0] != NULL)
        dims[1] = (int64_t)c->value[0]->count;
    return prt_infer_set(c, 0, cast_dtype(a->cast_to), 2, dims);
}

/* Prints a float with six decimals and a point in any locale. */
static poprt_status print_value(prt_eval *c, double v, poprt_string *to)
{
    char text[80];
    int n = snprintf(text, sizeof(text), "%.6f", v);
    size_t whole = 0;
    n = n > 0 ? n : 0;
    while (text[whole] == '-' || (text[whole] >= '0' && text[whole] <= '9'))
        whole++;
    if (isfinite(v) && n >= 6 && whole < (size_t)n - 6) {
        text[whole] = '.';
        memmove(text + whole + 1, text + n - 6, 7);
        n = (int)whole + 7;
    }
    char *copy = c->host->alloc(c, 0, (size_t)n + 1);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    memcpy(copy, text, (size_t)n);
    *to = (poprt_string){ copy, (size_t)n };
    return POPRT_OK;
}

static poprt_status cast_text(prt_eval *c, poprt_string s, prt_tensor *y, size_t to)
{
    double number = 0.0;
    int64_t whole = 0;
    const char *text = s.data != NULL ? s.data : "";
    if (y->dtype == PRT_DTYPE_string) {
        char *copy = c->host->alloc(c, 0, s.size + 1);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        memcpy(copy, text, s.size);
        ((poprt_string *)y->data)[to] = (poprt_string){ copy, s.size };
    } else if (y->dtype == PRT_DTYPE_i64 && prt_parse_i64(text, s.size, &whole)) {
        ((int64_t *)y->data)[to] = whole;
    } else if (prt_parse_f64(text, s.size, &number)) {
        prt_store_f64(y->dtype, y->data, to, number);
    } else {
        return prt_eval_fail(c, POPRT_E_ARG, "a value is not a number: \"%.*s\"",
            (int)(s.size < 40 ? s.size : 40), text);
    }
    return POPRT_OK;
}

static poprt_status cast_value(prt_eval *c, const prt_tensor *v, size_t from, size_t to)
{
    prt_tensor *y = c->out[0];
    if (v->dtype == PRT_DTYPE_string)
        return cast_text(c, ((const poprt_string *)v->data)[from], y, to);
    const double number = prt_load_f64(v->dtype, v->data, from);
    if (y->dtype == PRT_DTYPE_string)
        return print_value(c, number, &((poprt_string *)y->data)[to]);
    prt_store_f64(y->dtype, y->data, to, number);
    return POPRT_OK;
}

/* Writes each value at the index that is its key. Other elements are zero, or as text "0.f". */
static poprt_status cast_sparse(prt_eval *c, const prt_tensor *v)
{
    const prt_ml_cast_map_attrs *a = c->attrs;
    const int64_t *key = c->in[0]->data;
    prt_tensor *y = c->out[0];
    for (size_t i = 0; i < c->in[0]->count; i++)
        if (key[i] < 0 || key[i] >= a->max_map)
            return prt_eval_fail(c, POPRT_E_ARG, "key %lld is outside [0, %lld)", (long long)key[i],
                (long long)a->max_map);
    if (y->size != 0)
        memset(y->data, 0, y->size);
    for (int64_t i = 0; y->dtype == PRT_DTYPE_string && i < a->max_map; i++)
        ((poprt_string *)y->data)[i] = (poprt_string){ "0.f", 3 };
    for (size_t i = 0; i < c->in[0]->count; i++)
        PRT_TRY(cast_value(c, v, i, (size_t)key[i]));
    return POPRT_OK;
}

static poprt_status cast_eval(prt_eval *c)
{
    const prt_ml_cast_map_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *v = NULL;
    PRT_TRY(values_of(c, PRT_T(string) | PRT_T(f32), &v));
    if (x->dtype != PRT_DTYPE_i64)
        return prt_eval_fail(c, POPRT_E_TYPE, "the map's keys are not int64");
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (prt_str_is(a->map_form, "SPARSE"))
        return cast_sparse(c, v);
    const int64_t dims[2] = { 1, (int64_t)x->count };
    const keys k = { x->dtype, x->data };
    PRT_TRY(prt_eval_shape(c, 0, cast_dtype(a->cast_to), 2, dims));
    const int64_t *order = sort_keys(c, &k, x->count);
    if (order == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < x->count; i++)
        PRT_TRY(cast_value(c, v, (size_t)order[i], i));
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_cast_map = { .infer = cast_infer, .eval = cast_eval };

/* ---- DictVectorizer ---- */

/* Infers the element type from the type of the map's values. */
static poprt_status vectorize_infer(prt_infer *c)
{
    const prt_ml_dict_vectorizer_attrs *a = c->attrs;
    const prt_ml_labels words = { a->string_vocabulary, a->int64_vocabulary };
    const int64_t dims[2] = { 1, prt_ml_label_count(&words) };
    int32_t dtype = PRT_DTYPE_undefined;
    PRT_TRY(prt_ml_check_labels(c, &words, "*_vocabulary"));
    PRT_TRY(check_map(c, prt_ml_label_dtype(&words)));
    if (c->value[0] != NULL && c->value[0]->items != NULL)
        dtype = c->value[0]->items->dtype;
    else if (c->in[0].kind == PRT_VALUE_MAP && prt_type_is_tensor(c->in[0].elem))
        dtype = c->in[0].elem->dtype;
    if (dtype != PRT_DTYPE_undefined && (c->def->types[1].set >> dtype & 1) == 0)
        return prt_infer_fail(c, POPRT_E_TYPE, "the map's values are %s, which is not supported",
            prt_dtype_of(dtype)->name);
    return prt_infer_set(c, 0, dtype, 2, dims);
}

/* Writes for each word of the vocabulary its value, or zero or the empty string. Other keys of the
   map are ignored. */
static poprt_status vectorize_eval(prt_eval *c)
{
    const prt_ml_dict_vectorizer_attrs *a = c->attrs;
    const prt_ml_labels words = { a->string_vocabulary, a->int64_vocabulary };
    const size_t n = prt_ml_label_count(&words);
    const int64_t dims[2] = { 1, (int64_t)n };
    const void *word = a->int64_vocabulary.data;
    const prt_tensor *x = c->in[0], *v = NULL;
    prt_lookup l;
    PRT_TRY(values_of(c, c->def->types[1].set, &v));
    if (x->dtype != prt_ml_label_dtype(&words) || x->count > UINT32_MAX / 2)
        return prt_eval_fail(c, POPRT_E_TYPE, "the map's keys are not of the vocabulary's type");
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_shape(c, 0, v->dtype, 2, dims));
    if (words.strings.count != 0 && (word = prt_lookup_strings(c, words.strings)) == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_lookup_init(c, &l, x->dtype, x->data, (uint32_t)x->count, false));
    memset(c->out[0]->data, 0, c->out[0]->size);
    for (size_t i = 0; i < n; i++) {
        const int64_t k = prt_lookup_find(&l, word, i);
        if (k >= 0 && v->dtype == PRT_DTYPE_string)
            PRT_TRY(cast_text(c, ((const poprt_string *)v->data)[k], c->out[0], i));
        else if (k >= 0)
            prt_element_copy(v->dtype, c->out[0]->data, i, v->data, (size_t)k, 1);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_dict_vectorizer = { .infer = vectorize_infer, .eval = vectorize_eval };

/* ---- ZipMap ---- */

static poprt_status zip_infer(prt_infer *c)
{
    const prt_ml_zip_map_attrs *a = c->attrs;
    const prt_ml_labels labels = { a->classlabels_strings, a->classlabels_int64s };
    prt_shape value = prt_shape_open(PRT_DTYPE_f32), map;
    int64_t rows, columns;
    PRT_TRY(prt_ml_check_labels(c, &labels, "classlabels_*"));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &columns));
    if (prt_dim_is_number(columns) && columns != prt_ml_label_count(&labels))
        return prt_infer_fail(c, POPRT_E_SHAPE, "there are %lld columns, but %u labels",
            (long long)columns, prt_ml_label_count(&labels));
    if (!prt_infer_wants(c, 0))
        return POPRT_OK;
    value.kind = PRT_VALUE_TENSOR;
    value.rank = 0;
    PRT_TRY(prt_type_wrap_set(c, 0, PRT_VALUE_MAP, &value));
    map = c->out[0];
    map.dtype = prt_ml_label_dtype(&labels);
    return prt_type_wrap_set(c, 0, PRT_VALUE_SEQUENCE, &map);
}

/* Selects the column of each key, in ascending order of the keys, which are written to `key`. Of
   equal labels the last column counts. Returns the number of keys. */
static size_t pick_columns(const keys *k, int64_t *order, size_t n, prt_tensor *key)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && compare_keys(k, order[i], order[i + 1]) == 0)
            continue;
        order[count] = order[i];
        prt_element_copy(k->dtype, key->data, count++, k->data, (size_t)order[i], 1);
    }
    return count;
}

/* Builds one map for each row. All maps share one tensor of keys. */
static poprt_status zip_rows(prt_eval *c, const prt_tensor *key, const int64_t *order)
{
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), columns = prt_ml_features(x);
    const size_t n = (size_t)key->dims[0];
    size_t bytes, headers;
    PRT_TRY(prt_eval_sequence(c, 0, key->dtype, rows));
    if (!prt_size_mul(rows, n * sizeof(float), &bytes) ||
        !prt_size_mul(rows, sizeof(prt_tensor), &headers))
        return prt_fail_nomem(SIZE_MAX);
    float *to = c->host->alloc(c, 0, bytes);
    prt_tensor *values = c->host->alloc(c, 0, headers);
    if (to == NULL || values == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < n; i++)
            to[r * n + i] = ((const float *)x->data)[r * columns + (size_t)order[i]];
        if (!prt_tensor_init(&values[r], PRT_DTYPE_f32, 1, key->dims, to + r * n))
            return prt_eval_fail(c, POPRT_E_LIMIT, "has %zu labels", n);
        c->out[0]->items[r] = (prt_tensor){ .kind = PRT_VALUE_MAP,
            .dtype = key->dtype,
            .data = key->data,
            .count = n,
            .items = &values[r] };
    }
    return POPRT_OK;
}

static poprt_status zip_eval(prt_eval *c)
{
    const prt_ml_zip_map_attrs *a = c->attrs;
    const prt_ml_labels labels = { a->classlabels_strings, a->classlabels_int64s };
    const uint32_t n = prt_ml_label_count(&labels);
    keys k = { prt_ml_label_dtype(&labels), labels.ints.data };
    prt_tensor key;
    int64_t count = n;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (labels.strings.count != 0 && (k.data = prt_lookup_strings(c, labels.strings)) == NULL)
        return POPRT_E_NOMEM;
    int64_t *order = sort_keys(c, &k, n);
    if (order == NULL)
        return POPRT_E_NOMEM;
    if (!prt_tensor_init(&key, k.dtype, 1, &count, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "has %u labels", n);
    key.data = c->host->alloc(c, 0, key.size);
    if (key.data == NULL)
        return POPRT_E_NOMEM;
    key.dims[0] = (int64_t)pick_columns(&k, order, n, &key);
    return zip_rows(c, &key, order);
}

const prt_op_hooks prt_op_ml_zip_map = { .infer = zip_infer, .eval = zip_eval };
