/* SPDX-License-Identifier: MIT */
/*
 * merge_matmul.c — merge_matmul, merge_matmul_add: merges the named products of one value.
 * Concatenates their constant right operands (and the constants added to them) along the last dim,
 * and makes one MatMul (and Add) and a Split with the old widths. Results are bitwise equal, since
 * each column is still the same sum.
 *
 * Named nodes that cannot be merged (other left operands, other inner dims, no constants) are an
 * error, since the user asked for exactly these nodes.
 */
#include "pass/engine/match.h"

typedef struct part {
    prt_op *product, *add; /* add: NULL for merge_matmul */
    prt_tensor w, bias;
    uint32_t bias_slot;
} part;

typedef struct plan {
    prt_pass *p;
    part *parts;
    uint32_t n;
    bool adds;
} plan;

static poprt_status refuse(const part *t, const char *why)
{
    return prt_fail(POPRT_E_ARG, prt_op_label(t->product), "%s cannot be merged: %s",
        prt_op_label(t->product), why);
}

/* Returns whether the type and all dims but the last are equal. */
static bool same_depth(const prt_tensor *a, const prt_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->rank >= 2 &&
        memcmp(a->dims, b->dims, (a->rank - 1) * sizeof(int64_t)) == 0;
}

static poprt_status check_product(const plan *m, part *t)
{
    if (!prt_op_is(t->product, PRT_OP_matmul))
        return refuse(t, "it is not a MatMul");
    if (!prt_match_constant(t->product, 1, &t->w) || t->w.rank < 2)
        return refuse(t, "its right operand is not a constant matrix");
    if (prt_op_input(t->product, 0) != prt_op_input(m->parts[0].product, 0) ||
        t->product->graph != m->parts[0].product->graph)
        return refuse(t, "its left operand is not that of the first product");
    if (!same_depth(&t->w, &m->parts[0].w))
        return refuse(t,
            "the dims of its right operand before the last differ from those of the first product");
    return POPRT_OK;
}

/* Checks that the Add adds a constant with one number for each column, and nothing else reads the
 * product. */
static poprt_status check_add(part *t)
{
    const prt_value *y = &t->product->out[0];
    if (!prt_op_is(t->add, PRT_OP_add) || !prt_value_used_once(y) || y->uses->user != t->add)
        return refuse(t, "the Add named with it is not the only reader of its result");
    t->bias_slot = prt_op_input(t->add, 0) == y ? 1 : 0;
    if (!prt_match_constant(t->add, t->bias_slot, &t->bias) || t->bias.rank < 1 ||
        prt_tensor_count(&t->bias) != (size_t)t->w.dims[t->w.rank - 1] ||
        t->bias.dims[t->bias.rank - 1] != t->w.dims[t->w.rank - 1] ||
        t->add->out[0].type != y->type)
        return refuse(t,
            "the operand of its Add is not a constant with one number for each column");
    return POPRT_OK;
}

static poprt_status read_plan(plan *m, prt_graph *graph)
{
    prt_op **nodes;
    uint32_t count;
    const uint32_t each = m->adds ? 2 : 1;
    PRT_TRY(prt_match_nodes(m->p, "merge_str", each, graph, &nodes, &count));
    m->n = count / each;
    m->parts = PRT_NEW_N(m->p->arena, part, m->n);
    if (m->parts == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < m->n; i++) {
        m->parts[i].product = nodes[i * each];
        PRT_TRY(check_product(m, &m->parts[i]));
        m->parts[i].add = m->adds ? nodes[i * each + 1] : NULL;
        if (m->adds)
            PRT_TRY(check_add(&m->parts[i]));
    }
    return POPRT_OK;
}

/* Concatenates the right operands, or the biases, of all parts. NULL: refused, or a failure is in
 * `b`. */
static prt_value *join(const plan *m, prt_build *b, bool bias)
{
    prt_value **in = PRT_NEW_N(m->p->arena, prt_value *, m->n);
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, -1);
    for (uint32_t i = 0; in != NULL && i < m->n; i++) {
        const part *t = &m->parts[i];
        in[i] = bias ? prt_op_input(t->add, t->bias_slot) : prt_op_input(t->product, 1);
        if (bias)
            in[i] = prt_match_reshape_constant(b, in[i], 1, &t->w.dims[t->w.rank - 1]);
        if (in[i] == NULL)
            return NULL;
    }
    return in != NULL ? prt_match_compute(m->p, b, in[0], PRT_OP_concat, &attrs, m->n, in) : NULL;
}

/* Splits `y` and replaces the results of the old ops by the parts. */
static void split(const plan *m, prt_build *b, prt_value *y)
{
    int64_t *widths = PRT_NEW_N(m->p->arena, int64_t, m->n);
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(attrs, split, axis, -1);
    if (widths == NULL) {
        b->status = POPRT_E_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < m->n; i++)
        widths[i] = m->parts[i].w.dims[m->parts[i].w.rank - 1];
    prt_value *in[2] = { y, prt_build_i64s(b, m->n, widths) };
    prt_op *op = prt_build_op_n(b, PRT_OP_split, &attrs, 2, in, m->n);
    for (uint32_t i = 0; op != NULL && i < m->n; i++)
        (void)prt_pass_replace(b, m->adds ? &m->parts[i].add->out[0] : &m->parts[i].product->out[0],
            &op->out[i]);
}

/* Returns the first named product in the graph's list. */
static prt_op *first_of(const plan *m, const uint32_t *places)
{
    prt_op *first = m->parts[0].product;
    for (uint32_t i = 1; i < m->n; i++)
        if (places[m->parts[i].product->id] < places[first->id])
            first = m->parts[i].product;
    return first;
}

static poprt_status merge(prt_pass *p, prt_graph *graph, bool adds, bool *changed)
{
    plan m = { .p = p, .adds = adds };
    PRT_TRY(read_plan(&m, graph));
    if (m.n < 2)
        return POPRT_OK;
    const uint32_t *places = prt_match_positions(p->arena, m.parts[0].product->graph);
    if (places == NULL)
        return POPRT_E_NOMEM;
    prt_build b = prt_build_before(first_of(&m, places));
    prt_value *in[2] = { prt_op_input(m.parts[0].product, 0), join(&m, &b, false) };
    prt_value *bias = adds ? join(&m, &b, true) : NULL;
    PRT_TRY(prt_build_status(&b));
    if (in[1] == NULL || (adds && bias == NULL))
        return refuse(&m.parts[0], "the concatenated constants are too large or not finite");
    prt_op *op = prt_match_new(&b, m.parts[0].product, PRT_OP_matmul, NULL, 2, in, 1);
    prt_value *sum[2] = { op != NULL ? &op->out[0] : NULL, bias };
    if (adds && op != NULL)
        op = prt_match_new(&b, m.parts[0].add, PRT_OP_add, NULL, 2, sum, 1);
    if (op != NULL)
        split(&m, &b, &op->out[0]);
    *changed = true;
    return prt_build_status(&b);
}

static poprt_status run_matmul(prt_pass *p, prt_graph *graph, bool *changed)
{
    return merge(p, graph, false, changed);
}

static poprt_status run_matmul_add(prt_pass *p, prt_graph *graph, bool *changed)
{
    return merge(p, graph, true, changed);
}

const prt_pass_hooks prt_pass_merge_matmul = { .run = run_matmul };
const prt_pass_hooks prt_pass_merge_matmul_add = { .run = run_matmul_add };
