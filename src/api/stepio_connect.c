/* SPDX-License-Identifier: MIT */
/* stepio_connect.c — functions that inputs and outputs of single replicas are connected to. */
#include "api/stepio.h"

static int64_t replicas_of(const poprt_stepio *io)
{
    const prt_program *p = io->session->exec->program;
    return p->has_flow ? p->flow.replicas : 1;
}

bool prt_slot_is_connected(const prt_slot *slot, uint32_t replica)
{
    return slot->connected != NULL && slot->connected[replica].fn != NULL;
}

poprt_status prt_slot_pull(const prt_slot *slot, uint32_t replica, prt_tensor *out)
{
    const prt_connection *c = &slot->connected[replica];
    poprt_tensor tensor = { .dtype = slot->type->dtype };
    if (prt_type_is_static(slot->type)) {
        tensor.rank = (uint32_t)slot->type->rank;
        tensor.dims = slot->type->dims;
    }
    const poprt_status status = c->fn(c->user, prt_slot_name(slot), (int32_t)replica, &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, prt_slot_name(slot), "the stream of replica %u failed", replica);
    return prt_slot_import(slot, slot->type, &tensor, out);
}

poprt_status prt_slot_push(const prt_slot *slot, uint32_t replica, const prt_tensor *value)
{
    const prt_connection *c = &slot->connected[replica];
    if (value->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_slot_name(slot), "a stream has only tensors");
    poprt_tensor tensor = { .data = value->data,
        .size = value->size,
        .dims = value->dims,
        .rank = value->rank,
        .dtype = value->dtype };
    const poprt_status status = c->fn(c->user, prt_slot_name(slot), (int32_t)replica, &tensor);
    return status == POPRT_OK
        ? POPRT_OK
        : prt_fail(status, prt_slot_name(slot), "the stream of replica %u failed", replica);
}

poprt_status poprt_stepio_connect(poprt_stepio *io, const char *name, int32_t replica,
    poprt_stream_fn fn, void *user)
{
    size_t index;
    PRT_REQUIRE(io);
    PRT_REQUIRE(name);
    PRT_TRY(prt_stepio_find(io, name, &index));
    prt_slot *slot = &io->slots[index];
    const int64_t replicas = replicas_of(io);
    if (replica < 0 || replica >= replicas)
        return prt_fail(POPRT_E_ARG, name, "there is no replica %d: there are %lld", replica,
            (long long)replicas);
    if (slot->type->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_UNSUPPORTED, name, "is not a tensor, and cannot be a stream");
    if (slot->connected == NULL && fn != NULL) {
        slot->connected =
            prt_mem_alloc(&io->allocator, (size_t)replicas * sizeof(*slot->connected));
        if (slot->connected == NULL)
            return POPRT_E_NOMEM;
    }
    if (slot->connected == NULL)
        return POPRT_OK;
    slot->connected[replica] = (prt_connection){ fn, user };
    bool any = false;
    for (int64_t i = 0; i < replicas; i++)
        any = any || slot->connected[i].fn != NULL;
    if (!any) {
        prt_mem_free(&io->allocator, slot->connected);
        slot->connected = NULL;
    }
    return POPRT_OK;
}
