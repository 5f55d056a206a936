/* SPDX-License-Identifier: MIT */
/* stepio.h — between the parts of StepIO: binding (stepio.c, stepio_cache.c), running
 * (stepio_run.c) and results (stepio_output.c). */
#ifndef PRT_API_STEPIO_H
#define PRT_API_STEPIO_H

#include "api/handles.h"

/* A caller's tensor, checked against a type: dtype, rank and dims that are numbers must fit (for
 * an input of any shape, dtype alone), and the bytes must be there. */
poprt_status prt_slot_import(const prt_slot *slot, const prt_type *type, const poprt_tensor *from,
    prt_tensor *out);

/* Where an output shall go: any room; the run checks that it is enough. */
poprt_status prt_slot_import_room(const prt_slot *slot, const poprt_tensor *from, prt_tensor *out);

/* Nothing is bound any more, also to the slot that a cache was bound to with it. */
void prt_slot_clear(const poprt_stepio *io, size_t slot);

/* For errors. */
static inline const char *prt_slot_name(const prt_slot *slot)
{
    return slot->name.data;
}

/* Of fused models one graph runs, io->graph: what belongs to the others takes no part. */
static inline bool prt_slot_takes_part(const poprt_stepio *io, const prt_slot *slot)
{
    return slot->graph == PRT_NO_GRAPH || slot->graph == io->graph;
}

/* POPRT_E_NOT_FOUND with the nearest names among the slots from `first` to `end`. */
poprt_status prt_fail_no_slot(const poprt_stepio *io, const char *name, size_t first, size_t end);

#endif
