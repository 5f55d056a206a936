/* SPDX-License-Identifier: MIT */
/*
 * poprt/executable.h — an executable: a compiled model in memory, or mapped from a PopEF file. It
 * is immutable, reference-counted, and shared by sessions and threads.
 *
 * PopEF here is a dialect of libpoprt: it has the blobs, names and rules of Graphcore's format, in
 * a container of our own definition, because the original bytes are not public. Neither
 * implementation reads the files of the other.
 */
#ifndef POPRT_EXECUTABLE_H
#define POPRT_EXECUTABLE_H

#include "poprt/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_executable poprt_executable;

/*
 * Compiles a model. The executable keeps no pointer to the model. One error lists all unsupported
 * operators. The same model and options give the same bytes.
 *
 * Options "dim.NAME" make the program for these dimensions only, which is faster if a pass needs to
 * know them (`poprt inspect --passes`). A session of this executable may be given the same values
 * again. A dimension whose name is an expression of other names ("past + 1", "2*(a//4)") is
 * computed from them.
 */
POPRT_API poprt_status poprt_compile(const poprt_model *model, const poprt_config *config,
    poprt_executable **out);

/* A model that becomes a named program of an executable. */
typedef struct poprt_named_model {
    const char *name; /* 1 to 64 letters, digits, '_', '-' and '.'; unique */
    const poprt_model *model;
} poprt_named_model;

/*
 * Compiles 2 to 64 models to one executable, in which each is a program of its name:
 * poprt_session_run_program runs it. An executable is that of the models fused
 * (poprt_model_fuse, whose requirements apply): the inputs and outputs of program i are named
 * "graph<i>/<name>", and poprt_stepio_bind accepts "<program>/<name>" too. A session keeps the
 * weights of each program for itself. PopEF files keep the names. The models are not kept.
 */
POPRT_API poprt_status poprt_compile_programs(const poprt_named_model *programs, size_t count,
    const poprt_config *config, poprt_executable **out);

/* Returns the number of named programs, and the name of one, which lives as long as the executable;
 * 0 and NULL for an executable without. */
POPRT_API size_t poprt_executable_program_count(const poprt_executable *exec);
POPRT_API const char *poprt_executable_program_at(const poprt_executable *exec, size_t index);

/*
 * Creates a config with the options and dimensions that an executable was compiled with and keeps:
 * those of poprt_option_info::is_fixed that differ from their defaults. The caller releases it. To
 * open a file as PopTorch's load(filename, edit_opts_fn) does, a program gets the config, changes
 * options of sessions, and creates a session with it. Fails with POPRT_E_NOT_FOUND for a file that
 * was written before libpoprt stored options, and with POPRT_E_PARSE for one that states others.
 * Absent from a library without compiler.
 */
POPRT_API poprt_status poprt_executable_get_options(const poprt_executable *exec,
    poprt_config **out);

/* Opens a PopEF file by mapping it; of a folder, its file executable.popef. Weights are not read,
 * unless the option "verify" is "full": then the call verifies the checksum of every blob. Fails
 * with POPRT_E_ARG, and the name of the option, if `config` sets an option that the executable
 * keeps from its compilation (poprt_option_info::is_fixed) to another value. */
POPRT_API poprt_status poprt_executable_load_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out);

/* Opens PopEF bytes in memory. They must stay valid and unchanged until the executable and all its
 * sessions are released. Weights are used in place. */
POPRT_API poprt_status poprt_executable_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_executable **out);

/* Writes PopEF through a callback or to a file; the file is complete or absent. If `path` is a
 * folder, the file is executable.popef there; a slash at its end makes missing folders, with a
 * warning. If the executable was opened without "verify", the call compares the weights with the
 * checksums of their file. It fails with POPRT_E_PARSE and the name of the weight if a checksum
 * does not match, and never writes a new checksum for damaged bytes. */
POPRT_API poprt_status poprt_executable_save(const poprt_executable *exec, poprt_write_fn write,
    void *user);
POPRT_API poprt_status poprt_executable_save_file(const poprt_executable *exec, const char *path);

POPRT_API size_t poprt_executable_io_count(const poprt_executable *exec, int32_t direction);
POPRT_API poprt_status poprt_executable_io_at(const poprt_executable *exec, int32_t direction,
    size_t index, poprt_io_info *out);

/* Returns the metadata of the file of the model that was compiled. For PopEF files written before
 * libpoprt stored this, texts are "" and numbers 0. */
POPRT_API poprt_status poprt_executable_get_info(const poprt_executable *exec,
    poprt_model_info *out);

/* Returns the number of models that were fused (poprt_model_fuse) into the compiled model; 0 for a
 * model that is not fused. */
POPRT_API size_t poprt_executable_graph_count(const poprt_executable *exec);

/* Describes inputs, outputs, weights, memory plan and steps; see POPRT_FORMAT_*. All formats but
 * POPRT_FORMAT_SHARDING. */
POPRT_API poprt_status poprt_executable_describe(const poprt_executable *exec, int32_t format,
    poprt_write_fn write, void *user);

/* Describes the executable like poprt_executable_describe. In the formats SUMMARY and JSON the
 * memory is that of a session made with `config` (may be NULL), whose options "dim.NAME" set
 * symbolic dimensions. Fails with POPRT_E_NOT_FOUND for a name that the model does not have. */
POPRT_API poprt_status poprt_executable_describe_as(const poprt_executable *exec, int32_t format,
    const poprt_config *config, poprt_write_fn write, void *user);

/*
 * The memory of a session made with `config` (may be NULL), in bytes, before the session exists.
 * poprt_session_memory counts in the same way. The numbers are exact if all shapes are known: fixed
 * in the model, or set by "dim.NAME" of `config`. If, Loop and Scan are counted as with inputs of
 * zeros, and each of their bodies at least once.
 *
 * The numbers do not include:
 *  - values whose size is known only during a run: strings, sequences, outputs whose shape depends
 *    on contents;
 *  - copies of inputs that are not aligned to their elements;
 *  - scratch of operators of plug-ins;
 *  - scratch of operators without a fast kernel that read and write more than 16 MiB.
 *
 * While a symbolic dimension is open, `created` does not include the planned memory, and the other
 * members are 0.
 */
typedef struct poprt_memory_info {
    size_t struct_size; /* set by the caller */
    /* Bytes of a new session: planned memory, tables, aligned copies of weights. */
    size_t created;
    /* Bytes that the first runs add for kernels that need more scratch than the plan leaves
     * free. */
    size_t scratch;
    /* Bytes that a run without bound outputs adds, because the session then owns the results. */
    size_t outputs;
    int32_t is_planned; /* 1: every symbolic dimension is set; else 0 */
    uint32_t reserved;  /* 0 */
} poprt_memory_info;

/* Fills `out`. The call asks kernels only for their sizes and does not allocate the planned memory.
 * Any thread. */
POPRT_API poprt_status poprt_executable_get_memory(const poprt_executable *exec,
    const poprt_config *config, poprt_memory_info *out);

/* Returns `created` + `scratch`: the bytes that poprt_session_memory returns after the first runs
 * of a session if the caller binds every output. With a memory_limit of this number a session is
 * created and runs: tables that its creation and first runs hold for moments are not counted
 * against the limit. Any thread. */
POPRT_API poprt_status poprt_executable_session_memory(const poprt_executable *exec,
    const poprt_config *config, size_t *out);

/* Adds a reference and returns `exec`. Any thread. */
POPRT_API poprt_executable *poprt_executable_retain(poprt_executable *exec);
POPRT_API void poprt_executable_release(poprt_executable *exec);

#ifdef __cplusplus
}
#endif
#endif
