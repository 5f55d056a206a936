/* SPDX-License-Identifier: MIT */
/*
 * downgrade_shape.c — expresses newer operators that move elements by older ones: parts of shapes,
 * triangles, blocks, crops, and operators that are constant if shapes are known.
 */
#include "converter/downgrade.h"
#include "converter/conversions.h"
#include "op/interp.h"

enum { MOST_BYTES = 1 << 26 }; /* largest constant, in bytes, that may replace an operator */

poprt_status prt_down_shape_part(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_shape_attrs *a = op->attrs;
    const uint32_t end = prt_op_attr(op->def, PRT_STR("end"));
    const int64_t axis = 0, from = a->start;
    const int64_t to = prt_attr_given(a, end) ? a->end : INT32_MAX;
    if (from == 0 && to == INT32_MAX)
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    prt_value *in[4] = { prt_build_unary(&b, PRT_OP_shape, prt_op_input(op, 0)),
        prt_build_i64s(&b, 1, &from), prt_build_i64s(&b, 1, &to), prt_build_i64s(&b, 1, &axis) };
    return prt_down_replace(d, &b, prt_build_op(&b, PRT_OP_slice, NULL, 4, in));
}

/* ---- operators that are constant if shapes are known ---- */

/* Zeros of a static type, for an input of which only the shape is used. */
static poprt_status make_zeros(const prt_op *op, const prt_type *type, prt_arena *scratch,
    prt_tensor *to)
{
    size_t size;
    if (!prt_type_size(type, &size) || size > MOST_BYTES)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "its input is too large");
    void *bytes = PRT_NEW_N(scratch, unsigned char, size + 1);
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    memset(bytes, 0, size);
    return prt_tensor_init(to, type->dtype, (uint32_t)type->rank, type->dims, bytes)
        ? POPRT_OK
        : prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "its input is too large");
}

/* Reads integers that inference knows. */
static poprt_status make_known_integers(const prt_op *op, const prt_value *v, prt_arena *scratch,
    prt_tensor *to)
{
    uint32_t count;
    int64_t *values = PRT_NEW_N(scratch, int64_t, v->content->count + 1);
    if (values == NULL)
        return POPRT_E_NOMEM;
    const int64_t dim = v->content->count;
    if (v->type->dtype != PRT_DTYPE_i64 || v->type->rank != 1 ||
        !prt_down_integers(v, v->content->count, values, &count) ||
        !prt_tensor_init(to, PRT_DTYPE_i64, 1, &dim, values))
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "its input is not known");
    return POPRT_OK;
}

static poprt_status evaluate(const prt_op *op, prt_arena *scratch, prt_tensor *out)
{
    const prt_tensor **in = PRT_NEW_N(scratch, const prt_tensor *, op->n_in);
    prt_tensor *x = PRT_NEW_N(scratch, prt_tensor, op->n_in);
    if (in == NULL || x == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = prt_op_input(op, i);
        if (v == NULL)
            continue;
        if (!prt_value_aligned(v, scratch, &x[i]))
            PRT_TRY(v->content != NULL ? make_known_integers(op, v, scratch, &x[i])
                                       : make_zeros(op, v->type, scratch, &x[i]));
        in[i] = &x[i];
    }
    *out = (prt_tensor){ .kind = PRT_VALUE_UNKNOWN, .rank = UINT32_MAX };
    return prt_interp_run(op->def, op->attrs, prt_str_of(prt_op_label(op)), op->n_in, in, 1, out,
        scratch, NULL, NULL);
}

static bool is_known(const prt_op *op)
{
    if (prt_op_is(op, PRT_OP_eye_like))
        return prt_down_static(prt_op_input(op, 0)) != NULL;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (prt_op_input(op, i) != NULL && !prt_value_is_constant(prt_op_input(op, i)) &&
            prt_op_input(op, i)->content == NULL)
            return false;
    return true;
}

poprt_status prt_down_constant(prt_downgrade *d)
{
    prt_op *op = d->op;
    size_t size;
    if (!prt_type_size(op->out[0].type, &size) || size > MOST_BYTES ||
        op->out[0].type->dtype == PRT_DTYPE_string || !is_known(op))
        return prt_down_refuse(d,
            "it must become a constant at that opset, but its input is not known or the result is "
            "too large");
    prt_arena *scratch = NULL;
    prt_tensor out;
    prt_build b = prt_build_before(op);
    prt_value *made = NULL;
    PRT_TRY(prt_arena_create(op->graph->module->allocator, 0, &scratch));
    poprt_status status = evaluate(op, scratch, &out);
    if (status == POPRT_OK) {
        made = prt_build_tensor(&b, out.dtype, out.rank, out.dims, out.data);
        made = prt_build_unary(&b, PRT_OP_identity, made);
    }
    prt_arena_release(scratch);
    return status == POPRT_OK ? prt_down_replace(d, &b, made) : status;
}

/* ---- Expand, Trilu ---- */

/* Prepends dims of 1, then tiles. */
poprt_status prt_down_expand(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_type *x = prt_down_static(prt_op_input(op, 0)), *y = prt_down_static(&op->out[0]);
    int64_t dims[PRT_MAX_RANK], repeats[PRT_MAX_RANK];
    if (x == NULL || y == NULL || x->rank > y->rank)
        return prt_down_refuse(d,
            "it would become a Tile at that opset, so the shapes must be known");
    for (int32_t i = 0, more = y->rank - x->rank; i < y->rank; i++) {
        dims[i] = i < more ? 1 : x->dims[i - more];
        repeats[i] = dims[i] == 1 ? y->dims[i] : 1;
    }
    prt_build b = prt_build_before(op);
    prt_value *v = prt_op_input(op, 0);
    if (x->rank != y->rank)
        v = prt_down_reshape(&b, v, (uint32_t)y->rank, dims);
    return prt_down_replace(d, &b,
        prt_build_binary(&b, PRT_OP_tile, v, prt_build_i64s(&b, (uint32_t)y->rank, repeats)));
}

/* Clears the triangle by comparing the indices of rows and columns. */
poprt_status prt_down_trilu(prt_downgrade *d)
{
    prt_op *op = d->op;
    const bool upper = ((const prt_trilu_attrs *)op->attrs)->upper != 0;
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    prt_value *x = prt_op_input(op, 0), *k = prt_op_input(op, 1), *row, *column;
    if (!prt_down_supports(d, "Where", NULL) || type == NULL || type->rank < 2)
        return prt_down_refuse(d, "Where does not exist at that opset, or its rank is not known");
    prt_build b = prt_build_before(op);
    row = prt_down_indices(&b, x, -2, true);
    column = prt_down_indices(&b, x, -1, false);
    if (k != NULL) {
        const prt_type *is = prt_down_ranked(k);
        if (is == NULL || is->rank != 0)
            k = prt_down_reshape(&b, k, 0, NULL);
        row = prt_build_binary(&b, PRT_OP_add, row, k);
    }
    prt_value *out = prt_build_binary(&b, upper ? PRT_OP_less : PRT_OP_greater, column, row);
    prt_value *in[3] = { out, prt_down_scalar(&b, 0, x), x };
    return prt_down_replace(d, &b, prt_build_op(&b, PRT_OP_where, NULL, 3, in));
}

/* ---- DepthToSpace, SpaceToDepth ---- */

/* Reshapes [n, c, h, w] to `split`, transposes by `perm`, and reshapes to `merged`. */
static poprt_status shuffle(prt_downgrade *d, const int64_t split[6], const int64_t perm[6],
    const int64_t merged[4])
{
    prt_build b = prt_build_before(d->op);
    prt_value *y = prt_down_reshape(&b, prt_op_input(d->op, 0), 6, split);
    y = prt_down_transpose(&b, y, 6, perm);
    return prt_down_replace(d, &b, prt_down_reshape(&b, y, 4, merged));
}

static bool is_block(int64_t size)
{
    return size >= 1 && size <= 1 << 15;
}

poprt_status prt_down_depth_to_space(prt_downgrade *d)
{
    static const int64_t perm[6] = { 0, 1, 4, 2, 5, 3 };
    const prt_depth_to_space_attrs *a = d->op->attrs;
    const prt_type *x = prt_down_static(prt_op_input(d->op, 0));
    const int64_t s = a->blocksize;
    if (!prt_str_is(a->mode, "CRD") || x == NULL || x->rank != 4 || !is_block(s))
        return prt_down_refuse(d,
            "the attribute mode does not exist at that opset; CRD needs a known shape of rank 4");
    const int64_t c = x->dims[1] / (s * s);
    const int64_t split[6] = { x->dims[0], c, s, s, x->dims[2], x->dims[3] };
    const int64_t merged[4] = { x->dims[0], c, -1, x->dims[3] < INT32_MAX ? x->dims[3] * s : -1 };
    return shuffle(d, split, perm, merged);
}

poprt_status prt_down_space_to_depth(prt_downgrade *d)
{
    static const int64_t perm[6] = { 0, 1, 3, 5, 2, 4 };
    const prt_space_to_depth_attrs *a = d->op->attrs;
    const prt_type *x = prt_down_static(prt_op_input(d->op, 0));
    const int64_t s = a->blocksize;
    if (!prt_str_is(a->mode, "CRD") || x == NULL || x->rank != 4 || !is_block(s))
        return prt_down_refuse(d,
            "the attribute mode does not exist at that opset; CRD needs a known shape of rank 4");
    const int64_t h = x->dims[2] / s, w = x->dims[3] / s;
    const int64_t split[6] = { x->dims[0], x->dims[1], h, s, w, s };
    const int64_t merged[4] = { x->dims[0], -1, h, w };
    return shuffle(d, split, perm, merged);
}

/* ---- CenterCropPad ---- */

/* Requires static shapes. Crops axes that are too long and pads axes that are too short, half on
 * each side; an odd element goes to the end. */
poprt_status prt_down_center_crop_pad(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_type *x = prt_down_static(prt_op_input(op, 0)), *y = prt_down_static(&op->out[0]);
    int64_t from[PRT_MAX_RANK], to[PRT_MAX_RANK], pads[2 * PRT_MAX_RANK] = { 0 };
    if (x == NULL || y == NULL || x->rank != y->rank || x->rank == 0)
        return prt_down_refuse(d,
            "it would become Slice and Pad at that opset, so the shapes must be known");
    for (int32_t i = 0; i < x->rank; i++) {
        const int64_t more = y->dims[i] - x->dims[i];
        from[i] = more < 0 ? -more / 2 : 0;
        to[i] = more < 0 ? from[i] + y->dims[i] : x->dims[i];
        pads[i] = more > 0 ? more / 2 : 0;
        pads[x->rank + i] = more > 0 ? more - more / 2 : 0;
    }
    prt_build b = prt_build_before(op);
    const uint32_t rank = (uint32_t)x->rank;
    prt_value *v = prt_build_op(&b, PRT_OP_slice, NULL, 3,
        (prt_value *[]){ prt_op_input(op, 0), prt_build_i64s(&b, rank, from),
            prt_build_i64s(&b, rank, to) });
    return prt_down_replace(d, &b,
        prt_build_binary(&b, PRT_OP_pad, v, prt_build_i64s(&b, 2 * rank, pads)));
}
