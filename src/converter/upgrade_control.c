/* SPDX-License-Identifier: MIT */
/*
 * upgrade_control.c — upgrades Scan of opset 8, which has a batch axis, and DFT, whose axis was an
 * attribute.
 */
#include "converter/conversions.h"

enum { KIND_INTS = 7 }; /* AttributeProto.AttributeType */

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

/* Removes input 0, the lengths of the batch's sequences; `*lengths` is NULL if they are absent. */
static poprt_status remove_lengths(prt_op *op, prt_value **lengths)
{
    if (op->n_in < 2)
        return prt_fail(POPRT_E_PARSE, prt_op_label(op),
            "Scan: has %u inputs; must have at least 2", op->n_in);
    *lengths = op->in[0].value;
    for (uint32_t i = 0; i + 1 < op->n_in; i++)
        prt_op_set_input(op, i, op->in[i + 1].value);
    prt_op_set_input(op, op->n_in - 1, NULL);
    op->n_in--;
    return POPRT_OK;
}

/* Adds `count` scanned inputs to the outer graph and returns their values for one batch entry. */
static poprt_status add_entries(prt_graph *outer, uint32_t count, prt_value **entries)
{
    prt_module *m = outer->module;
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = prt_graph_add_input(outer, prt_module_fresh_name(m, "entry"),
            prt_type_unknown(m->types));
        if (entries[i] == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Returns the first `length` steps of a sequence. */
static prt_value *shorten(prt_build *b, prt_value *v, prt_value *length)
{
    const int64_t zero = 0;
    prt_value *in[4] = { v, prt_build_i64s(b, 1, &zero), length, prt_build_i64s(b, 1, &zero) };
    return prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}

/* Pads a scan output with zeros to the length of the whole sequence. */
static prt_value *lengthen(prt_build *b, prt_value *v, prt_value *whole)
{
    const int64_t zero = 0, one = 1;
    const prt_concat_attrs front = { .axis = 0 };
    prt_value *size[4] = { prt_build_unary(b, PRT_OP_shape, whole), prt_build_i64s(b, 1, &zero),
        prt_build_i64s(b, 1, &one), prt_build_i64s(b, 1, &zero) };
    prt_value *have[4] = { prt_build_unary(b, PRT_OP_shape, v), size[1], size[2], size[3] };
    prt_value *more = prt_build_binary(b, PRT_OP_sub, prt_build_op(b, PRT_OP_slice, NULL, 4, size),
        prt_build_op(b, PRT_OP_slice, NULL, 4, have));
    prt_value *both[2] = { prt_build_i64s(b, 1, &zero), more };
    prt_value *in[4] = { v, prt_build_op(b, PRT_OP_concat, &front, 2, both), NULL,
        prt_build_i64s(b, 1, &zero) };
    return prt_build_op(b, PRT_OP_pad, NULL, 4, in);
}

static poprt_status set_outputs(prt_graph *outer, uint32_t count, prt_value **outs)
{
    prt_module *m = outer->module;
    prt_str *names = PRT_NEW_N(m->arena, prt_str, count);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = prt_module_fresh_name(m, "entry");
        PRT_TRY(prt_value_set_name(outs[i], names[i]));
    }
    return prt_graph_set_outputs(outer, count, outs, names);
}

/* Builds the scan over the sequence, in a region that processes one entry of the batch. */
static poprt_status inner_scan(prt_upgrade *u, prt_graph *outer, bool has_lengths)
{
    prt_op *op = u->op;
    prt_scan_attrs attrs = *(const prt_scan_attrs *)op->attrs;
    prt_module *m = outer->module;
    const prt_node_attr *directions = prt_upgrade_attr(u, "directions");
    const uint32_t states = op->n_in - (uint32_t)attrs.num_scan_inputs;
    prt_value **entries = PRT_NEW_N(m->arena, prt_value *, (size_t)op->n_in + 1);
    prt_value **outs = PRT_NEW_N(m->arena, prt_value *, op->n_out);
    if (entries == NULL || outs == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(add_entries(outer, op->n_in + has_lengths, entries));
    prt_build b = prt_build_at_end(outer);
    const int64_t list = -1;
    prt_value *length = !has_lengths
        ? NULL
        : prt_build_binary(&b, PRT_OP_reshape, entries[op->n_in], prt_build_i64s(&b, 1, &list));
    prt_value *whole = op->n_in > states ? entries[states] : NULL;
    for (uint32_t i = states; has_lengths && i < op->n_in; i++)
        entries[i] = shorten(&b, entries[i], length);
    PRT_TRY(prt_build_status(&b));
    attrs.body = 0;
    attrs.scan_input_axes = attrs.scan_output_axes = attrs.scan_output_directions = (prt_i64s){ 0 };
    attrs.scan_input_directions =
        directions != NULL && directions->kind == KIND_INTS ? directions->ints : (prt_i64s){ 0 };
    prt_op *inner = prt_graph_add_op(outer, NULL, op->def, op->n_in, op->n_out, 1);
    if (inner == NULL || (inner->attrs = prt_attrs_clone(op->def, m->arena, &attrs)) == NULL)
        return POPRT_E_NOMEM;
    inner->origin = op->origin;
    inner->regions[0] = op->regions[((const prt_scan_attrs *)op->attrs)->body];
    inner->regions[0]->owner = inner;
    for (uint32_t i = 0; i < op->n_in; i++)
        prt_op_set_input(inner, i, entries[i]);
    for (uint32_t i = 0; i < op->n_out; i++) {
        outs[i] = &inner->out[i];
        if (has_lengths && i >= states)
            outs[i] = lengthen(&b, outs[i], whole);
    }
    PRT_TRY(prt_build_status(&b));
    return set_outputs(outer, op->n_out, outs);
}

/* Scan-8 becomes a stateless scan over the batch, whose body is the scan over the sequence. */
poprt_status prt_up_scan(prt_upgrade *u)
{
    prt_op *op = u->op;
    prt_scan_attrs *a = op->attrs;
    prt_value *lengths = NULL;
    PRT_TRY(remove_lengths(op, &lengths));
    if (op->n_regions == 0 || a->body >= op->n_regions || a->num_scan_inputs < 1 ||
        a->num_scan_inputs > (int64_t)op->n_in)
        return prt_fail(POPRT_E_PARSE, prt_op_label(op), "Scan: needs a body and num_scan_inputs");
    prt_graph *outer = prt_graph_create(op->graph->module, op);
    if (outer == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(inner_scan(u, outer, lengths != NULL));
    if (lengths != NULL)
        PRT_TRY(prt_op_add_input(op, lengths));
    op->regions[a->body] = outer;
    a->num_scan_inputs = op->n_in;
    a->scan_input_axes = a->scan_input_directions = (prt_i64s){ 0 };
    a->scan_output_axes = a->scan_output_directions = (prt_i64s){ 0 };
    prt_op_touch(op);
    return POPRT_OK;
}
