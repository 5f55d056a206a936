/* SPDX-License-Identifier: MIT */
/* encode.c — encodes a program as bytes. decode.c is its inverse, field by field. */
#include "op/op.h"
#include "op/words.h"
#include "program/codec.h"

typedef struct sink {
    prt_arena *arena;
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} sink;

static void put_bytes(sink *s, const void *bytes, size_t size)
{
    if (s->failed ||
        !prt_vec_reserve(s->arena, (void **)&s->data, &s->capacity, s->size, size, 1)) {
        s->failed = true;
        return;
    }
    if (size != 0)
        memcpy(s->data + s->size, bytes, size);
    s->size += size;
}

static void put_u64(sink *s, uint64_t v)
{
    unsigned char b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (unsigned char)(v >> (8 * i));
    put_bytes(s, b, 8);
}

static void put_u32(sink *s, uint32_t v)
{
    unsigned char b[4];
    for (int i = 0; i < 4; i++)
        b[i] = (unsigned char)(v >> (8 * i));
    put_bytes(s, b, 4);
}

static void put_i64(sink *s, int64_t v)
{
    put_u64(s, (uint64_t)v);
}

static void put_f32(sink *s, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    put_u32(s, bits);
}

static void put_str(sink *s, prt_str text)
{
    put_u32(s, text.size);
    put_bytes(s, text.data, text.size);
}

/* A nested type follows its wrapper; the kind of a tensor ends the chain. */
static void put_type(sink *s, const prt_type *type)
{
    for (; type != NULL; type = type->elem) {
        put_u32(s, (uint32_t)type->kind);
        put_u32(s, (uint32_t)type->dtype);
        put_u32(s, (uint32_t)type->rank);
        for (int32_t i = 0; i < type->rank; i++)
            put_i64(s, type->dims[i]);
        if (type->kind != PRT_VALUE_TENSOR)
            put_u32(s, type->elem != NULL);
        if (type->kind == PRT_VALUE_TENSOR)
            return;
    }
}

static void put_tensor(sink *s, const prt_tensor *t)
{
    put_u32(s, t != NULL);
    if (t == NULL)
        return;
    put_u32(s, (uint32_t)t->dtype);
    put_u32(s, t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        put_i64(s, t->dims[i]);
    if (t->dtype == PRT_DTYPE_string) {
        const poprt_string *strings = t->data;
        for (size_t i = 0; i < prt_tensor_count(t); i++)
            put_str(s, (prt_str){ strings[i].data, (uint32_t)strings[i].size });
        return;
    }
    put_u64(s, t->size);
    put_bytes(s, t->data, t->size);
}

static void put_attr(sink *s, uint32_t kind, const void *at)
{
    switch (prt_attr_outer_kind(kind)) {
    case PRT_ATTR_i64:
        put_i64(s, *(const int64_t *)at);
        break;
    case PRT_ATTR_f32:
        put_f32(s, *(const float *)at);
        break;
    case PRT_ATTR_str:
        put_str(s, prt_attr_text(kind, at));
        break;
    case PRT_ATTR_i64s: {
        const prt_i64s *x = at;
        put_u32(s, x->count);
        for (uint32_t i = 0; i < x->count; i++)
            put_i64(s, x->data[i]);
        break;
    }
    case PRT_ATTR_f32s: {
        const prt_f32s *x = at;
        put_u32(s, x->count);
        for (uint32_t i = 0; i < x->count; i++)
            put_f32(s, x->data[i]);
        break;
    }
    case PRT_ATTR_strs: {
        const prt_strs *x = at;
        put_u32(s, x->count);
        for (uint32_t i = 0; i < x->count; i++)
            put_str(s, x->data[i]);
        break;
    }
    case PRT_ATTR_tensor:
        put_tensor(s, *(const prt_tensor *const *)at);
        break;
    case PRT_ATTR_graph:
        put_u32(s, *(const uint32_t *)at);
        break;
    default: {
        const prt_type *type = *(const prt_type *const *)at;
        put_u32(s, type != NULL);
        if (type != NULL)
            put_type(s, type);
        break;
    }
    }
}

static bool has_columns(const prt_program *program)
{
    for (uint32_t k = 0; k < program->n_blocks; k++)
        for (uint32_t i = 0; i < program->blocks[k].n_buffers; i++)
            if (program->blocks[k].buffers[i].space == PRT_SPACE_COLUMNS)
                return true;
    return false;
}

static bool has_facts(const prt_facts *f)
{
    return f->producer_name.size != 0 || f->producer_version.size != 0 || f->domain.size != 0 ||
        f->doc.size != 0 || f->graph_name.size != 0 || f->graph_doc.size != 0 ||
        f->model_version != 0 || f->ir_version != 0 || f->opset != 0 || f->n_properties != 0;
}

static void put_facts(sink *s, const prt_facts *f)
{
    put_str(s, f->producer_name);
    put_str(s, f->producer_version);
    put_str(s, f->domain);
    put_str(s, f->doc);
    put_str(s, f->graph_name);
    put_str(s, f->graph_doc);
    put_i64(s, f->model_version);
    put_i64(s, f->ir_version);
    put_i64(s, f->opset);
    put_u32(s, f->n_properties);
    for (uint32_t i = 0; i < f->n_properties; i++) {
        put_str(s, f->properties[i].key);
        put_str(s, f->properties[i].value);
    }
}

static void put_variables(sink *s, const prt_program *p)
{
    put_u32(s, p->n_variables);
    for (uint32_t i = 0; i < p->n_variables; i++) {
        const prt_variable *v = &p->variables[i];
        put_str(s, v->name);
        put_type(s, v->type);
        put_u32(s, v->role);
        put_u32(s, v->init);
        put_f32(s, v->fill);
        put_u32(s, v->of);
        put_u32(s, (uint32_t)v->loss_scale);
    }
    put_u32(s, p->n_entries);
    for (uint32_t i = 0; i < p->n_entries; i++) {
        put_u32(s, p->entries[i].kind);
        put_u32(s, p->entries[i].block);
    }
}

static void put_flow(sink *s, const prt_program *p)
{
    put_u32(s, p->has_flow);
    if (!p->has_flow)
        return;
    put_i64(s, p->flow.batches);
    put_i64(s, p->flow.accumulation);
    put_i64(s, p->flow.replicas);
    put_i64(s, p->flow.input_group);
    put_u32(s, p->flow.input_grouping);
    put_u32(s, p->flow.reduction);
    for (uint32_t i = 0; i < p->n_inputs; i++)
        put_u32(s, p->broadcast[i]);
    for (uint32_t i = 0; i < p->n_outputs; i++) {
        put_u32(s, p->anchors[i].mode);
        put_i64(s, p->anchors[i].period);
    }
    put_u32(s, p->scaling.counts);
    put_u32(s, p->scaling.factor);
    put_f32(s, p->scaling.threshold);
    put_i64(s, p->scaling.period);
    put_str(s, p->optimizer);
    put_u32(s, p->accumulates);
}

static bool has_variables(const prt_program *p)
{
    return p->n_variables != 0 || p->n_entries != 0 || p->has_flow;
}

static bool has_locations(const prt_program *p)
{
    for (uint32_t i = 0; i < p->n_params; i++)
        if (p->params[i].location.size != 0)
            return true;
    return false;
}

#ifdef PRT_NO_COMPILER
/* Returns the version for a program that was read without plug-ins. */
static uint32_t version_for(const prt_program *program)
{
    if (has_locations(program))
        return PRT_CODEC_LOCATIONS;
    if (has_variables(program))
        return PRT_CODEC_VARIABLES;
    if (has_facts(&program->facts))
        return PRT_CODEC_FACTS;
    if (has_columns(program))
        return PRT_CODEC_COLUMNS;
    return program->n_graphs != 0 ? PRT_CODEC_FUSED : PRT_CODEC_PLAIN;
}

static void put_plugin(sink *s, const prt_op_def *def)
{
    (void)def;
    put_u32(s, 0);
}
#else
/* Returns the lowest version that can express the operators and fused models of a program. */
static uint32_t version_for(const prt_program *program)
{
    uint32_t version = program->n_graphs != 0 ? PRT_CODEC_FUSED : PRT_CODEC_PLAIN;
    if (has_locations(program))
        return PRT_CODEC_LOCATIONS;
    if (has_variables(program))
        return PRT_CODEC_VARIABLES;
    if (has_facts(&program->facts))
        return PRT_CODEC_FACTS;
    if (has_columns(program))
        return PRT_CODEC_COLUMNS;
    for (uint32_t i = 0; i < program->n_params; i++) {
        if (program->params[i].lowered != NULL)
            return PRT_CODEC_LOWERED;
        if (prt_op_plugin(program->params[i].def) != NULL)
            version = version > PRT_CODEC_PLUGIN ? version : PRT_CODEC_PLUGIN;
    }
    return version;
}

static void put_plugin(sink *s, const prt_op_def *def)
{
    const char *plugin = prt_op_plugin(def);
    put_str(s, prt_str_of(plugin != NULL ? plugin : ""));
}

/* Writes the kernel by its name, and its parameters. */
static void put_lowered(sink *s, const prt_op_def *def, const prt_lowered *how)
{
    put_u32(s, how != NULL);
    if (how == NULL)
        return;
    put_str(s, prt_str_of(prt_op_row_of(def)->kernels[how->kernel]));
    put_u64(s, how->scratch);
    put_u64(s, how->items);
    put_u64(s, how->in_place_inputs);
    put_u64(s, how->read_constants);
    put_u32(s, how->n_constants);
    for (uint32_t i = 0; i < how->n_constants; i++)
        put_u32(s, how->constants[i]);
    put_u32(s, how->n_dropped);
    for (uint32_t i = 0; i < how->n_dropped; i++) {
        put_u32(s, how->dropped[i].input);
        put_type(s, how->dropped[i].type);
    }
}
#endif

static void put_params(sink *s, const prt_eval_params *p, uint32_t version)
{
    const prt_op_def *def = p->def;
    put_str(s, prt_str_of(def->domain));
    put_str(s, prt_str_of(def->name));
    put_str(s, p->origin);
    put_str(s, p->merged);
    if (version >= PRT_CODEC_PLUGIN)
        put_plugin(s, def);
    put_u32(s, def->n_attrs);
    for (uint32_t i = 0; i < def->n_attrs; i++) {
        put_str(s, prt_str_of(prt_attr_name(&def->attrs[i])));
        put_u32(s, prt_attr_outer_kind(def->attrs[i].kind));
        put_u32(s, prt_attr_given(p->attrs, i));
        put_attr(s, def->attrs[i].kind, (const char *)p->attrs + def->attrs[i].offset);
    }
    put_u32(s, p->n_regions);
    for (uint32_t i = 0; i < p->n_regions; i++)
        put_u32(s, p->regions[i]);
#ifndef PRT_NO_COMPILER
    if (version >= PRT_CODEC_LOWERED && prt_op_plugin(def) != NULL)
        put_lowered(s, def, p->lowered);
#endif
}

static void put_block(sink *s, const prt_block *b)
{
    put_str(s, b->name);
    put_u32(s, b->parent);
    put_u32(s, b->is_static);
    put_u64(s, b->plan_size);
    put_u64(s, b->plan_peak);
    put_u32(s, b->n_inputs);
    for (uint32_t i = 0; i < b->n_inputs; i++)
        put_u32(s, b->inputs[i]);
    put_u32(s, b->n_outputs);
    for (uint32_t i = 0; i < b->n_outputs; i++)
        put_u32(s, b->outputs[i]);
    put_u32(s, b->n_buffers);
    for (uint32_t i = 0; i < b->n_buffers; i++) {
        const prt_buffer *x = &b->buffers[i];
        put_str(s, x->name);
        put_type(s, x->type);
        put_u32(s, x->space);
        put_u32(s, x->ref);
        put_u32(s, x->first);
        put_u32(s, x->last);
        put_u64(s, x->offset);
    }
    put_u32(s, b->n_steps);
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const prt_step *x = &b->steps[i];
        put_u32(s, x->kernel);
        put_u32(s, x->args);
        put_u32(s, x->n_in);
        put_u32(s, x->n_out);
        put_u32(s, x->params);
    }
}

static void put_dims(sink *s, const prt_dims *dims)
{
    const size_t n = prt_dims_count(dims);
    put_u32(s, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        const prt_dim_node *node = prt_dims_at(dims, i);
        put_u32(s, (uint32_t)node->op);
        if (node->op == PRT_DIM_SYMBOL) {
            put_str(s, node->symbol);
        } else {
            put_i64(s, node->a);
            put_i64(s, node->b);
        }
    }
}

static void put_io(sink *s, const prt_io *io, uint32_t count)
{
    put_u32(s, count);
    for (uint32_t i = 0; i < count; i++) {
        put_str(s, io[i].name);
        put_type(s, io[i].type);
    }
}

poprt_status prt_program_encode(const prt_program *program, prt_arena *arena, const void **bytes,
    size_t *size)
{
    sink s = { .arena = arena };
    const uint32_t version = version_for(program);
    put_u32(&s, version);
    put_str(&s, program->source);
    put_dims(&s, program->dims);
    put_u32(&s, program->n_constants);
    for (uint32_t i = 0; i < program->n_constants; i++) {
        put_str(&s, program->constants[i].name);
        put_type(&s, program->constants[i].type);
    }
    put_io(&s, program->inputs, program->n_inputs);
    put_io(&s, program->outputs, program->n_outputs);
    put_u32(&s, program->n_args);
    for (uint32_t i = 0; i < program->n_args; i++)
        put_u32(&s, program->args[i]);
    put_u32(&s, program->n_params);
    for (uint32_t i = 0; i < program->n_params; i++)
        put_params(&s, &program->params[i], version);
    put_u32(&s, program->n_blocks);
    for (uint32_t i = 0; i < program->n_blocks; i++)
        put_block(&s, &program->blocks[i]);
    put_u32(&s, program->n_eliminated);
    for (uint32_t i = 0; i < program->n_eliminated; i++) {
        put_str(&s, program->eliminated[i].node);
        put_str(&s, program->eliminated[i].op);
        put_str(&s, program->eliminated[i].pass);
    }
    if (version >= PRT_CODEC_FUSED)
        put_u32(&s, program->n_graphs);
    if (version >= PRT_CODEC_FACTS)
        put_facts(&s, &program->facts);
    if (version >= PRT_CODEC_VARIABLES) {
        put_variables(&s, program);
        put_flow(&s, program);
    }
    for (uint32_t i = 0; version >= PRT_CODEC_LOCATIONS && i < program->n_params; i++)
        put_str(&s, program->params[i].location);
    if (s.failed)
        return POPRT_E_NOMEM;
    *bytes = s.data;
    *size = s.size;
    return POPRT_OK;
}
