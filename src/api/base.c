/* SPDX-License-Identifier: MIT */
/* base.c — poprt/base.h: versions, names of codes and types, the error detail of the calling
 * thread. */
#include "api/handles.h"
#include "num/dtype.h"

poprt_status prt_fail_null(const char *parameter)
{
    return prt_fail(POPRT_E_ARG, parameter, "must not be NULL");
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

int32_t poprt_status_category(poprt_status status)
{
    return prt_status_category(status);
}

int32_t poprt_status_recovery(poprt_status status)
{
    return prt_status_recovery(status);
}

const char *poprt_error_category_name(int32_t category)
{
    static const char *const names[] = { "none", "application", "recoverable", "unrecoverable",
        "out of memory" };
    return category >= 0 && (size_t)category < PRT_COUNT_OF(names) ? names[category] : "?";
}

const char *poprt_recovery_name(int32_t action)
{
    static const char *const names[] = { "NONE", "IPU_RESET", "LINK_RESET", "PARTITION_RESET",
        "FULL_RESET" };
    return action >= 0 && (size_t)action < PRT_COUNT_OF(names) ? names[action] : "?";
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
