/* SPDX-License-Identifier: MIT */
/* optimizer.c — poprt/train.h: optimizers. */
#include "api/handles.h"
#include "train/optimizer.h"

/* Takes ownership of `inner`, also if it fails. */
static poprt_status wrap(poprt_env *env, prt_optimizer *inner, poprt_optimizer **out)
{
    poprt_optimizer *o = prt_mem_alloc(&env->allocator, sizeof(*o));
    if (o == NULL) {
        prt_optimizer_release(inner);
        return POPRT_E_NOMEM;
    }
    (void)prt_env_acquire(env, &o->env);
    o->inner = inner;
    *out = o;
    return POPRT_OK;
}

poprt_status poprt_optimizer_create(poprt_env *env, const char *kind, poprt_optimizer **out)
{
    prt_optimizer *inner = NULL;
    PRT_REQUIRE(kind);
    PRT_REQUIRE(out);
    PRT_TRY(prt_env_acquire(env, &env));
    poprt_status status = prt_optimizer_create(&env->allocator, kind, &inner);
    if (status == POPRT_OK)
        status = wrap(env, inner, out);
    poprt_env_release(env);
    return status;
}

poprt_status poprt_optimizer_copy(const poprt_optimizer *optimizer, poprt_optimizer **out)
{
    prt_optimizer *inner = NULL;
    PRT_REQUIRE(optimizer);
    PRT_REQUIRE(out);
    PRT_TRY(prt_optimizer_copy(optimizer->inner, &optimizer->env->allocator, &inner));
    return wrap(optimizer->env, inner, out);
}

void poprt_optimizer_release(poprt_optimizer *optimizer)
{
    if (optimizer == NULL)
        return;
    poprt_env *env = optimizer->env;
    prt_optimizer_release(optimizer->inner);
    prt_mem_free(&env->allocator, optimizer);
    poprt_env_release(env);
}

poprt_status poprt_optimizer_set(poprt_optimizer *optimizer, const char *key, float value,
    int32_t constant)
{
    PRT_REQUIRE(optimizer);
    PRT_REQUIRE(key);
    return prt_optimizer_set(optimizer->inner, key, (prt_optimizer_value){ value, constant != 0 });
}

poprt_status poprt_optimizer_set_text(poprt_optimizer *optimizer, const char *key,
    const char *value)
{
    PRT_REQUIRE(optimizer);
    PRT_REQUIRE(key);
    PRT_REQUIRE(value);
    return prt_optimizer_set_text(optimizer->inner, key, value);
}

poprt_status poprt_optimizer_get(const poprt_optimizer *optimizer, const char *weight,
    const char *key, float *value, int32_t *constant)
{
    prt_optimizer_value_id id;
    PRT_REQUIRE(optimizer);
    PRT_REQUIRE(key);
    PRT_REQUIRE(value);
    PRT_REQUIRE(constant);
    PRT_TRY(prt_optimizer_find_value(optimizer->inner, key, &id));
    const prt_optimizer_value v =
        prt_optimizer_value_of(optimizer->inner, prt_str_of(weight != NULL ? weight : ""), id);
    *value = v.value;
    *constant = v.is_constant;
    return POPRT_OK;
}

poprt_status poprt_optimizer_insert_specific(poprt_optimizer *optimizer, const char *weight,
    size_t count, const poprt_optimizer_value *values)
{
    prt_optimizer_specific given[PRT_OPTIMIZER_VALUES];
    PRT_REQUIRE(optimizer);
    PRT_REQUIRE(weight);
    if (count != 0)
        PRT_REQUIRE(values);
    if (count > PRT_OPTIMIZER_VALUES)
        return prt_fail(POPRT_E_ARG, weight, "there are %zu values; an optimizer has at most %d",
            count, PRT_OPTIMIZER_VALUES);
    for (size_t i = 0; i < count; i++) {
        PRT_REQUIRE(values[i].key);
        given[i] =
            (prt_optimizer_specific){ values[i].key, { values[i].value, values[i].constant != 0 } };
    }
    return prt_optimizer_insert_specific(optimizer->inner, weight, count, given);
}

poprt_status poprt_optimizer_clip(poprt_optimizer *optimizer, size_t count,
    const char *const *weights, float max_norm)
{
    PRT_REQUIRE(optimizer);
    if (count != 0)
        PRT_REQUIRE(weights);
    for (size_t i = 0; i < count; i++)
        PRT_REQUIRE(weights[i]);
    return prt_optimizer_clip(optimizer->inner, count, weights, max_norm);
}

poprt_status poprt_optimizer_set_step(poprt_optimizer *optimizer, const char *weight, int64_t step)
{
    PRT_REQUIRE(optimizer);
    return prt_optimizer_set_step(optimizer->inner, weight, step);
}

poprt_status poprt_optimizer_check_replacement(const poprt_optimizer *before,
    const poprt_optimizer *now)
{
    PRT_REQUIRE(before);
    PRT_REQUIRE(now);
    return prt_optimizer_check_replacement(before->inner, now->inner);
}
