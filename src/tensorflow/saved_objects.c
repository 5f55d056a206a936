/* SPDX-License-Identifier: MIT */
/*
 * saved_objects.c — the object graph of TensorFlow 2. A function captures objects by their numbers
 * in the SavedObjectGraph. The checkpoint has a graph of its own, the TrackableObjectGraph, with
 * the keys of the objects' tensors. Both are walked together from their roots by the names of the
 * children, because the numbers need not agree.
 */
#include "tensorflow/saved_parts.h"

typedef PRT_VEC(prt_bytes) bytes_list;

typedef struct objects {
    prt_saved_model *m;
    prt_arena *arena;
    prt_tf_graph *graph;
    prt_bytes file;      /* SavedObjectGraph */
    uint32_t depth;      /* of its nodes */
    bytes_list saved;    /* SavedObject */
    bytes_list tracked;  /* TrackableObject of the checkpoint */
    prt_map functions;   /* names → index of the function + 1 */
    bytes_list concrete; /* SavedConcreteFunction */
    prt_str *keys;       /* of each saved object: its key in the checkpoint */
    uint8_t *visited;    /* saved objects that have been met */
} objects;

/* A saved object and its counterpart in the checkpoint. */
typedef struct pair {
    uint32_t saved, tracked;
} pair;

typedef PRT_VEC(pair) pair_list;

/* ---- reading the two graphs */

static poprt_status read_saved(objects *o)
{
    prt_str name;
    prt_bytes value;
    prt_wire w = prt_tf_open(o->file, PRT_TF_SavedObjectGraph, o->depth - 1);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_SavedObjectGraph_nodes) {
            if (!PRT_VEC_PUSH(o->arena, &o->saved, f.bytes))
                return POPRT_E_NOMEM;
        } else if (f.number == PRT_TF_SavedObjectGraph_concrete_functions) {
            PRT_TRY(prt_tf_entry(f.bytes, o->depth, &name, &value));
            if (!PRT_VEC_PUSH(o->arena, &o->concrete, value))
                return POPRT_E_NOMEM;
            PRT_TRY(prt_map_set(&o->functions, name, (void *)(uintptr_t)o->concrete.count));
        }
    }
    return w.status;
}

static poprt_status read_tracked(objects *o)
{
    prt_bytes bytes;
    PRT_TRY(prt_bundle_object_graph(o->m->bundle, &bytes));
    prt_wire w = prt_tf_open(bytes, PRT_TF_TrackableObjectGraph, 1);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_TrackableObjectGraph_nodes &&
            !PRT_VEC_PUSH(o->arena, &o->tracked, f.bytes))
            return POPRT_E_NOMEM;
    return w.status;
}

/* ---- walking them */

/* Reads an ObjectReference. */
static poprt_status read_child(prt_bytes bytes, uint32_t depth, uint64_t *id, prt_str *name)
{
    *id = 0;
    *name = PRT_STR("");
    prt_wire w = prt_tf_open(bytes, PRT_TF_ObjectReference, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_ObjectReference_node_id)
            *id = f.word;
        else if (f.number == PRT_TF_ObjectReference_local_name)
            *name = prt_wire_text(&w, &f);
    }
    return w.status;
}

/* Reads the key of a variable or table from the attributes of its counterpart. */
static poprt_status read_key(prt_bytes bytes, prt_str *key)
{
    prt_str name = PRT_STR("");
    prt_wire w = prt_tf_open(bytes, PRT_TF_SerializedTensor, 3);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_SerializedTensor_name)
            name = prt_wire_text(&w, &f);
        else if (f.number == PRT_TF_SerializedTensor_checkpoint_key)
            *key = prt_wire_text(&w, &f);
    }
    if (!prt_str_is(name, "VARIABLE_VALUE") && !prt_str_is(name, "table"))
        *key = (prt_str){ NULL, 0 };
    return w.status;
}

/* Reads an object of the checkpoint: its key, and its children by name. */
static poprt_status read_counterpart(objects *o, const pair *p, prt_map *children)
{
    uint64_t id;
    prt_str name;
    prt_wire w = prt_tf_open(o->tracked.data[p->tracked], PRT_TF_TrackableObject, 2);
    prt_field f;
    *children = prt_map_in(o->arena);
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_TrackableObject_attributes && o->keys[p->saved].data == NULL) {
            PRT_TRY(read_key(f.bytes, &o->keys[p->saved]));
        } else if (f.number == PRT_TF_TrackableObject_children) {
            PRT_TRY(read_child(f.bytes, 3, &id, &name));
            if (id < o->tracked.count)
                PRT_TRY(prt_map_set(children, name, (void *)(uintptr_t)(id + 1)));
        }
    }
    return w.status;
}

/* Appends the pairs of children with equal names. */
static poprt_status visit(objects *o, pair p, pair_list *stack)
{
    prt_map children;
    uint64_t id;
    prt_str name;
    PRT_TRY(read_counterpart(o, &p, &children));
    prt_wire w = prt_tf_open(o->saved.data[p.saved], PRT_TF_SavedObject, o->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_SavedObject_children)
            continue;
        PRT_TRY(read_child(f.bytes, o->depth + 1, &id, &name));
        const uintptr_t tracked = (uintptr_t)prt_map_find(&children, name);
        if (id >= o->saved.count || tracked == 0 || o->visited[id])
            continue;
        const pair next = { (uint32_t)id, (uint32_t)(tracked - 1) };
        o->visited[id] = 1;
        if (!PRT_VEC_PUSH(o->arena, stack, next))
            return POPRT_E_NOMEM;
    }
    return w.status;
}

static poprt_status find_keys(objects *o)
{
    pair_list stack = { 0 };
    const pair root = { 0, 0 };
    if (o->saved.count == 0 || o->tracked.count == 0)
        return POPRT_OK;
    o->visited[0] = 1;
    if (!PRT_VEC_PUSH(o->arena, &stack, root))
        return POPRT_E_NOMEM;
    while (stack.count > 0)
        PRT_TRY(visit(o, stack.data[--stack.count], &stack));
    return POPRT_OK;
}

/* ---- captures */

/* Reads which kind of object this is: a variable or a resource. */
static poprt_status read_kind(objects *o, uint64_t id, uint32_t *kind)
{
    *kind = 0;
    prt_wire w = prt_tf_open(o->saved.data[id], PRT_TF_SavedObject, o->depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_SavedObject_variable || f.number == PRT_TF_SavedObject_resource)
            *kind = f.number;
    return w.status;
}

/* Returns KEY-keys or KEY-values if the checkpoint has it. */
static poprt_status table_entry(objects *o, prt_str key, const char *end, prt_str *out)
{
    const size_t size = key.size + strlen(end);
    char *text = size <= INT32_MAX ? prt_arena_alloc(o->arena, size + 1) : NULL;
    if (text == NULL)
        return POPRT_E_NOMEM;
    memcpy(text, key.data, key.size);
    memcpy(text + key.size, end, strlen(end));
    *out = (prt_str){ text, (uint32_t)size };
    if (prt_sorted_table_find(&o->m->bundle->index, *out) == NULL)
        out->data = NULL;
    return POPRT_OK;
}

static poprt_status add_capture(objects *o, const prt_tf_node *node, uint64_t id)
{
    prt_saved_table table = { 0 };
    uint32_t kind;
    if (id >= o->saved.count)
        return prt_fail(POPRT_E_PARSE, NULL, "a function captures object %llu of %zu",
            (unsigned long long)id, o->saved.count);
    PRT_TRY(read_kind(o, id, &kind));
    prt_saved_resource r = { .key = o->keys[id] };
    if (kind == PRT_TF_SavedObject_resource && r.key.data != NULL) {
        PRT_TRY(table_entry(o, r.key, "-keys", &table.key_entry));
        PRT_TRY(table_entry(o, r.key, "-values", &table.value_entry));
        if (table.key_entry.data == NULL || table.value_entry.data == NULL)
            return POPRT_OK;
        r.key = PRT_STR("");
        r.table = prt_arena_copy(o->arena, &table, sizeof(table));
        if (r.table == NULL)
            return POPRT_E_NOMEM;
    } else if (kind != PRT_TF_SavedObject_variable || r.key.data == NULL) {
        return POPRT_OK;
    }
    prt_saved_resource *kept = prt_arena_copy(o->arena, &r, sizeof(r));
    return kept != NULL ? prt_map_set(&o->m->by_node, node->name, kept) : POPRT_E_NOMEM;
}

/* Reads the numbers of the objects that a function captures. */
static poprt_status read_captures(objects *o, prt_bytes bytes, uint64_t **ids, size_t *count)
{
    PRT_VEC(uint64_t) list = { 0 };
    uint64_t id;
    prt_wire w = prt_tf_open(bytes, PRT_TF_SavedConcreteFunction, o->depth + 1);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_SavedConcreteFunction_bound_inputs)
            continue;
        while (prt_wire_item(&w, &f, &id))
            if (!PRT_VEC_PUSH(o->arena, &list, id))
                return POPRT_E_NOMEM;
    }
    *ids = list.data;
    *count = list.count;
    return w.status;
}

/* The last inputs of a call are what its function captures. */
static poprt_status resolve_call(objects *o, const prt_tf_node *call)
{
    const prt_tf_attr *attr = prt_tf_attr_find(call->attrs, call->n_attrs, PRT_STR("f"));
    const prt_tf_body *body = &o->graph->main;
    prt_tf_attr_value v;
    prt_tf_func func = { .name = call->op };
    uint64_t *ids;
    size_t count;
    if (attr != NULL) {
        PRT_TRY(prt_tf_attr_read(attr, &v));
        if (v.kind != PRT_TF_ATTR_func)
            return POPRT_OK;
        PRT_TRY(prt_tf_func_read(o->arena, v.bytes, attr->depth + 1, &func));
    }
    const uintptr_t index = (uintptr_t)prt_map_find(&o->functions, func.name);
    if (index == 0)
        return POPRT_OK;
    PRT_TRY(read_captures(o, o->concrete.data[index - 1], &ids, &count));
    if (count > call->n_in)
        return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' has %u inputs; its function captures %zu",
            PRT_STR_ARG(call->name), call->n_in, count);
    for (size_t i = 0; i < count; i++)
        PRT_TRY(add_capture(o, &body->nodes[call->in[call->n_in - count + i].node], ids[i]));
    return POPRT_OK;
}

poprt_status prt_saved_objects_resolve(prt_saved_model *m, prt_tf_graph *graph)
{
    objects o = { .m = m,
        .arena = m->arena,
        .graph = graph,
        .depth = m->depth + 2,
        .functions = prt_map_in(m->arena) };
    prt_wire w = prt_tf_open(m->meta_graph, PRT_TF_MetaGraph, m->depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_MetaGraph_object_graph_def)
            o.file = f.bytes;
    PRT_TRY(w.status);
    if (o.file.size == 0 || m->bundle == NULL)
        return POPRT_OK;
    PRT_TRY(read_saved(&o));
    PRT_TRY(read_tracked(&o));
    o.keys = PRT_NEW_N(o.arena, prt_str, o.saved.count);
    o.visited = prt_arena_alloc(o.arena, o.saved.count);
    if (o.keys == NULL || o.visited == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(find_keys(&o));
    for (uint32_t i = 0; i < graph->main.n_nodes; i++)
        PRT_TRY(resolve_call(&o, &graph->main.nodes[i]));
    return POPRT_OK;
}
