/* SPDX-License-Identifier: MIT */
/*
 * weights.c — weights and variables by name, as the caller reads and writes them between runs.
 */
#include "runtime/flow_run.h"

/* Returns the index of a weight; n_constants (failure recorded) for an unknown name. */
static uint32_t find_weight(const prt_session *s, prt_str name)
{
    uint32_t i = 0;
    while (i < s->program->n_constants && !prt_str_equal(s->program->constants[i].name, name))
        i++;
    if (i == s->program->n_constants)
        (void)prt_fail(POPRT_E_NOT_FOUND, name.data,
            "the executable has no weight of this name; passes fold and pack weights, unless the "
            "model is compiled with the option constant_weights=false");
    return i;
}

static uint32_t find_variable(const prt_session *s, prt_str name)
{
    uint32_t i = 0;
    while (i < s->program->n_variables && !prt_str_equal(s->program->variables[i].name, name))
        i++;
    return i < s->program->n_variables ? i : PRT_NO_VARIABLE;
}

/* ---- scalars */

poprt_status prt_session_read_scalars(prt_session *s)
{
    const prt_program *p = s->program;
    s->scalars = PRT_NEW_N(s->arena, double, p->n_variables);
    if (s->scalars == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_variables && !s->memory.measures; i++)
        if (p->variables[i].role == PRT_VARIABLE_scalar && prt_store_size(s->store, i) != 0)
            s->scalars[i] =
                prt_load_f64(p->variables[i].type->dtype, prt_store_current(s->store, i, 0), 0);
    prt_session_scale_scalars(s);
    return POPRT_OK;
}

void prt_session_scale_scalars(prt_session *s)
{
    const prt_program *p = s->program;
    const uint32_t by = p->has_flow ? p->scaling.factor : PRT_NO_VARIABLE;
    if (by == PRT_NO_VARIABLE || s->memory.measures)
        return;
    const double factor = (double)*(const float *)prt_store_current(s->store, by, 0);
    for (uint32_t i = 0; i < p->n_variables; i++) {
        const int32_t power = p->variables[i].loss_scale;
        if (p->variables[i].role == PRT_VARIABLE_scalar && power != 0)
            prt_store_f64(p->variables[i].type->dtype, prt_store_current(s->store, i, 0), 0,
                power > 0 ? s->scalars[i] * factor : s->scalars[i] / factor);
    }
}

/* ---- weights */

static poprt_status variable_tensor(const prt_session *s, uint32_t i, prt_tensor *out)
{
    const prt_variable *v = &s->program->variables[i];
    if (!prt_tensor_init(out, v->type->dtype, (uint32_t)v->type->rank, v->type->dims,
            prt_store_current(s->store, i, 0)))
        return prt_fail(POPRT_E_INTERNAL, v->name.data, "variable has an impossible shape");
    return POPRT_OK;
}

const prt_variable *prt_session_variable_of(const prt_session *s, uint32_t variable)
{
    return &s->program->variables[variable];
}

prt_tensor prt_session_variable(const prt_session *s, uint32_t variable)
{
    prt_tensor t = { .kind = PRT_VALUE_ABSENT };
    (void)variable_tensor(s, variable, &t);
    return t;
}

static poprt_status set_variable(prt_session *s, uint32_t i, const prt_tensor *from)
{
    const prt_variable *v = &s->program->variables[i];
    prt_tensor own;
    PRT_TRY(variable_tensor(s, i, &own));
    PRT_TRY(prt_frame_check(from, &own, v->name.data, "new value"));
    for (uint32_t r = 0; r < prt_store_replicas(s->store); r++)
        if (own.size != 0 && (r == 0 || prt_store_is_per_replica(s->store, i)))
            memcpy(prt_store_current(s->store, i, r), from->data, own.size);
    if (v->role == PRT_VARIABLE_scalar && own.size != 0)
        s->scalars[i] = prt_load_f64(own.dtype, from->data, 0);
    prt_session_scale_scalars(s);
    return POPRT_OK;
}

poprt_status prt_session_set_scalar(prt_session *s, prt_str name, double value)
{
    const uint32_t i = find_variable(s, name);
    if (i == PRT_NO_VARIABLE)
        return POPRT_OK;
    if (s->program->variables[i].role != PRT_VARIABLE_scalar || prt_store_size(s->store, i) == 0)
        return prt_fail(POPRT_E_STATE, name.data, "this variable is not a hyper-parameter");
    s->scalars[i] = value;
    prt_store_f64(s->program->variables[i].type->dtype, prt_store_current(s->store, i, 0), 0,
        value);
    prt_session_scale_scalars(s);
    return POPRT_OK;
}

poprt_status prt_session_weight(prt_session *s, prt_str name, prt_tensor *out)
{
    const uint32_t variable = find_variable(s, name);
    if (variable != PRT_NO_VARIABLE)
        return variable_tensor(s, variable, out);
    const uint32_t i = find_weight(s, name);
    if (i == s->program->n_constants)
        return POPRT_E_NOT_FOUND;
    const prt_type *type = s->program->constants[i].type;
    if (!prt_tensor_init(out, type->dtype, (uint32_t)type->rank, type->dims,
            (void *)(uintptr_t)(s->updated[i] ? s->updates[i] : s->weights[i])->data))
        return prt_fail(POPRT_E_INTERNAL, name.data, "weight has an impossible shape");
    return POPRT_OK;
}

/* Returns whether an operator of the main block writes the constant (CopyVarUpdate). */
static bool is_written(const prt_session *s, uint32_t constant)
{
    const prt_program *p = s->program;
    for (uint32_t k = 0; k < p->n_blocks; k++)
        for (uint32_t i = 0; i < p->blocks[k].n_steps; i++) {
            const prt_step *step = &p->blocks[k].steps[i];
            const uint32_t x = step->n_in != 0 ? p->args[step->args] : PRT_NO_BUFFER;
            if ((p->params[step->params].def->traits & PRT_STATEFUL) != 0 && x != PRT_NO_BUFFER &&
                p->blocks[k].buffers[x].space == PRT_SPACE_CONSTANT &&
                p->blocks[k].buffers[x].ref == constant)
                return true;
        }
    return false;
}

bool prt_session_may_set_weight(const prt_session *s, prt_str name)
{
    const prt_program *p = s->program;
    uint32_t i = 0;
    if (find_variable(s, name) != PRT_NO_VARIABLE)
        return true;
    while (i < p->n_constants && !prt_str_equal(p->constants[i].name, name))
        i++;
    return i == p->n_constants || is_written(s, i);
}

poprt_status prt_session_set_weight(prt_session *s, prt_str name, const prt_tensor *from)
{
    const uint32_t variable = find_variable(s, name);
    if (variable != PRT_NO_VARIABLE)
        return set_variable(s, variable, from);
    const uint32_t i = find_weight(s, name);
    prt_tensor own;
    PRT_TRY(prt_session_weight(s, name, &own));
    PRT_TRY(prt_frame_check(from, &own, name.data, "new weight"));
    if (own.dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_UNSUPPORTED, name.data, "string weights cannot be replaced");
    if (from->size != own.size)
        return prt_fail(POPRT_E_ARG, name.data, "weight has %zu bytes, %zu were given", own.size,
            from->size);
    prt_blob *blob = NULL;
    PRT_TRY(prt_blob_create(&s->memory.allocator, own.size, &blob));
    if (own.size != 0)
        memcpy(prt_blob_bytes(blob), from->data, own.size);
    prt_blob_release(s->weights[i]);
    s->weights[i] = blob;
    s->replaced[i] = true;
    s->updated[i] = false;
    s->resolved = false; /* headers point to the old bytes */
    return POPRT_OK;
}
