/* SPDX-License-Identifier: MIT */
/* samples.h — declarations shared by the readers of calibration data. Private to src/data. */
#ifndef PRT_DATA_SAMPLES_H
#define PRT_DATA_SAMPLES_H

#include "base/vec.h"
#include "data/calibration.h"

enum { PRT_SAMPLE_ARRAYS = 4096 }; /* maximum of arrays */

struct prt_samples {
    const prt_allocator *allocator;
    prt_arena *arena;
    PRT_VEC(prt_sample_array) arrays;
    PRT_VEC(prt_blob *) blobs; /* blobs whose bytes the tensors refer to */
    size_t limit, used;        /* bytes of blobs; limit 0: unlimited */
};

/* Adds an array; the name is copied. Fails when an array of that name exists. */
poprt_status prt_samples_add(prt_samples *s, prt_str name, const prt_tensor *tensor);

/* Takes over the reference to a blob and keeps it alive; on failure it is released. */
poprt_status prt_samples_keep(prt_samples *s, prt_blob *blob);

/* Returns the bytes left of the limit. */
size_t prt_samples_bytes_left(const prt_samples *s);

/* archive.c */
poprt_status prt_samples_read_archive(prt_samples *s, prt_blob *bytes);

/* pickle.c */
poprt_status prt_samples_read_pickle(prt_samples *s, prt_blob *bytes);

#endif
