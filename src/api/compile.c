/* SPDX-License-Identifier: MIT */
/* compile.c — poprt_compile: a copy of the model goes through the pipeline "inference" and becomes
 * a program. */
#include "api/handles.h"
#include "compiler/compile.h"
#include "pass/manager.h"
#include "pass/trace.h"

/* What optimizing tells and is asked. */
typedef struct optimizer {
    poprt_env *env;
    prt_trace trace;
} optimizer;

static bool is_cancelled(void *user)
{
    const optimizer *o = user;
    return prt_env_progress(o->env, "optimize", 0, 1) != POPRT_OK;
}

static void pass_done(void *user, const prt_pass_event *event)
{
    optimizer *o = user;
    if (event->changed)
        prt_trace_look(&o->trace, event->pass);
}

/* Most bytes of constants that compiling may make. */
enum { FOLD_BYTES = 256 << 20 };

/* The passes that a comma list names are left out. */
static poprt_status skip_passes(prt_pass_manager *manager, const char *list)
{
    while (*list != '\0') {
        char name[128];
        list += strspn(list, ", ");
        const size_t n = strcspn(list, ", ");
        if (n >= sizeof(name))
            return prt_fail(POPRT_E_ARG, "disable_passes", "a name is too long");
        memcpy(name, list, n);
        name[n] = '\0';
        if (n != 0)
            PRT_TRY(prt_pass_manager_skip(manager, name));
        list += n;
    }
    return POPRT_OK;
}

/* What weights are stored as and products computed in. */
static poprt_status set_precision(prt_pass_manager *manager, const poprt_config *config)
{
    const char *weights = prt_config_text(config, PRT_OPTION_weights);
    const char *compute = prt_config_text(config, PRT_OPTION_compute);
    if (strcmp(compute, "bf16") == 0 && strcmp(weights, "f32") != 0 && strcmp(weights, "bf16") != 0)
        return prt_fail(POPRT_E_ARG, "weights", "'%s' with compute=bf16, which stores bf16",
            weights);
    PRT_TRY(prt_pass_manager_set(manager, "weights", weights));
    return prt_pass_manager_set(manager, "compute", compute);
}

static poprt_status run_passes(optimizer *o, const poprt_config *config, prt_module *module)
{
    prt_pass_manager *manager = NULL;
    const prt_pass_limits limits = { .fold_bytes = FOLD_BYTES };
    const prt_pass_observer observer = { .user = o, .done = pass_done, .cancelled = is_cancelled };
    PRT_TRY(prt_pass_manager_create(&o->env->allocator, &manager));
    poprt_status status = skip_passes(manager, prt_config_text(config, PRT_OPTION_disable_passes));
    if (status == POPRT_OK)
        status = prt_pass_manager_add_pipeline(manager, "inference");
    if (status == POPRT_OK)
        status = set_precision(manager, config);
    if (status == POPRT_OK) {
        prt_pass_manager_limit(manager, &limits);
        prt_pass_manager_observe(manager, &observer);
        status = prt_pass_manager_run(manager, module, NULL);
    }
    prt_pass_manager_release(manager);
    return status == POPRT_OK ? o->trace.status : status;
}

/* The nodes that no step will stand for. */
static poprt_status list_gone(const prt_trace *trace, prt_compile_options *options)
{
    prt_gone *gone = PRT_NEW_N(trace->arena, prt_gone, trace->nodes.count);
    if (gone == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < trace->nodes.count; i++) {
        const prt_trace_node *n = trace->nodes.data[i];
        if (n->pass != NULL)
            gone[options->n_gone++] =
                (prt_gone){ .node = n->node, .op = n->op, .pass = prt_str_of(n->pass) };
    }
    options->gone = gone;
    return POPRT_OK;
}

/* Compiles a copy of the model that has gone through the pipeline "inference". */
static poprt_status compile_better(poprt_env *env, const prt_module *module,
    const poprt_config *config, prt_compile_options *options, prt_program **out)
{
    prt_module *copy = NULL;
    optimizer o = { .env = env };
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(&env->allocator, 0, &arena));
    poprt_status status = prt_ir_clone(module, &copy);
    if (status == POPRT_OK) {
        prt_trace_begin(&o.trace, copy, arena);
        status = run_passes(&o, config, copy);
    }
    if (status == POPRT_OK)
        status = list_gone(&o.trace, options);
    if (status == POPRT_OK)
        status = prt_compile(copy, options, out);
    prt_module_release(copy);
    prt_arena_release(arena);
    return status;
}

static poprt_status compile(poprt_env *env, const prt_module *module, const poprt_config *config,
    prt_program **out)
{
    prt_compile_options options = { .allocator = &env->allocator,
        .memory_limit = prt_config_memory_limit(config, env),
        .progress = env->progress,
        .progress_user = env->progress_user,
        .apart = prt_config_number(config, PRT_OPTION_share_memory) == 0 };
    if (prt_config_number(config, PRT_OPTION_optimize) != 0)
        return compile_better(env, module, config, &options, out);
    return prt_compile(module, &options, out);
}

poprt_status poprt_compile(const poprt_model *model, const poprt_config *config,
    poprt_executable **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    poprt_env *env = model->env;
    const char *file = model->module->file.data != NULL ? model->module->file.data : "";
    prt_program *program = NULL;
    poprt_status status = compile(env, model->module, config, &program);
    if (status == POPRT_OK)
        status = prt_executable_wrap(env, program, file, out);
    return prt_fail_in_file(prt_fail_at_stage(status, "compile"), file);
}
