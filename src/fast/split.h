/* SPDX-License-Identifier: MIT */
/* split.h — products by what kern/split.h has, as a whole. */
#ifndef PRT_FAST_SPLIT_H
#define PRT_FAST_SPLIT_H

#include "fast/product.h"

/* They take less time than plain ones: m rows, all panels. */
bool prt_split_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k);

/* One batch of it. False in `*done`, and nothing is done: A is not finite. */
poprt_status prt_split_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done);

#endif
