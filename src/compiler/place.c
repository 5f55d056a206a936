/* SPDX-License-Identifier: MIT */
/*
 * place.c — where every op runs. There is one place, the CPU device, which runs everything that
 * has a reference kernel; what it cannot run is listed here in one report, before any work:
 * POPRT_E_DEVICE for what exchanges data between devices, else POPRT_E_UNSUPPORTED.
 */
#include "base/report.h"
#include "compiler/draft.h"

static void refuse(prt_report *report, const prt_op *op, poprt_status status, const char *why)
{
    const long long opset = (long long)prt_module_opset(op->graph->module, op->domain);
    prt_report_add(report,
        prt_fail(status, prt_op_label(op), "%s%s%.100s (opset %lld) %s",
            op->domain.data, op->domain.size != 0 ? "." : "", op->name.data, opset, why));
}

static void place_graph(const prt_graph *graph, prt_report *report)
{
    prt_for_each_op(op, graph)
    {
        if (op->def == NULL)
            refuse(report, op, POPRT_E_UNSUPPORTED, "is no operator of this library");
        else if (op->def->hooks->eval == NULL && (op->def->traits & PRT_COLLECTIVE) != 0)
            refuse(report, op, POPRT_E_DEVICE,
                "exchanges data with other devices or remote memory, and there is one device only");
        else if (op->def->hooks->eval == NULL)
            refuse(report, op, POPRT_E_UNSUPPORTED, "has types, but no kernel");
        for (uint32_t i = 0; i < op->n_regions; i++)
            place_graph(op->regions[i], report);
    }
}

poprt_status prt_compile_place(prt_draft *d)
{
    prt_report report = { .status = POPRT_OK };
    place_graph(d->module->main, &report);
    return prt_report_end(&report);
}
