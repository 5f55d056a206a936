/* SPDX-License-Identifier: MIT */
/*
 * autodiff.c — reverse-mode differentiation. Finds the values that depend on `xs`, then walks from
 * y backwards; each op's rule computes gradients of inputs from gradients of outputs. Gradients
 * from several users of a value are added from the last user to the first, so results are
 * deterministic.
 */
#include <stdio.h>

#include "train/path.h"
#include "train/rule.h"
#include "train/rules.h"

/* Tables indexed by value id; they grow with the graph. */
enum { MOST_LEVELS = 16 };

/* Sums of 2^i gradients of a value, by i. */
typedef struct partial_sums {
    prt_value *level[MOST_LEVELS];
} partial_sums;

struct prt_sweep {
    prt_build *b;
    prt_arena *scratch;
    prt_graph *graph;
    prt_report *report; /* ops that their rules refuse */
    prt_gradients *all; /* NULL: gradients get no names */
    uint32_t n;         /* entries in each table */
    uint32_t n_old;     /* values of the graph before the differentiation */
    bool *depends;      /* the value depends on one of xs */
    bool *cut;          /* the value counts as independent: no gradient flows to its inputs */
    prt_value **grad;
    partial_sums **partial; /* with all->tree: gradients that are not in `grad` yet, or NULL */
};
typedef struct prt_sweep sweep;

/* Makes the tables large enough for all present values of the graph. */
static poprt_status grow(sweep *s)
{
    const uint32_t need = s->graph->n_values;
    if (need <= s->n)
        return POPRT_OK;
    const uint32_t n = need > UINT32_MAX / 2 ? need : 2 * need;
    bool *depends = PRT_NEW_N(s->scratch, bool, n), *cut = PRT_NEW_N(s->scratch, bool, n);
    prt_value **grad = PRT_NEW_N(s->scratch, prt_value *, n);
    partial_sums **partial = PRT_NEW_N(s->scratch, partial_sums *, n);
    if (depends == NULL || cut == NULL || grad == NULL || partial == NULL)
        return POPRT_E_NOMEM;
    if (s->n != 0) {
        memcpy(depends, s->depends, s->n * sizeof(*depends));
        memcpy(cut, s->cut, s->n * sizeof(*cut));
        memcpy(grad, s->grad, s->n * sizeof(*grad));
        memcpy(partial, s->partial, s->n * sizeof(*partial));
    }
    s->depends = depends;
    s->cut = cut;
    s->grad = grad;
    s->partial = partial;
    s->n = n;
    return POPRT_OK;
}

static bool is_float(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype);
}

static bool known(const sweep *s, const prt_value *v)
{
    return v != NULL && v->graph == s->graph && v->id < s->n;
}

static bool value_depends(const sweep *s, const prt_value *v)
{
    return known(s, v) && s->depends[v->id];
}

/* Returns whether a region reads a value that depends on xs; regions read values of the graphs
 * around them. */
static bool region_depends(const sweep *s, const prt_graph *region)
{
    prt_for_each_op (op, region) {
        for (uint32_t i = 0; i < op->n_in; i++)
            if (value_depends(s, op->in[i].value))
                return true;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (region_depends(s, op->regions[i]))
                return true;
    }
    for (uint32_t i = 0; region->ret != NULL && i < region->ret->n_in; i++)
        if (value_depends(s, region->ret->in[i].value))
            return true;
    return false;
}

static bool op_depends(const sweep *s, const prt_op *op)
{
    if (prt_grad_row_of(op->def).kind == PRT_GRAD_ZERO)
        return false;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (value_depends(s, op->in[i].value))
            return true;
    for (uint32_t i = 0; i < op->n_regions; i++)
        if (region_depends(s, op->regions[i]))
            return true;
    return false;
}

/* Marks the outputs that depend on xs, for the ops from `first` to `last`. */
static void find_dependent(sweep *s, const prt_op *first, const prt_op *last)
{
    for (const prt_op *op = first; op != NULL; op = op->next) {
        if (op_depends(s, op))
            for (uint32_t i = 0; i < op->n_out; i++)
                if (!s->cut[op->out[i].id] && prt_path_carries(&op->out[i]))
                    s->depends[op->out[i].id] = true;
        if (op == last)
            return;
    }
}

bool prt_grad_wants(const prt_grad *g, const prt_value *v)
{
    return is_float(v) && value_depends(g->sweep, v);
}

/* Adds a gradient to partial sums, as a carry to the sums of as many. */
static poprt_status add_partial(sweep *s, partial_sums **to, prt_value *gradient)
{
    if (*to == NULL)
        *to = PRT_NEW(s->scratch, partial_sums);
    if (*to == NULL)
        return POPRT_E_NOMEM;
    uint32_t i = 0;
    for (; i + 1 < MOST_LEVELS && (*to)->level[i] != NULL; i++) {
        gradient = prt_build_binary(s->b, PRT_OP_add, (*to)->level[i], gradient);
        (*to)->level[i] = NULL;
    }
    (*to)->level[i] = (*to)->level[i] == NULL
        ? gradient
        : prt_build_binary(s->b, PRT_OP_add, (*to)->level[i], gradient);
    return prt_build_status(s->b);
}

poprt_status prt_grad_flow(prt_grad *g, const prt_value *v, prt_value *gradient)
{
    sweep *s = g->sweep;
    if (gradient == NULL || !value_depends(s, v))
        return POPRT_OK;
    prt_value **sum = &s->grad[v->id];
    if (s->all != NULL && s->all->tree)
        return add_partial(s, &s->partial[v->id], gradient);
    *sum = *sum == NULL ? gradient : prt_build_binary(s->b, PRT_OP_add, *sum, gradient);
    return prt_build_status(s->b);
}

/* Adds up the partial sums of a value, to which no more gradients flow. */
static poprt_status finish_sum(sweep *s, const prt_value *v)
{
    partial_sums *p = known(s, v) ? s->partial[v->id] : NULL;
    prt_value *sum = NULL;
    for (uint32_t i = 0; p != NULL && i < MOST_LEVELS; i++)
        if (p->level[i] != NULL)
            sum = sum == NULL ? p->level[i] : prt_build_binary(s->b, PRT_OP_add, p->level[i], sum);
    if (sum != NULL) {
        s->grad[v->id] = sum;
        s->partial[v->id] = NULL;
    }
    return prt_build_status(s->b);
}

/* Returns the gradient of an op's output; NULL if it has none or is cut. A rule may have added ops
 * before its op, whose outputs are not in the tables. */
static prt_value *gradient_of(const sweep *s, const prt_value *v)
{
    return known(s, v) && !s->cut[v->id] ? s->grad[v->id] : NULL;
}

/* Names the gradient of a value of the forward graph. */
static poprt_status name_gradient(const sweep *s, const prt_value *v)
{
    prt_value *gradient = s->all != NULL && v->id < s->n_old ? s->grad[v->id] : NULL;
    char text[512];
    if (gradient == NULL || v->name.size == 0 || gradient->name.size != 0 ||
        prt_value_is_input(gradient) || gradient->id < s->n_old)
        return POPRT_OK;
    const int size = snprintf(text, sizeof(text), "Gradient___%.*s", PRT_STR_ARG(v->name));
    const prt_str name = { text, (uint32_t)size };
    if ((size_t)size >= sizeof(text) || prt_map_find(&s->graph->module->names, name) != NULL)
        return POPRT_OK;
    return prt_value_set_name(gradient, name);
}

/* A tensor of `value` with the type of `like`. */
static prt_value *filled(prt_build *b, prt_value *like, double value)
{
    if (b->status != POPRT_OK)
        return NULL;
    prt_value *scalar = prt_build_scalar(b, like->type->dtype, value);
    if (like->type->rank == 0)
        return scalar;
    if (prt_type_is_static(like->type))
        return prt_build_binary(b, PRT_OP_expand, scalar,
            prt_build_i64s(b, (uint32_t)like->type->rank, like->type->dims));
    return prt_build_binary(b, PRT_OP_expand, scalar, prt_build_unary(b, PRT_OP_shape, like));
}

/* Calls the rule of an op. A refusal goes to the report, and the sweep continues with zeros, so
 * that the report becomes complete. */
static poprt_status call_rule(const sweep *s, prt_grad *g)
{
    prt_build *b = s->b;
    const prt_build before = *b;
    b->origin = g->op->origin;
    b->like = g->op;
    poprt_status status = prt_grad_row_of(g->op->def).rule(g);
    if (status == POPRT_OK)
        status = b->status;
    b->origin = before.origin;
    b->like = before.like;
    if (status != POPRT_E_UNSUPPORTED)
        return status;
    prt_ir_report_failure(s->report, g->op, status);
    b->status = POPRT_OK;
    for (uint32_t i = 0; i < g->op->n_in; i++)
        g->in[i] = g->wanted[i] ? filled(b, prt_op_input(g->op, i), 0.0) : NULL;
    return b->status;
}

static poprt_status sweep_op(sweep *s, prt_op *op)
{
    bool flows = false;
    prt_grad g = { .b = s->b,
        .op = op,
        .sweep = s,
        .last = s->b->before != NULL ? s->b->before->prev : s->graph->last };
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(finish_sum(s, &op->out[i]));
    for (uint32_t i = 0; i < op->n_out; i++)
        flows = flows || gradient_of(s, &op->out[i]) != NULL;
    if (!flows || !op_depends(s, op))
        return POPRT_OK;
    prt_value **out = PRT_NEW_N(s->scratch, prt_value *, op->n_out);
    bool *wanted = PRT_NEW_N(s->scratch, bool, op->n_in);
    g.in = PRT_NEW_N(s->scratch, prt_value *, op->n_in);
    if (out == NULL || wanted == NULL || g.in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_out; i++) {
        out[i] = gradient_of(s, &op->out[i]);
        PRT_TRY(name_gradient(s, &op->out[i]));
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        wanted[i] = prt_grad_wants(&g, op->in[i].value);
    g.out = out;
    g.wanted = wanted;
    PRT_TRY(call_rule(s, &g));
    for (uint32_t i = 0; i < g.op->n_in; i++)
        if (wanted[i])
            PRT_TRY(prt_grad_flow(&g, g.op->in[i].value, g.in[i]));
    return POPRT_OK;
}

prt_value *prt_grad_filled(prt_grad *g, prt_value *like, double value)
{
    return filled(g->b, like, value);
}

poprt_status prt_grad_by_outputs(prt_grad *g, prt_value *const *ys)
{
    sweep *s = g->sweep;
    PRT_TRY(prt_build_status(s->b));
    PRT_TRY(grow(s));
    prt_op *const first = g->last != NULL ? g->last->next : s->graph->first;
    prt_op *const last = s->b->before != NULL ? s->b->before->prev : s->graph->last;
    if (first == NULL || first == s->b->before)
        return POPRT_OK;
    find_dependent(s, first, last);
    for (uint32_t i = 0; i < g->op->n_out; i++)
        if (g->out[i] != NULL)
            PRT_TRY(prt_grad_flow(g, ys[i], g->out[i]));
    for (prt_op *op = last;; op = op->prev) {
        PRT_TRY(sweep_op(s, op));
        if (op == first)
            return POPRT_OK;
    }
}

poprt_status prt_grad_by(prt_grad *g, prt_value *y)
{
    sweep *s = g->sweep;
    prt_value **ys = PRT_NEW_N(s->scratch, prt_value *, g->op->n_out);
    if (ys == NULL)
        return POPRT_E_NOMEM;
    ys[0] = y;
    return prt_grad_by_outputs(g, ys);
}

/* Marks xs and the cut values, and reports the ops without a rule. */
static poprt_status prepare(sweep *s, const prt_derivative *d)
{
    PRT_TRY(grow(s));
    for (uint32_t i = 0; i < d->n_cut; i++)
        if (known(s, d->cut[i]))
            s->cut[d->cut[i]->id] = true;
    for (uint32_t i = 0; i < d->n_x; i++)
        if (known(s, d->xs[i]))
            s->cut[d->xs[i]->id] = s->depends[d->xs[i]->id] = true;
    PRT_TRY(prt_path_check(s->report, s->graph, s->n, s->depends, s->cut, d->n_y, d->ys));
    return s->report->count == 0 ? POPRT_OK : POPRT_E_UNSUPPORTED;
}

static poprt_status run(sweep *s, const prt_derivative *d)
{
    prt_op *const last = s->b->before != NULL ? s->b->before->prev : s->graph->last;
    prt_grad g = { .b = s->b, .sweep = s };
    find_dependent(s, s->graph->first, last);
    for (uint32_t i = 0; i < d->n_y; i++) {
        prt_value *dy = d->dys[i] != NULL || !value_depends(s, d->ys[i])
            ? d->dys[i]
            : filled(s->b, d->ys[i], 1.0);
        PRT_TRY(prt_grad_flow(&g, d->ys[i], dy));
    }
    for (prt_op *op = last; op != NULL; op = op->prev)
        PRT_TRY(sweep_op(s, op));
    for (size_t i = 0; i < s->graph->inputs.count; i++)
        PRT_TRY(finish_sum(s, s->graph->inputs.data[i]));
    for (size_t i = 0; i < s->graph->constants.count; i++)
        PRT_TRY(finish_sum(s, s->graph->constants.data[i]));
    for (uint32_t i = 0; i < d->n_x; i++)
        PRT_TRY(finish_sum(s, d->xs[i]));
    for (size_t i = 0; i < s->graph->inputs.count; i++)
        PRT_TRY(name_gradient(s, s->graph->inputs.data[i]));
    for (size_t i = 0; s->all != NULL && i < s->graph->constants.count; i++)
        PRT_TRY(name_gradient(s, s->graph->constants.data[i]));
    for (uint32_t i = 0; i < d->n_x; i++) {
        PRT_TRY(name_gradient(s, d->xs[i]));
        d->dxs[i] = value_depends(s, d->xs[i]) ? s->grad[d->xs[i]->id] : NULL;
    }
    if (s->all == NULL)
        return POPRT_OK;
    s->all->count = s->n_old;
    s->all->of = prt_arena_copy(s->all->arena, s->grad, s->n_old * sizeof(prt_value *));
    return s->all->of != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Erases the ops behind `last`, which end before `before`. Each is read by later ones only. */
static void erase_new(prt_graph *graph, const prt_op *last, const prt_op *before)
{
    prt_op *op = before != NULL ? before->prev : graph->last;
    while (op != last && op != NULL) {
        prt_op *const prev = op->prev;
        prt_op_erase(op);
        op = prev;
    }
}

poprt_status prt_derivative_build(prt_build *b, const prt_derivative *d, prt_gradients *all)
{
    prt_report report = { 0 };
    sweep s = { .b = b,
        .graph = b->graph,
        .report = &report,
        .all = all,
        .n_old = b->graph->n_values };
    const prt_op *const last = b->before != NULL ? b->before->prev : b->graph->last;
    PRT_TRY(prt_build_status(b));
    PRT_TRY(prt_arena_create(b->graph->module->allocator, 0, &s.scratch));
    poprt_status status = prepare(&s, d);
    if (status == POPRT_OK)
        status = run(&s, d);
    prt_arena_release(s.scratch);
    if (report.count != 0)
        status = prt_report_end(&report);
    if (status != POPRT_OK)
        erase_new(b->graph, last, b->before);
    return status;
}

poprt_status prt_autodiff(prt_build *b, prt_value *y, prt_value *dy, uint32_t n,
    prt_value *const *xs, uint32_t n_cut, prt_value *const *cut, prt_value **dxs,
    prt_gradients *all)
{
    const prt_derivative d = { .n_y = 1,
        .ys = &y,
        .dys = &dy,
        .n_x = n,
        .xs = xs,
        .dxs = dxs,
        .n_cut = n_cut,
        .cut = cut };
    PRT_TRY(prt_build_status(b));
    if (!is_float(y) || y->graph != b->graph)
        return prt_fail(POPRT_E_TYPE, b->origin.data,
            "the differentiated value must be a floating-point tensor of this graph");
    for (uint32_t i = 0; i < n; i++)
        if (!is_float(xs[i]))
            return prt_fail(POPRT_E_TYPE, b->origin.data,
                "gradients can only be taken with respect to floating-point tensors");
    PRT_TRY(prt_derivative_build(b, &d, all));
    for (uint32_t i = 0; i < n; i++)
        if (dxs[i] == NULL)
            dxs[i] = filled(b, xs[i], 0.0);
    return prt_build_status(b);
}
