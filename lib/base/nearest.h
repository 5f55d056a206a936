/* SPDX-License-Identifier: MIT */
/* nearest.h — which known names a mistyped one may have meant. */
#ifndef PRT_BASE_NEAREST_H
#define PRT_BASE_NEAREST_H

#include <stddef.h>

/*
 * Writes up to three of `names` into `to`, nearest first, separated by ", ", cut to fit and ended
 * by a zero byte. Nearness is edit distance (insert, remove, replace, swap neighbours); a name that
 * contains `word` or begins it is near too. Ties keep the order of the table.
 */
void prt_nearest(const char *word, const char *const *names, size_t count, char *to, size_t size);

#endif
