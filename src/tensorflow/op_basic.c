/* SPDX-License-Identifier: MIT */
/* op_basic.c — inputs, constants, identities and calls of functions. */
#include "ir/evaluate.h"
#include "tensorflow/complex.h"
#include "tensorflow/rows.h"

/* Gives the parts of a complex constant an axis of their own. */
static poprt_status complex_constant(prt_tf_call *n, const prt_value *constant)
{
    prt_tensor t, parts;
    int64_t dims[PRT_MAX_RANK];
    if (!prt_value_aligned(constant, n->c->arena, &t))
        return POPRT_E_NOMEM;
    if (t.rank == PRT_MAX_RANK)
        return prt_tf_refuse(n, "a complex constant has too many axes");
    memcpy(dims, t.dims, t.rank * sizeof(dims[0]));
    dims[t.rank] = 2;
    if (!prt_tensor_init(&parts, prt_tf_part_type(t.dtype), t.rank + 1, dims, t.data))
        return POPRT_E_LIMIT;
    prt_value *v = prt_graph_add_tensor(n->scope->graph, &parts);
    if (v == NULL)
        return POPRT_E_NOMEM;
    prt_tf_set_complex(n, 0, v);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_constant(prt_tf_call *n)
{
    prt_tf_attr_value v;
    uint32_t depth;
    prt_value *constant = NULL;
    if (!prt_tf_attr_value_of(n, "value", &v, &depth) || v.kind != PRT_TF_ATTR_tensor)
        return prt_fail(POPRT_E_PARSE, n->b.origin.data, "a Const has no value");
    PRT_TRY(prt_tf_tensor_constant(n->c, n->scope->graph, v.bytes, depth + 1, n->node->name,
        &constant));
    if (prt_tf_part_type(prt_tf_dtype(constant)) != 0)
        return complex_constant(n, constant);
    prt_tf_set(n, 0, constant);
    return prt_tf_end(n);
}

/* Inputs of the model and arguments of functions have values before anything is converted. */
poprt_status prt_tf_row_placeholder(prt_tf_call *n)
{
    return prt_tf_refuse(n, "the outputs need this input, which is not among the inputs");
}

poprt_status prt_tf_row_identity(prt_tf_call *n)
{
    for (uint32_t i = 0; i < n->n_in && i < n->n_out; i++)
        prt_tf_set_value(n, i, n->in[i]);
    return prt_tf_end(n);
}

/* Operators without effect on the outputs. */
poprt_status prt_tf_row_nothing(prt_tf_call *n)
{
    return prt_tf_end(n);
}

/* The shape of EnsureShape refines a type: this is a fact that later nodes may use. */
poprt_status prt_tf_row_ensure_shape(prt_tf_call *n)
{
    int32_t rank;
    int64_t dims[PRT_MAX_RANK];
    prt_value *x = prt_tf_in(n, 0);
    if (x != NULL && prt_tf_attr_shape(n, "shape", &rank, dims) && rank >= 0 &&
        prt_tf_dtype(x) != PRT_DTYPE_undefined && !prt_value_is_constant(x)) {
        const prt_type *type = prt_type_tensor(n->c->module->types, prt_tf_dtype(x), rank, dims);
        if (type == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_value_refine_type(x, type));
    }
    return prt_tf_row_identity(n);
}

poprt_status prt_tf_row_call_function(prt_tf_call *n)
{
    prt_tf_func func;
    const prt_tf_function *fn;
    PRT_TRY(prt_tf_call_function(n, "f", &func, &fn));
    return prt_tf_inline_call(n, fn, func.attrs, func.n_attrs);
}
