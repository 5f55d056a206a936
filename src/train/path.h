/* SPDX-License-Identifier: MIT */
/*
 * path.h — the ops between the variables of a differentiation and its results. An op without a rule
 * that is on the way is an error; all such ops are reported together, before anything is built.
 */
#ifndef PRT_TRAIN_PATH_H
#define PRT_TRAIN_PATH_H

#include "ir/report.h"

/* Returns whether a gradient can flow through a value: a floating-point tensor, or a sequence or
 * optional of such tensors. Values of unknown type count too. */
bool prt_path_carries(const prt_value *v);

/*
 * Adds the ops without a rule on the way from the marked values to `ys` to the report. `source` and
 * `cut` are tables by value id with `n` entries: values that count as variables, and values whose
 * op is not walked. Fails without memory.
 */
poprt_status prt_path_check(prt_report *report, const prt_graph *graph, uint32_t n,
    const bool *source, const bool *cut, uint32_t n_y, prt_value *const *ys);

#endif
