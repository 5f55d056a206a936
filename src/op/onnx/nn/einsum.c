/* SPDX-License-Identifier: MIT */
/*
 * einsum.c — Einsum: every label of the equation has a size, and every operand has a stride for
 * each label (0 if the operand lacks the label or broadcasts it; the sum of the strides if the
 * label repeats). One or two real operands are computed as a batch of matrix products over tables
 * of offsets, all other cases as nested sums.
 */
#include "op/share/equation.h"
#include "op/share/reals.h"

static poprt_status bad(const prt_infer *c, const char *what)
{
    const prt_einsum_attrs *a = c->attrs;
    return prt_infer_fail(c, POPRT_E_ARG, "equation \"%.*s\" %s", PRT_STR_ARG(a->equation), what);
}

static poprt_status infer(prt_infer *c)
{
    const prt_einsum_attrs *a = c->attrs;
    prt_equation e;
    uint32_t ranks[PRT_EQUATION_TERMS];
    const int64_t *dims[PRT_EQUATION_TERMS];
    int64_t out[PRT_MAX_RANK];
    const char *wrong = prt_equation_parse(a->equation, c->n_in, &e);
    if (wrong != NULL)
        return bad(c, wrong);
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
        if (!prt_infer_ranked(c, i))
            return prt_infer_unranked(c, 0, c->in[0].dtype,
                e.has_out && !e.out.dots ? (int32_t)e.out.count : PRT_RANK_UNKNOWN);
        ranks[i] = (uint32_t)c->in[i].rank;
        dims[i] = c->in[i].dims;
    }
    wrong = prt_equation_resolve(&e, ranks, dims);
    if (wrong != NULL)
        return bad(c, wrong);
    for (uint32_t i = 0; i < e.out.count; i++)
        out[i] = e.size[e.out.label[i]];
    return prt_infer_exact(c, 0, c->in[0].dtype, (int32_t)e.out.count, out);
}

/* ---- evaluation ---- */

enum {
    /* Index of the output among the operands of a walk. */
    OUTPUT = PRT_EQUATION_TERMS,
    CHECK_EVERY = 4096
};

/* An iteration over a set of labels in order, with the strides of each operand and of the
 * output. */
typedef struct walk {
    uint32_t rank;
    int64_t dims[PRT_EQUATION_LABELS];
    size_t step[PRT_EQUATION_TERMS + 1][PRT_EQUATION_LABELS];
    size_t count;
} walk;

/* Labels of the output that only the left operand (m), only the right one (n) or both (batch)
 * have; k: labels that are summed over. Unless there are two operands, m has all labels of the
 * output. */
typedef struct parts {
    walk batch, m, n, k;
} parts;

static size_t step_of(const prt_equation_term *t, const prt_tensor *x, uint8_t label)
{
    size_t step = 0;
    for (uint32_t k = 0; k < x->rank; k++)
        if (t->label[k] == label && x->dims[k] != 1)
            step += prt_dims_product(x->dims, k + 1, x->rank);
    return step;
}

static void add_label(const prt_equation *e, const prt_eval *c, walk *w, uint8_t label)
{
    const uint32_t at = w->rank++;
    w->dims[at] = e->size[label];
    if (!prt_size_mul(w->count, (size_t)e->size[label], &w->count))
        w->count = SIZE_MAX; /* too many elements to store or to iterate over */
    for (uint32_t i = 0; i < e->n_in; i++)
        w->step[i][at] = step_of(&e->in[i], c->in[i], label);
    w->step[OUTPUT][at] = step_of(&e->out, c->out[0], label);
}

static void divide(const prt_equation *e, const prt_eval *c, parts *p)
{
    p->batch.rank = p->m.rank = p->n.rank = p->k.rank = 0;
    p->batch.count = p->m.count = p->n.count = p->k.count = 1;
    for (uint8_t label = 0; label < PRT_EQUATION_LABELS; label++) {
        const bool a = e->n_in != 2 || prt_equation_has(&e->in[0], label);
        const bool b = e->n_in == 2 && prt_equation_has(&e->in[1], label);
        if (e->seen[label] == 0)
            continue;
        if (!prt_equation_has(&e->out, label))
            add_label(e, c, &p->k, label);
        else
            add_label(e, c, a && b ? &p->batch : a ? &p->m : &p->n, label);
    }
}

/* Returns the offsets of operand `i`, or of the output, at every point of a walk. */
static size_t *offsets(prt_eval *c, const walk *w, uint32_t i)
{
    int64_t at[PRT_EQUATION_LABELS] = { 0 };
    size_t *to = prt_eval_scratch(c, w->count, sizeof(size_t));
    for (size_t n = 0; to != NULL && n < w->count; n++) {
        for (uint32_t k = 0; k < w->rank; k++)
            to[n] += (size_t)at[k] * w->step[i][k];
        (void)prt_at_next(w->rank, w->dims, at);
    }
    return to;
}

/* Two real operands: computes products of m × k by k × n, gathered by offsets. */
static poprt_status run_products(prt_eval *c, const parts *p)
{
    const prt_tensor *x = c->in[0], *y = c->in[1];
    prt_tensor *z = c->out[0];
    const size_t depth = p->k.count, m = p->m.count, n = p->n.count;
    const size_t *xb = offsets(c, &p->batch, 0), *yb = offsets(c, &p->batch, 1);
    const size_t *zb = offsets(c, &p->batch, OUTPUT);
    const size_t *xm = offsets(c, &p->m, 0), *zm = offsets(c, &p->m, OUTPUT);
    const size_t *yn = offsets(c, &p->n, 1), *zn = offsets(c, &p->n, OUTPUT);
    const size_t *xk = offsets(c, &p->k, 0), *yk = offsets(c, &p->k, 1);
    double *rows = prt_eval_scratch(c, m, depth * sizeof(double));
    double *panel = prt_tile_panel(c, depth);
    double sums[PRT_TILE_ROWS][PRT_TILE_COLS];
    if (xb == NULL || yb == NULL || zb == NULL || xm == NULL || zm == NULL || yn == NULL ||
        zn == NULL || xk == NULL || yk == NULL || rows == NULL || panel == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < p->batch.count; b++) {
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < depth; k++)
                prt_reals_load(x->dtype, x->data, xb[b] + xm[i] + xk[k], 1, 1,
                    &rows[i * depth + k]);
        for (size_t first = 0; first < n; first += PRT_TILE_COLS) {
            const size_t cols = n - first < PRT_TILE_COLS ? n - first : PRT_TILE_COLS;
            PRT_TRY(c->host->check(c));
            for (size_t k = 0; k < depth; k++)
                for (size_t j = 0; j < cols; j++)
                    prt_reals_load(y->dtype, y->data, yb[b] + yn[first + j] + yk[k], 1, 1,
                        &panel[prt_tile_at(depth, k, j)]);
            for (size_t i = 0; i < m; i += PRT_TILE_ROWS) {
                const size_t height = m - i < PRT_TILE_ROWS ? m - i : PRT_TILE_ROWS;
                prt_tile_product(height, cols, depth, rows + i * depth, panel, sums);
                for (size_t r = 0; r < height; r++)
                    for (size_t j = 0; j < cols; j++)
                        prt_reals_store(z->dtype, z->data, zb[b] + zm[i + r] + zn[first + j], 1, 1,
                            &sums[r][j]);
            }
        }
    }
    return POPRT_OK;
}

/* Any operands: computes each output element as the sum over k of the product of all operands. */
static poprt_status run_sums(prt_eval *c, const prt_equation *e, const parts *p, const walk *outer)
{
    prt_tensor *z = c->out[0];
    const bool integer = prt_dtype_is_integer(z->dtype);
    int64_t at[PRT_EQUATION_LABELS] = { 0 };
    for (size_t n = 0; n < outer->count; n++) {
        int64_t k_at[PRT_EQUATION_LABELS] = { 0 };
        double sum = 0.0;
        uint64_t words = 0;
        size_t to = 0;
        for (size_t k = 0; k < p->k.count; k++) {
            double product = 1.0;
            uint64_t word = 1;
            if (k % CHECK_EVERY == 0)
                PRT_TRY(c->host->check(c));
            for (uint32_t i = 0; i < e->n_in; i++) {
                size_t from = 0;
                double value;
                for (uint32_t d = 0; d < outer->rank; d++)
                    from += (size_t)at[d] * outer->step[i][d];
                for (uint32_t d = 0; d < p->k.rank; d++)
                    from += (size_t)k_at[d] * p->k.step[i][d];
                if (integer) {
                    word *= (uint64_t)prt_load_i64(z->dtype, c->in[i]->data, from);
                    continue;
                }
                prt_reals_load(z->dtype, c->in[i]->data, from, 1, 1, &value);
                product *= value;
            }
            sum += product;
            words += word;
            (void)prt_at_next(p->k.rank, p->k.dims, k_at);
        }
        for (uint32_t d = 0; d < outer->rank; d++)
            to += (size_t)at[d] * outer->step[OUTPUT][d];
        if (integer)
            prt_store_u64(z->dtype, z->data, to, words);
        else
            prt_reals_store(z->dtype, z->data, to, 1, 1, &sum);
        (void)prt_at_next(outer->rank, outer->dims, at);
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_einsum_attrs *a = c->attrs;
    prt_equation *e = prt_eval_scratch(c, 1, sizeof(prt_equation));
    parts *p = prt_eval_scratch(c, 1, sizeof(parts));
    uint32_t ranks[PRT_EQUATION_TERMS];
    const int64_t *dims[PRT_EQUATION_TERMS];
    if (e == NULL || p == NULL)
        return POPRT_E_NOMEM;
    if (prt_equation_parse(a->equation, c->n_in, e) != NULL)
        return prt_eval_fail(c, POPRT_E_INTERNAL, "the equation has changed since shape inference");
    for (uint32_t i = 0; i < c->n_in; i++) {
        ranks[i] = c->in[i]->rank;
        dims[i] = c->in[i]->dims;
    }
    (void)prt_equation_resolve(e, ranks, dims);
    if (prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    divide(e, c, p);
    if (e->n_in == 2 && !prt_dtype_is_integer(c->out[0]->dtype))
        return run_products(c, p);
    /* Merge all labels of the output into one walk. */
    walk *outer = &p->batch;
    for (uint8_t label = 0; e->n_in == 2 && label < PRT_EQUATION_LABELS; label++)
        if (e->seen[label] != 0 && prt_equation_has(&e->out, label) &&
            !(prt_equation_has(&e->in[0], label) && prt_equation_has(&e->in[1], label)))
            add_label(e, c, outer, label);
    return run_sums(c, e, p, e->n_in == 2 ? outer : &p->m);
}

const prt_op_hooks prt_op_einsum = { .infer = infer, .eval = eval };
