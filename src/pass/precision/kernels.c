/* SPDX-License-Identifier: MIT */
/* kernels.c — lookup in kernels.def. */
#include "pass/precision/kernels.h"

enum { VARS = 3 };

static const struct {
    uint32_t id;
    uint64_t sets[VARS];
} kernels[] = {
#define KERNEL(id, first, second, third) { PRT_OP_##id, { first, second, third } },
#include "pass/precision/kernels.def"
};

/* Returns the element type of the first tensor in a slot of type variable k; undefined if it is not
 * known. */
static int32_t type_of(const prt_op *op, uint32_t k)
{
    const char *var = op->def->types[k].var;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (v != NULL && v->type->kind == PRT_VALUE_TENSOR &&
            strcmp(prt_op_in_slot(op->def, i)->var, var) == 0)
            return v->type->dtype;
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].type->kind == PRT_VALUE_TENSOR &&
            strcmp(prt_op_out_slot(op->def, i)->var, var) == 0)
            return op->out[i].type->dtype;
    return PRT_DTYPE_undefined;
}

static bool exists(const prt_op *op, const int32_t types[VARS])
{
    bool listed = false;
    for (size_t r = 0; r < PRT_COUNT_OF(kernels); r++) {
        if (kernels[r].id != op->def->id)
            continue;
        bool fits = true;
        for (uint32_t k = 0; k < VARS; k++)
            fits = fits &&
                (kernels[r].sets[k] == 0 || types[k] == PRT_DTYPE_undefined ||
                    (kernels[r].sets[k] >> types[k] & 1) != 0);
        if (fits)
            return true;
        listed = true;
    }
    return !listed;
}

static void list_types(const prt_op *op, int32_t types[VARS])
{
    for (uint32_t k = 0; k < VARS; k++)
        types[k] = k < op->def->n_types ? type_of(op, k) : (int32_t)PRT_DTYPE_undefined;
}

bool prt_kernel_is_listed(const prt_op *op)
{
    bool listed = false;
    for (size_t r = 0; op->def != NULL && r < PRT_COUNT_OF(kernels); r++)
        listed = listed || kernels[r].id == op->def->id;
    return listed;
}

bool prt_kernel_exists_of(uint32_t id, int32_t dtype)
{
    bool listed = false;
    for (size_t r = 0; r < PRT_COUNT_OF(kernels); r++) {
        if (kernels[r].id != id)
            continue;
        if ((kernels[r].sets[0] >> dtype & 1) != 0)
            return true;
        listed = true;
    }
    return !listed;
}

bool prt_kernel_exists(const prt_op *op)
{
    int32_t types[VARS];
    if (op->def == NULL)
        return true;
    list_types(op, types);
    return exists(op, types);
}

bool prt_kernel_exists_with(const prt_op *op, int32_t from, int32_t to)
{
    int32_t types[VARS];
    if (op->def == NULL)
        return true;
    list_types(op, types);
    for (uint32_t k = 0; k < VARS; k++)
        if (types[k] == from && (op->def->types[k].set >> to & 1) != 0)
            types[k] = to;
    return exists(op, types);
}

bool prt_kernel_exists_for(const prt_op *op, uint32_t var, int32_t dtype)
{
    int32_t types[VARS];
    PRT_ASSERT(var < VARS);
    if (op->def == NULL)
        return true;
    list_types(op, types);
    types[var] = dtype;
    return exists(op, types);
}
