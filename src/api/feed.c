/* SPDX-License-Identifier: MIT */
/*
 * feed.c — compiles and runs the model for passes that need its values, which is about a hundred
 * times faster than the reference evaluator. The compiled model is kept for consecutive batches of
 * one module.
 */
#include "api/feed.h"

#include "data/calibration.h"
#include "pass/precision/feed.h"

struct prt_api_feed {
    poprt_env *env;
    prt_samples *samples; /* may be NULL */
    prt_arena *arena;
    prt_feed feed;
    const prt_module *module; /* module that is compiled; only compared, never read */
    size_t batch;             /* number of the latest batch */
    poprt_executable *exec;
    poprt_session *session;
};

static void release_compiled(prt_api_feed *f)
{
    poprt_session_release(f->session);
    poprt_executable_release(f->exec);
    f->session = NULL;
    f->exec = NULL;
    f->module = NULL;
}

static poprt_status compile(prt_api_feed *f, const prt_module *module)
{
    release_compiled(f);
    PRT_TRY(prt_compile_module(f->env, module, NULL, NULL, &f->exec));
    f->exec->program->n_graphs = 0; /* passes bind all inputs of a graph */
    PRT_TRY(poprt_session_create(f->exec, NULL, &f->session));
    f->module = module;
    return POPRT_OK;
}

static poprt_status bind(const prt_api_feed *f, const prt_graph *g, const prt_tensor *const *in,
    poprt_stepio *io)
{
    for (size_t i = 0; i < poprt_executable_io_count(f->exec, POPRT_INPUT); i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        size_t k = 0;
        PRT_TRY(poprt_executable_io_at(f->exec, POPRT_INPUT, i, &info));
        while (k < g->inputs.count && !prt_str_is(g->inputs.data[k]->name, info.name))
            k++;
        if (k == g->inputs.count || in[k] == NULL)
            continue;
        const poprt_tensor t = { .data = in[k]->data,
            .size = in[k]->size,
            .dims = (int64_t *)(uintptr_t)in[k]->dims,
            .rank = in[k]->rank,
            .dtype = in[k]->dtype };
        PRT_TRY(poprt_stepio_bind(io, info.name, &t));
    }
    return POPRT_OK;
}

/* Copies an output, because the next run reuses the session's memory. */
static poprt_status copy_output(const prt_api_feed *f, const poprt_stepio *io, uint32_t index,
    prt_arena *arena, prt_tensor *out)
{
    poprt_tensor t;
    const size_t n_in = poprt_executable_io_count(f->exec, POPRT_INPUT);
    PRT_TRY(poprt_stepio_output(io, n_in + index, &t));
    if (t.rank > PRT_MAX_RANK || !prt_tensor_init(out, t.dtype, t.rank, t.dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "output %u is too large", index);
    out->data = out->size != 0 ? prt_arena_copy(arena, t.data, out->size) : arena;
    return out->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status run_io(prt_api_feed *f, const prt_module *module, const prt_tensor *const *in,
    uint32_t n_out, prt_tensor *out, prt_arena *arena, poprt_stepio *io)
{
    PRT_TRY(bind(f, module->main, in, io));
    PRT_TRY(poprt_session_run(f->session, io));
    for (uint32_t i = 0; i < n_out; i++)
        PRT_TRY(copy_output(f, io, i, arena, &out[i]));
    return POPRT_OK;
}

static poprt_status run(void *user, const prt_module *module, size_t batch, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena)
{
    prt_api_feed *f = user;
    poprt_stepio *io = NULL;
    (void)n_in;
    /* A new module may have the address of a deleted one. Its batches do not continue the old
     * count. */
    if (f->module != module || batch != f->batch + 1)
        PRT_TRY(compile(f, module));
    f->batch = batch;
    PRT_TRY(poprt_stepio_create(f->session, &io));
    const poprt_status status = run_io(f, module, in, n_out, out, arena, io);
    prt_error_copy error;
    prt_error_save(&error);
    poprt_stepio_release(io);
    if (status != POPRT_OK)
        prt_error_restore(&error);
    return status;
}

static poprt_status open_samples(prt_api_feed *f, const char *path)
{
    prt_feed_array *arrays;
    size_t n = 0;
    PRT_TRY(prt_samples_open(&f->env->allocator, path, f->env->memory_limit, &f->samples));
    while (prt_samples_at(f->samples, n) != NULL)
        n++;
    arrays = PRT_NEW_N(f->arena, prt_feed_array, n + 1);
    if (arrays == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const prt_sample_array *a = prt_samples_at(f->samples, i);
        arrays[i] = (prt_feed_array){ a->name, a->tensor };
    }
    f->feed.n_arrays = (uint32_t)n;
    f->feed.arrays = arrays;
    return POPRT_OK;
}

poprt_status prt_api_feed_create(poprt_env *env, const char *path, prt_api_feed **out)
{
    prt_api_feed *f = prt_mem_alloc(&env->allocator, sizeof(*f));
    if (f == NULL)
        return POPRT_E_NOMEM;
    f->env = env;
    f->feed.run = run;
    f->feed.user = f;
    poprt_status status = prt_arena_create(&env->allocator, 0, &f->arena);
    if (status == POPRT_OK && path != NULL)
        status = open_samples(f, path);
    if (status != POPRT_OK) {
        prt_api_feed_release(f);
        return status;
    }
    *out = f;
    return POPRT_OK;
}

void prt_api_feed_release(prt_api_feed *feed)
{
    if (feed == NULL)
        return;
    const prt_allocator *allocator = &feed->env->allocator;
    release_compiled(feed);
    prt_samples_release(feed->samples);
    prt_arena_release(feed->arena);
    prt_mem_free(allocator, feed);
}

const prt_feed *prt_api_feed_of(const prt_api_feed *feed)
{
    return &feed->feed;
}
