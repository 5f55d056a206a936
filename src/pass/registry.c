/* SPDX-License-Identifier: MIT */
/* registry.c — the tables of passes and pipelines, and who was meant by a name that is in neither. */
#include <stdio.h>

#include "pass/pass.h"

#define PASS_BEGIN(id, kind, doc) extern const prt_pass_hooks prt_pass_##id;
#define OPTION(id, kind, name, initial, doc)
#define PASS_END(id)
#include "pass/passes.def"
#undef PASS_BEGIN
#undef OPTION
#undef PASS_END

/* Option rows; each array ends in an empty row, so that none has length zero. */
#define PASS_BEGIN(id, kind, doc) static const prt_pass_option options_##id[] = {
#define OPTION(id, kind, name, initial, doc) { #name, PRT_OPTION_##kind, initial, doc },
#define PASS_END(id)                                                                               \
    {                                                                                              \
        NULL, 0, NULL, NULL                                                                        \
    }                                                                                              \
    }                                                                                              \
    ;
#include "pass/passes.def"
#undef PASS_BEGIN
#undef OPTION
#undef PASS_END

#define PASS_BEGIN(id_, kind_, doc_)                                                               \
    [PRT_PASS_ID_##id_] = { .name = #id_,                                                          \
        .kind = PRT_PASS_##kind_,                                                                  \
        .doc = doc_,                                                                               \
        .n_options = (uint32_t)(PRT_COUNT_OF(options_##id_) - 1),                                  \
        .options = options_##id_,                                                                  \
        .hooks = &prt_pass_##id_ },
#define OPTION(id, kind, name, initial, doc)
#define PASS_END(id)
static const prt_pass_def passes[] = {
#include "pass/passes.def"
};
#undef PASS_BEGIN
#undef OPTION
#undef PASS_END

#define PIPELINE_BEGIN(id, doc) static const prt_pipeline_step steps_##id[] = {
#define STEP(pass) { PRT_PASS_ID_##pass, 0, 1 },
#define REPEAT(group, times, pass) { PRT_PASS_ID_##pass, group, times },
#define PIPELINE_END(id)                                                                           \
    }                                                                                              \
    ;
#include "pass/pipelines.def"
#undef PIPELINE_BEGIN
#undef PIPELINE_END
#undef STEP
#undef REPEAT

#define PIPELINE_BEGIN(id, doc) { #id, doc, (uint32_t)PRT_COUNT_OF(steps_##id), steps_##id },
#define STEP(pass)
#define REPEAT(group, times, pass)
#define PIPELINE_END(id)
static const prt_pipeline pipelines[] = {
#include "pass/pipelines.def"
};
#undef PIPELINE_BEGIN
#undef PIPELINE_END
#undef STEP
#undef REPEAT

const prt_pass_def *prt_pass_of(uint32_t index)
{
    return index < PRT_COUNT_OF(passes) ? &passes[index] : NULL;
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

/* ---- near names */

enum { NAME_MAX_SIZE = 63, NEAR_COUNT = 3 };

/* Insertions, deletions and exchanges that make one of the other. */
static uint32_t edit_distance(const char *a, const char *b)
{
    uint32_t row[NAME_MAX_SIZE + 1];
    const size_t n = strlen(a), m = strlen(b);
    if (n > NAME_MAX_SIZE || m > NAME_MAX_SIZE)
        return UINT32_MAX;
    for (size_t k = 0; k <= m; k++)
        row[k] = (uint32_t)k;
    for (size_t i = 1; i <= n; i++) {
        uint32_t corner = row[0];
        row[0] = (uint32_t)i;
        for (size_t k = 1; k <= m; k++) {
            const uint32_t exchange = corner + (a[i - 1] != b[k - 1]);
            corner = row[k];
            uint32_t least = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
            row[k] = exchange < least ? exchange : least;
        }
    }
    return row[m];
}

/* Names at most a third of their letters away, and those that contain what was asked for. */
static uint32_t distance_to(const char *asked, const char *name)
{
    const uint32_t distance = edit_distance(asked, name);
    if (strlen(asked) >= 3 && strstr(name, asked) != NULL)
        return distance < 3 ? distance : 3;
    return distance <= strlen(name) / 3 + 1 ? distance : UINT32_MAX;
}

static const char *pass_name(uint32_t index)
{
    return index < PRT_COUNT_OF(passes) ? passes[index].name : NULL;
}

static const char *pipeline_name(uint32_t index)
{
    return index < PRT_COUNT_OF(pipelines) ? pipelines[index].name : NULL;
}

static poprt_status unknown(const char *what, const char *asked, const char *(*name_at)(uint32_t))
{
    const char *near[NEAR_COUNT] = { NULL };
    uint32_t distances[NEAR_COUNT] = { UINT32_MAX, UINT32_MAX, UINT32_MAX };
    for (uint32_t i = 0; name_at(i) != NULL; i++) {
        const char *name = name_at(i);
        uint32_t distance = distance_to(asked, name);
        for (uint32_t k = 0; k < NEAR_COUNT; k++) {
            if (distance >= distances[k])
                continue;
            const uint32_t moved_distance = distances[k];
            const char *moved = near[k];
            distances[k] = distance;
            near[k] = name;
            distance = moved_distance;
            name = moved;
        }
    }
    char text[256];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t k = 0; k < NEAR_COUNT && near[k] != NULL; k++) {
        const int n = snprintf(text + at, sizeof(text) - at, "%s%s",
            k == 0 ? "; did you mean " : " or ", near[k]);
        at += n > 0 ? (size_t)n : 0;
    }
    return prt_fail(POPRT_E_NOT_FOUND, asked, "no %s '%.100s'%s", what, asked, text);
}

poprt_status prt_pass_unknown(const char *name)
{
    return unknown("pass", name, pass_name);
}

poprt_status prt_pipeline_unknown(const char *name)
{
    return unknown("pipeline", name, pipeline_name);
}
