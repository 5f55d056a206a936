/* SPDX-License-Identifier: MIT */
/*
 * many_sessions.c — one executable, shared by a session on each of several threads. An executable
 * is immutable; a session belongs to one thread at a time.
 *
 *     many_sessions model.onnx      (the digits model: float32 image [batch, 1, 8, 8])
 */
#include <poprt/poprt.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, RUNS = 1000 };

typedef struct worker {
    poprt_executable *exec;
    poprt_status status;
    float score;
    pthread_t thread;
} worker;

static poprt_status run_many(worker *w)
{
    float image[64];
    const int64_t dims[] = { 1, 1, 8, 8 };
    const poprt_tensor in = { image, sizeof(image), dims, 4, POPRT_DTYPE_FLOAT32 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out = { 0 };
    for (int i = 0; i < 64; i++)
        image[i] = (float)(i % 16);
    poprt_status status = poprt_session_create(w->exec, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = poprt_stepio_bind_at(io, 0, &in);
    for (int i = 0; i < RUNS && status == POPRT_OK; i++)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        status = poprt_stepio_output(io, 1, &out);
    if (status == POPRT_OK)
        w->score = ((const float *)out.data)[0];
    poprt_stepio_release(io);
    poprt_session_release(session);
    return status;
}

static void *start(void *arg)
{
    worker *w = arg;
    w->status = run_many(w);
    if (w->status != POPRT_OK) /* the record of the last error belongs to this thread */
        fprintf(stderr, "%s\n", poprt_last_error()->message);
    return NULL;
}

int main(int argc, char **argv)
{
    worker workers[THREADS] = { { 0 } };
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    int failed = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: many_sessions model.onnx\n");
        return 2;
    }
    poprt_status status = poprt_model_load_file(NULL, argv[1], NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, NULL, &exec);
    if (status != POPRT_OK)
        fprintf(stderr, "%s\n", poprt_last_error()->message);
    int started = 0;
    for (; started < THREADS && status == POPRT_OK; started++) {
        workers[started].exec = exec;
        if (pthread_create(&workers[started].thread, NULL, start, &workers[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        failed += workers[i].status != POPRT_OK || workers[i].score != workers[0].score;
    }
    if (started == THREADS && failed == 0)
        printf("%d threads, %d runs each: the same score %g\n", started, RUNS,
            (double)workers[0].score);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return started != THREADS || failed != 0;
}
