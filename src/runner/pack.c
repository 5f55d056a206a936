/* SPDX-License-Identifier: MIT */
/* pack.c — packing: places of samples in the rows of a batch, and their data. */
#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "num/dtype.h"
#include "runner/state.h"

/* ---- options and fields */

static poprt_status find_input(const poprt_runner *runner, prt_str name, uint32_t *out)
{
    enum { MOST_NAMES = 512 };
    const prt_runner_list *list = &runner->lists[POPRT_INPUT];
    const char *names[MOST_NAMES];
    char text[256];
    for (uint32_t i = 0; i < list->n_tensors; i++) {
        if (i < MOST_NAMES)
            names[i] = list->tensors[i].name;
        if (prt_str_is(name, list->tensors[i].name)) {
            *out = i;
            return POPRT_OK;
        }
    }
    (void)snprintf(text, sizeof(text), "%.*s", PRT_STR_ARG(name));
    return prt_fail_nearest(text, names,
        list->n_tensors < MOST_NAMES ? list->n_tensors : MOST_NAMES,
        "there is no input of this name");
}

/* Finds the input with the lengths of samples, and sets the most samples of a pack. */
static poprt_status set_info(poprt_runner *runner, prt_runner_packing *p)
{
    const char *name = prt_config_text(runner->config, PRT_OPTION_unpack_info_input_name);
    const int64_t most = prt_config_number(runner->config, PRT_OPTION_max_valid_num);
    p->info = PRT_NO_FIELD;
    p->most = most != 0 ? (size_t)most : SIZE_MAX;
    if (*name != '\0')
        PRT_TRY(find_input(runner, prt_str_of(name), &p->info));
    else if (find_input(runner, PRT_STR("unpack_info"), &p->info) != POPRT_OK)
        p->info = PRT_NO_FIELD;
    if (p->info == PRT_NO_FIELD)
        return POPRT_OK;
    const prt_runner_tensor *t = &runner->lists[POPRT_INPUT].tensors[p->info];
    const bool is_list = t->rank == 1 || (t->rank == 2 && t->dims[1] == 1);
    if (!is_list || !prt_dtype_is_integer(t->dtype) || t->dims[0] < 1)
        return prt_fail(POPRT_E_UNSUPPORTED, t->name,
            "lengths of samples must be integers of shape [samples] or [samples, 1]");
    /* In one row, a gap before a sample takes an entry too. */
    const size_t entries = (size_t)t->dims[0];
    const size_t samples = p->one_row && entries > 1 ? entries / 2 : entries;
    if (p->most == SIZE_MAX)
        p->most = samples;
    if (p->most > samples)
        return prt_fail(POPRT_E_ARG, "max_valid_num",
            "is %zu, but '%.200s' has entries for %zu samples", p->most, t->name, samples);
    runner->lists[POPRT_INPUT].fields[p->info].is_optional = true;
    return POPRT_OK;
}

/* Reads rows and length from the input whose tokens are counted. */
static poprt_status set_shape(poprt_runner *runner, prt_runner_packing *p)
{
    const char *name = prt_config_text(runner->config, PRT_OPTION_dynamic_input_name);
    const int64_t rows = prt_config_number(runner->config, PRT_OPTION_compile_batch_size);
    p->counted = p->info == 0 ? 1 : 0;
    if (*name != '\0')
        PRT_TRY(find_input(runner, prt_str_of(name), &p->counted));
    if (p->counted >= runner->lists[POPRT_INPUT].n_tensors || p->counted == p->info)
        return prt_fail(POPRT_E_ARG, "dynamic_input_name", "the executable has no input of tokens");
    const prt_runner_tensor *t = &runner->lists[POPRT_INPUT].tensors[p->counted];
    p->one_dim = rows > 0;
    if (t->rank < (p->one_dim ? 1u : 2u))
        return prt_fail(POPRT_E_SHAPE, t->name,
            "has rank %u; expected [rows, length], or [rows * length] with compile_batch_size",
            t->rank);
    p->rows = (size_t)(p->one_dim ? rows : t->dims[0]);
    p->length = p->one_dim ? (size_t)t->dims[0] / p->rows : (size_t)t->dims[1];
    if (p->rows == 0 || p->length == 0 || (p->one_dim && (size_t)t->dims[0] % p->rows != 0))
        return prt_fail(POPRT_E_SHAPE, t->name, "does not have whole rows of tokens");
    return POPRT_OK;
}

/* Returns whether a tensor has the dims of the tokens in front. */
static bool is_of_tokens(const prt_runner_packing *p, const prt_runner_field *f)
{
    if (p->one_dim)
        return f->rank >= 1 && (size_t)f->dims[0] == p->rows * p->length;
    return f->rank >= 2 && (size_t)f->dims[0] == p->rows && (size_t)f->dims[1] == p->length;
}

/* Makes the field of a tensor one of the tokens of a sample. */
static poprt_status set_tokens(const prt_runner_packing *p, prt_runner_field *f)
{
    const size_t tokens = p->rows * p->length, cut = p->one_dim ? 0 : 1;
    if (!is_of_tokens(p, f) || f->size % tokens != 0)
        return prt_fail(POPRT_E_SHAPE, f->name,
            "does not begin with the %zu rows of %zu tokens that are packed", p->rows, p->length);
    f->inner = f->size / tokens;
    f->size = f->inner * p->length;
    f->rank -= (uint32_t)cut;
    memmove(f->dims, f->dims + cut, f->rank * sizeof(f->dims[0]));
    f->dims[0] = (int64_t)p->length;
    f->open_dim = 0;
    return POPRT_OK;
}

static poprt_status set_output(const poprt_runner *runner, prt_runner_field *f)
{
    const prt_runner_packing *p = &runner->packing;
    const prt_runner_tensor *info =
        p->info != PRT_NO_FIELD ? &runner->lists[POPRT_INPUT].tensors[p->info] : NULL;
    if (info == NULL || f->rank < 1 || f->dims[0] != info->dims[0])
        return set_tokens(p, f);
    f->is_by_sample = true;
    f->inner = f->size / (size_t)f->dims[0];
    f->size = f->inner;
    f->rank--;
    memmove(f->dims, f->dims + 1, f->rank * sizeof(f->dims[0]));
    return POPRT_OK;
}

/* Finds the mask, and the inputs whose padding is removed. */
static poprt_status set_padded(poprt_runner *runner, prt_runner_packing *p)
{
    const char *mask = prt_config_text(runner->config, PRT_OPTION_mask_name);
    const char *at = prt_config_text(runner->config, PRT_OPTION_dynamic_group);
    prt_runner_field *fields = runner->lists[POPRT_INPUT].fields;
    p->mask = PRT_NO_FIELD;
    if (*mask != '\0')
        PRT_TRY(find_input(runner, prt_str_of(mask), &p->mask));
    if (*mask == '\0' && (p->one_row || p->removes_padding))
        return prt_fail(POPRT_E_ARG, "mask_name",
            "is needed for disable_data_across_rows and enable_padding_remove");
    while (*at != '\0') {
        uint32_t input;
        const size_t size = strcspn(at, ",");
        PRT_TRY(find_input(runner, (prt_str){ at, (uint32_t)size }, &input));
        fields[input].is_padded = p->removes_padding;
        at += size + (at[size] == ',');
    }
    if (p->removes_padding)
        fields[p->mask].is_padded = fields[p->counted].is_padded = true;
    return POPRT_OK;
}

poprt_status prt_runner_set_packing(poprt_runner *runner)
{
    prt_runner_packing *p = &runner->packing;
    const poprt_config *config = runner->config;
    p->one_row = prt_config_number(config, PRT_OPTION_disable_data_across_rows) != 0;
    p->removes_padding = prt_config_number(config, PRT_OPTION_enable_padding_remove) != 0;
    p->first_fit = strcmp(prt_config_text(config, PRT_OPTION_pack_algorithm), "first_fit") == 0;
    p->delimiters = (size_t)prt_config_number(config, PRT_OPTION_delimiter_num);
    PRT_TRY(set_info(runner, p));
    PRT_TRY(set_shape(runner, p));
    PRT_TRY(set_padded(runner, p));
    prt_runner_list *inputs = &runner->lists[POPRT_INPUT], *outputs = &runner->lists[POPRT_OUTPUT];
    for (uint32_t i = 0; i < inputs->n_fields; i++)
        if (i != p->info)
            PRT_TRY(set_tokens(p, &inputs->fields[i]));
    for (uint32_t i = 0; i < outputs->n_fields; i++)
        PRT_TRY(set_output(runner, &outputs->fields[i]));
    if (p->mask != PRT_NO_FIELD && (p->mask == p->info || inputs->fields[p->mask].rank != 1))
        return prt_fail(POPRT_E_ARG, "mask_name", "'%.200s' does not have one element a token",
            inputs->fields[p->mask].name);
    runner->capacity = p->rows * p->length;
    if (p->most > runner->capacity)
        p->most = runner->capacity;
    return POPRT_OK;
}

/* ---- requests */

/* Sets the number of tokens: all, or the tokens before the padding. */
static poprt_status set_length(const poprt_runner *runner, poprt_request *request)
{
    const prt_runner_packing *p = &runner->packing;
    const uint32_t by = p->removes_padding ? p->mask : p->counted;
    const prt_runner_field *f = &runner->lists[POPRT_INPUT].fields[by];
    const prt_request_data *d = &request->data[by];
    if (d->data == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, f->name, "the request does not have this input");
    size_t tokens = d->size / f->inner;
    if (p->removes_padding)
        while (tokens > 0 && prt_load_f64(f->dtype, d->data, tokens - 1) == 0)
            tokens--;
    if (tokens < 1 || tokens > p->length)
        return prt_fail(POPRT_E_SHAPE, f->name, "the sample has %zu tokens; accepted: 1 to %zu",
            tokens, p->length);
    request->rows = tokens;
    return POPRT_OK;
}

poprt_status prt_pack_measure(const poprt_runner *runner, poprt_request *request)
{
    const prt_runner_list *inputs = &runner->lists[POPRT_INPUT];
    const prt_runner_list *outputs = &runner->lists[POPRT_OUTPUT];
    PRT_TRY(set_length(runner, request));
    for (uint32_t i = 0; i < inputs->n_fields; i++) {
        const prt_runner_field *f = &inputs->fields[i];
        const size_t size = request->data[i].size, needed = request->rows * f->inner;
        if (request->data[i].data == NULL || i == runner->packing.info)
            continue;
        if (f->is_padded ? size < needed : size != needed)
            return prt_fail(POPRT_E_SHAPE, f->name, "has %zu bytes; expected %zu for %zu tokens",
                size, needed, request->rows);
    }
    for (uint32_t i = 0; i < outputs->n_fields; i++) {
        const prt_runner_field *f = &outputs->fields[i];
        const prt_request_data *d = &request->data[inputs->n_fields + i];
        const size_t needed = f->is_by_sample ? f->inner : request->rows * f->inner;
        if (d->data != NULL && d->size < needed)
            return prt_fail(POPRT_E_SHAPE, f->name, "has %zu bytes; at least %zu are needed",
                d->size, needed);
    }
    return POPRT_OK;
}

/* ---- places */

void prt_pack_reset(prt_runner_worker *w)
{
    const prt_runner_packing *p = &w->runner->packing;
    memset(w->fill, 0, p->rows * sizeof(w->fill[0]));
    memset(w->numbers, 0, p->rows * sizeof(w->numbers[0]));
    w->next_row = 0;
}

/* Places a sample in a row if it fits. */
static bool place_in_row(prt_runner_worker *w, size_t row, size_t length, prt_runner_part *part)
{
    const prt_runner_packing *p = &w->runner->packing;
    const size_t begin = w->fill[row] != 0 ? w->fill[row] + p->delimiters : 0;
    if (begin > p->length || length > p->length - begin)
        return false;
    w->fill[row] = begin + length;
    part->at = row * p->length + begin;
    part->number = ++w->numbers[row];
    return true;
}

bool prt_pack_place(prt_runner_worker *w, size_t length, prt_runner_part *part)
{
    const prt_runner_packing *p = &w->runner->packing;
    if (!p->one_row) {
        if (length > w->runner->capacity - w->next_row)
            return false;
        part->at = w->next_row;
        w->next_row += length;
        return true;
    }
    for (size_t row = p->first_fit ? 0 : w->next_row; row < p->rows; row++)
        if (place_in_row(w, row, length, part)) {
            w->next_row = row;
            return true;
        }
    return false;
}

/* ---- data */

poprt_status prt_pack_gather(prt_runner_worker *w, const prt_runner_part *part)
{
    const prt_runner_packing *p = &w->runner->packing;
    const prt_runner_list *list = &w->runner->lists[POPRT_INPUT];
    for (uint32_t i = 0; i < list->n_fields; i++) {
        const prt_runner_field *f = &list->fields[i];
        const prt_request_data *d = &part->request->data[i];
        unsigned char *batch = prt_batch_memory(w, POPRT_INPUT, i);
        if (batch == NULL)
            return POPRT_E_NOMEM;
        if (part == w->parts)
            memset(batch, 0, list->tensors[i].size);
        if (i == p->mask && p->one_row)
            for (size_t k = 0; k < part->count; k++)
                prt_store_i64(f->dtype, batch, part->at + k, part->number);
        else if (i != p->info && d->data != NULL)
            memcpy(batch + part->at * f->inner, d->data, part->count * f->inner);
    }
    return POPRT_OK;
}

static int by_place(const void *a, const void *b)
{
    const prt_runner_part *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

void prt_pack_finish(prt_runner_worker *w)
{
    const prt_runner_packing *p = &w->runner->packing;
    if (p->info == PRT_NO_FIELD)
        return;
    const prt_runner_tensor *t = &w->runner->lists[POPRT_INPUT].tensors[p->info];
    size_t slot = 0, end = 0;
    qsort(w->parts, w->n_parts, sizeof(w->parts[0]), by_place);
    for (size_t i = 0; i < w->n_parts; i++) {
        prt_runner_part *part = &w->parts[i];
        if (part->at > end) /* a gap is a sample that belongs to no request */
            prt_store_i64(t->dtype, w->in[p->info], slot++, (int64_t)(part->at - end));
        prt_store_i64(t->dtype, w->in[p->info], slot, (int64_t)part->count);
        part->slot = slot++;
        end = part->at + part->count;
    }
}

void prt_pack_scatter(prt_runner_worker *w, const prt_runner_part *part)
{
    const prt_runner_list *list = &w->runner->lists[POPRT_OUTPUT];
    const uint32_t n_in = w->runner->lists[POPRT_INPUT].n_fields;
    for (uint32_t i = 0; i < list->n_fields; i++) {
        const prt_runner_field *f = &list->fields[i];
        unsigned char *data = part->request->data[n_in + i].data;
        if (data == NULL)
            continue;
        if (f->is_by_sample)
            memcpy(data, w->out[f->tensor] + part->slot * f->inner, f->inner);
        else
            memcpy(data, w->out[f->tensor] + part->at * f->inner, part->count * f->inner);
    }
}
