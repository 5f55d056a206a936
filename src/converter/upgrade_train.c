/* SPDX-License-Identifier: MIT */
/* upgrade_train.c — replaces Gradient by the operators that compute it. */
#include "converter/conversions.h"
#include "converter/onnx_raw.h"
#include "train/gradient.h"

poprt_status prt_up_gradient(prt_upgrade *u)
{
    const prt_node_attr *xs = prt_upgrade_attr(u, "xs"), *zs = prt_upgrade_attr(u, "zs");
    const prt_node_attr *y = prt_upgrade_attr(u, "y");
    if (xs == NULL || xs->kind != PRT_ONNX_STRINGS || y == NULL || y->kind != PRT_ONNX_STRING ||
        (zs != NULL && zs->kind != PRT_ONNX_STRINGS && zs->kind != 0))
        return prt_fail(POPRT_E_PARSE, prt_op_label(u->op),
            "Gradient: needs xs, a list of names, and y, a name; zs is a list of names");
    PRT_TRY(prt_upgrade_check_taken(u, 1, "xs, y, zs"));
    const prt_strs none = { NULL, 0 };
    prt_op *op = u->op;
    PRT_TRY(prt_train_gradient(op, xs->strings, zs != NULL ? zs->strings : none, y->s));
    u->op = NULL;
    return POPRT_OK;
}
