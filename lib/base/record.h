/* SPDX-License-Identifier: MIT */
/* record.h — versioned structs: the first member is the size, and members are added at the end. */
#ifndef PRT_BASE_RECORD_H
#define PRT_BASE_RECORD_H

#include <stddef.h>

#include "base/status.h"

/*
 * Copies a caller's struct of another version into `ours`. Members unknown to the caller become
 * zero. Fails with POPRT_E_VERSION where a member unknown to the library is not zero. `theirs` may
 * be NULL: all members are zero.
 */
poprt_status prt_import(void *ours, size_t our_size, const void *theirs, size_t their_size,
    const char *what);
/* Copies `ours` into a caller's struct, up to the size that the struct states. */
poprt_status prt_export(void *theirs, const void *ours, size_t our_size, const char *what);

#endif
