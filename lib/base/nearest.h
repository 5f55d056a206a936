/* SPDX-License-Identifier: MIT */
/* nearest.h — suggestions for a mistyped name. */
#ifndef PRT_BASE_NEAREST_H
#define PRT_BASE_NEAREST_H

#include <stddef.h>

#include "base/status.h"

/*
 * Writes up to three of `names` into `to`, nearest first, separated by ", ", cut to fit and ended
 * by a zero byte. The distance is the edit distance (insert, remove, replace, swap neighbours). A
 * name that contains `word`, or with which `word` begins, is near too. Ties keep the order of the
 * table.
 */
void prt_nearest(const char *word, const char *const *names, size_t count, char *to, size_t size);

/* Fails with POPRT_E_NOT_FOUND about `name`, with a sentence and, if there are names, the nearest
 * ones: "there is no input of this name; nearest: x, y". */
poprt_status prt_fail_nearest(const char *name, const char *const *names, size_t count,
    const char *fmt, ...) PRT_PRINTF(4, 5);

#endif
