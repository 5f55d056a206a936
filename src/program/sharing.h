/* SPDX-License-Identifier: MIT */
/*
 * sharing.h — soundness of buffers in the memory of others (views and parts).
 */
#ifndef PRT_PROGRAM_SHARING_H
#define PRT_PROGRAM_SHARING_H

#include "program/program.h"

/* Returns whether two buffers of a checked block may have bytes in common. A view counts as the
 * whole buffer it lies in. */
bool prt_sharing_overlap(const prt_block *block, uint32_t a, uint32_t b);

/*
 * Relate a step that concatenates its inputs, or splits its input, along rows to the columns that
 * its parts must be, in order. The first function returns whether all parts are such columns. The
 * second returns whether the part of input `in` and output `out` lies in one of its places. Steps
 * with more than PRT_CONCAT_COLUMNS_MAX parts are not considered.
 */
enum { PRT_CONCAT_COLUMNS_MAX = 256 };
bool prt_sharing_all_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out);
bool prt_sharing_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out, uint32_t in, uint32_t out);

/* Returns whether output 0 of a step may be written over its input `in`. */
bool prt_sharing_in_place(const prt_eval_params *params, uint32_t n_in, uint32_t in);

/* Returns whether output `o` of a step is the new value of a variable, whose old value is input
 * `o`. The output must not be omitted. */
bool prt_sharing_is_update(const prt_block *block, const struct prt_op_def *def,
    const uint32_t *args, uint32_t o, uint32_t n_in);

/* Checks a view or part in isolation: it must name a buffer of the block, and a part must lie
 * inside it. */
poprt_status prt_sharing_check_buffer(const prt_block *block, const prt_buffer *buffer);

/*
 * Checks the steps of a block of a program whose indices are all checked. Memory must be alive when
 * it is read or written, and views must be made by steps that can make them. No step may write
 * memory that it reads, except where op/alias.h allows it. Conditions on shapes are left to the
 * session: it checks that the outputs really are views, or the inputs really are parts.
 */
poprt_status prt_sharing_check(const prt_program *program, uint32_t block, prt_arena *scratch);

#endif
