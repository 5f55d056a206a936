/* SPDX-License-Identifier: MIT */
/*
 * test_cache.c — the compile cache with plug-ins: the contents of their files are part of the key.
 * Covers: compile_cache.c, plugin.c.
 */
#include <dirent.h>
#include <unistd.h>

#include "plugin_test.h"

const poprt_plugin *leaky_relu_entry(const poprt_host *host);

static char folder[] = "/tmp/poprt-plugins-XXXXXX", said[4096];

static void note_line(void *user, int32_t level, const char *text)
{
    (void)user;
    (void)level;
    (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

static poprt_env *open_env(void)
{
    poprt_env *env = NULL;
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.log = note_line;
    options.log_level = POPRT_LOG_INFO;
    ck_assert_ok(poprt_env_create(&options, &env));
    said[0] = '\0';
    return env;
}

/* Compiles the model of the plug-in, checks its result and that the log has `part`. */
static void check_compile(poprt_env *env, const char *part)
{
    static const float x[6] = { -1, 2, -3, 4, -5, 6 };
    float y[2][6] = { { 0 } };
    poprt_config *config = NULL;
    poprt_executable *exec = NULL, *plain = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "enable_engine_caching", "true"));
    ck_assert_ok(poprt_config_set(config, "cache_path", folder));
    poprt_model *model = load_model(env, MODEL("leaky"));
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_msg(strstr(said, part) != NULL, "no '%s' in '%s'", part, said);
    ck_assert_ok(poprt_compile(model, NULL, &plain));
    ck_assert_ok(run_exec(exec, x, y[0]));
    ck_assert_ok(run_exec(plain, x, y[1]));
    ck_assert_mem_eq(y[0], y[1], sizeof(y[0]));
    poprt_executable_release(plain);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_config_release(config);
    poprt_env_release(env);
}

static void compile_with_file(const char *path, const char *part)
{
    poprt_env *env = open_env();
    ck_assert_ok(poprt_env_load_plugin(env, path));
    check_compile(env, part);
}

/* Copies a file and appends a byte. */
static void copy_longer(const char *from, const char *to)
{
    static unsigned char bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(out);
    const size_t n = fread(bytes, 1, sizeof(bytes) - 1, in);
    ck_assert_uint_eq(fwrite(bytes, 1, n + 1, out), n + 1);
    (void)fclose(in);
    ck_assert_int_eq(fclose(out), 0);
}

static void clear_folder(void)
{
    char path[1024];
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            ck_assert_int_eq(unlink(path), 0);
    }
    (void)closedir(dir);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(another_file_of_a_plugin_is_another_key)
{
    const char *path = PRT_TEST_PLUGINS "/leaky_relu.so";
    char other[128];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(other, sizeof(other), "%s/other.so", folder);
    copy_longer(path, other);
    compile_with_file(path, "kept: ");
    compile_with_file(path, "compiled before: ");
    compile_with_file(other, "kept: ");
    compile_with_file(other, "compiled before: ");
    clear_folder();
}
END_TEST

START_TEST(plugins_without_a_file_are_not_cached)
{
    const poprt_host host = { .struct_size = sizeof(host), .abi = POPRT_PLUGIN_ABI };
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        poprt_env *env = open_env();
        ck_assert_ok(poprt_env_add_plugin(env, leaky_relu_entry(&host)));
        check_compile(env, "not stored in cache_path");
    }
    clear_folder();
}
END_TEST

PRT_TEST_MAIN("plugin/cache", another_file_of_a_plugin_is_another_key,
    plugins_without_a_file_are_not_cached)
