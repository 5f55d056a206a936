/* SPDX-License-Identifier: MIT */
/* update_groups.h — joins the updates of several weights to one node, as an option asks for. */
#ifndef PRT_TRAIN_UPDATE_GROUPS_H
#define PRT_TRAIN_UPDATE_GROUPS_H

#include "ir/ir.h"

/* Which updates become one node, of those with equal operators, attributes and types. */
typedef enum prt_update_grouping {
    PRT_UPDATE_GROUPING_none,
    PRT_UPDATE_GROUPING_all,
    PRT_UPDATE_GROUPING_auto_loose, /* as long as the weights have at most `bytes` together */
    PRT_UPDATE_GROUPING_auto_tight  /* until the weights have at least `bytes` together */
} prt_update_grouping;

/* Changes the graph of entry `update`, in which every weight has an update of its own. The nodes
 * of groups are at its end, in the order of their first weights. */
poprt_status prt_training_group_updates(prt_graph *update, prt_update_grouping grouping,
    uint64_t bytes, prt_arena *arena);

#endif
