/* SPDX-License-Identifier: MIT */
/*
 * loop.c — the conversion of loops to Loop. The condition is computed once before the loop and,
 * from the new values, at the end of each iteration. A body is converted with the types that the
 * variables have at the start; if an iteration changes them, it is converted again with types that
 * hold for both, so that nothing is folded that holds for the first iteration only.
 *
 * A list whose element i is set in iteration i becomes a scan output of the Loop; another list is
 * carried as a tensor if the shape of its elements is known, and otherwise as a sequence.
 */
#include "ir/build_ops.h"
#include "tensorflow/list.h"
#include "tensorflow/number.h"
#include "tensorflow/region.h"

enum { ATTEMPTS = 12 };

typedef enum role { UNCHANGED, CARRIED, SCANNED } role;

typedef struct variable {
    role role;
    prt_tf_kind kind;
    prt_tf_list list; /* of a list: its form inside the loop */
    prt_tf_scan scan;
    prt_value *start;     /* of a carried one */
    const prt_type *type; /* that holds in all iterations */
    prt_value *inside;    /* input of the region */
    prt_value *next;
} variable;

typedef struct loop {
    prt_tf_call *call;
    const prt_tf_loop *def;
    variable *v;
    prt_tf_value *values, *next;
    prt_graph *region;
    prt_value *again; /* the condition after an iteration */
} loop;

/* ---- counters */

/* Returns whether a variable starts at a number and grows by 1 in each iteration. */
static bool counts(loop *l, const variable *v, int64_t *start)
{
    if (v->role != CARRIED || v->kind != PRT_TF_tensor ||
        !prt_tf_known_number(l->call, v->start, start) || !prt_dim_is_number(*start))
        return false;
    const prt_op *add = prt_tf_without_moves(v->next)->def;
    if (add == NULL || add->def == NULL || add->def->id != PRT_OP_add)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (prt_tf_without_moves(add->in[i].value) == v->inside &&
            prt_tf_is_number(l->call, add->in[1 - i].value, 1))
            return true;
    return false;
}

/* ---- the variables before an attempt */

static const prt_type *join(prt_types *types, const prt_type *a, const prt_type *b)
{
    int64_t dims[PRT_MAX_RANK];
    if (a == b)
        return a;
    if (!prt_type_is_tensor(a) || !prt_type_is_tensor(b))
        return a;
    if (a->rank != b->rank || a->rank < 0)
        return prt_type_tensor(types, a->dtype, PRT_RANK_UNKNOWN, NULL);
    for (int32_t i = 0; i < a->rank; i++)
        dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : PRT_DIM_UNKNOWN;
    return prt_type_tensor(types, a->dtype, a->rank, dims);
}

/* Makes a carried list a sequence: of the elements of a tensor, or empty. */
static prt_value *sequence_of(prt_tf_call *call, const prt_tf_list *list)
{
    prt_build *b = &call->b;
    if (list->form == PRT_TF_LIST_sequence)
        return list->value;
    if (list->form == PRT_TF_LIST_unset && prt_tf_is_number(call, list->size, 0))
        return prt_tf_list_empty_sequence(b, list);
    prt_split_to_sequence_attrs attrs = PRT_ATTRS_OF(split_to_sequence);
    PRT_ATTR_SET(attrs, split_to_sequence, keepdims, 0);
    return prt_build_op(b, PRT_OP_split_to_sequence, &attrs, 1,
        (prt_value *[]){ prt_tf_list_tensor(b, list) });
}

static poprt_status prepare_list(loop *l, variable *v)
{
    prt_tf_call *call = l->call;
    const prt_tf_list *start = l->def->start[v - l->v].handle;
    if (v->list.form == PRT_TF_LIST_scan) {
        v->role = SCANNED;
        v->scan = (prt_tf_scan){ .graph = l->region };
        v->list.scan = &v->scan;
        return POPRT_OK;
    }
    v->role = CARRIED;
    if (v->start != NULL)
        return POPRT_OK;
    prt_tf_list from = *start;
    if (from.form == PRT_TF_LIST_unset && v->list.rank >= 0) {
        from.rank = v->list.rank; /* perhaps known from an element */
        memcpy(from.dims, v->list.dims, sizeof(from.dims));
    }
    v->start = v->list.form == PRT_TF_LIST_sequence ? sequence_of(call, &from)
                                                    : prt_tf_list_tensor(&call->b, &from);
    PRT_TRY(prt_build_status(&call->b));
    v->type = v->start->type;
    return POPRT_OK;
}

/* Decides how a variable is carried at first. */
static poprt_status classify(loop *l, uint32_t i)
{
    const prt_tf_value *start = &l->def->start[i];
    variable *v = &l->v[i];
    v->kind = start->kind;
    v->role = l->def->invariant[i] ? UNCHANGED : CARRIED;
    if (v->role == UNCHANGED)
        return POPRT_OK;
    if (start->kind == PRT_TF_list) {
        v->list = *(const prt_tf_list *)start->handle;
        if (v->list.form == PRT_TF_LIST_unset)
            v->list.form = PRT_TF_LIST_scan;
        return POPRT_OK;
    }
    if (start->kind != PRT_TF_tensor && start->kind != PRT_TF_complex)
        v->role = UNCHANGED; /* checked after the body was converted */
    v->start = start->value;
    v->type = v->start != NULL ? v->start->type : NULL;
    return POPRT_OK;
}

static poprt_status add_input(loop *l, const prt_type *type, prt_value **out)
{
    *out = prt_graph_add_input(l->region, prt_module_fresh_name(l->call->c->module, "loop"), type);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status make_region(loop *l)
{
    prt_module *m = l->call->c->module;
    prt_value *ignored;
    if ((l->region = prt_graph_create(m, NULL)) == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(add_input(l, prt_type_tensor(m->types, PRT_DTYPE_i64, 0, NULL), &ignored));
    PRT_TRY(add_input(l, prt_type_tensor(m->types, PRT_DTYPE_bool, 0, NULL), &ignored));
    for (uint32_t i = 0; i < l->def->n; i++) {
        variable *v = &l->v[i];
        l->values[i] = l->def->start[i];
        if (v->role == UNCHANGED)
            continue;
        if (v->kind == PRT_TF_list)
            PRT_TRY(prepare_list(l, v));
        if (v->role == CARRIED)
            PRT_TRY(add_input(l, v->type, &v->inside));
        if (v->kind == PRT_TF_list) {
            if (v->role == CARRIED && v->list.form == PRT_TF_LIST_tensor)
                v->list = prt_tf_list_of_tensor(v->inside);
            else if (v->role == CARRIED)
                v->list.value = v->inside;
            l->values[i] = prt_tf_list_value(l->call->c, &v->list);
        } else {
            l->values[i].value = v->inside;
        }
    }
    return POPRT_OK;
}

/* ---- the variables after an attempt */

/* Chooses the next form of a list that cannot be a scan output. */
static poprt_status not_scanned(loop *l, variable *v)
{
    const prt_tf_list *start = l->def->start[v - l->v].handle;
    const prt_value *item = v->scan.item;
    if (!prt_tf_list_has_shape(l->call->c->module, &v->list) && item != NULL &&
        prt_tf_rank(item) >= 0) {
        v->list.rank = prt_tf_rank(item);
        for (int32_t i = 0; i < v->list.rank; i++)
            v->list.dims[i] = prt_tf_dim(item, (uint32_t)i);
    }
    v->list.scan = NULL;
    if (prt_tf_list_has_shape(l->call->c->module, &v->list)) {
        v->list.form = PRT_TF_LIST_tensor;
        return POPRT_OK;
    }
    if (!prt_tf_is_number(l->call, start->size, 0))
        return prt_tf_refuse(l->call,
            "the elements of a list have shapes that are not known before the loop");
    v->list.form = PRT_TF_LIST_sequence;
    return POPRT_OK;
}

/* Returns whether elements that are appended may differ in shape. */
static bool may_differ(const prt_value *item)
{
    bool known = prt_tf_rank(item) >= 0;
    for (int32_t i = 0; i < prt_tf_rank(item); i++)
        known = known && prt_tf_dim(item, (uint32_t)i) != PRT_DIM_UNKNOWN;
    return !known;
}

/* Returns whether each iteration sets the element of its number. */
static bool is_scan(loop *l, variable *v, const prt_tf_value *next)
{
    int64_t start;
    if (v->scan.refused || v->scan.item == NULL || next->kind != PRT_TF_list ||
        ((const prt_tf_list *)next->handle)->scan != &v->scan)
        return false;
    v->list.grows = ((const prt_tf_list *)next->handle)->grows;
    if (v->scan.index == NULL)
        return prt_tf_is_number(l->call, v->list.size, 0) && !may_differ(v->scan.item);
    const prt_value *index = prt_tf_without_moves(v->scan.index);
    for (uint32_t i = 0; i < l->def->n; i++)
        if (l->v[i].inside == index && l->v[i].role == CARRIED)
            return counts(l, &l->v[i], &start) && start == 0;
    return false;
}

/* Takes the new value of a carried variable. Sets `*again` if its type does not hold. */
static poprt_status take_carried(loop *l, uint32_t i, bool *again)
{
    variable *v = &l->v[i];
    const prt_tf_value *next = &l->next[i];
    prt_types *types = l->call->c->module->types;
    prt_build b = prt_build_at_end(l->region);
    b.origin = l->call->b.origin;
    if (next->kind != v->kind)
        return prt_tf_refuse(l->call, "variable %u of the loop changes its type", i);
    v->next = next->value;
    if (v->kind == PRT_TF_list) {
        const prt_tf_list *list = next->handle;
        if (v->list.form == PRT_TF_LIST_sequence && list->form != PRT_TF_LIST_sequence)
            return prt_tf_refuse(l->call, "a list with elements of unknown shapes is replaced");
        v->next = list->form == PRT_TF_LIST_sequence && v->list.form == PRT_TF_LIST_sequence
            ? list->value
            : prt_tf_list_tensor(&b, list);
        PRT_TRY(prt_build_status(&b));
    }
    const prt_type *type = v->next->type;
    if (prt_type_is_tensor(v->type) != prt_type_is_tensor(type) ||
        (prt_type_is_tensor(type) && type->dtype != v->type->dtype))
        return prt_tf_refuse(l->call, "variable %u of the loop changes its element type", i);
    const prt_type *both = join(types, v->type, type);
    if (both == NULL)
        return POPRT_E_NOMEM;
    *again = *again || both != v->type;
    v->type = both;
    return POPRT_OK;
}

/* Looks at the results of an attempt. Sets `*again` if the body must be converted once more. */
static poprt_status take_results(loop *l, bool *again)
{
    for (uint32_t i = 0; i < l->def->n; i++) {
        variable *v = &l->v[i];
        if (v->role == CARRIED)
            PRT_TRY(take_carried(l, i, again));
        else if (v->role == UNCHANGED && !l->def->invariant[i] &&
            (l->next[i].kind != v->kind || l->next[i].handle != l->def->start[i].handle))
            return prt_tf_refuse(l->call, "variable %u of the loop is a resource that changes", i);
    }
    for (uint32_t i = 0; i < l->def->n; i++)
        if (l->v[i].role == SCANNED && !is_scan(l, &l->v[i], &l->next[i])) {
            PRT_TRY(not_scanned(l, &l->v[i]));
            *again = true;
        }
    return POPRT_OK;
}

/* ---- one attempt */

/* Returns whether a value failed; its node is reported. */
static bool any_failed(const loop *l)
{
    for (uint32_t i = 0; i < l->def->n; i++)
        if (l->next[i].kind == PRT_TF_failed)
            return true;
    return false;
}

/* Whether a list that is tried as a scan output was used in another way, which failed nodes. */
static bool refuse_scans(loop *l, poprt_status *status)
{
    bool any = false;
    for (uint32_t i = 0; i < l->def->n && *status == POPRT_OK; i++)
        if (l->v[i].role == SCANNED && l->v[i].scan.refused) {
            *status = not_scanned(l, &l->v[i]);
            any = true;
        }
    return any;
}

static poprt_status attempt(loop *l, bool *again, bool *failed)
{
    prt_tf_call *call = l->call;
    prt_tf_value again_value = { .kind = PRT_TF_none };
    poprt_status status = POPRT_OK;
    PRT_TRY(make_region(l));
    PRT_TRY(l->def->step(call, l->def->user, l->region, l->values, l->next));
    *again = refuse_scans(l, &status);
    PRT_TRY(status);
    *failed = !*again && any_failed(l);
    if (*again || *failed)
        return POPRT_OK;
    PRT_TRY(take_results(l, again));
    if (*again)
        return POPRT_OK;
    PRT_TRY(l->def->condition(call, l->def->user, l->region, l->next, &again_value));
    *again = refuse_scans(l, &status);
    if (!*again && again_value.kind != PRT_TF_tensor && again_value.kind != PRT_TF_failed)
        return prt_tf_refuse(call, "the condition is not a tensor");
    *failed = !*again && again_value.kind != PRT_TF_tensor;
    prt_build b = prt_build_at_end(l->region);
    b.origin = call->b.origin;
    l->again = *again || *failed ? NULL : prt_tf_condition(call, &b, again_value.value);
    PRT_TRY(status);
    PRT_TRY(prt_build_status(&b));
    return call->status;
}

/* ---- the trip count */

/* Returns a value of the region as one of the graph around it; NULL if an iteration computes it. */
static prt_value *outside(loop *l, prt_value *v)
{
    int64_t number;
    if (v->graph != l->region)
        return v;
    if (prt_tf_known_number(l->call, v, &number) && prt_dim_is_number(number))
        return prt_build_i64(&l->call->b, number);
    const prt_value *plain = prt_tf_without_moves(v);
    return plain->graph != l->region ? (prt_value *)(uintptr_t)plain : NULL;
}

/* Reads a condition that bounds counters, alone or joined by And, and writes the bounds on the
 * number of iterations. Returns false for another condition. */
static bool read_bounds(loop *l, prt_value *condition, uint32_t depth, prt_tf_value bounds[4],
    uint32_t *count)
{
    prt_build *b = &l->call->b;
    const prt_op *op = prt_tf_without_moves(condition)->def;
    if (op == NULL || op->def == NULL || depth > 2)
        return false;
    if (op->def->id == PRT_OP_and)
        return read_bounds(l, op->in[0].value, depth + 1, bounds, count) &&
            read_bounds(l, op->in[1].value, depth + 1, bounds, count);
    if (op->def->id != PRT_OP_less || *count == 4)
        return false;
    for (uint32_t i = 0; i < l->def->n; i++) {
        const variable *v = &l->v[i];
        int64_t start;
        if (v->role != CARRIED || v->kind != PRT_TF_tensor || !counts(l, v, &start) ||
            prt_tf_without_moves(op->in[0].value) != prt_tf_without_moves(v->next))
            continue;
        prt_value *limit = outside(l, op->in[1].value);
        if (limit == NULL || !prt_dtype_is_integer(prt_tf_dtype(limit)))
            return false;
        limit = prt_build_reshape(b, prt_build_cast(b, limit, PRT_DTYPE_i64), 0, NULL);
        if (start != 0)
            limit = prt_build_binary(b, PRT_OP_sub, limit, prt_build_i64(b, start));
        bounds[(*count)++] = (prt_tf_value){ .kind = PRT_TF_tensor, .value = limit };
        return b->status == POPRT_OK;
    }
    return false;
}

/* Returns the number of iterations, int64 of rank 0, if counters alone end the loop; else NULL.
 * `bounds` are the counts of which it is the least. */
static prt_value *trip_count(loop *l, prt_tf_value bounds[4], uint32_t *n)
{
    prt_tf_call *call = l->call;
    prt_build *b = &call->b;
    const prt_op *last = b->graph->last;
    *n = 0;
    if (!read_bounds(l, l->again, 0, bounds, n) || *n == 0)
        return NULL;
    if (prt_tf_fold(call->c, b->graph, last, *n, bounds) != POPRT_OK)
        return NULL;
    prt_value *trips = bounds[0].value;
    for (uint32_t i = 1; i < *n; i++)
        if (!prt_tf_same_number(call, bounds[i].value, bounds[0].value))
            trips = prt_build_op(b, PRT_OP_min, NULL, 2, (prt_value *[]){ trips, bounds[i].value });
    return trips;
}

/* ---- the Loop */

/* Returns the elements that the Loop stacked, filled up with zeros to the reserved size. */
static prt_value *fill_up(loop *l, const variable *v, prt_value *stacked,
    const prt_tf_value *bounds, uint32_t n_bounds)
{
    prt_build *b = &l->call->b;
    bool whole = n_bounds != 0 || v->scan.index == NULL ||
        (v->list.grows && prt_tf_is_number(l->call, v->list.size, 0));
    for (uint32_t i = 0; i < n_bounds && v->scan.index != NULL; i++)
        whole = whole && prt_tf_same_number(l->call, bounds[i].value, v->list.size);
    if (whole)
        return stacked;
    prt_value *shape = prt_build_shape(b, stacked);
    prt_value *n = prt_build_slice(b, shape, 0, 0, 1, 1);
    prt_value *rest =
        prt_build_binary(b, PRT_OP_sub, prt_build_reshape(b, v->list.size, 1, (int64_t[]){ 1 }), n);
    if (v->list.grows)
        rest = prt_build_op(b, PRT_OP_max, NULL, 2, (prt_value *[]){ rest, prt_build_i64(b, 0) });
    shape = prt_build_concat(b, 0, 2,
        (prt_value *[]){ rest, prt_build_slice(b, shape, 0, 1, INT64_MAX, 1) });
    prt_value *zeros = prt_build_expand(b, prt_build_number(b, stacked, 0), shape);
    return prt_build_concat(b, 0, 2, (prt_value *[]){ stacked, zeros });
}

static poprt_status set_results(loop *l, const prt_op *op, const prt_tf_value *bounds,
    uint32_t n_bounds, prt_tf_value *out)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < l->def->n; i++) {
        out[i] = l->def->start[i];
        if (l->v[i].role != CARRIED)
            continue;
        prt_value *value = &op->out[at++];
        const prt_tf_list list = l->v[i].list.form == PRT_TF_LIST_sequence
            ? prt_tf_list_of_sequence(&l->v[i].list, value)
            : prt_tf_list_of_tensor(value);
        if (l->v[i].kind == PRT_TF_list)
            out[i] = prt_tf_list_value(l->call->c, &list);
        else
            out[i].value = value;
    }
    for (uint32_t i = 0; i < l->def->n; i++) {
        if (l->v[i].role != SCANNED)
            continue;
        prt_value *all = fill_up(l, &l->v[i], &op->out[at++], bounds, n_bounds);
        PRT_TRY(prt_build_status(&l->call->b));
        prt_tf_list list = prt_tf_list_of_tensor(all);
        if (l->v[i].scan.index != NULL && !l->v[i].list.grows)
            list.size = l->v[i].list.size;
        out[i] = prt_tf_list_value(l->call->c, &list);
    }
    return POPRT_OK;
}

static poprt_status make_loop(loop *l, prt_value *first, prt_tf_value *out)
{
    const uint32_t n = l->def->n;
    prt_tf_call *call = l->call;
    prt_tf_value bounds[4];
    uint32_t n_bounds = 0, n_in = 2, n_out = 1;
    prt_value **in = PRT_NEW_N(call->c->arena, prt_value *, n + 2);
    prt_value **results = PRT_NEW_N(call->c->arena, prt_value *, n + 1);
    if (in == NULL || results == NULL)
        return POPRT_E_NOMEM;
    in[0] = trip_count(l, bounds, &n_bounds);
    PRT_TRY(prt_build_status(&call->b));
    if (in[0] == NULL)
        n_bounds = 0;
    prt_build inner = prt_build_at_end(l->region);
    in[1] = in[0] != NULL ? NULL : first;
    results[0] = in[0] != NULL ? prt_build_scalar(&inner, PRT_DTYPE_bool, 1) : l->again;
    for (uint32_t i = 0; i < n; i++)
        if (l->v[i].role == CARRIED) {
            in[n_in++] = l->v[i].start;
            results[n_out++] = l->v[i].next;
        }
    for (uint32_t i = 0; i < n; i++)
        if (l->v[i].role == SCANNED)
            results[n_out++] = prt_build_cast(&inner, l->v[i].scan.item, l->v[i].list.dtype);
    PRT_TRY(prt_build_status(&inner));
    PRT_TRY(prt_tf_region_end(call->c, l->region, n_out, results));
    const prt_op *op = prt_tf_region_op(call, PRT_OP_loop, n_in, in, n_out - 1, 1, &l->region);
    return op != NULL ? set_results(l, op, bounds, n_bounds, out) : prt_build_status(&call->b);
}

/* ---- all attempts */

/* The report of unsupported nodes, to forget those of an attempt that is repeated. */
typedef struct report {
    size_t count;
    prt_tf_unsupported *kept;
} report;

static poprt_status save_report(prt_tf_converter *c, report *r)
{
    r->count = c->unsupported.count;
    r->kept = prt_arena_copy(c->arena, c->unsupported.data, r->count * sizeof(*r->kept));
    return r->count == 0 || r->kept != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void restore_report(prt_tf_converter *c, const report *r)
{
    c->unsupported.count = r->count;
    if (r->count != 0)
        memcpy(c->unsupported.data, r->kept, r->count * sizeof(*r->kept));
}

static poprt_status convert(loop *l, prt_value *first, prt_tf_value *out)
{
    prt_tf_converter *c = l->call->c;
    report before;
    bool again = true, failed = false;
    PRT_TRY(save_report(c, &before));
    for (uint32_t i = 0; i < l->def->n; i++)
        PRT_TRY(classify(l, i));
    for (uint32_t k = 0; again && k < ATTEMPTS; k++) {
        if (l->region != NULL) {
            PRT_TRY(prt_tf_region_drop(l->call, l->region));
            restore_report(c, &before);
        }
        PRT_TRY(attempt(l, &again, &failed));
    }
    if (again)
        return prt_tf_refuse(l->call, "the types of the loop's variables change without end");
    for (uint32_t i = 0; i < l->def->n && failed; i++)
        out[i] = (prt_tf_value){ .kind = PRT_TF_failed };
    return failed ? POPRT_OK : make_loop(l, first, out);
}

poprt_status prt_tf_convert_loop(prt_tf_call *call, const prt_tf_loop *def, prt_tf_value *out)
{
    prt_tf_converter *c = call->c;
    bool runs;
    prt_tf_value first;
    loop l = { .call = call,
        .def = def,
        .v = PRT_NEW_N(c->arena, variable, def->n),
        .values = PRT_NEW_N(c->arena, prt_tf_value, def->n),
        .next = PRT_NEW_N(c->arena, prt_tf_value, def->n) };
    if (l.v == NULL || l.values == NULL || l.next == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < def->n; i++)
        out[i] = (prt_tf_value){ .kind = PRT_TF_failed };
    for (uint32_t i = 0; i < def->n; i++)
        if (def->start[i].kind == PRT_TF_failed)
            return POPRT_OK;
    PRT_TRY(def->condition(call, def->user, call->b.graph, def->start, &first));
    if (first.kind == PRT_TF_failed)
        return POPRT_OK;
    if (first.kind != PRT_TF_tensor)
        return prt_tf_refuse(call, "the condition is not a tensor");
    const prt_op *last = call->b.graph->last;
    first.value = prt_tf_condition(call, &call->b, first.value);
    PRT_TRY(prt_tf_end(call));
    PRT_TRY(prt_tf_fold(c, call->b.graph, last, 1, &first));
    if (prt_tf_known_condition(call, first.value, &runs) && !runs) {
        memcpy(out, def->start, def->n * sizeof(*out));
        return POPRT_OK;
    }
    return convert(&l, first.value, out);
}
