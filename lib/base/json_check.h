/* SPDX-License-Identifier: MIT */
/* json_check.h — a check of the grammar of JSON, for json.c. */
#ifndef PRT_BASE_JSON_CHECK_H
#define PRT_BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum { PRT_JSON_MAX_DEPTH = 257 }; /* nested values; json.c refuses brackets beyond 256 */

bool prt_json_is_wellformed(const char *bytes, size_t size);

#endif
