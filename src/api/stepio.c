/* SPDX-License-Identifier: MIT */
/*
 * stepio.c — poprt/stepio.h: binds tensors to inputs and outputs.
 *
 * Bound descriptors are copied into `slots`. A run works on copies of them in `in` and `out`
 * (stepio_run.c), so that a StepIO can be used for many runs.
 */
#include "api/stepio.h"

#include "base/nearest.h"

/* Checks dims against a type. Known dims must match; symbols and unknown dims match any value. */
static poprt_status check_dims(const prt_slot *slot, const prt_type *type, const int64_t *dims,
    uint32_t rank)
{
    if (type->rank >= 0 && (uint32_t)type->rank != rank)
        return prt_fail(POPRT_E_SHAPE, prt_slot_name(slot),
            "has %d dimensions, but the bound tensor has %u", type->rank, rank);
    for (uint32_t i = 0; i < rank; i++)
        if (type->rank >= 0 && prt_dim_is_number(type->dims[i]) && type->dims[i] != dims[i])
            return prt_fail(POPRT_E_SHAPE, prt_slot_name(slot),
                "dimension %u is %lld, but the bound tensor has %lld", i, (long long)type->dims[i],
                (long long)dims[i]);
    return POPRT_OK;
}

/* Tells whether a shape has exactly one element: [], [1], [1, 1]. */
static bool is_single(uint32_t rank, const int64_t *dims)
{
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] != 1)
            return false;
    return true;
}

/* A scalar input accepts a tensor of one element, and the reverse, as in other runtimes: clients
 * bind [1] where a model has a scalar. The steps see the shape of the model. */
static bool accepts_single_element(const prt_type *type, const poprt_tensor *from)
{
    return type->kind == PRT_VALUE_TENSOR && type->rank >= 0 && type->rank <= PRT_MAX_RANK &&
        (uint32_t)type->rank != from->rank && is_single((uint32_t)type->rank, type->dims) &&
        is_single(from->rank, from->dims);
}

poprt_status prt_slot_import(const prt_slot *slot, const prt_type *type, const poprt_tensor *given,
    prt_tensor *out)
{
    const char *name = prt_slot_name(slot);
    poprt_tensor single = *given;
    const poprt_tensor *from = given;
    if (given->rank <= PRT_MAX_RANK && (given->rank == 0 || given->dims != NULL) &&
        !slot->any_shape && accepts_single_element(type, given)) {
        single.rank = (uint32_t)type->rank;
        single.dims = type->dims;
        from = &single;
    }
    if (from->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, name, "rank %u is above %d", from->rank, PRT_MAX_RANK);
    if (from->rank != 0 && from->dims == NULL)
        return prt_fail(POPRT_E_ARG, name, "dims must not be NULL when rank is %u", from->rank);
    if (type->kind == PRT_VALUE_TENSOR && type->dtype != PRT_DTYPE_undefined &&
        type->dtype != from->dtype)
        return prt_fail(POPRT_E_TYPE, name, "has type %s, but the bound tensor has type %s",
            poprt_dtype_name(type->dtype), poprt_dtype_name(from->dtype));
    for (uint32_t i = 0; i < from->rank; i++)
        if (from->dims[i] < 0)
            return prt_fail(POPRT_E_ARG, name, "dimension %u is negative", i);
    if (type->kind == PRT_VALUE_TENSOR && !slot->any_shape)
        PRT_TRY(check_dims(slot, type, from->dims, from->rank));
    if (!prt_tensor_init(out, from->dtype, from->rank, from->dims, from->data))
        return prt_fail(POPRT_E_ARG, name, "a tensor of %s with this shape does not fit in memory",
            poprt_dtype_name(from->dtype));
    if (out->size != 0 && (from->data == NULL || from->size < out->size))
        return prt_fail(POPRT_E_ARG, name, "needs %zu bytes, but the bound tensor has %zu",
            out->size, from->data != NULL ? from->size : 0);
    return POPRT_OK;
}

poprt_status prt_slot_import_buffer(const prt_slot *slot, const poprt_tensor *from, prt_tensor *out)
{
    const prt_type *type = slot->type;
    if (type->kind == PRT_VALUE_TENSOR && type->dtype != PRT_DTYPE_undefined &&
        from->dtype != PRT_DTYPE_undefined && type->dtype != from->dtype)
        return prt_fail(POPRT_E_TYPE, prt_slot_name(slot),
            "has type %s, but the bound buffer has type %s", poprt_dtype_name(type->dtype),
            poprt_dtype_name(from->dtype));
    if (from->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, prt_slot_name(slot), "rank %u is above %d", from->rank,
            PRT_MAX_RANK);
    if (from->dims != NULL && type->kind == PRT_VALUE_TENSOR && slot->blocks == 0)
        PRT_TRY(check_dims(slot, type, from->dims, from->rank));
    *out = (prt_tensor){ .kind = PRT_VALUE_TENSOR,
        .dtype = type->dtype,
        .data = from->data,
        .size = from->size };
    return POPRT_OK;
}

static prt_slot *slot_at(poprt_stepio *io, size_t index)
{
    return index < io->n_in + io->n_out ? &io->slots[index] : NULL;
}

static poprt_status fail_slot(const poprt_stepio *io, size_t slot)
{
    return prt_fail(POPRT_E_NOT_FOUND, "slot",
        "there is no slot %zu: there are %zu inputs and outputs", slot, io->n_in + io->n_out);
}

/* Removes a binding, and the items of an earlier sequence. */
static void clear(const poprt_stepio *io, prt_slot *slot)
{
    prt_mem_free(&io->allocator, slot->value.items);
    slot->value = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    slot->bound = false;
}

void prt_slot_clear(const poprt_stepio *io, size_t slot)
{
    prt_slot *s = &io->slots[slot];
    if (s->value.capacity != 0)
        clear(io, &io->slots[s->partner]);
    clear(io, s);
}

/* Fused models: allocates zeros as large as the largest input. They stand for the inputs of the
 * graphs that do not run. */
static poprt_status make_zeros(poprt_stepio *io)
{
    size_t most = 0, size = 0;
    for (size_t i = 0; i < io->n_in; i++)
        if (io->slots[i].graph != PRT_NO_GRAPH && prt_type_size(io->slots[i].type, &size))
            most = size > most ? size : most;
    if (most == 0)
        return POPRT_OK;
    io->zeros = prt_mem_alloc(&io->allocator, most);
    return io->zeros != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status create(const poprt_session *session, poprt_stepio **out)
{
    const prt_program *p = session->exec->program;
    const prt_allocator *allocator = &session->env->allocator;
    const size_t n = (size_t)p->n_inputs + p->n_outputs;
    poprt_stepio *io = prt_mem_alloc(allocator, sizeof(*io));
    if (io == NULL)
        return POPRT_E_NOMEM;
    io->session = session;
    io->allocator = *allocator;
    io->n_in = p->n_inputs;
    io->n_out = p->n_outputs;
    io->slots = prt_mem_alloc(allocator, n * sizeof(*io->slots));
    io->in = prt_mem_alloc(allocator, n * sizeof(*io->in));
    if (io->slots == NULL || io->in == NULL) {
        poprt_stepio_release(io);
        return POPRT_E_NOMEM;
    }
    io->out = io->in + io->n_in;
    io->graph = io->program = PRT_NO_GRAPH;
    for (size_t i = 0; i < n; i++) {
        const prt_io *from = i < io->n_in ? &p->inputs[i] : &p->outputs[i - io->n_in];
        io->slots[i] = (prt_slot){ .name = from->name,
            .type = from->type,
            .any_shape = from->any_shape && p->n_graphs == 0,
            .graph = p->n_graphs != 0 ? prt_fused_graph_of(from->name) : PRT_NO_GRAPH };
        prt_slot_set_flow(&io->slots[i], p, (uint32_t)(i < io->n_in ? i : i - io->n_in),
            i < io->n_in);
    }
    if (make_zeros(io) != POPRT_OK) {
        poprt_stepio_release(io);
        return POPRT_E_NOMEM;
    }
    *out = io;
    return POPRT_OK;
}

poprt_status poprt_stepio_create(const poprt_session *session, poprt_stepio **out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    return create(session, out);
}

poprt_status poprt_stepio_create_callbacks(const poprt_session *session,
    const poprt_stepio_callbacks *callbacks, poprt_stepio **out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(callbacks);
    PRT_REQUIRE(out);
    poprt_stepio_callbacks copy;
    PRT_TRY(prt_import(&copy, sizeof(copy), callbacks, callbacks->struct_size, "callbacks"));
    if (copy.in == NULL || copy.out == NULL)
        return prt_fail(POPRT_E_ARG, "callbacks", "the callbacks in and out must not be NULL");
    poprt_stepio *io = NULL;
    PRT_TRY(create(session, &io));
    io->with_callbacks = true;
    io->callbacks = copy;
    *out = io;
    return POPRT_OK;
}

poprt_status poprt_stepio_bind_at(poprt_stepio *io, size_t slot, const poprt_tensor *tensor)
{
    PRT_REQUIRE(io);
    prt_slot *s = slot_at(io, slot);
    if (s == NULL)
        return fail_slot(io, slot);
    if (io->with_callbacks)
        return prt_fail(POPRT_E_STATE, prt_slot_name(s),
            "cannot bind: this StepIO gets its tensors from callbacks");
    const bool is_input = slot < io->n_in;
    if (tensor == NULL || (!is_input && tensor->data == NULL && tensor->size == 0)) {
        prt_slot_clear(io, (size_t)(s - io->slots));
        return POPRT_OK;
    }
    if (s->type->kind != PRT_VALUE_TENSOR && s->type->kind != PRT_VALUE_UNKNOWN)
        return prt_fail(POPRT_E_TYPE, prt_slot_name(s),
            !is_input ? "is not a tensor: leave it unbound and read its items after the run"
                : s->type->kind == PRT_VALUE_MAP
                ? "is a map: use poprt_stepio_bind_map"
                : "is not a tensor: use poprt_stepio_bind_sequence");
    prt_tensor value = { .kind = PRT_VALUE_ABSENT };
    if (s->blocks != 0 && is_input)
        PRT_TRY(prt_slot_import_blocks(s, tensor, &value));
    else
        PRT_TRY(is_input ? prt_slot_import(s, s->type, tensor, &value)
                         : prt_slot_import_buffer(s, tensor, &value));
    prt_slot_clear(io, (size_t)(s - io->slots));
    s->value = value;
    s->bound = true;
    return POPRT_OK;
}

poprt_status prt_fail_no_slot(const poprt_stepio *io, const char *name, size_t first, size_t end)
{
    enum { MOST_NAMES = 512 };
    const char *names[MOST_NAMES];
    size_t n = 0;
    for (size_t i = first; i < end && n < MOST_NAMES; i++)
        names[n++] = prt_slot_name(&io->slots[i]);
    return prt_fail_nearest(name, names, n, "there is no %s of this name",
        first != 0            ? "output"
            : end == io->n_in ? "input"
                              : "input or output");
}

/* Returns whether a name "<program>/<rest>" is that of a slot, "graph<i>/<rest>". */
static bool is_of_program(const prt_slot *slot, uint32_t graph, const char *rest)
{
    const char *own =
        graph != PRT_NO_GRAPH && slot->graph == graph ? strchr(prt_slot_name(slot), '/') : NULL;
    return own != NULL && strcmp(own + 1, rest) == 0;
}

poprt_status prt_stepio_find(const poprt_stepio *io, const char *name, size_t *out)
{
    const char *slash = strchr(name, '/');
    const uint32_t graph = slash != NULL
        ? prt_executable_program(io->session->exec, (prt_str){ name, (uint32_t)(slash - name) })
        : PRT_NO_GRAPH;
    for (size_t i = 0; i < io->n_in + io->n_out; i++)
        if (prt_str_is(io->slots[i].name, name) ||
            (slash != NULL && is_of_program(&io->slots[i], graph, slash + 1))) {
            *out = i;
            return POPRT_OK;
        }
    return prt_fail_no_slot(io, name, 0, io->n_in + io->n_out);
}

poprt_status poprt_stepio_bind(poprt_stepio *io, const char *name, const poprt_tensor *tensor)
{
    size_t slot;
    PRT_REQUIRE(io);
    PRT_REQUIRE(name);
    PRT_TRY(prt_stepio_find(io, name, &slot));
    return poprt_stepio_bind_at(io, slot, tensor);
}

/* The type of the items of a binding, and their containers. */
typedef struct item_shape {
    bool optional, sequence;
    const prt_type *elem;
} item_shape;

static poprt_status shape_of_items(const prt_slot *slot, size_t count, item_shape *out)
{
    out->optional = slot->type->kind == PRT_VALUE_OPTIONAL;
    const prt_type *inner = out->optional ? slot->type->elem : slot->type;
    out->sequence = inner->kind == PRT_VALUE_SEQUENCE;
    if (!out->optional && !out->sequence)
        return prt_fail(POPRT_E_TYPE, prt_slot_name(slot),
            inner->kind == PRT_VALUE_MAP ? "is a map: use poprt_stepio_bind_map"
                                         : "is neither a sequence nor an optional");
    out->elem = out->sequence ? inner->elem : inner;
    if (out->elem->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_slot_name(slot),
            "only tensors can be bound as items here");
    if (!out->sequence && count > 1)
        return prt_fail(POPRT_E_ARG, prt_slot_name(slot),
            "an optional holds 0 or 1 tensors, not %zu", count);
    if (count > SIZE_MAX / sizeof(prt_tensor) - 1)
        return prt_fail(POPRT_E_ARG, prt_slot_name(slot), "%zu items are too many for memory",
            count);
    return POPRT_OK;
}

/*
 * Builds the value of a sequence or optional. `items` has one entry more than `count`, at its
 * start: the content of an optional, a tensor or the sequence of the other entries. `items` is also
 * the block that is freed; a bare sequence starts at its second entry (see stepio_run.c).
 */
static prt_tensor wrap_items(const item_shape *shape, prt_tensor *items, size_t count, bool present)
{
    const prt_tensor sequence = { .kind = PRT_VALUE_SEQUENCE,
        .dtype = shape->elem->dtype,
        .count = count,
        .items = items + 1 };
    if (!shape->optional) {
        prt_tensor value = sequence;
        value.items = items;
        return value;
    }
    const bool there = count != 0 || (shape->sequence && present);
    if (there)
        items[0] = shape->sequence ? sequence : items[1];
    return (prt_tensor){ .kind = PRT_VALUE_OPTIONAL,
        .dtype = shape->elem->dtype,
        .count = there,
        .items = items };
}

poprt_status poprt_stepio_bind_sequence(poprt_stepio *io, size_t slot, const poprt_tensor *tensors,
    size_t count, int32_t present)
{
    PRT_REQUIRE(io);
    if (count != 0)
        PRT_REQUIRE(tensors);
    if (slot >= io->n_in)
        return prt_fail(POPRT_E_NOT_FOUND, "slot", "there is no input %zu: there are %zu inputs",
            slot, io->n_in);
    prt_slot *s = &io->slots[slot];
    item_shape shape = { 0 };
    if (io->with_callbacks)
        return prt_fail(POPRT_E_STATE, prt_slot_name(s),
            "cannot bind: this StepIO gets its tensors from callbacks");
    PRT_TRY(shape_of_items(s, count, &shape));
    prt_tensor *items = prt_mem_alloc(&io->allocator, (count + 1) * sizeof(*items));
    if (items == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const poprt_status status = prt_slot_import(s, shape.elem, &tensors[i], &items[i + 1]);
        if (status != POPRT_OK) {
            prt_mem_free(&io->allocator, items);
            return status;
        }
    }
    prt_slot_clear(io, (size_t)(s - io->slots));
    s->value = wrap_items(&shape, items, count, present != 0);
    s->bound = true;
    return POPRT_OK;
}

/* Imports a list of `dtype` (undefined: any type). The elements are read in place, so they must be
 * aligned. */
static poprt_status import_list(const prt_slot *slot, int32_t dtype, const poprt_tensor *from,
    prt_tensor *out)
{
    const int64_t any = PRT_DIM_UNKNOWN;
    const prt_type list = { .kind = PRT_VALUE_TENSOR, .dtype = dtype, .rank = 1, .dims = &any };
    PRT_TRY(prt_slot_import(slot, &list, from, out));
    const size_t element = (prt_dtype_bits(out->dtype) + 7) / 8;
    if (element != 0 && (uintptr_t)out->data % (element < 16 ? element : 8) != 0)
        return prt_fail(POPRT_E_ARG, prt_slot_name(slot), "data at %p is not aligned for %s",
            out->data, poprt_dtype_name(out->dtype));
    return POPRT_OK;
}

poprt_status poprt_stepio_bind_map(poprt_stepio *io, size_t slot, const poprt_tensor *keys,
    const poprt_tensor *values)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(keys);
    PRT_REQUIRE(values);
    if (slot >= io->n_in)
        return prt_fail(POPRT_E_NOT_FOUND, "slot", "there is no input %zu: there are %zu inputs",
            slot, io->n_in);
    prt_slot *s = &io->slots[slot];
    if (io->with_callbacks)
        return prt_fail(POPRT_E_STATE, prt_slot_name(s),
            "cannot bind: this StepIO gets its tensors from callbacks");
    if (s->type->kind != PRT_VALUE_MAP)
        return prt_fail(POPRT_E_TYPE, prt_slot_name(s), "is not a map");
    const int32_t dtype =
        prt_type_is_tensor(s->type->elem) ? s->type->elem->dtype : PRT_DTYPE_undefined;
    prt_tensor key, value;
    PRT_TRY(import_list(s, s->type->dtype, keys, &key));
    PRT_TRY(import_list(s, dtype, values, &value));
    if (key.dims[0] != value.dims[0])
        return prt_fail(POPRT_E_SHAPE, prt_slot_name(s),
            "the numbers of keys and values must be equal, not %lld and %lld",
            (long long)key.dims[0], (long long)value.dims[0]);
    prt_tensor *items = prt_mem_alloc(&io->allocator, sizeof(*items));
    if (items == NULL)
        return POPRT_E_NOMEM;
    *items = value;
    prt_slot_clear(io, (size_t)(s - io->slots));
    s->value = (prt_tensor){ .kind = PRT_VALUE_MAP,
        .dtype = key.dtype,
        .data = key.data,
        .count = (size_t)key.dims[0],
        .items = items };
    s->bound = true;
    return POPRT_OK;
}

void poprt_stepio_release(poprt_stepio *io)
{
    if (io == NULL)
        return;
    for (size_t i = 0; io->slots != NULL && i < io->n_in + io->n_out; i++) {
        prt_mem_free(&io->allocator, io->slots[i].value.items);
        prt_mem_free(&io->allocator, io->slots[i].own);
        prt_mem_free(&io->allocator, io->slots[i].connected);
    }
    prt_mem_free(&io->allocator, io->slots);
    prt_mem_free(&io->allocator, io->in);
    prt_mem_free(&io->allocator, io->zeros);
    const prt_allocator allocator = io->allocator;
    prt_mem_free(&allocator, io);
}
