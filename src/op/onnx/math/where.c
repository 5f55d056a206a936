/* SPDX-License-Identifier: MIT */
/* where.c — Where: elements of X where the condition is true, else of Y; any element type. */
#include "op/share/broadcast.h"
#include "op/content.h"

static int64_t known(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    if (in[0] == 0)
        return in[2];
    if (in[0] == 1 || in[1] == in[2])
        return in[1];
    /* y + c*(x-y): the condition is 0 or 1 */
    return prt_dim_add(c->dims, in[2],
        prt_dim_mul(c->dims, in[0], prt_dim_sub(c->dims, in[1], in[2])));
}

static poprt_status infer(prt_infer *c)
{
    PRT_TRY(prt_infer_nary(c));
    return prt_known_map(c, known);
}

/* Copies the characters of the output strings, because the inputs may be freed before the output
 * is read. */
static poprt_status copy_characters(prt_eval *c)
{
    poprt_string *s = c->out[0]->data;
    const size_t n = prt_tensor_count(c->out[0]);
    for (size_t i = 0; i < n; i++) {
        char *text = c->host->alloc(c, 0, s[i].size + 1);
        if (text == NULL)
            return POPRT_E_NOMEM;
        if (s[i].size != 0)
            memcpy(text, s[i].data, s[i].size);
        s[i].data = text;
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const uint8_t *condition = c->in[0]->data;
    const size_t size = prt_dtype_bits(y->dtype) % 8 == 0 ? prt_dtype_bits(y->dtype) / 8 : 0;
    prt_rows r;
    prt_rows_init(&r, y, 3, c->in);
    while (prt_rows_next(&r))
        for (size_t i = 0; i < r.count; i++) {
            const uint32_t k = condition[r.from[0] + i * r.step[0]] != 0 ? 1 : 2;
            const size_t from = r.from[k] + i * r.step[k];
            if (size == 4)
                ((uint32_t *)y->data)[r.to + i] = ((const uint32_t *)c->in[k]->data)[from];
            else
                prt_element_copy(y->dtype, y->data, r.to + i, c->in[k]->data, from, 1);
        }
    return y->dtype == PRT_DTYPE_string ? copy_characters(c) : POPRT_OK;
}

const prt_op_hooks prt_op_where = { .infer = infer, .eval = eval };
