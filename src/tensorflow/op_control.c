/* SPDX-License-Identifier: MIT */
/* op_control.c — branches and loops whose bodies are functions: If, Case, While. */
#include "tensorflow/number.h"
#include "tensorflow/region.h"
#include "tensorflow/rows.h"

/* A function that an attribute of a node names. */
typedef struct called {
    prt_tf_func func;
    const prt_tf_function *fn;
} called;

static poprt_status find_function(prt_tf_call *n, const char *attr, called *out)
{
    return prt_tf_call_function(n, attr, &out->func, &out->fn);
}

poprt_status prt_tf_inline_in(prt_tf_call *call, prt_graph *graph, const prt_tf_function *fn,
    const prt_tf_func *func, uint32_t n_in, const prt_tf_value *in, uint32_t n_out,
    prt_tf_value *out)
{
    prt_graph *before = call->scope->graph;
    call->scope->graph = graph;
    const poprt_status status =
        prt_tf_inline(call, fn, func->attrs, func->n_attrs, n_in, in, n_out, out);
    call->scope->graph = before;
    return status;
}

/* ---- If and Case */

/* Functions [first, first + count) of a Case, and the index that chooses one. */
typedef struct choice {
    const called *functions;
    uint32_t first, count;
    prt_value *index; /* int64 of rank 0, NULL: an If */
} choice;

static poprt_status choose(prt_tf_call *n, const choice *c, prt_graph *graph, uint32_t n_out,
    prt_tf_value *out);

/* The first half of the functions is the taken branch of the If. */
static poprt_status convert_side(prt_tf_call *n, const void *user, bool side, prt_graph *graph,
    uint32_t n_out, prt_tf_value *out)
{
    choice half = *(const choice *)user;
    const uint32_t middle = half.count / 2;
    half.first += side ? 0 : middle;
    half.count = side ? middle : half.count - middle;
    return choose(n, &half, graph, n_out, out);
}

static poprt_status choose(prt_tf_call *n, const choice *c, prt_graph *graph, uint32_t n_out,
    prt_tf_value *out)
{
    if (c->count == 1) {
        const called *f = &c->functions[c->first];
        return prt_tf_inline_in(n, graph, f->fn, &f->func, n->n_in - 1, n->in + 1, n_out, out);
    }
    /* The If is built in `graph`, as if the node were there. */
    prt_tf_scope *scope = n->scope;
    prt_graph *before = scope->graph;
    const prt_build outer = n->b;
    scope->graph = graph;
    n->b = prt_build_at_end(graph);
    n->b.origin = outer.origin;
    prt_tf_value condition = { .kind = PRT_TF_tensor };
    const prt_op *last = graph->last;
    condition.value = prt_build_binary(&n->b, PRT_OP_less, c->index,
        prt_build_i64(&n->b, (int64_t)c->first + c->count / 2));
    poprt_status status = prt_tf_end(n);
    if (status == POPRT_OK)
        status = prt_tf_fold(n->c, graph, last, 1, &condition);
    if (status == POPRT_OK)
        status = prt_tf_branch(n, condition.value, convert_side, c, n_out, out);
    if (status == POPRT_OK)
        status = prt_build_status(&n->b);
    scope->graph = before;
    n->b = outer;
    return status;
}

poprt_status prt_tf_row_branches(prt_tf_call *n)
{
    called functions[2];
    prt_tf_value condition = { .kind = PRT_TF_tensor };
    PRT_TRY(find_function(n, "then_branch", &functions[0]));
    PRT_TRY(find_function(n, "else_branch", &functions[1]));
    const prt_op *last = n->b.graph->last;
    condition.value = prt_tf_condition(n, &n->b, prt_tf_in(n, 0));
    PRT_TRY(prt_tf_end(n));
    PRT_TRY(prt_tf_fold(n->c, n->b.graph, last, 1, &condition));
    const choice both = { .functions = functions, .count = 2 };
    PRT_TRY(prt_tf_branch(n, condition.value, convert_side, &both, n->n_out, n->out));
    return prt_tf_end(n);
}

/* An index out of range takes the last function. */
poprt_status prt_tf_row_cases(prt_tf_call *n)
{
    prt_tf_attr_value v;
    prt_tf_func *funcs;
    uint32_t depth, count = 0;
    if (!prt_tf_attr_value_of(n, "branches", &v, &depth) || v.kind != PRT_TF_ATTR_list)
        return prt_fail(POPRT_E_PARSE, n->b.origin.data, "a Case has no branches");
    PRT_TRY(prt_tf_list_funcs(n->c->arena, &v, depth + 1, &funcs, &count));
    called *functions = PRT_NEW_N(n->c->arena, called, count);
    if (functions == NULL)
        return POPRT_E_NOMEM;
    if (count == 0)
        return prt_fail(POPRT_E_PARSE, n->b.origin.data, "a Case has no branches");
    for (uint32_t i = 0; i < count; i++) {
        functions[i].func = funcs[i];
        if ((functions[i].fn = prt_tf_function_find(n->c->graph, funcs[i].name)) == NULL)
            return prt_error_last()->status;
    }
    prt_build *b = &n->b;
    const prt_op *before = b->graph->last;
    prt_value *index = prt_build_cast(b, prt_tf_in(n, 0), PRT_DTYPE_i64);
    index = prt_tf_rank(index) == 0 ? index : prt_build_reshape(b, index, 0, NULL);
    prt_value *last = prt_build_i64(b, (int64_t)count - 1);
    index = prt_build_where(b, prt_build_binary(b, PRT_OP_less, index, prt_build_i64(b, 0)), last,
        index);
    prt_tf_value folded = { .kind = PRT_TF_tensor, .value = index };
    PRT_TRY(prt_tf_end(n));
    PRT_TRY(prt_tf_fold(n->c, b->graph, before, 1, &folded));
    const choice all = { .functions = functions, .count = count, .index = folded.value };
    PRT_TRY(choose(n, &all, b->graph, n->n_out, n->out));
    return prt_tf_end(n);
}

/* ---- While */

typedef struct functions {
    called condition, body;
} functions;

static poprt_status condition(prt_tf_call *n, const void *user, prt_graph *graph,
    const prt_tf_value *variables, prt_tf_value *out)
{
    const called *f = &((const functions *)user)->condition;
    return prt_tf_inline_in(n, graph, f->fn, &f->func, n->n_in, variables, 1, out);
}

static poprt_status step(prt_tf_call *n, const void *user, prt_graph *graph,
    const prt_tf_value *variables, prt_tf_value *next)
{
    const called *f = &((const functions *)user)->body;
    return prt_tf_inline_in(n, graph, f->fn, &f->func, n->n_in, variables, n->n_in, next);
}

/* Returns whether the function returns argument i as result i. */
static bool returns_argument(const prt_tf_body *body, uint32_t i)
{
    prt_tf_edge edge = body->ret[i];
    for (uint32_t k = 0; k < body->n_nodes; k++) {
        const prt_tf_node *node = &body->nodes[edge.node];
        if (edge.node == i && i < body->n_args)
            return true;
        if (!prt_str_is(node->op, "Identity") || node->n_in != 1)
            return false;
        edge = node->in[0];
    }
    return false;
}

poprt_status prt_tf_row_while(prt_tf_call *n)
{
    functions f;
    bool *invariant = PRT_NEW_N(n->c->arena, bool, n->n_in);
    PRT_TRY(find_function(n, "cond", &f.condition));
    PRT_TRY(find_function(n, "body", &f.body));
    if (invariant == NULL)
        return POPRT_E_NOMEM;
    const prt_tf_body *body = f.body.fn->body;
    if (body->n_args != n->n_in || body->n_ret < n->n_in || n->n_out > n->n_in)
        return prt_fail(POPRT_E_PARSE, n->b.origin.data,
            "the body of a While takes %u arguments and returns %u; the node has %u inputs and %u "
            "outputs",
            body->n_args, body->n_ret, n->n_in, n->n_out);
    for (uint32_t i = 0; i < n->n_in; i++)
        invariant[i] = returns_argument(body, i);
    const prt_tf_loop loop = { .n = n->n_in,
        .start = n->in,
        .invariant = invariant,
        .condition = condition,
        .step = step,
        .user = &f };
    prt_tf_value *out = PRT_NEW_N(n->c->arena, prt_tf_value, n->n_in);
    if (out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tf_convert_loop(n, &loop, out));
    for (uint32_t k = 0; k < n->n_out; k++)
        prt_tf_set_value(n, k, out[k]);
    return prt_tf_end(n);
}
