/* SPDX-License-Identifier: MIT */
/*
 * test_progress.c — the progress function of an environment: stages, counts and cancellation.
 * Covers: feed.c.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "api_test.h"

typedef struct stage {
    const char *name, *cancel; /* `cancel`: the stage to cancel halfway, or NULL */
    uint64_t calls, last, total;
    bool falls; /* `done` decreased or exceeded the total */
} stage;

static int32_t note_progress(void *user, const char *name, uint64_t done, uint64_t total)
{
    stage *s = user;
    if (strcmp(name, s->name) == 0) {
        s->falls = s->falls || done < s->last || done > total;
        s->calls++;
        s->last = done;
        s->total = total;
    }
    return s->cancel != NULL && strcmp(name, s->cancel) == 0 && 2 * done >= total;
}

static poprt_env *env_of(stage *s)
{
    poprt_env *env = NULL;
    const poprt_env_options options = { .struct_size = sizeof(options),
        .progress = note_progress,
        .progress_user = s };
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    size_t size;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    ck_assert(in != NULL && out != NULL);
    while ((size = fread(bytes, 1, sizeof(bytes), in)) != 0)
        ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
    ck_assert_int_eq(fclose(in), 0);
    ck_assert_int_eq(fclose(out), 0);
}

/* Converts the digits model to fp8 with formats calibrated on samples. */
static poprt_status calibrate(poprt_env *env)
{
    char folder[] = "progress-XXXXXX", file[64];
    poprt_model *model = NULL;
    poprt_config *config = NULL;
    poprt_pass_manager *manager = NULL;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(file, sizeof(file), "%s/image.npy", folder);
    copy_file(PRT_TEST_DATA "/digits/images.npy", file);
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "dim.batch", "45"));
    ck_assert_ok(poprt_config_set(config, "precision", "fp8"));
    ck_assert_ok(poprt_config_set(config, "calibration_with_data", "true"));
    ck_assert_ok(poprt_config_set(config, "data_preprocess", folder));
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", config));
    const poprt_status status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    poprt_config_release(config);
    poprt_model_release(model);
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    return status;
}

START_TEST(calibration_reports_its_steps)
{
    stage s = { .name = "calibrate" };
    poprt_env *env = env_of(&s);
    ck_assert_ok(calibrate(env));
    poprt_env_release(env);
    ck_assert_uint_eq(s.calls, s.total);
    ck_assert_uint_eq(s.last + 1, s.total);
    ck_assert_uint_gt(s.total, 8);
    ck_assert(!s.falls);
}
END_TEST

START_TEST(calibration_can_be_cancelled)
{
    stage s = { .name = "calibrate", .cancel = "calibrate" };
    poprt_env *env = env_of(&s);
    ck_assert_fails(calibrate(env), POPRT_E_CANCELLED);
    poprt_env_release(env);
    ck_assert_uint_gt(s.total, 2 * s.calls - 4);
}
END_TEST

START_TEST(optimization_reports_its_passes)
{
    stage s = { .name = "optimize" };
    poprt_env *env = env_of(&s);
    poprt_executable_release(compile_digits(env));
    poprt_env_release(env);
    ck_assert_uint_gt(s.total, 20);
    ck_assert_uint_gt(2 * s.last, s.total);
    ck_assert(!s.falls);
}
END_TEST

PRT_TEST_MAIN("api/progress", calibration_reports_its_steps, calibration_can_be_cancelled,
    optimization_reports_its_passes)
