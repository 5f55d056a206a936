/* SPDX-License-Identifier: MIT */
/*
 * type_wrap.h — types in infer hooks of operators that wrap, unwrap or join values: sequences,
 * optionals, and what several regions give.
 *
 * Without a pool of types (at run time) a sequence or optional is known by its kind and by the
 * element type in `dtype` only; `elem` stays NULL.
 */
#ifndef PRT_OP_SHARE_TYPE_WRAP_H
#define PRT_OP_SHARE_TYPE_WRAP_H

#include "op/infer.h"

/* A shape of which nothing is known but perhaps the element type. */
static inline prt_shape prt_shape_open(int32_t dtype)
{
    return (prt_shape){ .kind = PRT_VALUE_UNKNOWN, .dtype = dtype, .rank = PRT_RANK_UNKNOWN };
}

/* The type of the items of a sequence or optional, as far as it is known. */
prt_shape prt_type_wrap_elem(const prt_shape *s);

/* Output `i` becomes a sequence or optional (`kind`) of `elem`. */
poprt_status prt_type_wrap_set(prt_infer *c, uint32_t i, int32_t kind, const prt_shape *elem);

/* Output `i` becomes `s`, whatever that is; contents are not passed on. */
void prt_type_wrap_give(prt_infer *c, uint32_t i, const prt_shape *s);

/* `to` becomes what is true of both. */
void prt_type_wrap_join(prt_infer *c, prt_shape *to, const prt_shape *other);

/* Shapes in the hook's scratch memory; NULL (failure recorded) when refused. */
static inline prt_shape *prt_type_wrap_shapes(prt_infer *c, size_t count)
{
    return PRT_NEW_N(c->scratch, prt_shape, count + 1);
}

#endif
