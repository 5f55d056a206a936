/* SPDX-License-Identifier: MIT */
/*
 * einsum.c — Einsum of two operands becomes MatMul between Transposes, where letters say that it is
 * one: one letter is summed over; either both operands have the others of the result and one each
 * of their own ("bhid,bhjd->bhij"), or one operand is a matrix that the other's rows are multiplied
 * with ("bij,jk->bik"). No ellipsis, no letter twice in a term, the result written out.
 */
#include "pass/expand/expand.h"

typedef struct term {
    char letters[PRT_MAX_RANK];
    uint32_t count;
} term;

static bool has(const term *t, char letter)
{
    return memchr(t->letters, letter, t->count) != NULL;
}

static bool take_letter(term *t, char letter)
{
    if (has(t, letter) || t->count == PRT_MAX_RANK)
        return false;
    t->letters[t->count++] = letter;
    return true;
}

/* "ab,bc->ac" */
static bool parse(prt_str text, term terms[3])
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (c == ' ')
            continue;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            if (!take_letter(&terms[n], c))
                return false;
        } else if (c == ',' && n == 0) {
            n = 1;
        } else if (c == '-' && n == 1 && i + 1 < text.size && text.data[i + 1] == '>') {
            n = 2;
            i++;
        } else {
            return false;
        }
    }
    return n == 2;
}

/* What becomes of the letters: left is [both, left only, summed], right [both, summed, right only],
 * and the product [both, left only, right only]. */
typedef struct plan {
    term left, right, product;
} plan;

static bool make_plan(const term *a, const term *b, const term *y, plan *to)
{
    term both = { .count = 0 }, mine = both, other = both, summed = both;
    for (uint32_t i = 0; i < y->count; i++) {
        const char c = y->letters[i];
        if (!has(a, c) && !has(b, c))
            return false;
        (void)take_letter(has(a, c) && has(b, c) ? &both : has(a, c) ? &mine : &other, c);
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (!has(y, a->letters[i]) && (!has(b, a->letters[i]) || !take_letter(&summed,
                a->letters[i])))
            return false;
    for (uint32_t i = 0; i < b->count; i++)
        if (!has(y, b->letters[i]) && !has(a, b->letters[i]))
            return false;
    if (summed.count != 1 || other.count != 1 || mine.count == 0 ||
        (both.count != 0 && mine.count != 1))
        return false;
    *to = (plan){ both, both, both };
    for (uint32_t i = 0; i < mine.count; i++)
        if (!take_letter(&to->left, mine.letters[i]) ||
            !take_letter(&to->product, mine.letters[i]))
            return false;
    return take_letter(&to->left, summed.letters[0]) &&
        take_letter(&to->right, summed.letters[0]) && take_letter(&to->right, other.letters[0]) &&
        take_letter(&to->product, other.letters[0]);
}

/* x, whose dims these letters stand for, with them in another order. */
static prt_value *turn(prt_build *b, prt_value *x, const term *from, const term *to)
{
    int64_t perm[PRT_MAX_RANK];
    if (memcmp(from->letters, to->letters, to->count) == 0)
        return x;
    for (uint32_t i = 0; i < to->count; i++)
        perm[i] = (const char *)memchr(from->letters, to->letters[i], from->count) -
            from->letters;
    return prt_match_transposed(b, x, to->count, perm);
}

/* Operands have a dim for each letter, and as many rows of the summed one: none is repeated. */
static bool fits(const prt_op *root, const term terms[2], char summed)
{
    int64_t rows[2];
    for (uint32_t i = 0; i < 2; i++) {
        const prt_type *x = prt_match_ranked(prt_op_input(root, i));
        if (x == NULL || x->rank != (int32_t)terms[i].count)
            return false;
        rows[i] = x->dims[(const char *)memchr(terms[i].letters, summed, terms[i].count) -
            terms[i].letters];
    }
    return rows[0] == rows[1] && rows[0] != PRT_DIM_UNKNOWN;
}

bool prt_expand_einsum(prt_pass *p, prt_build *b, prt_op *root)
{
    term terms[3] = { { .count = 0 } };
    plan to;
    (void)p;
    if (root->n_in != 2 || !prt_match_is_f32(prt_op_input(root, 0)) ||
        !parse(((const prt_einsum_attrs *)root->attrs)->equation, terms))
        return false;
    const bool swapped = !make_plan(&terms[0], &terms[1], &terms[2], &to);
    if ((swapped && !make_plan(&terms[1], &terms[0], &terms[2], &to)) ||
        !fits(root, terms, to.left.letters[to.left.count - 1]))
        return false;
    prt_value *in[2] = {
        turn(b, prt_op_input(root, swapped), &terms[swapped], &to.left),
        turn(b, prt_op_input(root, !swapped), &terms[!swapped], &to.right) };
    prt_value *y = prt_build_op(b, PRT_OP_matmul, NULL, 2, in);
    return prt_match_become(b, root, turn(b, y, &to.product, &terms[2]));
}
