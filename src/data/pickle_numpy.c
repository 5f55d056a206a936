/* SPDX-License-Identifier: MIT */
/*
 * pickle_numpy.c — the globals in a pickle of arrays and the values they make: dtypes, arrays,
 * numbers of one element, and bytes as written by protocol 2 (text to be encoded in latin-1).
 */
#include <stdio.h>

#include "data/npy.h"
#include "data/pickle.h"

static poprt_status fail(const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "not a usable pickle of arrays: %s", what);
}

poprt_status prt_pickled_find_global(prt_str module, prt_str name, int64_t *out)
{
    static const struct {
        const char *module, *name;
        int32_t global;
    } rows[] = {
        { "__builtin__", "bytes", PRT_GLOBAL_BYTES },
        { "builtins", "bytes", PRT_GLOBAL_BYTES },
        { "_codecs", "encode", PRT_GLOBAL_ENCODE },
        { "numpy", "dtype", PRT_GLOBAL_DTYPE },
        { "numpy", "ndarray", PRT_GLOBAL_NDARRAY },
        { "numpy.core.multiarray", "_reconstruct", PRT_GLOBAL_RECONSTRUCT },
        { "numpy._core.multiarray", "_reconstruct", PRT_GLOBAL_RECONSTRUCT },
        { "numpy.core.multiarray", "scalar", PRT_GLOBAL_SCALAR },
        { "numpy._core.multiarray", "scalar", PRT_GLOBAL_SCALAR },
        { "numpy.core.numeric", "_frombuffer", PRT_GLOBAL_FROMBUFFER },
        { "numpy._core.numeric", "_frombuffer", PRT_GLOBAL_FROMBUFFER },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        if (prt_str_is(module, rows[i].module) && prt_str_is(name, rows[i].name)) {
            *out = rows[i].global;
            return POPRT_OK;
        }
    return prt_fail(POPRT_E_UNSUPPORTED, NULL,
        "the pickle asks for %.*s.%.*s, which is refused: only numpy's arrays are read",
        (int)(module.size < 100 ? module.size : 100), module.data,
        (int)(name.size < 100 ? name.size : 100), name.data);
}

/* ---- arguments */

static const prt_pickled *item(const prt_pickled *v, size_t i)
{
    return i < v->items.count ? v->items.data[i] : NULL;
}

static const prt_pickled *item_of(const prt_pickled *v, size_t i, int32_t kind)
{
    const prt_pickled *found = item(v, i);
    return found != NULL && found->kind == kind ? found : NULL;
}

static prt_pickled *make(prt_arena *arena, int32_t kind)
{
    prt_pickled *v = PRT_NEW(arena, prt_pickled);
    if (v != NULL)
        v->kind = kind;
    return v;
}

static poprt_status read_shape(const prt_pickled *shape, prt_pickled *to)
{
    if (shape == NULL || shape->kind != PRT_PICKLED_TUPLE)
        return fail("a shape is not a tuple");
    if (shape->items.count > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, NULL, "the array has more than %d dimensions", PRT_MAX_RANK);
    to->rank = (uint32_t)shape->items.count;
    for (uint32_t i = 0; i < to->rank; i++) {
        const prt_pickled *dim = item_of(shape, i, PRT_PICKLED_NUMBER);
        if (dim == NULL || dim->number < 0)
            return fail("a dimension is not a number");
        to->dims[i] = dim->number;
    }
    return POPRT_OK;
}

static bool is_text(const prt_pickled *v)
{
    return v != NULL && (v->kind == PRT_PICKLED_TEXT || v->kind == PRT_PICKLED_BYTES);
}

/* ---- calls */

/* dtype("f4", False, True): the byte order is native until the state sets it. */
static poprt_status call_dtype(prt_arena *arena, const prt_pickled *args, prt_pickled **out)
{
    const prt_pickled *name = item(args, 0);
    prt_pickled *v = make(arena, PRT_PICKLED_DTYPE);
    if (v == NULL)
        return POPRT_E_NOMEM;
    if (!is_text(name) || name->text.size == 0 || name->text.size > sizeof(v->descr) - 2)
        return fail("an element type has no usable name");
    const bool ordered = strchr("<>=|", name->text.data[0]) != NULL;
    (void)snprintf(v->descr, sizeof(v->descr), "%s%.*s", ordered ? "" : "=",
        PRT_STR_ARG(name->text));
    *out = v;
    return POPRT_OK;
}

static poprt_status call_encode(prt_arena *arena, const prt_pickled *args, prt_pickled **out)
{
    const prt_pickled *text = item_of(args, 0, PRT_PICKLED_TEXT), *code = item(args, 1);
    prt_pickled *v = make(arena, PRT_PICKLED_BYTES);
    if (v == NULL)
        return POPRT_E_NOMEM;
    if (text == NULL || !is_text(code) ||
        !(prt_str_is(code->text, "latin1") || prt_str_is(code->text, "latin-1")))
        return fail("_codecs.encode is read for latin1 only");
    v->text = text->text;
    v->latin1 = true;
    *out = v;
    return POPRT_OK;
}

static poprt_status call_scalar(prt_arena *arena, const prt_pickled *args, prt_pickled **out)
{
    const prt_pickled *dtype = item_of(args, 0, PRT_PICKLED_DTYPE);
    prt_pickled *v = make(arena, PRT_PICKLED_ARRAY);
    if (v == NULL)
        return POPRT_E_NOMEM;
    v->data = item_of(args, 1, PRT_PICKLED_BYTES);
    if (dtype == NULL || v->data == NULL)
        return fail("a scalar has no type or no bytes");
    memcpy(v->descr, dtype->descr, sizeof(v->descr));
    *out = v;
    return POPRT_OK;
}

/* _frombuffer(bytes, dtype, shape, order): an array in protocol 5. */
static poprt_status call_frombuffer(prt_arena *arena, const prt_pickled *args, prt_pickled **out)
{
    const prt_pickled *dtype = item_of(args, 1, PRT_PICKLED_DTYPE), *order = item(args, 3);
    prt_pickled *v = make(arena, PRT_PICKLED_ARRAY);
    if (v == NULL)
        return POPRT_E_NOMEM;
    v->data = item_of(args, 0, PRT_PICKLED_BYTES);
    if (dtype == NULL || v->data == NULL || !is_text(order))
        return fail("an array has no bytes, type or order");
    memcpy(v->descr, dtype->descr, sizeof(v->descr));
    v->fortran = prt_str_is(order->text, "F");
    *out = v;
    return read_shape(item(args, 2), v);
}

poprt_status prt_pickled_call(prt_arena *arena, int64_t global, const prt_pickled *args,
    prt_pickled **out)
{
    switch (global) {
    case PRT_GLOBAL_BYTES:
        if (args->items.count != 0)
            return fail("builtins.bytes is read without arguments only");
        *out = make(arena, PRT_PICKLED_BYTES);
        break;
    case PRT_GLOBAL_ENCODE:
        return call_encode(arena, args, out);
    case PRT_GLOBAL_DTYPE:
        return call_dtype(arena, args, out);
    case PRT_GLOBAL_RECONSTRUCT: /* the state sets all members */
        *out = make(arena, PRT_PICKLED_ARRAY);
        break;
    case PRT_GLOBAL_SCALAR:
        return call_scalar(arena, args, out);
    case PRT_GLOBAL_FROMBUFFER:
        return call_frombuffer(arena, args, out);
    default:
        return fail("numpy.ndarray is called directly");
    }
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* The state of a dtype, (version, "<", …): sets the byte order. */
static poprt_status build_dtype(prt_pickled *dtype, const prt_pickled *state)
{
    const prt_pickled *order = item(state, 1);
    if (!is_text(order) || order->text.size != 1 || strchr("<>=|", order->text.data[0]) == NULL)
        return fail("an element type has no byte order");
    if (item(state, 3) != NULL && item(state, 3)->kind != PRT_PICKLED_NONE)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "arrays of structures cannot be read");
    dtype->descr[0] = order->text.data[0];
    return POPRT_OK;
}

/* The state of an array: (version, shape, dtype, is column-major, bytes). */
static poprt_status build_array(prt_pickled *array, const prt_pickled *state)
{
    const prt_pickled *dtype = item_of(state, 2, PRT_PICKLED_DTYPE);
    const prt_pickled *order = item_of(state, 3, PRT_PICKLED_NUMBER);
    if (dtype == NULL || order == NULL)
        return fail("an array has no type or order");
    array->data = item_of(state, 4, PRT_PICKLED_BYTES);
    if (array->data == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "arrays of Python objects cannot be read: save them as numbers");
    memcpy(array->descr, dtype->descr, sizeof(array->descr));
    array->fortran = order->number != 0;
    return read_shape(item(state, 1), array);
}

poprt_status prt_pickled_build(prt_pickled *object, const prt_pickled *state)
{
    if (state->kind != PRT_PICKLED_TUPLE)
        return fail("a state is not a tuple");
    if (object->kind == PRT_PICKLED_DTYPE)
        return build_dtype(object, state);
    return object->kind == PRT_PICKLED_ARRAY ? build_array(object, state)
                                             : fail("a state is set on a value without state");
}

/* ---- tensors */

/* Decodes characters below U+0100 to one byte each. */
static poprt_status decode(prt_arena *arena, prt_str text, unsigned char **out, size_t *size)
{
    const unsigned char *p = (const unsigned char *)text.data;
    unsigned char *to = prt_arena_alloc(arena, text.size);
    size_t n = 0;
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < text.size; i++) {
        const bool two = (p[i] & 0xfe) == 0xc2 && i + 1 < text.size && (p[i + 1] & 0xc0) == 0x80;
        if (p[i] >= 0x80 && !two)
            return fail("bytes are written with a character beyond latin1");
        to[n++] = two ? (unsigned char)((p[i] << 6 & 0xc0) | (p[i + 1] & 0x3f)) : p[i];
        i += two;
    }
    *out = to;
    *size = n;
    return POPRT_OK;
}

static poprt_status spend(size_t *bytes_left, size_t size)
{
    if (size > *bytes_left)
        return prt_fail(POPRT_E_LIMIT, NULL, "the pickled arrays take more than the limit");
    *bytes_left -= size;
    return POPRT_OK;
}

static poprt_status read_array(prt_arena *arena, const prt_pickled *v, size_t *bytes_left,
    prt_tensor *out)
{
    const prt_pickled *data = v->data;
    unsigned char *copy = NULL;
    if (v->kind != PRT_PICKLED_ARRAY || data == NULL)
        return fail("a value is not an array");
    size_t size = data->text.size;
    PRT_TRY(spend(bytes_left, size));
    if (data->latin1)
        PRT_TRY(decode(arena, data->text, &copy, &size));
    return prt_npy_elements(arena, v->descr, v->fortran, v->rank, v->dims,
        copy != NULL ? copy : (const unsigned char *)data->text.data, size, out);
}

static bool same_form(const prt_tensor *a, const prt_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
        memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) == 0;
}

/* Stacks the arrays of a list along a new axis 0. */
static poprt_status read_list(prt_arena *arena, const prt_pickled *list, size_t *bytes_left,
    prt_tensor *out)
{
    int64_t dims[PRT_MAX_RANK];
    prt_tensor first, next;
    size_t size;
    PRT_TRY(read_array(arena, list->items.data[0], bytes_left, &first));
    if (first.rank == PRT_MAX_RANK || first.dtype == PRT_DTYPE_string)
        return fail("a list has arrays that cannot be stacked");
    dims[0] = (int64_t)list->items.count;
    memcpy(dims + 1, first.dims, first.rank * sizeof(int64_t));
    if (!prt_size_mul(first.size, list->items.count, &size) ||
        !prt_tensor_init(out, first.dtype, first.rank + 1, dims, NULL) || out->size != size)
        return prt_fail(POPRT_E_LIMIT, NULL, "the list of arrays is too large");
    PRT_TRY(spend(bytes_left, size));
    out->data = prt_arena_alloc(arena, size);
    if (out->data == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < list->items.count; i++) {
        PRT_TRY(read_array(arena, list->items.data[i], bytes_left, &next));
        if (!same_form(&first, &next))
            return fail("the arrays of a list differ in type or shape");
        if (first.size != 0)
            memcpy((char *)out->data + i * first.size, next.data, first.size);
    }
    return POPRT_OK;
}

poprt_status prt_pickled_tensor(prt_arena *arena, const prt_pickled *value, size_t *bytes_left,
    prt_tensor *out)
{
    const bool list = value->kind == PRT_PICKLED_LIST || value->kind == PRT_PICKLED_TUPLE;
    return list && value->items.count != 0 ? read_list(arena, value, bytes_left, out)
                                           : read_array(arena, value, bytes_left, out);
}
