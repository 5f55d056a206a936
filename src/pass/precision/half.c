/* SPDX-License-Identifier: MIT */
/*
 * half.c — float_to_half, float_to_mixed, float_to_bf16: float32 becomes a type of 16 bits.
 *
 * float_to_half takes all there is: inputs, outputs, initializers, the targets of Casts. Operators
 * whose type is in skip_op_types keep float32, and so do those whose row has no float16; Casts
 * stand around them. ours: numbers made of sizes for such operators or for integers stay float32,
 * constants of what stays are not rounded, results of what is kept are handed on as they are to
 * others that are kept. Infinities among constants are clipped too, NaN stays.
 *
 * enable_avoid_overflow_patterns (ours): also kept are Softmax with the addition of a mask before
 * it, Exp, Pow, reductions that square or exponentiate or that add up more than 256 elements or
 * an unknown number, the square and the root around those.
 *
 * float_to_mixed: products, convolutions, attention and recurrent layers work on float16, the rest
 * on float32; what only moves elements takes them as they come. The model's interface stays.
 *
 * Results are within the rounding of the type: about 1e-2 of the largest value for float16.
 */
#include "pass/precision/half.h"

enum { LARGE_SUM = 256 };

static const double half_limit = 65500.0, half_least = 1e-7;

/* The largest finite bfloat16. Larger float32 numbers round to it or, without clipping, to
 * infinity, with which a mask of 0 * -FLT_MAX is NaN. */
static const double bf16_limit = 0x1.fep127;

/* ---- patterns that overflow */

static bool adds_up(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_reduce_sum) || prt_op_is(op, PRT_OP_reduce_mean) ||
        prt_op_is(op, PRT_OP_reduce_l1) || prt_op_is(op, PRT_OP_reduce_log_sum);
}

/* Elements of input for one of output; 0 when that is not known. */
static uint64_t added_up(const prt_op *op)
{
    uint64_t in, out;
    if (op->in[0].value == NULL || !prt_type_count(op->in[0].value->type, &in) ||
        !prt_type_count(op->out[0].type, &out))
        return 0;
    return out != 0 ? in / out : 1;
}

static bool is_reduction(const prt_op *op)
{
    if (adds_up(op))
        return added_up(op) == 0 || added_up(op) > LARGE_SUM;
    return prt_op_is(op, PRT_OP_reduce_sum_square) || prt_op_is(op, PRT_OP_reduce_l2) ||
        prt_op_is(op, PRT_OP_reduce_log_sum_exp) || prt_op_is(op, PRT_OP_reduce_prod);
}

static bool is_softmax(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_softmax) || prt_op_is(op, PRT_OP_log_softmax);
}

/* Its only reader is one of those. */
static bool goes_to(const prt_op *op, bool (*what)(const prt_op *op))
{
    return prt_value_used_once(&op->out[0]) && op->out[0].uses->user != op->graph->ret &&
        what(op->out[0].uses->user);
}

static bool is_square(const prt_op *op)
{
    return (prt_op_is(op, PRT_OP_mul) && op->in[0].value == op->in[1].value) ||
        prt_op_is(op, PRT_OP_gc_square);
}

static bool comes_from(const prt_op *op, uint32_t slot, bool (*what)(const prt_op *op))
{
    const prt_value *v = prt_op_input(op, slot);
    return v != NULL && v->def != NULL && what(v->def);
}

/* A reduction that is kept, maybe with an epsilon added. */
static bool is_variance(const prt_op *op)
{
    return is_reduction(op) || (prt_op_is(op, PRT_OP_add) &&
        (comes_from(op, 0, is_reduction) || comes_from(op, 1, is_reduction)));
}

static bool overflows(const prt_op *op)
{
    if (is_softmax(op) || is_variance(op) || prt_op_is(op, PRT_OP_exp) ||
        prt_op_is(op, PRT_OP_pow))
        return true;
    if (is_square(op))
        return goes_to(op, adds_up);
    if (prt_op_is(op, PRT_OP_sqrt) || prt_op_is(op, PRT_OP_reciprocal))
        return comes_from(op, 0, is_variance);
    return (prt_op_is(op, PRT_OP_add) || prt_op_is(op, PRT_OP_where)) && goes_to(op, is_softmax);
}

/* ---- the passes */

static prt_retype_mode half_mode(const prt_retype *how, const prt_op *op)
{
    const prt_pass *p = how->user;
    if (prt_pass_lists(p, "skip_op_types", op->name))
        return PRT_RETYPE_KEEP;
    return prt_pass_bool(p, "enable_avoid_overflow_patterns") && overflows(op) ? PRT_RETYPE_KEEP
                                                                               : PRT_RETYPE_CONVERT;
}

static prt_retype_mode any_mode(const prt_retype *how, const prt_op *op)
{
    (void)how;
    (void)op;
    return PRT_RETYPE_CONVERT;
}

poprt_status prt_retype_all(prt_pass *p, int32_t to, const prt_retype *more, bool *changed)
{
    prt_retype how = { .mode = any_mode };
    if (more != NULL)
        how = *more;
    how.from = PRT_DTYPE_f32;
    how.to = to;
    how.inputs = how.outputs = how.attrs = how.exact = true;
    if (to == PRT_DTYPE_f16) {
        how.clip = how.infinities = true;
        how.high = half_limit;
        how.low = -half_limit;
        how.least = half_least;
    } else {
        how.clip = how.quiet = true;
        how.high = bf16_limit;
        how.low = -bf16_limit;
    }
    return prt_retype_run(p, &how, changed);
}

static poprt_status run_half(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_retype how = { .mode = half_mode, .user = p };
    (void)graph;
    return prt_retype_all(p, PRT_DTYPE_f16, &how, changed);
}

static poprt_status run_bf16(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_retype how = { .mode = half_mode, .user = p };
    (void)graph;
    return prt_retype_all(p, PRT_DTYPE_bf16, &how, changed);
}

static bool is_heavy(const prt_op *op)
{
    static const uint32_t heavy[] = { PRT_OP_attention, PRT_OP_conv, PRT_OP_conv_transpose,
        PRT_OP_deform_conv, PRT_OP_einsum, PRT_OP_gemm, PRT_OP_gru, PRT_OP_lstm, PRT_OP_matmul,
        PRT_OP_rnn, PRT_OP_gc_lstm, PRT_OP_gc_multi_conv, PRT_OP_ms_attention,
        PRT_OP_ms_fused_conv, PRT_OP_ms_fused_gemm, PRT_OP_ms_fused_matmul,
        PRT_OP_ms_group_query_attention, PRT_OP_ms_multi_head_attention };
    for (size_t i = 0; i < PRT_COUNT_OF(heavy); i++)
        if (prt_op_is(op, heavy[i]))
            return true;
    return false;
}

static prt_retype_mode mixed_mode(const prt_retype *how, const prt_op *op)
{
    (void)how;
    if (op->n_regions != 0)
        return PRT_RETYPE_EDGES;
    if ((op->def->traits & (PRT_MOVES | PRT_VIEW)) != 0)
        return PRT_RETYPE_FOLLOW;
    return is_heavy(op) ? PRT_RETYPE_CONVERT : PRT_RETYPE_KEEP;
}

static poprt_status run_mixed(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_retype how = { .from = PRT_DTYPE_f32, .to = PRT_DTYPE_f16, .clip = true,
        .infinities = true, .high = half_limit, .low = -half_limit, .least = half_least,
        .eager = true, .mode = mixed_mode };
    (void)graph;
    return prt_retype_run(p, &how, changed);
}

const prt_pass_hooks prt_pass_float_to_bf16 = { .run = run_bf16 };
const prt_pass_hooks prt_pass_float_to_half = { .run = run_half };
const prt_pass_hooks prt_pass_float_to_mixed = { .run = run_mixed };
