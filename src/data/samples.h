/* SPDX-License-Identifier: MIT */
/* samples.h — what the readers of calibration data share. Private to src/data. */
#ifndef PRT_DATA_SAMPLES_H
#define PRT_DATA_SAMPLES_H

#include "base/vec.h"
#include "data/calibration.h"

enum { PRT_SAMPLE_ARRAYS = 4096 }; /* more have no use */

struct prt_samples {
    const prt_allocator *allocator;
    prt_arena *arena;
    PRT_VEC(prt_sample_array) arrays;
    PRT_VEC(prt_blob *) blobs; /* that tensors look into */
    size_t limit, used;        /* bytes of blobs; limit 0: none */
};

/* Adds an array; the name is copied. Fails when there is one of that name. */
poprt_status prt_samples_add(prt_samples *s, prt_str name, const prt_tensor *tensor);

/* Keeps a blob alive; takes over the reference, also on failure. */
poprt_status prt_samples_keep(prt_samples *s, prt_blob *blob);

/* Bytes that are still to be had. */
size_t prt_samples_room(const prt_samples *s);

/* ---- archive.c */
poprt_status prt_samples_read_archive(prt_samples *s, prt_blob *bytes);

/* ---- pickle.c */
poprt_status prt_samples_read_pickle(prt_samples *s, prt_blob *bytes);

#endif
