/* SPDX-License-Identifier: MIT */
/*
 * fixed_options.c — options that an executable keeps from its compilation, and PopEF with it: as a
 * JSON object of texts, without the options that have their defaults.
 */
#include "api/fixed_options.h"

#include "base/json.h"

bool prt_option_names_files(size_t option)
{
    static const prt_option_id ids[] = { PRT_OPTION_cache_path, PRT_OPTION_enable_engine_caching,
        PRT_OPTION_enable_variables_caching, PRT_OPTION_tune_cache, PRT_OPTION_dot_checks,
        PRT_OPTION_dot_op_names, PRT_OPTION_first_dot_op, PRT_OPTION_final_dot_op,
        PRT_OPTION_separate_call_op_pdfs };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (option == (size_t)ids[i])
            return true;
    return false;
}

bool prt_option_is_fixed(const prt_option_row *row)
{
    /* The help begins with the calls that read the option. */
    static const char compiling[] = "Compiling", sessions[] = "Compiling and sessions";
    return strncmp(row->info.help, compiling, sizeof(compiling) - 1) == 0 &&
        strncmp(row->info.help, sessions, sizeof(sessions) - 1) != 0 &&
        !prt_option_names_files((size_t)(row - prt_option_rows));
}

static bool is_equal(const poprt_config *a, const poprt_config *b, size_t option)
{
    const prt_option_id id = (prt_option_id)option;
    return prt_option_rows[option].info.type == POPRT_OPTION_TEXT
        ? strcmp(prt_config_text(a, id), prt_config_text(b, id)) == 0
        : prt_config_number(a, id) == prt_config_number(b, id);
}

static poprt_status print_options(const poprt_config *config, prt_arena *arena, prt_str *out)
{
    prt_json_out j;
    prt_json_out_init(&j, arena, false);
    prt_json_open(&j, NULL, '{');
    for (size_t i = 0; config != NULL && i < PRT_OPTION_COUNT; i++)
        if (prt_option_is_fixed(&prt_option_rows[i]) && !is_equal(config, NULL, i))
            prt_json_put_text(&j, prt_option_rows[i].info.key,
                prt_str_of(prt_config_text(config, (prt_option_id)i)));
    for (uint32_t i = 0; config != NULL && i < config->n_dims; i++)
        prt_json_put_text(&j, config->dims[i].key, prt_str_of(config->dims[i].text));
    prt_json_close(&j, '}');
    return prt_json_out_finish(&j, out);
}

poprt_status prt_fixed_options_note(const poprt_config *config, prt_program *program)
{
    return print_options(config, program->arena, &program->options);
}

/* Reads the options of a file, which is not trusted: it may state those alone that are fixed, and
 * none that names files. */
static poprt_status read_options(prt_str json, poprt_config *config)
{
    PRT_TRY(poprt_config_merge_json(config, json.data, json.size));
    for (size_t i = 0; i < PRT_OPTION_COUNT; i++)
        if (config->text[i] != NULL && !prt_option_is_fixed(&prt_option_rows[i]))
            return prt_fail(POPRT_E_PARSE, prt_option_rows[i].info.key,
                "the file states this option, which executables do not keep");
    return POPRT_OK;
}

poprt_status poprt_executable_get_options(const poprt_executable *exec, poprt_config **out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    poprt_config *config = NULL;
    if (exec->program->options.size == 0)
        return prt_fail(POPRT_E_NOT_FOUND, exec->file,
            "the file does not state the options that its executable was compiled with");
    PRT_TRY(poprt_config_create(exec->env, &config));
    const poprt_status status = read_options(exec->program->options, config);
    if (status != POPRT_OK) {
        poprt_config_release(config);
        return prt_fail_in_file(prt_fail_at_stage(status, "options"), exec->file);
    }
    *out = config;
    return POPRT_OK;
}

static poprt_status fail_fixed(const char *key, const char *wanted, const char *has)
{
    return prt_fail(POPRT_E_ARG, key,
        "is fixed when a model is compiled: it is '%.100s' in this executable, not '%.100s'", has,
        wanted);
}

static poprt_status compare(const poprt_config *config, const poprt_config *has)
{
    for (size_t i = 0; i < PRT_OPTION_COUNT; i++)
        if (config->text[i] != NULL && prt_option_is_fixed(&prt_option_rows[i]) &&
            !is_equal(config, has, i))
            return fail_fixed(prt_option_rows[i].info.key, config->text[i],
                prt_config_text(has, (prt_option_id)i));
    for (uint32_t i = 0; i < config->n_dims; i++)
        for (uint32_t k = 0; k < has->n_dims; k++)
            if (strcmp(config->dims[i].key, has->dims[k].key) == 0 &&
                config->dims[i].value != has->dims[k].value)
                return fail_fixed(config->dims[i].key, config->dims[i].text, has->dims[k].text);
    return POPRT_OK;
}

/* Returns whether a config sets an option or dimension that an executable may have fixed. */
static bool sets_any(const poprt_config *config)
{
    for (size_t i = 0; i < PRT_OPTION_COUNT; i++)
        if (config->text[i] != NULL && prt_option_is_fixed(&prt_option_rows[i]))
            return true;
    return config->n_dims != 0;
}

poprt_status prt_fixed_options_check(const poprt_executable *exec, const poprt_config *config)
{
    poprt_config *has = NULL;
    if (config == NULL || !exec->is_opened || exec->program->options.size == 0 || !sets_any(config))
        return POPRT_OK;
    PRT_TRY(poprt_executable_get_options(exec, &has));
    const poprt_status status = compare(config, has);
    poprt_config_release(has);
    return status;
}
