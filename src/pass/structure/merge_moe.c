/* SPDX-License-Identifier: MIT */
/*
 * merge_moe.c — merge_moe: experts of equal structure become one, with a leading expert dim:
 *
 *     y0 = f(x, W0), y1 = f(x, W1), ...   →   f(x, [W0, W1, ...]), Split, a Squeeze for each
 *
 * An expert consists of the nodes between its first and its last named node. Experts must have
 * equal operators and attributes; constants that differ are stacked. Supported are element-wise
 * operators, MatMul, Gemm (as MatMul and Add) and Softmax of the last axis, with known ranks. The
 * first nodes read one value, or values of one type, which are stacked as well. The other nodes
 * read only constants from outside. Anything else is an error, since the option names the nodes
 * explicitly.
 *
 * Bitwise equal, because the sums have the same terms; only a Gemm with C rounds twice.
 */
#include "pass/engine/region.h"

typedef struct operand {
    prt_value *value;
    int32_t rank;  /* in one expert */
    bool stacked;  /* has the leading expert dim */
    bool constant; /* a constant, which can be reshaped to insert dims of 1 */
} operand;

typedef struct moe {
    prt_pass *p;
    prt_graph *graph;
    uint32_t n;            /* number of experts */
    prt_op **begin, **end; /* first and last node of each expert */
    PRT_VEC(prt_op *) ops; /* ops of the first expert, in order */
    prt_op ***same;        /* same[e][id of such an op]: its counterpart in expert e */
    uint32_t *owner;       /* by op id: expert that the op belongs to, from 1; 0: none */
    operand *made;         /* by id of such an op: its merged result */
    prt_build b;
} moe;

static poprt_status refuse(const prt_op *op, const char *why)
{
    return prt_fail(POPRT_E_ARG, prt_op_label(op), "%s cannot be merged with other experts: %s",
        prt_op_label(op), why);
}

/* ---- ops of an expert */

static bool mark_member(void *user, const prt_value *v)
{
    const moe *m = user;
    if (v->graph == m->graph && v->def != NULL && m->owner[v->def->id] == UINT32_MAX)
        m->owner[v->def->id] = 1;
    return false;
}

/* Finds the ops on paths from the first to the last node of the first expert. */
static poprt_status find_ops(moe *m)
{
    prt_op *begin = m->begin[0], *end = m->end[0];
    const uint32_t *places = prt_match_positions(m->p->arena, m->graph);
    if (places == NULL)
        return POPRT_E_NOMEM;
    if (places[begin->id] > places[end->id])
        return refuse(end, "it comes before the expert's first node");
    const bool *reads = prt_region_dependents(m->p->arena, begin, end->next);
    if (reads == NULL)
        return POPRT_E_NOMEM;
    if (!reads[end->id])
        return refuse(end, "it does not depend on the expert's first node");
    for (prt_op *op = begin; op != end->next; op = op->next)
        m->owner[op->id] = reads[op->id] ? UINT32_MAX : 0; /* UINT32_MAX: not decided yet */
    m->owner[end->id] = 1;
    for (prt_op *op = end; op != begin->prev; op = op->prev) {
        if (m->owner[op->id] == 1)
            (void)prt_region_reads(op, mark_member, m);
        else
            m->owner[op->id] = 0;
    }
    for (prt_op *op = begin; op != end->next; op = op->next)
        if (m->owner[op->id] == 1 && !PRT_VEC_PUSH(m->p->arena, &m->ops, op))
            return POPRT_E_NOMEM;
    return POPRT_OK;
}

static bool is_inside(const moe *m, const prt_value *v)
{
    return v != NULL && v->graph == m->graph && v->def != NULL && m->owner[v->def->id] == 1;
}

static poprt_status match_input(moe *m, uint32_t e, const prt_op *op, const prt_op *other,
    uint32_t slot)
{
    const prt_value *v = prt_op_input(op, slot), *w = prt_op_input(other, slot);
    if (is_inside(m, v)) {
        if (w == NULL || w->def == NULL || w->graph != m->graph || w->slot != v->slot ||
            (m->same[e][v->def->id] != NULL && m->same[e][v->def->id] != w->def))
            return refuse(other, "it does not read what the first expert's node reads");
        m->same[e][v->def->id] = w->def;
        return POPRT_OK;
    }
    if (v == w)
        return POPRT_OK;
    if (v == NULL || w == NULL || v->type != w->type)
        return refuse(other, "it reads a value of another type");
    if (prt_value_is_fixed(v) != prt_value_is_fixed(w))
        return refuse(other, "one expert reads a constant where the other does not");
    return POPRT_OK;
}

/* Matches expert `e` to the first expert, from the last node to the first. */
static poprt_status match_expert(moe *m, uint32_t e)
{
    m->same[e] = PRT_NEW_N(m->p->arena, prt_op *, (size_t)m->graph->n_ops + 1);
    if (m->same[e] == NULL)
        return POPRT_E_NOMEM;
    m->same[e][m->end[0]->id] = m->end[e];
    for (size_t k = m->ops.count; k-- > 0;) {
        const prt_op *op = m->ops.data[k];
        prt_op *other = m->same[e][op->id];
        PRT_TRY(prt_pass_check(m->p));
        if (op->def == NULL || other->def != op->def || other->n_in != op->n_in || op->n_out != 1 ||
            other->n_out != 1 || op->n_regions != 0 || !prt_region_is_pure(op) ||
            !prt_attrs_equal(op->def, op->attrs, other->attrs))
            return refuse(other, "it is another operator than the first expert's");
        if (m->owner[other->id] != (e == 0 ? 1u : 0u))
            return refuse(other, "it belongs to two experts");
        m->owner[other->id] = e + 1;
        for (uint32_t i = 0; i < op->n_in; i++)
            PRT_TRY(match_input(m, e, op, other, i));
    }
    return m->same[e][m->begin[0]->id] == m->begin[e]
        ? POPRT_OK
        : refuse(m->begin[e], "it does not correspond to the first expert's first node");
}

/* Checks that values inside an expert are not read from outside, and that only the first node reads
 * outer values that are not constants. */
static poprt_status check_closed(const moe *m)
{
    for (uint32_t e = 0; e < m->n; e++)
        for (size_t k = 0; k < m->ops.count; k++) {
            const prt_op *op = m->same[e][m->ops.data[k]->id];
            for (const prt_use *use = op->out[0].uses; use != NULL && op != m->end[e];
                 use = use->next)
                if (use->user->graph != m->graph || use->user == m->graph->ret ||
                    m->owner[use->user->id] != e + 1)
                    return refuse(op, "its result is read outside of the expert");
            for (uint32_t i = 0; i < op->n_in; i++) {
                const prt_value *v = op->in[i].value;
                const bool inside = v != NULL && v->graph == m->graph && v->def != NULL &&
                    m->owner[v->def->id] == e + 1;
                if (v != NULL && !inside && !prt_value_is_fixed(v) && op != m->begin[e])
                    return refuse(op, "it reads a value from outside of the expert");
            }
        }
    return POPRT_OK;
}

/* ---- operands with an expert dim */

static const int64_t zero = 0;

/* Stacks the operand in `slot` of all experts to one constant or one value. */
static prt_value *stack(moe *m, const prt_op *op, uint32_t slot)
{
    prt_value **in = PRT_NEW_N(m->p->arena, prt_value *, m->n);
    const prt_type *type = prt_op_input(op, slot)->type;
    const bool constant = prt_value_is_fixed(prt_op_input(op, slot));
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    int64_t dims[PRT_MAX_RANK + 1] = { 1 };
    PRT_ATTR_SET(attrs, concat, axis, 0);
    if (in == NULL || type->rank >= PRT_MAX_RANK)
        return NULL;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i + 1] = type->dims[i];
    for (uint32_t e = 0; e < m->n; e++) {
        prt_value *v = prt_op_input(m->same[e][op->id], slot);
        in[e] = constant
            ? prt_match_reshape_constant(&m->b, v, (uint32_t)type->rank + 1, dims)
            : prt_build_binary(&m->b, PRT_OP_unsqueeze, v, prt_build_i64s(&m->b, 1, &zero));
        if (in[e] == NULL)
            return NULL;
    }
    return constant
        ? prt_match_compute(m->p, &m->b, prt_op_input(op, slot), PRT_OP_concat, &attrs, m->n, in)
        : prt_build_op(&m->b, PRT_OP_concat, &attrs, m->n, in);
}

static bool read_operand(moe *m, const prt_op *op, uint32_t slot, operand *o)
{
    prt_value *v = prt_op_input(op, slot);
    if (v == NULL || !prt_type_is_tensor(v->type) || v->type->rank < 0)
        return false;
    if (is_inside(m, v)) {
        *o = m->made[v->def->id];
        return true;
    }
    *o = (operand){ v, v->type->rank, false, prt_value_is_fixed(v) };
    for (uint32_t e = 1; e < m->n; e++)
        o->stacked = o->stacked || prt_op_input(m->same[e][op->id], slot) != v;
    if (o->stacked)
        o->value = stack(m, op, slot);
    return o->value != NULL;
}

/* Reshapes a stacked constant so that the dims of one expert are the last `rank` dims. */
static bool align(moe *m, operand *o, int32_t rank)
{
    int64_t dims[PRT_MAX_RANK];
    uint32_t n = 0;
    if (!o->stacked || o->rank == rank)
        return true;
    if (!o->constant || o->rank > rank || rank >= PRT_MAX_RANK)
        return false;
    const prt_type *t = o->value->type;
    dims[n++] = t->dims[0];
    for (int32_t i = o->rank; i < rank; i++)
        dims[n++] = 1;
    for (int32_t i = 0; i < o->rank; i++)
        dims[n++] = t->dims[i + 1];
    prt_value *flat = o->value;
    o->value = prt_match_reshape_constant(&m->b, flat, n, dims);
    o->rank = rank;
    flat->name = PRT_STR(""); /* an intermediate constant */
    return o->value != NULL;
}

/* ---- operators with an expert dim */

static bool build_merged(moe *m, const prt_op *op, uint32_t id, const void *attrs, uint32_t n,
    const operand *in, int32_t rank)
{
    prt_value *values[PRT_MAX_RANK];
    bool stacked = false;
    for (uint32_t i = 0; i < n; i++) {
        values[i] = in[i].value;
        stacked = stacked || in[i].stacked;
    }
    prt_op *made = prt_match_new(&m->b, op, id, attrs, n, values, 1);
    if (made == NULL)
        return false;
    m->made[op->id] = (operand){ &made->out[0], rank, stacked, false };
    return true;
}

/* Returns whether all operands of the operator broadcast; constants of other operators cannot be
 * stacked. */
static bool broadcasts(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_add, PRT_OP_sub, PRT_OP_mul, PRT_OP_div, PRT_OP_pow,
        PRT_OP_matmul };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return true;
    return false;
}

static bool merge_plain(moe *m, const prt_op *op)
{
    operand in[PRT_MAX_RANK] = { { 0 } };
    const int32_t rank = op->out[0].type->rank;
    if (op->n_in > PRT_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (prt_op_input(op, i) == NULL)
            continue;
        if (!read_operand(m, op, i, &in[i]) || (in[i].stacked && i > 0 && !broadcasts(op)) ||
            (prt_op_is(op, PRT_OP_matmul) && in[i].rank < 2) || !align(m, &in[i], rank))
            return false;
    }
    return build_merged(m, op, op->def->id, op->attrs, op->n_in, in, rank);
}

static bool merge_softmax(moe *m, const prt_op *op)
{
    operand in;
    prt_softmax_attrs attrs = *(const prt_softmax_attrs *)op->attrs;
    const int32_t rank = op->out[0].type->rank;
    uint32_t axis;
    if (!prt_match_axis(attrs.axis, rank, &axis) || (int32_t)axis != rank - 1 ||
        !read_operand(m, op, 0, &in))
        return false;
    PRT_ATTR_SET(attrs, softmax, axis, -1);
    return build_merged(m, op, PRT_OP_softmax, &attrs, 1, &in, rank);
}

/* Transposes a weight. */
static bool transpose(moe *m, operand *w)
{
    static const int64_t perm[3] = { 0, 2, 1 }, flat[2] = { 1, 0 };
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    const prt_i64s axes = { w->stacked ? perm : flat, w->stacked ? 3 : 2 };
    PRT_ATTR_SET(attrs, transpose, perm, axes);
    prt_value *old = w->value;
    w->value = prt_match_compute(m->p, &m->b, old, PRT_OP_transpose, &attrs, 1, &old);
    if (w->stacked)
        old->name = PRT_STR(""); /* an intermediate constant */
    return w->value != NULL;
}

static bool merge_gemm(moe *m, const prt_op *op)
{
    const prt_gemm_attrs *a = op->attrs;
    operand in[2], bias = { 0 };
    const bool biased = prt_op_input(op, 2) != NULL;
    if (a->transA != 0 || a->alpha != 1.0f || (biased && a->beta != 1.0f) ||
        !read_operand(m, op, 0, &in[0]) || !read_operand(m, op, 1, &in[1]) || !in[1].constant ||
        (a->transB != 0 && !transpose(m, &in[1])) ||
        !build_merged(m, op, PRT_OP_matmul, NULL, 2, in, 2))
        return false;
    if (!biased)
        return true;
    if (!read_operand(m, op, 2, &bias) || !align(m, &bias, 2))
        return false;
    const operand sum[2] = { m->made[op->id], bias };
    return build_merged(m, op, PRT_OP_add, NULL, 2, sum, 2);
}

static bool merge_op(moe *m, const prt_op *op)
{
    if (!prt_type_is_tensor(op->out[0].type) || op->out[0].type->rank < 0 ||
        op->out[0].type->rank >= PRT_MAX_RANK)
        return false;
    if (prt_op_is(op, PRT_OP_gemm))
        return merge_gemm(m, op);
    if (prt_op_is(op, PRT_OP_softmax))
        return merge_softmax(m, op);
    return ((op->def->traits & PRT_ELEMENTWISE) != 0 || prt_op_is(op, PRT_OP_identity) ||
               prt_op_is(op, PRT_OP_matmul)) &&
        merge_plain(m, op);
}

static poprt_status merge_ops(moe *m)
{
    for (size_t k = 0; k < m->ops.count; k++)
        if (!merge_op(m, m->ops.data[k]))
            return m->b.status != POPRT_OK
                ? m->b.status
                : refuse(m->ops.data[k],
                      "the operator, its attributes or its ranks are not supported in experts");
    return m->made[m->end[0]->id].stacked ? POPRT_OK
                                          : refuse(m->end[0], "the experts do not differ");
}

/* ---- replacing the experts */

/* Moves readers of an expert that come before the last of the first nodes after it. Fails if a
 * first node depends on another expert. */
static poprt_status sink(const moe *m, prt_op *first, prt_op *last)
{
    bool *reads = PRT_NEW_N(m->p->arena, bool, (size_t)m->graph->n_ops + 1);
    bool *marks = PRT_NEW_N(m->p->arena, bool, (size_t)m->graph->n_ops + 1);
    if (reads == NULL || marks == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t e = 0; e < m->n; e++)
        reads[m->end[e]->id] = true;
    for (prt_op *op = first; op != last->next; op = op->next) {
        const uint32_t owner = m->owner[op->id];
        if (owner != 0 && op != m->begin[owner - 1])
            continue;
        if (!prt_region_depends(op, reads))
            continue;
        if (owner != 0)
            return refuse(op, "it waits for another expert");
        if (!prt_region_is_pure(op))
            return refuse(op, "it has effects and stands between the experts");
        reads[op->id] = marks[op->id] = true;
    }
    prt_region_sink(first, last, marks);
    return POPRT_OK;
}

static poprt_status replace_experts(moe *m)
{
    int64_t *sizes = PRT_NEW_N(m->p->arena, int64_t, m->n);
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(attrs, split, axis, 0);
    if (sizes == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t e = 0; e < m->n; e++)
        sizes[e] = 1;
    prt_value *in[2] = { m->made[m->end[0]->id].value, prt_build_i64s(&m->b, m->n, sizes) };
    prt_op *split = prt_build_op_n(&m->b, PRT_OP_split, &attrs, 2, in, m->n);
    for (uint32_t e = 0; split != NULL && e < m->n; e++) {
        prt_value *cut[2] = { &split->out[e], prt_build_i64s(&m->b, 1, &zero) };
        prt_op *one = prt_match_new(&m->b, m->end[e], PRT_OP_squeeze, NULL, 2, cut, 1);
        if (one == NULL)
            break;
        PRT_TRY(prt_value_refine_type(&one->out[0], m->end[e]->out[0].type));
        prt_build_replace_uses(&m->b, &m->end[e]->out[0], &one->out[0]);
    }
    PRT_TRY(prt_build_status(&m->b));
    for (size_t k = m->ops.count; k-- > 0;)
        for (uint32_t e = 0; e < m->n; e++)
            prt_op_erase(m->same[e][m->ops.data[k]->id]);
    return POPRT_OK;
}

static poprt_status prepare(moe *m)
{
    const size_t n = (size_t)m->graph->n_ops + 1;
    m->owner = PRT_NEW_N(m->p->arena, uint32_t, n);
    m->made = PRT_NEW_N(m->p->arena, operand, n);
    m->same = PRT_NEW_N(m->p->arena, prt_op **, m->n);
    if (m->owner == NULL || m->made == NULL || m->same == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t e = 0; e < m->n; e++)
        if (m->begin[e]->graph != m->graph || m->end[e]->graph != m->graph)
            return refuse(m->begin[e], "its nodes are not all in one graph");
    PRT_TRY(find_ops(m));
    for (uint32_t e = 0; e < m->n; e++)
        PRT_TRY(match_expert(m, e));
    return check_closed(m);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_op **nodes;
    uint32_t count;
    PRT_TRY(prt_match_nodes(p, "merge_str", 2, graph, &nodes, &count));
    moe m = { .p = p, .n = count / 2 };
    if (m.n < 2)
        return POPRT_OK;
    m.begin = PRT_NEW_N(p->arena, prt_op *, m.n);
    m.end = PRT_NEW_N(p->arena, prt_op *, m.n);
    if (m.begin == NULL || m.end == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t e = 0; e < m.n; e++) {
        m.begin[e] = nodes[2 * e];
        m.end[e] = nodes[2 * e + 1];
    }
    m.graph = m.begin[0]->graph;
    PRT_TRY(prepare(&m));
    const uint32_t *places = prt_match_positions(p->arena, m.graph);
    prt_op *first = m.begin[0], *last = m.begin[0];
    for (uint32_t e = 0; places != NULL && e < m.n; e++) {
        first = places[m.begin[e]->id] < places[first->id] ? m.begin[e] : first;
        last = places[m.begin[e]->id] > places[last->id] ? m.begin[e] : last;
    }
    if (places == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(sink(&m, first, last));
    m.b = prt_build_before(last);
    *changed = true; /* if merge_ops fails, the new ops are unused */
    PRT_TRY(merge_ops(&m));
    return replace_experts(&m);
}

const prt_pass_hooks prt_pass_merge_moe = { .run = run };
