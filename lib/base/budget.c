/* SPDX-License-Identifier: MIT */
/* budget.c — memory counted by allocation; the size of an allocation is stored in front of it. */
#include "base/budget.h"

#include <stdatomic.h>
#include <string.h>

#include "base/size.h"

/* Bytes in front of each allocation. They keep the alignment of 64 bytes that the library
 * requests. */
enum { HEADER = 64 };

struct prt_budget {
    prt_allocator allocator, inner;
    size_t limit;
    _Atomic size_t held;
    _Atomic size_t users; /* references: the creator, and one for each allocation or mapped file */
};

static void drop(prt_budget *budget)
{
    if (atomic_fetch_sub_explicit(&budget->users, 1, memory_order_acq_rel) != 1)
        return;
    const prt_allocator inner = budget->inner;
    prt_mem_free(&inner, budget);
}

static bool reserve(prt_budget *budget, size_t size)
{
    size_t held = atomic_load_explicit(&budget->held, memory_order_relaxed);
    do
        if (size > budget->limit || held > budget->limit - size)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&budget->held, &held, held + size,
        memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void *budget_alloc(void *user, size_t size, size_t align)
{
    prt_budget *budget = user;
    size_t whole;
    if (!prt_size_add(size, HEADER, &whole) || !reserve(budget, whole))
        return NULL;
    char *p = budget->inner.alloc(budget->inner.user, whole, align < HEADER ? HEADER : align);
    if (p == NULL) {
        atomic_fetch_sub_explicit(&budget->held, whole, memory_order_relaxed);
        return NULL;
    }
    atomic_fetch_add_explicit(&budget->users, 1, memory_order_relaxed);
    memcpy(p, &whole, sizeof(whole));
    return p + HEADER;
}

static void budget_release(void *user, void *ptr)
{
    prt_budget *budget = user;
    char *p = (char *)ptr - HEADER;
    size_t whole;
    memcpy(&whole, p, sizeof(whole));
    budget->inner.release(budget->inner.user, p);
    atomic_fetch_sub_explicit(&budget->held, whole, memory_order_relaxed);
    drop(budget);
}

static bool budget_count(void *user, size_t size)
{
    prt_budget *budget = user;
    if (!reserve(budget, size))
        return false;
    atomic_fetch_add_explicit(&budget->users, 1, memory_order_relaxed);
    return true;
}

static void budget_uncount(void *user, size_t size)
{
    prt_budget *budget = user;
    atomic_fetch_sub_explicit(&budget->held, size, memory_order_relaxed);
    drop(budget);
}

poprt_status prt_budget_refuse(size_t limit, size_t held, size_t size)
{
    if (limit == 0 || (size <= limit && held <= limit - size))
        return prt_fail_nomem(size);
    return prt_fail(POPRT_E_NOMEM, NULL,
        "memory_limit of %zu bytes reached: %zu are held, and %zu more are needed", limit, held,
        size);
}

static poprt_status refuse(void *user, size_t size)
{
    const prt_budget *budget = user;
    return prt_budget_refuse(budget->limit, prt_budget_held(budget), size + HEADER);
}

poprt_status prt_budget_create(const prt_allocator *inner, size_t limit, prt_budget **out)
{
    *out = NULL;
    if (limit == 0)
        return POPRT_OK;
    prt_budget *budget = prt_mem_alloc(inner, sizeof(*budget));
    if (budget == NULL)
        return POPRT_E_NOMEM;
    budget->allocator = (prt_allocator){ .user = budget,
        .alloc = budget_alloc,
        .release = budget_release,
        .refuse = refuse,
        .count = budget_count,
        .uncount = budget_uncount };
    budget->inner = inner != NULL ? *inner : prt_mem_libc;
    budget->limit = limit;
    atomic_init(&budget->held, 0);
    atomic_init(&budget->users, 1);
    *out = budget;
    return POPRT_OK;
}

const prt_allocator *prt_budget_allocator(prt_budget *budget, const prt_allocator *inner)
{
    return budget != NULL ? &budget->allocator : inner;
}

size_t prt_budget_held(const prt_budget *budget)
{
    return atomic_load_explicit(&((prt_budget *)(uintptr_t)budget)->held, memory_order_relaxed);
}

void prt_budget_release(prt_budget *budget)
{
    if (budget != NULL)
        drop(budget);
}
