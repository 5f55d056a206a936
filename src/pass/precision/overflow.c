/* SPDX-License-Identifier: MIT */
/*
 * overflow.c — finds regions that overflow float16 although their inputs and results do not.
 *
 * A region begins at an operator whose result may be large: a square, a power, an exponential, a
 * sum of squares, or a sum of more than 256 (or an unknown number of) elements. All readers of a
 * large value belong to the region. Their results are large too if they add, multiply or move
 * elements (a mean, an epsilon, a factor). A root, a logarithm, a quotient by a large value, a
 * bounded function or a normalisation ends the region: for instance mean(x * x) + epsilon up to its
 * root. Products and convolutions end a region too.
 *
 * Another kind of region ends with Softmax or LogSoftmax: the operators before it that add or
 * select masks belong to it.
 */
#include "pass/precision/overflow.h"

#include "base/map.h"
#include "pass/engine/match.h"

enum { LARGE_SUM = 256, MAX_DEPTH = 256 };
enum { KEPT = 1, LARGE = 2 };

static const double most_half = 65504;

/* Flags of the ops of one graph, by id. */
typedef struct graph_flags {
    const prt_graph *graph;
    uint32_t n_ops;
    uint8_t *flags;
} graph_flags;

struct prt_overflow {
    prt_arena *arena;
    prt_map graphs; /* by address of the graph */
};

static graph_flags *flags_of_graph(const prt_overflow *o, const prt_graph *graph)
{
    return prt_map_find(&o->graphs, (prt_str){ (const char *)&graph, sizeof(graph) });
}

static uint8_t flags_of(const prt_overflow *o, const prt_op *op)
{
    const graph_flags *g = flags_of_graph(o, op->graph);
    return g != NULL && op->id < g->n_ops ? g->flags[op->id] : 0;
}

static bool is_one_of(const prt_op *op, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (prt_op_is(op, ids[i]))
            return true;
    return false;
}

/* ---- starts of regions */

/* Returns the input elements for one output element; 0 if it is not known. */
static uint64_t elements_each(const prt_op *op)
{
    uint64_t in, out;
    if (op->in[0].value == NULL || !prt_type_count(op->in[0].value->type, &in) ||
        !prt_type_count(op->out[0].type, &out))
        return 0;
    return out != 0 ? in / out : 1;
}

static bool adds_many(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_reduce_sum, PRT_OP_reduce_mean, PRT_OP_reduce_l1,
        PRT_OP_reduce_log_sum };
    return is_one_of(op, ids, PRT_COUNT_OF(ids)) &&
        (elements_each(op) == 0 || elements_each(op) > LARGE_SUM);
}

/* Returns whether the op is a root: a constant exponent below 1 makes large numbers smaller. */
static bool is_root(const prt_op *op)
{
    double exponent;
    return prt_op_is(op, PRT_OP_sqrt) ||
        (prt_op_is(op, PRT_OP_pow) && prt_match_number(op, 1, &exponent) && exponent < 1);
}

static bool is_square(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_mul) && op->in[0].value == op->in[1].value;
}

/* Returns whether the op computes with large numbers; gives_large tells whether its result is
 * large. */
static bool begins(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_exp, PRT_OP_pow, PRT_OP_gc_square,
        PRT_OP_reduce_sum_square, PRT_OP_reduce_l2, PRT_OP_reduce_log_sum_exp, PRT_OP_reduce_prod,
        PRT_OP_softmax, PRT_OP_log_softmax };
    return is_one_of(op, ids, PRT_COUNT_OF(ids)) || adds_many(op) || is_square(op);
}

/* ---- extent of regions */

static bool reads_large(const prt_overflow *o, const prt_op *op, uint32_t slot)
{
    const prt_value *v = prt_op_input(op, slot);
    return v != NULL && v->def != NULL && (flags_of(o, v->def) & LARGE) != 0;
}

static bool reads_any_large(const prt_overflow *o, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (reads_large(o, op, i))
            return true;
    return false;
}

static bool is_bounded_clip(const prt_op *op)
{
    double low, high;
    return prt_op_is(op, PRT_OP_clip) && prt_match_number(op, 1, &low) &&
        prt_match_number(op, 2, &high) && low >= -most_half && high <= most_half;
}

/* Returns whether large operands give large results. */
static bool stays_large(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_abs, PRT_OP_add, PRT_OP_average_pool, PRT_OP_cast,
        PRT_OP_ceil, PRT_OP_clip, PRT_OP_cumsum, PRT_OP_div, PRT_OP_elu, PRT_OP_floor, PRT_OP_gelu,
        PRT_OP_global_average_pool, PRT_OP_global_max_pool, PRT_OP_identity, PRT_OP_leaky_relu,
        PRT_OP_max, PRT_OP_max_pool, PRT_OP_mean, PRT_OP_min, PRT_OP_mul, PRT_OP_neg, PRT_OP_prelu,
        PRT_OP_reduce_l1, PRT_OP_reduce_max, PRT_OP_reduce_mean, PRT_OP_reduce_min,
        PRT_OP_reduce_sum, PRT_OP_relu, PRT_OP_round, PRT_OP_softplus, PRT_OP_sub, PRT_OP_sum,
        PRT_OP_where };
    return (op->def->traits & (PRT_MOVES | PRT_VIEW)) != 0 ||
        (is_one_of(op, ids, PRT_COUNT_OF(ids)) && !is_bounded_clip(op));
}

static bool gives_large(const prt_overflow *o, const prt_op *op)
{
    static const uint32_t starts[] = { PRT_OP_exp, PRT_OP_gc_square, PRT_OP_pow, PRT_OP_reduce_l1,
        PRT_OP_reduce_prod, PRT_OP_reduce_sum, PRT_OP_reduce_sum_square };
    if (is_root(op) || (prt_op_is(op, PRT_OP_div) && reads_large(o, op, 1)))
        return false;
    if (begins(op) && (is_one_of(op, starts, PRT_COUNT_OF(starts)) || is_square(op)))
        return true;
    return stays_large(op) && reads_any_large(o, op);
}

/* Returns whether the op does most of a model's work, so that it must use float16. */
static bool is_heavy(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_attention, PRT_OP_conv, PRT_OP_conv_transpose,
        PRT_OP_einsum, PRT_OP_gemm, PRT_OP_gru, PRT_OP_lstm, PRT_OP_matmul, PRT_OP_rnn };
    return is_one_of(op, ids, PRT_COUNT_OF(ids));
}

static void mark(const prt_overflow *o, const prt_op *op, uint8_t *flags)
{
    if (op->def == NULL || op->n_regions != 0 || is_heavy(op))
        return;
    if (begins(op) || reads_any_large(o, op))
        *flags |= KEPT;
    if (gives_large(o, op))
        *flags |= LARGE;
}

/* ---- masks before Softmax */

static bool masks(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_add, PRT_OP_clip, PRT_OP_max, PRT_OP_min, PRT_OP_sub,
        PRT_OP_where };
    return is_one_of(op, ids, PRT_COUNT_OF(ids));
}

/* Returns whether the only reader is a Softmax, directly or through further masks. */
static bool goes_to_softmax(const prt_op *op)
{
    for (uint32_t depth = 0; depth < MAX_DEPTH; depth++) {
        if (!prt_value_used_once(&op->out[0]) || op->out[0].uses->user == op->graph->ret)
            return false;
        op = op->out[0].uses->user;
        if (prt_op_is(op, PRT_OP_softmax) || prt_op_is(op, PRT_OP_log_softmax))
            return true;
        if (!masks(op))
            return false;
    }
    return false;
}

/* ---- all graphs */

static poprt_status find(prt_overflow *o, const prt_graph *graph, uint32_t depth)
{
    graph_flags *g = PRT_NEW(o->arena, graph_flags);
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    if (g == NULL)
        return POPRT_E_NOMEM;
    *g = (graph_flags){ .graph = graph,
        .n_ops = graph->n_ops,
        .flags = PRT_NEW_N(o->arena, uint8_t, (size_t)graph->n_ops + 1) };
    if (g->flags == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_map_set(&o->graphs, (prt_str){ (const char *)&g->graph, sizeof(g->graph) }, g));
    prt_for_each_op (op, graph) {
        mark(o, op, &g->flags[op->id]);
        if (masks(op) && goes_to_softmax(op))
            g->flags[op->id] |= KEPT;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(find(o, op->regions[i], depth + 1));
    }
    return POPRT_OK;
}

poprt_status prt_overflow_find(prt_arena *arena, const prt_module *module, prt_overflow **out)
{
    prt_overflow *o = PRT_NEW(arena, prt_overflow);
    if (o == NULL)
        return POPRT_E_NOMEM;
    *o = (prt_overflow){ .arena = arena, .graphs = prt_map_in(arena) };
    *out = o;
    return find(o, module->main, 0);
}

bool prt_overflow_keeps(const prt_overflow *o, const prt_op *op)
{
    return (flags_of(o, op) & KEPT) != 0;
}
