/* SPDX-License-Identifier: MIT */
/* case.c — runs a case: loads, compiles and runs a model on stored inputs, and compares with stored
 * outputs. */
#define _DEFAULT_SOURCE
#include "tools/commands/case.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/common/value.h"

enum { MAX_SETS = 1000 };

/* Passes of the conversion that are skipped, because they change the types of inputs and
 * outputs. */
#define SKIPPED "int64_to_int32"

/* A compiled model and its latest run. */
typedef struct loaded_model {
    poprt_executable *exec;
    poprt_session *session;
    poprt_stepio *io; /* outputs are valid until the next run */
} loaded_model;

/* State of a case. */
typedef struct case_state {
    prt_tool tool;
    const prt_case_options *options;
    const char *dir;
    loaded_model plain; /* runs of the unchanged model */
    prt_files files;
    char *why;
    size_t size;
    const char *pass; /* pass that failed, or NULL */
} case_state;

static void close_model(loaded_model *r)
{
    poprt_stepio_release(r->io);
    poprt_session_release(r->session);
    poprt_executable_release(r->exec);
    *r = (loaded_model){ .exec = NULL };
}

static const char *data_file(case_state *s, uint32_t set, const char *word, size_t index)
{
    return prt_tool_text(s->tool.arena, "%s/test_data_set_%u/%s_%zu.pb", s->dir, set, word, index);
}

/* Writes the program to a temporary PopEF file and opens it in place of the program. */
static poprt_status pass_through_popef(const case_state *s, loaded_model *r)
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
    poprt_status status = poprt_executable_save_file(r->exec, path);
    if (status == POPRT_OK)
        status = poprt_config_create(s->tool.env, &config);
    if (status == POPRT_OK)
        status = poprt_config_set(config, "verify", "full");
    if (status == POPRT_OK)
        status = poprt_executable_load_file(s->tool.env, path, config, &again);
    poprt_config_release(config);
    (void)unlink(path);
    PRT_TRY(status);
    poprt_executable_release(r->exec);
    r->exec = again;
    return POPRT_OK;
}

static poprt_status bind_inputs(case_state *s, const loaded_model *r, uint32_t set,
    poprt_stepio *io)
{
    for (size_t i = 0; i < poprt_executable_io_count(r->exec, POPRT_INPUT); i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        prt_tensor value;
        const char *path = data_file(s, set, "input", i);
        PRT_TRY(poprt_executable_io_at(r->exec, POPRT_INPUT, i, &info));
        if (path == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_value_read(&s->tool, &s->files, path, &info, &value));
        PRT_TRY(prt_value_bind(s->tool.arena, io, i, &value));
    }
    return POPRT_OK;
}

static poprt_status read_output(const case_state *s, const loaded_model *r, size_t i,
    poprt_io_info *info, prt_tensor *out)
{
    const size_t n_in = poprt_executable_io_count(r->exec, POPRT_INPUT);
    *info = (poprt_io_info){ .struct_size = sizeof(*info) };
    PRT_TRY(poprt_executable_io_at(r->exec, POPRT_OUTPUT, i, info));
    return prt_value_output(s->tool.arena, r->io, n_in + i, info, out);
}

static bool outputs_differ(case_state *s, uint32_t set, const char *name, prt_tolerance tolerance,
    const prt_tensor *found, const prt_tensor *expected)
{
    char why[512];
    if (!prt_compare_differs(found, expected, tolerance, why, sizeof(why)))
        return false;
    (void)snprintf(s->why, s->size, "data set %u, output %s: %s", set, name, why);
    return true;
}

/* Compares an output with its stored file, if that exists. */
static poprt_status check_stored(case_state *s, const loaded_model *r, uint32_t set, size_t i,
    bool *differs)
{
    poprt_io_info info;
    prt_tensor found, expected;
    const char *path = data_file(s, set, "output", i);
    if (path == NULL)
        return POPRT_E_NOMEM;
    if (access(path, F_OK) != 0)
        return POPRT_OK;
    PRT_TRY(read_output(s, r, i, &info, &found));
    PRT_TRY(prt_value_read(&s->tool, &s->files, path, &info, &expected));
    *differs = outputs_differ(s, set, info.name, s->options->tolerance, &found, &expected);
    return POPRT_OK;
}

/* Compares an output with the output of the unchanged model. */
static poprt_status check_before(case_state *s, const loaded_model *r, double bound, uint32_t set,
    size_t i, bool *differs)
{
    const prt_tolerance tolerance = { .by_share = true, .share = bound };
    poprt_io_info info;
    prt_tensor found, expected;
    PRT_TRY(read_output(s, &s->plain, i, &info, &expected));
    PRT_TRY(read_output(s, r, i, &info, &found));
    *differs = outputs_differ(s, set, info.name, tolerance, &found, &expected);
    return POPRT_OK;
}

static poprt_status run_set(case_state *s, loaded_model *r, uint32_t set)
{
    poprt_stepio_release(r->io);
    r->io = NULL;
    PRT_TRY(poprt_stepio_create(r->session, &r->io));
    PRT_TRY(bind_inputs(s, r, set, r->io));
    return poprt_session_run(r->session, r->io);
}

static bool has_set(const case_state *s, uint32_t set)
{
    const char *path = prt_tool_text(s->tool.arena, "%s/test_data_set_%u", s->dir, set);
    return path != NULL && access(path, F_OK) == 0;
}

static poprt_status open_session(const case_state *s, loaded_model *r)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(s->tool.env, &config));
    poprt_status status = POPRT_OK;
    if (s->options->cpu != NULL)
        status = poprt_config_set(config, "cpu", s->options->cpu);
    if (status == POPRT_OK)
        status = poprt_session_create(r->exec, config, &r->session);
    poprt_config_release(config);
    return status;
}

static poprt_status open_model(const case_state *s, const poprt_model *model,
    const poprt_config *config, loaded_model *r)
{
    PRT_TRY(poprt_compile(model, config, &r->exec));
    if (s->options->via_popef)
        PRT_TRY(pass_through_popef(s, r));
    return open_session(s, r);
}

/* Compares all outputs of all data sets: with the outputs of `plain` if there is a bound, otherwise
 * with the stored files. */
static poprt_status check_sets(case_state *s, loaded_model *r, const double *bound, bool *differs)
{
    for (uint32_t set = 0; set < MAX_SETS && has_set(s, set) && !*differs; set++) {
        if (bound != NULL)
            PRT_TRY(run_set(s, &s->plain, set));
        PRT_TRY(run_set(s, r, set));
        for (size_t i = 0; i < poprt_executable_io_count(r->exec, POPRT_OUTPUT) && !*differs; i++)
            PRT_TRY(bound != NULL ? check_before(s, r, *bound, set, i, differs)
                                  : check_stored(s, r, set, i, differs));
    }
    return POPRT_OK;
}

/* ---- passes */

static void record_change(void *user, const poprt_pass_event *event)
{
    bool *changed = user;
    *changed = *changed || event->changed != 0;
}

/* Applies a pass, or the whole conversion if `pass` is NULL, with additional `passes` (may be
 * NULL). */
static poprt_status apply_pass(case_state *s, poprt_model *model, const char *pass,
    const char *passes, bool *changed)
{
    poprt_pass_manager *manager = NULL;
    poprt_config *config = NULL;
    PRT_TRY(poprt_pass_manager_create(s->tool.env, &manager));
    poprt_status status = poprt_config_create(s->tool.env, &config);
    if (status == POPRT_OK && passes != NULL)
        status = poprt_config_set(config, "passes", passes);
    /* The inputs must keep the types of the stored files. */
    if (status == POPRT_OK && pass == NULL)
        status = poprt_config_set(config, "skip_passes", SKIPPED);
    if (status == POPRT_OK)
        status = pass != NULL ? poprt_pass_manager_add(manager, pass, NULL)
                              : poprt_pass_manager_add_pipeline(manager, "convert", config);
    poprt_pass_manager_observe(manager, record_change, changed);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_config_release(config);
    poprt_pass_manager_release(manager);
    return status;
}

static bool has_other_type(const poprt_io_info *x, const poprt_io_info *y)
{
    if (x->dtype != y->dtype || x->rank != y->rank)
        return true;
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dims[i] != y->dims[i])
            return true;
    return false;
}

/* Tells whether inputs have other types or shapes, outputs other types, or their numbers differ. */
static bool has_other_interface(const poprt_model *a, const poprt_model *b)
{
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++) {
        const size_t count = poprt_model_io_count(a, direction);
        if (count != poprt_model_io_count(b, direction))
            return true;
        for (size_t i = 0; i < count; i++) {
            poprt_io_info x = { .struct_size = sizeof(x) }, y = { .struct_size = sizeof(y) };
            if (poprt_model_io_at(a, direction, i, &x) != POPRT_OK ||
                poprt_model_io_at(b, direction, i, &y) != POPRT_OK || x.dtype != y.dtype ||
                (direction == POPRT_INPUT && has_other_type(&x, &y)))
                return true;
        }
    }
    return false;
}

/* Returns the allowed difference of results, as a share of the largest element. Passes that round
 * to fewer bits have no bound, so only gross errors of such passes are detected. */
static double bound_of(const poprt_pass_info *info)
{
    static const double gross = 1;
    return info == NULL ? 0 : info->typical != 0 ? gross : info->bound;
}

/* Tries a pass on a copy of the model. A pass that requires options refuses the defaults, and
 * check_with_fake_data a model that its data cannot run; these do not count as failures. If a pass
 * changes nothing, the copy is not run. The whole conversion (`info` NULL) is compared with stored
 * outputs, a pass with the unchanged model. */
static poprt_status check_pass(case_state *s, const poprt_model *model, const poprt_pass_info *info,
    bool *differs)
{
    poprt_model *copy = NULL;
    loaded_model r = { .exec = NULL };
    bool changed = false;
    const double bound = bound_of(info);
    PRT_TRY(poprt_model_clone(model, &copy));
    poprt_status status = apply_pass(s, copy, info != NULL ? info->name : NULL, NULL, &changed);
    const bool unrun = status == POPRT_E_UNSUPPORTED && info != NULL &&
        strcmp(info->name, "check_with_fake_data") == 0;
    if ((status == POPRT_E_ARG && info != NULL) || unrun) {
        status = POPRT_OK;
        changed = false;
    }
    if (status == POPRT_OK && changed && !has_other_interface(model, copy)) {
        status = open_model(s, copy, info != NULL ? s->tool.config : NULL, &r);
        if (status == POPRT_OK)
            status = check_sets(s, &r, info != NULL ? &bound : NULL, differs);
    }
    close_model(&r);
    poprt_model_release(copy);
    return status;
}

static poprt_status check_passes(case_state *s, const poprt_model *model, bool *differs)
{
    bool past = false;
    PRT_TRY(prt_tool_set(&s->tool, "optimize=false"));
    poprt_status status = open_model(s, model, s->tool.config, &s->plain);
    for (size_t i = 0; status == POPRT_OK && !*differs && !past; i++) {
        poprt_pass_info info = { .struct_size = sizeof(info) };
        past = poprt_pass_at(i, &info) != POPRT_OK;
        if (!past && strcmp(info.name, "layer_precision_compare") == 0)
            continue; /* it does not change the model, but writes a file */
        status = check_pass(s, model, past ? NULL : &info, differs);
        if (*differs || status != POPRT_OK)
            s->pass = past ? "convert" : info.name;
    }
    return status;
}

static poprt_status run_case(case_state *s, bool *differs)
{
    poprt_model *model = NULL;
    bool changed = false;
    const char *path = prt_tool_text(s->tool.arena, "%s/model.onnx", s->dir);
    if (path == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tool_plugins(&s->tool, s->options->opts, s->options->plugins));
    PRT_TRY(prt_tool_disable(&s->tool, s->options->disable_passes));
    PRT_TRY(poprt_model_load_file(s->tool.env, path, s->tool.config, &model));
    poprt_status status = POPRT_OK;
    if (s->options->passes != NULL)
        status = apply_pass(s, model, NULL, s->options->passes, &changed);
    if (status == POPRT_OK)
        status = s->options->each_pass ? check_passes(s, model, differs)
                                       : open_model(s, model, s->tool.config, &s->plain);
    if (status == POPRT_OK && !s->options->each_pass)
        status = check_sets(s, &s->plain, NULL, differs);
    poprt_model_release(model);
    return status;
}

/* Adds the name of the pass to the reason. */
static void name_pass(const case_state *s)
{
    char text[2048];
    if (s->pass == NULL)
        return;
    (void)snprintf(text, sizeof(text), "pass %s: %s", s->pass, s->why);
    (void)snprintf(s->why, s->size, "%s", text);
}

prt_verdict prt_case_run(const char *dir, const prt_case_options *options, char *why, size_t size)
{
    case_state s = { .options = options, .dir = dir, .why = why, .size = size };
    prt_verdict verdict = PRT_CASE_SKIPPED;
    bool differs = false;
    why[0] = '\0';
    poprt_status status = prt_tool_open(&s.tool, 1);
    s.tool.progress.enabled = false;
    if (options->each_pass) {
        s.tool.log_level = POPRT_LOG_OFF; /* not even the output of printing passes */
        s.tool.levels_are_given = false;
    }
    if (status != POPRT_OK || has_set(&s, 0)) {
        if (status == POPRT_OK)
            status = run_case(&s, &differs);
        if (status != POPRT_OK)
            prt_tool_describe_error(why, size);
        name_pass(&s);
        verdict = status == POPRT_OK && !differs ? PRT_CASE_PASSED : PRT_CASE_FAILED;
    }
    close_model(&s.plain);
    prt_files_release(&s.files);
    prt_tool_close(&s.tool);
    return verdict;
}
