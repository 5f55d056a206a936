/* SPDX-License-Identifier: MIT */
/* bind.c — binds memory to a tensor of the executable. */
#include "runner/state.h"

poprt_status prt_runner_bind(poprt_stepio *io, const poprt_runner *runner, int32_t direction,
    uint32_t tensor, void *data)
{
    const prt_runner_tensor *t = &runner->lists[direction].tensors[tensor];
    const size_t slot =
        direction == POPRT_INPUT ? tensor : runner->lists[POPRT_INPUT].n_tensors + (size_t)tensor;
    if (data == NULL && t->size != 0)
        return poprt_stepio_bind_at(io, slot, NULL);
    const poprt_tensor bound = { data, t->size, t->dims, t->rank, t->dtype };
    return poprt_stepio_bind_at(io, slot, &bound);
}
