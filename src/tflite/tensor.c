/* SPDX-License-Identifier: MIT */
/* tensor.c — reads the Tensor tables of a TFLite file: shape, data, quantisation, sparsity. */
#include <math.h>

#include "base/size.h"
#include "tflite/model.h"

poprt_status prt_tflite_read_ints(const prt_tflite_reader *r, const prt_flat_vector *v,
    prt_tflite_ints *out)
{
    int32_t *to = PRT_NEW_N(r->arena, int32_t, v->count);
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->count; i++)
        to[i] = (int32_t)prt_flat_item_int(v, i);
    *out = (prt_tflite_ints){ to, v->count };
    return v->owner.file->status;
}

/* Reads the dims. `shape` has 1 for free dims where `shape_signature` has -1. */
static poprt_status read_shape(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_tensor *out)
{
    prt_flat_vector shape = PRT_TFLITE_ITEMS(t, Tensor, shape);
    const prt_flat_vector signature = PRT_TFLITE_ITEMS(t, Tensor, shape_signature);
    if (signature.count != 0 && signature.count != shape.count)
        return prt_flat_fail(t, signature.field, POPRT_E_PARSE, "has another rank than the shape");
    if (signature.count != 0)
        shape = signature;
    if (shape.count > PRT_MAX_RANK)
        return prt_flat_fail(t, shape.field, POPRT_E_LIMIT, "has more than 8 dimensions");
    int64_t *dims = PRT_NEW_N(r->arena, int64_t, shape.count);
    if (dims == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < shape.count; i++) {
        dims[i] = prt_flat_item_int(&shape, i);
        if (dims[i] < -1)
            return prt_flat_fail(t, shape.field, POPRT_E_PARSE, "a dimension is below -1");
    }
    out->rank = (uint32_t)shape.count;
    out->dims = dims;
    out->has_rank = shape.count != 0 || PRT_TFLITE_INT(t, Tensor, has_rank) != 0;
    return t->file->status;
}

/* Checks that an axis has a scale for each of its indices. */
static poprt_status check_axis(const prt_flat_table *t, const prt_flat_field *field, int64_t axis,
    size_t count, const prt_tflite_tensor *out)
{
    if (axis < 0 || axis >= (int64_t)out->rank ||
        (out->dims[axis] >= 0 && out->dims[axis] != (int64_t)count))
        return prt_flat_fail(t, field, POPRT_E_PARSE,
            "the number of scales differs from the size of the quantised dimension");
    return POPRT_OK;
}

static poprt_status read_quantization(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_tensor *out)
{
    const prt_flat_table q = prt_flat_child(t, PRT_TFLITE_FIELD(Tensor, quantization),
        PRT_TFLITE_MESSAGE(QuantizationParameters));
    out->other_quantization =
        prt_flat_union_type(&q, PRT_TFLITE_FIELD(QuantizationParameters, details)) != 0;
    const prt_flat_vector scale = PRT_TFLITE_ITEMS(&q, QuantizationParameters, scale);
    const prt_flat_vector zero = PRT_TFLITE_ITEMS(&q, QuantizationParameters, zero_point);
    const int64_t axis = PRT_TFLITE_INT(&q, QuantizationParameters, quantized_dimension);
    if (scale.count == 0 || out->other_quantization)
        return t->file->status;
    if (scale.count > 1)
        PRT_TRY(check_axis(&q, scale.field, axis, scale.count, out));
    if (zero.count > 1 && zero.count != scale.count)
        return prt_flat_fail(&q, zero.field, POPRT_E_PARSE,
            "the number of zero points differs from that of the scales");
    prt_tflite_quantization *to = PRT_NEW(r->arena, prt_tflite_quantization);
    float *scales = PRT_NEW_N(r->arena, float, scale.count);
    int64_t *zeros = PRT_NEW_N(r->arena, int64_t, scale.count);
    if (to == NULL || scales == NULL || zeros == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < scale.count; i++) {
        scales[i] = prt_flat_item_f32(&scale, i);
        if (zero.count != 0)
            zeros[i] = prt_flat_item_int(&zero, zero.count == 1 ? 0 : i);
        if (!isfinite(scales[i]) || scales[i] < 0)
            return prt_flat_fail(&q, scale.field, POPRT_E_PARSE, "a scale is negative or infinite");
    }
    *to = (prt_tflite_quantization){ (uint32_t)scale.count, scale.count > 1 ? (uint32_t)axis : 0,
        scales, zeros };
    out->quantization = to;
    return t->file->status;
}

/* Reads the index vector of a union, which has items of 8, 16 or 32 bits. */
static poprt_status read_indices(const prt_tflite_reader *r, const prt_flat_table *t,
    const prt_flat_field *field, prt_tflite_ints *out)
{
    static const struct {
        uint8_t message;
        uint16_t field;
    } kinds[] = { { PRT_TFLITE_Int32Vector, PRT_TFLITE_Int32Vector_values },
        { PRT_TFLITE_Uint16Vector, PRT_TFLITE_Uint16Vector_values },
        { PRT_TFLITE_Uint8Vector, PRT_TFLITE_Uint8Vector_values } };
    const uint32_t type = prt_flat_union_type(t, field);
    if (type == 0 || type > PRT_COUNT_OF(kinds))
        return prt_flat_fail(t, field, POPRT_E_PARSE, "is missing or of an unknown type");
    const prt_flat_table vector =
        prt_flat_union(t, field, &prt_tflite_messages[kinds[type - 1].message]);
    const prt_flat_vector v = prt_flat_items(&vector, &prt_tflite_fields[kinds[type - 1].field]);
    return prt_tflite_read_ints(r, &v, out);
}

static poprt_status read_level(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_level *level)
{
    const int64_t format = PRT_TFLITE_INT(t, DimensionMetadata, format);
    level->size = PRT_TFLITE_INT(t, DimensionMetadata, dense_size);
    if (format != 0 && format != 1)
        return prt_flat_fail(t, PRT_TFLITE_FIELD(DimensionMetadata, format), POPRT_E_PARSE,
            "is neither 0 (dense) nor 1 (CSR)");
    level->compressed = format == 1;
    if (level->compressed) {
        PRT_TRY(read_indices(r, t, PRT_TFLITE_FIELD(DimensionMetadata, array_segments),
            &level->segments));
        PRT_TRY(read_indices(r, t, PRT_TFLITE_FIELD(DimensionMetadata, array_indices),
            &level->indices));
    }
    return t->file->status;
}

/* Reads a vector of `count` numbers below `end` into `to`; with `distinct`, each number occurs
 * once. */
static poprt_status read_order(const prt_flat_table *t, const prt_flat_vector *v, uint32_t end,
    bool distinct, uint32_t *to)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < v->count; i++) {
        const int64_t k = prt_flat_item_int(v, i);
        if (k < 0 || k >= (int64_t)end || (distinct && (seen >> k & 1) != 0))
            return prt_flat_fail(t, v->field, POPRT_E_PARSE,
                "is not a list of distinct dimensions of the tensor");
        seen |= 1u << k;
        to[i] = (uint32_t)k;
    }
    return t->file->status;
}

static poprt_status read_sparsity(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_tensor *out)
{
    const prt_flat_table s = prt_flat_child(t, PRT_TFLITE_FIELD(Tensor, sparsity),
        PRT_TFLITE_MESSAGE(SparsityParameters));
    if (!prt_flat_present(&s))
        return t->file->status;
    const prt_flat_vector order = PRT_TFLITE_ITEMS(&s, SparsityParameters, traversal_order);
    const prt_flat_vector blocks = PRT_TFLITE_ITEMS(&s, SparsityParameters, block_map);
    const prt_flat_vector levels = PRT_TFLITE_ITEMS(&s, SparsityParameters, dim_metadata);
    if (blocks.count > out->rank || order.count != out->rank + blocks.count ||
        levels.count != order.count)
        return prt_flat_fail(&s, order.field, POPRT_E_PARSE,
            "does not have an entry for each dimension and block dimension");
    prt_tflite_sparsity *to = PRT_NEW(r->arena, prt_tflite_sparsity);
    uint32_t dims[PRT_TFLITE_LEVELS];
    if (to == NULL)
        return POPRT_E_NOMEM;
    to->n_levels = (uint32_t)levels.count;
    to->n_blocks = (uint32_t)blocks.count;
    PRT_TRY(read_order(&s, &order, to->n_levels, true, dims));
    PRT_TRY(read_order(&s, &blocks, out->rank, true, to->block_map));
    for (uint32_t i = 0; i < to->n_levels; i++) {
        const prt_flat_table level =
            prt_flat_item(&levels, i, PRT_TFLITE_MESSAGE(DimensionMetadata));
        to->levels[i].dim = dims[i];
        PRT_TRY(read_level(r, &level, &to->levels[i]));
    }
    out->sparsity = to;
    return t->file->status;
}

/* Checks that dense data of numbers has the size that the type and the dims imply. */
static poprt_status check_data(const prt_flat_table *t, const prt_tflite_tensor *out)
{
    const prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = out->dtype,
        .rank = (int32_t)out->rank,
        .dims = out->dims };
    size_t size;
    if (out->data.data == NULL || out->sparsity != NULL || out->dtype == PRT_DTYPE_string)
        return POPRT_OK;
    if (out->dtype == PRT_DTYPE_undefined || !prt_type_size(&type, &size) || size != out->data.size)
        return prt_flat_fail(t, PRT_TFLITE_FIELD(Tensor, buffer), POPRT_E_PARSE,
            "the size of the data does not fit the type and the shape");
    return POPRT_OK;
}

poprt_status prt_tflite_read_tensor(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_tensor *out)
{
    const int64_t buffer = PRT_TFLITE_INT(t, Tensor, buffer);
    out->name = PRT_TFLITE_TEXT(t, Tensor, name);
    out->dtype = prt_tflite_dtype(PRT_TFLITE_INT(t, Tensor, type));
    out->is_variable = PRT_TFLITE_INT(t, Tensor, is_variable) != 0;
    if (out->dtype < 0)
        return prt_flat_fail(t, PRT_TFLITE_FIELD(Tensor, type), POPRT_E_UNSUPPORTED,
            "is not a type that is known");
    if (PRT_TFLITE_INT(t, Tensor, external_buffer) != 0)
        return prt_flat_fail(t, PRT_TFLITE_FIELD(Tensor, external_buffer), POPRT_E_UNSUPPORTED,
            "data in another file is not supported");
    PRT_TRY(read_shape(r, t, out));
    PRT_TRY(read_quantization(r, t, out));
    PRT_TRY(read_sparsity(r, t, out));
    /* Buffer 0 stands for no data, and files without buffers have no constants. */
    if (buffer != 0 && (uint64_t)buffer >= r->n_buffers)
        return prt_flat_fail(t, PRT_TFLITE_FIELD(Tensor, buffer), POPRT_E_PARSE,
            "is not the index of a buffer");
    if (buffer != 0)
        out->data = r->buffers[buffer];
    return check_data(t, out);
}
