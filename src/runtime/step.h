/* SPDX-License-Identifier: MIT */
/* step.h — one step of a frame: its arguments, its kernel, and what a run does for it. */
#ifndef PRT_RUNTIME_STEP_H
#define PRT_RUNTIME_STEP_H

#include "fast/fast.h"
#include "op/op.h"
#include "program/program.h"

typedef struct prt_frame_step {
    const prt_eval_params *params;
    const prt_tensor **in; /* NULL where absent */
    prt_tensor **out;
    const uint32_t *out_buffers; /* PRT_NO_BUFFER where not wanted */
    uint32_t n_in, n_out;
    prt_fast_fn fast; /* runs in place of the reference kernel where it can; NULL: none */
    size_t *offsets;  /* by output: where in input 0 it is, when `mode` says views; else NULL */
    uint8_t mode;     /* prt_step_mode, known with the shapes */
    bool is_static;   /* every output's shape is known before the run, and was checked */
    uint8_t columns;  /* prt_step_columns */
    bool tangled;     /* some output that is no view lies in the memory of an input */
    bool packed;      /* some output has elements smaller than a byte */
    const prt_tensor *later; /* as prt_eval has it */
    uint8_t over;            /* output 0 is written over this input, counted from 1; 0: it is not */
    size_t room_at, room;    /* bytes of the frame's memory that nothing lies in during the step */
} prt_frame_step;

/* Whether arguments of a step are columns (prt_space). */
typedef enum prt_step_columns {
    PRT_COLUMNS_none,
    PRT_COLUMNS_taken, /* its fast form knows what to do */
    PRT_COLUMNS_apart, /* its kernel gets copies */
} prt_step_columns;

/* What a run does for a step. */
typedef enum prt_step_mode {
    PRT_STEP_eval,  /* its kernel */
    PRT_STEP_views, /* outputs are bytes of input 0: says where they are, or moves them */
    PRT_STEP_join,  /* output 0 is the inputs in a row: moves those that are not there already */
    PRT_STEP_none   /* nothing: all is where it has to be */
} prt_step_mode;

/* columns.c: calls the reference kernel with arguments without gaps. */
poprt_status prt_columns_eval(prt_eval *c);

/* ---- move.c: views and joins, which move bytes at most. */
/* `count` pieces of `size` bytes, so many bytes apart, to where they are others apart. */
void prt_move_pieces(size_t count, size_t size, const void *from, size_t from_step, void *to,
    size_t to_step);
/* Outputs of a step whose shapes are known, by input 0. False, and nothing done, when some output
 * is no view. */
bool prt_frame_views(const prt_frame_step *step, size_t *offsets);
/* Inputs one after another in output 0; false when they are not what it is made of. */
bool prt_frame_may_join(const prt_frame_step *step);
void prt_frame_join(const prt_frame_step *step);
/* Output 0, a view, may be written over the input that it is said to: they have one header. */
bool prt_frame_is_over(const prt_frame_step *step);
/* A step that is neither of these and whose kernel has to run reads nothing that it writes; false
 * with a failure recorded. */
bool prt_frame_may_eval(const prt_frame_step *step);

#endif
