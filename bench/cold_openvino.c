/* SPDX-License-Identifier: MIT */
/*
 * cold_openvino.c — from the start of a process to an answer of OpenVINO. See cold.h.
 *
 *     cold_openvino LIBRARY MODEL THREADS INPUT...
 *
 * PyPI's package has the C library and no header; the functions are found by name. Inputs must be
 * in the model's order.
 */
#include <dlfcn.h>

#include "cold.h"

typedef void *handle;

static void *library;

static void *find(const char *name)
{
    void *symbol = dlsym(library, name);
    cold_need(symbol != NULL, name);
    return symbol;
}

#define CALL(name, types, ...)                                                                     \
    do {                                                                                           \
        int(*function) types;                                                                      \
        void *symbol = find(name);                                                                 \
        memcpy(&function, &symbol, sizeof function);                                               \
        cold_need(function(__VA_ARGS__) == 0, name);                                               \
    } while (0)

static handle open_request(const char *path, const char *threads)
{
    handle core, model, compiled, request;
    CALL("ov_core_create", (handle *), &core);
    CALL("ov_core_read_model", (handle, const char *, const char *, handle *), core, path, NULL,
        &model);
    CALL("ov_core_compile_model", (handle, handle, const char *, size_t, handle *, ...), core,
        model, "CPU", (size_t)6, &compiled, "INFERENCE_NUM_THREADS", threads, "NUM_STREAMS", "1",
        "INFERENCE_PRECISION_HINT", "f32");
    CALL("ov_compiled_model_create_infer_request", (handle, handle *), compiled, &request);
    return request;
}

int main(int argc, char **argv)
{
    const double begin = cold_now_ms();
    cold_need(argc > 3, "cold_openvino LIBRARY MODEL THREADS INPUT...");
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    cold_need(library != NULL, "opening the library");
    handle request = open_request(argv[2], argv[3]);
    const double ready = cold_now_ms();
    (void)printf("{");
    cold_put_memory("ready");
    for (int i = 4; i < argc; i++) {
        const cold_input in = cold_read_input(argv[i]);
        handle tensor;
        void *data;
        size_t size;
        CALL("ov_infer_request_get_input_tensor_by_index", (handle, size_t, handle *), request,
            (size_t)(i - 4), &tensor);
        CALL("ov_tensor_get_byte_size", (handle, size_t *), tensor, &size);
        CALL("ov_tensor_data", (handle, void **), tensor, &data);
        cold_need(size == in.size, "giving an input");
        memcpy(data, in.data, size);
    }
    const double start = cold_now_ms();
    CALL("ov_infer_request_infer", (handle), request);
    const double end = cold_now_ms();
    cold_put_memory("end");
    (void)printf("\"ready_ms\":%.4f,\"first_ms\":%.4f}\n", ready - begin, end - start);
    (void)fflush(stdout);
    _Exit(0); /* the answer is there: teardown is not measured */
}
