/* SPDX-License-Identifier: MIT */
/*
 * grad_linear_attention.c — gradient of LinearAttention, which is rebuilt as a Loop over positions.
 * Its tensors have the positions first: [positions, batch, heads, rows, size], where the rows of a
 * query are the heads that share a key.
 */
#include <math.h>

#include "ir/extra.h"
#include "train/region.h"
#include "train/terms.h"

enum { IN_Q, IN_K, IN_V, IN_PAST, IN_DECAY, IN_BETA, N_IN };

/* The input in the type of the computation, with the positions first. */
static prt_value *by_position(prt_grad *g, uint32_t i, int64_t heads, int64_t rows, int64_t size)
{
    static const int64_t perm[5] = { 1, 0, 2, 3, 4 };
    const int64_t dims[5] = { 0, 0, heads, rows, size };
    prt_value *x = prt_grad_cast_to(g, prt_grad_x(g, i), PRT_DTYPE_f32);
    return prt_grad_permute(g, prt_grad_reshape_to(g, x, 5, dims), 5, perm);
}

/* The state before the first position. */
static prt_value *first_state(prt_grad *g, int64_t heads, int64_t size, int64_t width)
{
    const int64_t dims[3] = { heads, size, width };
    if (prt_grad_x(g, IN_PAST) != NULL)
        return prt_grad_cast_to(g, prt_grad_x(g, IN_PAST), PRT_DTYPE_f32);
    prt_value *parts[2] = { prt_grad_dim(g, prt_grad_x(g, IN_Q), 0),
        prt_build_i64s(g->b, 3, dims) };
    return BINARY(expand, prt_build_scalar(g->b, PRT_DTYPE_f32, 0.0),
        prt_grad_concat_values(g, 0, 2, parts));
}

/* Fills the body: condition, next state, and the outputs of the position. */
static poprt_status fill(const prt_grad *outer, prt_graph *body, prt_value *const *in, double scale)
{
    static const int64_t swap[4] = { 0, 1, 3, 2 };
    prt_build b = prt_build_at_end(body);
    prt_grad inner = *outer, *g = &inner;
    prt_value *state = body->inputs.data[2], *x[N_IN] = { NULL };
    inner.b = &b;
    for (uint32_t i = 0; i < N_IN; i++)
        if (in[i] != NULL)
            x[i] = BINARY(gather, in[i], body->inputs.data[0]);
    if (x[IN_DECAY] != NULL)
        state = MUL(state, x[IN_DECAY]);
    if (x[IN_BETA] != NULL)
        x[IN_V] = MUL(x[IN_BETA], SUB(x[IN_V], BINARY(matmul, x[IN_K], state)));
    state = ADD(state, MUL(prt_grad_permute(g, x[IN_K], 4, swap), x[IN_V]));
    prt_value *y = BINARY(matmul, x[IN_Q], state);
    prt_value *const ret[3] = { body->inputs.data[1], state, MUL(y, NUM(y, scale)) };
    PRT_TRY(prt_build_status(&b));
    return prt_region_return(body, 3, ret);
}

poprt_status prt_grad_linear_attention(prt_grad *g)
{
    static const int64_t perm[5] = { 1, 0, 2, 3, 4 }, flat[3] = { 0, 0, -1 };
    const prt_linear_attention_attrs *a = g->op->attrs;
    const prt_value *k = prt_grad_x(g, IN_K), *v = prt_grad_x(g, IN_V);
    const int64_t heads = a->kv_num_heads, rows = a->q_num_heads / heads;
    if (prt_grad_rank(k) != 3 || prt_grad_rank(v) != 3 || !prt_dim_is_number(k->type->dims[2]) ||
        !prt_dim_is_number(v->type->dims[2]) || k->type->dims[2] < heads)
        return prt_grad_refuse(g, "needs known sizes of keys and values");
    const int64_t size = k->type->dims[2] / heads, width = v->type->dims[2] / heads;
    prt_value *x[N_IN] = { by_position(g, IN_Q, heads, rows, size),
        by_position(g, IN_K, heads, 1, size), by_position(g, IN_V, heads, 1, width) };
    if (prt_grad_x(g, IN_DECAY) != NULL)
        x[IN_DECAY] = CALL(exp, by_position(g, IN_DECAY, heads, -1, 1));
    if (prt_grad_x(g, IN_BETA) != NULL)
        x[IN_BETA] = by_position(g, IN_BETA, -1, 1, 1);
    prt_value *count = prt_grad_reshape_to(g, prt_grad_dim(g, prt_grad_x(g, IN_Q), 1), 0, NULL);
    prt_value *const in[3] = { count, NULL, first_state(g, heads, size, width) };
    PRT_TRY(prt_build_status(g->b));
    prt_op *loop = prt_region_add_loop(g->b, 3, in, 2);
    if (loop == NULL)
        return prt_build_status(g->b);
    PRT_TRY(prt_region_add_loop_inputs(loop));
    PRT_TRY(fill(g, loop->regions[0], x,
        a->scale != 0.0f ? (double)a->scale : 1.0 / sqrt((double)size)));
    PRT_TRY(prt_ir_infer_new_op(loop));
    prt_value *y = prt_grad_reshape_to(g, prt_grad_permute(g, &loop->out[1], 5, perm), 3, flat);
    prt_value *const ys[2] = { prt_grad_cast_as(g, y, &g->op->out[0]),
        g->op->n_out > 1 ? prt_grad_cast_as(g, &loop->out[0], &g->op->out[1]) : NULL };
    return prt_grad_by_outputs(g, ys);
}
