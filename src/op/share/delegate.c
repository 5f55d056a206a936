/* SPDX-License-Identifier: MIT */
/* delegate.c — contexts for running one operator inside another one. */
#include "op/share/delegate.h"

poprt_status prt_delegate_infer(prt_infer *c, uint32_t id, const void *attrs, uint32_t n_in,
    const prt_shape *in, const prt_tensor *const *value, uint32_t n_out, prt_shape *out)
{
    const size_t n = (size_t)n_in + n_out;
    const prt_tensor **values = PRT_NEW_N(c->scratch, const prt_tensor *, n);
    prt_content *content = PRT_NEW_N(c->scratch, prt_content, n);
    if (values == NULL || content == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        values[i] = value != NULL && i < n_in ? value[i] : NULL;
        content[i] = (prt_content){ .count = 0 };
    }
    for (uint32_t i = 0; i < n_out; i++)
        out[i] = (prt_shape){ .kind = PRT_VALUE_UNKNOWN, .rank = PRT_RANK_UNKNOWN };
    prt_infer sub = *c;
    sub.def = prt_op_of(id);
    sub.attrs = attrs;
    sub.n_in = n_in;
    sub.n_out = n_out;
    sub.in = in;
    sub.value = values;
    sub.content = content;
    sub.out = out;
    sub.out_content = content + n_in;
    return sub.def->hooks->infer(&sub);
}

poprt_status prt_delegate_eval(prt_eval *c, uint32_t id, const void *attrs, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *const *out)
{
    prt_eval sub = *c;
    sub.def = prt_op_of(id);
    sub.attrs = attrs;
    sub.n_in = n_in;
    sub.n_out = n_out;
    sub.in = in;
    sub.out = out;
    return sub.def->hooks->eval(&sub);
}

poprt_status prt_delegate_tensor(prt_eval *c, int32_t dtype, uint32_t rank, const int64_t *dims,
    prt_tensor *to)
{
    if (!prt_tensor_init(to, dtype, rank, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "an intermediate tensor is too large");
    to->data = prt_eval_scratch(c, to->size != 0 ? to->size : 1, 1);
    return to->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}
