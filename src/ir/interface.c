/* SPDX-License-Identifier: MIT */
/* interface.c — inputs and outputs of a model: lookup, shapes, adding and removing. */
#include "ir/interface.h"

#include "ir/not_found.h"

prt_value *prt_module_find_input(const prt_module *module, const char *name)
{
    const prt_graph *graph = module->main;
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (prt_str_is(graph->inputs.data[i]->name, name))
            return graph->inputs.data[i];
    return NULL;
}

static bool has_dims(const prt_value *v)
{
    return prt_type_is_tensor(v->type) && v->type->rank > 0 && v->type->rank <= PRT_MAX_RANK;
}

/* New dims by expression index, for indices below `n`; 0: unchanged. */
typedef struct renaming {
    int64_t *to;
    size_t n;
} renaming;

/* Applies `replaced` to every dim of every input. */
static poprt_status replace_dims(prt_module *module, int64_t (*replaced)(void *user, int64_t dim),
    void *user)
{
    for (size_t i = 0; i < module->main->inputs.count; i++) {
        prt_value *v = module->main->inputs.data[i];
        int64_t dims[PRT_MAX_RANK];
        bool changed = false;
        for (int32_t d = 0; has_dims(v) && d < v->type->rank; d++) {
            dims[d] = replaced(user, v->type->dims[d]);
            changed = changed || dims[d] != v->type->dims[d];
        }
        if (!changed)
            continue;
        const prt_type *type = prt_type_tensor(module->types, v->type->dtype, v->type->rank, dims);
        if (type == NULL)
            return POPRT_E_NOMEM;
        v->type = type;
    }
    return POPRT_OK;
}

typedef struct one_dim {
    prt_dims *dims;
    int64_t from, to;
} one_dim;

static int64_t replace_one(void *user, int64_t dim)
{
    const one_dim *one = user;
    return prt_dim_replace(one->dims, dim, one->from, one->to);
}

/* Replaces a symbol or expression in all inputs, since a symbol has the same value everywhere. */
static poprt_status replace_dim(prt_module *module, int64_t dim, int64_t to)
{
    one_dim one = { module->dims, dim, to };
    return prt_dim_is_expr(dim) ? replace_dims(module, replace_one, &one) : POPRT_OK;
}

static const prt_dim_node *symbol_of(const prt_module *module, int64_t dim)
{
    const prt_dim_node *node =
        prt_dim_is_expr(dim) ? prt_dims_at(module->dims, prt_dim_index(dim)) : NULL;
    return node != NULL && node->op == PRT_DIM_SYMBOL ? node : NULL;
}

/* Maps the names of symbols that are dims of inputs to those dims. */
static poprt_status list_symbols(const prt_module *module, prt_map *names)
{
    for (size_t i = 0; i < module->main->inputs.count; i++) {
        const prt_value *v = module->main->inputs.data[i];
        for (int32_t d = 0; has_dims(v) && d < v->type->rank; d++) {
            const prt_dim_node *node = symbol_of(module, v->type->dims[d]);
            if (node != NULL)
                PRT_TRY(prt_map_set(names, node->symbol, (void *)(uintptr_t)&v->type->dims[d]));
        }
    }
    return POPRT_OK;
}

static int64_t find_symbol(void *user, prt_str name)
{
    const int64_t *dim = prt_map_find(user, name);
    return dim != NULL ? *dim : PRT_DIM_UNKNOWN;
}

static int64_t look_up(void *user, int64_t dim)
{
    const renaming *r = user;
    const size_t i = prt_dim_is_expr(dim) ? prt_dim_index(dim) : SIZE_MAX;
    return i < r->n && r->to[i] != 0 ? r->to[i] : dim;
}

/* Parses the name of each symbol once as an expression of the other symbols, then replaces it in
 * all dims. */
static poprt_status relate(prt_module *module, prt_arena *scratch)
{
    prt_map names = prt_map_in(scratch);
    renaming r = { .n = prt_dims_count(module->dims) };
    PRT_TRY(list_symbols(module, &names));
    r.to = PRT_NEW_N(scratch, int64_t, r.n);
    if (r.to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < r.n; i++) {
        const prt_dim_node node = *prt_dims_at(module->dims, i);
        if (node.op != PRT_DIM_SYMBOL || prt_map_find(&names, node.symbol) == NULL)
            continue;
        const int64_t to = prt_dim_parse(module->dims, node.symbol, find_symbol, &names);
        r.to[i] = to != PRT_DIM_UNKNOWN && prt_dim_is_expr(to) ? to : 0;
    }
    return replace_dims(module, look_up, &r);
}

poprt_status prt_module_relate_dims(prt_module *module)
{
    prt_arena *scratch = NULL;
    if (prt_dims_count(module->dims) == 0)
        return POPRT_OK;
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    const poprt_status status = relate(module, scratch);
    prt_arena_release(scratch);
    return status;
}

poprt_status prt_module_set_dim(prt_module *module, prt_str name, int64_t number)
{
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    prt_map names = prt_map_in(scratch);
    poprt_status status = list_symbols(module, &names);
    const int64_t dim = status == POPRT_OK ? find_symbol(&names, name) : PRT_DIM_UNKNOWN;
    prt_arena_release(scratch);
    PRT_TRY(status);
    if (dim == PRT_DIM_UNKNOWN)
        return prt_fail(POPRT_E_NOT_FOUND, name.data,
            "the model has no symbolic dimension of this name");
    return replace_dim(module, dim, number);
}

static poprt_status check_shape(const prt_value *v, const int64_t *dims, uint32_t rank)
{
    const char *name = v->name.data;
    if (!prt_type_is_tensor(v->type))
        return prt_fail(POPRT_E_TYPE, name, "is not a tensor and has no shape");
    if (rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, name, "rank %u is above %d", rank, PRT_MAX_RANK);
    if (v->type->rank >= 0 && (uint32_t)v->type->rank != rank)
        return prt_fail(POPRT_E_SHAPE, name, "has %d dimensions, %u are given", v->type->rank,
            rank);
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < -1 || dims[i] > INT32_MAX)
            return prt_fail(POPRT_E_ARG, name, "dimension %u: %lld is not from -1 to %d", i,
                (long long)dims[i], INT32_MAX);
        const int64_t now = v->type->rank >= 0 ? v->type->dims[i] : PRT_DIM_UNKNOWN;
        if (dims[i] >= 0 && prt_dim_is_number(now) && now != dims[i])
            return prt_fail(POPRT_E_SHAPE, name,
                "dimension %u is %lld in the model and cannot become %lld", i, (long long)now,
                (long long)dims[i]);
    }
    return POPRT_OK;
}

poprt_status prt_module_set_input_shape(prt_module *module, const char *input, const int64_t *dims,
    uint32_t rank)
{
    prt_value *v = prt_module_find_input(module, input);
    int64_t now[PRT_MAX_RANK];
    if (v == NULL)
        return prt_fail_no_input(module->main, prt_str_of(input));
    PRT_TRY(check_shape(v, dims, rank));
    for (uint32_t i = 0; i < rank; i++) {
        now[i] = v->type->rank >= 0 ? v->type->dims[i] : PRT_DIM_UNKNOWN;
        if (dims[i] < 0)
            continue;
        PRT_TRY(replace_dim(module, now[i], dims[i]));
        now[i] = dims[i];
    }
    const prt_type *type = prt_type_tensor(module->types, v->type->dtype, (int32_t)rank, now);
    if (type == NULL)
        return POPRT_E_NOMEM;
    v->type = type;
    return POPRT_OK;
}

/* ---- adding and removing inputs and outputs */

void prt_graph_drop_inputs(prt_graph *graph, bool (*dropped)(const prt_value *input))
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_value *v = graph->inputs.data[i];
        if (dropped(v)) {
            v->name = PRT_STR("");
            continue;
        }
        v->slot = (uint32_t)kept;
        graph->inputs.data[kept++] = v;
    }
    graph->inputs.count = kept;
}

bool prt_graph_has_output(const prt_graph *graph, prt_str name)
{
    for (uint32_t i = 0; i < graph->output_names.count; i++)
        if (prt_str_equal(graph->output_names.data[i], name))
            return true;
    return false;
}

poprt_status prt_graph_keep_outputs(prt_graph *graph, prt_arena *scratch, const bool *keep)
{
    const uint32_t count = graph->ret->n_in;
    prt_value **values = PRT_NEW_N(scratch, prt_value *, count);
    prt_str *names = PRT_NEW_N(scratch, prt_str, count);
    uint32_t n = 0;
    if (count != 0 && (values == NULL || names == NULL))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (keep[i]) {
            values[n] = graph->ret->in[i].value;
            names[n++] = graph->output_names.data[i];
        }
    return prt_graph_set_outputs(graph, n, values, names);
}

poprt_status prt_graph_add_output(prt_graph *graph, prt_arena *scratch, prt_value *value,
    prt_str name)
{
    const uint32_t count = graph->ret->n_in;
    prt_value **values = PRT_NEW_N(scratch, prt_value *, (size_t)count + 1);
    prt_str *names = PRT_NEW_N(scratch, prt_str, (size_t)count + 1);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = graph->ret->in[i].value;
        names[i] = graph->output_names.data[i];
    }
    values[count] = value;
    names[count] = name;
    return prt_graph_set_outputs(graph, count + 1, values, names);
}
