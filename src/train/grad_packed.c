/* SPDX-License-Identifier: MIT */
/*
 * grad_packed.c — the gradient of PackedDataBlock of ai.graphcore, which is rebuilt: the sequences
 * are gathered into rows, a Loop calls the callback on each batch of rows, and the results are
 * scattered.
 */
#include "train/region.h"
#include "train/terms.h"

typedef struct packed {
    prt_grad *g;
    const prt_gc_packed_data_block_attrs *a;
    uint32_t n;           /* data inputs */
    prt_value *sequences; /* that are processed: a multiple of the batch size, [1] */
} packed;

/* [sequences, 1] from one number of each processed sequence. */
static prt_value *column_of(const packed *p, uint32_t input)
{
    static const int64_t column[2] = { -1, 1 };
    prt_grad *g = p->g;
    prt_value *in[4] = { prt_grad_cast_to(g, prt_grad_x(g, input), PRT_DTYPE_i64),
        prt_build_i64s(g->b, 1, (const int64_t[1]){ 0 }), p->sequences,
        prt_build_i64s(g->b, 1, (const int64_t[1]){ 0 }) };
    return prt_grad_reshape_to(g, prt_build_op(g->b, PRT_OP_slice, NULL, 4, in), 2, column);
}

/* The rows of data input i as [batches, batch size, most rows, ...], padded with zeros. */
static prt_value *batches(const packed *p, uint32_t i)
{
    prt_grad *g = p->g;
    prt_value *data = prt_grad_x(g, 3 * i);
    const int32_t rank = prt_grad_rank(data);
    const int64_t most = p->a->maxSequenceLengths.data[i];
    int64_t dims[PRT_MAX_RANK + 2] = { -1, p->a->callbackBatchSize, most }, inner[PRT_MAX_RANK];
    if (rank < 1 || rank + 2 > PRT_MAX_RANK) {
        g->b->status = prt_grad_refuse(g, "needs data of known rank");
        return NULL;
    }
    for (int32_t k = 1; k < rank; k++) {
        dims[2 + k] = data->type->dims[k];
        inner[k - 1] = 1 + (int64_t)k;
        if (!prt_dim_is_number(dims[2 + k])) {
            g->b->status = prt_grad_refuse(g, "needs rows of known shape");
            return NULL;
        }
    }
    prt_value *row = prt_grad_count(g, prt_build_i64s(g->b, 1, &most));
    prt_value *last = SUB(prt_grad_dim(g, data, 0), prt_build_i64(g->b, 1));
    prt_value *at = BINARY(min, ADD(column_of(p, 3 * i + 1), row), last);
    prt_value *valid = BINARY(less, row, column_of(p, 3 * i + 2));
    valid = prt_grad_unsqueeze(g, valid, (uint32_t)rank - 1, inner);
    prt_value *rows = WHERE(valid, BINARY(gather, data, at), NUM(data, 0.0));
    return prt_grad_reshape_to(g, rows, (uint32_t)rank + 2, dims);
}

/* Runs the callback on each batch; returns the results [batches, batch size, rows, ...]. */
static prt_value *call_batches(const packed *p)
{
    prt_grad *g = p->g;
    prt_build *b = g->b;
    prt_arena *arena = b->graph->module->arena;
    prt_value **in = PRT_NEW_N(arena, prt_value *, p->n), *ret[2] = { NULL, NULL };
    const prt_graph *callback = g->op->regions[p->a->callback];
    prt_value *count = prt_build_binary(b, PRT_OP_div,
        prt_grad_reshape_to(g, p->sequences, 0, NULL), prt_build_i64(b, p->a->callbackBatchSize));
    for (uint32_t i = 0; in != NULL && i < p->n; i++)
        in[i] = batches(p, i);
    if (b->status != POPRT_OK || in == NULL || callback->ret->n_in != 1)
        return NULL;
    prt_op *op = prt_region_add_loop(b, 2, (prt_value *[2]){ count, NULL }, 1);
    if (op == NULL || (b->status = prt_region_add_loop_inputs(op)) != POPRT_OK)
        return NULL;
    prt_graph *body = op->regions[0];
    prt_value *at = body->inputs.data[0];
    ret[0] = body->inputs.data[1];
    prt_build inside = prt_build_at_end(body);
    for (uint32_t i = 0; i < p->n; i++)
        in[i] = prt_build_binary(&inside, PRT_OP_gather, in[i], at);
    const prt_region_copy copy = { .region = callback, .inputs = in };
    b->status = prt_region_copy_ops(&inside, &copy, &ret[1]);
    if (b->status == POPRT_OK)
        b->status = prt_region_return(body, 2, ret);
    if (b->status == POPRT_OK)
        b->status = prt_ir_infer_new_op(op);
    return b->status == POPRT_OK ? &op->out[0] : NULL;
}

poprt_status prt_grad_gc_packed_data_block(prt_grad *g)
{
    static const int64_t last[1] = { -1 };
    const prt_gc_packed_data_block_attrs *a = g->op->attrs;
    const uint32_t n_in = g->op->n_in;
    packed p = { .g = g, .a = a, .n = (n_in - 2) / 3 };
    int64_t dims[PRT_MAX_RANK], zeros[PRT_MAX_RANK];
    if (n_in < 5 || a->callbackBatchSize < 1 || a->maxSequenceLengths.count != p.n)
        return prt_grad_refuse(g, "its attributes do not fit its inputs");
    prt_value *all = prt_grad_dim(g, prt_grad_x(g, n_in - 1), 0);
    prt_value *size = prt_build_i64s(g->b, 1, &a->callbackBatchSize);
    p.sequences = MUL(BINARY(div, all, size), size);
    prt_value *y = call_batches(&p);
    PRT_TRY(g->b->status);
    const int32_t rank = prt_grad_rank(y);
    if (y == NULL || rank < 3)
        return prt_grad_refuse(g, "the callback has no result of known rank");
    dims[0] = -1;
    zeros[0] = a->resultSize + 1;
    for (int32_t k = 2; k < rank; k++) {
        dims[k - 1] = y->type->dims[k];
        if (k > 2)
            zeros[k - 2] = dims[k - 1];
        if (!prt_dim_is_number(dims[k - 1]))
            return prt_grad_refuse(g, "the callback has a result of unknown shape");
    }
    /* Row resultSize takes the rows behind the end of each sequence. */
    prt_value *row = prt_grad_count(g, prt_build_i64s(g->b, 1, &dims[1]));
    prt_value *at = WHERE(BINARY(less, row, column_of(&p, n_in - 1)),
        ADD(column_of(&p, n_in - 2), row), prt_build_i64(g->b, a->resultSize));
    prt_value *in[3] = { BINARY(expand, NUM(y, 0.0),
                             prt_build_i64s(g->b, (uint32_t)rank - 2, zeros)),
        prt_grad_unsqueeze(g, at, 1, last), prt_grad_reshape_to(g, y, (uint32_t)rank - 1, dims) };
    y = prt_build_op(g->b, PRT_OP_scatter_nd, NULL, 3, in);
    return prt_grad_by(g, prt_grad_slice(g, y, 0, 0, a->resultSize, 1));
}
