/* SPDX-License-Identifier: MIT */
/* fields.c — the inputs and outputs of a runner: tensors of the executable, fields of requests, and
 * how the rows of the second lie in the first. */
#include "base/size.h"
#include "runner/state.h"

/* Puts the batches of a step before the dims of a tensor. */
static poprt_status add_blocks(const poprt_runner *runner, prt_runner_tensor *t)
{
    if (t->rank == PRT_MAX_RANK || !prt_size_mul(t->size, runner->blocks, &t->size))
        return prt_fail(POPRT_E_LIMIT, t->name, "has too many dimensions or bytes");
    memmove(t->dims + 1, t->dims, t->rank * sizeof(t->dims[0]));
    t->dims[0] = (int64_t)runner->blocks;
    t->rank++;
    return POPRT_OK;
}

static poprt_status read_tensor(const poprt_runner *runner, bool is_input, uint32_t i,
    prt_runner_tensor *out)
{
    const poprt_io_info *info = &runner->exec->io.info[is_input ? POPRT_INPUT : POPRT_OUTPUT][i];
    prt_session_tensor t;
    prt_session_io(runner->sessions[0].session->session, is_input, i, &t);
    if (info->value_kind != POPRT_VALUE_TENSOR || info->dtype == POPRT_DTYPE_STRING)
        return prt_fail(POPRT_E_UNSUPPORTED, info->name,
            "a runner has tensors of numbers only; this %s is a %s", is_input ? "input" : "output",
            info->value_kind != POPRT_VALUE_TENSOR ? "sequence, optional or map"
                                                   : "tensor of strings");
    if (t.type->rank < 0)
        return prt_fail(POPRT_E_SHAPE, info->name, "a runner needs known shapes, not any rank");
    *out = (prt_runner_tensor){ .name = info->name,
        .dtype = info->dtype,
        .rank = (uint32_t)t.type->rank,
        .size = t.size,
        .graph = info->graph,
        .field = PRT_NO_FIELD };
    for (uint32_t k = 0; k < out->rank; k++) {
        out->dims[k] = t.dims[k];
        if (t.dims[k] < 0)
            return prt_fail(POPRT_E_SHAPE, info->name,
                "dimension %u (%s) is not known: set \"dim.NAME\" for each symbolic dimension", k,
                info->dim_names[k]);
    }
    return runner->blocks > 1 ? add_blocks(runner, out) : POPRT_OK;
}

/* Computes how rows along dimension `dim` lie in a tensor. */
static poprt_status set_rows(prt_runner_field *f, uint32_t dim, size_t *capacity)
{
    size_t bits = poprt_dtype_bits(f->dtype);
    if (dim >= f->rank)
        return prt_fail(POPRT_E_SHAPE, f->name, "has rank %u, and no dimension %u (batching_dim)",
            f->rank, dim);
    if (f->dims[dim] < 1 || (*capacity != 0 && (size_t)f->dims[dim] != *capacity))
        return prt_fail(POPRT_E_SHAPE, f->name,
            "has %lld rows in dimension %u (batching_dim); expected %zu as in the other tensors",
            (long long)f->dims[dim], dim, *capacity != 0 ? *capacity : 1);
    *capacity = (size_t)f->dims[dim];
    for (uint32_t k = 0; k < dim; k++)
        f->outer *= (size_t)f->dims[k];
    for (uint32_t k = dim + 1; k < f->rank; k++)
        bits *= (size_t)f->dims[k];
    if (bits % 8 != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, f->name, "rows of %s here do not end at a whole byte",
            poprt_dtype_name(f->dtype));
    f->inner = bits / 8;
    f->open_dim = (int32_t)dim;
    return POPRT_OK;
}

static poprt_status make_field(poprt_runner *runner, prt_runner_list *list, uint32_t i)
{
    prt_runner_tensor *t = &list->tensors[i];
    prt_runner_field *f = &list->fields[i];
    const uint32_t prefix = runner->blocks > 1 ? 1 : 0;
    *f = (prt_runner_field){ .name = t->name,
        .dtype = t->dtype,
        .rank = t->rank - prefix,
        .size = t->size / runner->blocks,
        .open_dim = -1,
        .graph = t->graph,
        .tensor = i,
        .outer = 1,
        .inner = t->size / runner->blocks };
    memcpy(f->dims, t->dims + prefix, f->rank * sizeof(f->dims[0]));
    f->is_optional = prt_runner_is_fused(runner) && t->graph < 0;
    if (runner->has_rows && !f->is_optional) {
        const int64_t dim = prt_config_number(runner->config, PRT_OPTION_batching_dim);
        PRT_TRY(set_rows(f, (uint32_t)dim, &runner->capacity));
    }
    if (f->outer == 1)
        t->field = i;
    else if (prefix != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, f->name,
            "batching_dim must be the first dimension of more than one row if the executable has "
            "several batches per step");
    return POPRT_OK;
}

/* Returns whether a tensor of the session is a weight with a name. */
static bool is_weight(const prt_session_tensor *t)
{
    return (t->kind == PRT_TENSOR_CONSTANT || t->kind == PRT_TENSOR_VARIABLE) &&
        t->name.size != 0 && prt_type_is_tensor(t->type) && t->type->rank >= 0;
}

static poprt_status list_weights(poprt_runner *runner)
{
    const prt_program *p = runner->exec->program;
    const prt_session *session = runner->sessions[0].session->session;
    prt_runner_list *list = &runner->lists[POPRT_INPUT];
    prt_tensor_place at = { 0 };
    prt_session_tensor t;
    list->weights =
        PRT_NEW_N(runner->arena, prt_runner_tensor, (size_t)p->n_constants + p->n_variables);
    if (list->weights == NULL)
        return POPRT_E_NOMEM;
    for (size_t left = (size_t)p->n_constants + p->n_variables; left > 0; left--) {
        if (!prt_session_next_tensor(session, &at, &t))
            break;
        if (!is_weight(&t))
            continue;
        prt_runner_tensor *w = &list->weights[list->n_weights++];
        *w = (prt_runner_tensor){ .name = t.name.data,
            .dtype = t.type->dtype,
            .rank = (uint32_t)t.type->rank,
            .size = t.size,
            .graph = -1,
            .field = PRT_NO_FIELD };
        memcpy(w->dims, t.dims, sizeof(w->dims));
    }
    return POPRT_OK;
}

poprt_status prt_runner_list_fields(poprt_runner *runner)
{
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++) {
        prt_runner_list *list = &runner->lists[direction];
        const size_t n = runner->exec->io.count[direction];
        list->tensors = PRT_NEW_N(runner->arena, prt_runner_tensor, n);
        list->fields = PRT_NEW_N(runner->arena, prt_runner_field, n);
        if (list->tensors == NULL || list->fields == NULL)
            return POPRT_E_NOMEM;
        list->n_tensors = list->n_fields = (uint32_t)n;
        for (uint32_t i = 0; i < n; i++) {
            PRT_TRY(read_tensor(runner, direction == POPRT_INPUT, i, &list->tensors[i]));
            PRT_TRY(make_field(runner, list, i));
        }
    }
    if (runner->capacity == 0)
        runner->capacity = 1;
    if (!prt_size_mul(runner->capacity, runner->blocks, &runner->capacity))
        return prt_fail(POPRT_E_LIMIT, NULL, "a step has too many rows");
    PRT_TRY(list_weights(runner));
    if (runner->kind == POPRT_RUNNER_HOST_CONCAT)
        return prt_runner_split_fields(runner);
    return runner->kind == POPRT_RUNNER_PACK ? prt_runner_set_packing(runner) : POPRT_OK;
}

/* ---- descriptions */

size_t poprt_runner_io_count(const poprt_runner *runner, int32_t list, int32_t direction)
{
    if (runner == NULL || (direction != POPRT_INPUT && direction != POPRT_OUTPUT))
        return 0;
    const prt_runner_list *l = &runner->lists[direction];
    if (list == POPRT_RUNNER_EXECUTE)
        return l->n_fields;
    return list == POPRT_RUNNER_EXECUTABLE ? (size_t)l->n_tensors + l->n_weights : 0;
}

static poprt_runner_io describe_tensor(const prt_runner_tensor *t, bool is_weight)
{
    poprt_runner_io io = { .name = t->name,
        .dtype = t->dtype,
        .rank = (int32_t)t->rank,
        .size = t->size,
        .open_dim = -1,
        .has_data = is_weight,
        .graph = t->graph };
    memcpy(io.dims, t->dims, sizeof(io.dims));
    return io;
}

static poprt_runner_io describe_field(const prt_runner_field *f)
{
    poprt_runner_io io = { .name = f->name,
        .dtype = f->dtype,
        .rank = (int32_t)f->rank,
        .size = f->size,
        .open_dim = f->open_dim,
        .graph = f->graph };
    memcpy(io.dims, f->dims, sizeof(io.dims));
    return io;
}

poprt_status poprt_runner_io_at(const poprt_runner *runner, int32_t list, int32_t direction,
    size_t index, poprt_runner_io *out)
{
    PRT_REQUIRE(runner);
    PRT_REQUIRE(out);
    if (index >= poprt_runner_io_count(runner, list, direction))
        return prt_fail(POPRT_E_NOT_FOUND, "index", "there is no tensor %zu in this list", index);
    const prt_runner_list *l = &runner->lists[direction];
    poprt_runner_io io;
    if (list == POPRT_RUNNER_EXECUTE)
        io = describe_field(&l->fields[index]);
    else if (index < l->n_tensors)
        io = describe_tensor(&l->tensors[index], false);
    else
        io = describe_tensor(&l->weights[index - l->n_tensors], true);
    io.struct_size = sizeof(io);
    io.direction = direction;
    return prt_export(out, &io, sizeof(io), "out");
}
