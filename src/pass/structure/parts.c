/* SPDX-License-Identifier: MIT */
/*
 * parts.c — serialize_products and available_memory_proportion: products in parts, one after
 * another, so that less memory is live at a time.
 *
 * available_memory_proportion marks every MatMul that has no such mark with
 * __available_memory_proportion.
 *
 * serialize_products, for compiling, acts on the marks of MatMul and Gemm:
 *
 *     __serialize_matmul_factor F, __serialize_matmul_mode
 *         F parts, or the next number of parts that divides the rows; none for mode "none". Rows
 *         are cut whatever the mode is: parts of columns or partial sums would not make less memory
 *         live.
 *     __available_memory_proportion P
 *         as few parts as bring the bytes of Y to P times those of the largest product of the
 *         graph, of LEAST_ROWS rows or more
 *
 * Operators behind a product that treat each row alone go into the parts, up to where the result is
 * smallest: X [M, K] → MatMul → Gelu → MatMul → [M, N] in F parts keeps M / F rows of the value
 * between. A Concat joins the parts. Rows are computed as before; kernels choose their tiles by the
 * number of rows, so that sums may be rounded otherwise.
 */
#include "ir/extra.h"
#include "pass/match.h"

/* MOST_OPS: new nodes of a graph, beyond which products stay whole: compiling must end for any
 * file. */
enum { MOST_CHAIN = 64, MOST_PARTS = 1024, LEAST_ROWS = 16, MOST_OPS = 1 << 16 };

static const char proportion_key[] = "__available_memory_proportion";

/* A product and what follows it. */
typedef struct chain {
    prt_op *ops[MOST_CHAIN];
    uint32_t slots[MOST_CHAIN]; /* that the value before has */
    uint32_t count;
    int32_t rank;
    int64_t rows, factor;
} chain;

static int64_t bytes_of(const prt_value *v)
{
    const prt_type *type = prt_match_static(v);
    uint64_t count = type != NULL ? prt_dtype_bits(type->dtype) / 8 : 0;
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        if (!prt_size_mul(count, (size_t)type->dims[i], &count))
            return -1;
    return count > 0 && count <= INT64_MAX ? (int64_t)count : -1;
}

/* A product of rows of input 0. Packed weights are one constant for all parts. */
static bool is_product(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_matmul) || prt_op_is(op, PRT_OP_fused_linear) ||
        (prt_op_is(op, PRT_OP_gemm) && ((const prt_gemm_attrs *)op->attrs)->transA == 0);
}

/* ---- what goes into parts */

/* Operand `v` of an element-wise operator: 0: has no rows of its own, 1: is cut too, -1: does not
 * fit. */
static int beside(const chain *c, const prt_value *v)
{
    const prt_type *type = prt_match_static(v);
    if (v == NULL)
        return 0;
    if (type == NULL || type->rank > c->rank)
        return -1;
    if (type->rank < 2 || type->dims[type->rank - 2] == 1)
        return 0;
    return type->dims[type->rank - 2] == c->rows ? 1 : -1;
}

static bool is_of_last_axis(const prt_op *op, int32_t rank)
{
    int64_t axis = 0;
    if (prt_op_is(op, PRT_OP_softmax))
        axis = ((const prt_softmax_attrs *)op->attrs)->axis;
    else if (prt_op_is(op, PRT_OP_layer_normalization))
        axis = ((const prt_layer_normalization_attrs *)op->attrs)->axis;
    else if (prt_op_is(op, PRT_OP_rms_normalization))
        axis = ((const prt_rms_normalization_attrs *)op->attrs)->axis;
    return axis == -1 || (axis != 0 && axis == rank - 1);
}

/* The operand of a product that has a row for each of the result's: C of Gemm, or the residual; 0:
 * there is none. */
static uint32_t added_slot(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_gemm) ? 2 : prt_op_is(op, PRT_OP_fused_linear) ? 3 : 0;
}

static bool adds_rows(const chain *c, const prt_op *op)
{
    const uint32_t slot = added_slot(op);
    return slot == 0 || beside(c, prt_op_input(op, slot)) >= 0;
}

/* Is each row of the op's result made of one row of input `slot` alone? */
static bool goes_along(const chain *c, const prt_op *op, uint32_t slot)
{
    const prt_type *y = op->n_out != 0 ? prt_match_static(&op->out[0]) : NULL;
    if (op->def == NULL || op->n_regions != 0 || y == NULL || !prt_match_only(op, 1) ||
        y->rank != c->rank || y->dims[y->rank - 2] != c->rows)
        return false;
    if ((op->def->traits & PRT_ELEMENTWISE) != 0) {
        for (uint32_t i = 0; i < op->n_in; i++)
            if (i != slot && beside(c, prt_op_input(op, i)) < 0)
                return false;
        return true;
    }
    if (slot != 0)
        return false;
    if (prt_op_is(op, PRT_OP_gemm) || prt_op_is(op, PRT_OP_fused_linear))
        return is_product(op) && adds_rows(c, op);
    if (prt_op_is(op, PRT_OP_matmul))
        return prt_match_static(prt_op_input(op, 1)) != NULL &&
            prt_op_input(op, 1)->type->rank == 2;
    return is_of_last_axis(op, c->rank);
}

/* The product, what follows it, and where that ends: behind the smallest value, with element-wise
 * operators of its size. */
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
        if (!goes_along(c, use->user, slot))
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

/* ---- parts */

static prt_value *cut(prt_pass *p, prt_build *b, const chain *c, prt_value *v, int64_t part)
{
    const int64_t step = c->rows / c->factor, first = part * step, last = first + step, axis = -2;
    prt_value *in[4] = { v, prt_build_i64s(b, 1, &first), prt_build_i64s(b, 1, &last),
        prt_build_i64s(b, 1, &axis) };
    if (in[3] == NULL)
        return NULL;
    prt_value *made =
        prt_value_is_fixed(v) ? prt_match_compute(p, b, v, PRT_OP_slice, NULL, 4, in) : NULL;
    return made != NULL ? made : prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}

/* Marks that say what has been done. */
static poprt_status settle(prt_op *op)
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
            const bool follows = i != 0 && k == c->slots[i];
            const bool each =
                (like->def->traits & PRT_ELEMENTWISE) != 0 || (k != 0 && k == added_slot(like));
            if (follows)
                in[k] = v;
            else if (i == 0 && k < 2 ? k == 0 : each && beside(c, in[k]) == 1)
                in[k] = cut(p, b, c, in[k], part);
        }
        if (b->status != POPRT_OK)
            return NULL;
        prt_op *op = prt_match_new(b, like, like->def->id, like->attrs, like->n_in, in, 1);
        if (op == NULL)
            return NULL;
        if (b->status == POPRT_OK)
            b->status = settle(op);
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
    PRT_ATTR_GIVE(attrs, concat, axis, -2);
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

/* ---- how many */

/* As few parts as keep `bytes` at `share` of `largest`. */
static int64_t parts_for(const chain *c, int64_t bytes, int64_t largest, double share)
{
    int64_t most = 1;
    for (int64_t n = 1; n <= MOST_PARTS && c->rows / n >= LEAST_ROWS; n++) {
        if (c->rows % n != 0)
            continue;
        most = n;
        if ((double)bytes / (double)n <= share * (double)largest)
            break;
    }
    return most;
}

/* The parts that the marks of a product ask for; 1 in `factor`: none. */
static void read_marks(chain *c, const prt_op *op, int64_t largest)
{
    const prt_type *y = prt_match_static(&op->out[0]), *x = prt_match_static(prt_op_input(op, 0));
    prt_str mode = PRT_STR("");
    int64_t factor = 1;
    float share = 1;
    *c = (chain){ .factor = 1 };
    if (y == NULL || x == NULL || y->rank < 2 || x->rank != y->rank ||
        x->dims[x->rank - 2] != y->dims[y->rank - 2])
        return;
    c->rank = y->rank;
    c->rows = y->dims[y->rank - 2];
    if (!adds_rows(c, op))
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
        const int64_t bytes = is_product(op) ? bytes_of(&op->out[0]) : 0;
        largest = bytes > largest ? bytes : largest;
        if (is_product(op) && !PRT_VEC_PUSH(p->arena, &products, op))
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
            prt_pass_warn(p, prt_op_label(op), "stays whole: the graph has many parts already");
            return POPRT_OK;
        }
        PRT_TRY(write_parts(p, &c));
        *changed = true;
    }
    return POPRT_OK;
}

/* ---- the mark */

static poprt_status run_proportion(prt_pass *p, prt_graph *graph, bool *changed)
{
    const double share = prt_pass_f64(p, "proportion");
    float old;
    if (!(share > 0 && share <= 1))
        return prt_fail(POPRT_E_ARG, "available_memory_proportion",
            "available_memory_proportion is %g; a number above 0 to 1 is accepted", share);
    prt_for_each_op (op, graph)
        if (prt_op_is(op, PRT_OP_matmul) && !prt_op_mark_f32(op, proportion_key, &old)) {
            PRT_TRY(prt_op_set_mark_f32(op, proportion_key, (float)share));
            *changed = true;
        }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_serialize_products = { .run = run_products };
const prt_pass_hooks prt_pass_available_memory_proportion = { .run = run_proportion };
