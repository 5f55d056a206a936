/* SPDX-License-Identifier: MIT */
/* unpacked_matmul.c — products of activations with packed weights. */
#include "op/microsoft/unpacked_matmul.h"

poprt_status prt_unpacked_matmul_infer(prt_infer *c, uint32_t out, int64_t n, int64_t k)
{
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], inner;
    if (x->rank < 0)
        return prt_infer_unranked(c, out, x->dtype, x->rank);
    if (x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input 0 is a scalar; at least rank 1 is needed");
    memcpy(dims, x->dims, sizeof(dims));
    PRT_TRY(prt_infer_merge(c, dims[x->rank - 1], k, "the number of input features", &inner));
    dims[x->rank - 1] = n;
    return prt_infer_exact(c, out, x->dtype, x->rank, dims);
}

poprt_status prt_check_count(const prt_infer *c, uint32_t i, int64_t count)
{
    int64_t merged;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    return prt_infer_merge(c, count,
        prt_infer_product(c, c->in[i].dims, 0, (uint32_t)c->in[i].rank),
        prt_slot_name(prt_op_in_slot(c->def, i)), &merged);
}

typedef struct sink {
    prt_tensor *y;
    const double *bias;
} sink;

static void store(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    for (size_t k = 0; to->bias != NULL && k < count; k++)
        sums[k] += to->bias[j + k];
    prt_reals_store(to->y->dtype, to->y->data, i * p->n + j, 1, count, sums);
}

poprt_status prt_unpacked_matmul_run(prt_eval *c, const prt_unpacked_matmul *w, const prt_tensor *x,
    const double *bias, prt_tensor *y)
{
    sink to = { y, bias };
    prt_product p = { .m = w->k != 0 ? prt_tensor_count(x) / w->k : 0,
        .n = w->n,
        .k = w->k,
        .store = store,
        .user = &to };
    p.a = (prt_operand){ .dtype = x->dtype, .data = x->data, .row = w->k, .col = 1 };
    p.b = (prt_operand){ .column = w->column, .user = w->user };
    if (p.m == 0)
        return POPRT_OK;
    PRT_TRY(prt_product_init(c, &p));
    return prt_product_run(c, &p);
}

bool prt_load_reals(prt_eval *c, uint32_t i, const double **to)
{
    *to = NULL;
    if (!prt_eval_has(c, i))
        return true;
    *to = prt_eval_reals(c, c->in[i]);
    return *to != NULL;
}
