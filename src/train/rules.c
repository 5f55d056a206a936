/* SPDX-License-Identifier: MIT */
/* rules.c — lookup in grads.def. */
#include "train/rules.h"

#include "train/rule.h"

/* Types of values through which a gradient may flow. */
#define DIFFERENTIABLE (PRT_T_FB | PRT_T_SEQ | PRT_T_OPT | PRT_T_MAP)

static bool has_differentiable(const prt_op_def *def, const prt_slot_def *slots, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < def->n_types; k++)
            if (strcmp(slots[i].var, def->types[k].var) == 0 &&
                (def->types[k].set & DIFFERENTIABLE) != 0)
                return true;
    return false;
}

prt_grad_row prt_grad_row_of(const prt_op_def *def)
{
    static const prt_grad_row rows[PRT_OP_COUNT] = {
#define GRAD(id, function) [PRT_OP_##id] = { .kind = PRT_GRAD_RULE, .rule = function },
#define GRAD_ZERO(id) [PRT_OP_##id] = { .kind = PRT_GRAD_ZERO },
#define GRAD_MISSING(id, reason) [PRT_OP_##id] = { .kind = PRT_GRAD_MISSING, .why = (reason) },
#include "train/grads.def"
    };
    prt_grad_row row = { 0 };
    if (def == NULL)
        return row;
    if (def->id < PRT_OP_COUNT)
        row = rows[def->id];
    else if (((const prt_op_row *)(const void *)def)->grad != NULL)
        row = (prt_grad_row){ .kind = PRT_GRAD_RULE,
            .rule = ((const prt_op_row *)(const void *)def)->grad };
    else
        row.why = "its plug-in builds no gradient";
    if (row.kind == PRT_GRAD_MISSING && row.why == NULL &&
        (!has_differentiable(def, def->in, def->n_in) ||
            !has_differentiable(def, def->out, def->n_out)))
        row.kind = PRT_GRAD_ZERO;
    return row;
}
