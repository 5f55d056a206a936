/* SPDX-License-Identifier: MIT */
/*
 * onnx_write_opsets.c — chooses the version of each domain that a file imports. It is the model's
 * version if every operator has a schema there that describes it, else the nearest version for
 * which that holds. A version at which an operator is deprecated is never chosen, because other
 * readers refuse such a file.
 */
#include "converter/history.h"
#include "converter/onnx.h"
#include "converter/onnx_write.h"
#include "converter/source_node.h"

/* Returns the domain of the node that the op is written as. */
static prt_str domain_of(const prt_op *op)
{
    return prt_source_node_is_current(op) ? op->source_node->domain : op->domain;
}

/*
 * Returns the lowest opset that an op needs. A node that is unchanged since it was read keeps its
 * meaning from its model's opset on; for other ops of ai.onnx the history of schemas decides.
 */
static int64_t least_opset(const prt_op *op)
{
    const uint32_t since = op->def->since, read = op->source_opset;
    if (prt_source_node_is_current(op))
        return op->source_node->version;
    if (op->def->domain[0] == '\0')
        return op->source != NULL && read != 0
            ? (int64_t)read
            : prt_history_lowest_opset(op, prt_opset_variant_meaning(op->name));
    return read != 0 && read < since ? read : since;
}

/* Returns the lowest version at which all ops of a domain have the variant that they are written
 * in. */
static int64_t least_of_all(const prt_graph *g, prt_str domain)
{
    int64_t most = 0;
    prt_for_each_op (op, g) {
        if (op->def != NULL && prt_str_equal(domain_of(op), domain) && least_opset(op) > most)
            most = least_opset(op);
        for (uint32_t i = 0; i < op->n_regions; i++) {
            const int64_t inner = least_of_all(op->regions[i], domain);
            most = inner > most ? inner : most;
        }
    }
    return most;
}

/* The least version, from `least` on, at which Identity takes every value that it copies to an
 * output. */
static int64_t least_of_copies(const prt_onnx_writer *w, const prt_graph *g, int64_t least)
{
    const prt_graph_names *names = prt_names_graph(w->names, g);
    for (uint32_t i = 0; i < g->ret->n_in; i++)
        while (names->copies[i] && least < prt_history_newest() &&
            !prt_history_supports(PRT_STR("Identity"), least, 0, g->ret->in[i].value->type))
            least++;
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_regions; i++)
            least = least_of_copies(w, op->regions[i], least);
    return least;
}

int64_t prt_onnx_written_opset(const prt_module *module)
{
    const int64_t imported = prt_module_opset(module, PRT_STR(""));
    const int64_t least = least_of_all(module->main, PRT_STR(""));
    return least > imported ? least : imported;
}

/* ---- ai.onnx.ml, whose older schemas are known ---- */

static bool fits(const prt_op *op, int64_t version)
{
    char why[256];
    if (op->def == NULL || prt_source_node_is_current_at(op, version))
        return true;
    return version >= prt_opset_variant_meaning(op->name) &&
        prt_history_fits(op, version, why, sizeof(why));
}

static bool all_fit(const prt_graph *g, prt_str domain, int64_t version)
{
    prt_for_each_op (op, g) {
        if (prt_str_equal(op->domain, domain) && !fits(op, version))
            return false;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (!all_fit(op->regions[i], domain, version))
                return false;
    }
    return true;
}

/* Searches from the imported version up, then down; 0 if no version fits. */
static int64_t nearest_version(const prt_graph *g, prt_str domain, int64_t imported)
{
    const int64_t newest = prt_history_newest_of(PRT_HISTORY_ML);
    const int64_t from = imported > 0 ? imported : 1;
    for (int64_t v = from; v <= newest || v == from; v++)
        if (all_fit(g, domain, v))
            return v;
    for (int64_t v = (from < newest ? from : newest + 1) - 1; v > 0; v--)
        if (all_fit(g, domain, v))
            return v;
    return 0;
}

/* ---- all domains ---- */

int64_t prt_onnx_ir_of_opset(int64_t opset)
{
    static const unsigned char versions[] = { 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 7, 7, 8, 8, 8,
        8, 9, 9, 10, 10, 11, 12, 13 };
    return opset < (int64_t)sizeof(versions) ? versions[opset] : 13;
}

static int64_t choose(prt_onnx_writer *w, prt_str domain, int64_t imported)
{
    const prt_graph *g = w->m->main;
    if (prt_str_is(domain, PRT_HISTORY_ML)) {
        const int64_t found = nearest_version(g, domain, imported);
        if (found != 0)
            return found;
    }
    const bool onnx = prt_domain_is_onnx(domain);
    int64_t least = w->m->downgraded_opset;
    if (!onnx || least == 0)
        least = least_of_all(g, onnx ? PRT_STR("") : domain);
    if (onnx && w->m->downgraded_opset == 0)
        least = least_of_copies(w, g, least);
    if (onnx && (least > imported || w->m->downgraded_opset != 0))
        prt_onnx_need(w, prt_onnx_ir_of_opset(least));
    return least > imported ? least : imported > 0 ? imported : 1;
}

static poprt_status add_opset(prt_onnx_writer *w, prt_str domain, int64_t imported)
{
    prt_opset **end = &w->opsets;
    while (*end != NULL)
        end = &(*end)->next;
    *end = PRT_NEW(w->scratch, prt_opset);
    if (*end == NULL)
        return POPRT_E_NOMEM;
    **end = (prt_opset){ .domain = domain, .version = choose(w, domain, imported) };
    return POPRT_OK;
}

/* Adds the domains of ops made by passes that the model does not import. */
static poprt_status add_missing(prt_onnx_writer *w, const prt_graph *g)
{
    prt_for_each_op (op, g) {
        const prt_str domain = domain_of(op);
        if (domain.data != NULL && prt_onnx_opset_of(w, domain) == 0)
            PRT_TRY(add_opset(w, domain, 0));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(add_missing(w, op->regions[i]));
    }
    return POPRT_OK;
}

int64_t prt_onnx_opset_of(const prt_onnx_writer *w, prt_str domain)
{
    for (const prt_opset *o = w->opsets; o != NULL; o = o->next)
        if (prt_domain_equal(o->domain, domain))
            return o->version;
    return 0;
}

poprt_status prt_onnx_choose_opsets(prt_onnx_writer *w)
{
    for (const prt_opset *o = w->m->opsets; o != NULL; o = o->next)
        PRT_TRY(add_opset(w, o->domain, o->version));
    if (prt_onnx_opset_of(w, PRT_STR("")) == 0 && least_of_copies(w, w->m->main, 0) != 0)
        PRT_TRY(add_opset(w, PRT_STR(""), 0));
    return add_missing(w, w->m->main);
}
