/* SPDX-License-Identifier: MIT */
/*
 * eval.h — the context of an operator's `eval` hook, which computes the reference result: plain
 * loops and double accumulators. Constant folding and fallback steps use it; tests compare fast
 * kernels with it.
 *
 * The inputs have passed `infer` with their real shapes. Each wanted output has its dtype, dims,
 * `data` and `size` set, unless infer left the shape open; then the hook calls prt_eval_shape
 * first. If infer knows nothing about an output, its kind is UNKNOWN, its data NULL, and it carries
 * the declared dtype (0: not declared), rank (UINT32_MAX: unknown) and dims (negative: unknown).
 * Loops that run zero times need the declaration.
 *
 * Outputs never overlap inputs, except that output 0 may be exactly an input where op/alias.h
 * allows it. Contents of inputs are untrusted: the hook checks indices and avoids integer division
 * by zero and overflow.
 */
#ifndef PRT_OP_EVAL_H
#define PRT_OP_EVAL_H

#include "op/infer.h"
#include "par/pool.h"

typedef struct prt_eval prt_eval;
struct prt_attention;

/* The signature of a region: its numbers of inputs and outputs, and the type of one input. Dims
 * that are not declared are negative; kind is UNKNOWN if the type is not declared. */
typedef struct prt_region_signature {
    uint32_t n_in, n_out;
    prt_tensor in;
} prt_region_signature;

/* Services that the interpreter or the runtime provides to a hook. */
typedef struct prt_eval_host {
    /* Returns zeroed memory that lives as long as the value of output `out`; UINT32_MAX: until
     * the call ends. */
    void *(*alloc)(prt_eval *c, uint32_t out, size_t size);
    /* Returns uninitialised memory that lives until the call ends. NULL: use `alloc`. */
    void *(*scratch)(prt_eval *c, size_t size);
    /*
     * Returns per-thread scratch carved from planned memory that is idle until the next request:
     * `parts` slices of `*each` ≥ `least` bytes, cache-line aligned. Slice i stays at nearly the
     * same address from step to step, so it stays in the cache of one processor. NULL: not
     * provided.
     */
    void *(*idle_scratch)(prt_eval *c, size_t parts, size_t least, size_t *each);
    /* Runs region `region` of this op on its inputs; `out` are views valid until the region's
     * next run. NULL where regions cannot run. */
    poprt_status (*call)(prt_eval *c, uint32_t region, uint32_t n_in, const prt_tensor *const *in,
        uint32_t n_out, prt_tensor *out);
    /* Reads the signature of region `region`, with the type of its input `in` if it has one.
     * NULL where `call` is NULL. */
    poprt_status (
        *region_signature)(prt_eval *c, uint32_t region, uint32_t in, prt_region_signature *to);
    /* Returns POPRT_E_CANCELLED when the caller wants to stop. Loops call it once an iteration. */
    poprt_status (*check)(prt_eval *c);
    /* Returns the next seed, for random operators without a seed attribute. */
    uint64_t (*seed)(prt_eval *c);
    /* Replaces the contents of input `in`, if it is a weight of the main graph, from the next
     * run on, provided that this run succeeds. Other values are ignored. NULL where updates are
     * not kept. */
    poprt_status (*update)(prt_eval *c, uint32_t in, const prt_tensor *value);
    /* Writes one line, without line break, to the log. NULL without a log. */
    void (*print)(prt_eval *c, const char *line);
    /* Returns the name of the value at input `in`, which may be empty. NULL where names are not
     * kept. */
    prt_str (*name)(prt_eval *c, uint32_t in);
} prt_eval_host;

struct prt_eval {
    const struct prt_op_def *def;
    const void *attrs;
    prt_str origin;
    uint32_t n_in, n_out;
    const prt_tensor *const *in; /* NULL where absent */
    prt_tensor *const *out;      /* NULL where not wanted */
    const prt_eval_host *host;
    /* Optimised replacement for the loops of attention_core.h, set for operators that end in
     * them; may be NULL. It clears `*done` if it does not support these tensors. */
    poprt_status (
        *attend)(struct prt_eval *c, const void *with, struct prt_attention *s, bool *done);
    const void *attend_with;
    /* For a step with a kernel of a plug-in: its prt_lowered, and the constants of the program. */
    const struct prt_lowered *lowered;
    struct prt_blob *const *weights;
    /* Worker threads that may help; NULL: single-threaded. Except for `check`, the calling
     * thread makes all `host` calls. */
    const prt_par *par;
    /* Prefetch hint: a constant that a step reads soon after this one; may be NULL. */
    const prt_tensor *prefetch_hint;
    bool weights_in_cache; /* the weights of the program are small enough to stay in a cache */
    bool any_log2_scale;   /* scales of 8-bit floats may be out of range */
    bool strassen;         /* matrix products may use Strassen's algorithm */
    bool bf16x3;           /* matrix products may use bf16x3, see kern/bf16x3/bf16x3.h */
    /* measuring run: requests scratch like a real run, but skips loops over data */
    bool is_measuring;
    void *user;
};

poprt_status prt_eval_fail(const prt_eval *c, poprt_status status, const char *fmt, ...)
    PRT_PRINTF(3, 4);

static inline bool prt_eval_has(const prt_eval *c, uint32_t i)
{
    return i < c->n_in && c->in[i] != NULL && c->in[i]->kind != PRT_VALUE_ABSENT;
}
static inline bool prt_eval_wants(const prt_eval *c, uint32_t i)
{
    return i < c->n_out && c->out[i] != NULL;
}

/* Gives output i a shape and memory, for shapes that infer left open. Does nothing if the output
 * is not wanted. */
poprt_status prt_eval_shape(prt_eval *c, uint32_t i, int32_t dtype, uint32_t rank,
    const int64_t *dims);

/* Returns zeroed scratch of `count` * `size` bytes, valid during this call. Returns NULL and
 * records the error if the product overflows or memory is refused. */
void *prt_eval_scratch(prt_eval *c, size_t count, size_t size);

/* Like prt_eval_scratch, but the memory is not initialised. */
void *prt_eval_scratch_raw(prt_eval *c, size_t count, size_t size);

/* Makes output i a deep copy of `from`, of any kind. */
poprt_status prt_eval_copy(prt_eval *c, uint32_t i, const prt_tensor *from);

/* Makes `to` a deep copy of `from` in the memory of output i; used for items of sequences. */
poprt_status prt_eval_copy_item(prt_eval *c, uint32_t i, const prt_tensor *from, prt_tensor *to);

/* Makes output i a sequence of `count` items (kind ABSENT until they are filled). */
poprt_status prt_eval_sequence(prt_eval *c, uint32_t i, int32_t dtype, size_t count);

/* Reads the integers of input i (any integer type) into `to`. Fails with POPRT_E_SHAPE if there
 * are more than `max`. */
poprt_status prt_eval_ints(const prt_eval *c, uint32_t i, int64_t *to, uint32_t max,
    uint32_t *count);

/* Advances `at` to the next coordinates in row-major order. Returns false after the last. */
bool prt_at_next(uint32_t rank, const int64_t *dims, int64_t *at);

/* Copies `count` elements between element indices, for every type including sub-byte packed
 * types. A string is copied as a reference to the same characters. */
void prt_element_copy(int32_t dtype, void *to, size_t to_index, const void *from, size_t from_index,
    size_t count);

#endif
