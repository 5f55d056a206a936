/* SPDX-License-Identifier: MIT */
/* nodes.c — adds operators, with the names and attributes of the open scopes. */
#include "builder/builder.h"

#include <stdio.h>

#include "ir/location.h"

enum {
    MAX_OPERANDS = 1 << 16, /* inputs or outputs of an operator */
    MAX_ATTRS = 256,        /* attributes of an operator */
    MAX_ITEMS = 1 << 24,    /* entries of a list */
    MAX_SCOPES = 1024,      /* open scopes of a builder */
    MAX_TYPE_NAME = 256     /* bytes of a domain or an operator's type */
};

/* ---- attributes */

static poprt_status check_graph(const poprt_builder *b, const poprt_attr *a)
{
    const poprt_builder *child = poprt_attr_object(a);
    bool around = false;
    if (child->root != b->root || child->parent == NULL)
        return prt_fail(POPRT_E_ARG, a->name,
            "the graph is not a subgraph of this builder: use poprt_builder_create_subgraph");
    for (const poprt_builder *at = b; at != NULL; at = at->parent) {
        if (at == child)
            return prt_fail(POPRT_E_ARG, a->name, "a graph cannot contain itself");
        around = around || at == child->parent;
    }
    if (!around)
        return prt_fail(POPRT_E_ARG, a->name,
            "the subgraph was created for another graph: its parent must be this builder or one "
            "around it");
    if (child->lists[POPRT_BUILDER_OUTPUTS].count == 0)
        return prt_fail(POPRT_E_STATE, a->name, "the subgraph has no output");
    return POPRT_OK;
}

static poprt_status check_type(const poprt_attr *a)
{
    const poprt_type *t = poprt_attr_object(a);
    bool holds = t->rank >= -1 && t->rank <= POPRT_PLUGIN_MAX_RANK && prt_dtype_bits(t->dtype) != 0;
    for (int32_t i = 0; holds && i < t->rank; i++)
        holds = t->dims[i] >= -1;
    return holds ? POPRT_OK
                 : prt_fail(POPRT_E_ARG, a->name,
                       "the type needs an element type, a rank from -1 to %d, and dims from -1",
                       POPRT_PLUGIN_MAX_RANK);
}

static poprt_status check_strings(const poprt_attr *a)
{
    const poprt_string *s = poprt_attr_object(a);
    for (uint32_t i = 0; i < a->count; i++)
        if ((s[i].data == NULL && s[i].size != 0) || s[i].size > UINT32_MAX)
            return prt_fail(POPRT_E_ARG, a->name, "string %u is NULL or too long", i);
    return POPRT_OK;
}

/* Returns the pointer that the kind of an attribute needs, or any other pointer if the kind needs
 * no pointer. */
static const void *contents_of(const poprt_attr *a)
{
    switch (a->kind) {
    case POPRT_ATTR_INT:
    case POPRT_ATTR_FLOAT:
        return a;
    case POPRT_ATTR_INTS:
        return a->count != 0 ? (const void *)a->ints : a;
    case POPRT_ATTR_FLOATS:
        return a->count != 0 ? (const void *)a->floats : a;
    case POPRT_ATTR_STRING:
    case POPRT_ATTR_STRINGS:
        return a->count != 0 ? (const void *)a->string : a;
    default:
        return a->string;
    }
}

poprt_status prt_builder_check_attr(const poprt_builder *b, const poprt_attr *a)
{
    prt_tensor t;
    if (a->name == NULL || a->name[0] == '\0' || prt_text_size(a->name, 128) > 128)
        return prt_fail(POPRT_E_ARG, "attribute", "an attribute needs a name of 1 to 128 bytes");
    if (a->kind < POPRT_ATTR_INT || a->kind > POPRT_ATTR_GRAPH)
        return prt_fail(POPRT_E_ARG, a->name, "kind %d is not a POPRT_ATTR_ value", a->kind);
    if (contents_of(a) == NULL)
        return prt_fail(POPRT_E_ARG, a->name, "the contents of the attribute are NULL");
    if (a->kind >= POPRT_ATTR_INTS && a->count > MAX_ITEMS)
        return prt_fail(POPRT_E_LIMIT, a->name, "a list has at most %d entries", MAX_ITEMS);
    PRT_TRY(prt_builder_check_mark(a));
    switch (a->kind) {
    case POPRT_ATTR_STRINGS:
        return check_strings(a);
    case POPRT_ATTR_TENSOR:
        return prt_builder_import_tensor(a->name, poprt_attr_object(a), &t);
    case POPRT_ATTR_TYPE:
        return check_type(a);
    case POPRT_ATTR_GRAPH:
        return check_graph(b, a);
    default:
        return POPRT_OK;
    }
}

prt_built_attr *prt_built_find(const prt_built_attrs *attrs, prt_str name)
{
    for (size_t i = 0; i < attrs->count; i++)
        if (prt_str_equal(attrs->data[i].name, name))
            return &attrs->data[i];
    return NULL;
}

static poprt_status add_attrs(poprt_builder *b, const poprt_builder_op_info *op,
    prt_built_attrs *out)
{
    prt_arena *arena = b->root->arena;
    prt_built_attr made;
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const poprt_attr *a = &op->attrs[i];
        PRT_TRY(prt_builder_check_attr(b, a));
        if (prt_built_find(out, prt_str_of(a->name)) != NULL)
            return prt_fail(POPRT_E_ARG, a->name, "the attribute is given twice");
        PRT_TRY(prt_encode_attr(b->root, a, &made));
        if (!PRT_VEC_PUSH(arena, out, made))
            return POPRT_E_NOMEM;
        if (a->kind == POPRT_ATTR_GRAPH)
            ((poprt_builder *)(uintptr_t)poprt_attr_object(a))->used = true;
    }
    for (size_t i = b->scopes.count; i-- > 0;) {
        const prt_built_attr *a = &b->scopes.data[i].attr;
        if (a->name.size != 0 && prt_built_find(out, a->name) == NULL &&
            !PRT_VEC_PUSH(arena, out, *a))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* ---- operands */

static poprt_id input_at(const poprt_builder_op_info *op, uint32_t i)
{
    return i < op->n_inputs ? op->inputs[i] : op->more_inputs[i - op->n_inputs];
}

/* Returns the number of inputs without absent ones at the end. Inputs before repeated ones count,
 * since the schemas of Loop and Scan require them. */
static uint32_t count_inputs(const prt_root *root, const poprt_builder_op_info *op,
    const prt_built_node *node)
{
    const prt_op_def *def = prt_op_find_in(root->ops, node->domain, node->op_type);
    const uint32_t given = op->n_inputs + op->n_more_inputs;
    const uint32_t fixed = def != NULL && def->max_in == UINT32_MAX ? def->n_in - 1u : 0;
    uint32_t n = given;
    while (n > 0 && input_at(op, n - 1) == 0)
        n--;
    return n < fixed ? (fixed < given ? fixed : given) : n;
}

static poprt_status add_inputs(poprt_builder *b, const poprt_builder_op_info *op,
    prt_built_node *node)
{
    prt_built_tensor *t = NULL;
    const uint32_t n = count_inputs(b->root, op, node);
    poprt_id *in = PRT_NEW_N(b->root->arena, poprt_id, n);
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        char slot[32];
        in[i] = input_at(op, i);
        (void)snprintf(slot, sizeof(slot), "input %u", i);
        if (in[i] != 0)
            PRT_TRY(prt_builder_tensor(b, in[i], slot, &t));
    }
    node->in = in;
    node->n_in = n;
    return POPRT_OK;
}

/* Names the node like its first output, without the index ":0". */
static poprt_status name_node(prt_root *root, prt_str output, prt_built_node *node)
{
    const char *index = strrchr(output.data, ':');
    node->name = output;
    if (index == NULL || index[1] != '0')
        return POPRT_OK;
    const size_t size = (size_t)(index - output.data);
    char *text = prt_arena_text(root->arena, output.data, output.size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    memmove(text + size, text + size + 2, output.size - size - 1);
    node->name = (prt_str){ text, output.size - 2 };
    return POPRT_OK;
}

static poprt_status add_outputs(poprt_builder *b, const poprt_builder_op_info *op,
    prt_built_node *node)
{
    prt_root *root = b->root;
    poprt_id *out = PRT_NEW_N(root->arena, poprt_id, op->n_outputs);
    if (out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        prt_built_tensor t = { .owner = b,
            .kind = PRT_BUILT_RESULT,
            .node = (uint32_t)root->nodes.count };
        if (op->output_names != NULL && op->output_names[i] == NULL)
            return prt_fail(POPRT_E_ARG, "output_names", "entry %u is NULL", i);
        PRT_TRY(op->output_names != NULL
                ? prt_builder_take_name(b, op->output_names[i], &t.name)
                : prt_builder_make_name(b, op->name != NULL ? op->name : op->op_type, true,
                      (int32_t)i, &t.name));
        if (i == 0)
            PRT_TRY(name_node(root, t.name, node));
        PRT_TRY(prt_root_add_tensor(root, &t, &out[i]));
    }
    node->out = out;
    node->n_out = op->n_outputs;
    return POPRT_OK;
}

/* ---- nodes */

poprt_status prt_root_append(prt_root *root, const prt_built_node *node)
{
    prt_arena_reset(root->scratch);
    prt_value **values = PRT_NEW_N(root->scratch, prt_value *, node->n_out);
    if (values == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(
        prt_onnx_append_node(root->module, node->owner->graph, node->bytes, node->n_out, values));
    for (uint32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != 0)
            root->tensors.data[node->out[i] - 1].value = values[i];
    return POPRT_OK;
}

static poprt_status check_op(const poprt_builder_op_info *op)
{
    if (op->op_type == NULL || op->op_type[0] == '\0' ||
        prt_text_size(op->op_type, MAX_TYPE_NAME) > MAX_TYPE_NAME)
        return prt_fail(POPRT_E_ARG, "op_type", "an operator needs a type of 1 to %d bytes",
            MAX_TYPE_NAME);
    if (op->domain != NULL && prt_text_size(op->domain, MAX_TYPE_NAME) > MAX_TYPE_NAME)
        return prt_fail(POPRT_E_ARG, "domain", "a domain has at most %d bytes", MAX_TYPE_NAME);
    if (op->n_inputs > MAX_OPERANDS || op->n_more_inputs > MAX_OPERANDS ||
        op->n_outputs > MAX_OPERANDS || op->n_attrs > MAX_ATTRS)
        return prt_fail(POPRT_E_LIMIT, op->op_type,
            "an operator has at most %d inputs, %d outputs and %d attributes", MAX_OPERANDS,
            MAX_OPERANDS, MAX_ATTRS);
    if ((op->n_inputs != 0 && op->inputs == NULL) ||
        (op->n_more_inputs != 0 && op->more_inputs == NULL) ||
        (op->n_attrs != 0 && op->attrs == NULL))
        return prt_fail(POPRT_E_ARG, op->op_type, "the list of inputs or of attributes is NULL");
    return POPRT_OK;
}

static poprt_status add_node(poprt_builder *b, const poprt_builder_op_info *op, prt_str domain,
    poprt_id *out)
{
    prt_root *root = b->root;
    prt_built_node node = { .owner = b,
        .name = PRT_STR(""),
        .domain = prt_root_text(root, domain),
        .op_type = prt_root_text(root, prt_str_of(op->op_type)),
        .doc = root->doc };
    if (node.domain.data == NULL || node.op_type.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(add_inputs(b, op, &node));
    PRT_TRY(add_attrs(b, op, &node.attrs));
    PRT_TRY(prt_root_import(root, node.domain));
    PRT_TRY(add_outputs(b, op, &node));
    PRT_TRY(prt_encode_node(root, &node));
    PRT_TRY(prt_root_append(root, &node));
    const uint32_t index = (uint32_t)root->nodes.count;
    if (!PRT_VEC_PUSH(root->arena, &root->nodes, node) ||
        !PRT_VEC_PUSH(root->arena, &b->nodes, index))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < node.n_out; i++)
        out[i] = node.out[i];
    return POPRT_OK;
}

poprt_status prt_builder_op(poprt_builder *b, const poprt_builder_op_info *op, poprt_id *out)
{
    PRT_TRY(prt_builder_check_open(b));
    PRT_TRY(check_op(op));
    const prt_str given = prt_str_of(op->domain != NULL ? op->domain : "");
    const prt_str domain = prt_domain_is_onnx(given) ? PRT_STR("") : given;
    if (domain.size == 0 && strcmp(op->op_type, "Constant") == 0)
        return prt_builder_constant_op(b, op, out);
    return prt_fail_at_location(add_node(b, op, domain, out), b->root->location);
}

poprt_status prt_builder_checkpoint(poprt_builder *b, uint32_t count, const poprt_id *ids,
    poprt_id *out)
{
    enum { CHECKPOINT = 1 };
    const poprt_attr mark = poprt_attr_int(POPRT_MARK_RECOMPUTE, CHECKPOINT);
    for (uint32_t i = 0; i < count; i++) {
        const poprt_builder_op_info op = { .struct_size = sizeof(op),
            .op_type = "Identity",
            .inputs = &ids[i],
            .attrs = &mark,
            .n_inputs = 1,
            .n_attrs = 1,
            .n_outputs = 1 };
        PRT_TRY(prt_builder_op(b, &op, &out[i]));
    }
    return POPRT_OK;
}

/* ---- scopes and places */

poprt_status prt_builder_set_location(poprt_builder *b, const char *file, uint32_t line,
    const char *function)
{
    enum { MOST = 127 }; /* bytes of a text; more are cut off: the beginning of a file's name */
    prt_root *root = b->root;
    char doc[2 * MOST + 32];
    root->doc = PRT_STR("");
    root->location[0] = '\0';
    if (file == NULL)
        return POPRT_OK;
    if (function == NULL)
        function = "";
    const size_t size = strlen(file);
    file += size > MOST ? size - MOST : 0;
    (void)snprintf(doc, sizeof(doc), "%s(%u): %.*s", file, line, MOST, function);
    for (char *p = doc; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    root->doc = prt_root_text(root, prt_str_of(doc));
    if (root->doc.data == NULL)
        return POPRT_E_NOMEM;
    prt_location_of_doc(root->doc, root->location);
    return POPRT_OK;
}

static poprt_status add_scope(poprt_builder *b, const prt_built_scope *scope)
{
    if (b->scopes.count >= MAX_SCOPES)
        return prt_fail(POPRT_E_LIMIT, NULL, "at most %d scopes may be open", MAX_SCOPES);
    return PRT_VEC_PUSH(b->root->arena, &b->scopes, *scope) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_builder_push(poprt_builder *b, const poprt_attr *attr)
{
    prt_built_scope scope = { .name = PRT_STR("") };
    PRT_TRY(prt_builder_check_attr(b, attr));
    if (!prt_builder_is_mark(prt_str_of(attr->name)))
        return prt_fail(POPRT_E_ARG, attr->name,
            "the names of attributes for all operators begin with \"__\"");
    PRT_TRY(prt_encode_attr(b->root, attr, &scope.attr));
    return add_scope(b, &scope);
}

poprt_status prt_builder_push_name(poprt_builder *b, const char *name)
{
    prt_built_scope scope = { .attr.name = PRT_STR("") };
    if (name[0] == '\0')
        return prt_fail(POPRT_E_ARG, "name", "the name of a scope must not be empty");
    scope.name = prt_root_text(b->root, prt_str_of(name));
    return scope.name.data != NULL ? add_scope(b, &scope) : POPRT_E_NOMEM;
}

poprt_status prt_builder_pop(poprt_builder *b)
{
    if (b->scopes.count == 0)
        return prt_fail(POPRT_E_STATE, NULL, "no scope is open: every pop needs a push before it");
    b->scopes.count--;
    return POPRT_OK;
}
