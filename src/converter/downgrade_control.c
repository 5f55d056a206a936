/* SPDX-License-Identifier: MIT */
/* downgrade_control.c — If with branches of one shape, Scan with a batch of one, and DFT with its
 * axis as an attribute. */
#include "converter/downgrade.h"
#include "converter/conversions.h"

poprt_status prt_down_dft(prt_downgrade *d)
{
    int64_t axis[1] = { -2 };
    uint32_t count;
    const prt_value *given = prt_op_input(d->op, 2);
    if (given != NULL && (!prt_down_integers(given, 1, axis, &count) || count != 1))
        return prt_down_refuse(d, "the axis is an attribute at that opset, so it must be constant");
    prt_down_keep_inputs(d->op, 2);
    return prt_down_add_int(d, "axis", axis[0]);
}

/* Other readers infer the shapes, and refuse ranks or dims that differ. */
static bool may_merge(const prt_type *a, const prt_type *b)
{
    if (!prt_type_is_tensor(a) || !prt_type_is_tensor(b) || a->rank < 0 || b->rank < 0)
        return true;
    bool same = a->rank == b->rank;
    for (int32_t i = 0; same && i < a->rank; i++)
        same = !prt_dim_is_number(a->dims[i]) || !prt_dim_is_number(b->dims[i]) ||
            a->dims[i] == b->dims[i];
    return same;
}

poprt_status prt_down_if(prt_downgrade *d)
{
    const prt_op *op = d->op;
    const prt_op *first = op->regions[0]->ret, *second = op->regions[1]->ret;
    for (uint32_t i = 0; i < op->n_out && i < first->n_in && i < second->n_in; i++)
        if (!may_merge(first->in[i].value->type, second->in[i].value->type))
            return prt_down_refuse(d,
                "the branches return different shapes for output %u, which is allowed from opset "
                "11 on",
                i);
    return POPRT_OK;
}

static bool is_all_zero(prt_i64s list)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.data[i] != 0)
            return false;
    return true;
}

/* Adds a batch of one in front of all operands, and omits the lengths of the sequences. */
poprt_status prt_down_scan(prt_downgrade *d)
{
    prt_op *op = d->op;
    prt_scan_attrs *a = op->attrs;
    const int64_t front = 0;
    if (!is_all_zero(a->scan_input_axes) || !is_all_zero(a->scan_output_axes) ||
        !is_all_zero(a->scan_output_directions))
        return prt_down_refuse(d, "at that opset Scan supports axis 0 and forward outputs only");
    const prt_i64s directions = a->scan_input_directions;
    prt_build b = prt_build_before(op);
    prt_value *axes = prt_build_i64s(&b, 1, &front);
    PRT_TRY(prt_build_status(&b));
    PRT_TRY(prt_op_add_input(op, NULL));
    for (uint32_t i = op->n_in - 1; i > 0; i--) {
        prt_value *v = prt_build_binary(&b, PRT_OP_unsqueeze, prt_op_input(op, i - 1), axes);
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(op, i, v);
    }
    prt_op_set_input(op, 0, NULL);
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        const prt_type *type = prt_down_ranked(v);
        if (v->name.size == 0 && !prt_value_used(v))
            continue;
        int64_t dims[PRT_MAX_RANK] = { 1 };
        if (type == NULL || type->rank == PRT_MAX_RANK)
            return prt_down_refuse(d, "the ranks of its outputs must be known");
        for (int32_t k = 0; k < type->rank; k++)
            dims[k + 1] = type->dims[k];
        v->type = prt_type_tensor(op->graph->module->types, type->dtype, type->rank + 1, dims);
        if (v->type == NULL)
            return POPRT_E_NOMEM;
        b = prt_down_build_after(op);
        axes = prt_build_i64s(&b, 1, &front);
        PRT_TRY(prt_down_wrap(&b, v, prt_build_binary(&b, PRT_OP_squeeze, v, axes)));
    }
    prt_down_reset_attr(op, "scan_input_axes");
    prt_down_reset_attr(op, "scan_input_directions");
    prt_down_reset_attr(op, "scan_output_axes");
    prt_down_reset_attr(op, "scan_output_directions");
    return directions.count > 0
        ? prt_down_add_ints(d, "directions", directions.count, directions.data)
        : POPRT_OK;
}
