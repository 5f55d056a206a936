/* SPDX-License-Identifier: MIT */
/*
 * place.c — where every op runs. There is one place, the CPU device, which runs everything that
 * has a reference kernel; what it cannot run is listed here in one report, before any work.
 */
#include <stdio.h>

#include "compiler/draft.h"

typedef struct report {
    char text[1800];
    char subject[256];
    size_t at;
    uint32_t count, shown;
} report;

static void add(report *r, const prt_op *op, const char *why)
{
    if (r->count++ == 0)
        (void)snprintf(r->subject, sizeof(r->subject), "%s", prt_op_label(op));
    const prt_module *m = op->graph->module;
    const int n = snprintf(r->text + r->at, sizeof(r->text) - r->at,
        "\n  %.100s: %s%s%.100s (opset %lld): %s", prt_op_label(op), op->domain.data,
        op->domain.size != 0 ? "." : "", op->name.data,
        (long long)prt_module_opset(m, op->domain), why);
    if (n > 0 && (size_t)n < sizeof(r->text) - r->at) {
        r->at += (size_t)n;
        r->shown++;
    } else {
        r->text[r->at] = '\0';
    }
}

static void place_graph(const prt_graph *graph, report *r)
{
    prt_for_each_op(op, graph) {
        if (op->def == NULL)
            add(r, op, "no such operator here");
        else if (op->def->hooks->eval == NULL)
            add(r, op, "has types, but no kernel");
        for (uint32_t i = 0; i < op->n_regions; i++)
            place_graph(op->regions[i], r);
    }
}

poprt_status prt_compile_place(prt_draft *d)
{
    report r = { .count = 0 };
    place_graph(d->module->main, &r);
    if (r.count == 0)
        return POPRT_OK;
    if (r.count > r.shown)
        return prt_fail(POPRT_E_UNSUPPORTED, r.subject, "%u operators cannot be run:%s\n  and %u more",
            r.count, r.text, r.count - r.shown);
    return prt_fail(POPRT_E_UNSUPPORTED, r.subject, "%u operator%s cannot be run:%s", r.count,
        r.count == 1 ? "" : "s", r.text);
}
