/* SPDX-License-Identifier: MIT */
/* test_log.c — log lines: levels of modules, receivers, destinations, all changed while the
 * environment is in use. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "api_test.h"

typedef struct heard {
    int lines, at[16]; /* lines, and those of each level, from POPRT_LOG_OFF on */
    char text[8192];   /* "level module: text" in lines */
} heard;

static void hear(void *user, int32_t level, const char *module, const char *text)
{
    heard *h = user;
    const size_t used = strlen(h->text);
    h->lines++;
    h->at[level - POPRT_LOG_OFF]++;
    (void)snprintf(h->text + used, sizeof(h->text) - used, "%s %s: %s\n",
        poprt_log_level_name(level), module, text);
}

static void hear_plain(void *user, int32_t level, const char *text)
{
    (void)level;
    (void)text;
    ++*(int *)user;
}

static poprt_env *open_env(heard *h)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_env_set_log_callback(env, hear, h));
    return env;
}

static void run_digit(poprt_session *session)
{
    poprt_stepio *io = NULL;
    digit d;
    digit_init(&d, 3);
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "image", &d.in));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
}

START_TEST(levels_have_names)
{
    static const struct {
        const char *name;
        int32_t level;
    } rows[] = { { "OFF", POPRT_LOG_OFF }, { "critical", POPRT_LOG_CRITICAL },
        { "ERR", POPRT_LOG_ERROR }, { "Error", POPRT_LOG_ERROR }, { "warn", POPRT_LOG_WARNING },
        { "WARNING", POPRT_LOG_WARNING }, { "info", POPRT_LOG_INFO }, { "DEBUG", POPRT_LOG_DEBUG },
        { "trace", POPRT_LOG_TRACE } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int32_t level = 99;
        ck_assert_ok(poprt_log_level_of(rows[i].name, &level));
        ck_assert_int_eq(level, rows[i].level);
    }
    int32_t level = 99;
    ck_assert_fails(poprt_log_level_of("output", &level), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_log_level_of("warnings", &level), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_log_level_of("", &level), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(level, 99);
    ck_assert_str_eq(poprt_log_level_name(POPRT_LOG_OUTPUT), "output");
    ck_assert_str_eq(poprt_log_level_name(6), "?");
    ck_assert_str_eq(poprt_log_level_name(-3), "?");
}
END_TEST

START_TEST(each_module_has_a_level_of_its_own)
{
    heard h = { 0 };
    poprt_env *env = open_env(&h);
    int32_t level = 0;
    ck_assert_uint_eq(poprt_log_module_count(), 8);
    ck_assert_ptr_null(poprt_log_module_name(8));
    for (size_t i = 0; i < poprt_log_module_count(); i++) {
        ck_assert_ok(poprt_env_get_log_level(env, poprt_log_module_name(i), &level));
        ck_assert_int_eq(level, POPRT_LOG_WARNING);
    }
    poprt_executable *exec = compile_digits(env);
    ck_assert_int_eq(h.lines, 0);
    poprt_executable_release(exec);

    ck_assert_ok(poprt_env_set_log_level(env, "model", POPRT_LOG_DEBUG));
    ck_assert_ok(poprt_env_get_log_level(env, "compile", &level));
    ck_assert_int_eq(level, POPRT_LOG_WARNING);
    exec = compile_digits(env);
    ck_assert_ptr_nonnull(strstr(h.text, "debug model: read "));
    ck_assert_ptr_null(strstr(h.text, "compile:"));
    ck_assert_ptr_null(strstr(h.text, "trace"));
    poprt_executable_release(exec);

    memset(&h, 0, sizeof(h));
    ck_assert_ok(poprt_env_set_log_level(env, NULL, POPRT_LOG_TRACE));
    exec = compile_digits(env);
    poprt_session *session = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    run_digit(session);
    ck_assert_ptr_nonnull(strstr(h.text, "trace model: stage read begins"));
    ck_assert_ptr_nonnull(strstr(h.text, "debug compile: compiled "));
    ck_assert_ptr_nonnull(strstr(h.text, "debug pass: "));
    ck_assert_ptr_nonnull(strstr(h.text, "debug session: created for "));
    ck_assert_ptr_nonnull(strstr(h.text, "trace session: run of "));
    ck_assert_ptr_nonnull(strstr(h.text, "debug session: run of "));

    memset(&h, 0, sizeof(h));
    ck_assert_ok(poprt_env_set_log_level(env, NULL, POPRT_LOG_OFF));
    run_digit(session);
    ck_assert_int_eq(h.lines, 0);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
}
END_TEST

START_TEST(wrong_levels_and_modules_are_refused)
{
    poprt_env *env = NULL;
    int32_t level = 7;
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_fails(poprt_env_set_log_level(env, "sessions", POPRT_LOG_INFO), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_env_get_log_level(env, "", &level), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_env_set_log_level(env, NULL, POPRT_LOG_OUTPUT), POPRT_E_ARG);
    ck_assert_fails(poprt_env_set_log_level(env, NULL, 6), POPRT_E_ARG);
    ck_assert_fails(poprt_env_set_log_level(env, NULL, -3), POPRT_E_ARG);
    ck_assert_int_eq(level, 7);
    poprt_env_release(env);
}
END_TEST

START_TEST(a_callback_replaces_the_one_of_the_options)
{
    heard h = { 0 };
    int plain = 0;
    poprt_env *env = NULL;
    const poprt_env_options options = { .struct_size = sizeof(options),
        .log = hear_plain,
        .log_user = &plain,
        .log_level = POPRT_LOG_TRACE };
    ck_assert_ok(poprt_env_create(&options, &env));
    poprt_executable_release(compile_digits(env));
    ck_assert_int_gt(plain, 0);
    const int before = plain;
    ck_assert_ok(poprt_env_set_log_callback(env, hear, &h));
    poprt_executable_release(compile_digits(env));
    ck_assert_int_eq(plain, before);
    ck_assert_int_eq(h.lines, before);
    ck_assert_ok(poprt_env_set_log_callback(env, NULL, NULL));
    poprt_executable_release(compile_digits(env));
    ck_assert_int_eq(h.lines, before);
    poprt_env_release(env);
}
END_TEST

/* Reads a file, and removes it. */
static void read_away(const char *path, char *to, size_t size)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    to[fread(to, 1, size - 1, file)] = '\0';
    (void)fclose(file);
    (void)unlink(path);
}

/* Checks "2026-11-27T16:20:01.123Z debug model: read ...". */
static void check_line(const char *line)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ ";
    for (size_t i = 0; form[i] != '\0'; i++)
        ck_assert_msg(form[i] == 'd' ? line[i] >= '0' && line[i] <= '9' : line[i] == form[i], "%s",
            line);
    ck_assert_ptr_nonnull(strstr(line, "Z debug model: read "));
    ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
}

START_TEST(lines_go_to_a_file)
{
    char path[] = "/tmp/poprt-log-XXXXXX", text[8192];
    poprt_env *env = NULL;
    (void)close(mkstemp(path));
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_env_set_log_level(env, "model", POPRT_LOG_DEBUG));
    ck_assert_ok(poprt_env_set_log_destination(env, path));
    poprt_executable_release(compile_digits(env));
    /* A destination that cannot be opened leaves the earlier one. */
    ck_assert_fails(poprt_env_set_log_destination(env, "/nowhere/log"), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(poprt_last_error()->file, "/nowhere/log");
    poprt_model *model = NULL;
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    poprt_model_release(model);
    read_away(path, text, sizeof(text));
    char *second = strchr(text, '\n') + 1;
    check_line(second);
    *second = '\0';
    check_line(text);

    ck_assert_ok(poprt_env_set_log_destination(env, NULL));
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    poprt_model_release(model);
    ck_assert_int_eq(access(path, F_OK), -1);
    poprt_env_release(env);
}
END_TEST

/* Collects what a destination writes to a standard stream. */
static void capture(int stream, const char *destination, char *text, size_t size)
{
    char path[] = "/tmp/poprt-log-XXXXXX";
    poprt_env *env = NULL;
    const int file = mkstemp(path), saved = dup(stream);
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_env_set_log_level(env, "model", POPRT_LOG_DEBUG));
    ck_assert_ok(poprt_env_set_log_destination(env, destination));
    (void)dup2(file, stream);
    poprt_model *model = NULL;
    const poprt_status status = poprt_model_load_file(env, DIGITS, NULL, &model);
    (void)dup2(saved, stream);
    (void)close(saved);
    (void)close(file);
    ck_assert_int_eq(status, POPRT_OK);
    poprt_model_release(model);
    poprt_env_release(env);
    read_away(path, text, size);
}

START_TEST(lines_go_to_the_standard_streams)
{
    char text[4096];
    (void)fflush(stdout);
    capture(STDOUT_FILENO, "stdout", text, sizeof(text));
    check_line(text);
    capture(STDERR_FILENO, "stderr", text, sizeof(text));
    check_line(text);
}
END_TEST

/* A StepIO callback that fails as a broken invariant would. */
static poprt_status fail_in(void *user, const char *name, poprt_tensor *tensor)
{
    (void)name;
    (void)tensor;
    return *(const poprt_status *)user;
}

START_TEST(failures_that_no_call_returns_are_lines)
{
    heard h = { 0 };
    poprt_env *env = open_env(&h);
    poprt_executable *exec = compile_digits(env);
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_status wanted = POPRT_E_IO;
    const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
        .user = &wanted,
        .in = fail_in,
        .out = fail_in };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create_callbacks(session, &callbacks, &io));
    ck_assert_int_eq(poprt_session_run(session, io), POPRT_E_IO);
    ck_assert_int_eq(h.lines, 0);
    ck_assert_ok(poprt_session_submit(session, io, NULL, NULL));
    ck_assert_ok(poprt_session_drain(session));
    ck_assert_int_eq(h.lines, 1);
    ck_assert_ptr_nonnull(strstr(h.text, "error session: a submitted run failed: POPRT_E_IO"));
    wanted = POPRT_E_INTERNAL;
    ck_assert_int_eq(poprt_session_run(session, io), POPRT_E_INTERNAL);
    ck_assert_ptr_nonnull(strstr(h.text, "critical session: the session of "));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
}
END_TEST

static void *change_receivers(void *user)
{
    poprt_env *env = user;
    for (int i = 0; i < 200; i++) {
        (void)poprt_env_set_log_level(env, "session", i % 2 != 0 ? POPRT_LOG_TRACE : POPRT_LOG_OFF);
        (void)poprt_env_set_log_destination(env, i % 2 != 0 ? "/dev/null" : NULL);
    }
    return NULL;
}

START_TEST(receivers_change_during_runs)
{
    heard h = { 0 };
    poprt_env *env = open_env(&h);
    poprt_executable *exec = compile_digits(env);
    poprt_session *session = NULL;
    pthread_t thread;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_env_set_log_callback(env, NULL, NULL));
    ck_assert_int_eq(pthread_create(&thread, NULL, change_receivers, env), 0);
    for (int i = 0; i < 200; i++)
        run_digit(session);
    (void)pthread_join(thread, NULL);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/log", levels_have_names, each_module_has_a_level_of_its_own,
    wrong_levels_and_modules_are_refused, a_callback_replaces_the_one_of_the_options,
    lines_go_to_a_file, lines_go_to_the_standard_streams, failures_that_no_call_returns_are_lines,
    receivers_change_during_runs)
