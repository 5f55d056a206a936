/* SPDX-License-Identifier: MIT */
/*
 * cast_into_onehot.c — fuse_cast_into_onehot: if the result of a OneHot is cast, casts its two
 * constant values instead. Requires that only the Cast reads the OneHot. If other runtimes have a
 * kernel for the old type, they must have one for the new type. Results are bitwise equal.
 */
#include "pass/engine/match.h"
#include "pass/precision/kernels.h"

enum { VALUES = 2 }; /* index of the type variable of the values */

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_op *hot = prt_match_interior(root, 0, PRT_OP_one_hot);
    prt_tensor t;
    if (hot == NULL || !prt_match_constant(hot, 2, &t) || prt_tensor_count(&t) != 2)
        return false;
    if (prt_kernel_exists(hot) &&
        !prt_kernel_exists_for(hot, VALUES, (int32_t)((const prt_cast_attrs *)root->attrs)->to))
        return false;
    prt_value *values = prt_op_input(hot, 2);
    values = prt_match_compute(p, b, values, PRT_OP_cast, root->attrs, 1, &values);
    if (values == NULL)
        return b->status != POPRT_OK;
    prt_value *in[3] = { prt_op_input(hot, 0), prt_op_input(hot, 1), values };
    prt_op *op = prt_match_new(b, hot, PRT_OP_one_hot, hot->attrs, 3, in, 1);
    if (op != NULL)
        (void)prt_pass_replace(b, &root->out[0], &op->out[0]);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_cast, apply } };

const prt_pass_hooks prt_pass_fuse_cast_into_onehot = { .rewrites = rewrites, .n_rewrites = 1 };
