/* SPDX-License-Identifier: MIT */
/*
 * tree_build.c — converts nodes that are named by tree id and node id to nodes with indices.
 *
 * A hash table maps the two ids to the index. Votes are sorted by their leaf.
 */
#include "op/ml/tree.h"

/* Hash table from the ids of a model's nodes to their indices. */
typedef struct names {
    const prt_tree_lists *lists;
    uint32_t *slots; /* index plus 1; 0: free */
    size_t mask;
} names;

static uint32_t *slot_of(const names *s, int64_t tree, int64_t node)
{
    const int64_t key[2] = { tree, node };
    for (size_t at = prt_hash(key, sizeof(key), 1) & s->mask;; at = (at + 1) & s->mask) {
        const uint32_t i = s->slots[at];
        if (i == 0 ||
            (s->lists->treeids.data[i - 1] == tree && s->lists->nodeids.data[i - 1] == node))
            return &s->slots[at];
    }
}

static poprt_status name_nodes(const prt_ml_site *site, const prt_tree_lists *l, names *s)
{
    const uint32_t n = l->nodeids.count;
    size_t capacity = 16;
    while (capacity < (size_t)n * 2)
        capacity *= 2;
    *s = (names){ .lists = l, .mask = capacity - 1 };
    s->slots = prt_ml_alloc(site, capacity, sizeof(*s->slots));
    if (s->slots == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *slot = slot_of(s, l->treeids.data[i], l->nodeids.data[i]);
        if (*slot != 0)
            return prt_ml_fail(site, POPRT_E_ARG, "node %lld of tree %lld is defined twice",
                (long long)l->nodeids.data[i], (long long)l->treeids.data[i]);
        *slot = i + 1;
    }
    return POPRT_OK;
}

static poprt_status check_lists(const prt_ml_site *site, const prt_tree_lists *l)
{
    const size_t n = l->nodeids.count, v = l->vote_nodeids.count;
    if (n > UINT32_MAX / 2)
        return prt_ml_fail(site, POPRT_E_LIMIT, "has %zu nodes", n);
    PRT_TRY(prt_tree_check_count(site, "nodes_treeids", l->treeids.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_featureids", l->featureids.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_truenodeids", l->truenodeids.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_falsenodeids", l->falsenodeids.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_modes", l->modes.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_values", l->values.count, n));
    if (l->missing.count != 0)
        PRT_TRY(prt_tree_check_count(site, "nodes_missing_value_tracks_true", l->missing.count, n));
    PRT_TRY(prt_tree_check_count(site, "the list of trees of weights", l->vote_treeids.count, v));
    PRT_TRY(prt_tree_check_count(site, "the list of targets of weights", l->vote_targets.count, v));
    return prt_tree_check_count(site, "the list of weights", l->weights.count, v);
}

static bool find_mode(prt_str text, prt_tree_mode *out)
{
    static const char *const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT",
        "BRANCH_EQ", "BRANCH_NEQ" };
    *out = PRT_TREE_LEAF;
    if (prt_str_is(text, "LEAF"))
        return true;
    for (uint32_t i = 0; i < PRT_COUNT_OF(modes); i++)
        if (prt_str_is(text, modes[i])) {
            *out = (prt_tree_mode)i;
            return true;
        }
    return false;
}

static poprt_status read_node(const prt_ml_site *site, const names *s, uint32_t i, prt_tree_node *n)
{
    const prt_tree_lists *l = s->lists;
    *n = (prt_tree_node){ .tree = l->treeids.data[i],
        .name = l->nodeids.data[i],
        .feature = l->featureids.data[i],
        .value = prt_tree_real(&l->values, i),
        .missing_is_true = l->missing.count != 0 && l->missing.data[i] != 0 };
    if (!find_mode(l->modes.data[i], &n->mode))
        return prt_ml_fail(site, POPRT_E_ARG, "node %lld of tree %lld has mode \"%.*s\"",
            (long long)n->name, (long long)n->tree,
            (int)(l->modes.data[i].size < 40 ? l->modes.data[i].size : 40),
            l->modes.data[i].data != NULL ? l->modes.data[i].data : "");
    if (n->mode == PRT_TREE_LEAF)
        return POPRT_OK;
    n->yes = (int64_t)*slot_of(s, n->tree, l->truenodeids.data[i]) - 1;
    n->no = (int64_t)*slot_of(s, n->tree, l->falsenodeids.data[i]) - 1;
    if (n->yes >= 0 && n->no >= 0)
        return POPRT_OK;
    return prt_ml_fail(site, POPRT_E_ARG,
        "node %lld of tree %lld branches to node %lld, which "
        "does not exist",
        (long long)n->name, (long long)n->tree,
        (long long)(n->yes < 0 ? l->truenodeids.data[i] : l->falsenodeids.data[i]));
}

/* Finds the first node of each tree. A hash table holds, for each tree id met so far, the index of
   its root plus 1. */
static poprt_status find_roots(const prt_ml_site *site, const prt_tree_lists *l, prt_forest *f)
{
    size_t capacity = 16;
    while (capacity < f->n_nodes * 2)
        capacity *= 2;
    uint32_t *slots = prt_ml_alloc(site, capacity, sizeof(*slots));
    f->roots = prt_ml_alloc(site, f->n_nodes + 1, sizeof(*f->roots));
    if (slots == NULL || f->roots == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < f->n_nodes; i++) {
        const int64_t tree = l->treeids.data[i];
        size_t at = prt_hash(&tree, sizeof(tree), 1) & (capacity - 1);
        while (slots[at] != 0 && l->treeids.data[slots[at] - 1] != tree)
            at = (at + 1) & (capacity - 1);
        if (slots[at] != 0)
            continue;
        slots[at] = (uint32_t)i + 1;
        f->roots[f->n_roots++] = i;
    }
    return POPRT_OK;
}

/* Sorts the votes by leaf with a counting sort. Votes of inner nodes are never read. */
static poprt_status sort_votes(const prt_ml_site *site, const names *s, prt_forest *f)
{
    const prt_tree_lists *l = s->lists;
    const uint32_t v = l->vote_nodeids.count;
    uint32_t *owner = prt_ml_alloc(site, (size_t)v + 1, sizeof(*owner));
    f->votes = prt_ml_alloc(site, (size_t)v + 1, sizeof(*f->votes));
    f->n_votes = v;
    if (owner == NULL || f->votes == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < v; i++) {
        const uint32_t found = *slot_of(s, l->vote_treeids.data[i], l->vote_nodeids.data[i]);
        if (found == 0)
            return prt_ml_fail(site, POPRT_E_ARG,
                "%s weight %u is for node %lld of tree %lld, which does not exist", l->vote_name, i,
                (long long)l->vote_nodeids.data[i], (long long)l->vote_treeids.data[i]);
        owner[i] = found - 1;
        f->nodes[owner[i]].count++;
    }
    uint32_t first = 0;
    for (size_t i = 0; i < f->n_nodes; i++) {
        f->nodes[i].first = first;
        first += f->nodes[i].count;
        f->nodes[i].count = 0;
    }
    for (uint32_t i = 0; i < v; i++) {
        prt_tree_node *n = &f->nodes[owner[i]];
        f->votes[n->first + n->count++] =
            (prt_tree_vote){ l->vote_targets.data[i], prt_tree_real(&l->weights, i) };
    }
    return POPRT_OK;
}

poprt_status prt_forest_build(const prt_ml_site *site, const prt_tree_lists *lists, prt_forest *out)
{
    names s;
    prt_forest *f = out;
    PRT_TRY(check_lists(site, lists));
    f->n_nodes = lists->nodeids.count;
    f->n_roots = 0;
    f->nodes = prt_ml_alloc(site, f->n_nodes + 1, sizeof(*f->nodes));
    if (f->nodes == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(name_nodes(site, lists, &s));
    for (uint32_t i = 0; i < f->n_nodes; i++)
        PRT_TRY(read_node(site, &s, i, &f->nodes[i]));
    PRT_TRY(find_roots(site, lists, f));
    PRT_TRY(sort_votes(site, &s, f));
    return prt_forest_check(site, f);
}
