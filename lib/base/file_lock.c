/* SPDX-License-Identifier: MIT */
/* file_lock.c — see file_lock.h. */
#define _DEFAULT_SOURCE
#include "base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether the path still names the open file. A former holder may have removed it between
 * the opening and the lock. */
static bool is_named(const char *path, int fd)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
        open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

int prt_file_lock_take(const char *path)
{
    struct stat info;
    const int fd =
        open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0)
        return PRT_FILE_LOCK_NONE;
    const bool locked =
        fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0;
    const int error = errno;
    if (locked && is_named(path, fd))
        return fd;
    (void)close(fd);
    return locked || error == EWOULDBLOCK || error == EINTR ? PRT_FILE_LOCK_BUSY
                                                            : PRT_FILE_LOCK_NONE;
}

void prt_file_lock_release(const char *path, int lock)
{
    if (lock < 0)
        return;
    (void)unlink(path);
    (void)close(lock);
}
