/* SPDX-License-Identifier: MIT */
/*
 * poprt/executable.h — a compiled model: immutable, counted, shared by sessions and threads; in
 * memory or mapped from a PopEF file.
 *
 * PopEF here is libpoprt's own dialect: the same blobs, names and rules as Graphcore's format, in
 * a container of our definition (the original bytes are not public). Neither reads the other's
 * files.
 */
#ifndef POPRT_EXECUTABLE_H
#define POPRT_EXECUTABLE_H

#include "poprt/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_executable poprt_executable;

/*
 * Compiles a model. The executable keeps no pointer to it. Unsupported operators are all listed in
 * one error. The same model and options give the same bytes.
 *
 * Options "dim.NAME" make the program for these dimensions alone, which is faster where a pass
 * needs to know them (`poprt inspect --passes`); a session of it may be given the same again.
 * Dimensions whose names say how large they are by the names of others ("past + 1", "2*(a//4)")
 * follow from those.
 */
POPRT_API poprt_status poprt_compile(const poprt_model *model, const poprt_config *config,
    poprt_executable **out);

/* Opens a PopEF file by mapping it: weights are not read. With the option "verify" = "full" every
 * checksum is. */
POPRT_API poprt_status poprt_executable_load_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out);

/* The same from memory, which must stay valid and unchanged until the executable and all its
 * sessions are released. Weights are used in place. */
POPRT_API poprt_status poprt_executable_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_executable **out);

/* Writes PopEF through a callback, or to a file (complete or not at all). Weights of a file that
 * was opened without "verify" are compared with its checksums now: damaged ones are an error
 * (POPRT_E_PARSE, which names the weight), and never get a checksum that fits them. */
POPRT_API poprt_status poprt_executable_save(const poprt_executable *exec, poprt_write_fn write,
    void *user);
POPRT_API poprt_status poprt_executable_save_file(const poprt_executable *exec, const char *path);

POPRT_API size_t poprt_executable_io_count(const poprt_executable *exec, int32_t direction);
POPRT_API poprt_status poprt_executable_io_at(const poprt_executable *exec, int32_t direction,
    size_t index, poprt_io_info *out);

/* What the file of the model it was compiled from said of itself; of PopEF files from before
 * libpoprt kept this, everything is "" or 0. */
POPRT_API poprt_status poprt_executable_get_info(const poprt_executable *exec,
    poprt_model_info *out);

/* How many models were fused (poprt_model_fuse) in what was compiled; 0 for a plain model. */
POPRT_API size_t poprt_executable_graph_count(const poprt_executable *exec);

/* Describes inputs, outputs, weights, memory plan and steps; see POPRT_FORMAT_*. */
POPRT_API poprt_status poprt_executable_describe(const poprt_executable *exec, int32_t format,
    poprt_write_fn write, void *user);

/* The same, and the summary and JSON have the memory of a session made with `config` (may be NULL):
 * options "dim.NAME" give sizes to symbolic dimensions. POPRT_E_NOT_FOUND for a name that the model
 * does not have. */
POPRT_API poprt_status poprt_executable_describe_as(const poprt_executable *exec, int32_t format,
    const poprt_config *config, poprt_write_fn write, void *user);

/*
 * The bytes of a session made with `config` (may be NULL), as poprt_session_memory counts them,
 * before the session exists. They are exact where all shapes are known: fixed in the model, or
 * given by "dim.NAME" of `config`. If, Loop and Scan count as with inputs of zeros, each of their
 * bodies at least once. The bytes leave out values whose size only a run tells (strings,
 * sequences, outputs whose shape depends on contents), copies of inputs that are not aligned to
 * their elements, scratch of operators of plug-ins, and scratch of operators without a fast kernel
 * that read and write more than 16 MiB. While symbolic dimensions are open, `created` leaves out
 * the planned memory, and the other members are 0.
 */
typedef struct poprt_memory_info {
    size_t struct_size; /* set by the caller */
    size_t created;     /* a new session: planned memory, tables, aligned copies of weights */
    size_t scratch; /* added by the first runs: kernels that need more than the plan leaves free */
    size_t outputs; /* added by a run with no output bound: the results are the session's */
    int32_t is_planned; /* 1: no symbolic dimension is open; else 0 */
    uint32_t reserved;  /* 0 */
} poprt_memory_info;

/* Fills in `out`. Kernels are called for their sizes alone, and the planned memory is not
 * allocated. Any thread. */
POPRT_API poprt_status poprt_executable_get_memory(const poprt_executable *exec,
    const poprt_config *config, poprt_memory_info *out);

/* `created` and `scratch` together: the bytes that poprt_session_memory returns after the first
 * runs of a session, when the caller binds every output. Any thread. */
POPRT_API poprt_status poprt_executable_session_memory(const poprt_executable *exec,
    const poprt_config *config, size_t *out);

/* One more owner; any thread. Returns `exec`. */
POPRT_API poprt_executable *poprt_executable_retain(poprt_executable *exec);
POPRT_API void poprt_executable_release(poprt_executable *exec);

#ifdef __cplusplus
}
#endif
#endif
