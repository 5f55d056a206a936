/* SPDX-License-Identifier: MIT */
/*
 * half.c — float_to_half, float_to_mixed, float_to_bf16: float32 becomes a 16-bit type.
 *
 * float_to_half converts everything: inputs, outputs, initializers, the targets of Casts. Operators
 * with a type in skip_op_types and operators that do not support float16 keep float32, with Casts
 * around them. Differences from the reference: numbers computed from sizes for such operators or
 * for integers stay float32; constants of kept operators are not rounded; results pass between kept
 * operators without Casts. Infinities in constants are clipped too; NaN stays.
 *
 * enable_avoid_overflow_patterns (an extension): regions that exceed the range of float16 and
 * return to it are kept as well, see overflow.c.
 *
 * float_to_mixed: products, convolutions, attention and recurrent layers use float16, other
 * operators float32; operators that only move elements use the type of their operands. The model's
 * interface stays. The pass warns of values that overflow on the samples or, without samples, on
 * pseudo-random data.
 *
 * The effect on results depends on the model: passes.def has measured figures.
 */
#include "pass/precision/half.h"

#include "pass/precision/feed.h"
#include "pass/precision/overflow.h"
#include "pass/precision/watch.h"

static const double half_limit = 65500.0, half_least = 1e-7, largest_half = 65504.0;

/* The largest finite bfloat16. Larger float32 numbers round to it or, without clipping, to
 * infinity; a mask of 0 * -FLT_MAX would then be NaN. */
static const double bf16_limit = 0x1.fep127;

/* ---- the passes */

typedef struct half_options {
    const prt_pass *p;
    const prt_overflow *overflow; /* NULL: the option is off */
} half_options;

static prt_retype_mode half_mode(const prt_retype *how, const prt_op *op)
{
    const half_options *o = how->user;
    const bool kept = prt_pass_lists(o->p, "skip_op_types", op->name) ||
        (o->overflow != NULL && prt_overflow_keeps(o->overflow, op));
    return kept ? PRT_RETYPE_KEEP : PRT_RETYPE_CONVERT;
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

static poprt_status run_to(prt_pass *p, int32_t to, prt_watch *watch, bool *changed)
{
    half_options options = { .p = p };
    prt_overflow *overflow = NULL;
    const prt_retype how = { .mode = half_mode,
        .user = &options,
        .watch = watch,
        .converted = watch != NULL ? prt_watch_add : NULL };
    if (prt_pass_bool(p, "enable_avoid_overflow_patterns"))
        PRT_TRY(prt_overflow_find(p->arena, p->module, &overflow));
    options.overflow = overflow;
    return prt_retype_all(p, to, &how, changed);
}

/* Warns of values that overflow, if samples are given. */
static poprt_status run_half(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_watch *watch = NULL;
    (void)graph;
    if (p->feed != NULL && p->feed->n_arrays != 0)
        PRT_TRY(prt_watch_begin(p, &watch));
    const poprt_status status = run_to(p, PRT_DTYPE_f16, watch, changed);
    return prt_watch_end(watch, status, "float16", largest_half);
}

static poprt_status run_bf16(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)graph;
    return run_to(p, PRT_DTYPE_bf16, NULL, changed);
}

static bool is_heavy(const prt_op *op)
{
    static const uint32_t heavy[] = { PRT_OP_attention, PRT_OP_conv, PRT_OP_conv_transpose,
        PRT_OP_deform_conv, PRT_OP_einsum, PRT_OP_gemm, PRT_OP_gru, PRT_OP_lstm, PRT_OP_matmul,
        PRT_OP_rnn, PRT_OP_gc_lstm, PRT_OP_gc_multi_conv, PRT_OP_ms_attention, PRT_OP_ms_fused_conv,
        PRT_OP_ms_fused_gemm, PRT_OP_ms_fused_matmul, PRT_OP_ms_group_query_attention,
        PRT_OP_ms_multi_head_attention };
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
    prt_watch *watch = NULL;
    PRT_TRY(prt_watch_begin(p, &watch));
    const prt_retype how = { .from = PRT_DTYPE_f32,
        .to = PRT_DTYPE_f16,
        .clip = true,
        .infinities = true,
        .high = half_limit,
        .low = -half_limit,
        .least = half_least,
        .eager = true,
        .mode = mixed_mode,
        .watch = watch,
        .converted = watch != NULL ? prt_watch_add : NULL };
    (void)graph;
    const poprt_status status = prt_retype_run(p, &how, changed);
    return prt_watch_end(watch, status, "float16", largest_half);
}

const prt_pass_hooks prt_pass_float_to_bf16 = { .run = run_bf16 };
const prt_pass_hooks prt_pass_float_to_half = { .run = run_half };
const prt_pass_hooks prt_pass_float_to_mixed = { .run = run_mixed };
