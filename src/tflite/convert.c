/* SPDX-License-Identifier: MIT */
/* convert.c — converts operators by the rows of rows.def. */
#include "tflite/convert.h"

#include "tflite/rows.h"

enum { UNKNOWN, COMPUTES, MOVES, STORED, KEEPS };

typedef struct row {
    uint8_t mode, n_in;
} row;

static const row rows[PRT_TFLITE_OPERATORS] = {
#define AS(operator, mode, inputs, name) [PRT_TFLITE_OP_##operator] = { mode, inputs },
#define OWN(operator, mode, inputs, function) [PRT_TFLITE_OP_##operator] = { mode, inputs },
#include "tflite/rows.def"
};

/* Converts by the function of the row, or as the operator of TensorFlow that the row names. A
 * switch is smaller than a table of pointers, which are relocated. */
static poprt_status convert(prt_tflite_call *n)
{
    const char *name = NULL;
    switch (n->op->code) {
#define AS(operator, mode, inputs, text)                                                           \
    case PRT_TFLITE_OP_##operator:                                                                 \
        name = text;                                                                               \
        break;
#define OWN(operator, mode, inputs, function)                                                      \
    case PRT_TFLITE_OP_##operator:                                                                 \
        return prt_tflite_row_##function(n);
#include "tflite/rows.def"
    }
    return prt_tflite_as(n, name, n->tf.n_in, n->tf.in, 0, NULL);
}

/* ---- tensors and options */

const prt_tflite_tensor *prt_tflite_input(const prt_tflite_call *n, uint32_t i)
{
    return i < n->op->inputs.count && n->op->inputs.data[i] >= 0
        ? &n->graph->tensors[n->op->inputs.data[i]]
        : NULL;
}

const prt_tflite_tensor *prt_tflite_output(const prt_tflite_call *n, uint32_t k)
{
    return k < n->op->outputs.count ? &n->graph->tensors[n->op->outputs.data[k]] : NULL;
}

static const prt_flat_field *find_option(const prt_tflite_call *n, const char *name)
{
    const prt_flat_message *m = n->op->options.message;
    for (uint32_t i = m->first; i < m[1].first; i++)
        if (strcmp(prt_tflite_fields[i].name, name) == 0)
            return &prt_tflite_fields[i];
    return NULL;
}

int64_t prt_tflite_option(const prt_tflite_call *n, const char *name, int64_t absent)
{
    const prt_flat_field *field = find_option(n, name);
    return field != NULL ? prt_flat_int(&n->op->options, field) : absent;
}

/* ---- attributes */

/* Returns TensorFlow's number of an element type. */
static int64_t type_number(int32_t dtype)
{
    for (int64_t i = 1; i < PRT_TF_TYPE_ref; i++)
        if (prt_tf_dtype_of(i) == dtype)
            return i;
    return 0;
}

static poprt_status read_list(prt_arena *arena, const prt_flat_vector *v, prt_tf_attr_value *to)
{
    int64_t *ints = PRT_NEW_N(arena, int64_t, v->count + 1);
    float *floats = PRT_NEW_N(arena, float, v->count + 1);
    if (ints == NULL || floats == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->count; i++) {
        if (v->field->kind == PRT_FLAT_f32s)
            floats[i] = prt_flat_item_f32(v, i);
        else
            ints[i] = prt_flat_item_int(v, i);
    }
    to->kind = PRT_TF_ATTR_list;
    to->ints = (prt_i64s){ ints, (uint32_t)v->count };
    to->floats = (prt_f32s){ floats, (uint32_t)v->count };
    return v->owner.file->status;
}

static poprt_status read_option(prt_arena *arena, const prt_flat_table *options,
    const prt_flat_field *field, prt_tf_attr_value *to)
{
    prt_flat_vector v;
    switch (field->kind) {
    case PRT_FLAT_f32:
        to->kind = PRT_TF_ATTR_f;
        to->f = prt_flat_f32(options, field);
        break;
    case PRT_FLAT_text:
        to->kind = PRT_TF_ATTR_s;
        to->s = prt_flat_text(options, field);
        break;
    case PRT_FLAT_i32s:
    case PRT_FLAT_f32s:
        v = prt_flat_items(options, field);
        return read_list(arena, &v, to);
    case PRT_FLAT_subgraph:
        to->kind = PRT_TF_ATTR_func;
        to->s = prt_tflite_function_name(arena, (uint32_t)prt_flat_int(options, field));
        break;
    case PRT_FLAT_dtype:
        to->kind = PRT_TF_ATTR_type;
        to->i = type_number(prt_tflite_dtype(prt_flat_int(options, field)));
        break;
    default:
        to->kind = field->kind == PRT_FLAT_bool ? PRT_TF_ATTR_b : PRT_TF_ATTR_i;
        to->i = prt_flat_int(options, field);
    }
    return options->file->status;
}

/* Makes attributes of the options, and of the element types of the operator. */
static poprt_status make_attrs(prt_tflite_call *n, uint32_t n_more, const prt_tf_attr *more,
    prt_tf_node *node)
{
    static const char *const types[] = { "DstT", "dtype", "type", "Tout", "T" };
    const prt_flat_table *options = &n->op->options;
    prt_arena *arena = n->tf.c->arena;
    const uint32_t first = options->message->first, end = options->message[1].first;
    prt_tf_attr *attrs = PRT_NEW_N(arena, prt_tf_attr, end - first + PRT_COUNT_OF(types) + n_more);
    prt_tf_attr_value *values =
        PRT_NEW_N(arena, prt_tf_attr_value, end - first + PRT_COUNT_OF(types));
    uint32_t count = 0;
    if (attrs == NULL || values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_more; i++)
        attrs[count++] = more[i];
    for (uint32_t i = first; i < end; i++) {
        prt_tf_attr_value *to = &values[i - first];
        PRT_TRY(read_option(arena, options, &prt_tflite_fields[i], to));
        attrs[count++] =
            (prt_tf_attr){ .name = prt_str_of(prt_tflite_fields[i].name), .value = to };
    }
    for (uint32_t i = 0; i < PRT_COUNT_OF(types); i++) {
        const bool of_input = i == PRT_COUNT_OF(types) - 1;
        const prt_tflite_tensor *t = of_input ? prt_tflite_input(n, 0) : prt_tflite_output(n, 0);
        prt_tf_attr_value *to = &values[end - first + i];
        if (t == NULL || t->dtype == PRT_DTYPE_undefined)
            continue;
        *to = (prt_tf_attr_value){ .kind = PRT_TF_ATTR_type,
            .i = type_number(
                prt_tflite_is_quantised(t) && !n->moves ? (int32_t)PRT_DTYPE_f32 : t->dtype) };
        attrs[count++] = (prt_tf_attr){ .name = prt_str_of(types[i]), .value = to };
    }
    node->attrs = attrs;
    node->n_attrs = count;
    return POPRT_OK;
}

poprt_status prt_tflite_as(prt_tflite_call *n, const char *name, uint32_t n_in,
    const prt_tf_value *in, uint32_t n_attrs, const prt_tf_attr *attrs)
{
    const prt_tf_row *tf = prt_map_find(&n->tf.c->graph->rows, prt_str_of(name));
    prt_tf_node *node = PRT_NEW(n->tf.c->arena, prt_tf_node);
    prt_tf_call inner = n->tf;
    if (node == NULL)
        return POPRT_E_NOMEM;
    if (tf == NULL)
        return prt_tf_refuse(&n->tf, "%s", "");
    *node = (prt_tf_node){ .name = n->tf.node->name,
        .op = prt_str_of(tf->name),
        .row = tf,
        .n_in = n_in,
        .n_out = n->tf.n_out };
    PRT_TRY(make_attrs(n, n_attrs, attrs, node));
    inner.node = node;
    inner.n_in = n_in;
    inner.in = in;
    const poprt_status status = prt_tf_convert_by_row(&inner);
    n->tf.b = inner.b;
    n->tf.status = inner.status;
    return status;
}

/* ---- activations */

/* Returns whether quantising with the scale of the output clips to [low, high] already. */
static bool scale_clips(const prt_tflite_call *n, double low, double high)
{
    const prt_tflite_tensor *t = prt_tflite_output(n, 0);
    return prt_tflite_is_quantised(t) && !n->moves && t->quantization->count == 1 &&
        t->quantization->scales[0] > 0 &&
        prt_tflite_stored_number(t, low) == prt_tflite_stored_number(t, -1e30) &&
        prt_tflite_stored_number(t, high) == prt_tflite_stored_number(t, 1e30);
}

prt_value *prt_tflite_activate(prt_tflite_call *n, prt_value *x, int64_t activation)
{
    prt_build *b = &n->tf.b;
    switch (activation) {
    case PRT_TFLITE_NO_ACTIVATION:
        return x;
    case PRT_TFLITE_RELU:
        return scale_clips(n, 0, 1e30) ? x : prt_build_unary(b, PRT_OP_relu, x);
    case PRT_TFLITE_RELU_N1_TO_1:
        return scale_clips(n, -1, 1) ? x : prt_build_clip(b, x, -1, 1);
    case PRT_TFLITE_RELU6:
        return scale_clips(n, 0, 6) ? x : prt_build_clip(b, x, 0, 6);
    case PRT_TFLITE_TANH:
        return prt_build_unary(b, PRT_OP_tanh, x);
    default:
        (void)prt_tf_refuse(&n->tf, "its fused activation %lld is not supported",
            (long long)activation);
        return NULL;
    }
}

/* ---- operators */

/* Writes the inputs as the row asks for them. */
static poprt_status prepare(prt_tflite_call *n, const row *r)
{
    prt_tf_value *in = PRT_NEW_N(n->tf.c->arena, prt_tf_value, n->tf.n_in);
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < r->n_in; i++)
        if (prt_tflite_input(n, i) == NULL)
            return prt_tf_refuse(&n->tf, "input %u is missing", i);
    for (uint32_t i = 0; i < n->tf.n_in; i++) {
        const prt_tflite_tensor *t = prt_tflite_input(n, i);
        in[i] = n->stored[i];
        if (t != NULL && t->is_variable && r->mode != KEEPS)
            return prt_tf_refuse(&n->tf,
                "it reads tensor '%.*s', whose contents outlive a run, which ONNX cannot express",
                PRT_STR_ARG(t->name));
        if (t != NULL && t->other_quantization)
            return prt_tf_refuse(&n->tf, "tensor '%.*s' is quantised in blocks",
                PRT_STR_ARG(t->name));
        if (in[i].kind == PRT_TF_tensor && !n->moves && r->mode != STORED)
            in[i].value = prt_tflite_dequantise(&n->tf.b, t, in[i].value, NULL);
    }
    n->tf.in = in;
    return POPRT_OK;
}

/* Brings the results into the element types of the file. */
static void finish(prt_tflite_call *n, const row *r)
{
    prt_build *b = &n->tf.b;
    for (uint32_t k = 0; k < n->tf.n_out; k++) {
        const prt_tflite_tensor *t = prt_tflite_output(n, k);
        prt_value *v = n->tf.out[k].value;
        if (n->tf.out[k].kind != PRT_TF_tensor || t == NULL)
            continue;
        if (k == 0 && r->mode != KEEPS && r->mode != STORED)
            v = prt_tflite_activate(n, v, prt_tflite_option(n, "activation", 0));
        if (r->mode != STORED && !n->moves && prt_tflite_is_quantised(t))
            v = prt_tflite_quantise(b, t, v);
        else if (t->dtype != PRT_DTYPE_undefined && prt_dtype_bits(t->dtype) >= 8 &&
            t->dtype != PRT_DTYPE_string && prt_tf_dtype(v) != PRT_DTYPE_undefined)
            v = prt_build_cast(b, v, t->dtype);
        prt_tf_set(&n->tf, k, v);
    }
}

static poprt_status name_results(prt_tflite_call *n, prt_tf_call *call)
{
    prt_str *names = PRT_NEW_N(call->c->arena, prt_str, call->n_out);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < call->n_out; k++)
        names[k] = k < n->op->outputs.count ? prt_tflite_output(n, k)->name : PRT_STR("");
    call->names = names;
    return POPRT_OK;
}

poprt_status prt_tflite_convert_operator(prt_tf_call *call)
{
    const prt_tflite_body *body = (const prt_tflite_body *)(const void *)call->scope->body;
    const size_t index = (size_t)(call->node - body->body.nodes) - body->body.n_args;
    prt_tflite_call n = { .tf = *call,
        .op = &body->graph->operators[index],
        .graph = body->graph,
        .stored = call->in };
    const int32_t code = n.op->code;
    const row *r = code >= 0 && code < PRT_TFLITE_OPERATORS ? &rows[code] : &rows[0];
    if (r->mode == UNKNOWN || code >= PRT_TFLITE_OPERATORS)
        return prt_tf_refuse(call, "%s", "");
    n.moves = r->mode == MOVES && prt_tflite_same_scale(&n);
    poprt_status status = prepare(&n, r);
    if (status == POPRT_OK)
        status = convert(&n);
    if (status == POPRT_OK) {
        finish(&n, r);
        status = prt_tf_end(&n.tf);
    }
    call->b = n.tf.b;
    call->status = n.tf.status;
    return status == POPRT_OK ? name_results(&n, call) : status;
}
