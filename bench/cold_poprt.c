/* SPDX-License-Identifier: MIT */
/* cold_poprt.c — from the start of a process to an answer of a PopEF file. See cold.h. */
#include <poprt/poprt.h>

#include "cold.h"

static void need(poprt_status status)
{
    if (status != POPRT_OK) {
        (void)fprintf(stderr, "%s\n", poprt_last_error()->message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const double begin = cold_now_ms();
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env;
    poprt_executable *exec;
    poprt_session *session;
    poprt_stepio *io;
    cold_need(argc > 2, "cold_poprt MODEL THREADS INPUT...");
    options.threads = (uint32_t)strtoul(argv[2], NULL, 10);
    need(poprt_env_create(&options, &env));
    need(poprt_executable_load_file(env, argv[1], NULL, &exec));
    need(poprt_session_create(exec, NULL, &session));
    need(poprt_stepio_create(session, &io));
    const double ready = cold_now_ms();
    (void)printf("{");
    cold_put_memory("ready");
    for (int i = 3; i < argc; i++) {
        const cold_input in = cold_read_input(argv[i]);
        const poprt_tensor tensor = { in.data, in.size, in.dims, in.rank,
            in.is_float ? POPRT_DTYPE_FLOAT32 : POPRT_DTYPE_INT64 };
        need(poprt_stepio_bind(io, in.name, &tensor));
    }
    const double start = cold_now_ms();
    need(poprt_session_run(session, io));
    const double end = cold_now_ms();
    cold_put_memory("end");
    (void)printf("\"ready_ms\":%.4f,\"first_ms\":%.4f,\"plan\":%zu}\n", ready - begin, end - start,
        poprt_session_memory(session));
    (void)fflush(stdout);
    _Exit(0); /* the answer is there: teardown is not measured */
}
