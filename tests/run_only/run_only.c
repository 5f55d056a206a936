/* SPDX-License-Identifier: MIT */
/*
 * run_only.c FILE — runs tests/fixtures/popef/format_1.popef through the interface of a library
 * without compiler, and compares.
 */
#include <poprt/poprt.h>
#include <stdio.h>

static int failed(const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", what, poprt_last_error()->message);
    return 1;
}

static poprt_status bind(poprt_stepio *io, const char *name, int32_t dtype, const void *data,
    size_t size, uint32_t rank, const int64_t *dims)
{
    const poprt_tensor t = { .data = (void *)(uintptr_t)data,
        .size = size,
        .dims = dims,
        .rank = rank,
        .dtype = dtype };
    return poprt_stepio_bind(io, name, &t);
}

static int run(poprt_executable *exec)
{
    static const float x[6] = { 1, 2, 3, 4, 5, 6 }, v[2] = { 0, 0 };
    static const unsigned char yes = 1;
    static const int64_t two_three[2] = { 2, 3 }, two[1] = { 2 };
    static const float last[3] = { -14, 12, -1 }; /* 6 * -2 + -2, -(6 * -2), -exp(0) */
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    if (poprt_session_create(exec, NULL, &session) != POPRT_OK ||
        poprt_stepio_create(session, &io) != POPRT_OK ||
        bind(io, "x", POPRT_DTYPE_FLOAT32, x, sizeof(x), 2, two_three) != POPRT_OK ||
        bind(io, "v", POPRT_DTYPE_FLOAT32, v, sizeof(v), 1, two) != POPRT_OK ||
        bind(io, "c", POPRT_DTYPE_BOOL, &yes, 1, 0, NULL) != POPRT_OK ||
        poprt_session_run(session, io) != POPRT_OK)
        return failed("run");
    for (size_t i = 0; i < 3; i++) {
        poprt_tensor out;
        if (poprt_stepio_output(io, 3 + i, &out) != POPRT_OK)
            return failed("output");
        const float *data = out.data;
        const float got = data[out.size / sizeof(float) - 1];
        if (got < last[i] || got > last[i]) {
            (void)fprintf(stderr, "output %zu ends with %g\n", i, (double)got);
            return 1;
        }
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    return 0;
}

int main(int argc, char **argv)
{
    poprt_executable *exec = NULL;
    if (argc != 2 || poprt_executable_load_file(NULL, argv[1], NULL, &exec) != POPRT_OK)
        return failed("load");
    const int code = run(exec);
    poprt_executable_release(exec);
    if (code == 0)
        (void)puts("a PopEF file runs");
    return code;
}
