/* SPDX-License-Identifier: MIT */
/* letter_case.c — upper and lower case of letters below U+0800. */
#include "op/share/letter_case.h"

#include <stdbool.h>
#include <stddef.h>

/* Code points below 0x800 whose other case has the same length in UTF-8. The upper-case letters
 * [first, last] have their lower case at `distance`. Distance 0: alternating pairs from `first`
 * on, upper case first. */
static const struct {
    uint16_t first, last, distance;
} cases[] = {
    { 0x41, 0x5a, 32 },
    { 0xc0, 0xd6, 32 },
    { 0xd8, 0xde, 32 },
    { 0x100, 0x12f, 0 },
    { 0x132, 0x137, 0 },
    { 0x139, 0x148, 0 },
    { 0x14a, 0x177, 0 },
    { 0x386, 0x386, 38 },
    { 0x388, 0x38a, 37 },
    { 0x38c, 0x38c, 64 },
    { 0x38e, 0x38f, 63 },
    { 0x391, 0x3a1, 32 },
    { 0x3a3, 0x3ab, 32 },
    { 0x400, 0x40f, 80 },
    { 0x410, 0x42f, 32 },
    { 0x460, 0x481, 0 },
    { 0x48a, 0x4bf, 0 },
    { 0x4d0, 0x52f, 0 },
    { 0x531, 0x556, 48 },
};

/* Returns the other letter of a pair if it has the case `lower`, and otherwise `code`. */
static uint32_t change(uint32_t code, bool lower)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t first = cases[i].first, last = cases[i].last, by = cases[i].distance;
        if (by == 0 && code >= first && code <= last)
            return lower ? code + ((code - first) % 2 == 0) : code - ((code - first) % 2 != 0);
        if (lower && by != 0 && code >= first && code <= last)
            return code + by;
        if (!lower && by != 0 && code >= first + by && code <= last + by)
            return code - by;
    }
    return code;
}

uint32_t prt_lower_case(uint32_t code)
{
    return change(code, true);
}

uint32_t prt_upper_case(uint32_t code)
{
    return change(code, false);
}
