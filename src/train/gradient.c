/* SPDX-License-Identifier: MIT */
/* gradient.c — expands ai.onnx.preview.training.Gradient to ordinary operators. */
#include "train/gradient.h"

#include "train/autodiff.h"

/* Returns the value of this name in the op's graph, if it is defined before the op; else NULL. */
static prt_value *find(const prt_op *op, prt_str name)
{
    prt_value *v = prt_map_find(&op->graph->module->names, name);
    if (v == NULL || v->graph != op->graph)
        return NULL;
    for (const prt_op *at_or_after = op; at_or_after != NULL; at_or_after = at_or_after->next)
        if (v->def == at_or_after)
            return NULL;
    return v;
}

static poprt_status find_all(const prt_op *op, prt_strs names, prt_value **out)
{
    for (uint32_t i = 0; i < names.count; i++) {
        out[i] = find(op, names.data[i]);
        if (out[i] == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, prt_op_label(op),
                "Gradient: '%.*s' is not a tensor of this graph that is defined before this node",
                PRT_STR_ARG(names.data[i]));
    }
    return POPRT_OK;
}

/* A copy of part of the graph, computed from other inputs. `to` maps ids of old values to new
 * values; NULL: the value is unchanged. */
typedef struct copy {
    prt_op *op; /* the Gradient node */
    prt_value **to;
    bool *fixed; /* xs and zs: the ops that compute them are not copied */
    uint32_t n_values;
} copy;

static prt_value *mapped(const copy *c, prt_value *v)
{
    if (v == NULL || v->graph != c->op->graph || v->id >= c->n_values || c->to[v->id] == NULL)
        return v;
    return c->to[v->id];
}

static poprt_status copy_op(copy *c, prt_op *from)
{
    prt_graph *graph = from->graph;
    bool changes = false, wanted = false;
    for (uint32_t i = 0; i < from->n_in; i++)
        changes = changes || mapped(c, from->in[i].value) != from->in[i].value;
    for (uint32_t i = 0; i < from->n_out; i++)
        wanted = wanted || !c->fixed[from->out[i].id];
    if (from->n_regions != 0 && wanted)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(c->op),
            "Gradient: inputs other than the named values are not supported through %.100s",
            from->name.data);
    if (!changes || !wanted)
        return POPRT_OK;
    if (from->def == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(from), "operator %.100s has no gradient",
            from->name.data);
    prt_op *to = prt_graph_add_op(graph, c->op, from->def, from->n_in, from->n_out, 0);
    if (to == NULL ||
        (to->attrs = prt_attrs_clone(from->def, graph->module->arena, from->attrs)) == NULL)
        return POPRT_E_NOMEM;
    to->origin = from->origin;
    for (uint32_t i = 0; i < from->n_in; i++)
        prt_op_set_input(to, i, mapped(c, from->in[i].value));
    for (uint32_t i = 0; i < from->n_out; i++)
        if (!c->fixed[from->out[i].id])
            c->to[from->out[i].id] = &to->out[i];
    return prt_ir_infer_new_op(to);
}

/* Makes `y` a function of the op's inputs, which replace the `n` named values. */
static poprt_status substitute(prt_op *op, uint32_t n, prt_value *const *named, prt_value **y)
{
    prt_arena *scratch = NULL;
    copy c = { .op = op, .n_values = op->graph->n_values };
    PRT_TRY(prt_arena_create(op->graph->module->allocator, 0, &scratch));
    c.to = PRT_NEW_N(scratch, prt_value *, c.n_values);
    c.fixed = PRT_NEW_N(scratch, bool, c.n_values);
    poprt_status status = c.to != NULL && c.fixed != NULL ? POPRT_OK : POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n && status == POPRT_OK; i++) {
        c.to[named[i]->id] = prt_op_input(op, i);
        c.fixed[named[i]->id] = true;
    }
    /* Copies are inserted before `op`, possibly right after the op that defines y. The walk ends at
     * that op, so copies are not copied again. */
    const prt_op *const last = (*y)->def;
    prt_op *at = last != NULL ? op->graph->first : NULL;
    for (; at != NULL && status == POPRT_OK; at = at != last ? at->next : NULL)
        status = copy_op(&c, at);
    if (status == POPRT_OK)
        *y = mapped(&c, *y);
    prt_arena_release(scratch);
    return status;
}

/* Replaces each output by a gradient. A gradient that already has a name or uses gets an Identity,
 * which can take the name of the output. */
static poprt_status hand_over(prt_op *op, uint32_t n, prt_value *const *dxs)
{
    prt_build b = prt_build_before(op);
    for (uint32_t i = 0; i < n && i < op->n_out; i++) {
        prt_value *out = &op->out[i], *dx = dxs[i];
        if (out->name.size == 0 && !prt_value_used(out))
            continue;
        if (dx->name.size != 0 || dx->def == NULL || prt_value_used(dx))
            dx = prt_build_unary(&b, PRT_OP_identity, dx);
        if (dx == NULL)
            break;
        prt_build_replace(&b, out, dx);
    }
    PRT_TRY(prt_build_status(&b));
    prt_op_erase(op);
    return POPRT_OK;
}

poprt_status prt_train_gradient(prt_op *op, prt_strs xs, prt_strs zs, prt_str y)
{
    prt_arena *arena = op->graph->module->arena;
    const uint32_t n = xs.count + zs.count;
    if (xs.count == 0 || op->n_in != n || op->n_out > xs.count)
        return prt_fail(POPRT_E_PARSE, prt_op_label(op),
            "Gradient: has %u inputs and %u outputs for %u names in xs and %u in zs", op->n_in,
            op->n_out, xs.count, zs.count);
    prt_value **named = PRT_NEW_N(arena, prt_value *, n);
    prt_value **dxs = PRT_NEW_N(arena, prt_value *, n);
    prt_value *of = find(op, y);
    if (named == NULL || dxs == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(find_all(op, xs, named));
    PRT_TRY(find_all(op, zs, named + xs.count));
    if (of == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, prt_op_label(op),
            "Gradient: y '%.*s' is not a tensor of this graph that is defined before this node",
            PRT_STR_ARG(y));
    bool same = true;
    for (uint32_t i = 0; i < n; i++) {
        if (prt_op_input(op, i) == NULL)
            return prt_fail(POPRT_E_PARSE, prt_op_label(op), "Gradient: input %u is missing", i);
        same = same && prt_op_input(op, i) == named[i];
    }
    if (!same) {
        PRT_TRY(substitute(op, n, named, &of));
        for (uint32_t i = 0; i < n; i++)
            named[i] = prt_op_input(op, i);
    }
    prt_build b = prt_build_before(op);
    PRT_TRY(prt_autodiff(&b, of, NULL, xs.count, named, zs.count, named + xs.count, dxs, NULL));
    return hand_over(op, xs.count, dxs);
}
