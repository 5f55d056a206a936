/* SPDX-License-Identifier: MIT */
/*
 * checks.c — steps under the options check_floating_point and check_kernels. Inputs are looked at
 * before the step, because an output may be written over one.
 */
#include <math.h>

#include "base/str.h"
#include "num/dtype.h"
#include "num/float.h"
#include "runtime/frame.h"

static bool is_float_tensor(const prt_tensor *t)
{
    return t != NULL && t->kind == PRT_VALUE_TENSOR && t->data != NULL && t->size != 0 &&
        prt_dtype_is_float(t->dtype);
}

/* Returns the index of the first element that is infinite or not a number; SIZE_MAX: none is. */
static size_t first_not_finite(const prt_tensor *t)
{
    const size_t n = prt_tensor_count(t);
    if (t->dtype == PRT_DTYPE_f32) {
        const float *x = t->data;
        for (size_t i = 0; i < n; i++)
            if (!isfinite(x[i]))
                return i;
        return SIZE_MAX;
    }
    for (size_t i = 0; i < n; i++)
        if (!isfinite(prt_load_f64(t->dtype, t->data, i)))
            return i;
    return SIZE_MAX;
}

/* Returns whether the step has inputs of real numbers, all of which are finite. */
static bool has_finite_inputs(const prt_frame_step *step)
{
    bool any = false;
    for (uint32_t i = 0; i < step->n_in; i++) {
        if (!is_float_tensor(step->in[i]))
            continue;
        any = true;
        if (first_not_finite(step->in[i]) != SIZE_MAX)
            return false;
    }
    return any;
}

static poprt_status check_results(const prt_frame_step *step)
{
    for (uint32_t i = 0; i < step->n_out; i++) {
        if (!is_float_tensor(step->out[i]))
            continue;
        const size_t at = first_not_finite(step->out[i]);
        if (at != SIZE_MAX)
            return prt_fail(POPRT_E_LIMIT, step->params->origin.data,
                "output %u of %s is %g at element %zu, and its inputs are finite "
                "(check_floating_point)",
                i, step->params->def->name,
                prt_load_f64(step->out[i]->dtype, step->out[i]->data, at), at);
    }
    return POPRT_OK;
}

static bool overlap(const prt_tensor *a, const prt_tensor *b)
{
    const uintptr_t first = (uintptr_t)a->data, second = (uintptr_t)b->data;
    return first < second + b->size && second < first + a->size;
}

/* Returns whether an output is in the memory of input `i`, which the step may then change. */
static bool is_written(const prt_frame_step *step, uint32_t i)
{
    for (uint32_t o = 0; o < step->n_out; o++)
        if (step->out[o] != NULL && step->out[o]->data != NULL && step->out[o]->size != 0 &&
            overlap(step->in[i], step->out[o]))
            return true;
    return false;
}

/* Hashes the inputs whose bytes can be read. Arguments with row strides are left out. */
static uint64_t hash_input(const prt_frame_step *step, uint32_t i)
{
    const prt_tensor *x = step->in[i];
    if (x == NULL || x->kind != PRT_VALUE_TENSOR || x->data == NULL ||
        x->dtype == PRT_DTYPE_string || step->columns != PRT_COLUMNS_none)
        return 0;
    return prt_hash(x->data, x->size, 1);
}

static poprt_status check_inputs(const prt_frame_step *step, const uint64_t *before)
{
    for (uint32_t i = 0; i < step->n_in; i++)
        if (before[i] != 0 && !is_written(step, i) && hash_input(step, i) != before[i])
            return prt_fail(step->params->def->id >= PRT_OP_COUNT ? POPRT_E_PLUGIN
                                                                  : POPRT_E_INTERNAL,
                step->params->origin.data,
                "the kernel of %s changed its input %u, which is not its output (check_kernels)",
                step->params->def->name, i);
    return POPRT_OK;
}

poprt_status prt_frame_check_step(prt_frame *f, prt_frame_step *step, prt_frame_run_fn run)
{
    const prt_session *s = f->session;
    uint64_t *before = NULL;
    if (step->mode != PRT_STEP_eval && step->is_static)
        return run(f, step);
    /* The update of a training program has to finish. Its inputs were results that are checked. */
    const bool finite = s->check_floating_point && !f->is_update && has_finite_inputs(step);
    if (s->check_kernels && step->n_in != 0) {
        before = prt_mem_alloc(s->memory.inner, step->n_in * sizeof(*before));
        if (before == NULL)
            return POPRT_E_NOMEM;
        for (uint32_t i = 0; i < step->n_in; i++)
            before[i] = hash_input(step, i);
    }
    poprt_status status = run(f, step);
    if (status == POPRT_OK && before != NULL)
        status = check_inputs(step, before);
    if (status == POPRT_OK && finite)
        status = check_results(step);
    prt_mem_free(s->memory.inner, before);
    return status;
}
