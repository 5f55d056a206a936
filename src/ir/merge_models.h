/* SPDX-License-Identifier: MIT */
/*
 * merge_models.h — merges several models into one graph; an input selects the model that runs.
 * program/program.h has the names of the interface and the request.
 */
#ifndef PRT_IR_MERGE_MODELS_H
#define PRT_IR_MERGE_MODELS_H

#include "ir/ir.h"

/* Metadata key of a merged module: the number of its models, in decimal. */
#define PRT_FUSED_KEY "model_fusion"

/*
 * Merges 2 to PRT_FUSED_MOST modules into a new one. The modules are only read, and share the bytes
 * of their constants with it. Input 0 is `index`; inputs, outputs, values and nodes of module i are
 * named "graph<i>/<name>". Module i is the then-branch of an If on index == i; the else-branch
 * returns zeros. All modules must be canonical and have operators of the same plug-ins, inputs of
 * static shape, and outputs that are tensors or sequences.
 */
poprt_status prt_ir_merge_models(const prt_module *const *modules, size_t count, prt_module **out);
/* Like prt_ir_merge_models, from the given allocator. */
poprt_status prt_ir_merge_into(const prt_module *const *modules, size_t count,
    const prt_allocator *allocator, prt_module **out);

/* Returns the number of models the module was merged from; 0 when it is not a merged module. */
uint32_t prt_ir_merged_models(const prt_module *module);

#endif
