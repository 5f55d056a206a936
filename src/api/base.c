/* SPDX-License-Identifier: MIT */
/* base.c — poprt/base.h: versions, names, the thread's error; and structs that grow by size. */
#include "api/handles.h"
#include "num/dtype.h"

poprt_status prt_fail_null(const char *parameter)
{
    return prt_fail(POPRT_E_ARG, parameter, "must not be NULL");
}

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

uint32_t poprt_abi_version(void)
{
    return POPRT_ABI_VERSION;
}

const char *poprt_version(void)
{
    return POPRT_VERSION_STRING;
}

const char *poprt_status_name(poprt_status status)
{
    return prt_status_name(status);
}

const poprt_error *poprt_last_error(void)
{
    return prt_error_last();
}

const char *poprt_dtype_name(int32_t dtype)
{
    const char *name = prt_dtype_of(dtype)->name;
    return name != NULL ? name : "?";
}

uint32_t poprt_dtype_bits(int32_t dtype)
{
    return prt_dtype_bits(dtype);
}
