/* SPDX-License-Identifier: MIT */
/* custom.c — poprt/custom.h: shape functions and passes of the calling program. */
#include "poprt/custom.h"

#include "api/handles.h"
#include "plugin/plugin.h"

/* ---- shape functions */

/* The shape function of an environment. */
typedef struct shape_function {
    poprt_infer_fn fn;
    void *user;
} shape_function;

static poprt_type export_type(const prt_type *type)
{
    poprt_type t = { .dtype = POPRT_DTYPE_UNDEFINED, .rank = -1 };
    if (!prt_type_is_tensor(type))
        return t;
    t.dtype = type->dtype;
    if (type->rank <= POPRT_PLUGIN_MAX_RANK)
        t.rank = type->rank;
    for (int32_t i = 0; i < t.rank; i++)
        t.dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : -1;
    return t;
}

/* Concatenates the attributes of a node. */
static poprt_status join_attributes(prt_arena *arena, const prt_op *op, poprt_unknown_node *node)
{
    size_t size = 0;
    for (const prt_raw *raw = op->extra; raw != NULL; raw = raw->next)
        size += raw->size;
    char *bytes = prt_arena_alloc(arena, size + 1);
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    node->attributes = bytes;
    node->attributes_size = size;
    for (const prt_raw *raw = op->extra; raw != NULL; raw = raw->next) {
        memcpy(bytes, raw->bytes, raw->size);
        bytes += raw->size;
    }
    return POPRT_OK;
}

static poprt_status describe_inputs(prt_arena *arena, const prt_op *op, poprt_unknown_node *node)
{
    const char **names = PRT_NEW_N(arena, const char *, op->n_in);
    poprt_type *types = PRT_NEW_N(arena, poprt_type, op->n_in);
    poprt_tensor *constants = PRT_NEW_N(arena, poprt_tensor, op->n_in);
    prt_tensor *tensors = PRT_NEW_N(arena, prt_tensor, op->n_in);
    if (names == NULL || types == NULL || constants == NULL || tensors == NULL)
        return POPRT_E_NOMEM;
    node->n_inputs = op->n_in;
    node->input_names = names;
    node->inputs = types;
    node->constants = constants;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        names[i] = v != NULL ? v->name.data : "";
        types[i] = (poprt_type){ .dtype = POPRT_DTYPE_UNDEFINED, .rank = -1 };
        if (v == NULL)
            continue;
        types[i] = export_type(v->type);
        if (v->type->dtype == PRT_DTYPE_string || !prt_value_is_fixed(v) ||
            !prt_value_aligned(v, arena, &tensors[i]))
            continue;
        constants[i] = (poprt_tensor){ .data = tensors[i].data,
            .size = tensors[i].size,
            .dims = tensors[i].dims,
            .rank = tensors[i].rank,
            .dtype = tensors[i].dtype };
    }
    return POPRT_OK;
}

/* Sets the type of an output from that of the shape function. */
static poprt_status import_type(prt_value *v, const poprt_type *t)
{
    prt_types *types = v->graph->module->types;
    if (t->dtype == POPRT_DTYPE_UNDEFINED && t->rank < 0)
        return POPRT_OK;
    if (t->dtype < 0 || t->dtype >= PRT_DTYPE_COUNT)
        return prt_fail(POPRT_E_TYPE, v->name.data, "the shape function gave element type %d",
            t->dtype);
    if (t->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, v->name.data, "the shape function gave rank %d; at most %d",
            t->rank, PRT_MAX_RANK);
    int64_t dims[PRT_MAX_RANK];
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i] >= 0 ? t->dims[i] : PRT_DIM_UNKNOWN;
    const prt_type *type =
        prt_type_tensor(types, t->dtype, t->rank < 0 ? PRT_RANK_UNKNOWN : t->rank, dims);
    if (type == NULL)
        return POPRT_E_NOMEM;
    v->type = type;
    return POPRT_OK;
}

static poprt_status infer_node(const shape_function *f, prt_arena *arena, prt_op *op)
{
    poprt_unknown_node node = { .struct_size = sizeof(node),
        .domain = op->domain.size != 0 ? op->domain.data : "",
        .op_type = op->name.data,
        .name = op->origin.size != 0 ? op->origin.data : "",
        .n_outputs = op->n_out };
    const char **names = PRT_NEW_N(arena, const char *, op->n_out);
    poprt_type *types = PRT_NEW_N(arena, poprt_type, op->n_out);
    if (names == NULL || types == NULL)
        return POPRT_E_NOMEM;
    node.output_names = names;
    for (uint32_t i = 0; i < op->n_out; i++) {
        names[i] = op->out[i].name.size != 0 ? op->out[i].name.data : "";
        types[i] = export_type(op->out[i].type);
    }
    PRT_TRY(join_attributes(arena, op, &node));
    PRT_TRY(describe_inputs(arena, op, &node));
    const poprt_status status = f->fn(f->user, &node, types);
    if (status != POPRT_OK)
        return prt_fail(status, prt_op_label(op), "%s: the shape function failed", node.op_type);
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(import_type(&op->out[i], &types[i]));
    return POPRT_OK;
}

/* The hook of the operators' set. */
static poprt_status infer_unknown(void *user, prt_op *op)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(op->graph->module->allocator, 0, &arena));
    const poprt_status status = infer_node(user, arena, op);
    prt_arena_release(arena);
    return status;
}

poprt_status poprt_env_set_infer(poprt_env *env, poprt_infer_fn fn, void *user)
{
    PRT_REQUIRE(env);
    PRT_REQUIRE(fn);
    PRT_TRY(prt_fail_at_stage(prt_env_open_plugins(env), "plug-in"));
    const shape_function record = { fn, user };
    env->has_plugin_record = true;
    return prt_fail_at_stage(prt_plugins_set_infer(env->plugins, infer_unknown, &record,
                                 sizeof(record)),
        "plug-in");
}

/* ---- passes */

/* Runs a pass on the model of the manager; it may replace the module. */
static poprt_status run_pass(void *user, prt_pass *p, bool *changed)
{
    const poprt_model_pass *pass = user;
    poprt_model *model = prt_pass_manager_model(p->report_user);
    int32_t edited = 0;
    PRT_TRY(prt_model_refresh(model));
    p->module->describes_values = true; /* the pass needs the types of inner values */
    const poprt_status status = pass->run(pass->user, model, &edited);
    p->module = model->module;
    *changed = *changed || edited != 0;
    return status != POPRT_OK ? prt_fail(status, pass->name, "the pass failed") : POPRT_OK;
}

poprt_status poprt_env_add_model_pass(poprt_env *env, const poprt_model_pass *pass)
{
    PRT_REQUIRE(env);
    PRT_REQUIRE(pass);
    if (pass->struct_size < sizeof(*pass) || pass->run == NULL)
        return prt_fail(POPRT_E_ARG, "pass", "the record needs its size and a function `run`");
    PRT_TRY(prt_fail_at_stage(prt_env_open_plugins(env), "plug-in"));
    env->has_plugin_record = true;
    return prt_fail_at_stage(prt_plugins_add_pass(env->plugins, pass->name,
                                 pass->help != NULL ? pass->help : "", run_pass,
                                 (void *)(uintptr_t)pass),
        "plug-in");
}

poprt_status poprt_model_replace(poprt_model *model, const void *bytes, size_t size)
{
    PRT_REQUIRE(model);
    poprt_model *other = NULL;
    PRT_TRY(poprt_model_load_bytes(model->env, bytes, size, NULL, &other));
    struct prt_module *before = model->module;
    const prt_io_table io = model->io;
    model->module = other->module;
    model->io = other->io;
    other->module = before;
    other->io = io;
    poprt_model_release(other);
    return POPRT_OK;
}
