/* SPDX-License-Identifier: MIT */
/* model_pass.c — passes and the shape function of the calling program, as rows of the tables. */
#include "plugin/internal.h"

/* A pass that is a function of the program. The row comes first, so that a hook can cast it to this
 * struct. */
typedef struct model_pass {
    prt_plugin_pass row;
    prt_plugin_pass_fn run;
    void *user;
} model_pass;

static poprt_status run_hook(prt_pass *p, prt_graph *graph, bool *changed)
{
    const model_pass *pass = (const model_pass *)(const void *)p->def;
    (void)graph;
    PRT_TRY(prt_pass_check(p));
    return pass->run(pass->user, p, changed);
}

poprt_status prt_plugins_add_pass(prt_plugins *plugins, const char *name, const char *doc,
    prt_plugin_pass_fn run, void *user)
{
    model_pass *pass = PRT_NEW(plugins->arena, model_pass);
    if (pass == NULL)
        return POPRT_E_NOMEM;
    pass->run = run;
    pass->user = user;
    pass->row.hooks = (prt_pass_hooks){ .run = run_hook };
    pass->row.def = (prt_pass_def){ .name = name,
        .kind = PRT_PASS_module,
        .since = PRT_NOT_IN_REFERENCE,
        .doc = doc,
        .hooks = &pass->row.hooks };
    return prt_plugins_register(plugins, &pass->row);
}

poprt_status prt_plugins_set_infer(prt_plugins *plugins, prt_op_infer_fn infer, const void *user,
    size_t size)
{
    if (plugins->op_set.infer != NULL)
        return prt_fail(POPRT_E_STATE, "plug-in", "the environment has a shape function already");
    void *copy = prt_arena_copy(plugins->arena, user, size);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    plugins->op_set.infer = infer;
    plugins->op_set.infer_user = copy;
    return POPRT_OK;
}
