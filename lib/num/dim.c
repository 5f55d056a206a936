/* SPDX-License-Identifier: MIT */
/*
 * dim.c — the table of dimension expressions: interning, evaluation of a node, printing. dim_fold.c
 * simplifies expressions.
 */
#include "num/dim.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "num/dim_poly.h"

typedef struct entry {
    prt_dim_node node;
    bool opaque;
} entry;

/* An operation on two dims and the result of folding it. */
typedef struct folded {
    int64_t a, b, result;
    int32_t op; /* PRT_DIM_SYMBOL: a free entry */
} folded;

enum { FOLDS_MAX = 1 << 16 }; /* different operations; beyond, new ones are unknown */

struct prt_dims {
    prt_arena *arena;
    folded *folds; /* hash table by operation and operands */
    size_t n_folds, fold_capacity;
    PRT_VEC(entry) entries;
    uint32_t *slots; /* index of an entry plus 1; 0: free */
    size_t capacity; /* number of slots, a power of two */
    int64_t symbols;
};

poprt_status prt_dims_create(prt_arena *arena, prt_dims **out)
{
    prt_dims *dims = PRT_NEW(arena, prt_dims);
    if (dims == NULL)
        return POPRT_E_NOMEM;
    dims->arena = arena;
    *out = dims;
    return POPRT_OK;
}

static uint64_t hash_of(const prt_dim_node *node)
{
    if (node->op == PRT_DIM_SYMBOL)
        return prt_hash(node->symbol.data, node->symbol.size, 1);
    const int64_t words[3] = { node->op, node->a, node->b };
    return prt_hash(words, sizeof(words), 2);
}

static bool is_same(const prt_dim_node *a, const prt_dim_node *b)
{
    if (a->op != b->op)
        return false;
    if (a->op == PRT_DIM_SYMBOL)
        return prt_str_equal(a->symbol, b->symbol);
    return a->a == b->a && a->b == b->b;
}

static uint32_t *slot_of(const prt_dims *dims, uint32_t *slots, size_t capacity,
    const prt_dim_node *node)
{
    size_t i = (size_t)hash_of(node) & (capacity - 1);
    while (slots[i] != 0 && !is_same(&dims->entries.data[slots[i] - 1].node, node))
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static bool grow(prt_dims *dims)
{
    const size_t capacity = dims->capacity != 0 ? dims->capacity * 2 : 64;
    uint32_t *slots = PRT_NEW_N(dims->arena, uint32_t, capacity);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < dims->entries.count; i++)
        *slot_of(dims, slots, capacity, &dims->entries.data[i].node) = (uint32_t)i + 1;
    dims->slots = slots;
    dims->capacity = capacity;
    return true;
}

/* Returns the dim of `node`, added on first use; PRT_DIM_UNKNOWN (failure recorded) without
 * memory. */
static int64_t find_or_add(prt_dims *dims, prt_dim_node node, bool opaque)
{
    if (dims->entries.count * 4 >= dims->capacity * 3 && !grow(dims))
        return PRT_DIM_UNKNOWN;
    uint32_t *slot = slot_of(dims, dims->slots, dims->capacity, &node);
    if (*slot != 0)
        return prt_dim_of_index(*slot - 1);
    if (node.op == PRT_DIM_SYMBOL) {
        node.symbol.data = prt_arena_text(dims->arena, node.symbol.data, node.symbol.size);
        if (node.symbol.data == NULL)
            return PRT_DIM_UNKNOWN;
        node.a = dims->symbols;
    }
    if (dims->entries.count >= UINT32_MAX / 2) {
        (void)prt_fail(POPRT_E_LIMIT, NULL, "too many dimension expressions");
        return PRT_DIM_UNKNOWN;
    }
    const entry added = { .node = node, .opaque = opaque };
    if (!PRT_VEC_PUSH(dims->arena, &dims->entries, added))
        return PRT_DIM_UNKNOWN;
    dims->symbols += node.op == PRT_DIM_SYMBOL;
    *slot = (uint32_t)dims->entries.count;
    return prt_dim_of_index(dims->entries.count - 1);
}

int64_t prt_dim_symbol(prt_dims *dims, prt_str name)
{
    if (name.data == NULL)
        name = PRT_STR("");
    return find_or_add(dims, (prt_dim_node){ .op = PRT_DIM_SYMBOL, .symbol = name }, false);
}

int64_t prt_dim_intern(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, bool opaque)
{
    return find_or_add(dims, (prt_dim_node){ .op = (int32_t)op, .a = a, .b = b }, opaque);
}

static folded *fold_of(folded *folds, size_t capacity, prt_dim_op op, int64_t a, int64_t b)
{
    const int64_t words[3] = { op, a, b };
    size_t i = (size_t)prt_hash(words, sizeof(words), 3) & (capacity - 1);
    while (folds[i].op != PRT_DIM_SYMBOL &&
        (folds[i].op != (int32_t)op || folds[i].a != a || folds[i].b != b))
        i = (i + 1) & (capacity - 1);
    return &folds[i];
}

static bool grow_folds(prt_dims *dims)
{
    const size_t capacity = dims->fold_capacity != 0 ? dims->fold_capacity * 2 : 256;
    folded *folds = PRT_NEW_N(dims->arena, folded, capacity);
    if (folds == NULL)
        return false;
    for (size_t i = 0; i < dims->fold_capacity; i++) {
        const folded *f = &dims->folds[i];
        if (f->op != PRT_DIM_SYMBOL)
            *fold_of(folds, capacity, (prt_dim_op)f->op, f->a, f->b) = *f;
    }
    dims->folds = folds;
    dims->fold_capacity = capacity;
    return true;
}

bool prt_dims_find_folded(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, int64_t *result)
{
    *result = PRT_DIM_UNKNOWN;
    if (dims->fold_capacity != 0) {
        const folded *f = fold_of(dims->folds, dims->fold_capacity, op, a, b);
        if (f->op != PRT_DIM_SYMBOL) {
            *result = f->result;
            return true;
        }
    }
    return dims->n_folds >= FOLDS_MAX;
}

int64_t prt_dims_add_folded(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, int64_t result)
{
    if (dims->n_folds * 4 >= dims->fold_capacity * 3 && !grow_folds(dims))
        return PRT_DIM_UNKNOWN;
    folded *f = fold_of(dims->folds, dims->fold_capacity, op, a, b);
    dims->n_folds += f->op == PRT_DIM_SYMBOL;
    *f = (folded){ .a = a, .b = b, .result = result, .op = (int32_t)op };
    return result;
}

bool prt_dim_is_opaque(const prt_dims *dims, size_t index)
{
    return dims->entries.data[index].opaque;
}

size_t prt_dims_count(const prt_dims *dims)
{
    return dims->entries.count;
}

const prt_dim_node *prt_dims_at(const prt_dims *dims, size_t index)
{
    PRT_ASSERT(index < dims->entries.count);
    return &dims->entries.data[index].node;
}

int64_t prt_dim_of_index(size_t index)
{
    return PRT_DIM_EXPR - (int64_t)index;
}

size_t prt_dim_index(int64_t dim)
{
    PRT_ASSERT(prt_dim_is_expr(dim));
    return (size_t)(PRT_DIM_EXPR - dim);
}

/* Returns the quotient rounded toward minus infinity; `rest` has the divisor's sign. */
static int64_t floor_div(int64_t a, int64_t b, int64_t *rest)
{
    int64_t quotient = a / b;
    *rest = a % b;
    if (*rest != 0 && (*rest < 0) != (b < 0)) {
        quotient--;
        *rest += b;
    }
    return quotient;
}

int64_t prt_dim_apply(prt_dim_op op, int64_t a, int64_t b)
{
    int64_t result = PRT_DIM_UNKNOWN, rest = 0;
    if (!prt_dim_is_number(a) || !prt_dim_is_number(b))
        return PRT_DIM_UNKNOWN;
    const bool divides =
        op == PRT_DIM_FLOORDIV || op == PRT_DIM_CEILDIV || op == PRT_DIM_MOD || op == PRT_DIM_RATIO;
    if (divides && b == 0)
        return PRT_DIM_UNKNOWN;
    bool fits = true;
    switch (op) {
    case PRT_DIM_ADD:
        fits = prt_i64_add(a, b, &result);
        break;
    case PRT_DIM_SUB:
        fits = !__builtin_sub_overflow(a, b, &result);
        break;
    case PRT_DIM_MUL:
        fits = prt_i64_mul(a, b, &result);
        break;
    case PRT_DIM_FLOORDIV:
        result = floor_div(a, b, &rest);
        break;
    case PRT_DIM_CEILDIV:
        result = floor_div(a, b, &rest);
        result += rest != 0;
        break;
    case PRT_DIM_MOD:
        (void)floor_div(a, b, &result);
        break;
    case PRT_DIM_MIN:
        result = a < b ? a : b;
        break;
    case PRT_DIM_MAX:
        result = a > b ? a : b;
        break;
    case PRT_DIM_BROADCAST:
        result = a == 1 ? b : a;
        fits = a == b || a == 1 || b == 1;
        break;
    case PRT_DIM_BOUND:
        fits = b >= 0 && (a >= 0 || prt_i64_add(a, b, &a));
        result = a < 0 ? 0 : a < b ? a : b;
        break;
    case PRT_DIM_RATIO:
        result = floor_div(a, b, &rest);
        fits = rest == 0;
        break;
    case PRT_DIM_SYMBOL:
    case PRT_DIM_OPS:
        break;
    }
    return fits && prt_dim_is_number(result) ? result : PRT_DIM_UNKNOWN;
}

typedef struct text {
    char *to;
    size_t size, used; /* capacity with the final zero byte; bytes written */
} text;

static void write_text(text *t, const char *bytes, size_t n)
{
    const size_t capacity = t->size - 1 - t->used;
    const size_t taken = n < capacity ? n : capacity;
    memcpy(t->to + t->used, bytes, taken);
    t->used += taken;
}

/* Each level writes at least one byte before it recurses, and a full text ends the recursion. The
 * depth is therefore bounded by the size of the text. */
static void print(text *t, const prt_dims *dims, int64_t dim)
{
    static const char *const infix[] = { [PRT_DIM_ADD] = "+",
        [PRT_DIM_SUB] = "-",
        [PRT_DIM_MUL] = "*",
        [PRT_DIM_FLOORDIV] = "/",
        [PRT_DIM_MOD] = "%" };
    static const char *const prefix[PRT_DIM_OPS] = { [PRT_DIM_CEILDIV] = "ceildiv",
        [PRT_DIM_MIN] = "min",
        [PRT_DIM_MAX] = "max",
        [PRT_DIM_BROADCAST] = "broadcast",
        [PRT_DIM_BOUND] = "bound",
        [PRT_DIM_RATIO] = "ratio" };
    if (t->used + 1 >= t->size)
        return;
    if (dim == PRT_DIM_UNKNOWN || (prt_dim_is_expr(dim) && dims == NULL)) {
        write_text(t, "?", 1);
        return;
    }
    if (prt_dim_is_number(dim)) {
        char number[24];
        const int n = snprintf(number, sizeof(number), "%" PRId64, dim);
        write_text(t, number, (size_t)n);
        return;
    }
    const prt_dim_node *node = prt_dims_at(dims, prt_dim_index(dim));
    if (node->op == PRT_DIM_SYMBOL) {
        write_text(t, node->symbol.data, node->symbol.size);
        return;
    }
    const bool named = prefix[node->op] != NULL;
    const char *word = named ? prefix[node->op] : infix[node->op];
    if (named)
        write_text(t, word, strlen(word));
    write_text(t, "(", 1);
    print(t, dims, node->a);
    if (named)
        write_text(t, ", ", 2);
    else
        write_text(t, word, strlen(word));
    print(t, dims, node->b);
    write_text(t, ")", 1);
}

void prt_dim_print(const prt_dims *dims, int64_t dim, char *to, size_t size)
{
    if (size == 0)
        return;
    text t = { .to = to, .size = size };
    print(&t, dims, dim);
    to[t.used] = '\0';
}
