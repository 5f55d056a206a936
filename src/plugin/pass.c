/* SPDX-License-Identifier: MIT */
/*
 * pass.c — passes and patterns of plug-ins: makes rows from records. The hook of a row calls the
 * record's function on the graphs, and checks the result like a model from a file.
 */
#include <stdio.h>

#include "pass/engine/pattern.h"
#include "plugin/internal.h"

enum { EDITS_PER_OP = 16, MORE_EDITS = 1024, MAX_CHAINS = 64, MAX_CHAIN = 4096, MAX_OPTIONS = 64 };

struct poprt_match {
    prt_pattern *pattern;
};

static const prt_plugin_pass *pass_of(const prt_pass *p)
{
    return (const prt_plugin_pass *)(const void *)p->def;
}

static poprt_status leave(const prt_pass *p, poprt_status status)
{
    char what[160];
    (void)snprintf(what, sizeof(what), "pass %.140s", p->def->name);
    return prt_plugin_leave(pass_of(p)->plugin, what, NULL, status);
}

/* ---- hooks */

/* Infers types again and checks that the graph is still valid. */
static poprt_status check_graph(prt_pass *p, bool changed)
{
    const char *name = pass_of(p)->plugin->name;
    const poprt_status status = prt_ir_verify(p->module);
    if (status == POPRT_E_NOMEM)
        return status;
    if (status != POPRT_OK) {
        prt_error_copy reported;
        prt_error_save(&reported);
        return prt_fail(POPRT_E_PLUGIN, reported.subject, "plug-in %.100s, pass %.140s left a %s",
            name, p->def->name, reported.message);
    }
    prt_plugin_enter();
    return changed ? leave(p, prt_ir_infer(p->module->main)) : POPRT_OK;
}

static poprt_status run_on_graph(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_plugin_pass *pass = pass_of(p);
    poprt_pass_run run = { p, pass };
    int32_t edited = 0;
    PRT_TRY(prt_pass_check(p));
    prt_plugin_enter();
    PRT_TRY(leave(p,
        pass->pass.run(&pass->plugin->all->host, &run, (poprt_graph *)(void *)graph, &edited)));
    *changed = *changed || edited != 0;
    return POPRT_OK;
}

static poprt_status parse_chains(prt_arena *arena, const char *const *chains, size_t count,
    prt_pattern **out)
{
    prt_str texts[MAX_CHAINS];
    if (chains == NULL || count == 0 || count > MAX_CHAINS)
        return prt_fail(POPRT_E_PARSE, "pattern", "a pattern has from 1 to %d chains", MAX_CHAINS);
    for (size_t i = 0; i < count; i++) {
        if (chains[i] == NULL || strlen(chains[i]) > MAX_CHAIN)
            return prt_fail(POPRT_E_PARSE, "pattern", "chain %zu is NULL or too long", i);
        texts[i] = prt_str_of(chains[i]);
    }
    return prt_pattern_parse(arena, (uint32_t)count, texts, out);
}

/* Rewrites all matches of a pattern. Edits create new nodes and so new matches; a limit on their
 * number ends the loop. */
static poprt_status rewrite_graph(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_plugin_pass *pass = pass_of(p);
    poprt_pass_run run = { p, pass };
    poprt_match match = { NULL };
    const size_t most = EDITS_PER_OP * (size_t)graph->n_ops + MORE_EDITS;
    bool found = true;
    PRT_TRY(parse_chains(p->arena, pass->pattern.chains, pass->pattern.n_chains, &match.pattern));
    for (size_t edits = 0;;) {
        int32_t edited = 0;
        PRT_TRY(prt_pass_check(p));
        PRT_TRY(prt_pattern_next(match.pattern, graph, &found));
        if (!found)
            return POPRT_OK;
        prt_plugin_enter();
        PRT_TRY(leave(p,
            pass->pattern.rewrite(&pass->plugin->all->host, &run, (poprt_graph *)(void *)graph,
                &match, &edited)));
        edits += edited != 0;
        *changed = *changed || edited != 0;
        if (edits > most)
            return prt_fail(POPRT_E_PLUGIN, p->def->name,
                "plug-in %.100s, pass %.140s does not terminate", pass->plugin->name, p->def->name);
    }
}

static poprt_status run_pass(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_plugin_pass *pass = pass_of(p);
    bool edited = false;
    if (pass->pass.run == NULL)
        PRT_TRY(prt_pass_each_graph(p, graph, rewrite_graph, &edited));
    else if ((pass->pass.flags & POPRT_PASS_EACH_GRAPH) != 0)
        PRT_TRY(prt_pass_each_graph(p, graph, run_on_graph, &edited));
    else
        PRT_TRY(run_on_graph(p, graph, &edited));
    PRT_TRY(check_graph(p, edited));
    *changed = *changed || edited;
    return POPRT_OK;
}

/* ---- for passes */

static const char *pass_option(const poprt_pass_run *pass, const char *name)
{
    const prt_pass_def *def = pass->p->def;
    for (uint32_t i = 0; name != NULL && i < def->n_options; i++)
        if (strcmp(def->options[i].name, name) == 0)
            return prt_pass_text(pass->p, name);
    return NULL;
}

static poprt_status pass_check(const poprt_pass_run *pass)
{
    return prt_pass_check(pass->p);
}

static void pass_note(const poprt_pass_run *pass, const char *subject, const char *message)
{
    prt_pass_note(pass->p, subject, "%s", message != NULL ? message : "");
}

static void pass_warn(const poprt_pass_run *pass, const char *subject, const char *message)
{
    prt_pass_warn(pass->p, subject, "%s", message != NULL ? message : "");
}

static poprt_status pattern_create(poprt_pass_run *pass, const char *const *chains, size_t n_chains,
    poprt_match **out)
{
    poprt_match *match = PRT_NEW(pass->p->arena, poprt_match);
    if (match == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(parse_chains(pass->p->arena, chains, n_chains, &match->pattern));
    *out = match;
    return POPRT_OK;
}

static poprt_status pattern_next(poprt_match *match, const poprt_graph *graph, int32_t *found)
{
    bool any = false;
    PRT_TRY(prt_pattern_next(match->pattern, (const prt_graph *)(const void *)graph, &any));
    *found = any;
    return POPRT_OK;
}

static poprt_node *match_node(const poprt_match *match, const char *label)
{
    return label != NULL ? (poprt_node *)(void *)prt_pattern_node(match->pattern, prt_str_of(label))
                         : NULL;
}

void prt_plugin_host_passes(poprt_host *host)
{
    host->pass_option = pass_option;
    host->pass_check = pass_check;
    host->pass_note = pass_note;
    host->pass_warn = pass_warn;
    host->pattern_create = pattern_create;
    host->pattern_next = pattern_next;
    host->match_node = match_node;
}

/* ---- rows */

static poprt_status make(prt_plugin *plugin, prt_plugin_pass **out)
{
    prt_plugin_pass *pass = PRT_NEW(plugin->all->arena, prt_plugin_pass);
    if (pass == NULL)
        return POPRT_E_NOMEM;
    pass->plugin = plugin;
    pass->hooks.run = run_pass;
    pass->def = (prt_pass_def){ .kind = PRT_PASS_module,
        .since = PRT_NOT_IN_REFERENCE,
        .hooks = &pass->hooks };
    *out = pass;
    return POPRT_OK;
}

static poprt_status set_name(prt_plugin_pass *pass, const char *text, const char *doc)
{
    pass->def.name = text;
    pass->def.doc = doc;
    if (text == NULL || doc == NULL)
        return prt_fail(POPRT_E_PLUGIN, text != NULL ? text : "plug-in",
            "a pass needs a name and one sentence of documentation");
    return POPRT_OK;
}

/* Copies the options. Defaults are checked in the same way as values. */
static poprt_status set_options(prt_arena *arena, prt_plugin_pass *pass)
{
    static const uint8_t kinds[] = { [POPRT_PASS_OPTION_INT] = PRT_OPTION_i64,
        [POPRT_PASS_OPTION_REAL] = PRT_OPTION_f64,
        [POPRT_PASS_OPTION_BOOL] = PRT_OPTION_bool,
        [POPRT_PASS_OPTION_TEXT] = PRT_OPTION_text };
    const poprt_plugin_pass *r = &pass->pass;
    if (r->n_options > MAX_OPTIONS || (r->n_options != 0 && r->options == NULL))
        return prt_fail(POPRT_E_PLUGIN, r->name, "the list of options is NULL or longer than %d",
            MAX_OPTIONS);
    prt_pass_option *options = PRT_NEW_N(arena, prt_pass_option, r->n_options + 1);
    if (options == NULL)
        return POPRT_E_NOMEM;
    pass->def.options = options;
    for (size_t i = 0; i < r->n_options; i++) {
        const poprt_plugin_option *o = &r->options[i];
        if (o->name == NULL || o->default_value == NULL || o->doc == NULL || o->kind < 0 ||
            (size_t)o->kind >= PRT_COUNT_OF(kinds))
            return prt_fail(POPRT_E_PLUGIN, r->name,
                "option %zu needs a name, a default, one sentence of documentation and a "
                "POPRT_PASS_OPTION_ kind",
                i);
        options[i] = (prt_pass_option){ .name = o->name,
            .kind = kinds[o->kind],
            .initial = o->default_value,
            .doc = o->doc };
        pass->def.n_options = (uint32_t)i + 1;
        const prt_pass_arg initial = { o->name, o->default_value };
        if (prt_pass_check_args(&pass->def, 1, &initial) != POPRT_OK)
            return prt_fail(POPRT_E_PLUGIN, r->name,
                "the default of option %.100s is not of its kind", o->name);
    }
    return POPRT_OK;
}

poprt_status prt_plugin_make_pass(prt_plugin *plugin, const poprt_plugin_pass *record,
    prt_plugin_pass **out)
{
    prt_plugin_pass *pass = NULL;
    PRT_TRY(make(plugin, &pass));
    PRT_TRY(prt_plugin_import(&pass->pass, sizeof(pass->pass), sizeof(pass->pass), record,
        "poprt_plugin_pass"));
    PRT_TRY(set_name(pass, pass->pass.name, pass->pass.doc));
    if (pass->pass.run == NULL)
        return prt_fail(POPRT_E_PLUGIN, pass->def.name, "the pass has no function `run`");
    PRT_TRY(set_options(plugin->all->arena, pass));
    *out = pass;
    return POPRT_OK;
}

/* Parses the pattern when the plug-in is loaded, so that errors are found before a model is
 * read. */
poprt_status prt_plugin_make_pattern(prt_plugin *plugin, const poprt_plugin_pattern *record,
    prt_plugin_pass **out)
{
    prt_plugin_pass *pass = NULL;
    prt_pattern *parsed = NULL;
    PRT_TRY(make(plugin, &pass));
    poprt_plugin_pattern *pattern = &pass->pattern;
    PRT_TRY(prt_plugin_import(pattern, sizeof(*pattern), sizeof(*pattern), record,
        "poprt_plugin_pattern"));
    PRT_TRY(set_name(pass, pattern->name, pattern->doc));
    if (pattern->rewrite == NULL)
        return prt_fail(POPRT_E_PLUGIN, pass->def.name, "the pattern has no function `rewrite`");
    if (parse_chains(plugin->all->arena, pattern->chains, pattern->n_chains, &parsed) != POPRT_OK) {
        prt_error_copy reported;
        prt_error_save(&reported);
        return prt_fail(reported.status == POPRT_E_NOMEM ? reported.status : POPRT_E_PLUGIN,
            pass->def.name, "pattern: %s", reported.message);
    }
    *out = pass;
    return POPRT_OK;
}
