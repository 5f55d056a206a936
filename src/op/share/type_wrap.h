/* SPDX-License-Identifier: MIT */
/*
 * type_wrap.h — types for the infer hooks of operators that wrap, unwrap or join values: sequences,
 * optionals, and the outputs of several regions.
 *
 * Without a pool of types (at run time) only the kind of a sequence or optional and the element
 * type in `dtype` are known; `elem` is NULL.
 */
#ifndef PRT_OP_SHARE_TYPE_WRAP_H
#define PRT_OP_SHARE_TYPE_WRAP_H

#include "op/infer.h"

/* Returns a shape of which at most the element type is known. */
static inline prt_shape prt_shape_open(int32_t dtype)
{
    return (prt_shape){ .kind = PRT_VALUE_UNKNOWN, .dtype = dtype, .rank = PRT_RANK_UNKNOWN };
}

/* Returns the type of the items of a sequence or optional, as far as it is known. */
prt_shape prt_type_wrap_elem(const prt_shape *s);

/* Makes output `i` a sequence or optional (`kind`) of `elem`. */
poprt_status prt_type_wrap_set(prt_infer *c, uint32_t i, int32_t kind, const prt_shape *elem);

/* Gives output `i` the type `s` of any kind; contents are not copied. */
void prt_type_wrap_copy(prt_infer *c, uint32_t i, const prt_shape *s);

/* Reduces `to` to the properties that both types share. */
void prt_type_wrap_merge(prt_infer *c, prt_shape *to, const prt_shape *other);

/* Returns `count` shapes in the hook's scratch. Returns NULL and records the error if memory is
 * refused. */
static inline prt_shape *prt_type_wrap_shapes(prt_infer *c, size_t count)
{
    return PRT_NEW_N(c->scratch, prt_shape, count + 1);
}

#endif
