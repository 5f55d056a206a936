/* SPDX-License-Identifier: MIT */
/*
 * attention.c — multi-head attention of float32. An item is a head of an image, or a part of its
 * queries if there are few heads.
 *
 * Keys are packed into panels. Then for each block of queries: scores by GEMM, masks and softmax,
 * and a GEMM with the values, which are usually read in place. The scores of a block stay in L2.
 * For few queries (decoding) keys and values are read in place, and nothing is packed.
 */
#include <math.h>

#include "fast/attention/attention.h"
#include "fast/parallel.h"

enum {
    PACK_QUERIES = 4, /* queries, below which packing does not pay */
    BLOCK = 1 << 15,  /* scores of a block of queries, about */
    /* Queries of a block, at most and at least. */
    MOST_ROWS = 96,
    LEAST_ROWS = 12,
    MANY_HEADS = 8, /* heads that suffice for any number of threads */
    PIECE = 256,    /* queries of an item if there are few heads */
    LARGE = 1 << 18 /* elements of a key/value cache that no cache level keeps until they are
                     * read */
};

/* A part of the keys and values: past ones, or new ones. */
typedef struct part {
    const float *k, *v;
    size_t rows, k_row, v_row;
    size_t first;           /* index of the first key */
    float *panels, *values; /* packed; `values` is NULL if they are read in place */
} part;

typedef struct attention_work {
    const prt_kern *kern;
    const prt_mha *m;
    const prt_attention *s;    /* operator whose hook gives the masks; NULL: the masks of `m` */
    size_t most;               /* keys, at most */
    size_t rows, pieces;       /* queries of a block; items of a head */
    size_t stride;             /* floats from one row of scores to the next */
    const void *prefetch_hint; /* a constant of a later step, to prefetch; NULL: no constant */
    bool pack_values;          /* rows of values do not fill whole slices */
} attention_work;

typedef struct item {
    const attention_work *j;
    size_t batch, head;
    part parts[2];
    size_t total;          /* number of keys */
    float *query, *scores; /* of a block of queries */
    double *added;         /* bias of a query's scores, from the hook */
} item;

static size_t size_of(const attention_work *j, prt_mha_size which)
{
    return j->m->sizes[which];
}

static const float *row_of(const prt_heads *h, size_t batch, size_t head, size_t row)
{
    return (const float *)h->data + prt_heads_at(h, batch, head, row);
}

/* ---- keys and values ---- */

static void find_parts(item *it)
{
    const prt_mha *m = it->j->m;
    const size_t group = it->head / (m->q.heads / m->k.heads);
    const prt_attention *s = it->j->s;
    const bool shorter = s != NULL && s->past_rows != NULL;
    const bool fewer = s != NULL && s->new_rows != NULL;
    it->parts[0] =
        (part){ .rows = shorter ? s->past_rows[it->batch] : size_of(it->j, PRT_MHA_past) };
    if (it->parts[0].rows != 0) {
        it->parts[0].k = row_of(&m->past_k, it->batch, group, 0);
        it->parts[0].v = row_of(&m->past_v, it->batch, group, 0);
        it->parts[0].k_row = m->past_k.row;
        it->parts[0].v_row = m->past_v.row;
    }
    it->parts[1] = (part){ .first = it->parts[0].rows,
        .rows = fewer ? s->new_rows[it->batch] : size_of(it->j, PRT_MHA_keys),
        .k = row_of(&m->k, it->batch, group, 0),
        .v = row_of(&m->v, it->batch, group, 0),
        .k_row = m->k.row,
        .v_row = m->v.row };
    it->total = it->parts[0].rows + it->parts[1].rows;
}

/* Copies the rows of both parts after each other, except rows that are in place already. Large
 * caches are written past the processor's caches. */
static void copy_parts(const item *it, bool values, size_t size, float *to)
{
    const size_t all = it->j->m->k.heads * it->total * size;
    for (uint32_t p = 0; p < 2; p++) {
        const part *one = &it->parts[p];
        const float *from = values ? one->v : one->k;
        const size_t row = values ? one->v_row : one->k_row, count = one->rows * size;
        if (row == size && from == to)
            (void)0;
        else if (row == size && all >= LARGE)
            it->j->kern->attend.copy_nontemporal(count, from, to);
        else if (row == size && count != 0)
            memcpy(to, from, count * sizeof(float));
        for (size_t i = 0; row != size && i < one->rows; i++)
            memcpy(to + i * size, from + i * row, size * sizeof(float));
        to += count;
    }
}

static float *present_at(const item *it, const prt_heads *present, size_t group)
{
    return (float *)present->data + prt_heads_at(present, it->batch, group, 0);
}

/* Writes the key/value cache of the next run. The first head of a group does so. */
static void write_present(const item *it)
{
    const prt_mha *m = it->j->m;
    const size_t each = m->q.heads / m->k.heads, group = it->head / each;
    if (it->head % each != 0)
        return;
    if (m->present_k.data != NULL)
        copy_parts(it, false, m->k.size, present_at(it, &m->present_k, group));
    if (m->present_v.data != NULL)
        copy_parts(it, true, m->v.size, present_at(it, &m->present_v, group));
}

/* Packs panels of 64 keys, and values if their rows cannot be read up to the next slice. */
static float *pack(const item *it, part *p, float *to)
{
    const size_t size = it->j->m->k.size, wide = it->j->m->v.size;
    p->panels = to;
    for (size_t i = 0; i < p->rows; i += PRT_GEMM_PANEL) {
        const size_t some = p->rows - i < PRT_GEMM_PANEL ? p->rows - i : PRT_GEMM_PANEL;
        prt_gemm_pack(size, some, p->k + i * p->k_row, 1, p->k_row, to);
        to += prt_gemm_width(some) * size;
    }
    if (!it->j->pack_values)
        return to;
    p->values = to;
    for (size_t i = 0; i < wide; i += PRT_GEMM_PANEL) {
        const size_t some = wide - i < PRT_GEMM_PANEL ? wide - i : PRT_GEMM_PANEL;
        prt_gemm_pack(p->rows, some, p->v + i, p->v_row, 1, to);
        to += prt_gemm_width(some) * p->rows;
    }
    return to;
}

/* ---- masks ---- */

static void add_to_row(const item *it, const prt_scores_view *v, size_t i, size_t n, float *x)
{
    if (v->data == NULL)
        return;
    const float *from = (const float *)v->data + prt_scores_at(v, it->batch, it->head, i);
    if (v->key <= 1)
        it->j->kern->rows.binary(PRT_BINARY_add, n, x, 1, from, v->key, x);
    else
        for (size_t k = 0; k < n; k++)
            x[k] += from[k * v->key];
}

/* Adds the bias that the operator's hook gives. Returns false if the query sees no key. */
static bool apply_hook(const item *it, size_t i, size_t n, float *x)
{
    prt_attention s = *it->j->s;
    bool some = false;
    s.total = it->total;
    s.past = it->parts[0].rows;
    s.bias(&s, it->batch, it->head, i, it->added);
    for (size_t k = 0; k < n; k++) {
        const bool closed = it->added[k] == -HUGE_VAL;
        x[k] = closed ? -INFINITY : x[k] + (float)it->added[k];
        some = some || x[k] != -INFINITY;
    }
    return some;
}

/* Applies the masks to the scores of query i. `biased`: the bias has been added already. */
static void mask_row(const item *it, size_t i, size_t n, bool biased, float *x)
{
    const prt_mha *m = it->j->m;
    if (!biased)
        add_to_row(it, &m->bias, i, n, x);
    add_to_row(it, &m->mask, i, n, x);
    if (m->keep.data != NULL) {
        const unsigned char *keep = m->keep.data;
        keep += prt_scores_at(&m->keep, it->batch, it->head, i);
        for (size_t k = 0; k < n; k++)
            x[k] = (keep[k * m->keep.key] != 0) != m->inverted ? x[k] : m->fill;
    }
    if (m->least != -INFINITY)
        it->j->kern->rows.binary(PRT_BINARY_max, n, x, 1, &m->least, 0, x);
}

/* Returns whether query i sees exactly keys [*first, *end) without a bias, by the operator's hook.
 * Otherwise these are all of its keys. */
static bool plain_range(const item *it, size_t i, size_t *first, size_t *end)
{
    prt_attention s;
    if (it->j->s != NULL && it->j->s->range != NULL) {
        s = *it->j->s;
        s.total = it->total;
        s.past = it->parts[0].rows;
        if (s.range(&s, it->batch, i, first, end))
            return true;
    }
    *first = 0;
    *end = it->total;
    return false;
}

/* Returns the number of keys up to the last one that query i sees. */
static size_t seen_by(const item *it, size_t i)
{
    const size_t queries = size_of(it->j, PRT_MHA_queries);
    size_t first, end;
    if (plain_range(it, i, &first, &end))
        return end;
    if (!it->j->m->causal)
        return it->total;
    return it->total + i + 1 > queries ? it->total + i + 1 - queries : 0;
}

/* Converts the scores of query i to weights. Returns the factor that normalises their sum. */
static float unscaled_softmax(const item *it, size_t i, size_t n, bool biased, float *x)
{
    size_t first, end;
    const bool plain = plain_range(it, i, &first, &end);
    if (it->j->s == NULL) {
        mask_row(it, i, n, biased, x);
    } else if (plain) {
        if (first == end) {
            memset(x, 0, n * sizeof(float));
            return 0.0f;
        }
        memset(x, 0, first * sizeof(float));
    } else if (!apply_hook(it, i, n, x)) {
        memset(x, 0, n * sizeof(float));
        return 0.0f;
    }
    const float weight = n != 0 ? it->j->kern->attend.unscaled_softmax(n - first, x + first) : NAN;
    if (!it->j->m->guarded || !isnan(weight))
        return weight;
    memset(x, 0, n * sizeof(float));
    return 0.0f;
}

/* ---- few queries ---- */

static void nothing_seen(const item *it, float *y)
{
    for (size_t d = 0; d < it->j->m->v.size; d++)
        y[d] = it->j->s != NULL || it->j->m->guarded ? 0.0f : NAN;
}

/* Returns the data to prefetch after the values: the keys of the next group, or the constant of a
 * later step. Only the first head of a group reads keys and values from memory. */
static const void *next_keys(const item *it)
{
    const prt_mha *m = it->j->m;
    const size_t next = it->head / (m->q.heads / m->k.heads) + 1;
    if (next < m->k.heads)
        return row_of(&m->past_k, it->batch, next, 0);
    if (it->batch + 1 < size_of(it->j, PRT_MHA_batch))
        return row_of(&m->past_k, it->batch + 1, 0, 0);
    return it->j->prefetch_hint != NULL ? it->j->prefetch_hint : it->parts[0].v;
}

static void attend_one(const item *it, size_t i)
{
    const prt_mha *m = it->j->m;
    const prt_kern_rows *rows = &it->j->kern->rows;
    const size_t seen = seen_by(it, i), wide = m->v.size;
    const bool far = i == 0 && it->head % (m->q.heads / m->k.heads) == 0;
    float *y = (float *)m->y.data + prt_heads_at(&m->y, it->batch, it->head, i);
    if (seen == 0) {
        nothing_seen(it, y);
        return;
    }
    rows->scale(m->q.size, row_of(&m->q, it->batch, it->head, i), m->scale, 0.0f, it->query);
    for (uint32_t p = 0; p < 2; p++) {
        const part *from = &it->parts[p];
        const size_t left = seen > from->first ? seen - from->first : 0;
        rows->dots(m->q.size, left < from->rows ? left : from->rows, it->query, from->k,
            from->k_row, far && p == 0 ? from->v : NULL, it->scores + from->first);
    }
    const float weight = unscaled_softmax(it, i, seen, false, it->scores);
    for (uint32_t p = 0; p < 2; p++) {
        const part *from = &it->parts[p];
        const size_t left = seen > from->first ? seen - from->first : 0;
        if (left == 0 || from->rows == 0)
            continue;
        float *to = from->first == 0 ? y : it->query;
        rows->sums(left < from->rows ? left : from->rows, wide, it->scores + from->first, from->v,
            from->v_row, far && p == 0 ? next_keys(it) : NULL, to);
        if (to != y)
            rows->binary(PRT_BINARY_add, wide, y, 1, to, 1, y);
    }
    rows->scale(wide, y, weight, 0.0f, y);
}

/* ---- blocks of queries ---- */

/* Computes the scores of `rows` queries from `i` on with the keys of a part below `seen`. */
static void multiply_keys(const item *it, const part *p, size_t i, size_t rows, size_t seen,
    bool biased)
{
    const prt_mha *m = it->j->m;
    const prt_scores_view *v = &m->bias;
    for (size_t at = 0; at < p->rows && p->first + at < seen; at += PRT_GEMM_PANEL) {
        const size_t some = p->rows - at < PRT_GEMM_PANEL ? p->rows - at : PRT_GEMM_PANEL;
        prt_gemm_end end = { .bias = NULL };
        if (biased) {
            const float *bias =
                (const float *)v->data + prt_scores_at(v, it->batch, it->head, i) + p->first + at;
            end.bias = v->row == 0 ? bias : NULL;
            end.residual = v->row == 0 ? NULL : bias;
            end.ldr = v->row;
        }
        const prt_gemm_block g = { .rows = rows,
            .columns = some,
            .k = m->q.size,
            .a = it->query,
            .lda = m->q.size,
            .b = p->panels + at * m->q.size,
            .stride = prt_gemm_width(some),
            .c = it->scores + p->first + at,
            .ldc = it->j->stride,
            .end = biased ? &end : NULL };
        it->j->kern->gemm(&g);
    }
}

/* Adds the values of a part, for the keys below `seen`, to the outputs of the queries. */
static void multiply_values(const item *it, const part *p, float *y, size_t rows, size_t seen)
{
    const prt_mha *m = it->j->m;
    const size_t left = seen > p->first ? seen - p->first : 0, k = left < p->rows ? left : p->rows;
    for (size_t d = 0; d < m->v.size && k != 0; d += PRT_GEMM_PANEL) {
        const size_t some = m->v.size - d < PRT_GEMM_PANEL ? m->v.size - d : PRT_GEMM_PANEL;
        const bool packed = p->values != NULL;
        const prt_gemm_block g = { .rows = rows,
            .columns = some,
            .k = k,
            .a = it->scores + p->first,
            .lda = it->j->stride,
            .b = packed ? p->values + d * p->rows : p->v + d,
            .stride = packed ? prt_gemm_width(some) : p->v_row,
            .c = y + d,
            .ldc = m->y.row,
            .add = p->first != 0 };
        it->j->kern->gemm(&g);
    }
}

static void attend_block(const item *it, size_t i, size_t rows)
{
    const prt_mha *m = it->j->m;
    const prt_kern_rows *k = &it->j->kern->rows;
    const size_t seen = seen_by(it, i + rows - 1), stride = it->j->stride;
    const bool biased = m->bias.data != NULL && m->bias.key == 1;
    float *y = (float *)m->y.data + prt_heads_at(&m->y, it->batch, it->head, i);
    float weights[MOST_ROWS];
    for (size_t r = 0; r < rows; r++)
        k->scale(m->q.size, row_of(&m->q, it->batch, it->head, i + r), m->scale, 0.0f,
            it->query + r * m->q.size);
    for (uint32_t p = 0; p < 2; p++)
        multiply_keys(it, &it->parts[p], i, rows, seen, biased);
    for (size_t r = 0; r < rows; r++) {
        const size_t own = seen_by(it, i + r);
        float *x = it->scores + r * stride;
        weights[r] = unscaled_softmax(it, i + r, own, biased, x);
        memset(x + own, 0, (seen - own) * sizeof(float));
    }
    for (uint32_t p = 0; p < 2; p++)
        multiply_values(it, &it->parts[p], y, rows, seen);
    for (size_t r = 0; r < rows; r++) {
        float *to = y + r * m->y.row;
        if (seen == 0)
            nothing_seen(it, to);
        else
            k->scale(m->v.size, to, weights[r], 0.0f, to);
    }
}

/* ---- items ---- */

static void run_item(const void *user, size_t index, float *scratch)
{
    const attention_work *j = user;
    const prt_mha *m = j->m;
    const size_t queries = size_of(j, PRT_MHA_queries), piece = index % j->pieces;
    item it = { .j = j,
        .head = index / j->pieces % m->q.heads,
        .batch = index / j->pieces / m->q.heads };
    find_parts(&it);
    if (piece == 0)
        write_present(&it);
    if (m->y.data == NULL)
        return;
    it.added = (double *)(void *)scratch;
    it.query = scratch + (j->s != NULL ? 2 * j->stride : 0);
    it.scores = it.query + j->rows * (m->q.size > m->v.size ? m->q.size : m->v.size);
    float *packed = it.scores + j->rows * j->stride;
    const size_t first = prt_parallel_piece_begin(queries, j->pieces, piece);
    const size_t count = prt_parallel_piece_begin(queries, j->pieces, piece + 1) - first;
    if (queries < PACK_QUERIES) {
        for (size_t i = 0; i < count; i++)
            attend_one(&it, first + i);
        return;
    }
    packed = pack(&it, &it.parts[0], packed);
    (void)pack(&it, &it.parts[1], packed);
    const size_t blocks = (count + j->rows - 1) / j->rows;
    for (size_t b = 0; b < blocks; b++) {
        const size_t i = prt_parallel_piece_begin(count, blocks, b);
        attend_block(&it, first + i, prt_parallel_piece_begin(count, blocks, b + 1) - i);
    }
}

/* Returns the floats of packed keys and values; each part is rounded up to slices. */
static size_t packed_size(const attention_work *j)
{
    const size_t past = size_of(j, PRT_MHA_past), keys = size_of(j, PRT_MHA_keys);
    const size_t rows = prt_gemm_width(past) + prt_gemm_width(keys);
    if (size_of(j, PRT_MHA_queries) < PACK_QUERIES)
        return 0;
    return rows * j->m->q.size + (j->pack_values ? rows * prt_gemm_width(j->m->v.size) : 0);
}

poprt_status prt_fast_mha(prt_eval *c, const prt_kern *k, const prt_mha *m,
    const prt_attention *with, bool *done)
{
    const size_t *s = m->sizes, heads = s[PRT_MHA_batch] * s[PRT_MHA_heads];
    attention_work j = { .kern = k,
        .m = m,
        .s = with,
        .most = s[PRT_MHA_past] + s[PRT_MHA_keys],
        .prefetch_hint = c->prefetch_hint != NULL ? c->prefetch_hint->data : NULL,
        .pack_values = s[PRT_MHA_wide] % PRT_GEMM_SLICE != 0 };
    if (j.most == 0 || s[PRT_MHA_size] == 0 || s[PRT_MHA_keys] == 0)
        return prt_fast_use_reference(done);
    if (heads == 0)
        return POPRT_OK;
    const size_t fit = BLOCK / j.most, queries = s[PRT_MHA_queries];
    j.rows = fit < LEAST_ROWS ? LEAST_ROWS : fit > MOST_ROWS ? MOST_ROWS : fit;
    j.rows = queries < PACK_QUERIES ? 1 : j.rows < queries ? j.rows : queries;
    j.pieces = heads >= MANY_HEADS || queries < 2 * PIECE ? 1 : queries / PIECE;
    j.stride = prt_gemm_width(j.most);
    const size_t wide = m->q.size > m->v.size ? m->q.size : m->v.size;
    const size_t scratch = j.rows * (wide + j.stride) + (with != NULL ? 2 * j.stride : 0);
    return prt_parallel_for(c, heads * j.pieces, scratch + packed_size(&j), run_item, &j);
}

poprt_status prt_fast_attention(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_mha m = prt_mha_of(c);
    return prt_fast_mha(c, k, &m, NULL, done);
}
