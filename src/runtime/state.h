/* SPDX-License-Identifier: MIT */
/* state.h — the definition of a session, for the sources of the runtime. */
#ifndef PRT_RUNTIME_STATE_H
#define PRT_RUNTIME_STATE_H

#include <stdatomic.h>

#include "base/map.h"
#include "op/op.h"
#include "runtime/session.h"
#include "runtime/store.h"

typedef struct prt_frame prt_frame;

/* An allocator that counts and limits the bytes of a session. */
typedef struct prt_counted {
    prt_allocator allocator; /* the allocator to pass on, whose user is this struct */
    const prt_allocator *inner;
    size_t limit;
    size_t total;  /* bytes; only the thread that runs the session allocates */
    size_t peak;   /* largest `total` so far */
    bool measures; /* the session never runs: planned memory is reserved addresses */
} prt_counted;

/* Counted memory whose size the caller keeps: without a header, so that no page is touched before
 * its first use. prt_counted_free accepts NULL. */
poprt_status prt_counted_alloc(prt_counted *m, size_t size, void **out);
void prt_counted_free(prt_counted *m, void *ptr, size_t size);

enum { PRT_FREE_SLOTS_MAX = 16 };

struct prt_session {
    prt_program *program;
    prt_counted memory;
    prt_arena *arena; /* of the session: headers, steps, tables */
    prt_frame *frames;
    prt_blob **weights; /* by constant: the program's bytes, or this session's own */
    bool *replaced;     /* by constant: the bytes are this session's own */
    prt_blob **updates; /* by constant: the value that a run writes; made when first needed */
    bool *updated;      /* by constant: `updates` becomes the weight before the next run */
    bool any_updated;
    prt_store *store;    /* variables; NULL: the program has none */
    uint32_t replica;    /* whose variables the frames use */
    int64_t *dim_values; /* by index of the expression; PRT_DIM_UNKNOWN until bound */
    int64_t *fixed;      /* symbols fixed at creation, by index of the expression; PRT_DIM_UNKNOWN
                          * otherwise */
    int64_t *bound;      /* symbols bound by the inputs of a run */
    struct prt_flow_state *flow;      /* NULL: the program has no data flow */
    const uint32_t *buffering_depths; /* by input; NULL: 1 each; only while the session is made */
    /* Micro-batches since the seed was set, all micro-batches of a failed run left out; and those
     * of them before the last update. */
    uint64_t micro_batches, updated_at;
    bool has_sums;         /* accumulators may hold sums: of a run that failed, or of the caller */
    uint64_t update_count; /* since the session was created or a checkpoint was begun */
    bool *lacks;           /* by variable: it has no contents yet, because the file had none */
    uint32_t n_lacking;    /* number of these */
    double *scalars;       /* by variable: a scalar's value without the factor of the loss scale */
    prt_map names;         /* of weights.c: variables and constants by name */
    bool has_names;        /* `names` is complete */
    bool open;             /* an input binds a symbolic dim */
    bool resolved;         /* the frames are resolved for dim_values */
    bool weights_in_cache; /* see prt_eval */
    bool strassen, bf16x3; /* as in prt_eval */
    uint32_t *appends; /* by input: 1 + the output that a step appends to it as a KV cache; 0: no
                        * such output */
    const prt_tensor **caches; /* by buffer of the main block: the KV cache that takes the value of
                                * this run; else NULL */
    prt_arena **staging;       /* by input: copies of misaligned inputs and of caches */
    prt_arena **results;       /* by output: memory of outputs that the caller did not bind */
    prt_shape *infer_shapes;   /* arrays for the inference of one step */
    prt_content *infer_content;
    const prt_tensor **infer_values;
    prt_arena *infer_scratch;
    prt_arena *free_slots[PRT_FREE_SLOTS_MAX]; /* slots that no buffer uses */
    uint32_t n_free_slots;
    const prt_kern *kern;
    const prt_par *par;
    prt_par par_copy;
    prt_par flushed_par; /* inside of par_copy if the session flushes denormals */
    bool flush_denormals;
    prt_print_fn print;
    void *print_user;
    prt_step_fn watch;
    void *watch_user;
    bool check_floating_point, check_kernels;
    bool any_log2_scale; /* as in prt_eval */
    uint64_t seed;
    uint64_t run_seed, random_calls; /* seed of random operators, and their calls with it */
    uint32_t dry_runs;               /* bodies rehearsed in this round of a session that measures */
    _Atomic bool cancel;
};

/* denormals.c: sets the threads of a session; runs its steps, without denormals if it is asked to.
 */
poprt_status prt_session_set_par(prt_session *s, const prt_session_options *options);
poprt_status prt_session_run_steps(prt_session *s, uint32_t block);

/* session.c */
/* Runs the main block once, and leaves a request to cancel as it is. */
poprt_status prt_session_run_once(prt_session *s, const prt_tensor *in, prt_tensor *out);
/* Returns memory of the session for output i, whose header is known: `size` bytes with undefined
 * contents, except that strings are empty. NULL (failure recorded) when it is refused. */
void *prt_session_alloc_result(prt_session *s, uint32_t i, const prt_tensor *value);
/* Merges the blocks of scratch arenas into one each, so that the next run finds them large enough.
 * Values that outputs point to are kept. */
poprt_status prt_session_merge_scratch(prt_session *s);

/* weights.c */
/* Lists the variables without contents. */
poprt_status prt_session_find_lacking(prt_session *s);
/* Says that a variable has contents. */
void prt_session_note_contents(prt_session *s, uint32_t variable);
/* Reads the first values of scalars; and computes them again from a new loss scale factor. */
poprt_status prt_session_read_scalars(prt_session *s);
void prt_session_scale_scalars(prt_session *s);
/* Returns whether the loss scale and all scalars that carry it would be finite, and none would
 * become 0, with a new factor. */
bool prt_session_may_scale(const prt_session *s, float factor);

/* measure.c */
/* Makes a substitute for the copy of a weight, at an aligned address, while a session is measured,
 * so that the program need not keep a large copy. Kernels select by small contents only: a weight
 * of more than 16 MiB reads as zeros. */
poprt_status prt_session_substitute_weight(const prt_blob *weight, prt_blob **out);
/* Allocates the scratch that the first runs would allocate when the caller binds every output. The
 * session must be resolved and measure. */
poprt_status prt_session_dry_run(prt_session *s);
/* Allocates the outputs, as a run does when the caller binds no output; unless `all`, only those
 * that a run keeps also when the caller binds every output: of the steps that return no value. */
poprt_status prt_session_alloc_results(prt_session *s, bool all);

/* update.c: operators that write weights. A written value becomes current before the next run. */
poprt_status prt_session_update(prt_session *s, uint32_t constant, const prt_tensor *value);
poprt_status prt_session_apply_updates(prt_session *s);
void prt_session_drop_updates(prt_session *s);

/* cache.c: KV caches, where an input and an output share memory with spare capacity (`capacity` of
 * prt_tensor). */
poprt_status prt_cache_find(prt_session *s);
/* Returns whether the two tensors are one cache, to which its step appends rows. */
bool prt_cache_appends(const prt_session *s, uint32_t input, const prt_tensor *in, uint32_t output,
    const prt_tensor *out);
/* Copies the rows of a cache without gaps. */
void prt_cache_gather(const prt_tensor *t, void *to);
/* Checks that a value fits into a cache, whose dims are equal except for the rows. The error names
 * `name`. */
poprt_status prt_cache_check(const prt_tensor *t, const prt_tensor *cache, const char *name);
/* Copies a value into a cache; `out` becomes the value in the cache. Fails like prt_cache_check. */
poprt_status prt_cache_scatter(const prt_tensor *t, const prt_tensor *cache, const char *name,
    prt_tensor *out);

/* The seed of draw or micro-batch `number` of a seed. Neighbouring seeds share none: an exclusive
 * or of the two numbers would. */
static inline uint64_t prt_session_mix(uint64_t seed, uint64_t number)
{
    const uint64_t key[2] = { seed, number };
    return prt_hash(key, sizeof(key), 0);
}

#endif
