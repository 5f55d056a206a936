/* SPDX-License-Identifier: MIT */
/* test_compile_cache.c — executables cached in a folder by model and options. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_test.h"

static char folder[] = "/tmp/poprt-cache-XXXXXX";
static char said[4096];

static void note_line(void *user, int32_t level, const char *text)
{
    (void)user;
    (void)level;
    (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", text);
}

static poprt_env *open_env(void)
{
    poprt_env *env = NULL;
    poprt_env_options options = { .struct_size = sizeof(options),
        .log = note_line,
        .log_level = POPRT_LOG_INFO };
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

static poprt_status compile(poprt_env *env, const char *key, const char *value,
    poprt_executable **out)
{
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "enable_engine_caching", "true"));
    ck_assert_ok(poprt_config_set(config, "cache_path", folder));
    if (key != NULL)
        ck_assert_ok(poprt_config_set(config, key, value));
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    said[0] = '\0';
    const poprt_status status = poprt_compile(model, config, out);
    poprt_model_release(model);
    poprt_config_release(config);
    return status;
}

/* Compiles, and checks the digits and that the log contains `part`. */
static void check_compile(poprt_env *env, const char *key, const char *value, const char *part)
{
    poprt_executable *plain = compile_digits(env), *exec = NULL;
    float expected[10], found[10];
    ck_assert_ok(compile(env, key, value, &exec));
    ck_assert_msg(strstr(said, part) != NULL, "no '%s' in '%s'", part, said);
    digit_expect(plain, 3, expected);
    digit_expect(exec, 3, found);
    for (int i = 0; i < 10; i++)
        ck_assert_float_eq_tol(expected[i], found[i], 1e-5f);
    poprt_executable_release(exec);
    poprt_executable_release(plain);
}

/* Returns the number of files in the folder, and writes the path of the last one to `path`. */
static int count_files(char *path, size_t size)
{
    DIR *dir = opendir(folder);
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.') {
            (void)snprintf(path, size, "%s/%s", folder, e->d_name);
            n++;
        }
    (void)closedir(dir);
    return n;
}

static void clear_folder(void)
{
    char path[512];
    while (count_files(path, sizeof(path)) > 0)
        ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
}

START_TEST(the_second_compilation_is_a_hit)
{
    poprt_env *env = open_env();
    char path[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    check_compile(env, NULL, NULL, "kept: ");
    check_compile(env, NULL, NULL, "compiled before: ");
    ck_assert_int_eq(count_files(path, sizeof(path)), 1);
    check_compile(env, "share_memory", "false", "kept: ");
    ck_assert_int_eq(count_files(path, sizeof(path)), 2);
    check_compile(env, "disable_passes", "fuse_epilogue,channels_last", "kept: ");
    check_compile(env, "disable_passes", "fuse_epilogue,channels_last", "compiled before: ");
    ck_assert_int_eq(count_files(path, sizeof(path)), 3);
    clear_folder();
    poprt_env_release(env);
}
END_TEST

START_TEST(foreign_files_in_the_folder_are_not_trusted)
{
    static const unsigned char model[] = { 0x08, 0x08, 0x12, 0x00, 0x3a, 0x27, 0x0a, 0x0c, 0x0a,
        0x01, 0x78, 0x12, 0x01, 0x79, 0x22, 0x04, 0x52, 0x65, 0x6c, 0x75, 0x12, 0x01, 0x67, 0x5a,
        0x09, 0x0a, 0x01, 0x78, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x01, 0x62, 0x09, 0x0a, 0x01, 0x79,
        0x12, 0x04, 0x0a, 0x02, 0x08, 0x01, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x0f };
    poprt_env *env = open_env();
    char path[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    check_compile(env, NULL, NULL, "kept: ");
    ck_assert_int_eq(count_files(path, sizeof(path)), 1);
    write_file(path, "nothing", 7);
    check_compile(env, NULL, NULL, "cannot use ");
    check_compile(env, NULL, NULL, "compiled before: ");
    poprt_executable *other = compile_bytes(env, model, sizeof(model));
    ck_assert_ok(poprt_executable_save_file(other, path));
    poprt_executable_release(other);
    check_compile(env, NULL, NULL, "another model is in ");
    check_compile(env, NULL, NULL, "compiled before: ");
    clear_folder();
    check_compile(env, NULL, NULL, "not kept: "); /* the folder does not exist */
    poprt_env_release(env);
}
END_TEST

static void *read_file(const char *path, size_t *size)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fstat(fileno(file), &info), 0);
    *size = (size_t)info.st_size;
    void *bytes = malloc(*size);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

/* Changes one byte of the entry. The executable must give the same bits, and the entry must be
 * restored, unless the byte has no meaning. */
static void check_damaged(poprt_env *env, const char *path, unsigned char *good, size_t size,
    size_t at, const float *expected, size_t *misses)
{
    poprt_executable *exec = NULL;
    float found[10];
    size_t now = 0;
    good[at] ^= 0x10;
    write_file(path, good, size);
    good[at] ^= 0x10;
    ck_assert_ok(compile(env, NULL, NULL, &exec));
    digit_expect(exec, 3, found);
    ck_assert_int_eq(memcmp(expected, found, sizeof(found)), 0);
    poprt_executable_release(exec);
    if (strstr(said, "cannot use ") == NULL)
        return;
    unsigned char *bytes = read_file(path, &now);
    ck_assert_uint_eq(now, size);
    ck_assert_int_eq(memcmp(bytes, good, size), 0);
    free(bytes);
    ++*misses;
}

START_TEST(a_damaged_entry_is_a_miss)
{
    poprt_env *env = open_env();
    poprt_executable *exec = NULL;
    char path[512];
    float expected[10];
    size_t size = 0, misses = 0, tried = 0;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ok(compile(env, NULL, NULL, &exec));
    digit_expect(exec, 3, expected);
    poprt_executable_release(exec);
    ck_assert_int_eq(count_files(path, sizeof(path)), 1);
    unsigned char *good = read_file(path, &size);
    for (size_t at = 0; at < size; at += size / 199 + 1, tried++)
        check_damaged(env, path, good, size, at, expected, &misses);
    ck_assert_uint_ge(misses, tried - 2);

    /* A weight without a checksum would be a hit whose bytes were never verified. */
    const size_t last = size - 8;
    size_t blob = 0;
    for (size_t at = 8; at + 64 < size; at += 8)
        blob = memcmp(good + at, "POPEF-C", 8) == 0 ? at : blob;
    good[blob + 48] |= 2;
    good[last] ^= 0x10;
    write_file(path, good, size);
    ck_assert_ok(compile(env, NULL, NULL, &exec));
    poprt_executable_release(exec);
    ck_assert_ptr_nonnull(strstr(said, "has no checksum"));
    free(good);
    clear_folder();
    poprt_env_release(env);
}
END_TEST

/* ---- several processes */

static int started[2], go_on[2]; /* pipes */
static bool waits; /* the next compilation says that it has begun, and waits for a byte */

static int32_t begin_and_wait(void *user, const char *stage, uint64_t done, uint64_t total)
{
    char byte = 1;
    (void)user;
    (void)done;
    (void)total;
    if (!waits || strcmp(stage, "optimize") != 0)
        return 0;
    waits = false;
    ck_assert_int_eq(write(started[1], &byte, 1), 1);
    return read(go_on[0], &byte, 1) == 1 ? 0 : 1;
}

static void tell_when_waiting(void *user, int32_t level, const char *text)
{
    char byte = 2;
    note_line(user, level, text);
    if (strncmp(text, "waiting for ", 12) == 0)
        ck_assert_int_eq(write(started[1], &byte, 1), 1);
}

/* Compiles in a new process, which exits with 0 if its log has `part`. */
static pid_t compile_elsewhere(bool holds, const char *part)
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    poprt_env *env = NULL;
    poprt_executable *exec = NULL;
    poprt_env_options options = { .struct_size = sizeof(options),
        .log = tell_when_waiting,
        .log_level = POPRT_LOG_INFO,
        .progress = begin_and_wait };
    waits = holds;
    const bool good = poprt_env_create(&options, &env) == POPRT_OK &&
        compile(env, NULL, NULL, &exec) == POPRT_OK && strstr(said, part) != NULL;
    _exit(good ? 0 : 1);
}

static char next_byte(void)
{
    char byte = 0;
    ck_assert_int_eq(read(started[0], &byte, 1), 1);
    return byte;
}

static int exit_of(pid_t child)
{
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void open_pipes(void)
{
    ck_assert_int_eq(pipe(started), 0);
    ck_assert_int_eq(pipe(go_on), 0);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

START_TEST(one_process_compiles_for_others)
{
    char path[512];
    open_pipes();
    const pid_t first = compile_elsewhere(true, "kept: ");
    ck_assert_int_eq(next_byte(), 1);
    const pid_t second = compile_elsewhere(false, "compiled before: ");
    ck_assert_int_eq(next_byte(), 2); /* it waits */
    ck_assert_int_eq(write(go_on[1], "x", 1), 1);
    ck_assert_int_eq(exit_of(first), 0);
    ck_assert_int_eq(exit_of(second), 0);
    ck_assert_int_eq(count_files(path, sizeof(path)), 1);
    clear_folder(); /* no lock is left */
}
END_TEST

START_TEST(a_killed_process_holds_up_no_other)
{
    open_pipes();
    const pid_t first = compile_elsewhere(true, "kept: ");
    ck_assert_int_eq(next_byte(), 1);
    const pid_t second = compile_elsewhere(false, "kept: ");
    ck_assert_int_eq(next_byte(), 2);
    ck_assert_int_eq(kill(first, SIGKILL), 0);
    (void)exit_of(first);
    ck_assert_int_eq(exit_of(second), 0);
    const pid_t third = compile_elsewhere(false, "compiled before: ");
    ck_assert_int_eq(exit_of(third), 0);
    clear_folder();
}
END_TEST

START_TEST(an_empty_folder_name_is_refused)
{
    poprt_env *env = open_env();
    poprt_executable *exec = NULL;
    ck_assert_fails(compile(env, "cache_path", "", &exec), POPRT_E_ARG);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->subject, "cache_path"));
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/compile_cache", the_second_compilation_is_a_hit,
    foreign_files_in_the_folder_are_not_trusted, a_damaged_entry_is_a_miss,
    an_empty_folder_name_is_refused, one_process_compiles_for_others,
    a_killed_process_holds_up_no_other)
