/* SPDX-License-Identifier: MIT */
/*
 * optimizer_plan.c — operator, scalars and states of the update of one weight. Scalars are computed
 * in float64 by PopART's formulas.
 */
#include <stdio.h>

#include "op/training/update.h"
#include "train/optimizer_data.h"

typedef struct planner {
    const prt_optimizer *o;
    const prt_optimizer_context *context;
    prt_arena *arena;
    prt_str weight;
    int32_t dtype;
    prt_optimizer_plan *plan;
    double sums; /* sum over micro-batches and replicas / the gradient that is meant: A * R or 1 */
    poprt_status status;
} planner;

const char *prt_optimizer_type_name(int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_f16:
        return "FLOAT16";
    case PRT_DTYPE_bf16:
        return "BFLOAT16";
    case PRT_DTYPE_f64:
        return "DOUBLE";
    default:
        return "FLOAT";
    }
}

/* Returns prefix, middle and end in one text. */
static prt_str join(planner *p, const char *prefix, const char *middle, const char *end,
    size_t end_size)
{
    const size_t size = strlen(prefix) + strlen(middle) + end_size;
    char *text = size < UINT32_MAX ? prt_arena_alloc(p->arena, size + 1) : NULL;
    if (text == NULL) {
        p->status = POPRT_E_NOMEM;
        return (prt_str){ NULL, 0 };
    }
    memcpy(text, prefix, strlen(prefix));
    memcpy(text + strlen(prefix), middle, strlen(middle));
    memcpy(text + strlen(prefix) + strlen(middle), end, end_size);
    return (prt_str){ text, (uint32_t)size };
}

static prt_str name_with_weight(planner *p, const char *prefix)
{
    return join(p, prefix, "___", p->weight.data, p->weight.size);
}

static prt_str scalar_name(planner *p, const char *prefix)
{
    const char *type = prt_optimizer_type_name(p->dtype);
    if (prt_optimizer_has_specific(p->o, p->weight))
        return join(p, prefix, "___specific___", p->weight.data, p->weight.size);
    return join(p, prefix, "___default___", type, strlen(type));
}

/* ---- values: each read adds to `is_constant` of the scalar that is being computed */

typedef struct number {
    double value;
    bool is_constant;
} number;

static number value_of(const planner *p, prt_optimizer_value_id id)
{
    const prt_optimizer_value v = prt_optimizer_value_of(p->o, p->weight, id);
    return (number){ (double)v.value, v.is_constant };
}

#define VALUE_OF(p, id) value_of(p, PRT_OPTIMIZER_VALUE_##id)

static void add_named(planner *p, uint32_t input, prt_str name, double value, bool is_constant,
    int32_t power)
{
    PRT_ASSERT(p->plan->n_scalars < PRT_OPTIMIZER_MAX_SCALARS);
    p->plan->scalars[p->plan->n_scalars++] = (prt_optimizer_scalar){ .name = name,
        .value = value,
        .is_constant = is_constant,
        .power = power,
        .input = input };
}

static void add_scalar(planner *p, uint32_t input, const char *prefix, double value,
    bool is_constant, int32_t power)
{
    add_named(p, input, scalar_name(p, prefix), value, is_constant, power);
}

/* A scalar that is a value as it is. */
static void add_value(planner *p, uint32_t input, const char *prefix, prt_optimizer_value_id id)
{
    const number v = value_of(p, id);
    add_scalar(p, input, prefix, v.value, v.is_constant, 0);
}

/* ---- states */

static int32_t type_of(const planner *p, prt_optimizer_setting_id id)
{
    const uint32_t word = prt_optimizer_setting(p->o, id);
    if (p->dtype == PRT_DTYPE_f64 || word == PRT_OPTIMIZER_TYPE_WEIGHT)
        return p->dtype;
    return word == PRT_OPTIMIZER_TYPE_FLOAT16 ? PRT_DTYPE_f16 : PRT_DTYPE_f32;
}

static prt_optimizer_state *add_state(planner *p, uint32_t input, const char *prefix, int32_t dtype)
{
    PRT_ASSERT(p->plan->n_states < PRT_OPTIMIZER_MAX_STATES);
    prt_optimizer_state *s = &p->plan->states[p->plan->n_states++];
    *s = (prt_optimizer_state){ .name = name_with_weight(p, prefix),
        .dtype = dtype,
        .init = PRT_OPTIMIZER_INIT_VALUE,
        .input = input };
    return s;
}

/* ---- SGD */

static void plan_sgd0(planner *p)
{
    const number lr = VALUE_OF(p, learning_rate), wd = VALUE_OF(p, weight_decay);
    const number dm = VALUE_OF(p, dampening), ls = VALUE_OF(p, loss_scaling);
    add_scalar(p, PRT_SGD_LEARNING_RATE, "scaledLearningRate0",
        lr.value * (1.0 - dm.value) / (ls.value * p->sums),
        lr.is_constant && dm.is_constant && ls.is_constant, -1);
    add_scalar(p, PRT_SGD_DECAY, "weightDecayScaleFactor0",
        1.0 - lr.value * (1.0 - dm.value) * wd.value,
        lr.is_constant && dm.is_constant && wd.is_constant, 0);
}

/* Names and factors in which SGD1 and SGD2 differ. */
typedef struct velocity_form {
    const char *rate, *dampening, *momentum, *gradient_scale, *unscale;
    double replicas; /* the velocity is multiplied by this number */
    double gradient; /* factor of the dampening */
} velocity_form;

/* PopART adds the velocities of SGD1 of all replicas if gradients are accumulated. */
static velocity_form combined_form(const planner *p)
{
    const bool mean_of_sums = p->context->mean && !p->context->running;
    const double a = p->context->accumulates ? (double)p->context->accumulation : 1.0;
    const double r = (double)p->context->replicas;
    velocity_form f = { "scaledLearningRate1", "dampeningScaleFactor1", "scaledMomentum1",
        "nesterovGradScaleFactor1", "nesterovDampeningScaleFactor1", 1.0, 1.0 };
    f.replicas = p->context->accumulates ? r : 1.0;
    f.gradient = mean_of_sums ? (p->context->accumulates ? 1.0 / a : 1.0 / r) : f.replicas;
    return f;
}

static velocity_form separate_form(const planner *p)
{
    return (velocity_form){ "scaledLearningRate2", "dampeningScaleFactor2", "scaledMomentum2",
        "nesterovGradScaleFactor2", "nesterovDampeningScaleFactor2", 1.0, 1.0 / p->sums };
}

static void plan_nesterov(planner *p, const velocity_form *f)
{
    const number dm = VALUE_OF(p, dampening), vs = VALUE_OF(p, velocity_scaling);
    const bool is_constant = dm.is_constant && vs.is_constant;
    add_value(p, PRT_SGD_NESTEROV_MOMENTUM, "sgdMomentum", PRT_OPTIMIZER_VALUE_momentum);
    add_value(p, PRT_SGD_WEIGHT_DECAY, "sgdWeightDecay", PRT_OPTIMIZER_VALUE_weight_decay);
    add_scalar(p, PRT_SGD_GRADIENT_SCALE, f->gradient_scale, vs.value * f->replicas, vs.is_constant,
        0);
    /* Its product with the dampening is the factor that turns sums into the gradient that is
     * meant: 1 / (loss scaling * sums). */
    add_scalar(p, PRT_SGD_UNSCALE, f->unscale,
        1.0 / ((1.0 - dm.value) * vs.value * f->gradient * p->sums), is_constant, 0);
}

static void plan_velocity(planner *p, bool combined)
{
    const number lr = VALUE_OF(p, learning_rate), wd = VALUE_OF(p, weight_decay);
    const number mm = VALUE_OF(p, momentum), dm = VALUE_OF(p, dampening);
    const number vs = VALUE_OF(p, velocity_scaling), ls = VALUE_OF(p, loss_scaling);
    const velocity_form f = combined ? combined_form(p) : separate_form(p);
    const double decay = (1.0 - dm.value) * wd.value * vs.value;
    p->plan->attrs.sgd.momentum = combined ? PRT_STR("combined") : PRT_STR("separate");
    p->plan->attrs.sgd.replicas = (int64_t)f.replicas;
    add_scalar(p, PRT_SGD_LEARNING_RATE, f.rate, lr.value / (vs.value * f.replicas),
        lr.is_constant && vs.is_constant, 0);
    add_scalar(p, PRT_SGD_DECAY, "scaledWeightDecay1", decay,
        dm.is_constant && wd.is_constant && vs.is_constant, 0);
    add_scalar(p, PRT_SGD_DAMPENING, f.dampening,
        (1.0 - dm.value) * vs.value * f.gradient / ls.value,
        dm.is_constant && vs.is_constant && ls.is_constant, -1);
    add_scalar(p, PRT_SGD_MOMENTUM, f.momentum, mm.value / f.replicas, mm.is_constant, 0);
    if (VALUE_OF(p, nesterov).value != 0.0) {
        p->plan->attrs.sgd.nesterov = 1;
        plan_nesterov(p, &f);
    }
    const int32_t type = type_of(p, PRT_OPTIMIZER_SETTING_accl1_type);
    prt_optimizer_state *v = add_state(p, PRT_SGD_V, combined ? "Accl" : "Accl1", type);
    if (combined) {
        v->init = PRT_OPTIMIZER_INIT_WEIGHT;
        v->value = decay;
    }
}

static void plan_sgd(planner *p)
{
    const number mm = VALUE_OF(p, momentum);
    p->plan->op = PRT_OP_sgd_update;
    p->plan->attrs.sgd = PRT_ATTRS_OF(sgd_update);
    if (mm.is_constant && mm.value == 0.0)
        plan_sgd0(p);
    else
        plan_velocity(p,
            p->o->settings[PRT_OPTIMIZER_SETTING_accumulator_and_momentum] ==
                PRT_OPTIMIZER_COMBINED);
}

/* ---- Adam */

static void plan_adam_scale(planner *p, number ls)
{
    const char *type = prt_optimizer_type_name(p->plan->scalar_type);
    prt_optimizer_state *s =
        add_state(p, PRT_ADAM_SCALE, "PreviousLossScaling", p->plan->scalar_type);
    s->is_scalar = true;
    s->value = ls.value;
    add_named(p, PRT_ADAM_LOSS_SCALING, join(p, "lossScaling_", "", type, strlen(type)), ls.value,
        false, 1);
}

static void plan_adam(planner *p)
{
    const char *mode = prt_optimizer_kind_row_of(p->o->kind)->mode;
    const bool scaled = p->o->settings[PRT_OPTIMIZER_SETTING_scaled_optimizer_state] != 0;
    const bool l2 = p->o->settings[PRT_OPTIMIZER_SETTING_weight_decay_mode] == PRT_OPTIMIZER_L2;
    const bool is_lamb = strncmp(mode, "lamb", 4) == 0, no_bias = strstr(mode, "no_bias") != NULL;
    const number ls = VALUE_OF(p, loss_scaling), wd = VALUE_OF(p, weight_decay);
    const number eps = VALUE_OF(p, eps);
    /* With scaled states, terms that are added to gradients and moments have the loss scale. */
    const number of_state = scaled ? ls : (number){ 1.0, true };
    const number of_decay = scaled && l2 ? ls : (number){ 1.0, true };
    const number of_gradient = scaled ? (number){ 1.0, true } : ls;
    p->plan->op = PRT_OP_adam_update;
    p->plan->attrs.adam = PRT_ATTRS_OF(adam_update);
    p->plan->attrs.adam.mode = prt_str_of(mode);
    if (l2)
        p->plan->attrs.adam.weight_decay_mode = PRT_STR("l2");
    add_value(p, PRT_ADAM_LEARNING_RATE, "learningRate", PRT_OPTIMIZER_VALUE_learning_rate);
    add_scalar(p, PRT_ADAM_WEIGHT_DECAY, "weightDecay", wd.value * of_decay.value,
        wd.is_constant && of_decay.is_constant, scaled && l2 ? 1 : 0);
    add_value(p, PRT_ADAM_BETA1, "adamBeta1", PRT_OPTIMIZER_VALUE_beta1);
    add_value(p, PRT_ADAM_BETA2, "adamBeta2", PRT_OPTIMIZER_VALUE_beta2);
    add_scalar(p, PRT_ADAM_EPS, "adamEps", eps.value * of_state.value,
        eps.is_constant && of_state.is_constant, scaled ? 1 : 0);
    add_scalar(p, PRT_ADAM_GRADIENT_SCALING, "adamGradientScaling",
        1.0 / (of_gradient.value * p->sums), of_gradient.is_constant, scaled ? 0 : -1);
    if (is_lamb && p->o->settings[PRT_OPTIMIZER_SETTING_use_max_weight_norm] != 0)
        add_value(p, PRT_ADAM_MAX_WEIGHT_NORM, "maxWeightNorm",
            PRT_OPTIMIZER_VALUE_max_weight_norm);
    (void)add_state(p, PRT_ADAM_M, "Accl1", type_of(p, PRT_OPTIMIZER_SETTING_accl1_type));
    (void)add_state(p, PRT_ADAM_V, "Accl2", type_of(p, PRT_OPTIMIZER_SETTING_accl2_type));
    if (!no_bias) {
        prt_optimizer_state *s = add_state(p, PRT_ADAM_STEP, "Step", p->plan->scalar_type);
        s->is_scalar = true;
        s->value = (double)prt_optimizer_step(p->o, p->weight);
    }
    if (scaled && !ls.is_constant)
        plan_adam_scale(p, ls);
}

/* ---- AdaGrad, RMSProp, AdaDelta */

static void plan_adaptive(planner *p)
{
    const uint32_t kind = p->o->kind;
    const bool centered = kind == PRT_OPTIMIZER_centered_rmsprop;
    const bool tf_variant = p->o->settings[PRT_OPTIMIZER_SETTING_rmsprop_tf_variant] != 0;
    const number ls = VALUE_OF(p, loss_scaling), mm = VALUE_OF(p, momentum);
    p->plan->op = PRT_OP_adaptive_update;
    p->plan->attrs.adaptive = PRT_ATTRS_OF(adaptive_update);
    p->plan->attrs.adaptive.mode = prt_str_of(prt_optimizer_kind_row_of(kind)->mode);
    p->plan->attrs.adaptive.tf_variant = tf_variant;
    if (p->o->settings[PRT_OPTIMIZER_SETTING_weight_decay_mode] == PRT_OPTIMIZER_L2)
        p->plan->attrs.adaptive.weight_decay_mode = PRT_STR("l2");
    add_value(p, PRT_ADAPTIVE_LEARNING_RATE, "learningRate", PRT_OPTIMIZER_VALUE_learning_rate);
    add_value(p, PRT_ADAPTIVE_WEIGHT_DECAY, "weightDecay", PRT_OPTIMIZER_VALUE_weight_decay);
    if (kind != PRT_OPTIMIZER_adagrad)
        add_value(p, PRT_ADAPTIVE_ALPHA, "adaptiveAlpha", PRT_OPTIMIZER_VALUE_alpha);
    add_value(p, PRT_ADAPTIVE_EPS, "adaptiveEps", PRT_OPTIMIZER_VALUE_eps);
    add_scalar(p, PRT_ADAPTIVE_GRADIENT_SCALING, "adaptiveGradientScaling",
        1.0 / (ls.value * p->sums), ls.is_constant, -1);
    prt_optimizer_state *a1 =
        add_state(p, PRT_ADAPTIVE_A1, "Accl1", type_of(p, PRT_OPTIMIZER_SETTING_accl1_type));
    a1->value = tf_variant ? 1.0 : 0.0;
    if (centered || kind == PRT_OPTIMIZER_adadelta)
        (void)add_state(p, PRT_ADAPTIVE_A2, "Accl2", type_of(p, PRT_OPTIMIZER_SETTING_accl2_type));
    if (!mm.is_constant || mm.value > 0.0) {
        add_value(p, PRT_ADAPTIVE_MOMENTUM, "adaptiveMomentum", PRT_OPTIMIZER_VALUE_momentum);
        (void)add_state(p, PRT_ADAPTIVE_A3, "Accl3", type_of(p, PRT_OPTIMIZER_SETTING_accl3_type));
    }
}

poprt_status prt_optimizer_plan_weight(const prt_optimizer *o, prt_str weight, int32_t dtype,
    const prt_optimizer_context *context, prt_arena *arena, prt_optimizer_plan *out)
{
    prt_optimizer_plan plan;
    planner p = { .o = o,
        .context = context,
        .arena = arena,
        .weight = weight,
        .dtype = dtype,
        .plan = &plan,
        .sums = 1.0,
        .status = POPRT_OK };
    memset(&plan, 0, sizeof(plan));
    if ((PRT_T_FB >> dtype & 1) == 0)
        return prt_fail(POPRT_E_TYPE, weight.data,
            "a weight of type %s cannot be trained; accepted: float32, float16, bfloat16, float64",
            prt_dtype_of(dtype)->name);
    if (context->mean && !context->running)
        p.sums = (double)context->replicas *
            (context->accumulates ? (double)context->accumulation : 1.0);
    plan.scalar_type = dtype == PRT_DTYPE_f64 ? PRT_DTYPE_f64 : PRT_DTYPE_f32;
    plan.accumulator_type = type_of(&p, PRT_OPTIMIZER_SETTING_accum_type);
    plan.accumulator = name_with_weight(&p, "Accum");
    plan.clip_group = prt_optimizer_clip_group(o, weight);
    switch (prt_optimizer_family_of(o)) {
    case PRT_OPTIMIZER_SGD:
        plan_sgd(&p);
        break;
    case PRT_OPTIMIZER_ADAM:
        plan_adam(&p);
        break;
    default:
        plan_adaptive(&p);
    }
    PRT_TRY(p.status);
    *out = plan;
    return POPRT_OK;
}
