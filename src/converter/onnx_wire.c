/* SPDX-License-Identifier: MIT */
/* onnx_wire.c — the tables of messages, from onnx.def. */
#include "converter/onnx_wire.h"

#define WIRE_DEF "converter/onnx.def"
#define WIRE_ID(message) PRT_ONNX_##message
#define WIRE_MESSAGES PRT_ONNX_MESSAGES
#include "converter/wire_schema.inl"

prt_wire prt_onnx_open(prt_bytes bytes, prt_onnx_message message, uint32_t depth)
{
    return prt_wire_open(bytes, &schema, (uint32_t)message, depth);
}
