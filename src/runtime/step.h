/* SPDX-License-Identifier: MIT */
/* step.h — one step of a frame: its arguments, its kernel, and the action of a run. */
#ifndef PRT_RUNTIME_STEP_H
#define PRT_RUNTIME_STEP_H

#include "fast/fast.h"
#include "op/op.h"
#include "program/program.h"

typedef struct prt_frame_step {
    const prt_eval_params *params;
    const prt_tensor **in; /* NULL where absent */
    prt_tensor **out;
    const uint32_t *out_buffers; /* PRT_NO_BUFFER for an omitted output */
    uint32_t n_in, n_out;
    prt_fast_fn fast;   /* called in place of the reference kernel where it supports the step; NULL:
                         * there is no fast operator */
    size_t *offsets;    /* by output: its offset in input 0 if `mode` is views; else NULL */
    uint8_t mode;       /* prt_step_mode, set with the shapes */
    bool is_static;     /* the shapes of all outputs are known before the run and were checked */
    uint8_t columns;    /* prt_step_columns */
    bool aliases_input; /* an output that is not a view shares memory with an input */
    bool packed;        /* an output has elements smaller than a byte */
    const prt_tensor *prefetch_hint; /* see prt_eval */
    uint8_t in_place_input; /* 1 + the input that output 0 is written over; 0: output 0 is not in
                             * place */
    /* The largest range of the frame's memory that is idle during the step, in bytes. */
    size_t scratch_at, scratch_size;
} prt_frame_step;

/* Whether arguments of a step are columns (prt_space), and how they are passed. */
typedef enum prt_step_columns {
    PRT_COLUMNS_none,
    PRT_COLUMNS_strided, /* with their row stride, to the fast operator */
    PRT_COLUMNS_copied,  /* as contiguous copies */
} prt_step_columns;

/* The action of a run for a step. */
typedef enum prt_step_mode {
    PRT_STEP_eval,   /* calls the kernel */
    PRT_STEP_views,  /* outputs are bytes of input 0: sets their addresses, or moves them */
    PRT_STEP_concat, /* output 0 is the inputs one after another: moves the inputs that are not in
                      * place already */
    PRT_STEP_none    /* no action: all outputs are in place */
} prt_step_mode;

/* columns.c: calls the reference kernel with contiguous arguments. */
poprt_status prt_columns_eval(prt_eval *c);

/* views.c: views and joins, which at most move bytes. */
/* Copies `count` pieces of `size` bytes; the strides of source and destination are in bytes. */
void prt_move_pieces(size_t count, size_t size, const void *from, size_t from_step, void *to,
    size_t to_step);
/* Finds the offsets in input 0 of the outputs of a step whose shapes are known. Returns false when
 * an output is not a view. */
bool prt_frame_views(const prt_frame_step *step, size_t *offsets);
/* Concatenate the inputs as bytes in output 0. The first returns false when they are not its
 * contents. */
bool prt_frame_may_concat(const prt_frame_step *step);
void prt_frame_concat(const prt_frame_step *step);
/* Returns whether output 0, a view, may be written over its input: their headers are equal. */
bool prt_frame_may_write_in_place(const prt_frame_step *step);
/* Checks that a step whose kernel has to run reads no memory that it writes; returns false (failure
 * recorded) otherwise. */
bool prt_frame_may_eval(const prt_frame_step *step);

#endif
