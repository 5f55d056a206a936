/* SPDX-License-Identifier: MIT */
/* fuzz_onnx.c — any bytes as an ONNX model: read, rewrite, compile, run. */
#include <string.h>

#include "compiler/compile.h"
#include "converter/onnx.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_run.h"
#include "pass/engine/manager.h"

/* Returns the precision of a conversion, chosen by the input's size. */
static const char *setting(void *user, const char *key)
{
    static const char *const precisions[] = { "fp32", "fp16", "bf16", "mixed", "fp8", "fp8_weight",
        "int8" };
    const size_t *size = user;
    return strcmp(key, "precision") == 0 ? precisions[*size / 2 % 7] : NULL;
}

/* Runs the passes of saving or of compiling, chosen by the input's size. */
static void rewrite(prt_module *module, size_t size)
{
    const prt_pass_settings settings = { .user = &size, .get = setting };
    prt_pass_manager *pm = NULL;
    if (prt_pass_manager_create(fuzz_allocator(), &pm) != POPRT_OK)
        return;
    const char *pipeline = size % 2 == 0 ? "convert" : "inference";
    if (prt_pass_manager_add_pipeline(pm, pipeline, &settings) == POPRT_OK)
        (void)prt_pass_manager_run(pm, module, NULL);
    prt_pass_manager_release(pm);
}

static void compile_and_run(const prt_module *module)
{
    const prt_compile_options options = { .allocator = fuzz_allocator(),
        .memory_limit = FUZZ_MEMORY / 4 };
    prt_program *program = NULL;
    if (prt_compile(module, &options, &program) != POPRT_OK)
        return;
    fuzz_run_program(program);
    prt_program_release(program);
}

static int32_t discard_bytes(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 0;
}

/* Converts to an opset chosen by the input's size. */
static void convert(const prt_module *module, size_t size)
{
    prt_module *copy = NULL;
    if (prt_ir_clone(module, &copy) != POPRT_OK)
        return;
    if (prt_onnx_downgrade(copy, 1 + (int64_t)(size % 28)) == POPRT_OK)
        (void)prt_onnx_write(copy, discard_bytes, NULL);
    prt_module_release(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const prt_onnx_limits limits = { .arena = FUZZ_MEMORY / 4 };
    prt_blob *blob = NULL;
    prt_module *module = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        return 0;
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    if (prt_onnx_read_bytes(fuzz_allocator(), blob, "fuzz", NULL, &limits, &module) == POPRT_OK) {
        compile_and_run(module);
        (void)prt_onnx_write(module, discard_bytes, NULL);
        convert(module, size);
        rewrite(module, size);
        (void)prt_onnx_write(module, discard_bytes, NULL);
        compile_and_run(module);
        prt_module_release(module);
    }
    prt_blob_release(blob);
    fuzz_expect_empty();
    return 0;
}
