/* SPDX-License-Identifier: MIT */
/* meter.h — an environment whose allocator counts the allocated bytes. */
#ifndef PRT_TESTS_API_METER_H
#define PRT_TESTS_API_METER_H

#include "api_test.h"

/* Bytes allocated now, and their maximum since `peak` was last set. */
typedef struct meter {
    size_t held, peak;
} meter;

enum { METER_HEADER = 64 };

static inline void *meter_alloc(void *user, size_t size, size_t align)
{
    meter *m = user;
    const size_t whole = (size + METER_HEADER + 63) / 64 * 64;
    char *p = aligned_alloc(align > METER_HEADER ? align : METER_HEADER, whole);
    if (p == NULL)
        return NULL;
    memcpy(p, &size, sizeof(size));
    m->held += size;
    m->peak = m->held > m->peak ? m->held : m->peak;
    return p + METER_HEADER;
}

static inline void meter_release(void *user, void *ptr)
{
    meter *m = user;
    char *p = (char *)ptr - METER_HEADER;
    size_t size;
    memcpy(&size, p, sizeof(size));
    m->held -= size;
    free(p);
}

static inline poprt_env *open_env(meter *m, uint32_t threads)
{
    const poprt_allocator allocator = { .user = m, .alloc = meter_alloc, .release = meter_release };
    const poprt_env_options options = { .struct_size = sizeof(options),
        .allocator = &allocator,
        .threads = threads };
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

#endif
