/* SPDX-License-Identifier: MIT */
/*
 * merge_models.c — modules become branches of one module.
 *
 *     index ── Cast ──┬── Equal 0 ── If { module 0 } else { zeros } ── graph0/…
 *                     └── Equal 1 ── If { module 1 } else { zeros } ── graph1/…
 *
 * The index is compared as int64, since every opset and runtime supports Equal for it. Expand is
 * the last operator of the zero branch, so that no pass folds the zeros into stored constants.
 */
#include "ir/merge_models.h"

#include <stdio.h>

#include "ir/build.h"
#include "ir/extra.h"
#include "ir/interface.h"
#include "program/program.h"

enum { NAME_SIZE = 64 };

typedef struct merger {
    prt_module *to;
    prt_arena *scratch;
    prt_value *number;      /* index as int64 */
    const prt_module *from; /* module of the current graph */
    uint32_t graph;
    /* If of the current graph; NULL if the graph has no outputs of its own */
    prt_op *choice;
    bool *made;       /* by output of the graph: whether the If returns it, first of its name */
    uint32_t *places; /* by output of the graph: index among the outputs of the If */
    PRT_VEC(prt_value *) outputs;
    PRT_VEC(prt_str) names;
} merger;

static prt_str name_of(const merger *f, char *to, const char *rest)
{
    const int n = snprintf(to, NAME_SIZE, PRT_FUSED_GRAPH "%u/%s", f->graph, rest);
    return (prt_str){ to, (uint32_t)n };
}

/* ---- checks of the models */

static poprt_status check_input(const prt_module *m, const prt_value *v)
{
    const prt_type *type = v->type;
    if (type->kind == PRT_VALUE_SEQUENCE || type->kind == PRT_VALUE_OPTIONAL)
        return POPRT_OK;
    if (!prt_type_is_tensor(type) || type->dtype == PRT_DTYPE_undefined)
        return prt_fail(POPRT_E_UNSUPPORTED, v->name.data,
            "is a map or has an unknown type: inputs of fused models are tensors, sequences and "
            "optionals");
    if (type->rank > PRT_MAX_RANK || !prt_type_is_static(type))
        return prt_fail(POPRT_E_SHAPE, v->name.data,
            "input of %.200s has dimensions that are not numbers: set its shape before the models "
            "are fused",
            m->file.size != 0 ? m->file.data : "a model");
    return POPRT_OK;
}

static poprt_status check_output(const prt_graph *g, uint32_t i)
{
    const prt_type *type = g->ret->in[i].value->type;
    const bool sequence = type->kind == PRT_VALUE_SEQUENCE && prt_type_is_tensor(type->elem);
    const prt_type *tensor = sequence ? type->elem : type;
    if (!prt_type_is_tensor(tensor) || tensor->dtype == PRT_DTYPE_undefined)
        return prt_fail(POPRT_E_UNSUPPORTED, g->output_names.data[i].data,
            "outputs of fused models must be tensors or sequences of tensors, of a known type");
    return POPRT_OK;
}

static poprt_status check(const prt_module *first, const prt_module *m)
{
    const prt_graph *g = m->main;
    if (m->downgraded_opset != 0)
        return prt_fail(POPRT_E_STATE, m->file.data,
            "was converted to an older opset and can only be written, not fused");
    if (m->ops != first->ops)
        return prt_fail(POPRT_E_ARG, m->file.data,
            "uses other plug-ins than the first model; fused models share their plug-ins");
    for (size_t i = 0; i < g->inputs.count; i++)
        PRT_TRY(check_input(m, g->inputs.data[i]));
    for (uint32_t i = 0; i < g->ret->n_in; i++)
        PRT_TRY(check_output(g, i));
    return POPRT_OK;
}

/* ---- fields of the merged module */

/* Raises the IR version and opsets of the merged module to those of the current one. */
static poprt_status take_versions(merger *f)
{
    prt_module *to = f->to;
    if (f->from->ir_version > to->ir_version)
        to->ir_version = f->from->ir_version;
    for (const prt_opset *o = f->from->opsets; o != NULL; o = o->next)
        if (o->version > prt_module_opset(to, o->domain))
            PRT_TRY(prt_module_set_opset(to, o->domain, o->version));
    return POPRT_OK;
}

static poprt_status take_metadata(merger *f)
{
    const prt_raw *at = NULL;
    prt_str key, value;
    char prefix[NAME_SIZE];
    const prt_str head = name_of(f, prefix, "");
    while (prt_module_next_metadata(f->from, &at, &key, &value)) {
        char *name = PRT_NEW_N(f->scratch, char, (size_t)head.size + key.size + 1);
        if (name == NULL)
            return POPRT_E_NOMEM;
        memcpy(name, head.data, head.size);
        memcpy(name + head.size, key.data, key.size);
        PRT_TRY(prt_module_set_metadata(f->to, name, value));
    }
    return POPRT_OK;
}

/* ---- the branch that is not taken */

/* Returns whether every runtime supports Expand for the type. Zeros of other types are cast from
 * float32. */
static bool expands(int32_t dtype)
{
    return prt_dtype_bits(dtype) >= 8 && dtype != PRT_DTYPE_bf16 &&
        (dtype < PRT_DTYPE_f8e4m3fn || dtype > PRT_DTYPE_f8e5m2fnuz) && dtype != PRT_DTYPE_f8e8m0;
}

static void name_made(prt_build *b, prt_value *v, const char *name)
{
    if (b->status != POPRT_OK || v->name.size != 0)
        return;
    const prt_str fresh = prt_module_fresh_name(b->graph->module, name);
    b->status = fresh.data != NULL ? prt_value_set_name(v, fresh) : POPRT_E_NOMEM;
}

/* Zeros of a type; a dimension that is not a number becomes 0. */
static prt_value *make_zeros(prt_build *b, const prt_type *type, const char *name)
{
    static const unsigned char zero[16];
    if (type->kind == PRT_VALUE_SEQUENCE) {
        prt_sequence_empty_attrs attrs = PRT_ATTRS_OF(sequence_empty);
        PRT_ATTR_SET(attrs, sequence_empty, dtype, type->elem->dtype);
        return prt_build_op(b, PRT_OP_sequence_empty, &attrs, 0, NULL);
    }
    int64_t dims[PRT_MAX_RANK] = { 0 };
    const bool ranked = type->rank >= 0 && type->rank <= PRT_MAX_RANK;
    const uint32_t rank = ranked ? (uint32_t)type->rank : 1;
    for (uint32_t i = 0; i < rank && ranked; i++)
        dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : 0;
    const bool direct = expands(type->dtype);
    prt_value *in[2];
    in[0] = prt_build_tensor(b, direct ? type->dtype : PRT_DTYPE_f32, 0, NULL, zero);
    in[1] = prt_build_i64s(b, rank, dims);
    prt_value *all = prt_build_op(b, PRT_OP_expand, NULL, 2, in);
    name_made(b, in[0], name);
    name_made(b, in[1], name);
    if (direct)
        return all;
    name_made(b, all, name);
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(attrs, cast, to, type->dtype);
    return prt_build_op(b, PRT_OP_cast, &attrs, 1, &all);
}

static poprt_status make_else(merger *f, const prt_graph *then)
{
    prt_graph *g = f->choice->regions[1];
    prt_build b = prt_build_at_end(g);
    char name[NAME_SIZE];
    prt_value **values = PRT_NEW_N(f->scratch, prt_value *, then->ret->n_in);
    prt_str *names = PRT_NEW_N(f->scratch, prt_str, then->ret->n_in);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    b.origin = g->name = prt_module_str(f->to, name_of(f, name, "else"));
    if (g->name.data == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < then->ret->n_in; i++) {
        values[i] = make_zeros(&b, then->ret->in[i].value->type, name);
        name_made(&b, values[i], name);
        PRT_TRY(prt_build_status(&b));
        names[i] = values[i]->name;
    }
    return prt_graph_set_outputs(g, then->ret->n_in, values, names);
}

/* ---- the branch with the model */

/* Returns whether output i is an input with the same name and value. Such an output stays outside
 * the branches, because the name can have one value only. */
static bool passes_through(const prt_graph *g, uint32_t i)
{
    const prt_value *v = g->ret->in[i].value;
    return prt_value_is_input(v) && v->graph == g &&
        prt_str_equal(v->name, g->output_names.data[i]);
}

/* Type of the output of an If: symbols of its branches are unknown outside. */
static const prt_type *outer_type(prt_module *m, const prt_type *type)
{
    int64_t dims[PRT_MAX_RANK] = { 0 };
    if (!prt_type_is_tensor(type) || type->rank < 0 || type->rank > PRT_MAX_RANK)
        return type;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : PRT_DIM_UNKNOWN;
    return prt_type_tensor(m->types, type->dtype, type->rank, dims);
}

/* Builds the condition index == i. */
static prt_value *make_condition(merger *f)
{
    char name[NAME_SIZE];
    prt_build b = prt_build_at_end(f->to->main);
    b.origin = prt_module_str(f->to, name_of(f, name, "selected"));
    if (b.origin.data == NULL)
        return NULL;
    prt_value *own = prt_build_i64(&b, f->graph);
    prt_value *equal = prt_build_binary(&b, PRT_OP_equal, f->number, own);
    name_made(&b, own, name);
    name_made(&b, equal, name);
    return prt_build_status(&b) == POPRT_OK ? equal : NULL;
}

/* Makes the If and names its outputs before any other value can take these names. */
static poprt_status make_choice(merger *f, uint32_t n_out)
{
    const prt_graph *g = f->from->main;
    char prefix[NAME_SIZE];
    prt_str head = name_of(f, prefix, "");
    prt_value *condition = make_condition(f);
    if (condition == NULL)
        return POPRT_E_NOMEM;
    f->choice = prt_graph_add_op(f->to->main, NULL, prt_op_of(PRT_OP_if), 1, n_out, 2);
    if (f->choice == NULL)
        return POPRT_E_NOMEM;
    prt_if_attrs *attrs = f->choice->attrs;
    PRT_ATTR_SET(*attrs, if, then_branch, 0);
    PRT_ATTR_SET(*attrs, if, else_branch, 1);
    prt_op_set_input(f->choice, 0, condition);
    f->choice->origin = prt_module_str(f->to, (prt_str){ head.data, head.size - 1 });
    if (f->choice->origin.data == NULL)
        return POPRT_E_NOMEM;
    uint32_t k = 0;
    for (uint32_t i = 0; i < g->ret->n_in; i++) {
        const prt_str own = g->output_names.data[i];
        if (!f->made[i])
            continue;
        char *name = PRT_NEW_N(f->scratch, char, (size_t)head.size + own.size);
        if (name == NULL)
            return POPRT_E_NOMEM;
        memcpy(name, head.data, head.size);
        memcpy(name + head.size, own.data, own.size);
        PRT_TRY(prt_value_set_name(&f->choice->out[k++], (prt_str){ name, head.size + own.size }));
    }
    return POPRT_OK;
}

/* Appends the outputs of the graph to the module's. */
static poprt_status list_outputs(merger *f, prt_value *const *inputs)
{
    const prt_graph *g = f->from->main;
    for (uint32_t i = 0; i < g->ret->n_in; i++) {
        prt_value *v = passes_through(g, i) ? inputs[g->ret->in[i].value->slot]
                                            : &f->choice->out[f->places[i]];
        if (!PRT_VEC_PUSH(f->scratch, &f->outputs, v) ||
            !PRT_VEC_PUSH(f->scratch, &f->names, v->name))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Places the outputs that a branch computes, one for each name, among those of the If. */
static poprt_status place_outputs(merger *f, uint32_t *n_out)
{
    const prt_graph *g = f->from->main;
    prt_map names = prt_map_in(f->scratch);
    f->made = PRT_NEW_N(f->scratch, bool, g->ret->n_in);
    f->places = PRT_NEW_N(f->scratch, uint32_t, g->ret->n_in);
    if (f->made == NULL || f->places == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < g->ret->n_in; i++) {
        const prt_str name = g->output_names.data[i];
        const uint32_t *place = prt_map_find(&names, name);
        if (passes_through(g, i))
            continue;
        f->made[i] = place == NULL;
        f->places[i] = place != NULL ? *place : (*n_out)++;
        PRT_TRY(prt_map_set(&names, name, &f->places[i]));
    }
    return POPRT_OK;
}

static poprt_status add_graph(merger *f)
{
    char prefix[NAME_SIZE];
    const size_t first = f->to->main->inputs.count;
    uint32_t n_out = 0;
    PRT_TRY(place_outputs(f, &n_out));
    PRT_TRY(take_versions(f));
    PRT_TRY(take_metadata(f));
    PRT_TRY(make_choice(f, n_out));
    prt_graph *then = f->choice->regions[0];
    PRT_TRY(prt_ir_graft(f->from, name_of(f, prefix, ""), then));
    if (then->name.size == 0)
        then->name = f->choice->origin;
    PRT_TRY(prt_graph_keep_outputs(then, f->scratch, f->made));
    for (uint32_t i = 0; i < n_out; i++) {
        const prt_type *type = outer_type(f->to, then->ret->in[i].value->type);
        if (type == NULL)
            return POPRT_E_NOMEM;
        f->choice->out[i].type = type;
    }
    PRT_TRY(make_else(f, then));
    return list_outputs(f, f->to->main->inputs.data + first);
}

/* ---- the merged module */

static poprt_status make_index(merger *f)
{
    const int64_t one = 1;
    const prt_type *type = prt_type_tensor(f->to->types, PRT_DTYPE_u32, 1, &one);
    prt_graph *g = f->to->main;
    prt_value *index = type != NULL ? prt_graph_add_input(g, PRT_STR(PRT_FUSED_INDEX), type) : NULL;
    if (index == NULL)
        return POPRT_E_NOMEM;
    prt_build b = prt_build_at_end(g);
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(attrs, cast, to, PRT_DTYPE_i64);
    b.origin = prt_module_str(f->to, PRT_STR(PRT_FUSED_INDEX));
    f->number = prt_build_op(&b, PRT_OP_cast, &attrs, 1, &index);
    name_made(&b, f->number, PRT_FUSED_INDEX "/int64");
    return b.origin.data != NULL ? prt_build_status(&b) : POPRT_E_NOMEM;
}

static poprt_status merge_all(merger *f, const prt_module *const *modules, uint32_t count)
{
    char text[NAME_SIZE];
    f->to->ops = modules[0]->ops;
    f->to->ir_version = 0;
    f->to->file = prt_module_str(f->to, PRT_STR(""));
    f->to->main->name = prt_module_str(f->to, PRT_STR(PRT_FUSED_KEY));
    if (f->to->file.data == NULL || f->to->main->name.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(make_index(f));
    for (f->graph = 0; f->graph < count; f->graph++) {
        f->from = modules[f->graph];
        PRT_TRY(add_graph(f));
    }
    PRT_TRY(prt_graph_set_outputs(f->to->main, (uint32_t)f->outputs.count, f->outputs.data,
        f->names.data));
    const int n = snprintf(text, sizeof(text), "%u", count);
    return prt_module_set_metadata(f->to, PRT_FUSED_KEY, (prt_str){ text, (uint32_t)n });
}

/* Sum of the modules' arena limits; 0 (no limit) if a module has none. */
static size_t limit_of(const prt_module *const *modules, size_t count)
{
    size_t limit = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t own = prt_arena_limit(modules[i]->arena);
        if (own == 0 || !prt_size_add(limit, own, &limit))
            return 0;
    }
    return limit;
}

poprt_status prt_ir_merge_models(const prt_module *const *modules, size_t count, prt_module **out)
{
    return prt_ir_merge_into(modules, count, count != 0 ? modules[0]->allocator : NULL, out);
}

poprt_status prt_ir_merge_into(const prt_module *const *modules, size_t count,
    const prt_allocator *allocator, prt_module **out)
{
    merger f = { 0 };
    if (count < 2 || count > PRT_FUSED_MOST)
        return prt_fail(POPRT_E_ARG, "models", "%zu models cannot be fused: 2 to %d are expected",
            count, PRT_FUSED_MOST);
    for (size_t i = 0; i < count; i++)
        PRT_TRY(check(modules[0], modules[i]));
    PRT_TRY(prt_module_create(allocator, limit_of(modules, count), &f.to));
    poprt_status status = prt_arena_create(allocator, 0, &f.scratch);
    if (status == POPRT_OK)
        status = merge_all(&f, modules, (uint32_t)count);
    prt_arena_release(f.scratch);
    if (status != POPRT_OK) {
        prt_module_release(f.to);
        return status;
    }
    *out = f.to;
    return POPRT_OK;
}

uint32_t prt_ir_merged_models(const prt_module *module)
{
    prt_str text;
    uint32_t count = 0;
    if (!prt_module_metadata(module, PRT_FUSED_KEY, &text) || text.size == 0 || text.size > 2)
        return 0;
    for (uint32_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
        count = 10 * count + (uint32_t)(text.data[i] - '0');
    }
    return count >= 2 && count <= PRT_FUSED_MOST ? count : 0;
}
