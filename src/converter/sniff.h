/* SPDX-License-Identifier: MIT */
/* sniff.h — what a file that is not an ONNX model is instead. */
#ifndef PRT_CONVERTER_SNIFF_H
#define PRT_CONVERTER_SNIFF_H

#include <stddef.h>

/* A sentence about bytes that do not parse as ONNX, for people; NULL where nothing is known. */
const char *prt_onnx_sniff(const void *bytes, size_t size);

#endif
