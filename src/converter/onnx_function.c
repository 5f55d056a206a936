/* SPDX-License-Identifier: MIT */
/*
 * onnx_function.c — inlines local functions into their callers. Each call has a scope of its own,
 * and its names are prefixed with the name of the call. Recursion is refused, and the reader bounds
 * the number of resulting nodes.
 */
#include "converter/onnx_build.h"

prt_raw_function *prt_onnx_function(const prt_onnx_reader *r, const prt_raw_node *node)
{
    prt_raw_function *fn = prt_map_find(&r->functions, node->op_type);
    for (; fn != NULL; fn = fn->same)
        if (prt_domain_equal(fn->domain, node->domain) &&
            prt_str_equal(fn->overload, node->overload))
            return fn;
    return NULL;
}

poprt_status prt_onnx_read_opset(prt_bytes bytes, uint32_t depth, prt_str *domain, int64_t *version)
{
    *domain = PRT_STR("");
    *version = 0;
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_OperatorSetId, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_OperatorSetId_domain)
            *domain = prt_wire_text(&w, &f);
        else if (f.number == PRT_ONNX_OperatorSetId_version)
            *version = (int64_t)f.word;
    }
    return w.status;
}

/* In a function's body the function's own imports apply, then the model's. */
int64_t prt_onnx_opset(const prt_onnx_reader *r, const prt_scope *scope, prt_str domain)
{
    const prt_raw_function *fn = scope->frame != NULL ? scope->frame->fn : NULL;
    prt_str name;
    int64_t version;
    for (size_t i = 0; fn != NULL && i < fn->opsets.count; i++)
        if (prt_domain_equal(fn->opsets.data[i].name, domain) &&
            prt_onnx_read_opset(fn->opsets.data[i].bytes, 3, &name, &version) == POPRT_OK)
            return version;
    return prt_module_opset(r->m, domain);
}

/* The model must import the domains of inlined nodes. */
static poprt_status import_opsets(prt_onnx_reader *r, const prt_raw_function *fn)
{
    prt_str domain;
    int64_t version;
    for (size_t i = 0; i < fn->opsets.count; i++) {
        PRT_TRY(prt_onnx_read_opset(fn->opsets.data[i].bytes, 3, &domain, &version));
        if (prt_module_opset(r->m, domain) == 0)
            PRT_TRY(prt_module_set_opset(r->m, domain, version));
    }
    return POPRT_OK;
}

static poprt_status bind_inputs(prt_onnx_reader *r, const prt_scope *scope,
    const prt_raw_node *node, const prt_raw_function *fn, prt_scope *body)
{
    if (node->inputs.count > fn->body.inputs.count || node->outputs.count > fn->body.outputs.count)
        return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
            "call of '%.*s' has %zu inputs and %zu outputs; the function has %zu and %zu",
            PRT_SHOW(fn->name), node->inputs.count, node->outputs.count, fn->body.inputs.count,
            fn->body.outputs.count);
    for (size_t i = 0; i < fn->body.inputs.count; i++) {
        const prt_str formal = fn->body.inputs.data[i].name;
        const prt_str actual = i < node->inputs.count ? node->inputs.data[i] : PRT_STR("");
        prt_value *value = actual.size != 0 ? prt_onnx_look_up(scope, actual) : &r->absent;
        if (value == NULL)
            return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
                "%.*s: input %zu ('%.*s') is produced by no node, input or initializer",
                PRT_SHOW(fn->name), i, PRT_SHOW(actual));
        if (formal.size == 0 || prt_map_find(&body->values, formal) != NULL)
            return prt_onnx_fail(POPRT_E_PARSE, fn->name,
                "input %zu of the function has no name, or one that occurs twice", i);
        PRT_TRY(prt_map_set(&body->values, formal, value));
    }
    return POPRT_OK;
}

/* Results that the call computes get the caller's names; inputs passed through keep theirs. */
static poprt_status bind_outputs(prt_onnx_reader *r, prt_scope *scope, const prt_raw_node *node,
    const prt_raw_function *fn, const prt_scope *body, const prt_graph *g, uint32_t first_id)
{
    for (size_t i = 0; i < node->outputs.count; i++) {
        const prt_str name = node->outputs.data[i];
        if (name.size == 0)
            continue;
        prt_value *value = prt_onnx_look_up(body, fn->body.outputs.data[i].name);
        if (value == NULL)
            return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
                "function '%.*s' has no node or input that produces its output %zu",
                PRT_SHOW(fn->name), i);
        if (value != &r->absent && value->graph == g && value->id >= first_id)
            PRT_TRY(prt_onnx_define(r, scope, name, value));
        else if (prt_map_find(&scope->values, name) != NULL)
            return prt_onnx_fail(POPRT_E_PARSE, name, "two values have the name '%.*s'",
                PRT_SHOW(name));
        else
            PRT_TRY(prt_map_set(&scope->values, name, value));
    }
    return POPRT_OK;
}

static poprt_status make_prefix(prt_onnx_reader *r, const prt_scope *scope,
    const prt_raw_node *node, prt_str *out)
{
    const prt_str outer = scope->frame != NULL ? scope->frame->prefix : PRT_STR("");
    const prt_str label = prt_raw_label(node);
    const size_t size = (size_t)outer.size + label.size + 1;
    char *text = PRT_NEW_N(r->scratch, char, size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    if (size > INT32_MAX / 2)
        return prt_onnx_fail(POPRT_E_LIMIT, label, "names of nested functions are too long");
    memcpy(text, outer.data, outer.size);
    memcpy(text + outer.size, label.data, label.size);
    text[size - 1] = '/';
    *out = (prt_str){ text, (uint32_t)size };
    return POPRT_OK;
}

static poprt_status inline_body(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node, const prt_raw_function *fn)
{
    prt_function_call *frame = PRT_NEW(r->scratch, prt_function_call);
    prt_scope *body = PRT_NEW(r->scratch, prt_scope);
    if (frame == NULL || body == NULL)
        return POPRT_E_NOMEM;
    const uint32_t first_id = g->n_values;
    frame->fn = fn;
    PRT_TRY(prt_onnx_resolve_attrs(r, scope, node, &frame->given));
    PRT_TRY(make_prefix(r, scope, node, &frame->prefix));
    *body = (prt_scope){ .values = prt_map_in(r->scratch), .frame = frame };
    PRT_TRY(import_opsets(r, fn));
    PRT_TRY(bind_inputs(r, scope, node, fn, body));
    for (size_t i = 0; i < fn->body.nodes.count; i++)
        PRT_TRY(prt_onnx_build_node(r, g, body, fn->body.nodes.data[i]));
    return bind_outputs(r, scope, node, fn, body, g, first_id);
}

poprt_status prt_onnx_inline(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node, prt_raw_function *fn)
{
    if (fn->active)
        return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node), "function '%.*s' calls itself",
            PRT_SHOW(fn->name));
    if (r->level >= PRT_ONNX_NESTING)
        return prt_onnx_fail(POPRT_E_LIMIT, prt_raw_label(node),
            "graphs and functions are nested more than %d deep", PRT_ONNX_NESTING);
    fn->active = r->inlined = true;
    r->level++;
    const poprt_status status = inline_body(r, g, scope, node, fn);
    r->level--;
    fn->active = false;
    return status;
}
