/* SPDX-License-Identifier: MIT */
/* registry.c — tables of passes and pipelines, lookup by name, and the nearest names of an unknown
 * one. */
#include "base/nearest.h"
#include "pass/engine/choices.h"
#include "pass/engine/pass.h"

#define PASS_BEGIN(id, kind, since, doc) extern const prt_pass_hooks prt_pass_##id;
#include "pass/passes.def"

/* Option rows of each pass; an empty row at the end of each array keeps its length above zero. */
#define PASS_BEGIN(id, kind, since, doc) static const prt_pass_option options_##id[] = {
#define OPTION(id, kind, name, initial, doc) { #name, PRT_OPTION_##kind, initial, doc, NULL },
#define CHOICE(id, words, name, initial, doc)                                                      \
    { #name, PRT_OPTION_choice, initial, doc, PRT_##words##_WORDS },
#define PASS_END(id)                                                                               \
    {                                                                                              \
        NULL, 0, NULL, NULL, NULL                                                                  \
    }                                                                                              \
    }                                                                                              \
    ;
#include "pass/passes.def"

/* ORDER rows of each pass, with an empty row at the end. */
#define PASS_BEGIN(id, kind, since, doc) static const prt_pass_order orders_##id[] = {
#define ORDER(id, relation, other) { PRT_RELATION_##relation, #other },
#define PASS_END(id)                                                                               \
    {                                                                                              \
        0, NULL                                                                                    \
    }                                                                                              \
    }                                                                                              \
    ;
#include "pass/passes.def"

/* Deviation of results: the median, if it is measured, and the maximum. */
typedef struct deviation {
    double median, most;
} deviation;

static const deviation deviations[PRT_PASS_COUNT] = {
#define BOUND(id, relative) [PRT_PASS_ID_##id] = { 0, relative },
#define TYPICAL(id, median, worst) [PRT_PASS_ID_##id] = { median, worst },
#include "pass/passes.def"
};

/* The address of the first row; NULL saves arrays that have only the empty row. */
#define ROWS_OF(array) (PRT_COUNT_OF(array) > 1 ? (array) : NULL)

#define PASS_BEGIN(id_, kind_, since_, doc_)                                                       \
    [PRT_PASS_ID_##id_] = { .name = #id_,                                                          \
        .kind = PRT_PASS_##kind_,                                                                  \
        .since = since_,                                                                           \
        .doc = doc_,                                                                               \
        .n_options = (uint32_t)(PRT_COUNT_OF(options_##id_) - 1),                                  \
        .options = ROWS_OF(options_##id_),                                                         \
        .n_orders = (uint32_t)(PRT_COUNT_OF(orders_##id_) - 1),                                    \
        .orders = ROWS_OF(orders_##id_),                                                           \
        .hooks = &prt_pass_##id_ },
static const prt_pass_def passes[] = {
#include "pass/passes.def"
};

#define PIPELINE_BEGIN(id, doc) static const prt_pipeline_step steps_##id[] = {
#define STAGE(name_) { .kind = PRT_STEP_STAGE, .value = name_ },
#define STEP(pass_) { .kind = PRT_STEP_PASS, .pass = PRT_PASS_ID_##pass_, .times = 1 },
#define REPEAT(group, times_, pass_)                                                               \
    { .kind = PRT_STEP_PASS, .pass = PRT_PASS_ID_##pass_, .loop = group, .times = times_ },
#define WHEN(key_, value_, pass_)                                                                  \
    { .kind = PRT_STEP_WHEN,                                                                       \
        .pass = PRT_PASS_ID_##pass_,                                                               \
        .times = 1,                                                                                \
        .key = #key_,                                                                              \
        .value = value_ },
#define UNLESS(key_, value_, pass_)                                                                \
    { .kind = PRT_STEP_UNLESS,                                                                     \
        .pass = PRT_PASS_ID_##pass_,                                                               \
        .times = 1,                                                                                \
        .key = #key_,                                                                              \
        .value = value_ },
#define WITH(option, value_) { .kind = PRT_STEP_WITH, .key = #option, .value = value_ },
#define FROM_SETTING(option, key_)                                                                 \
    { .kind = PRT_STEP_FROM_SETTING, .key = #key_, .value = #option },
#define FROM_OBJECT(key_) { .kind = PRT_STEP_FROM_OBJECT, .key = #key_ },
#define INSERT(key_, options_) { .kind = PRT_STEP_INSERT, .key = #key_, .value = #options_ },
#define PIPELINE_END(id)                                                                           \
    }                                                                                              \
    ;
#include "pass/pipelines.def"

#define PIPELINE_BEGIN(id, doc) { #id, doc, (uint32_t)PRT_COUNT_OF(steps_##id), steps_##id },
static const prt_pipeline pipelines[] = {
#include "pass/pipelines.def"
};

const prt_pass_def *prt_pass_of(uint32_t index)
{
    return index < PRT_COUNT_OF(passes) ? &passes[index] : NULL;
}

/* A pass outside the table has no deviation. */
static deviation deviation_of(const prt_pass_def *def)
{
    for (size_t i = 0; i < PRT_COUNT_OF(passes); i++)
        if (&passes[i] == def)
            return deviations[i];
    return (deviation){ 0, 0 };
}

double prt_pass_bound(const prt_pass_def *def)
{
    return deviation_of(def).most;
}

double prt_pass_typical(const prt_pass_def *def)
{
    return deviation_of(def).median;
}

const prt_pass_def *prt_pass_find(const char *name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(passes); i++)
        if (strcmp(passes[i].name, name) == 0)
            return &passes[i];
    return NULL;
}

const prt_pipeline *prt_pipeline_of(uint32_t index)
{
    return index < PRT_COUNT_OF(pipelines) ? &pipelines[index] : NULL;
}

const prt_pipeline *prt_pipeline_find(const char *name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(pipelines); i++)
        if (strcmp(pipelines[i].name, name) == 0)
            return &pipelines[i];
    return NULL;
}

/* ---- nearest names */

static const char *const pass_names[] = {
#define PASS_BEGIN(id, kind, since, doc) #id,
#include "pass/passes.def"
};

static const char *const pipeline_names[] = {
#define PIPELINE_BEGIN(id, doc) #id,
#include "pass/pipelines.def"
};

poprt_status prt_pass_unknown(const char *name)
{
    char nearest[256];
    prt_nearest(name, pass_names, PRT_COUNT_OF(pass_names), nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, name, "unknown pass '%.100s'; nearest: %s", name, nearest);
}

poprt_status prt_pipeline_unknown(const char *name)
{
    char nearest[256];
    prt_nearest(name, pipeline_names, PRT_COUNT_OF(pipeline_names), nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, name, "unknown pipeline '%.100s'; nearest: %s", name,
        nearest);
}
