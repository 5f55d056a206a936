/* SPDX-License-Identifier: MIT */
/* onnx_wire.h — the messages of ONNX for the reader of wire.h. */
#ifndef PRT_CONVERTER_ONNX_WIRE_H
#define PRT_CONVERTER_ONNX_WIRE_H

#include "converter/wire.h"

typedef enum prt_onnx_message {
#define MESSAGE(message) PRT_ONNX_##message,
#include "converter/onnx.def"
    PRT_ONNX_MESSAGES
} prt_onnx_message;

/* PRT_ONNX_<message>_<field> is the number of the field. */
enum {
#define FIELD(message, number, kind, name) PRT_ONNX_##message##_##name = (number),
#include "converter/onnx.def"
};

/* prt_wire_open for a message of onnx.def. */
prt_wire prt_onnx_open(prt_bytes bytes, prt_onnx_message message, uint32_t depth);

#endif
