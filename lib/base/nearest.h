/* SPDX-License-Identifier: MIT */
/* nearest.h — suggestions for a mistyped name. */
#ifndef PRT_BASE_NEAREST_H
#define PRT_BASE_NEAREST_H

#include <stddef.h>

/*
 * Writes up to three of `names` into `to`, nearest first, separated by ", ", cut to fit and ended
 * by a zero byte. The distance is the edit distance (insert, remove, replace, swap neighbours). A
 * name that contains `word`, or with which `word` begins, is near too. Ties keep the order of the
 * table.
 */
void prt_nearest(const char *word, const char *const *names, size_t count, char *to, size_t size);

#endif
