/* SPDX-License-Identifier: MIT */
/*
 * downgrade.c — runs the rows of upgrade.def on every op of a module, newest first, and checks the
 * result against the history of schemas.
 *
 * If the target has the operator, the op is downgraded row by row. If the target does not have it,
 * or if the op still does not fit, a row with `from` 0 replaces it by other ops. Readers are
 * visited before the ops they read, so an op that becomes unread is erased and need not be
 * supported. Ops that a hook builds around the current op are visited next.
 */
#include "converter/downgrade.h"

#include <stdio.h>

#include "base/report.h"
#include "base/vec.h"
#include "converter/history.h"
#include "converter/onnx.h"
#include "converter/onnx_raw.h"
#include "converter/source_node.h"
#include "converter/write_back.h"

/* Maximum number of visits per original op. The limit ends rows that lead to each other. */
enum { MOST_MADE = 1000 };

/* Added to the opset at which an op of another domain or without a table entry was read, until the
 * op is visited. */
#define UNSEEN ((uint32_t)1 << 31)
/* Added until the op is visited if nothing reads it in the model, so that it is not erased. */
#define UNREAD ((uint32_t)1 << 30)
#define MARKS (UNSEEN | UNREAD)

/* An op that cannot be downgraded. */
typedef struct failure {
    const char *subject, *message;
    poprt_status status;
} failure;

typedef struct walk {
    int64_t target;
    uint64_t visits, most_visits;
    PRT_VEC(failure) failures; /* the last node's first */
} walk;

/* Finished ops of ai.onnx are marked with the target opset; ops of other domains keep the version
 * at which they were read. */
static bool is_done(const prt_op *op, int64_t target)
{
    return prt_domain_is_onnx(op->domain) ? op->source_opset == (uint32_t)target
                                          : (op->source_opset & UNSEEN) == 0;
}

static void mark_done(prt_op *op, int64_t target)
{
    op->source_opset =
        prt_domain_is_onnx(op->domain) ? (uint32_t)target : op->source_opset & ~MARKS;
}

/* ---- rows ---- */

/* Returns the row that downgrades from the variant of opset `from`; with `from` 0, the row that
 * replaces the operator by others. */
static const prt_opset_variant *row_down(prt_str name, int64_t from, int64_t target)
{
    size_t count;
    const prt_opset_variant *rows = prt_opset_variants(&count), *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const prt_opset_variant *row = &rows[i];
        if (row->down == NULL || !prt_str_is(name, row->name) || row->domain[0] != '\0')
            continue;
        if (from == 0 ? row->from == 0
                      : row->from > 0 && row->to <= from && row->to > target &&
                    (found == NULL || row->to > found->to))
            found = row;
    }
    return found;
}

static poprt_status run_row(prt_downgrade *d, const prt_opset_variant *row)
{
    size_t count;
    uint32_t *runs = d->op->graph->module->conversion_counts;
    const prt_opset_variant *rows = prt_opset_variants(&count);
    prt_op_touch(d->op);
    const poprt_status status = row->down(d);
    if (runs != NULL && status == POPRT_OK)
        runs[2 * (row - rows) + 1]++;
    return status;
}

static poprt_status run_rows(prt_downgrade *d)
{
    const prt_op_def *def = d->op->def;
    int64_t from = INT32_MAX;
    const prt_opset_variant *row;
    while (d->op != NULL && d->op->def == def &&
        (row = row_down(d->op->name, from, d->target)) != NULL) {
        PRT_TRY(run_row(d, row));
        from = (int64_t)row->to - 1;
    }
    return POPRT_OK;
}

/* Hides attributes that equal their default and that the older schema does not have. */
static void hide_defaults(prt_op *op, int64_t target)
{
    for (uint32_t k = 0; op->def != NULL && k < op->def->n_attrs; k++) {
        if (!prt_attr_given(op->attrs, k) || prt_history_must_write(op, k) ||
            prt_history_has_attr(op->name, target, prt_attr_name(&op->def->attrs[k])))
            continue;
        *(uint64_t *)op->attrs &= ~((uint64_t)1 << k);
        prt_op_touch(op);
    }
}

/* An operator without a table entry is known only as bytes; it stays if its schema is the same. */
static poprt_status check_foreign(const prt_downgrade *d)
{
    const prt_op *op = d->op;
    const int64_t here = prt_history_version(op->name, op->source_opset & ~MARKS);
    if (here != 0 && here == prt_history_version(op->name, d->target))
        return POPRT_OK;
    return prt_down_refuse(d,
        here == 0 ? "the schemas of this operator are not known"
                  : "no conversion of this operator is known");
}

/* Checks the inputs and outputs that every version of the operator requires. Inference checks them
 * too, but ops next to operators without a table entry have not been inferred. */
static bool has_required_operands(const prt_op *op)
{
    const prt_op_def *def = op->def;
    bool whole = op->n_in >= def->min_in && op->n_in <= def->max_in && op->n_out >= def->min_out &&
        op->n_out <= def->max_out;
    for (uint32_t i = 0; whole && i < op->n_in; i++)
        whole = op->in[i].value != NULL ||
            (prt_op_in_slot(def, i)->flags & (PRT_SLOT_OPTIONAL | PRT_SLOT_VARIADIC)) != 0;
    return whole;
}

static poprt_status downgrade_op(prt_downgrade *d)
{
    char why[256];
    if (d->op->def == NULL)
        return check_foreign(d);
    if (!has_required_operands(d->op))
        return prt_down_refuse(d,
            "the operator lacks required inputs or outputs, or has too many of them");
    const prt_opset_variant *replacement_row = row_down(d->op->name, 0, d->target);
    if (replacement_row != NULL && prt_history_version(d->op->name, d->target) == 0)
        return run_row(d, replacement_row);
    poprt_status status = run_rows(d);
    if (status != POPRT_OK || d->op == NULL)
        return status;
    if (prt_history_fits(d->op, d->target, why, sizeof(why))) {
        hide_defaults(d->op, d->target);
        return POPRT_OK;
    }
    if (replacement_row != NULL && d->op->def != NULL)
        return run_row(d, replacement_row);
    return prt_down_refuse(d, "%s", why);
}

/* Adds the operator, the node and the versions to the message of a hook. */
static poprt_status explain_failure(const prt_op *op, prt_str name, int64_t newest, int64_t target,
    poprt_status status)
{
    char why[512];
    if (status != POPRT_E_UNSUPPORTED)
        return status;
    (void)snprintf(why, sizeof(why), "%s", prt_error_last()->message);
    const int64_t there = prt_history_version(name, target);
    if (there == 0)
        return prt_fail(status, prt_op_label(op), "%.*s-%lld cannot go to opset %lld: %s",
            PRT_SHOW(name), (long long)newest, (long long)target, why);
    return prt_fail(status, prt_op_label(op), "%.*s-%lld cannot go to opset %lld (%.*s-%lld): %s",
        PRT_SHOW(name), (long long)newest, (long long)target, PRT_SHOW(name), (long long)there,
        why);
}

/* ---- the walk over the graphs ---- */

static poprt_status visit_graph(walk *w, prt_graph *g);

static poprt_status add_failure(walk *w, prt_arena *arena, poprt_status status)
{
    const poprt_error *e = prt_error_last();
    const failure f = { prt_arena_text(arena, e->subject, strlen(e->subject)),
        prt_arena_text(arena, e->message, strlen(e->message)), status };
    return f.subject != NULL && f.message != NULL && PRT_VEC_PUSH(arena, &w->failures, f)
        ? POPRT_OK
        : POPRT_E_NOMEM;
}

static poprt_status report(const walk *w)
{
    prt_report all = { .status = POPRT_OK };
    for (size_t i = w->failures.count; i > 0; i--) {
        const failure *f = &w->failures.data[i - 1];
        prt_report_add(&all, prt_fail(f->status, f->subject, "%s", f->message));
    }
    return prt_report_end(&all);
}

static bool is_unread(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return false;
    return op->def != NULL && (op->def->traits & PRT_PURE) != 0;
}

static poprt_status visit(walk *w, prt_op *op)
{
    if (is_unread(op) && (op->source_opset & UNREAD) == 0) {
        prt_op_erase(op);
        return POPRT_OK;
    }
    for (uint32_t i = 0; i < op->n_regions; i++)
        PRT_TRY(visit_graph(w, op->regions[i]));
    bool put_back;
    PRT_TRY(prt_write_back_op(op, &put_back));
    if (put_back || !prt_domain_is_onnx(op->domain) || prt_source_node_is_current(op))
        return POPRT_OK;
    if (++w->visits > w->most_visits)
        return prt_fail(POPRT_E_INTERNAL, prt_op_label(op),
            "the conversion rows of its operators lead to each other");
    prt_downgrade d = { .op = op, .target = w->target };
    const prt_str name = op->name;
    const int64_t newest =
        op->def != NULL ? (int64_t)op->def->since : (int64_t)(op->source_opset & ~MARKS);
    const poprt_status status = explain_failure(op, name, newest, w->target, downgrade_op(&d));
    if (status == POPRT_E_NOMEM || status == POPRT_E_INTERNAL)
        return status;
    return status == POPRT_OK ? POPRT_OK : add_failure(w, op->graph->module->arena, status);
}

/* The reader bounds the nesting of graphs. */
static poprt_status visit_graph(walk *w, prt_graph *g)
{
    prt_op *op = g->last;
    while (op != NULL) {
        prt_op *behind = op->next;
        if (is_done(op, w->target)) {
            op = op->prev;
            continue;
        }
        PRT_TRY(visit(w, op));
        if (!op->dead)
            mark_done(op, w->target);
        while (behind != NULL && behind->dead) /* erased ops keep their links */
            behind = behind->next;
        op = behind != NULL ? behind->prev : g->last;
    }
    return POPRT_OK;
}

static uint64_t reset_marks(prt_graph *g)
{
    uint64_t count = 0;
    prt_for_each_op (op, g) {
        count++;
        op->source_opset =
            op->def != NULL && prt_domain_is_onnx(op->domain) ? 0 : op->source_opset | UNSEEN;
        if (g->module->keeps_unread && is_unread(op))
            op->source_opset |= UNREAD;
        for (uint32_t i = 0; i < op->n_regions; i++)
            count += reset_marks(op->regions[i]);
    }
    return count;
}

/* Drops functions that no node calls; they would have to be downgraded too. */
static void drop_functions(prt_module *m)
{
    const prt_raw **at = &m->extra;
    while (*at != NULL)
        if ((*at)->field == PRT_ONNX_Model_functions)
            *at = (*at)->next;
        else
            at = (const prt_raw **)(uintptr_t) & (*at)->next;
}

static poprt_status set_opset(prt_module *m, int64_t target)
{
    bool found = false;
    for (prt_opset *o = m->opsets; o != NULL; o = o->next)
        if (prt_domain_is_onnx(o->domain)) {
            o->version = target;
            found = true;
        }
    return found ? POPRT_OK : prt_module_set_opset(m, PRT_STR(""), target);
}

poprt_status prt_onnx_downgrade(prt_module *module, int64_t target)
{
    const int64_t newest = prt_history_newest();
    if (target < 1 || target > newest)
        return prt_fail(POPRT_E_ARG, "convert_version", "opset %lld is not from 1 to %lld",
            (long long)target, (long long)newest);
    walk w = { .target = target };
    PRT_TRY(prt_onnx_hide_contradictions(module->main));
    w.most_visits = (reset_marks(module->main) + 1) * MOST_MADE;
    PRT_TRY(visit_graph(&w, module->main));
    PRT_TRY(report(&w));
    drop_functions(module);
    (void)prt_graph_drop_constants(module->main, false);
    module->downgraded_opset = target;
    module->ir_version = 0; /* the writer computes the version needed */
    return set_opset(module, target);
}
