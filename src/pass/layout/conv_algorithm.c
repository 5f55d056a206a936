/* SPDX-License-Identifier: MIT */
/* conv_algorithm.c — choices between algorithms of convolutions, as candidates that an autotuner
 * can time. */
#include "pass/layout/conv_algorithm.h"

#include <stdio.h>

#include "pass/engine/candidates.h"
#include "pass/engine/choices.h"

/* Reads a type whose dims are numbers; an unknown batch counts as one. */
static bool read_type(const prt_value *v, prt_tensor *to)
{
    *to = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    if (v == NULL)
        return true;
    if (!prt_type_is_tensor(v->type) || v->type->rank < 0 || v->type->rank > PRT_MAX_RANK)
        return false;
    int64_t dims[PRT_MAX_RANK];
    for (int32_t i = 0; i < v->type->rank; i++) {
        dims[i] = v->type->dims[i];
        if (i == 0 && !prt_dim_is_number(dims[i]))
            dims[i] = 1;
        if (!prt_dim_is_number(dims[i]))
            return false;
    }
    return prt_tensor_init(to, v->type->dtype, (uint32_t)v->type->rank, dims, NULL);
}

/* Moves the channels from the second to the last dim. */
static void channels_to_last(prt_tensor *t)
{
    if (t->kind == PRT_VALUE_ABSENT)
        return;
    const int64_t channels = t->dims[1];
    for (uint32_t i = 2; i < t->rank; i++)
        t->dims[i - 1] = t->dims[i];
    t->dims[t->rank - 1] = channels;
}

/* Appends text to the key; text beyond its size is cut off. */
static void append(prt_candidates *c, const char *text)
{
    const size_t used = strlen(c->key);
    (void)snprintf(c->key + used, sizeof(c->key) - used, "%s", text);
}

static void append_numbers(prt_candidates *c, const char *before, uint32_t n,
    const int64_t *numbers)
{
    char text[32];
    append(c, before);
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(text, sizeof(text), i != 0 ? "x%lld" : "%lld", (long long)numbers[i]);
        append(c, text);
    }
}

static void append_list(prt_candidates *c, const char *before, const prt_i64s *list)
{
    if (list->count != 0)
        append_numbers(c, before, list->count, list->data);
}

/* Appends all parameters of a convolution except its algorithm. */
static void append_conv(prt_candidates *c, const prt_nhwc_conv_attrs *a,
    const prt_candidate_step *s)
{
    const int64_t sizes[3] = { a->group, a->channels, a->filters };
    char text[64];
    append_numbers(c, ":", 3, sizes);
    append_list(c, ":k", &a->kernel_shape);
    append_list(c, ":s", &a->strides);
    append_list(c, ":p", &a->pads);
    append_list(c, ":d", &a->dilations);
    const prt_str act =
        a->activation != PRT_ACT_none ? prt_attr_text(PRT_ATTR_act, &a->activation) : PRT_STR("-");
    const bool bias = s->n_in > 2 && s->in[2].kind != PRT_VALUE_ABSENT;
    const bool residual = s->n_in > 3 && s->in[3].kind != PRT_VALUE_ABSENT;
    (void)snprintf(text, sizeof(text), ":%s%s%s", act.data, bias ? ":b" : "", residual ? ":r" : "");
    append(c, text);
}

static uint32_t ask_chooser(const prt_pass *p, const prt_candidates *c)
{
    const uint32_t candidate = p->chooser->choose(p->chooser->user, c);
    PRT_ASSERT(candidate < c->n_candidates);
    return candidate;
}

bool prt_conv_algorithm_allowed(const prt_pass *p, prt_nhwc_algorithm algorithm)
{
    const int most = prt_pass_choice(p, "winograd");
    if (prt_nhwc_points(algorithm) == 0)
        return true;
    if (algorithm == PRT_NHWC_winograd2)
        return most != PRT_TILES_off;
    if (algorithm == PRT_NHWC_winograd6)
        return most == PRT_TILES_largest;
    return most != PRT_TILES_off && most != PRT_TILES_small;
}

bool prt_conv_algorithm_bf16x3(const prt_pass *p, const prt_nhwc_weights *w)
{
    return prt_pass_choice(p, "winograd") == PRT_TILES_split && w->group == 1 &&
        w->channels >= PRT_NHWC_BF16X3_CHANNELS && w->filters >= PRT_NHWC_BF16X3_FILTERS;
}

bool prt_conv_algorithm_transform(prt_pass *p, prt_nhwc_weights w, bool record)
{
    size_t plain, count;
    prt_nhwc_weights panels = w;
    panels.algorithm = PRT_NHWC_panels;
    panels.transformed = false;
    if (prt_nhwc_points(w.algorithm) == 0 || !prt_nhwc_weights_size(&panels, &plain))
        return false;
    w.transformed = true;
    if (!prt_nhwc_weights_size(&w, &count))
        return false;
    const uint64_t more = (uint64_t)(count - plain) * sizeof(float);
    const double percent = (double)prt_pass_i64(p, "winograd_growth");
    const double most = (double)prt_pass_constants(p) * percent / 100.0;
    if ((double)p->grown + (double)more > most)
        return false;
    p->grown += record ? more : 0;
    return true;
}

static bool read_inputs(const prt_op *op, prt_candidate_step *s)
{
    for (uint32_t i = 0; i < 4; i++) {
        if (i == 1)
            continue;
        if (!read_type(prt_op_input(op, i), &s->in[i]))
            return false;
        if (s->in[i].kind != PRT_VALUE_ABSENT)
            s->n_in = i + 1;
        if (i != 2)
            channels_to_last(&s->in[i]);
    }
    return true;
}

prt_nhwc_algorithm prt_conv_algorithm_of_conv(prt_pass *p, const prt_op *op,
    const prt_nhwc_conv_attrs *attrs, const prt_nhwc_weights *weights, bool close)
{
    static const prt_nhwc_algorithm all[] = { PRT_NHWC_panels, PRT_NHWC_winograd,
        PRT_NHWC_winograd2, PRT_NHWC_winograd5, PRT_NHWC_winograd6, PRT_NHWC_winograd_line };
    _Static_assert(PRT_COUNT_OF(all) <= PRT_CANDIDATES_MAX, "every algorithm may be a candidate");
    prt_nhwc_algorithm algorithms[PRT_CANDIDATES_MAX];
    prt_nhwc_conv_attrs attrs_of_candidate[PRT_CANDIDATES_MAX];
    prt_candidate_step common = { .op = PRT_OP_nhwc_conv, .n_in = 2 };
    prt_tensor y;
    if (p->chooser == NULL || prt_conv_algorithm_bf16x3(p, weights) || !read_inputs(op, &common) ||
        !read_type(&op->out[0], &y) || prt_tensor_count(&y) == 0)
        return weights->algorithm;
    prt_candidates c = { .key = "conv",
        .label = prt_str_of(prt_op_label(op)),
        .close = close,
        .work = (double)prt_tensor_count(&y) * (double)(weights->taps * weights->channels) };
    append_numbers(&c, ":", 4, common.in[0].dims);
    append_conv(&c, attrs, &common);
    for (uint32_t k = 0; k < PRT_COUNT_OF(all); k++) {
        const uint32_t i = c.n_candidates;
        prt_nhwc_weights w = *weights;
        size_t count;
        w.algorithm = all[k];
        w.transformed =
            prt_i64s_are(attrs->strides, 1) && prt_conv_algorithm_transform(p, w, false);
        if (!prt_conv_algorithm_allowed(p, all[k]) || !prt_nhwc_fits(attrs, &w) ||
            (all[k] == PRT_NHWC_winograd5 && !w.transformed))
            continue;
        prt_candidate_step *step = &c.list[i].steps[0];
        algorithms[i] = all[k];
        attrs_of_candidate[i] = *attrs;
        attrs_of_candidate[i].transformed = w.transformed;
        attrs_of_candidate[i].form = (int32_t)algorithms[i];
        if (!prt_nhwc_weights_size(&w, &count))
            return weights->algorithm;
        *step = common;
        step->attrs = &attrs_of_candidate[i];
        const int64_t dim = (int64_t)count;
        (void)prt_tensor_init(&step->in[1], PRT_DTYPE_f32, 1, &dim, NULL);
        c.list[i].name = prt_attr_text(PRT_ATTR_form, &attrs_of_candidate[i].form).data;
        c.list[i].n_steps = 1;
        if (algorithms[i] == weights->algorithm)
            c.rule = i;
        c.n_candidates++;
    }
    return c.n_candidates > 1 ? algorithms[ask_chooser(p, &c)] : weights->algorithm;
}

/* Reads an NhwcConv as a step of a candidate. */
static bool read_step(const prt_op *op, prt_candidate_step *s)
{
    *s = (prt_candidate_step){ .op = op->def->id, .attrs = op->attrs, .n_in = op->n_in };
    if (op->n_in > PRT_CANDIDATE_INPUTS)
        return false;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!read_type(prt_op_input(op, i), &s->in[i]))
            return false;
    return true;
}

bool prt_conv_algorithm_of_separable(const prt_pass *p, const prt_op *const parts[3],
    const prt_nhwc_separable_attrs *attrs, uint32_t n_in, prt_value *const *in, bool rule,
    bool close)
{
    prt_candidates c = { .key = "separable",
        .label = prt_str_of(prt_op_label(parts[1])),
        .n_candidates = 2,
        .close = close,
        .rule = rule ? 1 : 0 };
    prt_candidate *separate = &c.list[0], *fused = &c.list[1];
    prt_candidate_step *whole = &fused->steps[0];
    if (p->chooser == NULL)
        return rule;
    separate->name = "apart";
    for (uint32_t i = 0; i < 3; i++) {
        prt_candidate_step *step = &separate->steps[separate->n_steps];
        prt_tensor y;
        if (parts[i] == NULL)
            continue;
        if (!read_step(parts[i], step) || !read_type(&parts[i]->out[0], &y))
            return rule;
        const prt_nhwc_conv_attrs *a = parts[i]->attrs;
        if (separate->n_steps++ == 0)
            append_numbers(&c, ":", 4, step->in[0].dims);
        append_conv(&c, a, step);
        c.work += (double)prt_tensor_count(&y) * (double)a->channels *
            (double)prt_dims_product(a->kernel_shape.data, 0, a->kernel_shape.count);
    }
    fused->name = "fused";
    fused->n_steps = 1;
    *whole = (prt_candidate_step){ .op = PRT_OP_nhwc_separable, .attrs = attrs, .n_in = n_in };
    for (uint32_t i = 0; i < n_in; i++)
        if (!read_type(in[i], &whole->in[i]))
            return rule;
    return ask_chooser(p, &c) == 1;
}
