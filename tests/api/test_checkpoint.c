/* SPDX-License-Identifier: MIT */
/*
 * test_checkpoint.c — checkpoints: resuming gives the same bits; a process may be killed at any
 * moment, and the disk may be full; files of others are refused. Models with the weights and states
 * of a session, from which training continues. Weights of the host.
 * Covers: checkpoint.c, export.c, weights.c, popef_emit.c.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lesson.h"

static char folder[] = "/tmp/poprt-checkpoint-XXXXXX";
static char path[64], model_path[64];

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/state.popef", folder);
    (void)snprintf(model_path, sizeof(model_path), "%s/model.onnx", folder);
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
}

static lesson *momentum(void)
{
    lesson *l = lesson_begin("sgd", 4);
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "momentum", 0.9f, 1));
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "weight_decay", 0.01f, 0));
    return l;
}

START_TEST(a_resumed_run_gives_the_same_bits)
{
    static const char *const kinds[] = { "sgd", "adam", "lamb", "adadelta" };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        make_folder();
        lesson *l = k == 0 ? momentum() : lesson_begin(kinds[k], 4);
        float w[2][IN * OUT], b[2][OUT];
        poprt_train_progress progress = { .struct_size = sizeof(progress) };
        poprt_session *whole = lesson_session(l), *first = lesson_session(l);
        lesson_run(l, whole, 6);
        lesson_run(l, first, 2);
        ck_assert_ok(poprt_session_save_checkpoint(first, path, 0));
        poprt_session_release(first);
        poprt_session *second = lesson_session(l);
        ck_assert_ok(poprt_session_load_checkpoint(second, path));
        ck_assert_ok(poprt_session_get_progress(second, &progress));
        ck_assert_uint_eq(progress.updates, 8);
        ck_assert_uint_eq(progress.micro_batches, 8);
        lesson_run(l, second, 4);
        lesson_weights(whole, w[0], b[0]);
        lesson_weights(second, w[1], b[1]);
        ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
        ck_assert_mem_eq(b[0], b[1], sizeof(b[0]));
        poprt_session_release(whole);
        poprt_session_release(second);
        lesson_end(l);
        remove_folder();
    }
}
END_TEST

static bool file_exists(const char *suffix)
{
    char name[96];
    (void)snprintf(name, sizeof(name), "%s%s", path, suffix);
    return access(name, R_OK) == 0;
}

START_TEST(older_files_are_kept)
{
    make_folder();
    lesson *l = momentum();
    poprt_session *s = lesson_session(l);
    for (int i = 0; i < 4; i++) {
        lesson_run(l, s, 1);
        ck_assert_ok(poprt_session_save_checkpoint(s, path, 2));
        ck_assert(file_exists(""));
        ck_assert(file_exists(".1") == (i > 0));
        ck_assert(file_exists(".2") == (i > 1));
        ck_assert(!file_exists(".3") && !file_exists(".0"));
    }
    char older[96];
    poprt_train_progress progress = { .struct_size = sizeof(progress) };
    (void)snprintf(older, sizeof(older), "%s.2", path);
    ck_assert_ok(poprt_session_load_checkpoint(s, older));
    ck_assert_ok(poprt_session_get_progress(s, &progress));
    ck_assert_uint_eq(progress.updates, 8);
    ck_assert_fails(poprt_session_save_checkpoint(s, path, -1), POPRT_E_ARG);
    poprt_session_release(s);
    lesson_end(l);
    remove_folder();
}
END_TEST

/* Trains for ever, with a checkpoint after each step. */
static void train_until_killed(lesson *l)
{
    poprt_session *s = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, s, 4);
    for (;;)
        if (poprt_session_run(s, io) != POPRT_OK ||
            poprt_session_save_checkpoint(s, path, 1) != POPRT_OK)
            _exit(1);
}

START_TEST(a_killed_process_leaves_a_whole_checkpoint)
{
    enum { KILLS = 200, MOST = 4000 };
    static float steps[MOST][IN * OUT];
    make_folder();
    lesson *l = momentum();
    poprt_session *whole = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, whole, 4);
    float b[OUT], w[IN * OUT];
    int known = 0, loads = 0;
    long least = 2000000L; /* nanoseconds before a kill; more where the machine is slow */
    lesson_weights(whole, steps[known++], b);
    for (int i = 0; i < KILLS; i++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            train_until_killed(l);
        const struct timespec wait = { .tv_nsec = least + (i * 7919L % 200) * (least / 100) };
        (void)nanosleep(&wait, NULL);
        (void)kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        if (!file_exists("")) {
            least = least < 200000000L ? 2 * least : least;
            continue;
        }
        poprt_train_progress progress = { .struct_size = sizeof(progress) };
        poprt_session *s = lesson_session(l);
        ck_assert_ok(poprt_session_load_checkpoint(s, path));
        ck_assert_ok(poprt_session_get_progress(s, &progress));
        const int at = (int)(progress.updates / 4);
        ck_assert_int_lt(at, MOST);
        for (; known <= at; known++) {
            ck_assert_ok(poprt_session_run(whole, io));
            lesson_weights(whole, steps[known], b);
        }
        lesson_weights(s, w, b);
        ck_assert_mem_eq(w, steps[at], sizeof(w));
        loads++;
        poprt_session_release(s);
    }
    ck_assert_int_gt(loads, KILLS / 4);
    poprt_stepio_release(io);
    poprt_session_release(whole);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(a_full_disk_leaves_the_last_checkpoint)
{
    make_folder();
    lesson *l = momentum();
    poprt_session *s = lesson_session(l);
    lesson_run(l, s, 1);
    ck_assert_ok(poprt_session_save_checkpoint(s, path, 1));
    lesson_run(l, s, 1);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t size = 0; size < 1000; size += 250) {
        struct rlimit before, limit;
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
        limit = before;
        limit.rlim_cur = size;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const poprt_status status = poprt_session_save_checkpoint(s, path, 1);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert_int_eq(status, POPRT_E_IO);
        poprt_session *again = lesson_session(l);
        poprt_train_progress progress = { .struct_size = sizeof(progress) };
        ck_assert_ok(poprt_session_load_checkpoint(again, path));
        ck_assert_ok(poprt_session_get_progress(again, &progress));
        ck_assert_uint_eq(progress.updates, 4);
        poprt_session_release(again);
    }
    ck_assert_ok(poprt_session_save_checkpoint(s, path, 1));
    poprt_session_release(s);
    lesson_end(l);
    remove_folder();
}
END_TEST

static void damage(long at, int with)
{
    FILE *f = fopen(path, "r+b");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    const int old = fgetc(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    (void)fputc(old ^ with, f);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(other_and_damaged_files_are_refused)
{
    make_folder();
    lesson *l = momentum(), *other = lesson_begin("adam", 1);
    poprt_session *s = lesson_session(l), *foreign = lesson_session(other);
    float w[2][IN * OUT], b[OUT];
    int refused = 0, tried = 0;
    lesson_run(l, s, 2);
    lesson_weights(s, w[0], b);
    ck_assert_ok(poprt_session_save_checkpoint(foreign, path, 0));
    ck_assert_fails(poprt_session_load_checkpoint(s, path), POPRT_E_ARG);
    ck_assert_fails(poprt_session_load_checkpoint(s, "/nowhere"), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_session_save_checkpoint(s, path, 0));
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    const long size = ftell(f);
    ck_assert_int_eq(fclose(f), 0);
    for (long at = 0; at < size; at += 13) {
        damage(at, 0x10);
        /* Only the minor version of a blob is not covered by a checksum. */
        refused += poprt_session_load_checkpoint(s, path) != POPRT_OK;
        tried++;
        damage(at, 0x10);
        lesson_weights(s, w[1], b);
        ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    }
    ck_assert_int_gt(refused, tried * 9 / 10);
    ck_assert_ok(poprt_session_load_checkpoint(s, path));
    poprt_session_release(s);
    poprt_session_release(foreign);
    lesson_end(l);
    lesson_end(other);
    remove_folder();
}
END_TEST

START_TEST(a_saved_model_continues_with_its_states)
{
    make_folder();
    lesson *l = momentum();
    poprt_model *saved = NULL;
    poprt_executable *exec = NULL;
    poprt_session *whole = lesson_session(l), *second = NULL;
    float w[2][IN * OUT], b[2][OUT];
    lesson_run(l, whole, 3);
    ck_assert_ok(poprt_session_save_model(whole, l->model, model_path));
    ck_assert_ok(poprt_model_load_file(l->env, model_path, NULL, &saved));
    ck_assert_ok(lesson_compile(l, saved, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &second));
    lesson_run(l, whole, 3);
    lesson_run(l, second, 3);
    lesson_weights(whole, w[0], b[0]);
    lesson_weights(second, w[1], b[1]);
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    ck_assert_mem_eq(b[0], b[1], sizeof(b[0]));
    /* The states belong to this optimizer. */
    poprt_optimizer *adam = NULL;
    poprt_executable *none = NULL;
    ck_assert_ok(poprt_optimizer_create(l->env, "adam", &adam));
    const poprt_training t = { .struct_size = sizeof(t), .loss = "loss", .optimizer = adam };
    ck_assert_fails(poprt_compile_training(saved, &t, NULL, &none), POPRT_E_ARG);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "state of another optimizer"));
    poprt_optimizer_release(adam);
    poprt_session_release(second);
    poprt_executable_release(exec);
    poprt_model_release(saved);
    poprt_session_release(whole);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(weights_go_to_the_host_and_back)
{
    lesson *l = momentum();
    poprt_session *s = lesson_session(l), *other = lesson_session(l);
    poprt_weights *weights = NULL;
    poprt_tensor tensor;
    float w[2][IN * OUT], b[2][OUT];
    lesson_run(l, s, 2);
    ck_assert_ok(poprt_weights_create(s, &weights));
    ck_assert_uint_eq(poprt_weights_count(weights), 4); /* w, b and their velocities */
    ck_assert_ok(poprt_weights_find(weights, "Accl___w", &tensor));
    ck_assert_uint_eq(tensor.size, sizeof(w[0]));
    ck_assert_fails(poprt_weights_find(weights, "v", &tensor), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_session_weights_from_host(other, weights));
    lesson_run(l, s, 1);
    lesson_run(l, other, 1);
    lesson_weights(s, w[0], b[0]);
    lesson_weights(other, w[1], b[1]);
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    ck_assert_mem_eq(b[0], b[1], sizeof(b[0]));
    ck_assert_ok(poprt_weights_load_model(weights, l->model, 0));
    ck_assert_ok(poprt_session_weights_from_host(other, weights));
    lesson_weights(other, w[1], b[1]);
    ck_assert(w[1][0] == 0.5f && b[1][1] == -0.2f);
    poprt_weights_release(weights);
    poprt_session_release(s);
    poprt_session_release(other);
    lesson_end(l);
}
END_TEST

PRT_TEST_MAIN("api/checkpoint", a_resumed_run_gives_the_same_bits, older_files_are_kept,
    a_killed_process_leaves_a_whole_checkpoint, a_full_disk_leaves_the_last_checkpoint,
    other_and_damaged_files_are_refused, a_saved_model_continues_with_its_states,
    weights_go_to_the_host_and_back)
