/* SPDX-License-Identifier: MIT */
/* pipeline.c — turns the steps of a pipeline into entries of a manager, as the settings select
 * them. */
#include <stdio.h>

#include "base/json.h"
#include "base/list.h"
#include "base/nearest.h"
#include "pass/engine/manager_state.h"

enum { MAX_NAMES = 64 }; /* passes of which the nearest names are searched */

typedef struct pipeline_reader {
    prt_pass_manager *pm;
    const prt_pass_settings *settings;
    const char *stage;
    uint32_t base, most; /* number of the last loop before this pipeline, and of its last loop */
    bool added;          /* whether the last step was added */
} pipeline_reader;

static const char *setting(const pipeline_reader *f, const char *key)
{
    return f->settings != NULL ? f->settings->get(f->settings->user, key) : NULL;
}

static bool holds(const pipeline_reader *f, const prt_pipeline_step *step)
{
    const char *text = setting(f, step->key);
    if (text == NULL)
        return false;
    if (step->value[0] != '\0')
        return strcmp(text, step->value) == 0;
    return text[0] != '\0' && strcmp(text, "false") != 0;
}

static poprt_status add_step(pipeline_reader *f, const prt_pipeline_step *step)
{
    prt_entry e = { .def = prt_pass_of(step->pass), .times = step->times, .stage = f->stage };
    f->added = !prt_manager_skips(f->pm, e.def) &&
        (!f->pm->has_patterns || prt_popart_runs(&f->pm->patterns, e.def));
    if (!f->added)
        return POPRT_OK;
    e.loop = step->loop != 0 ? f->base + step->loop : 0;
    f->most = e.loop > f->most ? e.loop : f->most;
    return PRT_VEC_PUSH(f->pm->arena, &f->pm->entries, e) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status set_option(const pipeline_reader *f, const char *option, const char *value)
{
    const prt_pass_arg arg = { option, value };
    prt_entry *last = &f->pm->entries.data[f->pm->entries.count - 1];
    PRT_TRY(prt_pass_check_args(last->def, 1, &arg));
    return prt_manager_add_arg(f->pm, last, &arg);
}

static poprt_status set_from_setting(const pipeline_reader *f, const prt_pipeline_step *step)
{
    const char *value = setting(f, step->key);
    return f->added && value != NULL ? set_option(f, step->value, value) : POPRT_OK;
}

/* Converts a JSON scalar to the text of an option; NULL: it is not a string, a boolean or an
 * integer. */
static const char *text_of(prt_arena *arena, const prt_json *value)
{
    char number[32];
    int64_t integer;
    if (value->kind == PRT_JSON_STRING)
        return prt_arena_text(arena, value->text.data, value->text.size);
    if (value->kind == PRT_JSON_BOOL)
        return value->number != 0 ? "true" : "false";
    if (!prt_json_i64(value, &integer))
        return NULL;
    (void)snprintf(number, sizeof(number), "%lld", (long long)integer);
    return prt_arena_text(arena, number, strlen(number));
}

/* Parses a setting that is a JSON object; `*out` is NULL if it is not set. */
static poprt_status members_of(const pipeline_reader *f, const char *key, prt_json **out)
{
    const char *text = setting(f, key);
    *out = NULL;
    if (text == NULL || text[0] == '\0')
        return POPRT_OK;
    PRT_TRY(prt_fail_about(prt_json_parse(f->pm->arena, text, strlen(text), out), key));
    return (*out)->kind == PRT_JSON_OBJECT
        ? POPRT_OK
        : prt_fail(POPRT_E_ARG, key, "expected a JSON object of pass options");
}

/* Reads the name and the value of an option from a member of such an object. */
static poprt_status read_member(const pipeline_reader *f, const prt_json *m, prt_pass_arg *out)
{
    out->key = prt_arena_text(f->pm->arena, m->key.data, m->key.size);
    if (out->key == NULL)
        return POPRT_E_NOMEM;
    out->value = text_of(f->pm->arena, m);
    return out->value != NULL
        ? POPRT_OK
        : prt_fail(POPRT_E_ARG, out->key,
              "the value of an option must be a string, an integer or a boolean");
}

static poprt_status set_from_object(const pipeline_reader *f, const prt_pipeline_step *step)
{
    prt_json *members = NULL;
    prt_pass_arg arg;
    if (!f->added)
        return POPRT_OK;
    PRT_TRY(members_of(f, step->key, &members));
    for (uint32_t i = 0; members != NULL && i < members->count; i++) {
        PRT_TRY(read_member(f, &members->items[i], &arg));
        PRT_TRY(set_option(f, arg.key, arg.value));
    }
    return POPRT_OK;
}

/* Sets an option with a key "PASS.OPTION" for every entry of that pass from `first` on. */
static poprt_status set_of_inserted(const pipeline_reader *f, size_t first, const char *key,
    prt_pass_arg arg)
{
    prt_pass_manager *pm = f->pm;
    const char *dot = strchr(arg.key, '.');
    const char *names[MAX_NAMES] = { NULL };
    char nearest[256];
    size_t n = 0;
    bool found = false;
    if (dot == NULL || dot == arg.key || dot[1] == '\0')
        return prt_fail(POPRT_E_ARG, arg.key, "%s must name options as PASS.OPTION", key);
    const char *pass = prt_arena_text(pm->arena, arg.key, (size_t)(dot - arg.key));
    if (pass == NULL)
        return POPRT_E_NOMEM;
    arg.key = dot + 1;
    for (size_t i = first; i < pm->entries.count; i++) {
        prt_entry *e = &pm->entries.data[i];
        if (n < MAX_NAMES)
            names[n++] = e->def->name;
        if (strcmp(e->def->name, pass) != 0)
            continue;
        PRT_TRY(prt_pass_check_args(e->def, 1, &arg));
        PRT_TRY(prt_manager_add_arg(pm, e, &arg));
        found = true;
    }
    if (found)
        return POPRT_OK;
    if (prt_pass_manager_find(pm, pass) == NULL)
        return prt_pass_unknown(pass);
    prt_nearest(pass, names, n, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, pass,
        "%s names a pass that is not in the list of passes to run%s%s", key,
        n != 0 ? "; nearest: " : "", nearest);
}

static poprt_status insert_passes(const pipeline_reader *f, const prt_pipeline_step *step)
{
    const size_t first = f->pm->entries.count;
    const char *names = setting(f, step->key);
    prt_json *members = NULL;
    prt_pass_arg arg;
    prt_str item;
    while (names != NULL && prt_list_next(&names, &item)) {
        const char *name = prt_arena_text(f->pm->arena, item.data, item.size);
        if (name == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_manager_add_entry(f->pm, name, f->stage, 0, NULL));
    }
    PRT_TRY(members_of(f, step->value, &members));
    for (uint32_t i = 0; members != NULL && i < members->count; i++) {
        PRT_TRY(read_member(f, &members->items[i], &arg));
        PRT_TRY(set_of_inserted(f, first, step->value, arg));
    }
    return POPRT_OK;
}

static poprt_status read_step(pipeline_reader *f, const prt_pipeline_step *step)
{
    switch (step->kind) {
    case PRT_STEP_STAGE:
        f->stage = step->value;
        return POPRT_OK;
    case PRT_STEP_WITH:
        return f->added ? set_option(f, step->key, step->value) : POPRT_OK;
    case PRT_STEP_FROM_SETTING:
        return set_from_setting(f, step);
    case PRT_STEP_FROM_OBJECT:
        return set_from_object(f, step);
    case PRT_STEP_INSERT:
        return insert_passes(f, step);
    case PRT_STEP_WHEN:
    case PRT_STEP_UNLESS:
        f->added = false;
        return holds(f, step) == (step->kind == PRT_STEP_WHEN) ? add_step(f, step) : POPRT_OK;
    default:
        return add_step(f, step);
    }
}

poprt_status prt_pass_manager_add_pipeline(prt_pass_manager *pm, const char *name,
    const prt_pass_settings *settings)
{
    pipeline_reader f = { .pm = pm, .settings = settings, .stage = "", .base = pm->loops };
    const prt_pipeline *pipeline = prt_pipeline_find(name);
    if (pipeline == NULL)
        return prt_pipeline_unknown(name);
    for (uint32_t i = 0; i < pipeline->n_steps; i++)
        PRT_TRY(read_step(&f, &pipeline->steps[i]));
    pm->loops = f.most > pm->loops ? f.most : pm->loops;
    return POPRT_OK;
}
