/* SPDX-License-Identifier: MIT */
/*
 * int8.c — float_to_int8: weights are stored as int8 and dequantised at use: (q - offset) * scale.
 *
 * int8_offset_scale is {"weight": {"offset": 3, "scale": 0.02, "value": [1, -2, ...]}, ...}.
 * Without "value" (integers in row-major order) the pass rounds the weight; without "scale" the
 * scale is the largest absolute value / 127; without "offset" the offset is 0. Difference from the
 * reference: an empty dictionary selects the constant right operands of all Conv, MatMul and Gemm
 * with more than one element, with one scale for each output channel. int8 constants stay.
 *
 * An integer offset in the range of int8 gives a DequantizeLinear, any other a Cast, Sub and Mul.
 * If "value" is left out and no element is out of range, values change by at most half a scale.
 */
#include <math.h>

#include "pass/precision/fp8.h"
#include "pass/precision/retype.h"
#include "pass/engine/rewrite.h"

typedef struct coder {
    prt_pass *p;
    prt_value *weight;
    prt_tensor t;
    double offset;
    uint32_t axis;   /* axis with several scales */
    size_t n, inner; /* n: number of scales; inner: elements after that axis */
    double *scales;
    const prt_json *values; /* NULL: the pass rounds the weight */
} coder;

static poprt_status fail_item(prt_str name, const char *what)
{
    return prt_fail(POPRT_E_ARG, "int8_offset_scale", "int8_offset_scale of '%.*s': %s",
        (int)(name.size < 100 ? name.size : 100), name.data, what);
}

static bool is_weight(const prt_value *v, prt_tensor *t)
{
    return v != NULL && prt_value_is_fixed(v) && prt_value_tensor(v, t) &&
        (t->dtype == PRT_DTYPE_f32 || t->dtype == PRT_DTYPE_f16);
}

static double *scale_of(const coder *c, size_t i)
{
    return &c->scales[c->n == 1 ? 0 : i / c->inner % c->n];
}

/* Sets each scale to the largest absolute value that it covers / 127. */
static void find_scales(const coder *c)
{
    for (size_t i = 0; i < prt_tensor_count(&c->t); i++) {
        const double x = fabs(prt_load_f64(c->t.dtype, c->t.data, i)) / 127;
        double *scale = scale_of(c, i);
        *scale = x > *scale ? x : *scale;
    }
    for (size_t i = 0; i < c->n; i++)
        if (!(c->scales[i] > 0))
            c->scales[i] = 1;
}

/* Returns the value rounded to the element type of the model. */
static double as_stored(int32_t dtype, double value)
{
    unsigned char bytes[8];
    prt_store_f64(dtype, bytes, 0, value);
    return prt_load_f64(dtype, bytes, 0);
}

/* Selects one scale, or one for each output channel of the layer that reads the weight. */
static poprt_status set_axis(coder *c, const prt_op *layer)
{
    const uint32_t rank = c->t.rank;
    c->n = 1;
    if (layer != NULL && rank >= 2) {
        c->axis = prt_op_is(layer, PRT_OP_conv) ||
                (prt_op_is(layer, PRT_OP_gemm) &&
                    ((const prt_gemm_attrs *)layer->attrs)->transB != 0)
            ? 0
            : rank - 1;
        c->n = (size_t)c->t.dims[c->axis];
        c->inner = 1;
        for (uint32_t i = c->axis + 1; i < rank; i++)
            c->inner *= (size_t)c->t.dims[i];
    }
    c->scales = PRT_NEW_N(c->p->arena, double, c->n);
    return c->scales != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status read_item(coder *c, const prt_json *item)
{
    c->offset = 0;
    find_scales(c);
    c->values = NULL;
    if (item == NULL)
        return POPRT_OK;
    const prt_json *offset = prt_json_get(item, "offset"), *scale = prt_json_get(item, "scale");
    if (item->kind != PRT_JSON_OBJECT)
        return fail_item(item->key, "an object of offset, scale and value is expected");
    if (offset != NULL && !prt_json_f64(offset, &c->offset))
        return fail_item(item->key, "offset is not a number");
    if (scale != NULL && (!prt_json_f64(scale, c->scales) || !(c->scales[0] > 0)))
        return fail_item(item->key, "scale is not a number above 0");
    c->values = prt_json_get(item, "value");
    if (c->values != NULL &&
        (c->values->kind != PRT_JSON_ARRAY || c->values->count != prt_tensor_count(&c->t)))
        return fail_item(item->key,
            "value is not a list with one integer for each element of the weight");
    return POPRT_OK;
}

static poprt_status encode(const coder *c, int8_t *to)
{
    for (size_t i = 0; i < prt_tensor_count(&c->t); i++) {
        int64_t q;
        if (c->values != NULL) {
            if (!prt_json_i64(&c->values->items[i], &q) || q < INT8_MIN || q > INT8_MAX)
                return fail_item(c->weight->name,
                    "value has an element that is not an integer from -128 to 127");
        } else {
            const double x = prt_load_f64(c->t.dtype, c->t.data, i) / *scale_of(c, i) + c->offset;
            q = (int64_t)(x >= INT8_MAX ? INT8_MAX : x > INT8_MIN ? nearbyint(x) : INT8_MIN);
        }
        to[i] = (int8_t)q;
    }
    return POPRT_OK;
}

static prt_value *build_scales(const coder *c, prt_build *b)
{
    const int64_t n = (int64_t)c->n;
    char *data = PRT_NEW_N(c->p->arena, char, c->n * sizeof(float));
    if (c->n == 1)
        return prt_build_scalar(b, c->t.dtype, c->scales[0]);
    for (size_t i = 0; data != NULL && i < c->n; i++)
        prt_store_f64(c->t.dtype, data, i, c->scales[i]);
    return data != NULL ? prt_build_tensor(b, c->t.dtype, 1, &n, data) : NULL;
}

static prt_value *dequantized(const coder *c, prt_build *b, prt_value *q)
{
    const int32_t dtype = c->t.dtype;
    prt_value *scale = build_scales(c, b);
    if (scale == NULL) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    if (c->n > 1) { /* with several scales the offset is 0 */
        prt_dequantize_linear_attrs attrs = PRT_ATTRS_OF(dequantize_linear);
        PRT_ATTR_SET(attrs, dequantize_linear, axis, (int64_t)c->axis);
        prt_value *in[2] = { q, scale };
        return prt_build_op(b, PRT_OP_dequantize_linear, &attrs, 2, in);
    }
    if (c->offset == nearbyint(c->offset) && c->offset >= INT8_MIN && c->offset <= INT8_MAX) {
        const int8_t zero = (int8_t)c->offset;
        prt_value *in[3] = { q, scale, prt_build_tensor(b, PRT_DTYPE_i8, 0, NULL, &zero) };
        return prt_build_op(b, PRT_OP_dequantize_linear, NULL, 3, in);
    }
    prt_cast_attrs cast = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(cast, cast, to, dtype);
    prt_value *x = prt_build_op(b, PRT_OP_cast, &cast, 1, &q);
    x = prt_build_binary(b, PRT_OP_sub, x, prt_build_scalar(b, dtype, c->offset));
    return prt_build_binary(b, PRT_OP_mul, x, scale);
}

/* Dequantises at the start of the weight's graph, so that all readers of the weight can read the
 * result. */
static poprt_status replace(coder *c)
{
    prt_graph *g = c->weight->graph;
    prt_module *m = g->module;
    prt_blob *blob = NULL;
    const prt_type *type = prt_type_tensor(m->types, PRT_DTYPE_i8, (int32_t)c->t.rank, c->t.dims);
    if (type == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_blob_create(m->allocator, prt_tensor_count(&c->t), &blob));
    const poprt_status status = encode(c, (int8_t *)prt_blob_bytes(blob));
    if (status != POPRT_OK) {
        prt_blob_release(blob);
        return status;
    }
    prt_value *q = prt_pass_derive(g, c->weight, type, blob);
    if (q == NULL)
        return POPRT_E_NOMEM;
    prt_build b = g->first != NULL ? prt_build_before(g->first) : prt_build_at_end(g);
    b.origin = PRT_STR("");
    b.like = NULL;
    prt_value *now = dequantized(c, &b, q);
    if (prt_build_status(&b) != POPRT_OK)
        return prt_build_status(&b);
    prt_value_replace(c->weight, now);
    return prt_retype_move_name(q, c->weight);
}

static poprt_status convert(coder *c, prt_value *weight, const prt_op *layer, const prt_json *item,
    bool *changed)
{
    c->weight = weight;
    PRT_TRY(prt_pass_check(c->p));
    PRT_TRY(set_axis(c, layer));
    PRT_TRY(read_item(c, item));
    c->offset = as_stored(c->t.dtype, c->offset);
    bool fits = isfinite(c->offset);
    for (size_t i = 0; i < c->n; i++) {
        c->scales[i] = as_stored(c->t.dtype, c->scales[i]);
        if (item == NULL && !(c->scales[i] > 0)) /* too small for float16: all elements become 0 */
            c->scales[i] = 1;
        fits = fits && c->scales[i] > 0 && isfinite(c->scales[i]);
    }
    if (!fits)
        return fail_item(weight->name,
            "scale or offset is not finite, or scale is 0, in the weight's element type");
    *changed = true;
    return replace(c);
}

static poprt_status convert_named(coder *c, const prt_json *dict, bool *changed)
{
    for (uint32_t i = 0; i < dict->count; i++) {
        prt_value *v = prt_map_find(&c->p->module->names, dict->items[i].key);
        const bool known = v != NULL && prt_str_equal(v->name, dict->items[i].key);
        if (known && prt_value_tensor(v, &c->t) && c->t.dtype == PRT_DTYPE_i8)
            continue;
        if (!known || !is_weight(v, &c->t))
            return fail_item(dict->items[i].key,
                "the model has no float32 or float16 constant of this name");
        PRT_TRY(convert(c, v, NULL, &dict->items[i], changed));
    }
    return POPRT_OK;
}

static poprt_status convert_layers(coder *c, prt_graph *graph, bool *changed)
{
    for (prt_op *op = graph->contradictory ? NULL : graph->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(convert_layers(c, op->regions[i], changed));
        if (prt_fp8_is_layer(op) && is_weight(op->in[1].value, &c->t) &&
            prt_tensor_count(&c->t) > 1)
            PRT_TRY(convert(c, op->in[1].value, op, NULL, changed));
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    coder c = { .p = p };
    prt_json *dict;
    PRT_TRY(prt_pass_json(p, "int8_offset_scale", &dict));
    if (dict != NULL && dict->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, "int8_offset_scale",
            "int8_offset_scale is not an object {\"weight\": {...}, ...}");
    return dict != NULL && dict->count != 0 ? convert_named(&c, dict, changed)
                                            : convert_layers(&c, graph, changed);
}

const prt_pass_hooks prt_pass_float_to_int8 = { .run = run };
