/* SPDX-License-Identifier: MIT */
/*
 * serve_only.c — a library without compiler serves requests for a PopEF file.
 *
 *     serve_only FILE.popef DIM
 *
 * DIM is the file's symbolic dimension. All inputs are zeros.
 */
#include <poprt/runner.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };

static size_t list(const poprt_runner *runner, int32_t direction, poprt_named_tensor *to)
{
    const size_t n = poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTE, direction);
    for (size_t i = 0; i < n && i < MOST; i++) {
        poprt_runner_io io = { .struct_size = sizeof(io) };
        if (poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, direction, i, &io) == POPRT_OK)
            to[i] = (poprt_named_tensor){ io.name,
                { .data = calloc(1, io.size), .size = io.size, .dtype = io.dtype } };
    }
    return n < MOST ? n : MOST;
}

int main(int argc, char **argv)
{
    char key[256];
    poprt_config *config = NULL;
    poprt_runner *runner = NULL;
    poprt_named_tensor in[MOST], out[MOST];
    if (argc != 3)
        return 2;
    (void)snprintf(key, sizeof(key), "dim.%s", argv[2]);
    poprt_status status = poprt_config_create(NULL, &config);
    if (status == POPRT_OK)
        status = poprt_config_set(config, key, "2");
    if (status == POPRT_OK)
        status = poprt_runner_create_from_file(NULL, argv[1], config, &runner);
    poprt_runner_call call = { .struct_size = sizeof(call), .inputs = in, .outputs = out };
    call.n_inputs = list(runner, POPRT_INPUT, in);
    call.n_outputs = list(runner, POPRT_OUTPUT, out);
    for (int i = 0; i < 3 && status == POPRT_OK; i++)
        status = poprt_runner_execute(runner, &call);
    if (status != POPRT_OK)
        fprintf(stderr, "%s: %s\n", poprt_last_error()->subject, poprt_last_error()->message);
    for (size_t i = 0; i < call.n_inputs; i++)
        free(in[i].tensor.data);
    for (size_t i = 0; i < call.n_outputs; i++)
        free(out[i].tensor.data);
    poprt_runner_release(runner);
    poprt_config_release(config);
    return status != POPRT_OK || call.n_inputs == 0;
}
