/* SPDX-License-Identifier: MIT */
/*
 * file.h — files: mapped whole or in part, and written so that a reader sees the old file or the
 * new one, never a torn one.
 */
#ifndef PRT_BASE_FILE_H
#define PRT_BASE_FILE_H

#include "base/blob.h"

/* Maps a regular file read-only. An empty file gives an empty blob. The bytes of the file count
 * against the allocator's limit until the blob is released. */
poprt_status prt_file_map(const prt_allocator *allocator, const char *path, prt_blob **out);

/*
 * Maps `relative` as seen from `folder`, for data a model names: the path must stay below the
 * folder (no absolute path, no ".."), and name a regular file with one hard link. Symbolic links
 * may be on the way when they end below the folder, or in the folder of the file that `owner` (the
 * path of the model; may be NULL) is in the end: caches of models keep files under other names and
 * link to them. `subject` names who asked, for errors.
 */
poprt_status prt_file_map_below(const prt_allocator *allocator, const char *folder,
    const char *owner, const char *relative, const char *subject, prt_blob **out);

/*
 * A file being written: bytes go to a temporary beside `path`; `commit` syncs and renames it into
 * place; `abandon` removes it. Either ends the writer. `finish` is one of them: commit if `status`
 * is POPRT_OK; otherwise abandon, and what the system said is recorded again if it was the writer
 * that failed, for a caller in between may know no more than that a callback refused its bytes.
 *
 * The temporary is `.poprt-*.tmp`, and locked (flock) while its writer lives. A writer that begins
 * removes those of the folder that nobody holds a lock of: their processes ended without commit.
 */
typedef struct prt_file_writer prt_file_writer;
poprt_status prt_file_writer_create(const prt_allocator *allocator, const char *path,
    prt_file_writer **out);
poprt_status prt_file_writer_write(prt_file_writer *writer, const void *bytes, size_t size);
poprt_status prt_file_writer_commit(prt_file_writer *writer);
void prt_file_writer_abandon(prt_file_writer *writer);
poprt_status prt_file_writer_finish(prt_file_writer *writer, poprt_status status);

/* prt_file_writer_write with the shape of poprt_write_fn; `user` is the writer. */
int32_t prt_file_writer_sink(void *user, const void *bytes, size_t size);

/* Records what the operating system said (`error` is an errno) about doing `what` to `path`. */
poprt_status prt_file_fail(int error, const char *path, const char *what);

#endif
