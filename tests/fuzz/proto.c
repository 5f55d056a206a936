/* SPDX-License-Identifier: MIT */
/* proto.c — mutations of TensorFlow's protobuf messages, by the fields of tensorflow.def. */
#include "fuzz/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/table.h"

enum { MAX_FIELDS = 1 << 13, MAX_DEPTH = 24, MAX_LEAF = 1 << 12 };

/* ---- the messages of fields */

/* The message of a field. The values of a map are in an Entry. */
typedef struct link {
    unsigned char message, field, target;
    bool map;
} link;

#define TO(message, field, target)                                                                 \
    {                                                                                              \
        PRT_TF_##message, PRT_TF_##message##_##field, PRT_TF_##target, false                       \
    }
#define MAP(message, field, target)                                                                \
    {                                                                                              \
        PRT_TF_##message, PRT_TF_##message##_##field, PRT_TF_##target, true                        \
    }
static const link links[] = { TO(GraphDef, node, NodeDef), TO(GraphDef, library, FunctionLibrary),
    TO(GraphDef, versions, VersionDef), MAP(NodeDef, attr, AttrValue),
    TO(AttrValue, list, ListValue), TO(AttrValue, shape, TensorShape),
    TO(AttrValue, tensor, Tensor), TO(AttrValue, func, NameAttrList),
    TO(ListValue, shape, TensorShape), TO(ListValue, tensor, Tensor),
    TO(ListValue, func, NameAttrList), MAP(NameAttrList, attr, AttrValue),
    TO(TensorShape, dim, Dim), TO(Tensor, tensor_shape, TensorShape),
    TO(FunctionLibrary, function, FunctionDef), TO(FunctionDef, signature, OpDef),
    TO(FunctionDef, node_def, NodeDef), MAP(FunctionDef, ret, MESSAGES),
    MAP(FunctionDef, attr, AttrValue), MAP(FunctionDef, control_ret, MESSAGES),
    TO(OpDef, input_arg, ArgDef), TO(OpDef, output_arg, ArgDef),
    TO(SavedModel, meta_graphs, MetaGraph), TO(MetaGraph, graph_def, GraphDef),
    TO(MetaGraph, saver_def, Saver), MAP(MetaGraph, collection_def, Collection),
    MAP(MetaGraph, signature_def, Signature), TO(MetaGraph, asset_file_def, AssetFile),
    TO(MetaGraph, object_graph_def, SavedObjectGraph), TO(Collection, node_list, TextList),
    TO(Collection, bytes_list, TextList), MAP(Signature, inputs, TensorInfo),
    MAP(Signature, outputs, TensorInfo), MAP(Signature, defaults, Tensor),
    TO(TensorInfo, tensor_shape, TensorShape), TO(TensorInfo, coo_sparse, CooSparse),
    TO(TensorInfo, composite_tensor, CompositeTensor), TO(CompositeTensor, components, TensorInfo),
    TO(AssetFile, tensor_info, TensorInfo), TO(SavedObjectGraph, nodes, SavedObject),
    MAP(SavedObjectGraph, concrete_functions, SavedConcreteFunction),
    TO(SavedObject, children, ObjectReference), TO(SavedObject, asset, SavedAsset),
    TO(SavedObject, function, SavedFunction), TO(SavedObject, variable, SavedVariable),
    TO(SavedObject, bare_concrete_function, SavedBareFunction),
    TO(SavedObject, constant, SavedConstant), TO(SavedObject, captured_tensor, CapturedTensor),
    TO(SavedVariable, shape, TensorShape) };

/* Where a field is: its message, and in an Entry the message of the values. */
typedef struct place {
    unsigned message, values;
} place;

/* Returns the place of what a field holds; PRT_TF_MESSAGES for a number or a text. */
static place place_in(place at, uint32_t number)
{
    const place leaf = { PRT_TF_MESSAGES, PRT_TF_MESSAGES };
    if (at.message == PRT_TF_Entry)
        return number == PRT_TF_Entry_value ? (place){ at.values, PRT_TF_MESSAGES } : leaf;
    for (size_t i = 0; i < PRT_COUNT_OF(links); i++)
        if (links[i].message == at.message && links[i].field == number)
            return links[i].map ? (place){ PRT_TF_Entry, links[i].target }
                                : (place){ links[i].target, PRT_TF_MESSAGES };
    return leaf;
}

/* ---- fields */

typedef struct field {
    uint32_t number;
    unsigned wire;
    uint64_t word;    /* of a number */
    prt_bytes whole;  /* with its tag */
    prt_bytes inside; /* of a text or message */
} field;

static bool read_varint(prt_bytes *in, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; in->size != 0 && shift < 64; shift += 7) {
        const unsigned char byte = *in->data;
        in->data++;
        in->size--;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_field(prt_bytes *in, field *f)
{
    uint64_t tag;
    *f = (field){ .whole = *in };
    if (!read_varint(in, &tag))
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    size_t size = f->wire == 1 ? 8 : 4;
    if (f->wire == 0 && !read_varint(in, &f->word))
        return false;
    if (f->wire == 2) {
        if (!read_varint(in, &f->word) || f->word > in->size)
            return false;
        size = (size_t)f->word;
    }
    if (f->wire != 0) {
        if (f->wire > 5 || f->wire == 3 || f->wire == 4 || size > in->size)
            return false;
        f->inside = (prt_bytes){ in->data, size };
        in->data += size;
        in->size -= size;
    }
    f->whole.size = (size_t)(in->data - f->whole.data);
    return true;
}

/* ---- random numbers */

typedef struct mutation {
    uint64_t random;
    prt_bytes own, other;
    prt_tf_message root;
    uint8_t *out;
    size_t size, capacity;
    bool full;
} mutation;

/* splitmix64 */
static uint64_t next(mutation *m)
{
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(mutation *m, size_t n)
{
    return n != 0 ? (size_t)(next(m) % n) : 0;
}

/* ---- writing */

static void put(mutation *m, const void *data, size_t size)
{
    if (size > m->capacity - m->size) {
        m->full = true;
        return;
    }
    if (size != 0)
        memcpy(m->out + m->size, data, size);
    m->size += size;
}

static void put_varint(mutation *m, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        put(m, &(uint8_t){ (uint8_t)(v | 0x80) }, 1);
    put(m, &(uint8_t){ (uint8_t)v }, 1);
}

static void put_text(mutation *m, uint32_t number, const void *text, size_t size)
{
    put_varint(m, (uint64_t)number << 3 | 2);
    put_varint(m, size);
    put(m, text, size);
}

/* ---- fields of the same kind */

typedef struct search {
    unsigned message;
    uint32_t number;
    size_t seen;
    field found;
} search;

/* Chooses one of the fields of a kind within a message. */
static void look(mutation *m, prt_bytes in, place at, unsigned depth, search *s)
{
    field f;
    while (in.size != 0 && read_field(&in, &f)) {
        if (at.message == s->message && f.number == s->number && below(m, ++s->seen) == 0)
            s->found = f;
        const place inner = place_in(at, f.number);
        if (inner.message < PRT_TF_MESSAGES && f.wire == 2 && depth < MAX_DEPTH)
            look(m, f.inside, inner, depth + 1, s);
    }
}

static field find(mutation *m, prt_bytes in, unsigned message, uint32_t number)
{
    search s = { .message = message, .number = number };
    look(m, in, (place){ m->root, PRT_TF_MESSAGES }, 0, &s);
    return s.found;
}

/* ---- values */

static void put_number(mutation *m, const field *f)
{
    static const uint64_t numbers[] = { 0, 1, 2, 3, 4, 5, 7, 8, 16, 63, 64, 65, 100, 255, 256, 1000,
        4096, 65535, 65536, 1 << 20, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40,
        0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 4 };
    static const float reals[] = { 0, 1, -1, 0.5f, 1e30f, -1e30f, 3e9f, 1e-30f };
    put_varint(m, (uint64_t)f->number << 3 | f->wire);
    if (f->wire == 0) {
        const size_t k = below(m, PRT_COUNT_OF(numbers) + 10);
        put_varint(m,
            k < PRT_COUNT_OF(numbers) ? numbers[k]
                : k % 2 == 0          ? f->word + next(m) % 5 - 2
                                      : next(m) % 33);
        return;
    }
    float real = reals[below(m, PRT_COUNT_OF(reals))];
    const uint64_t bits = next(m);
    uint8_t bytes[8] = { 0 };
    memcpy(bytes, below(m, 3) == 0 ? (const void *)&bits : (const void *)&real, sizeof(real));
    put(m, bytes, f->wire == 1 ? 8 : 4);
}

/* Writes an input: another node, perhaps another output of it, perhaps a control edge. */
static void put_input(mutation *m, const field *f)
{
    char text[MAX_LEAF];
    const bool arg = below(m, 8) == 0;
    const field name = below(m, 4) == 0 ? *f
        : arg                           ? find(m, m->own, PRT_TF_ArgDef, PRT_TF_ArgDef_name)
                                        : find(m, m->own, PRT_TF_NodeDef, PRT_TF_NodeDef_name);
    static const char *const ends[] = { "", "", "", ":0", ":1", ":2", ":7", ":output:0", ":z:0",
        ":y:0", ":out:1", ":99999999", ":" };
    const size_t size = name.inside.size < MAX_LEAF / 2 ? name.inside.size : 0;
    const int n = snprintf(text, sizeof(text), "%s%.*s%s", below(m, 12) == 0 ? "^" : "", (int)size,
        size != 0 ? (const char *)name.inside.data : "", ends[below(m, PRT_COUNT_OF(ends))]);
    put_text(m, f->number, text, (size_t)n);
}

static void put_op(mutation *m, const field *f)
{
    const char *at = NULL, *op = NULL;
    const size_t wanted = below(m, prt_tf_row_count());
    for (size_t i = 0; i <= wanted; i++)
        op = prt_tf_next_row(i, &at).name;
    const field fn =
        below(m, 8) == 0 ? find(m, m->own, PRT_TF_OpDef, PRT_TF_OpDef_name) : (field){ 0 };
    if (fn.inside.size != 0)
        put_text(m, f->number, fn.inside.data, fn.inside.size);
    else
        put_text(m, f->number, op, strlen(op));
}

/* Writes a text or bytes with some of them changed. */
static void put_bytes(mutation *m, const field *f)
{
    static uint8_t text[1 << 20];
    size_t size = f->inside.size;
    if (size > sizeof(text) / 2)
        size = sizeof(text) / 2;
    memcpy(text, f->inside.data, size);
    for (size_t k = 1 + below(m, 4); k > 0 && size != 0; k--) {
        static const uint8_t values[] = { 0, 1, 2, 0x7f, 0x80, 0xff, ',', ':', '/', '^' };
        text[below(m, size)] =
            below(m, 2) ? (uint8_t)next(m) : values[below(m, PRT_COUNT_OF(values))];
    }
    if (below(m, 3) == 0)
        size = below(m, size + 1);
    else if (below(m, 3) == 0)
        size += below(m, 16);
    put_text(m, f->number, text, size);
}

static void put_value(mutation *m, place at, const field *f)
{
    if (f->wire != 2) {
        put_number(m, f);
    } else if (at.message == PRT_TF_NodeDef && f->number == PRT_TF_NodeDef_op) {
        put_op(m, f);
    } else if ((at.message == PRT_TF_NodeDef && f->number == PRT_TF_NodeDef_input) ||
        (at.message == PRT_TF_Entry && at.values == PRT_TF_MESSAGES &&
            f->number == PRT_TF_Entry_value)) {
        put_input(m, f);
    } else if (at.message == PRT_TF_NameAttrList && f->number == PRT_TF_NameAttrList_name &&
        below(m, 2) == 0) {
        const field fn = find(m, m->own, PRT_TF_OpDef, PRT_TF_OpDef_name);
        put_text(m, f->number, fn.inside.data, fn.inside.size);
    } else if (at.message == PRT_TF_NodeDef && f->number == PRT_TF_NodeDef_name &&
        below(m, 16) != 0) {
        put(m, f->whole.data, f->whole.size);
    } else if (below(m, 2) == 0 || f->inside.size == 0) {
        const field like = find(m, m->other, at.message, f->number);
        put(m, like.whole.data, like.whole.size);
    } else {
        put_bytes(m, f);
    }
}

/* ---- the mutation */

static void mutate(mutation *m, prt_bytes in, place at, unsigned depth);

/* Writes a node with the name of one and the rest of another, so that names stay unique. */
static void put_node(mutation *m, const field *named, const field *rest)
{
    mutation part = *m;
    field f;
    part.size = 0;
    part.out = malloc(m->capacity);
    if (part.out == NULL)
        abort();
    for (int k = 0; k < 2; k++)
        for (prt_bytes in = k == 0 ? named->inside : rest->inside;
             in.size != 0 && read_field(&in, &f);)
            if ((f.number == PRT_TF_NodeDef_name) == (k == 0))
                put(&part, f.whole.data, f.whole.size);
    put_text(m, named->number, part.out, part.size);
    free(part.out);
}

/* Changes field `k` of a message whose fields these are. */
static void change(mutation *m, place at, const field *fields, size_t count, size_t k,
    unsigned depth)
{
    const field *f = &fields[k], *second = &fields[below(m, count)];
    const place inner = place_in(at, f->number);
    const bool message = inner.message < PRT_TF_MESSAGES && f->wire == 2;
    if (message && depth < MAX_DEPTH && below(m, 8) != 0) {
        mutation part = *m;
        part.size = 0;
        part.out = malloc(m->capacity);
        if (part.out == NULL)
            abort();
        mutate(&part, f->inside, inner, depth + 1);
        m->random = part.random;
        m->full = m->full || part.full;
        put_text(m, f->number, part.out, part.size);
        free(part.out);
        return;
    }
    if (!message && below(m, 4) != 0) {
        put_value(m, at, f);
        return;
    }
    const size_t choice = below(m, 5);
    if (inner.message == PRT_TF_NodeDef && choice != 0 && f->wire == 2) {
        const field like = find(m, choice < 3 ? m->own : m->other, at.message, f->number);
        put_node(m, f, &like);
        return;
    }
    if (choice == 1 || choice == 2)
        put(m, f->whole.data, f->whole.size);
    if (choice == 1)
        put(m, f->whole.data, f->whole.size);
    if (choice == 2)
        put(m, second->whole.data, second->whole.size);
    if (choice > 2) {
        const field like = find(m, choice == 3 ? m->own : m->other, at.message, f->number);
        put(m, like.whole.data, like.whole.size);
    }
}

/* Writes a message with one field changed. */
static void mutate(mutation *m, prt_bytes in, place at, unsigned depth)
{
    field *fields = malloc(MAX_FIELDS * sizeof(*fields));
    size_t count = 0;
    const prt_bytes all = in;
    if (fields == NULL)
        abort();
    while (in.size != 0 && count < MAX_FIELDS && read_field(&in, &fields[count]))
        count++;
    if (count == 0) {
        put(m, all.data, all.size);
        free(fields);
        return;
    }
    size_t chosen = below(m, count), other = chosen, others = 0;
    /* The library of functions has as many chances as all nodes of the graph. */
    for (size_t i = 0; i < count; i++)
        if (fields[i].number != fields[chosen].number && below(m, ++others) == 0)
            other = i;
    chosen = below(m, 2) == 0 ? other : chosen;
    for (size_t i = 0; i < count; i++) {
        if (i == chosen)
            change(m, at, fields, count, i, depth);
        else
            put(m, fields[i].whole.data, fields[i].whole.size);
    }
    put(m, in.data, in.size);
    free(fields);
}

size_t fuzz_mutate_message(prt_tf_message root, uint8_t *data, size_t size, size_t capacity,
    prt_bytes other, unsigned seed)
{
    mutation m = { .random = seed,
        .own = { data, size },
        .other = other.size != 0 ? other : (prt_bytes){ data, size },
        .root = root,
        .out = malloc(capacity),
        .capacity = capacity };
    if (m.out == NULL)
        abort();
    mutate(&m, m.own, (place){ root, PRT_TF_MESSAGES }, 0);
    if (!m.full) {
        memcpy(data, m.out, m.size);
        size = m.size;
    }
    free(m.out);
    return size;
}
