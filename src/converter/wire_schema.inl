/* SPDX-License-Identifier: MIT */
/*
 * wire_schema.inl — makes the prt_wire_schema `schema` of a .def file with rows MESSAGE and FIELD.
 * The includer defines WIRE_DEF, the file, WIRE_ID(message), the number of a message, and
 * WIRE_MESSAGES, the number of messages; without WIRE_DEF there is nothing to make.
 */
#ifndef PRT_CONVERTER_WIRE_SCHEMA_INL
#define PRT_CONVERTER_WIRE_SCHEMA_INL

#include "converter/wire.h"

#ifdef WIRE_DEF
#define FIELD(message, number, kind, name) [WIRE_ID(message)][number] = PRT_WIRE_KIND_##kind,
static const unsigned char kinds[WIRE_MESSAGES][PRT_WIRE_FIELDS] = {
#include WIRE_DEF
};
#define MESSAGE(message) #message "\0"
static const char names[] =
#include WIRE_DEF
    ;
#define FIELD(message, number, kind, name) #name "\0"
static const char fields[] =
#include WIRE_DEF
    ;
#define FIELD(message, number, kind, name) { WIRE_ID(message), number },
static const unsigned char places[][2] = {
#include WIRE_DEF
};
static const prt_wire_schema schema = { kinds, names, fields, places, PRT_COUNT_OF(places) };
#endif

#endif
