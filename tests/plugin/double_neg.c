/* SPDX-License-Identifier: MIT */
/*
 * double_neg.c — a plug-in with one pattern, which removes two consecutive Neg. Chains of any
 * length become one Neg or disappear, because the pattern is applied until it no longer matches.
 */
#include "poprt/plugin.h"

static poprt_status rewrite(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
    poprt_match *match, int32_t *changed)
{
    poprt_value *before = host->node_input(host->match_node(match, "1"), 0);
    poprt_value *after = host->node_output(host->match_node(match, "2"), 0);
    (void)pass;
    (void)graph;
    /* An output of the graph needs a producer. */
    if (host->value_is_output(after) != 0)
        return POPRT_OK;
    *changed = 1;
    return host->value_replace(after, before);
}

static const char *const chains[] = { "s:0 -> Neg:1 -> Neg:2 -> e:3" };

static const poprt_plugin_pattern double_neg = {
    .struct_size = sizeof(double_neg),
    .name = "remove_double_neg",
    .doc = "Two Neg in a row vanish.",
    .chains = chains,
    .n_chains = 1,
    .rewrite = rewrite,
};

static const poprt_plugin_pattern *const patterns[] = { &double_neg };

static const poprt_plugin plugin = {
    .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "double_neg",
    .version = "1.0",
    .patterns = patterns,
    .n_patterns = 1,
};

const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
{
    return host->abi >= POPRT_PLUGIN_ABI ? &plugin : NULL;
}
