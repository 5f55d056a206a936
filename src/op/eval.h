/* SPDX-License-Identifier: MIT */
/*
 * eval.h — the context of an operator's `eval` hook: the reference value. Plain loops, double
 * accumulators, no cleverness: what constant folding, the fallback step and every test of a fast
 * kernel call the truth.
 *
 * The inputs have passed `infer` with their real shapes. Each wanted output has its dtype, dims,
 * `data` and `size` set already, unless infer left the shape open; then the hook calls
 * prt_eval_shape first. An output of which infer knows nothing comes with kind UNKNOWN, data NULL
 * and what is declared for it: dtype (0: nothing), rank (UINT32_MAX: unknown) and dims (negative:
 * unknown). It matters to loops that never run. Outputs never overlap inputs, but for output 0 of
 * what op/alias.h allows in place, which may be exactly an input. Contents of inputs are untrusted:
 * indices are checked by the hook, integer division by zero and overflow are its to avoid.
 */
#ifndef PRT_OP_EVAL_H
#define PRT_OP_EVAL_H

#include "op/infer.h"
#include "par/pool.h"

typedef struct prt_eval prt_eval;
struct prt_attention;

/* What a region declares: how many inputs and outputs it has, and the type of one input, with
 * negative dims where they are open (kind UNKNOWN where nothing is declared). */
typedef struct prt_region_form {
    uint32_t n_in, n_out;
    prt_tensor in;
} prt_region_form;

/* What the interpreter or the runtime does for a hook. */
typedef struct prt_eval_host {
    /* Zeroed memory that lives as long as the value of output `out`; UINT32_MAX: this call only. */
    void *(*alloc)(prt_eval *c, uint32_t out, size_t size);
    /* The same for this call only, with any contents. NULL: `alloc` does it. */
    void *(*scratch)(prt_eval *c, size_t size);
    /* Such memory that is there anyway, until more is asked for: `parts` of `*each` bytes from a
     * cache line on, `least` or more. Whoever has part i has nearly the same one in most steps, so
     * that it stays in the caches of one processor. NULL: there are none. */
    void *(*spare)(prt_eval *c, size_t parts, size_t least, size_t *each);
    /* Runs region `region` of this op on formal inputs; `out` are views valid until the region's
     * next run. NULL where regions cannot run. */
    poprt_status (*call)(prt_eval *c, uint32_t region, uint32_t n_in, const prt_tensor *const *in,
        uint32_t n_out, prt_tensor *out);
    /* The form of region `region`, with its input `in` where it has one. NULL where `call` is. */
    poprt_status (*form)(prt_eval *c, uint32_t region, uint32_t in, prt_region_form *form);
    /* POPRT_E_CANCELLED when the caller wants to stop. Loops ask it once an iteration. */
    poprt_status (*check)(prt_eval *c);
    uint64_t (*seed)(prt_eval *c); /* next seed for random operators without one of their own */
    /* Input `in`, if it is a weight of the main graph, has these contents from the next run on,
     * should this one succeed. Does nothing for other values. NULL where nothing is kept. */
    poprt_status (*update)(prt_eval *c, uint32_t in, const prt_tensor *value);
    /* A line for whoever reads the log, without line break. NULL where nobody does. */
    void (*print)(prt_eval *c, const char *line);
    /* Name of the value at input `in`; may be empty. NULL where names are not kept. */
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
    /* A faster way through the loops of attention_core.h, for operators that end in them; NULL:
     * none. Clears `*done` where it has nothing for these tensors. */
    poprt_status (
        *attend)(struct prt_eval *c, const void *with, struct prt_attention *s, bool *done);
    const void *attend_with;
    /* Of a step with a kernel of a plug-in: how it runs, and the program's constants. */
    const struct prt_lowered *lowered;
    struct prt_blob *const *weights;
    const prt_par *par; /* threads that may help; NULL: none. `host` calls but `check` stay with
                         * the calling thread. */
    const prt_tensor *later; /* a constant that a step reads soon after this one, to be fetched on
                              * the way; NULL: none */
    bool near;               /* the program's weights are few enough to stay in a cache */
    bool strassen;           /* products may be computed by Strassen's algorithm */
    bool bf16x3;             /* and split, as kern/bf16x3/bf16x3.h has it */
    bool rehearses;          /* asks for scratch as a run does, and leaves loops over data out */
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

/* Gives output i a shape and memory, for shapes that infer left open. Not wanted: does nothing. */
poprt_status prt_eval_shape(prt_eval *c, uint32_t i, int32_t dtype, uint32_t rank,
    const int64_t *dims);

/* Zeroed scratch for this call; NULL (failure recorded) when refused. Checked product. */
void *prt_eval_scratch(prt_eval *c, size_t count, size_t size);

/* The same with any contents. */
void *prt_eval_scratch_raw(prt_eval *c, size_t count, size_t size);

/* Makes output i a deep copy of `from`, of any kind. */
poprt_status prt_eval_copy(prt_eval *c, uint32_t i, const prt_tensor *from);

/* Deep copy of `from` into `to`, in the memory of output i: for items of sequences. */
poprt_status prt_eval_copy_item(prt_eval *c, uint32_t i, const prt_tensor *from, prt_tensor *to);

/* Makes output i a sequence with room for `count` items (kind ABSENT until filled). */
poprt_status prt_eval_sequence(prt_eval *c, uint32_t i, int32_t dtype, size_t count);

/* Integers of input i (any integer type) into `to`; fails when there are more than `max`. */
poprt_status prt_eval_ints(const prt_eval *c, uint32_t i, int64_t *to, uint32_t max,
    uint32_t *count);

/* The next coordinates in row-major order; false after the last. */
bool prt_at_next(uint32_t rank, const int64_t *dims, int64_t *at);

/* Copies `count` elements starting at element indices, any type but packed ones whose bits do not
 * fill bytes are handled too. Strings are copied as references to the same characters. */
void prt_element_copy(int32_t dtype, void *to, size_t to_index, const void *from, size_t from_index,
    size_t count);

#endif
