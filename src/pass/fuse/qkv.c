/* SPDX-License-Identifier: MIT */
/*
 * qkv.c — fused_attention: merges the three branches that compute Q, K and V from one value,
 *
 *     MatMul(x, W) [→ Reshape] [→ Add(bias)] → Reshape to [B, S, heads, size] → Transpose
 *     Gemm(x, W, bias) → Reshape to [B, S, heads, size] → Transpose
 *
 * into one: concatenated weights and biases, one MatMul, one Add, one Reshape to [B, S, 3 heads,
 * size], one Transpose to [B, 3 heads, S, size], one Split. The swap of K's last two axes for QK'
 * follows the Split. Results are bitwise equal, since each column is still the same sum. There are
 * two exceptions: Gemm may add its bias first, and a branch without bias gets zeros if another
 * branch has a bias, which turns -0 into +0.
 *
 * Requires exactly three such branches of one shape, one reader for each step, weights that are
 * matrices without other readers, and biases with one number for each column. Transposes are
 * [0,2,1,3] or [0,2,3,1].
 */
#include "pass/engine/match.h"

enum { PARTS = 3, RANK = 4 };

typedef struct branch {
    prt_op *matmul, *add, *reshape, *transpose; /* add: NULL for Gemm or without bias */
    prt_value *bias;                            /* NULL: no bias */
    int64_t shape[RANK];                        /* target shape of the last Reshape */
    bool swapped;                               /* [0,2,3,1] */
} branch;

/* Properties that merged branches must share. */
typedef struct key {
    const prt_value *x;
    int64_t depth, columns, heads, size;
    int64_t dtype;
} key;

static prt_op *next_of(const prt_op *op, uint32_t id)
{
    return prt_match_reader(&op->out[0], id);
}

static bool is_bias(const prt_op *op, uint32_t slot, int64_t columns)
{
    prt_tensor bias;
    return prt_match_constant(op, slot, &bias) && bias.rank == 1 && bias.dims[0] == columns;
}

/* Reads the shape [B, S, heads, size], with numbers for all known dims. `wide`: the input of the
 * Reshape has the dims [B, S, columns]; otherwise zeros, which copy dims, are refused for B and
 * S. */
static bool read_shape(branch *t, bool wide)
{
    const prt_type *y = t->reshape->out[0].type;
    uint32_t n;
    if (!prt_match_i64s(t->reshape, 1, RANK, t->shape, &n) || n != RANK)
        return false;
    for (uint32_t i = 0; i < RANK; i++) {
        if (t->shape[i] == 0 && ((const prt_reshape_attrs *)t->reshape->attrs)->allowzero != 0)
            return false;
        if (prt_type_is_tensor(y) && y->rank == RANK && prt_dim_is_number(y->dims[i]))
            t->shape[i] = y->dims[i];
    }
    return t->shape[2] > 0 && t->shape[3] > 0 && (wide || (t->shape[0] != 0 && t->shape[1] != 0));
}

static bool read_perm(branch *t)
{
    static const int64_t plain[RANK] = { 0, 2, 1, 3 }, swapped[RANK] = { 0, 2, 3, 1 };
    const prt_i64s perm = ((const prt_transpose_attrs *)t->transpose->attrs)->perm;
    t->swapped = perm.count == RANK && memcmp(perm.data, swapped, sizeof(swapped)) == 0;
    return t->swapped || (perm.count == RANK && memcmp(perm.data, plain, sizeof(plain)) == 0);
}

/* Matches MatMul, or a Gemm that computes only a product and a bias for each column. */
static bool is_product(const prt_op *op, branch *t)
{
    const prt_gemm_attrs *a = op->attrs;
    prt_tensor w;
    *t = (branch){ .matmul = (prt_op *)(uintptr_t)op };
    if ((!prt_op_is(op, PRT_OP_matmul) && !prt_op_is(op, PRT_OP_gemm)) ||
        !prt_match_own_constant(op, 1, &w) || w.rank != 2)
        return false;
    if (prt_op_is(op, PRT_OP_matmul))
        return true;
    t->bias = prt_op_input(op, 2);
    return a->alpha == 1.0f && a->beta == 1.0f && a->transA == 0 && a->transB == 0 &&
        (t->bias == NULL || is_bias(op, 2, w.dims[1]));
}

/* Finds the bias behind a MatMul and the Reshape to heads. `*between`: the Reshape before the bias,
 * or NULL. */
static bool find_heads(branch *t, int64_t columns, prt_op **between)
{
    prt_op *first = next_of(t->matmul, PRT_OP_reshape);
    prt_op *sum = first != NULL ? next_of(first, PRT_OP_add) : next_of(t->matmul, PRT_OP_add);
    *between = sum != NULL ? first : NULL;
    t->reshape = first;
    if (sum != NULL) {
        const prt_value *y = first != NULL ? &first->out[0] : &t->matmul->out[0];
        const uint32_t slot = prt_op_input(sum, 0) == y ? 1 : 0;
        if (prt_op_is(t->matmul, PRT_OP_gemm) || !is_bias(sum, slot, columns))
            return false;
        t->add = sum;
        t->bias = prt_op_input(sum, slot);
        t->reshape = next_of(sum, PRT_OP_reshape);
    }
    const prt_value *y = sum != NULL ? &sum->out[0] : &t->matmul->out[0];
    return t->reshape != NULL && prt_op_input(t->reshape, 0) == y &&
        (*between == NULL || prt_op_input(*between, 0) == &t->matmul->out[0]);
}

static bool read_branch(prt_op *op, branch *t, key *k)
{
    prt_tensor w;
    prt_op *between;
    if (!is_product(op, t) || !prt_match_constant(op, 1, &w) || !find_heads(t, w.dims[1], &between))
        return false;
    const prt_type *x = prt_op_input(op, 0)->type;
    const bool wide = prt_op_is(op, PRT_OP_matmul) && between == NULL;
    if (wide && (!prt_type_is_tensor(x) || x->rank != 3))
        return false;
    if ((t->transpose = next_of(t->reshape, PRT_OP_transpose)) == NULL || !read_shape(t, wide) ||
        !read_perm(t) || t->shape[2] > INT32_MAX / PARTS || t->shape[3] > INT32_MAX ||
        t->shape[2] * t->shape[3] != w.dims[1] ||
        (between != NULL &&
            (!prt_type_is_tensor(between->out[0].type) || between->out[0].type->rank != 3 ||
                between->out[0].type->dims[2] != w.dims[1])))
        return false;
    *k = (key){ prt_op_input(op, 0), w.dims[0], w.dims[1], t->shape[2], t->shape[3], w.dtype };
    return true;
}

static prt_value *join(prt_pass *p, prt_build *b, prt_value **in)
{
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, -1);
    return prt_match_compute(p, b, in[0], PRT_OP_concat, &attrs, PARTS, in);
}

/* Concatenates the biases; a branch without bias gets zeros. `*any` is false if no branch has a
 * bias. */
static prt_value *join_biases(prt_pass *p, prt_build *b, const branch *parts, bool *any)
{
    prt_value *in[PARTS], *like = NULL;
    for (uint32_t i = 0; i < PARTS; i++) {
        in[i] = parts[i].bias;
        like = like == NULL ? in[i] : like;
    }
    *any = like != NULL;
    prt_value *same[2] = { like, like };
    for (uint32_t i = 0; *any && i < PARTS; i++)
        if (in[i] == NULL &&
            (in[i] = prt_match_compute(p, b, like, PRT_OP_sub, NULL, 2, same)) == NULL)
            return NULL;
    return *any ? join(p, b, in) : NULL;
}

static prt_value *transpose(prt_build *b, const branch *like, prt_value *x, const int64_t *perm)
{
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    const prt_i64s axes = { perm, RANK };
    PRT_ATTR_SET(attrs, transpose, perm, axes);
    prt_op *op = prt_match_new(b, like->transpose, PRT_OP_transpose, &attrs, 1, &x, 1);
    return op != NULL ? &op->out[0] : NULL;
}

/* Builds the merged branch up to its Split. NULL: a failure is in `b`, or the constants are
 * refused. */
static prt_op *build_merged(prt_pass *p, prt_build *b, const branch *parts)
{
    static const int64_t perm[RANK] = { 0, 2, 1, 3 };
    const branch *t = &parts[0];
    const int64_t heads[PARTS] = { t->shape[2], t->shape[2], t->shape[2] };
    const int64_t shape[RANK] = { t->shape[0], t->shape[1], PARTS * t->shape[2], t->shape[3] };
    prt_value *weights[PARTS];
    bool any;
    for (uint32_t i = 0; i < PARTS; i++)
        weights[i] = prt_op_input(parts[i].matmul, 1);
    prt_value *w = join(p, b, weights), *bias = join_biases(p, b, parts, &any);
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(attrs, split, axis, 1);
    if (w == NULL || (any && bias == NULL))
        return NULL;
    prt_value *product[2] = { prt_op_input(t->matmul, 0), w };
    prt_op *op = prt_match_new(b, t->matmul, PRT_OP_matmul, NULL, 2, product, 1);
    prt_value *sum[2] = { op != NULL ? &op->out[0] : NULL, bias };
    if (op != NULL && any)
        op = prt_match_new(b, t->add != NULL ? t->add : t->matmul, PRT_OP_add, NULL, 2, sum, 1);
    prt_value *whole[2] = { op != NULL ? &op->out[0] : NULL, prt_build_i64s(b, RANK, shape) };
    op = op != NULL ? prt_match_new(b, t->reshape, PRT_OP_reshape, NULL, 2, whole, 1) : NULL;
    prt_value *y = op != NULL ? transpose(b, t, &op->out[0], perm) : NULL;
    prt_value *cut[2] = { y, prt_build_i64s(b, PARTS, heads) };
    return y != NULL ? prt_build_op_n(b, PRT_OP_split, &attrs, 2, cut, PARTS) : NULL;
}

static poprt_status merge(prt_pass *p, const prt_match_group *group, bool *changed)
{
    static const int64_t last_two[RANK] = { 0, 1, 3, 2 };
    branch parts[PARTS];
    prt_value *to[PARTS] = { NULL };
    key k;
    for (uint32_t i = 0; i < PARTS; i++)
        if (!read_branch(group->ops.data[i], &parts[i], &k) ||
            parts[i].shape[0] != parts[0].shape[0] || parts[i].shape[1] != parts[0].shape[1])
            return POPRT_OK;
    prt_build b = prt_build_before(parts[0].matmul);
    prt_op *split = build_merged(p, &b, parts);
    if (split == NULL)
        return prt_build_status(&b);
    for (uint32_t i = 0; i < PARTS; i++)
        to[i] =
            parts[i].swapped ? transpose(&b, &parts[i], &split->out[i], last_two) : &split->out[i];
    for (uint32_t i = 0; i < PARTS && b.status == POPRT_OK; i++)
        (void)prt_pass_replace(&b, &parts[i].transpose->out[0], to[i]);
    *changed = true;
    return prt_build_status(&b);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_match_groups groups = { 0 };
    prt_for_each_op (op, graph) {
        branch t;
        key k;
        PRT_TRY(prt_pass_check(p));
        if (read_branch(op, &t, &k))
            PRT_TRY(prt_match_group_add(p->arena, &groups, &k, sizeof(k), op));
    }
    for (size_t i = 0; i < groups.list.count; i++)
        if (groups.list.data[i]->ops.count == PARTS)
            PRT_TRY(merge(p, groups.list.data[i], changed));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_fused_attention = { .run = run };
