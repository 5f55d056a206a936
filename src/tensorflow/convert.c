/* SPDX-License-Identifier: MIT */
/*
 * convert.c — the engine of the conversion: walks from a wanted tensor to its inputs with an
 * explicit stack, so that long chains of nodes need no recursion, and calls the functions of the
 * rows. Calls of functions, loops and branches recurse, at most PRT_TF_MAX_DEPTH deep. A branch or
 * loop of TensorFlow 1 walks to those before it, so that a chain of them recurses as well.
 */
#include "tensorflow/complex.h"

#include <stdio.h>

#include "tensorflow/frame.h"

enum { NEW, OPEN, DONE };

/* Walks that start each other; each takes up to 2 KB of the stack. */
enum { MAX_WALKS = 1000 };

/* ---- names and failures */

/* Returns the name of a node with the path of the calls around it. */
static prt_str full_name(prt_tf_converter *c, const prt_tf_scope *scope, prt_str name)
{
    if (scope->prefix.size == 0)
        return prt_module_str(c->module, name);
    const size_t size = (size_t)scope->prefix.size + name.size;
    char *text = size <= INT32_MAX ? prt_arena_alloc(c->arena, size + 1) : NULL;
    if (text == NULL)
        return (prt_str){ NULL, 0 };
    memcpy(text, scope->prefix.data, scope->prefix.size);
    memcpy(text + scope->prefix.size, name.data, name.size);
    return prt_module_str(c->module, (prt_str){ text, (uint32_t)size });
}

/* Adds a node to the report: nodes of one operator and one reason are counted together. */
static poprt_status add_unsupported(prt_tf_converter *c, prt_str op, prt_str node,
    const char *reason)
{
    for (size_t i = 0; i < c->unsupported.count; i++) {
        prt_tf_unsupported *u = &c->unsupported.data[i];
        if (prt_str_equal(u->op, op) && prt_str_is(u->reason, reason)) {
            u->count++;
            return POPRT_OK;
        }
    }
    const char *kept = prt_arena_text(c->arena, reason, strlen(reason));
    if (kept == NULL)
        return POPRT_E_NOMEM;
    const prt_tf_unsupported u = { op, node, prt_str_of(kept), 1 };
    return PRT_VEC_PUSH(c->arena, &c->unsupported, u) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_tf_report(const prt_tf_converter *c)
{
    char text[1700];
    size_t at = 0;
    uint32_t nodes = 0;
    const size_t kinds = c->unsupported.count;
    if (kinds == 0)
        return POPRT_OK;
    for (size_t i = 0; i < kinds; i++)
        nodes += c->unsupported.data[i].count;
    for (size_t i = 0; i < kinds && at < sizeof(text) - 1; i++) {
        const prt_tf_unsupported *u = &c->unsupported.data[i];
        const int n = snprintf(text + at, sizeof(text) - at, "%s%.*s (%u, such as '%.*s')%s%.*s",
            i == 0 ? "" : "; ", u->op.size < 100 ? (int)u->op.size : 100, u->op.data, u->count,
            u->node.size < 200 ? (int)u->node.size : 200, u->node.data,
            u->reason.size != 0 ? ": " : "", PRT_STR_ARG(u->reason));
        at += n > 0 ? (size_t)n : 0;
    }
    return prt_fail(POPRT_E_UNSUPPORTED,
        c->unsupported.data[0].node.size != 0 ? "tensorflow" : NULL,
        "%u node%s cannot be converted: %s", nodes, nodes == 1 ? "" : "s", text);
}

/* ---- scopes */

poprt_status prt_tf_scope_create(prt_tf_converter *c, prt_tf_scope *caller, const prt_tf_body *body,
    prt_graph *graph, prt_str prefix, uint32_t n_args, const prt_tf_value *args, prt_tf_scope **out)
{
    prt_tf_scope *s = PRT_NEW(c->arena, prt_tf_scope);
    if (s == NULL)
        return POPRT_E_NOMEM;
    *s = (prt_tf_scope){ .caller = caller,
        .body = body,
        .graph = graph,
        .done = PRT_NEW_N(c->arena, prt_tf_value *, body->n_nodes),
        .state = prt_arena_alloc(c->arena, body->n_nodes),
        .prefix = prefix,
        .writes = prt_tf_body_writes(c->graph, (prt_tf_body *)(uintptr_t)body),
        .depth = caller != NULL ? caller->depth + 1 : 0 };
    if (s->done == NULL || s->state == NULL)
        return POPRT_E_NOMEM;
    if (s->depth > PRT_TF_MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "functions, loops and branches are nested more than %d deep, or call each other in a "
            "circle",
            PRT_TF_MAX_DEPTH);
    for (uint32_t i = 0; i < body->n_args && i < n_args; i++) {
        s->done[i] = prt_arena_copy(c->arena, &args[i], sizeof(args[i]));
        s->state[i] = DONE;
        if (s->done[i] == NULL)
            return POPRT_E_NOMEM;
    }
    *out = s;
    return POPRT_OK;
}

/* ---- one node */

static poprt_status set_failed(prt_tf_call *call)
{
    for (uint32_t k = 0; k < call->n_out; k++)
        call->out[k] = (prt_tf_value){ .kind = PRT_TF_failed };
    return POPRT_OK;
}

/* Gives the operators' results the names of the node's tensors, where these are free. */
static poprt_status name_results(prt_tf_call *call)
{
    prt_module *m = call->c->module;
    for (uint32_t k = 0; k < call->n_out; k++) {
        prt_value *v = call->out[k].kind == PRT_TF_tensor ? call->out[k].value : NULL;
        char *text;
        if (v == NULL || v->name.size != 0 || (v->def == NULL && v->constant == NULL))
            continue;
        const size_t size = (size_t)call->b.origin.size + 16;
        if ((text = prt_arena_alloc(call->c->arena, size)) == NULL)
            return POPRT_E_NOMEM;
        (void)snprintf(text, size, "%.*s:%u", PRT_STR_ARG(call->b.origin), k);
        const prt_str name = call->names != NULL ? call->names[k] : prt_str_of(text);
        if (name.size != 0 && prt_map_find(&m->names, name) == NULL)
            PRT_TRY(prt_value_set_name(v, name));
    }
    return POPRT_OK;
}

static poprt_status call_by_name(prt_tf_call *call)
{
    const prt_tf_function *fn = prt_tf_function_find(call->c->graph, call->node->op);
    if (fn == NULL)
        return prt_error_last()->status;
    return prt_tf_inline_call(call, fn, call->node->attrs, call->node->n_attrs);
}

poprt_status prt_tf_convert_by_row(prt_tf_call *call)
{
    const prt_tf_row *row = call->node->row;
    return !row->wraps && prt_tf_is_complex(call) ? prt_tf_convert_complex(call)
                                                  : row->convert(call);
}

static poprt_status dispatch(prt_tf_call *call)
{
    const prt_tf_node *node = call->node;
    if (node->row != NULL)
        return prt_tf_convert_by_row(call);
    if (prt_map_find(&call->c->graph->functions, node->op) != NULL)
        return call_by_name(call);
    return prt_tf_refuse(call, "%s", "");
}

poprt_status prt_tf_convert_call(prt_tf_call *call)
{
    prt_tf_converter *c = call->c;
    const bool lazy = call->node->row != NULL && call->node->row->lazy;
    if (++c->nodes > c->node_limit)
        return prt_fail(POPRT_E_LIMIT, NULL, "the model has more than %llu nodes",
            (unsigned long long)c->node_limit);
    for (uint32_t i = 0; i < call->n_in && !lazy; i++)
        if (call->in[i].kind == PRT_TF_failed)
            return set_failed(call);
    const prt_op *last = call->scope->graph->last;
    poprt_status status = dispatch(call);
    if (status == POPRT_OK)
        status = prt_build_status(&call->b);
    if (status == POPRT_OK)
        status = prt_tf_fold(c, call->scope->graph, last, call->n_out, call->out);
    if (status == POPRT_OK)
        return name_results(call);
    if (status != POPRT_E_UNSUPPORTED && status != POPRT_E_SHAPE && status != POPRT_E_TYPE)
        return prt_fail_about(status, call->b.origin.data);
    const char *reason = prt_error_last()->message;
    PRT_TRY(add_unsupported(c, call->node->op, call->b.origin, reason));
    return set_failed(call);
}

static poprt_status convert_node(prt_tf_converter *c, prt_tf_scope *scope, uint32_t index)
{
    const prt_tf_node *node = &scope->body->nodes[index];
    prt_tf_value *in = PRT_NEW_N(c->arena, prt_tf_value, node->n_in);
    prt_tf_value *out = PRT_NEW_N(c->arena, prt_tf_value, node->n_out);
    prt_tf_call call = { .c = c,
        .scope = scope,
        .node = node,
        .b = prt_build_at_end(scope->graph),
        .n_in = node->n_in,
        .n_out = node->n_out,
        .in = in,
        .out = out };
    call.b.origin = full_name(c, scope, node->name);
    if (in == NULL || out == NULL || call.b.origin.data == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < node->n_in; i++) {
        const prt_tf_node *from = &scope->body->nodes[node->in[i].node];
        const prt_tf_value *done = scope->done[node->in[i].node];
        if (done != NULL && node->in[i].output < from->n_out)
            in[i] = done[node->in[i].output];
    }
    PRT_TRY(prt_tf_convert_call(&call));
    scope->done[index] = out;
    return POPRT_OK;
}

/* ---- the walk */

/* A node on the way to a wanted one, and the next of its inputs to look at. */
typedef struct visit {
    uint32_t node, next;
} visit;

/* Returns the node of dependency `i` of a node: its data inputs and, in a body that writes
 * resources, its control inputs, which order reads and writes. Returns false behind the last. */
static bool dependency(const prt_tf_scope *scope, const prt_tf_node *node, uint32_t i,
    uint32_t *out)
{
    if (node->row != NULL && node->row->lazy)
        return false;
    if (i < node->n_in) {
        *out = node->in[i].node;
        return true;
    }
    if (!scope->writes || i - node->n_in >= node->n_control)
        return false;
    *out = node->control[i - node->n_in];
    return true;
}

static poprt_status walk(prt_tf_converter *c, prt_tf_scope *scope, uint32_t wanted);

/* Takes the results of a node from the scope around a region, unless the node is within the region.
 * Returns whether it did. */
static poprt_status take_outer(prt_tf_converter *c, prt_tf_scope *scope, uint32_t node, bool *taken)
{
    *taken = false;
    if (!scope->within)
        return POPRT_OK;
    const prt_tf_places *places = prt_tf_places_of(c, scope->body);
    if (places == NULL)
        return prt_error_last()->status;
    if (prt_tf_place_within(places->of[node], scope->place))
        return POPRT_OK;
    *taken = true;
    PRT_TRY(walk(c, scope->caller, node));
    scope->done[node] = scope->caller->done[node];
    scope->state[node] = DONE;
    return POPRT_OK;
}

static poprt_status walk_from(prt_tf_converter *c, prt_tf_scope *scope, uint32_t wanted)
{
    PRT_VEC(visit) stack = { 0 };
    const visit first = { wanted, 0 };
    bool taken;
    if (scope->state[wanted] == DONE)
        return POPRT_OK;
    if (scope->state[wanted] == OPEN)
        return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' depends on itself",
            PRT_STR_ARG(scope->body->nodes[wanted].name));
    PRT_TRY(take_outer(c, scope, wanted, &taken));
    if (taken)
        return POPRT_OK;
    scope->state[wanted] = OPEN;
    if (!PRT_VEC_PUSH(c->arena, &stack, first))
        return POPRT_E_NOMEM;
    while (stack.count != 0) {
        visit *v = &stack.data[stack.count - 1];
        uint32_t next;
        if (!dependency(scope, &scope->body->nodes[v->node], v->next++, &next)) {
            PRT_TRY(convert_node(c, scope, v->node));
            scope->state[v->node] = DONE;
            stack.count--;
            continue;
        }
        if (scope->state[next] == DONE)
            continue;
        if (scope->state[next] == OPEN)
            return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' depends on itself",
                PRT_STR_ARG(scope->body->nodes[next].name));
        PRT_TRY(take_outer(c, scope, next, &taken));
        if (taken)
            continue;
        scope->state[next] = OPEN;
        const visit deeper = { next, 0 };
        if (!PRT_VEC_PUSH(c->arena, &stack, deeper))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status walk(prt_tf_converter *c, prt_tf_scope *scope, uint32_t wanted)
{
    if (c->walks == MAX_WALKS)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "more than %d branches and loops follow each other, of which each needs the one before",
            MAX_WALKS);
    c->walks++;
    const poprt_status status = walk_from(c, scope, wanted);
    c->walks--;
    return status;
}

void prt_tf_mark_done(prt_tf_scope *scope, uint32_t node)
{
    scope->state[node] = DONE;
}

poprt_status prt_tf_demand(prt_tf_converter *c, prt_tf_scope *scope, prt_tf_edge edge,
    prt_tf_value *out)
{
    PRT_TRY(walk(c, scope, edge.node));
    const prt_tf_node *node = &scope->body->nodes[edge.node];
    const prt_tf_value *done = scope->done[edge.node];
    if (done == NULL || edge.output >= node->n_out)
        return prt_fail(POPRT_E_PARSE, NULL, "node '%.*s' has no output %u",
            PRT_STR_ARG(node->name), edge.output);
    *out = done[edge.output];
    return POPRT_OK;
}

/* ---- functions */

/* Converts the nodes that write resources whenever the function runs. */
static poprt_status demand_effects(prt_tf_converter *c, prt_tf_scope *scope)
{
    const prt_tf_body *body = scope->body;
    for (uint32_t i = 0; i < body->n_effects; i++)
        if (prt_tf_node_writes(c->graph, &body->nodes[body->effects[i]]))
            PRT_TRY(walk(c, scope, body->effects[i]));
    return POPRT_OK;
}

/* Makes a scope for the call of a function. */
static poprt_status enter(prt_tf_call *call, const prt_tf_function *fn, const prt_tf_attr *attrs,
    uint32_t n_attrs, uint32_t n_in, const prt_tf_value *in, uint32_t n_out, prt_tf_scope **out)
{
    prt_tf_converter *c = call->c;
    char *prefix = prt_arena_alloc(c->arena, (size_t)call->b.origin.size + 2);
    if (prefix == NULL)
        return POPRT_E_NOMEM;
    memcpy(prefix, call->b.origin.data, call->b.origin.size);
    prefix[call->b.origin.size] = '/';
    if (n_in != fn->body->n_args || n_out > fn->body->n_ret)
        return prt_fail(POPRT_E_PARSE, call->b.origin.data,
            "function '%.*s' takes %u arguments and returns %u tensors; the node has %u and %u",
            PRT_STR_ARG(fn->name), fn->body->n_args, fn->body->n_ret, n_in, n_out);
    PRT_TRY(prt_tf_scope_create(c, call->scope, fn->body, call->scope->graph,
        (prt_str){ prefix, call->b.origin.size + 1 }, n_in, in, out));
    (*out)->attrs = attrs;
    (*out)->n_attrs = n_attrs;
    return POPRT_OK;
}

poprt_status prt_tf_inline(prt_tf_call *call, const prt_tf_function *fn, const prt_tf_attr *attrs,
    uint32_t n_attrs, uint32_t n_in, const prt_tf_value *in, uint32_t n_out, prt_tf_value *out)
{
    prt_tf_scope *scope;
    PRT_TRY(enter(call, fn, attrs, n_attrs, n_in, in, n_out, &scope));
    for (uint32_t k = 0; k < n_out; k++)
        PRT_TRY(prt_tf_demand(call->c, scope, fn->body->ret[k], &out[k]));
    return scope->writes ? demand_effects(call->c, scope) : POPRT_OK;
}

poprt_status prt_tf_inline_call(prt_tf_call *call, const prt_tf_function *fn,
    const prt_tf_attr *attrs, uint32_t n_attrs)
{
    prt_tf_scope *scope;
    uint32_t count = 0;
    PRT_TRY(enter(call, fn, attrs, n_attrs, call->n_in, call->in, call->n_out, &scope));
    prt_tf_edge *roots = PRT_NEW_N(call->c->arena, prt_tf_edge, call->n_out);
    if (roots == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < call->n_out; k++)
        if (prt_tf_is_wanted(call, k))
            roots[count++] = fn->body->ret[k];
    if (!scope->writes)
        PRT_TRY(prt_tf_mark_wanted(call->c, scope, count, roots));
    for (uint32_t k = 0; k < call->n_out; k++)
        if (prt_tf_is_wanted(call, k))
            PRT_TRY(prt_tf_demand(call->c, scope, fn->body->ret[k], &call->out[k]));
    return scope->writes ? demand_effects(call->c, scope) : POPRT_OK;
}

poprt_status prt_tf_call_function(prt_tf_call *call, const char *attr, prt_tf_func *func,
    const prt_tf_function **out)
{
    prt_tf_attr_value v;
    uint32_t depth;
    if (!prt_tf_attr_value_of(call, attr, &v, &depth) || v.kind != PRT_TF_ATTR_func)
        return prt_fail(POPRT_E_PARSE, call->b.origin.data, "attribute %s is not a function", attr);
    *func = (prt_tf_func){ .name = v.s };
    if (v.bytes.data != NULL)
        PRT_TRY(prt_tf_func_read(call->c->arena, v.bytes, depth + 1, func));
    *out = prt_tf_function_find(call->c->graph, func->name);
    return *out != NULL ? POPRT_OK : prt_error_last()->status;
}
