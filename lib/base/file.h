/* SPDX-License-Identifier: MIT */
/*
 * file.h — file maps (a whole file, or a file below a folder) and atomic writes: a reader sees the
 * old file or the new one, never a mixture.
 */
#ifndef PRT_BASE_FILE_H
#define PRT_BASE_FILE_H

#include "base/blob.h"

/* Maps a regular file read-only. An empty file gives an empty blob. The size of the file counts
 * against the allocator's limit until the blob is released. */
poprt_status prt_file_map(const prt_allocator *allocator, const char *path, prt_blob **out);

/*
 * Maps `relative`, a path below `folder`, for external data named by a model. The path must not be
 * absolute, must not contain "..", and must name a regular file with one hard link. Symbolic links
 * are allowed if they end below the folder, or in the folder that holds the target of `owner` (the
 * path of the model; may be NULL), because model caches store files under other names and link to
 * them. `subject` names the requester in errors.
 */
poprt_status prt_file_map_below(const prt_allocator *allocator, const char *folder,
    const char *owner, const char *relative, const char *subject, prt_blob **out);

/*
 * A file that is being written. Bytes go to a temporary in the folder of `path`. `commit` syncs the
 * temporary and renames it to `path`; `abandon` removes it. Each of them releases the writer.
 * `finish` commits if `status` is POPRT_OK and abandons otherwise. If the writer itself has failed,
 * `finish` records the system's error again, because the caller may only know that a callback
 * refused its bytes.
 *
 * The temporary is named `.poprt-*.tmp` and stays locked (flock) while its writer lives. A new
 * writer removes the unlocked temporaries of the folder: their processes ended without a commit.
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

/* Records the errno `error` of the action `what` on `path`, and returns its status. */
poprt_status prt_file_fail(int error, const char *path, const char *what);

#endif
