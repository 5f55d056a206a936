/* SPDX-License-Identifier: MIT */
/*
 * fuzz_samples.c — any bytes as calibration data: archives and pickles. Every element of accepted
 * data is read.
 * Covers: archive.c, pickle.c, pickle_numpy.c.
 */
#include <string.h>

#include "data/calibration.h"
#include "fuzz/fuzz.h"

static void read_elements(const prt_samples *s)
{
    volatile unsigned char sum = 0;
    const prt_sample_array *a;
    for (size_t i = 0; (a = prt_samples_at(s, i)) != NULL; i++) {
        const unsigned char *bytes = a->tensor.data;
        for (size_t k = 0; k < a->tensor.size; k++)
            sum = (unsigned char)(sum + bytes[k]);
        if ((size_t)a->tensor.dims[0] != prt_samples_count(s) ||
            prt_samples_find(s, a->name) == NULL)
            __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prt_blob *blob = NULL;
    prt_samples *s = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        return 0;
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    if (prt_samples_read(fuzz_allocator(), blob, "fuzz", FUZZ_MEMORY / 4, &s) == POPRT_OK)
        read_elements(s);
    prt_samples_release(s);
    prt_blob_release(blob);
    fuzz_expect_empty();
    return 0;
}
