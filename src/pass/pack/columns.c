/* SPDX-License-Identifier: MIT */
/*
 * columns.c — finds columns of a weight matrix that are equal to each other, or zero, in every row.
 *
 * Their results must be exactly equal, or zero. Otherwise rounding would break a classifier's ties,
 * and pruned channels would become non-zero. Products that are summed in order guarantee this.
 * Strassen's algorithm does not, because it treats the two halves of the columns differently
 * (docs/internals/numerics.md). Columns are compared by 64-bit hashes, first of a few rows, so that
 * a matrix without equal columns is hardly read.
 */
#include "pass/pack/pack.h"

enum { FIRST_ROWS = 16 }; /* rows of the first comparison */

/* Updates the hashes of all columns with the rows from `first` to `last`. */
static void hash_columns(const prt_pack_matrix *m, size_t first, size_t last, uint64_t *hashes)
{
    const unsigned char *bytes = m->data;
    for (size_t k = first; k < last; k++)
        for (size_t j = 0; j < m->n; j++) {
            uint32_t word;
            memcpy(&word, bytes + sizeof(word) * (k * m->row + j * m->column), sizeof(word));
            word = word << 1 != 0 ? word : 0; /* -0 and 0 are equal */
            hashes[j] = (hashes[j] ^ word) * 0x9e3779b97f4a7c15u;
            hashes[j] ^= hashes[j] >> 29;
        }
}

static void sink_hash(uint64_t *heap, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[at] >= heap[child])
            return;
        const uint64_t held = heap[at];
        heap[at] = heap[child];
        heap[child] = held;
    }
}

/* Heap sort, since the C library's qsort may allocate. */
static void sort_hashes(uint64_t *hashes, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sink_hash(hashes, i, count);
    for (size_t last = count; last-- > 1;) {
        const uint64_t largest = hashes[0];
        hashes[0] = hashes[last];
        hashes[last] = largest;
        sink_hash(hashes, 0, last);
    }
}

/* Returns whether, by the first `rows` rows, two columns may be equal or a column may be zero. */
static bool may_repeat(const prt_pack_matrix *m, size_t rows, uint64_t *hashes)
{
    memset(hashes, 0, m->n * sizeof(*hashes));
    hash_columns(m, 0, rows, hashes);
    sort_hashes(hashes, m->n);
    for (size_t j = 0; j < m->n; j++)
        if (hashes[j] == 0 || (j > 0 && hashes[j] == hashes[j - 1]))
            return true; /* a zero column keeps the hash 0 */
    return false;
}

bool prt_pack_columns_repeat(const prt_pass *p, const prt_pack_matrix *m)
{
    uint64_t *hashes = PRT_NEW_N(p->arena, uint64_t, m->n);
    if (hashes == NULL)
        return true;
    const size_t some = m->k < FIRST_ROWS ? m->k : FIRST_ROWS;
    return may_repeat(m, some, hashes) && (some == m->k || may_repeat(m, m->k, hashes));
}
