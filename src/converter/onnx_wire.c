/* SPDX-License-Identifier: MIT */
/* onnx_wire.c — the tables of messages, from onnx.def. */
#include "converter/onnx_wire.h"

#define FIELD(message, number, kind, name) [PRT_ONNX_##message][number] = PRT_WIRE_KIND_##kind,
static const unsigned char kinds[PRT_ONNX_MESSAGES][PRT_WIRE_FIELDS] = {
#include "converter/onnx.def"
};
#define FIELD(message, number, kind, name) [PRT_ONNX_##message][number] = #name,
static const char *const fields[PRT_ONNX_MESSAGES][PRT_WIRE_FIELDS] = {
#include "converter/onnx.def"
};
#define MESSAGE(message) { #message, kinds[PRT_ONNX_##message], fields[PRT_ONNX_##message] },
static const prt_wire_message messages[PRT_ONNX_MESSAGES] = {
#include "converter/onnx.def"
};

prt_wire prt_onnx_open(prt_bytes bytes, prt_onnx_message message, uint32_t depth)
{
    return prt_wire_open(bytes, &messages[message], depth);
}
