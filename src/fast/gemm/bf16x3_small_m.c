/* SPDX-License-Identifier: MIT */
/*
 * bf16x3_small_m.c — bf16x3 GEMM for few rows (m = 8 to 64). An item is a chunk of columns. It
 * converts all rows of A itself, which is faster than a separate run, and walks over B 16 columns
 * at a time, all of K.
 */
#include "fast/gemm/bf16x3_small_m.h"

#include <stdatomic.h>

#include "fast/parallel.h"

enum {
    MOST = 1 << 19,          /* floats of B that stay in L2, about; larger ones run by panels */
    LEAST_ROWS = 8,          /* rows of A, at least */
    COLUMNS = PRT_GEMM_SLICE /* columns of an item are multiples of it */
};

typedef struct small_m_work {
    const prt_product_spec *p;
    const prt_kern *kern;
    size_t items;
    _Atomic bool finite;
} small_m_work;

bool prt_bf16x3_small_m_fits(const prt_product_spec *p)
{
    return p->padded && p->m >= LEAST_ROWS && p->m <= PRT_BF16X3_SMALL_M && p->n * p->k <= MOST;
}

size_t prt_bf16x3_small_m_size(size_t m, size_t k)
{
    return PRT_BF16X3_SMALL_M_SCRATCH + m * prt_bf16x3_pitch(k);
}

static size_t slices_of(const prt_product_spec *p)
{
    return prt_gemm_width(p->n) / COLUMNS;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    small_m_work *j = (small_m_work *)(uintptr_t)user;
    const prt_product_spec *p = j->p;
    const size_t all = slices_of(p), pitch = prt_bf16x3_pitch(p->k);
    float *a = scratch + PRT_BF16X3_SMALL_M_SCRATCH;
    prt_gemm_end end = p->end;
    size_t stride;
    end.bias = NULL;
    const prt_bf16x3_small_m g = { .rows = p->m,
        .k = p->k,
        .a = a,
        .lda = pitch,
        .n = p->n,
        .first = prt_parallel_piece_begin(all, j->items, item) * COLUMNS,
        .last = prt_size_min(prt_parallel_piece_begin(all, j->items, item + 1) * COLUMNS, p->n),
        .b = p->direct(p, 0, 0, 0, &stride),
        .bias = p->end.bias,
        .c = p->c,
        .ldc = p->ldc,
        .end = prt_gemm_end_is_identity(&end) ? NULL : &end,
        .scratch = scratch };
    if (!j->kern->bf16x3.rows(p->m, p->k, p->a, p->lda, p->scale, a, pitch) ||
        !j->kern->bf16x3.small_m(&g))
        atomic_store_explicit(&j->finite, false, memory_order_relaxed);
}

bool prt_bf16x3_small_m_strip(const prt_kern *kern, const prt_product_spec *p, float *scratch)
{
    small_m_work j = { .p = p, .kern = kern, .items = 1 };
    atomic_init(&j.finite, true);
    run_item(&j, 0, scratch);
    return atomic_load(&j.finite);
}

poprt_status prt_bf16x3_small_m_product(prt_eval *c, const prt_kern *kern,
    const prt_product_spec *p, bool *done)
{
    small_m_work j = { .p = p,
        .kern = kern,
        .items = prt_size_min(prt_parallel_threads(c), slices_of(p)) };
    atomic_init(&j.finite, true);
    PRT_TRY(prt_parallel_for(c, j.items, prt_bf16x3_small_m_size(p->m, p->k), run_item, &j));
    *done = atomic_load(&j.finite);
    return POPRT_OK;
}
