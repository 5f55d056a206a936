/* SPDX-License-Identifier: MIT */
/* infer.c — infers types of graph values through the operators' infer hooks. */
#include "ir/report.h"
#include "ir/ir.h"
#include "op/content.h"

/* Merges the declared type of a region's input (`old`) with the type of the value passed to it
 * (`now`): `now` wins where it is known, `old` fills the gaps. A run of the region checks the
 * declared dims against the real ones. */
static const prt_type *merge_types(prt_module *m, const prt_type *old, const prt_type *now)
{
    if (old->kind != PRT_VALUE_TENSOR || now->kind != PRT_VALUE_TENSOR || old == now)
        return now->kind == PRT_VALUE_UNKNOWN || (now->elem == NULL && old->elem != NULL) ? old
                                                                                          : now;
    const int32_t dtype = now->dtype != PRT_DTYPE_undefined ? now->dtype : old->dtype;
    if (now->rank < 0 || (old->rank >= 0 && old->rank != now->rank))
        return now->rank < 0 ? prt_type_tensor(m->types, dtype, old->rank, old->dims) : now;
    if (old->rank < 0)
        return now;
    int64_t dims[PRT_MAX_RANK];
    if (now->rank > PRT_MAX_RANK)
        return now;
    for (int32_t i = 0; i < now->rank; i++)
        dims[i] = now->dims[i] == PRT_DIM_UNKNOWN ? old->dims[i] : now->dims[i];
    return prt_type_tensor(m->types, dtype, now->rank, dims);
}

/*
 * Returns the type of an op's output after inference. Kernels rely on inferred dims and a model may
 * declare anything, so declared dims are ignored. A declared kind or element type only fills a gap;
 * the run checks it when it computes the value.
 */
static const prt_type *finalize_type(prt_module *m, const prt_type *declared, const prt_type *now)
{
    if (now->kind == PRT_VALUE_UNKNOWN && declared->kind == PRT_VALUE_TENSOR)
        return prt_type_tensor(m->types, declared->dtype, PRT_RANK_UNKNOWN, NULL);
    if (now->kind == PRT_VALUE_UNKNOWN || (now->kind == declared->kind && now->elem == NULL))
        if (declared->kind != PRT_VALUE_TENSOR && declared->kind != PRT_VALUE_UNKNOWN)
            return declared;
    if (now->kind == PRT_VALUE_TENSOR && now->dtype == PRT_DTYPE_undefined &&
        declared->kind == PRT_VALUE_TENSOR)
        return prt_type_tensor(m->types, declared->dtype, now->rank, now->dims);
    return now;
}

static void shape_of_type(const prt_type *type, prt_shape *s)
{
    *s = (prt_shape){ .kind = type->kind,
        .dtype = type->dtype,
        .rank = PRT_RANK_UNKNOWN,
        .elem = type->elem };
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0 || type->rank > PRT_MAX_RANK)
        return;
    s->rank = type->rank;
    if (type->rank > 0)
        memcpy(s->dims, type->dims, (size_t)type->rank * sizeof(int64_t));
}

static const prt_type *type_of_shape(prt_module *m, const prt_shape *s)
{
    switch (s->kind) {
    case PRT_VALUE_TENSOR:
        return prt_type_tensor(m->types, s->dtype, s->rank, s->dims);
    case PRT_VALUE_SEQUENCE:
    case PRT_VALUE_OPTIONAL:
    case PRT_VALUE_MAP:
        return prt_type_wrap(m->types, s->kind, s->dtype, s->elem);
    default:
        if (s->dtype != PRT_DTYPE_undefined)
            return prt_type_tensor(m->types, s->dtype, PRT_RANK_UNKNOWN, NULL);
        return prt_type_unknown(m->types);
    }
}

/* Copies integer contents into the module's arena. */
static poprt_status keep_content(prt_module *m, const prt_content *known, const prt_content **out)
{
    *out = NULL;
    if (known == NULL || known->count == 0)
        return POPRT_OK;
    prt_content *content = PRT_NEW(m->arena, prt_content);
    const int64_t *values = prt_arena_copy(m->arena, known->values, known->count * sizeof(int64_t));
    if (content == NULL || values == NULL)
        return POPRT_E_NOMEM;
    *content = (prt_content){ .count = known->count, .values = values };
    *out = content;
    return POPRT_OK;
}

/* Returns whether two contents have the same count and elements; both may be NULL. */
static bool same_content(const prt_content *a, const prt_content *b)
{
    const uint32_t n = a != NULL ? a->count : 0;
    return n == (b != NULL ? b->count : 0) &&
        (n == 0 || memcmp(a->values, b->values, n * sizeof(int64_t)) == 0);
}

/* Returns whether the declared rank or a declared number differs from that of `run`. */
static bool contradicts(const prt_type *declared, const prt_shape *run)
{
    if (declared->kind != PRT_VALUE_TENSOR || run->kind != PRT_VALUE_TENSOR || declared->rank < 0 ||
        run->rank < 0)
        return false;
    if (declared->rank != run->rank)
        return true;
    for (int32_t i = 0; i < run->rank; i++)
        if (prt_dim_is_number(run->dims[i]) && prt_dim_is_number(declared->dims[i]) &&
            run->dims[i] != declared->dims[i])
            return true;
    return false;
}

/* Returns whether the declared types of all inputs of the region are usable: if one is wrong, all
 * are ignored. */
static bool declarations_hold(const prt_graph *g, const prt_region *r)
{
    for (uint32_t i = 0; i < r->n_in && i < g->inputs.count; i++) {
        const prt_type *declared = g->inputs.data[i]->type;
        if ((r->first != NULL && contradicts(declared, &r->first[i])) ||
            (r->second != NULL && contradicts(declared, &r->second[i])))
            return false;
    }
    return true;
}

static poprt_status set_region_input(prt_graph *g, uint32_t i, const prt_region *r, bool believed)
{
    prt_module *m = g->module;
    prt_value *v = g->inputs.data[i];
    const prt_content *known = r->in_content != NULL ? &r->in_content[i] : NULL;
    const prt_type *type = type_of_shape(m, &r->in[i]);
    if (type == NULL)
        return POPRT_E_NOMEM;
    if ((r->trial || !believed) && type->kind != PRT_VALUE_UNKNOWN)
        v->type = type;
    else if (r->in[i].kind != PRT_VALUE_ABSENT)
        v->type = merge_types(m, v->type, type);
    return same_content(v->content, known) ? POPRT_OK : keep_content(m, known, &v->content);
}

/* Reads the type and the known contents of a region's output; constants have contents too. */
static poprt_status read_region_output(prt_infer *c, const prt_value *v, uint32_t i,
    const prt_region *r)
{
    prt_tensor t;
    prt_known known;
    shape_of_type(v->type, &r->out[i]);
    if (r->out_content == NULL)
        return POPRT_OK;
    if (v->content != NULL) {
        r->out_content[i] = *v->content;
    } else if (prt_value_is_fixed(v) && prt_value_tensor(v, &t) &&
        prt_known_read(c->dims, &t, &known)) {
        const int64_t *values =
            prt_arena_copy(c->scratch, known.values, known.count * sizeof(int64_t));
        if (values == NULL)
            return POPRT_E_NOMEM;
        r->out_content[i] = (prt_content){ .count = known.count, .values = values };
    }
    return POPRT_OK;
}

/* Replaces every dim that is not a number by an unknown one, in the inputs of a region and of its
 * nested regions. Types of ops follow from them. The readers of models bound the depth of the
 * recursion. */
static poprt_status drop_names(prt_graph *g)
{
    for (size_t i = 0; i < g->inputs.count; i++) {
        prt_value *v = g->inputs.data[i];
        prt_shape s;
        shape_of_type(v->type, &s);
        for (int32_t k = 0; k < s.rank; k++)
            if (!prt_dim_is_number(s.dims[k]))
                s.dims[k] = PRT_DIM_UNKNOWN;
        if (s.kind == PRT_VALUE_TENSOR && (v->type = type_of_shape(g->module, &s)) == NULL)
            return POPRT_E_NOMEM;
    }
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(drop_names(op->regions[i]));
    return POPRT_OK;
}

static poprt_status run_region(prt_infer *c, prt_graph *g, const prt_region *r)
{
    if (r->local_symbols)
        PRT_TRY(drop_names(g));
    const bool believed = declarations_hold(g, r);
    for (uint32_t i = 0; i < r->n_in && i < g->inputs.count; i++)
        PRT_TRY(set_region_input(g, i, r, believed));
    const poprt_status status = prt_ir_infer(g);
    g->contradictory = status == POPRT_E_SHAPE && prt_op_is(g->owner, PRT_OP_if);
    PRT_TRY(status);
    for (uint32_t i = 0; i < r->n_out; i++) {
        r->out[i] = (prt_shape){ .kind = PRT_VALUE_UNKNOWN, .rank = PRT_RANK_UNKNOWN };
        if (r->out_content != NULL)
            r->out_content[i] = (prt_content){ 0 };
        if (i < g->ret->n_in && g->ret->in[i].value != NULL)
            PRT_TRY(read_region_output(c, g->ret->in[i].value, i, r));
    }
    return POPRT_OK;
}

/* Type and contents of a value before a trial inference. */
typedef struct saved {
    prt_value *value;
    const prt_type *type;
    const prt_content *content;
} saved;

typedef PRT_VEC(saved) saved_list;

static poprt_status save_value(prt_arena *arena, prt_value *v, saved_list *to)
{
    const saved s = { v, v->type, v->content };
    return PRT_VEC_PUSH(arena, to, s) ? POPRT_OK : POPRT_E_NOMEM;
}

/* The readers of models bound the depth of the recursion. */
static poprt_status save_graph(prt_arena *arena, const prt_graph *g, saved_list *to)
{
    for (size_t i = 0; i < g->inputs.count; i++)
        PRT_TRY(save_value(arena, g->inputs.data[i], to));
    prt_for_each_op (op, g) {
        for (uint32_t i = 0; i < op->n_out; i++)
            PRT_TRY(save_value(arena, &op->out[i], to));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(save_graph(arena, op->regions[i], to));
    }
    return POPRT_OK;
}

/* Sets the types of a region's inputs, infers the region and reads the types of its outputs. After
 * a trial inference, restores all types in the region. */
static poprt_status infer_region(prt_infer *c, uint32_t region, const prt_region *r)
{
    prt_op *op = c->user;
    if (region >= op->n_regions)
        return prt_infer_fail(c, POPRT_E_PARSE, "has no region %u", region);
    prt_graph *g = op->regions[region];
    if (!r->trial)
        return run_region(c, g, r);
    saved_list before = { 0 };
    const bool contradictory = g->contradictory;
    PRT_TRY(save_graph(c->scratch, g, &before));
    const poprt_status status = run_region(c, g, r);
    g->contradictory = contradictory;
    for (size_t i = 0; i < before.count; i++) {
        before.data[i].value->type = before.data[i].type;
        before.data[i].value->content = before.data[i].content;
    }
    return status;
}

/* Returns whether the graph is nested so deep that trial inference is disabled. Each level of
 * trials multiplies the time, so only the outer LEVELS levels use them. */
static bool is_deep(const prt_graph *g)
{
    enum { LEVELS = 2 };
    uint32_t level = 0;
    while (g->owner != NULL && level < LEVELS) {
        g = g->owner->graph;
        level++;
    }
    return level == LEVELS;
}

/* Converts contents to a tensor, if all of them are numbers and the shape is static. A run would
 * compute exactly this tensor. */
static bool content_to_tensor(const prt_value *v, prt_arena *scratch, prt_tensor *out)
{
    const prt_type *type = v->type;
    const prt_content *known = v->content;
    if (known == NULL || type->kind != PRT_VALUE_TENSOR || type->rank < 0 ||
        type->dtype == PRT_DTYPE_undefined || type->dtype == PRT_DTYPE_string)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]))
            return false;
    for (uint32_t i = 0; i < known->count; i++)
        if (!prt_dim_is_number(known->values[i]))
            return false;
    if (!prt_tensor_init(out, type->dtype, (uint32_t)type->rank, type->dims, NULL) ||
        prt_tensor_count(out) != known->count)
        return false;
    out->data = prt_arena_alloc(scratch, out->size);
    for (uint32_t i = 0; out->data != NULL && i < known->count; i++)
        if (prt_dtype_is_float(type->dtype))
            prt_store_f64(type->dtype, out->data, i, (double)known->values[i]);
        else
            prt_store_i64(type->dtype, out->data, i, known->values[i]);
    return out->data != NULL;
}

/* Fills the operands of `c`. `content` has known integer contents; `value` has whole constants. */
static poprt_status read_inputs(const prt_op *op, bool all, prt_arena *scratch, prt_infer *c)
{
    prt_shape *in = PRT_NEW_N(scratch, prt_shape, (size_t)op->n_in + op->n_out);
    prt_content *content = PRT_NEW_N(scratch, prt_content, (size_t)op->n_in + op->n_out);
    const prt_tensor **value = PRT_NEW_N(scratch, const prt_tensor *, op->n_in);
    prt_tensor *tensors = PRT_NEW_N(scratch, prt_tensor, op->n_in);
    if (in == NULL || content == NULL || value == NULL || tensors == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        in[i].kind = PRT_VALUE_ABSENT;
        if (v == NULL)
            continue;
        shape_of_type(v->type, &in[i]);
        const bool written = prt_value_is_constant(v) && !prt_value_is_fixed(v);
        if (!written &&
            (prt_value_tensor(v, &tensors[i]) || content_to_tensor(v, scratch, &tensors[i])))
            value[i] = &tensors[i];
        if (v->content != NULL)
            content[i] = *v->content;
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        const prt_value *v = &op->out[i];
        const bool wanted = all || v->name.size != 0 || v->uses != NULL || i == 0;
        in[op->n_in + i].kind = wanted ? PRT_VALUE_UNKNOWN : PRT_VALUE_ABSENT;
    }
    c->in = in;
    c->out = in + op->n_in;
    c->content = content;
    c->out_content = content + op->n_in;
    c->value = value;
    return POPRT_OK;
}

static poprt_status write_outputs(prt_op *op, const prt_infer *c)
{
    prt_module *m = op->graph->module;
    for (uint32_t i = 0; i < op->n_out; i++) {
        if (c->out[i].kind == PRT_VALUE_ABSENT)
            continue;
        prt_value *v = &op->out[i];
        const prt_type *type = type_of_shape(m, &c->out[i]);
        if (type == NULL || (type = finalize_type(m, v->type, type)) == NULL)
            return POPRT_E_NOMEM;
        v->type = type;
        const prt_content *known = &c->out_content[i];
        if (!same_content(v->content, known))
            PRT_TRY(keep_content(m, known, &v->content));
    }
    return POPRT_OK;
}

static poprt_status infer_with(prt_op *op, bool all, prt_arena *scratch)
{
    prt_module *m = op->graph->module;
    prt_infer c = { .def = op->def,
        .attrs = op->attrs,
        .origin = prt_str_of(prt_op_label(op)),
        .dims = m->dims,
        .types = m->types,
        .n_in = op->n_in,
        .n_out = op->n_out,
        .scratch = scratch,
        .region = infer_region,
        .user = op,
        .too_deep = is_deep(op->graph) };
    PRT_TRY(read_inputs(op, all, scratch, &c));
    PRT_TRY(prt_op_infer(&c));
    return write_outputs(op, &c);
}

static poprt_status infer_op(prt_op *op, bool all)
{
    const prt_op_set *ops = op->graph->module->ops;
    if (op->def == NULL && ops != NULL && ops->infer != NULL)
        return ops->infer(ops->infer_user, op);
    if (op->def == NULL) /* not in the table: the declared types of the outputs stay */
        return POPRT_OK;
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(op->graph->module->allocator, 0, &scratch));
    const poprt_status status = infer_with(op, all, scratch);
    prt_arena_release(scratch);
    return status;
}

poprt_status prt_ir_infer_op(prt_op *op)
{
    return infer_op(op, false);
}

poprt_status prt_ir_infer_new_op(prt_op *op)
{
    return infer_op(op, true);
}

poprt_status prt_value_refine_type(prt_value *value, const prt_type *type)
{
    const prt_type *merged = merge_types(value->graph->module, type, value->type);
    if (merged == NULL)
        return POPRT_E_NOMEM;
    value->type = merged;
    return POPRT_OK;
}

/* Removes shapes and contents of an op's outputs after a failed inference, since earlier ones may
 * belong to other inputs. A run infers the op again, and fails. */
static poprt_status forget_shapes(prt_op *op)
{
    prt_types *types = op->graph->module->types;
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        v->content = NULL;
        if (v->type->kind == PRT_VALUE_TENSOR)
            v->type = prt_type_tensor(types, v->type->dtype, PRT_RANK_UNKNOWN, NULL);
        if (v->type == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

poprt_status prt_ir_infer(prt_graph *graph)
{
    prt_report report = { .status = POPRT_OK };
    poprt_status worse = POPRT_OK; /* first error other than contradictory shapes */
    prt_for_each_op (op, graph) {
        const poprt_status status = prt_ir_infer_op(op);
        if (status == POPRT_E_NOMEM)
            return status;
        if (status == POPRT_OK)
            continue;
        prt_ir_report_failure(&report, op, status);
        if (status != POPRT_E_SHAPE && worse == POPRT_OK)
            worse = status;
        if (graph->owner != NULL)
            PRT_TRY(forget_shapes(op));
    }
    if (worse != POPRT_OK)
        report.status = worse;
    return prt_report_end(&report);
}
