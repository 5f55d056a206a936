/* SPDX-License-Identifier: MIT */
/*
 * calibration.h — named arrays of samples from files: what a model is calibrated with.
 *
 * A path is a folder of .npy files (named as they are, without .npy), an .npz archive (stored or
 * deflated), or a pickle of {name: array}. Axis 0 of every array counts the samples, as many in
 * each. A pickle is read by pickle.c, which executes nothing and knows numpy's arrays, numbers,
 * strings, lists, tuples and dicts only; a list of arrays of one shape is stacked along a new
 * axis 0. Time and memory are bounded by the size of the file, by what it declares, and by `limit`.
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

/* `limit` is the most bytes that are taken for it; 0: no limit but those above. */
poprt_status prt_samples_open(const prt_allocator *allocator, const char *path, size_t limit,
    prt_samples **out);

/* The same from a file in memory; retains `bytes`. `name` is for errors. */
poprt_status prt_samples_read(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    size_t limit, prt_samples **out);

void prt_samples_release(prt_samples *samples); /* takes NULL */

/* How many samples each array has. */
size_t prt_samples_count(const prt_samples *samples);

/* Arrays in the order of the file (of a folder: by name); NULL past the end. They live as long as
 * the samples. */
const prt_sample_array *prt_samples_at(const prt_samples *samples, size_t index);
const prt_sample_array *prt_samples_find(const prt_samples *samples, prt_str name);

#endif
