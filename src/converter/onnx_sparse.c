/* SPDX-License-Identifier: MIT */
/* onnx_sparse.c — converts SparseTensorProto to dense tensors. A limit bounds the dense size,
 * because the size of the message does not. */
#include "converter/onnx_raw.h"
#include "converter/onnx_tensor.h"
#include "op/eval.h"

typedef struct sparse {
    prt_raw_tensor values, indices, dense;
    bool has_values, has_indices;
} sparse;

static poprt_status open_sparse(prt_bytes bytes, uint32_t depth, sparse *sp)
{
    *sp = (sparse){ .dense.name = PRT_STR("") };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_SparseTensor, depth);
    prt_field f;
    uint64_t word;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_SparseTensor_values:
            PRT_TRY(prt_raw_tensor_open(f.bytes, depth + 1, &sp->values));
            sp->has_values = true;
            break;
        case PRT_ONNX_SparseTensor_indices:
            PRT_TRY(prt_raw_tensor_open(f.bytes, depth + 1, &sp->indices));
            sp->has_indices = true;
            break;
        case PRT_ONNX_SparseTensor_dims:
            while (prt_wire_item(&w, &f, &word)) {
                if (sp->dense.rank >= PRT_MAX_RANK || word > INT64_MAX)
                    return prt_wire_fail(&w, POPRT_E_LIMIT,
                        "a sparse tensor has more than 8 dimensions or a negative one");
                sp->dense.dims[sp->dense.rank++] = (int64_t)word;
            }
            break;
        default:
            break;
        }
    }
    return w.status;
}

static poprt_status check(const prt_onnx_source *s, sparse *sp)
{
    prt_raw_tensor *d = &sp->dense;
    d->name = sp->values.name;
    d->dtype = sp->values.dtype;
    const prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = d->dtype,
        .rank = (int32_t)d->rank,
        .dims = d->dims };
    if (!sp->has_values || d->dtype == PRT_DTYPE_string || prt_dtype_bits(d->dtype) < 8)
        return prt_onnx_fail(POPRT_E_UNSUPPORTED, d->name,
            "sparse tensor has no values, or values that are strings or narrower than 8 bits");
    if (!prt_type_size(&type, &d->size) || d->size > s->dense_limit)
        return prt_onnx_fail(POPRT_E_LIMIT, d->name,
            "sparse tensor would have more than %zu bytes when dense", s->dense_limit);
    d->count = d->size / (prt_dtype_bits(d->dtype) / 8);
    const prt_raw_tensor *i = &sp->indices;
    const bool flat = i->rank == 1, full = i->rank == 2 && i->dims[1] == (int64_t)d->rank;
    if (sp->values.rank != 1 || (!sp->has_indices && sp->values.count != 0) ||
        (sp->has_indices &&
            (i->dtype != PRT_DTYPE_i64 || !(flat || full) || i->dims[0] != sp->values.dims[0])))
        return prt_onnx_fail(POPRT_E_PARSE, d->name,
            "indices of the sparse tensor do not fit its values and dims");
    return POPRT_OK;
}

static poprt_status scatter(const sparse *sp, const int64_t *index, const void *values, void *to)
{
    const prt_raw_tensor *d = &sp->dense;
    const bool full = sp->indices.rank == 2;
    for (size_t k = 0; k < sp->values.count; k++) {
        uint64_t at = 0;
        bool inside = true;
        if (!full)
            at = (uint64_t)index[k];
        for (uint32_t i = 0; full && i < d->rank; i++) {
            const int64_t x = index[k * d->rank + i];
            inside = inside && x >= 0 && x < d->dims[i];
            at = at * (uint64_t)d->dims[i] + (uint64_t)x;
        }
        if (!inside || at >= d->count)
            return prt_onnx_fail(POPRT_E_PARSE, d->name,
                "index %zu of the sparse tensor lies outside its dims", k);
        prt_element_copy(d->dtype, to, (size_t)at, values, k, 1);
    }
    return POPRT_OK;
}

poprt_status prt_onnx_sparse_blob(prt_onnx_source *s, prt_bytes bytes, uint32_t depth,
    prt_raw_tensor *out_head, prt_blob **out)
{
    sparse sp;
    prt_blob *values = NULL, *indices = NULL, *dense = NULL;
    const size_t before = s->copy_below;
    PRT_TRY(open_sparse(bytes, depth, &sp));
    PRT_TRY(check(s, &sp));
    s->copy_below = SIZE_MAX; /* both are read through typed pointers */
    poprt_status status = prt_onnx_tensor_blob(s, &sp.values, &values);
    if (status == POPRT_OK && sp.has_indices)
        status = prt_onnx_tensor_blob(s, &sp.indices, &indices);
    s->copy_below = before;
    if (status == POPRT_OK)
        status = prt_blob_create(s->allocator, sp.dense.size, &dense);
    if (status == POPRT_OK && indices != NULL)
        status = scatter(&sp, (const int64_t *)(const void *)indices->data, values->data,
            prt_blob_bytes(dense));
    if (status == POPRT_OK) {
        s->dense_limit -= sp.dense.size;
        *out_head = sp.dense;
        *out = prt_blob_retain(dense);
    }
    prt_blob_release(values);
    prt_blob_release(indices);
    prt_blob_release(dense);
    return status;
}
