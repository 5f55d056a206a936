/* SPDX-License-Identifier: MIT */
/*
 * forms.c — forms of operators that options choose:
 *
 *     Softmax, LogSoftmax    e / ReduceSum(e) with e = exp(x), which overflows for large x; the
 *                            logarithm of that
 *     GroupNormalization     of ai.graphcore: channels [C] seen as [C / G, G] change places with
 *                            [G, C / G] before the normalization and back after it
 */
#include "compiler/forms.h"

#include <string.h>

#include "base/list.h"
#include "ir/build.h"
#include "ir/extra.h"

bool prt_forms_are_any(const prt_forms *f)
{
    return f->non_stable_softmax || f->strided_groups || f->whole_products || *f->updatable != '\0';
}

/* ---- Softmax */

static prt_value *exponential_share(prt_build *b, prt_value *x, int64_t axis)
{
    prt_value *e = prt_build_unary(b, PRT_OP_exp, x);
    prt_value *sum = prt_build_binary(b, PRT_OP_reduce_sum, e, prt_build_i64s(b, 1, &axis));
    return prt_build_binary(b, PRT_OP_div, e, sum);
}

static poprt_status expand_softmax(prt_op *op)
{
    prt_build b = prt_build_before(op);
    const bool logarithm = prt_op_is(op, PRT_OP_log_softmax);
    int64_t axis = -1;
    if (prt_op_is(op, PRT_OP_softmax))
        axis = ((const prt_softmax_attrs *)op->attrs)->axis;
    else if (logarithm)
        axis = ((const prt_log_softmax_attrs *)op->attrs)->axis;
#ifndef PRT_NO_GRAPHCORE
    else
        axis = ((const prt_gc_softmax_v2_attrs *)op->attrs)->axis;
#endif
    prt_value *y = exponential_share(&b, prt_op_input(op, 0), axis);
    if (logarithm)
        y = prt_build_unary(&b, PRT_OP_log, y);
    PRT_TRY(prt_build_status(&b));
    prt_build_replace(&b, &op->out[0], y);
    return prt_build_status(&b);
}

/* ---- GroupNormalization */

#ifndef PRT_NO_GRAPHCORE
/* Reshapes to `shape`, swaps axes `axis` and `axis` + 1 of `rank`, and reshapes to `back`. */
static prt_value *swap_parts(prt_build *b, prt_value *x, prt_value *shape, int32_t rank,
    int32_t axis, prt_value *back)
{
    int64_t perm[4] = { 0, 1, 2, 3 };
    perm[axis] = axis + 1;
    perm[axis + 1] = axis;
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    PRT_ATTR_SET(attrs, transpose, perm, ((prt_i64s){ perm, (uint32_t)rank }));
    x = prt_build_binary(b, PRT_OP_reshape, x, shape);
    x = prt_build_op(b, PRT_OP_transpose, &attrs, 1, &x);
    return prt_build_binary(b, PRT_OP_reshape, x, back);
}

static poprt_status stride_groups(prt_op *op)
{
    const prt_gc_group_normalization_attrs *a = op->attrs;
    prt_value *x = prt_op_input(op, 0), *scale = prt_op_input(op, 1), *bias = prt_op_input(op, 2);
    const prt_type *type = x->type;
    const int64_t groups = a->num_groups;
    if (type->rank < 2 || !prt_dim_is_number(type->dims[1]) || groups < 1 ||
        type->dims[1] % groups != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "group_norm_strided_channel_grouping needs a known number of channels, a multiple of "
            "num_groups");
    const int64_t channels = type->dims[1], each = channels / groups;
    const int64_t outer[4] = { 0, each, groups, -1 }, inner[4] = { 0, groups, each, -1 };
    const int64_t flat[3] = { 0, channels, -1 }, one[2] = { each, groups }, all[1] = { channels };
    prt_build b = prt_build_before(op);
    prt_value *row = prt_build_i64s(&b, 2, one), *column = prt_build_i64s(&b, 1, all);
    prt_value *in[3] = { swap_parts(&b, x, prt_build_i64s(&b, 4, outer), 4, 1,
                             prt_build_i64s(&b, 3, flat)),
        swap_parts(&b, scale, row, 2, 0, column), swap_parts(&b, bias, row, 2, 0, column) };
    prt_op *now = prt_build_op_n(&b, PRT_OP_gc_group_normalization, a, 3, in, op->n_out);
    PRT_TRY(prt_build_status(&b));
    prt_value *y = swap_parts(&b, &now->out[0], prt_build_i64s(&b, 4, inner), 4, 1,
        prt_build_unary(&b, PRT_OP_shape, x));
    PRT_TRY(prt_build_status(&b));
    for (uint32_t i = op->n_out; i-- > 1;)
        prt_build_replace_uses(&b, &op->out[i], &now->out[i]);
    prt_build_replace(&b, &op->out[0], y);
    return prt_build_status(&b);
}
#endif

/* ---- products */

static poprt_status ignore_parts(prt_op *op)
{
    int64_t factor;
    return prt_op_mark_i64(op, "__serialize_matmul_factor", &factor)
        ? prt_op_set_mark_i64(op, "__serialize_matmul_factor", 1)
        : POPRT_OK;
}

static poprt_status apply_to_graph(const prt_forms *f, prt_graph *graph)
{
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(apply_to_graph(f, op->regions[i]));
        if (f->whole_products)
            PRT_TRY(ignore_parts(op));
        if (f->non_stable_softmax &&
            (prt_op_is(op, PRT_OP_softmax) || prt_op_is(op, PRT_OP_log_softmax)))
            PRT_TRY(expand_softmax(op));
#ifndef PRT_NO_GRAPHCORE
        else if (f->non_stable_softmax && prt_op_is(op, PRT_OP_gc_softmax_v2))
            PRT_TRY(expand_softmax(op));
        else if (f->strided_groups && prt_op_is(op, PRT_OP_gc_group_normalization))
            PRT_TRY(stride_groups(op));
#endif
    }
    return POPRT_OK;
}

/* ---- initializers that can be written */

static poprt_status free_named(prt_module *module, const char *list)
{
    prt_str name;
    while (prt_list_next(&list, &name)) {
        const prt_graph *g = module->main;
        prt_value *v = NULL;
        for (size_t i = 0; i < g->constants.count && v == NULL; i++)
            if (prt_str_equal(g->constants.data[i]->name, name))
                v = g->constants.data[i];
        if (v == NULL || v->initializer == PRT_INITIALIZER_none)
            return prt_fail(POPRT_E_NOT_FOUND, "updatable_named_buffers",
                "the model has no initializer '%.*s'", PRT_STR_ARG(name));
        if (v->variable != NULL)
            continue;
        if (!prt_value_may_be_free(v))
            return prt_fail(POPRT_E_UNSUPPORTED, "updatable_named_buffers",
                "'%.*s' cannot be written: accepted are floating-point tensors, those of 8-bit "
                "integers and int32 biases that decide no shapes",
                PRT_STR_ARG(name));
        if (prt_value_make_variable(v, PRT_VARIABLE_weight) == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

poprt_status prt_forms_apply(const prt_forms *forms, prt_module *module)
{
    PRT_TRY(apply_to_graph(forms, module->main));
    return free_named(module, forms->updatable);
}
