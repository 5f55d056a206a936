/* SPDX-License-Identifier: MIT */
/*
 * replace_add.c — a plug-in with one pass: replace_add_with_sub replaces Add by Sub in the main
 * graph and its subgraphs, as its options say. The change is wrong but easy to observe.
 */
#include <stdlib.h>
#include <string.h>

#include "poprt/plugin.h"

static poprt_status replace(const poprt_host *host, poprt_graph *graph, poprt_node *add)
{
    poprt_node *sub = NULL;
    poprt_value *const in[] = { host->node_input(add, 0), host->node_input(add, 1) };
    const poprt_node_form form = { .struct_size = sizeof(form),
        .op_type = "Sub",
        .name = host->node_name(add),
        .inputs = in,
        .n_inputs = 2,
        .n_outputs = 1 };
    const poprt_status status = host->graph_add_node(graph, add, &form, &sub);
    if (status != POPRT_OK)
        return status;
    return host->value_replace(host->node_output(add, 0), host->node_output(sub, 0));
}

static poprt_status run(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    int32_t *changed)
{
    const char *keep = host->pass_option(pass, "keep");
    long left = strtol(host->pass_option(pass, "most"), NULL, 10);
    for (poprt_node *n = host->graph_first(graph); n != NULL; n = host->node_next(n)) {
        if (strcmp(host->node_op_type(n), "Add") != 0 || host->node_domain(n)[0] != '\0' ||
            strcmp(host->node_name(n), keep) == 0 || left == 0)
            continue;
        const poprt_status status = replace(host, graph, n);
        if (status != POPRT_OK)
            return status;
        host->pass_note(pass, host->node_name(n), "is a Sub now");
        *changed = 1;
        left -= left > 0;
    }
    return POPRT_OK;
}

static const poprt_plugin_option options[] = {
    { "keep", "-", "Name of a node that stays.", POPRT_PASS_OPTION_TEXT },
    { "most", "-1", "How many in a graph become Sub; -1: all.", POPRT_PASS_OPTION_INT },
};

static const poprt_plugin_pass replace_add_with_sub = {
    .struct_size = sizeof(replace_add_with_sub),
    .name = "replace_add_with_sub",
    .doc = "Every Add becomes a Sub.",
    .flags = POPRT_PASS_EACH_GRAPH,
    .options = options,
    .n_options = 2,
    .run = run,
};

static const poprt_plugin_pass *const passes[] = { &replace_add_with_sub };

static const poprt_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "replace_add",
    .version = "1.0",
    .passes = passes,
    .n_passes = 1,
};

const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
{
    return host->abi >= POPRT_PLUGIN_ABI ? &plugin : NULL;
}
