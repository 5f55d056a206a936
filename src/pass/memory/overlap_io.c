/* SPDX-License-Identifier: MIT */
/*
 * overlap_io.c — overlap_io: records in the model's metadata (key "overlap_io") the inputs and
 * outputs whose transfer is to overlap with computation. A CPU uses them in place in the caller's
 * memory, so nothing is transferred and no result changes.
 */
#include "ir/extra.h"
#include "pass/engine/pass.h"

static void write_names(prt_json_out *out, const char *key, const prt_graph *graph, bool inputs)
{
    prt_json_open(out, key, '[');
    for (size_t i = 0; inputs && i < graph->inputs.count; i++)
        prt_json_put_text(out, NULL, graph->inputs.data[i]->name);
    for (size_t i = 0; !inputs && i < graph->output_names.count; i++)
        prt_json_put_text(out, NULL, graph->output_names.data[i]);
    prt_json_close(out, ']');
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_json_out out;
    prt_str text, now;
    prt_json_out_init(&out, p->arena, false);
    prt_json_open(&out, NULL, '{');
    write_names(&out, "inputs", graph, true);
    write_names(&out, "outputs", graph, false);
    prt_json_close(&out, '}');
    PRT_TRY(prt_json_out_finish(&out, &text));
    if (prt_module_metadata(p->module, "overlap_io", &now) && prt_str_equal(now, text))
        return POPRT_OK;
    prt_pass_note(p, NULL,
        "recorded for %zu inputs and %u outputs; a CPU uses them in place, so "
        "results and times stay the same",
        graph->inputs.count, graph->ret->n_in);
    *changed = true;
    return prt_module_set_metadata(p->module, "overlap_io", text);
}

const prt_pass_hooks prt_pass_overlap_io = { .run = run };
