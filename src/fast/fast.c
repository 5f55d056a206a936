/* SPDX-License-Identifier: MIT */
/* fast.c — the table of optimised implementations. */
#include "fast/fast.h"

prt_fast_fn prt_fast_of(uint32_t op)
{
    static const prt_fast_fn rows[PRT_OP_COUNT] = {
#define FAST(id, function) [PRT_OP_##id] = function,
#include "fast/fast.def"
    };
    return op < PRT_OP_COUNT ? rows[op] : NULL;
}
