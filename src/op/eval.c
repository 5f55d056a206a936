/* SPDX-License-Identifier: MIT */
/* eval.c — helpers of the eval hooks: output memory, deep copies, element copies, errors. */
#include "op/eval.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/size.h"
#include "op/op.h"

poprt_status prt_eval_fail(const prt_eval *c, poprt_status status, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    return prt_fail(status, c->origin.data, "%s: %s", c->def->name, text);
}

/* Initialises a tensor whose data belongs to the memory of output `i`. */
static poprt_status make_tensor(prt_eval *c, uint32_t i, prt_tensor *t, int32_t dtype,
    uint32_t rank, const int64_t *dims)
{
    if (rank > PRT_MAX_RANK || !prt_tensor_init(t, dtype, rank, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "output %u is too large", i);
    t->data = c->host->alloc(c, i, t->size);
    return t->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_eval_shape(prt_eval *c, uint32_t i, int32_t dtype, uint32_t rank,
    const int64_t *dims)
{
    if (!prt_eval_wants(c, i))
        return POPRT_OK;
    prt_tensor *out = c->out[i];
    if (out->kind == PRT_VALUE_TENSOR && out->data != NULL && out->dtype == dtype &&
        out->rank == rank && (rank == 0 || memcmp(out->dims, dims, rank * sizeof(int64_t)) == 0))
        return POPRT_OK;
    return make_tensor(c, i, out, dtype, rank, dims);
}

void *prt_eval_scratch(prt_eval *c, size_t count, size_t size)
{
    size_t bytes;
    if (!prt_size_mul(count, size, &bytes)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    return c->host->alloc(c, UINT32_MAX, bytes);
}

void *prt_eval_scratch_raw(prt_eval *c, size_t count, size_t size)
{
    size_t bytes;
    if (c->host->scratch == NULL)
        return prt_eval_scratch(c, count, size);
    if (!prt_size_mul(count, size, &bytes)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    return c->host->scratch(c, bytes);
}

/* Copies the characters of the strings too, because the source may be overwritten. */
static poprt_status copy_strings(prt_eval *c, uint32_t i, const prt_tensor *from, prt_tensor *to)
{
    const poprt_string *s = from->data;
    poprt_string *d = to->data;
    for (size_t k = 0; k < prt_tensor_count(from); k++) {
        char *text = c->host->alloc(c, i, s[k].size + 1);
        if (text == NULL)
            return POPRT_E_NOMEM;
        if (s[k].size != 0)
            memcpy(text, s[k].data, s[k].size);
        d[k] = (poprt_string){ text, s[k].size };
    }
    return POPRT_OK;
}

static poprt_status copy_tensor(prt_eval *c, uint32_t i, const prt_tensor *from, prt_tensor *to)
{
    if (from->dtype == PRT_DTYPE_string)
        return copy_strings(c, i, from, to);
    if (from->size != 0)
        memcpy(to->data, from->data, from->size);
    return POPRT_OK;
}

/* Copies the keys and values of a map. */
static poprt_status copy_map(prt_eval *c, uint32_t i, const prt_tensor *from, prt_tensor *to)
{
    const int64_t count = (int64_t)from->count;
    prt_tensor keys, copy;
    if (!prt_tensor_init(&keys, from->dtype, 1, &count, from->data))
        return prt_eval_fail(c, POPRT_E_LIMIT, "output %u is too large", i);
    PRT_TRY(prt_eval_copy_item(c, i, &keys, &copy));
    to->data = copy.data;
    to->items = c->host->alloc(c, i, sizeof(prt_tensor));
    return to->items != NULL ? prt_eval_copy_item(c, i, from->items, to->items) : POPRT_E_NOMEM;
}

/* The recursion is bounded by PRT_MAX_TYPE_DEPTH, because types are. */
poprt_status prt_eval_copy_item(prt_eval *c, uint32_t i, const prt_tensor *from, prt_tensor *to)
{
    if (from->kind == PRT_VALUE_TENSOR) {
        PRT_TRY(make_tensor(c, i, to, from->dtype, from->rank, from->dims));
        return copy_tensor(c, i, from, to);
    }
    *to = *from;
    if (from->items == NULL)
        return POPRT_OK;
    if (from->kind == PRT_VALUE_MAP)
        return copy_map(c, i, from, to);
    to->items = c->host->alloc(c, i, from->count * sizeof(prt_tensor));
    if (to->items == NULL)
        return POPRT_E_NOMEM;
    for (size_t k = 0; k < from->count; k++)
        PRT_TRY(prt_eval_copy_item(c, i, &from->items[k], &to->items[k]));
    return POPRT_OK;
}

poprt_status prt_eval_copy(prt_eval *c, uint32_t i, const prt_tensor *from)
{
    if (!prt_eval_wants(c, i))
        return POPRT_OK;
    if (from->kind != PRT_VALUE_TENSOR)
        return prt_eval_copy_item(c, i, from, c->out[i]);
    PRT_TRY(prt_eval_shape(c, i, from->dtype, from->rank, from->dims));
    return copy_tensor(c, i, from, c->out[i]);
}

poprt_status prt_eval_sequence(prt_eval *c, uint32_t i, int32_t dtype, size_t count)
{
    size_t bytes;
    if (!prt_size_mul(count, sizeof(prt_tensor), &bytes))
        return prt_fail_nomem(SIZE_MAX);
    prt_tensor *items = c->host->alloc(c, i, bytes);
    if (items == NULL)
        return POPRT_E_NOMEM;
    *c->out[i] =
        (prt_tensor){ .kind = PRT_VALUE_SEQUENCE, .dtype = dtype, .count = count, .items = items };
    return POPRT_OK;
}

poprt_status prt_eval_ints(const prt_eval *c, uint32_t i, int64_t *to, uint32_t max,
    uint32_t *count)
{
    const prt_tensor *t = c->in[i];
    const size_t n = prt_tensor_count(t);
    if (n > max)
        return prt_eval_fail(c, POPRT_E_SHAPE, "input %u has %zu elements; at most %u are accepted",
            i, n, max);
    for (size_t k = 0; k < n; k++)
        to[k] = prt_load_i64(t->dtype, t->data, k);
    *count = (uint32_t)n;
    return POPRT_OK;
}

void prt_element_copy(int32_t dtype, void *to, size_t to_index, const void *from, size_t from_index,
    size_t count)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    if (bits >= 8) {
        const size_t size = bits / 8;
        if (count != 0)
            memcpy((char *)to + to_index * size, (const char *)from + from_index * size,
                count * size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        prt_packed_store(bits, to, to_index + i, prt_packed_load(bits, from, from_index + i));
}

bool prt_at_next(uint32_t rank, const int64_t *dims, int64_t *at)
{
    for (uint32_t i = rank; i-- > 0;) {
        if (++at[i] < dims[i])
            return true;
        at[i] = 0;
    }
    return false;
}

poprt_status prt_op_eval(prt_eval *c)
{
    if (c->def->hooks->eval == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "this operator has no eval hook and cannot run");
    bool wanted = c->n_out == 0 || (c->def->traits & PRT_PURE) == 0;
    for (uint32_t i = 0; i < c->n_out; i++)
        wanted = wanted || c->out[i] != NULL;
    if (!wanted)
        return POPRT_OK;
    return c->def->hooks->eval(c);
}
