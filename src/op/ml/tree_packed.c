/* SPDX-License-Identifier: MIT */
/* tree_packed.c — PackedTrees: packs forests, and evaluates eight walks at a time: their steps are
   independent, while each step of one walk depends on the step before. */
#include "op/ml/tree_packed.h"

#include <math.h>

#include "base/loops.h"
#include "base/size.h"
#include "op/share/elements.h"

/* ---- packing ---- */

/* A false branch that is still to be packed, and the packed index of its parent. */
typedef struct pending {
    size_t node, place;
} pending;

/* Packs one tree after the other. If `nodes` is NULL, it only counts the nodes and checks that the
   forest can be packed. */
static bool pack_trees(const prt_ml_site *site, const prt_forest *f, prt_packed_node *nodes,
    int64_t *roots, size_t *count)
{
    bool *seen = prt_ml_alloc(site, f->n_nodes + 1, sizeof(bool));
    pending *stack = prt_ml_alloc(site, f->n_nodes + 1, sizeof(*stack));
    size_t at = 0;
    if (seen == NULL || stack == NULL)
        return false;
    for (size_t r = 0; r < f->n_roots; r++) {
        size_t node = f->roots[r], depth = 0;
        if (nodes != NULL)
            roots[r] = (int64_t)at;
        for (bool more = true; more; at++) {
            const prt_tree_node *n = &f->nodes[node];
            const bool leaf = n->mode == PRT_TREE_LEAF;
            const uint64_t number = leaf ? n->count : (uint64_t)n->feature;
            if (seen[node] || n->mode == PRT_TREE_MEMBER || number >> 28 != 0)
                return false;
            seen[node] = true;
            if (nodes != NULL)
                nodes[at] = (prt_packed_node){ .value = leaf ? 0.0 : n->value,
                    .what = (uint32_t)n->mode | (n->missing_is_true ? PRT_PACKED_MISSING : 0) |
                        (uint32_t)number << PRT_PACKED_SHIFT,
                    .next = leaf ? n->first : 0 };
            if (!leaf) {
                stack[depth++] = (pending){ (size_t)n->no, at };
                node = (size_t)n->yes;
                continue;
            }
            more = depth != 0;
            if (!more)
                continue;
            node = stack[--depth].node;
            if (nodes != NULL)
                nodes[stack[depth].place].next = (uint32_t)(at - stack[depth].place);
        }
    }
    *count = at;
    return at <= UINT32_MAX;
}

bool prt_packed_count(const prt_ml_site *site, const prt_forest *f, size_t *count)
{
    return pack_trees(site, f, NULL, NULL, count);
}

bool prt_packed_write(const prt_ml_site *site, const prt_forest *f, prt_packed_node *nodes,
    int64_t *roots)
{
    size_t count;
    return pack_trees(site, f, nodes, roots, &count);
}

/* ---- the operator ---- */

static poprt_status infer(prt_infer *c)
{
    const prt_packed_trees_attrs *a = c->attrs;
    const prt_ml_labels labels = { a->classlabels_strings, a->classlabels_int64s };
    const uint32_t n = prt_ml_label_count(&labels);
    int64_t rows, features;
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (a->n_targets < 1 || a->n_targets > INT32_MAX || (n != 0 && n != a->n_targets))
        return prt_infer_fail(c, POPRT_E_ARG,
            "n_targets is %lld for %u labels; at least 1, and as many as labels, is needed",
            (long long)a->n_targets, n);
    if (a->aggregate_function < PRT_TREE_AVERAGE || a->aggregate_function > PRT_TREE_MAX ||
        a->post_transform < 0 || a->post_transform >= PRT_ML_TRANSFORMS)
        return prt_infer_fail(c, POPRT_E_ARG, "aggregate_function or post_transform is unknown");
    if (a->scored < 0 || a->scored > 1 || (a->one_set != 0 && n != 2))
        return prt_infer_fail(c, POPRT_E_ARG, "one_set needs 2 labels, and scored must be 0 or 1");
    if (prt_dim_is_number(features) && features < a->features)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "rows have %lld features, but a tree tests feature %lld", (long long)features,
            (long long)a->features - 1);
    const int64_t dims[2] = { rows, a->n_targets };
    PRT_TRY(prt_infer_set(c, 0, a->wide != 0 ? PRT_DTYPE_f64 : PRT_DTYPE_f32, 2, dims));
    return prt_infer_set(c, 1, prt_ml_label_dtype(&labels), 1, dims);
}

poprt_status prt_packed_fail(const prt_eval *c)
{
    return prt_eval_fail(c, POPRT_E_PARSE,
        "the trees refer to nodes, votes or features that do not exist");
}

poprt_status prt_packed_read(prt_eval *c, prt_packed_forest *f)
{
    enum {
        ROWS = 64,        /* maximum rows of a call of prt_packed_run */
        NUMBERS = 1 << 16 /* maximum features of the rows of a call */
    };
    const prt_packed_trees_attrs *a = c->attrs;
    const prt_tensor *base = prt_eval_has(c, 4) ? c->in[4] : NULL;
    const prt_ml_labels labels = { a->classlabels_strings, a->classlabels_int64s };
    *f = (prt_packed_forest){ .nodes = c->in[1]->data,
        .votes = c->in[3]->data,
        .roots = c->in[2]->data,
        .n_nodes = prt_tensor_count(c->in[1]) / 2,
        .n_votes = prt_tensor_count(c->in[3]) / 2,
        .n_roots = prt_tensor_count(c->in[2]),
        .x = c->in[0],
        .features = prt_ml_features(c->in[0]),
        .rows = prt_ml_rows(c->in[0]),
        .sum = (prt_tree_sum)a->aggregate_function,
        .scores = prt_eval_wants(c, 0) ? c->out[0] : NULL,
        .labels = prt_eval_wants(c, 1) ? c->out[1] : NULL,
        .decision = { .labels = labels,
            .transform = (prt_ml_transform)a->post_transform,
            .base = { .tensor = base, .count = base != NULL ? prt_tensor_count(base) : 0 },
            .targets = (size_t)a->n_targets,
            .one_set = a->one_set != 0,
            .scored = (size_t)a->scored,
            .positive = a->positive != 0 } };
    for (size_t i = 0; i < f->n_roots; i++)
        if (f->roots[i] < 0 || (uint64_t)f->roots[i] >= f->n_nodes)
            return prt_packed_fail(c);
    if (f->decision.base.count > f->decision.targets)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "base has %zu numbers; at most n_targets are possible", f->decision.base.count);
    const size_t most = f->features != 0 ? NUMBERS / f->features : ROWS;
    f->most = most < 1 ? 1 : most < ROWS ? most : ROWS;
    f->most = f->rows < f->most ? f->rows : f->most;
    return POPRT_OK;
}

/* The scratch holds, for each row, its features, its scores (at least two) and a boolean for each
   score. */
bool prt_packed_scratch_size(const prt_packed_forest *f, size_t *count)
{
    const size_t targets = f->decision.targets + 1;
    return prt_size_add(f->features, 2 * targets, count) && prt_size_mul(*count, f->most, count);
}

/* Comparisons other than LEQ, and NaN, are outlined: most trees use only x <= value. */
__attribute__((noinline)) static bool compares(const prt_packed_node *n, double x)
{
    if ((n->what & PRT_PACKED_MISSING) != 0 && isnan(x))
        return true;
    return prt_tree_compares((prt_tree_mode)(n->what & PRT_PACKED_MODE), x, n->value);
}

enum { LANES = 8 };

/* One step of a walk at node *at. Sets `*more` unless that is a leaf. Returns false where an index
   is out of range. */
__attribute__((always_inline)) static inline bool step(const prt_packed_forest *f, bool single,
    const void *x, size_t *at, bool *more)
{
    const prt_packed_node *node = &f->nodes[*at];
    const uint32_t what = node->what, kind = what & (PRT_PACKED_MODE | PRT_PACKED_MISSING);
    const size_t feature = what >> PRT_PACKED_SHIFT;
    if (kind != PRT_TREE_LEQ && (kind & PRT_PACKED_MODE) == PRT_TREE_LEAF)
        return true;
    if (feature >= f->features)
        return false;
    const double v = single ? (double)((const float *)x)[feature] : ((const double *)x)[feature];
    const bool yes = kind == PRT_TREE_LEQ ? v <= node->value : compares(node, v);
    *at += 1 + (node->next & ((size_t)yes - 1));
    *more = true;
    return *at < f->n_nodes;
}

/* Walks from nodes `at` to leaves, for `n` rows of float or double features. Returns false where an
   index is out of range. */
__attribute__((always_inline)) static inline bool walk(const prt_packed_forest *forest, bool single,
    size_t n, size_t *at, const void *const *x)
{
    const prt_packed_forest f = { .nodes = forest->nodes,
        .n_nodes = forest->n_nodes,
        .features = forest->features };
    for (bool more = true, fits = true; more;) {
        more = false;
        if (n == LANES) {
            PRT_UNROLL(8)
            for (size_t k = 0; k < LANES; k++)
                fits = fits && step(&f, single, x[k], &at[k], &more);
        } else {
            for (size_t k = 0; k < n; k++)
                fits = fits && step(&f, single, x[k], &at[k], &more);
        }
        if (!fits)
            return false;
    }
    return true;
}

static bool add_votes(const prt_packed_forest *f, size_t leaf, double *scores, bool *seen)
{
    const size_t first = f->nodes[leaf].next, count = f->nodes[leaf].what >> PRT_PACKED_SHIFT;
    if (first > f->n_votes || count > f->n_votes - first)
        return false;
    for (size_t i = first; i < first + count; i++) {
        const size_t target = (size_t)f->votes[i].target;
        if (target >= f->decision.targets)
            return false;
        prt_tree_count(f->sum, f->votes[i].weight, &scores[target], &seen[target]);
    }
    return true;
}

/* With at least WAYS rows, evaluates one tree at a time for several rows; otherwise several trees
   at a time for each row. Votes are added in the order of the trees in both cases. */
static bool score_rows(const prt_packed_forest *f, size_t rows, const void *x, double *scores,
    bool *seen)
{
    const bool single = f->x->dtype == PRT_DTYPE_f32;
    const size_t size = f->features * (single ? sizeof(float) : sizeof(double));
    const size_t targets = f->decision.targets + 1;
    const bool by_rows = rows >= LANES;
    const size_t outer = by_rows ? f->n_roots : rows, inner = by_rows ? rows : f->n_roots;
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i += LANES) {
            const size_t n = inner - i < LANES ? inner - i : LANES;
            const void *from[LANES];
            size_t at[LANES];
            for (size_t k = 0; k < n; k++) {
                from[k] = (const char *)x + (by_rows ? i + k : o) * size;
                at[k] = (size_t)f->roots[by_rows ? o : i + k];
            }
            if (!(single ? walk(f, true, n, at, from) : walk(f, false, n, at, from)))
                return false;
            for (size_t k = 0; k < n; k++) {
                const size_t row = by_rows ? i + k : o;
                if (!add_votes(f, at[k], scores + row * targets, seen + row * targets))
                    return false;
            }
        }
    return true;
}

bool prt_packed_run(const prt_packed_forest *f, size_t first, double *scratch)
{
    const size_t targets = f->decision.targets;
    const size_t rows = f->rows - first < f->most ? f->rows - first : f->most;
    double *scores = scratch + f->most * f->features;
    bool *seen = (bool *)(scores + f->most * (targets + 1));
    memset(scores, 0, rows * (targets + 1) * sizeof(double));
    memset(seen, 0, rows * (targets + 1));
    const void *x = (const float *)f->x->data + first * f->features;
    if (f->x->dtype != PRT_DTYPE_f32) {
        prt_read_f64(f->x->dtype, f->x->data, first * f->features, 1, rows * f->features, scratch);
        x = scratch;
    }
    if (!score_rows(f, rows, x, scores, seen))
        return false;
    for (size_t r = 0; r < rows; r++) {
        double *row = scores + r * (targets + 1);
        for (size_t t = 0; t < targets && f->sum == PRT_TREE_AVERAGE && f->n_roots != 0; t++)
            row[t] /= (double)f->n_roots;
        prt_tree_decide(&f->decision, row, seen + r * (targets + 1), f->labels, first + r);
        if (f->scores != NULL)
            prt_write_f64(f->scores->dtype, f->scores->data, (first + r) * targets, targets, row);
    }
    return true;
}

static poprt_status eval(prt_eval *c)
{
    prt_packed_forest f;
    size_t count;
    PRT_TRY(prt_packed_read(c, &f));
    if (!prt_packed_scratch_size(&f, &count))
        return prt_fail_nomem(SIZE_MAX);
    double *scratch = prt_eval_scratch(c, count, sizeof(double));
    if (scratch == NULL)
        return POPRT_E_NOMEM;
    for (size_t first = 0; first < f.rows; first += f.most) {
        if (!prt_packed_run(&f, first, scratch))
            return prt_packed_fail(c);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_packed_trees = { .infer = infer, .eval = eval };
