/* SPDX-License-Identifier: MIT */
/* gradient.h — expansion of the operator ai.onnx.preview.training.Gradient. */
#ifndef PRT_TRAIN_GRADIENT_H
#define PRT_TRAIN_GRADIENT_H

#include "ir/ir.h"

/*
 * Replaces `op` by ops that compute the derivatives of the value named `y` with respect to the
 * values named `xs`. Inputs of `op` are the points of xs, then of zs, at which to differentiate. If
 * they differ from the named values, the part of the graph between them and y is copied. Fails with
 * POPRT_E_NOT_FOUND if a name is unknown.
 */
poprt_status prt_train_gradient(prt_op *op, prt_strs xs, prt_strs zs, prt_str y);

#endif
