/* SPDX-License-Identifier: MIT */
/* sniff.h — identifies files that are not ONNX models. */
#ifndef PRT_CONVERTER_SNIFF_H
#define PRT_CONVERTER_SNIFF_H

#include <stddef.h>

/* Returns a sentence for users about bytes that do not parse as ONNX; NULL if the format is
 * unknown. */
const char *prt_onnx_sniff(const void *bytes, size_t size);

#endif
