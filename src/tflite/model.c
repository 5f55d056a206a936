/* SPDX-License-Identifier: MIT */
/* model.c — parses a TFLite file: buffers, operator codes, subgraphs, signatures. */
#include "tflite/model.h"

#include "base/size.h"

enum { VERSION = 3 };

bool prt_tflite_is(const void *bytes, size_t size)
{
    return size >= 8 && memcmp((const char *)bytes + 4, "TFL3", 4) == 0;
}

prt_str prt_tflite_operator_name(const prt_tflite_operator *op)
{
    if (op->code == PRT_TFLITE_OP_CUSTOM)
        return op->custom;
    if (op->code < 0 || op->code >= PRT_TFLITE_OPERATORS)
        return PRT_STR("an operator of a later version");
    return prt_str_of(prt_tflite_builtin_name(op->code));
}

/* Sets `out` to `size` bytes of the file behind the FlatBuffer. Offsets 0 and 1 mark their
 * absence. */
static poprt_status read_outside(const prt_tflite_reader *r, const prt_flat_table *t,
    const prt_flat_field *offset, const prt_flat_field *size, prt_tflite_bytes *out)
{
    const prt_blob *file = r->model->file;
    const uint64_t at = (uint64_t)prt_flat_int(t, offset);
    const uint64_t n = (uint64_t)prt_flat_int(t, size);
    if (at <= 1)
        return t->file->status;
    if (at > file->size || n > file->size - at)
        return prt_flat_fail(t, offset, POPRT_E_PARSE, "lies outside of the file");
    *out = (prt_tflite_bytes){ file->data + at, (size_t)n };
    return t->file->status;
}

static poprt_status read_buffers(prt_tflite_reader *r, const prt_flat_vector *v)
{
    prt_tflite_bytes *buffers = PRT_NEW_N(r->arena, prt_tflite_bytes, v->count);
    if (buffers == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const prt_flat_table t = prt_flat_item(v, i, PRT_TFLITE_MESSAGE(Buffer));
        const prt_flat_vector data = PRT_TFLITE_ITEMS(&t, Buffer, data);
        if (data.count != 0)
            buffers[i] = (prt_tflite_bytes){ data.data, data.count };
        PRT_TRY(read_outside(r, &t, PRT_TFLITE_FIELD(Buffer, offset),
            PRT_TFLITE_FIELD(Buffer, size), &buffers[i]));
    }
    r->buffers = buffers;
    r->n_buffers = v->count;
    return v->owner.file->status;
}

static poprt_status read_codes(prt_tflite_reader *r, const prt_flat_vector *v)
{
    prt_tflite_operator *codes = PRT_NEW_N(r->arena, prt_tflite_operator, v->count);
    if (codes == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const prt_flat_table t = prt_flat_item(v, i, PRT_TFLITE_MESSAGE(OperatorCode));
        const int64_t old = PRT_TFLITE_INT(&t, OperatorCode, deprecated_builtin_code);
        const int64_t code = PRT_TFLITE_INT(&t, OperatorCode, builtin_code);
        codes[i] = (prt_tflite_operator){ .code = (int32_t)(code > old ? code : old),
            .version = (int32_t)PRT_TFLITE_INT(&t, OperatorCode, version) };
        if (codes[i].code == PRT_TFLITE_OP_CUSTOM) {
            codes[i].custom = PRT_TFLITE_TEXT(&t, OperatorCode, custom_code);
            if (codes[i].custom.size == 0)
                return prt_flat_fail(&t, PRT_TFLITE_FIELD(OperatorCode, custom_code), POPRT_E_PARSE,
                    "a custom operator has no name");
        }
    }
    r->codes = codes;
    r->n_codes = v->count;
    return v->owner.file->status;
}

/* Reads a vector of tensors of a subgraph; only `optional` ones may be -1. */
static poprt_status read_operands(const prt_tflite_reader *r, const prt_flat_table *t,
    const prt_flat_field *field, size_t n_tensors, bool optional, prt_tflite_ints *out)
{
    const prt_flat_vector v = prt_flat_items(t, field);
    PRT_TRY(prt_tflite_read_ints(r, &v, out));
    for (size_t i = 0; i < out->count; i++)
        if (out->data[i] < (optional ? -1 : 0) || out->data[i] >= (int64_t)n_tensors)
            return prt_flat_fail(t, field, POPRT_E_PARSE, "has an index that is not a tensor");
    return POPRT_OK;
}

static poprt_status read_operator(const prt_tflite_reader *r, const prt_flat_table *t,
    size_t n_tensors, prt_tflite_operator *out)
{
    const int64_t code = PRT_TFLITE_INT(t, Operator, opcode_index);
    if ((uint64_t)code >= r->n_codes)
        return prt_flat_fail(t, PRT_TFLITE_FIELD(Operator, opcode_index), POPRT_E_PARSE,
            "is not the index of an operator code");
    *out = r->codes[code];
    PRT_TRY(read_operands(r, t, PRT_TFLITE_FIELD(Operator, inputs), n_tensors, true, &out->inputs));
    PRT_TRY(
        read_operands(r, t, PRT_TFLITE_FIELD(Operator, outputs), n_tensors, false, &out->outputs));
    const prt_flat_message *message = out->code >= 0 && out->code < PRT_TFLITE_OPERATORS
        ? prt_tflite_builtin_options(out->code)
        : PRT_TFLITE_MESSAGE(none);
    out->options = (prt_flat_table){ .file = t->file, .message = PRT_TFLITE_MESSAGE(none) };
    if (message != PRT_TFLITE_MESSAGE(none))
        out->options = prt_flat_union(t,
            message->group == 2 ? PRT_TFLITE_FIELD(Operator, builtin_options_2)
                                : PRT_TFLITE_FIELD(Operator, builtin_options),
            message);
    const prt_flat_vector custom = PRT_TFLITE_ITEMS(t, Operator, custom_options);
    out->custom_options = (prt_tflite_bytes){ custom.data, custom.count };
    return read_outside(r, t, PRT_TFLITE_FIELD(Operator, large_options_offset),
        PRT_TFLITE_FIELD(Operator, large_options_size), &out->custom_options);
}

static poprt_status read_subgraph(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_subgraph *out)
{
    const prt_flat_vector tensors = PRT_TFLITE_ITEMS(t, SubGraph, tensors);
    const prt_flat_vector operators = PRT_TFLITE_ITEMS(t, SubGraph, operators);
    prt_tflite_tensor *to = PRT_NEW_N(r->arena, prt_tflite_tensor, tensors.count);
    prt_tflite_operator *ops = PRT_NEW_N(r->arena, prt_tflite_operator, operators.count);
    if (to == NULL || ops == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < tensors.count; i++) {
        const prt_flat_table tensor = prt_flat_item(&tensors, i, PRT_TFLITE_MESSAGE(Tensor));
        PRT_TRY(prt_tflite_read_tensor(r, &tensor, &to[i]));
    }
    for (size_t i = 0; i < operators.count; i++) {
        const prt_flat_table op = prt_flat_item(&operators, i, PRT_TFLITE_MESSAGE(Operator));
        PRT_TRY(read_operator(r, &op, tensors.count, &ops[i]));
    }
    *out = (prt_tflite_subgraph){ .name = PRT_TFLITE_TEXT(t, SubGraph, name),
        .n_tensors = tensors.count,
        .tensors = to,
        .n_operators = operators.count,
        .operators = ops };
    PRT_TRY(read_operands(r, t, PRT_TFLITE_FIELD(SubGraph, inputs), tensors.count, false,
        &out->inputs));
    PRT_TRY(read_operands(r, t, PRT_TFLITE_FIELD(SubGraph, outputs), tensors.count, false,
        &out->outputs));
    return t->file->status;
}

static poprt_status read_subgraphs(const prt_tflite_reader *r, const prt_flat_vector *v)
{
    prt_tflite_subgraph *to = PRT_NEW_N(r->arena, prt_tflite_subgraph, v->count);
    if (to == NULL)
        return POPRT_E_NOMEM;
    if (v->count == 0)
        return prt_flat_fail(&v->owner, v->field, POPRT_E_PARSE, "there is not any subgraph");
    for (size_t i = 0; i < v->count; i++) {
        const prt_flat_table t = prt_flat_item(v, i, PRT_TFLITE_MESSAGE(SubGraph));
        PRT_TRY(read_subgraph(r, &t, &to[i]));
    }
    r->model->subgraphs = to;
    r->model->n_subgraphs = v->count;
    return v->owner.file->status;
}

/* Reads the inputs or the outputs of a signature. */
static poprt_status read_ports(const prt_tflite_reader *r, const prt_flat_vector *v,
    size_t n_tensors, const prt_tflite_port **out)
{
    prt_tflite_port *to = PRT_NEW_N(r->arena, prt_tflite_port, v->count);
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const prt_flat_table t = prt_flat_item(v, i, PRT_TFLITE_MESSAGE(TensorMap));
        to[i].name = PRT_TFLITE_TEXT(&t, TensorMap, name);
        to[i].tensor = (uint32_t)PRT_TFLITE_INT(&t, TensorMap, tensor_index);
        if (to[i].tensor >= n_tensors)
            return prt_flat_fail(&t, PRT_TFLITE_FIELD(TensorMap, tensor_index), POPRT_E_PARSE,
                "is not the index of a tensor");
    }
    *out = to;
    return v->owner.file->status;
}

static poprt_status read_signatures(const prt_tflite_reader *r, const prt_flat_vector *v)
{
    prt_tflite_signature *to = PRT_NEW_N(r->arena, prt_tflite_signature, v->count);
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const prt_flat_table t = prt_flat_item(v, i, PRT_TFLITE_MESSAGE(SignatureDef));
        const prt_flat_vector in = PRT_TFLITE_ITEMS(&t, SignatureDef, inputs);
        const prt_flat_vector outputs = PRT_TFLITE_ITEMS(&t, SignatureDef, outputs);
        const uint64_t graph = (uint64_t)PRT_TFLITE_INT(&t, SignatureDef, subgraph_index);
        if (graph >= r->model->n_subgraphs)
            return prt_flat_fail(&t, PRT_TFLITE_FIELD(SignatureDef, subgraph_index), POPRT_E_PARSE,
                "is not the index of a subgraph");
        const size_t n_tensors = r->model->subgraphs[graph].n_tensors;
        to[i] = (prt_tflite_signature){ .key = PRT_TFLITE_TEXT(&t, SignatureDef, signature_key),
            .subgraph = (uint32_t)graph,
            .n_inputs = in.count,
            .n_outputs = outputs.count };
        PRT_TRY(read_ports(r, &in, n_tensors, &to[i].inputs));
        PRT_TRY(read_ports(r, &outputs, n_tensors, &to[i].outputs));
    }
    r->model->signatures = to;
    r->model->n_signatures = v->count;
    return v->owner.file->status;
}

/* The position of a depth-first walk in one subgraph: an operator and a field of its options. */
typedef struct visit {
    size_t subgraph, op;
    uint32_t field;
} visit;

/* Moves `at` to the next reference to a subgraph and sets `to` to its index; false at the end. */
static bool next_reference(const prt_tflite_model *m, visit *at, int64_t *to)
{
    const prt_tflite_subgraph *g = &m->subgraphs[at->subgraph];
    for (; at->op < g->n_operators; at->op++, at->field = 0) {
        const prt_flat_table *options = &g->operators[at->op].options;
        if (at->field == 0)
            at->field = options->message->first;
        while (at->field < options->message[1].first) {
            const prt_flat_field *field = &prt_tflite_fields[at->field++];
            if (field->kind == PRT_FLAT_subgraph && prt_flat_present(options)) {
                *to = prt_flat_int(options, field);
                return true;
            }
        }
    }
    return false;
}

/* A depth-first walk over the references between subgraphs. */
typedef struct walk {
    const prt_tflite_model *model;
    /* levels of subgraphs in each one, itself included; 0: it was not visited */
    unsigned char *levels;
    bool *open; /* subgraphs of the stack */
    visit stack[PRT_TFLITE_NESTING];
    size_t depth;
} walk;

static void push(walk *w, int64_t subgraph)
{
    w->levels[subgraph] = 1;
    w->open[subgraph] = true;
    w->stack[w->depth++] = (visit){ .subgraph = (size_t)subgraph };
}

/* Records that the subgraph at the top of the stack refers to one of `inner` levels. */
static void nest(const walk *w, unsigned char inner)
{
    unsigned char *levels = &w->levels[w->stack[w->depth - 1].subgraph];
    if (*levels <= inner)
        *levels = (unsigned char)(inner + 1);
}

/* Follows one reference of the subgraph at the top of the stack, or leaves the subgraph. */
static poprt_status step(walk *w)
{
    int64_t to;
    visit *v = &w->stack[w->depth - 1];
    if (!next_reference(w->model, v, &to)) {
        w->open[v->subgraph] = false;
        if (--w->depth != 0)
            nest(w, w->levels[v->subgraph]);
        return POPRT_OK;
    }
    const prt_flat_table *options = &w->model->subgraphs[v->subgraph].operators[v->op].options;
    if (to < 0 || to >= (int64_t)w->model->n_subgraphs || w->open[to])
        return prt_flat_fail(options, NULL, POPRT_E_PARSE,
            "refers to a subgraph that does not exist or contains this operator");
    if (w->levels[to] != 0)
        nest(w, w->levels[to]);
    if (w->levels[v->subgraph] > PRT_TFLITE_NESTING || w->depth == PRT_TFLITE_NESTING)
        return prt_flat_fail(options, NULL, POPRT_E_LIMIT, "subgraphs are nested too deeply");
    if (w->levels[to] == 0)
        push(w, to);
    return POPRT_OK;
}

/* Checks that subgraphs refer to existing ones, without a cycle, and to a limited depth. */
static poprt_status check_references(prt_arena *arena, const prt_tflite_model *m)
{
    walk w = { .model = m,
        .levels = PRT_NEW_N(arena, unsigned char, m->n_subgraphs),
        .open = PRT_NEW_N(arena, bool, m->n_subgraphs) };
    if (w.levels == NULL || w.open == NULL)
        return POPRT_E_NOMEM;
    for (size_t root = 0; root < m->n_subgraphs; root++) {
        if (w.levels[root] == 0)
            push(&w, (int64_t)root);
        while (w.depth != 0)
            PRT_TRY(step(&w));
    }
    return m->flat.status;
}

static poprt_status read_model(prt_tflite_reader *r, const prt_flat_table *root)
{
    const prt_flat_vector codes = PRT_TFLITE_ITEMS(root, Model, operator_codes);
    const prt_flat_vector subgraphs = PRT_TFLITE_ITEMS(root, Model, subgraphs);
    const prt_flat_vector buffers = PRT_TFLITE_ITEMS(root, Model, buffers);
    const prt_flat_vector signatures = PRT_TFLITE_ITEMS(root, Model, signature_defs);
    PRT_TRY(root->file->status);
    if (PRT_TFLITE_INT(root, Model, version) != VERSION)
        return prt_flat_fail(root, PRT_TFLITE_FIELD(Model, version), POPRT_E_VERSION,
            "is not 3, the version that is supported");
    PRT_TRY(read_buffers(r, &buffers));
    PRT_TRY(read_codes(r, &codes));
    PRT_TRY(read_subgraphs(r, &subgraphs));
    PRT_TRY(read_signatures(r, &signatures));
    return check_references(r->arena, r->model);
}

poprt_status prt_tflite_parse(prt_arena *arena, prt_blob *file, prt_tflite_model **out)
{
    if (!prt_tflite_is(file->data, file->size))
        return prt_fail(POPRT_E_PARSE, NULL,
            "is not a TFLite file: bytes 4 to 7 are not the letters TFL3");
    prt_tflite_model *m = PRT_NEW(arena, prt_tflite_model);
    if (m == NULL)
        return POPRT_E_NOMEM;
    m->file = file;
    m->flat = prt_flat_open(file->data, file->size);
    prt_tflite_reader r = { .arena = arena, .model = m };
    const prt_flat_table root = prt_flat_root(&m->flat, PRT_TFLITE_MESSAGE(Model));
    PRT_TRY(m->flat.status);
    PRT_TRY(read_model(&r, &root));
    *out = m;
    return POPRT_OK;
}
