/* SPDX-License-Identifier: MIT */
/* flow.c — poprt/data.h: data flow, and compilation for it. */
#include "api/flow.h"

#include <stdio.h>

#include "ir/interface.h"
#include "ir/not_found.h"

poprt_status poprt_flow_create(poprt_env *env, int64_t batches_per_step, poprt_flow **out)
{
    PRT_REQUIRE(out);
    const prt_flow f = { batches_per_step, 1, 1, 1, 0, 0 };
    poprt_env *own = NULL;
    prt_arena *arena = NULL;
    PRT_TRY(prt_flow_check(&f));
    PRT_TRY(prt_env_acquire(env, &own));
    poprt_flow *flow = NULL;
    poprt_status status = prt_arena_create(&own->allocator, 0, &arena);
    if (status == POPRT_OK && (flow = PRT_NEW(arena, poprt_flow)) == NULL)
        status = POPRT_E_NOMEM;
    if (status != POPRT_OK) {
        prt_arena_release(arena);
        poprt_env_release(own);
        return status;
    }
    *flow = (poprt_flow){ .env = own, .arena = arena, .batches = batches_per_step };
    *out = flow;
    return POPRT_OK;
}

void poprt_flow_release(poprt_flow *flow)
{
    if (flow == NULL)
        return;
    poprt_env *env = flow->env;
    prt_arena_release(flow->arena); /* holds the flow itself */
    poprt_env_release(env);
}

static poprt_status copy_name(poprt_flow *flow, const char *name, prt_str *out)
{
    const prt_str from = prt_str_of(name);
    const char *text = prt_arena_text(flow->arena, from.data, from.size);
    *out = (prt_str){ text, from.size };
    return text != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status poprt_flow_anchor(poprt_flow *flow, const char *tensor, int32_t type, int64_t period)
{
    PRT_REQUIRE(flow);
    PRT_REQUIRE(tensor);
    const prt_flow f = { flow->batches, 1, 1, 1, 0, 0 };
    const bool one = type != POPRT_ANCHOR_EVERY_N && period == 0;
    const prt_anchor anchor = { type >= 0 ? (uint32_t)type : UINT32_MAX, one ? 1 : period };
    prt_str name;
    PRT_TRY(prt_anchor_check(&f, &anchor, tensor));
    for (size_t i = 0; i < flow->anchor_names.count; i++)
        if (prt_str_is(flow->anchor_names.data[i], tensor))
            return prt_fail(POPRT_E_ARG, tensor, "this tensor is an anchor already");
    PRT_TRY(copy_name(flow, tensor, &name));
    if (!PRT_VEC_PUSH(flow->arena, &flow->anchor_names, name))
        return POPRT_E_NOMEM;
    if (PRT_VEC_PUSH(flow->arena, &flow->anchors, anchor))
        return POPRT_OK;
    flow->anchor_names.count--;
    return POPRT_E_NOMEM;
}

poprt_status poprt_flow_input(poprt_flow *flow, const char *input, int32_t mode)
{
    PRT_REQUIRE(flow);
    PRT_REQUIRE(input);
    prt_str name;
    size_t at = 0;
    if (mode != POPRT_STREAM_BROADCAST && mode != POPRT_STREAM_REPLICATE)
        return prt_fail(POPRT_E_ARG, input,
            "stream mode is %d; accepted: 0 (broadcast), 1 "
            "(replicate)",
            mode);
    while (at < flow->broadcast.count && !prt_str_is(flow->broadcast.data[at], input))
        at++;
    if (mode == POPRT_STREAM_REPLICATE) {
        if (at < flow->broadcast.count)
            flow->broadcast.data[at] = flow->broadcast.data[--flow->broadcast.count];
        return POPRT_OK;
    }
    if (at < flow->broadcast.count)
        return POPRT_OK;
    PRT_TRY(copy_name(flow, input, &name));
    return PRT_VEC_PUSH(flow->arena, &flow->broadcast, name) ? POPRT_OK : POPRT_E_NOMEM;
}

/* ---- options */

static poprt_status read_accumulation(const poprt_config *config, bool trains, int64_t *out)
{
    const bool on = prt_config_number(config, PRT_OPTION_enable_gradient_accumulation) != 0;
    *out = prt_config_number(config, PRT_OPTION_accumulation_factor);
    if (*out > 1 && !on)
        return prt_fail(POPRT_E_ARG, "accumulation_factor",
            "is %lld, but enable_gradient_accumulation is off", (long long)*out);
    if (on && !trains)
        return prt_fail(POPRT_E_ARG, "enable_gradient_accumulation",
            "gradients are accumulated only in training");
    return POPRT_OK;
}

static void read_replication(const poprt_config *config, prt_flow *out)
{
    if (prt_config_number(config, PRT_OPTION_enable_replicated_graphs) != 0)
        out->replicas = prt_config_number(config, PRT_OPTION_replicated_graph_count);
    out->input_group = prt_config_number(config, PRT_OPTION_input_group_size);
    if (strcmp(prt_config_text(config, PRT_OPTION_input_grouping), "orthogonal") == 0)
        out->input_grouping = PRT_GROUPING_orthogonal;
}

static void read_reduction(const poprt_config *config, prt_flow *out)
{
    const char *type =
        prt_config_text(config, PRT_OPTION_accumulation_and_replication_reduction_type);
    const char *strategy =
        prt_config_text(config, PRT_OPTION_mean_accumulation_and_replication_reduction_strategy);
    if (strcmp(type, "mean") == 0)
        out->reduction =
            strcmp(strategy, "running") == 0 ? PRT_REDUCTION_mean_running : PRT_REDUCTION_mean_post;
}

poprt_status prt_flow_from(const poprt_flow *flow, const poprt_config *config, bool trains,
    prt_compile_flow *out)
{
    *out = (prt_compile_flow){ .flow = PRT_FLOW_ONE,
        .scaling = { PRT_NO_VARIABLE, PRT_NO_VARIABLE, 0, 0 } };
    if (flow != NULL) {
        out->flow.batches = flow->batches;
        out->n_broadcast = (uint32_t)flow->broadcast.count;
        out->broadcast = flow->broadcast.data;
        out->n_anchors = (uint32_t)flow->anchors.count;
        out->anchor_names = flow->anchor_names.data;
        out->anchors = flow->anchors.data;
    }
    PRT_TRY(read_accumulation(config, trains, &out->flow.accumulation));
    read_replication(config, &out->flow);
    read_reduction(config, &out->flow);
    PRT_TRY(prt_flow_check(&out->flow));
    for (uint32_t i = 0; i < out->n_anchors; i++)
        PRT_TRY(prt_anchor_check(&out->flow, &out->anchors[i], out->anchor_names[i].data));
    return POPRT_OK;
}

/* ---- the graph */

/* Returns the value that a variable has after the micro-batch. */
static prt_value *latest(prt_value *v)
{
    prt_for_each_use (use, v)
        if (v->variable != NULL && use->user->def != NULL &&
            (use->user->def->traits & PRT_UPDATES) != 0 && use == &use->user->in[0])
            return &use->user->out[0];
    return v;
}

/* Returns the tensor of a name: an output of the main graph, or one of its values. */
static prt_value *find_tensor(const prt_module *module, prt_str name)
{
    const prt_graph *g = module->main;
    for (uint32_t i = 0; i < g->output_names.count; i++)
        if (prt_str_equal(g->output_names.data[i], name))
            return g->ret->in[i].value;
    prt_value *v = prt_map_find(&module->names, name);
    return v != NULL && v->graph == g ? latest(v) : NULL;
}

poprt_status prt_flow_set_outputs(const prt_compile_flow *flow, prt_module *module,
    prt_arena *arena)
{
    for (uint32_t i = 0; i < flow->n_broadcast; i++)
        if (prt_module_find_input(module, flow->broadcast[i].data) == NULL)
            return prt_fail_no_input(module->main, flow->broadcast[i]);
    if (flow->n_anchors == 0)
        return POPRT_OK;
    prt_value **values = PRT_NEW_N(arena, prt_value *, flow->n_anchors);
    prt_str *names = PRT_NEW_N(arena, prt_str, flow->n_anchors);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < flow->n_anchors; i++) {
        values[i] = find_tensor(module, flow->anchor_names[i]);
        names[i] = prt_module_str(module, flow->anchor_names[i]);
        if (values[i] == NULL)
            return prt_fail_no_tensor(module->main, flow->anchor_names[i]);
        if (names[i].data == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_graph_set_outputs(module->main, flow->n_anchors, values, names);
}

prt_str prt_flow_identity(const prt_compile_flow *flow, prt_arena *arena)
{
    const prt_flow *f = &flow->flow;
    size_t size = 256;
    for (uint32_t i = 0; i < flow->n_broadcast; i++)
        size += flow->broadcast[i].size + 16;
    for (uint32_t i = 0; i < flow->n_anchors; i++)
        size += flow->anchor_names[i].size + 64;
    char *text = prt_arena_alloc(arena, size);
    if (text == NULL)
        return (prt_str){ NULL, 0 };
    size_t at = (size_t)snprintf(text, size, "flow %lld %lld %lld %lld %u %u\n",
        (long long)f->batches, (long long)f->accumulation, (long long)f->replicas,
        (long long)f->input_group, f->input_grouping, f->reduction);
    for (uint32_t i = 0; i < flow->n_broadcast; i++)
        at += (size_t)snprintf(text + at, size - at, "broadcast %s\n", flow->broadcast[i].data);
    for (uint32_t i = 0; i < flow->n_anchors; i++)
        at += (size_t)snprintf(text + at, size - at, "anchor %s %u %lld\n",
            flow->anchor_names[i].data, flow->anchors[i].mode, (long long)flow->anchors[i].period);
    return (prt_str){ text, (uint32_t)at };
}

/* The flow of an inference, and whether its weights can be written. */
typedef struct flow_edit {
    prt_compile_flow flow;
    bool free_weights;
} flow_edit;

static poprt_status edit(void *user, prt_module *module, prt_arena *arena)
{
    const flow_edit *e = user;
    if (e->free_weights)
        PRT_TRY(prt_module_free_weights(module));
    return prt_flow_set_outputs(&e->flow, module, arena);
}

poprt_status poprt_compile_flow(const poprt_model *model, const poprt_flow *flow,
    const poprt_config *config, poprt_executable **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(flow);
    PRT_REQUIRE(out);
    flow_edit e = { .free_weights = prt_config_number(config, PRT_OPTION_constant_weights) == 0 };
    prt_arena *arena = NULL;
    PRT_TRY(prt_flow_from(flow, config, false, &e.flow));
    PRT_TRY(prt_arena_create(&model->env->allocator, 0, &arena));
    const prt_compile_edit how = { .apply = edit,
        .user = &e,
        .flow = &e.flow,
        .identity = prt_flow_identity(&e.flow, arena) };
    const poprt_status status = how.identity.data != NULL
        ? prt_compile_module(model->env, model->module, config, &how, out)
        : POPRT_E_NOMEM;
    prt_arena_release(arena);
    return status;
}

/* ---- arithmetic */

static int64_t at_least_one(int64_t value)
{
    return value == 0 ? 1 : value;
}

poprt_status poprt_batching_shape(const poprt_batching *batching, uint32_t rank,
    const int64_t *dims, uint32_t *out_rank, int64_t *out, int64_t *blocks)
{
    PRT_REQUIRE(batching);
    if (rank != 0) {
        PRT_REQUIRE(dims);
        PRT_REQUIRE(out);
    }
    poprt_batching b;
    PRT_TRY(prt_import(&b, sizeof(b), batching, batching->struct_size, "batching"));
    const prt_flow f = { at_least_one(b.batches_per_step), at_least_one(b.accumulation_factor),
        at_least_one(b.replication_factor), at_least_one(b.input_group_size), 0, 0 };
    const prt_anchor a = { b.type >= 0 ? (uint32_t)b.type : UINT32_MAX, at_least_one(b.period) };
    PRT_TRY(prt_flow_check(&f));
    if (!b.is_input)
        PRT_TRY(prt_anchor_check(&f, &a, "type"));
    const int64_t n = b.is_input ? prt_flow_blocks_in(&f, false) : prt_flow_blocks_out(&f, &a);
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] < 0 || (i == 0 && dims[i] > INT64_MAX / n))
            return prt_fail(POPRT_E_ARG, "dims", "dimension %u is out of range: %lld", i,
                (long long)dims[i]);
    for (uint32_t i = 0; i < rank; i++)
        out[i] = i == 0 ? n * dims[i] : dims[i];
    if (rank == 0 && n != 1 && out != NULL)
        out[0] = n;
    if (out_rank != NULL)
        *out_rank = rank == 0 && n != 1 ? 1 : rank;
    if (blocks != NULL)
        *blocks = n;
    return POPRT_OK;
}
