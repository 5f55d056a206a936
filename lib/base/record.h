/* SPDX-License-Identifier: MIT */
/* record.h — open structs: their first member is their size, and they grow at the end. */
#ifndef PRT_BASE_RECORD_H
#define PRT_BASE_RECORD_H

#include <stddef.h>

#include "base/status.h"

/*
 * Copies a caller's struct of another version into ours: what the caller does not know is zero,
 * what we do not know must be. `theirs` may be NULL (all zero).
 */
poprt_status prt_import(void *ours, size_t our_size, const void *theirs, size_t their_size,
    const char *what);
/* The other way, for structs the library fills: writes as much as the caller has room for. */
poprt_status prt_export(void *theirs, const void *ours, size_t our_size, const char *what);

#endif
