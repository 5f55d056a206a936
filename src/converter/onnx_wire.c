/* SPDX-License-Identifier: MIT */
/* onnx_wire.c — the tables of messages, from onnx.def. */
#include "converter/onnx_wire.h"

#define FIELD(message, number, kind, name) [PRT_ONNX_##message][number] = PRT_WIRE_KIND_##kind,
static const unsigned char kinds[PRT_ONNX_MESSAGES][PRT_WIRE_FIELDS] = {
#include "converter/onnx.def"
};
#define MESSAGE(message) #message "\0"
static const char names[] =
#include "converter/onnx.def"
    ;
#define FIELD(message, number, kind, name) #name "\0"
static const char fields[] =
#include "converter/onnx.def"
    ;
#define FIELD(message, number, kind, name) { PRT_ONNX_##message, number },
static const unsigned char places[][2] = {
#include "converter/onnx.def"
};
static const prt_wire_schema schema = { kinds, names, fields, places, PRT_COUNT_OF(places) };

prt_wire prt_onnx_open(prt_bytes bytes, prt_onnx_message message, uint32_t depth)
{
    return prt_wire_open(bytes, &schema, (uint32_t)message, depth);
}
