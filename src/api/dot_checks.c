/* SPDX-License-Identifier: MIT */
/*
 * dot_checks.c — graphs that compiling draws. A file is named after the check, in lower case;
 * subgraphs have files of their own, fwd0_1.dot and so on, unless separate_call_op_pdfs is false.
 */
#include "api/dot_checks.h"

#include <ctype.h>
#include <stdio.h>

#include "base/file.h"
#include "base/list.h"
#include "describe/describe.h"
#include "describe/sink.h"
#include "ir/ir.h"

static const char *const names[] = { "Fwd0", "Fwd1", "Bwd0", "PreAlias", "Final" };

static bool is_word(prt_str text, const char *word)
{
    return prt_str_same_word(text, prt_str_of(word));
}

bool prt_dot_checks_are_any(const poprt_config *config)
{
    return *prt_config_text(config, PRT_OPTION_dot_checks) != '\0';
}

poprt_status prt_dot_checks_verify(const poprt_config *config)
{
    const char *list = prt_config_text(config, PRT_OPTION_dot_checks);
    prt_str item;
    while (prt_list_next(&list, &item)) {
        bool known = is_word(item, "All") || is_word(item, "MainLoops");
        for (size_t i = 0; i < PRT_COUNT_OF(names); i++)
            known = known || is_word(item, names[i]);
        if (!known)
            return prt_fail(POPRT_E_ARG, "dot_checks",
                "'%.*s' is not accepted; expected some of Fwd0, Fwd1, Bwd0, PreAlias, MainLoops, "
                "Final, All",
                PRT_STR_ARG(item));
    }
    return POPRT_OK;
}

/* The loops over batches are part of the program: MainLoops is the graph of PreAlias. */
bool prt_dot_checks_want(const poprt_config *config, prt_dot_check check)
{
    const char *list = prt_config_text(config, PRT_OPTION_dot_checks);
    prt_str item;
    while (prt_list_next(&list, &item))
        if (is_word(item, "All") || is_word(item, names[check]) ||
            (check == PRT_DOT_CHECK_PreAlias && is_word(item, "MainLoops")))
            return true;
    return false;
}

static poprt_status open_file(const poprt_config *config, prt_dot_check check, size_t graph,
    prt_file_writer **out)
{
    const char *folder = prt_config_text(config, PRT_OPTION_log_dir);
    char path[4096], name[32], number[32] = "";
    size_t n = strlen(names[check]);
    for (size_t i = 0; i <= n; i++)
        name[i] = (char)tolower((unsigned char)names[check][i]);
    if (graph != 0)
        (void)snprintf(number, sizeof(number), "_%zu", graph);
    const int size = snprintf(path, sizeof(path), "%s%s%s%s.dot", folder,
        *folder != '\0' ? "/" : "", name, number);
    if (size < 0 || (size_t)size >= sizeof(path))
        return prt_fail(POPRT_E_LIMIT, "log_dir", "the path is longer than %zu bytes",
            sizeof(path));
    return prt_fail_in_file(prt_file_writer_create(&config->env->allocator, path, out), path);
}

poprt_status prt_dot_checks_draw(const poprt_config *config, prt_dot_check check,
    const prt_module *module)
{
    prt_arena *arena = NULL;
    if (!prt_dot_checks_want(config, check))
        return POPRT_OK;
    const bool apart = prt_config_number(config, PRT_OPTION_separate_call_op_pdfs) != 0;
    prt_dot dot = { .first = (uint64_t)prt_config_number(config, PRT_OPTION_first_dot_op),
        .end = (uint64_t)prt_config_number(config, PRT_OPTION_final_dot_op),
        .names = prt_config_number(config, PRT_OPTION_dot_op_names) != 0,
        .graph = PRT_DOT_ALL };
    PRT_TRY(prt_arena_create(&config->env->allocator, 0, &arena));
    size_t n = 1;
    poprt_status status = POPRT_OK;
    for (size_t g = 0; status == POPRT_OK && g < n; g++) {
        prt_file_writer *file = NULL;
        prt_sink sink;
        size_t graphs = 1;
        status = open_file(config, check, g, &file);
        if (status != POPRT_OK)
            break;
        dot.graph = apart ? (int64_t)g : PRT_DOT_ALL;
        prt_sink_init(&sink, prt_file_writer_sink, file);
        status =
            prt_file_writer_finish(file, prt_describe_dot(module, &dot, arena, &graphs, &sink));
        n = apart ? graphs : 1;
    }
    prt_arena_release(arena);
    return status;
}

poprt_status prt_dot_checks_draw_program(const poprt_config *config, const prt_program *program)
{
    prt_arena *arena = NULL;
    prt_file_writer *file = NULL;
    prt_sink sink;
    if (!prt_dot_checks_want(config, PRT_DOT_CHECK_Final))
        return POPRT_OK;
    PRT_TRY(prt_arena_create(&config->env->allocator, 0, &arena));
    poprt_status status = open_file(config, PRT_DOT_CHECK_Final, 0, &file);
    if (status == POPRT_OK) {
        const prt_io_table io = { 0 };
        prt_sink_init(&sink, prt_file_writer_sink, file);
        status = prt_file_writer_finish(file,
            prt_describe_executable(program, &io, "", NULL, POPRT_FORMAT_DOT, arena, &sink));
    }
    prt_arena_release(arena);
    return status;
}
