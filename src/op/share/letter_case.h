/* SPDX-License-Identifier: MIT */
/* letter_case.h — upper and lower case of letters below U+0800, one letter for one letter. */
#ifndef PRT_OP_SHARE_LETTER_CASE_H
#define PRT_OP_SHARE_LETTER_CASE_H

#include <stdint.h>

/* Returns the lower-case letter of an upper-case letter, and any other code point as it is. */
uint32_t prt_lower_case(uint32_t code);

/* Returns the upper-case letter of a lower-case letter, and any other code point as it is. */
uint32_t prt_upper_case(uint32_t code);

#endif
