/* SPDX-License-Identifier: MIT */
/*
 * budget.h — an allocator with a limit on all that is held from it at a time.
 *
 * It lives as long as somebody holds it or memory from it: things that share parts (a model and
 * what was compiled from it) may end in any order. Any thread may allocate and release.
 */
#ifndef PRT_BASE_BUDGET_H
#define PRT_BASE_BUDGET_H

#include "base/mem.h"

typedef struct prt_budget prt_budget;

/* Over `inner`, of which a copy is kept. A `limit` of 0 is none, and gives NULL. */
poprt_status prt_budget_create(const prt_allocator *inner, size_t limit, prt_budget **out);

/* Its allocator; `inner` where there is no budget. Refusals are recorded with the limit, what is
 * held and what was asked for. */
const prt_allocator *prt_budget_allocator(prt_budget *budget, const prt_allocator *inner);

/* Bytes held now, mapped files included, with 64 for each piece of memory. */
size_t prt_budget_held(const prt_budget *budget);

/* Ends the creator's hold. NULL is allowed. */
void prt_budget_release(prt_budget *budget);

/* Records that `size` bytes, with `held` held, are above `limit`, where they are, or else that
 * there is no memory; returns POPRT_E_NOMEM. */
poprt_status prt_budget_refuse(size_t limit, size_t held, size_t size);

#endif
