/* SPDX-License-Identifier: MIT */
/*
 * batch_axis.c — the rules of operators for the axis of samples. A rule sets the states of the
 * outputs, or returns the reason why the node cannot be computed for some samples at a time.
 */
#include "train/batch_axis.h"

typedef struct walk {
    const prt_graph *graph;
    int64_t samples;
    prt_batch_state *states;
    const prt_op *op;
} walk;

static const char mixes[] = "mixes the samples of a batch";
static const char unknown[] = "has a shape or a parameter that is not known";

static prt_batch_state state_of(const walk *w, const prt_value *v)
{
    const prt_batch_state none = { .kind = PRT_BATCH_none };
    return v != NULL && v->graph == w->graph ? w->states[v->id] : none;
}

static prt_batch_state input_state(const walk *w, uint32_t i)
{
    return state_of(w, prt_op_input(w->op, i));
}

static bool has_samples(const walk *w, uint32_t i)
{
    return input_state(w, i).kind == PRT_BATCH_samples;
}

static int32_t rank_of(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

static const char *set_output(walk *w, uint32_t i, prt_batch_kind kind, int32_t axis)
{
    if (i < w->op->n_out)
        w->states[w->op->out[i].id] = (prt_batch_state){ kind, axis };
    return NULL;
}

static const char *set_all(walk *w, prt_batch_kind kind, int32_t axis)
{
    for (uint32_t i = 0; i < w->op->n_out; i++)
        (void)set_output(w, i, kind, axis);
    return NULL;
}

bool prt_batch_ints(const prt_op *op, uint32_t slot, int64_t *to, uint32_t max, uint32_t *count)
{
    const prt_value *v = prt_op_input(op, slot);
    prt_tensor t;
    if (v == NULL)
        return false;
    if (v->content != NULL && v->content->count != 0) {
        *count = v->content->count;
        for (uint32_t i = 0; i < *count && *count <= max; i++)
            if (!prt_dim_is_number(to[i] = v->content->values[i]))
                return false;
        return *count <= max;
    }
    if (!prt_value_is_fixed(v) || !prt_value_tensor(v, &t) || !prt_dtype_is_integer(t.dtype))
        return false;
    const size_t n = prt_tensor_count(&t);
    *count = (uint32_t)n;
    for (size_t i = 0; i < n && n <= max; i++)
        to[i] = prt_load_i64(t.dtype, t.data, i);
    return n <= max;
}

/* ---- rules */

/* Operators whose outputs have the broadcast shape of the inputs. */
static const char *elementwise(walk *w)
{
    const int32_t rank = rank_of(&w->op->out[0]);
    int32_t axis = -1;
    for (uint32_t i = 0; i < w->op->n_in; i++) {
        if (!has_samples(w, i))
            continue;
        const int32_t here = rank - rank_of(prt_op_input(w->op, i)) + input_state(w, i).axis;
        if (rank < 0 || here < 0 || (axis >= 0 && axis != here))
            return "has samples along different axes";
        axis = here;
    }
    return set_all(w, PRT_BATCH_samples, axis);
}

/* Operators that compute each image of a batch, along axis 0 of the first `n` inputs, by itself. */
static const char *images(walk *w, uint32_t n)
{
    for (uint32_t i = 0; i < w->op->n_in; i++)
        if (has_samples(w, i) && (i >= n || input_state(w, i).axis != 0))
            return mixes;
    return has_samples(w, 0) ? set_all(w, PRT_BATCH_samples, 0) : mixes;
}

static const char *matmul(walk *w)
{
    const int32_t rank = rank_of(&w->op->out[0]);
    int32_t axis = -1;
    for (uint32_t i = 0; i < 2; i++) {
        if (!has_samples(w, i))
            continue;
        const int32_t own = rank_of(prt_op_input(w->op, i)), at = input_state(w, i).axis;
        const int32_t inner = i == 0 ? own - 1 : own - 2;
        const int32_t here = rank - own + at;
        if (rank < 2 || own < 2 || at == inner || (axis >= 0 && (axis != here || at >= own - 2)))
            return mixes;
        axis = here;
    }
    return set_output(w, 0, PRT_BATCH_samples, axis);
}

static const char *gemm(walk *w)
{
    const prt_gemm_attrs *a = w->op->attrs;
    if (!has_samples(w, 0) || input_state(w, 0).axis != 0 || a->transA != 0 || has_samples(w, 1) ||
        (has_samples(w, 2) && input_state(w, 2).axis != 0))
        return mixes;
    return set_output(w, 0, PRT_BATCH_samples, 0);
}

static const char *transpose(walk *w)
{
    const prt_transpose_attrs *a = w->op->attrs;
    const int32_t rank = rank_of(&w->op->out[0]), axis = input_state(w, 0).axis;
    if (rank < 0)
        return unknown;
    if (a->perm.count == 0)
        return set_output(w, 0, PRT_BATCH_samples, rank - 1 - axis);
    for (uint32_t i = 0; i < a->perm.count; i++)
        if (a->perm.data[i] == axis)
            return set_output(w, 0, PRT_BATCH_samples, (int32_t)i);
    return unknown;
}

/* Reshape, Flatten, Squeeze and Unsqueeze: samples stay one behind the other if the dims before
 * their axis have the same product as before. */
static const char *reshape(walk *w)
{
    const prt_type *x = prt_op_input(w->op, 0)->type, *y = w->op->out[0].type;
    const int32_t axis = input_state(w, 0).axis;
    int64_t outer = 1, before = 1;
    if (!prt_type_is_static(x) || !prt_type_is_static(y))
        return unknown;
    for (int32_t i = 0; i < axis; i++)
        outer *= x->dims[i];
    for (int32_t i = 0; i < y->rank; i++) {
        if (before == outer && y->dims[i] % w->samples == 0)
            return set_output(w, 0, PRT_BATCH_samples, i);
        before *= y->dims[i];
    }
    return mixes;
}

static int64_t wrap(int64_t axis, int32_t rank)
{
    return axis < 0 ? axis + rank : axis;
}

/* Operators that combine the elements along one axis. */
static const char *along(walk *w, int64_t axis)
{
    const int32_t rank = rank_of(prt_op_input(w->op, 0));
    for (uint32_t i = 0; i < w->op->n_in; i++)
        if (has_samples(w, i) &&
            (rank < 0 || input_state(w, i).axis == wrap(axis, rank) ||
                input_state(w, i).axis != input_state(w, 0).axis))
            return mixes;
    return has_samples(w, 0) ? set_all(w, PRT_BATCH_samples, input_state(w, 0).axis) : mixes;
}

/* Normalizations over the axes from one on. */
static const char *from_axis(walk *w, int64_t axis)
{
    const int32_t rank = rank_of(prt_op_input(w->op, 0));
    if (rank < 0 || !has_samples(w, 0) || input_state(w, 0).axis >= wrap(axis, rank))
        return mixes;
    return set_all(w, PRT_BATCH_samples, input_state(w, 0).axis);
}

static const char *concat(walk *w)
{
    for (uint32_t i = 0; i < w->op->n_in; i++)
        if (!has_samples(w, i))
            return "joins samples with a tensor that has none";
    return along(w, ((const prt_concat_attrs *)w->op->attrs)->axis);
}

static const char *gather(walk *w)
{
    const prt_value *x = prt_op_input(w->op, 0), *indices = prt_op_input(w->op, 1);
    const int32_t rank = rank_of(x), more = rank_of(indices);
    if (rank < 0 || more < 0)
        return unknown;
    const int32_t axis = (int32_t)wrap(((const prt_gather_attrs *)w->op->attrs)->axis, rank);
    const int32_t at = input_state(w, has_samples(w, 0) ? 0 : 1).axis;
    if (has_samples(w, 0) && (has_samples(w, 1) || at == axis))
        return mixes;
    return set_output(w, 0, PRT_BATCH_samples,
        has_samples(w, 1) ? axis + at
            : at < axis   ? at
                          : at - 1 + more);
}

static const char *slice(walk *w)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    const int32_t rank = rank_of(prt_op_input(w->op, 0));
    if (prt_op_input(w->op, 3) != NULL) {
        if (rank < 0 || !prt_batch_ints(w->op, 3, axes, PRT_MAX_RANK, &n))
            return unknown;
    } else {
        if (!prt_batch_ints(w->op, 1, axes, PRT_MAX_RANK, &n))
            return unknown;
        for (uint32_t i = 0; i < n; i++)
            axes[i] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        if (wrap(axes[i], rank) == input_state(w, 0).axis)
            return mixes;
    return set_output(w, 0, PRT_BATCH_samples, input_state(w, 0).axis);
}

static const char *pad(walk *w)
{
    int64_t pads[2 * PRT_MAX_RANK];
    uint32_t n;
    const int32_t rank = rank_of(prt_op_input(w->op, 0)), axis = input_state(w, 0).axis;
    if (rank < 0 || prt_op_input(w->op, 3) != NULL ||
        !prt_batch_ints(w->op, 1, pads, 2 * PRT_MAX_RANK, &n) || n != 2 * (uint32_t)rank)
        return unknown;
    return pads[axis] != 0 || pads[axis + rank] != 0 ? mixes
                                                     : set_output(w, 0, PRT_BATCH_samples, axis);
}

/* Reductions; `over` is the kind of a result over samples, none if it is neither mean nor sum. */
static const char *reduce(walk *w, bool keeps, bool noop, prt_batch_kind over)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    const int32_t rank = rank_of(prt_op_input(w->op, 0)), axis = input_state(w, 0).axis;
    if (rank < 0 ||
        (prt_op_input(w->op, 1) != NULL && !prt_batch_ints(w->op, 1, axes, PRT_MAX_RANK, &n)))
        return unknown;
    bool samples = n == 0 && !noop;
    int32_t before = 0;
    for (uint32_t i = 0; i < n; i++) {
        samples = samples || wrap(axes[i], rank) == axis;
        before += wrap(axes[i], rank) < axis;
    }
    if (samples)
        return over != PRT_BATCH_none ? set_output(w, 0, over, 0) : mixes;
    return set_output(w, 0, PRT_BATCH_samples, keeps ? axis : axis - before);
}

#define REDUCE(id, over)                                                                           \
    case PRT_OP_##id: {                                                                            \
        const prt_##id##_attrs *a = w->op->attrs;                                                  \
        return reduce(w, a->keepdims != 0, a->noop_with_empty_axes != 0, over);                    \
    }

static const char *reductions(walk *w)
{
    switch (w->op->def->id) {
        REDUCE(reduce_mean, PRT_BATCH_mean)
        REDUCE(reduce_sum, PRT_BATCH_sum)
        REDUCE(reduce_sum_square, PRT_BATCH_sum)
        REDUCE(reduce_l1, PRT_BATCH_sum)
        REDUCE(reduce_l2, PRT_BATCH_none)
        REDUCE(reduce_max, PRT_BATCH_none)
        REDUCE(reduce_min, PRT_BATCH_none)
        REDUCE(reduce_prod, PRT_BATCH_none)
        REDUCE(reduce_log_sum, PRT_BATCH_none)
        REDUCE(reduce_log_sum_exp, PRT_BATCH_none)
    default:
        return "has no rule for a part of the samples";
    }
}

static bool is_word(prt_str text, const char *lower, const char *upper)
{
    return prt_str_is(text, lower) || prt_str_is(text, upper);
}

/* Losses of samples along axis 0. A mean in which samples weigh differently has no pieces. */
static const char *loss(walk *w, prt_str reduction, bool weighted)
{
    for (uint32_t i = 0; i < 2 && i < w->op->n_in; i++)
        if (!has_samples(w, i) || input_state(w, i).axis != 0)
            return mixes;
    (void)set_output(w, 1, PRT_BATCH_samples, 0);
    if (is_word(reduction, "sum", "Sum"))
        return set_output(w, 0, PRT_BATCH_sum, 0);
    if (!is_word(reduction, "mean", "Mean"))
        return set_output(w, 0, PRT_BATCH_samples, 0);
    if (weighted)
        return "is a mean of samples with different weights";
    return set_output(w, 0, PRT_BATCH_mean, 0);
}

static const char *losses(walk *w)
{
    const prt_op *op = w->op;
    const bool has_weights = prt_op_input(op, 2) != NULL;
    switch (op->def->id) {
    case PRT_OP_softmax_cross_entropy_loss: {
        const prt_softmax_cross_entropy_loss_attrs *a = op->attrs;
        return loss(w, a->reduction, has_weights || prt_attr_given(a, 0));
    }
    case PRT_OP_negative_log_likelihood_loss: {
        const prt_negative_log_likelihood_loss_attrs *a = op->attrs;
        return loss(w, a->reduction, has_weights || prt_attr_given(a, 0));
    }
#ifndef PRT_NO_GRAPHCORE
    case PRT_OP_gc_nll: {
        const prt_gc_nll_attrs *a = op->attrs;
        return loss(w, a->reduction,
            prt_attr_given(a, prt_op_attr(op->def, PRT_STR("ignoreIndex"))));
    }
    case PRT_OP_gc_l1:
        return loss(w, ((const prt_gc_l1_attrs *)op->attrs)->reduction, false);
    case PRT_OP_gc_identity_loss:
        return loss(w, ((const prt_gc_identity_loss_attrs *)op->attrs)->reduction, false);
#endif
    default:
        return reductions(w);
    }
}

/* Operators on samples. */
static const char *with_samples(walk *w)
{
    const prt_op *op = w->op;
    if ((op->def->traits & PRT_ELEMENTWISE) != 0)
        return elementwise(w);
    switch (op->def->id) {
    case PRT_OP_identity:
    case PRT_OP_cast_like:
    case PRT_OP_dropout:
    case PRT_OP_expand:
        return elementwise(w);
    case PRT_OP_attention:
        return images(w, op->n_in);
    case PRT_OP_average_pool:
    case PRT_OP_conv:
    case PRT_OP_conv_transpose:
    case PRT_OP_depth_to_space:
    case PRT_OP_global_average_pool:
    case PRT_OP_global_max_pool:
    case PRT_OP_group_normalization:
    case PRT_OP_instance_normalization:
    case PRT_OP_lrn:
    case PRT_OP_max_pool:
    case PRT_OP_space_to_depth:
#ifndef PRT_NO_GRAPHCORE
    case PRT_OP_gc_group_normalization:
#endif
        return images(w, 1);
    case PRT_OP_batch_normalization:
        return ((const prt_batch_normalization_attrs *)op->attrs)->training_mode != 0
            ? "normalizes by the statistics of all samples"
            : images(w, 1);
    case PRT_OP_matmul:
        return matmul(w);
    case PRT_OP_gemm:
        return gemm(w);
    case PRT_OP_transpose:
        return transpose(w);
    case PRT_OP_reshape:
    case PRT_OP_flatten:
    case PRT_OP_squeeze:
    case PRT_OP_unsqueeze:
        return reshape(w);
    case PRT_OP_softmax:
        return along(w, ((const prt_softmax_attrs *)op->attrs)->axis);
    case PRT_OP_log_softmax:
        return along(w, ((const prt_log_softmax_attrs *)op->attrs)->axis);
    case PRT_OP_split:
        return along(w, ((const prt_split_attrs *)op->attrs)->axis);
    case PRT_OP_layer_normalization:
        return from_axis(w, ((const prt_layer_normalization_attrs *)op->attrs)->axis);
    case PRT_OP_rms_normalization:
        return from_axis(w, ((const prt_rms_normalization_attrs *)op->attrs)->axis);
    case PRT_OP_concat:
        return concat(w);
    case PRT_OP_gather:
        return gather(w);
    case PRT_OP_slice:
        return slice(w);
    case PRT_OP_pad:
        return pad(w);
    case PRT_OP_shape:
    case PRT_OP_size:
        return set_output(w, 0, PRT_BATCH_size, 0);
    default:
        return losses(w);
    }
}

/* Operators on means or sums over samples: those that keep a mean a mean. */
static const char *with_reduced(walk *w, prt_batch_kind kind, bool others)
{
    const prt_op *op = w->op;
    const bool first = input_state(w, 0).kind == kind;
    switch (op->def->id) {
    case PRT_OP_add:
    case PRT_OP_sub:
        return others && kind == PRT_BATCH_sum ? "adds a constant to a sum of samples"
                                               : set_output(w, 0, kind, 0);
    case PRT_OP_mul:
        return others ? set_output(w, 0, kind, 0) : mixes;
    case PRT_OP_div:
        return others && first ? set_output(w, 0, kind, 0) : mixes;
    case PRT_OP_cast:
    case PRT_OP_cast_like:
    case PRT_OP_identity:
    case PRT_OP_neg:
    case PRT_OP_reshape:
    case PRT_OP_squeeze:
    case PRT_OP_unsqueeze:
    case PRT_OP_reduce_mean:
    case PRT_OP_reduce_sum:
#ifndef PRT_NO_GRAPHCORE
    case PRT_OP_gc_identity_loss:
#endif
        return first ? set_output(w, 0, kind, 0) : mixes;
    default:
        return "computes with a mean or sum of samples";
    }
}

/* ---- the walk */

/* Returns whether a number that depends on the number of samples is a part of a shape here. */
static bool takes_size(const walk *w, uint32_t i)
{
    return i == 1 && (prt_op_is(w->op, PRT_OP_reshape) || prt_op_is(w->op, PRT_OP_expand));
}

/* Returns whether an op in a region reads a value that depends on samples. */
static bool region_reads(const walk *w, const prt_graph *region)
{
    prt_for_each_op (op, region) {
        for (uint32_t i = 0; i < op->n_in; i++)
            if (state_of(w, op->in[i].value).kind != PRT_BATCH_none)
                return true;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (region_reads(w, op->regions[i]))
                return true;
    }
    for (uint32_t i = 0; i < region->ret->n_in; i++)
        if (state_of(w, region->ret->in[i].value).kind != PRT_BATCH_none)
            return true;
    return false;
}

static const char *visit(walk *w)
{
    const prt_op *op = w->op;
    uint32_t n[PRT_BATCH_sum + 1] = { 0 };
    bool regions = false;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL)
            n[takes_size(w, i) ? PRT_BATCH_none : input_state(w, i).kind]++;
    for (uint32_t i = 0; i < op->n_regions; i++)
        regions = regions || region_reads(w, op->regions[i]);
    const uint32_t samples = n[PRT_BATCH_samples], reduced = n[PRT_BATCH_mean] + n[PRT_BATCH_sum];
    if (samples + reduced + n[PRT_BATCH_size] == 0 && !regions)
        return NULL;
    if (op->def == NULL || op->def->id >= PRT_OP_COUNT)
        return "is not an operator of the library";
    if (op->n_regions != 0)
        return "has a subgraph";
    if ((op->def->traits & (PRT_STATEFUL | PRT_COLLECTIVE)) != 0)
        return "has an effect beside its results";
    if (samples + reduced == 0)
        return set_all(w, PRT_BATCH_size, 0);
    if (n[PRT_BATCH_size] != 0)
        return "computes with the number of samples";
    if (reduced == 0)
        return with_samples(w);
    if (samples != 0 || (n[PRT_BATCH_mean] != 0 && n[PRT_BATCH_sum] != 0))
        return "joins a mean or a sum of samples with other results of them";
    return with_reduced(w, n[PRT_BATCH_mean] != 0 ? PRT_BATCH_mean : PRT_BATCH_sum,
        n[PRT_BATCH_none] != 0);
}

/* Walks over the graph. Returns the reason why the node `w->op` cannot be divided, or NULL. */
static const char *find(walk *w, bool vectors)
{
    const prt_graph *g = w->graph;
    memset(w->states, 0, (size_t)g->n_values * sizeof(*w->states));
    for (size_t i = 0; i < g->inputs.count; i++) {
        const prt_value *x = g->inputs.data[i];
        const int64_t first = rank_of(x) > 0 ? x->type->dims[0] : PRT_DIM_UNKNOWN;
        if (first == w->samples ||
            (vectors && rank_of(x) == 1 && first > 0 && first % w->samples == 0))
            w->states[x->id].kind = PRT_BATCH_samples;
    }
    prt_for_each_op (op, g) {
        w->op = op;
        const char *reason = visit(w);
        if (reason != NULL)
            return reason;
    }
    return NULL;
}

poprt_status prt_batch_find(const prt_graph *graph, int64_t samples, prt_arena *arena,
    prt_batch_state **out)
{
    walk w = { .graph = graph,
        .samples = samples,
        .states = PRT_NEW_N(arena, prt_batch_state, (size_t)graph->n_values + 1) };
    if (w.states == NULL)
        return POPRT_E_NOMEM;
    const char *reason = find(&w, false);
    const prt_op *op = w.op;
    if (reason != NULL && find(&w, true) != NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "%.*s %s, so that its batch cannot be computed in pieces; set "
            "batch_serialization_factor to 0",
            PRT_STR_ARG(op->name), reason);
    *out = w.states;
    return POPRT_OK;
}
