/* SPDX-License-Identifier: MIT */
/* crc.h — CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected), the checksum of PopEF. */
#ifndef PRT_BASE_CRC_H
#define PRT_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of `size` bytes. `crc` is 0, or the result of the call for the bytes
 * before. */
uint32_t prt_crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
