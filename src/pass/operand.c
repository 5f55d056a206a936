/* SPDX-License-Identifier: MIT */
/* operand.c — questions about operands, and common edits. */
#include "pass/operand.h"

#include <math.h>

#include "ir/extra.h"
#include "op/move.h"

int32_t prt_operand_dtype(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->dtype : PRT_DTYPE_undefined;
}

const prt_type *prt_operand_ranked(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank >= 0 &&
            v->type->rank <= PRT_MAX_RANK
        ? v->type
        : NULL;
}

const prt_type *prt_operand_static(const prt_value *v)
{
    const prt_type *type = prt_operand_ranked(v);
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]))
            return NULL;
    return type;
}

int64_t prt_operand_dim(const prt_value *v, int64_t axis)
{
    const prt_type *type = prt_operand_ranked(v);
    if (type == NULL || axis < -type->rank || axis >= type->rank)
        return -1;
    const int64_t dim = type->dims[axis < 0 ? axis + type->rank : axis];
    return prt_dim_is_number(dim) ? dim : -1;
}

bool prt_operand_takes(uint32_t id, int32_t dtype)
{
    const prt_op_def *def = prt_op_of(id);
    for (uint32_t i = 0; i < def->n_types; i++)
        if (strcmp(def->types[i].var, def->in[0].var) == 0)
            return dtype > 0 && dtype < PRT_DTYPE_COUNT && (def->types[i].set >> dtype & 1) != 0;
    return false;
}

bool prt_operand_number(const prt_op *op, uint32_t slot, double *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || prt_tensor_count(&t) != 1 ||
        (!prt_dtype_is_float(t.dtype) && !prt_dtype_is_integer(t.dtype)))
        return false;
    *out = prt_load_f64(t.dtype, t.data, 0);
    return true;
}

bool prt_operand_integer(const prt_op *op, uint32_t slot, int64_t *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || prt_tensor_count(&t) != 1 ||
        !prt_dtype_is_integer(t.dtype))
        return false;
    *out = prt_load_i64(t.dtype, t.data, 0);
    return true;
}

bool prt_operand_reduced(const prt_op *op, uint32_t *set)
{
    const prt_reduce_sum_attrs *a = op->attrs; /* all of the family have the same ones */
    const prt_type *x = prt_operand_ranked(prt_op_input(op, 0));
    int64_t axes[PRT_MAX_RANK];
    prt_tensor t = { .dims = { 0 }, .rank = 1, .dtype = PRT_DTYPE_i64 };
    if (x == NULL || (prt_op_input(op, 1) != NULL && !prt_match_constant(op, 1, &t)))
        return false;
    const size_t n = prt_tensor_count(&t);
    if (n > PRT_MAX_RANK)
        return false;
    for (size_t i = 0; i < n; i++)
        axes[i] = prt_load_i64(t.dtype, t.data, i);
    *set = n == 0 && a->noop_with_empty_axes == 0 ? (1u << x->rank) - 1 : 0;
    return n == 0 || prt_move_axes(axes, (uint32_t)n, (uint32_t)x->rank, set);
}

bool prt_operand_only(const prt_op *op, uint32_t first)
{
    for (uint32_t i = first; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return false;
    return true;
}

/* The smallest number of the type with all its bits. */
static double least_normal(int32_t dtype)
{
    return dtype == PRT_DTYPE_f16 ? 0x1p-14 : dtype == PRT_DTYPE_f64 ? 0x1p-1022 : 0x1p-126;
}

prt_value *prt_operand_mapped(prt_pass *p, prt_build *b, const prt_op *op, uint32_t slot,
    double (*f)(double x, double with), double with)
{
    const prt_value *old = prt_op_input(op, slot);
    prt_tensor t;
    prt_blob *blob = NULL;
    if (b->status != POPRT_OK || !prt_match_constant(op, slot, &t) ||
        !prt_dtype_is_float(t.dtype) || !prt_pass_afford(p, t.size))
        return NULL;
    b->status = prt_blob_create(b->graph->module->allocator, t.size, &blob);
    if (b->status != POPRT_OK)
        return NULL;
    for (size_t i = 0; i < prt_tensor_count(&t); i++) {
        const double y = f(prt_load_f64(t.dtype, t.data, i), with);
        prt_store_f64(t.dtype, prt_blob_bytes(blob), i, y);
        const double rounded = prt_load_f64(t.dtype, prt_blob_bytes(blob), i);
        if (!isfinite(rounded) || (y != 0 && fabs(rounded) < least_normal(t.dtype))) {
            prt_blob_release(blob);
            return NULL;
        }
    }
    prt_value *mapped = prt_pass_derive(b->graph, old, old->type, blob);
    if (mapped == NULL)
        b->status = POPRT_E_NOMEM;
    return mapped;
}

prt_value *prt_operand_shared(prt_pass *p, prt_build *b, const char *name, const prt_type *type,
    prt_blob *blob)
{
    prt_module *m = b->graph->module;
    prt_value *old = prt_map_find(&m->names, prt_str_of(name)), *made = NULL;
    if (old != NULL && old->graph == m->main && prt_value_is_fixed(old) && old->type == type &&
        old->constant->size == blob->size &&
        (blob->size == 0 || memcmp(old->constant->data, blob->data, blob->size) == 0)) {
        prt_blob_release(blob);
        return old;
    }
    if (!prt_pass_afford(p, blob->size)) {
        prt_blob_release(blob);
        return NULL;
    }
    const prt_str fresh = prt_module_fresh_name(m, name);
    if (fresh.data != NULL)
        made = prt_graph_add_constant(m->main, fresh, type, blob);
    else
        prt_blob_release(blob);
    if (made == NULL)
        b->status = POPRT_E_NOMEM;
    return made;
}

prt_value *prt_operand_cast(prt_build *b, prt_value *x, int32_t dtype)
{
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    if (b->status != POPRT_OK || prt_operand_dtype(x) == dtype)
        return x;
    PRT_ATTR_GIVE(attrs, cast, to, dtype);
    return prt_build_op(b, PRT_OP_cast, &attrs, 1, &x);
}

bool prt_operand_become(prt_build *b, prt_op *root, prt_value *to)
{
    for (prt_op *op = root->prev; b->status == POPRT_OK && op != NULL; op = op->prev) {
        if (op->id < b->first)
            break;
        b->status = prt_op_copy_marks(op, root);
    }
    if (b->status == POPRT_OK)
        (void)prt_pass_replace(b, &root->out[0], to);
    return true;
}

bool prt_operand_become_op(prt_build *b, prt_op *root, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in)
{
    return prt_operand_become(b, root, prt_build_op(b, id, attrs, n_in, in));
}
