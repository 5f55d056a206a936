/* SPDX-License-Identifier: MIT */
/*
 * host_concat.c — HostConcatSplitReshape of ai.graphcore: splits a concatenation of model inputs.
 * Row i of X [n, m] is output i, with its shape in `shapes`.
 */
#include "op/share/reals.h"

/* Finds the rank of the outputs. Returns false where `shapes` does not divide among them. */
static bool rank_of(prt_i64s shapes, uint32_t n_out, uint32_t *rank)
{
    if (n_out == 0 || shapes.count % n_out != 0)
        return false;
    *rank = shapes.count / n_out;
    return *rank <= PRT_MAX_RANK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_gc_host_concat_split_reshape_attrs *a = c->attrs;
    int64_t n = prt_infer_dim(c, 0, 0), m = prt_infer_dim(c, 0, 1);
    uint32_t rank;
    PRT_TRY(prt_infer_rank(c, 0, 2));
    if (!rank_of(a->shapes, c->n_out, &rank))
        return prt_infer_fail(c, POPRT_E_ARG,
            "shapes has %u dims; %u shapes of one rank of at most %d are needed", a->shapes.count,
            c->n_out, PRT_MAX_RANK);
    PRT_TRY(prt_infer_merge(c, n, c->n_out, "number of rows", &n));
    for (uint32_t i = 0; i < c->n_out; i++) {
        const int64_t *dims = a->shapes.data + (size_t)i * rank;
        for (uint32_t k = 0; k < rank; k++)
            if (dims[k] < 0)
                return prt_infer_fail(c, POPRT_E_ARG, "dim %u of shape %u is %lld", k, i,
                    (long long)dims[k]);
        PRT_TRY(prt_infer_merge(c, m, prt_infer_product(c, dims, 0, rank), "length of a row", &m));
        PRT_TRY(prt_infer_set(c, i, c->in[0].dtype, (int32_t)rank, dims));
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t m = (size_t)x->dims[1];
    for (uint32_t i = 0; i < c->n_out; i++)
        if (prt_eval_wants(c, i))
            prt_element_copy(x->dtype, c->out[i]->data, 0, x->data, i * m, m);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_host_concat_split_reshape = { .infer = infer, .eval = eval };
