/* SPDX-License-Identifier: MIT */
/*
 * onnx_write_graph.c — writes graphs. A ValueInfoProto that was read and still agrees with the
 * known type is written as raw bytes, with its doc string, denotations and metadata.
 */
#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/onnx_type.h"
#include "converter/onnx_write.h"

/* Returns the name in a kept field that holds a ValueInfoProto; empty if the field is not one. */
static prt_str info_name(const prt_raw *raw, prt_bytes *info)
{
    prt_str name = PRT_STR("");
    prt_wire g = prt_onnx_open((prt_bytes){ raw->bytes, raw->size }, PRT_ONNX_Graph, 1);
    prt_field field, f;
    if (!prt_wire_next(&g, &field))
        return name;
    *info = field.bytes;
    prt_wire w = prt_onnx_open(field.bytes, PRT_ONNX_ValueInfo, 2);
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_ONNX_ValueInfo_name)
            name = prt_wire_text(&w, &f);
    return w.status == POPRT_OK ? name : PRT_STR("");
}

/* Returns the known dim, or the declared one if no dim is known; a declared name of an expression
 * is kept. */
static int64_t merge_dim(const prt_dims *dims, int64_t declared, int64_t known)
{
    if (known == PRT_DIM_UNKNOWN)
        return declared;
    if (prt_dim_is_number(known) || !prt_dim_is_expr(declared))
        return known;
    return prt_dims_at(dims, prt_dim_index(declared))->op == PRT_DIM_SYMBOL ? declared : known;
}

/* Merges the declared type of a value into the known type where it adds information without
 * conflict. */
static const prt_type *merge_types(prt_module *m, const prt_type *declared, const prt_type *known)
{
    if (known->kind == PRT_VALUE_UNKNOWN || declared == known)
        return declared;
    if (declared->kind != known->kind)
        return known;
    if (known->kind != PRT_VALUE_TENSOR) {
        if (declared->elem == NULL || known->elem == NULL)
            return declared->elem != NULL ? declared : known;
        const prt_type *elem = merge_types(m, declared->elem, known->elem);
        return elem != NULL ? prt_type_wrap(m->types, known->kind, known->dtype, elem) : NULL;
    }
    const int32_t dtype = known->dtype != PRT_DTYPE_undefined ? known->dtype : declared->dtype;
    if (known->rank < 0)
        return prt_type_tensor(m->types, dtype, declared->rank, declared->dims);
    if (declared->rank != known->rank || known->rank > PRT_MAX_RANK)
        return known;
    int64_t dims[PRT_MAX_RANK];
    for (int32_t i = 0; i < known->rank; i++)
        dims[i] = merge_dim(m->dims, declared->dims[i], known->dims[i]);
    return prt_type_tensor(m->types, dtype, known->rank, dims);
}

/* Writes a kept description, or a new one if more is known. Types are compared by interning the
 * declared type: the pool may grow, but the module does not change otherwise. */
static void put_declared(prt_onnx_writer *w, const prt_raw *raw, prt_str name,
    const prt_value *value)
{
    prt_module *m = (prt_module *)(uintptr_t)w->m;
    const prt_type *declared = NULL, *merged = NULL;
    prt_bytes info = { NULL, 0 };
    prt_str doc;
    (void)info_name(raw, &info);
    const bool is_input = raw->field == PRT_ONNX_Graph_input && value->graph->owner == NULL;
    if (prt_onnx_value_info(m, info, 1, is_input, &declared, &doc) == POPRT_OK)
        merged = merge_types(m, declared, value->type);
    if (merged == NULL)
        prt_encode_fail(&w->encoder, POPRT_E_NOMEM);
    else if (merged == declared)
        prt_encode_raw(&w->encoder, raw->bytes, raw->size);
    else
        prt_onnx_put_value_info(w, raw->field, name, merged, value->doc);
}

/* Returns the kept descriptions of one kind, by name. */
static prt_map map_infos(prt_onnx_writer *w, const prt_graph *g, uint32_t field)
{
    prt_map map = prt_map_in(w->scratch);
    for (const prt_raw *raw = g->extra; raw != NULL; raw = raw->next) {
        prt_bytes info;
        if (raw->field != field)
            continue;
        const prt_str name = info_name(raw, &info);
        if (name.size != 0)
            prt_encode_fail(&w->encoder, prt_map_set(&map, name, (void *)(uintptr_t)raw));
    }
    return map;
}

static void put_info(prt_onnx_writer *w, const prt_map *infos, uint32_t field, prt_str name,
    const prt_value *value)
{
    const prt_raw *raw = prt_map_find(infos, name);
    if (raw != NULL)
        put_declared(w, raw, name, value);
    else
        prt_onnx_put_value_info(w, field, name, value->type, value->doc);
}

/* Returns the constant of this graph that has this name in the file, or NULL. */
static const prt_value *find_constant(const prt_onnx_writer *w, const prt_graph *g, prt_str name)
{
    const prt_value *value = prt_map_find(&w->m->names, name);
    if (value == NULL || value->graph != g || !prt_value_is_constant(value) ||
        !prt_str_equal(prt_names_value(w->names, value), name))
        return NULL;
    return value;
}

/* Returns whether a declared type is valid for a constant in its present state. Named dims may
 * stay. */
static bool describes(const prt_type *declared, const prt_type *known)
{
    if (declared == known || declared->kind != PRT_VALUE_TENSOR)
        return declared == known;
    if (declared->dtype != known->dtype)
        return false;
    bool same = declared->rank < 0 || declared->rank == known->rank;
    for (int32_t i = 0; same && i < declared->rank; i++)
        same = !prt_dim_is_number(declared->dims[i]) || declared->dims[i] == known->dims[i];
    return same;
}

/* Writes a constant that the file listed as an input: with its old description, or with a new
 * one. */
static void put_listed(prt_onnx_writer *w, const prt_raw *raw, prt_str name, const prt_value *value)
{
    prt_module *m = (prt_module *)(uintptr_t)w->m;
    const prt_type *declared = NULL;
    prt_bytes info = { NULL, 0 };
    prt_str doc = PRT_STR("");
    (void)info_name(raw, &info);
    const poprt_status status = prt_onnx_value_info(m, info, 1, false, &declared, &doc);
    if (status == POPRT_E_NOMEM)
        prt_encode_fail(&w->encoder, status);
    else if (status == POPRT_OK && describes(declared, value->type))
        prt_encode_raw(&w->encoder, raw->bytes, raw->size);
    else
        prt_onnx_put_value_info(w, raw->field, name, value->type, doc);
}

/* Writes the inputs in order, including the constants that were listed as inputs. */
static void put_inputs(prt_onnx_writer *w, const prt_graph *g)
{
    size_t listed = 0, next = 0;
    const prt_map infos = map_infos(w, g, PRT_ONNX_Graph_input);
    for (const prt_raw *raw = g->extra; raw != NULL; raw = raw->next) {
        prt_bytes info;
        if (raw->field != PRT_ONNX_Graph_input)
            continue;
        const prt_str name = info_name(raw, &info);
        const prt_value *constant = g->owner == NULL ? find_constant(w, g, name) : NULL;
        if (constant != NULL) {
            put_listed(w, raw, name, constant);
            listed++;
        } else if (next < g->inputs.count) {
            const prt_value *in = g->inputs.data[next++];
            put_info(w, &infos, PRT_ONNX_Graph_input, prt_names_value(w->names, in), in);
        }
    }
    for (; next < g->inputs.count; next++)
        put_info(w, &infos, PRT_ONNX_Graph_input, prt_names_value(w->names, g->inputs.data[next]),
            g->inputs.data[next]);
    /* Up to IR version 3 every initializer had to be an input too. */
    if (g->owner != NULL || listed < g->constants.count)
        prt_onnx_need(w, 4);
}

/* Lists a constant, once: in the counting pass. */
static void leave_out(prt_onnx_writer *w, const prt_value *value, const prt_tensor *t)
{
    if (!w->encoder.counting || w->encoder.status != POPRT_OK)
        return;
    const prt_str name = prt_names_value(w->names, value);
    const prt_stored *stored = value->stored;
    const prt_onnx_given given = { .name = { prt_arena_text(w->list_arena, name.data, name.size),
                                       name.size },
        .dtype = t->dtype,
        .rank = t->rank,
        .dims = value->type->dims,
        .blob = value->constant,
        .location = stored != NULL ? stored->location : PRT_STR(""),
        .offset = stored != NULL ? stored->offset : 0,
        .initializer = value->initializer };
    if (given.name.data == NULL || !PRT_VEC_PUSH(w->list_arena, w->left_out, given))
        prt_encode_fail(&w->encoder, POPRT_E_NOMEM);
}

static void put_constant(prt_onnx_writer *w, const prt_value *value)
{
    prt_tensor t;
    if (value->uses == NULL && value->name.size == 0)
        return;
    if (!prt_value_tensor(value, &t)) {
        prt_encode_fail(&w->encoder,
            prt_fail(POPRT_E_UNSUPPORTED, value->name.data,
                "a constant that is not a tensor of at most 8 dimensions cannot be written"));
        return;
    }
    if (w->left_out != NULL && value->graph->owner == NULL)
        leave_out(w, value, &t);
    else if (value->stored != NULL && value->stored->blob == value->constant)
        prt_onnx_put_stored(w, PRT_ONNX_Graph_initializer, prt_names_value(w->names, value), &t,
            value->stored);
    else
        prt_onnx_put_tensor(w, PRT_ONNX_Graph_initializer, prt_names_value(w->names, value), &t);
}

/* Writes the declared types of inner values that still exist. */
static void put_infos(prt_onnx_writer *w, const prt_graph *g)
{
    for (const prt_raw *raw = g->extra; raw != NULL; raw = raw->next) {
        prt_bytes info;
        if (raw->field != PRT_ONNX_Graph_value_info)
            continue;
        const prt_str name = info_name(raw, &info);
        const prt_value *value = prt_map_find(&w->m->names, name);
        if (value == NULL || value->graph != g || (value->def != NULL && value->def->dead) ||
            !prt_str_equal(prt_names_value(w->names, value), name))
            continue;
        put_declared(w, raw, name, value);
    }
}

static bool is_described(const prt_type *type)
{
    return type->kind == PRT_VALUE_TENSOR && type->dtype != PRT_DTYPE_undefined && type->rank >= 0;
}

/* Writes types that the file did not declare, for the results of nodes of a converted model. */
static void put_missing_infos(prt_onnx_writer *w, const prt_graph *g)
{
    if (!w->m->describes_values)
        return;
    const prt_map declared = map_infos(w, g, PRT_ONNX_Graph_value_info);
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_out; i++) {
            const prt_value *v = &op->out[i];
            const prt_str name = prt_names_value(w->names, v);
            if (name.size != 0 && prt_value_used(v) && !prt_value_is_output(v) &&
                is_described(v->type) && prt_map_find(&declared, name) == NULL)
                prt_onnx_put_value_info(w, PRT_ONNX_Graph_value_info, name, v->type, PRT_STR(""));
        }
}

/* Before opset 6 the schema of Cast does not determine the type of its result, so the graph
 * declares it. */
static void put_cast_infos(prt_onnx_writer *w, const prt_graph *g)
{
    if (w->m->downgraded_opset == 0 || w->m->downgraded_opset >= 6)
        return;
    prt_for_each_op (op, g)
        if (prt_op_is(op, PRT_OP_cast) && !prt_value_is_output(&op->out[0]))
            prt_onnx_put_value_info(w, PRT_ONNX_Graph_value_info,
                prt_names_value(w->names, &op->out[0]), op->out[0].type, PRT_STR(""));
}

/* Makes an output whose name is not that of its value. */
static void put_copy(prt_onnx_writer *w, const prt_value *value, prt_str to)
{
    const int64_t opset = prt_onnx_opset_of(w, PRT_STR(""));
    if (!prt_history_supports(PRT_STR("Identity"), opset, 0, value->type))
        prt_encode_fail(&w->encoder,
            prt_fail(POPRT_E_UNSUPPORTED, to.data,
                "the output is a copy of another value, and Identity takes no value of its type in "
                "opset %lld",
                (long long)opset));
    prt_onnx_put_identity(w, prt_names_value(w->names, value), to);
}

static void put_outputs(prt_onnx_writer *w, const prt_graph *g, const prt_graph_names *names)
{
    const prt_map infos = map_infos(w, g, PRT_ONNX_Graph_output);
    for (uint32_t i = 0; i < g->ret->n_in; i++)
        if (names->copies[i])
            put_copy(w, g->ret->in[i].value, names->outputs[i]);
    for (uint32_t i = 0; i < g->ret->n_in; i++)
        put_info(w, &infos, PRT_ONNX_Graph_output, names->outputs[i], g->ret->in[i].value);
}

void prt_onnx_put_graph(prt_onnx_writer *w, uint32_t field, const prt_graph *g)
{
    prt_encoder *p = &w->encoder;
    const prt_graph_names *names = prt_names_graph(w->names, g);
    const prt_encode_mark graph = prt_encode_open(p, field);
    prt_for_each_op (op, g)
        prt_onnx_put_node(w, op);
    prt_encode_str(p, PRT_ONNX_Graph_name, g->name.size != 0 ? g->name : PRT_STR("graph"));
    for (size_t i = 0; i < g->inputs.count; i++)
        if (g->inputs.data[i]->constant != NULL)
            put_constant(w, g->inputs.data[i]);
    for (size_t i = 0; i < g->constants.count; i++)
        put_constant(w, g->constants.data[i]);
    if (g->doc.size != 0)
        prt_encode_str(p, PRT_ONNX_Graph_doc_string, g->doc);
    put_inputs(w, g);
    put_outputs(w, g, names);
    put_infos(w, g);
    put_missing_infos(w, g);
    if (!w->m->describes_values)
        put_cast_infos(w, g);
    for (const prt_raw *raw = g->extra; raw != NULL; raw = raw->next)
        if (raw->field != PRT_ONNX_Graph_input && raw->field != PRT_ONNX_Graph_output &&
            raw->field != PRT_ONNX_Graph_value_info)
            prt_encode_raw(p, raw->bytes, raw->size);
    prt_encode_close(p, graph);
}
