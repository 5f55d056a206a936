/* SPDX-License-Identifier: MIT */
/* list.h — lists in one text: items with commas between; blanks around them do not count. */
#ifndef PRT_BASE_LIST_H
#define PRT_BASE_LIST_H

#include <string.h>

#include "base/str.h"

/* The next item, and `*at` behind it; false after the last. It is not ended by a zero. */
static inline bool prt_list_next(const char **at, prt_str *item)
{
    const char *first = *at + strspn(*at, " \t,");
    size_t n = strcspn(first, ",");
    *at = first + n;
    while (n > 0 && (first[n - 1] == ' ' || first[n - 1] == '\t'))
        n--;
    *item = (prt_str){ first, (uint32_t)n };
    return n != 0;
}

#endif
