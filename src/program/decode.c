/* SPDX-License-Identifier: MIT */
/*
 * decode.c — decodes a program from bytes. Every length is checked against the bytes left before
 * any allocation. check.c checks the relations between the parts.
 */
#include "op/op.h"
#include "op/words.h"
#include "program/lowered.h"
#include "program/source.h"

static void get_strings(prt_source *s, prt_tensor *t)
{
    const size_t n = prt_tensor_count(t);
    if (n > (size_t)(s->end - s->at) / 4) {
        prt_source_fail_damaged(s, "a string tensor is larger than what follows");
        return;
    }
    poprt_string *strings = prt_get_array(s, (uint32_t)n, sizeof(*strings));
    for (size_t i = 0; s->status == POPRT_OK && i < n; i++) {
        const prt_str text = prt_get_str(s);
        strings[i] = (poprt_string){ text.data, text.size };
    }
    t->data = strings;
}

static const prt_tensor *get_tensor(prt_source *s)
{
    if (prt_get_u32(s) == 0)
        return NULL;
    const int32_t dtype = (int32_t)prt_get_u32(s);
    const uint32_t rank = prt_get_u32(s);
    int64_t dims[PRT_MAX_RANK] = { 0 };
    if (rank > PRT_MAX_RANK)
        prt_source_fail_damaged(s, "a tensor's rank is too large");
    for (uint32_t i = 0; s->status == POPRT_OK && i < rank; i++)
        dims[i] = prt_get_i64(s);
    prt_tensor *t = prt_get_array(s, 1, sizeof(prt_tensor));
    if (s->status != POPRT_OK)
        return NULL;
    if (!prt_tensor_init(t, dtype, rank, dims, NULL)) {
        prt_source_fail_damaged(s, "a tensor's shape is impossible");
        return NULL;
    }
    if (dtype == PRT_DTYPE_string) {
        get_strings(s, t);
        return t;
    }
    if (prt_get_u64(s) != t->size)
        prt_source_fail_damaged(s, "a tensor's size does not fit its shape");
    const unsigned char *p = prt_source_read(s, t->size);
    t->data = p != NULL ? prt_arena_copy(s->arena, p, t->size) : NULL;
    if (t->data == NULL)
        prt_source_fail(s, POPRT_E_NOMEM);
    return t;
}

static void get_attr(prt_source *s, uint32_t kind, void *at)
{
    switch (kind) {
    case PRT_ATTR_i64:
        *(int64_t *)at = prt_get_i64(s);
        break;
    case PRT_ATTR_f32:
        *(float *)at = prt_get_f32(s);
        break;
    case PRT_ATTR_str:
        *(prt_str *)at = prt_get_str(s);
        break;
    case PRT_ATTR_act:
    case PRT_ATTR_form:
    case PRT_ATTR_products:
        if (!prt_attr_set_word(kind, prt_get_str(s), at))
            prt_source_fail_damaged(s, "an attribute has an unknown word");
        break;
    case PRT_ATTR_i64s: {
        const uint32_t n = prt_get_count(s, 8);
        int64_t *data = prt_get_array(s, n, sizeof(int64_t));
        for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++)
            data[i] = prt_get_i64(s);
        *(prt_i64s *)at = (prt_i64s){ data, n };
        break;
    }
    case PRT_ATTR_f32s: {
        const uint32_t n = prt_get_count(s, 4);
        float *data = prt_get_array(s, n, sizeof(float));
        for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++)
            data[i] = prt_get_f32(s);
        *(prt_f32s *)at = (prt_f32s){ data, n };
        break;
    }
    case PRT_ATTR_strs: {
        const uint32_t n = prt_get_count(s, 4);
        prt_str *data = prt_get_array(s, n, sizeof(prt_str));
        for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++)
            data[i] = prt_get_str(s);
        *(prt_strs *)at = (prt_strs){ data, n };
        break;
    }
    case PRT_ATTR_tensor:
        *(const prt_tensor **)at = get_tensor(s);
        break;
    case PRT_ATTR_graph:
        *(uint32_t *)at = prt_get_u32(s);
        break;
    default:
        *(const prt_type **)at = prt_get_u32(s) != 0 ? prt_get_type(s) : NULL;
        break;
    }
}

static void get_params(prt_source *s, prt_eval_params *p)
{
    const prt_str domain = prt_get_str(s), name = prt_get_str(s);
    p->origin = prt_get_str(s);
    p->merged = s->version >= 2 ? prt_get_str(s) : PRT_STR("");
    p->location = PRT_STR("");
    const prt_str plugin = s->version >= 3 ? prt_get_str(s) : PRT_STR("");
    if (s->status != POPRT_OK)
        return;
    p->def = prt_op_find_in(s->program->ops, domain, name);
    if (p->def == NULL && plugin.size != 0) {
        prt_source_fail(s,
            prt_fail(POPRT_E_PLUGIN, p->origin.data,
                "executable needs operator %.100s.%.100s of plug-in %.100s: load that "
                "first (poprt_env_load_plugin, or --plugin)",
                domain.data, name.data, plugin.data));
        return;
    }
    if (p->def == NULL) {
        prt_source_fail(s,
            prt_fail(POPRT_E_VERSION, p->origin.data,
                "executable needs operator %.100s, which this build does not have", name.data));
        return;
    }
    char *attrs = prt_arena_copy(s->arena, p->def->defaults, p->def->attrs_size);
    if (attrs == NULL) {
        prt_source_fail(s, POPRT_E_NOMEM);
        return;
    }
    p->attrs = attrs;
    const uint32_t n = prt_get_count(s, 12);
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        const prt_str attr = prt_get_str(s);
        const uint32_t kind = prt_get_u32(s), given = prt_get_u32(s);
        const uint32_t index = s->status == POPRT_OK ? prt_op_attr(p->def, attr) : UINT32_MAX;
        if (index == UINT32_MAX || prt_attr_outer_kind(p->def->attrs[index].kind) != kind) {
            prt_source_fail_damaged(s, "an attribute is not of its operator");
            return;
        }
        get_attr(s, p->def->attrs[index].kind, attrs + p->def->attrs[index].offset);
        if (given != 0)
            *(uint64_t *)(void *)attrs |= (uint64_t)1 << index;
    }
    p->n_regions = prt_get_count(s, 4);
    uint32_t *regions = prt_get_array(s, p->n_regions, sizeof(uint32_t));
    for (uint32_t i = 0; s->status == POPRT_OK && i < p->n_regions; i++)
        regions[i] = prt_get_u32(s);
    p->regions = regions;
#ifndef PRT_NO_COMPILER
    if (s->version >= PRT_CODEC_LOWERED && plugin.size != 0)
        prt_lowered_decode(s, p);
#endif
}

static const uint32_t *get_indices(prt_source *s, uint32_t *count)
{
    *count = prt_get_count(s, 4);
    uint32_t *list = prt_get_array(s, *count, sizeof(uint32_t));
    for (uint32_t i = 0; s->status == POPRT_OK && i < *count; i++)
        list[i] = prt_get_u32(s);
    return list;
}

static void get_block(prt_source *s, prt_block *b)
{
    b->name = prt_get_str(s);
    b->parent = prt_get_u32(s);
    b->is_static = prt_get_u32(s) != 0;
    b->plan_size = prt_get_u64(s);
    b->plan_peak = prt_get_u64(s);
    b->inputs = get_indices(s, &b->n_inputs);
    b->outputs = get_indices(s, &b->n_outputs);
    b->n_buffers = prt_get_count(s, 40);
    b->buffers = prt_get_array(s, b->n_buffers, sizeof(prt_buffer));
    for (uint32_t i = 0; s->status == POPRT_OK && i < b->n_buffers; i++) {
        prt_buffer *x = &b->buffers[i];
        x->name = prt_get_str(s);
        x->type = prt_get_type(s);
        x->space = prt_get_u32(s);
        x->ref = prt_get_u32(s);
        x->first = prt_get_u32(s);
        x->last = prt_get_u32(s);
        x->offset = prt_get_u64(s);
    }
    b->n_steps = prt_get_count(s, 20);
    prt_step *steps = prt_get_array(s, b->n_steps, sizeof(prt_step));
    for (uint32_t i = 0; s->status == POPRT_OK && i < b->n_steps; i++) {
        const uint32_t kernel = prt_get_u32(s);
        steps[i].kernel = (uint16_t)(kernel < PRT_KERNEL_COUNT ? kernel : PRT_KERNEL_COUNT);
        steps[i].args = prt_get_u32(s);
        steps[i].n_in = prt_get_u32(s);
        steps[i].n_out = prt_get_u32(s);
        steps[i].params = prt_get_u32(s);
    }
    b->steps = steps;
}

/* Recreates the nodes in their original order, so that expressions keep their indices. */
static void get_dims(prt_source *s)
{
    prt_dims *dims = s->program->dims;
    const uint32_t n = prt_get_count(s, 8);
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        const uint32_t op = prt_get_u32(s);
        if (op == PRT_DIM_SYMBOL) {
            const prt_str name = prt_get_str(s);
            if (s->status == POPRT_OK)
                (void)prt_dim_symbol(dims, name);
        } else {
            const int64_t a = prt_get_i64(s), b = prt_get_i64(s);
            if (op >= PRT_DIM_OPS || (prt_dim_is_expr(a) && prt_dim_index(a) >= i) ||
                (prt_dim_is_expr(b) && prt_dim_index(b) >= i))
                prt_source_fail_damaged(s, "an expression is invalid");
            else
                (void)prt_dim_make(dims, (prt_dim_op)op, a, b);
        }
        if (s->status == POPRT_OK && prt_dims_count(dims) != (size_t)i + 1)
            prt_source_fail_damaged(s, "an expression is not in its simplified form");
    }
}

static prt_io *get_io(prt_source *s, uint32_t *count)
{
    *count = prt_get_count(s, 16);
    prt_io *io = prt_get_array(s, *count, sizeof(prt_io));
    for (uint32_t i = 0; s->status == POPRT_OK && i < *count; i++) {
        io[i].name = prt_get_str(s);
        io[i].type = prt_get_type(s);
    }
    return io;
}

static void get_constants(prt_source *s)
{
    prt_program *p = s->program;
    const uint32_t n = prt_get_count(s, 16);
    prt_constant *constants = prt_get_array(s, n, sizeof(prt_constant));
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        constants[i].name = prt_get_str(s);
        constants[i].type = prt_get_type(s);
        if (s->status == POPRT_OK && !prt_type_is_static(constants[i].type))
            prt_source_fail_damaged(s, "a constant has no fixed shape");
    }
    p->constants = constants;
    p->n_constants = s->status == POPRT_OK ? n : 0;
}

static void get_eliminated(prt_source *s)
{
    s->program->n_eliminated = prt_get_count(s, 12);
    prt_eliminated *eliminated = prt_get_array(s, s->program->n_eliminated, sizeof(prt_eliminated));
    for (uint32_t i = 0; s->status == POPRT_OK && i < s->program->n_eliminated; i++) {
        eliminated[i].node = prt_get_str(s);
        eliminated[i].op = prt_get_str(s);
        eliminated[i].pass = prt_get_str(s);
    }
    s->program->eliminated = eliminated;
}

static void get_facts(prt_source *s)
{
    prt_facts *f = &s->program->facts;
    f->producer_name = prt_get_str(s);
    f->producer_version = prt_get_str(s);
    f->domain = prt_get_str(s);
    f->doc = prt_get_str(s);
    f->graph_name = prt_get_str(s);
    f->graph_doc = prt_get_str(s);
    f->model_version = prt_get_i64(s);
    f->ir_version = prt_get_i64(s);
    f->opset = prt_get_i64(s);
    const uint32_t n = prt_get_count(s, 8);
    prt_property *properties = prt_get_array(s, n, sizeof(prt_property));
    for (uint32_t i = 0; s->status == POPRT_OK && i < n; i++) {
        properties[i].key = prt_get_str(s);
        properties[i].value = prt_get_str(s);
    }
    f->properties = properties;
    f->n_properties = s->status == POPRT_OK ? n : 0;
}

static void get_variables(prt_source *s)
{
    prt_program *p = s->program;
    p->n_variables = prt_get_count(s, 32);
    prt_variable *variables = prt_get_array(s, p->n_variables, sizeof(prt_variable));
    for (uint32_t i = 0; s->status == POPRT_OK && i < p->n_variables; i++) {
        prt_variable *v = &variables[i];
        v->name = prt_get_str(s);
        v->type = prt_get_type(s);
        v->role = prt_get_u32(s);
        v->init = prt_get_u32(s);
        v->fill = prt_get_f32(s);
        v->of = prt_get_u32(s);
        v->loss_scale = (int32_t)prt_get_u32(s);
    }
    p->variables = variables;
    p->n_entries = prt_get_count(s, 8);
    prt_entry *entries = prt_get_array(s, p->n_entries, sizeof(prt_entry));
    for (uint32_t i = 0; s->status == POPRT_OK && i < p->n_entries; i++) {
        entries[i].kind = prt_get_u32(s);
        entries[i].block = prt_get_u32(s);
    }
    p->entries = entries;
}

static void get_flow(prt_source *s)
{
    prt_program *p = s->program;
    p->has_flow = prt_get_u32(s) != 0;
    if (!p->has_flow)
        return;
    p->flow.batches = prt_get_i64(s);
    p->flow.accumulation = prt_get_i64(s);
    p->flow.replicas = prt_get_i64(s);
    p->flow.input_group = prt_get_i64(s);
    p->flow.input_grouping = prt_get_u32(s);
    p->flow.reduction = prt_get_u32(s);
    bool *broadcast = prt_get_array(s, p->n_inputs, sizeof(bool));
    prt_anchor *anchors = prt_get_array(s, p->n_outputs, sizeof(prt_anchor));
    for (uint32_t i = 0; s->status == POPRT_OK && i < p->n_inputs; i++)
        broadcast[i] = prt_get_u32(s) != 0;
    for (uint32_t i = 0; s->status == POPRT_OK && i < p->n_outputs; i++) {
        anchors[i].mode = prt_get_u32(s);
        anchors[i].period = prt_get_i64(s);
    }
    p->broadcast = broadcast;
    p->anchors = anchors;
    p->scaling.counts = prt_get_u32(s);
    p->scaling.factor = prt_get_u32(s);
    p->scaling.threshold = prt_get_f32(s);
    p->scaling.period = prt_get_i64(s);
    p->optimizer = prt_get_str(s);
    p->accumulates = prt_get_u32(s) != 0;
}

poprt_status prt_program_decode(prt_program *program, const void *bytes, size_t size)
{
    prt_source s = { .program = program,
        .arena = program->arena,
        .at = bytes,
        .end = (const unsigned char *)bytes + size,
        .status = POPRT_OK };
    const uint32_t version = s.version = prt_get_u32(&s);
    if (s.status == POPRT_OK && (version < PRT_CODEC_OLDEST || version > PRT_CODEC_VERSION))
        return prt_fail(POPRT_E_VERSION, NULL,
            "executable has format %u, this library reads %u to %u: compile the model again",
            version, PRT_CODEC_OLDEST, PRT_CODEC_VERSION);
    program->source = prt_get_str(&s);
    get_dims(&s);
    get_constants(&s);
    program->inputs = get_io(&s, &program->n_inputs);
    program->outputs = get_io(&s, &program->n_outputs);
    program->args = get_indices(&s, &program->n_args);
    program->n_params = prt_get_count(&s, 20);
    program->params = prt_get_array(&s, program->n_params, sizeof(prt_eval_params));
    for (uint32_t i = 0; s.status == POPRT_OK && i < program->n_params; i++)
        get_params(&s, &program->params[i]);
    program->n_blocks = prt_get_count(&s, 40);
    program->blocks = prt_get_array(&s, program->n_blocks, sizeof(prt_block));
    for (uint32_t i = 0; s.status == POPRT_OK && i < program->n_blocks; i++)
        get_block(&s, &program->blocks[i]);
    if (s.version >= 2)
        get_eliminated(&s);
    if (s.version >= PRT_CODEC_FUSED)
        program->n_graphs = prt_get_u32(&s);
    if (s.version >= PRT_CODEC_FACTS)
        get_facts(&s);
    if (s.version >= PRT_CODEC_VARIABLES) {
        get_variables(&s);
        get_flow(&s);
    }
    for (uint32_t i = 0;
         s.version >= PRT_CODEC_LOCATIONS && s.status == POPRT_OK && i < program->n_params; i++)
        program->params[i].location = prt_get_str(&s);
    if (s.status == POPRT_OK && s.at != s.end)
        prt_source_fail_damaged(&s, "bytes are left over");
    return s.status;
}
