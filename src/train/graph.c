/* SPDX-License-Identifier: MIT */
/*
 * graph.c — the training graph of a model; see graph.h.
 *
 *     main graph   the model in training form, the gradients, Accumulate or Assign of each gradient
 *     update       for each weight the operator of the optimizer
 *
 * Names are PopART's: Gradient___w, Accum___w, and those of states and scalars (optimizer.h).
 */
#include "train/graph.h"

#include <stdio.h>

#include "train/batch_pieces.h"
#include "train/optimizer_graph.h"
#include "train/path.h"
#include "train/state.h"

typedef struct trainer {
    prt_module *m;
    const prt_training *t;
    prt_arena *arena;
    prt_value *loss;
    prt_value **weights, **gradients;
    prt_optimizer_weight *updates; /* by weight; values of the update's graph */
    prt_optimizer_plan *plans;
    prt_value *count; /* micro-batches so far, of running means; NULL: not needed */
    prt_gradients all;
    prt_batch_pieces pieces; /* factor 0: the micro-batch is computed as a whole */
    uint32_t n;
} trainer;

/* ---- the loss */

static poprt_status find_loss(trainer *t)
{
    const prt_graph *g = t->m->main;
    const prt_str name = t->t->loss;
    uint64_t count;
    t->loss = NULL;
    for (uint32_t i = 0; i < g->output_names.count; i++)
        if (prt_str_equal(g->output_names.data[i], name))
            t->loss = g->ret->in[i].value;
    if (t->loss == NULL)
        t->loss = prt_map_find(&t->m->names, name);
    if (t->loss == NULL || t->loss->graph != g)
        return prt_fail(POPRT_E_NOT_FOUND, name.data,
            "the main graph has no tensor of this name; the loss must be one of its tensors");
    if (!prt_type_is_tensor(t->loss->type) || !prt_dtype_is_float(t->loss->type->dtype))
        return prt_fail(POPRT_E_TYPE, name.data, "the loss must be a floating-point tensor");
    if (!prt_type_count(t->loss->type, &count) || count != 1)
        return prt_fail(POPRT_E_SHAPE, name.data,
            "the loss must be a scalar, a tensor of one element; reduce it first, for instance by "
            "ReduceMean or IdentityLoss");
    if (t->loss->def == NULL)
        return prt_fail(POPRT_E_ARG, name.data, "the loss is not computed by the model");
    return POPRT_OK;
}

/* Returns the gradient of the loss with respect to itself: the loss scaling. It has the type of the
 * loss, so that automatic loss scaling sees the range of that type. */
static prt_value *seed(trainer *t, prt_build *b)
{
    const prt_optimizer_value ls = prt_optimizer_loss_scaling(t->t->optimizer);
    const int32_t dtype = t->loss->type->dtype;
    prt_module *m = t->m;
    char name[64];
    prt_value *v;
    if (ls.is_constant) {
        v = prt_build_scalar(b, dtype, (double)ls.value);
    } else {
        (void)snprintf(name, sizeof(name), "lossScaling_%s", prt_optimizer_type_name(dtype));
        const prt_type *type = prt_type_tensor(m->types, dtype, 0, NULL);
        prt_ir_variable *scaling = type != NULL
            ? prt_module_add_variable(m, prt_str_of(name), type, PRT_VARIABLE_scalar)
            : NULL;
        if (scaling == NULL)
            return NULL;
        scaling->fill = ls.value;
        scaling->loss_scale = 1;
        v = prt_graph_variable(m->main, scaling);
    }
    if (v != NULL && t->pieces.factor != 0 && t->pieces.loss.kind == PRT_BATCH_mean)
        v = prt_build_binary(b, PRT_OP_mul, v,
            prt_build_scalar(b, dtype, 1.0 / (double)t->pieces.factor));
    if (v != NULL && t->loss->type->rank != 0)
        v = prt_build_binary(b, PRT_OP_reshape, v,
            prt_build_i64s(b, (uint32_t)t->loss->type->rank, t->loss->type->dims));
    return v;
}

/* ---- weights as variables */

/* Makes a 16-bit weight a float32 variable and casts it where the model reads it. */
static poprt_status make_master(trainer *t, uint32_t i)
{
    prt_value *w = t->weights[i];
    const prt_type *half = w->type;
    prt_ir_variable *v = (prt_ir_variable *)(uintptr_t)w->variable;
    uint64_t count;
    prt_blob *blob = NULL;
    const prt_type *full = prt_type_tensor(t->m->types, PRT_DTYPE_f32, half->rank, half->dims);
    if (full == NULL || !prt_type_count(half, &count))
        return POPRT_E_NOMEM;
    PRT_TRY(prt_blob_create(t->m->allocator, (size_t)count * 4, &blob));
    prt_convert(half->dtype, v->init->data, PRT_DTYPE_f32, prt_blob_bytes(blob), (size_t)count);
    PRT_TRY(prt_module_keep(t->m, blob));
    v->init = blob;
    v->type = w->type = full;
    char name[1024];
    bool adopted;
    (void)snprintf(name, sizeof(name), "Master___%.*s", PRT_STR_ARG(v->name));
    PRT_TRY(prt_training_adopt(t->m, v, prt_str_of(name), &adopted));
    prt_build b = { .graph = t->m->main, .before = t->m->main->first, .origin = w->name };
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(a, cast, to, half->dtype);
    prt_value *cast = prt_build_op(&b, PRT_OP_cast, &a, 1, &w);
    PRT_TRY(prt_build_status(&b));
    for (prt_use *use = w->uses, *next; use != NULL; use = next) {
        next = use->next;
        if (use->user != cast->def)
            prt_op_set_input(use->user, (uint32_t)(use - use->user->in), cast);
    }
    return POPRT_OK;
}

static poprt_status make_variables(trainer *t)
{
    PRT_TRY(prt_graph_make_variables(t->m->main, t->n, t->weights, PRT_VARIABLE_weight));
    for (uint32_t i = 0; i < t->n; i++)
        if (t->t->master_weights && prt_dtype_bits(t->weights[i]->type->dtype) == 16)
            PRT_TRY(make_master(t, i));
    return POPRT_OK;
}

/* ---- gradients */

bool prt_training_gradient_of(prt_str name, prt_str *of)
{
    static const char prefix[] = "Gradient___";
    const uint32_t skip = sizeof(prefix) - 1;
    if (name.size <= skip || memcmp(name.data, prefix, skip) != 0)
        return false;
    *of = (prt_str){ name.data + skip, name.size - skip };
    return true;
}

/* Builds the gradient of a value that an operator without gradient, such as Sign, separates from
 * the weights and inputs, or from the loss; then it is zeros. */
static poprt_status cut_off(const trainer *t, prt_build *b, prt_value *v, prt_value *dy,
    prt_value **gradient)
{
    prt_gradients all = { .arena = t->arena, .tree = t->t->tree_of_gradients };
    prt_value *dx = NULL;
    PRT_TRY(prt_autodiff(b, t->loss, dy, 1, &v, 0, NULL, &dx, &all));
    *gradient = v->id < all.count && all.of[v->id] != NULL ? all.of[v->id] : dx;
    return POPRT_OK;
}

/* Names the gradients that are anchors. One value may be the gradient of several tensors. `reached`
 * has the `values` values of the model. */
static poprt_status name_anchors(trainer *t, prt_build *b, prt_value *dy, const bool *reached,
    uint32_t values)
{
    const prt_gradients *all = &t->all;
    for (uint32_t i = 0; i < t->t->n_anchors; i++) {
        const prt_str name = t->t->anchors[i];
        prt_str of;
        if (!prt_training_gradient_of(name, &of) || prt_map_find(&t->m->names, name) != NULL)
            continue;
        prt_value *v = prt_map_find(&t->m->names, of);
        if (v == NULL || v->graph != t->m->main)
            return prt_fail(POPRT_E_NOT_FOUND, name.data,
                "the main graph has no tensor '%.*s' whose gradient this could be",
                PRT_STR_ARG(of));
        prt_value *gradient = v->id < all->count ? all->of[v->id] : NULL;
        if (gradient == NULL && v->id < values && reached[v->id] && prt_path_carries(v))
            PRT_TRY(cut_off(t, b, v, dy, &gradient));
        if (prt_map_find(&t->m->names, name) != NULL)
            continue; /* differentiation has named it */
        if (gradient == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, name.data,
                "'%.*s' has no gradient: the loss does not depend on it by floating-point numbers",
                PRT_STR_ARG(of));
        prt_value *copy = prt_build_unary(b, PRT_OP_identity, gradient);
        PRT_TRY(prt_build_status(b));
        PRT_TRY(prt_value_set_name(copy, prt_module_str(t->m, name)));
    }
    return POPRT_OK;
}

/* Drops the weights that got no gradient. */
static poprt_status differentiate(trainer *t, prt_training_unchanged *unchanged)
{
    prt_build b = prt_build_at_end(t->m->main);
    prt_value **leaves;
    uint32_t n_leaves, n = 0;
    const uint32_t values = t->m->main->n_values; /* before gradients are added */
    const bool *reached;
    PRT_TRY(prt_training_reached(t->loss, t->arena, &reached));
    PRT_TRY(prt_training_leaves(t->m, t->t, t->arena, t->n, t->weights, &leaves, &n_leaves));
    prt_value **dxs = PRT_NEW_N(t->arena, prt_value *, n_leaves);
    prt_value *dy = seed(t, &b);
    if (dxs == NULL || dy == NULL)
        return b.status != POPRT_OK ? b.status : POPRT_E_NOMEM;
    t->all = (prt_gradients){ .arena = t->arena, .tree = t->t->tree_of_gradients };
    PRT_TRY(prt_autodiff(&b, t->loss, dy, n_leaves, leaves, 0, NULL, dxs, &t->all));
    PRT_TRY(name_anchors(t, &b, dy, reached, values));
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->weights[i]->id >= t->all.count || t->all.of[t->weights[i]->id] == NULL) {
            if (!PRT_VEC_PUSH(unchanged->arena, &unchanged->weights, t->weights[i]->name))
                return POPRT_E_NOMEM;
            continue;
        }
        t->weights[n] = t->weights[i];
        t->gradients[n++] = dxs[i];
    }
    t->n = n;
    if (n == 0 && !t->t->without_weights)
        return prt_fail(POPRT_E_ARG, t->t->loss.data,
            "the loss depends on no weight that is trained");
    return POPRT_OK;
}

static prt_ir_variable *add_for(trainer *t, prt_str name, const prt_type *type, uint32_t role,
    const prt_ir_variable *weight)
{
    if (prt_module_variable(t->m, name) != NULL) {
        (void)prt_fail(POPRT_E_ARG, name.data,
            "two variables of the training graph have this name");
        return NULL;
    }
    prt_ir_variable *v = prt_module_add_variable(t->m, name, type, role);
    if (v != NULL && weight != NULL)
        v->of = weight->index;
    return v;
}

/* Stores the gradient of weight i: as it is where an update has one, else as a sum or a mean. */
static poprt_status accumulate(trainer *t, uint32_t i)
{
    const prt_optimizer_plan *plan = &t->plans[i];
    const prt_ir_variable *weight = t->weights[i]->variable;
    const bool once = !t->t->context.accumulates || t->t->context.accumulation == 1;
    prt_build b = prt_build_at_end(t->m->main);
    const prt_type *type = prt_type_tensor(t->m->types, plan->accumulator_type, weight->type->rank,
        weight->type->dims);
    prt_ir_variable *v = type != NULL
        ? add_for(t, plan->accumulator, type,
              once ? PRT_VARIABLE_gradient : PRT_VARIABLE_accumulator, weight)
        : NULL;
    prt_value *sum = v != NULL ? prt_graph_variable(t->m->main, v) : NULL;
    if (sum == NULL)
        return prt_error_last()->status != POPRT_OK ? prt_error_last()->status : POPRT_E_NOMEM;
    prt_value *in[3] = { sum, t->gradients[i], t->count };
    prt_accumulate_attrs a = PRT_ATTRS_OF(accumulate);
    if (once) {
        (void)prt_build_op(&b, PRT_OP_assign, NULL, 2, in);
    } else if (t->count != NULL) {
        PRT_ATTR_SET(a, accumulate, mode, PRT_STR("mean"));
        (void)prt_build_op(&b, PRT_OP_accumulate, &a, 3, in);
    } else {
        (void)prt_build_op(&b, PRT_OP_accumulate, &a, 2, in);
    }
    t->updates[i].gradient = prt_graph_variable(prt_module_entry(t->m, PRT_ENTRY_update), v);
    return t->updates[i].gradient != NULL ? prt_build_status(&b) : POPRT_E_NOMEM;
}

/* Makes the counter of micro-batches that running means divide by. */
static poprt_status add_counter(trainer *t)
{
    const prt_optimizer_context *c = &t->t->context;
    const prt_type *type = prt_type_tensor(t->m->types, PRT_DTYPE_i64, 0, NULL);
    if (!c->accumulates || c->accumulation == 1 || !c->mean || !c->running)
        return POPRT_OK;
    prt_ir_variable *v = type != NULL
        ? add_for(t, PRT_STR("Counter___"), type, PRT_VARIABLE_accumulator, NULL)
        : NULL;
    t->count = v != NULL ? prt_graph_variable(t->m->main, v) : NULL;
    return t->count != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status advance_counter(trainer *t)
{
    prt_build b = prt_build_at_end(t->m->main);
    if (t->count == NULL)
        return POPRT_OK;
    prt_value *next = prt_build_binary(&b, PRT_OP_add, t->count, prt_build_i64(&b, 1));
    (void)prt_build_binary(&b, PRT_OP_assign, t->count, next);
    return prt_build_status(&b);
}

/* ---- the update */

static const prt_type *scalar_type(const trainer *t, int32_t dtype)
{
    return prt_type_tensor(t->m->types, dtype, 0, NULL);
}

static poprt_status add_scalars(trainer *t, uint32_t i, prt_build *b)
{
    const prt_optimizer_plan *plan = &t->plans[i];
    for (uint32_t k = 0; k < plan->n_scalars; k++) {
        const prt_optimizer_scalar *s = &plan->scalars[k];
        if (s->is_constant) {
            t->updates[i].scalars[k] = prt_build_scalar(b, plan->scalar_type, s->value);
            continue;
        }
        prt_ir_variable *v = prt_module_variable(t->m, s->name);
        if (v == NULL) {
            const prt_type *type = scalar_type(t, plan->scalar_type);
            v = type != NULL ? add_for(t, s->name, type, PRT_VARIABLE_scalar, NULL) : NULL;
            if (v == NULL)
                return POPRT_E_NOMEM;
            PRT_TRY(prt_training_fill(t->m, v, s->value));
            v->loss_scale = s->power;
        }
        t->updates[i].scalars[k] = prt_graph_variable(b->graph, v);
        if (t->updates[i].scalars[k] == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_build_status(b);
}

static poprt_status add_states(trainer *t, uint32_t i, prt_build *b)
{
    const prt_optimizer_plan *plan = &t->plans[i];
    const prt_ir_variable *weight = t->weights[i]->variable;
    for (uint32_t k = 0; k < plan->n_states; k++) {
        const prt_optimizer_state *s = &plan->states[k];
        const prt_type *type = s->is_scalar
            ? scalar_type(t, s->dtype)
            : prt_type_tensor(t->m->types, s->dtype, weight->type->rank, weight->type->dims);
        prt_ir_variable *v =
            type != NULL ? add_for(t, s->name, type, PRT_VARIABLE_state, weight) : NULL;
        if (v == NULL)
            return prt_error_last()->status != POPRT_OK ? prt_error_last()->status : POPRT_E_NOMEM;
        PRT_TRY(prt_training_first_state(t->m, v, s, weight));
        t->updates[i].states[k] = prt_graph_variable(b->graph, v);
        if (t->updates[i].states[k] == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Adds the factors of all clipping groups; `factors` is by group. */
static poprt_status add_clipping(trainer *t, prt_build *b, prt_value **factors)
{
    const prt_optimizer *o = t->t->optimizer;
    prt_value **norms = PRT_NEW_N(t->arena, prt_value *, t->n);
    if (norms == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t g = 0; g < prt_optimizer_clip_groups(o); g++) {
        uint32_t n = 0;
        int32_t type = PRT_DTYPE_f32;
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->plans[i].clip_group != g)
                continue;
            norms[n++] = prt_optimizer_add_norm(b, &t->updates[i]);
            type = t->plans[i].scalar_type;
        }
        if (n != 0)
            factors[g] = prt_optimizer_add_clip(b, o, g, type, n, norms, NULL);
        PRT_TRY(prt_build_status(b));
    }
    return POPRT_OK;
}

static poprt_status check_clipping(const trainer *t)
{
    const prt_optimizer *o = t->t->optimizer;
    bool *is_updated = PRT_NEW_N(t->arena, bool, t->m->variables.count);
    if (is_updated == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        is_updated[t->weights[i]->variable->index] = true;
    for (uint32_t g = 0; g < prt_optimizer_clip_groups(o); g++) {
        const prt_strs names = prt_optimizer_clip_weights(o, g);
        for (uint32_t k = 0; k < names.count; k++) {
            const prt_ir_variable *v = prt_module_variable(t->m, names.data[k]);
            if (v == NULL || !is_updated[v->index])
                return prt_fail(POPRT_E_NOT_FOUND, names.data[k].data,
                    "a clipping group has this weight, which is not trained");
        }
    }
    return POPRT_OK;
}

static poprt_status add_update(trainer *t)
{
    prt_graph *update = prt_module_entry(t->m, PRT_ENTRY_update);
    prt_build b = prt_build_at_end(update);
    const uint32_t groups = prt_optimizer_clip_groups(t->t->optimizer);
    prt_value **factors = PRT_NEW_N(t->arena, prt_value *, (size_t)groups + 1);
    if (factors == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(check_clipping(t));
    for (uint32_t i = 0; i < t->n; i++) {
        t->updates[i].plan = &t->plans[i];
        t->updates[i].weight = prt_graph_variable(update, t->weights[i]->variable);
        if (t->updates[i].weight == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(add_scalars(t, i, &b));
        PRT_TRY(add_states(t, i, &b));
    }
    PRT_TRY(add_clipping(t, &b, factors));
    for (uint32_t i = 0; i < t->n; i++) {
        prt_optimizer_result result;
        b.origin = t->weights[i]->variable->name;
        prt_optimizer_add(&b, &t->updates[i],
            t->plans[i].clip_group < groups ? factors[t->plans[i].clip_group] : NULL, &result);
        PRT_TRY(prt_build_status(&b));
    }
    PRT_TRY(prt_training_group_updates(update, t->t->grouping, t->t->grouping_bytes, t->arena));
    return prt_graph_set_outputs(update, 0, NULL, NULL);
}

/* ---- automatic loss scaling */

/* Adds the variables of automatic loss scaling and its counts. */
static poprt_status add_scaling(trainer *t, prt_training_result *out)
{
    prt_module *m = t->m;
    const int64_t two = 2;
    out->counts = out->factor = UINT32_MAX;
    if (!t->t->scaling.on)
        return POPRT_OK;
    if (prt_optimizer_loss_scaling(t->t->optimizer).is_constant)
        return prt_fail(POPRT_E_ARG, "lossScaling",
            "automatic loss scaling needs a loss scaling that is not constant");
    const prt_type *pair = prt_type_tensor(m->types, PRT_DTYPE_i64, 1, &two);
    const prt_type *one = scalar_type(t, PRT_DTYPE_f32);
    prt_ir_variable *counts = pair == NULL
        ? NULL
        : add_for(t, PRT_STR("Accum___autoLossScaleStats"), pair, PRT_VARIABLE_accumulator, NULL);
    prt_ir_variable *factor = one == NULL
        ? NULL
        : add_for(t, PRT_STR("lossScaleUpdateFactor"), one, PRT_VARIABLE_state, NULL);
    if (counts == NULL || factor == NULL)
        return POPRT_E_NOMEM;
    factor->fill = 1.0f;
    PRT_TRY(prt_training_first_value(m, factor));
    PRT_TRY(
        prt_training_count_overflows(m->main, t->loss, &t->t->scaling, &t->all, counts, t->arena));
    out->counts = counts->index;
    out->factor = factor->index;
    return POPRT_OK;
}

/* ---- all */

/* Moves the ops that write variables behind all readers of the old values. */
static void write_last(prt_graph *graph)
{
    prt_op *const last = graph->last;
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        next = op != last ? op->next : NULL;
        if (op->def != NULL && (op->def->traits & PRT_UPDATES) != 0 &&
            prt_op_input(op, 0) != NULL && op->in[0].value->variable != NULL)
            prt_op_move_before(op, NULL);
    }
}

static poprt_status make_plans(trainer *t)
{
    t->plans = PRT_NEW_N(t->arena, prt_optimizer_plan, t->n);
    t->updates = PRT_NEW_N(t->arena, prt_optimizer_weight, t->n);
    if (t->plans == NULL || t->updates == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        PRT_TRY(prt_optimizer_plan_weight(t->t->optimizer, t->weights[i]->variable->name,
            t->weights[i]->type->dtype, &t->t->context, t->m->arena, &t->plans[i]));
    return POPRT_OK;
}

/* Divides the micro-batch if that is asked for. */
static poprt_status divide_batch(trainer *t)
{
    const prt_optimizer_context *c = &t->t->context;
    if (t->t->pieces <= 1)
        return POPRT_OK;
    if (c->accumulates && c->accumulation > 1 && c->mean && c->running)
        return prt_fail(POPRT_E_UNSUPPORTED, "batch_serialization_factor",
            "cannot be used with running means of gradients; set "
            "mean_accumulation_and_replication_reduction_strategy to 'post'");
    t->pieces = (prt_batch_pieces){ .factor = t->t->pieces,
        .n_anchors = t->t->n_anchors,
        .anchors = t->t->anchors };
    return prt_batch_split(t->m, t->loss, &t->pieces, t->arena);
}

static poprt_status build(trainer *t, prt_training_result *out)
{
    out->unchanged = (prt_training_unchanged){ .arena = t->m->arena };
    if (!t->t->keep_form)
        PRT_TRY(prt_training_form(t->m, &out->unchanged));
    PRT_TRY(find_loss(t));
    if (t->t->float_loss)
        PRT_TRY(prt_training_widen_loss(&t->loss, t->arena));
    PRT_TRY(divide_batch(t));
    PRT_TRY(prt_training_check_names(t->m));
    PRT_TRY(
        prt_training_weights(t->m, t->t, t->loss, t->arena, &out->unchanged, &t->weights, &t->n));
    t->gradients = PRT_NEW_N(t->arena, prt_value *, t->n);
    if (t->gradients == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(make_variables(t));
    PRT_TRY(differentiate(t, &out->unchanged));
    PRT_TRY(make_plans(t));
    PRT_TRY(add_counter(t));
    for (uint32_t i = 0; i < t->n; i++)
        PRT_TRY(accumulate(t, i));
    PRT_TRY(add_update(t));
    PRT_TRY(add_scaling(t, out));
    PRT_TRY(advance_counter(t));
    write_last(t->m->main);
    out->n_weights = t->n;
    PRT_TRY(prt_training_check_states(t->m));
    return t->pieces.factor != 0 ? prt_batch_join(t->m, &t->pieces, out->counts, t->arena)
                                 : POPRT_OK;
}

poprt_status prt_training_build(prt_module *module, const prt_training *training,
    prt_training_result *out)
{
    trainer t = { .m = module, .t = training };
    PRT_TRY(prt_arena_create(module->allocator, 0, &t.arena));
    const poprt_status status = build(&t, out);
    prt_arena_release(t.arena);
    return status;
}
