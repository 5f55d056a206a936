/* SPDX-License-Identifier: MIT */
/*
 * infer.h — the context of an operator's `infer` hook, which computes output types from input
 * types.
 *
 * The same hook is used three times: while a model is read and rewritten (dims may be expressions
 * or unknown), at compile, and at run time for sizes that depend on data (all dims are numbers and
 * the contents of every input are known). The hook sees attributes, types and contents, but no
 * graph, so the run-only library contains it too.
 *
 * Before the hook is called, the op table has been checked: numbers of inputs and outputs, required
 * inputs, and element types allowed by the row's type variables. Each output starts as
 * PRT_VALUE_UNKNOWN with the element type that the type variables imply, if they do.
 */
#ifndef PRT_OP_INFER_H
#define PRT_OP_INFER_H

#include "tensor/tensor.h"

/* A type under construction: like prt_type, with storage for its dims. */
typedef struct prt_shape {
    int32_t kind; /* prt_value_kind */
    int32_t dtype;
    int32_t rank; /* or PRT_RANK_UNKNOWN */
    int64_t dims[PRT_MAX_RANK];
    /* type of the items of a sequence or optional, if known; NULL at run time */
    const prt_type *elem;
} prt_shape;

/* Writes the shape of a value at run time; kind ABSENT for NULL. */
void prt_shape_of_tensor(const prt_tensor *t, prt_shape *shape);

/* Returns true if the value is a tensor whose element type, rank and dims are all known. */
bool prt_shape_is_known(const prt_shape *shape);

/* Partial contents: the integers of a small int32 or int64 tensor in row-major order, each a
 * number, an expression or PRT_DIM_UNKNOWN. Operators that compute with sizes (content.h) also
 * follow bool tensors, and the whole numbers in float32 and float64 tensors. */
typedef struct prt_content {
    uint32_t count;
    const int64_t *values;
} prt_content;

enum { PRT_CONTENT_MAX = 256 }; /* tensors with more elements are not followed */

/* Inputs and outputs of the inference of a region. */
typedef struct prt_region {
    uint32_t n_in, n_out;
    const prt_shape *in;
    prt_shape *out;                /* to be filled */
    const prt_content *in_content; /* NULL: nothing is known */
    prt_content *out_content;      /* to be filled; NULL: not wanted */
    /* Inputs of the first run; their dims override the dims that the region declares. NULL: not
     * known. */
    const prt_shape *first;
    const prt_shape *second; /* inputs of the second run, likewise */
    /* Dim names that the region declares are local to it: a dim of the same name outside, or in
     * the next run of the region, may have another value. */
    bool local_symbols;
    bool trial; /* trial inference with these input types; nothing of it is kept */
} prt_region;

struct prt_op_def;
typedef struct prt_infer prt_infer;
struct prt_infer {
    const struct prt_op_def *def;
    const void *attrs;
    prt_str origin;   /* node name, for errors */
    prt_dims *dims;   /* NULL at run time: numbers only */
    prt_types *types; /* NULL at run time: no types of sequence elements */
    uint32_t n_in, n_out;
    const prt_shape *in;            /* kind ABSENT where an optional input is missing */
    const prt_tensor *const *value; /* whole contents of input i, or NULL */
    const prt_content *content;     /* partial contents of input i (count 0: nothing known) */
    prt_shape *out;                 /* to be filled; kind ABSENT where the output is not wanted */
    prt_content *out_content;       /* to be filled through prt_infer_set_content */
    prt_arena *scratch;
    /* Infers the types of a region's outputs from the types of its inputs; NULL at run time. */
    poprt_status (*region)(prt_infer *c, uint32_t region, const prt_region *r);
    bool too_deep; /* nested too deeply in regions to afford trial inference */
    void *user;
};

/* Records an error that names the node and returns `status`, for instance POPRT_E_SHAPE or
 * POPRT_E_TYPE. */
poprt_status prt_infer_fail(const prt_infer *c, poprt_status status, const char *fmt, ...)
    PRT_PRINTF(3, 4);

static inline bool prt_infer_has(const prt_infer *c, uint32_t i)
{
    return i < c->n_in && c->in[i].kind != PRT_VALUE_ABSENT;
}
static inline bool prt_infer_wants(const prt_infer *c, uint32_t i)
{
    return i < c->n_out && c->out[i].kind != PRT_VALUE_ABSENT;
}
/* Input i is a tensor of known rank. */
static inline bool prt_infer_ranked(const prt_infer *c, uint32_t i)
{
    return prt_infer_has(c, i) && c->in[i].kind == PRT_VALUE_TENSOR && c->in[i].rank >= 0;
}

/* Makes output i, if wanted, a tensor. `rank` may be PRT_RANK_UNKNOWN. Fails if the rank exceeds
 * PRT_MAX_RANK or a dim is a negative number. */
poprt_status prt_infer_set(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank,
    const int64_t *dims);

/* Makes output i a tensor of `rank` (or PRT_RANK_UNKNOWN) without known dims. */
poprt_status prt_infer_unranked(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank);

/* Gives output 0 the type of input 0, for operators that keep the shape. Integer contents are
 * copied too; float contents are not, because float functions also call this. */
poprt_status prt_infer_same(prt_infer *c);

/* Gives output i the shape of input j with its own element type. */
poprt_status prt_infer_like(prt_infer *c, uint32_t i, uint32_t j, int32_t dtype);

/* Broadcasts inputs [first, last), skipping absent ones, into `out` by numpy's rules. If a rank
 * is unknown, the rank of the result is unknown. */
poprt_status prt_infer_broadcast(prt_infer *c, uint32_t first, uint32_t last, prt_shape *out);

/* Converts `axis` in [-rank, rank) to a non-negative index; with `end`, `rank` itself is
 * allowed. */
poprt_status prt_infer_axis(const prt_infer *c, int64_t axis, int64_t rank, bool end,
    uint32_t *out);

/* Reads the integers of input i, whole or partial contents, as at most `max` dims. Returns false
 * if nothing is known or the input is absent, not of an integer type, or larger. */
bool prt_infer_ints(const prt_infer *c, uint32_t i, int64_t *to, uint32_t max, uint32_t *count);

/* Reads the single number of input i. Returns false if it is not known. */
bool prt_infer_number(const prt_infer *c, uint32_t i, int64_t *to);

/* Sets the known integers of output i; `values` is copied. */
poprt_status prt_infer_set_content(prt_infer *c, uint32_t i, uint32_t count, const int64_t *values);

/* Merges two dims that must be equal into the better known one. Fails with POPRT_E_SHAPE if both
 * are numbers and differ; `what` names the dim in the error. */
poprt_status prt_infer_merge(const prt_infer *c, int64_t a, int64_t b, const char *what,
    int64_t *out);

/* Returns the product of dims [first, last) as a dim. */
int64_t prt_infer_product(const prt_infer *c, const int64_t *dims, uint32_t first, uint32_t last);

#endif
