/* SPDX-License-Identifier: MIT */
/* update.c — checks and readers that the operators of training.def share. */
#include "op/training/update.h"

#include "op/check.h"

static bool is_set(uint32_t bits, uint32_t i)
{
    return (bits >> i & 1) != 0;
}

static poprt_status check_tensor(prt_infer *c, uint32_t i, uint32_t like)
{
    const prt_shape *x = &c->in[i], *w = &c->in[like];
    int64_t dim;
    if (x->rank < 0 || w->rank < 0)
        return POPRT_OK;
    if (x->rank != w->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u (%s) has rank %d; that of %s is %d", i,
            prt_slot_name(&c->def->in[i]), x->rank, prt_slot_name(&c->def->in[like]), w->rank);
    for (int32_t k = 0; k < x->rank; k++)
        PRT_TRY(prt_infer_merge(c, w->dims[k], x->dims[k], "a dim of a state or gradient", &dim));
    return POPRT_OK;
}

static poprt_status check_norm(const prt_infer *c, uint32_t i)
{
    if (prt_infer_ranked(c, i) && c->in[i].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u (%s) has rank %d; a norm has rank 1", i,
            prt_slot_name(&c->def->in[i]), c->in[i].rank);
    return POPRT_OK;
}

/* Fails unless input i is float64 exactly if input `like` is. */
static poprt_status check_width(const prt_infer *c, uint32_t i, uint32_t like)
{
    const int32_t a = c->in[like].dtype, b = c->in[i].dtype;
    if (a != PRT_DTYPE_undefined && b != PRT_DTYPE_undefined &&
        (a == PRT_DTYPE_f64) != (b == PRT_DTYPE_f64))
        return prt_infer_fail(c, POPRT_E_TYPE,
            "input %u (%s) is %s and %s is %s; either all inputs or none are float64", i,
            prt_slot_name(&c->def->in[i]), prt_dtype_of(b)->name, prt_slot_name(&c->def->in[like]),
            prt_dtype_of(a)->name);
    return POPRT_OK;
}

poprt_status prt_update_infer(prt_infer *c, uint32_t tensors, uint32_t norms)
{
    int64_t number;
    uint32_t first = 0;
    while (!is_set(tensors, first))
        first++;
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_infer_has(c, i))
            continue;
        if (is_set(norms, i)) {
            PRT_TRY(check_norm(c, i));
            continue;
        }
        if (is_set(tensors, i))
            PRT_TRY(check_tensor(c, i, first));
        else
            PRT_TRY(prt_infer_scalar(c, i, &number));
        PRT_TRY(check_width(c, i, first));
    }
    for (uint32_t i = 0; (c->def->traits & PRT_UPDATES) != 0 && i < c->n_out; i++)
        if (prt_infer_has(c, i))
            PRT_TRY(prt_infer_like(c, i, i, c->in[i].dtype));
    return POPRT_OK;
}

poprt_status prt_update_infer_norm(prt_infer *c, uint32_t i, uint32_t like)
{
    int64_t blocks = PRT_DIM_UNKNOWN;
    if (prt_infer_ranked(c, like)) {
        const uint32_t rank = (uint32_t)c->in[like].rank;
        const int64_t n = prt_infer_product(c, c->in[like].dims, 0, rank);
        if (prt_dim_is_number(n))
            blocks = (int64_t)prt_norm_blocks((size_t)n);
    }
    return prt_infer_set(c, i, PRT_DTYPE_f64, 1, &blocks);
}

uint32_t prt_update_word_index(prt_str value, uint32_t count, const char *const *words)
{
    uint32_t i = 0;
    while (i < count && !prt_str_is(value, words[i]))
        i++;
    return i;
}

poprt_status prt_update_word(const prt_infer *c, const char *attr, prt_str value, uint32_t count,
    const char *const *words)
{
    char accepted[128] = "";
    size_t at = 0;
    if (prt_update_word_index(value, count, words) < count)
        return POPRT_OK;
    for (uint32_t i = 0; i < count; i++) {
        const size_t size = strlen(words[i]);
        if (at + size + 3 > sizeof(accepted))
            break;
        if (i != 0) {
            memcpy(accepted + at, ", ", 2);
            at += 2;
        }
        memcpy(accepted + at, words[i], size);
        at += size;
    }
    accepted[at] = '\0';
    return prt_infer_fail(c, POPRT_E_ARG, "%s '%.*s' is not known; accepted: %s", attr,
        PRT_STR_ARG(value), accepted);
}

poprt_status prt_update_need(const prt_infer *c, uint32_t i, bool needed)
{
    if (prt_infer_has(c, i) == needed)
        return POPRT_OK;
    return prt_infer_fail(c, POPRT_E_ARG,
        needed ? "input %u (%s) is missing; these attributes need it"
               : "input %u (%s) is not used with these attributes; it must be absent",
        i, prt_slot_name(&c->def->in[i]));
}

double prt_update_scalar(const prt_eval *c, uint32_t i, double absent)
{
    return prt_eval_has(c, i) ? prt_load_f64(c->in[i]->dtype, c->in[i]->data, 0) : absent;
}

double prt_norm_sum(const prt_tensor *squares)
{
    const size_t n = prt_tensor_count(squares);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += prt_load_f64(PRT_DTYPE_f64, squares->data, i);
    return sum;
}
