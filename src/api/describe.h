/* SPDX-License-Identifier: MIT */
/* describe.h — checks shared by the public functions that describe an object. */
#ifndef PRT_API_DESCRIBE_H
#define PRT_API_DESCRIBE_H

#include "api/handles.h"

/* Checks the parameters of a describe function. `last` is the largest accepted format. */
poprt_status prt_describe_check(const void *object, int32_t format, int32_t last,
    poprt_write_fn write);

#endif
