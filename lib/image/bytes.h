/* SPDX-License-Identifier: MIT */
/* bytes.h — bounds-checked reads of numbers from a file's bytes, and conversion of samples. */
#ifndef PRT_IMAGE_BYTES_H
#define PRT_IMAGE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `count` bytes (at most 4) at `at` as a number; returns false beyond the end. */
static inline bool prt_image_number(const unsigned char *bytes, size_t size, size_t at,
    uint32_t count, bool big, uint32_t *out)
{
    if (at > size || size - at < count)
        return false;
    *out = 0;
    for (uint32_t i = 0; i < count; i++)
        *out |= (uint32_t)bytes[at + i] << 8 * (big ? count - 1 - i : i);
    return true;
}

/* Returns sample `index` of a row of samples of 1, 2, 4 or 8 bits, the first in the highest
 * bits. */
static inline uint32_t prt_image_sample(const unsigned char *row, size_t index, uint32_t bits)
{
    const uint32_t per_byte = 8 / bits, place = (uint32_t)(index % per_byte);
    return (uint32_t)row[index / per_byte] >> (8 - bits - place * bits) & ((1u << bits) - 1);
}

/* Scales a sample of [0, most] to [0, 255], rounded to nearest. */
static inline unsigned char prt_image_scale(uint64_t sample, uint64_t most)
{
    return (unsigned char)((sample * 255 + most / 2) / most);
}

/* Converts ink to light: a share of cyan, magenta or yellow, and one of black. */
static inline unsigned char prt_image_ink(uint32_t colour, uint32_t black)
{
    return prt_image_scale((uint64_t)(255 - colour) * (255 - black), 255 * 255);
}

#endif
