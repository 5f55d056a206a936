/* SPDX-License-Identifier: MIT */
/* test_file_lock.c — locks between processes: one holder, freed by its end, no file is left. */
#define _DEFAULT_SOURCE
#include "base/file_lock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check_main.h"

static char folder[] = "/tmp/poprt-lock-XXXXXX", path[64];

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/lock", folder);
}

START_TEST(one_call_holds_a_lock)
{
    begin();
    const int lock = prt_file_lock_take(path);
    ck_assert_int_ge(lock, 0);
    ck_assert_int_eq(prt_file_lock_take(path), PRT_FILE_LOCK_BUSY);
    prt_file_lock_release(path, lock);
    ck_assert_int_ne(access(path, F_OK), 0);
    const int again = prt_file_lock_take(path);
    ck_assert_int_ge(again, 0);
    prt_file_lock_release(path, again);
    prt_file_lock_release(path, PRT_FILE_LOCK_NONE);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(the_end_of_a_process_frees_its_lock)
{
    int fds[2], status;
    char byte = 0;
    begin();
    ck_assert_int_eq(pipe(fds), 0);
    const pid_t child = fork();
    if (child == 0) {
        byte = prt_file_lock_take(path) >= 0;
        (void)!write(fds[1], &byte, 1);
        for (;;)
            (void)pause();
    }
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 1);
    ck_assert_int_eq(prt_file_lock_take(path), PRT_FILE_LOCK_BUSY);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    const int lock = prt_file_lock_take(path);
    ck_assert_int_ge(lock, 0);
    prt_file_lock_release(path, lock);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(other_files_are_not_locked)
{
    begin();
    ck_assert_int_eq(prt_file_lock_take(folder), PRT_FILE_LOCK_NONE);
    ck_assert_int_eq(symlink("target", path), 0);
    ck_assert_int_eq(prt_file_lock_take(path), PRT_FILE_LOCK_NONE);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(prt_file_lock_take(path), PRT_FILE_LOCK_NONE);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(prt_file_lock_take(path), PRT_FILE_LOCK_NONE);
}
END_TEST

PRT_TEST_MAIN("base/file_lock", one_call_holds_a_lock, the_end_of_a_process_frees_its_lock,
    other_files_are_not_locked)
