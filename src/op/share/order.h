/* SPDX-License-Identifier: MIT */
/* order.h — a total order of the elements of every type, and a sort by it. */
#ifndef PRT_OP_SHARE_ORDER_H
#define PRT_OP_SHARE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Returns a key whose order is that of the elements of a real numeric type: exact for all 64-bit
 * integers and doubles. NaN is equal to NaN and above all other values; -0 equals 0. */
uint64_t prt_order_key(int32_t dtype, const void *data, size_t index);
/* Writes the keys of elements first, first + step, ... */
void prt_order_keys(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    uint64_t *to);

/* Returns a negative number, 0 or a positive number if element a is before, equal to or after b.
 * Supports every type: strings compare by bytes, complex numbers by the real part first. */
int prt_order_compare(int32_t dtype, const void *data, size_t a, size_t b);

/* Sorts `index` stably so that `compare` is never positive for neighbours. `scratch` has `count`
 * elements too. */
void prt_order_sort(int64_t *index, int64_t *scratch, size_t count,
    int (*compare)(const void *user, int64_t a, int64_t b), const void *user);

#endif
