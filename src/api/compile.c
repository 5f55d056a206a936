/* SPDX-License-Identifier: MIT */
/* compile.c — poprt_compile: optimises a copy of the model by the pipeline "inference" and compiles
 * it to a program. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "api/compile_cache.h"
#include "api/dot_checks.h"
#include "api/fixed_options.h"
#include "api/patterns.h"
#include "base/budget.h"
#include "base/clock.h"
#include "compiler/compile.h"
#include "compiler/forms.h"
#include "compiler/policy.h"
#include "compiler/remote.h"
#include "compiler/rounding.h"
#include "compiler/tune.h"
#include "poprt/data.h"
#include "cpu/cpu.h"
#include "ir/interface.h"
#include "ir/location.h"
#include "pass/engine/trace.h"

/* State of the optimisation of one compilation. */
typedef struct optimizer {
    poprt_env *env;
    prt_trace trace;
    bool cancelled;       /* the progress callback requested a stop */
    uint64_t done, total; /* passes done, passes in the pipeline */
    prt_tune *tune;       /* NULL: rules choose the algorithms */
    prt_tune_watch *watch;
    const prt_popart_set *patterns;
} optimizer;

static bool is_cancelled(void *user)
{
    optimizer *o = user;
    /* A repeated pass counts again, so `done` may exceed `total`. */
    const uint64_t done = o->done < o->total ? o->done : o->total;
    o->cancelled = o->cancelled || prt_env_progress(o->env, "optimize", done, o->total) != POPRT_OK;
    return o->cancelled;
}

static void log_tuning(void *user, bool warning, const char *text)
{
    prt_env_log(((const optimizer *)user)->env, PRT_LOG_compile,
        warning ? POPRT_LOG_WARNING : POPRT_LOG_INFO, text);
}

/* Creates the tuner, which times candidate algorithms, unless the option "tune" is off. */
static poprt_status begin_tuning(optimizer *o, const poprt_config *config,
    const prt_allocator *allocator)
{
    const char *mode = prt_config_text(config, PRT_OPTION_tune);
    char machine[PRT_CPU_IDENTITY + 16], cpu[PRT_CPU_IDENTITY];
    if (strcmp(mode, "off") == 0)
        return POPRT_OK;
    prt_cpu_identity(cpu, sizeof(cpu));
    (void)snprintf(machine, sizeof(machine), "%s-t%u", cpu, o->env->par.width);
    PRT_TRY(prt_tune_watch_create(allocator, prt_config_memory_limit(config, o->env), &o->env->par,
        &o->watch));
    const prt_tune_options options = { .allocator = allocator,
        .mode = strcmp(mode, "full") == 0 ? PRT_TUNE_full : PRT_TUNE_fast,
        .machine = machine,
        .cache = prt_config_text(config, PRT_OPTION_tune_cache),
        .watch = o->watch,
        .cancelled = is_cancelled,
        .log = log_tuning,
        .user = o };
    return prt_tune_create(&options, &o->tune);
}

static void end_tuning(optimizer *o)
{
    if (o->tune != NULL)
        prt_tune_save(o->tune);
    prt_tune_release(o->tune);
    prt_tune_watch_release(o->watch);
    o->tune = NULL;
    o->watch = NULL;
}

static void pass_done(void *user, const prt_pass_event *event)
{
    optimizer *o = user;
    o->done++;
    prt_env_logf(o->env, PRT_LOG_pass, event->changed ? POPRT_LOG_DEBUG : POPRT_LOG_TRACE,
        "%s: %u nodes, now %u, %.3f ms", event->pass, event->ops_before, event->ops_after,
        event->ms);
    if (event->changed)
        prt_trace_look(&o->trace, event->pass);
}

/* Most bytes of a constant that constant folding may create while compiling. */
enum { FOLD_BYTES = 256 << 20 };

/* Sets the options of the passes that choose algorithms and number types. */
static poprt_status set_policy(prt_pass_manager *manager, const poprt_config *config,
    const poprt_env *env)
{
    const prt_policy_options options = { .winograd = prt_config_text(config, PRT_OPTION_winograd),
        .weights = prt_config_text(config, PRT_OPTION_weights),
        .compute = prt_config_text(config, PRT_OPTION_compute),
        .winograd_growth = prt_config_number(config, PRT_OPTION_winograd_growth),
        .exact_half = prt_config_number(config, PRT_OPTION_exact_half) != 0,
        .bf16x3 = prt_config_number(config, PRT_OPTION_bf16x3) != 0 };
    prt_policy policy;
    PRT_TRY(prt_policy_choose(&options, prt_config_kernels(config, env), &policy));
    return prt_policy_apply(&policy, manager);
}

/* With available_memory_proportion, marks the products that are to be computed in parts. */
static poprt_status limit_products(prt_pass_manager *manager, const poprt_config *config)
{
    const char *share = prt_config_text(config, PRT_OPTION_available_memory_proportion);
    const prt_pass_arg arg = { .key = "proportion", .value = share };
    return *share == '\0' ? POPRT_OK
                          : prt_pass_manager_add(manager, "available_memory_proportion", 1, &arg);
}

static poprt_status run_passes(optimizer *o, const poprt_config *config,
    const prt_allocator *allocator, prt_module *module)
{
    prt_pass_manager *manager = NULL;
    const prt_pass_limits limits = { .fold_bytes = FOLD_BYTES };
    const prt_pass_observer observer = { .user = o, .done = pass_done, .cancelled = is_cancelled };
    PRT_TRY(prt_pass_manager_create(allocator, &manager));
    prt_pass_manager_set_patterns(manager, o->patterns);
    poprt_status status =
        prt_pass_manager_skip_all(manager, prt_config_text(config, PRT_OPTION_disable_passes));
    if (status == POPRT_OK)
        status = limit_products(manager, config);
    if (status == POPRT_OK)
        status = prt_pass_manager_add_pipeline(manager, "inference", NULL);
    if (status == POPRT_OK)
        status = set_policy(manager, config, o->env);
    if (status == POPRT_OK)
        status = prt_pass_manager_set(manager, "fold_shared",
            prt_config_number(config, PRT_OPTION_enable_constant_folding_of_multiple_consumers) != 0
                ? "true"
                : "false");
    if (status == POPRT_OK) {
        prt_pass_manager_set_chooser(manager, o->tune != NULL ? prt_tune_chooser(o->tune) : NULL);
        prt_pass_manager_set_limits(manager, &limits);
        prt_pass_manager_set_observer(manager, &observer);
        while (prt_pass_manager_at(manager, (size_t)o->total) != NULL)
            o->total++;
        status = prt_pass_manager_run(manager, module, NULL);
    }
    prt_pass_manager_release(manager);
    /* The error of the trace may have been replaced since: plug-in hooks clear it. So it is set
     * here. */
    if (status == POPRT_OK && o->trace.status != POPRT_OK)
        return prt_fail(o->trace.status, NULL,
            "out of memory while tracing the nodes of the model");
    return status;
}

/* Lists the nodes that passes eliminated: no step stands for them. */
static poprt_status list_eliminated(const prt_trace *trace, prt_compile_options *options)
{
    prt_eliminated *eliminated = PRT_NEW_N(trace->arena, prt_eliminated, trace->nodes.count);
    if (eliminated == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < trace->nodes.count; i++) {
        const prt_trace_node *n = trace->nodes.data[i];
        if (n->pass != NULL)
            eliminated[options->n_eliminated++] =
                (prt_eliminated){ .node = n->node, .op = n->op, .pass = prt_str_of(n->pass) };
    }
    options->eliminated = eliminated;
    return POPRT_OK;
}

/* Lists the weights that passes used up: no constant has their values. */
static poprt_status list_folded(const prt_trace *trace, prt_compile_options *options)
{
    prt_weight *folded = PRT_NEW_N(trace->arena, prt_weight, trace->weights.count);
    if (folded == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < trace->weights.count; i++) {
        const prt_trace_weight *w = trace->weights.data[i];
        if (w->pass != NULL)
            folded[options->n_folded++] = (prt_weight){ .form = { .name = w->name },
                .constant = PRT_NO_CONSTANT,
                .pass = prt_str_of(w->pass) };
    }
    options->folded = folded;
    return POPRT_OK;
}

/* Runs the pipeline "inference" on a module and compiles it. */
static poprt_status optimize_and_compile(poprt_env *env, prt_module *module,
    const poprt_config *config, const prt_popart_set *patterns, prt_compile_options *options,
    prt_program **out)
{
    optimizer o = { .env = env, .patterns = patterns };
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(options->allocator, 0, &arena));
    prt_trace_begin(&o.trace, module, arena);
    poprt_status status = begin_tuning(&o, config, options->allocator);
    if (status == POPRT_OK)
        status = run_passes(&o, config, options->allocator, module);
    prt_error_copy error;
    prt_error_save(&error);
    end_tuning(&o);
    prt_error_restore(&error);
    if (status == POPRT_OK)
        status = list_eliminated(&o.trace, options);
    if (status == POPRT_OK)
        status = list_folded(&o.trace, options);
    if (status == POPRT_OK)
        status = prt_dot_checks_draw(config, PRT_DOT_CHECK_PreAlias, module);
    if (status == POPRT_OK)
        status = prt_compile(module, options, out);
    prt_arena_release(arena);
    return status;
}

static uint32_t count_dims(const poprt_config *config)
{
    return config != NULL ? config->n_dims : 0;
}

static poprt_status set_dims(const poprt_config *config, prt_module *module)
{
    for (uint32_t i = 0; i < count_dims(config); i++)
        PRT_TRY(prt_module_set_dim(module, prt_config_dim_name(config, i), config->dims[i].value));
    return count_dims(config) != 0 ? prt_ir_infer(module->main) : POPRT_OK;
}

/* Keeps the names of the dims in the program, so that a session accepts the same options "dim.NAME"
 * again. */
static poprt_status keep_dims(const poprt_config *config, prt_program *program)
{
    for (uint32_t i = 0; i < count_dims(config); i++)
        if (prt_dim_symbol(program->dims, prt_config_dim_name(config, i)) == PRT_DIM_UNKNOWN)
            return POPRT_E_NOMEM;
    return POPRT_OK;
}

static prt_forms forms_of(const poprt_config *config)
{
    return (prt_forms){
        .non_stable_softmax = prt_config_number(config, PRT_OPTION_enable_non_stable_softmax) != 0,
        .strided_groups =
            prt_config_number(config, PRT_OPTION_group_norm_strided_channel_grouping) != 0,
        .whole_products = prt_config_number(config, PRT_OPTION_enable_serialized_matmuls) == 0,
        .updatable = prt_config_text(config, PRT_OPTION_updatable_named_buffers),
    };
}

/* Applies to a copy of the model what comes before the passes, and draws its graphs. */
static poprt_status edit_copy(const poprt_config *config, const prt_compile_edit *edit,
    prt_module *copy)
{
    const prt_forms forms = forms_of(config);
    PRT_TRY(prt_module_note_locations(copy));
    PRT_TRY(prt_dot_checks_draw(config, PRT_DOT_CHECK_Fwd0, copy));
    PRT_TRY(set_dims(config, copy));
    PRT_TRY(prt_remote_lower(copy));
    if (prt_forms_are_any(&forms))
        PRT_TRY(prt_forms_apply(&forms, copy));
    PRT_TRY(prt_dot_checks_draw(config, PRT_DOT_CHECK_Fwd1, copy));
    if (edit == NULL && prt_config_number(config, PRT_OPTION_constant_weights) == 0)
        PRT_TRY(prt_module_free_weights(copy));
    if (edit == NULL)
        return POPRT_OK;
    PRT_TRY(edit->apply(edit->user, copy, copy->arena));
    return prt_dot_checks_draw(config, PRT_DOT_CHECK_Bwd0, copy);
}

/* Compiles with `allocator` as the source of all memory, that of the program included. */
static poprt_status compile_from(poprt_env *env, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit, const prt_allocator *allocator,
    prt_program **out)
{
    prt_popart_set patterns;
    PRT_TRY(prt_config_patterns(config, env, &patterns));
    prt_compile_options options = { .allocator = allocator,
        .memory_limit = prt_config_memory_limit(config, env),
        .progress = env->progress,
        .progress_user = env->progress_user,
        .no_memory_sharing = prt_config_number(config, PRT_OPTION_share_memory) == 0 ||
            !prt_popart_has(&patterns, PRT_POPART_InPlace) };
    const bool better = prt_config_number(config, PRT_OPTION_optimize) != 0;
    const prt_forms forms = forms_of(config);
    const bool rounds = prt_config_number(config, PRT_OPTION_enable_stochastic_rounding) != 0;
    const bool change = rounds || count_dims(config) != 0 || prt_forms_are_any(&forms) ||
        prt_dot_checks_are_any(config) || prt_remote_are_any(module);
    const bool free_weights =
        edit == NULL && prt_config_number(config, PRT_OPTION_constant_weights) == 0;
    if (!better && !change && edit == NULL && !free_weights)
        return prt_compile(module, &options, out);
    prt_module *copy = NULL;
    prt_program *program = NULL;
    PRT_TRY(prt_ir_clone_into(module, allocator, options.memory_limit, &copy));
    poprt_status status = edit_copy(config, edit, copy);
    options.flow = edit != NULL ? edit->flow : NULL;
    if (status == POPRT_OK && rounds)
        status = prt_round_stochastically(copy);
    if (status == POPRT_OK)
        status = better ? optimize_and_compile(env, copy, config, &patterns, &options, &program)
                        : prt_compile(copy, &options, &program);
    prt_module_release(copy);
    if (status == POPRT_OK)
        status = keep_dims(config, program);
    if (status == POPRT_OK)
        status = prt_dot_checks_draw_program(config, program);
    if (status != POPRT_OK)
        prt_program_release(program);
    else
        *out = program;
    return status;
}

static poprt_status compile(poprt_env *env, const prt_module *module, const poprt_config *config,
    const prt_compile_edit *edit, prt_program **out)
{
    prt_budget *budget = NULL;
    PRT_TRY(prt_budget_create(&env->allocator, prt_config_memory_limit(config, env), &budget));
    prt_program *program = NULL;
    poprt_status status = compile_from(env, module, config, edit,
        prt_budget_allocator(budget, &env->allocator), &program);
    if (status == POPRT_OK)
        status = prt_fixed_options_note(config, program);
    if (status != POPRT_OK)
        prt_program_release(program);
    else
        *out = program;
    prt_budget_release(budget); /* the program holds a reference now */
    return status;
}

static poprt_status compile_and_wrap(poprt_env *env, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit, poprt_executable **out)
{
    const char *file = module->file.data != NULL ? module->file.data : "";
    prt_program *program = NULL;
    const uint64_t start = prt_clock_ns();
    poprt_status status = compile(env, module, config, edit, &program);
    if (status == POPRT_OK)
        prt_env_logf(env, PRT_LOG_compile, POPRT_LOG_DEBUG,
            "compiled %s: %u steps, %zu bytes of weights, %.3f ms", file,
            program->blocks[0].n_steps, prt_program_weight_bytes(program),
            (double)(prt_clock_ns() - start) / 1e6);
    if (status == POPRT_OK)
        status = prt_executable_wrap(env, program, file, out);
    return prt_fail_in_file(prt_fail_at_stage(status, "compile"), file);
}

/* Draws the graphs of an executable that was compiled before. Its passes did not run: one warning
 * says that their graph is not drawn. */
static poprt_status draw_cached(poprt_env *env, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit, const prt_program *program)
{
    prt_module *copy = NULL;
    poprt_status status = POPRT_OK;
    if (prt_dot_checks_want(config, PRT_DOT_CHECK_Fwd0) ||
        prt_dot_checks_want(config, PRT_DOT_CHECK_Fwd1) ||
        (edit != NULL && prt_dot_checks_want(config, PRT_DOT_CHECK_Bwd0))) {
        PRT_TRY(prt_ir_clone_into(module, &env->allocator, prt_config_memory_limit(config, env),
            &copy));
        status = edit_copy(config, edit, copy);
        prt_module_release(copy);
    }
    if (prt_dot_checks_want(config, PRT_DOT_CHECK_PreAlias))
        prt_env_log(env, PRT_LOG_compile, POPRT_LOG_WARNING,
            "dot_checks: prealias.dot is not written, because the executable comes from "
            "cache_path and no passes ran");
    return status == POPRT_OK ? prt_dot_checks_draw_program(config, program) : status;
}

poprt_status poprt_compile(const poprt_model *model, const poprt_config *config,
    poprt_executable **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    const int64_t batches = prt_config_number(config, PRT_OPTION_batches_per_step);
    poprt_flow *flow = NULL;
    if (batches == 1)
        return prt_compile_module(model->env, model->module, config, NULL, out);
    PRT_TRY(poprt_flow_create(model->env, batches, &flow));
    const poprt_status status = poprt_compile_flow(model, flow, config, out);
    poprt_flow_release(flow);
    return status;
}

poprt_status prt_compile_module(poprt_env *env, const prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit, poprt_executable **out)
{
    prt_compile_cache cache;
    PRT_TRY(prt_fail_at_stage(prt_dot_checks_verify(config), "compile"));
    PRT_TRY(prt_compile_cache_open(&cache, env, module, config, edit));
    poprt_executable *cached = prt_compile_cache_load(&cache, module, config, edit);
    if (cached == NULL && cache.path != NULL) {
        PRT_TRY(prt_fail_at_stage(prt_compile_cache_lock(&cache), "compile"));
        if (cache.may_appear)
            cached = prt_compile_cache_load(&cache, module, config, edit);
    }
    poprt_executable *exec = cached;
    poprt_status status = POPRT_OK;
    if (cached == NULL)
        status = compile_and_wrap(env, module, config, edit, &exec);
    if (cached == NULL && status == POPRT_OK)
        prt_compile_cache_store(&cache, module, exec);
    prt_compile_cache_unlock(&cache);
    if (cached != NULL)
        status =
            prt_fail_at_stage(draw_cached(env, module, config, edit, exec->program), "compile");
    if (status == POPRT_OK)
        status = prt_compile_cache_note(&cache, exec);
    if (status != POPRT_OK) {
        poprt_executable_release(exec);
        return status;
    }
    *out = exec;
    return POPRT_OK;
}
