/* SPDX-License-Identifier: MIT */
/* state.c — first contents of states, and reserved names; see state.h. */
#include "train/state.h"

/* Prefixes of PopART's own tensors, and of the float32 contents of 16-bit weights. */
static const char *const reserved[] = { "Gradient___", "UpdatedVar___", "Accl___", "Accl1___",
    "Accl2___", "Accl3___", "Step___", "Accum___", "Counter___", "AcclIntoReduce___",
    "AcclIntoUpdate___", "AcclOutOfAcclUpdate___", "AdamUpdater___", "AdaptiveUpdater___",
    "LambR1Sq___", "LambR2Sq___", "FinalReducedGradient___", "GlobalNorm___",
    "PreviousLossScaling_", "LossScalingRatio_", "lossScaleUpdateFactor",
    "AutomaticLossScaleProxy___", "scaledLearningRate0___", "weightDecayScaleFactor0___",
    "scaledLearningRate1___", "scaledWeightDecay1___", "dampeningScaleFactor1___",
    "scaledMomentum1___", "scaledLearningRate2___", "dampeningScaleFactor2___",
    "scaledMomentum2___", "sgdWeightDecay___", "sgdMomentum___", "nesterovGradScaleFactor1___",
    "nesterovGradScaleFactor2___", "nesterovDampeningScaleFactor1___",
    "nesterovDampeningScaleFactor2___", "learningRate___", "weightDecay___", "adamBeta1___",
    "adamBeta2___", "adamEps___", "adamGradientScaling___", "maxWeightNorm___", "adaptiveAlpha___",
    "adaptiveMomentum___", "adaptiveEps___", "adaptiveGradientScaling___", "lossScaling_",
    "randomSeed___", "randomSeedModifier___", "ConstValue___", "Index___", "Init___", "Iterator___",
    "LoopCond___", "Restored___", "Stashed___", "RemoteArg___", "anchorSum___", "anchorFinal___",
    "cycleCount___", "ConcatInit___", "Master___" };

const char *prt_training_reserved_prefix(prt_str name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(reserved); i++)
        if (name.data != NULL && strncmp(name.data, reserved[i], strlen(reserved[i])) == 0)
            return reserved[i];
    return NULL;
}

static poprt_status check_name(prt_str name)
{
    const char *prefix = prt_training_reserved_prefix(name);
    return prefix == NULL
        ? POPRT_OK
        : prt_fail(POPRT_E_ARG, name.data,
              "training reserves names that begin with '%s': rename this tensor", prefix);
}

poprt_status prt_training_check_names(const prt_module *module)
{
    const prt_graph *g = module->main;
    for (size_t i = 0; i < g->inputs.count; i++)
        PRT_TRY(check_name(g->inputs.data[i]->name));
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_out; i++)
            PRT_TRY(check_name(op->out[i].name));
    return POPRT_OK;
}

poprt_status prt_training_fill(prt_module *module, prt_ir_variable *v, double value)
{
    v->fill = (float)value;
    if ((double)v->fill == value || v->type->dtype != PRT_DTYPE_f64)
        return POPRT_OK;
    prt_blob *blob = NULL; /* a double that float32 does not hold */
    PRT_TRY(prt_blob_create(module->allocator, sizeof(value), &blob));
    memcpy(prt_blob_bytes(blob), &value, sizeof(value));
    PRT_TRY(prt_module_keep(module, blob));
    v->init = blob;
    v->fill = 0.0f;
    return POPRT_OK;
}

poprt_status prt_training_adopt(prt_module *module, prt_ir_variable *v, prt_str name, bool *adopted)
{
    prt_value *saved = prt_map_find(&module->names, name);
    *adopted = false;
    if (saved == NULL || saved->graph != module->main || !prt_value_is_constant(saved) ||
        saved->initializer == PRT_INITIALIZER_none)
        return POPRT_OK;
    uint64_t have = 0, need = 0;
    if (!prt_type_is_tensor(saved->type) || saved->type->dtype != v->type->dtype)
        return prt_fail(POPRT_E_TYPE, name.data,
            "this optimizer state is %s in the model, and %s with this optimizer",
            prt_type_is_tensor(saved->type) ? prt_dtype_of(saved->type->dtype)->name : "no tensor",
            prt_dtype_of(v->type->dtype)->name);
    if (!prt_type_count(saved->type, &have) || !prt_type_count(v->type, &need) || have != need)
        return prt_fail(POPRT_E_SHAPE, name.data,
            "this optimizer state has %llu elements in the model, and %llu with this optimizer",
            (unsigned long long)have, (unsigned long long)need);
    if (prt_value_used(saved))
        return prt_fail(POPRT_E_ARG, v->name.data,
            "this optimizer state is read by a node of the model");
    PRT_TRY(prt_module_keep(module, prt_blob_retain(saved->constant)));
    v->init = saved->constant;
    v->fill = 0.0f;
    saved->initializer = PRT_INITIALIZER_none;
    *adopted = true;
    return POPRT_OK;
}

poprt_status prt_training_first_value(prt_module *module, prt_ir_variable *v)
{
    bool adopted;
    return prt_training_adopt(module, v, v->name, &adopted);
}

poprt_status prt_training_first_state(prt_module *module, prt_ir_variable *v,
    const prt_optimizer_state *state, const prt_ir_variable *weight)
{
    bool adopted;
    uint64_t count = 0;
    PRT_TRY(prt_training_adopt(module, v, v->name, &adopted));
    if (adopted)
        return POPRT_OK;
    if (state->init == PRT_OPTIMIZER_INIT_VALUE || state->value == 0.0 || weight->init == NULL)
        return prt_training_fill(module, v,
            state->init == PRT_OPTIMIZER_INIT_VALUE ? state->value
                                                    : state->value * (double)weight->fill);
    prt_blob *blob = NULL;
    (void)prt_type_count(v->type, &count);
    PRT_TRY(prt_blob_create(module->allocator, (size_t)count * (prt_dtype_bits(v->type->dtype) / 8),
        &blob));
    for (size_t k = 0; k < count; k++)
        prt_store_f64(v->type->dtype, prt_blob_bytes(blob), k,
            state->value * prt_load_f64(weight->type->dtype, weight->init->data, k));
    PRT_TRY(prt_module_keep(module, blob));
    v->init = blob;
    return POPRT_OK;
}

poprt_status prt_training_check_states(const prt_module *module)
{
    const prt_graph *g = module->main;
    for (size_t i = 0; i < g->constants.count; i++) {
        const prt_value *v = g->constants.data[i];
        if (v->initializer != PRT_INITIALIZER_none && prt_training_reserved_prefix(v->name) != NULL)
            return prt_fail(POPRT_E_ARG, v->name.data,
                "the model has this state of another optimizer: remove it, or train with that "
                "optimizer");
    }
    return POPRT_OK;
}
