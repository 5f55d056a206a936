/* SPDX-License-Identifier: MIT */
/* half_opset.c — lookup in half_opset.def. */
#include "pass/precision/half_opset.h"

#define NEVER INT64_MAX

typedef struct row {
    uint32_t id;
    int64_t f16, bf16;
    bool layer;
} row;

static const row *find(const prt_op *op)
{
    static const row rows[] = {
#define TYPES_SINCE(id, f16, bf16) { PRT_OP_##id, f16, bf16, false },
#define LAYER(id, f16, bf16) { PRT_OP_##id, f16, bf16, true },
#include "pass/precision/half_opset.def"
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        if (prt_op_is(op, rows[i].id))
            return &rows[i];
    return NULL;
}

/* Returns whether the op has sequences or optionals. No schema has sequences or optionals of
 * bfloat16, so Identity, If and similar operators accept bfloat16 tensors only. */
static bool wraps_tensors(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL &&
            (op->in[i].value->type->kind == PRT_VALUE_SEQUENCE ||
                op->in[i].value->type->kind == PRT_VALUE_OPTIONAL))
            return true;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].type->kind == PRT_VALUE_SEQUENCE ||
            op->out[i].type->kind == PRT_VALUE_OPTIONAL)
            return true;
    return false;
}

int64_t prt_half_opset_of(const prt_op *op, int32_t to)
{
    const row *r = find(op);
    if (to == PRT_DTYPE_bf16 && wraps_tensors(op))
        return NEVER;
    if (r == NULL)
        return 0;
    return to == PRT_DTYPE_f16 ? r->f16 : to == PRT_DTYPE_bf16 ? r->bf16 : 0;
}

int64_t prt_half_opset_of_layer(const prt_op *op, int32_t to, int64_t least)
{
    const row *r = find(op);
    const int64_t opset = r != NULL && r->layer ? prt_half_opset_of(op, to) : 0;
    return opset > least ? opset : least;
}
