/* SPDX-License-Identifier: MIT */
/*
 * fp8.c — float_to_fp8: Conv, MatMul and Gemm compute with 8-bit floats, all other operators with
 * float16.
 *
 * convert_model "fp8": CastToUint8 encodes the left operand at run time, this pass encodes the
 * constant right operand. "fp8_weight": the left operand is float16, the right operand is stored in
 * 8 bits. A bias, and alpha and beta of Gemm, are applied to the float16 result. Weights are
 * rounded once, from the model's values.
 *
 * With calibration_loss_type, formats and scales come from running the samples of the manager's
 * feed (calibrate.h). quantize.log has the details, and the layers with the largest losses stay
 * float16.
 *
 * Options: fp8_params "input_format,weight_format,input_scale,weight_scale". fp8_input_dict and
 * fp8_weight_dict {"node": ["F143", -2], ...} override it for the named nodes; unknown names are
 * ignored.
 *
 * Difference from the reference: with skip_op, layers with a computed right operand and grouped
 * convolutions stay float16. Without it, grouped convolutions are converted, and computed right
 * operands are cast too ("fp8" only).
 */
#include "pass/precision/fp8.h"

#include "ir/extra.h"
#include "pass/precision/calibrate.h"
#include "pass/precision/half.h"
#include "pass/precision/log_text.h"
#include "pass/engine/rewrite.h"

typedef struct settings {
    prt_pass *p;
    prt_fp8_code input, weight;
    const prt_json *inputs, *weights; /* by node; may be NULL */
    const char *skip;                 /* names of nodes that stay float16, separated by commas */
    bool weights_only, skip_op;
    uint32_t converted;
} settings;

/* ---- options */

static poprt_status fail_option(const char *option, prt_str text, const char *right)
{
    return prt_fail(POPRT_E_ARG, option, "%s '%.*s' is not %s", option,
        (int)(text.size < 100 ? text.size : 100), text.data, right);
}

static bool is_scale(int64_t scale)
{
    return scale >= PRT_FP8_LEAST && scale <= PRT_FP8_MOST;
}

static prt_str next_part(const char **at)
{
    const char *from = *at + strspn(*at, " \t");
    size_t n = strcspn(from, ",");
    *at = from + n + (from[n] == ',');
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t'))
        n--;
    return (prt_str){ from, (uint32_t)n };
}

static bool to_scale(prt_str text, int32_t *out)
{
    const bool minus = text.size != 0 && text.data[0] == '-';
    int32_t value = 0;
    if (text.size == minus || text.size > 3)
        return false;
    for (uint32_t i = minus; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        value = value * 10 + (text.data[i] - '0');
    }
    *out = minus ? -value : value;
    return is_scale(*out);
}

static poprt_status read_params(settings *s)
{
    static const char right[] =
        "input_format,weight_format,input_scale,weight_scale: two of F143 and F152, then two "
        "whole numbers from -32 to 31";
    const char *text = prt_pass_text(s->p, "fp8_params"), *at = text;
    s->input.format = prt_fp8_format_of(next_part(&at));
    s->weight.format = prt_fp8_format_of(next_part(&at));
    if (s->input.format == PRT_DTYPE_undefined || s->weight.format == PRT_DTYPE_undefined ||
        !to_scale(next_part(&at), &s->input.scale) || !to_scale(next_part(&at), &s->weight.scale) ||
        *at != '\0')
        return fail_option("fp8_params", prt_str_of(text), right);
    return POPRT_OK;
}

static poprt_status read_dict(const settings *s, const char *option, const prt_json **out)
{
    prt_json *root;
    prt_str name;
    int64_t scale;
    PRT_TRY(prt_pass_json(s->p, option, &root));
    if (root != NULL && root->kind != PRT_JSON_OBJECT)
        return fail_option(option, prt_str_of(prt_pass_text(s->p, option)),
            "an object of [format, scale] by node");
    for (uint32_t i = 0; root != NULL && i < root->count; i++) {
        const prt_json *item = &root->items[i];
        if (item->kind != PRT_JSON_ARRAY || item->count != 2 ||
            !prt_json_text(&item->items[0], &name) || !prt_json_i64(&item->items[1], &scale) ||
            prt_fp8_format_of(name) == PRT_DTYPE_undefined || !is_scale(scale))
            return fail_option(option, item->key,
                "a list [\"F143\" or \"F152\", scale from -32 to 31]");
    }
    *out = root;
    return POPRT_OK;
}

static poprt_status read_settings(settings *s)
{
    const prt_str convert = prt_str_of(prt_pass_text(s->p, "convert_model"));
    s->weights_only = prt_str_is(convert, "fp8_weight");
    s->skip_op = prt_pass_bool(s->p, "skip_op");
    s->skip = prt_pass_text(s->p, "skip_op_names");
    if (!s->weights_only && !prt_str_is(convert, "fp8"))
        return fail_option("convert_model", convert, "fp8 or fp8_weight");
    PRT_TRY(read_params(s));
    PRT_TRY(read_dict(s, "fp8_input_dict", &s->inputs));
    return read_dict(s, "fp8_weight_dict", &s->weights);
}

/* Calibrates if a loss is given; the results override the options. */
static poprt_status calibrate(settings *s)
{
    prt_calibrate how = { .weights_only = s->weights_only,
        .skip = s->skip,
        .input = s->input,
        .weight = s->weight,
        .pass = s->p };
    const char *loss = prt_pass_text(s->p, "calibration_loss_type");
    const int64_t keep = prt_pass_i64(s->p, "num_of_layers_keep_fp16");
    prt_calibration found;
    prt_json *inputs, *weights;
    if (loss[0] == '\0')
        return POPRT_OK;
    if (!prt_loss_find(loss, &how.loss))
        return fail_option("calibration_loss_type", prt_str_of(loss),
            "mse, mae, snr, kld, cos_dist or gptq");
    if (keep < 0 || keep > INT32_MAX)
        return prt_fail(POPRT_E_ARG, "num_of_layers_keep_fp16",
            "%lld layers cannot stay float16; 0 or more are accepted", (long long)keep);
    if (s->p->feed == NULL || s->p->feed->n_arrays == 0)
        return prt_fail(POPRT_E_ARG, "data_preprocess",
            "calibration needs samples: a folder of .npy files, an .npz or a pickle");
    how.keep = (uint32_t)keep;
    how.feed = *s->p->feed;
    PRT_TRY(prt_calibrate_run(s->p->module, &how, s->p->arena, &found));
    PRT_TRY(prt_json_parse(s->p->arena, found.inputs.data, found.inputs.size, &inputs));
    PRT_TRY(prt_json_parse(s->p->arena, found.weights.data, found.weights.size, &weights));
    s->inputs = inputs;
    s->weights = weights;
    s->skip = found.skip.data;
    return prt_log_text_write_str(found.log, s->p->module->allocator,
        prt_pass_text(s->p, "output_dir"), "quantize.log");
}

static prt_fp8_code code_for(const prt_json *dict, const prt_op *op, prt_fp8_code otherwise)
{
    for (uint32_t i = dict != NULL ? dict->count : 0; op->origin.size != 0 && i-- > 0;)
        if (prt_str_equal(dict->items[i].key, op->origin)) {
            const prt_json *item = dict->items[i].items;
            return (prt_fp8_code){ prt_fp8_format_of(item[0].text), (int32_t)item[1].number };
        }
    return otherwise;
}

/* ---- operands */

static prt_value *scale_of(prt_build *b, prt_fp8_code code)
{
    const int64_t one = 1;
    return prt_build_tensor(b, PRT_DTYPE_i32, 1, &one, &code.scale);
}

static prt_str format_of(prt_fp8_code code)
{
    return prt_str_of(prt_fp8_name(code.format));
}

static prt_value *cast_to(prt_build *b, prt_value *x, int32_t to)
{
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(a, cast, to, to);
    return b->status == POPRT_OK && x->type->dtype != to ? prt_build_op(b, PRT_OP_cast, &a, 1, &x)
                                                         : x;
}

static prt_value *transposed(prt_build *b, prt_value *x)
{
    return prt_build_unary(b, PRT_OP_transpose, x);
}

static prt_value *bytes_of(prt_build *b, prt_value *x, prt_fp8_code code)
{
    prt_gc_cast_to_uint8_attrs a = PRT_ATTRS_OF(gc_cast_to_uint8);
    prt_value *in[2] = { x, scale_of(b, code) };
    const prt_str format = format_of(code);
    PRT_ATTR_SET(a, gc_cast_to_uint8, fp8Format, format);
    return prt_build_op(b, PRT_OP_gc_cast_to_uint8, &a, 2, in);
}

/* Encodes the weight, transposed with `transpose`. */
static void encode(const prt_tensor *w, prt_fp8_code code, bool transpose, unsigned char *to)
{
    const size_t n = prt_tensor_count(w), columns = transpose ? (size_t)w->dims[1] : 1;
    const size_t rows = n / (columns != 0 ? columns : 1);
    for (size_t i = 0; i < n; i++)
        to[transpose ? i % columns * rows + i / columns : i] =
            prt_fp8_encode(code, prt_load_f64(w->dtype, w->data, i));
}

static prt_value *encoded(const settings *s, prt_build *b, const prt_op *op, prt_fp8_code code,
    bool transpose)
{
    prt_module *m = s->p->module;
    const prt_value *w = prt_op_input(op, 1);
    prt_tensor t;
    prt_blob *blob = NULL;
    (void)prt_fp8_weight(op, &t);
    int64_t dims[PRT_MAX_RANK];
    for (uint32_t i = 0; i < t.rank; i++)
        dims[i] = t.dims[transpose ? 1 - i : i];
    const prt_type *type = prt_type_tensor(m->types, PRT_DTYPE_u8, (int32_t)t.rank, dims);
    if (type == NULL || prt_blob_create(m->allocator, prt_tensor_count(&t), &blob) != POPRT_OK) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    encode(&t, code, transpose, prt_blob_bytes(blob));
    prt_value *v = prt_pass_derive(b->graph, w, type, blob);
    if (v == NULL)
        b->status = POPRT_E_NOMEM;
    return v;
}

/* ---- layers */

/* Copies an attribute that the Conv has. */
#define COPY_ATTR(field)                                                                           \
    if (prt_attr_given(from, prt_op_attr(prt_op_of(PRT_OP_conv), PRT_STR(#field))))                \
    PRT_ATTR_SET(*a, gc_fp8_conv, field, from->field)

static void copy_conv_attrs(const prt_conv_attrs *from, prt_gc_fp8_conv_attrs *a)
{
    COPY_ATTR(group);
    COPY_ATTR(pads);
    COPY_ATTR(auto_pad);
    COPY_ATTR(strides);
    COPY_ATTR(dilations);
    COPY_ATTR(kernel_shape);
}

/* Builds the layer, which gets the name and marks of the replaced op. */
static prt_value *layer(prt_build *b, const prt_op *op, prt_value *const *in, prt_fp8_code left,
    prt_fp8_code right)
{
    prt_gc_fp8_conv_attrs conv = PRT_ATTRS_OF(gc_fp8_conv);
    prt_gc_fp8_matmul_attrs product = PRT_ATTRS_OF(gc_fp8_matmul);
    const prt_str formats[2] = { format_of(left), format_of(right) };
    const bool is_conv = prt_op_is(op, PRT_OP_conv);
    PRT_ATTR_SET(conv, gc_fp8_conv, fp8FormatLHS, formats[0]);
    PRT_ATTR_SET(conv, gc_fp8_conv, fp8FormatRHS, formats[1]);
    PRT_ATTR_SET(product, gc_fp8_matmul, fp8FormatLHS, formats[0]);
    PRT_ATTR_SET(product, gc_fp8_matmul, fp8FormatRHS, formats[1]);
    if (is_conv)
        copy_conv_attrs(op->attrs, &conv);
    b->origin = op->origin;
    prt_op *made = prt_build_op_n(b, is_conv ? PRT_OP_gc_fp8_conv : PRT_OP_gc_fp8_matmul,
        is_conv ? (const void *)&conv : (const void *)&product, 4, in, 1);
    b->origin = PRT_STR("");
    if (made == NULL)
        return NULL;
    b->status = prt_op_copy_marks(made, op);
    return &made->out[0];
}

static prt_value *scaled(prt_build *b, prt_value *x, float by)
{
    if (b->status != POPRT_OK || by == 1.0f)
        return x;
    return prt_build_binary(b, PRT_OP_mul, x, prt_build_scalar(b, x->type->dtype, (double)by));
}

/* Returns the bias, reshaped so that channels are in dim 1 for a convolution. */
static prt_value *bias_of(prt_build *b, const prt_op *op, uint32_t rank)
{
    int64_t dims[PRT_MAX_RANK] = { -1, 1, 1, 1, 1, 1, 1, 1 };
    prt_value *bias = prt_op_input(op, 2);
    if (!prt_op_is(op, PRT_OP_conv))
        return bias;
    prt_tensor t;
    if (prt_match_constant(op, 2, &t)) {
        dims[0] = t.dims[0];
        return prt_build_tensor(b, t.dtype, rank - 1, dims, t.data);
    }
    prt_value *in[2] = { bias, prt_build_i64s(b, rank - 1, dims) };
    return prt_build_op(b, PRT_OP_reshape, NULL, 2, in);
}

/* Builds the operations after the layer. Sets `*bias` to the added bias; leaves it if there is
 * none. */
static prt_value *finish(prt_build *b, const prt_op *op, prt_value *y, prt_value **bias)
{
    const prt_gemm_attrs *gemm = prt_op_is(op, PRT_OP_gemm) ? op->attrs : NULL;
    y = cast_to(b, y, op->out[0].type->dtype);
    if (gemm != NULL)
        y = scaled(b, y, gemm->alpha);
    if (prt_op_input(op, 2) == NULL || b->status != POPRT_OK)
        return y;
    *bias = bias_of(b, op, (uint32_t)op->in[1].value->type->rank);
    return prt_build_binary(b, PRT_OP_add, y, gemm != NULL ? scaled(b, *bias, gemm->beta) : *bias);
}

static bool is_taken(const settings *s, const prt_op *op)
{
    prt_tensor t;
    if (!prt_fp8_is_layer(op) || prt_calibrate_lists(s->skip, op->origin))
        return false;
    if (prt_op_is(op, PRT_OP_conv) && op->in[1].value->type->rank < 3)
        return false;
    if (!prt_fp8_weight(op, &t))
        return !s->skip_op && !s->weights_only;
    return !s->skip_op || !prt_op_is(op, PRT_OP_conv) ||
        ((const prt_conv_attrs *)op->attrs)->group == 1;
}

static poprt_status convert(settings *s, prt_op *op)
{
    const prt_gemm_attrs *gemm = prt_op_is(op, PRT_OP_gemm) ? op->attrs : NULL;
    const prt_fp8_code left = code_for(s->inputs, op, s->input);
    const prt_fp8_code right = code_for(s->weights, op, s->weight);
    const bool transpose = gemm != NULL && gemm->transB != 0;
    prt_tensor t;
    prt_build b = prt_build_before(op);
    prt_value *in[4] = { prt_op_input(op, 0), prt_op_input(op, 1) };
    b.origin = PRT_STR("");
    if (gemm != NULL && gemm->transA != 0)
        in[0] = transposed(&b, in[0]);
    in[0] = s->weights_only ? cast_to(&b, in[0], PRT_DTYPE_f16) : bytes_of(&b, in[0], left);
    if (prt_fp8_weight(op, &t))
        in[1] = encoded(s, &b, op, right, transpose);
    else
        in[1] = bytes_of(&b, transpose ? transposed(&b, in[1]) : in[1], right);
    in[2] = scale_of(&b, left);
    in[3] = scale_of(&b, right);
    prt_value *y = layer(&b, op, in, left, right);
    prt_value *weight = prt_op_input(op, 1), *old_bias = prt_op_input(op, 2), *bias = NULL;
    if (y != NULL)
        y = finish(&b, op, y, &bias);
    if (prt_build_status(&b) != POPRT_OK || !prt_pass_replace(&b, &op->out[0], y))
        return prt_build_status(&b);
    s->converted++;
    if (bias != old_bias && bias->constant != NULL)
        PRT_TRY(prt_retype_move_name(bias, old_bias));
    return in[1]->constant != NULL ? prt_retype_move_name(in[1], weight) : POPRT_OK;
}

static poprt_status convert_graph(settings *s, prt_graph *graph)
{
    for (prt_op *op = graph->contradictory ? NULL : graph->first, *next; op != NULL; op = next) {
        next = op->next;
        PRT_TRY(prt_pass_check(s->p));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(convert_graph(s, op->regions[i]));
        if (is_taken(s, op))
            PRT_TRY(convert(s, op));
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    settings s = { .p = p };
    PRT_TRY(read_settings(&s));
    PRT_TRY(calibrate(&s));
    PRT_TRY(convert_graph(&s, graph));
    prt_pass_note(p, "", "%u layers compute with 8-bit floats now", s.converted);
    *changed = *changed || s.converted != 0;
    return prt_retype_all(p, PRT_DTYPE_f16, NULL, changed);
}

const prt_pass_hooks prt_pass_float_to_fp8 = { .run = run };
