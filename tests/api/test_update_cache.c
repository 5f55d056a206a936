/* SPDX-License-Identifier: MIT */
/*
 * test_update_cache.c — variables in the cache of executables: poprt_session_update_cache and the
 * option enable_variables_caching. Covers: compile_cache.c.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lesson.h"

static char folder[64];
static char said[4096];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/poprt-update-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void note_line(void *user, int32_t level, const char *text)
{
    (void)user;
    (void)level;
    (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

/* Begins a lesson that compiles with the cache, and whose log lines go to `said`. */
static lesson *begin(const char *kind, const char *variables)
{
    lesson *l = lesson_begin(kind, 4);
    poprt_env_options options = { .struct_size = sizeof(options),
        .log = note_line,
        .log_level = POPRT_LOG_INFO };
    poprt_config_release(l->config);
    poprt_model_release(l->model);
    poprt_env_release(l->env);
    ck_assert_ok(poprt_env_create(&options, &l->env));
    ck_assert_ok(
        poprt_model_load_bytes(l->env, linear_model, sizeof(linear_model), NULL, &l->model));
    ck_assert_ok(poprt_config_create(l->env, &l->config));
    ck_assert_ok(poprt_config_set(l->config, "enable_engine_caching", "true"));
    ck_assert_ok(poprt_config_set(l->config, "cache_path", folder));
    ck_assert_ok(poprt_config_set(l->config, "enableVariablesCaching", variables));
    return l;
}

static poprt_session *open_session(lesson *l, const char *part)
{
    said[0] = '\0';
    poprt_session *session = lesson_session(l);
    ck_assert_msg(strstr(said, part) != NULL, "no '%s' in '%s'", part, said);
    return session;
}

/* Returns the bytes of the only entry. */
static size_t entry_size(void)
{
    char path[512];
    struct stat info = { .st_size = 0 };
    DIR *dir = opendir(folder);
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.') {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
            ck_assert_int_eq(stat(path, &info), 0);
            n++;
        }
    (void)closedir(dir);
    ck_assert_int_eq(n, 1);
    return (size_t)info.st_size;
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static void check_same(lesson *l, poprt_session *a, poprt_session *b)
{
    float w[2][IN * OUT], bias[2][OUT];
    for (int i = 0; i < 2; i++) {
        lesson_run(l, i == 0 ? a : b, 2);
        lesson_weights(i == 0 ? a : b, w[i], bias[i]);
    }
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    ck_assert_mem_eq(bias[0], bias[1], sizeof(bias[0]));
}

START_TEST(the_entry_has_the_variables_of_the_session)
{
    make_folder();
    lesson *l = begin("adam", "true"), *plain = lesson_begin("adam", 4);
    poprt_session *first = open_session(l, "kept: ");
    lesson_run(l, first, 3);
    /* Only a call writes variables. */
    poprt_session *second = open_session(l, "compiled before: "), *other = lesson_session(plain);
    check_same(l, second, other);
    ck_assert_ok(poprt_session_update_cache(first));
    poprt_session *third = open_session(l, "compiled before: ");
    check_same(l, first, third);
    /* A session of a hit updates the entry too. */
    ck_assert_ok(poprt_session_update_cache(third));
    poprt_session *fourth = open_session(l, "compiled before: ");
    check_same(l, third, fourth);
    poprt_session_release(fourth);
    poprt_session_release(third);
    poprt_session_release(other);
    poprt_session_release(second);
    poprt_session_release(first);
    lesson_end(plain);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(weights_of_inference_are_kept_too)
{
    poprt_executable *exec[2] = { NULL, NULL };
    poprt_session *session[2] = { NULL, NULL };
    float w[2][IN * OUT], b[2][OUT];
    const int64_t dims[] = { OUT };
    const float bias[OUT] = { 3.0f, -4.0f };
    const poprt_tensor in = { (void *)(uintptr_t)bias, sizeof(bias), dims, 1, POPRT_DTYPE_FLOAT32 };
    make_folder();
    lesson *l = begin("sgd", "true");
    ck_assert_ok(poprt_config_set(l->config, "constant_weights", "false"));
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(poprt_compile(l->model, l->config, &exec[i]));
        ck_assert_ok(poprt_session_create(exec[i], l->config, &session[i]));
        if (i == 0) {
            ck_assert_ok(poprt_session_write_weight(session[0], "b", &in));
            ck_assert_ok(poprt_session_update_cache(session[0]));
        }
        lesson_weights(session[i], w[i], b[i]);
    }
    ck_assert_mem_eq(b[0], bias, sizeof(bias));
    ck_assert_mem_eq(b[1], bias, sizeof(bias));
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    for (int i = 0; i < 2; i++) {
        poprt_session_release(session[i]);
        poprt_executable_release(exec[i]);
    }
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(an_entry_without_variables_takes_them_from_the_model)
{
    make_folder();
    lesson *l = begin("adam", "true");
    poprt_session_release(open_session(l, "kept: "));
    const size_t with = entry_size();
    lesson_end(l);
    remove_folder();
    make_folder();
    l = begin("adam", "false");
    poprt_session *first = open_session(l, "kept: ");
    ck_assert_uint_lt(entry_size(), with);
    poprt_session *second = open_session(l, "compiled before: ");
    check_same(l, first, second);
    ck_assert_fails(poprt_session_update_cache(first), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->subject, "enable_variables_caching");
    poprt_session_release(second);
    poprt_session_release(first);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(the_bytes_of_a_hit_are_those_of_the_compiler)
{
    poprt_executable *exec[3] = { NULL, NULL, NULL };
    buffer bytes[3] = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
    make_folder();
    lesson *l = begin("sgd", "false"), *plain = lesson_begin("sgd", 4);
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(lesson_compile(i < 2 ? l : plain, i < 2 ? l->model : plain->model, &exec[i]));
        ck_assert_ok(poprt_executable_save(exec[i], buffer_write, &bytes[i]));
        ck_assert_uint_eq(bytes[i].size, bytes[0].size);
        ck_assert_mem_eq(bytes[i].data, bytes[0].data, bytes[0].size);
    }
    for (int i = 0; i < 3; i++) {
        free(bytes[i].data);
        poprt_executable_release(exec[i]);
    }
    lesson_end(plain);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(an_executable_without_an_entry_is_refused)
{
    lesson *l = lesson_begin("sgd", 4);
    poprt_session *session = lesson_session(l);
    ck_assert_fails(poprt_session_update_cache(session), POPRT_E_STATE);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "enable_engine_caching"));
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

/* Writes an entry again and again, each time with one number in all elements of a weight. */
static void write_entries(void)
{
    lesson *l = begin("sgd", "true");
    poprt_session *session = lesson_session(l);
    const int64_t dims[] = { IN, OUT };
    for (int n = 1;; n++) {
        float w[IN * OUT];
        for (int i = 0; i < IN * OUT; i++)
            w[i] = (float)n;
        const poprt_tensor in = { w, sizeof(w), dims, 2, POPRT_DTYPE_FLOAT32 };
        if (poprt_session_write_weight(session, "w", &in) != POPRT_OK ||
            poprt_session_update_cache(session) != POPRT_OK)
            _exit(1);
    }
}

START_TEST(a_killed_writer_leaves_a_whole_entry)
{
    enum { ROUNDS = 12, PAUSE_NS = 17 * 1000 * 1000 };
    float model[IN * OUT], model_b[OUT], largest = 0.0f;
    make_folder();
    lesson *l = begin("sgd", "true");
    poprt_session *start = open_session(l, "kept: ");
    lesson_weights(start, model, model_b);
    poprt_session_release(start);
    for (int round = 0; round < ROUNDS; round++) {
        const struct timespec pause = { 0, PAUSE_NS + round * 1234567 };
        float w[IN * OUT], b[OUT];
        int status = 0;
        const pid_t child = fork();
        if (child == 0)
            write_entries();
        (void)nanosleep(&pause, NULL);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        poprt_session *session = open_session(l, "compiled before: ");
        lesson_weights(session, w, b);
        for (int i = 1; memcmp(w, model, sizeof(w)) != 0 && i < IN * OUT; i++)
            ck_assert_float_eq(w[i], w[0]);
        largest = w[0] > largest ? w[0] : largest;
        poprt_session_release(session);
    }
    ck_assert_float_ge(largest, 1.0f); /* entries were written */
    lesson_end(l);
    remove_folder();
}
END_TEST

PRT_TEST_MAIN("api/update_cache", the_entry_has_the_variables_of_the_session,
    weights_of_inference_are_kept_too, an_entry_without_variables_takes_them_from_the_model,
    the_bytes_of_a_hit_are_those_of_the_compiler, an_executable_without_an_entry_is_refused,
    a_killed_writer_leaves_a_whole_entry)
