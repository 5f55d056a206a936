/* SPDX-License-Identifier: MIT */
/*
 * codec.h — the executable payload of a PopEF file: a program without its weights, as a plain
 * little-endian stream. Lengths and counts are u32, sizes u64, strings length + bytes.
 */
#ifndef PRT_PROGRAM_CODEC_H
#define PRT_PROGRAM_CODEC_H

#include "program/program.h"

/* 2 has views and parts (prt_space), and says what became of the model's nodes; 3 names the plug-in
 * of each operator that is in no table; 4 has kernels of plug-ins, and says how many models were
 * fused; 5 has columns (prt_space); 6 has what the model's file says of itself (facts.h). Earlier
 * formats are read; the first one that has all a program needs is written, from 2 on. */
enum {
    PRT_CODEC_OLDEST = 1,
    PRT_CODEC_PLAIN = 2,
    PRT_CODEC_PLUGIN = 3,
    PRT_CODEC_LOWERED = 4,
    PRT_CODEC_FUSED = 4,
    PRT_CODEC_COLUMNS = 5,
    PRT_CODEC_FACTS = 6,
    PRT_CODEC_VERSION = 6
};

/* The payload, in `arena`. */
poprt_status prt_program_encode(const prt_program *program, prt_arena *arena, const void **bytes,
    size_t *size);

/* Fills an empty program; constants get names and types, no bytes yet. */
poprt_status prt_program_decode(prt_program *program, const void *bytes, size_t size);

#endif
