/* SPDX-License-Identifier: MIT */
/*
 * own_memory_and_threads.c — an environment with the allocator and the executor of the host. The
 * allocator counts bytes. The executor starts two threads for each parallel loop: a host would use
 * its own pool.
 *
 *     own_memory_and_threads model.onnx      (the digits model: float32 image [batch, 1, 8, 8])
 */
#define _POSIX_C_SOURCE 200809L
#include <poprt/poprt.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic size_t allocations, live;

static void *count_alloc(void *user, size_t size, size_t align)
{
    void *memory = NULL;
    (void)user;
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size) != 0)
        return NULL;
    atomic_fetch_add(&allocations, 1);
    atomic_fetch_add(&live, 1);
    return memory;
}

static void count_release(void *user, void *memory)
{
    (void)user;
    atomic_fetch_sub(&live, 1);
    free(memory);
}

/* The indices of one parallel loop, taken by two threads until none is left. */
typedef struct loop {
    poprt_parallel_body body;
    void *arg;
    uint32_t count;
    _Atomic uint32_t next;
} loop;

static void *take_indices(void *arg)
{
    loop *l = arg;
    for (uint32_t i = atomic_fetch_add(&l->next, 1); i < l->count;
         i = atomic_fetch_add(&l->next, 1))
        l->body(l->arg, i);
    return NULL;
}

static void run_loop(void *user, uint32_t n, poprt_parallel_body body, void *arg)
{
    loop l = { .body = body, .arg = arg, .count = n };
    pthread_t other;
    (void)user;
    const int started = pthread_create(&other, NULL, take_indices, &l) == 0;
    (void)take_indices(&l);
    if (started)
        (void)pthread_join(other, NULL);
}

static poprt_status run(poprt_env *env, const char *path)
{
    float image[64] = { 0 };
    const int64_t dims[] = { 1, 1, 8, 8 };
    const poprt_tensor in = { image, sizeof(image), dims, 4, POPRT_DTYPE_FLOAT32 };
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_status status = poprt_model_load_file(env, path, NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, NULL, &exec);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = poprt_stepio_bind_at(io, 0, &in);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    const size_t before = atomic_load(&allocations);
    for (int i = 0; i < 100 && status == POPRT_OK; i++)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        printf("%zu allocations in all, %zu of them in 100 further runs\n",
            atomic_load(&allocations), atomic_load(&allocations) - before);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return status;
}

int main(int argc, char **argv)
{
    const poprt_allocator allocator = { .alloc = count_alloc, .release = count_release };
    const poprt_parallel parallel = { .run = run_loop, .width = 2 };
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: own_memory_and_threads model.onnx\n");
        return 2;
    }
    options.allocator = &allocator;
    options.parallel = &parallel;
    poprt_status status = poprt_env_create(&options, &env);
    if (status == POPRT_OK)
        status = run(env, argv[1]);
    if (status != POPRT_OK)
        fprintf(stderr, "%s: %s\n", poprt_status_name(status), poprt_last_error()->message);
    poprt_env_release(env);
    return status != POPRT_OK || atomic_load(&live) != 0;
}
