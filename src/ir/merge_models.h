/* SPDX-License-Identifier: MIT */
/*
 * merge_models.h — several models in one graph: each is a branch that an input selects. The names
 * of its interface and what is asked of it are program/program.h's.
 */
#ifndef PRT_IR_MERGE_MODELS_H
#define PRT_IR_MERGE_MODELS_H

#include "ir/ir.h"

/* Key of the metadata that marks a fused module: how many graphs there are, in decimal. */
#define PRT_FUSED_KEY "model_fusion"

/*
 * Makes one module of 2 to PRT_FUSED_MOST others, which are only read and share the bytes of their
 * constants with it. Input 0 is `index`; inputs, outputs, values and nodes of module i are called
 * "graph<i>/<name>". Module i is the then-branch of an If on index == i; its else-branch gives
 * zeros. All modules have canonical forms, operators of the same plug-ins, inputs of static shape,
 * and outputs that are tensors or sequences.
 */
poprt_status prt_ir_merge_models(const prt_module *const *modules, size_t count, prt_module **out);
/* The same from an allocator of its own. */
poprt_status prt_ir_merge_into(const prt_module *const *modules, size_t count,
    const prt_allocator *allocator, prt_module **out);

/* How many graphs the module says it was made of; 0 when it does not. */
uint32_t prt_ir_merged_models(const prt_module *module);

#endif
