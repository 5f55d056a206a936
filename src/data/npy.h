/* SPDX-License-Identifier: MIT */
/*
 * npy.h — tensors in numpy's .npy files, versions 1 to 3.
 *
 * numpy lacks some types: bfloat16, float8 and float4 are read under their ml_dtypes names or as
 * raw bytes ('V2', 'V1'), and written as raw bytes, as numpy.save does with ml_dtypes arrays. Types
 * below 8 bits have one element per byte in the file. Strings are read from 'S' and 'U' and written
 * as 'U', or as 'S' if one of them is not UTF-8. Python objects are refused.
 */
#ifndef PRT_DATA_NPY_H
#define PRT_DATA_NPY_H

#include "base/blob.h"
#include "tensor/tensor.h"

/*
 * Reads a whole file in memory. `want` is the expected element type, which gives raw bytes their
 * type; PRT_DTYPE_undefined accepts any type. Data that is in C order, native byte order and
 * aligned becomes a view of `bytes`; other data is copied to `arena`.
 */
poprt_status prt_npy_read(prt_arena *arena, const prt_blob *bytes, int32_t want, prt_tensor *out);

/* The same from the elements alone: `descr` is numpy's type of an element ("<f4"), `rank` at most
 * PRT_MAX_RANK, and the dims are not negative. */
poprt_status prt_npy_elements(prt_arena *arena, const char *descr, bool fortran, uint32_t rank,
    const int64_t *dims, const unsigned char *bytes, size_t size, prt_tensor *out);

/* Writes version 1.0, in C order and little-endian. Scratch comes from `arena`. */
poprt_status prt_npy_write(prt_arena *arena, const prt_tensor *tensor, poprt_write_fn write,
    void *user);

#endif
