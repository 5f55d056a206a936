/* SPDX-License-Identifier: MIT */
/*
 * stepio_flow.c — a run of an executable with data flow. A bound buffer has the blocks of all
 * micro-batches one after another, in the order of program/flow.h, and micro-batches read and write
 * it in place. Callbacks are asked for one block at a time.
 */
#include "api/stepio.h"
#include "runtime/stream.h"

/* Sets the shape of a block of a bound tensor. */
static bool block_of(const prt_slot *slot, const prt_tensor *whole, prt_tensor *block)
{
    const prt_type *type = slot->type;
    int64_t dims[PRT_MAX_RANK] = { 0 };
    const bool fixed = prt_type_is_static(type);
    const uint32_t skip = fixed || slot->any_shape ? 0 : slot->n_prefix;
    const uint32_t rank = fixed ? (uint32_t)type->rank : whole->rank - skip;
    if (rank != 0)
        memcpy(dims, fixed ? type->dims : whole->dims + skip, rank * sizeof(int64_t));
    return prt_tensor_init(block, whole->dtype, rank, dims, NULL);
}

poprt_status prt_slot_import_blocks(const prt_slot *slot, const poprt_tensor *from, prt_tensor *out)
{
    const prt_slot any = { .name = slot->name, .type = slot->type, .any_shape = true };
    const prt_type *type = slot->type;
    const char *name = prt_slot_name(slot);
    uint64_t each;
    PRT_TRY(prt_slot_import(&any, type, from, out));
    const size_t got = prt_tensor_count(out);
    if (slot->any_shape)
        return POPRT_OK;
    if (prt_type_count(type, &each)) {
        if (got == each * (uint64_t)slot->blocks)
            return POPRT_OK;
        return prt_fail(POPRT_E_SHAPE, name,
            "needs %llu elements, %lld blocks of %llu; the bound tensor has %zu",
            (unsigned long long)(each * (uint64_t)slot->blocks), (long long)slot->blocks,
            (unsigned long long)each, got);
    }
    bool fits = type->rank < 0 ? out->rank >= slot->n_prefix
                               : out->rank == (uint32_t)type->rank + slot->n_prefix;
    for (uint32_t i = 0; fits && i < slot->n_prefix; i++)
        fits = out->dims[i] == slot->prefix[i];
    for (int32_t i = 0; fits && i < type->rank; i++)
        fits = !prt_dim_is_number(type->dims[i]) ||
            type->dims[i] == out->dims[slot->n_prefix + (uint32_t)i];
    if (fits)
        return POPRT_OK;
    return prt_fail(POPRT_E_SHAPE, name,
        "has a symbolic shape: it needs the %u dimensions of the data flow (%lld blocks), then "
        "those "
        "of a micro-batch",
        slot->n_prefix, (long long)slot->blocks);
}

/* ---- buffers */

static poprt_status buffer_in(void *user, const prt_stream_block *block, bool prefetch,
    prt_tensor *out)
{
    poprt_stepio *io = user;
    const prt_slot *slot = &io->slots[block->index];
    const prt_flow *flow = &io->session->exec->program->flow;
    if (prt_slot_is_connected(slot, block->replica))
        return prefetch ? POPRT_OK : prt_slot_pull(slot, block->replica, out);
    if (!slot->bound && io->session->synthetic != NULL) {
        *out = io->session->synthetic[block->index];
        return POPRT_OK;
    }
    if (!slot->bound)
        return prt_fail(POPRT_E_STATE, prt_slot_name(slot), "this input is not bound");
    if (slot->any_shape) {
        *out = slot->value;
        return POPRT_OK;
    }
    if (!block_of(slot, &slot->value, out))
        return prt_fail(POPRT_E_SHAPE, prt_slot_name(slot), "its blocks do not fit in memory");
    const int64_t k = prt_flow_block_in(flow, block->broadcast, block->step, block->replica);
    out->data = (char *)slot->value.data + (size_t)k * out->size;
    return POPRT_OK;
}

static size_t block_index(const poprt_stepio *io, const prt_stream_block *block)
{
    const prt_program *p = io->session->exec->program;
    return (
        size_t)prt_flow_block_out(&p->flow, &p->anchors[block->index], block->step, block->replica);
}

static poprt_status buffer_out(void *user, const prt_stream_block *block, prt_tensor *out)
{
    poprt_stepio *io = user;
    const prt_slot *slot = &io->slots[io->n_in + block->index];
    size_t each;
    if (prt_slot_is_connected(slot, block->replica) || !slot->bound ||
        !prt_type_size(slot->type, &each))
        return POPRT_OK;
    if (slot->value.size / (size_t)slot->blocks < each)
        return prt_fail(POPRT_E_ARG, prt_slot_name(slot), "needs %zu bytes, but the buffer has %zu",
            each * (size_t)slot->blocks, slot->value.size);
    *out = slot->value;
    out->data = (char *)slot->value.data + block_index(io, block) * each;
    out->size = each;
    return POPRT_OK;
}

/* Returns the memory of an output that the caller has not bound, for blocks of `size` bytes. */
static unsigned char *own_memory(poprt_stepio *io, uint32_t index, size_t size)
{
    prt_slot *slot = &io->slots[io->n_in + index];
    size_t whole;
    if (!prt_size_mul(size, (size_t)slot->blocks, &whole))
        return NULL;
    if (slot->own != NULL && slot->own_size >= whole)
        return slot->own;
    prt_mem_free(&io->allocator, slot->own);
    slot->own = prt_mem_alloc(&io->allocator, whole);
    slot->own_size = slot->own != NULL ? whole : 0;
    return slot->own;
}

/* Describes the whole output: the dims of the data flow, then those of a block. */
static bool describe_output(poprt_stepio *io, uint32_t index, const prt_tensor *value, void *data)
{
    const prt_slot *slot = &io->slots[io->n_in + index];
    int64_t dims[PRT_MAX_RANK + 3];
    memcpy(dims, slot->prefix, slot->n_prefix * sizeof(int64_t));
    memcpy(dims + slot->n_prefix, value->dims, value->rank * sizeof(int64_t));
    return slot->n_prefix + value->rank <= PRT_MAX_RANK &&
        prt_tensor_init(&io->out[index], value->dtype, slot->n_prefix + value->rank, dims, data);
}

static poprt_status buffer_out_complete(void *user, const prt_stream_block *block,
    const prt_tensor *value)
{
    poprt_stepio *io = user;
    prt_slot *slot = &io->slots[io->n_in + block->index];
    const char *name = prt_slot_name(slot);
    if (prt_slot_is_connected(slot, block->replica))
        return prt_slot_push(slot, block->replica, value);
    if (value->kind != PRT_VALUE_TENSOR || value->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_UNSUPPORTED, name,
            "a run with data flow can return only tensors of numbers");
    unsigned char *base =
        slot->bound ? slot->value.data : own_memory(io, block->index, value->size);
    const size_t at = block_index(io, block) * value->size;
    if (base == NULL)
        return POPRT_E_NOMEM;
    if (slot->bound && slot->value.size / (size_t)slot->blocks < value->size)
        return prt_fail(POPRT_E_ARG, name, "needs %zu bytes, but the buffer has %zu",
            value->size * (size_t)slot->blocks, slot->value.size);
    if (!describe_output(io, block->index, value, base))
        return prt_fail(POPRT_E_LIMIT, name, "the output has more than %d dimensions",
            PRT_MAX_RANK);
    if (value->size != 0 && base + at != value->data)
        memcpy(base + at, value->data, value->size);
    return POPRT_OK;
}

/* ---- callbacks */

static poprt_status callback_in(void *user, const prt_stream_block *block, bool prefetch,
    prt_tensor *out)
{
    poprt_stepio *io = user;
    const prt_slot *slot = &io->slots[block->index];
    const poprt_stepio_callbacks *cb = &io->callbacks;
    poprt_tensor tensor = { .dtype = slot->type->dtype };
    if (prt_slot_is_connected(slot, block->replica))
        return prefetch ? POPRT_OK : prt_slot_pull(slot, block->replica, out);
    if (io->session->synthetic != NULL) {
        *out = io->session->synthetic[block->index];
        return POPRT_OK;
    }
    if (prefetch && cb->prefetch == NULL)
        return POPRT_OK;
    const poprt_status status = cb->prefetch != NULL
        ? cb->prefetch(cb->user, prt_slot_name(slot), prefetch, block->broadcast, &tensor)
        : cb->in(cb->user, prt_slot_name(slot), &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, prt_slot_name(slot), "the callback for this input failed");
    if (prefetch && tensor.data == NULL)
        return POPRT_OK;
    return prt_slot_import(slot, slot->type, &tensor, out);
}

static void callback_in_complete(void *user, const prt_stream_block *block)
{
    const poprt_stepio *io = user;
    if (io->callbacks.in_complete != NULL && io->session->synthetic == NULL &&
        !prt_slot_is_connected(&io->slots[block->index], block->replica))
        io->callbacks.in_complete(io->callbacks.user, prt_slot_name(&io->slots[block->index]));
}

static poprt_status callback_out(void *user, const prt_stream_block *block, prt_tensor *out)
{
    poprt_stepio *io = user;
    if (prt_slot_is_connected(&io->slots[io->n_in + block->index], block->replica))
        return POPRT_OK;
    return prt_stepio_request_output(io, block->index, out);
}

static poprt_status callback_out_complete(void *user, const prt_stream_block *block,
    const prt_tensor *value)
{
    poprt_stepio *io = user;
    const prt_slot *slot = &io->slots[io->n_in + block->index];
    if (prt_slot_is_connected(slot, block->replica))
        return prt_slot_push(slot, block->replica, value);
    io->out[block->index] = *value;
    if (io->callbacks.out_complete != NULL)
        io->callbacks.out_complete(io->callbacks.user,
            prt_slot_name(&io->slots[io->n_in + block->index]));
    return POPRT_OK;
}

/* ---- a run */

static void nothing(void *user, const prt_stream_block *block)
{
    (void)user;
    (void)block;
}

poprt_status prt_stepio_run_flow(poprt_stepio *io, const poprt_session *session)
{
    static const prt_stream buffers = { NULL, buffer_in, nothing, buffer_out, buffer_out_complete };
    static const prt_stream callbacks = { NULL, callback_in, callback_in_complete, callback_out,
        callback_out_complete };
    io->ran = false;
    if (io->session != session)
        return prt_fail(POPRT_E_ARG, "io", "was made for another session");
    for (size_t i = 0; i < io->n_out; i++)
        if (io->slots[io->n_in + i].connected != NULL)
            io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    prt_stream stream = io->with_callbacks ? callbacks : buffers;
    stream.user = io;
    const poprt_status status = prt_session_run_flow(session->session, &stream);
    io->ran = status == POPRT_OK;
    return status;
}

void prt_slot_set_flow(prt_slot *slot, const prt_program *p, uint32_t index, bool is_input)
{
    if (!p->has_flow)
        return;
    slot->blocks = is_input ? prt_flow_blocks_in(&p->flow, p->broadcast[index])
                            : prt_flow_blocks_out(&p->flow, &p->anchors[index]);
    slot->n_prefix = is_input ? prt_flow_prefix_in(&p->flow, p->broadcast[index], slot->prefix)
                              : prt_flow_prefix_out(&p->flow, &p->anchors[index], slot->prefix);
}
