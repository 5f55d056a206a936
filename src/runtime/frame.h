/* SPDX-License-Identifier: MIT */
/*
 * frame.h — the memory of one block while a session lives: a value header for every buffer, the
 * planned memory, arenas for values whose size is known only when they are computed, and the
 * steps with their arguments looked up. Made at session creation; a run only follows pointers.
 */
#ifndef PRT_RUNTIME_FRAME_H
#define PRT_RUNTIME_FRAME_H

#include "runtime/state.h"
#include "runtime/step.h"

struct prt_frame {
    prt_session *session;
    const prt_block *block;
    prt_frame *outer;
    prt_tensor *values; /* by buffer */
    prt_tensor
        *expected;     /* resolved types: dims are numbers or PRT_DIM_UNKNOWN; size or SIZE_MAX */
    prt_arena **slots; /* by buffer; made when first needed */
    uint32_t *ends, *ending; /* behind step k, the slots of buffers ending[ends[k]] and on, before
                              * ending[ends[k + 1]], are given on */
    prt_frame_step *steps;
    unsigned char *memory; /* planned buffers */
    size_t memory_size;
    bool touched; /* a run has written it */
    bool misfit;  /* of a body: it cannot run with these dims, and perhaps need not */
    size_t *offsets;
    void **planned; /* by buffer: its memory where that is known before the run, else NULL */
    bool *settled;  /* by buffer: the header and its data are what they will be in every run */
    uint32_t *todo; /* steps that a run has to look at, in order */
    uint32_t n_todo;
    prt_arena *scratch; /* of the step being run, where its room is too small */
    bool scratch_used;
    size_t room_used;
    size_t room_part; /* most bytes that a part of any room had to have */
    uint32_t *parts;  /* parts and columns of outputs, whose memory is the caller's */
    uint32_t n_parts;
};

/* frame.c */
poprt_status prt_frames_create(prt_session *s);
void prt_frames_release(prt_session *s);
/* Gives every buffer its shape under the current dim_values, plans and allocates. */
poprt_status prt_frames_resolve(prt_session *s);
/* The same for one frame; its error says why a body is a misfit. */
poprt_status prt_frame_fit(prt_frame *f);
/* An expected header that says everything: a numeric tensor with all dims and its size. */
bool prt_frame_is_final(const prt_tensor *expected);
/* Parts of outputs follow these, once their memory for a run is known. */
void prt_frame_place_parts(prt_frame *f);

/* Context to infer a step in the session's scratch, input shapes filled in by the caller. */
prt_infer prt_frame_infer(prt_session *s, const prt_frame_step *step);

/* slots.c: the arena of a buffer, found on first use to hold `size` bytes or more. */
prt_arena *prt_frame_slot(prt_frame *f, uint32_t buffer, size_t size);
/* Finds which slots are given on, and when; the session's frames are bound. */
poprt_status prt_frame_find_ends(prt_frame *f);
/* Gives on the slots of values that nobody reads behind `step`. */
void prt_frame_end_values(prt_frame *f, uint32_t step);

/* settle.c: which steps of the resolved frame have final shapes; refuses steps whose shapes cannot
 * be those of their operator. */
poprt_status prt_frame_settle(prt_frame *f);

/* columns.c: arguments whose rows are columns of a larger buffer's. */
/* Of a step whose arguments and fast form are there. */
uint8_t prt_columns_of(const prt_frame *f, const prt_frame_step *step);
/* All that the step puts beside each other, or takes apart, is where it has to be. */
bool prt_columns_are_there(const prt_frame *f, const prt_frame_step *step);

/* move.c */
void prt_frame_give_views(prt_frame *f, const prt_frame_step *step, const size_t *offsets);

/* run.c */
poprt_status prt_frame_run(prt_frame *f);
/* In a session that measures, calls the kernel of a step for its scratch alone. */
poprt_status prt_frame_rehearse(prt_frame *f, prt_frame_step *step);

/* measure.c */
/* All steps of a body, for an operator that is rehearsed itself. Fails after many calls. */
poprt_status prt_frame_rehearse_body(prt_frame *f);

/* `t` has the kind, type and known dims that are expected; else an error naming `name`. */
poprt_status prt_frame_check(const prt_tensor *t, const prt_tensor *expected, const char *name,
    const char *what);

#endif
