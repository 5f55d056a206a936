/* SPDX-License-Identifier: MIT */
/*
 * update.c — weights that a model's operators write (CopyVarUpdate).
 *
 * Within a run a weight keeps its old value for all readers. A written value is stored separately
 * and becomes the weight when the next run begins, or when the caller asks for the weight. A run
 * that fails changes no weight. The first write gives the session its own copy of the weight; later
 * writes are copied into it.
 */
#include "runtime/frame.h"

poprt_status prt_session_update(prt_session *s, uint32_t constant, const prt_tensor *value)
{
    const prt_constant *weight = &s->program->constants[constant];
    const size_t size = s->weights[constant]->size;
    if (value->dtype != weight->type->dtype || value->size != size ||
        value->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_SHAPE, weight->name.data,
            "an update of %zu bytes for a weight of %zu", value->size, size);
    if (s->updates[constant] == NULL)
        PRT_TRY(prt_blob_create(&s->memory.allocator, size, &s->updates[constant]));
    if (size != 0)
        memcpy(prt_blob_bytes(s->updates[constant]), value->data, size);
    s->updated[constant] = s->any_updated = true;
    return POPRT_OK;
}

/* Headers point to the weight's bytes, and shapes may depend on the contents of integers. */
static poprt_status apply(prt_session *s, uint32_t constant)
{
    const prt_blob *from = s->updates[constant];
    if (!s->replaced[constant]) {
        prt_blob *own = NULL;
        PRT_TRY(prt_blob_create(&s->memory.allocator, from->size, &own));
        prt_blob_release(s->weights[constant]);
        s->weights[constant] = own;
        s->replaced[constant] = true;
        s->resolved = false;
    }
    if (!prt_dtype_is_float(s->program->constants[constant].type->dtype))
        s->resolved = false;
    if (from->size != 0)
        memcpy(prt_blob_bytes(s->weights[constant]), from->data, from->size);
    s->updated[constant] = false;
    return POPRT_OK;
}

poprt_status prt_session_apply_updates(prt_session *s)
{
    if (!s->any_updated)
        return POPRT_OK;
    for (uint32_t i = 0; i < s->program->n_constants; i++)
        if (s->updated[i])
            PRT_TRY(apply(s, i));
    s->any_updated = false;
    return POPRT_OK;
}

void prt_session_drop_updates(prt_session *s)
{
    for (uint32_t i = 0; s->any_updated && i < s->program->n_constants; i++)
        s->updated[i] = false;
    s->any_updated = false;
}
