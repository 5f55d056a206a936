/* SPDX-License-Identifier: MIT */
/* case.c — load, compile, run on stored inputs, compare with stored outputs. */
#define _DEFAULT_SOURCE
#include "tools/case.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/value.h"

enum { MAX_SETS = 1000 };

/* A case at work. */
typedef struct state {
    prt_tool tool;
    const prt_case_options *options;
    const char *dir;
    poprt_executable *exec;
    poprt_session *session;
    prt_files files;
    char *why;
    size_t size;
} state;

static const char *data_file(state *s, uint32_t set, const char *word, size_t index)
{
    return prt_tool_text(s->tool.arena, "%s/test_data_set_%u/%s_%zu.pb", s->dir, set, word, index);
}

/* Writes the program to a temporary file and opens that instead. */
static poprt_status pass_through_popef(state *s)
{
    const char *temp = getenv("TMPDIR");
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/poprt-test-XXXXXX",
        temp != NULL && temp[0] != '\0' ? temp : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0)
        return prt_fail(POPRT_E_IO, path, "%s", strerror(errno));
    (void)close(fd);
    poprt_executable *again = NULL;
    poprt_config *config = NULL;
    poprt_status status = poprt_executable_save_file(s->exec, path);
    if (status == POPRT_OK)
        status = poprt_config_create(s->tool.env, &config);
    if (status == POPRT_OK)
        status = poprt_config_set(config, "verify", "full");
    if (status == POPRT_OK)
        status = poprt_executable_load_file(s->tool.env, path, config, &again);
    poprt_config_release(config);
    (void)unlink(path);
    PRT_TRY(status);
    poprt_executable_release(s->exec);
    s->exec = again;
    return POPRT_OK;
}

static poprt_status bind_inputs(state *s, uint32_t set, poprt_stepio *io)
{
    for (size_t i = 0; i < poprt_executable_io_count(s->exec, POPRT_INPUT); i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        prt_tensor value;
        const char *path = data_file(s, set, "input", i);
        PRT_TRY(poprt_executable_io_at(s->exec, POPRT_INPUT, i, &info));
        if (path == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_value_read(&s->tool, &s->files, path, &info, &value));
        PRT_TRY(prt_value_bind(s->tool.arena, io, i, &value));
    }
    return POPRT_OK;
}

/* True when an output is not what its file says; outputs without a file are not looked at. */
static poprt_status check_output(state *s, uint32_t set, const poprt_stepio *io, size_t i,
    bool *differs)
{
    poprt_io_info info = { .struct_size = sizeof(info) };
    prt_tensor found, expected;
    const char *path = data_file(s, set, "output", i);
    if (path == NULL)
        return POPRT_E_NOMEM;
    if (access(path, F_OK) != 0)
        return POPRT_OK;
    const size_t n_in = poprt_executable_io_count(s->exec, POPRT_INPUT);
    PRT_TRY(poprt_executable_io_at(s->exec, POPRT_OUTPUT, i, &info));
    PRT_TRY(prt_value_output(s->tool.arena, io, n_in + i, &info, &found));
    PRT_TRY(prt_value_read(&s->tool, &s->files, path, &info, &expected));
    char why[512];
    *differs = prt_compare_differs(&found, &expected, s->options->tolerance, why, sizeof(why));
    if (*differs)
        (void)snprintf(s->why, s->size, "data set %u, output %s: %s", set, info.name, why);
    return POPRT_OK;
}

static poprt_status run_set(state *s, uint32_t set, bool *differs)
{
    poprt_stepio *io = NULL;
    PRT_TRY(poprt_stepio_create(s->session, &io));
    poprt_status status = bind_inputs(s, set, io);
    if (status == POPRT_OK)
        status = poprt_session_run(s->session, io);
    for (size_t i = 0; status == POPRT_OK && !*differs &&
                       i < poprt_executable_io_count(s->exec, POPRT_OUTPUT);
         i++)
        status = check_output(s, set, io, i, differs);
    poprt_stepio_release(io);
    return status;
}

static bool has_set(state *s, uint32_t set)
{
    const char *path = prt_tool_text(s->tool.arena, "%s/test_data_set_%u", s->dir, set);
    return path != NULL && access(path, F_OK) == 0;
}

static poprt_status open_session(state *s)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(s->tool.env, &config));
    poprt_status status = POPRT_OK;
    if (s->options->cpu != NULL)
        status = poprt_config_set(config, "cpu", s->options->cpu);
    if (status == POPRT_OK)
        status = poprt_session_create(s->exec, config, &s->session);
    poprt_config_release(config);
    return status;
}

static poprt_status run_case(state *s, bool *differs)
{
    const char *model = prt_tool_text(s->tool.arena, "%s/model.onnx", s->dir);
    if (model == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tool_disable(&s->tool, s->options->disable_passes));
    PRT_TRY(prt_tool_open_executable(&s->tool, model, NULL, &s->exec));
    if (s->options->via_popef)
        PRT_TRY(pass_through_popef(s));
    PRT_TRY(open_session(s));
    for (uint32_t set = 0; set < MAX_SETS && has_set(s, set) && !*differs; set++)
        PRT_TRY(run_set(s, set, differs));
    return POPRT_OK;
}

prt_verdict prt_case_run(const char *dir, const prt_case_options *options, char *why, size_t size)
{
    state s = { .options = options, .dir = dir, .why = why, .size = size };
    prt_verdict verdict = PRT_CASE_SKIPPED;
    bool differs = false;
    why[0] = '\0';
    poprt_status status = prt_tool_open(&s.tool, 1);
    s.tool.progress.enabled = false;
    if (status != POPRT_OK || has_set(&s, 0)) {
        if (status == POPRT_OK)
            status = run_case(&s, &differs);
        if (status != POPRT_OK)
            prt_tool_describe_error(why, size);
        verdict = status == POPRT_OK && !differs ? PRT_CASE_PASSED : PRT_CASE_FAILED;
    }
    poprt_session_release(s.session);
    poprt_executable_release(s.exec);
    prt_files_release(&s.files);
    prt_tool_close(&s.tool);
    return verdict;
}
