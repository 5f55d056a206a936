/* SPDX-License-Identifier: MIT */
/* compile.c — the list of compilation steps. */
#include "compiler/compile.h"

#include "compiler/draft.h"

prt_str prt_draft_key(prt_draft *d, const void *address)
{
    return (prt_str){ prt_arena_copy(d->arena, &address, sizeof(address)), sizeof(address) };
}

static poprt_status report(const prt_draft *d, const char *stage, uint64_t done, uint64_t total)
{
    const prt_compile_options *o = d->options;
    if (o->progress != NULL && o->progress(o->progress_user, stage, done, total) != 0)
        return prt_fail(POPRT_E_CANCELLED, NULL, "stopped by the progress callback");
    return POPRT_OK;
}

static poprt_status run_steps(prt_draft *d, prt_program **out)
{
    static const struct {
        const char *name;
        poprt_status (*run)(prt_draft *d);
    } steps[] = { { "place", prt_compile_place }, { "lower", prt_compile_lower },
        { "schedule", prt_compile_schedule }, { "alias", prt_compile_alias },
        { "plan", prt_compile_plan } };
    const uint64_t total = PRT_COUNT_OF(steps) + 1;
    for (size_t i = 0; i < PRT_COUNT_OF(steps); i++) {
        PRT_TRY(report(d, steps[i].name, i, total));
        PRT_TRY(prt_fail_at_stage(steps[i].run(d), steps[i].name));
    }
    PRT_TRY(report(d, "emit", total - 1, total));
    prt_program *program = NULL;
    PRT_TRY(prt_fail_at_stage(prt_compile_emit(d, &program), "emit"));
    const poprt_status status = report(d, "emit", total, total);
    if (status != POPRT_OK) {
        prt_program_release(program);
        return status;
    }
    *out = program;
    return POPRT_OK;
}

poprt_status prt_compile(const prt_module *module, const prt_compile_options *options,
    prt_program **out)
{
    prt_draft d = { .module = module, .options = options };
    PRT_TRY(prt_arena_create(options->allocator, options->memory_limit, &d.arena));
    d.constant_of = prt_map_in(d.arena);
    d.callees = prt_map_in(d.arena);
    const poprt_status status = run_steps(&d, out);
    for (size_t i = 0; i < d.prepared.count; i++)
        prt_blob_release(d.prepared.data[i].blob);
    prt_arena_release(d.arena);
    return status;
}
