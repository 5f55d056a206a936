/* SPDX-License-Identifier: MIT */
/* export.c — models with the weights of a session, and the weights of models for a session. */
#include <stdio.h>

#include "api/handles.h"
#include "api/weights.h"
#include "ir/ir.h"
#include "poprt/train.h"

prt_value *prt_module_initializer(const prt_module *module, prt_str name)
{
    prt_value *v = prt_map_find(&module->names, name);
    return v != NULL && v->graph == module->main && prt_value_is_constant(v) &&
            v->initializer != PRT_INITIALIZER_none
        ? v
        : NULL;
}

static bool has_shape(const prt_value *v, const prt_type *type)
{
    return prt_type_is_tensor(v->type) && v->type->rank == type->rank &&
        prt_dims_equal(v->type->dims, type->dims, (uint32_t)type->rank);
}

static poprt_status copy_contents(const prt_session *s, prt_module *module, uint32_t variable,
    int32_t dtype, prt_blob **out)
{
    const prt_tensor from = prt_session_variable(s, variable);
    const size_t n = prt_tensor_count(&from);
    size_t size;
    prt_blob *blob = NULL;
    if (!prt_dtype_size(dtype, n, &size))
        return prt_fail(POPRT_E_LIMIT, NULL, "the weight is too large");
    PRT_TRY(prt_blob_create(module->allocator, size, &blob));
    prt_convert(from.dtype, from.data, dtype, prt_blob_bytes(blob), n);
    *out = blob;
    return POPRT_OK;
}

/* Adds an initializer, or gives the one of this name its contents. */
static poprt_status add_state(const prt_session *s, prt_module *module, uint32_t variable,
    const char *name)
{
    const prt_variable *v = prt_session_variable_of(s, variable);
    prt_value *old = prt_module_initializer(module, prt_str_of(name));
    prt_blob *blob = NULL;
    const prt_type *type =
        prt_type_tensor(module->types, v->type->dtype, v->type->rank, v->type->dims);
    if (type == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(copy_contents(s, module, variable, v->type->dtype, &blob));
    if (old != NULL && old->type == type) {
        PRT_TRY(prt_module_keep(module, blob));
        old->constant = blob;
        return POPRT_OK;
    }
    prt_value *state =
        prt_graph_add_constant(module->main, prt_module_str(module, prt_str_of(name)), type, blob);
    if (state == NULL)
        return prt_error_last()->status != POPRT_OK ? prt_error_last()->status : POPRT_E_NOMEM;
    state->initializer = PRT_INITIALIZER_only;
    return POPRT_OK;
}

static poprt_status export_weight(const prt_session *s, prt_module *module, uint32_t variable,
    bool with_state)
{
    const prt_variable *v = prt_session_variable_of(s, variable);
    prt_value *w = prt_module_initializer(module, v->name);
    prt_blob *blob = NULL;
    if (w == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, v->name.data,
            "the model has no initializer of this name: it is not the model that was compiled");
    const bool is_master = w->type->dtype != v->type->dtype;
    if (!has_shape(w, v->type) || (is_master && prt_dtype_bits(w->type->dtype) != 16))
        return prt_fail(POPRT_E_SHAPE, v->name.data,
            "this weight has another type or shape in the model: it is not the model that was "
            "compiled");
    PRT_TRY(copy_contents(s, module, variable, w->type->dtype, &blob));
    PRT_TRY(prt_module_keep(module, blob));
    w->constant = blob;
    w->content = NULL;
    prt_for_each_use (use, w)
        prt_op_touch(use->user);
    if (!is_master || !with_state)
        return POPRT_OK;
    char name[1024];
    const int n = snprintf(name, sizeof(name), "Master___%.*s", PRT_STR_ARG(v->name));
    if (n < 0 || (size_t)n >= sizeof(name))
        return prt_fail(POPRT_E_LIMIT, v->name.data, "the name of the weight is too long");
    return add_state(s, module, variable, name);
}

static poprt_status export_all(const prt_session *s, const prt_program *p, prt_module *module,
    bool with_state)
{
    for (uint32_t i = 0; i < p->n_variables; i++) {
        const uint32_t role = p->variables[i].role;
        if (role == PRT_VARIABLE_weight || role == PRT_VARIABLE_statistic)
            PRT_TRY(export_weight(s, module, i, with_state));
        else if (role == PRT_VARIABLE_state && with_state)
            PRT_TRY(add_state(s, module, i, p->variables[i].name.data));
    }
    return POPRT_OK;
}

static poprt_status export_model(poprt_session *session, const poprt_model *model, bool with_state,
    poprt_model **out)
{
    poprt_model *copy = NULL;
    if (session->exec->program->n_variables == 0)
        return prt_fail(POPRT_E_STATE, session->exec->file,
            "the executable has no variables; compile it by poprt_compile_training");
    PRT_TRY(prt_session_check_contents(session->session));
    PRT_TRY(poprt_model_clone(model, &copy));
    poprt_status status = export_all(session->session, session->exec->program, copy->module,
        with_state && !session->states_stay);
    if (status == POPRT_OK)
        status = prt_model_refresh(copy);
    if (status != POPRT_OK) {
        poprt_model_release(copy);
        return status;
    }
    *out = copy;
    return POPRT_OK;
}

poprt_status poprt_session_export_model(poprt_session *session, const poprt_model *model,
    int32_t with_state, poprt_model **out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(model);
    PRT_REQUIRE(out);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = export_model(session, model, with_state != 0, out);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "export");
}

poprt_status poprt_session_save_model(poprt_session *session, const poprt_model *model,
    const char *path)
{
    PRT_REQUIRE(path);
    poprt_model *copy = NULL;
    PRT_TRY(poprt_session_export_model(session, model, 1, &copy));
    const poprt_status status = poprt_model_save_file(copy, path);
    poprt_model_release(copy);
    return status;
}

/* ---- weights of the host */

static poprt_status check_initializer(const prt_module *module, const prt_variable *v, bool ignores,
    prt_value **out)
{
    prt_value *w = prt_module_initializer(module, v->name);
    *out = w;
    if (w == NULL)
        return ignores || v->role == PRT_VARIABLE_state
            ? POPRT_OK
            : prt_fail(POPRT_E_NOT_FOUND, v->name.data,
                  "the model has no initializer of this name");
    if (has_shape(w, v->type) &&
        (w->type->dtype == v->type->dtype || prt_dtype_bits(w->type->dtype) == 16))
        return POPRT_OK;
    return prt_fail(POPRT_E_SHAPE, v->name.data,
        "this initializer has another type or shape than in the session");
}

poprt_status poprt_weights_load_model(poprt_weights *weights, const poprt_model *model,
    int32_t flags)
{
    PRT_REQUIRE(weights);
    PRT_REQUIRE(model);
    if ((flags & ~POPRT_WEIGHTS_IGNORE_MISSING) != 0)
        return prt_fail(POPRT_E_ARG, "flags", "is %d; accepted: 0, POPRT_WEIGHTS_IGNORE_MISSING",
            flags);
    const prt_program *p = weights->exec->program;
    const bool ignores = (flags & POPRT_WEIGHTS_IGNORE_MISSING) != 0;
    prt_value *w = NULL;
    for (size_t i = 0; i < weights->count; i++)
        PRT_TRY(check_initializer(model->module, &p->variables[weights->items[i].variable], ignores,
            &w));
    for (size_t i = 0; i < weights->count; i++) {
        const prt_variable *v = &p->variables[weights->items[i].variable];
        (void)check_initializer(model->module, v, true, &w);
        prt_tensor from;
        if (w == NULL || !prt_value_tensor(w, &from))
            continue;
        prt_convert(from.dtype, from.data, v->type->dtype, weights->items[i].data,
            prt_tensor_count(&from));
    }
    return poprt_weights_changed(weights);
}

/* ---- weights of a session */

/* Fails unless an initializer that is no variable has the bits of the executable's constant. */
static poprt_status check_constant(poprt_session *session, const prt_value *w)
{
    const prt_type *type = NULL;
    prt_tensor own;
    size_t size;
    PRT_TRY(prt_session_weight_type(session->session, w->name, &type));
    if (type->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_UNSUPPORTED, w->name.data,
            "constant strings are not compared; the flag POPRT_WEIGHTS_IGNORE_UNKNOWN skips them");
    if (!prt_value_tensor(w, &own) || !has_shape(w, type) || w->type->dtype != type->dtype ||
        !prt_type_size(type, &size) || size != own.size)
        return prt_fail(POPRT_E_SHAPE, w->name.data,
            "this initializer has another type or shape than in the session");
    void *bytes = prt_mem_alloc(&session->env->allocator, size);
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = prt_session_copy_weight(session->session, w->name, bytes);
    if (status == POPRT_OK && size != 0 && memcmp(bytes, own.data, size) != 0)
        status = prt_fail(POPRT_E_STATE, w->name.data,
            "the weight is a constant of the executable, and the model has other contents");
    prt_mem_free(&session->env->allocator, bytes);
    return status;
}

/* Checks all initializers of the model, and returns the bytes of the largest variable. */
static poprt_status check_reset(poprt_session *session, const prt_module *module, bool ignores,
    size_t *largest)
{
    const prt_program *p = session->exec->program;
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(&session->env->allocator, 0, &arena));
    prt_map variables = prt_map_in(arena);
    poprt_status status = POPRT_OK;
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_variables; i++) {
        size_t size = 0;
        status = prt_map_set(&variables, p->variables[i].name, (void *)(uintptr_t)&p->variables[i]);
        if (prt_type_size(p->variables[i].type, &size) && size > *largest)
            *largest = size;
    }
    for (size_t i = 0; status == POPRT_OK && i < module->main->constants.count; i++) {
        const prt_value *w = module->main->constants.data[i];
        const prt_variable *v = prt_map_find(&variables, w->name);
        prt_value *found = NULL;
        if (w->initializer == PRT_INITIALIZER_none || w->name.size == 0)
            continue;
        if (v != NULL)
            status = check_initializer(module, v, true, &found);
        else if (!ignores && prt_value_used(w))
            status = check_constant(session, w);
    }
    prt_arena_release(arena);
    return status;
}

static poprt_status reset(poprt_session *session, const prt_module *module, bool ignores)
{
    const prt_program *p = session->exec->program;
    size_t largest = 0;
    if (p->n_variables == 0)
        return prt_fail(POPRT_E_STATE, session->exec->file,
            "all weights are constants of the executable; compile the model with the option "
            "constant_weights=false to replace them");
    PRT_TRY(check_reset(session, module, ignores, &largest));
    void *bytes = prt_mem_alloc(&session->env->allocator, largest);
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = POPRT_OK;
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_variables; i++) {
        const prt_variable *v = &p->variables[i];
        const prt_value *w = prt_module_initializer(module, v->name);
        prt_tensor from, to;
        if (w == NULL || !prt_value_tensor(w, &from) ||
            !prt_tensor_init(&to, v->type->dtype, (uint32_t)v->type->rank, v->type->dims, bytes))
            continue;
        prt_convert(from.dtype, from.data, to.dtype, bytes, prt_tensor_count(&from));
        status = prt_session_set_weight(session->session, v->name, &to);
    }
    prt_mem_free(&session->env->allocator, bytes);
    prt_session_changed(session);
    return status;
}

poprt_status poprt_session_reset_weights(poprt_session *session, const poprt_model *model,
    int32_t flags)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(model);
    if ((flags & ~POPRT_WEIGHTS_IGNORE_UNKNOWN) != 0)
        return prt_fail(POPRT_E_ARG, "flags", "is %d; accepted: 0, POPRT_WEIGHTS_IGNORE_UNKNOWN",
            flags);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status =
        reset(session, model->module, (flags & POPRT_WEIGHTS_IGNORE_UNKNOWN) != 0);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "weight");
}
