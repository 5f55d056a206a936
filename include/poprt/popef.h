/* SPDX-License-Identifier: MIT */
/*
 * poprt/popef.h — the blobs of a PopEF file, for programs that inspect files or add blobs of their
 * own. poprt/executable.h reads and writes whole executables; it skips opaque blobs.
 *
 * A file is a sequence of blobs, so that two files one after the other are a file. Each blob has a
 * descriptor, which is a JSON object, and a payload. Descriptors have the members of PopEF:
 *
 *     POPRT_POPEF_EXECUTABLE  name, compressed
 *     POPRT_POPEF_METADATA    executable, anchors, programFlow, ...
 *     POPRT_POPEF_TENSOR      name, tensorInfo {dataType, shape}
 *     POPRT_POPEF_FEED        name, tensorInfo, numTensors
 *     POPRT_POPEF_OPAQUE      name, executable
 */
#ifndef POPRT_POPEF_H
#define POPRT_POPEF_H

#include "poprt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    POPRT_POPEF_EXECUTABLE = 0,
    POPRT_POPEF_METADATA = 1,
    POPRT_POPEF_TENSOR = 2,
    POPRT_POPEF_FEED = 3,
    POPRT_POPEF_OPAQUE = 4
};

/* One blob. The pointers of a blob that poprt_popef_at returns live as long as the file. */
typedef struct poprt_popef_blob {
    size_t struct_size; /* set by the caller */
    int32_t type;       /* POPRT_POPEF_* */
    uint32_t reserved;
    const char *version; /* of the format, such as "1.0.0"; not used for writing */
    /* A JSON object, not zero-terminated. Blobs of a file also have its members payloadSize and
     * crc. */
    const char *descriptor;
    size_t descriptor_size;
    const void *payload;
    size_t payload_size;
    uint64_t offset, size;   /* of the whole blob in its file; `size` is not used for writing */
    uint64_t payload_offset; /* of the payload in the file; not used for writing */
} poprt_popef_blob;

/* A file that was opened. Any number of threads may read it. */
typedef struct poprt_popef poprt_popef;

/* Opens a file by mapping it, and checks headers, sizes, and the checksums of descriptors and of
 * all payloads but tensors and feeds; if `verify` is not 0, of these too. Blobs of unknown types
 * are left out. Fails with POPRT_E_PARSE for other and damaged files, and with POPRT_E_VERSION for
 * another major version of the format. */
POPRT_API poprt_status poprt_popef_open_file(const char *path, int32_t verify, poprt_popef **out);

/* Opens bytes in memory, which must stay valid and unchanged until the release. */
POPRT_API poprt_status poprt_popef_open_bytes(const void *bytes, size_t size, int32_t verify,
    poprt_popef **out);

/* Returns the number of blobs. */
POPRT_API size_t poprt_popef_count(const poprt_popef *file);

/* Returns a blob by index, in the order of the file. Fails with POPRT_E_NOT_FOUND past the end. */
POPRT_API poprt_status poprt_popef_at(const poprt_popef *file, size_t index, poprt_popef_blob *out);

/* Releases the file, which may be NULL. */
POPRT_API void poprt_popef_release(poprt_popef *file);

/*
 * Writes a blob with its checksums. `blob->offset` is the number of bytes in front of it in the
 * file, because the payloads of tensors and feeds are aligned there. Fails with POPRT_E_ARG if the
 * type is unknown, or the descriptor is not a JSON object or has payloadSize or crc.
 */
POPRT_API poprt_status poprt_popef_write(const poprt_popef_blob *blob, poprt_write_fn write,
    void *user);

#ifdef __cplusplus
}
#endif
#endif
