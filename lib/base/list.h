/* SPDX-License-Identifier: MIT */
/* list.h — lists in a string: items separated by commas; blanks around an item are ignored. */
#ifndef PRT_BASE_LIST_H
#define PRT_BASE_LIST_H

#include <string.h>

#include "base/str.h"

/* Reads the next item and moves `*at` behind it. Returns false after the last item. The item does
 * not end in a zero byte. */
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
