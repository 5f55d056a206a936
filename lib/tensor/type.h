/* SPDX-License-Identifier: MIT */
/*
 * type.h — types of values: tensors of an element type and shape, sequences, optionals, maps.
 *
 * Types are interned in a pool: equal types are equal pointers. A tensor type may have an unknown
 * element type (PRT_DTYPE_undefined), an unknown rank (PRT_RANK_UNKNOWN) and dims that are
 * expressions or unknown (see num/dim.h).
 */
#ifndef PRT_TENSOR_TYPE_H
#define PRT_TENSOR_TYPE_H

#include "num/dim.h"
#include "num/dtype.h"

enum {
    PRT_MAX_RANK = 8, /* maximum rank of kernels and shape functions */
    PRT_RANK_UNKNOWN = -1,
    PRT_MAX_TYPE_DEPTH = 16 /* nesting of sequences, optionals and maps */
};

typedef enum prt_value_kind {
    PRT_VALUE_ABSENT, /* an omitted optional input or output */
    PRT_VALUE_TENSOR,
    PRT_VALUE_SEQUENCE, /* items of type `elem` */
    PRT_VALUE_OPTIONAL, /* an item of type `elem` */
    PRT_VALUE_MAP,      /* key type in `dtype`, value type in `elem` */
    PRT_VALUE_UNKNOWN   /* the kind is not known yet */
} prt_value_kind;

typedef struct prt_type prt_type;
struct prt_type {
    int32_t kind;
    int32_t dtype;
    int32_t rank;
    const int64_t *dims; /* `rank` dims; NULL when the rank is unknown or 0 */
    const prt_type *elem;
};

typedef struct prt_types prt_types;

poprt_status prt_types_create(prt_arena *arena, prt_types **out);

/* Return interned types; NULL (failure recorded) without memory. */
const prt_type *prt_type_tensor(prt_types *types, int32_t dtype, int32_t rank, const int64_t *dims);
const prt_type *prt_type_wrap(prt_types *types, int32_t kind, int32_t key, const prt_type *elem);
const prt_type *prt_type_unknown(prt_types *types);

static inline bool prt_type_is_tensor(const prt_type *type)
{
    return type != NULL && type->kind == PRT_VALUE_TENSOR;
}

/* Returns whether rank and element type are known and every dim is a number. */
bool prt_type_is_static(const prt_type *type);

/* Return the number of elements, or bytes, of a static tensor type; false on overflow or for
 * another type. */
bool prt_type_count(const prt_type *type, uint64_t *count);
bool prt_type_size(const prt_type *type, size_t *size);

/* Writes a type as text: "f32[2,seq]", "seq(i64[])", "optional(f32[?])"; always ended by a zero
 * byte. */
void prt_type_print(const prt_dims *dims, const prt_type *type, char *to, size_t size);

/* The short names of the IR text: "f32", "i64", … (ids of dtypes.def). */
const char *prt_dtype_id(int32_t dtype);
int32_t prt_dtype_by_id(prt_str id);

#endif
