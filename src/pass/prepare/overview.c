/* SPDX-License-Identifier: MIT */
/*
 * overview.c — model_overview: prints opsets, inputs, outputs, weights, and for each operator the
 * number of nodes and the bytes of their weights and results. model_io_info_stat: prints inputs and
 * outputs counted by element type and shape, as apply_host_concat_split groups them.
 * use_print=false disables both.
 */
#include "pass/engine/pass.h"

static void put_io(const prt_pass *p, const char *what, prt_str name, const prt_type *type)
{
    char text[256];
    prt_type_print(p->module->dims, type, text, sizeof(text));
    prt_pass_print(p, "%s %.*s: %s", what, PRT_STR_ARG(name), text);
}

/* A count by key; keys are listed in order of first occurrence. */
typedef struct tally {
    prt_str key;
    const prt_type *type;
    uint64_t count;
    uint64_t weights, results; /* bytes, for operators */
    bool open;                 /* a result has no known size */
} tally;

typedef struct tallies {
    prt_arena *arena;
    PRT_VEC(tally *) list;
    prt_map by_key;
} tallies;

static poprt_status count_one(tallies *t, prt_str key, const prt_type *type, tally **out)
{
    tally *one = prt_map_find(&t->by_key, key);
    if (one == NULL) {
        one = PRT_NEW(t->arena, tally);
        if (one == NULL || !PRT_VEC_PUSH(t->arena, &t->list, one))
            return POPRT_E_NOMEM;
        *one = (tally){ .key = key, .type = type };
        PRT_TRY(prt_map_set(&t->by_key, key, one));
    }
    one->count++;
    if (out != NULL)
        *out = one;
    return POPRT_OK;
}

/* Adds the bytes of a node's results, and of constants of which it is the first reader, so that no
 * constant counts twice. */
static void add_sizes(tally *to, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        const prt_use *first = v != NULL && prt_value_is_constant(v) ? v->uses : NULL;
        while (first != NULL && first->next != NULL)
            first = first->next; /* uses are listed from the newest on */
        if (first == &op->in[i])
            to->weights += v->constant->size;
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        size_t size;
        const bool known = prt_type_size(op->out[i].type, &size);
        to->results += known ? size : 0;
        to->open = to->open || (!known && prt_value_used(&op->out[i]));
    }
}

static poprt_status count_ops(tallies *t, const prt_graph *graph, uint64_t *total)
{
    prt_for_each_op (op, graph) {
        tally *one = NULL;
        PRT_TRY(count_one(t, op->name, NULL, &one));
        add_sizes(one, op);
        ++*total;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(count_ops(t, op->regions[i], total));
    }
    return POPRT_OK;
}

static poprt_status run_overview(prt_pass *p, prt_graph *graph, bool *changed)
{
    tallies t = { .arena = p->arena, .by_key = prt_map_in(p->arena) };
    uint64_t total = 0, weights = 0;
    (void)changed;
    if (!prt_pass_bool(p, "use_print"))
        return POPRT_OK;
    for (const prt_opset *o = p->module->opsets; o != NULL; o = o->next)
        prt_pass_print(p, "Opset %s: %lld", o->domain.size != 0 ? o->domain.data : "ai.onnx",
            (long long)o->version);
    for (size_t i = 0; i < graph->inputs.count; i++)
        put_io(p, "Input", graph->inputs.data[i]->name, graph->inputs.data[i]->type);
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        put_io(p, "Output", graph->output_names.data[i], graph->ret->in[i].value->type);
    PRT_TRY(count_ops(&t, graph, &total));
    prt_pass_print(p, "Nodes: %llu", (unsigned long long)total);
    for (size_t i = 0; i < t.list.count; i++)
        weights += t.list.data[i]->weights;
    prt_pass_print(p, "Weights: %llu bytes", (unsigned long long)weights);
    for (size_t i = 0; i < t.list.count; i++) {
        const tally *one = t.list.data[i];
        prt_pass_print(p, "%8llu %s: %llu bytes of weights, %llu bytes of results%s",
            (unsigned long long)one->count, one->key.data, (unsigned long long)one->weights,
            (unsigned long long)one->results, one->open ? " and some of unknown size" : "");
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_model_overview = { .run = run_overview };

/* Types are interned, so the address is the key. */
static poprt_status count_type(tallies *t, const prt_type *type)
{
    const prt_type **key = PRT_NEW(t->arena, const prt_type *);
    if (key == NULL)
        return POPRT_E_NOMEM;
    *key = type;
    return count_one(t, (prt_str){ (const char *)key, sizeof(*key) }, type, NULL);
}

static void put_types(const prt_pass *p, const char *what, const tallies *t)
{
    uint64_t all = 0, unknown = 0;
    for (size_t i = 0; i < t->list.count; i++) {
        const tally *one = t->list.data[i];
        char text[256];
        size_t bytes;
        prt_type_print(p->module->dims, one->type, text, sizeof(text));
        if (!prt_type_size(one->type, &bytes)) {
            unknown += one->count;
            prt_pass_print(p, "%s %s: %llu, of unknown size", what, text,
                (unsigned long long)one->count);
            continue;
        }
        all += one->count * bytes;
        prt_pass_print(p, "%s %s: %llu, %llu bytes", what, text, (unsigned long long)one->count,
            (unsigned long long)(one->count * bytes));
    }
    if (unknown == 0)
        prt_pass_print(p, "%s in all: %llu bytes", what, (unsigned long long)all);
    else
        prt_pass_print(p, "%s in all: %llu bytes and %llu of unknown size", what,
            (unsigned long long)all, (unsigned long long)unknown);
}

static poprt_status run_stat(prt_pass *p, prt_graph *graph, bool *changed)
{
    tallies in = { .arena = p->arena, .by_key = prt_map_in(p->arena) };
    tallies out = { .arena = p->arena, .by_key = prt_map_in(p->arena) };
    (void)changed;
    if (!prt_pass_bool(p, "use_print"))
        return POPRT_OK;
    for (size_t i = 0; i < graph->inputs.count; i++)
        PRT_TRY(count_type(&in, graph->inputs.data[i]->type));
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        PRT_TRY(count_type(&out, graph->ret->in[i].value->type));
    put_types(p, "Inputs", &in);
    put_types(p, "Outputs", &out);
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_model_io_info_stat = { .run = run_stat };
