/* SPDX-License-Identifier: MIT */
/*
 * file_write.c — atomic file writes.
 *
 * Bytes go to a temporary in the folder of the target. The folder is held by a descriptor, so that
 * a later chdir changes nothing. A commit syncs the data, renames the temporary and syncs the
 * folder. A crash at any point leaves the old file or the new one, and at worst a temporary.
 */
#define _DEFAULT_SOURCE
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"

/* SMALL, PIECE: bytes. A file larger than SMALL is written in pieces of PIECE bytes, each at a
 * multiple of PIECE. A file system with large folios (ext4 of Linux 6.16) then caches the file in
 * folios of the size of huge pages, and a map of it takes one page fault each: 0.05 ms for 64 MiB
 * instead of 3 ms. NAME_TRIES: names to try for the temporary. */
enum { SMALL = 1 << 16, PIECE = 1 << 21, NAME_TRIES = 100 };

struct prt_file_writer {
    const prt_allocator *allocator;
    int fd, folder;
    int error;             /* errno of the first failure; 0: no failure */
    size_t used, capacity; /* bytes of the buffer, whose position is the end of the file so far */
    unsigned char *buffer;
    char *path;       /* the target, as given by the caller */
    const char *base; /* the last component of the target, within `path` */
    char temporary[48];
};

/* Chooses a name that another writer is unlikely to use; O_EXCL excludes a collision. The name does
 * not depend on the target's, which may have the maximum length already. */
static void name_temporary(prt_file_writer *writer, unsigned attempt)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const unsigned long long mixed =
        (unsigned long long)now.tv_sec * 1000000007ull + (unsigned long long)now.tv_nsec;
    (void)snprintf(writer->temporary, sizeof(writer->temporary), ".poprt-%ld-%llx-%u.tmp",
        (long)getpid(), mixed & 0xffffffffffffull, attempt);
}

static poprt_status open_folder(prt_file_writer *writer)
{
    const size_t n = (size_t)(writer->base - writer->path);
    const char *name = ".";
    char *copy = NULL;
    if (n != 0) {
        copy = prt_mem_alloc(writer->allocator, n + 1);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        memcpy(copy, writer->path, n);
        name = copy;
    }
    do
        writer->folder = open(name, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    while (writer->folder < 0 && errno == EINTR);
    const int error = errno;
    prt_mem_free(writer->allocator, copy);
    if (writer->folder < 0)
        return prt_file_fail(error, writer->path, "open the folder of the file");
    return POPRT_OK;
}

/* Opens the file of this name and locks it. Returns -1 where another process holds its lock. */
static int lock_abandoned(int folder, const char *name)
{
    struct stat open_one, named;
    const int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &open_one) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(open_one.st_mode) &&
        open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev)
        return fd;
    (void)close(fd);
    return -1;
}

static bool is_temporary(const char *name)
{
    const size_t n = strlen(name);
    return n > sizeof(".poprt-.tmp") && strncmp(name, ".poprt-", 7) == 0 &&
        strcmp(name + n - 4, ".tmp") == 0;
}

/* Removes temporaries whose writers ended without a commit or abandon. Where the file system has no
 * flock, they stay. */
static void remove_abandoned(const prt_file_writer *writer)
{
    const int fd = openat(writer->folder, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL && fd >= 0)
        (void)close(fd);
    for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        const int held = is_temporary(e->d_name) ? lock_abandoned(writer->folder, e->d_name) : -1;
        if (held < 0)
            continue;
        (void)unlinkat(writer->folder, e->d_name, 0);
        (void)close(held);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

/* Creates the temporary and locks it. Returns -1 with errno set; EEXIST: the caller tries another
 * name. */
static int create_locked(const prt_file_writer *writer)
{
    struct stat info;
    const int fd = openat(writer->folder, writer->temporary,
        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -1;
    /* Another writer may have taken the unlocked temporary for abandoned. */
    const bool lost = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!lost && fstat(fd, &info) == 0 && info.st_nlink != 0)
        return fd;
    (void)close(fd);
    (void)unlinkat(writer->folder, writer->temporary, 0);
    errno = EEXIST;
    return -1;
}

static poprt_status open_temporary(prt_file_writer *writer)
{
    /* A rename onto a device would replace it, and onto a folder would fail: refuse both before any
     * work. */
    struct stat info;
    if (writer->base[0] == '\0' ||
        (fstatat(writer->folder, writer->base, &info, 0) == 0 && !S_ISREG(info.st_mode)))
        return prt_fail_in_file(prt_fail(POPRT_E_IO, NULL,
                                    "not a regular file; give the path of a file to write"),
            writer->path);
    remove_abandoned(writer);
    unsigned attempt = 0;
    do {
        name_temporary(writer, attempt);
        writer->fd = create_locked(writer);
    } while (writer->fd < 0 && (errno == EEXIST || errno == EINTR) && ++attempt < NAME_TRIES);
    if (writer->fd < 0)
        return prt_file_fail(errno, writer->path, "create a temporary beside the file");
    return POPRT_OK;
}

/* Closes the descriptors and frees the writer; the files of the folder stay. */
static void end(prt_file_writer *writer)
{
    if (writer->fd >= 0)
        (void)close(writer->fd);
    if (writer->folder >= 0)
        (void)close(writer->folder);
    prt_mem_free(writer->allocator, writer->buffer);
    prt_mem_free(writer->allocator, writer->path);
    prt_mem_free(writer->allocator, writer);
}

poprt_status prt_file_writer_create(const prt_allocator *allocator, const char *path,
    prt_file_writer **out)
{
    prt_file_writer *writer = prt_mem_alloc(allocator, sizeof(*writer));
    if (writer == NULL)
        return POPRT_E_NOMEM;
    writer->allocator = allocator;
    writer->fd = writer->folder = -1;
    const size_t size = strlen(path) + 1;
    writer->path = prt_mem_alloc(allocator, size);
    writer->buffer = prt_mem_alloc_raw(allocator, SMALL);
    writer->capacity = SMALL;
    poprt_status status = writer->path != NULL && writer->buffer != NULL ? POPRT_OK : POPRT_E_NOMEM;
    if (status == POPRT_OK) {
        memcpy(writer->path, path, size);
        const char *slash = strrchr(writer->path, '/');
        writer->base = slash != NULL ? slash + 1 : writer->path;
        status = open_folder(writer);
    }
    if (status == POPRT_OK)
        status = open_temporary(writer);
    if (status != POPRT_OK) {
        end(writer);
        return status;
    }
    *out = writer;
    return POPRT_OK;
}

static poprt_status broken(const prt_file_writer *writer, const char *what)
{
    return prt_file_fail(writer->error, writer->path, what);
}

/* Writes all bytes. The writer keeps a failure, so that a commit sees it. */
static poprt_status write_all(prt_file_writer *writer, const unsigned char *bytes, size_t size)
{
    while (size != 0 && writer->error == 0) {
        const ssize_t n = write(writer->fd, bytes, size < (1u << 30) ? size : 1u << 30);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            writer->error = n == 0 ? EIO : errno;
        }
    }
    return writer->error == 0 ? POPRT_OK : broken(writer, "write the file");
}

static poprt_status flush(prt_file_writer *writer)
{
    const size_t used = writer->used;
    writer->used = 0;
    return write_all(writer, writer->buffer, used);
}

/* Replaces the buffer by one of PIECE bytes, once the file exceeds SMALL. */
static poprt_status grow(prt_file_writer *writer)
{
    unsigned char *buffer = prt_mem_alloc_raw(writer->allocator, PIECE);
    if (buffer == NULL) {
        writer->error = ENOMEM;
        return POPRT_E_NOMEM;
    }
    memcpy(buffer, writer->buffer, writer->used);
    prt_mem_free(writer->allocator, writer->buffer);
    writer->buffer = buffer;
    writer->capacity = PIECE;
    return POPRT_OK;
}

poprt_status prt_file_writer_write(prt_file_writer *writer, const void *bytes, size_t size)
{
    if (writer->error != 0)
        return broken(writer, "write the file");
    if (writer->capacity == SMALL && size > SMALL - writer->used)
        PRT_TRY(grow(writer));
    const unsigned char *from = bytes;
    while (size != 0) {
        size_t n = writer->capacity - writer->used;
        if (writer->used == 0 && size >= n) {
            n = size / n * n;
            PRT_TRY(write_all(writer, from, n));
        } else {
            n = size < n ? size : n;
            memcpy(writer->buffer + writer->used, from, n);
            writer->used += n;
            if (writer->used == writer->capacity)
                PRT_TRY(flush(writer));
        }
        from += n;
        size -= n;
    }
    return POPRT_OK;
}

static int sync_retry(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result;
}

/* Flushes, syncs and renames. The file stays open, and so locked, until after the rename, so that
 * no other writer takes the temporary for abandoned. */
static poprt_status put_in_place(prt_file_writer *writer)
{
    PRT_TRY(flush(writer));
    if (sync_retry(writer->fd) != 0)
        return prt_file_fail(errno, writer->path, "sync the file");
    if (renameat(writer->folder, writer->temporary, writer->folder, writer->base) != 0)
        return prt_file_fail(errno, writer->path, "put the file into place");
    return POPRT_OK;
}

poprt_status prt_file_writer_commit(prt_file_writer *writer)
{
    poprt_status status = put_in_place(writer);
    if (status != POPRT_OK) {
        prt_file_writer_abandon(writer);
        return status;
    }
    /* Some file systems cannot sync a folder and answer EINVAL: the commit is then complete. */
    if (sync_retry(writer->folder) != 0 && errno != EINVAL && errno != ENOTSUP)
        status = prt_file_fail(errno, writer->path, "sync the folder of the file");
    end(writer);
    return status;
}

void prt_file_writer_abandon(prt_file_writer *writer)
{
    if (writer == NULL)
        return;
    (void)unlinkat(writer->folder, writer->temporary, 0);
    end(writer);
}

poprt_status prt_file_writer_finish(prt_file_writer *writer, poprt_status status)
{
    if (status == POPRT_OK)
        return prt_file_writer_commit(writer);
    if (writer->error != 0)
        status = broken(writer, "write the file");
    prt_file_writer_abandon(writer);
    return status;
}

int32_t prt_file_writer_sink(void *user, const void *bytes, size_t size)
{
    return prt_file_writer_write(user, bytes, size) == POPRT_OK ? 0 : 1;
}
