/* SPDX-License-Identifier: MIT */
/* type.c — the pool of interned types, sizes of types, and their text. */
#include "tensor/type.h"

#include <stdio.h>

#include "base/size.h"
#include "tensor/tensor.h"

typedef struct entry {
    prt_type type; /* first, so that a type pointer is an entry pointer */
    uint64_t hash;
    struct entry *next;
} entry;

struct prt_types {
    prt_arena *arena;
    entry **buckets;
    size_t n_buckets, count;
};

enum { FIRST_BUCKETS = 64 };

poprt_status prt_types_create(prt_arena *arena, prt_types **out)
{
    prt_types *types = PRT_NEW(arena, prt_types);
    if (types == NULL)
        return POPRT_E_NOMEM;
    types->arena = arena;
    types->n_buckets = FIRST_BUCKETS;
    types->buckets = PRT_NEW_N(arena, entry *, FIRST_BUCKETS);
    if (types->buckets == NULL)
        return POPRT_E_NOMEM;
    *out = types;
    return POPRT_OK;
}

static uint64_t hash_of(const prt_type *t)
{
    const int64_t head[4] = { t->kind, t->dtype, t->rank, (int64_t)(intptr_t)t->elem };
    uint64_t h = prt_hash(head, sizeof(head), 2);
    if (t->rank > 0)
        h = prt_hash(t->dims, (size_t)t->rank * sizeof(int64_t), h);
    return h;
}

static bool same(const prt_type *a, const prt_type *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank || a->elem != b->elem)
        return false;
    return a->rank <= 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(int64_t)) == 0;
}

static bool grow(prt_types *types)
{
    const size_t n = types->n_buckets * 2;
    entry **buckets = PRT_NEW_N(types->arena, entry *, n);
    if (buckets == NULL)
        return false;
    for (size_t i = 0; i < types->n_buckets; i++)
        for (entry *e = types->buckets[i], *next; e != NULL; e = next) {
            next = e->next;
            e->next = buckets[e->hash & (n - 1)];
            buckets[e->hash & (n - 1)] = e;
        }
    types->buckets = buckets;
    types->n_buckets = n;
    return true;
}

static const prt_type *intern(prt_types *types, const prt_type *wanted)
{
    const uint64_t hash = hash_of(wanted);
    for (entry *e = types->buckets[hash & (types->n_buckets - 1)]; e != NULL; e = e->next)
        if (e->hash == hash && same(&e->type, wanted))
            return &e->type;
    if (types->count >= types->n_buckets && !grow(types))
        return NULL;
    entry *e = PRT_NEW(types->arena, entry);
    if (e == NULL)
        return NULL;
    e->type = *wanted;
    e->hash = hash;
    if (wanted->rank > 0) {
        e->type.dims =
            prt_arena_copy(types->arena, wanted->dims, (size_t)wanted->rank * sizeof(int64_t));
        if (e->type.dims == NULL)
            return NULL;
    } else {
        e->type.dims = NULL;
    }
    entry **bucket = &types->buckets[hash & (types->n_buckets - 1)];
    e->next = *bucket;
    *bucket = e;
    types->count++;
    return &e->type;
}

const prt_type *prt_type_tensor(prt_types *types, int32_t dtype, int32_t rank, const int64_t *dims)
{
    const prt_type t = { .kind = PRT_VALUE_TENSOR, .dtype = dtype, .rank = rank, .dims = dims };
    return intern(types, &t);
}

const prt_type *prt_type_wrap(prt_types *types, int32_t kind, int32_t key, const prt_type *elem)
{
    const prt_type t = { .kind = kind, .dtype = key, .rank = PRT_RANK_UNKNOWN, .elem = elem };
    return intern(types, &t);
}

const prt_type *prt_type_unknown(prt_types *types)
{
    const prt_type t = { .kind = PRT_VALUE_UNKNOWN, .rank = PRT_RANK_UNKNOWN };
    return intern(types, &t);
}

bool prt_type_is_static(const prt_type *type)
{
    if (!prt_type_is_tensor(type) || type->rank < 0 || type->dtype == PRT_DTYPE_undefined)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]))
            return false;
    return true;
}

bool prt_type_count(const prt_type *type, uint64_t *count)
{
    if (!prt_type_is_static(type))
        return false;
    size_t n = 1;
    bool zero = false;
    for (int32_t i = 0; i < type->rank; i++) {
        zero = zero || type->dims[i] == 0;
        if (type->dims[i] < 0 || (!zero && !prt_size_mul(n, (size_t)type->dims[i], &n)))
            return false;
    }
    *count = zero ? 0 : n;
    return true;
}

bool prt_type_size(const prt_type *type, size_t *size)
{
    uint64_t count;
    return prt_type_count(type, &count) && prt_dtype_size(type->dtype, count, size);
}

static const char *const type_ids[PRT_DTYPE_COUNT] = {
    [PRT_DTYPE_undefined] = "?",
#define DTYPE(id, onnx, bits, kind, name, popef) [onnx] = #id,
#include "num/dtypes.def"
};

const char *prt_dtype_id(int32_t dtype)
{
    return dtype >= 0 && dtype < PRT_DTYPE_COUNT ? type_ids[dtype] : "?";
}

int32_t prt_dtype_by_id(prt_str id)
{
    for (int32_t i = 1; i < PRT_DTYPE_COUNT; i++)
        if (type_ids[i] != NULL && prt_str_is(id, type_ids[i]))
            return i;
    return PRT_DTYPE_undefined;
}

void prt_type_print(const prt_dims *dims, const prt_type *type, char *to, size_t size)
{
    static const char *const wraps[] = { "none", "", "seq", "optional", "map", "?" };
    size_t at = 0;
    uint32_t open = 0;
#define EMIT(...)                                                                                  \
    do {                                                                                           \
        const int n_ = snprintf(to + at, size - at, __VA_ARGS__);                                  \
        at = n_ < 0 || (size_t)n_ >= size - at ? size - 1 : at + (size_t)n_;                       \
    } while (0)
    to[0] = '\0';
    for (; type != NULL && type->kind != PRT_VALUE_TENSOR && type->elem != NULL;
         type = type->elem) {
        EMIT("%s(", wraps[type->kind]);
        if (type->kind == PRT_VALUE_MAP)
            EMIT("%s,", prt_dtype_id(type->dtype));
        open++;
    }
    if (type == NULL || type->kind == PRT_VALUE_UNKNOWN) {
        EMIT("?");
    } else if (type->kind != PRT_VALUE_TENSOR) {
        EMIT("%s(?)", wraps[type->kind]);
    } else {
        EMIT("%s", prt_dtype_id(type->dtype));
        if (type->rank < 0)
            EMIT("[*]");
        for (int32_t i = 0; i < type->rank; i++) {
            char dim[128];
            prt_dim_print(dims, type->dims[i], dim, sizeof(dim));
            EMIT("%s%s", i == 0 ? "[" : ",", dim);
        }
        if (type->rank >= 0)
            EMIT("%s", type->rank == 0 ? "[]" : "]");
    }
    for (; open > 0; open--)
        EMIT(")");
#undef EMIT
}

bool prt_tensor_init(prt_tensor *t, int32_t dtype, uint32_t rank, const int64_t *dims, void *data)
{
    if (rank > PRT_MAX_RANK)
        return false;
    prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = dtype,
        .rank = (int32_t)rank,
        .dims = dims };
    size_t size;
    if (!prt_type_size(&type, &size))
        return false;
    *t = (prt_tensor){ .kind = PRT_VALUE_TENSOR,
        .dtype = dtype,
        .rank = rank,
        .data = data,
        .size = size };
    if (rank != 0)
        memcpy(t->dims, dims, rank * sizeof(int64_t));
    return true;
}
