/* SPDX-License-Identifier: MIT */
/*
 * test_file.c — file maps that stay below their folder, and files written completely or not at
 * all.
 * Covers: file_write.c.
 */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "support/check_main.h"

static char folder[64], path[512];

static const char *path_of(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void make_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), file), strlen(text));
    ck_assert_int_eq(fclose(file), 0);
}

/* Each test has a new small folder in /tmp. */
static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/poprt-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)remove(path_of(e->d_name));
    (void)closedir(dir);
    (void)rmdir(folder);
}

static size_t count_files(void)
{
    DIR *dir = opendir(folder);
    size_t count = 0;
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count - 2;
}

static void expect_content(const char *name, const char *text)
{
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_file_map(NULL, path_of(name), &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, strlen(text));
    ck_assert(blob->size == 0 || memcmp(blob->data, text, blob->size) == 0);
    prt_blob_release(blob);
}

START_TEST(maps_regular_files)
{
    make_folder();
    make_file("full", "some bytes");
    make_file("empty", "");
    expect_content("full", "some bytes");
    expect_content("empty", "");
    remove_folder();
}
END_TEST

START_TEST(map_failures_name_file_and_cause)
{
    make_folder();
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_file_map(NULL, path_of("absent"), &blob), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->file, path);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "No such file"));
    ck_assert_int_eq(prt_file_map(NULL, folder, &blob), POPRT_E_IO);
    ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
    ck_assert_int_eq(prt_file_map(NULL, path_of("fifo"), &blob), POPRT_E_IO);
    ck_assert_int_eq(prt_file_map(NULL, "/dev/zero", &blob), POPRT_E_IO);
    ck_assert_int_eq(prt_file_map(NULL, "", &blob), POPRT_E_NOT_FOUND);
    ck_assert_ptr_null(blob);
    remove_folder();
}
END_TEST

static poprt_status map_below(const char *relative)
{
    prt_blob *blob = NULL;
    const poprt_status status = prt_file_map_below(NULL, folder, NULL, relative, "weight", &blob);
    ck_assert_int_eq(status == POPRT_OK, blob != NULL);
    prt_blob_release(blob);
    return status;
}

static void check_below(void)
{
    make_folder();
    make_file("data", "weights");
    ck_assert_int_eq(mkdir(path_of("sub"), 0700), 0);
    make_file("sub/data", "deep");
    char target[128];
    (void)snprintf(target, sizeof(target), "%s/data", folder);
    ck_assert_int_eq(symlink("data", path_of("link")), 0);
    ck_assert_int_eq(symlink("/etc/passwd", path_of("far")), 0);
    ck_assert_int_eq(symlink("sub", path_of("sublink")), 0);

    ck_assert_int_eq(map_below("data"), POPRT_OK);
    ck_assert_int_eq(map_below("sub/data"), POPRT_OK);
    ck_assert_int_eq(map_below("./sub//./data"), POPRT_OK);
    ck_assert_int_eq(map_below(""), POPRT_E_PARSE);
    ck_assert_int_eq(map_below(target), POPRT_E_PARSE);
    ck_assert_int_eq(map_below(".."), POPRT_E_PARSE);
    ck_assert_int_eq(map_below("sub/../data"), POPRT_E_PARSE);
    ck_assert_int_eq(map_below("sub/.."), POPRT_E_PARSE);
    ck_assert_str_eq(prt_error_last()->subject, "weight");
    ck_assert_int_eq(map_below("..data"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(map_below("absent"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(map_below("absent/data"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(map_below("data/x"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(map_below("link"), POPRT_OK); /* ends below the folder */
    ck_assert_int_eq(map_below("sublink/data"), POPRT_OK);
    ck_assert_int_eq(map_below("far"), POPRT_E_IO);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "leaves the model's folder"));
    ck_assert_int_eq(symlink("away", path_of("away")), 0); /* a link to itself */
    ck_assert_int_ne(map_below("away"), POPRT_OK);
    ck_assert_int_eq(symlink("..", path_of("up")), 0);
    ck_assert_int_ne(map_below("up/passwd"), POPRT_OK);
    ck_assert_int_eq(symlink("nowhere", path_of("broken")), 0);
    ck_assert_int_eq(map_below("broken"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(map_below("sub"), POPRT_E_IO);
    ck_assert_int_eq(map_below("."), POPRT_E_IO);
    char from[128];
    (void)snprintf(from, sizeof(from), "%s/data", folder);
    ck_assert_int_eq(link(from, path_of("hard")), 0);
    ck_assert_int_eq(map_below("hard"), POPRT_E_IO);
    ck_assert_int_eq(map_below("data"), POPRT_E_IO);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "hard links"));
    (void)remove(path_of("sub/data"));
    remove_folder();
}

static poprt_status map_relative(const char *model, const char *relative, const char *text)
{
    char of[600], owner[700];
    prt_blob *blob = NULL;
    (void)snprintf(of, sizeof(of), "%s/m/snapshots/abc", folder);
    (void)snprintf(owner, sizeof(owner), "%s/%s", of, model);
    const poprt_status status = prt_file_map_below(NULL, of, owner, relative, "weight", &blob);
    ck_assert_int_eq(status == POPRT_OK, blob != NULL);
    if (blob != NULL)
        ck_assert_mem_eq(blob->data, text, strlen(text));
    prt_blob_release(blob);
    return status;
}

static void make_link(const char *target, const char *name)
{
    ck_assert_int_eq(symlink(target, path_of(name)), 0);
}

/* Hugging Face's cache: snapshots of a model link to files that are called by their hashes. */
static void check_cache(void)
{
    static const char *const folders[] = { "m", "m/blobs", "m/blobs/deep", "m/snapshots",
        "m/snapshots/abc", "m/snapshots/abc/onnx" };
    make_folder();
    for (size_t i = 0; i < PRT_COUNT_OF(folders); i++)
        ck_assert_int_eq(mkdir(path_of(folders[i]), 0700), 0);
    make_file("m/blobs/aaa", "model");
    make_file("m/blobs/bbb", "weights");
    make_file("m/blobs/deep/ccc", "not beside");
    make_file("m/blobsx", "not in blobs");
    make_file("m/secret", "above");
    make_file("m/snapshots/abc/plain.onnx", "model");
    make_link("../../blobs/aaa", "m/snapshots/abc/model.onnx");
    make_link("../../blobs/bbb", "m/snapshots/abc/model.onnx_data");
    make_link("../../blobs/deep/ccc", "m/snapshots/abc/deep");
    make_link("../../blobsx", "m/snapshots/abc/near");
    make_link("../../secret", "m/snapshots/abc/secret");
    make_link("/etc/passwd", "m/snapshots/abc/passwd");
    make_link("../../../blobs/bbb", "m/snapshots/abc/onnx/weights");
    make_link("../../blobs", "m/snapshots/abc/all");
    ck_assert_int_eq(map_relative("model.onnx", "model.onnx_data", "weights"), POPRT_OK);
    ck_assert_int_eq(map_relative("model.onnx", "onnx/weights", "weights"), POPRT_OK);
    ck_assert_int_eq(map_relative("model.onnx", "all/bbb", "weights"), POPRT_OK);
    static const char *const refused[] = { "deep", "near", "secret", "passwd", "all/deep/ccc" };
    for (size_t i = 0; i < PRT_COUNT_OF(refused); i++)
        ck_assert_int_eq(map_relative("model.onnx", refused[i], ""), POPRT_E_IO);
    ck_assert_int_eq(map_relative("model.onnx", "../../blobs/bbb", ""), POPRT_E_PARSE);
    /* A model that is not a link may use its own folder only. */
    ck_assert_int_eq(map_relative("plain.onnx", "model.onnx_data", ""), POPRT_E_IO);
    ck_assert_int_eq(map_relative("absent.onnx", "model.onnx_data", ""), POPRT_E_IO);
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(caches_of_links_are_read)
{
    check_cache();
}
END_TEST

START_TEST(paths_outside_the_folder_are_refused)
{
    check_below();
}
END_TEST

/* The same without the system call openat2. */
START_TEST(outside_paths_are_refused_without_openat2)
{
#ifdef SYS_openat2
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { 4, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#endif
    check_below();
    check_cache();
}
END_TEST

START_TEST(descriptors_are_closed)
{
    const int before = dup(0);
    (void)close(before);
    check_below();
    check_cache();
    const int after = dup(0);
    (void)close(after);
    ck_assert_int_eq(before, after);
}
END_TEST

START_TEST(commit_replaces_and_abandon_does_not)
{
    make_folder();
    make_file("out", "old");
    prt_file_writer *writer = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &writer), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_write(writer, "new", 3), POPRT_OK);
    expect_content("out", "old");
    prt_file_writer_abandon(writer);
    expect_content("out", "old");
    ck_assert_uint_eq(count_files(), 1);

    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &writer), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_sink(writer, "new ", 4), 0);
    ck_assert_int_eq(prt_file_writer_sink(writer, "text", 4), 0);
    ck_assert_int_eq(prt_file_writer_sink(writer, NULL, 0), 0);
    ck_assert_int_eq(prt_file_writer_commit(writer), POPRT_OK);
    expect_content("out", "new text");
    ck_assert_uint_eq(count_files(), 1);
    remove_folder();
}
END_TEST

START_TEST(sizes_around_the_buffer_arrive_whole)
{
    make_folder();
    static unsigned char bytes[300000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    prt_file_writer *writer = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &writer), POPRT_OK);
    const size_t parts[] = { 1, 65535, 65536, 65537, 100, 0, 65436, 100 };
    size_t sum = 0;
    for (size_t i = 0; i < PRT_COUNT_OF(parts); i++) {
        ck_assert_int_eq(prt_file_writer_write(writer, bytes + sum, parts[i]), POPRT_OK);
        sum += parts[i];
    }
    ck_assert_int_eq(prt_file_writer_commit(writer), POPRT_OK);
    prt_blob *blob = NULL;
    ck_assert_int_eq(prt_file_map(NULL, path_of("out"), &blob), POPRT_OK);
    ck_assert_uint_eq(blob->size, sum);
    ck_assert_int_eq(memcmp(blob->data, bytes, sum), 0);
    prt_blob_release(blob);
    remove_folder();
}
END_TEST

START_TEST(two_writers_do_not_collide)
{
    make_folder();
    prt_file_writer *a = NULL, *b = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &a), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &b), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_write(a, "aaaa", 4), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_write(b, "bb", 2), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_commit(a), POPRT_OK);
    expect_content("out", "aaaa");
    ck_assert_int_eq(prt_file_writer_commit(b), POPRT_OK);
    expect_content("out", "bb");
    ck_assert_uint_eq(count_files(), 1);
    remove_folder();
}
END_TEST

START_TEST(failures_to_write_are_reported)
{
    make_folder();
    prt_file_writer *writer = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("no/out"), &writer), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(prt_file_writer_create(NULL, "/dev/null", &writer), POPRT_E_IO);
    ck_assert_int_eq(prt_file_writer_create(NULL, folder, &writer), POPRT_E_IO);
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("x/"), &writer), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(prt_file_writer_create(NULL, "", &writer), POPRT_E_IO);
    ck_assert_ptr_null(writer);
    ck_assert_uint_eq(count_files(), 0);
    remove_folder();
}
END_TEST

START_TEST(full_disk_keeps_the_old_file)
{
    make_folder();
    make_file("out", "old");
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = { 100000, 100000 };
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    static const char bytes[3 << 20] = { 0 };
    prt_file_writer *writer = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &writer), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_write(writer, bytes, sizeof(bytes)), POPRT_E_IO);
    ck_assert_str_eq(prt_error_last()->file, path);
    ck_assert_int_eq(prt_file_writer_sink(writer, "x", 1), 1);
    ck_assert_int_eq(prt_file_writer_commit(writer), POPRT_E_IO);
    expect_content("out", "old");
    ck_assert_uint_eq(count_files(), 1);
    remove_folder();
}
END_TEST

/* The caller only knows that its sink failed; the writer knows the cause. */
START_TEST(finish_reports_the_system_error)
{
    make_folder();
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = { 0, 0 };
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    static const char bytes[100000] = { 0 };
    prt_file_writer *writer = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &writer), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_sink(writer, bytes, sizeof(bytes)),
        0); /* still in the buffer */
    poprt_status status = POPRT_OK;
    for (int i = 0; i < 100 && status == POPRT_OK; i++)
        if (prt_file_writer_sink(writer, bytes, sizeof(bytes)) != 0)
            status = prt_fail(POPRT_E_IO, NULL, "the callback refused the bytes");
    ck_assert_int_eq(prt_file_writer_finish(writer, status), POPRT_E_IO);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "File too large"));
    ck_assert_str_eq(prt_error_last()->file, path);
    ck_assert_uint_eq(count_files(), 0);

    /* A failure before the disk's failure keeps its message. */
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("out"), &writer), POPRT_OK);
    status = prt_fail(POPRT_E_LIMIT, "x", "too many");
    ck_assert_int_eq(prt_file_writer_finish(writer, status), POPRT_E_LIMIT);
    ck_assert_str_eq(prt_error_last()->message, "too many");
    remove_folder();
}
END_TEST

/* Starts a process that begins to write `out`, waits for a byte and exits without a commit. */
static pid_t half_written(int *go)
{
    int begun[2], end[2];
    char byte = 0;
    ck_assert_int_eq(pipe(begun), 0);
    ck_assert_int_eq(pipe(end), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prt_file_writer *writer = NULL;
        if (prt_file_writer_create(NULL, path_of("out"), &writer) != POPRT_OK ||
            write(begun[1], "x", 1) != 1 || read(end[0], &byte, 1) != 1)
            _exit(1);
        _exit(0);
    }
    ck_assert_int_eq(read(begun[0], &byte, 1), 1);
    (void)close(begun[0]), (void)close(begun[1]), (void)close(end[0]);
    *go = end[1];
    return pid;
}

START_TEST(temporaries_of_dead_writers_are_removed)
{
    int go, how = 0;
    make_folder();
    make_file(".poprt-not-one", "stays");
    make_file(".poprt-1-2-3.tmp.txt", "stays");
    ck_assert_int_eq(mkdir(path_of(".poprt-1-2-3.tmp"), 0700), 0);
    const pid_t pid = half_written(&go);
    ck_assert_uint_eq(count_files(), 4);
    prt_file_writer *writer = NULL;
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("other"), &writer), POPRT_OK);
    ck_assert_int_eq(prt_file_writer_commit(writer), POPRT_OK);
    ck_assert_uint_eq(count_files(), 5); /* the other process is still writing */

    ck_assert_int_eq(write(go, "x", 1), 1);
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    ck_assert_uint_eq(count_files(), 5);
    ck_assert_int_eq(prt_file_writer_create(NULL, path_of("other"), &writer), POPRT_OK);
    ck_assert_uint_eq(count_files(), 5); /* its own temporary replaces that of the dead process */
    ck_assert_int_eq(prt_file_writer_commit(writer), POPRT_OK);
    ck_assert_uint_eq(count_files(), 4);
    remove_folder();
}
END_TEST

PRT_TEST_MAIN("base/file", maps_regular_files, map_failures_name_file_and_cause,
    caches_of_links_are_read, paths_outside_the_folder_are_refused,
    outside_paths_are_refused_without_openat2, descriptors_are_closed,
    commit_replaces_and_abandon_does_not, sizes_around_the_buffer_arrive_whole,
    two_writers_do_not_collide, failures_to_write_are_reported, full_disk_keeps_the_old_file,
    finish_reports_the_system_error, temporaries_of_dead_writers_are_removed)
