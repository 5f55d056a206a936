/* SPDX-License-Identifier: MIT */
/*
 * frame.h — the memory of one block while a session lives: a value header for every buffer, the
 * planned memory, arenas for values whose size is known only when they are computed, and the
 * steps with their arguments looked up. Made at session creation; a run only follows pointers.
 */
#ifndef PRT_RUNTIME_FRAME_H
#define PRT_RUNTIME_FRAME_H

#include <stdatomic.h>

#include "fast/fast.h"
#include "op/op.h"
#include "runtime/session.h"

typedef struct prt_frame prt_frame;

typedef struct prt_frame_step {
    const prt_eval_params *params;
    const prt_tensor **in; /* NULL where absent */
    prt_tensor **out;
    const uint32_t *out_buffers; /* PRT_NO_BUFFER where not wanted */
    uint32_t n_in, n_out;
    prt_fast_fn fast; /* runs in place of the reference kernel where it can; NULL: none */
    size_t *offsets;  /* by output: where in input 0 it is, when `mode` says views; else NULL */
    uint8_t mode;     /* prt_step_mode, known with the shapes */
    bool is_static; /* every output's shape is known before the run, and was checked */
    uint8_t columns; /* prt_step_columns */
    bool tangled;   /* some output that is no view lies in the memory of an input */
    bool packed;    /* some output has elements smaller than a byte */
    const prt_tensor *later; /* as prt_eval has it */
    uint8_t over;   /* output 0 is written over this input, counted from 1; 0: it is not */
    size_t room_at, room; /* bytes of the frame's memory that nothing lies in during the step */
} prt_frame_step;

/* Whether arguments of a step are columns (prt_space). */
typedef enum prt_step_columns {
    PRT_COLUMNS_none,
    PRT_COLUMNS_taken,  /* its fast form knows what to do */
    PRT_COLUMNS_apart,  /* its kernel gets copies */
} prt_step_columns;

/* What a run does for a step. */
typedef enum prt_step_mode {
    PRT_STEP_eval,  /* its kernel */
    PRT_STEP_views, /* outputs are bytes of input 0: says where they are, or moves them */
    PRT_STEP_join,  /* output 0 is the inputs in a row: moves those that are not there already */
    PRT_STEP_none   /* nothing: all is where it has to be */
} prt_step_mode;

struct prt_frame {
    prt_session *session;
    const prt_block *block;
    prt_frame *outer;
    prt_tensor *values;   /* by buffer */
    prt_tensor
        *expected; /* resolved types: dims are numbers or PRT_DIM_UNKNOWN; size or SIZE_MAX */
    prt_arena **slots;    /* by buffer; made when first needed */
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
    uint32_t *parts;    /* parts and columns of outputs, whose memory is the caller's */
    uint32_t n_parts;
};

/* Allocator that counts and caps what a session holds. */
typedef struct prt_counted {
    prt_allocator allocator; /* to hand out; its user is this */
    const prt_allocator *inner;
    size_t limit;
    size_t total; /* only the session's running thread allocates */
    bool measures; /* nothing will run: planned memory is addresses alone */
} prt_counted;

/* Counted memory whose size the caller remembers: no header is written, so that no page is touched
 * before its first use. Give takes NULL. */
poprt_status prt_counted_take(prt_counted *m, size_t size, void **out);
void prt_counted_give(prt_counted *m, void *ptr, size_t size);

enum { PRT_SPARES = 16 };

struct prt_session {
    prt_program *program;
    prt_counted memory;
    prt_arena *arena; /* session: headers, steps, tables */
    prt_frame *frames;
    prt_blob **weights;      /* by constant: the program's bytes, or this session's own */
    bool *replaced;          /* by constant: bytes are this session's own */
    prt_blob **updates;      /* by constant: room for what a run writes; made when first needed */
    bool *updated;           /* by constant: that room holds the contents from the next run on */
    bool any_updated;
    int64_t *dim_values;     /* by expression index; PRT_DIM_UNKNOWN until bound */
    int64_t *fixed;          /* symbols fixed at creation, by expression index; else UNKNOWN */
    int64_t *bound;          /* symbols as the inputs of a run give them */
    bool resolved;           /* frames fit dim_values */
    bool near, strassen, bf16x3; /* as prt_eval has them */
    uint32_t *appends;       /* by input: the output that a step makes of it, which may lie where it
                              * does, counted from 1; 0: none */
    const prt_tensor **caches; /* by buffer of the main block: where this run's value goes, with
                                * room; else NULL */
    prt_arena **staging;     /* copies of misaligned inputs and of caches, by input */
    prt_arena **results;     /* memory of outputs that the caller gave none for, by output */
    prt_shape *infer_shapes; /* room for one step's inference */
    prt_content *infer_content;
    const prt_tensor **infer_values;
    prt_arena *infer_scratch;
    prt_arena *spare[PRT_SPARES]; /* slots that no buffer needs */
    uint32_t n_spare;
    const prt_kern *kern;
    const prt_par *par;
    prt_par par_copy;
    prt_print_fn print;
    void *print_user;
    prt_step_fn watch;
    void *watch_user;
    uint64_t seed, random_calls;
    uint32_t rehearsals;     /* of bodies, in this round of a session that measures */
    _Atomic bool cancel;
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

/* cache.c: an input and an output in one piece of memory that leaves room (prt_tensor's `room`). */
poprt_status prt_cache_find(prt_session *s);
/* These two tensors are one cache, whose step writes new rows behind those that it reads. */
bool prt_cache_appends(const prt_session *s, uint32_t input, const prt_tensor *in, uint32_t output,
    const prt_tensor *out);
/* The rows of a cache without gaps. */
void prt_cache_gather(const prt_tensor *t, void *to);
/* A value fits into a cache, whose dims but for that of the rows are its own; else an error naming
 * `name`. */
poprt_status prt_cache_check(const prt_tensor *t, const prt_tensor *cache, const char *name);
/* A value into a cache; `out` is the value there. */
poprt_status prt_cache_scatter(const prt_tensor *t, const prt_tensor *cache, const char *name,
    prt_tensor *out);

/* columns.c: arguments whose rows are columns of a larger buffer's. */
/* Of a step whose arguments and fast form are there. */
uint8_t prt_columns_of(const prt_frame *f, const prt_frame_step *step);
/* All that the step puts beside each other, or takes apart, is where it has to be. */
bool prt_columns_are_there(const prt_frame *f, const prt_frame_step *step);
/* Calls the reference kernel with arguments without gaps. */
poprt_status prt_columns_eval(prt_eval *c);

/* move.c: views and joins, which move bytes at most. */
/* `count` pieces of `size` bytes, so many bytes apart, to where they are others apart. */
void prt_move_pieces(size_t count, size_t size, const void *from, size_t from_step, void *to,
    size_t to_step);
/* Outputs of a step whose shapes are known, by input 0. False, and nothing done, when some output
 * is no view. */
bool prt_frame_views(const prt_frame_step *step, size_t *offsets);
void prt_frame_give_views(prt_frame *f, const prt_frame_step *step, const size_t *offsets);
/* Inputs one after another in output 0; false when they are not what it is made of. */
bool prt_frame_may_join(const prt_frame_step *step);
void prt_frame_join(const prt_frame_step *step);
/* Output 0, a view, may be written over the input that it is said to: they have one header. */
bool prt_frame_is_over(const prt_frame_step *step);
/* A step that is neither of these and whose kernel has to run reads nothing that it writes; false
 * with a failure recorded. */
bool prt_frame_may_eval(const prt_frame_step *step);

/* run.c */
poprt_status prt_frame_run(prt_frame *f);
/* In a session that measures, calls the kernel of a step for its scratch alone. */
poprt_status prt_frame_rehearse(prt_frame *f, prt_frame_step *step);

/* session.c */
/* Memory of the session for output i, whose header is known: `size` bytes with any contents, but
 * strings start out empty. NULL (failure recorded) when refused. */
void *prt_session_own_result(prt_session *s, uint32_t i, const prt_tensor *value);
/* Scratch that grew in several pieces becomes one, so that the next run finds it large enough.
 * Values that outputs point to stay. */
poprt_status prt_session_settle(prt_session *s);

/* measure.c */
/* A weight at an aligned address while a session is measured, so that the program need not keep a
 * large copy. Kernels choose by small contents alone: a weight of more than 16 MiB reads as
 * zeros. */
poprt_status prt_session_stand_in(const prt_blob *weight, prt_blob **out);
/* Allocates, in a resolved session that measures, the scratch that its first runs would allocate
 * when the caller binds every output. */
poprt_status prt_session_rehearse(prt_session *s);
/* All steps of a body, for an operator that is rehearsed itself. Fails after many calls. */
poprt_status prt_frame_rehearse_body(prt_frame *f);
/* Takes the memory of the outputs, as a run does when none of them is bound. */
poprt_status prt_session_own_results(prt_session *s);

/* update.c: operators that write weights. What they write becomes current before the next run. */
poprt_status prt_session_update(prt_session *s, uint32_t constant, const prt_tensor *value);
poprt_status prt_session_apply_updates(prt_session *s);
void prt_session_drop_updates(prt_session *s);

/* `t` has the kind, type and known dims that are expected; else an error naming `name`. */
poprt_status prt_frame_check(const prt_tensor *t, const prt_tensor *expected, const char *name,
    const char *what);

#endif
