/* SPDX-License-Identifier: MIT */
/*
 * place.c — assigns every operation to a device. The only device is the CPU, which runs everything
 * with a reference kernel. Operations that it cannot run are listed in one report, before any work:
 * POPRT_E_DEVICE for operators that exchange data between devices or replicas, POPRT_E_UNSUPPORTED
 * for all others.
 */
#include "compiler/draft.h"
#include "ir/report.h"

static void place_graph(const prt_graph *graph, int64_t replicas, prt_report *report)
{
    prt_for_each_op (op, graph) {
        const bool runs = op->def == NULL || op->def->hooks->eval != NULL;
        if (!runs && (op->def->traits & PRT_COLLECTIVE) != 0)
            prt_ir_report_refusal(report, op, POPRT_E_DEVICE,
                "reads or writes a remote buffer, which needs an initializer "
                "RemoteBuffer___<bufferid> of the main graph, whose first axis counts the rows; "
                "stores are accepted in the main graph alone");
        else if (runs && op->def != NULL && (op->def->traits & PRT_COLLECTIVE) != 0 && replicas > 1)
            prt_ir_report_refusal(report, op, POPRT_E_DEVICE,
                "exchanges data between replicas, which run one after another here; accepted: one "
                "replica");
        else if (!runs)
            prt_ir_report_refusal(report, op, POPRT_E_UNSUPPORTED,
                "its types can be inferred, but it has no kernel");
        for (uint32_t i = 0; i < op->n_regions; i++)
            place_graph(op->regions[i], replicas, report);
    }
}

poprt_status prt_compile_place(prt_draft *d)
{
    const prt_compile_flow *flow = d->options->flow;
    const int64_t replicas = flow != NULL ? flow->flow.replicas : 1;
    prt_report report = { .status = POPRT_OK };
    prt_ir_report_unknown(&report, d->module->main);
    place_graph(d->module->main, replicas, &report);
    for (size_t i = 0; i < d->module->entries.count; i++)
        place_graph(d->module->entries.data[i].graph, replicas, &report);
    return prt_report_end(&report);
}
