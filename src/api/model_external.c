/* SPDX-License-Identifier: MIT */
/* model_external.c — poprt_model_relocate_external. */
#include "api/handles.h"
#include "ir/ir.h"
#include "poprt/model.h"

/* Locations of data files in a graph and its regions. */
typedef struct relocation {
    prt_str from, to; /* interned in the module */
    uint32_t found;   /* constants at `from` */
    bool taken;       /* a constant is at `to` */
} relocation;

/* Visits all constants: counts them, or moves those at `from` if `moves` is true. */
static poprt_status visit(relocation *r, prt_graph *graph, bool moves)
{
    for (size_t i = 0; i < graph->constants.count; i++) {
        prt_value *v = graph->constants.data[i];
        if (v->stored == NULL)
            continue;
        r->taken = r->taken || prt_str_equal(v->stored->location, r->to);
        if (!prt_str_equal(v->stored->location, r->from))
            continue;
        r->found++;
        if (!moves)
            continue;
        prt_stored *stored = PRT_NEW(graph->module->arena, prt_stored);
        if (stored == NULL)
            return POPRT_E_NOMEM;
        *stored = *v->stored;
        stored->location = r->to;
        v->stored = stored;
    }
    for (prt_op *op = graph->first; op != NULL; op = op->next)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(visit(r, op->regions[i], moves));
    return POPRT_OK;
}

/* Returns whether a location is below the folder of a model. */
static bool is_below(const char *location)
{
    if (location[0] == '\0' || location[0] == '/')
        return false;
    while (location[0] != '\0') {
        const size_t n = strcspn(location, "/");
        if (n == 2 && memcmp(location, "..", 2) == 0)
            return false;
        location += n + (location[n] == '/');
    }
    return true;
}

static poprt_status relocate(prt_module *module, const char *from, const char *to)
{
    relocation r = { .from = prt_module_str(module, prt_str_of(from)),
        .to = prt_module_str(module, prt_str_of(to)) };
    if (r.from.data == NULL || r.to.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(visit(&r, module->main, false));
    if (r.found == 0)
        return prt_fail(POPRT_E_NOT_FOUND, from,
            "no initializer of the model is stored in this data file");
    if (r.taken)
        return prt_fail(POPRT_E_ARG, to, "initializers of the model are stored there already");
    return visit(&r, module->main, true);
}

poprt_status poprt_model_relocate_external(poprt_model *model, const char *from, const char *to)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(from);
    PRT_REQUIRE(to);
    if (!is_below(to))
        return prt_fail(POPRT_E_ARG, to,
            "a data file is named by a path below the folder of the model, without '..'");
    return prt_fail_at_stage(relocate(model->module, from, to), "relocate");
}
