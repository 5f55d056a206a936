/* SPDX-License-Identifier: MIT */
/* value.h — reads tensors from files and writes them, for all commands: prt_tensor in an arena. */
#ifndef PRT_TOOLS_COMMON_VALUE_H
#define PRT_TOOLS_COMMON_VALUE_H

#include <stdio.h>

#include "base/blob.h"
#include "tensor/tensor.h"
#include "tools/common/tool.h"

/* Mapped files that values point into, kept until the command ends. */
typedef struct prt_files {
    prt_blob **data;
    uint32_t count, capacity;
} prt_files;

void prt_files_release(prt_files *files);

/* Reads .npy, or .pb of ONNX by the type in `info`. The file stays mapped in `files`. */
poprt_status prt_value_read(prt_tool *tool, prt_files *files, const char *path,
    const poprt_io_info *info, prt_tensor *out);

/*
 * Makes random contents for a tensor of this type and shape. Element i of input `index` comes from
 * the i-th number of SplitMix64 started at seed + index * 2^32. Floats and complex parts are in
 * [-1, 1); integers, bools and strings are 0 or 1 (its top bit).
 */
poprt_status prt_value_random(prt_arena *arena, int32_t dtype, uint32_t rank, const int64_t *dims,
    uint64_t seed, uint32_t index, prt_tensor *out);

/* Binds a value to an input. */
poprt_status prt_value_bind(prt_arena *arena, poprt_stepio *io, size_t slot,
    const prt_tensor *value);

/* Returns the output in a slot as a value: tensors, sequences, optionals, maps. They are views, not
 * copies. */
poprt_status prt_value_output(prt_arena *arena, const poprt_stepio *io, size_t slot,
    const poprt_io_info *info, prt_tensor *out);

/* Prints one line: name, type, shape, first elements. */
void prt_value_print(FILE *to, const char *name, const prt_tensor *value);

/* Files that prt_value_write has written. It refuses to write a file twice. */
typedef PRT_VEC(const char *) prt_value_files;

/* Writes NAME.npy below `dir`. Items of a sequence or optional are NAME_<i>.npy; a map is two
 * files, NAME_keys.npy and NAME_values.npy. `name` comes from prt_tool_file_names. */
poprt_status prt_value_write(prt_arena *arena, prt_value_files *files, const char *dir,
    const char *name, const prt_tensor *value);

#endif
