/* SPDX-License-Identifier: MIT */
/*
 * codec.h — the executable payload of a PopEF file: a program without its weights, as a plain
 * little-endian stream. Lengths and counts are u32, sizes are u64, strings are a length and bytes.
 */
#ifndef PRT_PROGRAM_CODEC_H
#define PRT_PROGRAM_CODEC_H

#include "program/program.h"

/* Versions of the format. 2 adds views and parts (prt_space) and the eliminated nodes; 3 the
 * plug-in of each operator outside the table; 4 kernels of plug-ins and the number of fused models;
 * 5 columns (prt_space); 6 the facts of the model's file (facts.h); 7 variables, entries and data
 * flow; 8 places of nodes. All versions are read. A program is written in the lowest version, from
 * 2 on, that can express it. */
enum {
    PRT_CODEC_OLDEST = 1,
    PRT_CODEC_PLAIN = 2,
    PRT_CODEC_PLUGIN = 3,
    PRT_CODEC_LOWERED = 4,
    PRT_CODEC_FUSED = 4,
    PRT_CODEC_COLUMNS = 5,
    PRT_CODEC_FACTS = 6,
    PRT_CODEC_VARIABLES = 7,
    PRT_CODEC_LOCATIONS = 8,
    PRT_CODEC_VERSION = 8
};

/* Encodes a program. The payload is allocated in `arena`. */
poprt_status prt_program_encode(const prt_program *program, prt_arena *arena, const void **bytes,
    size_t *size);

/* Fills an empty program; its constants have names and types, but no bytes yet. */
poprt_status prt_program_decode(prt_program *program, const void *bytes, size_t size);

#endif
