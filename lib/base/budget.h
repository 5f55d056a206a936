/* SPDX-License-Identifier: MIT */
/*
 * budget.h — an allocator with a limit on the bytes held from it at a time.
 *
 * A budget lives until its creator has released it and all memory from it is released. Objects with
 * shared parts (a model and its executables) may therefore be released in any order. Any thread may
 * allocate and release.
 */
#ifndef PRT_BASE_BUDGET_H
#define PRT_BASE_BUDGET_H

#include "base/mem.h"

typedef struct prt_budget prt_budget;

/* Creates a budget over a copy of `inner`. A `limit` of 0 means unlimited: `*out` is then NULL. */
poprt_status prt_budget_create(const prt_allocator *inner, size_t limit, prt_budget **out);

/* Returns the allocator of the budget, or `inner` if `budget` is NULL. A refusal is recorded with
 * the limit, the bytes held and the bytes requested. */
const prt_allocator *prt_budget_allocator(prt_budget *budget, const prt_allocator *inner);

/* Returns the bytes held now: mapped files are included, and each allocation counts 64 bytes
 * more. */
size_t prt_budget_held(const prt_budget *budget);

/* Releases the creator's reference. NULL is allowed. */
void prt_budget_release(prt_budget *budget);

/* Records why `size` bytes were refused while `held` are held: the limit is exceeded, or there is
 * no memory. Returns POPRT_E_NOMEM. */
poprt_status prt_budget_refuse(size_t limit, size_t held, size_t size);

#endif
