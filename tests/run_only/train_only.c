/* SPDX-License-Identifier: MIT */
/*
 * train_only.c FILE — trains tests/fixtures/popef/training.popef through the interface of a library
 * without compiler: a step equals a computation in double, the optimizer is replaced, and a
 * checkpoint brings the weights back. The program (tests/fuzz/seeds/training.c, the first one) has
 * loss = mean((x w + b - y)^2), two batches a step, and SGD with a learning rate of 0.1.
 */
#include <poprt/poprt.h>
#include <poprt/train.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 2, ROWS = 4, IN = 3, OUT = 2 };

static float x[BATCHES][ROWS][IN], y[BATCHES][ROWS][OUT];

static int failed(const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", what, poprt_last_error()->message);
    return 1;
}

static void step_in_double(double w[IN][OUT], double b[OUT], double rate)
{
    for (int k = 0; k < BATCHES; k++) {
        double gw[IN][OUT] = { { 0 } }, gb[OUT] = { 0 };
        for (int i = 0; i < ROWS; i++)
            for (int o = 0; o < OUT; o++) {
                double e = b[o] - (double)y[k][i][o];
                for (int c = 0; c < IN; c++)
                    e += (double)x[k][i][c] * w[c][o];
                gb[o] += 2 * e / (ROWS * OUT);
                for (int c = 0; c < IN; c++)
                    gw[c][o] += 2 * e * (double)x[k][i][c] / (ROWS * OUT);
            }
        for (int o = 0; o < OUT; o++) {
            b[o] -= rate * gb[o];
            for (int c = 0; c < IN; c++)
                w[c][o] -= rate * gw[c][o];
        }
    }
}

static int compare(poprt_session *session, double w[IN][OUT])
{
    float got[IN * OUT];
    poprt_tensor t = { .data = got, .size = sizeof(got) };
    if (poprt_session_read_weight(session, "w", &t) != POPRT_OK)
        return failed("weight");
    for (int i = 0; i < IN * OUT; i++) {
        const double difference = (double)got[i] - w[i / OUT][i % OUT];
        if (difference > 1e-6 || difference < -1e-6) {
            (void)fprintf(stderr, "weight %d is %g, not %g\n", i, (double)got[i],
                w[i / OUT][i % OUT]);
            return 1;
        }
    }
    return 0;
}

static int replace_rate(poprt_session *session, float rate)
{
    poprt_optimizer *o = NULL;
    if (poprt_optimizer_create(NULL, "sgd", &o) != POPRT_OK ||
        poprt_optimizer_set(o, "learning_rate", rate, 0) != POPRT_OK ||
        poprt_session_update_optimizer(session, o) != POPRT_OK)
        return failed("optimizer");
    poprt_optimizer_release(o);
    return 0;
}

static int train(poprt_session *session, poprt_stepio *io, const char *checkpoint)
{
    double w[IN][OUT] = { { 0.5, -0.25 }, { 1.0, 0.75 }, { -0.5, 0.125 } };
    double b[OUT] = { (double)0.1f, (double)-0.2f }, kept[IN][OUT];
    if (poprt_session_run(session, io) != POPRT_OK)
        return failed("run");
    step_in_double(w, b, (double)0.1f);
    if (compare(session, w) != 0 || replace_rate(session, 0.05f) != 0)
        return 1;
    memcpy(kept, w, sizeof(kept));
    if (poprt_session_save_checkpoint(session, checkpoint, 0) != POPRT_OK ||
        poprt_session_run(session, io) != POPRT_OK)
        return failed("second run");
    step_in_double(w, b, (double)0.05f);
    if (compare(session, w) != 0)
        return 1;
    if (poprt_session_load_checkpoint(session, checkpoint) != POPRT_OK)
        return failed("checkpoint");
    return compare(session, kept);
}

int main(int argc, char **argv)
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    const int64_t nx = BATCHES * ROWS * IN, ny = BATCHES * ROWS * OUT;
    const poprt_tensor tx = { x, sizeof(x), &nx, 1, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor ty = { y, sizeof(y), &ny, 1, POPRT_DTYPE_FLOAT32 };
    for (int i = 0; i < BATCHES * ROWS * IN; i++)
        ((float *)x)[i] = (float)(i * 5 % 11) / 11.0f - 0.5f;
    for (int i = 0; i < BATCHES * ROWS * OUT; i++)
        ((float *)y)[i] = (float)(i * 3 % 7) / 7.0f;
    if (argc != 3 || poprt_executable_load_file(NULL, argv[1], NULL, &exec) != POPRT_OK ||
        poprt_session_create(exec, NULL, &session) != POPRT_OK ||
        poprt_stepio_create(session, &io) != POPRT_OK ||
        poprt_stepio_bind(io, "x", &tx) != POPRT_OK || poprt_stepio_bind(io, "y", &ty) != POPRT_OK)
        return failed("load");
    const int code = train(session, io, argv[2]);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    (void)remove(argv[2]);
    if (code == 0)
        (void)puts("a PopEF file trains");
    return code;
}
