/* SPDX-License-Identifier: MIT */
/*
 * retype_value.c — copies of values: inserts missing Casts and converts constants.
 *
 * Conversion to float16 clips to the range of finite numbers, and raises a single number that would
 * become 0 (for instance an epsilon); both give a warning. Conversion to bfloat16 clips finite
 * numbers that would round to infinity. Integers are clipped to the new range.
 */
#include <float.h>
#include <math.h>

#include "op/share/number_text.h"
#include "pass/precision/retype_state.h"

prt_retype_copies *prt_retype_copies_of(const prt_retype_state *s, const prt_value *v)
{
    const prt_retype_graph *g = prt_retype_graph_of(s, v->graph);
    return v->id < g->n_values ? &g->copies[v->id] : NULL;
}

const prt_type *prt_retype_type(const prt_retype_state *s, const prt_type *type)
{
    prt_types *types = s->p->module->types;
    const int32_t from = s->how->from, to = s->how->to;
    if (type->kind == PRT_VALUE_TENSOR)
        return type->dtype == from ? prt_type_tensor(types, to, type->rank, type->dims) : type;
    if (!prt_retype_wraps(type, from))
        return type;
    const prt_type *elem = type->elem != NULL ? prt_retype_type(s, type->elem) : NULL;
    if (elem == NULL && type->elem != NULL)
        return NULL;
    return prt_type_wrap(types, type->kind, type->dtype == from ? to : type->dtype, elem);
}

/* ---- constants */

typedef struct converted {
    bool clipped, raised;
    double old, now; /* of a raised number */
} converted;

double prt_retype_clip(const prt_retype *how, double x)
{
    if (!how->clip || !(x > how->high || x < how->low) || (!how->infinities && isinf(x)))
        return x;
    return x > 0 ? how->high : how->low;
}

static void convert_floats(const prt_retype *how, const prt_tensor *t, void *data, converted *c)
{
    const size_t n = prt_tensor_count(t);
    for (size_t i = 0; i < n; i++) {
        const double x = prt_load_f64(t->dtype, t->data, i);
        double y = prt_retype_clip(how, x);
        if (y < x || y > x) {
            c->clipped = !how->quiet;
        } else if (n == 1 && x != 0 && fabs(x) < how->least) {
            y = copysign(how->least, x);
            *c = (converted){ .raised = true, .old = x, .now = y };
        }
        prt_store_f64(how->to, data, i, y);
    }
}

static void convert_integers(const prt_retype *how, const prt_tensor *t, void *data, converted *c)
{
    const size_t n = prt_tensor_count(t);
    for (size_t i = 0; i < n; i++) {
        const int64_t x = prt_load_i64(t->dtype, t->data, i);
        const int64_t y = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
        c->clipped = c->clipped || x != y;
        prt_store_i64(how->to, data, i, y);
    }
}

/* Returns the subject of a message: the constant, or an op that reads it. */
static const char *label_of(const prt_value *v)
{
    if (v->name.size != 0)
        return v->name.data;
    return v->uses != NULL && v->uses->user->def != NULL ? prt_op_label(v->uses->user) : "";
}

static void warn_about(const prt_retype_state *s, const prt_value *v, const converted *c)
{
    const prt_retype *how = s->how;
    char from[PRT_NUMBER_TEXT], to[PRT_NUMBER_TEXT];
    const char *name = label_of(v);
    if (c->clipped && prt_dtype_is_float(how->to)) {
        (void)prt_print_f64(PRT_DTYPE_f64, how->low, from);
        (void)prt_print_f64(PRT_DTYPE_f64, how->high, to);
        prt_pass_warn(s->p, name, "Clip %s to range (%s, %s)", name, from, to);
    } else if (c->clipped) {
        prt_pass_warn(s->p, name, "Clip %s to range (%d, %d)", name, INT32_MIN, INT32_MAX);
    }
    if (c->raised) {
        (void)prt_print_f64(PRT_DTYPE_f64, c->old, from);
        (void)prt_print_f64(PRT_DTYPE_f64, c->now, to);
        prt_pass_warn(s->p, name, "Set Node %s from %s to %s", name, from, to);
    }
}

static poprt_status convert(prt_retype_state *s, const prt_value *v, prt_blob **out)
{
    prt_tensor t;
    size_t size;
    converted c = { 0 };
    *out = NULL;
    if (!prt_value_tensor(v, &t) || !prt_dtype_size(s->how->to, prt_tensor_count(&t), &size))
        return prt_fail(POPRT_E_LIMIT, v->name.data, "the bytes of a constant are not available");
    PRT_TRY(prt_pass_check(s->p));
    PRT_TRY(prt_blob_create(s->p->module->allocator, size, out));
    if (prt_dtype_is_float(s->how->to))
        convert_floats(s->how, &t, prt_blob_bytes(*out), &c);
    else
        convert_integers(s->how, &t, prt_blob_bytes(*out), &c);
    warn_about(s, v, &c);
    return POPRT_OK;
}

static poprt_status derive(prt_retype_state *s, prt_value *v, prt_value **out)
{
    prt_blob *blob;
    const prt_type *type = prt_retype_type(s, v->type);
    if (type == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(convert(s, v, &blob));
    *out = prt_pass_derive(v->graph, v, type, blob);
    if (*out == NULL)
        return POPRT_E_NOMEM;
    (*out)->content = v->content;
    s->changed = true;
    const prt_retype_made made = { *out, v };
    return PRT_VEC_PUSH(s->p->arena, &s->made, made) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Also converts a weight that an op writes, so that all of its readers still read one value. */
poprt_status prt_retype_input(prt_retype_state *s, prt_value *v)
{
    prt_blob *blob = NULL;
    const prt_type *type = prt_retype_type(s, v->type);
    if (type == NULL)
        return POPRT_E_NOMEM;
    if (v->constant != NULL) {
        PRT_TRY(convert(s, v, &blob));
        PRT_TRY(prt_module_keep(s->p->module, blob));
        v->constant = blob;
        v->stored = NULL;
    }
    v->type = type;
    s->changed = true;
    *prt_retype_copies_of(s, v) = (prt_retype_copies){ .to = v };
    return POPRT_OK;
}

/* ---- Casts */

static prt_build build_behind(const prt_value *v)
{
    prt_graph *g = v->graph;
    prt_op *before = v->def != NULL ? v->def->next : g->first;
    return before != NULL ? prt_build_before(before) : prt_build_at_end(g);
}

poprt_status prt_retype_cast(prt_retype_state *s, prt_value *v, int32_t to, prt_value **out)
{
    prt_build b = build_behind(v);
    prt_cast_attrs a = PRT_ATTRS_OF(cast);
    prt_value *in[1] = { v };
    b.origin = PRT_STR("");
    PRT_ATTR_SET(a, cast, to, to);
    *out = prt_build_op(&b, PRT_OP_cast, &a, 1, in);
    s->changed = true;
    return prt_build_status(&b);
}

/* Returns the operand of a Cast from `to` to the full copy; NULL if there is no such Cast. */
static prt_value *before_widening(const prt_retype_state *s, const prt_value *v)
{
    const prt_op *def = v->def;
    const bool widens =
        def != NULL && prt_op_is(def, PRT_OP_cast) && prt_retype_is(def->in[0].value, s->how->to);
    return widens ? def->in[0].value : NULL;
}

static poprt_status make_to(prt_retype_state *s, prt_value *v, prt_retype_copies *f)
{
    if (f->full == v && prt_value_is_fixed(v))
        return derive(s, v, &f->to);
    f->to = before_widening(s, v);
    return f->to != NULL ? POPRT_OK : prt_retype_cast(s, f->full, s->how->to, &f->to);
}

/* Returns whether an op that keeps its types writes the weight, which then keeps its type too. */
static bool is_written_in_place(const prt_retype_state *s, const prt_value *v)
{
    prt_for_each_use (use, v)
        if (prt_use_writes(use) && s->how->mode(s->how, use->user) != PRT_RETYPE_CONVERT)
            return true;
    return false;
}

poprt_status prt_retype_copy_of(prt_retype_state *s, prt_value *v, bool full, prt_value **out)
{
    prt_retype_copies *f = v != NULL ? prt_retype_copies_of(s, v) : NULL;
    *out = v;
    if (f == NULL)
        return POPRT_OK;
    if (f->full == NULL && f->to == NULL) {
        if (!prt_value_is_constant(v) || !prt_retype_is(v, s->how->from))
            return POPRT_OK;
        if (!prt_value_is_fixed(v) && !is_written_in_place(s, v))
            PRT_TRY(prt_retype_input(s, v));
        else
            f->full = v;
    }
    const bool from_converted =
        full && s->how->constants_as_to && f->full == v && prt_value_is_fixed(v);
    if (f->to == NULL && (!full || from_converted))
        PRT_TRY(make_to(s, v, f));
    if (full && (f->full == NULL || from_converted))
        PRT_TRY(prt_retype_cast(s, f->to, s->how->from, &f->full));
    *out = full ? f->full : f->to;
    return POPRT_OK;
}

poprt_status prt_retype_mask(prt_retype_state *s, prt_value *v, prt_value **out)
{
    prt_retype_copies *f = prt_retype_copies_of(s, v);
    if (f->full == NULL || prt_value_is_fixed(v) || before_widening(s, f->full) != NULL)
        return prt_retype_copy_of(s, v, false, out);
    if (f->mask == NULL) {
        prt_build b = build_behind(f->full);
        b.origin = PRT_STR("");
        prt_value *least = prt_build_scalar(&b, s->how->from, s->how->low);
        prt_value *finite = prt_build_scalar(&b, s->how->from, -(double)FLT_MAX);
        prt_value *in[3] = { prt_build_binary(&b, PRT_OP_less, f->full, finite), f->full,
            prt_build_binary(&b, PRT_OP_max, f->full, least) };
        prt_value *above = prt_build_op(&b, PRT_OP_where, NULL, 3, in);
        PRT_TRY(prt_build_status(&b));
        PRT_TRY(prt_retype_cast(s, above, s->how->to, &f->mask));
    }
    *out = f->mask;
    return POPRT_OK;
}
