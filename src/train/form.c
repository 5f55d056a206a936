/* SPDX-License-Identifier: MIT */
/*
 * form.c — the training form of a model: Dropout drops elements, and BatchNormalization uses the
 * statistics of the micro-batch. If its running statistics are initializers, they become variables
 * that every micro-batch updates. Models are usually exported in the form for inference.
 */
#include "ir/build.h"
#include "train/graph.h"

/* Lists a tensor that training does not change, unless it has no name. */
static poprt_status list(prt_training_unchanged *u, const prt_value *v)
{
    for (size_t i = 0; i < u->norms.count; i++)
        if (prt_str_equal(u->norms.data[i], v->name))
            return POPRT_OK;
    return v->name.size == 0 || PRT_VEC_PUSH(u->arena, &u->norms, v->name) ? POPRT_OK
                                                                           : POPRT_E_NOMEM;
}

/* Lists the scale or the bias of a normalization that cannot be trained. */
static poprt_status list_constant(prt_training_unchanged *u, const prt_value *v)
{
    return v != NULL && prt_value_is_constant(v) && v->initializer == PRT_INITIALIZER_none
        ? list(u, v)
        : POPRT_OK;
}

/* Makes the initial statistics of a normalization a variable and assigns their new value. */
static poprt_status update_statistic(prt_training_unchanged *u, prt_value *old, prt_value *now)
{
    prt_module *m = now->graph->module;
    if (old == NULL)
        return POPRT_OK;
    if (old->graph != m->main || now->graph != m->main)
        return prt_value_is_constant(old) ? list(u, old) : POPRT_OK;
    if (old->variable == NULL) {
        if (!prt_value_is_constant(old) || old->initializer == PRT_INITIALIZER_none)
            return list_constant(u, old);
        if (prt_value_make_variable(old, PRT_VARIABLE_statistic) == NULL)
            return POPRT_E_NOMEM;
    } else if (old->variable->role == PRT_VARIABLE_statistic) {
        /* A second normalization with the same statistics: the first one updates them. */
        return POPRT_OK;
    }
    prt_build b = prt_build_at_end(m->main);
    (void)prt_build_binary(&b, PRT_OP_assign, old, now);
    return prt_build_status(&b);
}

/* Replaces a normalization by one with all three outputs. */
static poprt_status convert_batch_norm(prt_training_unchanged *u, prt_op *op)
{
    const prt_batch_normalization_attrs *old = op->attrs;
    prt_build b = prt_build_before(op);
    prt_value *in[5];
    prt_batch_normalization_attrs a = *old;
    PRT_TRY(list_constant(u, prt_op_input(op, 1)));
    PRT_TRY(list_constant(u, prt_op_input(op, 2)));
    if (old->training_mode != 0 && op->n_out == 3) {
        PRT_TRY(update_statistic(u, prt_op_input(op, 3), &op->out[1]));
        return update_statistic(u, prt_op_input(op, 4), &op->out[2]);
    }
    PRT_ATTR_SET(a, batch_normalization, training_mode, 1);
    for (uint32_t i = 0; i < 5; i++)
        in[i] = prt_op_input(op, i);
    prt_op *now = prt_build_op_n(&b, PRT_OP_batch_normalization, &a, 5, in, 3);
    PRT_TRY(prt_build_status(&b));
    for (uint32_t i = 0; i < op->n_out; i++)
        prt_build_replace(&b, &op->out[i], &now->out[i]);
    PRT_TRY(prt_build_status(&b));
    PRT_TRY(update_statistic(u, in[3], &now->out[1]));
    return update_statistic(u, in[4], &now->out[2]);
}

static poprt_status convert_dropout(prt_op *op)
{
    prt_build b = prt_build_before(op);
    static const bool yes = true;
    prt_value *on = prt_build_tensor(&b, PRT_DTYPE_bool, 0, NULL, &yes);
    PRT_TRY(prt_build_status(&b));
    while (op->n_in < 3)
        PRT_TRY(prt_op_add_input(op, NULL));
    prt_op_set_input(op, 2, on);
    return POPRT_OK;
}

#ifndef PRT_NO_GRAPHCORE
/* ShapedDropout is the product with the Dropout of ones in the shape of the mask. */
static poprt_status convert_shaped_dropout(prt_op *op)
{
    const prt_gc_shaped_dropout_attrs *a = op->attrs;
    static const bool yes = true;
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0);
    prt_value *shape = prt_build_i64s(&b, a->shape.count, a->shape.data);
    prt_value *ones =
        prt_build_binary(&b, PRT_OP_expand, prt_build_scalar(&b, x->type->dtype, 1.0), shape);
    prt_value *in[3] = { ones, prt_build_scalar(&b, PRT_DTYPE_f32, (double)a->ratio),
        prt_build_tensor(&b, PRT_DTYPE_bool, 0, NULL, &yes) };
    prt_value *mask = prt_build_op(&b, PRT_OP_dropout, NULL, 3, in);
    prt_value *y = prt_build_binary(&b, PRT_OP_mul, x, mask);
    PRT_TRY(prt_build_status(&b));
    prt_build_replace(&b, &op->out[0], y);
    return prt_build_status(&b);
}
#endif

static poprt_status convert_graph(prt_training_unchanged *u, prt_graph *graph)
{
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(convert_graph(u, op->regions[i]));
        if (prt_op_is(op, PRT_OP_batch_normalization))
            PRT_TRY(convert_batch_norm(u, op));
        else if (prt_op_is(op, PRT_OP_dropout))
            PRT_TRY(convert_dropout(op));
#ifndef PRT_NO_GRAPHCORE
        else if (prt_op_is(op, PRT_OP_gc_shaped_dropout))
            PRT_TRY(convert_shaped_dropout(op));
#endif
    }
    return POPRT_OK;
}

poprt_status prt_training_form(prt_module *module, prt_training_unchanged *unchanged)
{
    return convert_graph(unchanged, module->main);
}

/* ---- a loss in float32 */

static prt_value *cast_to(prt_build *b, prt_value *x, int32_t dtype)
{
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(a, cast, to, dtype);
    return prt_build_op(b, PRT_OP_cast, &a, 1, &x);
}

static bool is_half(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype) &&
        prt_dtype_bits(v->type->dtype) == 16;
}

poprt_status prt_training_widen_loss(prt_value **loss, prt_arena *arena)
{
    prt_op *op = (*loss)->def;
    if (!is_half(*loss))
        return POPRT_OK;
    if (op->n_regions != 0 || op->def->id >= PRT_OP_COUNT)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "ensure_fp32_loss_scale_tensor needs a loss of an operator without subgraphs, not of "
            "%s",
            op->def->name);
    prt_build b = prt_build_before(op);
    prt_value **in = PRT_NEW_N(arena, prt_value *, op->n_in);
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = is_half(prt_op_input(op, i)) ? cast_to(&b, prt_op_input(op, i), PRT_DTYPE_f32)
                                             : prt_op_input(op, i);
    prt_op *now = prt_build_op_n(&b, op->def->id, op->attrs, op->n_in, in, op->n_out);
    PRT_TRY(prt_build_status(&b));
    const uint32_t slot = (*loss)->slot;
    for (uint32_t i = op->n_out; i-- > 0;) {
        prt_value *y = &now->out[i];
        if (is_half(&op->out[i]))
            y = cast_to(&b, y, op->out[i].type->dtype);
        PRT_TRY(prt_build_status(&b));
        if (i == 0)
            prt_build_replace(&b, &op->out[i], y);
        else
            prt_build_replace_uses(&b, &op->out[i], y);
    }
    *loss = &now->out[slot];
    return prt_build_status(&b);
}
