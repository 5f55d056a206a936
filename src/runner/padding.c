/* SPDX-License-Identifier: MIT */
/* padding.c — rows of a host in place of the zeros behind the requests of a batch. */
#include "runner/state.h"

/* Copies one row of an input. */
static poprt_status set_row(poprt_runner *runner, const poprt_named_tensor *from, size_t hint)
{
    const prt_runner_list *list = &runner->lists[POPRT_INPUT];
    if (from->name == NULL)
        return prt_fail_null("name");
    const uint32_t i = prt_runner_find_field(list, from->name, hint);
    if (i == list->n_fields)
        return prt_runner_fail_unknown(list, from->name, true);
    prt_runner_field *f = &list->fields[i];
    const size_t size = f->outer * f->inner;
    if (from->tensor.dtype != f->dtype)
        return prt_fail(POPRT_E_TYPE, f->name, "has type %s; expected %s",
            poprt_dtype_name(from->tensor.dtype), poprt_dtype_name(f->dtype));
    if (from->tensor.size != size || (size != 0 && from->tensor.data == NULL))
        return prt_fail(POPRT_E_SHAPE, f->name, "has %zu bytes; expected the %zu of one row",
            from->tensor.data != NULL ? from->tensor.size : 0, size);
    if (f->padding == NULL)
        f->padding = prt_arena_alloc(runner->arena, size);
    if (f->padding == NULL)
        return POPRT_E_NOMEM;
    memcpy(f->padding, from->tensor.data, size);
    return POPRT_OK;
}

poprt_status poprt_runner_set_padding(poprt_runner *runner, const poprt_named_tensor *inputs,
    size_t count)
{
    PRT_REQUIRE(runner);
    if (count != 0)
        PRT_REQUIRE(inputs);
    PRT_TRY(prt_runner_own(runner));
    (void)pthread_mutex_lock(&runner->lock);
    poprt_status status = POPRT_OK;
    if (runner->n_started != 0)
        status = prt_fail(POPRT_E_STATE, NULL,
            "the runner serves requests: set the padding before the first one");
    else if (!runner->batches)
        status = prt_fail(POPRT_E_STATE, "batching_dim",
            "the runner does not gather requests, so that no rows are missing");
    for (size_t i = 0; i < count && status == POPRT_OK; i++)
        status = set_row(runner, &inputs[i], i);
    (void)pthread_mutex_unlock(&runner->lock);
    return status;
}
