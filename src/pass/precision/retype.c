/* SPDX-License-Identifier: MIT */
/*
 * retype.c — conversion walk. Visits the ops in order; each reads the copy of its operands that it
 * can use, and inference gives the types of its results. If inference rejects the new type, the op
 * goes back to the old one.
 */
#include "pass/precision/retype_state.h"

static poprt_status convert_graph(prt_retype_state *s, prt_graph *graph);

/* Returns whether the value has a copy of type `from` or `to`, or is a constant that will get
 * one. */
static bool is_from(const prt_retype_state *s, const prt_value *v)
{
    const prt_retype_copies *f = v != NULL ? prt_retype_copies_of(s, v) : NULL;
    if (f == NULL)
        return false;
    return f->full != NULL || f->to != NULL ||
        (prt_value_is_constant(v) && prt_retype_is(v, s->how->from));
}

/* Returns whether the value itself is the full copy: its op gives it, or it is an input that
 * stays. */
static bool is_full(const prt_retype_state *s, const prt_value *v)
{
    return prt_retype_copies_of(s, v)->full == v;
}

/* Returns whether the operand is a mask that attention adds to its scores; it may hold numbers
 * below the range of `to`. */
static bool is_mask(const prt_retype_state *s, const prt_op *op, uint32_t slot)
{
    if (!s->how->clip || op->def == NULL || slot >= op->n_in || !is_from(s, op->in[slot].value))
        return false;
    const char *name = prt_slot_name(prt_op_in_slot(op->def, slot));
    return strcmp(name, "attn_mask") == 0 || strcmp(name, "attention_bias") == 0;
}

static poprt_status use_copy(prt_retype_state *s, prt_op *op, uint32_t slot, bool full)
{
    prt_value *copy;
    if (!full && is_mask(s, op, slot))
        PRT_TRY(prt_retype_mask(s, op->in[slot].value, &copy));
    else
        PRT_TRY(prt_retype_copy_of(s, op->in[slot].value, full, &copy));
    s->changed = s->changed || copy != op->in[slot].value;
    prt_op_set_input(op, slot, copy);
    return POPRT_OK;
}

/* ---- ops that are kept */

static void note_full(const prt_retype_state *s, prt_value *v)
{
    if (prt_retype_is(v, s->how->from))
        prt_retype_copies_of(s, v)->full = v;
}

static poprt_status convert_regions(prt_retype_state *s, prt_op *op)
{
    const bool before = s->changed;
    s->changed = false;
    for (uint32_t i = 0; i < op->n_regions; i++)
        PRT_TRY(convert_graph(s, op->regions[i]));
    if (s->changed)
        prt_op_touch(op);
    s->changed = s->changed || before;
    return POPRT_OK;
}

static poprt_status keep_op(prt_retype_state *s, prt_op *op)
{
    PRT_TRY(prt_retype_clip_fill(s, op));
    for (uint32_t i = 0; i < op->n_in; i++)
        PRT_TRY(use_copy(s, op, i, true));
    for (uint32_t i = 0; i < op->n_regions; i++)
        for (size_t k = 0; k < op->regions[i]->inputs.count; k++)
            note_full(s, op->regions[i]->inputs.data[k]);
    for (uint32_t i = 0; i < op->n_out; i++)
        note_full(s, &op->out[i]);
    return convert_regions(s, op);
}

/* ---- ops that are converted */

/* State of an op before its conversion, to restore it. */
typedef struct saved {
    prt_value **in;
    const prt_type **types; /* types of the outputs */
    void *attrs;
} saved;

static poprt_status save(prt_retype_state *s, const prt_op *op, saved *to)
{
    to->attrs = op->attrs;
    to->in = PRT_NEW_N(s->p->arena, prt_value *, (size_t)op->n_in + 1);
    to->types = PRT_NEW_N(s->p->arena, const prt_type *, (size_t)op->n_out + 1);
    if (to->in == NULL || to->types == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        to->in[i] = op->in[i].value;
    for (uint32_t i = 0; i < op->n_out; i++)
        to->types[i] = op->out[i].type;
    return POPRT_OK;
}

/* Returns whether the axes must stay int64: the schema allows int32, other readers of ONNX do
 * not. */
static bool has_wide_axes(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_pad) || prt_op_is(op, PRT_OP_center_crop_pad);
}

/* Returns whether the variable holds positions in an image, for which 16 bits are not precise
 * enough. */
static bool is_position(const prt_op *op, const prt_type_def *var)
{
    return (prt_op_is(op, PRT_OP_grid_sample) || prt_op_is(op, PRT_OP_resize)) &&
        strcmp(var->var, "T2") == 0;
}

/* Returns whether the op computes with a 16-bit float. Other runtimes then require all its floats
 * in that type, even if the schema has several type variables (keys and values of Attention). */
static bool computes_in_half(const prt_retype_state *s, const prt_op *op)
{
    if ((s->how->to != PRT_DTYPE_f16 && s->how->to != PRT_DTYPE_bf16) ||
        prt_op_is(op, PRT_OP_cast) || prt_op_is(op, PRT_OP_cast_like))
        return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_retype_is(&op->out[i], s->how->from) &&
            prt_retype_allows(op, prt_op_out_slot(op->def, i), s->how->to))
            return true;
    return false;
}

/* Returns whether operands of a type variable are read in full: its set lacks the new type, or no
 * result depends on it and all computed operands are available in full. */
static bool is_full_var(const prt_retype_state *s, const prt_op *op, const prt_type_def *var)
{
    bool computed = false, all_full = true;
    if ((var->set >> s->how->to & 1) == 0 || (has_wide_axes(op) && strcmp(var->var, "Tind") == 0))
        return true;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_retype_wraps(op->out[i].type, s->how->from) ||
            (prt_retype_is(&op->out[i], s->how->from) &&
                strcmp(prt_op_out_slot(op->def, i)->var, var->var) == 0))
            return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (!is_from(s, v) || prt_value_is_fixed(v) ||
            strcmp(prt_op_in_slot(op->def, i)->var, var->var) != 0)
            continue;
        computed = true;
        all_full = all_full && is_full(s, v);
    }
    if (computes_in_half(s, op) && !is_position(op, var))
        return false;
    return computed && all_full && (!s->how->eager || prt_op_is(op, PRT_OP_cast));
}

/* Decides for all type variables before it replaces any operand. */
static poprt_status set_operands(prt_retype_state *s, prt_op *op)
{
    bool *full = PRT_NEW_N(s->p->arena, bool, (size_t)op->def->n_types + 1);
    if (full == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < op->def->n_types; k++)
        full[k] = is_full_var(s, op, &op->def->types[k]);
    for (uint32_t i = 0; i < op->n_in; i++)
        for (uint32_t k = 0; is_from(s, op->in[i].value) && k < op->def->n_types; k++)
            if (strcmp(op->def->types[k].var, prt_op_in_slot(op->def, i)->var) == 0) {
                PRT_TRY(use_copy(s, op, i,
                    full[k] && !prt_retype_wraps(op->in[i].value->type, s->how->to)));
                break;
            }
    return POPRT_OK;
}

/* The iteration number of a Loop is always int64. */
static poprt_status set_region_inputs(prt_retype_state *s, prt_op *op)
{
    for (uint32_t i = 0; i < op->n_regions; i++)
        for (uint32_t k = 0; k < op->regions[i]->inputs.count; k++) {
            prt_value *v = op->regions[i]->inputs.data[k];
            if (prt_op_is(op, PRT_OP_loop) && k == 0)
                note_full(s, v);
            else if (prt_retype_is(v, s->how->from) || prt_retype_wraps(v->type, s->how->from))
                PRT_TRY(prt_retype_input(s, v));
        }
    return POPRT_OK;
}

static poprt_status declare_outputs(prt_retype_state *s, prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        if (prt_retype_is(v, s->how->from) &&
            !prt_retype_allows(op, prt_op_out_slot(op->def, i), s->how->to))
            continue;
        v->type = prt_retype_type(s, v->type);
        if (v->type == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status note_outputs(prt_retype_state *s, prt_op *op, const saved *was)
{
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        prt_retype_copies *f = prt_retype_copies_of(s, v);
        const prt_type *old = was->types[i];
        const bool wrapped = prt_retype_wraps(old, s->how->from);
        if (!wrapped && (old->kind != PRT_VALUE_TENSOR || old->dtype != s->how->from))
            continue;
        if (!wrapped && !prt_retype_is(v, s->how->to)) {
            f->full = v;
            continue;
        }
        f->to = v;
        s->changed = true;
        prt_op_touch(op);
        if (s->how->rounds && !wrapped && prt_value_used(v)) {
            PRT_TRY(prt_retype_cast(s, v, s->how->from, &f->full));
            f->to = NULL;
        }
    }
    return POPRT_OK;
}

/* Returns whether a Cast converts to the present type of its operand; did_nothing: to its former
 * type. */
static bool does_nothing(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_cast) && prt_retype_is(&op->out[0], op->in[0].value->type->dtype);
}

static bool did_nothing(const prt_retype_state *s, const prt_op *op)
{
    return prt_op_is(op, PRT_OP_cast) && is_from(s, op->in[0].value) &&
        prt_retype_is(&op->out[0], s->how->from);
}

static poprt_status go_back(prt_retype_state *s, prt_op *op, const saved *was)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        prt_op_set_input(op, i, was->in[i]);
    for (uint32_t i = 0; i < op->n_out; i++)
        op->out[i].type = was->types[i];
    op->attrs = was->attrs;
    return keep_op(s, op);
}

static poprt_status convert_op(prt_retype_state *s, prt_op *op)
{
    saved was;
    bool new_attrs;
    const bool idle = did_nothing(s, op);
    PRT_TRY(save(s, op, &was));
    PRT_TRY(set_operands(s, op));
    PRT_TRY(prt_retype_attrs(s, op, &new_attrs));
    PRT_TRY(set_region_inputs(s, op));
    PRT_TRY(convert_regions(s, op));
    PRT_TRY(declare_outputs(s, op));
    const poprt_status status = prt_ir_infer_op(op);
    if (status == POPRT_E_NOMEM || status == POPRT_E_CANCELLED ||
        (status != POPRT_OK && op->n_regions != 0))
        return status;
    if (status != POPRT_OK)
        return go_back(s, op, &was);
    if (new_attrs) {
        prt_op_touch(op);
        s->changed = true;
    }
    PRT_TRY(note_outputs(s, op, &was));
    if (!idle && does_nothing(op) && !PRT_VEC_PUSH(s->p->arena, &s->casts, op))
        return POPRT_E_NOMEM;
    return POPRT_OK;
}

/* ---- the walk */

/* Returns whether the op reads or gives the type at all. */
static bool is_concerned(const prt_retype_state *s, const prt_op *op)
{
    if (op->n_regions != 0)
        return true;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (is_from(s, op->in[i].value))
            return true;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_retype_is(&op->out[i], s->how->from) ||
            prt_retype_wraps(op->out[i].type, s->how->from))
            return true;
    return false;
}

static prt_retype_mode follow(const prt_retype_state *s, const prt_op *op)
{
    bool any = false, converted = false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (!is_from(s, v))
            continue;
        any = true;
        if (!prt_value_is_fixed(v) && is_full(s, v))
            return PRT_RETYPE_KEEP;
        converted = converted || !prt_value_is_fixed(v);
    }
    return converted || (any && s->how->follow) ? PRT_RETYPE_CONVERT : PRT_RETYPE_KEEP;
}

static poprt_status visit(prt_retype_state *s, const prt_retype_graph *g, prt_op *op)
{
    prt_retype_mode mode = g->modes[op->id];
    if (!is_concerned(s, op))
        return POPRT_OK;
    if (mode == PRT_RETYPE_FOLLOW)
        mode = follow(s, op);
    return mode == PRT_RETYPE_CONVERT ? convert_op(s, op) : keep_op(s, op);
}

/* Sets a result of the graph. If a Cast follows the value, an output of the model keeps its
 * name. */
static poprt_status set_result(prt_retype_state *s, prt_graph *graph, uint32_t slot, bool full)
{
    prt_value *old = graph->ret->in[slot].value;
    PRT_TRY(use_copy(s, graph->ret, slot, full));
    prt_value *now = graph->ret->in[slot].value;
    if (graph->owner != NULL || now == old || old->name.size == 0 || now->name.size != 0 ||
        prt_value_is_output(old) || old->def == NULL ||
        !prt_str_equal(old->name, graph->output_names.data[slot]))
        return POPRT_OK;
    const prt_str name = old->name;
    old->name = PRT_STR("");
    prt_op_touch(old->def);
    prt_for_each_use (use, old)
        prt_op_touch(use->user);
    return prt_value_set_name(now, name);
}

/* Returns whether an op that is kept reads the value; then sequences among the inputs stay. */
static bool is_kept(const prt_retype_state *s, const prt_value *v)
{
    prt_for_each_use (use, v) {
        const prt_op *user =
            use->user == use->user->graph->ret ? use->user->graph->owner : use->user;
        if (user != NULL && prt_retype_graph_of(s, user->graph)->modes[user->id] == PRT_RETYPE_KEEP)
            return true;
    }
    return false;
}

static poprt_status convert_inputs(prt_retype_state *s, prt_graph *graph)
{
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_value *v = graph->inputs.data[i];
        const bool wrapped = prt_retype_wraps(v->type, s->how->from);
        if (!wrapped && !prt_retype_is(v, s->how->from))
            continue;
        if (s->how->inputs && !prt_retype_has_bits(s, v) && (!wrapped || !is_kept(s, v)))
            PRT_TRY(prt_retype_input(s, v));
        else if (!wrapped)
            note_full(s, v);
    }
    return POPRT_OK;
}

static poprt_status convert_graph(prt_retype_state *s, prt_graph *graph)
{
    const prt_retype_graph *g = prt_retype_graph_of(s, graph);
    if (graph->owner == NULL)
        PRT_TRY(convert_inputs(s, graph));
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        next = op->next;
        PRT_TRY(prt_pass_check(s->p));
        PRT_TRY(visit(s, g, op));
    }
    const bool full = graph->owner == NULL ? !s->how->outputs : g->edges;
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        PRT_TRY(set_result(s, graph, i, full || prt_retype_has_bits(s, graph->ret->in[i].value)));
    return POPRT_OK;
}

poprt_status prt_retype_move_name(prt_value *to, prt_value *from)
{
    const prt_str name = from->name;
    if (prt_value_used(from) || prt_value_is_input(from) || name.size == 0)
        return POPRT_OK;
    from->name = PRT_STR("");
    to->name = PRT_STR("");
    return prt_value_set_name(to, name);
}

static poprt_status drop_casts(prt_retype_state *s)
{
    for (size_t i = 0; i < s->casts.count; i++) {
        prt_op *op = s->casts.data[i];
        prt_build b = prt_build_before(op);
        if (!op->dead)
            (void)prt_pass_replace(&b, &op->out[0], op->in[0].value);
        PRT_TRY(prt_build_status(&b));
    }
    return POPRT_OK;
}

static void report_value(const prt_retype_state *s, const prt_value *v)
{
    const prt_retype_copies *f = prt_retype_copies_of(s, v);
    if (f != NULL && f->to != NULL)
        s->how->converted(s->how->watch, v);
}

static void report_values(const prt_retype_state *s)
{
    const prt_graph *g = s->p->module->main;
    for (size_t i = 0; i < g->inputs.count; i++)
        if (g->inputs.data[i]->constant == NULL)
            report_value(s, g->inputs.data[i]);
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_out; i++)
            report_value(s, &op->out[i]);
}

poprt_status prt_retype_run(prt_pass *p, const prt_retype *how, bool *changed)
{
    prt_retype_state s = { .p = p, .how = how };
    PRT_TRY(prt_retype_plan(&s));
    PRT_TRY(convert_graph(&s, p->module->main));
    if (how->converted != NULL)
        report_values(&s);
    PRT_TRY(drop_casts(&s));
    for (size_t i = 0; i < s.made.count; i++)
        PRT_TRY(prt_retype_move_name(s.made.data[i].to, s.made.data[i].from));
    (void)prt_graph_drop_constants(p->module->main, true);
    *changed = *changed || s.changed;
    return POPRT_OK;
}
