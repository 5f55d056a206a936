/* SPDX-License-Identifier: MIT */
/* accumulate.c — Accumulate: sum or running mean of gradients. Assign: a new value of a variable.
 */
#include "op/check.h"
#include "op/training/update.h"

enum { ACC, G, COUNT };

static const char *const modes[] = { "add", "mean" };

static poprt_status accumulate_infer(prt_infer *c)
{
    const prt_accumulate_attrs *a = c->attrs;
    int64_t number;
    PRT_TRY(prt_update_word(c, "mode", a->mode, PRT_COUNT_OF(modes), modes));
    if (prt_str_is(a->mode, "mean"))
        PRT_TRY(prt_update_need(c, COUNT, true));
    if (prt_infer_has(c, COUNT))
        PRT_TRY(prt_infer_scalar(c, COUNT, &number));
    prt_infer sub = *c;
    sub.n_in = COUNT;
    return prt_update_infer(&sub, 1u << ACC | 1u << G, 0);
}

prt_accumulate_factors prt_accumulate_factors_of(const prt_eval *c)
{
    const prt_accumulate_attrs *a = c->attrs;
    const double count = prt_update_scalar(c, COUNT, 1.0);
    if (count == 0.0)
        return (prt_accumulate_factors){ .keep = 0.0, .add = 1.0 };
    if (!prt_str_is(a->mode, "mean"))
        return (prt_accumulate_factors){ .keep = 1.0, .add = 1.0 };
    return (prt_accumulate_factors){ .keep = count / (count + 1.0), .add = 1.0 / (count + 1.0) };
}

static poprt_status accumulate_eval(prt_eval *c)
{
    const prt_accumulate_factors f = prt_accumulate_factors_of(c);
    const prt_tensor *acc = c->in[ACC], *g = c->in[G];
    const size_t n = prt_tensor_count(acc);
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++) {
        const double add = f.add * prt_load_f64(g->dtype, g->data, i);
        const double kept = f.keep != 0.0 ? f.keep * prt_load_f64(acc->dtype, acc->data, i) : 0.0;
        prt_store_f64(acc->dtype, c->out[0]->data, i, kept + add);
    }
    return POPRT_OK;
}

static poprt_status assign_infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0], *value = &c->in[1];
    bool one = value->rank >= 0;
    int64_t dim;
    for (int32_t k = 0; k < value->rank; k++)
        one = one && value->dims[k] == 1;
    if (!one && x->rank >= 0 && value->rank >= 0) {
        if (x->rank != value->rank)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the value has rank %d and the variable %d; equal shapes or a value of one element "
                "are accepted",
                value->rank, x->rank);
        for (int32_t k = 0; k < x->rank; k++)
            PRT_TRY(prt_infer_merge(c, x->dims[k], value->dims[k], "a dim of the value", &dim));
    }
    return prt_infer_like(c, 0, 0, x->dtype);
}

static poprt_status assign_eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0], *value = c->in[1];
    const size_t n = prt_tensor_count(x), step = prt_tensor_count(value) != 1;
    const bool reals = prt_dtype_is_float(x->dtype) || prt_dtype_is_float(value->dtype);
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++) {
        if (x->dtype == value->dtype)
            prt_element_copy(x->dtype, c->out[0]->data, i, value->data, i * step, 1);
        else if (reals)
            prt_store_f64(x->dtype, c->out[0]->data, i,
                prt_load_f64(value->dtype, value->data, i * step));
        else
            prt_store_i64(x->dtype, c->out[0]->data, i,
                prt_load_i64(value->dtype, value->data, i * step));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_accumulate = { .infer = accumulate_infer, .eval = accumulate_eval };
const prt_op_hooks prt_op_assign = { .infer = assign_infer, .eval = assign_eval };
