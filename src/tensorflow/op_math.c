/* SPDX-License-Identifier: MIT */
/* op_math.c — element-wise operators. */
#include "tensorflow/rows.h"

/* The operator of the row with the same inputs and the defaults of its attributes. */
poprt_status prt_tf_row_same(prt_tf_call *n)
{
    prt_value *in[4];
    if (n->n_in > PRT_COUNT_OF(in))
        return prt_tf_refuse(n, "%u inputs are too many", n->n_in);
    for (uint32_t i = 0; i < n->n_in; i++)
        if ((in[i] = prt_tf_in(n, i)) == NULL)
            return prt_tf_end(n);
    prt_tf_set(n, 0, prt_build_op(&n->b, n->node->row->id, NULL, n->n_in, in));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_rsqrt(prt_tf_call *n)
{
    prt_value *root = prt_build_unary(&n->b, PRT_OP_sqrt, prt_tf_in(n, 0));
    prt_tf_set(n, 0, prt_build_unary(&n->b, PRT_OP_reciprocal, root));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_relu6(prt_tf_call *n)
{
    prt_tf_set(n, 0, prt_build_clip(&n->b, prt_tf_in(n, 0), 0, 6));
    return prt_tf_end(n);
}
