/* SPDX-License-Identifier: MIT */
/* to_nhwc.c — makes and finds the Transposes between channels first and channels last. */
#include "pass/layout/to_nhwc.h"

static const int64_t to_first[3][5] = { { 0, 2, 1 }, { 0, 3, 1, 2 }, { 0, 4, 1, 2, 3 } };
static const int64_t to_last[3][5] = { { 0, 2, 1 }, { 0, 2, 3, 1 }, { 0, 2, 3, 4, 1 } };

bool prt_to_nhwc_is_image(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank >= 3 &&
        v->type->rank <= PRT_TO_NHWC_MAX_RANK;
}

static bool has_perm(const prt_op *op, const int64_t *perm, uint32_t rank)
{
    const prt_transpose_attrs *a = op->attrs;
    return a->perm.count == rank && memcmp(a->perm.data, perm, rank * sizeof(int64_t)) == 0;
}

prt_value *prt_to_nhwc_source(const prt_value *v)
{
    if (!prt_to_nhwc_is_image(v) || v->def == NULL || !prt_op_is(v->def, PRT_OP_transpose))
        return NULL;
    const uint32_t rank = (uint32_t)v->type->rank;
    prt_value *x = prt_op_input(v->def, 0);
    return has_perm(v->def, to_first[rank - 3], rank) && prt_to_nhwc_is_image(x) ? x : NULL;
}

bool prt_to_nhwc_is_last(const prt_op *op)
{
    const prt_value *x = prt_op_input(op, 0);
    return prt_to_nhwc_is_image(x) &&
        has_perm(op, to_last[x->type->rank - 3], (uint32_t)x->type->rank);
}

prt_value *prt_to_nhwc_last(prt_build *b, prt_value *v)
{
    prt_value *source = prt_to_nhwc_source(v);
    const uint32_t rank = (uint32_t)v->type->rank;
    return source != NULL ? source : prt_match_add_transpose(b, v, rank, to_last[rank - 3]);
}

void prt_to_nhwc_replace(prt_build *b, prt_op *root, uint32_t i, prt_value *y)
{
    if (y == NULL)
        return;
    const uint32_t rank = (uint32_t)y->type->rank;
    prt_value *transposed = prt_match_add_transpose(b, y, rank, to_first[rank - 3]);
    if (transposed != NULL)
        (void)prt_pass_replace(b, &root->out[i], transposed);
}

prt_value *prt_to_nhwc_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims)
{
    int64_t shape[PRT_MAX_RANK];
    uint32_t open = 0;
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = prt_dim_is_number(dims[i]) ? dims[i] : -1;
        open += shape[i] < 0;
        if (shape[i] == 0)
            return NULL;
    }
    if (open > 1)
        return NULL;
    prt_value *in[2] = { x, prt_build_i64s(b, rank, shape) };
    return prt_build_op(b, PRT_OP_reshape, NULL, 2, in);
}
