/* SPDX-License-Identifier: MIT */
/*
 * builder.c — poprt/builder.h: creating builders, adding to them, and making models. Every call
 * that changes a builder returns the first failure of its tree, if there is one.
 */
#include "builder/builder.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/handles.h"
#include "converter/history.h"
#include "ir/ir.h"

/* Fails with an error that the tree keeps if a parameter is NULL. */
#define REQUIRE(b, parameter)                                                                      \
    do {                                                                                           \
        if ((parameter) == NULL)                                                                   \
            return prt_builder_leave(b, prt_fail_null(#parameter));                                \
    } while (0)

enum { OLDEST_OPSET = 6 };

/* ---- lifetime */

/* Creates the builder of a main graph. Takes a reference of `env`. */
static poprt_status create(poprt_env *env, poprt_builder **out)
{
    poprt_builder *b = NULL;
    prt_env_freeze(env);
    PRT_TRY(prt_builder_create(&env->allocator, env->memory_limit, env->ops, &b));
    (void)prt_env_acquire(env, &b->root->env);
    *out = b;
    return POPRT_OK;
}

poprt_status poprt_builder_create(poprt_env *env, int64_t opset, poprt_builder **out)
{
    PRT_REQUIRE(out);
    poprt_env *owner = NULL;
    poprt_builder *b = NULL;
    const int64_t newest = prt_history_newest();
    if (opset != 0 && (opset < OLDEST_OPSET || opset > newest))
        return prt_fail(POPRT_E_ARG, "opset",
            "%" PRId64 ": must be from %d to %" PRId64 ", or 0 for the newest one", opset,
            OLDEST_OPSET, newest);
    PRT_TRY(prt_env_acquire(env, &owner));
    poprt_status status = create(owner, &b);
    poprt_env_release(owner);
    if (status == POPRT_OK)
        status = prt_root_set_opset(b->root, PRT_STR(""), opset != 0 ? opset : newest);
    if (status != POPRT_OK)
        poprt_builder_release(b);
    else
        *out = b;
    return prt_fail_at_stage(status, "build");
}

/* A builder that is made from a model. */
typedef struct copy {
    poprt_env *env;
    poprt_builder *made;
} copy;

static poprt_status load(void *user, const prt_module *module)
{
    copy *c = user;
    poprt_builder *b = NULL;
    PRT_TRY(create(c->env, &b));
    const poprt_status status = prt_builder_load(b, module);
    if (status != POPRT_OK)
        poprt_builder_release(b);
    else
        c->made = b;
    return status;
}

poprt_status poprt_builder_create_from(const poprt_model *model, poprt_builder **out)
{
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    copy c = { .env = model->env };
    PRT_TRY(prt_fail_at_stage(prt_model_use_written(model, load, &c), "build"));
    *out = c.made;
    return POPRT_OK;
}

poprt_status poprt_builder_create_subgraph(poprt_builder *parent, const char *name,
    poprt_builder **out)
{
    PRT_REQUIRE(parent);
    PRT_TRY(prt_builder_enter(parent));
    REQUIRE(parent, out);
    const prt_str text = name != NULL ? prt_str_of(name) : PRT_STR("");
    return prt_builder_leave(parent, prt_builder_add_child(parent, text, out));
}

void poprt_builder_release(poprt_builder *builder)
{
    if (builder != NULL)
        poprt_env_release(prt_builder_release(builder));
}

poprt_status poprt_builder_status(const poprt_builder *builder)
{
    PRT_REQUIRE(builder);
    return prt_builder_enter(builder);
}

poprt_status poprt_builder_undo(poprt_builder *builder)
{
    PRT_REQUIRE(builder);
    return prt_fail_at_stage(prt_builder_undo(builder), "build");
}

/* ---- settings of the model */

/* The nodes are those of the opset, so that it is fixed from the first one on. */
static poprt_status set_onnx_opset(poprt_builder *b, int64_t version)
{
    const int64_t newest = prt_history_newest();
    if (b->root->nodes.count != 0)
        return prt_fail(POPRT_E_STATE, "domain",
            "the opset of ai.onnx is set before the first operator");
    if (version < OLDEST_OPSET || version > newest)
        return prt_fail(POPRT_E_ARG, "version", "%" PRId64 ": must be from %d to %" PRId64, version,
            OLDEST_OPSET, newest);
    return prt_root_set_opset(b->root, PRT_STR(""), version);
}

static poprt_status set_opset(poprt_builder *b, prt_str domain, int64_t version)
{
    const char *known = prt_history_domain(domain);
    if (prt_domain_is_onnx(domain))
        return set_onnx_opset(b, version);
    for (const prt_opset *o = b->root->opsets; o != NULL; o = o->next)
        if (prt_str_equal(o->domain, domain) && o->version != version)
            return prt_fail(POPRT_E_STATE, o->domain.data,
                "the model imports opset %" PRId64 " of this domain already", o->version);
    if (version < 1 || (known != NULL && version > prt_history_newest_of(known)))
        return prt_fail(POPRT_E_ARG, "version",
            "%" PRId64 ": must be at least 1, and an opset that the library knows", version);
    return prt_root_set_opset(b->root, domain, version);
}

poprt_status poprt_builder_set_opset(poprt_builder *builder, const char *domain, int64_t version)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, domain);
    return prt_builder_leave(builder, set_opset(builder, prt_str_of(domain), version));
}

poprt_status poprt_builder_accept_newer_types(poprt_builder *builder, int32_t on)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    builder->root->newer_types = on != 0;
    prt_onnx_append_newer_types(builder->root->module, on != 0);
    return POPRT_OK;
}

poprt_status poprt_builder_set_graph_name(poprt_builder *builder, const char *name)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, name);
    const prt_str text = prt_root_text(builder->root, prt_str_of(name));
    poprt_status status = prt_builder_check_open(builder);
    if (status == POPRT_OK && text.data == NULL)
        status = POPRT_E_NOMEM;
    if (status == POPRT_OK)
        builder->name = text;
    return prt_builder_leave(builder, status);
}

/* ---- tensors */

/* Returns the tensor that a call made; 0 after a failure, which the tree keeps. */
static poprt_id made(poprt_builder *b, poprt_status status, poprt_id id)
{
    return prt_builder_leave(b, status) == POPRT_OK ? id : 0;
}

poprt_id poprt_builder_input(poprt_builder *builder, const char *name, const poprt_type *type,
    const char *const *dim_names)
{
    poprt_id id = 0;
    if (builder == NULL)
        (void)prt_fail_null("builder");
    if (builder == NULL || prt_builder_enter(builder) != POPRT_OK)
        return 0;
    const poprt_status status = prt_builder_input(builder, name, type, dim_names, &id);
    return made(builder, status, id);
}

static poprt_id add_contents(poprt_builder *b, prt_built_kind kind, const char *name,
    const poprt_tensor *contents, int32_t flags)
{
    poprt_id id = 0;
    prt_str unique;
    if (b == NULL)
        (void)prt_fail_null("builder");
    if (b == NULL || prt_builder_enter(b) != POPRT_OK)
        return 0;
    if (contents == NULL)
        return made(b, prt_fail_null("contents"), 0);
    poprt_status status = prt_builder_make_name(b, name, true, PRT_NO_INDEX, &unique);
    if (status == POPRT_OK)
        status = prt_builder_contents(b, kind, unique, contents, flags, &id);
    return made(b, status, id);
}

poprt_id poprt_builder_weight(poprt_builder *builder, const char *name,
    const poprt_tensor *contents, int32_t flags)
{
    return add_contents(builder, PRT_BUILT_WEIGHT, name != NULL ? name : "init_input", contents,
        flags);
}

poprt_id poprt_builder_constant(poprt_builder *builder, const char *name,
    const poprt_tensor *contents, int32_t flags)
{
    return add_contents(builder, PRT_BUILT_CONSTANT, name != NULL ? name : "Constant", contents,
        flags);
}

poprt_status poprt_builder_output(poprt_builder *builder, poprt_id tensor)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    return prt_builder_leave(builder, prt_builder_output(builder, tensor));
}

/* ---- operators */

static poprt_status add_op(poprt_builder *b, const poprt_builder_op_info *op, poprt_id *first,
    poprt_id *out)
{
    poprt_builder_op_info ours;
    *first = 0;
    if (op == NULL)
        return prt_fail_null("op");
    PRT_TRY(prt_import(&ours, sizeof(ours), op, op->struct_size, "op"));
    if (out != NULL || ours.n_outputs <= 1) {
        PRT_TRY(prt_builder_op(b, &ours, out != NULL ? out : first));
        *first = ours.n_outputs != 0 && out != NULL ? out[0] : *first;
        return POPRT_OK;
    }
    poprt_id *all = PRT_NEW_N(b->root->arena, poprt_id, ours.n_outputs);
    if (all == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_builder_op(b, &ours, all));
    *first = all[0];
    return POPRT_OK;
}

poprt_id poprt_builder_op(poprt_builder *builder, const poprt_builder_op_info *op, poprt_id *out)
{
    poprt_id first;
    if (builder == NULL)
        (void)prt_fail_null("builder");
    if (builder == NULL || prt_builder_enter(builder) != POPRT_OK)
        return 0;
    const poprt_status status = add_op(builder, op, &first, out);
    return made(builder, status, first);
}

poprt_status poprt_builder_checkpoint(poprt_builder *builder, uint32_t count,
    const poprt_id *tensors, poprt_id *out)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    if (count != 0) {
        REQUIRE(builder, tensors);
        REQUIRE(builder, out);
    }
    return prt_builder_leave(builder, prt_builder_checkpoint(builder, count, tensors, out));
}

poprt_status poprt_builder_push_name(poprt_builder *builder, const char *name)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, name);
    return prt_builder_leave(builder, prt_builder_push_name(builder, name));
}

poprt_status poprt_builder_set_location(poprt_builder *builder, const char *file, uint32_t line,
    const char *function)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    return prt_builder_leave(builder, prt_builder_set_location(builder, file, line, function));
}

poprt_status poprt_builder_push(poprt_builder *builder, const poprt_attr *attr)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, attr);
    return prt_builder_leave(builder, prt_builder_push(builder, attr));
}

poprt_status poprt_builder_pop(poprt_builder *builder)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    return prt_builder_leave(builder, prt_builder_pop(builder));
}

/* ---- attributes */

poprt_status poprt_builder_set(poprt_builder *builder, poprt_id tensor, const poprt_attr *attr)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, attr);
    return prt_builder_leave(builder, prt_builder_set(builder, tensor, attr));
}

poprt_status poprt_builder_serialize_matmul(poprt_builder *builder, poprt_id tensor,
    const char *mode, int64_t factor, int32_t keep_precision)
{
    PRT_REQUIRE(builder);
    REQUIRE(builder, mode);
    const poprt_attr attrs[] = { poprt_attr_string(POPRT_MARK_SERIALIZE_MODE, mode),
        poprt_attr_int(POPRT_MARK_SERIALIZE_FACTOR, factor),
        poprt_attr_int(POPRT_MARK_SERIALIZE_PRECISION, keep_precision) };
    for (size_t i = 0; i < PRT_COUNT_OF(attrs); i++)
        PRT_TRY(poprt_builder_set(builder, tensor, &attrs[i]));
    return POPRT_OK;
}

poprt_status poprt_builder_remove(poprt_builder *builder, poprt_id tensor, const char *name)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, name);
    return prt_builder_leave(builder, prt_builder_remove(builder, tensor, name));
}

/* ---- properties */

poprt_status poprt_builder_property(poprt_builder *builder, const char *key, const char *value)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, key);
    return prt_builder_leave(builder, prt_builder_property(builder, prt_str_of(key), value));
}

/* Sets the property "<setting>/<tensor>" to a number. */
static poprt_status set_number(poprt_builder *b, const char *setting, prt_str name, int64_t value)
{
    char number[24];
    const size_t size = strlen(setting);
    char *key = PRT_NEW_N(b->root->arena, char, size + name.size + 2);
    if (key == NULL)
        return POPRT_E_NOMEM;
    memcpy(key, setting, size);
    key[size] = '/';
    memcpy(key + size + 1, name.data, name.size);
    (void)snprintf(number, sizeof(number), "%" PRId64, value);
    return prt_builder_property(b, (prt_str){ key, (uint32_t)size + name.size + 1 }, number);
}

static poprt_status check_range(const char *what, int32_t value, int32_t low, int32_t high)
{
    return value >= low && value <= high
        ? POPRT_OK
        : prt_fail(POPRT_E_ARG, what, "%d: must be from %d to %d", value, low, high);
}

static poprt_status set_variable(poprt_builder *b, poprt_id weight,
    const poprt_variable_settings *s)
{
    enum { CONSECUTIVE = 1, ORTHOGONAL = 2 };
    prt_built_tensor *t = NULL;
    PRT_TRY(prt_builder_tensor(b, weight, "weight", &t));
    if (t->kind != PRT_BUILT_WEIGHT)
        return prt_fail(POPRT_E_ARG, t->name.data, "the tensor is not a weight");
    PRT_TRY(check_range("group", s->group, 0, 3));
    PRT_TRY(check_range("retrieval", s->retrieval, 0, 2));
    PRT_TRY(check_range("size", s->size, s->group == CONSECUTIVE || s->group == ORTHOGONAL ? 1 : 0,
        INT32_MAX));
    PRT_TRY(set_number(b, "__comm_group_type", t->name, s->group));
    PRT_TRY(set_number(b, "__comm_group_size", t->name, s->size));
    return set_number(b, "__variable_settings", t->name, s->retrieval);
}

poprt_status poprt_builder_variable_settings(poprt_builder *builder, poprt_id weight,
    const poprt_variable_settings *settings)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, settings);
    return prt_builder_leave(builder, set_variable(builder, weight, settings));
}

static poprt_status set_input(poprt_builder *b, poprt_id input, const poprt_input_settings *s)
{
    prt_built_tensor *t = NULL;
    PRT_TRY(prt_builder_tensor(b, input, "input", &t));
    if (t->kind != PRT_BUILT_INPUT || t->owner->parent != NULL)
        return prt_fail(POPRT_E_ARG, t->name.data, "the tensor is not an input of the model");
    PRT_TRY(check_range("tile_set", s->tile_set, 0, 1));
    PRT_TRY(check_range("exchange", s->exchange, 0, 3));
    PRT_TRY(check_range("stream_mode", s->stream_mode, 0, 1));
    PRT_TRY(set_number(b, "__tile_set", t->name, s->tile_set));
    PRT_TRY(set_number(b, "__exchange_strategy", t->name, s->exchange));
    return set_number(b, "__replicated_stream_mode", t->name, s->stream_mode);
}

poprt_status poprt_builder_input_settings(poprt_builder *builder, poprt_id input,
    const poprt_input_settings *settings)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, settings);
    return prt_builder_leave(builder, set_input(builder, input, settings));
}

poprt_status poprt_builder_replication_factor(poprt_builder *builder, int64_t factor)
{
    char number[24];
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    if (factor < 1 || factor > INT32_MAX)
        return prt_builder_leave(builder,
            prt_fail(POPRT_E_ARG, "factor", "%" PRId64 ": must be from 1 to %d", factor,
                INT32_MAX));
    (void)snprintf(number, sizeof(number), "%" PRId64, factor);
    return prt_builder_leave(builder,
        prt_builder_property(builder, PRT_STR("__replicationFactor"), number));
}

/* ---- results */

poprt_status poprt_builder_save_externally(poprt_builder *builder, uint32_t count,
    const poprt_id *tensors, const char *path)
{
    PRT_REQUIRE(builder);
    PRT_TRY(prt_builder_enter(builder));
    REQUIRE(builder, path);
    if (count != 0)
        REQUIRE(builder, tensors);
    const poprt_status status = prt_builder_save_externally(builder, count, tensors, path);
    return prt_builder_leave(builder, prt_fail_in_file(status, path));
}

poprt_status poprt_builder_finish(poprt_builder *builder, poprt_model **out)
{
    PRT_REQUIRE(builder);
    PRT_REQUIRE(out);
    PRT_TRY(prt_builder_enter(builder));
    poprt_env *env = builder->root->env;
    prt_budget *budget = NULL;
    prt_module *module = NULL;
    PRT_TRY(prt_budget_create(&env->allocator, env->memory_limit, &budget));
    poprt_status status =
        prt_builder_finish(builder, prt_budget_allocator(budget, &env->allocator), &module);
    prt_budget_release(budget);
    if (status == POPRT_OK)
        status = prt_model_wrap(env, module, env->memory_limit, out);
    if (status == POPRT_OK)
        prt_env_logf(env, PRT_LOG_builder, POPRT_LOG_DEBUG, "made a model of %zu nodes",
            (size_t)builder->root->nodes.count);
    return prt_builder_leave(builder, status);
}
