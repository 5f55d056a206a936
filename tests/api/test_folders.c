/* SPDX-License-Identifier: MIT */
/*
 * test_folders.c — executables and variables in folders, and files of variables alone. Covers:
 * target.c, checkpoint.c, executable.c.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "lesson.h"

static char folder[] = "/tmp/poprt-folders-XXXXXX";
static char path[256];

static const char *in_folder(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static bool exists(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static int warnings;

static void note(void *user, int32_t level, const char *text)
{
    (void)user;
    if (level == POPRT_LOG_WARNING && strstr(text, "created the folder of ") != NULL)
        warnings++;
}

START_TEST(a_folder_has_an_executable)
{
    poprt_env *env = NULL;
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.log = note;
    options.log_level = POPRT_LOG_WARNING;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ok(poprt_env_create(&options, &env));
    poprt_executable *exec = compile_digits(env), *again = NULL;
    float scores[2][10];
    ck_assert_ok(poprt_executable_save_file(exec, folder));
    ck_assert(exists("executable.popef"));
    ck_assert_int_eq(warnings, 0);
    ck_assert_ok(poprt_executable_load_file(env, folder, NULL, &again));
    digit_expect(exec, 3, scores[0]);
    digit_expect(again, 3, scores[1]);
    ck_assert_mem_eq(scores[0], scores[1], sizeof(scores[0]));
    ck_assert_ok(poprt_executable_save_file(exec, in_folder("new/one/")));
    ck_assert(exists("new/one/executable.popef"));
    ck_assert_int_eq(warnings, 1);
    ck_assert_ok(poprt_executable_save_file(exec, in_folder("new/")));
    ck_assert(exists("new/executable.popef"));
    ck_assert_int_eq(warnings, 1);
    /* Only a slash at the end makes folders. */
    ck_assert_fails(poprt_executable_save_file(exec, in_folder("a/mine.popef")), POPRT_E_NOT_FOUND);
    ck_assert(!exists("a"));
    /* A file is no folder. */
    ck_assert_fails(poprt_executable_save_file(exec, in_folder("executable.popef/x")),
        POPRT_E_NOT_FOUND);
    poprt_executable_release(again);
    again = NULL;
    ck_assert_fails(poprt_executable_load_file(env, in_folder("missing/"), NULL, &again),
        POPRT_E_NOT_FOUND);
    ck_assert(!exists("missing"));
    poprt_executable_release(exec);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

START_TEST(variables_are_saved_alone)
{
    lesson *l = lesson_begin("adam", 4);
    poprt_session *first = lesson_session(l), *second = lesson_session(l);
    float w[2][IN * OUT], b[2][OUT];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    lesson_run(l, first, 3);
    ck_assert_ok(poprt_session_save_variables(first, folder));
    ck_assert(exists("variables.popef"));
    ck_assert_ok(poprt_session_load_variables(second, folder));
    /* Weights and states are there: both go on with the same bits. */
    for (int i = 0; i < 2; i++) {
        poprt_session *session = i == 0 ? first : second;
        lesson_run(l, session, 2);
        lesson_weights(session, w[i], b[i]);
    }
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    ck_assert_mem_eq(b[0], b[1], sizeof(b[0]));
    poprt_session_release(second);
    poprt_session_release(first);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(other_files_are_refused)
{
    lesson *l = lesson_begin("adam", 4), *plain = lesson_begin("sgd", 4);
    poprt_session *adam = lesson_session(l), *sgd = lesson_session(plain), *inference = NULL;
    poprt_executable *exec = NULL;
    float w[2][IN * OUT], b[2][OUT];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    lesson_run(l, adam, 1);
    ck_assert_ok(poprt_session_save_variables(adam, folder));
    lesson_weights(sgd, w[0], b[0]);
    /* The states of Adam are not tensors of SGD; nothing changes. */
    ck_assert_fails(poprt_session_load_variables(sgd, folder), POPRT_E_NOT_FOUND);
    lesson_weights(sgd, w[1], b[1]);
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    /* The other way round the states stay. */
    ck_assert_ok(poprt_session_save_variables(sgd, in_folder("sgd.popef")));
    ck_assert_ok(poprt_session_load_variables(adam, in_folder("sgd.popef")));
    lesson_weights(adam, w[1], b[1]);
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    FILE *file = fopen(in_folder("sgd.popef"), "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, -9, SEEK_END), 0);
    ck_assert_int_eq(fputc(0x55, file), 0x55);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_fails(poprt_session_load_variables(adam, in_folder("sgd.popef")), POPRT_E_PARSE);
    ck_assert_ok(poprt_compile(l->model, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &inference));
    ck_assert_fails(poprt_session_save_variables(inference, folder), POPRT_E_STATE);
    poprt_session_release(inference);
    poprt_executable_release(exec);
    poprt_session_release(adam);
    poprt_session_release(sgd);
    lesson_end(l);
    lesson_end(plain);
    remove_folder();
}
END_TEST

PRT_TEST_MAIN("api/folders", a_folder_has_an_executable, variables_are_saved_alone,
    other_files_are_refused)
