/* SPDX-License-Identifier: MIT */
/* report.c — error lines about nodes. */
#include "ir/report.h"

#include <stdio.h>

#include "ir/location.h"

static poprt_status fail_at(const prt_op *op, poprt_status status, const char *text)
{
    const prt_str domain = op->domain.size != 0 ? op->domain : PRT_STR("ai.onnx");
    const long long opset = (long long)prt_module_opset(op->graph->module, op->domain);
    char place[PRT_LOCATION_SIZE];
    prt_op_location(op, place);
    (void)prt_fail(status, prt_op_label(op), "%s (%.*s, opset %lld%s%s)", text, PRT_STR_ARG(domain),
        opset, place[0] != '\0' ? "; " : "", place);
    return prt_fail_at_location(status, place);
}

void prt_ir_report_failure(prt_report *report, const prt_op *op, poprt_status status)
{
    prt_error_copy last;
    prt_error_save(&last);
    /* A failure in a region was already reported with its own line or lines. */
    if (strcmp(last.subject, prt_op_label(op)) == 0 && strchr(last.message, '\n') == NULL)
        status = fail_at(op, status, last.message);
    prt_report_add(report, status);
}

void prt_ir_report_refusal(prt_report *report, const prt_op *op, poprt_status status,
    const char *why)
{
    char text[512];
    (void)snprintf(text, sizeof(text), "%.100s: %s", op->name.data, why);
    prt_report_add(report, fail_at(op, status, text));
}

/* All nodes of one operator: one line with as many of their names as fit. */
typedef struct kind {
    const prt_op *first;
    uint32_t count;
    size_t used;
    char names[160];
} kind;

typedef PRT_VEC(kind *) kind_list;

static poprt_status collect(prt_arena *arena, prt_map *kinds, kind_list *list,
    const prt_graph *graph)
{
    prt_for_each_op (op, graph) {
        if (op->def == NULL) {
            char key[512];
            const int n = snprintf(key, sizeof(key), "%.*s:%.*s", PRT_STR_ARG(op->domain),
                PRT_STR_ARG(op->name));
            const uint32_t size = (uint32_t)n < sizeof(key) ? (uint32_t)n : sizeof(key) - 1;
            kind *k = prt_map_find(kinds, (prt_str){ key, size });
            if (k == NULL) {
                const char *copy = prt_arena_text(arena, key, size);
                if (copy == NULL || (k = PRT_NEW(arena, kind)) == NULL ||
                    !PRT_VEC_PUSH(arena, list, k))
                    return POPRT_E_NOMEM;
                *k = (kind){ .first = op };
                PRT_TRY(prt_map_set(kinds, (prt_str){ copy, size }, k));
            } else {
                const size_t left = sizeof(k->names) - k->used;
                const int more = snprintf(k->names + k->used, left, ", %s", prt_op_label(op));
                if (more > 0 && (size_t)more < left)
                    k->used += (size_t)more;
                else
                    k->names[k->used] = '\0';
            }
            k->count++;
        }
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(collect(arena, kinds, list, op->regions[i]));
    }
    return POPRT_OK;
}

void prt_ir_report_unknown(prt_report *report, const prt_graph *graph)
{
    prt_arena *arena = NULL;
    kind_list list = { 0 };
    if (prt_arena_create(graph->module->allocator, 0, &arena) != POPRT_OK) {
        prt_report_add(report, POPRT_E_NOMEM);
        return;
    }
    prt_map kinds = prt_map_in(arena);
    if (collect(arena, &kinds, &list, graph) != POPRT_OK)
        prt_report_add(report, POPRT_E_NOMEM);
    for (size_t i = 0; i < list.count; i++) {
        const kind *k = list.data[i];
        char why[256];
        if (k->count == 1)
            (void)snprintf(why, sizeof(why), "is not an operator of this library");
        else
            (void)snprintf(why, sizeof(why),
                "is not an operator of this library, here and in %u more%s%s", k->count - 1,
                k->used != 0 ? ": " : "", k->used != 0 ? k->names + 2 : "");
        prt_ir_report_refusal(report, k->first, POPRT_E_UNSUPPORTED, why);
    }
    prt_arena_release(arena);
}
