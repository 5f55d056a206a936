/* SPDX-License-Identifier: MIT */
/* evaluate.c — runs single ops on constants, and makes constants of the results. */
#include "ir/evaluate.h"

#include "op/interp.h"

bool prt_op_is_evaluable(const prt_op *op)
{
    const uint32_t effects = PRT_RANDOM | PRT_STATEFUL | PRT_COLLECTIVE | PRT_CONTROL;
    return op->def != NULL && op->n_regions == 0 && (op->def->traits & PRT_PURE) != 0 &&
        (op->def->traits & effects) == 0 && op->def->hooks->eval != NULL;
}

poprt_status prt_op_evaluate(const prt_op *op, bool all, prt_arena *scratch, prt_tensor *out)
{
    const prt_tensor **in = PRT_NEW_N(scratch, const prt_tensor *, op->n_in);
    prt_tensor *tensors = PRT_NEW_N(scratch, prt_tensor, op->n_in);
    if (in == NULL || tensors == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (op->in[i].value == NULL)
            continue;
        if (!prt_value_aligned(op->in[i].value, scratch, &tensors[i]))
            return prt_fail(POPRT_E_LIMIT, prt_op_label(op),
                "the bytes of a constant are not available");
        in[i] = &tensors[i];
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        if (all || prt_value_used(&op->out[i]))
            out[i] = (prt_tensor){ .kind = PRT_VALUE_UNKNOWN, .rank = UINT32_MAX };
    return prt_interp_run(op->def, op->attrs, prt_str_of(prt_op_label(op)), op->n_in, in, op->n_out,
        out, scratch, NULL, NULL);
}

prt_value *prt_graph_add_tensor(prt_graph *graph, const prt_tensor *t)
{
    prt_module *m = graph->module;
    size_t size = t->size;
    const poprt_string *strings = t->dtype == PRT_DTYPE_string ? t->data : NULL;
    const size_t count = strings != NULL ? prt_tensor_count(t) : 0;
    for (size_t i = 0; i < count; i++)
        size += strings[i].size;
    prt_blob *blob = NULL;
    if (prt_blob_create(m->allocator, size, &blob) != POPRT_OK)
        return NULL;
    unsigned char *bytes = prt_blob_bytes(blob);
    if (t->size != 0)
        memcpy(bytes, t->data, t->size);
    size_t at = t->size;
    for (size_t i = 0; i < count; i++) {
        const poprt_string moved = { (const char *)bytes + at, strings[i].size };
        if (moved.size != 0)
            memcpy(bytes + at, strings[i].data, moved.size);
        memcpy(bytes + i * sizeof(moved), &moved, sizeof(moved));
        at += moved.size;
    }
    const prt_type *type = prt_type_tensor(m->types, t->dtype, (int32_t)t->rank, t->dims);
    if (type == NULL) {
        prt_blob_release(blob);
        return NULL;
    }
    return prt_graph_add_constant(graph, PRT_STR(""), type, blob);
}
