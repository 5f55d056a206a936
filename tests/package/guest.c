/* SPDX-License-Identifier: MIT */
/*
 * guest.c FILE — a host program: opens a PopEF file or, built with -DONNX, reads an ONNX file and
 * compiles it; makes a session and prints how many inputs it has. package.sh links it in every way
 * that an installed package offers.
 */
#include <poprt/poprt.h>
#include <stdio.h>

static poprt_status open_file(const char *path, poprt_executable **out)
{
#ifdef ONNX
    poprt_model *model = NULL;
    poprt_status status = poprt_model_load_file(NULL, path, NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, NULL, out);
    poprt_model_release(model);
    return status;
#else
    return poprt_executable_load_file(NULL, path, NULL, out);
#endif
}

int main(int argc, char **argv)
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    if (argc != 2)
        return 2;
    if (open_file(argv[1], &exec) != POPRT_OK ||
        poprt_session_create(exec, NULL, &session) != POPRT_OK) {
        (void)fprintf(stderr, "%s\n", poprt_last_error()->message);
        return 1;
    }
    (void)printf("%u inputs\n", (unsigned)poprt_executable_io_count(exec, POPRT_INPUT));
    poprt_session_release(session);
    poprt_executable_release(exec);
    return 0;
}
