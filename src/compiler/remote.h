/* SPDX-License-Identifier: MIT */
/*
 * remote.h — RemoteLoad and RemoteStore of ai.graphcore: rows of a remote buffer. Buffer `bufferid`
 * is the initializer RemoteBuffer___<bufferid> of the main graph, whose first axis counts the rows.
 * A load becomes DynamicSlice, and a store DynamicUpdate and CopyVarUpdate: later loads of the run,
 * and later runs, see the row.
 */
#ifndef PRT_COMPILER_REMOTE_H
#define PRT_COMPILER_REMOTE_H

#include "ir/ir.h"

/* Returns whether a module has such operators. */
bool prt_remote_are_any(const prt_module *module);

/* Replaces them in the order of the ops. Operators without an initializer, and stores in subgraphs,
 * stay, and placing refuses them. Fails with POPRT_E_SHAPE for a tensor that is not a row. */
poprt_status prt_remote_lower(prt_module *module);

#endif
