/* SPDX-License-Identifier: MIT */
/*
 * extra.c — marks and metadata as protobuf fields. Both are small messages of scalar fields, so
 * this file encodes and decodes them itself and does not depend on the converter.
 */
#include "ir/extra.h"

#include "ir/place.h"
#include "ir/wire.h"

/* ONNX field numbers: NodeProto.attribute, ModelProto.metadata_props, GraphProto.input, and the
 * fields of their messages. */
enum { NODE_ATTRIBUTE = 5, MODEL_METADATA = 14, GRAPH_INPUT = 11, NAME = 1, VALUE = 2 };
enum { ATTR_F = 2, ATTR_I = 3, ATTR_S = 4, ATTR_FLOATS = 7, ATTR_INTS, ATTR_STRINGS };
enum { ATTR_TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT, TYPE_STRING, TYPE_FLOATS = 6, TYPE_INTS, TYPE_STRINGS };

/* Returns the bytes of a field; empty when they exceed UINT32_MAX bytes. */
static prt_str whole_of(const prt_raw *raw)
{
    return (prt_str){ raw->bytes, raw->size <= UINT32_MAX ? (uint32_t)raw->size : 0 };
}

/* Sets `message` to the contents of `raw` if its NAME field equals `name`. */
static bool opens(const prt_raw *raw, uint32_t number, prt_str name, prt_str *message)
{
    prt_str whole = whole_of(raw);
    field f;
    if (raw->field != number || !get_field(&whole, &f) || f.wire != WIRE_BYTES)
        return false;
    *message = f.text;
    for (prt_str at = f.text; get_field(&at, &f);)
        if (f.number == NAME && f.wire == WIRE_BYTES && prt_str_equal(f.text, name))
            return true;
    return false;
}

static bool find(const prt_raw *list, uint32_t number, prt_str name, uint32_t member, field *out)
{
    prt_str message;
    for (const prt_raw *raw = list; raw != NULL; raw = raw->next)
        if (opens(raw, number, name, &message))
            while (get_field(&message, out))
                if (out->number == member)
                    return true;
    return false;
}

/* Copies the list without the entries of that name. The entries are copied because lists share
 * them. */
static poprt_status without(prt_arena *arena, const prt_raw *list, uint32_t number, prt_str name,
    prt_raw **out)
{
    prt_raw **at = out;
    prt_str message;
    *out = NULL;
    for (const prt_raw *raw = list; raw != NULL; raw = raw->next) {
        if (opens(raw, number, name, &message))
            continue;
        *at = PRT_NEW(arena, prt_raw);
        if (*at == NULL)
            return POPRT_E_NOMEM;
        **at = (prt_raw){ .field = raw->field, .bytes = raw->bytes, .size = raw->size };
        at = &(*at)->next;
    }
    return POPRT_OK;
}

/* Replaces the entry `name` of `list` by `message`, as field `number`, at the end. */
static poprt_status set(prt_arena *arena, const prt_raw **list, uint32_t number, prt_str name,
    const bytes *message)
{
    prt_raw *all;
    bytes whole;
    PRT_TRY(without(arena, *list, number, name, &all));
    prt_raw *last = PRT_NEW(arena, prt_raw);
    if (last == NULL || !alloc_message(arena, message->size, &whole))
        return POPRT_E_NOMEM;
    put_bytes(&whole, number, message->data, message->size);
    *last = (prt_raw){ .field = number, .bytes = whole.data, .size = whole.size };
    prt_raw **at = &all;
    while (*at != NULL)
        at = &(*at)->next;
    *at = last;
    *list = all;
    return POPRT_OK;
}

/* ---- marks */

static poprt_status begin_mark(prt_op *op, const char *name, size_t more, bytes *b)
{
    const size_t size = strlen(name);
    if (!alloc_message(op->graph->module->arena, size + more, b))
        return POPRT_E_NOMEM;
    put_bytes(b, NAME, name, size);
    return POPRT_OK;
}

static poprt_status end_mark(prt_op *op, const char *name, bytes *b, int64_t type)
{
    put_int(b, ATTR_TYPE, type);
    PRT_TRY(set(op->graph->module->arena, &op->extra, NODE_ATTRIBUTE, prt_str_of(name), b));
    prt_op_touch(op);
    return prt_op_read_place(op);
}

poprt_status prt_op_remove_mark(prt_op *op, const char *name)
{
    prt_raw *rest;
    PRT_TRY(without(op->graph->module->arena, op->extra, NODE_ATTRIBUTE, prt_str_of(name), &rest));
    op->extra = rest;
    prt_op_touch(op);
    return prt_op_read_place(op);
}

poprt_status prt_op_set_mark_i64(prt_op *op, const char *name, int64_t value)
{
    bytes b;
    PRT_TRY(begin_mark(op, name, 0, &b));
    put_int(&b, ATTR_I, value);
    return end_mark(op, name, &b, TYPE_INT);
}

poprt_status prt_op_set_mark_f32(prt_op *op, const char *name, float value)
{
    bytes b;
    PRT_TRY(begin_mark(op, name, 0, &b));
    put_float(&b, ATTR_F, value);
    return end_mark(op, name, &b, TYPE_FLOAT);
}

poprt_status prt_op_set_mark_text(prt_op *op, const char *name, const char *value)
{
    bytes b;
    PRT_TRY(begin_mark(op, name, strlen(value), &b));
    put_bytes(&b, ATTR_S, value, strlen(value));
    return end_mark(op, name, &b, TYPE_STRING);
}

bool prt_op_mark_i64(const prt_op *op, const char *name, int64_t *out)
{
    field f;
    if (!find(op->extra, NODE_ATTRIBUTE, prt_str_of(name), ATTR_I, &f) || f.wire != WIRE_VARINT)
        return false;
    *out = (int64_t)f.value;
    return true;
}

bool prt_op_mark_f32(const prt_op *op, const char *name, float *out)
{
    field f;
    if (!find(op->extra, NODE_ATTRIBUTE, prt_str_of(name), ATTR_F, &f) || f.wire != WIRE_32)
        return false;
    const uint32_t word = (uint32_t)f.value;
    memcpy(out, &word, sizeof(word));
    return true;
}

bool prt_op_mark_text(const prt_op *op, const char *name, prt_str *out)
{
    field f;
    if (!find(op->extra, NODE_ATTRIBUTE, prt_str_of(name), ATTR_S, &f) || f.wire != WIRE_BYTES)
        return false;
    *out = f.text;
    return true;
}

/* ---- marks that are lists */

poprt_status prt_op_set_mark_i64s(prt_op *op, const char *name, prt_i64s values)
{
    bytes b;
    PRT_TRY(begin_mark(op, name, (size_t)values.count * (MAX_VARINT + 1), &b));
    for (uint32_t i = 0; i < values.count; i++)
        put_int(&b, ATTR_INTS, values.data[i]);
    return end_mark(op, name, &b, TYPE_INTS);
}

poprt_status prt_op_set_mark_f32s(prt_op *op, const char *name, prt_f32s values)
{
    bytes b;
    PRT_TRY(begin_mark(op, name, (size_t)values.count * (1 + sizeof(float)), &b));
    for (uint32_t i = 0; i < values.count; i++)
        put_float(&b, ATTR_FLOATS, values.data[i]);
    return end_mark(op, name, &b, TYPE_FLOATS);
}

poprt_status prt_op_set_mark_texts(prt_op *op, const char *name, prt_strs values)
{
    bytes b;
    size_t size = (size_t)values.count * (MAX_VARINT + 1);
    for (uint32_t i = 0; i < values.count; i++)
        size += values.data[i].size;
    PRT_TRY(begin_mark(op, name, size, &b));
    for (uint32_t i = 0; i < values.count; i++)
        put_bytes(&b, ATTR_STRINGS, values.data[i].data, values.data[i].size);
    return end_mark(op, name, &b, TYPE_STRINGS);
}

/* Calls `add` for each entry of a list, whether the writer packed the entries or not. */
typedef bool (*add_fn)(void *list, const field *f);

static bool add_packed(prt_str packed, uint32_t wire, void *list, add_fn add)
{
    while (packed.size != 0) {
        field f = { .wire = wire };
        if (wire == WIRE_VARINT ? !get_varint(&packed, &f.value) : !get_fixed(&packed, 4, &f.value))
            return false;
        if (!add(list, &f))
            return false;
    }
    return true;
}

/* `wire` is that of an entry; returns false unless the mark exists and has the type `type`. */
static bool read_list(const prt_op *op, const char *name, uint32_t member, int64_t type,
    uint32_t wire, void *list, add_fn add)
{
    field f;
    prt_str message;
    const prt_raw *raw = op->extra;
    if (!find(op->extra, NODE_ATTRIBUTE, prt_str_of(name), ATTR_TYPE, &f) ||
        f.wire != WIRE_VARINT || (int64_t)f.value != type)
        return false;
    while (raw != NULL && !opens(raw, NODE_ATTRIBUTE, prt_str_of(name), &message))
        raw = raw->next;
    while (raw != NULL && get_field(&message, &f)) {
        if (f.number != member)
            continue;
        if (f.wire != wire ? f.wire != WIRE_BYTES || !add_packed(f.text, wire, list, add)
                           : !add(list, &f))
            return false;
    }
    return raw != NULL;
}

/* The entries of a list of one of the kinds. */
typedef struct entries {
    prt_arena *arena;
    PRT_VEC(int64_t) ints;
    PRT_VEC(float) floats;
    PRT_VEC(prt_str) texts;
} entries;

static bool add_int(void *list, const field *f)
{
    entries *n = list;
    return PRT_VEC_PUSH(n->arena, &n->ints, (int64_t)f->value);
}

static bool add_float(void *list, const field *f)
{
    entries *n = list;
    const uint32_t word = (uint32_t)f->value;
    float value;
    memcpy(&value, &word, sizeof(value));
    return PRT_VEC_PUSH(n->arena, &n->floats, value);
}

static bool add_text(void *list, const field *f)
{
    entries *n = list;
    return PRT_VEC_PUSH(n->arena, &n->texts, f->text);
}

bool prt_op_mark_i64s(const prt_op *op, const char *name, prt_arena *arena, prt_i64s *out)
{
    entries n = { .arena = arena };
    if (!read_list(op, name, ATTR_INTS, TYPE_INTS, WIRE_VARINT, &n, add_int))
        return false;
    *out = (prt_i64s){ n.ints.data, (uint32_t)n.ints.count };
    return true;
}

bool prt_op_mark_f32s(const prt_op *op, const char *name, prt_arena *arena, prt_f32s *out)
{
    entries n = { .arena = arena };
    if (!read_list(op, name, ATTR_FLOATS, TYPE_FLOATS, WIRE_32, &n, add_float))
        return false;
    *out = (prt_f32s){ n.floats.data, (uint32_t)n.floats.count };
    return true;
}

bool prt_op_mark_texts(const prt_op *op, const char *name, prt_arena *arena, prt_strs *out)
{
    entries n = { .arena = arena };
    if (!read_list(op, name, ATTR_STRINGS, TYPE_STRINGS, WIRE_BYTES, &n, add_text))
        return false;
    *out = (prt_strs){ n.texts.data, (uint32_t)n.texts.count };
    return true;
}

/* Returns the NAME of a message kept as field `number`; data is NULL if it has no name. */
static prt_str name_of(const prt_raw *raw, uint32_t number)
{
    prt_str whole = whole_of(raw);
    field f;
    if (raw->field == number && get_field(&whole, &f) && f.wire == WIRE_BYTES)
        for (prt_str at = f.text; get_field(&at, &f);)
            if (f.number == NAME && f.wire == WIRE_BYTES)
                return f.text;
    return (prt_str){ NULL, 0 };
}

bool prt_op_next_extra(const prt_op *op, const prt_raw **at, prt_str *name)
{
    for (*at = *at != NULL ? (*at)->next : op->extra; *at != NULL; *at = (*at)->next) {
        *name = name_of(*at, NODE_ATTRIBUTE);
        if (name->data != NULL)
            return true;
    }
    return false;
}

static bool is_mark(prt_str name)
{
    return name.size > 2 && name.data[0] == '_' && name.data[1] == '_';
}

poprt_status prt_op_copy_marks(prt_op *to, const prt_op *from)
{
    prt_str message;
    for (const prt_raw *raw = from->extra; raw != NULL; raw = raw->next) {
        const prt_str name = name_of(raw, NODE_ATTRIBUTE);
        bool has = false;
        if (name.data == NULL || !is_mark(name))
            continue;
        for (const prt_raw *own = to->extra; own != NULL && !has; own = own->next)
            has = opens(own, NODE_ATTRIBUTE, name, &message);
        if (has || !opens(raw, NODE_ATTRIBUTE, name, &message))
            continue;
        const bytes b = { (unsigned char *)(uintptr_t)message.data, message.size };
        PRT_TRY(set(to->graph->module->arena, &to->extra, NODE_ATTRIBUTE, name, &b));
        prt_op_touch(to);
    }
    PRT_TRY(prt_op_read_place(to));
    return prt_op_inherit_place(to, from);
}

static bool has_notes(const prt_op *op)
{
    for (const prt_raw *raw = op->extra; raw != NULL; raw = raw->next)
        if (raw->field != NODE_ATTRIBUTE)
            return true;
    return false;
}

poprt_status prt_op_copy_notes(prt_op *to, const prt_op *from)
{
    prt_arena *arena = to->graph->module->arena;
    if (has_notes(to) || !has_notes(from))
        return POPRT_OK;
    for (const prt_raw *raw = from->extra; raw != NULL; raw = raw->next) {
        if (raw->field == NODE_ATTRIBUTE)
            continue;
        prt_raw *own = PRT_NEW(arena, prt_raw);
        if (own == NULL)
            return POPRT_E_NOMEM;
        *own = (prt_raw){ raw->field, raw->bytes, raw->size, (prt_raw *)(uintptr_t)to->extra };
        to->extra = own;
    }
    prt_op_touch(to);
    return POPRT_OK;
}

/* Reads key and value of an entry of metadata_props, in field `number`. Returns false for an entry
 * without a key. */
static bool read_entry(const prt_raw *raw, uint32_t number, prt_str *key, prt_str *value)
{
    prt_str whole = whole_of(raw);
    field f;
    *key = (prt_str){ NULL, 0 };
    *value = PRT_STR("");
    if (raw->field != number || !get_field(&whole, &f) || f.wire != WIRE_BYTES)
        return false;
    for (prt_str at = f.text; get_field(&at, &f);) {
        if (f.number == NAME && f.wire == WIRE_BYTES)
            *key = f.text;
        else if (f.number == VALUE && f.wire == WIRE_BYTES)
            *value = f.text;
    }
    return key->size != 0;
}

void prt_op_notes(const prt_op *op, prt_str *stack, prt_str *doc, prt_str *scope)
{
    enum { NODE_DOC = 6, NODE_METADATA = 9 };
    *stack = *doc = *scope = PRT_STR("");
    for (const prt_raw *raw = op->extra; raw != NULL; raw = raw->next) {
        prt_str key, value, whole = whole_of(raw);
        field f;
        if (raw->field == NODE_DOC && get_field(&whole, &f) && f.wire == WIRE_BYTES)
            *doc = f.text;
        if (!read_entry(raw, NODE_METADATA, &key, &value))
            continue;
        if (prt_str_is(key, "pkg.torch.onnx.stack_trace"))
            *stack = value;
        else if (prt_str_is(key, "namespace"))
            *scope = value;
    }
}

/* ---- inputs of the model */

bool prt_graph_unlist_constants(prt_graph *graph)
{
    bool any = false;
    const prt_raw **at = &graph->extra;
    while (*at != NULL) {
        const prt_str name = name_of(*at, GRAPH_INPUT);
        const prt_value *value =
            name.data != NULL ? prt_map_find(&graph->module->names, name) : NULL;
        const bool listed = value != NULL && value->graph == graph && prt_value_is_constant(value);
        any = any || listed;
        at = listed ? at : (const prt_raw **)(uintptr_t) & (*at)->next;
        if (listed)
            *at = (*at)->next;
    }
    return any;
}

/* ---- metadata */

poprt_status prt_module_set_metadata(prt_module *module, const char *key, prt_str value)
{
    bytes b;
    if (!alloc_message(module->arena, strlen(key) + value.size, &b))
        return POPRT_E_NOMEM;
    put_bytes(&b, NAME, key, strlen(key));
    put_bytes(&b, VALUE, value.data, value.size);
    return set(module->arena, &module->extra, MODEL_METADATA, prt_str_of(key), &b);
}

bool prt_module_metadata(const prt_module *module, const char *key, prt_str *out)
{
    field f;
    if (!find(module->extra, MODEL_METADATA, prt_str_of(key), VALUE, &f) || f.wire != WIRE_BYTES)
        return false;
    *out = f.text;
    return true;
}

bool prt_module_next_metadata(const prt_module *module, const prt_raw **at, prt_str *key,
    prt_str *value)
{
    for (*at = *at != NULL ? (*at)->next : module->extra; *at != NULL; *at = (*at)->next)
        if (read_entry(*at, MODEL_METADATA, key, value))
            return true;
    return false;
}

void prt_module_remove_metadata(prt_module *module, const char *key)
{
    const prt_raw **at = &module->extra;
    prt_str message;
    while (*at != NULL)
        if (opens(*at, MODEL_METADATA, prt_str_of(key), &message))
            *at = (*at)->next;
        else
            at = (const prt_raw **)(uintptr_t) & (*at)->next;
}

/* ---- facts about the model */

/* Fields of ModelProto that are kept as raw bytes. */
enum { PRODUCER_NAME = 2, PRODUCER_VERSION, DOMAIN, MODEL_VERSION, DOC_STRING };

poprt_status prt_module_set_producer(prt_module *module, const char *name, const char *version)
{
    const char *const texts[] = { name, version };
    for (uint32_t i = 0; i < 2; i++) {
        prt_raw *raw = PRT_NEW(module->arena, prt_raw);
        bytes whole;
        if (raw == NULL || !alloc_message(module->arena, strlen(texts[i]), &whole))
            return POPRT_E_NOMEM;
        put_bytes(&whole, PRODUCER_NAME + i, texts[i], strlen(texts[i]));
        *raw = (prt_raw){ .field = PRODUCER_NAME + i,
            .bytes = whole.data,
            .size = whole.size,
            .next = (prt_raw *)(uintptr_t)module->extra };
        module->extra = raw;
    }
    return POPRT_OK;
}

static void read_fact(const prt_raw *raw, prt_facts *out)
{
    prt_str *const texts[] = { [PRODUCER_NAME] = &out->producer_name,
        [PRODUCER_VERSION] = &out->producer_version,
        [DOMAIN] = &out->domain,
        [DOC_STRING] = &out->doc };
    prt_str whole = whole_of(raw);
    field f;
    if (raw->field < PRODUCER_NAME || raw->field > DOC_STRING || !get_field(&whole, &f))
        return;
    if (raw->field == MODEL_VERSION && f.wire == WIRE_VARINT)
        out->model_version = (int64_t)f.value;
    else if (raw->field != MODEL_VERSION && f.wire == WIRE_BYTES)
        *texts[raw->field] = f.text;
}

poprt_status prt_module_facts(const prt_module *module, prt_arena *arena, prt_facts *out)
{
    const prt_raw *at = NULL;
    prt_str key, value;
    uint32_t n = 0;
    *out = (prt_facts){ .graph_name = module->main->name,
        .graph_doc = module->main->doc,
        .ir_version = module->ir_version,
        .opset = prt_module_opset(module, PRT_STR("")) };
    while (prt_module_next_metadata(module, &at, &key, &value))
        n++;
    prt_property *properties = PRT_NEW_N(arena, prt_property, n);
    if (properties == NULL)
        return POPRT_E_NOMEM;
    n = 0;
    for (at = NULL; prt_module_next_metadata(module, &at, &key, &value); n++)
        properties[n] = (prt_property){ key, value };
    for (const prt_raw *raw = module->extra; raw != NULL; raw = raw->next)
        read_fact(raw, out);
    out->properties = properties;
    out->n_properties = n;
    return POPRT_OK;
}
