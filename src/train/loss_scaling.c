/* SPDX-License-Identifier: MIT */
/* loss_scaling.c — the statistic of automatic loss scaling. */
#include "train/loss_scaling.h"

#include "ir/build.h"

/* The gradients whose elements are counted. */
typedef struct tracker {
    prt_graph *graph;
    const prt_training_scaling *scaling;
    const prt_gradients *all;
    const prt_value *seed; /* the gradient of the loss: the loss scaling itself */
    bool *tracked;         /* by the ids of the gradients */
    uint32_t n_values;
    uint32_t n;
} tracker;

static prt_value *gradient_of(const tracker *t, const prt_value *v)
{
    return v->graph == t->graph && v->id < t->all->count ? t->all->of[v->id] : NULL;
}

static bool is_half(const prt_value *v)
{
    return v->type->kind == PRT_VALUE_TENSOR && v->type->dtype == PRT_DTYPE_f16;
}

static void track(tracker *t, const prt_value *v)
{
    const prt_value *gradient = v != NULL ? gradient_of(t, v) : NULL;
    if (gradient == NULL || gradient->graph != t->graph || !is_half(gradient) ||
        t->tracked[gradient->id])
        return;
    t->tracked[gradient->id] = true;
    t->n++;
}

/* Tracks the gradient of a value unless an operator made it that only moves elements. */
static void track_computed(tracker *t, const prt_value *v)
{
    const prt_value *gradient = gradient_of(t, v);
    const prt_op *op = gradient != NULL ? gradient->def : NULL;
    if (op != NULL && op->def != NULL && gradient != t->seed && (op->def->traits & PRT_VIEW) == 0 &&
        !prt_op_only_moves(op->def, op->attrs))
        track(t, v);
}

static void track_all(tracker *t)
{
    const prt_graph *g = t->graph;
    for (size_t i = 0; i < g->variables.count; i++)
        track_computed(t, g->variables.data[i]);
    for (size_t i = 0; i < g->inputs.count; i++)
        track_computed(t, g->inputs.data[i]);
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_out; i++)
            track_computed(t, &op->out[i]);
}

static void track_products(tracker *t)
{
    prt_for_each_op (op, t->graph)
        if (prt_op_is(op, PRT_OP_conv) || prt_op_is(op, PRT_OP_conv_transpose) ||
            prt_op_is(op, PRT_OP_matmul) || prt_op_is(op, PRT_OP_gemm))
            for (uint32_t i = 0; i < 2; i++)
                track(t, prt_op_input(op, i));
}

static poprt_status track_tensors(tracker *t)
{
    for (uint32_t i = 0; i < t->scaling->n_tensors; i++) {
        const prt_str name = t->scaling->tensors[i];
        const prt_value *v = prt_map_find(&t->graph->module->names, name);
        if (v == NULL || v->graph != t->graph)
            return prt_fail(POPRT_E_NOT_FOUND, name.data,
                "the main graph has no tensor of this name, whose gradient automatic loss scaling "
                "has to track");
        if (gradient_of(t, v) == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, name.data,
                "automatic loss scaling has to track its gradient, and it has none: it does not "
                "lie between a trained weight and the loss");
        track(t, v);
    }
    return POPRT_OK;
}

/* Returns the counts of the chain and of a gradient, in a new op behind that of the gradient. */
static prt_value *count(const tracker *t, prt_value *counts, prt_value *gradient, prt_op *before,
    poprt_status *status)
{
    prt_build b = before != NULL ? prt_build_before(before) : prt_build_at_end(t->graph);
    prt_overflow_count_attrs a = PRT_ATTRS_OF(overflow_count);
    PRT_ATTR_SET(a, overflow_count, edge, t->scaling->edge * 65504.0f);
    const int64_t zeros[2] = { 0, 0 };
    prt_value *in[2] = { counts != NULL ? counts : prt_build_i64s(&b, 2, zeros), gradient };
    prt_value *sum = prt_build_op(&b, PRT_OP_overflow_count, &a, 2, in);
    *status = prt_build_status(&b);
    return sum;
}

/* Adds the counts of gradients that no op makes, such as the gradient of the loss, then those of
 * the others in the order of their ops. */
static poprt_status count_tracked(const tracker *t, const prt_ir_variable *variable)
{
    prt_graph *g = t->graph;
    prt_value *counts = NULL;
    poprt_status status = POPRT_OK;
    for (size_t i = 0; i < g->variables.count; i++)
        if (g->variables.data[i]->id < t->n_values && t->tracked[g->variables.data[i]->id]) {
            counts = count(t, counts, g->variables.data[i], g->first, &status);
            PRT_TRY(status);
        }
    for (prt_op *op = g->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_out; i++)
            if (op->out[i].id < t->n_values && t->tracked[op->out[i].id]) {
                counts = count(t, counts, &op->out[i], next, &status);
                PRT_TRY(status);
            }
    }
    if (counts == NULL)
        return prt_fail(POPRT_E_TYPE, "automatic_loss_scaling",
            "the tracked gradient is a constant");
    prt_value *sum = prt_graph_variable(g, variable);
    prt_build b = prt_build_at_end(g);
    if (sum == NULL)
        return POPRT_E_NOMEM;
    (void)prt_build_binary(&b, PRT_OP_assign, sum, prt_build_binary(&b, PRT_OP_add, sum, counts));
    return prt_build_status(&b);
}

poprt_status prt_training_count_overflows(prt_graph *graph, const prt_value *loss,
    const prt_training_scaling *scaling, const prt_gradients *all, const prt_ir_variable *counts,
    prt_arena *arena)
{
    tracker t = { .graph = graph,
        .scaling = scaling,
        .all = all,
        .tracked = PRT_NEW_N(arena, bool, graph->n_values),
        .n_values = graph->n_values };
    if (t.tracked == NULL)
        return POPRT_E_NOMEM;
    t.seed = gradient_of(&t, loss);
    if (scaling->tracking == PRT_TRACKING_all)
        track_all(&t);
    else if (scaling->tracking == PRT_TRACKING_products)
        track_products(&t);
    else
        PRT_TRY(track_tensors(&t));
    if (t.n == 0)
        return prt_fail(POPRT_E_TYPE, "automatic_loss_scaling",
            "automatic loss scaling needs float16 gradients, and no tracked tensor has one");
    return count_tracked(&t, counts);
}
