/* SPDX-License-Identifier: MIT */
/*
 * frame.h — the memory of one block during a session: a tensor header for every buffer, the planned
 * memory, arenas for values whose size is known only when they are computed, and the steps with
 * their arguments resolved to pointers. Made when the session is created, so that a run only
 * follows pointers.
 */
#ifndef PRT_RUNTIME_FRAME_H
#define PRT_RUNTIME_FRAME_H

#include "runtime/state.h"
#include "runtime/step.h"

struct prt_frame {
    prt_session *session;
    const prt_block *block;
    prt_frame *outer;
    /* Of a body: the step that runs it at present, and its frame. */
    prt_frame *caller;
    const prt_frame_step *calling_step;
    prt_tensor *values;   /* by buffer */
    prt_tensor *expected; /* resolved types: a dim is a number or PRT_DIM_UNKNOWN; the size is bytes
                           * or SIZE_MAX */
    prt_arena **slots;    /* by buffer: its arena, made when first needed */
    /* After step k the slots of buffers ending[ends[k] .. ends[k + 1]) are reused. */
    uint32_t *ends, *ending;
    prt_frame_step *steps;
    unsigned char *memory; /* memory of the planned buffers */
    size_t memory_size;
    bool touched;        /* its pages are populated */
    bool is_update;      /* of entry `update`, which runs to its end once it has begun */
    bool invalid_shapes; /* of a body: resolving its shapes failed, which matters only if it is
                          * called */
    size_t *offsets;
    void **planned;         /* by buffer: its memory if known before the run, else NULL */
    bool *finalized;        /* by buffer: header and address are the same in every run */
    uint32_t *active_steps; /* steps that a run executes, in order */
    uint32_t n_active_steps;
    prt_arena *scratch; /* scratch of the current step beyond its planned scratch */
    bool scratch_used;
    size_t scratch_offset;
    size_t scratch_slice; /* largest slice of planned scratch requested by a step, in bytes */
    uint32_t *parts;      /* parts and columns of outputs, which lie in the caller's memory */
    uint32_t n_parts;
};

/* frame.c */
poprt_status prt_frames_create(prt_session *s);
void prt_frames_release(prt_session *s);
/* Resolves the shapes of all frames under the current dim_values, plans and allocates. */
poprt_status prt_frames_resolve(prt_session *s);
/* The same for one frame; its error says why the shapes of a body are invalid. */
poprt_status prt_frame_resolve(prt_frame *f);
/* Points the variables of the session's replica. */
void prt_frame_use_replica(prt_frame *f);
/* Returns whether an expected header is complete: a numeric tensor with all dims and its size. */
bool prt_frame_is_final(const prt_tensor *expected);
/* Places the parts of outputs, once the memory of the outputs is known for a run. */
void prt_frame_place_parts(prt_frame *f);

/* Returns the context to infer a step in the session's scratch; the caller has filled in the input
 * shapes. */
prt_infer prt_frame_infer(prt_session *s, const prt_frame_step *step);

/* slots.c: returns the arena of a buffer; on first use, one that holds `size` bytes if such an
 * arena is free. NULL (failure recorded) without memory. */
prt_arena *prt_frame_slot(prt_frame *f, uint32_t buffer, size_t size);
/* Finds the steps after which slots are reused. The session's frames must be bound. */
poprt_status prt_frame_find_slot_reuse(prt_frame *f);
/* Frees the slots of values that are not read after `step` for reuse. */
void prt_frame_free_slots(prt_frame *f, uint32_t step);

/* finalize.c: finds the steps of the resolved frame whose shapes and addresses are final. Fails for
 * a step whose shapes contradict its operator. */
poprt_status prt_frame_finalize(prt_frame *f);

/* columns.c: arguments whose rows are columns of a larger buffer. */
/* Returns the prt_step_columns of a step whose arguments and fast operator are set. */
uint8_t prt_columns_of(const prt_frame *f, const prt_frame_step *step);
/* Returns whether all parts that the step concatenates, or splits off, are columns in their
 * places. */
bool prt_columns_are_in_place(const prt_frame *f, const prt_frame_step *step);

/* views.c */
void prt_frame_place_views(prt_frame *f, const prt_frame_step *step, const size_t *offsets);

/* run.c */
poprt_status prt_frame_run(prt_frame *f);

/* checks.c: runs a step by `run`, under the checks that the session asks for. */
typedef poprt_status (*prt_frame_run_fn)(prt_frame *f, prt_frame_step *step);
poprt_status prt_frame_check_step(prt_frame *f, prt_frame_step *step, prt_frame_run_fn run);
/* In a session that measures: calls the kernel of a step only to allocate its scratch. */
poprt_status prt_frame_dry_run_step(prt_frame *f, prt_frame_step *step);

/* measure.c */
/* Rehearses all steps of a body, for an operator that is rehearsed itself. Fails with POPRT_E_LIMIT
 * after many calls. */
poprt_status prt_frame_dry_run_body(prt_frame *f);

/* Checks that `t` has the expected kind, type and known dims; the error names `name` and says that
 * `what` differs. */
poprt_status prt_frame_check(const prt_tensor *t, const prt_tensor *expected, const char *name,
    const char *what);

#endif
