/* SPDX-License-Identifier: MIT */
/*
 * clone.c — deep copy of a module: own arena and pools, renumbered dense ids, without erased ops.
 *
 * Bytes of constants are shared (one more reference each). Files stay mapped for the node bytes
 * that ops were read from; strings, raw fields and attributes are copied.
 *
 * A graft copies into a module that holds other graphs. Names get a prefix; node bytes and raw
 * fields of graphs are not copied, because they contain the old names of values.
 */
#include "ir/ir.h"
#include "ir/place.h"

enum { MAX_DEPTH = 256 }; /* deepest nesting of regions */

/* A graph being copied; `values` maps ids of old values to new values. */
typedef struct frame {
    const prt_graph *from;
    prt_value **values;
    const struct frame *outer;
    uint32_t depth;
} frame;

typedef struct cloner {
    const prt_module *from;
    prt_module *to;
    prt_arena *scratch;
    int64_t *dims;     /* new dimension, by index of the old expression */
    prt_str prefix;    /* of a graft; else empty */
    prt_graph *inputs; /* of a graft: the graph that receives the main graph's inputs; else NULL */
} cloner;

/* ---- strings, dimensions and types */

static bool copy_str(cloner *c, prt_str from, prt_str *to)
{
    *to = from;
    if (from.data != NULL)
        *to = prt_module_str(c->to, from);
    return to->data != NULL || from.data == NULL;
}

/* Copies the name of a value, node, graph or symbol, with the prefix. */
static bool copy_name(cloner *c, prt_str from, prt_str *to)
{
    if (c->prefix.size == 0 || from.size == 0)
        return copy_str(c, from, to);
    char *text = PRT_NEW_N(c->scratch, char, (size_t)c->prefix.size + from.size);
    if (text == NULL || from.size > UINT32_MAX - c->prefix.size)
        return false;
    memcpy(text, c->prefix.data, c->prefix.size);
    memcpy(text + c->prefix.size, from.data, from.size);
    return copy_str(c, (prt_str){ text, c->prefix.size + from.size }, to);
}

static int64_t copy_dim(const cloner *c, int64_t dim)
{
    return prt_dim_is_expr(dim) ? c->dims[prt_dim_index(dim)] : dim;
}

/* Copies all dimension expressions. Operands precede the expressions that use them, so one pass in
 * order is enough. */
static poprt_status copy_dims(cloner *c)
{
    const size_t n = prt_dims_count(c->from->dims);
    c->dims = PRT_NEW_N(c->scratch, int64_t, n);
    if (c->dims == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const prt_dim_node *node = prt_dims_at(c->from->dims, i);
        prt_str symbol;
        if (node->op == PRT_DIM_SYMBOL && !copy_name(c, node->symbol, &symbol))
            return POPRT_E_NOMEM;
        if (node->op == PRT_DIM_SYMBOL)
            c->dims[i] = prt_dim_symbol(c->to->dims, symbol);
        else
            c->dims[i] = prt_dim_make(c->to->dims, (prt_dim_op)node->op, copy_dim(c, node->a),
                copy_dim(c, node->b));
    }
    return POPRT_OK;
}

/* Recursion is bounded by PRT_MAX_TYPE_DEPTH. */
static const prt_type *copy_type(cloner *c, const prt_type *type)
{
    if (type == NULL)
        return NULL;
    if (type->kind == PRT_VALUE_UNKNOWN)
        return prt_type_unknown(c->to->types);
    if (type->kind != PRT_VALUE_TENSOR) {
        const prt_type *elem = copy_type(c, type->elem);
        if (elem == NULL && type->elem != NULL)
            return NULL;
        return prt_type_wrap(c->to->types, type->kind, type->dtype, elem);
    }
    if (type->rank <= 0)
        return prt_type_tensor(c->to->types, type->dtype, type->rank, NULL);
    int64_t on_stack[PRT_MAX_RANK];
    int64_t *dims = on_stack;
    if (type->rank > PRT_MAX_RANK &&
        (dims = PRT_NEW_N(c->scratch, int64_t, (size_t)type->rank)) == NULL)
        return NULL;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = copy_dim(c, type->dims[i]);
    return prt_type_tensor(c->to->types, type->dtype, type->rank, dims);
}

static poprt_status copy_raws(cloner *c, const prt_raw *from, const prt_raw **to)
{
    const prt_raw **end = to;
    *to = NULL;
    for (; from != NULL; from = from->next) {
        prt_raw *raw = PRT_NEW(c->to->arena, prt_raw);
        if (raw == NULL)
            return POPRT_E_NOMEM;
        *raw = (prt_raw){ .field = from->field, .size = from->size };
        raw->bytes = prt_arena_copy(c->to->arena, from->bytes, from->size);
        if (raw->bytes == NULL)
            return POPRT_E_NOMEM;
        *end = raw;
        end = (const prt_raw **)&raw->next;
    }
    return POPRT_OK;
}

static poprt_status copy_source_node(cloner *c, const prt_source_node *from,
    const prt_source_node **to)
{
    if (from == NULL)
        return POPRT_OK;
    prt_source_node *copy = prt_arena_copy(c->to->arena, from, sizeof(*from));
    if (copy == NULL)
        return POPRT_E_NOMEM;
    copy->attrs = prt_attrs_clone(from->def, c->to->arena, from->attrs);
    if (copy->attrs == NULL || !copy_str(c, from->domain, &copy->domain) ||
        !copy_str(c, from->name, &copy->name))
        return POPRT_E_NOMEM;
    *to = copy;
    return copy_raws(c, from->fields, &copy->fields);
}

/* ---- values and ops */

/* Copies the elements followed by the characters. String elements point into their own blob or into
 * the old module's memory, so the blob cannot be shared. */
static poprt_status copy_strings(cloner *c, const prt_tensor *t, prt_blob **out)
{
    const size_t n = prt_tensor_count(t);
    const poprt_string *from = t->data;
    size_t size = t->size;
    for (size_t i = 0; i < n; i++)
        if (!prt_size_add(size, from[i].size + 1, &size))
            return prt_fail_nomem(SIZE_MAX);
    PRT_TRY(prt_blob_create(c->to->allocator, size, out));
    unsigned char *bytes = prt_blob_bytes(*out);
    size_t at = t->size;
    for (size_t i = 0; i < n; i++) {
        const poprt_string moved = { (const char *)bytes + at, from[i].size };
        if (moved.size != 0)
            memcpy(bytes + at, from[i].data, moved.size);
        memcpy(bytes + i * sizeof(moved), &moved, sizeof(moved));
        at += moved.size + 1;
    }
    return POPRT_OK;
}

static poprt_status copy_blob(cloner *c, const prt_value *from, prt_blob **out)
{
    prt_tensor t;
    if (from->type->dtype == PRT_DTYPE_string && prt_value_aligned(from, c->scratch, &t))
        return copy_strings(c, &t, out);
    *out = prt_blob_retain(from->constant);
    return POPRT_OK;
}

/* In a graft, a copied value gets a fresh name if the target module already has the name; an input
 * keeps its name. */
static poprt_status name_value(cloner *c, const prt_value *from, prt_value *to)
{
    prt_str name;
    if (!copy_name(c, from->name, &name))
        return POPRT_E_NOMEM;
    if (c->prefix.size != 0 && name.size != 0 && to->graph != c->inputs &&
        prt_map_find(&c->to->names, name) != NULL) {
        name = prt_module_fresh_name(c->to, name.data);
        if (name.data == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_value_set_name(to, name);
}

static poprt_status copy_value(cloner *c, frame *f, const prt_value *from, prt_value *to)
{
    to->type = copy_type(c, from->type);
    if (to->type == NULL || !copy_str(c, from->doc, &to->doc))
        return POPRT_E_NOMEM;
    PRT_TRY(name_value(c, from, to));
    f->values[from->id] = to;
    to->initializer = from->initializer;
    if (from->content == NULL)
        return POPRT_OK;
    prt_content *content = PRT_NEW(c->to->arena, prt_content);
    int64_t *values = PRT_NEW_N(c->to->arena, int64_t, from->content->count);
    if (content == NULL || values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < from->content->count; i++)
        values[i] = copy_dim(c, from->content->values[i]);
    *content = (prt_content){ .count = from->content->count, .values = values };
    to->content = content;
    return POPRT_OK;
}

static poprt_status find_value(const frame *f, const prt_value *from, prt_value **to)
{
    *to = NULL;
    if (from == NULL)
        return POPRT_OK;
    while (f != NULL && f->from != from->graph)
        f = f->outer;
    if (f == NULL || f->values[from->id] == NULL)
        return prt_fail(POPRT_E_INTERNAL, from->name.data, "value is used before it is made");
    *to = f->values[from->id];
    return POPRT_OK;
}

static poprt_status copy_attrs(cloner *c, const prt_op *from, prt_op *to)
{
    to->attrs = prt_attrs_clone(from->def, c->to->arena, from->attrs);
    if (to->attrs == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < from->def->n_attrs; i++) {
        if (from->def->attrs[i].kind != PRT_ATTR_type)
            continue;
        const prt_type **field =
            (const prt_type **)(void *)((char *)to->attrs + from->def->attrs[i].offset);
        const prt_type *type = copy_type(c, *field);
        if (type == NULL && *field != NULL)
            return POPRT_E_NOMEM;
        *field = type;
    }
    return POPRT_OK;
}

static poprt_status copy_graph(cloner *c, const prt_graph *from, prt_graph *to, const frame *outer);

static poprt_status copy_op(cloner *c, frame *f, const prt_op *from, prt_graph *graph)
{
    prt_op *to = prt_graph_add_op(graph, NULL, from->def, from->n_in, from->n_out, from->n_regions);
    if (to == NULL || !copy_name(c, from->origin, &to->origin) ||
        !copy_str(c, from->merged, &to->merged) || !copy_str(c, from->domain, &to->domain) ||
        !copy_str(c, from->name, &to->name))
        return POPRT_E_NOMEM;
    if (from->def != NULL)
        PRT_TRY(copy_attrs(c, from, to));
    for (uint32_t i = 0; i < from->n_in; i++) {
        prt_value *v;
        PRT_TRY(find_value(f, from->in[i].value, &v));
        prt_op_set_input(to, i, v);
    }
    for (uint32_t i = 0; i < from->n_regions; i++)
        PRT_TRY(copy_graph(c, from->regions[i], to->regions[i], f));
    for (uint32_t i = 0; i < from->n_out; i++)
        PRT_TRY(copy_value(c, f, &from->out[i], &to->out[i]));
    PRT_TRY(copy_raws(c, from->extra, &to->extra));
    PRT_TRY(prt_place_intern(c->to, prt_op_place(from), &to->place));
    to->source_opset = from->source_opset;
    PRT_TRY(copy_source_node(c, from->source_node, &to->source_node));
    if (c->prefix.size != 0)
        return POPRT_OK;
    to->source = from->source;
    to->source_size = from->source_size;
    return POPRT_OK;
}

static poprt_status copy_outputs(cloner *c, const frame *f, const prt_graph *from, prt_graph *to)
{
    const uint32_t n = from->ret->n_in;
    prt_value **values = PRT_NEW_N(c->scratch, prt_value *, n);
    prt_str *names = PRT_NEW_N(c->scratch, prt_str, n);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        PRT_TRY(find_value(f, from->ret->in[i].value, &values[i]));
        if (i < from->output_names.count && !copy_name(c, from->output_names.data[i], &names[i]))
            return POPRT_E_NOMEM;
    }
    return prt_graph_set_outputs(to, n, values, names);
}

/* A shared blob stays in the data file that holds it. */
static poprt_status copy_stored(cloner *c, const prt_value *from, prt_value *to)
{
    if (from->stored == NULL || c->prefix.size != 0 || to->constant != from->stored->blob)
        return POPRT_OK;
    prt_stored *stored = PRT_NEW(c->to->arena, prt_stored);
    if (stored == NULL || !copy_str(c, from->stored->location, &stored->location))
        return POPRT_E_NOMEM;
    stored->offset = from->stored->offset;
    stored->blob = to->constant;
    to->stored = stored;
    return POPRT_OK;
}

static poprt_status copy_leaves(cloner *c, frame *f, const prt_graph *from, prt_graph *to)
{
    for (size_t i = 0; i < from->inputs.count; i++) {
        const prt_value *v = from->inputs.data[i];
        prt_graph *taker = f->outer == NULL && c->inputs != NULL ? c->inputs : to;
        prt_value *copy = prt_graph_add_input(taker, PRT_STR(""), NULL);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(copy_value(c, f, v, copy));
        if (v->constant == NULL)
            continue;
        prt_blob *blob = NULL;
        PRT_TRY(copy_blob(c, v, &blob));
        PRT_TRY(prt_module_keep(c->to, blob));
        copy->constant = blob;
    }
    for (size_t i = 0; i < from->constants.count; i++) {
        const prt_value *v = from->constants.data[i];
        if (v->name.size == 0 && !prt_value_used(v))
            continue;
        prt_blob *blob = NULL;
        PRT_TRY(copy_blob(c, v, &blob));
        prt_value *copy = prt_graph_add_constant(to, PRT_STR(""), NULL, blob);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(copy_value(c, f, v, copy));
        PRT_TRY(copy_stored(c, v, copy));
    }
    for (size_t i = 0; i < from->variables.count; i++) {
        const prt_value *v = from->variables.data[i];
        prt_value *copy = prt_graph_variable(to, c->to->variables.data[v->variable->index]);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(copy_value(c, f, v, copy));
    }
    return POPRT_OK;
}

static poprt_status copy_graph(cloner *c, const prt_graph *from, prt_graph *to, const frame *outer)
{
    frame f = { .from = from, .outer = outer, .depth = outer != NULL ? outer->depth + 1 : 0 };
    if (f.depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, from->name.data, "regions are nested too deeply");
    f.values = PRT_NEW_N(c->scratch, prt_value *, (size_t)from->n_values + 1);
    if (f.values == NULL || !copy_name(c, from->name, &to->name) ||
        !copy_str(c, from->doc, &to->doc))
        return POPRT_E_NOMEM;
    to->contradictory = from->contradictory;
    if (c->prefix.size == 0)
        PRT_TRY(copy_raws(c, from->extra, &to->extra));
    PRT_TRY(copy_leaves(c, &f, from, to));
    for (const prt_op *op = from->first; op != NULL; op = op->next)
        PRT_TRY(copy_op(c, &f, op, to));
    return copy_outputs(c, &f, from, to);
}

/* ---- the module */

static poprt_status copy_variables(cloner *c)
{
    for (size_t i = 0; i < c->from->variables.count; i++) {
        const prt_ir_variable *v = c->from->variables.data[i];
        const prt_type *type = copy_type(c, v->type);
        prt_ir_variable *copy =
            type != NULL ? prt_module_add_variable(c->to, v->name, type, v->role) : NULL;
        if (copy == NULL)
            return POPRT_E_NOMEM;
        copy->init = v->init; /* keep_files retains it */
        copy->fill = v->fill;
        copy->of = v->of;
        copy->loss_scale = v->loss_scale;
    }
    return POPRT_OK;
}

static poprt_status copy_entries(cloner *c)
{
    for (size_t i = 0; i < c->from->entries.count; i++) {
        prt_graph *to = prt_module_entry(c->to, c->from->entries.data[i].kind);
        if (to == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(copy_graph(c, c->from->entries.data[i].graph, to, NULL));
    }
    return POPRT_OK;
}

static prt_str key_of(const prt_blob *const *blob)
{
    return (prt_str){ (const char *)blob, sizeof(*blob) };
}

static poprt_status mark_values(const prt_graph *g, prt_map *constants)
{
    for (size_t i = 0; i < g->inputs.count + g->constants.count; i++) {
        prt_value *v =
            i < g->inputs.count ? g->inputs.data[i] : g->constants.data[i - g->inputs.count];
        if (v->constant != NULL)
            PRT_TRY(prt_map_set(constants, key_of((const prt_blob *const *)&v->constant), v));
    }
    for (const prt_op *op = g->first; op != NULL; op = op->next)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(mark_values(op->regions[i], constants));
    return POPRT_OK;
}

/* Retains the blobs of the module that are not constants: files and converted parts that raw bytes
 * point into. */
static poprt_status keep_files(cloner *c)
{
    prt_map constants = prt_map_in(c->scratch);
    PRT_TRY(mark_values(c->from->main, &constants));
    for (size_t i = 0; i < c->from->entries.count; i++)
        PRT_TRY(mark_values(c->from->entries.data[i].graph, &constants));
    for (size_t i = 0; i < c->from->blobs.count; i++)
        if (prt_map_find(&constants, key_of((const prt_blob *const *)&c->from->blobs.data[i])) ==
            NULL)
            PRT_TRY(prt_module_keep(c->to, prt_blob_retain(c->from->blobs.data[i])));
    return POPRT_OK;
}

static poprt_status copy_module(cloner *c)
{
    prt_module *to = c->to;
    to->next_name = c->from->next_name;
    to->ir_version = c->from->ir_version;
    to->source = c->from->source; /* keep_files retains it */
    to->describes_values = c->from->describes_values;
    to->ops = c->from->ops;
    to->downgraded_opset = c->from->downgraded_opset;
    to->keeps_unread = c->from->keeps_unread;
    to->conversion_counts = c->from->conversion_counts;
    if (!copy_str(c, c->from->file, &to->file))
        return POPRT_E_NOMEM;
    for (const prt_opset *o = c->from->opsets; o != NULL; o = o->next)
        PRT_TRY(prt_module_set_opset(to, o->domain, o->version));
    PRT_TRY(copy_raws(c, c->from->extra, &to->extra));
    PRT_TRY(copy_dims(c));
    PRT_TRY(keep_files(c));
    PRT_TRY(copy_variables(c));
    PRT_TRY(copy_graph(c, c->from->main, to->main, NULL));
    return copy_entries(c);
}

poprt_status prt_ir_clone(const prt_module *module, prt_module **out)
{
    return prt_ir_clone_into(module, module->allocator, prt_arena_limit(module->arena), out);
}

poprt_status prt_ir_clone_into(const prt_module *module, const prt_allocator *allocator,
    size_t limit, prt_module **out)
{
    cloner c = { .from = module };
    PRT_TRY(prt_module_create(allocator, limit, &c.to));
    poprt_status status = prt_arena_create(allocator, 0, &c.scratch);
    if (status == POPRT_OK)
        status = copy_module(&c);
    prt_arena_release(c.scratch);
    if (status != POPRT_OK) {
        prt_module_release(c.to);
        return status;
    }
    *out = c.to;
    return POPRT_OK;
}

static poprt_status graft(cloner *c, prt_graph *to)
{
    PRT_TRY(copy_dims(c));
    PRT_TRY(keep_files(c));
    return copy_graph(c, c->from->main, to, NULL);
}

poprt_status prt_ir_graft(const prt_module *from, prt_str prefix, prt_graph *to)
{
    cloner c = { .from = from, .to = to->module, .prefix = prefix, .inputs = to->module->main };
    PRT_ASSERT(prefix.size != 0);
    PRT_TRY(prt_arena_create(from->allocator, 0, &c.scratch));
    const poprt_status status = graft(&c, to);
    prt_arena_release(c.scratch);
    return status;
}
