/* SPDX-License-Identifier: MIT */
/* data.c — opens and checks the samples of `poprt train`, and copies batches of them. */
#include "tools/train/data.h"

#include <stdio.h>

#include "num/dtype.h"

enum { SHAPE_TEXT = 192 };

poprt_status prt_train_data_open(const char *path, prt_train_data *data)
{
    *data = (prt_train_data){ .path = path };
    PRT_TRY(
        prt_fail_in_file(prt_fail_at_stage(prt_samples_open(NULL, path, 0, &data->samples), "data"),
            path));
    data->count = (int64_t)prt_samples_count(data->samples);
    if (data->count != 0)
        return POPRT_OK;
    prt_train_data_close(data);
    return prt_fail_in_file(prt_fail(POPRT_E_SHAPE, NULL, "the arrays have no samples"), path);
}

void prt_train_data_close(prt_train_data *data)
{
    prt_samples_release(data->samples);
    data->samples = NULL;
}

/* Writes the names of the arrays, separated by commas, as far as they fit. */
static void list_arrays(const prt_train_data *data, char *to, size_t size)
{
    size_t used = 0;
    const prt_sample_array *a;
    to[0] = '\0';
    for (size_t i = 0; used < size && (a = prt_samples_at(data->samples, i)) != NULL; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%.*s", i != 0 ? ", " : "",
            PRT_STR_ARG(a->name));
}

poprt_status prt_train_data_find(const prt_train_data *data, prt_str name, const char *use,
    const prt_tensor **out)
{
    const prt_sample_array *a = prt_samples_find(data->samples, name);
    char subject[256], names[512];
    if (a != NULL) {
        *out = &a->tensor;
        return POPRT_OK;
    }
    (void)snprintf(subject, sizeof(subject), "%.*s", PRT_STR_ARG(name));
    list_arrays(data, names, sizeof(names));
    return prt_fail_in_file(prt_fail(POPRT_E_NOT_FOUND, subject,
                                "there is no array of this name, which is %s; arrays: %s", use,
                                names),
        data->path);
}

/* Writes a shape whose dimension 0 counts samples, such as "[samples,1,8,?]"; negative dims are
 * not known. */
static void describe_shape(int64_t rank, const int64_t *dims, char to[SHAPE_TEXT])
{
    int used = snprintf(to, SHAPE_TEXT, "%s", rank > 0 ? "[samples" : "[");
    for (int64_t i = 1; i < rank && used < SHAPE_TEXT - 32; i++)
        used += dims[i] >= 0
            ? snprintf(to + used, SHAPE_TEXT - (size_t)used, ",%lld", (long long)dims[i])
            : snprintf(to + used, SHAPE_TEXT - (size_t)used, ",?");
    (void)snprintf(to + used, SHAPE_TEXT - (size_t)used, "]");
}

static poprt_status check_shape(const prt_tensor *array, const poprt_io_info *info)
{
    char has[SHAPE_TEXT], wants[SHAPE_TEXT];
    if (info->rank == 0)
        return prt_fail(POPRT_E_SHAPE, info->name,
            "this input is a scalar; inputs of training need a first dimension for the samples of "
            "a batch");
    bool fits = info->rank < 0 || (uint32_t)info->rank == array->rank;
    for (uint32_t i = 1; fits && info->rank > 0 && i < array->rank; i++)
        fits = info->dims[i] < 0 || info->dims[i] == array->dims[i];
    if (fits)
        return POPRT_OK;
    describe_shape(array->rank, array->dims, has);
    describe_shape(info->rank, info->dims, wants);
    return prt_fail(POPRT_E_SHAPE, info->name, "the array has the shape %s; the input accepts %s",
        has, wants);
}

static poprt_status match(const prt_train_data *data, const poprt_io_info *info,
    prt_train_column *out)
{
    const prt_tensor *array = NULL;
    uint64_t elements = 1;
    if (info->value_kind != POPRT_VALUE_TENSOR || info->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_TYPE, info->name,
            "this input is not a tensor of numbers; inputs of training are");
    PRT_TRY(prt_train_data_find(data, prt_str_of(info->name), "an input of the model", &array));
    *out = (prt_train_column){ .name = info->name, .array = array, .dtype = array->dtype };
    if (array->dtype == PRT_DTYPE_u16 && info->dtype == PRT_DTYPE_bf16)
        out->dtype = PRT_DTYPE_bf16;
    if (out->dtype != info->dtype)
        return prt_fail(POPRT_E_TYPE, info->name,
            "the array has elements of type %s; the input accepts %s",
            prt_dtype_of(array->dtype)->name, prt_dtype_of(info->dtype)->name);
    PRT_TRY(check_shape(array, info));
    for (uint32_t i = 1; i < array->rank; i++)
        elements *= (uint64_t)array->dims[i];
    if (elements * prt_dtype_bits(out->dtype) % 8 != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, info->name,
            "a sample of %u-bit elements does not end at a byte", prt_dtype_bits(out->dtype));
    out->row = (size_t)(elements * prt_dtype_bits(out->dtype) / 8);
    return POPRT_OK;
}

/* Keeps a first dimension that is a number. */
static poprt_status set_batch(prt_train_data *data, const poprt_io_info *info)
{
    if (data->batch >= 0 && data->batch != info->dims[0])
        return prt_fail(POPRT_E_SHAPE, info->name,
            "dimension 0 of this input is %lld, and that of another input is %lld; all must have "
            "the same number of samples",
            (long long)info->dims[0], (long long)data->batch);
    if (info->dims[0] == 0)
        return prt_fail(POPRT_E_SHAPE, info->name, "this input accepts no samples");
    data->batch = info->dims[0];
    return POPRT_OK;
}

poprt_status prt_train_data_match(prt_train_data *data, prt_arena *arena, const poprt_model *model)
{
    const size_t count = poprt_model_io_count(model, POPRT_INPUT);
    data->columns = PRT_NEW_N(arena, prt_train_column, count);
    data->batch = -1;
    if (data->columns == NULL)
        return POPRT_E_NOMEM;
    if (count == 0)
        return prt_fail(POPRT_E_ARG, NULL, "the model has no inputs, so no data can train it");
    for (size_t i = 0; i < count; i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        PRT_TRY(poprt_model_io_at(model, POPRT_INPUT, i, &info));
        PRT_TRY(prt_fail_in_file(match(data, &info, &data->columns[i]), data->path));
        if (info.rank > 0 && info.dims[0] >= 0)
            PRT_TRY(set_batch(data, &info));
        data->columns[i].name = prt_arena_text(arena, info.name, strlen(info.name));
        if (data->columns[i].name == NULL)
            return POPRT_E_NOMEM;
    }
    data->n_columns = (uint32_t)count;
    return POPRT_OK;
}

poprt_status prt_train_data_set_shapes(const prt_train_data *data, int64_t batch,
    poprt_model *model)
{
    for (uint32_t i = 0; i < data->n_columns; i++) {
        const prt_train_column *c = &data->columns[i];
        int64_t dims[PRT_MAX_RANK];
        memcpy(dims, c->array->dims, sizeof(dims));
        dims[0] = batch;
        PRT_TRY(poprt_model_set_input_shape(model, c->name, dims, c->array->rank));
    }
    return POPRT_OK;
}

poprt_tensor prt_train_data_rows(const prt_train_column *column, int64_t first, int64_t count,
    int64_t dims[PRT_MAX_RANK])
{
    memcpy(dims, column->array->dims, PRT_MAX_RANK * sizeof(*dims));
    dims[0] = count;
    return (poprt_tensor){ .data = (char *)column->array->data + (size_t)first * column->row,
        .size = (size_t)count * column->row,
        .dims = dims,
        .rank = column->array->rank,
        .dtype = column->dtype };
}

void prt_train_data_gather(const prt_train_column *column, const int64_t *order, int64_t count,
    void *to)
{
    const char *from = column->array->data;
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)to + (size_t)i * column->row, from + (size_t)order[i] * column->row,
            column->row);
}

/* ---- order */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns a number below `limit`. The bias of the remainder is at most limit / 2^64. */
static int64_t draw(uint64_t *state, int64_t limit)
{
    *state += 0x9e3779b97f4a7c15u;
    return (int64_t)(mix(*state) % (uint64_t)limit);
}

void prt_train_data_order(int64_t *order, int64_t count, bool shuffle, uint64_t seed,
    uint64_t epoch)
{
    uint64_t state = mix(seed) + mix(epoch + 0x9e3779b97f4a7c15u);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    for (int64_t i = count - 1; shuffle && i > 0; i--) { /* Fisher and Yates */
        const int64_t k = draw(&state, i + 1), other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}
