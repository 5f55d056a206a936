/* SPDX-License-Identifier: MIT */
/* limited_cjson.h — a host's allocator behind cJSON_InitHooks that runs out of memory. */
#ifndef PRT_TESTS_SUPPORT_LIMITED_CJSON_H
#define PRT_TESTS_SUPPORT_LIMITED_CJSON_H

#include <cjson/cJSON.h>
#include <stdlib.h>

static unsigned cjson_allowed; /* allocations left before cJSON's allocator fails */

static inline void *limited_malloc(size_t size)
{
    return cjson_allowed != 0 ? (cjson_allowed--, malloc(size)) : NULL;
}

/* cJSON_InitHooks(NULL) ends the limit. */
static inline void limit_cjson(unsigned count)
{
    cJSON_Hooks hooks = { .malloc_fn = limited_malloc, .free_fn = free };
    cjson_allowed = count;
    cJSON_InitHooks(&hooks);
}

#endif
