/* SPDX-License-Identifier: MIT */
/*
 * graph.c — operators of ai.graphcore that run a graph: Call; and PackedDataBlock, which unpacks
 * sequences to batches, runs its callback on each batch and packs the results.
 */
#include "op/share/shape_values.h"
#include "op/share/type_wrap.h"

/* ---- Call */

static poprt_status infer_call(prt_infer *c)
{
    const prt_gc_call_attrs *a = c->attrs;
    if (!prt_attr_given(a, 0))
        return prt_infer_fail(c, POPRT_E_PARSE, "needs the attribute callee");
    for (uint32_t i = 0; i < a->modifiedInputs.count; i++)
        if (a->modifiedInputs.data[i] < 0 || a->modifiedInputs.data[i] >= (int64_t)c->n_in)
            return prt_infer_fail(c, POPRT_E_ARG, "modifiedInputs has %lld; there are %u inputs",
                (long long)a->modifiedInputs.data[i], c->n_in);
    if (c->region == NULL)
        return POPRT_OK;
    prt_region r = { .n_in = c->n_in,
        .n_out = c->n_out,
        .in = c->in,
        .out = prt_type_wrap_shapes(c, c->n_out),
        .in_content = c->content,
        .out_content = PRT_NEW_N(c->scratch, prt_content, (size_t)c->n_out + 1) };
    if (r.out == NULL || r.out_content == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(c->region(c, a->callee, &r));
    for (uint32_t i = 0; i < c->n_out; i++) {
        prt_type_wrap_copy(c, i, &r.out[i]);
        PRT_TRY(prt_infer_set_content(c, i, r.out_content[i].count, r.out_content[i].values));
    }
    return POPRT_OK;
}

static poprt_status eval_call(prt_eval *c)
{
    const prt_gc_call_attrs *a = c->attrs;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED, "the caller cannot run regions");
    prt_tensor *out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(c->host->check(c));
    PRT_TRY(c->host->call(c, a->callee, c->n_in, c->in, c->n_out, out));
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_eval_copy(c, i, &out[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_call = { .infer = infer_call, .eval = eval_call };

/* ---- PackedDataBlock: inputs are (data, offsets, lengths)…, result offsets, result lengths */

static uint32_t count_of(uint32_t n_in)
{
    return n_in >= 5 && (n_in - 2) % 3 == 0 ? (n_in - 2) / 3 : 0;
}

static bool is_list(uint32_t i, uint32_t n_in)
{
    return i % 3 != 0 || i + 2 >= n_in;
}

static poprt_status check_packed(const prt_infer *c)
{
    const prt_gc_packed_data_block_attrs *a = c->attrs;
    const uint32_t n = count_of(c->n_in);
    int64_t sequences = PRT_DIM_UNKNOWN;
    if (n == 0 || a->maxSequenceLengths.count != n)
        return prt_infer_fail(c, POPRT_E_PARSE,
            "has %u inputs and %u maxSequenceLengths; (data, offsets, lengths) for each of these "
            "and result offsets and lengths are needed",
            c->n_in, a->maxSequenceLengths.count);
    if (!prt_attr_given(a, 3) || a->callbackBatchSize < 1 || a->resultSize < 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "needs a callback, callbackBatchSize of at least 1, resultSize of at least 0");
    for (uint32_t i = 0; i < n; i++)
        if (a->maxSequenceLengths.data[i] < 0)
            return prt_infer_fail(c, POPRT_E_ARG, "maxSequenceLengths has %lld",
                (long long)a->maxSequenceLengths.data[i]);
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_infer_ranked(c, i))
            continue;
        const prt_shape *in = &c->in[i];
        if (is_list(i, c->n_in) ? in->rank != 1 : in->rank < 1 || in->rank >= PRT_MAX_RANK)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d", i, in->rank);
        if (!is_list(i, c->n_in))
            continue;
        if (!prt_dtype_is_integer(in->dtype))
            return prt_infer_fail(c, POPRT_E_TYPE, "input %u is %s where integers are needed", i,
                prt_dtype_of(in->dtype)->name);
        PRT_TRY(prt_infer_merge(c, sequences, in->dims[0], "the number of sequences", &sequences));
    }
    return POPRT_OK;
}

/* Returns the shape of the callback's input for data input `i`: [batch, longest, …]. */
static prt_shape batch_shape(const prt_gc_packed_data_block_attrs *a, uint32_t i,
    const prt_shape *data)
{
    prt_shape s = { .kind = PRT_VALUE_TENSOR, .dtype = data->dtype, .rank = PRT_RANK_UNKNOWN };
    if (data->kind != PRT_VALUE_TENSOR || data->rank < 1)
        return s;
    s.rank = data->rank + 1;
    s.dims[0] = a->callbackBatchSize;
    s.dims[1] = a->maxSequenceLengths.data[i];
    for (int32_t k = 1; k < data->rank; k++)
        s.dims[k + 1] = data->dims[k];
    return s;
}

static poprt_status infer_packed(prt_infer *c)
{
    const prt_gc_packed_data_block_attrs *a = c->attrs;
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(check_packed(c));
    if (c->region == NULL)
        return POPRT_OK;
    const uint32_t n = count_of(c->n_in);
    prt_shape *in = prt_type_wrap_shapes(c, n), out = { .kind = PRT_VALUE_UNKNOWN };
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        in[i] = batch_shape(a, i, &c->in[3 * i]);
    PRT_TRY(
        c->region(c, a->callback, &(prt_region){ .n_in = n, .in = in, .n_out = 1, .out = &out }));
    if (out.kind != PRT_VALUE_TENSOR || out.rank < 0)
        return prt_infer_unranked(c, 0, out.dtype, PRT_RANK_UNKNOWN);
    if (out.rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the callback gives rank %d; at least 2 is needed",
            out.rank);
    dims[0] = a->resultSize;
    for (int32_t k = 2; k < out.rank; k++)
        dims[k - 1] = out.dims[k];
    return prt_infer_set(c, 0, out.dtype, out.rank - 1, dims);
}

/* Reads the range [offset, offset + length) of sequence `s` from inputs `i` and `i + 1`. Fails
   where it is outside the rows. */
static poprt_status span_of(const prt_eval *c, uint32_t i, size_t s, int64_t rows, int64_t most,
    size_t *offset, size_t *length)
{
    const int64_t at = prt_load_i64(c->in[i]->dtype, c->in[i]->data, s);
    const int64_t n = prt_load_i64(c->in[i + 1]->dtype, c->in[i + 1]->data, s);
    if (at < 0 || n < 0 || n > most || n > rows || at > rows - n)
        return prt_eval_fail(c, POPRT_E_ARG,
            "sequence %zu: %lld rows from row %lld on do not fit %lld rows, or are more than %lld",
            s, (long long)n, (long long)at, (long long)rows, (long long)most);
    *offset = (size_t)at;
    *length = (size_t)n;
    return POPRT_OK;
}

/* Unpacks the batch of data input `i` whose first sequence is `first`. */
static poprt_status unpack(prt_eval *c, uint32_t i, size_t first, prt_tensor *batch)
{
    const prt_tensor *data = c->in[3 * i];
    const size_t row = prt_dims_product(data->dims, 1, data->rank);
    const size_t longest = (size_t)batch->dims[1];
    if (batch->size != 0)
        memset(batch->data, 0, batch->size);
    for (size_t k = 0; k < (size_t)batch->dims[0]; k++) {
        size_t offset, length;
        PRT_TRY(span_of(c, 3 * i + 1, first + k, data->dims[0], batch->dims[1], &offset, &length));
        prt_element_copy(data->dtype, batch->data, k * longest * row, data->data, offset * row,
            length * row);
    }
    return POPRT_OK;
}

/* Allocates the zeroed result at the first call of the callback, which determines its type and the
   shape of a row. */
static poprt_status begin_result(prt_eval *c, const prt_tensor *given)
{
    const prt_gc_packed_data_block_attrs *a = c->attrs;
    int64_t dims[PRT_MAX_RANK] = { a->resultSize };
    for (uint32_t k = 2; k < given->rank; k++)
        dims[k - 1] = given->dims[k];
    PRT_TRY(prt_shape_output(c, 0, given->dtype, given->rank - 1, dims));
    if (prt_eval_wants(c, 0))
        prt_zero_elements(given->dtype, c->out[0]->data, 0, prt_tensor_count(c->out[0]));
    return POPRT_OK;
}

static poprt_status pack(prt_eval *c, size_t first, const prt_tensor *given)
{
    const prt_gc_packed_data_block_attrs *a = c->attrs;
    if (given->kind != PRT_VALUE_TENSOR || given->rank < 2 ||
        given->dims[0] != a->callbackBatchSize || given->dtype == PRT_DTYPE_string)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the callback's result is not a tensor of %lld sequences",
            (long long)a->callbackBatchSize);
    if (first == 0)
        PRT_TRY(begin_result(c, given));
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const size_t row = prt_dims_product(given->dims, 2, given->rank);
    if (y->dtype != given->dtype || row != prt_dims_product(y->dims, 1, y->rank))
        return prt_eval_fail(c, POPRT_E_SHAPE, "the callback's results differ in shape or type");
    for (size_t k = 0; k < (size_t)given->dims[0]; k++) {
        size_t offset, length;
        PRT_TRY(span_of(c, c->n_in - 2, first + k, y->dims[0], given->dims[1], &offset, &length));
        prt_element_copy(y->dtype, y->data, offset * row, given->data,
            k * (size_t)given->dims[1] * row, length * row);
    }
    return POPRT_OK;
}

/* Returns zeros in the declared shape, for a run that never calls the callback. */
static poprt_status return_zeros(prt_eval *c)
{
    const prt_gc_packed_data_block_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const prt_tensor *declared = c->out[0];
    int64_t dims[PRT_MAX_RANK] = { a->resultSize };
    if (declared->dtype == PRT_DTYPE_undefined || declared->rank < 1 ||
        declared->rank > PRT_MAX_RANK)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "there are fewer sequences than callbackBatchSize, and the type of the result is "
            "unknown");
    for (uint32_t k = 1; k < declared->rank; k++)
        dims[k] = declared->dims[k] > 0 ? declared->dims[k] : 0;
    PRT_TRY(prt_eval_shape(c, 0, declared->dtype, declared->rank, dims));
    prt_zero_elements(c->out[0]->dtype, c->out[0]->data, 0, prt_tensor_count(c->out[0]));
    return POPRT_OK;
}

static poprt_status eval_packed(prt_eval *c)
{
    const prt_gc_packed_data_block_attrs *a = c->attrs;
    const uint32_t n = count_of(c->n_in);
    const size_t each = (size_t)a->callbackBatchSize, calls = prt_tensor_count(c->in[1]) / each;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED, "the caller cannot run regions");
    if (calls == 0)
        return return_zeros(c);
    prt_tensor *batches = prt_eval_scratch(c, n, sizeof(prt_tensor)), out;
    const prt_tensor **in = prt_eval_scratch(c, n, sizeof(prt_tensor *));
    if (batches == NULL || in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        prt_shape data;
        prt_shape_of_tensor(c->in[3 * i], &data);
        const prt_shape s = batch_shape(a, i, &data);
        if (!prt_tensor_init(&batches[i], s.dtype, (uint32_t)s.rank, s.dims, NULL))
            return prt_eval_fail(c, POPRT_E_LIMIT, "a batch of input %u is too large", i);
        batches[i].data = prt_eval_scratch(c, batches[i].size, 1);
        if (batches[i].data == NULL)
            return POPRT_E_NOMEM;
        in[i] = &batches[i];
    }
    for (size_t k = 0; k < calls; k++) {
        PRT_TRY(c->host->check(c));
        for (uint32_t i = 0; i < n; i++)
            PRT_TRY(unpack(c, i, k * each, &batches[i]));
        PRT_TRY(c->host->call(c, a->callback, n, in, 1, &out));
        PRT_TRY(pack(c, k * each, &out));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_packed_data_block = { .infer = infer_packed, .eval = eval_packed };
