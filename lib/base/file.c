/* SPDX-License-Identifier: MIT */
/*
 * file.c — read-only file maps.
 *
 * A map shows the file itself: a process that truncates a mapped file takes the pages away from the
 * reader. This is the price of loading weights without a copy. A file that is replaced by a rename,
 * as in file_write.c, is not affected.
 */
#define _DEFAULT_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_openat2
/* openat2 of Linux 5.6. Its header is missing if the C library is installed without the
 * kernel's. */
struct how_to_open {
    uint64_t flags, mode, resolve;
};
enum { NO_MAGICLINKS = 0x02, NO_SYMLINKS = 0x04, BENEATH = 0x08 }; /* flags of `resolve` */
#endif

/* O_NONBLOCK keeps the open from blocking on a FIFO. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, NAME_SIZE = 256 };

static const char *advice(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "check the path";
    case EACCES:
    case EPERM:
        return "check the permissions of the file and its folders";
    case EMFILE:
    case ENFILE:
        return "close files or raise the limit on open files";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "free some space or write elsewhere";
    case EROFS:
        return "write elsewhere";
    case ENAMETOOLONG:
        return "use a shorter path";
    case ENOMEM:
        return "free some memory";
    default:
        return "try again or check the storage";
    }
}

poprt_status prt_file_fail(int error, const char *path, const char *what)
{
    char text[128];
    if (strerror_r(error, text, sizeof(text)) != 0)
        text[0] = '\0';
    poprt_status status = POPRT_E_IO;
    if (error == ENOENT || error == ENOTDIR)
        status = POPRT_E_NOT_FOUND;
    else if (error == ENOMEM)
        status = POPRT_E_NOMEM;
    (void)prt_fail(status, NULL, "cannot %s: %s (error %d); %s", what, text, error, advice(error));
    return prt_fail_in_file(status, path);
}

static poprt_status refuse(poprt_status status, const char *path, const char *subject,
    const char *why)
{
    return prt_fail_in_file(prt_fail(status, subject, "%s", why), path);
}

static int open_retry(int folder, const char *path, int flags)
{
    int fd;
    do
        fd = openat(folder, path, flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* `user` is the allocator that counts the file. */
static void unmap(void *user, const void *data, size_t size)
{
    (void)munmap((void *)(uintptr_t)data, size);
    prt_mem_uncount(user, size);
}

/* Maps an open file whose `info` is known. */
static poprt_status map_open(const prt_allocator *allocator, int fd, const struct stat *info,
    const char *path, prt_blob **out)
{
    if (info->st_size == 0)
        return prt_blob_create(allocator, 0, out);
    if ((uint64_t)info->st_size > PTRDIFF_MAX)
        return refuse(POPRT_E_LIMIT, path, NULL, "the file is larger than the address space");
    const size_t size = (size_t)info->st_size;
    void *owner = (void *)(uintptr_t)allocator;
    PRT_TRY(prt_mem_count(allocator, size));
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        prt_mem_uncount(allocator, size);
        return prt_file_fail(errno, path, "map the file");
    }
    const poprt_status status = prt_blob_borrow(allocator, data, size, unmap, owner, out);
    if (status != POPRT_OK)
        unmap(owner, data, size);
    return status;
}

poprt_status prt_file_map(const prt_allocator *allocator, const char *path, prt_blob **out)
{
    const int fd = open_retry(AT_FDCWD, path, OPEN_FLAGS);
    if (fd < 0)
        return prt_file_fail(errno, path, "open the file");
    struct stat info;
    poprt_status status;
    if (fstat(fd, &info) != 0)
        status = prt_file_fail(errno, path, "inspect the file");
    else if (!S_ISREG(info.st_mode))
        status = refuse(POPRT_E_IO, path, NULL, "not a regular file; give the path of one");
    else
        status = map_open(allocator, fd, &info, path, out);
    (void)close(fd);
    return status;
}

/* Returns the length of the first component of `path`, up to a slash or the end. */
static size_t component(const char *path)
{
    const char *slash = strchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) : strlen(path);
}

static const char *skip_slashes(const char *path)
{
    while (*path == '/')
        path++;
    return path;
}

/* Returns why a path cannot name a file below a folder, judged by its spelling; NULL when it
 * can. */
static const char *why_not_below(const char *path)
{
    if (path[0] == '\0')
        return "the file name is empty; name a file below the model's folder";
    if (path[0] == '/')
        return "the file name is absolute; name a file below the model's folder";
    for (const char *p = path; *p != '\0';) {
        const size_t n = component(p);
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return "the file name has a \"..\"; name a file below the model's folder";
        if (n >= NAME_SIZE)
            return "the file name has a part longer than 255 bytes";
        p = skip_slashes(p + n);
    }
    return NULL;
}

/* Opens a file by one openat per component and refuses symbolic links: for kernels without openat2.
 * Returns -1 with errno set. A link gives ELOOP, or ENOTDIR in the place of a folder. */
static int open_by_steps(int folder, const char *path)
{
    int at = folder;
    for (const char *p = path;;) {
        char name[NAME_SIZE];
        const size_t n = component(p);
        memcpy(name, p, n);
        name[n] = '\0';
        p = skip_slashes(p + n);
        const bool last = *p == '\0';
        const int next = open_retry(at, name,
            last ? OPEN_FLAGS | O_NOFOLLOW : O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW);
        const int error = errno;
        if (at != folder)
            (void)close(at);
        errno = error;
        if (next < 0 || last)
            return next;
        at = next;
    }
}

static int open_below(int folder, const char *path)
{
#ifdef SYS_openat2
    const struct how_to_open how = { .flags = OPEN_FLAGS | O_NOFOLLOW,
        .resolve = BENEATH | NO_SYMLINKS | NO_MAGICLINKS };
    /* The kernel answers EAGAIN while another process renames folders. */
    for (int tries = 0; tries < 64; tries++) {
        const long fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EINTR && errno != EAGAIN)
            break;
    }
    /* A sandbox may answer EPERM to unknown system calls. open_by_steps is slower and equally
     * strict. */
    if (errno != ENOSYS && errno != EPERM && errno != EINVAL && errno != E2BIG)
        return -1;
#endif
    return open_by_steps(folder, path);
}

/* Returns the length of the folder of an absolute path without links, at least 1. */
static size_t folder_part(const char *path)
{
    const size_t n = (size_t)(strrchr(path, '/') - path);
    return n != 0 ? n : 1;
}

/* Opens `path`, which is absolute and without links, relative to the folder in its first `n` bytes.
 * Fails if a component below the folder has become a link in the meantime. */
static int open_from(char *path, size_t n)
{
    const char *rest = skip_slashes(path + n);
    const char kept = path[n];
    if (n > 1)
        path[n] = '\0';
    const int at = open_retry(AT_FDCWD, n > 1 ? path : "/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    path[n] = kept;
    if (at < 0)
        return -1;
    const int fd = open_below(at, rest);
    const int error = errno;
    (void)close(at);
    errno = error;
    return fd;
}

/*
 * Resolves symbolic links between `folder` and `relative`. Opens the target if it lies below the
 * folder, or in the folder that holds the target of `owner`. Returns -1 with errno set otherwise;
 * ELOOP if the target lies elsewhere.
 */
static int open_linked(const char *folder, const char *owner, const char *relative)
{
    char path[PATH_MAX], end[PATH_MAX], real_folder[PATH_MAX];
    const int n = snprintf(path, sizeof(path), "%s/%s", folder[0] != '\0' ? folder : ".", relative);
    if (n < 0 || (size_t)n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (realpath(path, end) == NULL)
        return -1;
    if (realpath(folder[0] != '\0' ? folder : ".", real_folder) != NULL) {
        const size_t size = strlen(real_folder);
        if (strncmp(end, real_folder, size) == 0 && (size == 1 || end[size] == '/'))
            return open_from(end, size);
    }
    if (owner != NULL && realpath(owner, real_folder) != NULL &&
        folder_part(real_folder) == folder_part(end) &&
        memcmp(real_folder, end, folder_part(end)) == 0)
        return open_from(end, folder_part(end));
    errno = ELOOP;
    return -1;
}

poprt_status prt_file_map_below(const prt_allocator *allocator, const char *folder,
    const char *owner, const char *relative, const char *subject, prt_blob **out)
{
    const char *why = why_not_below(relative);
    if (why != NULL)
        return refuse(POPRT_E_PARSE, relative, subject, why);
    const int at =
        open_retry(AT_FDCWD, folder[0] != '\0' ? folder : ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (at < 0)
        return prt_file_fail(errno, folder, "open the folder");
    int fd = open_below(at, relative);
    /* ENOTDIR: a folder in the path may be a link. */
    if (fd < 0 && (errno == ELOOP || errno == EXDEV || errno == ENOTDIR))
        fd = open_linked(folder, owner, relative);
    const int error = errno;
    (void)close(at);
    if (fd < 0 && (error == ELOOP || error == EXDEV))
        return refuse(POPRT_E_IO, relative, subject,
            "a symbolic link leaves the model's folder; the file must lie below that folder, or in "
            "the folder of the file that the model's own link leads to");
    if (fd < 0)
        return prt_fail_about(prt_file_fail(error, relative,
                                  "open the file below the model's folder"),
            subject);
    struct stat info;
    poprt_status status;
    if (fstat(fd, &info) != 0)
        status = prt_file_fail(errno, relative, "inspect the file");
    else if (!S_ISREG(info.st_mode))
        status = refuse(POPRT_E_IO, relative, subject, "not a regular file");
    else if (info.st_nlink != 1)
        status = refuse(POPRT_E_IO, relative, subject,
            "the file has several hard links; copy it so that it has one");
    else
        status = map_open(allocator, fd, &info, relative, out);
    (void)close(fd);
    return status;
}
