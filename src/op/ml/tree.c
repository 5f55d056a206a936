/* SPDX-License-Identifier: MIT */
/* tree.c — tree ensembles: checks and evaluation. */
#include "op/ml/tree.h"

#include <math.h>

/* ---- attribute lists ---- */

poprt_status prt_tree_reals_of(const prt_ml_site *site, const char *name, prt_f32s floats,
    const prt_tensor *tensor, prt_tree_reals *out)
{
    *out = (prt_tree_reals){ name, floats, tensor, floats.count };
    if (tensor == NULL)
        return POPRT_OK;
    if (!prt_dtype_is_float(tensor->dtype))
        return prt_ml_fail(site, POPRT_E_TYPE, "%s is a tensor of %s; it must be of floats", name,
            prt_dtype_of(tensor->dtype)->name);
    const size_t n = prt_tensor_count(tensor);
    if (n != 0 && floats.count != 0)
        return prt_ml_fail(site, POPRT_E_ARG, "%s is given both as floats and as a tensor", name);
    out->count = n != 0 ? n : floats.count;
    if (n == 0)
        out->tensor = NULL;
    return POPRT_OK;
}

double prt_tree_real(const prt_tree_reals *r, size_t i)
{
    return r->tensor != NULL ? prt_load_f64(r->tensor->dtype, r->tensor->data, i)
                             : (double)r->floats.data[i];
}

poprt_status prt_tree_check_count(const prt_ml_site *site, const char *name, size_t count,
    size_t want)
{
    if (count == want)
        return POPRT_OK;
    return prt_ml_fail(site, POPRT_E_ARG, "%s has %zu entries, but other lists have %zu", name,
        count, want);
}

/* ---- checks ---- */

static poprt_status fail_node(const prt_ml_site *site, const prt_tree_node *n, const char *what,
    int64_t value)
{
    return prt_ml_fail(site, POPRT_E_ARG, "node %lld of tree %lld %s (%lld)", (long long)n->name,
        (long long)n->tree, what, (long long)value);
}

static poprt_status check_node(const prt_ml_site *site, const prt_forest *f, const prt_tree_node *n)
{
    if (n->mode == PRT_TREE_LEAF) {
        PRT_ASSERT(n->first <= f->n_votes && n->count <= f->n_votes - n->first);
        return POPRT_OK;
    }
    if (n->yes < 0 || (uint64_t)n->yes >= f->n_nodes)
        return fail_node(site, n, "has a true branch that does not exist", n->yes);
    if (n->no < 0 || (uint64_t)n->no >= f->n_nodes)
        return fail_node(site, n, "has a false branch that does not exist", n->no);
    if (n->feature < 0)
        return fail_node(site, n, "tests a negative feature", n->feature);
    return POPRT_OK;
}

/*
 * Detects cycles by depth-first search from each root, without recursion. state[i] is the number of
 * children of node i that have been entered, or DONE when its whole subtree is finished. A node
 * that is entered again before it is DONE is its own descendant.
 */
static poprt_status check_cycles(const prt_ml_site *site, const prt_forest *f)
{
    enum { DONE = 3 };
    unsigned char *state = prt_ml_alloc(site, f->n_nodes, 1);
    size_t *path = prt_ml_alloc(site, f->n_nodes, sizeof(*path));
    if (state == NULL || path == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < f->n_roots; r++) {
        size_t depth = 0;
        if (state[f->roots[r]] == 0)
            path[depth++] = f->roots[r];
        while (depth > 0) {
            const size_t at = path[depth - 1];
            const prt_tree_node *n = &f->nodes[at];
            if (n->mode == PRT_TREE_LEAF || state[at] == 2) {
                state[at] = DONE;
                depth--;
                continue;
            }
            const size_t child = (size_t)(state[at]++ == 0 ? n->yes : n->no);
            if (state[child] == 0)
                path[depth++] = child;
            else if (state[child] != DONE)
                return fail_node(site, &f->nodes[child],
                    "is its own descendant: the tree has a cycle", f->nodes[child].name);
        }
    }
    return POPRT_OK;
}

poprt_status prt_forest_check(const prt_ml_site *site, const prt_forest *f)
{
    for (size_t i = 0; i < f->n_nodes; i++)
        PRT_TRY(check_node(site, f, &f->nodes[i]));
    for (size_t i = 0; i < f->n_votes; i++)
        if (f->votes[i].target < 0 || f->votes[i].target >= f->n_targets)
            return prt_ml_fail(site, POPRT_E_ARG, "weight %zu is for target %lld of %lld", i,
                (long long)f->votes[i].target, (long long)f->n_targets);
    return check_cycles(site, f);
}

poprt_status prt_forest_check_features(const prt_ml_site *site, const prt_forest *f,
    size_t features)
{
    for (size_t i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].mode != PRT_TREE_LEAF && (uint64_t)f->nodes[i].feature >= features)
            return fail_node(site, &f->nodes[i], "tests a feature that the input does not have",
                f->nodes[i].feature);
    return POPRT_OK;
}

/* ---- evaluation ---- */

static bool is_member(const prt_forest *f, const prt_tree_node *n, double x)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (f->members[n->first + i] == x)
            return true;
    return false;
}

static bool goes_true(const prt_forest *f, const prt_tree_node *n, double x)
{
    if (n->missing_is_true && isnan(x))
        return true;
    return n->mode == PRT_TREE_MEMBER ? is_member(f, n, x)
                                      : prt_tree_compares(n->mode, x, n->value);
}

void prt_forest_score(const prt_forest *f, const double *x, double *scores, bool *scratch)
{
    const size_t n = (size_t)f->n_targets;
    for (size_t t = 0; t < n; t++) {
        scores[t] = 0.0;
        scratch[t] = false;
    }
    for (size_t r = 0; r < f->n_roots; r++) {
        const prt_tree_node *node = &f->nodes[f->roots[r]];
        while (node->mode != PRT_TREE_LEAF)
            node = &f->nodes[goes_true(f, node, x[node->feature]) ? node->yes : node->no];
        for (uint32_t k = 0; k < node->count; k++) {
            const prt_tree_vote *v = &f->votes[node->first + k];
            prt_tree_count(f->sum, v->weight, &scores[v->target], &scratch[v->target]);
        }
    }
    for (size_t t = 0; t < n && f->sum == PRT_TREE_AVERAGE && f->n_roots != 0; t++)
        scores[t] /= (double)f->n_roots;
}
