/* SPDX-License-Identifier: MIT */
/*
 * emit.c — converts the draft to a self-contained program. Types, dims, names and attributes are
 * copied to its arena; weights are shared with the model's file by reference and not read.
 */
#include <stdio.h>

#include "compiler/draft.h"
#include "ir/extra.h"
#include "ir/location.h"
#include "ir/merge_models.h"
#include "poprt/base.h"

typedef struct emitter {
    prt_draft *draft;
    prt_program *program;
    int64_t *dim_of; /* by expression of the module: the program's dim, or PRT_DIM_UNKNOWN */
} emitter;

static bool copy_str(emitter *e, prt_str from, prt_str *to)
{
    const char *text =
        prt_arena_text(e->program->arena, from.data != NULL ? from.data : "", from.size);
    *to = (prt_str){ text, from.size };
    return text != NULL;
}

/* ---- types ---- */

static void mark_type(const prt_type *type, bool *used)
{
    for (; type != NULL; type = type->elem)
        for (int32_t i = 0; i < type->rank; i++)
            if (prt_dim_is_expr(type->dims[i]))
                used[prt_dim_index(type->dims[i])] = true;
}

static int64_t translate_dim(const emitter *e, int64_t dim)
{
    return prt_dim_is_expr(dim) ? e->dim_of[prt_dim_index(dim)] : dim;
}

/* Copies only expressions used by buffers, with their operands, in order. */
static poprt_status emit_dims(emitter *e)
{
    const prt_dims *dims = e->draft->module->dims;
    const size_t n = prt_dims_count(dims);
    bool *used = PRT_NEW_N(e->draft->arena, bool, n);
    e->dim_of = PRT_NEW_N(e->draft->arena, int64_t, n);
    if (used == NULL || e->dim_of == NULL)
        return POPRT_E_NOMEM;
    for (size_t k = 0; k < e->draft->blocks.count; k++) {
        const prt_draft_block *b = e->draft->blocks.data[k];
        for (size_t i = 0; i < b->buffers.count; i++)
            mark_type(b->buffers.data[i].type, used);
    }
    for (size_t i = n; i-- > 0;) {
        const prt_dim_node *node = prt_dims_at(dims, i);
        if (!used[i] || node->op == PRT_DIM_SYMBOL)
            continue;
        if (prt_dim_is_expr(node->a))
            used[prt_dim_index(node->a)] = true;
        if (prt_dim_is_expr(node->b))
            used[prt_dim_index(node->b)] = true;
    }
    for (size_t i = 0; i < n; i++) {
        const prt_dim_node *node = prt_dims_at(dims, i);
        e->dim_of[i] = PRT_DIM_UNKNOWN;
        if (!used[i])
            continue;
        e->dim_of[i] = node->op == PRT_DIM_SYMBOL
            ? prt_dim_symbol(e->program->dims, node->symbol)
            : prt_dim_make(e->program->dims, (prt_dim_op)node->op, translate_dim(e, node->a),
                  translate_dim(e, node->b));
        if (e->dim_of[i] == PRT_DIM_UNKNOWN)
            return prt_fail(POPRT_E_NOMEM, NULL,
                "a dimension expression cannot be copied to the program");
    }
    return POPRT_OK;
}

static const prt_type *emit_type(emitter *e, const prt_type *type)
{
    const prt_type *chain[PRT_MAX_TYPE_DEPTH + 1];
    uint32_t depth = 0;
    for (; type != NULL && depth < PRT_MAX_TYPE_DEPTH && type->kind != PRT_VALUE_TENSOR &&
         type->elem != NULL;
         type = type->elem)
        chain[depth++] = type;
    const prt_type *made;
    if (type->kind == PRT_VALUE_TENSOR) {
        int64_t dims[PRT_MAX_RANK] = { 0 };
        const int32_t rank = type->rank > PRT_MAX_RANK ? PRT_RANK_UNKNOWN : type->rank;
        for (int32_t i = 0; i < rank; i++)
            dims[i] = translate_dim(e, type->dims[i]);
        made = prt_type_tensor(e->program->types, type->dtype, rank, dims);
    } else {
        made = prt_type_wrap(e->program->types, type->kind, type->dtype, NULL);
    }
    while (made != NULL && depth > 0) {
        depth--;
        made = prt_type_wrap(e->program->types, chain[depth]->kind, chain[depth]->dtype, made);
    }
    return made;
}

/* ---- constants ---- */

/* Copies a string constant. Its blob may hold its characters too, behind the strings. */
static poprt_status emit_string_constant(emitter *e, const prt_value *v, prt_blob **out)
{
    prt_blob *blob = NULL;
    size_t size;
    if (!prt_type_size(v->type, &size) || size > v->constant->size)
        return prt_fail(POPRT_E_INTERNAL, v->name.data, "constant is shorter than its type");
    PRT_TRY(prt_blob_create(e->program->allocator, size, &blob));
    poprt_string *to = (poprt_string *)(void *)prt_blob_bytes(blob);
    const poprt_string *from = (const poprt_string *)(const void *)v->constant->data;
    for (size_t i = 0; i < size / sizeof(poprt_string); i++) {
        to[i].size = from[i].size;
        to[i].data = prt_arena_text(e->program->arena, from[i].data, from[i].size);
        if (to[i].data == NULL) {
            prt_blob_release(blob);
            return POPRT_E_NOMEM;
        }
    }
    *out = blob;
    return POPRT_OK;
}

/* Shares the bytes with the model's file, at any address; sessions align them. */
static poprt_status emit_bytes(emitter *e, const prt_value *v, prt_blob **out)
{
    if (v->type->dtype == PRT_DTYPE_string)
        return emit_string_constant(e, v, out);
    *out = prt_blob_retain(v->constant);
    return POPRT_OK;
}

/* Names a constant: by its own name, or by a made-up one if it has no name or its name is taken. */
static poprt_status name_constant(emitter *e, prt_map *names, prt_str own, size_t index,
    prt_constant *c)
{
    const prt_draft *d = e->draft;
    char text[32];
    uint32_t serial = (uint32_t)index;
    prt_str name = own;
    while (name.size == 0 || prt_map_find(names, name) != NULL ||
        (own.size == 0 && prt_map_find(&d->module->names, name) != NULL)) {
        (void)snprintf(text, sizeof(text), "constant_%u", serial);
        serial += (uint32_t)(d->constants.count + d->prepared.count);
        name = prt_str_of(text);
    }
    return copy_str(e, name, &c->name) ? prt_map_set(names, c->name, c) : POPRT_E_NOMEM;
}

static poprt_status emit_constants(emitter *e)
{
    prt_program *p = e->program;
    const prt_draft *d = e->draft;
    prt_map names = prt_map_in(d->arena);
    p->constants = PRT_NEW_N(p->arena, prt_constant,
        d->constants.count + d->prepared.count + d->module->variables.count);
    if (p->constants == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < d->constants.count; i++) {
        const prt_value *v = d->constants.data[i];
        prt_constant *c = &p->constants[i];
        c->type = emit_type(e, v->type);
        if (c->type == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(name_constant(e, &names, v->name, i, c));
        PRT_TRY(emit_bytes(e, v, &c->blob));
        p->n_constants = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < d->prepared.count; i++) {
        prt_constant *c = &p->constants[d->constants.count + i];
        const int64_t size = (int64_t)d->prepared.data[i].blob->size;
        c->type = prt_type_tensor(p->types, PRT_DTYPE_u8, 1, &size);
        if (c->type == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(name_constant(e, &names, PRT_STR(""), d->constants.count + i, c));
        c->blob = prt_blob_retain(d->prepared.data[i].blob);
        c->is_prepared = true;
        p->n_constants++;
    }
    return POPRT_OK;
}

/* ---- variables ---- */

/* The first contents of a variable are a constant of its name. */
static poprt_status emit_init(emitter *e, const prt_ir_variable *from, prt_variable *to,
    prt_map *names)
{
    prt_program *p = e->program;
    prt_constant *c = &p->constants[p->n_constants];
    if (from->init == NULL)
        return POPRT_OK;
    c->type = to->type;
    PRT_TRY(name_constant(e, names, from->name, p->n_constants, c));
    c->blob = prt_blob_retain(from->init);
    to->init = p->n_constants++;
    return POPRT_OK;
}

static poprt_status emit_variables(emitter *e)
{
    prt_program *p = e->program;
    const prt_module *m = e->draft->module;
    prt_variable *variables = PRT_NEW_N(p->arena, prt_variable, m->variables.count);
    prt_entry *entries = prt_arena_copy(p->arena, e->draft->entries.data,
        e->draft->entries.count * sizeof(prt_entry));
    prt_map names = prt_map_in(e->draft->arena);
    if (variables == NULL || entries == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_constants; i++)
        PRT_TRY(prt_map_set(&names, p->constants[i].name, &p->constants[i]));
    for (size_t i = 0; i < m->variables.count; i++) {
        const prt_ir_variable *from = m->variables.data[i];
        variables[i] = (prt_variable){ .type = emit_type(e, from->type),
            .role = from->role,
            .init = PRT_NO_CONSTANT,
            .fill = from->fill,
            .of = from->of,
            .loss_scale = from->loss_scale };
        if (variables[i].type == NULL || !copy_str(e, from->name, &variables[i].name))
            return POPRT_E_NOMEM;
        PRT_TRY(emit_init(e, from, &variables[i], &names));
    }
    p->variables = variables;
    p->n_variables = (uint32_t)m->variables.count;
    p->entries = entries;
    p->n_entries = (uint32_t)e->draft->entries.count;
    return POPRT_OK;
}

/* ---- blocks ---- */

static poprt_status emit_attrs(emitter *e, const prt_op *op, const void **out)
{
    char *attrs = prt_attrs_clone(op->def, e->program->arena, op->attrs);
    if (attrs == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->def->n_attrs; i++) {
        if (op->def->attrs[i].kind != PRT_ATTR_type)
            continue;
        const prt_type **type = (const prt_type **)(void *)(attrs + op->def->attrs[i].offset);
        if (*type != NULL && (*type = emit_type(e, *type)) == NULL)
            return POPRT_E_NOMEM;
    }
    *out = attrs;
    return POPRT_OK;
}

/* Copies the parameters of a plug-in's kernel; its constants follow those of the model. */
static poprt_status emit_lowered(emitter *e, const prt_lowered *from, const prt_lowered **out)
{
    prt_arena *arena = e->program->arena;
    prt_lowered *to = prt_arena_copy(arena, from, sizeof(*from));
    uint32_t *constants = PRT_NEW_N(arena, uint32_t, from->n_constants);
    prt_lowered_input *dropped = PRT_NEW_N(arena, prt_lowered_input, from->n_dropped);
    if (to == NULL || constants == NULL || dropped == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < from->n_constants; i++)
        constants[i] = (uint32_t)e->draft->constants.count + from->constants[i];
    for (uint32_t i = 0; i < from->n_dropped; i++) {
        dropped[i].input = from->dropped[i].input;
        dropped[i].type = emit_type(e, from->dropped[i].type);
        if (dropped[i].type == NULL)
            return POPRT_E_NOMEM;
    }
    to->constants = constants;
    to->dropped = dropped;
    *out = to;
    return POPRT_OK;
}

static poprt_status emit_step(emitter *e, const prt_draft_step *s, prt_step *step, uint32_t *args,
    prt_eval_params *params)
{
    const prt_op *op = s->op;
    prt_arena *arena = e->program->arena;
    *step = (prt_step){ .kernel = (uint16_t)s->kernel,
        .args = e->program->n_args,
        .n_in = op->n_in,
        .n_out = op->n_out,
        .params = e->program->n_params };
    const uint32_t n = op->n_in + op->n_out;
    if (n != 0)
        memcpy(args + e->program->n_args, s->args, n * sizeof(uint32_t));
    e->program->n_args += n;
    prt_eval_params *p = &params[e->program->n_params++];
    p->def = op->def;
    p->n_regions = op->n_regions;
    p->regions = prt_arena_copy(arena, s->regions, op->n_regions * sizeof(uint32_t));
    char location[PRT_LOCATION_SIZE];
    prt_op_location(op, location);
    if (p->regions == NULL || !copy_str(e, prt_str_of(prt_op_label(op)), &p->origin) ||
        !copy_str(e, op->merged, &p->merged) || !copy_str(e, prt_str_of(location), &p->location))
        return POPRT_E_NOMEM;
    if (s->lowered != NULL)
        PRT_TRY(emit_lowered(e, s->lowered, &p->lowered));
    return emit_attrs(e, op, &p->attrs);
}

static poprt_status emit_block(emitter *e, const prt_draft_block *from, prt_block *to,
    uint32_t *args, prt_eval_params *params)
{
    prt_arena *arena = e->program->arena;
    to->parent = from->parent;
    to->is_static = from->is_static;
    to->plan_size = from->plan_size;
    to->plan_peak = from->plan_peak;
    to->n_inputs = from->n_inputs;
    to->n_outputs = from->n_outputs;
    to->inputs = prt_arena_copy(arena, from->inputs, from->n_inputs * sizeof(uint32_t));
    to->outputs = prt_arena_copy(arena, from->outputs, from->n_outputs * sizeof(uint32_t));
    to->n_buffers = (uint32_t)from->buffers.count;
    to->buffers = prt_arena_copy(arena, from->buffers.data, to->n_buffers * sizeof(prt_buffer));
    to->n_steps = (uint32_t)from->steps.count;
    prt_step *steps = PRT_NEW_N(arena, prt_step, to->n_steps);
    if (to->inputs == NULL || to->outputs == NULL || to->buffers == NULL || steps == NULL ||
        !copy_str(e, from->graph->name, &to->name))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < to->n_buffers; i++) {
        to->buffers[i].type = emit_type(e, to->buffers[i].type);
        if (to->buffers[i].space == PRT_SPACE_VARIABLE)
            to->buffers[i].name = e->program->variables[to->buffers[i].ref].name;
        if (to->buffers[i].type == NULL || !copy_str(e, to->buffers[i].name, &to->buffers[i].name))
            return POPRT_E_NOMEM;
    }
    for (uint32_t i = 0; i < to->n_steps; i++)
        PRT_TRY(emit_step(e, &from->steps.data[i], &steps[i], args, params));
    to->steps = steps;
    return POPRT_OK;
}

static poprt_status emit_blocks(emitter *e)
{
    prt_program *p = e->program;
    const prt_draft *d = e->draft;
    size_t n_args = 0, n_steps = 0;
    for (size_t k = 0; k < d->blocks.count; k++) {
        const prt_draft_block *b = d->blocks.data[k];
        n_steps += b->steps.count;
        for (size_t i = 0; i < b->steps.count; i++)
            n_args += (size_t)b->steps.data[i].op->n_in + b->steps.data[i].op->n_out;
    }
    if (n_args > UINT32_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL, "too many arguments");
    uint32_t *args = PRT_NEW_N(p->arena, uint32_t, n_args);
    p->params = PRT_NEW_N(p->arena, prt_eval_params, n_steps);
    p->blocks = PRT_NEW_N(p->arena, prt_block, d->blocks.count);
    if (args == NULL || p->params == NULL || p->blocks == NULL)
        return POPRT_E_NOMEM;
    p->args = args;
    p->n_blocks = (uint32_t)d->blocks.count;
    for (uint32_t k = 0; k < p->n_blocks; k++)
        PRT_TRY(emit_block(e, d->blocks.data[k], &p->blocks[k], args, p->params));
    return POPRT_OK;
}

static poprt_status emit_io(emitter *e)
{
    prt_program *p = e->program;
    const prt_graph *g = e->draft->module->main;
    const prt_block *b = &p->blocks[0];
    prt_io *in = PRT_NEW_N(p->arena, prt_io, b->n_inputs);
    prt_io *out = PRT_NEW_N(p->arena, prt_io, b->n_outputs);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < b->n_inputs; i++)
        in[i] = (prt_io){ .name = b->buffers[b->inputs[i]].name,
            .type = b->buffers[b->inputs[i]].type };
    for (uint32_t i = 0; i < b->n_outputs; i++) {
        out[i].type = b->buffers[b->outputs[i]].type;
        if (!copy_str(e, g->output_names.data[i], &out[i].name))
            return POPRT_E_NOMEM;
    }
    p->inputs = in;
    p->n_inputs = b->n_inputs;
    p->outputs = out;
    p->n_outputs = b->n_outputs;
    prt_program_mark_inputs(p);
    return copy_str(e, PRT_STR(POPRT_VERSION_STRING), &p->source) ? POPRT_OK : POPRT_E_NOMEM;
}

static bool is_listed(prt_str name, uint32_t n, const prt_str *list, uint32_t *at)
{
    for (*at = 0; *at < n; (*at)++)
        if (prt_str_equal(list[*at], name))
            return true;
    return false;
}

static poprt_status emit_flow(emitter *e)
{
    prt_program *p = e->program;
    const prt_compile_flow *from = e->draft->options->flow;
    uint32_t at;
    if (from == NULL)
        return POPRT_OK;
    bool *broadcast = PRT_NEW_N(p->arena, bool, p->n_inputs);
    prt_anchor *anchors = PRT_NEW_N(p->arena, prt_anchor, p->n_outputs);
    if (broadcast == NULL || anchors == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_inputs; i++)
        broadcast[i] = is_listed(p->inputs[i].name, from->n_broadcast, from->broadcast, &at);
    for (uint32_t i = 0; i < p->n_outputs; i++)
        anchors[i] = is_listed(p->outputs[i].name, from->n_anchors, from->anchor_names, &at)
            ? from->anchors[at]
            : (prt_anchor){ PRT_ANCHOR_all, 1 };
    p->has_flow = true;
    p->flow = from->flow;
    p->broadcast = broadcast;
    p->anchors = anchors;
    p->scaling = from->scaling;
    p->accumulates = from->accumulates;
    return copy_str(e, from->optimizer, &p->optimizer) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status emit_eliminated(emitter *e)
{
    const prt_compile_options *o = e->draft->options;
    prt_eliminated *eliminated = PRT_NEW_N(e->program->arena, prt_eliminated, o->n_eliminated);
    if (eliminated == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < o->n_eliminated; i++)
        if (!copy_str(e, o->eliminated[i].node, &eliminated[i].node) ||
            !copy_str(e, o->eliminated[i].op, &eliminated[i].op) ||
            !copy_str(e, o->eliminated[i].pass, &eliminated[i].pass))
            return POPRT_E_NOMEM;
    e->program->n_eliminated = o->n_eliminated;
    e->program->eliminated = eliminated;
    return POPRT_OK;
}

/* Copies a form of a weight, unless the program has something of its name already. */
static poprt_status emit_weight(emitter *e, prt_map *names, const prt_weight *from,
    prt_weight *weights)
{
    prt_program *p = e->program;
    prt_weight *to = &weights[p->n_weights];
    if (prt_map_find(names, from->form.name) != NULL)
        return POPRT_OK;
    *to = *from;
    if (!copy_str(e, from->form.name, &to->form.name) || !copy_str(e, from->pass, &to->pass))
        return POPRT_E_NOMEM;
    if (from->form.type != NULL) {
        to->form.type = emit_type(e, from->form.type);
        to->form.steps = prt_arena_copy(p->arena, from->form.steps,
            from->form.n_steps * sizeof(*from->form.steps));
        if (to->form.type == NULL || to->form.steps == NULL)
            return POPRT_E_NOMEM;
    }
    p->n_weights++;
    return prt_map_set(names, to->form.name, to);
}

/* Lists the weights that constants hold in other forms, and those that passes used up. */
static poprt_status emit_weights(emitter *e)
{
    prt_program *p = e->program;
    const prt_draft *d = e->draft;
    const prt_compile_options *o = d->options;
    prt_map names = prt_map_in(d->arena);
    size_t count = o->n_folded;
    for (size_t i = 0; i < d->constants.count; i++)
        for (const prt_held *h = d->constants.data[i]->held; h != NULL; h = h->next)
            count++;
    if (count == 0)
        return POPRT_OK;
    prt_weight *weights = PRT_NEW_N(p->arena, prt_weight, count);
    if (weights == NULL)
        return POPRT_E_NOMEM;
    p->weights = weights;
    for (uint32_t i = 0; i < p->n_constants; i++)
        PRT_TRY(prt_map_set(&names, p->constants[i].name, &p->constants[i]));
    for (uint32_t i = 0; i < p->n_variables; i++)
        PRT_TRY(prt_map_set(&names, p->variables[i].name, p));
    for (size_t i = 0; i < d->constants.count; i++)
        for (const prt_held *h = d->constants.data[i]->held; h != NULL; h = h->next) {
            const prt_weight weight = { .form = h->form,
                .constant = (uint32_t)i,
                .pass = PRT_STR("") };
            PRT_TRY(emit_weight(e, &names, &weight, weights));
        }
    for (uint32_t i = 0; i < o->n_folded; i++)
        PRT_TRY(emit_weight(e, &names, &o->folded[i], weights));
    return POPRT_OK;
}

static poprt_status emit_facts(emitter *e)
{
    prt_facts f;
    PRT_TRY(prt_module_facts(e->draft->module, e->program->arena, &f));
    prt_property *properties = PRT_NEW_N(e->program->arena, prt_property, f.n_properties);
    prt_str *const texts[] = { &f.producer_name, &f.producer_version, &f.domain, &f.doc,
        &f.graph_name, &f.graph_doc };
    if (properties == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        if (!copy_str(e, *texts[i], texts[i]))
            return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < f.n_properties; i++)
        if (!copy_str(e, f.properties[i].key, &properties[i].key) ||
            !copy_str(e, f.properties[i].value, &properties[i].value))
            return POPRT_E_NOMEM;
    f.properties = properties;
    e->program->facts = f;
    return POPRT_OK;
}

/* Keeps the mark of fused models only if inputs and outputs still agree with it. */
static void emit_fusion(emitter *e)
{
    const uint32_t n = prt_ir_merged_models(e->draft->module);
    e->program->n_graphs = prt_program_may_be_fused(e->program, n) ? n : 0;
}

static poprt_status emit_all(emitter *e)
{
    PRT_TRY(emit_eliminated(e));
    PRT_TRY(emit_dims(e));
    PRT_TRY(emit_constants(e));
    PRT_TRY(emit_variables(e));
    PRT_TRY(emit_weights(e));
    PRT_TRY(emit_blocks(e));
    PRT_TRY(emit_io(e));
    PRT_TRY(emit_flow(e));
    PRT_TRY(emit_facts(e));
    emit_fusion(e);
    return POPRT_OK;
}

poprt_status prt_compile_emit(prt_draft *d, prt_program **out)
{
    prt_program *p = NULL;
    PRT_TRY(prt_program_create(d->options->allocator, d->options->memory_limit, &p));
    emitter e = { .draft = d, .program = p };
    const poprt_status status = emit_all(&e);
    if (status != POPRT_OK) {
        prt_program_release(p);
        return status;
    }
    *out = p;
    return POPRT_OK;
}
