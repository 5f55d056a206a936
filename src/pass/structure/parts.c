/* SPDX-License-Identifier: MIT */
/*
 * parts.c — serialize_products and available_memory_proportion: compute products and convolutions
 * in parts, one after the other, so that less memory is live at a time.
 *
 * available_memory_proportion marks every MatMul, Gemm and Conv without such a mark with
 * __available_memory_proportion.
 *
 * serialize_products runs before compiling and obeys the marks of products and convolutions,
 * quantised ones included:
 *
 *     __serialize_matmul_factor F, __serialize_matmul_mode
 *         F parts, or the next larger number that divides the rows; none for mode "none". The rows
 *         are cut in every other mode, since cutting columns or partial sums saves no memory.
 *     __available_memory_proportion P
 *         as few parts as reduce the bytes of Y to P times those of the largest product or
 *         convolution of the graph, with LEAST_ROWS rows or one image or more in each part
 *
 * A product is cut by rows, a convolution by images; a batch of one image stays whole. Operators
 * after it that treat each row or image independently become part of the chain, up to its smallest
 * value: X [M, K] → MatMul → Gelu → MatMul → [M, N] in F parts keeps only M / F rows of the values
 * in between. A Concat joins the parts. Each row is computed as before, but kernels select tiles by
 * the number of rows, so sums may be rounded differently.
 */
#include "ir/extra.h"
#include "pass/engine/match.h"

/* MOST_CHAIN: ops in a chain. MOST_PARTS: parts of a chain. LEAST_ROWS: rows in a part. MOST_OPS:
 * new nodes in a graph, beyond which products stay whole so that compiling ends for any file. */
enum { MOST_CHAIN = 64, MOST_PARTS = 1024, LEAST_ROWS = 16, MOST_OPS = 1 << 16 };

static const char proportion_key[] = "__available_memory_proportion";

/* A product or convolution and the operators that follow it. */
typedef struct chain {
    prt_op *ops[MOST_CHAIN];
    uint32_t slots[MOST_CHAIN]; /* of each op: the input slot of the chain's value */
    uint32_t count;
    int32_t rank, axis;   /* rank of every value in the chain; the axis that is cut */
    int64_t rows, factor; /* dim of that axis; number of parts */
} chain;

/* Operators that compute each row (axis rank - 2) or each image (axis 0) of Y from the same row or
 * image of input 0. */
typedef enum axis_kind { ROWS, IMAGES } axis_kind;

typedef struct separable {
    prt_op_id op;
    axis_kind kind;
    bool begins; /* may start a chain */
    /* bit mask: further inputs with these rows or images, or that broadcast over them */
    uint32_t also;
    uint32_t one; /* bit mask: inputs that must have one element */
} separable;

static const separable separables[] = {
    { PRT_OP_matmul, ROWS, true, 0, 0 },
    { PRT_OP_gemm, ROWS, true, 1 << 2, 0 },
    { PRT_OP_matmul_integer, ROWS, true, 0, 1 << 2 },
    { PRT_OP_qlinear_matmul, ROWS, true, 0, 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 },
    { PRT_OP_fused_linear, ROWS, true, 1 << 3, 0 },
    { PRT_OP_quantized_linear, ROWS, true, 1 << 6, 1 << 1 },
    { PRT_OP_conv, IMAGES, true, 0, 0 },
    { PRT_OP_conv_integer, IMAGES, true, 0, 0 },
    { PRT_OP_qlinear_conv, IMAGES, true, 0, 0 },
    { PRT_OP_fused_conv, IMAGES, true, 1 << 3, 0 },
    { PRT_OP_nhwc_conv, IMAGES, true, 1 << 3 | 1 << 4, 0 },
    { PRT_OP_nhwc_qconv, IMAGES, true, 0, 0 },
    { PRT_OP_nhwc_quantized_conv, IMAGES, true, 1 << 5, 0 },
    { PRT_OP_nhwc_separable, IMAGES, true, 1 << 7, 0 },
    { PRT_OP_nhwc_spread, IMAGES, false, 0, 0 },
    { PRT_OP_nhwc_group_norm, IMAGES, false, 0, 0 },
    { PRT_OP_nhwc_max_pool, IMAGES, false, 0, 0 },
    { PRT_OP_nhwc_average_pool, IMAGES, false, 0, 0 },
    { PRT_OP_max_pool, IMAGES, false, 0, 0 },
    { PRT_OP_average_pool, IMAGES, false, 0, 0 },
    { PRT_OP_lp_pool, IMAGES, false, 0, 0 },
    { PRT_OP_global_max_pool, IMAGES, false, 0, 0 },
    { PRT_OP_global_average_pool, IMAGES, false, 0, 0 },
    { PRT_OP_batch_normalization, IMAGES, false, 0, 0 },
    { PRT_OP_instance_normalization, IMAGES, false, 0, 0 },
    { PRT_OP_group_normalization, IMAGES, false, 0, 0 },
    { PRT_OP_lrn, IMAGES, false, 0, 0 },
};

static int64_t bytes_of(const prt_value *v)
{
    const prt_type *type = prt_match_static(v);
    uint64_t count = type != NULL ? prt_dtype_bits(type->dtype) / 8 : 0;
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        if (!prt_size_mul(count, (size_t)type->dims[i], &count))
            return -1;
    return count > 0 && count <= INT64_MAX ? (int64_t)count : -1;
}

static const separable *separable_of(const prt_op *op)
{
    for (size_t i = 0; i < PRT_COUNT_OF(separables); i++)
        if (prt_op_is(op, separables[i].op))
            return &separables[i];
    return NULL;
}

/* Returns the table row of an operator that may start a chain; else NULL. */
static const separable *root_of(const prt_op *op)
{
    const separable *s = separable_of(op);
    const bool transposed =
        prt_op_is(op, PRT_OP_gemm) && ((const prt_gemm_attrs *)op->attrs)->transA;
    return s != NULL && s->begins && !transposed ? s : NULL;
}

/* ---- operators in a chain */

/* Returns how an operand is used by the parts: 1: cut like the chain's value, 0: read whole by all
 * parts, -1: its dims do not fit. */
static int cut_of(const chain *c, const prt_value *v)
{
    const prt_type *type = prt_match_static(v);
    if (v == NULL)
        return 0;
    if (type == NULL || type->rank > c->rank)
        return -1;
    const int32_t axis = type->rank - c->rank + c->axis;
    if (axis < 0 || type->dims[axis] == 1)
        return 0;
    return type->dims[axis] == c->rows ? 1 : -1;
}

static bool has_one_element(const prt_value *v)
{
    const prt_type *type = v != NULL ? prt_match_static(v) : NULL;
    int64_t count = 1;
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        count = count == 1 ? type->dims[i] : count;
    return v == NULL || (type != NULL && count == 1);
}

/* Returns whether the inputs after the first fit the chain. Packed weights are one constant for all
 * parts. */
static bool operands_fit(const chain *c, const separable *s, const prt_op *op)
{
    for (uint32_t i = 1; i < op->n_in; i++) {
        const bool also = (s->also >> i & 1) != 0, one = (s->one >> i & 1) != 0;
        if ((also && cut_of(c, prt_op_input(op, i)) < 0) ||
            (one && !has_one_element(prt_op_input(op, i))))
            return false;
    }
    return true;
}

/* Returns whether an operator along one axis leaves the cut axis alone. */
static bool axis_is_inner(const chain *c, const prt_op *op)
{
    int64_t axis;
    if (prt_op_is(op, PRT_OP_softmax))
        axis = ((const prt_softmax_attrs *)op->attrs)->axis;
    else if (prt_op_is(op, PRT_OP_layer_normalization))
        axis = ((const prt_layer_normalization_attrs *)op->attrs)->axis;
    else if (prt_op_is(op, PRT_OP_rms_normalization))
        axis = ((const prt_rms_normalization_attrs *)op->attrs)->axis;
    else
        return false;
    for (uint32_t i = 1; i < op->n_in; i++)
        if (cut_of(c, prt_op_input(op, i)) != 0)
            return false;
    return (axis < 0 ? axis + c->rank : axis) > c->axis;
}

/* Returns whether the op is a Transpose that keeps the batch axis first. */
static bool keeps_images(const chain *c, const prt_op *op)
{
    const prt_transpose_attrs *a = op->attrs;
    return prt_op_is(op, PRT_OP_transpose) && c->axis == 0 && a->perm.count != 0 &&
        a->perm.data[0] == 0;
}

/* Returns whether the operator keeps the cut rows or images apart. A product must have a single
 * matrix B. */
static bool same_axis(const chain *c, const separable *s, const prt_op *op)
{
    if (prt_op_is(op, PRT_OP_batch_normalization) &&
        ((const prt_batch_normalization_attrs *)op->attrs)->training_mode != 0)
        return false;
    if (s->kind == IMAGES)
        return c->axis == 0 && c->rank > 2;
    const uint32_t b = prt_op_is(op, PRT_OP_qlinear_matmul) ? 3 : 1;
    const bool plain = prt_op_is(op, PRT_OP_matmul) || prt_op_is(op, PRT_OP_matmul_integer) ||
        prt_op_is(op, PRT_OP_qlinear_matmul);
    const prt_type *type = plain ? prt_match_static(prt_op_input(op, b)) : NULL;
    return c->axis <= c->rank - 2 && (!plain || (type != NULL && type->rank == 2));
}

/* Returns whether each row or image of the result depends only on the same one of input `slot`. */
static bool fits_chain(const chain *c, const prt_op *op, uint32_t slot)
{
    const prt_type *y = op->n_out != 0 ? prt_match_static(&op->out[0]) : NULL;
    if (op->def == NULL || op->n_regions != 0 || y == NULL || !prt_match_outputs_unused(op, 1) ||
        y->rank != c->rank || y->dims[c->axis] != c->rows)
        return false;
    if ((op->def->traits & PRT_ELEMENTWISE) != 0) {
        for (uint32_t i = 0; i < op->n_in; i++)
            if (i != slot && cut_of(c, prt_op_input(op, i)) < 0)
                return false;
        return true;
    }
    const separable *s = separable_of(op);
    if (slot != 0)
        return false;
    if (s == NULL)
        return axis_is_inner(c, op) || keeps_images(c, op);
    return (!s->begins || root_of(op) != NULL) && same_axis(c, s, op) && operands_fit(c, s, op);
}

/* Returns whether input `slot`, which is not the chain's value, is cut as well. */
static bool is_cut(const chain *c, const prt_op *op, uint32_t slot)
{
    const separable *s = separable_of(op);
    const bool may =
        (op->def->traits & PRT_ELEMENTWISE) != 0 || (s != NULL && (s->also >> slot & 1) != 0);
    return may && cut_of(c, prt_op_input(op, slot)) == 1;
}

/* Follows values with a single reader from `root`. The chain ends after the smallest value, or
 * after element-wise operators of the same size. */
static bool find_chain(chain *c, prt_op *root)
{
    uint32_t end = 0;
    int64_t least = bytes_of(&root->out[0]);
    c->ops[0] = root;
    c->slots[0] = 0;
    c->count = 1;
    while (c->count < MOST_CHAIN) {
        const prt_value *v = &c->ops[c->count - 1]->out[0];
        const prt_use *use = v->uses;
        uint32_t slot = 0;
        if (use == NULL || use->next != NULL || use->user->graph != v->graph ||
            use->user == v->graph->ret)
            break;
        while (use->user->in[slot].value != v)
            slot++;
        if (!fits_chain(c, use->user, slot))
            break;
        c->ops[c->count] = use->user;
        c->slots[c->count++] = slot;
    }
    for (uint32_t i = 1; i < c->count; i++) {
        const int64_t bytes = bytes_of(&c->ops[i]->out[0]);
        const bool each = (c->ops[i]->def->traits & PRT_ELEMENTWISE) != 0;
        if (bytes > 0 && (bytes < least || (bytes == least && each && end == i - 1))) {
            least = bytes;
            end = i;
        }
    }
    c->count = end + 1;
    return least > 0;
}

/* ---- building the parts */

static prt_value *cut(prt_pass *p, prt_build *b, const chain *c, prt_value *v, int64_t part)
{
    const int64_t step = c->rows / c->factor, first = part * step, last = first + step;
    const int64_t axis = c->axis - c->rank;
    prt_value *in[4] = { v, prt_build_i64s(b, 1, &first), prt_build_i64s(b, 1, &last),
        prt_build_i64s(b, 1, &axis) };
    if (in[3] == NULL)
        return NULL;
    prt_value *made =
        prt_value_is_fixed(v) ? prt_match_compute(p, b, v, PRT_OP_slice, NULL, 4, in) : NULL;
    return made != NULL ? made : prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}

/* Resets the marks, so that the parts are not cut again. */
static poprt_status reset_marks(prt_op *op)
{
    int64_t factor;
    float share;
    if (prt_op_mark_i64(op, "__serialize_matmul_factor", &factor))
        PRT_TRY(prt_op_set_mark_i64(op, "__serialize_matmul_factor", 1));
    return prt_op_mark_f32(op, proportion_key, &share) ? prt_op_set_mark_f32(op, proportion_key, 1)
                                                       : POPRT_OK;
}

static prt_value *part_of(prt_pass *p, prt_build *b, const chain *c, int64_t part)
{
    prt_value *v = NULL;
    for (uint32_t i = 0; i < c->count && b->status == POPRT_OK; i++) {
        const prt_op *like = c->ops[i];
        prt_value **in = PRT_NEW_N(p->arena, prt_value *, like->n_in);
        if (in == NULL) {
            b->status = POPRT_E_NOMEM;
            return NULL;
        }
        for (uint32_t k = 0; k < like->n_in; k++) {
            in[k] = prt_op_input(like, k);
            if (i != 0 && k == c->slots[i])
                in[k] = v;
            else if ((i == 0 && k == 0) || is_cut(c, like, k))
                in[k] = cut(p, b, c, in[k], part);
        }
        if (b->status != POPRT_OK)
            return NULL;
        prt_op *op = prt_match_new(b, like, like->def->id, like->attrs, like->n_in, in, 1);
        if (op == NULL)
            return NULL;
        if (b->status == POPRT_OK)
            b->status = reset_marks(op);
        v = &op->out[0];
    }
    return b->status == POPRT_OK ? v : NULL;
}

static poprt_status write_parts(prt_pass *p, const chain *c)
{
    prt_op *end = c->ops[c->count - 1];
    prt_build b = prt_build_before(end);
    prt_value **parts = PRT_NEW_N(p->arena, prt_value *, (size_t)c->factor);
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, c->axis - c->rank);
    if (parts == NULL)
        return POPRT_E_NOMEM;
    for (int64_t i = 0; i < c->factor; i++) {
        PRT_TRY(prt_pass_check(p));
        parts[i] = part_of(p, &b, c, i);
        PRT_TRY(prt_build_status(&b));
    }
    prt_value *whole = prt_build_op(&b, PRT_OP_concat, &attrs, (uint32_t)c->factor, parts);
    if (whole != NULL)
        (void)prt_pass_replace(&b, &end->out[0], whole);
    return prt_build_status(&b);
}

/* ---- number of parts */

/* Returns the fewest parts that reduce `bytes` to `share` of `largest`. */
static int64_t parts_for(const chain *c, int64_t bytes, int64_t largest, double share)
{
    int64_t most = 1;
    const int64_t least = c->axis == 0 && c->rank > 2 ? 1 : LEAST_ROWS;
    for (int64_t n = 1; n <= MOST_PARTS && c->rows / n >= least; n++) {
        if (c->rows % n != 0)
            continue;
        most = n;
        if ((double)bytes / (double)n <= share * (double)largest)
            break;
    }
    return most;
}

/* Sets the cut axis of the root and its dim. Returns false if the root stays whole. */
static bool find_axis(chain *c, const prt_op *op)
{
    const separable *s = root_of(op);
    const prt_type *y = prt_match_static(&op->out[0]), *x = prt_match_static(prt_op_input(op, 0));
    if (s == NULL || y == NULL || x == NULL || y->rank < 2 || x->rank != y->rank)
        return false;
    c->rank = y->rank;
    c->axis = s->kind == IMAGES ? 0 : y->rank - 2;
    c->rows = y->dims[c->axis];
    return x->dims[c->axis] == c->rows && prt_match_outputs_unused(op, 1) && operands_fit(c, s, op);
}

/* Sets `factor` to the number of parts that the marks of the root request; 1: not cut. */
static void read_marks(chain *c, const prt_op *op, int64_t largest)
{
    prt_str mode = PRT_STR("");
    int64_t factor = 1;
    float share = 1;
    *c = (chain){ .factor = 1 };
    if (!find_axis(c, op))
        return;
    (void)prt_op_mark_text(op, "__serialize_matmul_mode", &mode);
    if (prt_op_mark_i64(op, "__serialize_matmul_factor", &factor) && factor > 1) {
        if (prt_str_is(mode, "none") || factor > MOST_PARTS || factor > c->rows)
            return;
        while (c->rows % factor != 0)
            factor++;
        c->factor = factor <= MOST_PARTS ? factor : 1;
    } else if (prt_op_mark_f32(op, proportion_key, &share) && share > 0 && share < 1) {
        c->factor = parts_for(c, bytes_of(&op->out[0]), largest, (double)share);
    }
}

static poprt_status run_products(prt_pass *p, prt_graph *graph, bool *changed)
{
    PRT_VEC(prt_op *) products = { 0 };
    int64_t largest = 0, made = 0;
    prt_for_each_op (op, graph) {
        const bool begins = root_of(op) != NULL;
        const int64_t bytes = begins ? bytes_of(&op->out[0]) : 0;
        largest = bytes > largest ? bytes : largest;
        if (begins && !PRT_VEC_PUSH(p->arena, &products, op))
            return POPRT_E_NOMEM;
    }
    for (size_t i = 0; i < products.count; i++) {
        chain c;
        prt_op *op = products.data[i];
        PRT_TRY(prt_pass_check(p));
        if (op->dead)
            continue;
        read_marks(&c, op, largest);
        if (c.factor < 2 || !find_chain(&c, op))
            continue;
        made += c.factor * (int64_t)c.count;
        if (made > MOST_OPS) {
            prt_pass_warn(p, prt_op_label(op),
                "is not cut into parts: the graph would get more than %d nodes in parts", MOST_OPS);
            return POPRT_OK;
        }
        PRT_TRY(write_parts(p, &c));
        *changed = true;
    }
    return POPRT_OK;
}

/* ---- available_memory_proportion */

static poprt_status run_proportion(prt_pass *p, prt_graph *graph, bool *changed)
{
    const double share = prt_pass_f64(p, "proportion");
    float old;
    if (!(share > 0 && share <= 1))
        return prt_fail(POPRT_E_ARG, "available_memory_proportion",
            "available_memory_proportion is %g; a number above 0 to 1 is accepted", share);
    prt_for_each_op (op, graph)
        if ((prt_op_is(op, PRT_OP_matmul) || prt_op_is(op, PRT_OP_gemm) ||
                prt_op_is(op, PRT_OP_conv)) &&
            !prt_op_mark_f32(op, proportion_key, &old)) {
            PRT_TRY(prt_op_set_mark_f32(op, proportion_key, (float)share));
            *changed = true;
        }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_serialize_products = { .run = run_products };
const prt_pass_hooks prt_pass_available_memory_proportion = { .run = run_proportion };
