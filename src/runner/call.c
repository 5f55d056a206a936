/* SPDX-License-Identifier: MIT */
/* call.c — checks the tensors of a request against the fields of the runner. */
#include "base/nearest.h"
#include "base/size.h"
#include "runner/state.h"

/* The part of a call that has been read. */
typedef struct reader {
    const poprt_runner *runner;
    size_t rows;          /* 0: not known yet */
    const char *sized_by; /* the tensor that decided `rows` */
    int32_t graph;        /* -1: not known yet */
} reader;

uint32_t prt_runner_find_field(const prt_runner_list *list, const char *name, size_t hint)
{
    if (hint < list->n_fields && strcmp(list->fields[hint].name, name) == 0)
        return (uint32_t)hint;
    uint32_t i = 0;
    while (i < list->n_fields && strcmp(list->fields[i].name, name) != 0)
        i++;
    return i;
}

poprt_status prt_runner_fail_unknown(const prt_runner_list *list, const char *name, bool is_input)
{
    enum { MOST_NAMES = 512 };
    const char *names[MOST_NAMES];
    size_t n = 0;
    for (; n < list->n_fields && n < MOST_NAMES; n++)
        names[n] = list->fields[n].name;
    return prt_fail_nearest(name, names, n, "there is no %s of this name",
        is_input ? "input" : "output");
}

static poprt_status check_dims(const prt_runner_field *f, const poprt_tensor *t, uint32_t open)
{
    if (t->rank != f->rank)
        return prt_fail(POPRT_E_SHAPE, f->name, "has rank %u; expected %u", t->rank, f->rank);
    for (uint32_t k = 0; k < t->rank; k++)
        if (k != open && t->dims[k] != f->dims[k])
            return prt_fail(POPRT_E_SHAPE, f->name, "dimension %u is %lld; expected %lld", k,
                (long long)t->dims[k], (long long)f->dims[k]);
    return POPRT_OK;
}

/* Computes the number of rows of a tensor from its dims. */
static poprt_status rows_of_dims(const reader *r, const prt_runner_field *f, const poprt_tensor *t,
    size_t *out)
{
    const uint32_t open = f->open_dim < 0 ? 0 : (uint32_t)f->open_dim;
    size_t bits = poprt_dtype_bits(f->dtype);
    for (uint32_t k = 0; k < t->rank; k++)
        if (t->dims[k] < 0 || !prt_size_mul(bits, (size_t)t->dims[k], &bits))
            return prt_fail(POPRT_E_SHAPE, f->name, "dimension %u is %lld", k,
                (long long)t->dims[k]);
    if (r->runner->validates)
        PRT_TRY(check_dims(f, t, open));
    const size_t bytes = bits / 8 + (bits % 8 != 0);
    if (bytes > t->size)
        return prt_fail(POPRT_E_ARG, f->name, "has %zu bytes; its shape needs %zu", t->size, bytes);
    *out = bytes;
    return POPRT_OK;
}

/* Sets the number of rows of the request, or compares it. */
static poprt_status read_rows(reader *r, const prt_runner_field *f, const poprt_tensor *t)
{
    const size_t row = f->outer * f->inner;
    size_t bytes = t->size;
    if (t->rank != 0 && t->dims != NULL)
        PRT_TRY(rows_of_dims(r, f, t, &bytes));
    if (row == 0)
        return POPRT_OK;
    const size_t rows = bytes / row;
    if (rows == 0 || rows * row != bytes)
        return prt_fail(POPRT_E_SHAPE, f->name,
            "has %zu bytes; expected a multiple of %zu, the bytes of one %s", bytes, row,
            r->runner->has_rows ? "row" : "batch");
    if (r->rows != 0 && rows != r->rows)
        return prt_fail(POPRT_E_SHAPE, f->name, "has %zu %s, but '%.200s' has %zu", rows,
            r->runner->has_rows ? "rows" : "batches", r->sized_by, r->rows);
    r->rows = rows;
    r->sized_by = f->name;
    return POPRT_OK;
}

/* Reads input `index` of a fused model. */
static poprt_status read_index(reader *r, const prt_runner_field *f, const poprt_tensor *t)
{
    uint32_t graph;
    const uint32_t n = r->runner->exec->program->n_graphs;
    if (t->size < sizeof(graph))
        return prt_fail(POPRT_E_SHAPE, f->name, "has %zu bytes; expected %zu", t->size,
            sizeof(graph));
    memcpy(&graph, t->data, sizeof(graph));
    if (graph >= n)
        return prt_fail(POPRT_E_ARG, f->name, "there is no graph %u: the model has %u", graph, n);
    if (r->graph >= 0 && r->graph != (int32_t)graph)
        return prt_fail(POPRT_E_ARG, f->name, "selects graph %u, but tensors are of graph %d",
            graph, r->graph);
    r->graph = (int32_t)graph;
    return POPRT_OK;
}

static poprt_status read_graph(reader *r, const prt_runner_field *f)
{
    if (!prt_runner_is_fused(r->runner))
        return POPRT_OK;
    if (r->graph >= 0 && f->graph != r->graph)
        return prt_fail(POPRT_E_ARG, f->name, "is of graph %d, but the request is for graph %d",
            f->graph, r->graph);
    r->graph = f->graph;
    return POPRT_OK;
}

static poprt_status read_tensor(reader *r, const prt_runner_field *f, const poprt_tensor *t,
    prt_request_data *to)
{
    if (to->data != NULL)
        return prt_fail(POPRT_E_ARG, f->name, "is named twice");
    if (t->dtype != f->dtype)
        return prt_fail(POPRT_E_TYPE, f->name, "has type %s; expected %s",
            poprt_dtype_name(t->dtype), poprt_dtype_name(f->dtype));
    if (t->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_SHAPE, f->name, "has rank %u; expected %u", t->rank, f->rank);
    if (t->data == NULL && t->size != 0)
        return prt_fail_null("data");
    if (prt_runner_is_fused(r->runner) && f->graph < 0)
        return read_index(r, f, t);
    PRT_TRY(read_graph(r, f));
    if (r->runner->kind != POPRT_RUNNER_PACK)
        PRT_TRY(read_rows(r, f, t));
    to->data = t->data;
    to->size = t->size;
    return POPRT_OK;
}

static poprt_status read_list(reader *r, const poprt_named_tensor *tensors, size_t n,
    int32_t direction, prt_request_data *data)
{
    const prt_runner_list *list = &r->runner->lists[direction];
    const bool is_input = direction == POPRT_INPUT;
    for (size_t i = 0; i < n; i++) {
        if (tensors[i].name == NULL)
            return prt_fail_null("name");
        const uint32_t field = prt_runner_find_field(list, tensors[i].name, i);
        if (field < list->n_fields)
            PRT_TRY(read_tensor(r, &list->fields[field], &tensors[i].tensor, &data[field]));
        else if (r->runner->validates)
            return prt_runner_fail_unknown(list, tensors[i].name, is_input);
    }
    return POPRT_OK;
}

/* Fails if the request lacks a field. */
static poprt_status check_complete(const reader *r, const prt_request_data *data, int32_t direction)
{
    const prt_runner_list *list = &r->runner->lists[direction];
    for (uint32_t i = 0; i < list->n_fields && r->runner->validates; i++) {
        const prt_runner_field *f = &list->fields[i];
        if (prt_runner_takes_part(f->graph, r->graph) && !f->is_optional && data[i].data == NULL &&
            f->size != 0)
            return prt_fail(POPRT_E_NOT_FOUND, f->name, "the request does not have this %s",
                direction == POPRT_INPUT ? "input" : "output");
    }
    return POPRT_OK;
}

poprt_status prt_runner_read_call(const poprt_runner *runner, const poprt_runner_call *call,
    prt_request_data *data, size_t *rows, int32_t *graph)
{
    const uint32_t n_in = runner->lists[POPRT_INPUT].n_fields;
    reader r = { .runner = runner, .graph = -1 };
    memset(data, 0, (n_in + (size_t)runner->lists[POPRT_OUTPUT].n_fields) * sizeof(*data));
    if ((call->n_inputs != 0 && call->inputs == NULL) ||
        (call->n_outputs != 0 && call->outputs == NULL))
        return prt_fail_null(call->n_inputs != 0 && call->inputs == NULL ? "inputs" : "outputs");
    PRT_TRY(read_list(&r, call->inputs, call->n_inputs, POPRT_INPUT, data));
    PRT_TRY(read_list(&r, call->outputs, call->n_outputs, POPRT_OUTPUT, data + n_in));
    if (prt_runner_is_fused(runner) && r.graph < 0)
        return prt_fail(POPRT_E_ARG, "index",
            "the request has no tensor of a graph, and no index: nothing selects a graph");
    PRT_TRY(check_complete(&r, data, POPRT_INPUT));
    PRT_TRY(check_complete(&r, data + n_in, POPRT_OUTPUT));
    *rows = r.rows != 0 ? r.rows : runner->capacity;
    *graph = r.graph;
    return POPRT_OK;
}
