/* SPDX-License-Identifier: MIT */
/*
 * sharing.h — buffers in the memory of others (views and parts): whether a program's are sound.
 */
#ifndef PRT_PROGRAM_SHARING_H
#define PRT_PROGRAM_SHARING_H

#include "program/program.h"

/* Whether two buffers of a block that was checked may have bytes in common; a view counts as all of
 * what it is a view of. */
bool prt_sharing_overlap(const prt_block *block, uint32_t a, uint32_t b);

/*
 * What a step puts beside each other in the rows of its result, or takes apart from those of its
 * input, are columns of it, in order: all are; or the part that input `in` and output `out` are
 * about is in one of the places that it has there. Of no more than PRT_BESIDE_MOST.
 */
enum { PRT_BESIDE_MOST = 256 };
bool prt_sharing_all_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out);
bool prt_sharing_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out, uint32_t in, uint32_t out);

/* Output 0 of a step may be written over its input `in`. */
bool prt_sharing_in_place(const prt_eval_params *params, uint32_t n_in, uint32_t in);

/* A view or part by itself: names a buffer of the block, and a part lies inside of it. */
poprt_status prt_sharing_check_buffer(const prt_block *block, const prt_buffer *buffer);

/*
 * The steps of a block of a program whose indices are all checked: memory is alive when it is read
 * or written, views are made by steps that can make them, and no step writes what it or a neighbour
 * reads, but where op/alias.h allows it. What depends on shapes is left to the session: that a step
 * with views or joined parts really has them.
 */
poprt_status prt_sharing_check(const prt_program *program, uint32_t block, prt_arena *scratch);

#endif
