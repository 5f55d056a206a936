/* SPDX-License-Identifier: MIT */
/*
 * packed_walk.c — packed_transformer on one operator: which operators process tokens independently,
 * and the operands of all others.
 */
#include "ir/extra.h"
#include "pass/attention/packed.h"

/* ---- forms of values */

prt_packed_fact prt_packed_fact_of(const prt_packer *k, const prt_value *v)
{
    if (v == NULL || v->graph != k->graph || v->id >= k->facts.count ||
        k->facts.data[v->id].type == NULL)
        return (prt_packed_fact){ PRT_LAYOUT_UNCHANGED, v != NULL ? v->type : NULL };
    return k->facts.data[v->id];
}

poprt_status prt_packed_record(prt_packer *k, const prt_value *v, prt_packed_layout f,
    const prt_type *type)
{
    while (k->facts.count <= v->id)
        if (!PRT_VEC_PUSH(k->p->arena, &k->facts,
                ((prt_packed_fact){ PRT_LAYOUT_UNCHANGED, NULL })))
            return POPRT_E_NOMEM;
    k->facts.data[v->id] = (prt_packed_fact){ f, type };
    prt_for_each_use (use, v)
        if ((f == PRT_LAYOUT_PACKED || f == PRT_LAYOUT_FLAT) && use->user->graph != k->graph)
            return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(use->user),
                "a region reads packed tokens, which packed_transformer does not support");
    return POPRT_OK;
}

bool prt_packed_is_tokens(const prt_packer *k, const prt_type *type)
{
    return prt_type_is_tensor(type) && type->rank >= 2 && type->dims[0] == k->batch &&
        type->dims[1] == k->tokens;
}

static bool is_flat(const prt_packer *k, const prt_type *type)
{
    return prt_type_is_tensor(type) && type->rank >= 1 && type->dims[0] == k->batch * k->tokens;
}

/* Returns whether the dims after the tokens are equal. */
static bool same_rest(const prt_type *a, uint32_t a_from, const prt_type *b, uint32_t b_from)
{
    return a->rank - (int32_t)a_from == b->rank - (int32_t)b_from &&
        memcmp(a->dims + a_from, b->dims + b_from,
            (size_t)(a->rank - (int32_t)a_from) * sizeof(a->dims[0])) == 0;
}

/* ---- inserted ops */

static prt_value *reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims)
{
    return prt_build_binary(b, PRT_OP_reshape, x, prt_build_i64s(b, rank, dims));
}

static poprt_status mark(const prt_packer *k, prt_op *op)
{
    if (prt_pass_bool(k->p, "enable_double_batch_unpack"))
        PRT_TRY(prt_op_set_mark_i64(op, "__enable_double_batch_unpack", 1));
    if (prt_pass_bool(k->p, "efficiency_priority"))
        PRT_TRY(prt_op_set_mark_i64(op, "__efficiency_priority", 1));
    return POPRT_OK;
}

prt_value *prt_packed_unpack(prt_packer *k, prt_build *b, prt_value *v)
{
    if (prt_packed_fact_of(k, v).layout == PRT_LAYOUT_FLAT) {
        int64_t dims[PRT_MAX_RANK + 1] = { k->batch, k->tokens };
        for (int32_t i = 1; i < v->type->rank; i++)
            dims[i + 1] = v->type->dims[i];
        v = reshape(b, v, (uint32_t)v->type->rank + 1, dims);
        if (v == NULL)
            return NULL;
    }
    prt_for_each_use (use, v)
        if (prt_op_is(use->user, PRT_OP_gc_unpack) && prt_op_input(use->user, 1) == k->info)
            return &use->user->out[0];
    prt_gc_unpack_attrs attrs = PRT_ATTRS_OF(gc_unpack);
    PRT_ATTR_SET(attrs, gc_unpack, max_valid_num, k->samples);
    PRT_ATTR_SET(attrs, gc_unpack, segment_max_size, ((prt_i64s){ k->segments, k->n_segments }));
    k->masked = k->masked || v->type->rank == 2;
    prt_value *in[2] = { v, k->info };
    const prt_type *type = v->type;
    prt_op *op = prt_build_op_n(b, PRT_OP_gc_unpack, &attrs, 2, in, 1);
    if (op == NULL)
        return NULL;
    b->status = mark(k, op);
    if (b->status == POPRT_OK)
        b->status = prt_packed_record(k, &op->out[0], PRT_LAYOUT_UNPACKED, type);
    return b->status == POPRT_OK ? &op->out[0] : NULL;
}

/* Packs the samples `v` again for all of its readers; with `flat`, as [B * S, ...]. */
static poprt_status repack(prt_packer *k, prt_value *v, bool flat)
{
    prt_build b = prt_build_at_end(k->graph);
    b.before = v->def->next;
    b.origin = v->def->origin;
    prt_gc_repack_attrs attrs = PRT_ATTRS_OF(gc_repack);
    PRT_ATTR_SET(attrs, gc_repack, max_valid_num, k->samples);
    PRT_ATTR_SET(attrs, gc_repack, segment_max_size, ((prt_i64s){ k->segments, k->n_segments }));
    prt_value *in[3] = { v, k->info, k->like };
    prt_op *op = prt_build_op_n(&b, PRT_OP_gc_repack, &attrs, 3, in, 1);
    if (op == NULL)
        return b.status;
    prt_value *y = &op->out[0];
    PRT_TRY(mark(k, op));
    PRT_TRY(prt_packed_record(k, y, PRT_LAYOUT_PACKED, y->type));
    if (flat) {
        int64_t dims[PRT_MAX_RANK] = { k->batch * k->tokens };
        for (int32_t i = 2; i < y->type->rank; i++)
            dims[i - 1] = y->type->dims[i];
        y = reshape(&b, y, (uint32_t)y->type->rank - 1, dims);
        PRT_TRY(prt_build_status(&b));
        PRT_TRY(prt_packed_record(k, y, PRT_LAYOUT_FLAT, y->type));
    }
    prt_build_replace_uses(&b, v, y);
    prt_op_set_input(op, 0, v);
    return prt_build_status(&b);
}

/* ---- operators that process tokens independently */

/* Returns whether operand `i` broadcasts over the first `axes` axes of a result of rank `rank`. */
static bool broadcasts_over(const prt_op *op, uint32_t i, int32_t rank, int32_t axes)
{
    const prt_type *type = prt_match_ranked(prt_op_input(op, i));
    if (prt_op_input(op, i) == NULL)
        return true;
    if (type == NULL || type->rank > rank)
        return false;
    for (int32_t d = 0; d < axes; d++)
        if (d - (rank - type->rank) >= 0 && type->dims[d - (rank - type->rank)] != 1)
            return false;
    return true;
}

static bool is_of_last_axis(const prt_op *op, int32_t rank)
{
    int64_t axis = 0;
    switch (op->def->id) {
    case PRT_OP_layer_normalization:
        axis = ((const prt_layer_normalization_attrs *)op->attrs)->axis;
        break;
    case PRT_OP_rms_normalization:
        axis = ((const prt_rms_normalization_attrs *)op->attrs)->axis;
        break;
    case PRT_OP_softmax:
        axis = ((const prt_softmax_attrs *)op->attrs)->axis;
        break;
    case PRT_OP_gc_softmax_v2:
        axis = ((const prt_gc_softmax_v2_attrs *)op->attrs)->axis;
        break;
    default:
        return op->def->id == PRT_OP_gc_fast_norm;
    }
    return axis == -1 || axis == rank - 1;
}

/* Returns whether the op reduces only axes after the tokens, with keepdims. */
static bool is_reduced_behind(const prt_op *op, int32_t axes)
{
    static const uint32_t ids[] = { PRT_OP_reduce_mean, PRT_OP_reduce_sum, PRT_OP_reduce_max,
        PRT_OP_reduce_min, PRT_OP_reduce_l2, PRT_OP_reduce_sum_square };
    uint32_t set;
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return ((const prt_reduce_sum_attrs *)op->attrs)->keepdims != 0 &&
                prt_match_reduce_axes(op, &set) && set >> axes << axes == set;
    return false;
}

/* Returns whether the op is a Reshape between [B, S, ...] and [B * S, ...]. */
static bool is_flattening(const prt_packer *k, const prt_op *op, prt_packed_layout from,
    prt_packed_layout *to)
{
    const prt_type *x = prt_op_input(op, 0)->type, *y = op->out[0].type;
    if (!prt_op_is(op, PRT_OP_reshape))
        return false;
    *to = from == PRT_LAYOUT_PACKED ? PRT_LAYOUT_FLAT : PRT_LAYOUT_PACKED;
    return from == PRT_LAYOUT_PACKED ? is_flat(k, y) && same_rest(x, 2, y, 1)
                                     : prt_packed_is_tokens(k, y) && same_rest(x, 1, y, 2);
}

/* Returns whether the op is a Split of an axis after the tokens. */
static bool is_split_behind(const prt_op *op, int32_t axes)
{
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    if (!prt_op_is(op, PRT_OP_split) || x == NULL)
        return false;
    const int64_t axis = ((const prt_split_attrs *)op->attrs)->axis;
    return (axis < 0 ? axis + x->rank : axis) >= axes;
}

/* Returns whether the op stays packed: all packed operands have one form, which the result has too
 * (or `*to`). */
static bool stays_packed(const prt_packer *k, const prt_op *op, prt_packed_layout *to)
{
    const prt_type *y = prt_match_ranked(&op->out[0]);
    prt_packed_layout from = PRT_LAYOUT_UNCHANGED;
    const bool splits = prt_op_is(op, PRT_OP_split);
    if (op->def == NULL || op->n_regions != 0 || y == NULL ||
        (!splits && !prt_match_outputs_unused(op, 1)) ||
        (op->id < k->heads.count && k->heads.data[op->id]))
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_packed_layout f = prt_packed_fact_of(k, prt_op_input(op, i)).layout;
        if (f == PRT_LAYOUT_UNPACKED ||
            (f != PRT_LAYOUT_UNCHANGED && from != PRT_LAYOUT_UNCHANGED && f != from))
            return false;
        from = f != PRT_LAYOUT_UNCHANGED ? f : from;
    }
    const int32_t axes = from == PRT_LAYOUT_PACKED ? 2 : 1;
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    const bool first = prt_packed_fact_of(k, prt_op_input(op, 0)).layout != PRT_LAYOUT_UNCHANGED;
    *to = from;
    if (prt_op_is(op, PRT_OP_gather))
        return !first && ((const prt_gather_attrs *)op->attrs)->axis == 0;
    if (first && is_flattening(k, op, from, to))
        return true;
    if (splits)
        return first && is_split_behind(op, axes);
    if (y->rank <= axes) /* ids and masks */
        return prt_op_is(op, PRT_OP_cast) || prt_op_is(op, PRT_OP_identity);
    const bool each = (op->def->traits & PRT_ELEMENTWISE) != 0;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = prt_op_input(op, i);
        if (prt_packed_fact_of(k, v).layout != PRT_LAYOUT_UNCHANGED
                ? !each && i != 0
                : each && !broadcasts_over(op, i, y->rank, axes))
            return false;
        if (prt_packed_fact_of(k, v).layout != PRT_LAYOUT_UNCHANGED && v->type->rank != y->rank)
            return false;
    }
    if (each || prt_op_is(op, PRT_OP_identity))
        return true;
    if (prt_op_is(op, PRT_OP_gemm)) /* rows are tokens, and C broadcasts over them */
        return first && from == PRT_LAYOUT_FLAT &&
            ((const prt_gemm_attrs *)op->attrs)->transA == 0 &&
            broadcasts_over(op, 2, y->rank, axes);
    if (prt_op_is(op, PRT_OP_matmul)) {
        const prt_type *w = prt_match_ranked(prt_op_input(op, 1));
        return first && w != NULL && w->rank <= 2;
    }
    return first && x != NULL && (is_of_last_axis(op, x->rank) || is_reduced_behind(op, axes));
}

/* ---- operators on samples */

/* Adapts a constant shape of Reshape or Expand to the present dims of the input. Sets `merged` or
 * `flat` if the Reshape merges heads, to [B, S, ...] or [B * S, ...]. */
static poprt_status fix_shape(prt_packer *k, prt_build *b, prt_op *op, const prt_type *x,
    bool *merged, bool *flat)
{
    const prt_type *y = op->out[0].type, *now = prt_op_input(op, 0)->type;
    int64_t dims[PRT_MAX_RANK];
    prt_tensor t;
    const bool expand = prt_op_is(op, PRT_OP_expand);
    if ((!expand && !prt_op_is(op, PRT_OP_reshape)) || !prt_match_constant(op, 1, &t))
        return POPRT_OK;
    if (y->rank < 0 || y->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "has no known shape");
    uint32_t rank = (uint32_t)y->rank;
    *merged = !expand && x->rank == 4 && prt_packed_is_tokens(k, x) && y->rank == 3 &&
        prt_packed_is_tokens(k, y);
    *flat = !expand && x->rank == 4 && prt_packed_is_tokens(k, x) && y->rank == 2 && is_flat(k, y);
    if (*flat) { /* first samples, then packed, then flat */
        rank = 3;
        dims[0] = k->samples;
        dims[1] = k->length;
        dims[2] = y->dims[1];
    } else if (expand) {
        for (uint32_t i = 0; i < rank; i++)
            dims[i] = i == 0 && y->dims[i] == k->batch ? k->samples
                : i != 0 && y->dims[i] == k->tokens    ? k->length
                                                       : y->dims[i];
    } else if (!prt_packed_reshape(x, y, now, dims)) {
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "packed_transformer cannot follow the tokens through this Reshape");
    }
    prt_value *shape = prt_build_i64s(b, rank, dims);
    if (shape != NULL)
        prt_op_set_input(op, 1, shape);
    return prt_build_status(b);
}

/* Returns the dim of the unpacked operands that is `behind` axes before their last; 1 if all of
 * them have 1 there. */
static int64_t dim_behind(const prt_packer *k, const prt_op *op, int32_t behind)
{
    int64_t dim = 1;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = prt_op_input(op, i);
        if (prt_packed_fact_of(k, v).layout == PRT_LAYOUT_UNPACKED &&
            prt_match_dim(v, -1 - behind) > 1)
            dim = prt_match_dim(v, -1 - behind);
    }
    return dim;
}

/* Slices the first `count` elements of an axis. */
static prt_value *first_positions(prt_build *b, prt_value *v, int64_t axis, int64_t count)
{
    static const int64_t zero = 0;
    prt_value *in[4] = { v, prt_build_i64s(b, 1, &zero), prt_build_i64s(b, 1, &count),
        prt_build_i64s(b, 1, &axis) };
    return prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}

/* Returns the first row of a constant with equal rows for the B samples, as exporters fold position
 * embeddings. Returns NULL if the rows differ or the Slice cannot be computed. */
static prt_value *first_sample(prt_packer *k, prt_build *b, prt_value *v)
{
    prt_tensor t;
    if (!prt_value_is_fixed(v) || !prt_value_tensor(v, &t) || t.rank < 1 || t.dims[0] != k->batch)
        return NULL;
    const size_t each = prt_tensor_count(&t) / (size_t)k->batch * prt_dtype_bits(t.dtype) / 8;
    for (int64_t i = 1; i < k->batch; i++)
        if (memcmp(t.data, (const char *)t.data + (size_t)i * each, each) != 0)
            return NULL;
    const int64_t zero = 0, one = 1;
    prt_value *in[4] = { v, prt_build_i64s(b, 1, &zero), prt_build_i64s(b, 1, &one),
        prt_build_i64s(b, 1, &zero) };
    return in[3] != NULL ? prt_match_compute(k->p, b, v, PRT_OP_slice, NULL, 4, in) : NULL;
}

/* Element-wise ops: replaces constant operands with equal rows for all samples of the batch by one
 * row. */
static poprt_status cut_samples(prt_packer *k, prt_build *b, prt_op *op)
{
    const prt_type *y = op->n_out == 1 ? op->out[0].type : NULL;
    if (op->def == NULL || (op->def->traits & PRT_ELEMENTWISE) == 0 || !prt_type_is_tensor(y) ||
        k->batch == 1)
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *v = prt_op_input(op, i);
        const prt_type *type = prt_match_ranked(v);
        if (type == NULL || prt_packed_fact_of(k, v).layout != PRT_LAYOUT_UNCHANGED ||
            type->rank != y->rank || type->rank < 2 || type->dims[0] != k->batch)
            continue;
        v = first_sample(k, b, v);
        PRT_TRY(prt_build_status(b));
        if (v != NULL)
            prt_op_set_input(op, i, v);
    }
    return POPRT_OK;
}

/* GatherElements: expands a constant table with equal rows for the B samples to max_valid_num rows.
 * RoBERTa looks up token types in such a table. */
static poprt_status widen_table(prt_packer *k, prt_build *b, prt_op *op)
{
    int64_t dims[PRT_MAX_RANK];
    if (!prt_op_is(op, PRT_OP_gather_elements) ||
        ((const prt_gather_elements_attrs *)op->attrs)->axis == 0 ||
        prt_packed_fact_of(k, prt_op_input(op, 0)).layout != PRT_LAYOUT_UNCHANGED)
        return POPRT_OK;
    prt_value *row = first_sample(k, b, prt_op_input(op, 0));
    if (row == NULL)
        return prt_build_status(b);
    for (int32_t i = 0; i < row->type->rank; i++)
        dims[i] = i == 0 ? k->samples : row->type->dims[i];
    prt_value *table =
        prt_build_binary(b, PRT_OP_expand, row, prt_build_i64s(b, (uint32_t)row->type->rank, dims));
    PRT_TRY(prt_build_status(b));
    prt_op_set_input(op, 0, table);
    return POPRT_OK;
}

/* Element-wise ops: cuts other operands with one element for each of S positions to the length of
 * samples. */
static poprt_status cut_positions(prt_packer *k, prt_build *b, prt_op *op)
{
    if (op->def == NULL || (op->def->traits & PRT_ELEMENTWISE) == 0 || k->length == k->tokens ||
        k->tokens == 1)
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *v = prt_op_input(op, i);
        const prt_type *type = prt_match_ranked(v);
        if (type == NULL || prt_packed_fact_of(k, v).layout != PRT_LAYOUT_UNCHANGED)
            continue;
        for (int32_t axis = 0; axis < type->rank; axis++) {
            if (type->dims[axis] != k->tokens ||
                dim_behind(k, op, type->rank - 1 - axis) != k->length)
                continue;
            if (k->length > k->tokens)
                return prt_fail(POPRT_E_SHAPE, prt_op_label(op),
                    "has %lld positions, but samples may have %lld tokens", (long long)k->tokens,
                    (long long)k->length);
            v = first_positions(b, v, axis, k->length);
            PRT_TRY(prt_build_status(b));
            prt_op_set_input(op, i, v);
        }
    }
    return POPRT_OK;
}

/* Unpacks the operands. Packs the result again if it has merged heads, or if it is the element-wise
 * result of tokens. */
static poprt_status on_samples(prt_packer *k, prt_op *op)
{
    const prt_packed_fact first = prt_packed_fact_of(k, prt_op_input(op, 0));
    prt_build b = prt_build_before(op);
    bool merged = false, flat = false, mixed = false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *v = prt_op_input(op, i);
        const prt_packed_fact f = prt_packed_fact_of(k, v);
        if (f.layout != PRT_LAYOUT_PACKED && f.layout != PRT_LAYOUT_FLAT)
            continue;
        if (f.layout == PRT_LAYOUT_FLAT &&
            !(prt_op_is(op, PRT_OP_reshape) && prt_packed_is_tokens(k, op->out[0].type)))
            return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
                "%.*s reads tokens as rows of a matrix, which packed_transformer does not support",
                PRT_STR_ARG(op->name));
        mixed = mixed || v->type->rank >= 3;
        prt_value *u = prt_packed_unpack(k, &b, v);
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(op, i, u);
    }
    /* type of a flat operand before the pass, with its tokens as two axes */
    const prt_type *x = first.layout == PRT_LAYOUT_FLAT
        ? prt_op_input(prt_op_input(op, 0)->def, 0)->type
        : first.type;
    const prt_type *before = op->n_out != 0 ? op->out[0].type : NULL;
    if (x != NULL)
        PRT_TRY(fix_shape(k, &b, op, x, &merged, &flat));
    PRT_TRY(cut_samples(k, &b, op));
    PRT_TRY(widen_table(k, &b, op));
    PRT_TRY(cut_positions(k, &b, op));
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(prt_packed_record(k, &op->out[i], PRT_LAYOUT_UNPACKED, op->out[i].type));
    PRT_TRY(prt_ir_infer_op(op));
    mixed = mixed && op->def != NULL && (op->def->traits & PRT_ELEMENTWISE) != 0 &&
        prt_packed_is_tokens(k, before) && before->rank >= 3;
    return merged || flat || mixed ? repack(k, &op->out[0], flat) : POPRT_OK;
}

poprt_status prt_packed_visit(prt_packer *k, prt_op *op)
{
    bool any = false;
    prt_packed_layout to = PRT_LAYOUT_UNCHANGED;
    for (uint32_t i = 0; i < op->n_in; i++)
        any = any || prt_packed_fact_of(k, prt_op_input(op, i)).layout != PRT_LAYOUT_UNCHANGED;
    if (!any || prt_op_is(op, PRT_OP_gc_repack) || prt_op_is(op, PRT_OP_gc_unpack) ||
        (op->n_out != 0 && prt_packed_fact_of(k, &op->out[0]).layout != PRT_LAYOUT_UNCHANGED))
        return POPRT_OK;
    if (!stays_packed(k, op, &to))
        return on_samples(k, op);
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(prt_packed_record(k, &op->out[i], to, op->out[i].type));
    return POPRT_OK;
}
