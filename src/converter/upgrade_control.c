/* SPDX-License-Identifier: MIT */
/*
 * upgrade_control.c — Scan of opset 8, which has a batch axis, and DFT's axis that was an
 * attribute.
 */
#include "converter/upgrade.h"

#define FORM(domain, name, from, to, up, down) poprt_status up(prt_upgrade *u);
#define UP(domain, name, from, to, up) poprt_status up(prt_upgrade *u);
#define DOWN(domain, name, from, to, down)
#define MEANING(domain, name, since)
#include "converter/upgrade_control.def"
#undef FORM
#undef UP
#undef DOWN
#undef MEANING

enum { KIND_INTS = 7 }; /* of AttributeProto */

poprt_status prt_up_dft(prt_upgrade *u)
{
    const int64_t axis = prt_upgrade_i64(u, "axis", 1);
    prt_build b = prt_build_before(u->op);
    prt_value *value = prt_build_i64(&b, axis);
    PRT_TRY(prt_build_status(&b));
    while (u->op->n_in < 3)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 2, value);
    return POPRT_OK;
}

/* Input 0 was the lengths of the batch's sequences. */
static poprt_status drop_lengths(prt_op *op)
{
    if (op->n_in < 2)
        return prt_fail(POPRT_E_PARSE, prt_op_label(op), "Scan: has %u inputs", op->n_in);
    if (op->in[0].value != NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "Scan: sequence_lens of opset 8 is not supported");
    for (uint32_t i = 0; i + 1 < op->n_in; i++)
        prt_op_set_input(op, i, op->in[i + 1].value);
    prt_op_set_input(op, op->n_in - 1, NULL);
    op->n_in--;
    return POPRT_OK;
}

/* The scan over the sequence, in a region that stands for one entry of the batch. */
static poprt_status inner_scan(prt_upgrade *u, prt_graph *outer)
{
    prt_op *op = u->op;
    prt_scan_attrs attrs = *(const prt_scan_attrs *)op->attrs;
    prt_module *m = outer->module;
    const prt_node_attr *directions = prt_upgrade_attr(u, "directions");
    attrs.body = 0;
    attrs.scan_input_axes = attrs.scan_output_axes = attrs.scan_output_directions = (prt_i64s){ 0 };
    attrs.scan_input_directions =
        directions != NULL && directions->kind == KIND_INTS ? directions->ints : (prt_i64s){ 0 };
    prt_op *inner = prt_graph_add_op(outer, NULL, op->def, op->n_in, op->n_out, 1);
    prt_str *names = PRT_NEW_N(m->arena, prt_str, op->n_out);
    prt_value **outs = PRT_NEW_N(m->arena, prt_value *, op->n_out);
    if (inner == NULL || names == NULL || outs == NULL ||
        (inner->attrs = prt_attrs_clone(op->def, m->arena, &attrs)) == NULL)
        return POPRT_E_NOMEM;
    inner->origin = op->origin;
    inner->regions[0] = op->regions[((const prt_scan_attrs *)op->attrs)->body];
    inner->regions[0]->owner = inner;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_str name = prt_module_fresh_name(m, "entry");
        prt_value *in = prt_graph_add_input(outer, name, prt_type_unknown(m->types));
        if (in == NULL)
            return POPRT_E_NOMEM;
        prt_op_set_input(inner, i, in);
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        names[i] = prt_module_fresh_name(m, "entry");
        outs[i] = &inner->out[i];
        PRT_TRY(prt_value_set_name(outs[i], names[i]));
    }
    return prt_graph_set_outputs(outer, op->n_out, outs, names);
}

/* Scan-8 is a scan over the batch, without states, of the scan over the sequence. */
poprt_status prt_up_scan(prt_upgrade *u)
{
    prt_op *op = u->op;
    prt_scan_attrs *a = op->attrs;
    PRT_TRY(drop_lengths(op));
    if (op->n_regions == 0 || a->body >= op->n_regions || a->num_scan_inputs < 1 ||
        a->num_scan_inputs > (int64_t)op->n_in)
        return prt_fail(POPRT_E_PARSE, prt_op_label(op), "Scan: needs a body and num_scan_inputs");
    prt_graph *outer = prt_graph_create(op->graph->module, op);
    if (outer == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(inner_scan(u, outer));
    op->regions[a->body] = outer;
    a->num_scan_inputs = op->n_in;
    a->scan_input_axes = a->scan_input_directions = (prt_i64s){ 0 };
    a->scan_output_axes = a->scan_output_directions = (prt_i64s){ 0 };
    prt_op_touch(op);
    return POPRT_OK;
}
