/* SPDX-License-Identifier: MIT */
/* watch.c — a clone of the model before the pass, with the watched values as outputs. */
#include "pass/precision/watch.h"

#include <math.h>

#include "pass/precision/feed.h"

enum { MOST_WARNINGS = 8 };

/* Largest model, in bytes of constants, that is run on pseudo-random data, which reveals less than
 * samples. */
static const uint64_t made_up_most = (uint64_t)512 << 20;

typedef struct watched {
    prt_value *value; /* of the clone; NULL: the value is not watched */
    const char *name; /* name of the model's value, or of its op */
    bool converted;
    double largest;
} watched;

struct prt_watch {
    prt_pass *p;
    prt_module *clone;
    uint32_t n; /* number of values of the main graph */
    watched *values;
};

static void pair(const prt_watch *w, const prt_value *v, prt_value *copy)
{
    if (v->id >= w->n || !prt_type_is_tensor(copy->type))
        return;
    watched *to = &w->values[v->id];
    to->value = copy;
    to->name = v->name.size != 0 ? v->name.data : v->def != NULL ? prt_op_label(v->def) : "";
}

/* Pairs the values of the model with those of the clone, whose ops have the same order. */
static void pair_all(const prt_watch *w)
{
    const prt_graph *from = w->p->module->main;
    const prt_op *op = from->first;
    for (size_t i = 0; i < from->inputs.count; i++)
        pair(w, from->inputs.data[i], w->clone->main->inputs.data[i]);
    for (prt_op *copy = w->clone->main->first; copy != NULL; copy = copy->next, op = op->next)
        for (uint32_t i = 0; i < op->n_out; i++)
            pair(w, &op->out[i], &copy->out[i]);
}

poprt_status prt_watch_begin(prt_pass *p, prt_watch **out)
{
    *out = NULL;
    if (p->feed == NULL)
        return POPRT_OK;
    if (p->feed->n_arrays == 0 && prt_pass_constants(p) > made_up_most) {
        prt_pass_note(p, NULL,
            "overflow is not checked: the model is large, and there are no "
            "samples");
        return POPRT_OK;
    }
    prt_watch *w = PRT_NEW(p->arena, prt_watch);
    if (w == NULL)
        return POPRT_E_NOMEM;
    w->p = p;
    w->n = p->module->main->n_values;
    w->values = PRT_NEW_N(p->arena, watched, (size_t)w->n + 1);
    if (w->values == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_ir_clone(p->module, &w->clone));
    pair_all(w);
    *out = w;
    return POPRT_OK;
}

void prt_watch_add(void *watch, const prt_value *v)
{
    prt_watch *w = watch;
    if (v->id < w->n && w->values[v->id].value != NULL)
        w->values[v->id].converted = true;
}

static poprt_status expose_values(const prt_watch *w, uint32_t *count)
{
    prt_value **values = PRT_NEW_N(w->p->arena, prt_value *, (size_t)w->n + 1);
    if (values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->values[i].converted)
            values[(*count)++] = w->values[i].value;
    return prt_feed_set_outputs(w->clone, *count, values, w->p->arena);
}

static void update_largest(watched *v, const prt_tensor *t)
{
    for (size_t i = 0; i < prt_tensor_count(t); i++) {
        const double x = fabs(prt_load_f64(t->dtype, t->data, i));
        if (isfinite(x) && x > v->largest)
            v->largest = x;
    }
}

static poprt_status run_batch(const prt_watch *w, const prt_feed *feed, size_t batch,
    uint32_t count, prt_arena *arena)
{
    prt_tensor *out = PRT_NEW_N(arena, prt_tensor, (size_t)count + 1);
    uint32_t k = 0;
    if (out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_feed_batch(feed, w->clone, batch, out, arena));
    for (uint32_t i = 0; i < w->n; i++)
        if (w->values[i].converted)
            update_largest(&w->values[i], &out[k++]);
    return POPRT_OK;
}

static poprt_status run_all(const prt_watch *w)
{
    prt_feed feed = *w->p->feed;
    uint32_t count = 0;
    PRT_TRY(expose_values(w, &count));
    if (count == 0)
        return POPRT_OK;
    PRT_TRY(prt_feed_open(&feed, w->clone));
    for (size_t i = 0; i < feed.batches; i++) {
        prt_arena *arena = NULL;
        PRT_TRY(prt_pass_progress(w->p, "watch", i, feed.batches));
        PRT_TRY(prt_arena_create(w->clone->allocator, 0, &arena));
        const poprt_status status = run_batch(w, &feed, i, count, arena);
        prt_arena_release(arena);
        PRT_TRY(status);
    }
    return POPRT_OK;
}

static poprt_status check(const prt_watch *w, const char *type, double most)
{
    uint32_t beyond = 0;
    const poprt_status status = run_all(w);
    if (status == POPRT_E_CANCELLED)
        return status;
    if (status != POPRT_OK) {
        prt_pass_note(w->p, prt_error_last()->subject, "overflow of %s is not checked: %s", type,
            prt_error_last()->message);
        return POPRT_OK;
    }
    const char *data = w->p->feed->n_arrays != 0 ? "the samples" : "made-up data";
    for (uint32_t i = 0; i < w->n; i++)
        if (w->values[i].converted && w->values[i].largest > most && ++beyond <= MOST_WARNINGS)
            prt_pass_warn(w->p, w->values[i].name,
                "%s is %s and overflows: %s make it as large as %.4g, the type ends at %.0f",
                w->values[i].name, type, data, w->values[i].largest, most);
    if (beyond > MOST_WARNINGS)
        prt_pass_warn(w->p, NULL, "%u more values overflow %s", beyond - MOST_WARNINGS, type);
    return POPRT_OK;
}

poprt_status prt_watch_end(prt_watch *w, poprt_status status, const char *type, double most)
{
    if (w == NULL)
        return status;
    if (status == POPRT_OK)
        status = check(w, type, most);
    prt_module_release(w->clone);
    return status;
}
