/* SPDX-License-Identifier: MIT */
/* plugins.c — the tables of an environment's plug-ins: checks records and adds their rows, all or
 * none. */
#include "plugin/plugin.h"

#include "base/record.h"
#include "plugin/internal.h"

enum { MAX_RECORDS = 10000, MAX_NAME = 128, MAX_RECORD_SIZE = 4096 };

poprt_status prt_plugins_create(const prt_allocator *allocator, prt_plugin_log_fn log, void *user,
    prt_plugins **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(allocator, 0, &arena));
    prt_plugins *plugins = PRT_NEW(arena, prt_plugins);
    if (plugins == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    plugins->arena = arena;
    plugins->allocator = *allocator;
    plugins->log = log;
    plugins->log_user = user;
    prt_plugin_host_init(plugins);
    *out = plugins;
    return POPRT_OK;
}

const prt_op_set *prt_plugins_ops(const prt_plugins *plugins)
{
    return &plugins->op_set;
}

const prt_pass_def *prt_plugins_pass(const prt_plugins *plugins, size_t index)
{
    return index < plugins->passes.count ? &plugins->passes.data[index]->def : NULL;
}

poprt_status prt_plugin_import(void *ours, size_t our_size, size_t least, const void *theirs,
    const char *what)
{
    size_t size;
    if (theirs == NULL)
        return prt_fail(POPRT_E_PLUGIN, "plug-in", "a list of %s records contains NULL", what);
    memcpy(&size, theirs, sizeof(size));
    if (size < least || size > MAX_RECORD_SIZE)
        return prt_fail(POPRT_E_PLUGIN, "plug-in",
            "struct_size of a %s is %zu, but at least %zu is needed: set it to sizeof the struct",
            what, size, least);
    return prt_import(ours, our_size, theirs, size, what);
}

bool prt_plugin_is_name(const char *text, bool word)
{
    size_t n = 0;
    if (text == NULL)
        return false;
    for (; text[n] != '\0' && n <= MAX_NAME; n++) {
        const char c = text[n];
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!plain && (word || (c != '.' && c != '-' && c != '/' && c != ':' && c != ' ')))
            return false;
    }
    return n > 0 && n <= MAX_NAME;
}

/* ---- rows of one record */

static void update_set(prt_plugins *plugins)
{
    plugins->op_set.rows = plugins->ops.data;
    plugins->op_set.count = plugins->ops.count;
}

static poprt_status add_op(prt_plugin *plugin, const poprt_plugin_op *record)
{
    prt_plugins *all = plugin->all;
    prt_plugin_op *op = NULL;
    PRT_TRY(prt_plugin_make_op(plugin, record, &op));
    const prt_op_def *def = &op->row.def;
    update_set(all);
    const prt_op_def *other =
        prt_op_find_in(&all->op_set, prt_str_of(def->domain), prt_str_of(def->name));
    if (other != NULL) {
        const char *owner = prt_op_plugin(other);
        return prt_fail(POPRT_E_PLUGIN, def->key, "there is already an operator of this name, %s%s",
            owner != NULL ? "of plug-in " : "the library's", owner != NULL ? owner : "");
    }
    return PRT_VEC_PUSH(all->arena, &all->ops, &op->row) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_plugins_register(prt_plugins *all, const prt_plugin_pass *pass)
{
    const char *owner = NULL;
    if (!prt_plugin_is_name(pass->def.name, true))
        return prt_fail(POPRT_E_PLUGIN, "plug-in",
            "a pass needs a name of letters, digits and '_', at most %d", MAX_NAME);
    if (prt_pass_find(pass->def.name) != NULL)
        owner = "the library";
    for (size_t i = 0; i < all->passes.count; i++)
        if (strcmp(all->passes.data[i]->def.name, pass->def.name) == 0)
            owner = all->passes.data[i]->plugin != NULL ? all->passes.data[i]->plugin->name
                                                        : "the calling program";
    if (owner != NULL)
        return prt_fail(POPRT_E_PLUGIN, pass->def.name,
            "there is already a pass of this name, in %s", owner);
    return PRT_VEC_PUSH(all->arena, &all->passes, pass) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status add_records(prt_plugin *plugin)
{
    const poprt_plugin *r = &plugin->record;
    prt_plugin_pass *pass = NULL;
    for (size_t i = 0; i < r->n_ops; i++)
        PRT_TRY(add_op(plugin, r->ops[i]));
    for (size_t i = 0; i < r->n_passes; i++) {
        PRT_TRY(prt_plugin_make_pass(plugin, r->passes[i], &pass));
        PRT_TRY(prt_plugins_register(plugin->all, pass));
    }
    for (size_t i = 0; i < r->n_patterns; i++) {
        PRT_TRY(prt_plugin_make_pattern(plugin, r->patterns[i], &pass));
        PRT_TRY(prt_plugins_register(plugin->all, pass));
    }
    return POPRT_OK;
}

/* ---- a whole plug-in */

static poprt_status check(const prt_plugins *plugins, const poprt_plugin *r)
{
    if (!prt_plugin_is_name(r->name, false))
        return prt_fail(POPRT_E_PLUGIN, "plug-in",
            "needs a name of letters, digits, blanks and _.-/:, of at most %d bytes", MAX_NAME);
    if (r->version == NULL)
        return prt_fail(POPRT_E_PLUGIN, r->name, "the plug-in's record has no version");
    const bool lists = (r->n_ops == 0 || r->ops != NULL) &&
        (r->n_passes == 0 || r->passes != NULL) && (r->n_patterns == 0 || r->patterns != NULL);
    if (!lists || r->n_ops > MAX_RECORDS || r->n_passes > MAX_RECORDS ||
        r->n_patterns > MAX_RECORDS)
        return prt_fail(POPRT_E_PLUGIN, r->name,
            "a list of the plug-in is NULL, or has more than %d records", MAX_RECORDS);
    for (size_t i = 0; i < plugins->list.count; i++)
        if (strcmp(plugins->list.data[i]->name, r->name) == 0)
            return prt_fail(POPRT_E_PLUGIN, r->name,
                "a plug-in of this name is already loaded (version %.100s)",
                plugins->list.data[i]->record.version);
    return POPRT_OK;
}

poprt_status prt_plugins_add(prt_plugins *plugins, const poprt_plugin *record)
{
    const size_t ops = plugins->ops.count, passes = plugins->passes.count;
    prt_plugin *plugin = PRT_NEW(plugins->arena, prt_plugin);
    if (plugin == NULL)
        return POPRT_E_NOMEM;
    /* The version is checked first, because the other members depend on it. */
    if (record->struct_size >= offsetof(poprt_plugin, reserved) && record->abi != POPRT_PLUGIN_ABI)
        return prt_fail(POPRT_E_VERSION, "plug-in",
            "is made for plug-in interface %u, this library has %d: build it against this "
            "version's poprt/plugin.h",
            record->abi, POPRT_PLUGIN_ABI);
    PRT_TRY(prt_plugin_import(&plugin->record, sizeof(plugin->record), sizeof(plugin->record),
        record, "poprt_plugin"));
    PRT_TRY(check(plugins, &plugin->record));
    plugin->all = plugins;
    plugin->name = plugin->record.name;
    poprt_status status = add_records(plugin);
    if (status == POPRT_OK && !PRT_VEC_PUSH(plugins->arena, &plugins->list, plugin))
        status = POPRT_E_NOMEM;
    if (status != POPRT_OK) {
        plugins->ops.count = ops;
        plugins->passes.count = passes;
    }
    update_set(plugins);
    return status;
}
