/* SPDX-License-Identifier: MIT */
/*
 * number_text.h — conversion between numbers and text, independent of the locale of the process.
 *
 * The text is an optional sign, digits with an optional point, and an optional decimal exponent; or
 * "inf" or "nan" in any case. Blanks around it are skipped.
 */
#ifndef PRT_OP_SHARE_NUMBER_TEXT_H
#define PRT_OP_SHARE_NUMBER_TEXT_H

#include "op/op.h"

enum { PRT_NUMBER_TEXT = 48 }; /* size of a buffer that fits any printed number and its zero byte */

/* Prints the shortest decimal that reads back as the same element of `dtype`, in numpy's format
 * ("1.0", "0.1", "1e-05"), but "INF", "-INF" and "NaN" as ONNX spells them. Returns the length. */
size_t prt_print_f64(int32_t dtype, double value, char *to);

/* Returns false if the text is not a number. */
bool prt_parse_f64(const char *text, size_t size, double *out);

/* Accepts only a sign and digits that fit 64 bits; a number above INT64_MAX gives the bits of a
 * uint64. */
bool prt_parse_i64(const char *text, size_t size, int64_t *out);

#endif
