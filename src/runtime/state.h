/* SPDX-License-Identifier: MIT */
/* state.h — the body of a session, for the files that make it. */
#ifndef PRT_RUNTIME_STATE_H
#define PRT_RUNTIME_STATE_H

#include <stdatomic.h>

#include "op/op.h"
#include "runtime/session.h"

typedef struct prt_frame prt_frame;

/* Allocator that counts and caps what a session holds. */
typedef struct prt_counted {
    prt_allocator allocator; /* to hand out; its user is this */
    const prt_allocator *inner;
    size_t limit;
    size_t total;  /* only the session's running thread allocates */
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
    prt_blob **weights; /* by constant: the program's bytes, or this session's own */
    bool *replaced;     /* by constant: bytes are this session's own */
    prt_blob **updates; /* by constant: room for what a run writes; made when first needed */
    bool *updated;      /* by constant: that room holds the contents from the next run on */
    bool any_updated;
    int64_t *dim_values;         /* by expression index; PRT_DIM_UNKNOWN until bound */
    int64_t *fixed;              /* symbols fixed at creation, by expression index; else UNKNOWN */
    int64_t *bound;              /* symbols as the inputs of a run give them */
    bool resolved;               /* frames fit dim_values */
    bool near, strassen, bf16x3; /* as prt_eval has them */
    uint32_t *appends; /* by input: the output that a step makes of it, which may lie where it
                        * does, counted from 1; 0: none */
    const prt_tensor **caches; /* by buffer of the main block: where this run's value goes, with
                                * room; else NULL */
    prt_arena **staging;       /* copies of misaligned inputs and of caches, by input */
    prt_arena **results;       /* memory of outputs that the caller gave none for, by output */
    prt_shape *infer_shapes;   /* room for one step's inference */
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
    uint32_t rehearsals; /* of bodies, in this round of a session that measures */
    _Atomic bool cancel;
};

/* session.c */
/* Memory of the session for output i, whose header is known: `size` bytes with any contents, but
 * strings start out empty. NULL (failure recorded) when refused. */
void *prt_session_own_result(prt_session *s, uint32_t i, const prt_tensor *value);
/* Scratch that grew in several pieces becomes one, so that the next run finds it large enough.
 * Values that outputs point to stay. */
poprt_status prt_session_settle(prt_session *s);

/* ---- measure.c */
/* A weight at an aligned address while a session is measured, so that the program need not keep a
 * large copy. Kernels choose by small contents alone: a weight of more than 16 MiB reads as
 * zeros. */
poprt_status prt_session_stand_in(const prt_blob *weight, prt_blob **out);
/* Allocates, in a resolved session that measures, the scratch that its first runs would allocate
 * when the caller binds every output. */
poprt_status prt_session_rehearse(prt_session *s);
/* Takes the memory of the outputs, as a run does when none of them is bound. */
poprt_status prt_session_own_results(prt_session *s);

/* ---- update.c: operators that write weights. What they write becomes current before the next run.
 */
poprt_status prt_session_update(prt_session *s, uint32_t constant, const prt_tensor *value);
poprt_status prt_session_apply_updates(prt_session *s);
void prt_session_drop_updates(prt_session *s);

/* ---- cache.c: an input and an output in one piece of memory that leaves room (prt_tensor's
 * `room`). */
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

#endif
