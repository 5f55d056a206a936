/* SPDX-License-Identifier: MIT */
/*
 * test_save_executable.c — poprt_session_save_executable: executables with the variables of a
 * session, without variables, and without metadata. Covers: save.c, derive.c, checkpoint.c.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "lesson.h"

enum { BOTH = POPRT_SAVE_METADATA | POPRT_SAVE_VARIABLES };

static char folder[64];
static char path[256];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/poprt-save-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static buffer read_file(const char *name)
{
    buffer b = { NULL, 0 };
    char part[4096];
    FILE *file = fopen(in_folder(name), "rb");
    ck_assert_ptr_nonnull(file);
    for (size_t n; (n = fread(part, 1, sizeof(part), file)) != 0;)
        ck_assert_int_eq(buffer_write(&b, part, n), 0);
    (void)fclose(file);
    return b;
}

static poprt_session *open_session(lesson *l, const char *name)
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_executable_load_file(l->env, in_folder(name), NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_executable_release(exec);
    return session;
}

/* Runs two more steps with both sessions, and compares the bits of their weights. */
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

START_TEST(an_unchanged_session_writes_its_executable)
{
    lesson *l = lesson_begin("adam", 4);
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    make_folder();
    ck_assert_ok(lesson_compile(l, l->model, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_executable_save_file(exec, in_folder("a.popef")));
    ck_assert_ok(poprt_session_save_executable(session, folder, BOTH));
    buffer a = read_file("a.popef"), b = read_file("executable.popef");
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.data, b.data, a.size);
    free(a.data);
    free(b.data);
    poprt_session_release(session);
    poprt_executable_release(exec);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(a_file_has_the_present_variables)
{
    static const char *const kinds[] = { "sgd", "adam", "lamb", "rmsprop" };
    make_folder();
    for (size_t i = 0; i < 4; i++) {
        lesson *l = lesson_begin(kinds[i], 4);
        if (i == 0)
            ck_assert_ok(poprt_optimizer_set(l->optimizer, "defaultMomentum", 0.9f, 0));
        poprt_session *first = lesson_session(l);
        lesson_run(l, first, 3);
        ck_assert_ok(poprt_session_save_executable(first, in_folder("new/"), BOTH));
        poprt_session *second = open_session(l, "new/");
        /* The states are there too: otherwise the next steps would differ. */
        check_same(l, first, second);
        ck_assert_ok(poprt_session_save_executable(second, in_folder("b.popef"), BOTH));
        poprt_session *third = open_session(l, "b.popef");
        check_same(l, second, third);
        poprt_session_release(third);
        poprt_session_release(second);
        poprt_session_release(first);
        lesson_end(l);
    }
    remove_folder();
}
END_TEST

/* Checks that a session without contents refuses calls that read them, and names `variable`. */
static void check_lacks(lesson *l, poprt_session *session, const char *variable)
{
    poprt_weights *copy = NULL;
    poprt_model *model = NULL;
    float w[IN * OUT];
    poprt_tensor tensor = { .data = w, .size = sizeof(w) };
    poprt_stepio *io = lesson_bind(l, session, 4);
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_STATE);
    ck_assert_str_eq(poprt_last_error()->subject, variable);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "saved without variables"));
    ck_assert_fails(poprt_session_read_weight(session, variable, &tensor), POPRT_E_STATE);
    ck_assert_fails(poprt_session_save_variables(session, folder), POPRT_E_STATE);
    ck_assert_fails(poprt_session_save_checkpoint(session, in_folder("c"), 0), POPRT_E_STATE);
    ck_assert_fails(poprt_session_save_executable(session, in_folder("d"), BOTH), POPRT_E_STATE);
    ck_assert_fails(poprt_weights_create(session, &copy), POPRT_E_STATE);
    ck_assert_fails(poprt_session_export_model(session, l->model, 0, &model), POPRT_E_STATE);
    poprt_stepio_release(io);
}

START_TEST(a_file_without_variables_needs_them)
{
    lesson *l = lesson_begin("adam", 4);
    poprt_session *first = lesson_session(l), *fresh = lesson_session(l);
    float w[IN * OUT], b[OUT];
    const int64_t dims[2][2] = { { IN, OUT }, { OUT, 0 } };
    make_folder();
    lesson_run(l, first, 3);
    ck_assert_ok(poprt_session_save_variables(first, folder));
    ck_assert_ok(poprt_session_save_checkpoint(first, in_folder("checkpoint"), 0));
    ck_assert_ok(poprt_session_save_executable(first, folder, POPRT_SAVE_METADATA));

    poprt_session *from_file = open_session(l, "");
    check_lacks(l, from_file, "w");
    ck_assert_ok(poprt_session_load_variables(from_file, folder));
    poprt_session *from_checkpoint = open_session(l, "");
    ck_assert_ok(poprt_session_load_checkpoint(from_checkpoint, in_folder("checkpoint")));
    check_same(l, from_file, from_checkpoint);
    lesson_run(l, first, 2);
    check_same(l, first, from_file);

    poprt_session *from_model = open_session(l, "");
    ck_assert_ok(poprt_session_reset_weights(from_model, l->model, 0));
    check_same(l, from_model, fresh);

    poprt_session *by_hand = open_session(l, "");
    lesson_weights(first, w, b);
    const poprt_tensor weights[] = { { w, sizeof(w), dims[0], 2, POPRT_DTYPE_FLOAT32 },
        { b, sizeof(b), dims[1], 1, POPRT_DTYPE_FLOAT32 } };
    ck_assert_ok(poprt_session_write_weight(by_hand, "w", &weights[0]));
    check_lacks(l, by_hand, "b");
    ck_assert_ok(poprt_session_write_weight(by_hand, "b", &weights[1]));
    lesson_run(l, by_hand, 1);

    poprt_session_release(by_hand);
    poprt_session_release(from_model);
    poprt_session_release(from_checkpoint);
    poprt_session_release(from_file);
    poprt_session_release(fresh);
    poprt_session_release(first);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(contents_stay_away_until_they_are_set)
{
    lesson *l = lesson_begin("sgd", 4);
    poprt_session *first = lesson_session(l);
    poprt_executable *exec = NULL;
    make_folder();
    ck_assert_ok(poprt_session_save_executable(first, folder, POPRT_SAVE_METADATA));
    /* The executable itself, and a session without contents, are written as they are. */
    ck_assert_ok(poprt_executable_load_file(l->env, folder, NULL, &exec));
    ck_assert_ok(poprt_executable_save_file(exec, in_folder("again.popef")));
    poprt_session *second = open_session(l, "again.popef");
    check_lacks(l, second, "w");
    ck_assert_ok(poprt_session_save_executable(second, in_folder("b.popef"), POPRT_SAVE_METADATA));
    buffer a = read_file("executable.popef"), b = read_file("b.popef");
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.data, b.data, a.size);
    free(b.data);
    /* With the contents of the model, the file is that of the compiler. */
    ck_assert_ok(poprt_session_reset_weights(second, l->model, 0));
    ck_assert_ok(poprt_session_save_executable(second, in_folder("c.popef"), BOTH));
    ck_assert_ok(poprt_session_save_executable(first, in_folder("d.popef"), BOTH));
    buffer c = read_file("c.popef"), d = read_file("d.popef");
    ck_assert_uint_lt(a.size, c.size);
    ck_assert_uint_eq(c.size, d.size);
    ck_assert_mem_eq(c.data, d.data, c.size);
    free(a.data);
    free(c.data);
    free(d.data);
    poprt_session_release(second);
    poprt_executable_release(exec);
    poprt_session_release(first);
    lesson_end(l);
    remove_folder();
}
END_TEST

static buffer steps_of(lesson *l, const char *name)
{
    poprt_executable *exec = NULL;
    buffer b = { NULL, 0 };
    ck_assert_ok(poprt_executable_load_file(l->env, in_folder(name), NULL, &exec));
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_STEPS, buffer_write, &b));
    poprt_executable_release(exec);
    return b;
}

START_TEST(metadata_is_optional)
{
    lesson *l = lesson_begin("adam", 4);
    poprt_executable *exec = NULL;
    poprt_model_info info = { .struct_size = sizeof(info) };
    make_folder();
    poprt_session *first = lesson_session(l);
    lesson_run(l, first, 1);
    ck_assert_ok(poprt_session_save_executable(first, in_folder("bare"), POPRT_SAVE_VARIABLES));
    ck_assert_ok(poprt_session_save_executable(first, in_folder("all"), BOTH));
    buffer bare = steps_of(l, "bare"), all = steps_of(l, "all");
    ck_assert_uint_lt(bare.size, all.size);
    free(bare.data);
    free(all.data);
    ck_assert_ok(poprt_executable_load_file(l->env, in_folder("bare"), NULL, &exec));
    ck_assert_ok(poprt_executable_get_info(exec, &info));
    ck_assert_int_eq(info.ir_version, 0);
    poprt_executable_release(exec);
    poprt_session *second = open_session(l, "bare");
    check_same(l, first, second);
    poprt_session_release(second);
    poprt_session_release(first);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(programs_keep_their_names_without_metadata)
{
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL, *again = NULL;
    poprt_session *session = NULL;
    make_folder();
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_model_load_bytes(env, linear_model, sizeof(linear_model), NULL, &model));
    const poprt_named_model programs[] = { { "first", model }, { "second", model } };
    ck_assert_ok(poprt_compile_programs(programs, 2, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_session_save_executable(session, folder, 0));
    ck_assert_ok(poprt_executable_load_file(env, folder, NULL, &again));
    ck_assert_uint_eq(poprt_executable_program_count(again), 2);
    ck_assert_str_eq(poprt_executable_program_at(again, 1), "second");
    poprt_session_release(session);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

START_TEST(constant_weights_are_always_written)
{
    poprt_env *env = NULL;
    float scores[2][10];
    make_folder();
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable *exec = compile_digits(env), *again = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_fails(poprt_session_save_executable(session, folder, 4), POPRT_E_ARG);
    ck_assert_ok(poprt_session_save_executable(session, folder, 0));
    ck_assert_ok(poprt_executable_load_file(env, folder, NULL, &again));
    digit_expect(exec, 3, scores[0]);
    digit_expect(again, 3, scores[1]);
    ck_assert_mem_eq(scores[0], scores[1], sizeof(scores[0]));
    poprt_session_release(session);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

PRT_TEST_MAIN("api/save_executable", an_unchanged_session_writes_its_executable,
    a_file_has_the_present_variables, a_file_without_variables_needs_them,
    contents_stay_away_until_they_are_set, metadata_is_optional,
    programs_keep_their_names_without_metadata, constant_weights_are_always_written)
