/* SPDX-License-Identifier: MIT */
/* test_unload.c — the library is loaded and unloaded many times in one process without a leak. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "poprt/poprt.h"
#include "support/check_main.h"

#ifdef __SANITIZE_ADDRESS__ /* keeps its records of unloaded libraries */
enum { ROUNDS = 50, WARM_UP = 20 };
#else
enum { ROUNDS = 200, WARM_UP = 20 };
#endif

/* Returns the number of resident pages of this process. */
static long resident_pages(void)
{
    long whole = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &whole, &resident) != 2)
        resident = 0;
    if (file != NULL)
        (void)fclose(file);
    return resident;
}

/* Declares a function pointer with the name and type of a library function. */
#define FIND(library, name)                                                                        \
    union {                                                                                        \
        void *object;                                                                              \
        __typeof__(&name) call;                                                                    \
    } found_##name = { .object = dlsym(library, #name) };                                          \
    ck_assert_ptr_nonnull(found_##name.object)

static void load_run_unload(void)
{
    void *library = dlopen(PRT_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    FIND(library, poprt_env_create);
    FIND(library, poprt_env_release);
    FIND(library, poprt_model_load_file);
    FIND(library, poprt_model_release);
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    options.threads = 2;
    ck_assert_int_eq(found_poprt_env_create.call(&options, &env), POPRT_OK);
    ck_assert_int_eq(found_poprt_model_load_file.call(env, PRT_TEST_DATA "/digits/model.onnx", NULL,
                         &model),
        POPRT_OK);
    found_poprt_model_release.call(model);
    ck_assert_int_ne(found_poprt_model_load_file.call(env, "/nonexistent", NULL, &model), POPRT_OK);
    found_poprt_env_release.call(env);
    ck_assert_int_eq(dlclose(library), 0);
}

START_TEST(the_library_can_be_unloaded)
{
    long before = resident_pages();
    for (int i = 0; i < ROUNDS; i++) {
        load_run_unload();
        if (i == WARM_UP)
            before = resident_pages();
    }
#ifdef __SANITIZE_ADDRESS__
    const long most = 65536;
#else
    const long most = 256;
#endif
    ck_assert_int_lt(resident_pages() - before, most);
}
END_TEST

PRT_TEST_MAIN("api/unload", the_library_can_be_unloaded)
