/* SPDX-License-Identifier: MIT */
/*
 * number_text.h — numbers as text and back, whatever the locale of the process.
 *
 * Text is an optional sign, digits with an optional point, an optional decimal exponent; or "inf"
 * or "nan" in any case. Blanks around it are skipped.
 */
#ifndef PRT_OP_SHARE_NUMBER_TEXT_H
#define PRT_OP_SHARE_NUMBER_TEXT_H

#include "op/op.h"

enum { PRT_NUMBER_TEXT = 48 }; /* room that any printed number fits in, zero byte included */

/* The shortest decimal that reads back as the same element of `dtype`, as numpy prints it ("1.0",
 * "0.1", "1e-05"), but "INF", "-INF" and "NaN" as ONNX spells them. Returns the length. */
size_t prt_print_f64(int32_t dtype, double value, char *to);

/* False when the text is no number. */
bool prt_parse_f64(const char *text, size_t size, double *out);

/* Only a sign and digits that fit 64 bits: above INT64_MAX come the bits of a uint64. */
bool prt_parse_i64(const char *text, size_t size, int64_t *out);

#endif
