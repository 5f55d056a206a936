/* SPDX-License-Identifier: MIT */
/* remote.c — see remote.h. */
#include "compiler/remote.h"

#ifdef PRT_NO_GRAPHCORE

bool prt_remote_are_any(const prt_module *module)
{
    (void)module;
    return false;
}

poprt_status prt_remote_lower(prt_module *module)
{
    (void)module;
    return POPRT_OK;
}

#else

#include <stdio.h>

#include "ir/build.h"

static const int64_t first_axis[] = { 0 }, one_row[] = { 1 };

/* A buffer, as an op finds it. */
typedef struct remote_buffer {
    prt_value *initializer; /* NULL: the model has none */
    prt_op *update;         /* the CopyVarUpdate of the last store; NULL: there is none */
    prt_value *rows;        /* the contents after the last store */
} remote_buffer;

static bool is_remote(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_gc_remote_load) || prt_op_is(op, PRT_OP_gc_remote_store);
}

static bool graph_has_any(const prt_graph *graph)
{
    prt_for_each_op (op, graph) {
        if (is_remote(op))
            return true;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (graph_has_any(op->regions[i]))
                return true;
    }
    return false;
}

bool prt_remote_are_any(const prt_module *module)
{
    return graph_has_any(module->main);
}

static remote_buffer find_buffer(const prt_op *op)
{
    const prt_module *m = op->graph->module;
    const int64_t id = prt_op_is(op, PRT_OP_gc_remote_load)
        ? ((const prt_gc_remote_load_attrs *)op->attrs)->bufferid
        : ((const prt_gc_remote_store_attrs *)op->attrs)->bufferid;
    char name[64];
    (void)snprintf(name, sizeof(name), "RemoteBuffer___%lld", (long long)id);
    prt_value *v = prt_map_find(&m->names, prt_str_of(name));
    remote_buffer found = { NULL, NULL, NULL };
    if (v == NULL || v->graph != m->main || v->initializer == PRT_INITIALIZER_none ||
        !prt_value_is_constant(v) || v->type->rank < 1)
        return found;
    found.initializer = found.rows = v;
    prt_for_each_use (use, v)
        if (prt_op_is(use->user, PRT_OP_gc_copy_var_update) && use == &use->user->in[0]) {
            found.update = use->user;
            found.rows = &use->user->out[0];
        }
    return found;
}

/* Fails unless the tensor of an op, if its type is known, is a row of the buffer. */
static poprt_status check_row(const prt_op *op, const prt_type *buffer)
{
    const prt_value *v = prt_op_input(op, 0);
    const prt_type *row = v != NULL ? v->type : NULL;
    if (!prt_type_is_tensor(row) || row->rank < 0)
        return POPRT_OK;
    bool fits = row->dtype == buffer->dtype && row->rank == buffer->rank - 1;
    for (int32_t i = 0; fits && i < row->rank; i++)
        fits = !prt_dim_is_number(row->dims[i]) || row->dims[i] == buffer->dims[i + 1];
    return fits ? POPRT_OK
                : prt_fail(POPRT_E_SHAPE, prt_op_label(op),
                      "%s: input 0 is not a row of the remote buffer", op->def->name);
}

/* Returns the number of the row: input 1, or 0 if there is none. */
static prt_value *offset_of(const prt_op *op, prt_build *b)
{
    prt_value *offset = op->n_in > 1 ? prt_op_input(op, 1) : NULL;
    return offset != NULL ? offset : prt_build_i64(b, 0);
}

static poprt_status lower_load(prt_op *op, const remote_buffer *buffer)
{
    static const prt_gc_dynamic_slice_attrs attrs = { .axes = { first_axis, 1 },
        .sizes = { one_row, 1 } };
    prt_build b = prt_build_before(op);
    prt_value *in[] = { buffer->rows, offset_of(op, &b) };
    prt_value *row = prt_build_op(&b, PRT_OP_gc_dynamic_slice, &attrs, 2, in);
    prt_value *y = prt_build_binary(&b, PRT_OP_squeeze, row, prt_build_i64s(&b, 1, first_axis));
    prt_build_replace_uses(&b, &op->out[0], y);
    PRT_TRY(prt_build_status(&b));
    prt_op_erase(op);
    return POPRT_OK;
}

static poprt_status lower_store(prt_op *op, const remote_buffer *buffer)
{
    static const prt_gc_dynamic_update_attrs attrs = { .axes = { first_axis, 1 },
        .sizes = { one_row, 1 } };
    prt_build b = prt_build_before(op);
    prt_value *axes = prt_build_i64s(&b, 1, first_axis);
    prt_value *row = prt_build_binary(&b, PRT_OP_unsqueeze, prt_op_input(op, 0), axes);
    prt_value *in[] = { buffer->rows, offset_of(op, &b), row };
    prt_value *updated = prt_build_op(&b, PRT_OP_gc_dynamic_update, &attrs, 3, in);
    (void)prt_build_binary(&b, PRT_OP_gc_copy_var_update, buffer->initializer, updated);
    PRT_TRY(prt_build_status(&b));
    if (buffer->update != NULL) { /* one operator writes the buffer: that of the last store */
        prt_value_replace(&buffer->update->out[0], prt_op_input(buffer->update, 1));
        prt_op_erase(buffer->update);
    }
    prt_op_erase(op);
    return POPRT_OK;
}

static poprt_status lower_graph(prt_graph *graph)
{
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(lower_graph(op->regions[i]));
        const bool load = prt_op_is(op, PRT_OP_gc_remote_load);
        if (!load && (!prt_op_is(op, PRT_OP_gc_remote_store) || graph != graph->module->main))
            continue;
        const remote_buffer buffer = find_buffer(op);
        if (buffer.initializer == NULL)
            continue;
        PRT_TRY(check_row(op, buffer.initializer->type));
        PRT_TRY(load ? lower_load(op, &buffer) : lower_store(op, &buffer));
    }
    return POPRT_OK;
}

poprt_status prt_remote_lower(prt_module *module)
{
    return lower_graph(module->main);
}

#endif
