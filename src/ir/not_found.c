/* SPDX-License-Identifier: MIT */
/* not_found.c — collects the existing names and reports the nearest ones. */
#include "ir/not_found.h"

#include <stdio.h>

#include "base/nearest.h"

/* MOST_NAMES: names that are considered. NAME_SIZE: bytes of the unknown name that are copied. */
enum { MOST_NAMES = 2048, NAME_SIZE = 200 };

typedef struct names {
    const char *data[MOST_NAMES];
    size_t count;
} names;

/* Interned names end with a zero byte. */
static void add(names *to, prt_str name)
{
    if (name.size != 0 && to->count < MOST_NAMES)
        to->data[to->count++] = name.data;
}

static void add_nodes(names *to, const prt_graph *graph)
{
    prt_for_each_op (op, graph) {
        add(to, op->origin);
        for (uint32_t i = 0; i < op->n_regions; i++)
            add_nodes(to, op->regions[i]);
    }
}

static poprt_status fail(const names *known, prt_str name, const char *what)
{
    char text[NAME_SIZE];
    (void)snprintf(text, sizeof(text), "%.*s", PRT_STR_ARG(name));
    return prt_fail_nearest(text, known->data, known->count, "the model has no %s of this name",
        what);
}

poprt_status prt_fail_no_input(const prt_graph *graph, prt_str name)
{
    names known = { .count = 0 };
    for (size_t i = 0; i < graph->inputs.count; i++)
        add(&known, graph->inputs.data[i]->name);
    return fail(&known, name, "input");
}

poprt_status prt_fail_no_output(const prt_graph *graph, prt_str name)
{
    names known = { .count = 0 };
    for (size_t i = 0; i < graph->output_names.count; i++)
        add(&known, graph->output_names.data[i]);
    return fail(&known, name, "output");
}

poprt_status prt_fail_no_tensor(const prt_graph *graph, prt_str name)
{
    names known = { .count = 0 };
    for (size_t i = 0; i < graph->inputs.count; i++)
        add(&known, graph->inputs.data[i]->name);
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_out; i++)
            add(&known, op->out[i].name);
    return fail(&known, name, "tensor");
}

poprt_status prt_fail_no_node(const prt_graph *graph, prt_str name)
{
    names known = { .count = 0 };
    add_nodes(&known, graph);
    return fail(&known, name, "node");
}
