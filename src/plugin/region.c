/* SPDX-License-Identifier: MIT */
/*
 * region.c — host functions for attributes that are graphs: a plug-in's operator infers the types
 * of such a graph's outputs, and runs the graph.
 */
#include "op/share/type_wrap.h"
#include "plugin/internal.h"

/* Finds the region of an attribute that the node has. */
static poprt_status find_region(const prt_op_def *def, const void *attrs, const char *name,
    uint32_t *region)
{
    const uint32_t index = name != NULL ? prt_op_attr(def, prt_str_of(name)) : UINT32_MAX;
    if (index == UINT32_MAX || def->attrs[index].kind != PRT_ATTR_graph ||
        !prt_attr_given(attrs, index))
        return prt_fail(POPRT_E_NOT_FOUND, NULL, "the node has no attribute %.100s that is a graph",
            name != NULL ? name : "NULL");
    *region = *(const uint32_t *)(const void *)((const char *)attrs + def->attrs[index].offset);
    return POPRT_OK;
}

static bool import_shape(const prt_infer *c, const poprt_type *type, prt_shape *out)
{
    *out = (prt_shape){ .kind = PRT_VALUE_TENSOR, .dtype = type->dtype, .rank = PRT_RANK_UNKNOWN };
    if (type->dtype < 0 || type->dtype >= PRT_DTYPE_COUNT || type->rank > PRT_MAX_RANK)
        return false;
    if (type->rank >= 0)
        out->rank = type->rank;
    for (int32_t i = 0; i < out->rank; i++)
        if (!prt_plugin_import_dim(c->dims, type->dims[i], &out->dims[i]))
            return false;
    return true;
}

static poprt_status infer_graph(poprt_infer *context, const char *name, uint32_t n_in,
    const poprt_type *in, uint32_t n_out, poprt_type *out)
{
    prt_infer *c = (prt_infer *)(void *)context;
    uint32_t region;
    PRT_TRY(find_region(c->def, c->attrs, name, &region));
    for (uint32_t i = 0; i < n_out; i++)
        out[i] = (poprt_type){ .dtype = POPRT_DTYPE_UNDEFINED, .rank = -1 };
    if (c->region == NULL)
        return POPRT_OK;
    prt_region r = { .n_in = n_in, .n_out = n_out };
    prt_shape *shapes = prt_type_wrap_shapes(c, (size_t)n_in + n_out);
    if (shapes == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_in; i++)
        if (!import_shape(c, &in[i], &shapes[i]))
            return prt_fail(POPRT_E_ARG, NULL, "input %u of graph %s has no valid type", i, name);
    r.in = shapes;
    r.out = shapes + n_in;
    PRT_TRY(c->region(c, region, &r));
    for (uint32_t i = 0; i < n_out; i++) {
        if (r.out[i].kind != PRT_VALUE_TENSOR)
            continue;
        out[i].dtype = r.out[i].dtype;
        out[i].rank = r.out[i].rank >= 0 ? r.out[i].rank : -1;
        for (int32_t k = 0; k < out[i].rank; k++)
            out[i].dims[k] = r.out[i].dims[k] != PRT_DIM_UNKNOWN ? r.out[i].dims[k] : -1;
    }
    return POPRT_OK;
}

/* Makes the tensors of the plug-in into those of the graph. */
static poprt_status import_tensors(const char *name, uint32_t n, const poprt_tensor *from,
    prt_tensor *to, const prt_tensor **list)
{
    for (uint32_t i = 0; i < n; i++) {
        PRT_TRY(prt_plugin_import_tensor(name, &from[i], &to[i]));
        list[i] = &to[i];
    }
    return POPRT_OK;
}

static poprt_status eval_graph(poprt_eval *context, const char *name, uint32_t n_in,
    const poprt_tensor *in, uint32_t n_out, poprt_tensor *out)
{
    prt_eval *c = (prt_eval *)(void *)context;
    uint32_t region;
    PRT_TRY(find_region(c->def, c->attrs, name, &region));
    if (c->host->call == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "the caller cannot run regions");
    prt_tensor *ours = prt_eval_scratch(c, (size_t)n_in + n_out + 1, sizeof(*ours));
    const prt_tensor **list = prt_eval_scratch(c, (size_t)n_in + 1, sizeof(*list));
    if (ours == NULL || list == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(import_tensors(name, n_in, in, ours, list));
    PRT_TRY(c->host->check(c));
    prt_tensor *results = ours + n_in;
    PRT_TRY(c->host->call(c, region, n_in, list, n_out, results));
    for (uint32_t i = 0; i < n_out; i++) {
        if (results[i].kind != PRT_VALUE_TENSOR)
            return prt_fail(POPRT_E_TYPE, NULL, "output %u of graph %s is not a tensor", i, name);
        prt_plugin_export_tensor(&results[i], &out[i]);
    }
    return POPRT_OK;
}

void prt_plugin_host_regions(poprt_host *host)
{
    host->infer_graph = infer_graph;
    host->eval_graph = eval_graph;
}
