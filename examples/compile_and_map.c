/* SPDX-License-Identifier: MIT */
/*
 * compile_and_map.c — compiles a model to a PopEF file once. Later starts map the file: weights are
 * not read before they are used, and processes that map the same file share its pages.
 *
 *     compile_and_map model.onnx compiled.popef
 */
#include <poprt/poprt.h>

#include <stdio.h>

static poprt_status compile(const char *from, const char *to)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_status status = poprt_model_load_file(NULL, from, NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, NULL, &exec);
    if (status == POPRT_OK)
        status = poprt_executable_save_file(exec, to);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return status;
}

/* Maps the file and states the memory of a session before it is made. */
static poprt_status map(const char *path)
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    size_t told = 0;
    poprt_status status = poprt_executable_load_file(NULL, path, NULL, &exec);
    if (status == POPRT_OK)
        status = poprt_executable_session_memory(exec, NULL, &told);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, NULL, &session);
    if (status == POPRT_OK)
        printf("%s: %zu inputs, a session of about %zu bytes beside the weights\n", path,
            poprt_executable_io_count(exec, POPRT_INPUT), told);
    poprt_session_release(session);
    poprt_executable_release(exec);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: compile_and_map model.onnx compiled.popef\n");
        return 2;
    }
    poprt_status status = compile(argv[1], argv[2]);
    if (status == POPRT_OK)
        status = map(argv[2]);
    if (status != POPRT_OK)
        fprintf(stderr, "%s: %s\n", poprt_status_name(status), poprt_last_error()->message);
    return status != POPRT_OK;
}
