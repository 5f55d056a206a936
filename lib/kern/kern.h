/* SPDX-License-Identifier: MIT */
/*
 * kern.h — the kernels of one instruction-set level, family by family. Kernels are pure functions:
 * they allocate no memory, start no threads, and know nothing of models.
 */
#ifndef PRT_KERN_KERN_H
#define PRT_KERN_KERN_H

#include <stdint.h>

#include "kern/rows/attend.h"
#include "kern/int8/bytes.h"
#include "kern/rows/cell.h"
#include "kern/int8/dot.h"
#include "kern/gemm/gemm.h"
#include "kern/move/interleave.h"
#include "kern/move/move.h"
#include "kern/gemm/low_precision.h"
#include "kern/rows/integer_logic.h"
#include "kern/rows/rows.h"
#include "kern/conv/slide.h"
#include "kern/bf16x3/bf16x3.h"
#include "kern/int8/requantize_tiles.h"
#include "kern/train/update.h"
#include "kern/conv/windows.h"
#include "kern/conv/winograd.h"

typedef struct prt_kern {
    const char *level; /* a name that prt_cpu_level knows */
    prt_gemm_fn gemm;
    prt_gemm_row_fn gemm_row;
    double strassen_min_k;    /* break-even K for one level of Strassen, not counting the row and
                               * column    additions (measured, see prt_strassen_pays) */
    size_t gemv_overlap_rows; /* rows of the GEMM tiles of a prt_gemv_overlap; 0: no overlap */
    prt_kern_low_precision low_precision;
    prt_kern_dot dot;
    prt_kern_bf16x3 bf16x3;
    prt_requantize_tiles_fn tiles;
    prt_kern_bytes bytes;
    prt_kern_attend attend;
    prt_kern_rows rows;
    prt_kern_integer_logic integer_logic;
    prt_kern_cells cells;
    prt_kern_windows windows;
    prt_slide_fn slide;
    prt_interleave_fn interleave;
    prt_kern_moves moves;
    prt_zip_fn zip;
    prt_kern_train train;
    prt_kern_winograd winograd[PRT_WINOGRAD_ALGORITHMS];
} prt_kern;

/* Returns the best level for `features` (PRT_CPU_*, which this processor must have); NULL if this
 * build has no such level. Can be called by any thread. */
const prt_kern *prt_kern_of(uint64_t features);

#endif
