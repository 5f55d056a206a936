/* SPDX-License-Identifier: MIT */
/* batch.c — a batch: takes rows of requests, copies them to the memory of a worker, runs, and
 * copies the results to the requests. */
#include "runner/state.h"

void prt_batch_reset(prt_runner_worker *w)
{
    w->n_parts = w->rows = 0;
    w->graph = -1;
    w->is_closed = false;
    if (w->runner->kind == POPRT_RUNNER_PACK)
        prt_pack_reset(w);
}

/* Returns whether a batch may have several requests. */
static bool is_shared(const poprt_runner *runner)
{
    return runner->batches || runner->kind == POPRT_RUNNER_PACK;
}

bool prt_batch_is_full(const prt_runner_worker *w)
{
    const poprt_runner *runner = w->runner;
    const size_t most = runner->kind == POPRT_RUNNER_PACK ? runner->packing.most : runner->capacity;
    return w->n_parts != 0 && (w->is_closed || !is_shared(runner) || w->rows == most);
}

/* Takes the next rows of a request; returns false if no row fits. */
static bool take_rows(prt_runner_worker *w, poprt_request *request)
{
    const poprt_runner *runner = w->runner;
    prt_runner_part *part = &w->parts[w->n_parts];
    const size_t free_rows = runner->capacity - w->rows, left = request->rows - request->next;
    if (free_rows == 0 || (w->n_parts != 0 && request->graph != w->graph))
        return false;
    *part = (prt_runner_part){ .request = request,
        .first = request->next,
        .count = left < free_rows ? left : free_rows,
        .at = w->rows };
    w->rows += part->count;
    request->next += part->count;
    return true;
}

/* Takes a sample; returns false if it does not fit. */
static bool take_sample(prt_runner_worker *w, poprt_request *request)
{
    prt_runner_part part = { .request = request, .count = request->rows };
    if (w->rows == w->runner->packing.most || !prt_pack_place(w, request->rows, &part))
        return false;
    w->parts[w->n_parts] = part;
    w->rows++;
    request->next = request->rows;
    return true;
}

void prt_batch_take(prt_runner_worker *w)
{
    poprt_runner *runner = w->runner;
    while (runner->cursor != NULL && !prt_batch_is_full(w)) {
        poprt_request *request = runner->cursor;
        const bool is_taken =
            runner->kind == POPRT_RUNNER_PACK ? take_sample(w, request) : take_rows(w, request);
        if (!is_taken) {
            w->is_closed = true;
            break;
        }
        w->graph = request->graph;
        w->n_parts++;
        request->running++;
        if (request->next == request->rows) {
            runner->cursor = request->after;
            runner->stats.queued--;
            (void)pthread_cond_signal(&runner->space);
        }
    }
}

/* Returns whether a part is the whole batch, so that tensors of one block need no copy. */
static bool is_direct(const poprt_runner *runner, const prt_runner_part *part)
{
    return runner->kind != POPRT_RUNNER_PACK && part->count == runner->capacity;
}

static const prt_request_data *data_of(const poprt_runner *runner, const poprt_request *request,
    int32_t direction, uint32_t field)
{
    return &request->data[direction == POPRT_INPUT ? field
                                                   : runner->lists[POPRT_INPUT].n_fields + field];
}

unsigned char *prt_batch_memory(prt_runner_worker *w, int32_t direction, uint32_t tensor)
{
    unsigned char **at = direction == POPRT_INPUT ? &w->in[tensor] : &w->out[tensor];
    if (*at == NULL)
        *at = prt_mem_alloc(&w->runner->env->allocator,
            w->runner->lists[direction].tensors[tensor].size);
    return *at;
}

/* Returns whether a field is bound to the data of a request, without a copy. */
static bool binds(const poprt_runner *runner, int32_t direction, uint32_t field,
    const prt_runner_part *part)
{
    const prt_runner_list *list = &runner->lists[direction];
    return is_direct(runner, part) && list->tensors[list->fields[field].tensor].field == field;
}

/* Copies rows between a request, where they are `first` and on, and a batch, where they are `at`
 * and on. */
static void copy_rows(const prt_runner_field *f, const prt_runner_part *part, size_t capacity,
    unsigned char *batch, unsigned char *data, bool to_batch)
{
    const size_t bytes = part->count * f->inner;
    for (size_t o = 0; o < f->outer; o++) {
        unsigned char *x = batch + f->offset + (o * capacity + part->at) * f->inner;
        unsigned char *y = data + (o * part->request->rows + part->first) * f->inner;
        if (to_batch)
            memcpy(x, y, bytes);
        else
            memcpy(y, x, bytes);
    }
}

/* Writes zeros to `count` rows of a batch. */
static void clear_rows(const prt_runner_field *f, size_t at, size_t count, size_t capacity,
    unsigned char *batch)
{
    for (size_t o = 0; o < f->outer; o++)
        memset(batch + f->offset + (o * capacity + at) * f->inner, 0, count * f->inner);
}

poprt_status prt_batch_gather(prt_runner_worker *w, const prt_runner_part *part)
{
    const poprt_runner *runner = w->runner;
    const prt_runner_list *list = &runner->lists[POPRT_INPUT];
    if (runner->kind == POPRT_RUNNER_PACK)
        return prt_pack_gather(w, part);
    for (uint32_t i = 0; i < list->n_fields; i++) {
        const prt_runner_field *f = &list->fields[i];
        const prt_request_data *data = data_of(runner, part->request, POPRT_INPUT, i);
        if (!prt_runner_takes_part(f->graph, w->graph) || f->size == 0 ||
            (data->data != NULL && binds(runner, POPRT_INPUT, i, part)))
            continue;
        unsigned char *batch = prt_batch_memory(w, POPRT_INPUT, f->tensor);
        if (batch == NULL)
            return POPRT_E_NOMEM;
        if (data->data != NULL)
            copy_rows(f, part, runner->capacity, batch, data->data, true);
        else
            clear_rows(f, part->at, part->count, runner->capacity, batch);
    }
    return POPRT_OK;
}

/* Copies the padding of a field to the rows from `at` on. */
static void repeat_row(const prt_runner_field *f, size_t at, size_t capacity, unsigned char *batch)
{
    for (size_t o = 0; o < f->outer; o++)
        for (size_t row = at; row < capacity; row++)
            memcpy(batch + f->offset + (o * capacity + row) * f->inner, f->padding + o * f->inner,
                f->inner);
}

/* Fills the rows behind the last request. */
static void pad(prt_runner_worker *w)
{
    const prt_runner_list *list = &w->runner->lists[POPRT_INPUT];
    const size_t capacity = w->runner->capacity;
    for (uint32_t i = 0; i < list->n_fields && w->rows < capacity; i++) {
        const prt_runner_field *f = &list->fields[i];
        if (!prt_runner_takes_part(f->graph, w->graph) || w->in[f->tensor] == NULL)
            continue;
        if (f->padding != NULL)
            repeat_row(f, w->rows, capacity, w->in[f->tensor]);
        else
            clear_rows(f, w->rows, capacity - w->rows, capacity, w->in[f->tensor]);
    }
}

static poprt_status bind_inputs(prt_runner_worker *w, poprt_stepio *io)
{
    const poprt_runner *runner = w->runner;
    const prt_runner_list *list = &runner->lists[POPRT_INPUT];
    for (uint32_t i = 0; i < list->n_tensors; i++) {
        const uint32_t field = list->tensors[i].field;
        void *data = w->in[i];
        if (!prt_runner_takes_part(list->tensors[i].graph, w->graph))
            continue;
        if (field != PRT_NO_FIELD && binds(runner, POPRT_INPUT, field, &w->parts[0])) {
            const prt_request_data *own = data_of(runner, w->parts[0].request, POPRT_INPUT, field);
            if (own->data != NULL)
                data = own->data + w->parts[0].first * list->fields[field].inner;
        }
        PRT_TRY(prt_runner_bind(io, runner, POPRT_INPUT, i, data));
    }
    return POPRT_OK;
}

/* Returns whether a request of the batch wants a field of outputs. */
static bool is_wanted(const prt_runner_worker *w, uint32_t field)
{
    for (size_t k = 0; k < w->n_parts; k++)
        if (data_of(w->runner, w->parts[k].request, POPRT_OUTPUT, field)->data != NULL)
            return true;
    return false;
}

static poprt_status bind_outputs(prt_runner_worker *w, poprt_stepio *io)
{
    const poprt_runner *runner = w->runner;
    const prt_runner_list *list = &runner->lists[POPRT_OUTPUT];
    for (uint32_t i = 0; i < list->n_fields; i++) {
        const prt_runner_field *f = &list->fields[i];
        unsigned char *data = NULL;
        if (!prt_runner_takes_part(f->graph, w->graph))
            continue;
        if (is_wanted(w, i) && binds(runner, POPRT_OUTPUT, i, &w->parts[0])) {
            data = data_of(runner, w->parts[0].request, POPRT_OUTPUT, i)->data +
                w->parts[0].first * f->inner;
        } else if (is_wanted(w, i)) {
            data = prt_batch_memory(w, POPRT_OUTPUT, f->tensor);
            if (data == NULL)
                return POPRT_E_NOMEM;
        }
        PRT_TRY(prt_runner_bind(io, runner, POPRT_OUTPUT, f->tensor, data));
    }
    return POPRT_OK;
}

/* Copies the results of a part to its request. */
static void scatter(prt_runner_worker *w, const prt_runner_part *part)
{
    const poprt_runner *runner = w->runner;
    const prt_runner_list *list = &runner->lists[POPRT_OUTPUT];
    for (uint32_t i = 0; i < list->n_fields; i++) {
        const prt_runner_field *f = &list->fields[i];
        const prt_request_data *data = data_of(runner, part->request, POPRT_OUTPUT, i);
        if (prt_runner_takes_part(f->graph, w->graph) && data->data != NULL && f->size != 0 &&
            !binds(runner, POPRT_OUTPUT, i, part))
            copy_rows(f, part, runner->capacity, w->out[f->tensor], data->data, false);
    }
}

poprt_status prt_batch_run(prt_runner_worker *w)
{
    const poprt_runner *runner = w->runner;
    poprt_stepio *io = w->session->io[w->graph < 0 ? 0 : w->graph];
    if (runner->kind != POPRT_RUNNER_PACK)
        pad(w);
    PRT_TRY(bind_inputs(w, io));
    PRT_TRY(bind_outputs(w, io));
    PRT_TRY(poprt_session_run(w->session->session, io));
    for (size_t i = 0; i < w->n_parts; i++)
        if (runner->kind == POPRT_RUNNER_PACK)
            prt_pack_scatter(w, &w->parts[i]);
        else
            scatter(w, &w->parts[i]);
    return POPRT_OK;
}
