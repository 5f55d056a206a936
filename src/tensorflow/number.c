/* SPDX-License-Identifier: MIT */
/* number.c — what is known about integers. */
#include "tensorflow/number.h"

prt_value *prt_tf_without_moves(prt_value *v)
{
    while (v->def != NULL && v->def->def != NULL && v->def->in != NULL &&
        (v->def->def->id == PRT_OP_identity || v->def->def->id == PRT_OP_cast ||
            v->def->def->id == PRT_OP_reshape || v->def->def->id == PRT_OP_squeeze ||
            v->def->def->id == PRT_OP_unsqueeze))
        v = v->def->in[0].value;
    return v;
}

bool prt_tf_known_number(prt_tf_call *call, const prt_value *v, int64_t *out)
{
    uint32_t count = 0;
    return v != NULL && prt_tf_value_ints(call, v, 1, out, &count) && count == 1 &&
        *out != PRT_DIM_UNKNOWN;
}

bool prt_tf_is_number(prt_tf_call *call, const prt_value *v, int64_t number)
{
    int64_t value;
    return prt_tf_known_number(call, v, &value) && value == number;
}

bool prt_tf_same_number(prt_tf_call *call, prt_value *a, prt_value *b)
{
    int64_t x, y;
    if (a == NULL || b == NULL)
        return false;
    if (prt_tf_known_number(call, a, &x) && prt_tf_known_number(call, b, &y))
        return x == y;
    return prt_tf_without_moves(a) == prt_tf_without_moves(b);
}

bool prt_tf_is_range(prt_tf_call *call, prt_value *v, prt_value **limit, int64_t *count)
{
    prt_tensor t;
    *limit = NULL;
    *count = 0;
    if (v == NULL || prt_tf_rank(v) != 1)
        return false;
    v = prt_tf_without_moves(v);
    if (prt_value_is_constant(v) && prt_value_aligned(v, call->c->arena, &t) &&
        prt_dtype_is_integer(t.dtype)) {
        *count = (int64_t)prt_tensor_count(&t);
        for (int64_t i = 0; i < *count; i++)
            if (prt_load_i64(t.dtype, t.data, (size_t)i) != i)
                return false;
        return true;
    }
    const prt_op *op = v->def;
    if (op == NULL || op->def == NULL || op->def->id != PRT_OP_range ||
        !prt_tf_is_number(call, op->in[0].value, 0) || !prt_tf_is_number(call, op->in[2].value, 1))
        return false;
    *limit = op->in[1].value;
    return true;
}
