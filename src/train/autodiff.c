/* SPDX-License-Identifier: MIT */
/*
 * autodiff.c — reverse-mode differentiation. Finds the values that depend on `xs`, then walks from
 * y backwards; each op's rule computes gradients of inputs from gradients of outputs. Gradients
 * from several users of a value are added in list order, so results are deterministic.
 */
#include "train/rule.h"

static prt_grad_fn rule_of(const prt_op *op)
{
    static const prt_grad_fn rules[PRT_OP_COUNT] = {
#define GRAD(id, function) [PRT_OP_##id] = function,
#include "train/grads.def"
    };
    return op->def != NULL && op->def->id < PRT_OP_COUNT ? rules[op->def->id] : NULL;
}

/* Tables indexed by value id; they grow with the graph. */
struct prt_sweep {
    prt_build *b;
    prt_arena *scratch;
    prt_graph *graph;
    uint32_t n;    /* entries in each table */
    bool *depends; /* the value depends on one of xs */
    bool *cut;     /* the value counts as independent: no gradient flows to its inputs */
    prt_value **grad;
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
    if (depends == NULL || cut == NULL || grad == NULL)
        return POPRT_E_NOMEM;
    if (s->n != 0) {
        memcpy(depends, s->depends, s->n * sizeof(*depends));
        memcpy(cut, s->cut, s->n * sizeof(*cut));
        memcpy(grad, s->grad, s->n * sizeof(*grad));
    }
    s->depends = depends;
    s->cut = cut;
    s->grad = grad;
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

/* Returns whether a region reads a value that depends on xs; regions read values of the graphs
 * around them. */
static bool region_depends(const sweep *s, const prt_graph *region)
{
    prt_for_each_op (op, region) {
        for (uint32_t i = 0; i < op->n_in; i++)
            if (known(s, op->in[i].value) && s->depends[op->in[i].value->id])
                return true;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (region_depends(s, op->regions[i]))
                return true;
    }
    for (uint32_t i = 0; region->ret != NULL && i < region->ret->n_in; i++)
        if (known(s, region->ret->in[i].value) && s->depends[region->ret->in[i].value->id])
            return true;
    return false;
}

static bool op_depends(const sweep *s, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (known(s, op->in[i].value) && s->depends[op->in[i].value->id])
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
                if (!s->cut[op->out[i].id])
                    s->depends[op->out[i].id] = true;
        if (op == last)
            return;
    }
}

static poprt_status flow_into(sweep *s, prt_value *v, prt_value *gradient)
{
    if (gradient == NULL || !known(s, v) || !s->depends[v->id])
        return POPRT_OK;
    prt_value **sum = &s->grad[v->id];
    *sum = *sum == NULL ? gradient : prt_build_binary(s->b, PRT_OP_add, *sum, gradient);
    return prt_build_status(s->b);
}

static poprt_status sweep_op(sweep *s, prt_op *op)
{
    bool flows = false;
    prt_grad g = { .b = s->b,
        .op = op,
        .sweep = s,
        .last = s->b->before != NULL ? s->b->before->prev : s->graph->last };
    prt_value **out = PRT_NEW_N(s->scratch, prt_value *, op->n_out);
    bool *wanted = PRT_NEW_N(s->scratch, bool, op->n_in);
    g.in = PRT_NEW_N(s->scratch, prt_value *, op->n_in);
    if (out == NULL || wanted == NULL || g.in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_out; i++) {
        out[i] = s->cut[op->out[i].id] ? NULL : s->grad[op->out[i].id];
        flows = flows || out[i] != NULL;
    }
    if (!flows || !op_depends(s, op))
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_in; i++)
        wanted[i] = is_float(op->in[i].value) && known(s, op->in[i].value) &&
            s->depends[op->in[i].value->id];
    g.out = out;
    g.wanted = wanted;
    const prt_grad_fn rule = rule_of(op);
    if (rule == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "operator %.100s has no gradient",
            op->name.data);
    PRT_TRY(rule(&g));
    PRT_TRY(prt_build_status(s->b));
    for (uint32_t i = 0; i < op->n_in; i++)
        if (wanted[i])
            PRT_TRY(flow_into(s, op->in[i].value, g.in[i]));
    return POPRT_OK;
}

static prt_value *filled(prt_build *b, prt_value *like, double value)
{
    if (b->status != POPRT_OK)
        return NULL;
    prt_value *scalar = prt_build_scalar(b, like->type->dtype, value);
    return prt_build_binary(b, PRT_OP_expand, scalar, prt_build_unary(b, PRT_OP_shape, like));
}

/* The ops between g->last and `before`, which a rule has just built, compute `y`. Walks them
 * backwards at once, so that their gradients reach the inputs of the original op. */
poprt_status prt_grad_by(prt_grad *g, prt_value *y)
{
    sweep *s = g->sweep;
    PRT_TRY(prt_build_status(s->b));
    PRT_TRY(grow(s));
    prt_op *const first = g->last != NULL ? g->last->next : s->graph->first;
    prt_op *const last = s->b->before != NULL ? s->b->before->prev : s->graph->last;
    find_dependent(s, first, last);
    if (!s->depends[y->id])
        return POPRT_OK;
    s->grad[y->id] = g->out[0];
    for (prt_op *op = last;; op = op->prev) {
        PRT_TRY(sweep_op(s, op));
        if (op == first)
            return POPRT_OK;
    }
}

static poprt_status run(sweep *s, prt_value *y, prt_value *dy, uint32_t n, prt_value *const *xs,
    prt_value **dxs)
{
    prt_value *seed = dy != NULL ? dy : filled(s->b, y, 1.0);
    PRT_TRY(prt_build_status(s->b));
    s->grad[y->id] = seed;
    find_dependent(s, s->graph->first, y->def);
    for (prt_op *op = y->def; op != NULL; op = op->prev)
        PRT_TRY(sweep_op(s, op));
    for (uint32_t i = 0; i < n; i++) {
        prt_value *dx = known(s, xs[i]) && s->depends[xs[i]->id] ? s->grad[xs[i]->id] : NULL;
        dxs[i] = dx != NULL ? dx : filled(s->b, xs[i], 0.0);
    }
    return prt_build_status(s->b);
}

poprt_status prt_autodiff(prt_build *b, prt_value *y, prt_value *dy, uint32_t n,
    prt_value *const *xs, uint32_t n_cut, prt_value *const *cut, prt_value **dxs)
{
    PRT_TRY(prt_build_status(b));
    prt_graph *graph = b->graph;
    sweep s = { .b = b, .graph = graph };
    if (!is_float(y) || y->graph != graph)
        return prt_fail(POPRT_E_TYPE, b->origin.data,
            "the differentiated value must be a floating-point tensor of this graph");
    for (uint32_t i = 0; i < n; i++)
        if (!is_float(xs[i]))
            return prt_fail(POPRT_E_TYPE, b->origin.data,
                "gradients can only be taken with respect to floating-point tensors");
    PRT_TRY(prt_arena_create(graph->module->allocator, 0, &s.scratch));
    poprt_status status = grow(&s);
    if (status == POPRT_OK) {
        for (uint32_t i = 0; i < n_cut; i++)
            if (known(&s, cut[i]))
                s.cut[cut[i]->id] = true;
        for (uint32_t i = 0; i < n; i++)
            if (known(&s, xs[i]))
                s.cut[xs[i]->id] = s.depends[xs[i]->id] = true;
        status = run(&s, y, dy, n, xs, dxs);
    }
    prt_arena_release(s.scratch);
    return status;
}
