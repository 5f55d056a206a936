/* SPDX-License-Identifier: MIT */
/*
 * calibrate.c — searches codes for the weights, then for the inputs of all layers. A clone of the
 * model returns the inputs of its layers as outputs and runs on the samples once, and once before
 * that for losses that need the range of the numbers. Only sums of a batch are kept.
 */
#include "pass/precision/calibrate.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/list.h"
#include "pass/engine/manager.h"
#include "pass/precision/gptq.h"
#include "pass/precision/log_text.h"

typedef struct layer {
    prt_op *op;
    uint32_t output;            /* output of the clone that is input 0 of the layer */
    prt_search *weight, *input; /* NULL: not searched */
    prt_gptq *gptq;
    uint32_t weight_best, input_best;
    double loss;
    bool kept;
} layer;

typedef struct calibrator {
    const prt_calibrate *how;
    prt_module *module;
    prt_arena *arena;
    PRT_VEC(layer) layers;
    prt_log_text log;
    /* progress in steps: the weight of a layer, a batch, the result of a layer */
    uint64_t done, total;
} calibrator;

/* Reports the start of a step. */
static poprt_status step(calibrator *c)
{
    if (c->how->pass == NULL)
        return POPRT_OK;
    PRT_TRY(prt_pass_progress(c->how->pass, "calibrate", c->done, c->total));
    c->done++;
    return POPRT_OK;
}

/* ---- layers */

static poprt_status name_nodes(prt_module *m)
{
    prt_pass_manager *pm = NULL;
    PRT_TRY(prt_pass_manager_create(m->allocator, &pm));
    poprt_status status = prt_pass_manager_add(pm, "unique_name_for_nodes", 0, NULL);
    if (status == POPRT_OK)
        status = prt_pass_manager_run(pm, m, NULL);
    prt_pass_manager_release(pm);
    return status;
}

bool prt_calibrate_lists(const char *list, prt_str item)
{
    prt_str other;
    while (list != NULL && prt_list_next(&list, &other))
        if (prt_str_equal(other, item))
            return true;
    return false;
}

static bool is_layer(const calibrator *c, const prt_op *op)
{
    prt_tensor t;
    return prt_fp8_is_layer(op) && prt_fp8_weight(op, &t) &&
        !prt_calibrate_lists(c->how->skip, op->origin) &&
        (!prt_op_is(op, PRT_OP_conv) || ((const prt_conv_attrs *)op->attrs)->group == 1);
}

static poprt_status find_layers(calibrator *c, const prt_feed *feed)
{
    prt_for_each_op (op, c->module->main) {
        layer l = { .op = op };
        if (!is_layer(c, op))
            continue;
        l.weight = prt_search_create(c->arena, c->how->loss, c->how->weight);
        if (!c->how->weights_only)
            l.input = prt_search_create(c->arena, c->how->loss, c->how->input);
        if (l.weight == NULL || (!c->how->weights_only && l.input == NULL))
            return POPRT_E_NOMEM;
        if (c->how->loss == PRT_LOSS_gptq)
            PRT_TRY(prt_gptq_create(c->arena, op, feed->batches, &l.gptq));
        if (!PRT_VEC_PUSH(c->arena, &c->layers, l))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status try_weights(calibrator *c)
{
    for (size_t i = 0; i < c->layers.count; i++) {
        layer *l = &c->layers.data[i];
        prt_tensor t;
        PRT_TRY(step(c));
        (void)prt_fp8_weight(l->op, &t);
        if (prt_search_needs_range(l->weight))
            prt_search_range(l->weight, &t);
        prt_search_add(l->weight, &t);
        l->weight_best = prt_search_best(l->weight);
    }
    return POPRT_OK;
}

/* ---- inputs */

/* Makes the inputs of all layers the outputs of the clone, whose ops have the same order as the
 * model's. A value that several layers read becomes one output. */
static poprt_status expose_inputs(calibrator *c, prt_module *clone)
{
    const size_t n = c->layers.count;
    prt_value **values = PRT_NEW_N(c->arena, prt_value *, n + 1);
    uint32_t count = 0;
    size_t next = 0;
    const prt_op *from = c->module->main->first;
    if (values == NULL)
        return POPRT_E_NOMEM;
    for (const prt_op *to = clone->main->first; to != NULL && next < n;
         to = to->next, from = from->next) {
        if (from != c->layers.data[next].op)
            continue;
        uint32_t k = 0;
        while (k < count && values[k] != to->in[0].value)
            k++;
        c->layers.data[next++].output = k;
        if (k == count)
            values[count++] = to->in[0].value;
    }
    return prt_feed_set_outputs(clone, count, values, c->arena);
}

static void add_samples(layer *l, const prt_tensor *x, bool range)
{
    if (l->gptq != NULL && !range)
        prt_gptq_add(l->gptq, x);
    if (l->input != NULL && range)
        prt_search_range(l->input, x);
    else if (l->input != NULL)
        prt_search_add(l->input, x);
}

static poprt_status run_batches(calibrator *c, const prt_feed *feed, const prt_module *clone,
    bool range)
{
    const uint32_t n = clone->main->ret->n_in;
    for (size_t i = 0; i < feed->batches; i++) {
        prt_arena *arena = NULL;
        PRT_TRY(step(c));
        PRT_TRY(prt_arena_create(c->module->allocator, 0, &arena));
        prt_tensor *out = PRT_NEW_N(arena, prt_tensor, (size_t)n + 1);
        const poprt_status status =
            out != NULL ? prt_feed_batch(feed, clone, i, out, arena) : POPRT_E_NOMEM;
        for (size_t k = 0; status == POPRT_OK && k < c->layers.count; k++)
            add_samples(&c->layers.data[k], &out[c->layers.data[k].output], range);
        prt_arena_release(arena);
        PRT_TRY(status);
    }
    return POPRT_OK;
}

static poprt_status run_clone(calibrator *c, const prt_feed *feed, prt_module *clone)
{
    PRT_TRY(expose_inputs(c, clone));
    if (c->how->loss == PRT_LOSS_kld)
        PRT_TRY(run_batches(c, feed, clone, true));
    return run_batches(c, feed, clone, false);
}

static bool runs_samples(const calibrator *c)
{
    return c->layers.count != 0 && (!c->how->weights_only || c->how->loss == PRT_LOSS_gptq);
}

static poprt_status try_inputs(calibrator *c, const prt_feed *feed)
{
    prt_module *clone = NULL;
    if (!runs_samples(c))
        return POPRT_OK;
    PRT_TRY(prt_ir_clone(c->module, &clone));
    const poprt_status status = run_clone(c, feed, clone);
    prt_module_release(clone);
    for (size_t i = 0; i < c->layers.count; i++)
        if (c->layers.data[i].input != NULL)
            c->layers.data[i].input_best = prt_search_best(c->layers.data[i].input);
    return status;
}

/* ---- rounding of weights in the model */

static poprt_status exchange_weight(calibrator *c, const layer *l, const prt_tensor *t,
    const double *q)
{
    prt_blob *blob = NULL;
    PRT_TRY(prt_blob_create(c->module->allocator, t->size, &blob));
    for (size_t i = 0; i < prt_tensor_count(t); i++)
        prt_store_f64(t->dtype, prt_blob_bytes(blob), i, q[i]);
    prt_value *old = l->op->in[1].value;
    prt_value *now = prt_pass_derive(old->graph, old, old->type, blob);
    if (now == NULL)
        return POPRT_E_NOMEM;
    prt_op_set_input(l->op, 1, now);
    return POPRT_OK;
}

/* Rounds the weight by gptq and to nearest, with the code that was found and with the default code,
 * and keeps the result with the least error. The loss is noise by signal: of the layer's sums, or
 * of the weight if the inputs are not usable. */
static poprt_status round_weight(calibrator *c, layer *l)
{
    prt_tensor t;
    (void)prt_fp8_weight(l->op, &t);
    const size_t n = prt_tensor_count(&t);
    double *x = PRT_NEW_N(c->arena, double, n + 1), *q = PRT_NEW_N(c->arena, double, n + 1);
    double *best = PRT_NEW_N(c->arena, double, n + 1), least = HUGE_VAL;
    const uint32_t codes[] = { l->weight_best, PRT_USUAL };
    l->loss = prt_distance_snr(&l->weight->distance[l->weight_best]);
    if (x == NULL || q == NULL || best == NULL)
        return POPRT_E_NOMEM;
    /* the error if the weight were 0 */
    const double signal = l->gptq != NULL ? prt_gptq_error(l->gptq, q) : 0;
    if (!(signal > 0))
        return POPRT_OK;
    for (size_t i = 0; i < n; i++)
        x[i] = prt_load_f64(t.dtype, t.data, i);
    for (size_t k = 0; k < (codes[0] != codes[1] ? 4 : 2); k++) {
        const prt_fp8_code code = prt_search_code(l->weight, codes[k / 2]);
        if (k % 2 == 0)
            prt_fp8_round(code, n, x, q);
        else if (!prt_gptq_round(l->gptq, code, q))
            continue;
        const double error = prt_gptq_error(l->gptq, q);
        if (!(error < least))
            continue;
        least = error;
        l->weight_best = codes[k / 2];
        memcpy(best, q, n * sizeof(double));
    }
    if (!isfinite(least))
        return POPRT_OK;
    l->loss = least / signal;
    return exchange_weight(c, l, &t, best);
}

static poprt_status finish_layers(calibrator *c)
{
    for (size_t i = 0; i < c->layers.count; i++) {
        layer *l = &c->layers.data[i];
        PRT_TRY(step(c));
        if (c->how->loss == PRT_LOSS_gptq) {
            PRT_TRY(round_weight(c, l));
            continue;
        }
        l->loss = prt_search_loss(l->weight, l->weight_best);
        if (l->input != NULL)
            l->loss += prt_search_loss(l->input, l->input_best);
    }
    for (uint32_t k = 0; k < c->how->keep && k < c->layers.count; k++) {
        layer *worst = NULL;
        for (size_t i = 0; i < c->layers.count; i++) {
            layer *l = &c->layers.data[i];
            if (!l->kept && (worst == NULL || l->loss > worst->loss))
                worst = l;
        }
        worst->kept = true;
    }
    return POPRT_OK;
}

/* ---- results */

static void put_code(prt_log_text *log, prt_fp8_code code)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%s %d", prt_fp8_name(code.format), code.scale);
    prt_log_text_add_literal(log, text);
}

static void log_search(calibrator *c, const layer *l, const prt_search *s, uint32_t best,
    const char *what)
{
    prt_log_text *log = &c->log;
    for (uint32_t k = 0; k <= PRT_CANDIDATES; k++) {
        const uint32_t at = k < PRT_CANDIDATES ? k : best;
        prt_log_text_add(log, l->op->origin);
        prt_log_text_add_literal(log, what);
        prt_log_text_add_literal(log, k < PRT_CANDIDATES ? "" : "chosen ");
        put_code(log, prt_search_code(s, at));
        prt_log_text_add_field(log, prt_loss_name(s->loss), prt_search_loss(s, at));
        if (k < PRT_CANDIDATES || s->loss == PRT_LOSS_kld) {
            prt_log_text_add_literal(log, "\n");
            continue;
        }
        prt_log_text_add_literal(log, "\n  before:");
        prt_log_text_add_moments(log, &s->x);
        prt_log_text_add_literal(log, "\n  after:");
        prt_log_text_add_moments(log, &s->q[best]);
        prt_log_text_add_literal(log, "\n  noise:");
        prt_log_text_add_moments(log, &s->noise[best]);
        prt_log_text_add_literal(log, "\n");
    }
}

static void put_pair(prt_json_out *json, const prt_op *op, prt_fp8_code code)
{
    prt_json_open(json, op->origin.data, '[');
    prt_json_put_text(json, NULL, prt_str_of(prt_fp8_name(code.format)));
    prt_json_put_i64(json, NULL, code.scale);
    prt_json_close(json, ']');
}

static poprt_status put_dict(calibrator *c, bool inputs, prt_str *out)
{
    prt_json_out json;
    prt_json_out_init(&json, c->arena, false);
    prt_json_open(&json, NULL, '{');
    for (size_t i = 0; i < c->layers.count; i++) {
        const layer *l = &c->layers.data[i];
        if (!l->kept && (!inputs || l->input != NULL))
            put_pair(&json, l->op,
                inputs ? prt_search_code(l->input, l->input_best)
                       : prt_search_code(l->weight, l->weight_best));
    }
    prt_json_close(&json, '}');
    return prt_json_out_finish(&json, out);
}

static poprt_status put_results(calibrator *c, prt_calibration *out)
{
    prt_log_text skip = { .arena = c->arena };
    prt_log_text_add_literal(&skip, c->how->skip != NULL ? c->how->skip : "");
    for (size_t i = 0; i < c->layers.count; i++) {
        const layer *l = &c->layers.data[i];
        log_search(c, l, l->weight, l->weight_best, " weight: ");
        if (l->input != NULL)
            log_search(c, l, l->input, l->input_best, " input: ");
        if (!l->kept)
            continue;
        prt_log_text_add_literal(&skip, skip.text.count != 0 ? "," : "");
        prt_log_text_add(&skip, l->op->origin);
        prt_log_text_add(&c->log, l->op->origin);
        prt_log_text_add_field(&c->log, "stays float16: loss", l->loss);
        prt_log_text_add_literal(&c->log, "\n");
    }
    PRT_TRY(put_dict(c, true, &out->inputs));
    PRT_TRY(put_dict(c, false, &out->weights));
    PRT_TRY(prt_log_text_finish(&skip, &out->skip));
    return prt_log_text_finish(&c->log, &out->log);
}

static uint64_t count_steps(const calibrator *c, const prt_feed *feed)
{
    const uint64_t rounds = c->how->loss == PRT_LOSS_kld ? 2 : 1;
    const bool runs = runs_samples(c);
    return 2 * (uint64_t)c->layers.count + (runs ? rounds * feed->batches : 0);
}

poprt_status prt_calibrate_run(prt_module *module, const prt_calibrate *how, prt_arena *arena,
    prt_calibration *out)
{
    calibrator c = { .how = how, .module = module, .arena = arena, .log = { .arena = arena } };
    if (how->loss == PRT_LOSS_gptq && !how->weights_only)
        return prt_fail(POPRT_E_ARG, "calibration_loss_type",
            "loss gptq is for weights alone: use it with precision fp8_weight, or choose another "
            "loss");
    PRT_TRY(name_nodes(module));
    prt_feed feed = how->feed;
    if (!how->weights_only || how->loss == PRT_LOSS_gptq)
        PRT_TRY(prt_feed_open(&feed, module));
    PRT_TRY(find_layers(&c, &feed));
    c.total = count_steps(&c, &feed);
    PRT_TRY(try_weights(&c));
    PRT_TRY(try_inputs(&c, &feed));
    PRT_TRY(finish_layers(&c));
    return put_results(&c, out);
}
