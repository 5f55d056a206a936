/* SPDX-License-Identifier: MIT */
/*
 * calls.c — the time of a call of the C library, for bench/python_calls.py.
 *
 *     calls MODEL.popef
 *
 * Binds zeros to every input and memory to every output, with one thread. For each line of the
 * standard input, a number of runs, it makes the runs and prints their nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "poprt/poprt.h"

static int64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_nsec;
}

/* Binds an input or output; the memory lives as long as the program. */
static poprt_status bind(const poprt_executable *exec, poprt_stepio *io, int32_t direction,
    size_t index)
{
    poprt_io_info info = { .struct_size = sizeof info };
    poprt_status status = poprt_executable_io_at(exec, direction, index, &info);
    if (status != POPRT_OK)
        return status;
    size_t size = poprt_dtype_bits(info.dtype) / 8;
    for (int32_t i = 0; i < info.rank; i++)
        size *= (size_t)info.dims[i];
    void *memory = calloc(1, size + 1);
    const poprt_tensor tensor = { memory, size, info.dims, (uint32_t)info.rank, info.dtype };
    status = memory == NULL ? POPRT_E_NOMEM : poprt_stepio_bind(io, info.name, &tensor);
    if (status != POPRT_OK)
        free(memory);
    return status;
}

static poprt_status measure(const char *path)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env;
    poprt_executable *exec;
    poprt_session *session;
    poprt_stepio *io;
    poprt_status status;
    options.threads = 1;
    if ((status = poprt_env_create(&options, &env)) != POPRT_OK ||
        (status = poprt_executable_load_file(env, path, NULL, &exec)) != POPRT_OK ||
        (status = poprt_session_create(exec, NULL, &session)) != POPRT_OK ||
        (status = poprt_stepio_create(session, &io)) != POPRT_OK)
        return status;
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++)
        for (size_t i = 0; i < poprt_executable_io_count(exec, direction); i++)
            if ((status = bind(exec, io, direction, i)) != POPRT_OK)
                return status;
    char line[32];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const int64_t start = now();
        for (long n = atol(line); n > 0; n--)
            if ((status = poprt_session_run(session, io)) != POPRT_OK)
                return status;
        printf("%lld\n", (long long)(now() - start));
        (void)fflush(stdout);
    }
    return POPRT_OK;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: calls MODEL.popef\n");
        return 2;
    }
    if (measure(argv[1]) == POPRT_OK)
        return 0;
    (void)fprintf(stderr, "%s\n", poprt_last_error()->message);
    return 1;
}
