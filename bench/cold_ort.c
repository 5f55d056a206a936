/* SPDX-License-Identifier: MIT */
/*
 * cold_ort.c — from the start of a process to an answer of ONNX Runtime. See cold.h.
 *
 *     cold_ort LIBRARY MODEL THREADS INPUT...
 *
 * PyPI's package has the library and no header: functions are called by their place in its table,
 * which only ever grows at its end.
 */
#include <dlfcn.h>

#include "cold.h"

enum { API_VERSION = 17 };

enum { /* places in the table */
    ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION = 7,
    RUN = 9,
    CREATE_OPTIONS = 10,
    SET_INTRA_THREADS = 24,
    SET_INTER_THREADS = 25,
    OUTPUT_COUNT = 31,
    OUTPUT_NAME = 37,
    CREATE_TENSOR = 49,
    CREATE_CPU_MEMORY = 69,
    DEFAULT_ALLOCATOR = 78
};

enum { LOG_ERRORS = 3, TYPE_FLOAT = 1, TYPE_INT64 = 7, MAX_TENSORS = 64 };

typedef void *handle;
typedef struct api_base {
    void *const *(*get)(uint32_t version);
    const char *(*version)(void);
} api_base;

static void *const *table;

static void need(handle status)
{
    if (status == NULL)
        return;
    const char *(*message)(handle);
    memcpy(&message, &table[ERROR_MESSAGE], sizeof message);
    (void)fprintf(stderr, "%s\n", message(status));
    exit(1);
}

#define CALL(place, types, ...)                                                                    \
    do {                                                                                           \
        handle(*function) types;                                                                   \
        memcpy(&function, &table[place], sizeof function);                                         \
        need(function(__VA_ARGS__));                                                               \
    } while (0)

static handle open_session(const char *model, int threads)
{
    handle env, options, session;
    CALL(CREATE_ENV, (int, const char *, handle *), LOG_ERRORS, "cold", &env);
    CALL(CREATE_OPTIONS, (handle *), &options);
    CALL(SET_INTRA_THREADS, (handle, int), options, threads);
    CALL(SET_INTER_THREADS, (handle, int), options, 1);
    CALL(CREATE_SESSION, (handle, const char *, handle, handle *), env, model, options, &session);
    return session;
}

static void run(handle session, int n, char **texts)
{
    const char *in_names[MAX_TENSORS];
    char *out_names[MAX_TENSORS];
    handle in[MAX_TENSORS], out[MAX_TENSORS] = { 0 }, memory, allocator;
    size_t n_out;
    cold_need(n <= MAX_TENSORS, "counting inputs");
    CALL(CREATE_CPU_MEMORY, (int, int, handle *), 0, 0, &memory);
    CALL(DEFAULT_ALLOCATOR, (handle *), &allocator);
    for (int i = 0; i < n; i++) {
        const cold_input x = cold_read_input(texts[i]);
        in_names[i] = x.name;
        CALL(CREATE_TENSOR, (handle, void *, size_t, const int64_t *, size_t, int, handle *),
            memory, x.data, x.size, x.dims, x.rank, x.is_float ? TYPE_FLOAT : TYPE_INT64, &in[i]);
    }
    CALL(OUTPUT_COUNT, (handle, size_t *), session, &n_out);
    cold_need(n_out <= MAX_TENSORS, "counting outputs");
    for (size_t i = 0; i < n_out; i++)
        CALL(OUTPUT_NAME, (handle, size_t, handle, char **), session, i, allocator, &out_names[i]);
    CALL(RUN, (handle, handle, const char **, handle *, size_t, char **, size_t, handle *), session,
        NULL, in_names, in, (size_t)n, out_names, n_out, out);
}

int main(int argc, char **argv)
{
    const double begin = cold_now_ms();
    cold_need(argc > 3, "cold_ort LIBRARY MODEL THREADS INPUT...");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    cold_need(library != NULL, "opening the library");
    void *symbol = dlsym(library, "OrtGetApiBase");
    const api_base *(*get_base)(void);
    memcpy(&get_base, &symbol, sizeof get_base);
    cold_need(symbol != NULL, "finding the interface");
    table = get_base()->get(API_VERSION);
    cold_need(table != NULL, "getting the interface");
    handle session = open_session(argv[2], (int)strtol(argv[3], NULL, 10));
    const double ready = cold_now_ms();
    (void)printf("{");
    cold_put_memory("ready");
    const double start = cold_now_ms();
    run(session, argc - 4, argv + 4);
    const double end = cold_now_ms();
    cold_put_memory("end");
    (void)printf("\"ready_ms\":%.4f,\"first_ms\":%.4f}\n", ready - begin, end - start);
    (void)fflush(stdout);
    _Exit(0); /* the answer is there: teardown is not measured */
}
