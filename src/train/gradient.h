/* SPDX-License-Identifier: MIT */
/* gradient.h — the operator ai.onnx.preview.training.Gradient, replaced by what it stands for. */
#ifndef PRT_TRAIN_GRADIENT_H
#define PRT_TRAIN_GRADIENT_H

#include "ir/ir.h"

/*
 * Replaces `op` by ops that compute the derivatives of the value named `y` with respect to those
 * named `xs`. Inputs of `op` are the values of xs, then of zs, to differentiate at; where they are
 * others than the named ones, the part of the graph between them and y is computed anew.
 */
poprt_status prt_train_gradient(prt_op *op, prt_strs xs, prt_strs zs, prt_str y);

#endif
