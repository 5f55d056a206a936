/* SPDX-License-Identifier: MIT */
/* record.c — conversion of versioned structs between the caller's version and the library's. */
#include "base/record.h"

#include <string.h>

poprt_status prt_import(void *ours, size_t our_size, const void *theirs, size_t their_size,
    const char *what)
{
    memset(ours, 0, our_size);
    if (theirs == NULL)
        return POPRT_OK;
    if (their_size < sizeof(size_t))
        return prt_fail(POPRT_E_ARG, what, "struct_size is %zu: set it to sizeof the struct",
            their_size);
    const unsigned char *bytes = theirs;
    for (size_t i = our_size; i < their_size; i++)
        if (bytes[i] != 0)
            return prt_fail(POPRT_E_VERSION, what,
                "the caller's headers are newer than this library (%s)", POPRT_VERSION_STRING);
    memcpy(ours, theirs, their_size < our_size ? their_size : our_size);
    return POPRT_OK;
}

poprt_status prt_export(void *theirs, const void *ours, size_t our_size, const char *what)
{
    size_t size = 0;
    memcpy(&size, theirs, sizeof(size));
    if (size < sizeof(size_t))
        return prt_fail(POPRT_E_ARG, what, "struct_size is %zu: set it to sizeof the struct", size);
    const size_t known = size < our_size ? size : our_size;
    memcpy((unsigned char *)theirs + sizeof(size_t), (const unsigned char *)ours + sizeof(size_t),
        known - sizeof(size_t));
    if (size > our_size)
        memset((unsigned char *)theirs + our_size, 0, size - our_size);
    return POPRT_OK;
}
