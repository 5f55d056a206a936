/* SPDX-License-Identifier: MIT */
/* optimizer_graph.c — updates, norms and clip factors as ops. */
#include "train/optimizer_graph.h"

#include <stdio.h>

#include "op/training/update.h"

enum { MAX_INPUTS = 32 };
_Static_assert((int)PRT_SGD_INPUTS <= (int)MAX_INPUTS && (int)PRT_ADAM_INPUTS <= (int)MAX_INPUTS &&
        (int)PRT_ADAPTIVE_INPUTS <= (int)MAX_INPUTS,
    "inputs of an update");

/* The inputs of an op. */
typedef struct inputs {
    prt_value *in[MAX_INPUTS];
} inputs;

static inputs inputs_of(const prt_optimizer_weight *w)
{
    const prt_optimizer_plan *plan = w->plan;
    inputs x = { { w->weight } };
    for (uint32_t i = 0; i < plan->n_scalars; i++)
        x.in[plan->scalars[i].input] = w->scalars[i];
    for (uint32_t i = 0; i < plan->n_states; i++)
        x.in[plan->states[i].input] = w->states[i];
    x.in[plan->op == PRT_OP_sgd_update       ? PRT_SGD_G
            : plan->op == PRT_OP_adam_update ? PRT_ADAM_G
                                             : PRT_ADAPTIVE_G] = w->gradient;
    return x;
}

prt_value *prt_optimizer_add_norm(prt_build *b, const prt_optimizer_weight *w)
{
    const prt_optimizer_plan *plan = w->plan;
    const inputs x = inputs_of(w);
    if (plan->op == PRT_OP_sgd_update) {
        prt_sgd_norm_attrs a;
        memcpy(&a, &plan->attrs.sgd, sizeof(a));
        return prt_build_op(b, PRT_OP_sgd_norm, &a, PRT_SGD_CLIP, x.in);
    }
    PRT_ASSERT(plan->op == PRT_OP_adam_update);
    const bool l2 = prt_str_is(plan->attrs.adam.weight_decay_mode, "l2");
    prt_value *in[PRT_ADAM_NORM_INPUTS] = { [PRT_ADAM_NORM_G] = w->gradient,
        [PRT_ADAM_NORM_GRADIENT_SCALING] = x.in[PRT_ADAM_GRADIENT_SCALING],
        [PRT_ADAM_NORM_W] = w->weight,
        [PRT_ADAM_NORM_WEIGHT_DECAY] = x.in[PRT_ADAM_WEIGHT_DECAY] };
    return prt_build_op(b, PRT_OP_adam_norm, NULL, l2 ? PRT_ADAM_NORM_INPUTS : PRT_ADAM_NORM_W, in);
}

prt_value *prt_optimizer_add_clip(prt_build *b, const prt_optimizer *o, uint32_t group,
    int32_t scalar_type, uint32_t count, prt_value *const *norms, prt_value **norm)
{
    char name[48];
    if (b->status != POPRT_OK)
        return NULL;
    prt_value **in = PRT_NEW_N(b->graph->module->arena, prt_value *, (size_t)count + 1);
    if (in == NULL) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    in[0] = prt_build_scalar(b, scalar_type, (double)prt_optimizer_clip_max_norm(o, group));
    memcpy(in + 1, norms, count * sizeof(*norms));
    prt_op *op = prt_build_op_n(b, PRT_OP_clip_factor, NULL, count + 1, in, 2);
    if (op == NULL)
        return NULL;
    (void)snprintf(name, sizeof(name), "GlobalNorm___%u", group);
    b->status = prt_value_set_name(&op->out[1], prt_module_str(b->graph->module, prt_str_of(name)));
    if (norm != NULL)
        *norm = &op->out[1];
    return &op->out[0];
}

/* Adds lamb_norm and its results as inputs of the update. */
static void add_lamb_norm(prt_build *b, const prt_optimizer_plan *plan, inputs *x)
{
    prt_lamb_norm_attrs a;
    memcpy(&a, &plan->attrs.adam, sizeof(a));
    prt_op *norm = prt_build_op_n(b, PRT_OP_lamb_norm, &a, PRT_ADAM_CLIP + 1, x->in, 2);
    x->in[PRT_ADAM_WEIGHT_SQUARES] = norm != NULL ? &norm->out[0] : NULL;
    x->in[PRT_ADAM_UPDATE_SQUARES] = norm != NULL ? &norm->out[1] : NULL;
}

void prt_optimizer_add(prt_build *b, const prt_optimizer_weight *w, prt_value *clip,
    prt_optimizer_result *out)
{
    const prt_optimizer_plan *plan = w->plan;
    inputs x = inputs_of(w);
    uint32_t n_in = 0, n_out = 1;
    *out = (prt_optimizer_result){ .weight = NULL };
    if (plan->op == PRT_OP_sgd_update)
        x.in[PRT_SGD_CLIP] = clip;
    if (plan->op == PRT_OP_adam_update)
        x.in[PRT_ADAM_CLIP] = clip;
    if (plan->op == PRT_OP_adam_update && strncmp(plan->attrs.adam.mode.data, "lamb", 4) == 0)
        add_lamb_norm(b, plan, &x);
    for (uint32_t i = 0; i < MAX_INPUTS; i++)
        n_in = x.in[i] != NULL ? i + 1 : n_in;
    for (uint32_t i = 0; i < plan->n_states; i++)
        if (plan->states[i].input >= n_out)
            n_out = plan->states[i].input + 1;
    prt_op *op = prt_build_op_n(b, plan->op, &plan->attrs, n_in, x.in, n_out);
    if (op == NULL)
        return;
    out->weight = &op->out[0];
    for (uint32_t i = 0; i < plan->n_states; i++)
        out->states[i] = &op->out[plan->states[i].input];
}
