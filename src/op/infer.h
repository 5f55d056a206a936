/* SPDX-License-Identifier: MIT */
/*
 * infer.h — the context of an operator's `infer` hook: types in, types out.
 *
 * The same function serves three times: while a model is read and rewritten (dims may be
 * expressions or unknown), at compile, and at run time for sizes that depend on data (then all
 * dims are numbers and every input's contents are known). It knows attributes, types and contents,
 * no graphs; so the run-only library has it too.
 *
 * Before the hook is called, the op table has been checked: counts of inputs and outputs, required
 * inputs present, element types allowed by the row's type variables. Outputs start as
 * PRT_VALUE_UNKNOWN with the element type that the row's type variables imply, where they do.
 */
#ifndef PRT_OP_INFER_H
#define PRT_OP_INFER_H

#include "tensor/tensor.h"

/* A type under construction: like prt_type, with room for its dims. */
typedef struct prt_shape {
    int32_t kind; /* prt_value_kind */
    int32_t dtype;
    int32_t rank; /* or PRT_RANK_UNKNOWN */
    int64_t dims[PRT_MAX_RANK];
    const prt_type *elem; /* of sequences and optionals, where known; NULL at run time */
} prt_shape;

/* The shape of a value at run time; ABSENT for NULL. */
void prt_shape_of_tensor(const prt_tensor *t, prt_shape *shape);

/* A tensor's element type, rank and every dim are known. */
bool prt_shape_is_known(const prt_shape *shape);

/* What is known of the integers in a small int32 or int64 tensor, in row-major order: each a
 * number, an expression or PRT_DIM_UNKNOWN. Operators that compute with sizes (content.h) follow
 * bool tensors, and the whole numbers in float32 and float64 ones, too. */
typedef struct prt_content {
    uint32_t count;
    const int64_t *values;
} prt_content;

enum { PRT_CONTENT_MAX = 256 }; /* tensors with more elements are not followed */

/* What a hook tells a region of its inputs, and learns of its outputs. */
typedef struct prt_region {
    uint32_t n_in, n_out;
    const prt_shape *in;
    prt_shape *out;                /* to be filled */
    const prt_content *in_content; /* NULL: nothing known */
    prt_content *out_content;      /* to be filled; NULL: not asked for */
    const prt_shape *first;  /* the first run's inputs, whose dims count more than what the region
                              * declares; NULL: they are not known */
    const prt_shape *second; /* the second run's, likewise */
    bool apart; /* names of dims that the region declares are its own: what else goes by them, and
                 * the next run of the region, may have other numbers */
    bool trial; /* what if the inputs had these types: nothing is left of it for later */
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
    prt_shape *out;                 /* to fill; kind ABSENT where nobody wants the output */
    prt_content *out_content;       /* to fill through prt_infer_set_content */
    prt_arena *scratch;
    /* Types of a region's outputs given those of its inputs; NULL at run time. */
    poprt_status (*region)(prt_infer *c, uint32_t region, const prt_region *r);
    bool deep; /* within so many regions that there is no time for trials */
    void *user;
};

/* Failure that names the node: POPRT_E_SHAPE or POPRT_E_TYPE or what is passed. */
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

/* Sets output i (if wanted) to a tensor. `rank` may be PRT_RANK_UNKNOWN. Fails on rank > 8 and on
 * a dim that is a negative number. */
poprt_status prt_infer_set(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank,
    const int64_t *dims);

/* Output i is a tensor of `rank` (or PRT_RANK_UNKNOWN) with no known dims. */
poprt_status prt_infer_unranked(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank);

/* Output 0 gets input 0's type: for operators that keep the shape. Contents too, but not those of
 * floats, because float functions use this as well. */
poprt_status prt_infer_same(prt_infer *c);

/* Output i gets the shape of input j with its own element type. */
poprt_status prt_infer_like(prt_infer *c, uint32_t i, uint32_t j, int32_t dtype);

/* numpy broadcasting of inputs [first, last) (absent ones skipped) into `out`. A rank that is
 * unknown makes the result's unknown. */
poprt_status prt_infer_broadcast(prt_infer *c, uint32_t first, uint32_t last, prt_shape *out);

/* `axis` in [-rank, rank) made non-negative; with `end`, rank itself is allowed. */
poprt_status prt_infer_axis(const prt_infer *c, int64_t axis, int64_t rank, bool end,
    uint32_t *out);

/* Integers in input i as dims (whole contents or partial ones), at most `max`; false when nothing
 * is known or the input is absent, not integer, or larger. */
bool prt_infer_ints(const prt_infer *c, uint32_t i, int64_t *to, uint32_t max, uint32_t *count);

/* One number in input i; false when not known. */
bool prt_infer_number(const prt_infer *c, uint32_t i, int64_t *to);

/* Says what is known of the integers of output i. Copies. */
poprt_status prt_infer_set_content(prt_infer *c, uint32_t i, uint32_t count, const int64_t *values);

/* Two dims that must be equal: merged into the better known one; POPRT_E_SHAPE when both are
 * different numbers. `what` names the dim in the error. */
poprt_status prt_infer_merge(const prt_infer *c, int64_t a, int64_t b, const char *what,
    int64_t *out);

/* Product of dims [first, last) as a dim. */
int64_t prt_infer_product(const prt_infer *c, const int64_t *dims, uint32_t first, uint32_t last);

#endif
