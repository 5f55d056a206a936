/* SPDX-License-Identifier: MIT */
/* summary.c — summaries of models and executables, for people and as JSON. */
#include "describe/describe.h"

#include "base/json.h"
#include "op/op.h"

enum { LABEL_WIDTH = 14, NAME_WIDTH = 28 };

static prt_str qualified_name(prt_arena *arena, prt_str domain, prt_str name)
{
    if (prt_domain_is_onnx(domain))
        return name;
    char *text = prt_arena_alloc(arena, (size_t)domain.size + name.size + 2);
    if (text == NULL)
        return (prt_str){ NULL, 0 };
    memcpy(text, domain.data, domain.size);
    text[domain.size] = '.';
    memcpy(text + domain.size + 1, name.data, name.size);
    return (prt_str){ text, domain.size + 1 + name.size };
}

poprt_status prt_describe_add_op(prt_description *d, prt_str domain, prt_str name, uint64_t flops)
{
    const prt_str key = qualified_name(d->arena, domain, name);
    if (key.data == NULL && name.size != 0)
        return POPRT_E_NOMEM;
    d->n_ops++;
    d->flops = prt_saturating_add(d->flops, flops);
    prt_op_count *entry = prt_map_find(&d->ops, key);
    if (entry != NULL) {
        entry->count++;
        entry->flops = prt_saturating_add(entry->flops, flops);
        return POPRT_OK;
    }
    entry = PRT_NEW(d->arena, prt_op_count);
    if (entry == NULL)
        return POPRT_E_NOMEM;
    *entry = (prt_op_count){ .name = key, .count = 1, .flops = flops };
    PRT_TRY(prt_map_set(&d->ops, key, entry));
    return PRT_VEC_PUSH(d->arena, &d->op_list, entry) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_describe_add_fact(prt_description *d, const char *label, const char *key,
    prt_str text, uint64_t number)
{
    const prt_fact fact = { .label = label, .key = key, .text = text, .number = number };
    return PRT_VEC_PUSH(d->arena, &d->facts, fact) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_describe_add_graphs(prt_description *d, uint32_t n_graphs, const prt_str *names,
    size_t count)
{
    for (uint32_t g = 0; g < n_graphs; g++) {
        prt_str name = { "?", 1 };
        /* From the last name on: the outermost and first is the branch itself. */
        for (size_t i = count; i > 0; i--)
            if (prt_fused_graph_of(names[i - 1]) == g)
                name = names[i - 1];
        PRT_TRY(prt_describe_add_fact(d, g == 0 ? "fused graphs" : "", NULL, name, 0));
    }
    return prt_describe_add_fact(d, NULL, "fused_graphs", (prt_str){ NULL, 0 }, n_graphs);
}

/* Order by count, most frequent first, then by name. */
static bool comes_before(const prt_op_count *x, const prt_op_count *y)
{
    if (x->count != y->count)
        return x->count > y->count;
    const uint32_t n = x->name.size < y->name.size ? x->name.size : y->name.size;
    const int order = n != 0 ? memcmp(x->name.data, y->name.data, n) : 0;
    return order != 0 ? order < 0 : x->name.size < y->name.size;
}

/* Shell sort, because the C library's qsort may allocate. */
static void sort_ops(prt_description *d)
{
    prt_op_count **list = d->op_list.data;
    const size_t count = d->op_list.count;
    for (size_t gap = count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < count; i++) {
            prt_op_count *const item = list[i];
            size_t at = i;
            for (; at >= gap && comes_before(item, list[at - gap]); at -= gap)
                list[at] = list[at - gap];
            list[at] = item;
        }
}

static const char *const kinds[] = { "", "tensor", "sequence", "optional", "map" };

static void print_type(prt_sink *sink, const poprt_io_info *info)
{
    if (info->value_kind != POPRT_VALUE_TENSOR)
        prt_sink_print(sink, "%s of ", kinds[info->value_kind]);
    if (info->item_kind == POPRT_VALUE_MAP)
        prt_sink_print(sink, "map of ");
    if (info->key_dtype != 0)
        prt_sink_print(sink, "%s to ", poprt_dtype_name(info->key_dtype));
    prt_sink_print(sink, "%s", info->dtype != 0 ? poprt_dtype_name(info->dtype) : "unknown type");
    if (info->key_dtype != 0)
        return;
    if (info->rank < 0) {
        prt_sink_print(sink, " of unknown shape");
        return;
    }
    prt_sink_print(sink, " [");
    for (int32_t i = 0; i < info->rank; i++) {
        prt_sink_print(sink, "%s", i > 0 ? ", " : "");
        if (info->dims[i] >= 0)
            prt_sink_print(sink, "%lld", (long long)info->dims[i]);
        else
            prt_sink_name(sink, prt_str_of(info->dim_names[i]), 0);
    }
    prt_sink_print(sink, "]");
}

static void print_io(prt_sink *sink, const prt_io_table *io, int32_t direction)
{
    prt_sink_print(sink, "%-*s %zu\n", LABEL_WIDTH, direction == POPRT_INPUT ? "inputs" : "outputs",
        io->count[direction]);
    for (size_t i = 0; i < io->count[direction]; i++) {
        prt_sink_print(sink, "  ");
        prt_sink_name(sink, prt_str_of(io->info[direction][i].name), NAME_WIDTH);
        print_type(sink, &io->info[direction][i]);
        prt_sink_print(sink, "\n");
    }
}

enum { MOST_VALUE = 120 }; /* most bytes of a property in the summary */

/* Writes the first MOST_VALUE bytes of a text, cut at a character, and "..." if it is longer. */
static void print_truncated(prt_sink *sink, const char *text)
{
    size_t size = strlen(text);
    const bool cut = size > MOST_VALUE;
    if (cut)
        for (size = MOST_VALUE; size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80;)
            size--;
    prt_sink_name(sink, (prt_str){ text, (uint32_t)size }, 0);
    if (cut)
        prt_sink_print(sink, "...");
}

static void print_property(prt_sink *sink, size_t width, const char *label, const char *value,
    const char *more)
{
    prt_sink_name(sink, prt_str_of(label), width);
    print_truncated(sink, value);
    if (more[0] != '\0')
        prt_sink_print(sink, " ");
    print_truncated(sink, more);
    prt_sink_print(sink, "\n");
}

/* Writes the producer, version and metadata of the model's file, if it has them. */
static void print_model_info(prt_sink *sink, const poprt_model_info *about)
{
    if (about->producer_name[0] != '\0')
        print_property(sink, LABEL_WIDTH, "producer", about->producer_name,
            about->producer_version);
    if (about->model_version != 0)
        prt_sink_print(sink, "%-*s %lld\n", LABEL_WIDTH, "model version",
            (long long)about->model_version);
    if (about->property_count != 0)
        prt_sink_print(sink, "%-*s %zu\n", LABEL_WIDTH, "metadata", about->property_count);
    for (size_t i = 0; i < about->property_count; i++) {
        const poprt_property *p = &about->properties[i];
        prt_sink_print(sink, "  ");
        print_property(sink, NAME_WIDTH, p->key, p->value, "");
    }
}

static void write_json_model_info(prt_json_out *json, const poprt_model_info *about)
{
    prt_json_put_text(json, "producer_name", prt_str_of(about->producer_name));
    prt_json_put_text(json, "producer_version", prt_str_of(about->producer_version));
    prt_json_put_text(json, "domain", prt_str_of(about->domain));
    prt_json_put_text(json, "doc_string", prt_str_of(about->doc_string));
    prt_json_put_text(json, "graph_name", prt_str_of(about->graph_name));
    prt_json_put_i64(json, "model_version", about->model_version);
    prt_json_open(json, "metadata", '{');
    for (size_t i = 0; i < about->property_count; i++)
        prt_json_put_text(json, about->properties[i].key, prt_str_of(about->properties[i].value));
    prt_json_close(json, '}');
}

poprt_status prt_describe_summary(prt_description *d, prt_sink *sink)
{
    sort_ops(d);
    if (d->file[0] != '\0')
        prt_sink_print(sink, "%-*s %s\n", LABEL_WIDTH, "file", d->file);
    print_model_info(sink, &d->io->about);
    print_io(sink, d->io, POPRT_INPUT);
    print_io(sink, d->io, POPRT_OUTPUT);
    prt_sink_print(sink, "%-*s ", LABEL_WIDTH, "operators");
    prt_sink_count(sink, d->n_ops);
    prt_sink_print(sink, " of %zu types\n", d->op_list.count);
    for (size_t i = 0; i < d->op_list.count; i++) {
        const prt_op_count *op = d->op_list.data[i];
        prt_sink_print(sink, "  ");
        prt_sink_name(sink, op->name, NAME_WIDTH);
        prt_sink_count(sink, op->count);
        if (op->flops != 0) {
            prt_sink_print(sink, "  ");
            prt_sink_count(sink, op->flops);
            prt_sink_print(sink, " FLOPs");
        }
        prt_sink_print(sink, "\n");
    }
    prt_sink_print(sink, "%-*s ", LABEL_WIDTH, "weights");
    prt_sink_count(sink, d->n_weights);
    prt_sink_print(sink, " tensors, ");
    prt_sink_count(sink, d->weight_bytes);
    prt_sink_print(sink, " bytes\n");
    for (size_t i = 0; i < d->facts.count; i++) {
        const prt_fact *fact = &d->facts.data[i];
        if (fact->label == NULL)
            continue;
        prt_sink_print(sink, "%-*s ", LABEL_WIDTH, fact->label);
        if (fact->text.data != NULL)
            prt_sink_name(sink, fact->text, 0);
        else
            prt_sink_count(sink, fact->number);
        prt_sink_print(sink, "\n");
    }
    return prt_sink_finish(sink);
}

static void write_json_io(prt_json_out *json, const prt_io_table *io, int32_t direction)
{
    prt_json_open(json, direction == POPRT_INPUT ? "inputs" : "outputs", '[');
    for (size_t i = 0; i < io->count[direction]; i++) {
        const poprt_io_info *info = &io->info[direction][i];
        prt_json_open(json, NULL, '{');
        prt_json_put_text(json, "name", prt_str_of(info->name));
        prt_json_put_text(json, "kind", prt_str_of(kinds[info->value_kind]));
        if (info->item_kind == POPRT_VALUE_MAP)
            prt_json_put_text(json, "itemKind", prt_str_of(kinds[info->item_kind]));
        if (info->key_dtype != 0)
            prt_json_put_text(json, "keyDtype", prt_str_of(poprt_dtype_name(info->key_dtype)));
        prt_json_put_text(json, "dtype", prt_str_of(poprt_dtype_name(info->dtype)));
        if (info->rank >= 0) {
            prt_json_open(json, "shape", '[');
            for (int32_t k = 0; k < info->rank; k++) {
                if (info->dims[k] >= 0)
                    prt_json_put_i64(json, NULL, info->dims[k]);
                else
                    prt_json_put_text(json, NULL, prt_str_of(info->dim_names[k]));
            }
            prt_json_close(json, ']');
        }
        prt_json_close(json, '}');
    }
    prt_json_close(json, ']');
}

/* Writes the number of operators of each type, or their FLOPs. */
static poprt_status write_json_ops(const prt_description *d, prt_json_out *json, bool flops)
{
    prt_json_open(json, flops ? "operator_flops" : "operators", '{');
    for (size_t i = 0; i < d->op_list.count; i++) {
        const prt_op_count *op = d->op_list.data[i];
        const uint64_t number = flops ? op->flops : op->count;
        const char *key = prt_arena_text(d->arena, op->name.data, op->name.size);
        if (key == NULL)
            return POPRT_E_NOMEM;
        prt_json_put_i64(json, key, number < INT64_MAX ? (int64_t)number : INT64_MAX);
    }
    prt_json_close(json, '}');
    return POPRT_OK;
}

poprt_status prt_describe_json(prt_description *d, prt_sink *sink)
{
    sort_ops(d);
    prt_json_out json;
    prt_json_out_init(&json, d->arena, true);
    prt_json_open(&json, NULL, '{');
    prt_json_put_text(&json, "kind", prt_str_of(d->kind));
    prt_json_put_text(&json, "file", prt_str_of(d->file));
    write_json_io(&json, d->io, POPRT_INPUT);
    write_json_io(&json, d->io, POPRT_OUTPUT);
    prt_json_put_i64(&json, "operator_count", (int64_t)d->n_ops);
    PRT_TRY(write_json_ops(d, &json, false));
    if (d->flops != 0)
        PRT_TRY(write_json_ops(d, &json, true));
    prt_json_put_i64(&json, "weight_count", (int64_t)d->n_weights);
    prt_json_put_i64(&json, "weight_bytes", (int64_t)d->weight_bytes);
    for (size_t i = 0; i < d->facts.count; i++) {
        const prt_fact *fact = &d->facts.data[i];
        if (fact->key == NULL)
            continue;
        if (fact->text.data != NULL)
            prt_json_put_text(&json, fact->key, fact->text);
        else
            prt_json_put_i64(&json, fact->key, (int64_t)fact->number);
    }
    write_json_model_info(&json, &d->io->about);
    prt_json_close(&json, '}');
    prt_str text;
    PRT_TRY(prt_json_out_finish(&json, &text));
    prt_sink_str(sink, text);
    prt_sink_print(sink, "\n");
    return prt_sink_finish(sink);
}

void prt_sink_dot(prt_sink *sink, prt_str text)
{
    for (uint32_t i = 0; i < text.size; i++) {
        const unsigned char ch = (unsigned char)text.data[i];
        if (ch == '"' || ch == '\\')
            prt_sink_write(sink, "\\", 1);
        prt_sink_write(sink, ch < 0x20 ? "?" : &text.data[i], 1);
    }
}
