/* SPDX-License-Identifier: MIT */
/* optional.c — Optional, OptionalHasElement, OptionalGetElement. */
#include "op/share/type_wrap.h"
#include "op/op.h"

/* ---- Optional: holds its input or, without an input, nothing of the type in `type` ---- */

static poprt_status optional_infer(prt_infer *c)
{
    const prt_optional_attrs *a = c->attrs;
    prt_shape elem = prt_shape_open(PRT_DTYPE_undefined);
    if (prt_infer_has(c, 0))
        elem = c->in[0];
    else if (a->type != NULL) {
        const prt_shape holder = { .kind = PRT_VALUE_OPTIONAL, .elem = a->type };
        elem = prt_type_wrap_elem(&holder);
    } else {
        return prt_infer_fail(c, POPRT_E_PARSE,
            "either an input or the attribute type is required");
    }
    return prt_type_wrap_set(c, 0, PRT_VALUE_OPTIONAL, &elem);
}

static poprt_status optional_eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const prt_tensor *x = prt_eval_has(c, 0) ? c->in[0] : NULL;
    *y = (prt_tensor){ .kind = PRT_VALUE_OPTIONAL, .dtype = x != NULL ? x->dtype : y->dtype };
    if (x == NULL)
        return POPRT_OK;
    y->items = c->host->alloc(c, 0, sizeof(prt_tensor));
    if (y->items == NULL)
        return POPRT_E_NOMEM;
    y->count = 1;
    return prt_eval_copy_item(c, 0, x, y->items);
}

/* ---- OptionalHasElement: true for values that are not optionals ---- */

static poprt_status has_infer(prt_infer *c)
{
    return prt_infer_set(c, 0, PRT_DTYPE_bool, 0, NULL);
}

static poprt_status has_eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const prt_tensor *x = prt_eval_has(c, 0) ? c->in[0] : NULL;
    const bool there = x != NULL && (x->kind != PRT_VALUE_OPTIONAL || x->count != 0);
    *(unsigned char *)c->out[0]->data = there;
    return POPRT_OK;
}

/* ---- OptionalGetElement ---- */

static poprt_status get_infer(prt_infer *c)
{
    const prt_shape elem =
        c->in[0].kind == PRT_VALUE_OPTIONAL ? prt_type_wrap_elem(&c->in[0]) : c->in[0];
    prt_type_wrap_copy(c, 0, &elem);
    return POPRT_OK;
}

static poprt_status get_eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    if (x->kind != PRT_VALUE_OPTIONAL)
        return prt_eval_copy(c, 0, x);
    if (x->count == 0)
        return prt_eval_fail(c, POPRT_E_ARG, "the optional has no element");
    return prt_eval_copy(c, 0, x->items);
}

const prt_op_hooks prt_op_optional = { .infer = optional_infer, .eval = optional_eval };
const prt_op_hooks prt_op_optional_has_element = { .infer = has_infer, .eval = has_eval };
const prt_op_hooks prt_op_optional_get_element = { .infer = get_infer, .eval = get_eval };
