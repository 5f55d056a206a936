/* SPDX-License-Identifier: MIT */
/*
 * calibration.h — named arrays of samples from files, for calibration.
 *
 * A path is a folder of .npy files (each named after its file, without .npy), an .npz archive
 * (stored or deflated), or a pickle of {name: array}. Axis 0 of every array counts the samples,
 * equally many in each. pickle.c reads a pickle; it executes nothing, and supports only numpy's
 * arrays, numbers, strings, lists, tuples and dicts. A list of arrays of one shape is stacked along
 * a new axis 0. Time and memory are bounded by the size of the file, by the sizes it declares, and
 * by `limit`.
 */
#ifndef PRT_DATA_CALIBRATION_H
#define PRT_DATA_CALIBRATION_H

#include "base/blob.h"
#include "base/str.h"
#include "tensor/tensor.h"

typedef struct prt_samples prt_samples;

typedef struct prt_sample_array {
    prt_str name;
    prt_tensor tensor;
} prt_sample_array;

/* Reads samples from a path. `limit` is the maximum of bytes to allocate; 0: only the bounds above
 * apply. */
poprt_status prt_samples_open(const prt_allocator *allocator, const char *path, size_t limit,
    prt_samples **out);

/* Reads samples from a file in memory; retains `bytes`. `name` is used in errors. */
poprt_status prt_samples_read(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    size_t limit, prt_samples **out);

void prt_samples_release(prt_samples *samples); /* NULL is allowed */

/* Returns the number of samples in each array. */
size_t prt_samples_count(const prt_samples *samples);

/* Return an array by its position in the file (in a folder: by name), or by name; NULL if there is
 * none. The samples own it. */
const prt_sample_array *prt_samples_at(const prt_samples *samples, size_t index);
const prt_sample_array *prt_samples_find(const prt_samples *samples, prt_str name);

#endif
