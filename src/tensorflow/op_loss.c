/* SPDX-License-Identifier: MIT */
/* op_loss.c — losses of classification, with their gradients. */
#include "tensorflow/formulas.h"

/* loss = -Σ labels · LogSoftmax(features), whose gradient is Softmax(features) - labels. */
static poprt_status set_loss(prt_tf_call *n, prt_value *features, prt_value *labels)
{
    prt_value *terms = BINARY(mul, labels, UNARY(log_softmax, features));
    prt_value *sum = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, terms, -1, false);
    prt_tf_set(n, 0, UNARY(neg, sum));
    prt_tf_set(n, 1, BINARY(sub, UNARY(softmax, features), labels));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_cross_entropy(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *labels = prt_tf_in(n, 1);
    if (x == NULL || labels == NULL)
        return prt_tf_end(n);
    return set_loss(n, x, labels);
}

/* Labels are classes: the loss is minus one element of LogSoftmax. */
poprt_status prt_tf_row_sparse_cross_entropy(prt_tf_call *n)
{
    static const int64_t last = -1, zero = 0;
    prt_value *x = prt_tf_in(n, 0), *labels = prt_tf_in(n, 1);
    if (x == NULL || labels == NULL)
        return prt_tf_end(n);
    prt_gather_elements_attrs attrs = PRT_ATTRS_OF(gather_elements);
    PRT_ATTR_SET(attrs, gather_elements, axis, last);
    prt_value *at = prt_build_unsqueeze(&n->b, labels, 1, &last);
    prt_value *in[] = { UNARY(log_softmax, x), at };
    prt_value *chosen = prt_build_op(&n->b, PRT_OP_gather_elements, &attrs, 2, in);
    prt_tf_set(n, 0, UNARY(neg, prt_build_squeeze(&n->b, chosen, 1, &last)));
    prt_value *classes = prt_build_squeeze(&n->b, prt_build_size_of(&n->b, x, -1), 1, &zero);
    prt_value *index = prt_build_range(&n->b, I64(0), classes, I64(1));
    prt_value *hot = BINARY(equal, prt_build_cast(&n->b, at, PRT_DTYPE_i64), index);
    prt_tf_set(n, 1, BINARY(sub, UNARY(softmax, x), prt_build_cast_as(&n->b, hot, x)));
    return prt_tf_end(n);
}
