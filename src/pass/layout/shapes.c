/* SPDX-License-Identifier: MIT */
/*
 * shapes.c — Transposes between channels first and last that meet Reshapes: channel shuffles,
 * images that become rows of pixels, and Transposes that move only dims of 1 and are therefore
 * Reshapes.
 */
#include "pass/layout/to_nhwc.h"

static bool is_perm(const prt_op *op, uint32_t rank, const int64_t *perm)
{
    const prt_transpose_attrs *a = op->attrs;
    return a->perm.count == rank && memcmp(a->perm.data, perm, rank * sizeof(int64_t)) == 0;
}

/* Returns whether a and b are numbers with this product. */
static bool is_product(int64_t product, int64_t a, int64_t b)
{
    return prt_dim_is_number(a) && prt_dim_is_number(b) && a != 0 && product % a == 0 &&
        product / a == b;
}

/* Matches a channel shuffle: [N, C, H, W] as [N, groups, C / groups, H, W], a swap of the two, and
 * back to rank 4. Does the same on the last axis of [N, H, W, C]. `root` is the last Reshape. N may
 * be unknown: if all other dims are equal on both sides, N is too. */
bool prt_to_nhwc_shuffle(prt_build *b, prt_op *root)
{
    static const int64_t five[5] = { 0, 2, 1, 3, 4 }, last[5] = { 0, 1, 2, 4, 3 };
    const prt_op *transpose = prt_match_interior(root, 0, PRT_OP_transpose);
    const prt_op *first =
        transpose != NULL ? prt_match_interior(transpose, 0, PRT_OP_reshape) : NULL;
    prt_value *x = first != NULL ? prt_to_nhwc_source(prt_op_input(first, 0)) : NULL;
    if (x == NULL || x->type->rank != 4 || !is_perm(transpose, 5, five) ||
        root->out[0].type->rank != 4)
        return false;
    const int64_t *d = x->type->dims, *split = first->out[0].type->dims;
    const int64_t *y = root->out[0].type->dims;
    for (uint32_t i = 1; i < 4; i++)
        if (!prt_dim_is_number(d[i]) || !prt_dim_is_number(y[i]))
            return false;
    if (first->out[0].type->rank != 5 || split[0] != d[0] || split[3] != d[1] || split[4] != d[2] ||
        y[0] != d[0] || y[1] != d[3] || y[2] != d[1] || y[3] != d[2] ||
        !prt_dim_is_number(split[1]) || !prt_dim_is_number(split[2]) ||
        !is_product(d[3], split[1], split[2]))
        return false;
    const int64_t parts[5] = { d[0], d[1], d[2], split[1], split[2] };
    prt_value *v = prt_to_nhwc_reshape(b, x, 5, parts);
    v = v != NULL ? prt_match_add_transpose(b, v, 5, last) : NULL;
    v = v != NULL ? prt_to_nhwc_reshape(b, v, 4, d) : NULL;
    prt_to_nhwc_replace(b, root, 0, v);
    return true;
}

/* ---- NhwcShuffle: Concat of two [N, H, W, C], shuffle, split */

/* Returns whether the op is a Slice of [first, end) along the last axis, with constant inputs. */
static bool is_slice(const prt_op *op, int64_t first, int64_t end)
{
    const int64_t rank = op->out[0].type->rank;
    int64_t v[4] = { 0, 0, 0, 1 };
    if (!prt_op_is(op, PRT_OP_slice))
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        prt_tensor t;
        if (prt_op_input(op, i + 1) == NULL && i == 3)
            continue;
        if (!prt_match_constant(op, i + 1, &t) || prt_tensor_count(&t) != 1)
            return false;
        v[i] = (int64_t)prt_load_f64(t.dtype, t.data, 0);
    }
    return (v[2] == rank - 1 || v[2] == -1) && v[3] == 1 && v[0] == first &&
        (v[1] == end || (v[1] > end && end == 2 * first));
}

/* Finds the two halves of `v`, if its only readers are two Slices or one Split that make them. */
static bool halves_of(const prt_value *v, int64_t channels, prt_value *half[2])
{
    uint32_t n = 0;
    half[0] = half[1] = NULL;
    prt_for_each_use (use, v) {
        prt_op *op = use->user;
        n++;
        if (prt_op_is(op, PRT_OP_split) && op->n_out == 2 && op->out[0].type == op->out[1].type &&
            prt_type_is_tensor(op->out[0].type) && op->out[0].type->rank == v->type->rank &&
            op->out[0].type->dims[v->type->rank - 1] == channels / 2) {
            half[0] = &op->out[0];
            half[1] = &op->out[1];
            n++;
        } else if (is_slice(op, 0, channels / 2)) {
            half[0] = &op->out[0];
        } else if (is_slice(op, channels / 2, channels)) {
            half[1] = &op->out[0];
        }
    }
    return n == 2 && half[0] != NULL && half[1] != NULL;
}

bool prt_to_nhwc_join_shuffle(prt_build *b, prt_op *root)
{
    static const int64_t last[5] = { 0, 1, 2, 4, 3 };
    const prt_op *transpose = prt_match_interior(root, 0, PRT_OP_transpose);
    const prt_op *first =
        transpose != NULL ? prt_match_interior(transpose, 0, PRT_OP_reshape) : NULL;
    const prt_op *merge_transposes =
        first != NULL ? prt_match_interior(first, 0, PRT_OP_concat) : NULL;
    if (merge_transposes == NULL || merge_transposes->n_in != 2 || !is_perm(transpose, 5, last) ||
        first->out[0].type->rank != 5 || root->out[0].type->rank != 4)
        return false;
    prt_value *in[2] = { prt_op_input(merge_transposes, 0), prt_op_input(merge_transposes, 1) };
    const int64_t *d = merge_transposes->out[0].type->dims, *split = first->out[0].type->dims;
    if (in[0]->type != in[1]->type || in[0]->type->dtype != PRT_DTYPE_f32 ||
        !prt_dim_is_number(d[3]) || in[0]->type->dims[3] * 2 != d[3] || split[3] != 2 ||
        split[4] * 2 != d[3] || !prt_dim_is_number(d[1]) || !prt_dim_is_number(d[2]) ||
        memcmp(d, split, 3 * sizeof(int64_t)) != 0 ||
        merge_transposes->out[0].type != root->out[0].type)
        return false;
    prt_value *y = prt_build_op(b, PRT_OP_nhwc_shuffle, NULL, 2, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

/* Matches a shuffle whose result is read only as two halves. */
bool prt_to_nhwc_halves(prt_build *b, prt_op *root)
{
    prt_nhwc_shuffle_attrs attrs = PRT_ATTRS_OF(nhwc_shuffle);
    prt_value *in[2] = { prt_op_input(root, 0), prt_op_input(root, 1) }, *half[2];
    const prt_type *t = root->out[0].type;
    if (((const prt_nhwc_shuffle_attrs *)root->attrs)->halves != 0 || t->rank != 4 ||
        !prt_dim_is_number(t->dims[3]) || !halves_of(&root->out[0], t->dims[3], half))
        return false;
    PRT_ATTR_SET(attrs, nhwc_shuffle, halves, 1);
    prt_op *op = prt_build_op_n(b, PRT_OP_nhwc_shuffle, &attrs, 2, in, 2);
    for (uint32_t i = 0; op != NULL && i < 2; i++)
        (void)prt_pass_replace(b, half[i], &op->out[i]);
    return true;
}

/* Returns whether a Transpose keeps the order of all dims that are not 1, so that it moves
 * nothing. */
static bool moves_nothing(const prt_value *x, const prt_transpose_attrs *a)
{
    int64_t before = -1;
    for (uint32_t i = 0; i < a->perm.count; i++) {
        const int64_t axis = a->perm.data[i];
        if (axis < 0 || axis >= x->type->rank)
            return false;
        if (x->type->dims[axis] == 1)
            continue;
        if (axis < before)
            return false;
        before = axis;
    }
    return a->perm.count != 0;
}

/* Merges two Transposes into one, and replaces one that moves nothing by a Reshape or removes
 * it. */
static bool merge_transposes(prt_build *b, prt_op *root)
{
    const prt_transpose_attrs *a = root->attrs;
    prt_value *x = prt_op_input(root, 0);
    const prt_op *inner = prt_match_producer(root, 0, PRT_OP_transpose);
    const prt_transpose_attrs *i = inner != NULL ? inner->attrs : NULL;
    int64_t perm[PRT_MAX_RANK];
    if (!prt_type_is_tensor(x->type) || x->type->rank < 1 || a->perm.count > PRT_MAX_RANK)
        return false;
    if (i != NULL && i->perm.count == a->perm.count && a->perm.count != 0) {
        bool same = true;
        for (uint32_t k = 0; k < a->perm.count; k++) {
            const int64_t at =
                a->perm.data[k] < 0 ? a->perm.data[k] + a->perm.count : a->perm.data[k];
            perm[k] = i->perm.data[at] < 0 ? i->perm.data[at] + a->perm.count : i->perm.data[at];
            same = same && perm[k] == k;
        }
        prt_value *source = prt_op_input(inner, 0);
        if (same && prt_pass_may_replace(&root->out[0], source))
            return prt_pass_replace(b, &root->out[0], source);
        prt_value *y = prt_match_add_transpose(b, source, a->perm.count, perm);
        if (y != NULL)
            (void)prt_pass_replace(b, &root->out[0], y);
        return true;
    }
    if (!moves_nothing(x, a))
        return false;
    prt_value *y = prt_to_nhwc_reshape(b, x, a->perm.count, root->out[0].type->dims);
    if (y == NULL)
        return false;
    (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

/* Returns whether `pixels` is the number of pixels of one image [N, C, spatial...] of known
 * dims. */
static bool is_one_image(int64_t pixels, const int64_t *image, uint32_t rank)
{
    for (uint32_t i = 2; i < rank; i++) {
        if (!prt_dim_is_number(pixels) || !prt_dim_is_number(image[i]) || image[i] == 0 ||
            pixels % image[i] != 0)
            return false;
        pixels /= image[i];
    }
    return pixels == 1;
}

/* Matches [N, L, C] transposed to [N, C, L], reshaped to an image and transposed to channels last:
 * a Reshape of the rows. */
bool prt_to_nhwc_unflatten(prt_build *b, prt_op *root)
{
    const prt_op *shape = prt_match_producer(root, 0, PRT_OP_reshape);
    prt_value *x = shape != NULL ? prt_to_nhwc_source(prt_op_input(shape, 0)) : NULL;
    if (x == NULL || x->type->rank != 3 || !prt_to_nhwc_is_last(root))
        return false;
    const uint32_t rank = (uint32_t)shape->out[0].type->rank;
    const int64_t *image = shape->out[0].type->dims, *d = x->type->dims;
    if (rank < 4 || d[0] != image[0] || d[2] != image[1] || !prt_dim_is_number(d[2]) ||
        (!prt_dim_is_number(d[0]) && !is_one_image(d[1], image, rank)))
        return false;
    prt_value *y = prt_to_nhwc_reshape(b, x, rank, root->out[0].type->dims);
    return y != NULL && prt_pass_replace(b, &root->out[0], y);
}

/* Matches [N, C, H, W] as [N, C, H W] transposed to [N, H W, C]: a Reshape of the image with
 * channels last. */
bool prt_to_nhwc_flatten(prt_build *b, prt_op *root)
{
    static const int64_t rows[3] = { 0, 2, 1 };
    const prt_op *flat = prt_match_interior(root, 0, PRT_OP_reshape);
    prt_value *x = flat != NULL ? prt_to_nhwc_source(prt_op_input(flat, 0)) : NULL;
    if (x == NULL || x->type->rank != 4 || !is_perm(root, 3, rows) || flat->out[0].type->rank != 3)
        return merge_transposes(b, root);
    const int64_t *d = x->type->dims, *y = flat->out[0].type->dims;
    if (y[0] != d[0] || y[1] != d[3] || !prt_dim_is_number(d[3]) || !prt_dim_is_number(y[2]) ||
        (!prt_dim_is_number(d[0]) && !is_product(y[2], d[1], d[2])))
        return merge_transposes(b, root);
    const int64_t dims[3] = { d[0], y[2], d[3] };
    prt_value *v = prt_to_nhwc_reshape(b, x, 3, dims);
    if (v == NULL)
        return merge_transposes(b, root);
    (void)prt_pass_replace(b, &root->out[0], v);
    return true;
}
