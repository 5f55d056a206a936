/* SPDX-License-Identifier: MIT */
/*
 * run_model.c — loads an ONNX model, compiles it, runs it once with zeros as inputs, and prints the
 * first elements of each float32 output.
 *
 *     run_model model.onnx [DIMENSION=SIZE]...
 *
 * Symbolic dimensions need a size each, for instance batch=1.
 */
#include <poprt/poprt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 32 };

/* "batch=1" becomes the option dim.batch with the value 1. */
static poprt_status set_dimension(poprt_config *config, const char *word)
{
    char key[128];
    const char *equals = strchr(word, '=');
    if (equals == NULL)
        return POPRT_E_ARG;
    (void)snprintf(key, sizeof(key), "dim.%.*s", (int)(equals - word), word);
    return poprt_config_set(config, key, equals + 1);
}

/* Binds zeros to input `i`. The memory must stay until the run is over: `*memory` owns it. */
static poprt_status bind_zeros(const poprt_executable *exec, poprt_stepio *io, size_t i,
    void **memory)
{
    poprt_io_info info = { .struct_size = sizeof(info) };
    const poprt_status status = poprt_executable_io_at(exec, POPRT_INPUT, i, &info);
    if (status != POPRT_OK)
        return status;
    size_t bits = (size_t)poprt_dtype_bits(info.dtype);
    for (int32_t d = 0; d < info.rank; d++)
        bits *= (size_t)info.dims[d];
    *memory = calloc(bits / 8 + 1, 1);
    if (*memory == NULL)
        return POPRT_E_NOMEM;
    const poprt_tensor tensor = { *memory, bits / 8, info.dims, (uint32_t)info.rank, info.dtype };
    return poprt_stepio_bind(io, info.name, &tensor);
}

static void print_outputs(const poprt_executable *exec, const poprt_stepio *io, size_t n_inputs)
{
    for (size_t i = 0; i < poprt_executable_io_count(exec, POPRT_OUTPUT); i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        poprt_tensor out;
        /* Slots count the inputs first, then the outputs. */
        if (poprt_executable_io_at(exec, POPRT_OUTPUT, i, &info) != POPRT_OK ||
            poprt_stepio_output(io, n_inputs + i, &out) != POPRT_OK)
            continue;
        printf("%s:", info.name);
        for (size_t k = 0; k < 8 && k < out.size / sizeof(float); k++)
            if (out.dtype == POPRT_DTYPE_FLOAT32)
                printf(" %g", (double)((const float *)out.data)[k]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    void *memory[MAX_INPUTS] = { NULL };
    if (argc < 2) {
        fprintf(stderr, "usage: run_model model.onnx [DIMENSION=SIZE]...\n");
        return 2;
    }
    poprt_status status = poprt_config_create(NULL, &config);
    for (int i = 2; i < argc && status == POPRT_OK; i++)
        status = set_dimension(config, argv[i]);
    if (status == POPRT_OK)
        status = poprt_model_load_file(NULL, argv[1], NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, config, &exec);
    poprt_model_release(model); /* the executable does not need the model */
    if (status == POPRT_OK)
        status = poprt_session_create(exec, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    const size_t n_inputs = exec != NULL ? poprt_executable_io_count(exec, POPRT_INPUT) : 0;
    for (size_t i = 0; i < n_inputs && i < MAX_INPUTS && status == POPRT_OK; i++)
        status = bind_zeros(exec, io, i, &memory[i]);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        print_outputs(exec, io, n_inputs);
    else
        fprintf(stderr, "%s: %s\n", poprt_status_name(status), poprt_last_error()->message);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_config_release(config);
    for (size_t i = 0; i < MAX_INPUTS; i++)
        free(memory[i]);
    return status != POPRT_OK;
}
