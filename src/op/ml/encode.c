/* SPDX-License-Identifier: MIT */
/* encode.c — OneHotEncoder, CategoryMapper and LabelEncoder: categories to numbers and back. */
#include "op/ml/lookup.h"
#include "op/ml/ml.h"

/* ---- OneHotEncoder ---- */

static poprt_status one_hot_infer(prt_infer *c)
{
    const prt_ml_one_hot_encoder_attrs *a = c->attrs;
    const prt_ml_labels cats = { a->cats_strings, a->cats_int64s };
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(prt_ml_check_labels(c, &cats, "cats_*"));
    if (x->dtype != PRT_DTYPE_undefined &&
        (x->dtype == PRT_DTYPE_string) != (cats.strings.count != 0))
        return prt_infer_fail(c, POPRT_E_TYPE, "the input is %s, but the categories are %s",
            prt_dtype_of(x->dtype)->name, cats.strings.count != 0 ? "strings" : "integers");
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, PRT_DTYPE_f32, PRT_RANK_UNKNOWN);
    if (x->rank == PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT,
            "the result would have rank %d; at most %d is possible", x->rank + 1, PRT_MAX_RANK);
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank] = prt_ml_label_count(&cats);
    return prt_infer_set(c, 0, PRT_DTYPE_f32, x->rank + 1, dims);
}

/* Finds the category of an element. Numbers are truncated to integers. */
static int64_t find_category(const prt_lookup *l, const prt_tensor *x, size_t i)
{
    if (x->dtype == PRT_DTYPE_string)
        return prt_lookup_find(l, x->data, i);
    const int64_t v = prt_load_i64(x->dtype, x->data, i);
    return prt_lookup_find(l, &v, 0);
}

static poprt_status one_hot_eval(prt_eval *c)
{
    const prt_ml_one_hot_encoder_attrs *a = c->attrs;
    const prt_ml_labels cats = { a->cats_strings, a->cats_int64s };
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x), width = prt_ml_label_count(&cats);
    const void *keys = a->cats_int64s.data;
    prt_lookup l;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (a->cats_strings.count != 0 && (keys = prt_lookup_strings(c, a->cats_strings)) == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_lookup_init(c, &l, prt_ml_label_dtype(&cats), keys, (uint32_t)width, false));
    float *y = c->out[0]->data;
    if (c->out[0]->size != 0)
        memset(y, 0, c->out[0]->size);
    for (size_t i = 0; i < n; i++) {
        const int64_t k = find_category(&l, x, i);
        if (k >= 0)
            y[i * width + (size_t)k] = 1.0F;
        else if (a->zeros == 0)
            return prt_eval_fail(c, POPRT_E_ARG, "element %zu is not one of the %zu categories", i,
                width);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_one_hot_encoder = { .infer = one_hot_infer, .eval = one_hot_eval };

/* ---- tables from keys to values ---- */

/* A list in an attribute, of any list type. */
typedef struct column {
    int32_t dtype; /* undefined: absent */
    uint32_t count;
    const char *name; /* of the attribute */
    const void *data; /* NULL for strings, which are in `strings` */
    prt_strs strings;
} column;

/* Infers an output with the shape of input 0 and the type of `values`. Fails where input 0 does not
   have the type of `keys`. */
static poprt_status infer_table(prt_infer *c, const column *keys, const column *values)
{
    if (keys->count != values->count)
        return prt_infer_fail(c, POPRT_E_ARG, "%s has %u entries, %s has %u", keys->name,
            keys->count, values->name, values->count);
    if (c->in[0].dtype != PRT_DTYPE_undefined && c->in[0].dtype != keys->dtype)
        return prt_infer_fail(c, POPRT_E_TYPE, "the input is %s, but %s has %s",
            prt_dtype_of(c->in[0].dtype)->name, keys->name, prt_dtype_of(keys->dtype)->name);
    return prt_infer_like(c, 0, 0, values->dtype);
}

/* Copies element `from` of `values` to element `to` of y. */
static void write_value(const column *values, size_t from, prt_tensor *y, size_t to)
{
    if (values->dtype == PRT_DTYPE_string)
        ((poprt_string *)y->data)[to] =
            (poprt_string){ values->strings.data[from].data, values->strings.data[from].size };
    else
        prt_element_copy(y->dtype, y->data, to, values->data, from, 1);
}

static poprt_status eval_table(prt_eval *c, const column *keys, const column *values,
    const column *absent)
{
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    const void *data = keys->data;
    prt_lookup l;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (keys->dtype == PRT_DTYPE_string && (data = prt_lookup_strings(c, keys->strings)) == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_lookup_init(c, &l, keys->dtype, data, keys->count, false));
    for (size_t i = 0; i < n; i++) {
        const int64_t k = prt_lookup_find(&l, x->data, i);
        if (k >= 0)
            write_value(values, (size_t)k, c->out[0], i);
        else
            write_value(absent, 0, c->out[0], i);
    }
    return POPRT_OK;
}

static column column_of_strings(const char *name, prt_strs list)
{
    return (column){ PRT_DTYPE_string, list.count, name, NULL, list };
}

static column column_of_ints(const char *name, prt_i64s list)
{
    return (column){ PRT_DTYPE_i64, list.count, name, list.data, { 0 } };
}

/* ---- CategoryMapper: the type of the input selects the direction ---- */

static poprt_status mapper_infer(prt_infer *c)
{
    const prt_ml_category_mapper_attrs *a = c->attrs;
    const column strings = column_of_strings("cats_strings", a->cats_strings);
    const column ints = column_of_ints("cats_int64s", a->cats_int64s);
    if (c->in[0].dtype == PRT_DTYPE_string)
        return infer_table(c, &strings, &ints);
    if (c->in[0].dtype == PRT_DTYPE_i64)
        return infer_table(c, &ints, &strings);
    return prt_infer_like(c, 0, 0, PRT_DTYPE_undefined);
}

static poprt_status mapper_eval(prt_eval *c)
{
    const prt_ml_category_mapper_attrs *a = c->attrs;
    const column strings = column_of_strings("cats_strings", a->cats_strings);
    const column ints = column_of_ints("cats_int64s", a->cats_int64s);
    const column no_int = column_of_ints("default_int64", (prt_i64s){ &a->default_int64, 1 });
    const column no_string =
        column_of_strings("default_string", (prt_strs){ &a->default_string, 1 });
    const bool to_int = c->in[0]->dtype == PRT_DTYPE_string;
    return to_int ? eval_table(c, &strings, &ints, &no_int)
                  : eval_table(c, &ints, &strings, &no_string);
}

const prt_op_hooks prt_op_ml_category_mapper = { .infer = mapper_infer, .eval = mapper_eval };

/* ---- LabelEncoder ---- */

/* Converts the strings of a tensor to an attribute list in the memory of `site`. */
static poprt_status list_strings(const prt_ml_site *site, const prt_tensor *t, prt_strs *out)
{
    const size_t n = prt_tensor_count(t);
    const poprt_string *s = t->data;
    prt_str *list = prt_ml_alloc(site, n + 1, sizeof(*list));
    if (list == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        list[i] = (prt_str){ s[i].data, (uint32_t)s[i].size };
    *out = (prt_strs){ list, (uint32_t)n };
    return POPRT_OK;
}

static poprt_status column_of_tensor(const prt_ml_site *site, const char *name, const prt_tensor *t,
    column *out)
{
    const size_t n = prt_tensor_count(t);
    if (n > UINT32_MAX / 2)
        return prt_ml_fail(site, POPRT_E_LIMIT, "%s has %zu elements", name, n);
    *out = (column){ t->dtype, (uint32_t)n, name, t->data, { 0 } };
    return t->dtype == PRT_DTYPE_string ? list_strings(site, t, &out->strings) : POPRT_OK;
}

/* Selects the one list of keys or values that is given. Fails with POPRT_E_ARG unless exactly one
   is. */
static poprt_status pick_list(const prt_ml_site *site, const char *what, prt_strs strings,
    prt_i64s ints, prt_f32s floats, const prt_tensor *tensor, column *out)
{
    const int given =
        (strings.count != 0) + (ints.count != 0) + (floats.count != 0) + (tensor != NULL);
    if (given != 1)
        return prt_ml_fail(site, POPRT_E_ARG, "%d of the lists %s are given; exactly one is needed",
            given, what);
    if (tensor != NULL)
        return column_of_tensor(site, what, tensor, out);
    if (strings.count != 0)
        *out = column_of_strings(what, strings);
    else if (ints.count != 0)
        *out = column_of_ints(what, ints);
    else
        *out = (column){ PRT_DTYPE_f32, floats.count, what, floats.data, { 0 } };
    return POPRT_OK;
}

/* Default values, -1 and -0, for the value types that have no attribute for a default. */
typedef struct fallback {
    int16_t i16;
    int32_t i32;
    double f64;
} fallback;

static poprt_status pick_default(const prt_ml_site *site, const prt_ml_label_encoder_attrs *a,
    int32_t dtype, const fallback *minus, column *out)
{
    const char *name = "default_tensor";
    if (a->default_tensor != NULL && a->default_tensor->dtype != PRT_DTYPE_undefined) {
        PRT_TRY(column_of_tensor(site, name, a->default_tensor, out));
        if (out->dtype == dtype && out->count == 1)
            return POPRT_OK;
        return prt_ml_fail(site, POPRT_E_TYPE,
            "default_tensor has %u elements of %s; one of %s "
            "is needed",
            out->count, prt_dtype_of(out->dtype)->name, prt_dtype_of(dtype)->name);
    }
    *out = (column){ dtype, 1, name, NULL, { 0 } };
    if (dtype == PRT_DTYPE_string)
        out->strings = (prt_strs){ &a->default_string, 1 };
    else if (dtype == PRT_DTYPE_i64)
        out->data = &a->default_int64;
    else if (dtype == PRT_DTYPE_f32)
        out->data = &a->default_float;
    else if (dtype == PRT_DTYPE_i32)
        out->data = &minus->i32;
    else if (dtype == PRT_DTYPE_i16)
        out->data = &minus->i16;
    else
        out->data = &minus->f64;
    return POPRT_OK;
}

static const fallback minus = { -1, -1, -0.0 };

static poprt_status read_encoder(const prt_ml_site *site, const prt_ml_label_encoder_attrs *a,
    column *keys, column *values, column *absent)
{
    const prt_op_def *def = site->infer != NULL ? site->infer->def : site->eval->def;
    PRT_TRY(pick_list(site, "keys_*", a->keys_strings, a->keys_int64s, a->keys_floats,
        a->keys_tensor, keys));
    PRT_TRY(pick_list(site, "values_*", a->values_strings, a->values_int64s, a->values_floats,
        a->values_tensor, values));
    if ((def->types[0].set >> keys->dtype & 1) == 0 ||
        (def->types[1].set >> values->dtype & 1) == 0)
        return prt_ml_fail(site, POPRT_E_TYPE, "keys of %s and values of %s are not supported",
            prt_dtype_of(keys->dtype)->name, prt_dtype_of(values->dtype)->name);
    return pick_default(site, a, values->dtype, &minus, absent);
}

static poprt_status encoder_infer(prt_infer *c)
{
    const prt_ml_site site = { .infer = c };
    column keys, values, absent;
    PRT_TRY(read_encoder(&site, c->attrs, &keys, &values, &absent));
    return infer_table(c, &keys, &values);
}

static poprt_status encoder_eval(prt_eval *c)
{
    const prt_ml_site site = { .eval = c };
    column keys, values, absent;
    PRT_TRY(read_encoder(&site, c->attrs, &keys, &values, &absent));
    return eval_table(c, &keys, &values, &absent);
}

const prt_op_hooks prt_op_ml_label_encoder = { .infer = encoder_infer, .eval = encoder_eval };
