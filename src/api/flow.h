/* SPDX-License-Identifier: MIT */
/* flow.h — the data flow of a compilation, from a poprt_flow and the options of a config. */
#ifndef PRT_API_FLOW_H
#define PRT_API_FLOW_H

#include "api/handles.h"
#include "base/vec.h"
#include "compiler/compile.h"
#include "ir/ir.h"
#include "poprt/data.h"

struct poprt_flow {
    poprt_env *env;
    prt_arena *arena;
    int64_t batches;
    PRT_VEC(prt_str) anchor_names;
    PRT_VEC(prt_anchor) anchors;
    PRT_VEC(prt_str) broadcast;
};

/* Reads the flow and, for replication and accumulation, the options. In `out` the names belong to
 * the flow. */
poprt_status prt_flow_from(const poprt_flow *flow, const poprt_config *config, bool trains,
    prt_compile_flow *out);

/* Makes the anchors the outputs of the main graph, if there are any. Fails with POPRT_E_NOT_FOUND
 * and the nearest names. Sets `values` to the values of the anchors, allocated in `arena`. */
poprt_status prt_flow_set_outputs(const prt_compile_flow *flow, prt_module *module,
    prt_arena *arena);

/* Returns a text that identifies a flow, for the key of compiled executables; `data` is NULL
 * without memory. */
prt_str prt_flow_identity(const prt_compile_flow *flow, prt_arena *arena);

#endif
