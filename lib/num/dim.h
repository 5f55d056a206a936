/* SPDX-License-Identifier: MIT */
/*
 * dim.h — dimensions: numbers, or expressions over named symbols ("batch", "2*seq+1").
 *
 * A dim is an int64. Values above PRT_DIM_EXPR are numbers. PRT_DIM_UNKNOWN is a dimension that is
 * known only once it is computed. The values between them are expressions interned in a prt_dims
 * table, so that equal expressions are equal integers. Arithmetic folds numbers, simplifies
 * expressions and propagates the unknown. For numbers alone (run time) the table may be NULL.
 */
#ifndef PRT_NUM_DIM_H
#define PRT_NUM_DIM_H

#include "base/str.h"

#define PRT_DIM_UNKNOWN INT64_MIN
#define PRT_DIM_EXPR (-((int64_t)1 << 62))

typedef struct prt_dims prt_dims;

typedef enum prt_dim_op {
    PRT_DIM_SYMBOL,
    PRT_DIM_ADD,
    PRT_DIM_SUB,
    PRT_DIM_MUL,
    PRT_DIM_FLOORDIV, /* rounds toward minus infinity; division by zero is unknown */
    PRT_DIM_CEILDIV,
    PRT_DIM_MOD, /* has the sign of the divisor */
    PRT_DIM_MIN,
    PRT_DIM_MAX,
    PRT_DIM_BROADCAST, /* a where b is 1, b where a is 1; unknown when they differ otherwise */
    PRT_DIM_BOUND, /* index a of an axis of size b: from the end when negative, clamped to [0, b] */
    PRT_DIM_RATIO, /* a/b; unknown if the division leaves a remainder */
    PRT_DIM_OPS
} prt_dim_op;

typedef struct prt_dim_node {
    int32_t op;
    int64_t a, b;   /* operands: numbers or earlier nodes; for a symbol, a = its index */
    prt_str symbol; /* of PRT_DIM_SYMBOL */
} prt_dim_node;

static inline bool prt_dim_is_number(int64_t dim)
{
    return dim > PRT_DIM_EXPR;
}
static inline bool prt_dim_is_expr(int64_t dim)
{
    return dim <= PRT_DIM_EXPR && dim != PRT_DIM_UNKNOWN;
}

poprt_status prt_dims_create(prt_arena *arena, prt_dims **out);

/* Returns the dim of a symbol, created on first use; PRT_DIM_UNKNOWN (failure recorded) without
 * memory. */
int64_t prt_dim_symbol(prt_dims *dims, prt_str name);

int64_t prt_dim_make(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b);

static inline int64_t prt_dim_add(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_ADD, a, b);
}
static inline int64_t prt_dim_sub(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_SUB, a, b);
}
static inline int64_t prt_dim_mul(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_MUL, a, b);
}
static inline int64_t prt_dim_floordiv(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_FLOORDIV, a, b);
}
static inline int64_t prt_dim_ceildiv(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_CEILDIV, a, b);
}
static inline int64_t prt_dim_min(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_MIN, a, b);
}
static inline int64_t prt_dim_max(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_MAX, a, b);
}

static inline int64_t prt_dim_broadcast(prt_dims *d, int64_t a, int64_t b)
{
    return prt_dim_make(d, PRT_DIM_BROADCAST, a, b);
}

static inline int64_t prt_dim_bound(prt_dims *d, int64_t index, int64_t size)
{
    return prt_dim_make(d, PRT_DIM_BOUND, index, size);
}

/* Round an expression that may contain ratios to a whole number: floor(ratio(s, 2)) is (s/2). */
int64_t prt_dim_floor(prt_dims *dims, int64_t dim);
int64_t prt_dim_ceil(prt_dims *dims, int64_t dim);
/* Returns whether the dim contains a ratio; true also when it is too large to tell. */
bool prt_dim_has_ratio(const prt_dims *dims, int64_t dim);

/* Returns true when a dim is certainly not negative, given that no symbol is negative. */
bool prt_dim_never_negative(const prt_dims *dims, int64_t dim);

/* The nodes in order of creation: operands come before the nodes that use them. */
size_t prt_dims_count(const prt_dims *dims);
const prt_dim_node *prt_dims_at(const prt_dims *dims, size_t index);
int64_t prt_dim_of_index(size_t index);
size_t prt_dim_index(int64_t dim); /* `dim` is an expression */

/* Applies an operation to numbers; PRT_DIM_UNKNOWN when it is undefined or overflows. */
int64_t prt_dim_apply(prt_dim_op op, int64_t a, int64_t b);

/*
 * Parses a dim from numbers, the four operations (/ and // round down), parentheses and names;
 * `find` returns the dim of a name. Returns PRT_DIM_UNKNOWN for any other text.
 */
int64_t prt_dim_parse(prt_dims *dims, prt_str text, int64_t (*find)(void *user, prt_str name),
    void *user);

/* Returns `dim` with `symbol` replaced by `to`. The recursion is as deep as the expression. */
int64_t prt_dim_replace(prt_dims *dims, int64_t dim, int64_t symbol, int64_t to);

/* Writes a dim as text ("3", "batch", "(seq+1)", "?") into `to`, always ended by a zero byte. */
void prt_dim_print(const prt_dims *dims, int64_t dim, char *to, size_t size);

#endif
