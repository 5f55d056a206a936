/* SPDX-License-Identifier: MIT */
/*
 * qkv.c — fused_attention: the three branches that make Q, K and V of one value,
 *
 *     MatMul(x, W) [→ Reshape] → Add(bias) → Reshape to [B, S, heads, size] → Transpose
 *
 * become one: weights and biases side by side on the last dim, one MatMul, one Add, one Reshape to
 * [B, S, 3 heads, size], one Transpose to [B, 3 heads, S, size], one Split. K's turn of the last
 * two axes for QK' stays behind it. Bitwise equal, for what each column sums up stays.
 *
 * Expects exactly three such branches of one shape, each step read by the next one alone, weights
 * that are matrices nobody else reads, biases with a number for each column. Transposes are
 * [0,2,1,3] or [0,2,3,1].
 */
#include "pass/match.h"

enum { PARTS = 3, RANK = 4 };

typedef struct branch {
    prt_op *matmul, *add, *reshape, *transpose;
    uint32_t bias_slot;
    int64_t shape[RANK]; /* that the last Reshape asks for */
    bool turned;         /* [0,2,3,1] */
} branch;

/* What branches must have in common. */
typedef struct key {
    const prt_value *x;
    int64_t depth, columns, heads, size;
    int64_t dtype;
} key;

static prt_op *next_of(const prt_op *op, uint32_t id)
{
    return prt_match_reader(&op->out[0], id);
}

static bool read_bias(branch *t, const prt_value *y, int64_t columns)
{
    prt_tensor bias;
    t->bias_slot = prt_op_input(t->add, 0) == y ? 1 : 0;
    return prt_match_constant(t->add, t->bias_slot, &bias) && bias.rank == 1 &&
        bias.dims[0] == columns;
}

/* The shape [B, S, heads, size]: a number for each that can be known. */
static bool read_shape(branch *t)
{
    const prt_type *y = t->reshape->out[0].type;
    const bool between = prt_op_input(t->add, 1 - t->bias_slot)->def != t->matmul;
    uint32_t n;
    if (!prt_match_i64s(t->reshape, 1, RANK, t->shape, &n) || n != RANK || t->shape[2] <= 0 ||
        t->shape[3] <= 0 || ((const prt_reshape_attrs *)t->reshape->attrs)->allowzero != 0)
        return false;
    for (uint32_t i = 0; i < RANK; i++)
        if (prt_type_is_tensor(y) && y->rank == RANK && prt_dim_is_number(y->dims[i]))
            t->shape[i] = y->dims[i];
    return !between || (t->shape[0] != 0 && t->shape[1] != 0);
}

static bool read_turn(branch *t)
{
    static const int64_t plain[RANK] = { 0, 2, 1, 3 }, turned[RANK] = { 0, 2, 3, 1 };
    const prt_i64s perm = ((const prt_transpose_attrs *)t->transpose->attrs)->perm;
    t->turned = perm.count == RANK && memcmp(perm.data, turned, sizeof(turned)) == 0;
    return t->turned || (perm.count == RANK && memcmp(perm.data, plain, sizeof(plain)) == 0);
}

static bool read_branch(prt_op *op, branch *t, key *k)
{
    prt_tensor w;
    *t = (branch){ .matmul = op };
    if (!prt_op_is(op, PRT_OP_matmul) || !prt_match_own_constant(op, 1, &w) || w.rank != 2)
        return false;
    const prt_op *reshape = next_of(op, PRT_OP_reshape), *last = reshape != NULL ? reshape : op;
    const prt_type *x = prt_op_input(op, 0)->type;
    if (reshape != NULL && prt_op_input(reshape, 0) != &op->out[0])
        return false;
    if (reshape == NULL && (!prt_type_is_tensor(x) || x->rank != 3))
        return false;
    if ((t->add = next_of(last, PRT_OP_add)) == NULL || !read_bias(t, &last->out[0], w.dims[1]) ||
        (t->reshape = next_of(t->add, PRT_OP_reshape)) == NULL ||
        prt_op_input(t->reshape, 0) != &t->add->out[0] ||
        (t->transpose = next_of(t->reshape, PRT_OP_transpose)) == NULL || !read_shape(t) ||
        !read_turn(t) || t->shape[2] > INT32_MAX / PARTS || t->shape[3] > INT32_MAX ||
        t->shape[2] * t->shape[3] != w.dims[1] ||
        (reshape != NULL &&
            (!prt_type_is_tensor(reshape->out[0].type) || reshape->out[0].type->rank != 3 ||
                reshape->out[0].type->dims[2] != w.dims[1])))
        return false;
    *k = (key){ prt_op_input(op, 0), w.dims[0], w.dims[1], t->shape[2], t->shape[3], w.dtype };
    return true;
}

static prt_value *join(prt_pass *p, prt_build *b, const branch *parts, bool bias)
{
    prt_value *in[PARTS];
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_GIVE(attrs, concat, axis, -1);
    for (uint32_t i = 0; i < PARTS; i++)
        in[i] = bias ? prt_op_input(parts[i].add, parts[i].bias_slot)
                     : prt_op_input(parts[i].matmul, 1);
    return prt_match_compute(p, b, in[0], PRT_OP_concat, &attrs, PARTS, in);
}

static prt_value *turn(prt_build *b, const branch *like, prt_value *x, const int64_t *perm)
{
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    const prt_i64s axes = { perm, RANK };
    PRT_ATTR_GIVE(attrs, transpose, perm, axes);
    prt_op *op = prt_match_new(b, like->transpose, PRT_OP_transpose, &attrs, 1, &x, 1);
    return op != NULL ? &op->out[0] : NULL;
}

/* The wide branch up to its Split; NULL: a failure is in `b`, or the constants are refused. */
static prt_op *widen(prt_pass *p, prt_build *b, const branch *parts)
{
    static const int64_t perm[RANK] = { 0, 2, 1, 3 };
    const branch *t = &parts[0];
    const int64_t heads[PARTS] = { t->shape[2], t->shape[2], t->shape[2] };
    const int64_t shape[RANK] = { t->shape[0], t->shape[1], PARTS * t->shape[2], t->shape[3] };
    prt_value *w = join(p, b, parts, false), *bias = join(p, b, parts, true);
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_GIVE(attrs, split, axis, 1);
    if (w == NULL || bias == NULL)
        return NULL;
    prt_value *product[2] = { prt_op_input(t->matmul, 0), w };
    prt_op *op = prt_match_new(b, t->matmul, PRT_OP_matmul, NULL, 2, product, 1);
    prt_value *sum[2] = { op != NULL ? &op->out[0] : NULL, bias };
    op = op != NULL ? prt_match_new(b, t->add, PRT_OP_add, NULL, 2, sum, 1) : NULL;
    prt_value *whole[2] = { op != NULL ? &op->out[0] : NULL, prt_build_i64s(b, RANK, shape) };
    op = op != NULL ? prt_match_new(b, t->reshape, PRT_OP_reshape, NULL, 2, whole, 1) : NULL;
    prt_value *y = op != NULL ? turn(b, t, &op->out[0], perm) : NULL;
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
    prt_op *split = widen(p, &b, parts);
    if (split == NULL)
        return prt_build_status(&b);
    for (uint32_t i = 0; i < PARTS; i++)
        to[i] = parts[i].turned ? turn(&b, &parts[i], &split->out[i], last_two) : &split->out[i];
    for (uint32_t i = 0; i < PARTS && b.status == POPRT_OK; i++)
        (void)prt_pass_replace(&b, &parts[i].transpose->out[0], to[i]);
    *changed = true;
    return prt_build_status(&b);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_match_groups groups = { 0 };
    prt_for_each_op(op, graph) {
        branch t;
        key k;
        PRT_TRY(prt_pass_check(p));
        if (read_branch(op, &t, &k))
            PRT_TRY(prt_match_gather(p->arena, &groups, &k, sizeof(k), op));
    }
    for (size_t i = 0; i < groups.list.count; i++)
        if (groups.list.data[i]->ops.count == PARTS)
            PRT_TRY(merge(p, groups.list.data[i], changed));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_fused_attention = { .run = run };
