/* SPDX-License-Identifier: MIT */
/* tflite_text.c — parses the text, and writes the FlatBuffer in the order that it needs. */
#include "support/tflite_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/check_main.h"
#include "support/flat_bytes.h"
#include "support/graph_text.h"
#include "support/onnx_bytes.h"

enum { TENSORS = 64, OPERATORS = 32, GRAPHS = 4, SLOTS = 48, DATA = 4096 };

typedef struct tensor {
    char name[64];
    int64_t type, dims[PRT_MAX_RANK], signature[PRT_MAX_RANK], axis;
    size_t rank, size, n_scales;
    bool free, constant, variable;
    float scales[16];
    int64_t zeros[16];
    unsigned char data[DATA];
} tensor;

typedef struct operation {
    char code[64];
    int64_t in[SLOTS], out[SLOTS];
    size_t n_in, n_out;
    const char *options;
} operation;

typedef struct subgraph {
    tensor tensors[TENSORS];
    operation ops[OPERATORS];
    int64_t in[SLOTS], out[SLOTS];
    size_t n_tensors, n_ops, n_in, n_out;
} subgraph;

/* ---- parsing */

static const char *blanks(const char *at)
{
    return at + strspn(at, " ");
}

static const char *word(const char *at, char to[64])
{
    size_t n = strcspn(at, " ,()[]{}=\n");
    ck_assert_uint_lt(n, 64);
    memcpy(to, at, n);
    to[n] = '\0';
    return blanks(at + n);
}

static const char *expect(const char *at, char c)
{
    ck_assert_msg(*at == c, "'%c' is missing before: %.40s", c, at);
    return blanks(at + 1);
}

static int64_t find(subgraph *g, const char *name)
{
    if (strcmp(name, "_") == 0)
        return -1;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensors[i].name, name) == 0)
            return (int64_t)i;
    ck_abort_msg("no tensor '%s'", name);
}

/* Reads names up to a character of `end`. */
static const char *names(subgraph *g, const char *at, const char *end, int64_t *to, size_t *count)
{
    char name[64];
    while (strchr(end, *at) == NULL) {
        at = blanks(at + (*at == ','));
        at = word(at, name);
        ck_assert_uint_lt(*count, SLOTS);
        to[(*count)++] = find(g, name);
    }
    return at;
}

static int32_t type_number(const char *id)
{
    const int32_t dtype = prt_dtype_by_id(prt_str_of(id));
    for (int32_t k = 0; k < 21; k++)
        if (prt_tflite_dtype(k) == dtype)
            return k;
    ck_abort_msg("no type '%s'", id);
}

static const char *data(tensor *t, const char *at)
{
    const int32_t dtype = prt_tflite_dtype(t->type);
    size_t count = 0;
    char text[64];
    for (at = expect(at, '{'); *at != '}'; count++) {
        at = word(blanks(at + (*at == ',')), text);
        if (prt_dtype_is_integer(dtype) || dtype == PRT_DTYPE_bool)
            prt_store_i64(dtype, t->data, count, strtoll(text, NULL, 0));
        else
            prt_store_f64(dtype, t->data, count, strtod(text, NULL));
    }
    ck_assert(prt_dtype_size(dtype, count, &t->size));
    ck_assert_uint_le(t->size, DATA);
    t->constant = true;
    return expect(at, '}');
}

static const char *tensor_line(subgraph *g, const char *name, const char *at)
{
    char text[64];
    tensor *t = &g->tensors[g->n_tensors++];
    ck_assert_uint_le(g->n_tensors, TENSORS);
    (void)snprintf(t->name, sizeof(t->name), "%s", name);
    at = word(at, text);
    t->type = type_number(text);
    for (at = expect(at, '['); *at != ']'; t->rank++) {
        at = word(blanks(at + (*at == ',')), text);
        t->free = t->free || text[0] == '?';
        t->dims[t->rank] = text[0] == '?' ? 1 : strtoll(text, NULL, 10);
        t->signature[t->rank] = text[0] == '?' ? -1 : t->dims[t->rank];
    }
    at = expect(at, ']');
    if (*at == '{')
        at = data(t, at);
    while (*at != '\n' && *at != '\0') {
        at = word(at, text);
        if (strcmp(text, "variable") == 0)
            t->variable = true;
        else if (strcmp(text, "axis") == 0)
            t->axis = strtoll(at, (char **)&at, 10), at = word(blanks(at), text);
        else
            ck_assert_str_eq(text, "scale");
        while (isdigit((unsigned char)*at)) {
            at = word(at, text);
            t->scales[t->n_scales] = strtof(text, NULL);
            at = word(at, text);
            t->zeros[t->n_scales++] = strtoll(text, NULL, 10);
        }
    }
    return at;
}

static const char *operator_line(subgraph *g, const char *line, const char *at)
{
    operation *op = &g->ops[g->n_ops++];
    ck_assert_uint_le(g->n_ops, OPERATORS);
    (void)names(g, line, "=", op->out, &op->n_out);
    at = expect(word(at, op->code), '(');
    at = expect(names(g, at, ")", op->in, &op->n_in), ')');
    op->options = at;
    return at + strcspn(at, "\n");
}

static size_t parse(subgraph *graphs, const char *text)
{
    size_t count = 1;
    for (const char *at = text; *at != '\0'; at += *at == '\n') {
        subgraph *g = &graphs[count - 1];
        char name[64];
        const char *line = blanks(at), *rest = word(line, name);
        const char *equals = strchr(line, '='), *end = line + strcspn(line, "\n");
        at = end;
        if (strcmp(name, "inputs") == 0)
            (void)names(g, rest, "\n", g->in, &g->n_in);
        else if (strcmp(name, "outputs") == 0)
            (void)names(g, rest, "\n", g->out, &g->n_out);
        else if (strcmp(name, "subgraph") == 0)
            ck_assert_uint_le(++count, GRAPHS);
        else if (equals != NULL && equals < end && strchr("ibusfc", equals[2]) != NULL)
            (void)tensor_line(g, name, blanks(equals + 1));
        else if (equals != NULL && equals < end)
            (void)operator_line(g, line, blanks(equals + 1));
        else
            ck_assert_msg(line == end, "not a line: %.60s", line);
    }
    return count;
}

/* ---- writing */

static void write_tensor(tflite *m, size_t index, const tensor *t, size_t buffer)
{
    const size_t at =
        tflite_tensor(m, index, t->name, t->type, t->rank, t->dims, t->constant ? buffer : 0);
    flat_int(m->f, at, PRT_TFLITE_FIELD(Tensor, has_rank), 1);
    if (t->variable)
        flat_int(m->f, at, PRT_TFLITE_FIELD(Tensor, is_variable), 1);
    if (t->free)
        flat_ints(m->f, at, PRT_TFLITE_FIELD(Tensor, shape_signature), t->rank, t->signature);
    if (t->n_scales == 0)
        return;
    int64_t bits[16] = { 0 };
    for (size_t i = 0; i < t->n_scales; i++)
        memcpy(&bits[i], &t->scales[i], 4);
    const size_t q = flat_child(m->f, at, PRT_TFLITE_FIELD(Tensor, quantization));
    flat_ints(m->f, q, PRT_TFLITE_FIELD(QuantizationParameters, scale), t->n_scales, bits);
    flat_ints(m->f, q, PRT_TFLITE_FIELD(QuantizationParameters, zero_point), t->n_scales, t->zeros);
    flat_int(m->f, q, PRT_TFLITE_FIELD(QuantizationParameters, quantized_dimension), t->axis);
}

static const prt_flat_field *field_of(const prt_flat_message *message, const char *name)
{
    for (uint32_t i = message->first; i < message[1].first; i++)
        if (strcmp(prt_tflite_fields[i].name, name) == 0)
            return &prt_tflite_fields[i];
    ck_abort_msg("%s has no option '%s'", message->name, name);
}

static void write_options(tflite *m, const prt_flat_message *message, const char *at)
{
    char name[64], value[64];
    if (message == PRT_TFLITE_MESSAGE(none) || *at == '\n' || *at == '\0')
        return;
    const size_t t = tflite_options(m, message);
    while (*at != '\n' && *at != '\0') {
        int64_t list[16];
        size_t count = 0;
        at = expect(word(at, name), '=');
        const prt_flat_field *field = field_of(message, name);
        if (*at == '(') {
            for (at = expect(at, '('); *at != ')';) {
                at = word(blanks(at + (*at == ',')), value);
                const float f = strtof(value, NULL);
                list[count] = strtoll(value, NULL, 10);
                if (field->kind == PRT_FLAT_f32s)
                    memcpy(&list[count], &f, sizeof(f));
                count++;
            }
            at = expect(at, ')');
            flat_ints(m->f, t, field, count, list);
            continue;
        }
        at = word(at, value);
        if (field->kind == PRT_FLAT_text)
            flat_text(m->f, t, field, value);
        else if (field->kind == PRT_FLAT_f32)
            flat_f32(m->f, t, field, strtof(value, NULL));
        else
            flat_int(m->f, t, field, strtoll(value, NULL, 10));
    }
}

/* Writes a FlexBuffer of numbers as a map: keys, then floats of 4 bytes in the order of the keys,
 * which must be sorted. */
static size_t flex_map(const char *at, unsigned char *to)
{
    char keys[16][64];
    float values[16];
    size_t n = 0, size = 0, starts[16];
    for (char value[64]; *at != '\n' && *at != '\0'; n++) {
        at = word(expect(word(at, keys[n]), '='), value);
        values[n] = strtof(value, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        starts[i] = size;
        memcpy(to + size, keys[i], strlen(keys[i]) + 1);
        size += strlen(keys[i]) + 1;
    }
    size = (size + 3) / 4 * 4;
    const uint32_t count = (uint32_t)n, width = 4;
    memcpy(to + size, &count, 4);
    const size_t vector = size += 4;
    for (size_t i = 0; i < n; i++, size += 4)
        memcpy(to + size, &(uint32_t){ (uint32_t)(size - starts[i]) }, 4);
    memcpy(to + size, &(uint32_t){ (uint32_t)(size - vector) }, 4);
    memcpy(to + size + 4, &width, 4);
    memcpy(to + size + 8, &count, 4);
    const size_t map = size += 12;
    memcpy(to + size, values, 4 * n);
    size += 4 * n;
    memset(to + size, 3 << 2 | 2, n); /* floats of 4 bytes */
    size += n;
    to[size] = (unsigned char)(size - map);
    to[size + 1] = 9 << 2 | 2; /* a map with items of 4 bytes, */
    to[size + 2] = 1;          /* whose distance has 1 byte */
    return size + 3;
}

static int64_t code_of(const char *name)
{
    if (strncmp(name, "CUSTOM:", 7) == 0)
        return PRT_TFLITE_OP_CUSTOM;
    for (int64_t i = 0; i < PRT_TFLITE_OPERATORS; i++)
        if (strcmp(prt_tflite_builtin_name((int32_t)i), name) == 0)
            return i;
    ck_abort_msg("no operator '%s'", name);
}

static void write_operator(tflite *m, size_t index, size_t code, const operation *op)
{
    unsigned char bytes[DATA];
    const int64_t number = code_of(op->code);
    tflite_operator(m, index, code, -1, -1, 0);
    flat_ints(m->f, m->op, PRT_TFLITE_FIELD(Operator, inputs), op->n_in, op->in);
    flat_ints(m->f, m->op, PRT_TFLITE_FIELD(Operator, outputs), op->n_out, op->out);
    if (number != PRT_TFLITE_OP_CUSTOM)
        write_options(m, prt_tflite_builtin_options((int32_t)number), op->options);
    else
        flat_bytes(m->f, m->op, PRT_TFLITE_FIELD(Operator, custom_options), bytes,
            flex_map(op->options, bytes));
}

static prt_blob *write_model(const subgraph *graphs, size_t count)
{
    size_t codes = 0, buffers = 1;
    for (size_t i = 0; i < count; i++) {
        codes += graphs[i].n_ops;
        for (size_t k = 0; k < graphs[i].n_tensors; k++)
            buffers += graphs[i].tensors[k].constant;
    }
    tflite m = tflite_model(codes, buffers, count);
    codes = 0, buffers = 1;
    for (size_t i = 0; i < count; i++) {
        const subgraph *g = &graphs[i];
        tflite_subgraph(&m, i, g->n_tensors, g->n_ops);
        for (size_t k = 0; k < g->n_tensors; k++) {
            write_tensor(&m, k, &g->tensors[k], buffers);
            if (g->tensors[k].constant)
                tflite_data(&m, buffers++, g->tensors[k].data, g->tensors[k].size);
        }
        for (size_t k = 0; k < g->n_ops; k++) {
            tflite_code(&m, codes, code_of(g->ops[k].code));
            if (code_of(g->ops[k].code) == PRT_TFLITE_OP_CUSTOM)
                flat_text(m.f, m.code, PRT_TFLITE_FIELD(OperatorCode, custom_code),
                    g->ops[k].code + 7);
            write_operator(&m, k, codes++, &g->ops[k]);
        }
        flat_ints(m.f, m.subgraph, PRT_TFLITE_FIELD(SubGraph, inputs), g->n_in, g->in);
        flat_ints(m.f, m.subgraph, PRT_TFLITE_FIELD(SubGraph, outputs), g->n_out, g->out);
    }
    return flat_blob(m.f);
}

/* ---- conversion */

poprt_status tflite_read(const char *text, const prt_tf_options *options, prt_module **out)
{
    static const prt_tf_options none;
    subgraph *graphs = calloc(GRAPHS, sizeof(*graphs));
    ck_assert_ptr_nonnull(graphs);
    prt_blob *file = write_model(graphs, parse(graphs, text));
    free(graphs);
    const poprt_status status =
        prt_tflite_read_bytes(&prt_mem_libc, file, "text", options != NULL ? options : &none, out);
    return status;
}

prt_graph *tflite_convert(const char *text)
{
    prt_module *m = NULL;
    ck_assert_msg(tflite_read(text, NULL, &m) == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m->main;
}

void assert_tflite_refused(const char *text, const char *parts)
{
    prt_module *m = NULL;
    const poprt_status status = tflite_read(text, NULL, &m);
    ck_assert_msg(status != POPRT_OK, "the model is accepted; the error should have: %s", parts);
    assert_text_has(last_error(), parts);
}

void assert_tflite_results(const char *text, const char *graph, double tolerance)
{
    prt_graph *converted = tflite_convert(text), *expected = graph_from_text(graph);
    assert_same_results(converted, expected, tolerance, 1);
    module_free(converted);
    module_free(expected);
}
