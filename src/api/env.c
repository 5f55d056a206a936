/* SPDX-License-Identifier: MIT */
/* env.c — poprt/env.h: the allocator, threads, log and progress of an environment. */
#include "api/handles.h"

#include "cpu/cpu.h"

enum { DEFAULT_SPIN_US = 50, MAX_SPIN_US = 1000000 };

static void host_run(void *user, uint32_t n, prt_par_body body, void *arg)
{
    const poprt_env *env = user;
    env->host.run(env->host.user, n, body, arg);
}

static poprt_status check(const poprt_env_options *o)
{
    if (o->allocator != NULL && (o->allocator->alloc == NULL || o->allocator->release == NULL))
        return prt_fail(POPRT_E_ARG, "allocator", "needs both functions, alloc and release");
    if (o->parallel != NULL && (o->parallel->run == NULL || o->parallel->width == 0))
        return prt_fail(POPRT_E_ARG, "parallel",
            "needs the function run and a width of at least 1");
    if (o->spin_us > MAX_SPIN_US)
        return prt_fail(POPRT_E_ARG, "spin_us", "%u is above %d", o->spin_us, MAX_SPIN_US);
    if (o->log_level < POPRT_LOG_OFF || o->log_level > POPRT_LOG_TRACE)
        return prt_fail(POPRT_E_ARG, "log_level", "%d is not a POPRT_LOG_ value", o->log_level);
    return POPRT_OK;
}

/* Creates the pool. The pool starts its threads with its first parallel loop. */
static poprt_status set_threads(poprt_env *env, const poprt_env_options *o)
{
    env->par = (prt_par){ .width = 1 };
    if (o->parallel != NULL) {
        env->host = *o->parallel;
        env->par = (prt_par){ .user = env, .run = host_run, .width = o->parallel->width };
        return POPRT_OK;
    }
    if (o->threads <= 1)
        return POPRT_OK;
    const uint32_t spin_us = o->spin_us != 0 ? o->spin_us : DEFAULT_SPIN_US;
    PRT_TRY(prt_pool_create(&env->allocator, o->threads, spin_us * 1000, &env->pool));
    env->par = prt_pool_par(env->pool);
    return POPRT_OK;
}

static poprt_status create(const poprt_env_options *o, poprt_env **out)
{
    prt_allocator allocator = prt_mem_libc;
    if (o->allocator != NULL)
        allocator = (prt_allocator){ .user = o->allocator->user,
            .alloc = o->allocator->alloc,
            .release = o->allocator->release };
    poprt_env *env = prt_mem_alloc(&allocator, sizeof(*env));
    if (env == NULL)
        return POPRT_E_NOMEM;
    atomic_init(&env->refs, 1);
    env->allocator = allocator;
    env->progress = o->progress;
    env->progress_user = o->progress_user;
    env->memory_limit = o->memory_limit;
    env->features = prt_cpu_features();
    poprt_status status = prt_log_create(&env->allocator, o, &env->log);
    if (status == POPRT_OK)
        status = set_threads(env, o);
    if (status != POPRT_OK) {
        poprt_env_release(env);
        return status;
    }
    *out = env;
    return POPRT_OK;
}

poprt_status poprt_env_create(const poprt_env_options *options, poprt_env **out)
{
    PRT_REQUIRE(out);
    poprt_env_options o;
    PRT_TRY(
        prt_import(&o, sizeof(o), options, options != NULL ? options->struct_size : 0, "options"));
    PRT_TRY(check(&o));
    return create(&o, out);
}

poprt_status prt_env_acquire(poprt_env *env, poprt_env **out)
{
    if (env == NULL)
        return poprt_env_create(NULL, out);
    atomic_fetch_add_explicit(&env->refs, 1, memory_order_relaxed);
    *out = env;
    return POPRT_OK;
}

void poprt_env_release(poprt_env *env)
{
    if (env == NULL || atomic_fetch_sub_explicit(&env->refs, 1, memory_order_acq_rel) != 1)
        return;
    prt_pool_release(env->pool);
    if (env->plugins != NULL)
        env->release_plugins(env->plugins);
    const prt_allocator allocator = env->allocator;
    prt_log_release(&allocator, env->log);
    prt_mem_free(&allocator, env);
}

uint32_t poprt_env_width(const poprt_env *env)
{
    return env != NULL ? env->par.width : 1;
}

/* Returns the module whose log has the lines on a stage. */
static prt_log_module module_of(const char *stage)
{
    return strcmp(stage, "read") == 0  ? PRT_LOG_model
        : strcmp(stage, "passes") == 0 ? PRT_LOG_pass
                                       : PRT_LOG_compile;
}

poprt_status prt_env_progress(const poprt_env *env, const char *stage, uint64_t done,
    uint64_t total)
{
    if (done == 0)
        prt_env_logf(env, module_of(stage), POPRT_LOG_TRACE, "stage %s begins", stage);
    if (env->progress == NULL || env->progress(env->progress_user, stage, done, total) == 0)
        return POPRT_OK;
    return prt_fail(POPRT_E_CANCELLED, NULL, "stopped by the progress function");
}
