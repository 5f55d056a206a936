/* SPDX-License-Identifier: MIT */
/*
 * compare.c — check_with_fake_data and layer_precision_compare: run the model as it was before the
 * passes and the present one on the same data.
 *
 * The model before is `origin` of prt_pass: set through the manager, or a clone made when the
 * manager started. check_with_fake_data compares the outputs. It fails if one differs by more than
 * `tolerance` of its largest element, or if no output could be compared. layer_precision_compare
 * runs one batch of the feed and writes precision_compare.log: the results of every Conv, MatMul
 * and Gemm whose value still has its name. If it cannot run (a custom operator, changed inputs), it
 * warns.
 */
#include <math.h>
#include <stdio.h>

#include "base/report.h"
#include "pass/precision/feed.h"
#include "pass/precision/fp8.h"
#include "pass/precision/log_text.h"

enum { BINS = 32 };

/* ---- running both models on one batch */

typedef struct pair {
    prt_pass *p;
    prt_module *before, *after; /* clones, or the models themselves */
    prt_arena *arena;
    prt_tensor *x, *y; /* outputs of `before` and `after` */
} pair;

static poprt_status run_pair(pair *c)
{
    prt_feed feed = { .n_arrays = 0 };
    if (c->p->feed != NULL)
        feed = *c->p->feed;
    feed.shapes = c->p->module;
    PRT_TRY(prt_feed_open(&feed, c->p->origin));
    const size_t batch = feed.batches / 2;
    c->x = PRT_NEW_N(c->arena, prt_tensor, (size_t)c->before->main->ret->n_in + 1);
    c->y = PRT_NEW_N(c->arena, prt_tensor, (size_t)c->after->main->ret->n_in + 1);
    if (c->x == NULL || c->y == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_pass_progress(c->p, "compare", 0, 2));
    PRT_TRY(prt_feed_batch(&feed, c->before, batch, c->x, c->arena));
    PRT_TRY(prt_pass_progress(c->p, "compare", 1, 2));
    return prt_feed_batch(&feed, c->after, batch, c->y, c->arena);
}

/* Turns a failure that concerns the comparison alone into a warning, so that the passes
 * continue. */
static poprt_status warn_instead(const prt_pass *p, poprt_status status)
{
    if (status == POPRT_OK || status == POPRT_E_NOMEM || status == POPRT_E_CANCELLED)
        return status;
    prt_pass_warn(p, prt_error_last()->subject, "not compared: %s", prt_error_last()->message);
    return POPRT_OK;
}

static bool alike(const prt_tensor *x, const prt_tensor *y)
{
    return x->kind == PRT_VALUE_TENSOR && y->kind == PRT_VALUE_TENSOR && x->rank == y->rank &&
        memcmp(x->dims, y->dims, x->rank * sizeof(int64_t)) == 0 &&
        (x->dtype == PRT_DTYPE_string) == (y->dtype == PRT_DTYPE_string);
}

/* ---- check_with_fake_data */

static poprt_status check_numbers(const prt_pass *p, const char *name, const prt_tensor *x,
    const prt_tensor *y)
{
    const double tolerance = prt_pass_f64(p, "tolerance");
    double largest = 0, worst = 0;
    size_t odd = 0;
    for (size_t i = 0; i < prt_tensor_count(x); i++) {
        const double a = prt_load_f64(x->dtype, x->data, i), b = prt_load_f64(y->dtype, y->data, i);
        if (isfinite(a) && isfinite(b)) {
            largest = fmax(largest, fabs(a));
            worst = fmax(worst, fabs(a - b));
        } else if (!(a == b || (isnan(a) && isnan(b)))) {
            odd++;
        }
    }
    if (odd != 0)
        return prt_fail(POPRT_E_LIMIT, name,
            "output %s differs: %zu elements are infinite or NaN in one of the models alone", name,
            odd);
    if (worst > tolerance * largest)
        return prt_fail(POPRT_E_LIMIT, name,
            "output %s differs by %.3g; its largest element is %.3g, and %g of that is allowed",
            name, worst, largest, tolerance);
    prt_pass_note(p, name, "output %s is the same within %.3g of %.3g", name, worst, largest);
    return POPRT_OK;
}

static uint32_t find_output(const prt_graph *g, prt_str name)
{
    uint32_t i = 0;
    while (i < g->output_names.count && !prt_str_equal(g->output_names.data[i], name))
        i++;
    return i;
}

static poprt_status check_output(const pair *c, uint32_t i, uint32_t k)
{
    const char *name = c->before->main->output_names.data[i].data;
    if (!alike(&c->x[i], &c->y[k]))
        return prt_fail(POPRT_E_SHAPE, name,
            "output %s has another kind or shape than before the passes", name);
    return c->x[i].dtype != PRT_DTYPE_string ? check_numbers(c->p, name, &c->x[i], &c->y[k])
                                             : POPRT_OK;
}

/* Compares all outputs that both models have; reports each that differs. */
static poprt_status check_outputs(const pair *c)
{
    const prt_graph *before = c->before->main, *after = c->after->main;
    prt_report all = { .status = POPRT_OK };
    uint32_t compared = 0;
    for (uint32_t i = 0; i < before->ret->n_in; i++) {
        const char *name = before->output_names.data[i].data;
        const uint32_t k = find_output(after, before->output_names.data[i]);
        if (k == after->ret->n_in) {
            prt_pass_note(c->p, name, "output %s does not exist any more", name);
            continue;
        }
        if (c->x[i].kind != PRT_VALUE_TENSOR && c->x[i].kind == c->y[k].kind) {
            prt_pass_note(c->p, name, "output %s is not compared: it is not a tensor", name);
            continue;
        }
        compared++;
        const poprt_status status = check_output(c, i, k);
        if (status != POPRT_OK)
            prt_report_add(&all, status);
    }
    PRT_TRY(prt_report_end(&all));
    return compared != 0 ? POPRT_OK
                         : prt_fail(POPRT_E_UNSUPPORTED, NULL,
                               "nothing could be compared: no tensor is an output of the model "
                               "before the passes and of the one after them");
}

/* If the models cannot run, the check fails. */
static poprt_status fail_unrun(poprt_status status)
{
    if (status == POPRT_OK || status == POPRT_E_NOMEM || status == POPRT_E_CANCELLED)
        return status;
    char why[512], subject[128];
    (void)snprintf(why, sizeof(why), "%s", prt_error_last()->message);
    (void)snprintf(subject, sizeof(subject), "%s", prt_error_last()->subject);
    return prt_fail(POPRT_E_UNSUPPORTED, subject, "nothing could be compared: %s", why);
}

static poprt_status run_check(prt_pass *p, prt_graph *graph, bool *changed)
{
    pair c = { .p = p,
        .after = p->module,
        .arena = p->arena,
        .before = (prt_module *)(uintptr_t)p->origin };
    (void)graph;
    (void)changed;
    if (p->origin == NULL)
        return POPRT_OK;
    PRT_TRY(fail_unrun(run_pair(&c)));
    return check_outputs(&c);
}

/* ---- layer_precision_compare */

typedef struct tap {
    const char *node;
    prt_str value;
} tap;

typedef PRT_VEC(tap) tap_list;

static prt_value *value_of(const prt_module *m, prt_str name)
{
    prt_value *v = prt_map_find(&m->names, name);
    return v != NULL && prt_str_equal(v->name, name) && v->graph == m->main && v->def != NULL &&
            !v->def->dead && prt_type_is_tensor(v->type)
        ? v
        : NULL;
}

static poprt_status find_taps(const prt_pass *p, tap_list *taps)
{
    prt_for_each_op (op, p->origin->main) {
        const tap t = { prt_op_label(op), op->out != NULL ? op->out[0].name : PRT_STR("") };
        if (!prt_fp8_is_layer(op) || t.value.size == 0)
            continue;
        if (value_of(p->module, t.value) == NULL)
            prt_pass_note(p, t.node, "%s is not compared: its value does not exist any more",
                t.node);
        else if (!PRT_VEC_PUSH(p->arena, taps, t))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Clones the module, with the values of `taps` as its outputs. */
static poprt_status clone_tapped(const prt_pass *p, const prt_module *m, const tap_list *taps,
    prt_module **out)
{
    prt_value **values = PRT_NEW_N(p->arena, prt_value *, taps->count + 1);
    prt_str *names = PRT_NEW_N(p->arena, prt_str, taps->count + 1);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_ir_clone(m, out));
    for (size_t i = 0; i < taps->count; i++) {
        names[i] = taps->data[i].value;
        values[i] = value_of(*out, names[i]);
    }
    return prt_graph_set_outputs((*out)->main, (uint32_t)taps->count, values, names);
}

static void put_stats(prt_log_text *to, const char *what, const double *x, size_t n)
{
    prt_moments m = { 0 };
    uint64_t bins[BINS] = { 0 };
    for (size_t i = 0; i < n; i++)
        prt_moments_add(&m, x[i]);
    const double width = (m.most - m.least) / BINS;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            const double at = width > 0 ? (x[i] - m.least) / width : 0;
            bins[at < BINS ? (uint32_t)at : BINS - 1]++;
        }
    prt_log_text_add_literal(to, what);
    prt_log_text_add_field(to, "mean", prt_moments_mean(&m));
    prt_log_text_add_field(to, "std", sqrt(prt_moments_variance(&m)));
    prt_log_text_add_field(to, "min", m.least);
    prt_log_text_add_field(to, "max", m.most);
    prt_log_text_add_field(to, "skewness", prt_moments_skewness(&m));
    prt_log_text_add_field(to, "kurtosis", prt_moments_kurtosis(&m));
    prt_log_text_add_literal(to, "\n    histogram");
    for (uint32_t i = 0; i < BINS; i++) {
        char text[24];
        (void)snprintf(text, sizeof(text), " %llu", (unsigned long long)bins[i]);
        prt_log_text_add_literal(to, text);
    }
    prt_log_text_add_literal(to, "\n");
}

static poprt_status put_layer(const prt_pass *p, const tap *t, const prt_tensor *x,
    const prt_tensor *y, prt_log_text *to)
{
    const size_t n = prt_tensor_count(x);
    double *a = PRT_NEW_N(p->arena, double, n + 1), *b = PRT_NEW_N(p->arena, double, n + 1);
    double *e = PRT_NEW_N(p->arena, double, n + 1);
    prt_distance d = { 0 };
    if (a == NULL || b == NULL || e == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        a[i] = prt_load_f64(x->dtype, x->data, i);
        b[i] = prt_load_f64(y->dtype, y->data, i);
        e[i] = a[i] - b[i];
        if (isfinite(a[i]) && isfinite(b[i]))
            prt_distance_add(&d, 1, &a[i], &b[i]);
    }
    prt_log_text_add_literal(to, t->node);
    prt_log_text_add_literal(to, ":");
    prt_log_text_add_field(to, "cos_dist", prt_distance_cos(&d));
    prt_log_text_add_field(to, "mse", prt_distance_mse(&d));
    prt_log_text_add_field(to, "mae", prt_distance_mae(&d));
    prt_log_text_add_field(to, "snr", prt_distance_snr(&d));
    prt_log_text_add_literal(to, "\n");
    put_stats(to, "  original:", a, n);
    put_stats(to, "  quantized:", b, n);
    put_stats(to, "  error:", e, n);
    return POPRT_OK;
}

static poprt_status compare_layers(pair *c, const tap_list *taps, prt_log_text *lines)
{
    PRT_TRY(clone_tapped(c->p, c->p->origin, taps, &c->before));
    PRT_TRY(clone_tapped(c->p, c->p->module, taps, &c->after));
    PRT_TRY(run_pair(c));
    for (size_t i = 0; i < taps->count; i++) {
        const tap *t = &taps->data[i];
        if (alike(&c->x[i], &c->y[i]))
            PRT_TRY(put_layer(c->p, t, &c->x[i], &c->y[i], lines));
        else
            prt_pass_warn(c->p, t->node, "%s is not compared: its shape has changed", t->node);
    }
    return POPRT_OK;
}

static poprt_status run_layers(prt_pass *p, prt_graph *graph, bool *changed)
{
    pair c = { .p = p, .arena = p->arena };
    prt_log_text lines = { .arena = p->arena };
    tap_list taps = { 0 };
    (void)graph;
    (void)changed;
    if (p->origin == NULL)
        return POPRT_OK;
    PRT_TRY(find_taps(p, &taps));
    const poprt_status status = warn_instead(p, compare_layers(&c, &taps, &lines));
    if (c.before != NULL)
        prt_module_release(c.before);
    if (c.after != NULL)
        prt_module_release(c.after);
    PRT_TRY(status);
    return prt_log_text_write(&lines, p->module->allocator, prt_pass_text(p, "output_dir"),
        "precision_compare.log");
}

const prt_pass_hooks prt_pass_check_with_fake_data = { .run = run_check,
    .compares = PRT_COMPARES_LIST };
const prt_pass_hooks prt_pass_layer_precision_compare = { .run = run_layers,
    .compares = PRT_COMPARES_STAGE };
