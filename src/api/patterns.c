/* SPDX-License-Identifier: MIT */
/* patterns.c — PopART's patterns in poprt/pass.h: the list, and which of them a config switches on.
 */
#include "api/patterns.h"

#include <stdio.h>

#include "base/list.h"
#include "base/record.h"

/* Logs the patterns of a list that stand for no pass. */
static void log_absent(const poprt_env *env, const char *names)
{
    prt_str name;
    uint32_t id;
    char text[256];
    for (const char *cursor = names; prt_list_next(&cursor, &name);) {
        if (prt_popart_find(name, &id) != POPRT_OK || prt_popart_of(id)->passes[0] != '\0')
            continue;
        (void)snprintf(text, sizeof(text), "pattern %s changes nothing: %s",
            prt_popart_of(id)->name, prt_popart_of(id)->doc);
        prt_env_log(env, PRT_LOG_compile, POPRT_LOG_INFO, text);
    }
}

static poprt_status choose(const poprt_config *config, prt_popart_set *out)
{
    const prt_popart_options options = { .level =
                                             prt_config_text(config, PRT_OPTION_patterns_level),
        .only = prt_config_text(config, PRT_OPTION_patterns),
        .enable = prt_config_text(config, PRT_OPTION_enable_patterns),
        .disable = prt_config_text(config, PRT_OPTION_disable_patterns),
        .asserts = prt_config_number(config, PRT_OPTION_pattern_asserts) != 0 };
    return prt_fail_at_stage(prt_popart_choose(&options, out), "patterns");
}

poprt_status prt_config_patterns(const poprt_config *config, const poprt_env *env,
    prt_popart_set *out)
{
    PRT_TRY(choose(config, out));
    log_absent(env, prt_config_text(config, PRT_OPTION_enable_patterns));
    log_absent(env, prt_config_text(config, PRT_OPTION_disable_patterns));
    return POPRT_OK;
}

poprt_status poprt_pattern_at(size_t index, poprt_pattern_info *out)
{
    PRT_REQUIRE(out);
    const prt_popart_pattern *p = index < PRT_POPART_COUNT ? prt_popart_of((uint32_t)index) : NULL;
    if (p == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, "index", "%zu is past the last pattern", index);
    const poprt_pattern_info info = { .struct_size = sizeof(info),
        .name = p->name,
        .passes = p->passes,
        .help = p->doc,
        .initial = p->initial,
        .mandatory = p->mandatory };
    return prt_export(out, &info, sizeof(info), "out");
}

poprt_status poprt_pattern_is_enabled(const poprt_config *config, const char *name, int32_t *out)
{
    prt_popart_set set;
    uint32_t id;
    PRT_REQUIRE(name);
    PRT_REQUIRE(out);
    PRT_TRY(prt_popart_find(prt_str_of(name), &id));
    PRT_TRY(choose(config, &set));
    *out = prt_popart_has(&set, id);
    return POPRT_OK;
}
