/* SPDX-License-Identifier: MIT */
/* stepio.h — declarations shared by the parts of a StepIO: binding (stepio.c, stepio_cache.c),
 * running (stepio_run.c) and results (stepio_output.c). */
#ifndef PRT_API_STEPIO_H
#define PRT_API_STEPIO_H

#include "api/handles.h"

/* Imports a caller's tensor for a slot. The dtype, the rank and the known dims must match `type`
 * (for an input of any shape, only the dtype), and `size` must be large enough. */
poprt_status prt_slot_import(const prt_slot *slot, const prt_type *type, const poprt_tensor *from,
    prt_tensor *out);

/* Imports a buffer for an output, of any size; the run checks whether it is large enough. */
poprt_status prt_slot_import_buffer(const prt_slot *slot, const poprt_tensor *from,
    prt_tensor *out);

/* The same for executables with data flow: `from` has all blocks. If the shape of a micro-batch is
 * fixed, only the number of elements counts. */
poprt_status prt_slot_import_blocks(const prt_slot *slot, const poprt_tensor *from,
    prt_tensor *out);

/* Sets the members of a slot for data flow. */
void prt_slot_set_flow(prt_slot *slot, const prt_program *p, uint32_t index, bool is_input);

/* Asks the callback for the buffer of an output; leaves `to` as it is where there is none. */
poprt_status prt_stepio_request_output(poprt_stepio *io, size_t output, prt_tensor *to);

/* Removes the binding of a slot, and of the slot that shares a cache with it. */
void prt_slot_clear(const poprt_stepio *io, size_t slot);

/* Finds an input or output by name; inputs come first. Fails with POPRT_E_NOT_FOUND. */
poprt_status prt_stepio_find(const poprt_stepio *io, const char *name, size_t *out);

/* stepio_connect.c: return whether a stream is connected; ask the function of an input for a block;
 * pass a value to the function of an output. */
bool prt_slot_is_connected(const prt_slot *slot, uint32_t replica);
poprt_status prt_slot_pull(const prt_slot *slot, uint32_t replica, prt_tensor *out);
poprt_status prt_slot_push(const prt_slot *slot, uint32_t replica, const prt_tensor *value);

/* Returns the name of a slot, for errors. */
static inline const char *prt_slot_name(const prt_slot *slot)
{
    return slot->name.data;
}

/* Tells whether a slot takes part in the run. In a fused model only slots of graph io->graph do. */
static inline bool prt_slot_is_used(const poprt_stepio *io, const prt_slot *slot)
{
    return slot->graph == PRT_NO_GRAPH || slot->graph == io->graph;
}

/* Fails with POPRT_E_NOT_FOUND and the nearest names among the slots [first, end). */
poprt_status prt_fail_no_slot(const poprt_stepio *io, const char *name, size_t first, size_t end);

#endif
