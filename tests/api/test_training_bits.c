/* SPDX-License-Identifier: MIT */
/*
 * test_training_bits.c — what a trained weight depends on: not on the number of threads, on other
 * work of the machine, on whether the program was compiled or read from PopEF, or on a checkpoint
 * from which a new process goes on; but on the seed, where the model has Dropout.
 * Covers: training.c, train_session.c, checkpoint.c, update.c.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_test.h"

#include "poprt/train.h"

enum { STEPS = 20, MOST_INPUTS = 2 };

typedef struct network {
    const char *name, *optimizer;
    bool has_dropout;
} network;

static const network networks[] = {
    { "mlp", "sgd", false },
    { "cnn", "adam", true },
    { "transformer", "adamw", true },
};

static char folder[] = "/tmp/poprt-training-bits-XXXXXX";
static char popef[64], checkpoint[64];

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(popef, sizeof(popef), "%s/program.popef", folder);
    (void)snprintf(checkpoint, sizeof(checkpoint), "%s/state.popef", folder);
}

static void remove_folder(void)
{
    (void)unlink(popef);
    (void)unlink(checkpoint);
    ck_assert_int_eq(rmdir(folder), 0);
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
}

/* A session and its environment. */
typedef struct trainee {
    poprt_env *env;
    poprt_executable *exec;
    poprt_session *session;
} trainee;

static poprt_env *create_env(uint32_t threads)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    options.threads = threads;
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

static void create_session(trainee *t, const char *seed)
{
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(t->env, &config));
    ck_assert_ok(poprt_config_set(config, "seed", seed));
    ck_assert_ok(poprt_session_create(t->exec, config, &t->session));
    poprt_config_release(config);
}

static trainee compile(const network *n, uint32_t threads, const char *seed)
{
    trainee t = { .env = create_env(threads) };
    poprt_model *model = NULL;
    poprt_optimizer *optimizer = NULL;
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/training/%s.onnx", PRT_TEST_DATA, n->name);
    ck_assert_ok(poprt_model_load_file(t.env, path, NULL, &model));
    ck_assert_ok(poprt_optimizer_create(t.env, n->optimizer, &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "learning_rate", 0.01f, 1));
    ck_assert_ok(poprt_optimizer_set(optimizer, "weight_decay", 0.01f, 1));
    if (strcmp(n->optimizer, "sgd") == 0)
        ck_assert_ok(poprt_optimizer_set(optimizer, "momentum", 0.9f, 1));
    ck_assert_ok(poprt_optimizer_clip(optimizer, 0, NULL, 1.0f));
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss",
        .optimizer = optimizer };
    ck_assert_ok(poprt_compile_training(model, &training, NULL, &t.exec));
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    create_session(&t, seed);
    return t;
}

static trainee load(uint32_t threads)
{
    trainee t = { .env = create_env(threads) };
    ck_assert_ok(poprt_executable_load_file(t.env, popef, NULL, &t.exec));
    create_session(&t, "0");
    return t;
}

static void end(trainee *t)
{
    poprt_session_release(t->session);
    poprt_executable_release(t->exec);
    poprt_env_release(t->env);
}

/* Fills an input with random numbers, which depend on the step and the input alone. */
static void *fill(const poprt_io_info *info, uint32_t seed, poprt_tensor *out)
{
    size_t count = 1;
    for (int32_t d = 0; d < info->rank; d++)
        count *= (size_t)info->dims[d];
    const size_t size = info->dtype == POPRT_DTYPE_INT64 ? 8 : 4;
    void *data = malloc(count * size);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        if (info->dtype == POPRT_DTYPE_INT64)
            ((int64_t *)data)[i] = (int64_t)(seed >> 16) % 10;
        else
            ((float *)data)[i] = (float)(seed >> 16) / 32768.0f - 1.0f;
    }
    *out = (poprt_tensor){ data, count * size, info->dims, (uint32_t)info->rank, info->dtype };
    return data;
}

static void train(trainee *t, int first, int last)
{
    const size_t n = poprt_executable_io_count(t->exec, POPRT_INPUT);
    ck_assert_uint_le(n, MOST_INPUTS);
    for (int step = first; step < last; step++) {
        void *data[MOST_INPUTS];
        poprt_stepio *io = NULL;
        ck_assert_ok(poprt_stepio_create(t->session, &io));
        for (size_t i = 0; i < n; i++) {
            poprt_io_info info = { .struct_size = sizeof(info) };
            poprt_tensor tensor;
            ck_assert_ok(poprt_executable_io_at(t->exec, POPRT_INPUT, i, &info));
            data[i] = fill(&info, (uint32_t)(step * MOST_INPUTS) + (uint32_t)i + 1, &tensor);
            ck_assert_ok(poprt_stepio_bind_at(io, i, &tensor));
        }
        ck_assert_ok(poprt_session_run(t->session, io));
        poprt_stepio_release(io);
        for (size_t i = 0; i < n; i++)
            free(data[i]);
    }
}

/* Returns the FNV-1a hash of all weights, statistics and states. */
static uint64_t hash(const trainee *t)
{
    uint64_t h = 14695981039346656037u;
    poprt_weights *weights = NULL;
    ck_assert_ok(poprt_weights_create(t->session, &weights));
    for (size_t i = 0; i < poprt_weights_count(weights); i++) {
        const char *name;
        poprt_tensor tensor;
        ck_assert_ok(poprt_weights_at(weights, i, &name, &tensor));
        const unsigned char *bytes = tensor.data;
        for (size_t k = 0; k < tensor.size; k++)
            h = (h ^ bytes[k]) * 1099511628211u;
    }
    poprt_weights_release(weights);
    return h;
}

static uint64_t train_all(const network *n, uint32_t threads, const char *seed)
{
    trainee t = compile(n, threads, seed);
    const uint64_t before = hash(&t);
    train(&t, 0, STEPS);
    const uint64_t after = hash(&t);
    ck_assert_uint_ne(before, after);
    end(&t);
    return after;
}

START_TEST(the_number_of_threads_changes_no_bit)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        const uint64_t one = train_all(&networks[i], 1, "0");
        ck_assert_msg(train_all(&networks[i], 2, "0") == one, "%s: 2", networks[i].name);
        ck_assert_msg(train_all(&networks[i], 3, "0") == one, "%s: 3", networks[i].name);
    }
}
END_TEST

START_TEST(the_seed_changes_dropout_alone)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        const bool differs = train_all(&networks[i], 2, "0") != train_all(&networks[i], 2, "5");
        ck_assert_msg(differs == networks[i].has_dropout, "%s", networks[i].name);
    }
}
END_TEST

static _Atomic bool is_busy;

static void *spin(void *arg)
{
    (void)arg;
    for (volatile uint32_t i = 0; atomic_load(&is_busy); i++)
        ;
    return NULL;
}

START_TEST(a_busy_machine_changes_no_bit)
{
    pthread_t spinning[4];
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        const uint64_t idle = train_all(&networks[i], 2, "0");
        atomic_store(&is_busy, true);
        for (int k = 0; k < 4; k++)
            ck_assert_int_eq(pthread_create(&spinning[k], NULL, spin, NULL), 0);
        const uint64_t busy = train_all(&networks[i], 3, "0");
        atomic_store(&is_busy, false);
        for (int k = 0; k < 4; k++)
            ck_assert_int_eq(pthread_join(spinning[k], NULL), 0);
        ck_assert_msg(idle == busy, "%s", networks[i].name);
    }
}
END_TEST

/* Trains the second half in a process of its own and returns the hash. */
static uint64_t resume(uint32_t threads)
{
    int ends[2], status;
    uint64_t result = 0;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        trainee t = load(threads);
        ck_assert_ok(poprt_session_load_checkpoint(t.session, checkpoint));
        train(&t, STEPS / 2, STEPS);
        result = hash(&t);
        end(&t);
        _exit(write(ends[1], &result, sizeof(result)) != (ssize_t)sizeof(result));
    }
    ck_assert_int_eq(close(ends[1]), 0);
    ck_assert_int_eq(read(ends[0], &result, sizeof(result)), (int)sizeof(result));
    ck_assert_int_eq(close(ends[0]), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return result;
}

START_TEST(files_and_new_processes_change_no_bit)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        make_folder();
        trainee t = compile(&networks[i], 2, "0");
        ck_assert_ok(poprt_executable_save_file(t.exec, popef));
        train(&t, 0, STEPS / 2);
        ck_assert_ok(poprt_session_save_checkpoint(t.session, checkpoint, 0));
        train(&t, STEPS / 2, STEPS);
        const uint64_t whole = hash(&t);
        end(&t);
        ck_assert_msg(resume(1) == whole, "%s: checkpoint", networks[i].name);
        ck_assert_msg(resume(3) == whole, "%s: checkpoint", networks[i].name);
        t = load(1);
        train(&t, 0, STEPS);
        ck_assert_msg(hash(&t) == whole, "%s: PopEF", networks[i].name);
        end(&t);
        remove_folder();
    }
}
END_TEST

PRT_TEST_MAIN("api/training_bits", the_number_of_threads_changes_no_bit,
    the_seed_changes_dropout_alone, a_busy_machine_changes_no_bit,
    files_and_new_processes_change_no_bit)
