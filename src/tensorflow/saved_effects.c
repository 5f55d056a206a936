/* SPDX-License-Identifier: MIT */
/*
 * saved_effects.c — what the nodes that TensorFlow runs after loading a model would do: restore
 * variables from the checkpoint, and fill lookup tables. They are found by following control edges
 * and calls from the restore op of the saver, and from the init ops.
 */
#include "tensorflow/saved_parts.h"

enum {
    MAX_FRAMES = 4096, /* calls of functions that are followed */
    MAX_NESTING = 64,
    MAX_STEPS = 10000 /* nodes between a value and the node that makes it */
};

/* A body, and the call through which it was entered. */
typedef struct frame {
    const prt_tf_body *body;
    const struct frame *caller; /* NULL: the main graph */
    const prt_tf_node *call;    /* in the body of the caller */
    uint32_t depth;
} frame;

/* A node in a frame. */
typedef struct place {
    const frame *frame;
    const prt_tf_node *node;
    uint32_t output;
} place;

typedef PRT_VEC(place) place_list;
typedef PRT_VEC(prt_str) text_list;

/* The texts of a constant, kept from one use to the next. */
typedef struct texts {
    const prt_tf_node *node;
    text_list list;
} texts;

typedef struct tracer {
    prt_saved_model *m;
    prt_arena *arena;
    prt_tf_graph *graph;
    frame main;
    place_list effects;
    uint32_t frames;
    prt_map assigned; /* names of variables → place of the first node that assigns them */
    texts names, slices;
} tracer;

typedef enum effect_kind {
    EFFECT_none,
    EFFECT_assign,
    EFFECT_import,
    EFFECT_text_file
} effect_kind;

static effect_kind kind_of(const prt_tf_node *node)
{
    static const struct {
        const char *op;
        effect_kind kind;
    } kinds[] = { { "Assign", EFFECT_assign }, { "AssignVariableOp", EFFECT_assign },
        { "InitializeTable", EFFECT_import }, { "InitializeTableV2", EFFECT_import },
        { "LookupTableImport", EFFECT_import }, { "LookupTableImportV2", EFFECT_import },
        { "InitializeTableFromTextFile", EFFECT_text_file },
        { "InitializeTableFromTextFileV2", EFFECT_text_file } };
    for (size_t i = 0; i < PRT_COUNT_OF(kinds); i++)
        if (prt_str_is(node->op, kinds[i].op))
            return kinds[i].kind;
    return EFFECT_none;
}

/* ---- attributes */

static poprt_status read_attr(const prt_tf_node *node, prt_str name, prt_tf_attr_value *out,
    uint32_t *depth)
{
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, name);
    *out = (prt_tf_attr_value){ .s = PRT_STR("") };
    if (attr == NULL)
        return POPRT_OK;
    *depth = attr->depth;
    return prt_tf_attr_read(attr, out);
}

static int64_t int_attr(const prt_tf_node *node, prt_str name, int64_t absent)
{
    prt_tf_attr_value v;
    uint32_t depth;
    return read_attr(node, name, &v, &depth) == POPRT_OK && v.kind == PRT_TF_ATTR_i ? v.i : absent;
}

prt_str prt_saved_resource_name(prt_arena *arena, const prt_tf_node *node)
{
    /* TensorFlow gives this name to all variables that are not shared. */
    static const char anonymous[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";
    prt_tf_attr_value shared, container;
    uint32_t depth;
    if (read_attr(node, PRT_STR("shared_name"), &shared, &depth) != POPRT_OK ||
        read_attr(node, PRT_STR("container"), &container, &depth) != POPRT_OK)
        return (prt_str){ NULL, 0 };
    const prt_str name =
        shared.s.size == 0 || prt_str_is(shared.s, anonymous) ? node->name : shared.s;
    if (container.s.size == 0)
        return name;
    const size_t size = (size_t)container.s.size + name.size + 1;
    char *text = size <= UINT32_MAX ? prt_arena_alloc(arena, size) : NULL;
    if (text == NULL)
        return (prt_str){ NULL, 0 };
    memcpy(text, container.s.data, container.s.size);
    memcpy(text + container.s.size + 1, name.data, name.size);
    return (prt_str){ text, (uint32_t)size };
}

/* ---- following control edges and calls */

static poprt_status collect(tracer *t, const frame *f, const prt_tf_node *node);

/* Finds the function that a node calls; NULL if it calls none. */
static poprt_status callee_of(tracer *t, const prt_tf_node *node, const prt_tf_function **out)
{
    prt_tf_attr_value v;
    uint32_t depth = 0;
    prt_str name = node->op;
    *out = NULL;
    if (prt_str_is(node->op, "PartitionedCall") ||
        prt_str_is(node->op, "StatefulPartitionedCall")) {
        prt_tf_func func;
        PRT_TRY(read_attr(node, PRT_STR("f"), &v, &depth));
        if (v.kind != PRT_TF_ATTR_func)
            return POPRT_OK;
        PRT_TRY(prt_tf_func_read(t->arena, v.bytes, depth + 1, &func));
        name = func.name;
    }
    if (prt_map_find(&t->graph->functions, name) == NULL)
        return POPRT_OK;
    *out = prt_tf_function_find(t->graph, name);
    return *out != NULL ? POPRT_OK : prt_error_last()->status;
}

/* Collects the effects of all nodes of a function. */
static poprt_status enter(tracer *t, const frame *caller, const prt_tf_node *call)
{
    const prt_tf_function *fn;
    PRT_TRY(callee_of(t, call, &fn));
    if (fn == NULL || fn->body->n_args > call->n_in)
        return POPRT_OK;
    if (++t->frames > MAX_FRAMES || caller->depth == MAX_NESTING)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "the functions that initialise the model call too many others");
    frame *f = PRT_NEW(t->arena, frame);
    if (f == NULL)
        return POPRT_E_NOMEM;
    *f = (frame){ fn->body, caller, call, caller->depth + 1 };
    for (uint32_t i = 0; i < fn->body->n_nodes; i++)
        PRT_TRY(collect(t, f, &fn->body->nodes[i]));
    return POPRT_OK;
}

static poprt_status collect(tracer *t, const frame *f, const prt_tf_node *node)
{
    const place at = { f, node, 0 };
    if (kind_of(node) == EFFECT_none)
        return enter(t, f, node);
    if (node->n_in < 2)
        return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' lacks an input", PRT_STR_ARG(node->name));
    return PRT_VEC_PUSH(t->arena, &t->effects, at) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Collects the effects of a node of the main graph and of those that it runs after. */
static poprt_status follow(tracer *t, prt_str root, uint8_t *visited)
{
    PRT_VEC(uint32_t) stack = { 0 };
    const prt_tf_body *body = t->main.body;
    for (uint32_t i = 0; i < root.size; i++)
        if (root.data[i] == ':')
            root.size = i;
    const prt_tf_node *node = prt_map_find(&body->names, root);
    if (node == NULL)
        return POPRT_OK;
    if (!PRT_VEC_PUSH(t->arena, &stack, (uint32_t)(node - body->nodes)))
        return POPRT_E_NOMEM;
    while (stack.count > 0) {
        const uint32_t at = stack.data[--stack.count];
        if (visited[at])
            continue;
        visited[at] = 1;
        node = &body->nodes[at];
        PRT_TRY(collect(t, &t->main, node));
        for (uint32_t i = 0; i < node->n_control; i++)
            if (!PRT_VEC_PUSH(t->arena, &stack, node->control[i]))
                return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* ---- where a value comes from */

static bool is_identity(const prt_tf_node *node)
{
    return prt_str_is(node->op, "Identity") || prt_str_is(node->op, "PlaceholderWithDefault");
}

/* Replaces the argument of a function by what its call passes. Returns false for another node. */
static bool leave(const frame **f, prt_tf_edge *edge)
{
    if ((*f)->caller == NULL || edge->node >= (*f)->body->n_args)
        return false;
    *edge = (*f)->call->in[edge->node];
    *f = (*f)->caller;
    return true;
}

/* Follows a value through identities, arguments, and variables that an initialiser assigns, to the
 * node that makes it. */
static poprt_status origin(tracer *t, const frame *f, prt_tf_edge edge, place *out)
{
    for (int steps = 0; steps < MAX_STEPS; steps++) {
        if (leave(&f, &edge))
            continue;
        const prt_tf_node *node = &f->body->nodes[edge.node];
        *out = (place){ f, node, edge.output };
        if (node->n_in > 0 && is_identity(node)) {
            edge = node->in[0];
        } else if (node->n_in > 0 && prt_str_is(node->op, "ReadVariableOp")) {
            edge = node->in[0];
            while (leave(&f, &edge))
                ;
            const prt_str name = prt_saved_resource_name(t->arena, &f->body->nodes[edge.node]);
            const place *assign = name.data != NULL ? prt_map_find(&t->assigned, name) : NULL;
            if (assign == NULL)
                return name.data != NULL ? POPRT_OK : POPRT_E_NOMEM;
            f = assign->frame;
            edge = assign->node->in[1];
        } else {
            return POPRT_OK;
        }
    }
    return POPRT_OK;
}

/* Reads the texts of a constant. */
static poprt_status read_texts(tracer *t, const frame *f, prt_tf_edge edge, texts *out)
{
    place from;
    prt_tf_attr_value v;
    uint32_t depth = 0;
    PRT_TRY(origin(t, f, edge, &from));
    if (from.node == out->node)
        return POPRT_OK;
    *out = (texts){ .node = from.node };
    PRT_TRY(read_attr(from.node, PRT_STR("value"), &v, &depth));
    if (!prt_str_is(from.node->op, "Const") || v.kind != PRT_TF_ATTR_tensor)
        return POPRT_OK;
    prt_wire w = prt_tf_open(v.bytes, PRT_TF_Tensor, depth + 1);
    prt_field g;
    while (prt_wire_next(&w, &g))
        if (g.number == PRT_TF_Tensor_string_val &&
            !PRT_VEC_PUSH(t->arena, &out->list, prt_wire_text(&w, &g)))
            return POPRT_E_NOMEM;
    return w.status;
}

/* Returns element k; the last of a short list repeats. */
static prt_str text_at(const texts *list, uint32_t k)
{
    const size_t n = list->list.count;
    return n != 0 ? list->list.data[k < n ? k : n - 1] : PRT_STR("");
}

static bool parse_char(prt_str text, uint32_t *at, char c)
{
    if (*at == text.size || text.data[*at] != c)
        return false;
    ++*at;
    return true;
}

static bool parse_number(prt_str text, uint32_t *at, int64_t *out)
{
    const uint32_t start = *at;
    *out = 0;
    for (; *at < text.size && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at) {
        if (*out > INT64_MAX / 16)
            return false;
        *out = *out * 10 + (text.data[*at] - '0');
    }
    return *at != start;
}

/* Reads the text of a slice, such as "6 8 0,3:-": the full shape, then start and length of each
 * axis, or a dash for all of it. Returns false if the text is malformed. */
static bool parse_slice(prt_str text, prt_bundle_part *out)
{
    uint32_t end = text.size, at = 0, axis = 0;
    while (end > 0 && text.data[end - 1] != ' ')
        end--;
    for (uint32_t dims = 0; dims < end; axis++) {
        if (axis == PRT_MAX_RANK || !parse_number(text, &dims, &out->length[axis]) ||
            !parse_char(text, &dims, ' '))
            return false;
        at = axis == 0 ? end : at;
        if (axis != 0 && !parse_char(text, &at, ':'))
            return false;
        if (!parse_char(text, &at, '-') &&
            !(parse_number(text, &at, &out->start[axis]) && parse_char(text, &at, ',') &&
                parse_number(text, &at, &out->length[axis])))
            return false;
    }
    return axis != 0 && at == text.size;
}

/* Finds the key that a restoring node reads for one of its outputs. `key` is absent if `from` is no
 * such node. */
static poprt_status restored_key(tracer *t, const place *from, prt_str *key, prt_str *slice)
{
    const prt_tf_node *node = from->node;
    *key = (prt_str){ NULL, 0 };
    *slice = PRT_STR("");
    if (!prt_str_is(node->op, "RestoreV2") && !prt_str_is(node->op, "Restore") &&
        !prt_str_is(node->op, "RestoreSlice"))
        return POPRT_OK;
    if (node->n_in < 2)
        return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' lacks an input", PRT_STR_ARG(node->name));
    PRT_TRY(read_texts(t, from->frame, node->in[1], &t->names));
    if (t->names.list.count == 0)
        return POPRT_OK;
    *key = text_at(&t->names, from->output);
    if (node->n_in > 2) {
        PRT_TRY(read_texts(t, from->frame, node->in[2], &t->slices));
        *slice = text_at(&t->slices, from->output);
    }
    return POPRT_OK;
}

/* ---- variables */

static poprt_status add_variable(tracer *t, prt_str name, prt_str key, prt_str slice)
{
    prt_saved_resource *r = PRT_NEW(t->arena, prt_saved_resource);
    prt_bundle_part *part = NULL;
    if (r == NULL)
        return POPRT_E_NOMEM;
    if (slice.size != 0) {
        part = PRT_NEW(t->arena, prt_bundle_part);
        if (part == NULL)
            return POPRT_E_NOMEM;
        if (!parse_slice(slice, part))
            return prt_fail(POPRT_E_PARSE, NULL, "variable '%.*s' is restored from slice '%.*s'",
                PRT_STR_ARG(name), PRT_STR_ARG(slice));
    }
    *r = (prt_saved_resource){ .key = key, .part = part };
    return prt_map_set(&t->m->by_name, name, r);
}

/* Records the assigned value of a variable, and its key if it comes from the checkpoint. */
static poprt_status resolve_assign(tracer *t, place *effect)
{
    place handle, value;
    prt_str key, slice;
    PRT_TRY(origin(t, effect->frame, effect->node->in[0], &handle));
    PRT_TRY(origin(t, effect->frame, effect->node->in[1], &value));
    const prt_str name = prt_saved_resource_name(t->arena, handle.node);
    if (name.data == NULL)
        return POPRT_E_NOMEM;
    if (prt_map_find(&t->assigned, name) == NULL)
        PRT_TRY(prt_map_set(&t->assigned, name, effect));
    PRT_TRY(restored_key(t, &value, &key, &slice));
    return key.data != NULL ? add_variable(t, name, key, slice) : POPRT_OK;
}

/* ---- tables */

/* Finds the source of keys or values: a constant, or an entry of the checkpoint. */
static poprt_status find_contents(tracer *t, const place *effect, uint32_t input, prt_bytes *proto,
    uint32_t *depth, prt_str *entry)
{
    place from;
    prt_str slice;
    prt_tf_attr_value v;
    if (effect->node->n_in <= input)
        return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' lacks an input",
            PRT_STR_ARG(effect->node->name));
    PRT_TRY(origin(t, effect->frame, effect->node->in[input], &from));
    PRT_TRY(restored_key(t, &from, entry, &slice));
    if (!prt_str_is(from.node->op, "Const"))
        return POPRT_OK;
    PRT_TRY(read_attr(from.node, PRT_STR("value"), &v, depth));
    *proto = v.bytes;
    ++*depth;
    return POPRT_OK;
}

/* Returns the path of the asset that a node of the main graph stands for; NULL if there is none. */
static poprt_status find_asset(tracer *t, const place *from, const char **out)
{
    const prt_saved_model *m = t->m;
    prt_wire w = prt_tf_open(m->meta_graph, PRT_TF_MetaGraph, m->depth);
    prt_field f, g, h;
    *out = NULL;
    while (prt_wire_next(&w, &f)) {
        prt_str tensor = PRT_STR(""), file = PRT_STR("");
        if (f.number != PRT_TF_MetaGraph_asset_file_def || from->frame->caller != NULL)
            continue;
        prt_wire a = prt_tf_open(f.bytes, PRT_TF_AssetFile, m->depth + 1);
        while (prt_wire_next(&a, &g)) {
            if (g.number == PRT_TF_AssetFile_filename)
                file = prt_wire_text(&a, &g);
            if (g.number != PRT_TF_AssetFile_tensor_info)
                continue;
            prt_wire i = prt_tf_open(g.bytes, PRT_TF_TensorInfo, m->depth + 2);
            while (prt_wire_next(&i, &h))
                if (h.number == PRT_TF_TensorInfo_name)
                    tensor = prt_wire_text(&i, &h);
            PRT_TRY(i.status);
        }
        PRT_TRY(a.status);
        const prt_str node = from->node->name;
        if (tensor.size < node.size || memcmp(tensor.data, node.data, node.size) != 0 ||
            (tensor.size != node.size && tensor.data[node.size] != ':'))
            continue;
        char *path = prt_arena_alloc(t->arena, (size_t)file.size + sizeof("assets/"));
        if (path == NULL)
            return POPRT_E_NOMEM;
        memcpy(path, "assets/", 7);
        memcpy(path + 7, file.data, file.size);
        *out = path;
    }
    return w.status;
}

static poprt_status resolve_file(tracer *t, const place *effect, prt_saved_table *table)
{
    const prt_tf_node *node = effect->node;
    place from;
    prt_tf_attr_value v;
    uint32_t depth;
    PRT_TRY(origin(t, effect->frame, node->in[1], &from));
    PRT_TRY(find_asset(t, &from, &table->file));
    PRT_TRY(read_attr(node, PRT_STR("delimiter"), &v, &depth));
    table->delimiter = v.s.size == 1 ? v.s.data[0] : '\t';
    table->key_index = int_attr(node, PRT_STR("key_index"), -2);
    table->value_index = int_attr(node, PRT_STR("value_index"), -1);
    table->vocab_size = int_attr(node, PRT_STR("vocab_size"), -1);
    table->offset = int_attr(node, PRT_STR("offset"), 0);
    return POPRT_OK;
}

static poprt_status resolve_table(tracer *t, const place *effect)
{
    place handle;
    prt_saved_table *table = PRT_NEW(t->arena, prt_saved_table);
    prt_saved_resource *r = PRT_NEW(t->arena, prt_saved_resource);
    if (table == NULL || r == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(origin(t, effect->frame, effect->node->in[0], &handle));
    if (kind_of(effect->node) == EFFECT_text_file) {
        PRT_TRY(resolve_file(t, effect, table));
    } else {
        PRT_TRY(find_contents(t, effect, 1, &table->keys, &table->key_depth, &table->key_entry));
        PRT_TRY(
            find_contents(t, effect, 2, &table->values, &table->value_depth, &table->value_entry));
    }
    const prt_str name = prt_saved_resource_name(t->arena, handle.node);
    *r = (prt_saved_resource){ .key = PRT_STR(""), .table = table };
    return name.data != NULL ? prt_map_set(&t->m->by_name, name, r) : POPRT_E_NOMEM;
}

/* ---- roots */

/* Follows the nodes that a CollectionDef lists. */
static poprt_status follow_collection(tracer *t, prt_bytes bytes, uint32_t depth, uint8_t *visited)
{
    prt_wire w = prt_tf_open(bytes, PRT_TF_Collection, depth);
    prt_field f, g;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_Collection_node_list)
            continue;
        prt_wire list = prt_tf_open(f.bytes, PRT_TF_TextList, depth + 1);
        while (prt_wire_next(&list, &g))
            if (g.number == PRT_TF_TextList_value)
                PRT_TRY(follow(t, prt_wire_text(&list, &g), visited));
        PRT_TRY(list.status);
    }
    return w.status;
}

/* Follows the outputs of the signature of initialisation. */
static poprt_status follow_signature(tracer *t, prt_bytes bytes, uint32_t depth, uint8_t *visited)
{
    prt_wire w = prt_tf_open(bytes, PRT_TF_Signature, depth);
    prt_field f, g;
    prt_str key;
    prt_bytes info;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_Signature_outputs)
            continue;
        PRT_TRY(prt_tf_entry(f.bytes, depth + 1, &key, &info));
        prt_wire i = prt_tf_open(info, PRT_TF_TensorInfo, depth + 2);
        while (prt_wire_next(&i, &g))
            if (g.number == PRT_TF_TensorInfo_name)
                PRT_TRY(follow(t, prt_wire_text(&i, &g), visited));
        PRT_TRY(i.status);
    }
    return w.status;
}

static poprt_status follow_saver(tracer *t, prt_bytes bytes, uint32_t depth, uint8_t *visited)
{
    prt_wire w = prt_tf_open(bytes, PRT_TF_Saver, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_Saver_restore_op_name)
            PRT_TRY(follow(t, prt_wire_text(&w, &f), visited));
    return w.status;
}

static poprt_status follow_entry(tracer *t, const prt_field *f, uint8_t *visited)
{
    const uint32_t depth = t->m->depth + 1;
    prt_str key;
    prt_bytes value;
    PRT_TRY(prt_tf_entry(f->bytes, depth, &key, &value));
    if (f->number == PRT_TF_MetaGraph_signature_def)
        return prt_str_is(key, "__saved_model_init_op")
            ? follow_signature(t, value, depth + 1, visited)
            : POPRT_OK;
    const bool initialises = prt_str_is(key, "saved_model_main_op") ||
        prt_str_is(key, "legacy_init_op") || prt_str_is(key, "table_initializer");
    return initialises ? follow_collection(t, value, depth + 1, visited) : POPRT_OK;
}

poprt_status prt_saved_effects_resolve(prt_saved_model *m, prt_tf_graph *graph)
{
    tracer t = { .m = m,
        .arena = m->arena,
        .graph = graph,
        .main = { .body = &graph->main },
        .assigned = prt_map_in(m->arena) };
    uint8_t *visited = prt_arena_alloc(m->arena, graph->main.n_nodes);
    if (visited == NULL)
        return POPRT_E_NOMEM;
    prt_wire w = prt_tf_open(m->meta_graph, PRT_TF_MetaGraph, m->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_MetaGraph_saver_def)
            PRT_TRY(follow_saver(&t, f.bytes, m->depth + 1, visited));
        else if (f.number == PRT_TF_MetaGraph_signature_def ||
            f.number == PRT_TF_MetaGraph_collection_def)
            PRT_TRY(follow_entry(&t, &f, visited));
    }
    PRT_TRY(w.status);
    for (size_t i = 0; i < t.effects.count; i++)
        if (kind_of(t.effects.data[i].node) == EFFECT_assign)
            PRT_TRY(resolve_assign(&t, &t.effects.data[i]));
    for (size_t i = 0; i < t.effects.count; i++)
        if (kind_of(t.effects.data[i].node) != EFFECT_assign)
            PRT_TRY(resolve_table(&t, &t.effects.data[i]));
    return POPRT_OK;
}
