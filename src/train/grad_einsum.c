/* SPDX-License-Identifier: MIT */
/*
 * grad_einsum.c — the gradient of an operand of Einsum is an Einsum of the gradient and the other
 * operands. Labels that only this operand has are broadcast; labels that it repeats select its
 * diagonal.
 */
#include "op/share/equation.h"
#include "train/terms.h"

typedef prt_equation_term term;

/* An Einsum under construction: its equation, and its operands. */
typedef struct equation {
    char text[PRT_EQUATION_TERMS * (PRT_MAX_RANK + 2) + PRT_MAX_RANK + 4];
    uint32_t size, n;
    prt_value *in[PRT_EQUATION_TERMS + 1];
    char letter[PRT_EQUATION_LABELS]; /* of each label; 0: none yet */
    char next;
} equation;

static void put(equation *e, char c)
{
    e->text[e->size++] = c;
}

/* Appends the letter of a label. Lower case letters are used first, then upper case. */
static void put_label(equation *e, uint8_t label)
{
    if (e->letter[label] == 0) {
        e->letter[label] = e->next;
        e->next = e->next == 'z' ? 'A' : (char)(e->next + 1);
    }
    put(e, e->letter[label]);
}

/* Adds an operand. Dims of 1 that are broadcast are removed from it. */
static void add_operand(prt_grad *g, equation *e, const prt_equation *all, const term *t,
    prt_value *v)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    if (e->n != 0)
        put(e, ',');
    for (uint32_t k = 0; k < t->count; k++)
        if (v->type->dims[k] == 1 && all->size[t->label[k]] != 1)
            axes[n++] = k;
        else
            put_label(e, t->label[k]);
    e->in[e->n++] = prt_grad_squeeze(g, v, n, axes);
}

/* Whether another operand than `i`, or the result, has the label as a whole dim. */
static bool occurs(const prt_grad *g, const prt_equation *all, uint32_t i, uint8_t label)
{
    for (uint32_t j = 0; j < all->n_in; j++)
        for (uint32_t k = 0; j != i && k < all->in[j].count; k++)
            if (all->in[j].label[k] == label &&
                (prt_grad_x(g, j)->type->dims[k] != 1 || all->size[label] == 1))
                return true;
    return prt_equation_has(&all->out, label);
}

/* 1 where the indices along axes p and q are equal, in a shape that broadcasts over rank `rank`. */
static prt_value *diagonal(prt_grad *g, prt_value *x, uint32_t rank, uint32_t p, uint32_t q)
{
    int64_t shape[2][PRT_MAX_RANK];
    prt_value *line = prt_grad_count(g, prt_grad_dim(g, x, p));
    for (uint32_t k = 0; k < rank; k++) {
        shape[0][k] = k == p ? -1 : 1;
        shape[1][k] = k == q ? -1 : 1;
    }
    return BINARY(equal, prt_grad_reshape_to(g, line, rank, shape[0]),
        prt_grad_reshape_to(g, line, rank, shape[1]));
}

static uint32_t first_place(const term *t, uint8_t label)
{
    uint32_t k = 0;
    while (t->label[k] != label)
        k++;
    return k;
}

/* Gives `v`, which has the dims of the operand's labels that occur elsewhere, the shape of the
 * operand. */
static prt_value *complete(prt_grad *g, const prt_equation *all, uint32_t i, prt_value *v)
{
    const term *t = &all->in[i];
    prt_value *x = prt_grad_x(g, i);
    int64_t missing[PRT_MAX_RANK];
    uint32_t n = 0;
    bool expands = false;
    for (uint32_t k = 0; k < t->count; k++) {
        const bool again = first_place(t, t->label[k]) != k;
        if (again || !occurs(g, all, i, t->label[k]))
            missing[n++] = k;
        expands = expands || (!again && !occurs(g, all, i, t->label[k]));
    }
    v = prt_grad_unsqueeze(g, v, n, missing);
    if (expands)
        v = prt_grad_expand(g, v, x);
    for (uint32_t k = 0; k < t->count; k++) {
        const uint32_t first = first_place(t, t->label[k]);
        if (first != k)
            v = WHERE(diagonal(g, x, t->count, first, k), v, NUM(v, 0.0));
    }
    return v;
}

static poprt_status set_gradient(prt_grad *g, const prt_equation *all, uint32_t i)
{
    equation e = { .next = 'a' };
    const term *t = &all->in[i];
    add_operand(g, &e, all, &all->out, g->out[0]);
    for (uint32_t j = 0; j < all->n_in; j++)
        if (j != i)
            add_operand(g, &e, all, &all->in[j], prt_grad_x(g, j));
    put(&e, '-');
    put(&e, '>');
    for (uint32_t k = 0; k < t->count; k++)
        if (first_place(t, t->label[k]) == k && occurs(g, all, i, t->label[k]))
            put_label(&e, t->label[k]);
    PRT_TRY(g->b->status);
    prt_einsum_attrs attrs = PRT_ATTRS_OF(einsum);
    const prt_str text = prt_module_str(g->b->graph->module, (prt_str){ e.text, e.size });
    if (text.data == NULL)
        return POPRT_E_NOMEM;
    PRT_ATTR_SET(attrs, einsum, equation, text);
    prt_value *v = prt_build_op(g->b, PRT_OP_einsum, &attrs, e.n, e.in);
    return prt_grad_set(g, i, complete(g, all, i, v));
}

poprt_status prt_grad_einsum(prt_grad *g)
{
    const prt_einsum_attrs *a = g->op->attrs;
    prt_equation all;
    uint32_t ranks[PRT_EQUATION_TERMS];
    const int64_t *dims[PRT_EQUATION_TERMS];
    if (prt_equation_parse(a->equation, g->op->n_in, &all) != NULL)
        return prt_grad_refuse(g, "the equation is not valid");
    for (uint32_t i = 0; i < g->op->n_in; i++) {
        if (prt_grad_rank(prt_grad_x(g, i)) < 0)
            return prt_grad_refuse(g, "needs inputs of known rank");
        ranks[i] = (uint32_t)prt_grad_rank(prt_grad_x(g, i));
        dims[i] = prt_grad_x(g, i)->type->dims;
    }
    if (prt_equation_resolve(&all, ranks, dims) != NULL)
        return prt_grad_refuse(g, "the equation does not fit the inputs");
    uint64_t used = 0;
    uint32_t labels = 0;
    for (uint32_t i = 0; i < all.n_in; i++)
        for (uint32_t k = 0; k < all.in[i].count; k++)
            if ((used >> all.in[i].label[k] & 1) == 0) {
                used |= (uint64_t)1 << all.in[i].label[k];
                labels++;
            }
    if (labels > PRT_EQUATION_LETTERS)
        return prt_grad_refuse(g, "the equation has too many labels");
    for (uint32_t i = 0; i < g->op->n_in; i++)
        if (g->wanted[i])
            PRT_TRY(set_gradient(g, &all, i));
    return POPRT_OK;
}
