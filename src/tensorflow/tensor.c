/* SPDX-License-Identifier: MIT */
/*
 * tensor.c — TensorProto to constants. Contents in the layout of memory become views of the file;
 * lists of numbers are decoded, and the last number of a short list repeats.
 */
#include "ir/evaluate.h"
#include "tensorflow/convert.h"

/* Small contents are copied, since views may be misaligned. */
enum { COPY_BELOW = 16 << 10 };

typedef struct proto {
    int64_t type;
    int32_t dtype, rank;
    int64_t dims[PRT_MAX_RANK];
    bool has_content;
    prt_bytes content;
    uint64_t count;
    size_t size;
    prt_bytes bytes; /* the message */
    uint32_t depth;
    const char *node;
} proto;

static poprt_status read_proto(proto *p)
{
    prt_wire w = prt_tf_open(p->bytes, PRT_TF_Tensor, p->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_Tensor_dtype)
            p->type = (int64_t)f.word;
        else if (f.number == PRT_TF_Tensor_tensor_shape)
            PRT_TRY(prt_tf_shape_read(f.bytes, p->depth + 1, &p->rank, p->dims));
        else if (f.number == PRT_TF_Tensor_tensor_content) {
            p->has_content = f.bytes.size != 0;
            p->content = f.bytes;
        }
    }
    PRT_TRY(w.status);
    p->dtype = prt_tf_dtype_of(p->type);
    if (p->dtype == PRT_DTYPE_undefined)
        return prt_fail(POPRT_E_UNSUPPORTED, p->node,
            "a constant has element type %lld, which no tensor has", (long long)p->type);
    for (int32_t i = 0; i < p->rank; i++)
        if (p->dims[i] < 0)
            return prt_fail(POPRT_E_PARSE, p->node, "a constant has a free dimension");
    const prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = p->dtype,
        .rank = p->rank,
        .dims = p->dims };
    if (p->rank < 0 || !prt_type_count(&type, &p->count) ||
        !prt_dtype_size(p->dtype, p->count, &p->size) || p->size > PTRDIFF_MAX)
        return prt_fail(POPRT_E_PARSE, p->node, "the shape of a constant is not valid");
    return POPRT_OK;
}

/* Returns the field with the numbers of an element type, the bytes of an entry, and the number of
 * entries of an element. */
static uint32_t field_of(int32_t dtype, size_t *unit, uint32_t *entries)
{
    *unit = prt_dtype_bits(dtype) / 8;
    *entries = 1;
    switch (dtype) {
    case PRT_DTYPE_f32:
        return PRT_TF_Tensor_float_val;
    case PRT_DTYPE_f64:
        return PRT_TF_Tensor_double_val;
    case PRT_DTYPE_c64:
    case PRT_DTYPE_c128:
        *entries = 2;
        *unit /= 2;
        return dtype == PRT_DTYPE_c64 ? PRT_TF_Tensor_scomplex_val : PRT_TF_Tensor_dcomplex_val;
    case PRT_DTYPE_i64:
        return PRT_TF_Tensor_int64_val;
    case PRT_DTYPE_bool:
        return PRT_TF_Tensor_bool_val;
    case PRT_DTYPE_f16:
    case PRT_DTYPE_bf16:
        return PRT_TF_Tensor_half_val;
    case PRT_DTYPE_u32:
        return PRT_TF_Tensor_uint32_val;
    case PRT_DTYPE_u64:
        return PRT_TF_Tensor_uint64_val;
    case PRT_DTYPE_string:
        return PRT_TF_Tensor_string_val;
    default:
        *unit = *unit == 0 ? 1 : *unit;
        return PRT_TF_Tensor_int_val;
    }
}

static poprt_status too_many(const proto *p)
{
    return prt_fail(POPRT_E_PARSE, p->node, "a constant holds more values than its shape has");
}

/* Decodes numbers. Entries are little-endian words, of which the low `unit` bytes are stored. */
static poprt_status read_numbers(const proto *p, unsigned char *to)
{
    size_t unit, at = 0;
    uint32_t entries;
    const uint32_t number = field_of(p->dtype, &unit, &entries);
    const size_t element = unit * entries;
    prt_wire w = prt_tf_open(p->bytes, PRT_TF_Tensor, p->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        uint64_t word;
        if (f.number == PRT_TF_Tensor_float8_val && unit == 1 && f.bytes.size <= p->size) {
            memcpy(to, f.bytes.data, f.bytes.size);
            at = f.bytes.size;
        }
        if (f.number != number)
            continue;
        while (prt_wire_item(&w, &f, &word)) {
            if (p->size - at < unit)
                return too_many(p);
            memcpy(to + at, &word, unit);
            at += unit;
        }
    }
    PRT_TRY(w.status);
    if (at == 0)
        return POPRT_OK; /* no values: zeros */
    for (at -= at % element; at >= element && at < p->size; at += element)
        memcpy(to + at, to + at - element, element);
    return POPRT_OK;
}

/* Reads strings into `to`, as references to the file; the last one repeats. */
static poprt_status read_strings(const proto *p, poprt_string *to)
{
    size_t at = 0;
    prt_wire w = prt_tf_open(p->bytes, PRT_TF_Tensor, p->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_Tensor_string_val)
            continue;
        if (at == p->count)
            return too_many(p);
        to[at++] = (poprt_string){ (const char *)f.bytes.data, f.bytes.size };
    }
    for (; at > 0 && at < p->count; at++)
        to[at] = to[at - 1];
    return w.status;
}

/* Counts bytes that the converter owns, so that a short file cannot ask for any amount. */
static poprt_status own(prt_tf_converter *c, const proto *p)
{
    if (p->size > c->owned_limit - c->owned)
        return prt_fail(POPRT_E_LIMIT, p->node,
            "the constants that a file states by few values have more than %zu bytes",
            c->owned_limit);
    c->owned += p->size;
    return POPRT_OK;
}

static poprt_status make_blob(prt_tf_converter *c, const proto *p, prt_blob **blob)
{
    if (p->has_content && p->content.size != p->size)
        return prt_fail(POPRT_E_PARSE, p->node,
            "a constant holds %zu bytes, but its shape and type need %zu", p->content.size,
            p->size);
    if (p->has_content && p->size >= COPY_BELOW && c->file != NULL &&
        p->content.data >= c->file->data && p->content.data < c->file->data + c->file->size)
        return prt_blob_view(c->file, (size_t)(p->content.data - c->file->data), p->size, blob);
    PRT_TRY(own(c, p));
    PRT_TRY(prt_blob_create(c->module->allocator, p->size, blob));
    if (p->has_content) {
        memcpy(prt_blob_bytes(*blob), p->content.data, p->size);
        return POPRT_OK;
    }
    const poprt_status status = read_numbers(p, prt_blob_bytes(*blob));
    if (status != POPRT_OK)
        prt_blob_release(*blob);
    return status;
}

static poprt_status strings_constant(prt_tf_converter *c, prt_graph *graph, const proto *p,
    prt_value **out)
{
    prt_tensor t;
    PRT_TRY(own(c, p));
    poprt_string *strings = PRT_NEW_N(c->arena, poprt_string, (size_t)p->count + 1);
    if (strings == NULL)
        return POPRT_E_NOMEM;
    if (p->has_content)
        return prt_fail(POPRT_E_PARSE, p->node, "a constant of strings has numbers as contents");
    PRT_TRY(read_strings(p, strings));
    size_t total = 0;
    for (uint64_t i = 0; i < p->count; i++)
        if (!prt_size_add(total, strings[i].size, &total) || total > c->owned_limit)
            return prt_fail(POPRT_E_LIMIT, p->node, "the strings of a constant are too long");
    if (!prt_tensor_init(&t, p->dtype, (uint32_t)p->rank, p->dims, strings))
        return POPRT_E_LIMIT;
    *out = prt_graph_add_tensor(graph, &t);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_tf_tensor_constant(prt_tf_converter *c, prt_graph *graph, prt_bytes bytes,
    uint32_t depth, prt_str name, prt_value **out)
{
    proto p = { .bytes = bytes,
        .depth = depth,
        .node = prt_arena_text(c->arena, name.data, name.size) };
    if (p.node == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(read_proto(&p));
    if (p.dtype == PRT_DTYPE_string)
        return strings_constant(c, graph, &p, out);
    prt_blob *blob = NULL;
    PRT_TRY(make_blob(c, &p, &blob));
    const prt_type *type = prt_type_tensor(c->module->types, p.dtype, p.rank, p.dims);
    if (type == NULL) {
        prt_blob_release(blob);
        return POPRT_E_NOMEM;
    }
    *out = prt_graph_add_constant(graph, PRT_STR(""), type, blob);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}
