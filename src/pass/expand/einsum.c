/* SPDX-License-Identifier: MIT */
/*
 * einsum.c — Einsum of one or two operands becomes operators that have kernels. Labels that only
 * one operand has and the result lacks are summed first (ReduceSum). Then, for two operands:
 *
 *     no summed labels ("i,j->ij")                             Mul
 *     all other labels in both operands ("bij,bij->b")         Mul, ReduceSum
 *     otherwise ("bhid,bhjd->bhij", "bij,jkl->bikl")           MatMul
 *
 * with Transposes, and Reshapes where several labels form one dim of the product. No label may
 * occur twice in a term.
 */
#include "op/share/equation.h"
#include "pass/expand/expand.h"

typedef prt_equation_term term;

static void append(term *t, uint8_t label)
{
    t->label[t->count++] = label;
}

static term together(const term *a, const term *b, const term *c)
{
    term t = *a;
    for (uint32_t i = 0; i < b->count; i++)
        append(&t, b->label[i]);
    for (uint32_t i = 0; c != NULL && i < c->count; i++)
        append(&t, c->label[i]);
    return t;
}

/* An operand or intermediate: its value, the labels of its dims, and the size of each label. */
typedef struct side {
    prt_value *value;
    term labels;
    int64_t size[PRT_EQUATION_LABELS];
} side;

/* Classification of the labels: in the result and in both operands, the left one only or the right
 * one only (in the result's order), or summed (in the left operand's order). */
typedef struct parts {
    term both, left_only, other, summed;
    bool rows; /* left_only stays as leading dims of the left operand; the right one is a matrix */
} parts;

static parts divide(const term *a, const term *b, const term *y)
{
    parts p = { .both = { .count = 0 } };
    for (uint32_t i = 0; i < y->count; i++) {
        const uint8_t label = y->label[i];
        const bool left = prt_equation_has(a, label), right = prt_equation_has(b, label);
        append(left && right ? &p.both : left ? &p.left_only : &p.other, label);
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (!prt_equation_has(y, a->label[i]))
            append(&p.summed, a->label[i]);
    return p;
}

static bool reads(const prt_op *root, const prt_equation *e, uint32_t i, side *to)
{
    const prt_type *type = prt_match_ranked(prt_op_input(root, i));
    *to = (side){ .value = prt_op_input(root, i), .labels = e->in[i] };
    for (uint32_t k = 0; type != NULL && k < e->in[i].count; k++) {
        const uint8_t label = e->in[i].label[k];
        if (type->dims[k] == 0 || (to->size[label] != 0)) /* an empty tensor, or a diagonal */
            return false;
        to->size[label] = type->dims[k];
    }
    return type != NULL;
}

static bool parse(const prt_op *root, prt_equation *e, side in[2])
{
    uint32_t ranks[2];
    const int64_t *dims[2];
    if (root->n_in > 2 ||
        prt_equation_parse(((const prt_einsum_attrs *)root->attrs)->equation, root->n_in, e) !=
            NULL)
        return false;
    for (uint32_t i = 0; i < root->n_in; i++) {
        const prt_type *type = prt_match_ranked(prt_op_input(root, i));
        if (type == NULL || !prt_match_is_f32(prt_op_input(root, i)))
            return false;
        ranks[i] = (uint32_t)type->rank;
        dims[i] = type->dims;
    }
    if (prt_equation_resolve(e, ranks, dims) != NULL)
        return false;
    for (uint32_t i = 0; i < root->n_in; i++)
        if (!reads(root, e, i, &in[i]))
            return false;
    return true;
}

/* Sums over axes without keepdims. */
static prt_value *sum_axes(prt_build *b, prt_value *x, uint32_t n, const int64_t *axes)
{
    const prt_reduce_sum_attrs attrs = { .keepdims = 0 };
    prt_value *in[2] = { x, prt_build_i64s(b, n, axes) };
    return n == 0 ? x : prt_build_op(b, PRT_OP_reduce_sum, &attrs, 2, in);
}

/* Returns the labels of an operand that the result or the other operand also has. */
static term common(const term *own, const term *other, const term *y)
{
    term t = { .count = 0 };
    for (uint32_t i = 0; i < own->count; i++)
        if (prt_equation_has(other, own->label[i]) || prt_equation_has(y, own->label[i]))
            append(&t, own->label[i]);
    return t;
}

/* Sums over all labels except `kept`, which must be in the operand's order. */
static void sum_others(prt_build *b, side *s, const term *kept)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->labels.count; i++)
        if (!prt_equation_has(kept, s->labels.label[i]))
            axes[n++] = i;
    s->value = sum_axes(b, s->value, n, axes);
    s->labels = *kept;
}

static void transpose_to(prt_build *b, side *s, const term *to)
{
    int64_t perm[PRT_MAX_RANK];
    for (uint32_t i = 0; i < to->count; i++)
        for (uint32_t k = 0; k < to->count; k++)
            if (s->labels.label[k] == to->label[i])
                perm[i] = k;
    if (memcmp(s->labels.label, to->label, to->count) != 0)
        s->value = prt_match_add_transpose(b, s->value, to->count, perm);
    s->labels = *to;
}

/* Product of the sizes of a group of labels; PRT_DIM_UNKNOWN if one is not a number. */
static int64_t merged(const side *s, const term *group)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < group->count; i++) {
        const int64_t size = s->size[group->label[i]];
        if (!prt_dim_is_number(size) || size > INT32_MAX || n > INT32_MAX)
            return PRT_DIM_UNKNOWN;
        n *= size;
    }
    return n;
}

/* Reshapes to the first `kept` dims unchanged, then `dims`, one of which may be unknown. */
static void reshape(prt_build *b, side *s, uint32_t kept, uint32_t n, const int64_t *dims)
{
    int64_t to[PRT_MAX_RANK] = { 0 };
    for (uint32_t i = 0; i < n; i++)
        to[kept + i] = prt_dim_is_number(dims[i]) ? dims[i] : -1;
    s->value = prt_match_add_reshape(b, s->value, kept + n, to);
}

/* Merges each of the two groups after the first `kept` labels into one dim. */
static void merge(prt_build *b, side *s, uint32_t kept, const term *first, const term *second)
{
    const int64_t dims[2] = { merged(s, first), merged(s, second) };
    if (first->count != 1 || second->count != 1)
        reshape(b, s, kept, 2, dims);
}

/* Splits the dim after the first `kept` into one dim for each label; either operand gives its
 * size. */
static void split(prt_build *b, side *s, uint32_t kept, const side *a, const side *c)
{
    int64_t dims[PRT_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t i = kept; i < s->labels.count; i++) {
        const uint8_t label = s->labels.label[i];
        dims[n++] = a->size[label] != 0 ? a->size[label] : c->size[label];
    }
    reshape(b, s, kept, n, dims);
}

/* Returns whether the product is element-wise rather than a MatMul. */
static bool is_elementwise(const parts *p)
{
    return p->summed.count == 0 || (p->left_only.count == 0 && p->other.count == 0);
}

static uint32_t count_unknown(const side *s, const term *group)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->count; i++)
        n += !prt_dim_is_number(s->size[group->label[i]]);
    return n;
}

/* Rows save a Reshape, or are needed since a Reshape restores only one unknown dim. */
static bool has_rows(const side *a, const parts *p)
{
    return p->both.count == 0 && p->left_only.count != 0 &&
        (p->summed.count == 1 || count_unknown(a, &p->left_only) > 1);
}

/* Takes the sizes of labels of one operand that only the other one knows. */
static void share_sizes(side *a, side *c)
{
    for (uint32_t i = 0; i < PRT_EQUATION_LABELS; i++) {
        if (a->size[i] == 0 || c->size[i] == 0)
            continue;
        if (prt_dim_is_number(c->size[i]))
            a->size[i] = c->size[i];
        c->size[i] = a->size[i];
    }
}

/* Returns whether the rewrite is possible: summed dims are equal in both operands, known numbers
 * unless labels are `equal` anyway, and each Reshape has at most one unknown dim. */
static bool fits(const side *a, const side *c, const parts *p, bool equal)
{
    for (uint32_t i = 0; i < p->summed.count; i++) {
        const int64_t size = a->size[p->summed.label[i]];
        if (!(equal && p->summed.count == 1) &&
            (!prt_dim_is_number(size) || size != c->size[p->summed.label[i]]))
            return false;
    }
    if (is_elementwise(p))
        return p->both.count + p->left_only.count + p->other.count + p->summed.count <=
            PRT_MAX_RANK;
    const bool one_sum = p->summed.count == 1, one_right = p->other.count == 1;
    const bool one_left = p->rows || p->left_only.count == 1;
    const bool sum = merged(a, &p->summed) != PRT_DIM_UNKNOWN;
    const bool left = merged(a, &p->left_only) != PRT_DIM_UNKNOWN;
    const bool right = merged(c, &p->other) != PRT_DIM_UNKNOWN;
    const uint32_t unknown =
        (p->rows ? 0 : count_unknown(a, &p->left_only)) + count_unknown(c, &p->other);
    return p->both.count + 2 <= PRT_MAX_RANK && (one_sum || sum) &&
        ((one_left && one_sum) || p->rows || left || sum) &&
        ((one_right && one_sum) || right || sum) && ((one_left && one_right) || unknown <= 1);
}

static void unsqueeze(prt_build *b, side *s, uint32_t at, uint32_t n)
{
    int64_t axes[PRT_MAX_RANK];
    for (uint32_t i = 0; i < n; i++)
        axes[i] = at + i;
    if (n != 0)
        s->value = prt_build_binary(b, PRT_OP_unsqueeze, s->value, prt_build_i64s(b, n, axes));
}

/* Multiplies elements, then sums over the last dims if there are summed labels. */
static side multiply(prt_build *b, side *a, side *c, const parts *p)
{
    const term left = together(&p->both, &p->left_only, &p->summed);
    const term right = together(&p->both, &p->other, &p->summed);
    side y = { .labels = together(&p->both, &p->left_only, &p->other) };
    int64_t axes[PRT_MAX_RANK];
    transpose_to(b, a, &left);
    transpose_to(b, c, &right);
    unsqueeze(b, a, p->both.count + p->left_only.count, p->other.count);
    unsqueeze(b, c, p->both.count, p->left_only.count);
    for (uint32_t i = 0; i < p->summed.count; i++)
        axes[i] = y.labels.count + i;
    y.value =
        sum_axes(b, prt_build_binary(b, PRT_OP_mul, a->value, c->value), p->summed.count, axes);
    return y;
}

static side product(prt_build *b, side *a, side *c, const parts *p)
{
    const uint32_t kept = p->both.count;
    const term left = together(&p->both, &p->left_only, &p->summed);
    const term right = together(&p->both, &p->summed, &p->other);
    side y = { .labels = together(&p->both, &p->left_only, &p->other) };
    transpose_to(b, a, &left);
    transpose_to(b, c, &right);
    const int64_t summed = merged(a, &p->summed);
    if (!p->rows)
        merge(b, a, kept, &p->left_only, &p->summed);
    else if (p->summed.count != 1)
        reshape(b, a, p->left_only.count, 1, &summed);
    merge(b, c, kept, &p->summed, &p->other);
    y.value = prt_build_binary(b, PRT_OP_matmul, a->value, c->value);
    if (p->other.count != 1 || (p->left_only.count != 1 && !p->rows))
        split(b, &y, p->rows ? p->left_only.count : kept, a, c);
    return y;
}

static bool apply_one(prt_build *b, prt_op *root, side *x, const term *y)
{
    const term kept = common(&x->labels, y, y);
    sum_others(b, x, &kept);
    transpose_to(b, x, y);
    return prt_match_replace(b, root, x->value);
}

static bool expand(prt_build *b, prt_op *root, bool equal)
{
    prt_equation e;
    side in[2] = { { .value = NULL } };
    prt_tensor constant;
    if (!parse(root, &e, in))
        return false;
    if (root->n_in == 1)
        return apply_one(b, root, &in[0], &e.out);
    const term labels[2] = { common(&e.in[0], &e.in[1], &e.out),
        common(&e.in[1], &e.in[0], &e.out) };
    parts to = divide(&labels[0], &labels[1], &e.out);
    /* Constants go to the right; otherwise the operand with the last label of the result goes
     * there. */
    const bool swapped = prt_match_constant(root, 0, &constant) ||
        (!prt_match_constant(root, 1, &constant) && e.out.count != 0 &&
            prt_equation_has(&to.left_only, e.out.label[e.out.count - 1]));
    side *a = &in[swapped], *c = &in[!swapped];
    if (swapped)
        to = divide(&labels[1], &labels[0], &e.out);
    if (equal)
        share_sizes(a, c);
    to.rows = has_rows(a, &to);
    if (!fits(a, c, &to, equal))
        return false;
    sum_others(b, a, &labels[swapped]);
    sum_others(b, c, &labels[!swapped]);
    side y = is_elementwise(&to) ? multiply(b, a, c, &to) : product(b, a, c, &to);
    transpose_to(b, &y, &e.out);
    return prt_match_replace(b, root, y.value);
}

bool prt_expand_einsum(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return expand(b, root, false);
}

bool prt_expand_equal_einsum(prt_build *b, prt_op *root)
{
    return expand(b, root, true);
}
