/* SPDX-License-Identifier: MIT */
/* trees.c — converts the tree ensembles of ai.onnx.ml, whose nodes refer to each other by id, to
 * PackedTrees. */
#include "op/ml/tree_packed.h"
#include "pass/pack/pack.h"

/* Reads the ensemble from the attributes; returns false if it cannot be packed. */
static bool read_forest(const prt_ml_site *site, const prt_op *op, prt_forest *f,
    prt_tree_decision *j)
{
    const int32_t dtype = prt_op_input(op, 0)->type->dtype;
    if (prt_op_is(op, PRT_OP_ml_tree_ensemble_classifier))
        return prt_tree_read_classifier(site, op->attrs, f, j) == POPRT_OK;
    if (prt_op_is(op, PRT_OP_ml_tree_ensemble_regressor))
        return prt_tree_read_regressor(site, op->attrs, f, j) == POPRT_OK;
    return (dtype == PRT_DTYPE_f32 || dtype == PRT_DTYPE_f64) &&
        prt_tree_read_ensemble(site, op->attrs, f, j) == POPRT_OK;
}

static prt_value *list(prt_build *b, int32_t dtype, size_t count, const void *from)
{
    const int64_t dim = (int64_t)count;
    return prt_build_tensor(b, dtype, 1, &dim, from);
}

/* Makes the inputs of PackedTrees after the rows: nodes, roots, votes, base. */
static bool pack(prt_pass *p, prt_build *b, const prt_ml_site *site, const prt_forest *f,
    const prt_tree_decision *j, prt_value **in)
{
    size_t count;
    if (!prt_packed_count(site, f, &count))
        return false;
    prt_packed_node *nodes = PRT_NEW_N(p->arena, prt_packed_node, count + 1);
    int64_t *roots = PRT_NEW_N(p->arena, int64_t, f->n_roots + 1);
    prt_packed_vote *votes = PRT_NEW_N(p->arena, prt_packed_vote, f->n_votes + 1);
    double *base = PRT_NEW_N(p->arena, double, j->base.count + 1);
    if (nodes == NULL || roots == NULL || votes == NULL || base == NULL ||
        !prt_packed_write(site, f, nodes, roots))
        return false;
    for (size_t i = 0; i < f->n_votes; i++)
        votes[i] = (prt_packed_vote){ f->votes[i].weight, f->votes[i].target };
    for (size_t i = 0; i < j->base.count; i++)
        base[i] = prt_tree_real(&j->base, i);
    in[0] = list(b, PRT_DTYPE_i64, 2 * count, nodes);
    in[1] = list(b, PRT_DTYPE_i64, f->n_roots, roots);
    in[2] = list(b, PRT_DTYPE_i64, 2 * f->n_votes, votes);
    in[3] = j->base.count != 0 ? list(b, PRT_DTYPE_f64, j->base.count, base) : NULL;
    return in[0] != NULL && in[1] != NULL && in[2] != NULL;
}

bool prt_pack_trees(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_infer place = { .def = root->def, .attrs = root->attrs, .scratch = p->arena };
    const prt_ml_site site = { .infer = &place };
    const bool labelled = prt_op_is(root, PRT_OP_ml_tree_ensemble_classifier);
    prt_value *in[5] = { prt_op_input(root, 0) };
    prt_forest f;
    prt_tree_decision j;
    if (!prt_type_is_tensor(in[0]->type) || !read_forest(&site, root, &f, &j) ||
        !pack(p, b, &site, &f, &j, in + 1))
        return b->status != POPRT_OK;
    int64_t features = 0;
    for (size_t i = 0; i < f.n_nodes; i++)
        if (f.nodes[i].mode != PRT_TREE_LEAF && f.nodes[i].feature >= features)
            features = f.nodes[i].feature + 1;
    prt_packed_trees_attrs a = PRT_ATTRS_OF(packed_trees);
    PRT_ATTR_SET(a, packed_trees, features, features);
    PRT_ATTR_SET(a, packed_trees, n_targets, (int64_t)j.targets);
    PRT_ATTR_SET(a, packed_trees, aggregate_function, (int64_t)f.sum);
    PRT_ATTR_SET(a, packed_trees, post_transform, (int64_t)j.transform);
    if (root->out[0].type->dtype == PRT_DTYPE_f64)
        PRT_ATTR_SET(a, packed_trees, wide, 1);
    if (j.labels.strings.count != 0)
        PRT_ATTR_SET(a, packed_trees, classlabels_strings, j.labels.strings);
    if (j.labels.ints.count != 0)
        PRT_ATTR_SET(a, packed_trees, classlabels_int64s, j.labels.ints);
    if (j.one_set) {
        PRT_ATTR_SET(a, packed_trees, one_set, 1);
        PRT_ATTR_SET(a, packed_trees, scored, (int64_t)j.scored);
    }
    PRT_ATTR_SET(a, packed_trees, positive, j.positive ? 1 : 0);
    prt_op *op =
        prt_build_op_n(b, PRT_OP_packed_trees, &a, in[4] != NULL ? 5 : 4, in, labelled ? 2 : 1);
    for (uint32_t i = 0; op != NULL && i < root->n_out; i++)
        (void)prt_pass_replace(b, &root->out[i], &op->out[labelled ? 1 - i : i]);
    return true;
}
