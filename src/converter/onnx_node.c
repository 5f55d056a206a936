/* SPDX-License-Identifier: MIT */
/* onnx_node.c — turns nodes into ops. */
#include "converter/onnx_build.h"

static const prt_resolved_attr *find_given(const prt_resolved_attrs *given, prt_str name)
{
    for (size_t i = 0; i < given->count; i++)
        if (prt_str_equal(given->data[i].name, name))
            return &given->data[i];
    return NULL;
}

/* Resolves a reference to a function's attribute: the value of the call, else the default. Returns
 * false if there is neither; then the node does not have the attribute. */
static bool dereference(prt_scope *scope, const prt_raw_attr *raw, prt_resolved_attr *out)
{
    const prt_resolved_attr *given = find_given(&scope->frame->given, raw->ref);
    if (given != NULL) {
        *out = (prt_resolved_attr){ raw->name, given->raw, given->scope };
        return true;
    }
    const prt_raw_function *fn = scope->frame->fn;
    for (size_t i = 0; i < fn->defaults.count; i++)
        if (prt_str_equal(fn->defaults.data[i].name, raw->ref)) {
            *out = (prt_resolved_attr){ raw->name, &fn->defaults.data[i], scope };
            return true;
        }
    return false;
}

poprt_status prt_onnx_resolve_attrs(prt_onnx_reader *r, prt_scope *scope, const prt_raw_node *node,
    prt_resolved_attrs *out)
{
    for (size_t i = 0; i < node->attrs.count; i++) {
        const prt_raw_attr *raw = &node->attrs.data[i];
        prt_resolved_attr given = { raw->name, raw, scope };
        if (raw->name.size == 0 || find_given(out, raw->name) != NULL)
            return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
                "%.*s: attribute '%.*s' has no name, or one that occurs twice",
                PRT_SHOW(node->op_type), PRT_SHOW(raw->name));
        if (raw->ref.size != 0) {
            if (scope->frame == NULL)
                return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
                    "%.*s: attribute '%.*s' refers to an attribute of a function, but the node is "
                    "not in a function",
                    PRT_SHOW(node->op_type), PRT_SHOW(raw->name));
            if (!dereference(scope, raw, &given))
                continue;
        }
        if (!PRT_VEC_PUSH(r->scratch, out, given))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status set_inputs(prt_onnx_reader *r, const prt_scope *scope, const prt_raw_node *node,
    prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_str name = node->inputs.data[i];
        if (name.size == 0)
            continue;
        prt_value *value = prt_onnx_look_up(scope, name);
        if (value == NULL)
            return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
                "%.*s: input %u ('%.*s') is produced by no node, input or initializer",
                PRT_SHOW(node->op_type), i, PRT_SHOW(name));
        if (value != &r->absent)
            prt_op_set_input(op, i, value);
    }
    return POPRT_OK;
}

static poprt_status define_outputs(prt_onnx_reader *r, prt_scope *scope, const prt_raw_node *node,
    prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        if (node->outputs.data[i].size != 0)
            PRT_TRY(prt_onnx_define(r, scope, node->outputs.data[i], &op->out[i]));
    return POPRT_OK;
}

static poprt_status intern(prt_module *m, prt_str text, prt_str *out)
{
    const prt_str mine = prt_module_str(m, text);
    if (mine.data == NULL)
        return POPRT_E_NOMEM;
    *out = mine;
    return POPRT_OK;
}

/* Sets the op's names, its kept fields, and the bytes it was read from. */
static poprt_status describe(prt_onnx_reader *r, const prt_scope *scope, const prt_raw_node *node,
    int64_t opset, prt_op *op)
{
    prt_str origin = node->name;
    if (scope->frame != NULL) {
        const prt_str prefix = scope->frame->prefix, label = prt_raw_label(node);
        char *whole = PRT_NEW_N(r->scratch, char, (size_t)prefix.size + label.size + 1);
        if (whole == NULL)
            return POPRT_E_NOMEM;
        memcpy(whole, prefix.data, prefix.size);
        memcpy(whole + prefix.size, label.data, label.size);
        origin = (prt_str){ whole, prefix.size + label.size };
    }
    PRT_TRY(intern(r->m, origin, &op->origin));
    if (op->def == NULL) {
        PRT_TRY(intern(r->m, node->domain, &op->domain));
        PRT_TRY(intern(r->m, node->op_type, &op->name));
    }
    PRT_TRY(prt_onnx_keep_list(r, &node->extra, &op->extra));
    op->source_opset = opset > 0 && opset < INT32_MAX ? (uint32_t)opset : 0;
    if (scope->frame == NULL) {
        op->source = node->bytes.data;
        op->source_size = node->bytes.size;
    }
    return POPRT_OK;
}

static poprt_status build_attr(prt_onnx_reader *r, const prt_raw_node *node,
    const prt_resolved_attr *given, prt_op *op, uint32_t *region, prt_node_attr *out)
{
    const poprt_status status = prt_onnx_attr(r, given, node->depth + 1, *region, out);
    if (status != POPRT_OK)
        return status == POPRT_E_NOMEM
            ? status
            : prt_onnx_fail(status, prt_raw_label(node), "%.*s: attribute '%.*s': %s",
                  PRT_SHOW(node->op_type), PRT_SHOW(given->name), prt_error_last()->message);
    for (size_t k = 0; k < given->raw->graphs.count; k++, ++*region)
        PRT_TRY(prt_onnx_build_graph(r, given->raw->graphs.data[k], op->regions[*region],
            given->scope, given->scope->frame));
    return POPRT_OK;
}

/* Builds attributes and regions. The op is appended to the list of ops to upgrade after its
 * regions. */
static poprt_status build_attrs(prt_onnx_reader *r, const prt_raw_node *node,
    const prt_resolved_attrs *given, int64_t opset, prt_op *op)
{
    prt_upgrade u = { .op = op, .version = opset, .n_attrs = (uint32_t)given->count };
    u.attrs = PRT_NEW_N(r->scratch, prt_node_attr, given->count);
    if (u.attrs == NULL)
        return POPRT_E_NOMEM;
    uint32_t region = 0;
    for (size_t i = 0; i < given->count; i++)
        PRT_TRY(build_attr(r, node, &given->data[i], op, &region, &u.attrs[i]));
    return PRT_VEC_PUSH(r->scratch, &r->built, u) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status build_op(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node, const prt_resolved_attrs *given)
{
    size_t n_regions = 0;
    for (size_t i = 0; i < given->count; i++)
        n_regions += given->data[i].raw->graphs.count;
    if (node->inputs.count > INT32_MAX || node->outputs.count > INT32_MAX || n_regions > INT32_MAX)
        return prt_onnx_fail(POPRT_E_LIMIT, prt_raw_label(node), "node is too large");
    const int64_t opset = prt_onnx_opset(r, scope, node->domain);
    prt_op *op = prt_graph_add_op(g, NULL, prt_op_find_in(r->m->ops, node->domain, node->op_type),
        (uint32_t)node->inputs.count, (uint32_t)node->outputs.count, (uint32_t)n_regions);
    if (op == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(set_inputs(r, scope, node, op));
    PRT_TRY(build_attrs(r, node, given, opset, op));
    PRT_TRY(define_outputs(r, scope, node, op));
    return describe(r, scope, node, opset, op);
}

poprt_status prt_onnx_build_node(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node)
{
    if (++r->nodes > r->node_limit)
        return prt_onnx_fail(POPRT_E_LIMIT, prt_raw_label(node),
            "the model has more than %llu nodes once its functions are inlined",
            (unsigned long long)r->node_limit);
    prt_raw_function *fn = prt_onnx_function(r, node);
    if (fn != NULL)
        return prt_onnx_inline(r, g, scope, node, fn);
    prt_resolved_attrs given = { NULL, 0, 0 };
    PRT_TRY(prt_onnx_resolve_attrs(r, scope, node, &given));
    const bool onnx = prt_domain_is_onnx(node->domain);
    if (onnx && prt_str_is(node->op_type, "Constant"))
        return prt_onnx_build_constant(r, g, scope, node, &given);
    return build_op(r, g, scope, node, &given);
}
