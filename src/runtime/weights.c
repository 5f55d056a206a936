/* SPDX-License-Identifier: MIT */
/*
 * weights.c — weights and variables by name, as the caller reads and writes them between runs.
 */
#include <math.h>

#include "runtime/flow_run.h"

/* ---- names */

/* What a name of a session stands for: at most one of them is set. */
typedef struct named {
    uint32_t variable, constant; /* PRT_NO_VARIABLE, PRT_NO_CONSTANT: not of this kind */
    const prt_weight *weight;    /* a weight that a constant holds in another form, or none does */
} named;

/* The map of names has numbers for values: 1 + the index of a variable, of a constant behind all
 * variables, or of a weight behind all constants. A variable hides the constant of its first
 * contents. */
static poprt_status add_name(prt_session *s, prt_str name, size_t number)
{
    if (name.size == 0 || prt_map_find(&s->names, name) != NULL)
        return POPRT_OK;
    return prt_map_set(&s->names, name, (void *)(uintptr_t)(number + 1));
}

/* Makes the map of names when it is first needed: most sessions are never asked for a name. */
static poprt_status list_names(prt_session *s)
{
    const prt_program *p = s->program;
    if (s->has_names)
        return POPRT_OK;
    s->names = prt_map_in(s->arena);
    for (uint32_t i = 0; i < p->n_variables; i++)
        PRT_TRY(add_name(s, p->variables[i].name, i));
    for (uint32_t i = 0; i < p->n_constants; i++)
        PRT_TRY(add_name(s, p->constants[i].name, (size_t)p->n_variables + i));
    for (uint32_t i = 0; i < p->n_weights; i++)
        PRT_TRY(add_name(s, p->weights[i].form.name, (size_t)p->n_variables + p->n_constants + i));
    s->has_names = true;
    return POPRT_OK;
}

/* Finds a variable, a constant or a weight; all are unset for an unknown name. */
static poprt_status find(prt_session *s, prt_str name, named *out)
{
    const prt_program *p = s->program;
    *out = (named){ PRT_NO_VARIABLE, PRT_NO_CONSTANT, NULL };
    PRT_TRY(list_names(s));
    const size_t number = (size_t)(uintptr_t)prt_map_find(&s->names, name);
    if (number == 0)
        return POPRT_OK;
    if (number <= p->n_variables)
        out->variable = (uint32_t)(number - 1);
    else if (number - p->n_variables <= p->n_constants)
        out->constant = (uint32_t)(number - 1 - p->n_variables);
    else
        out->weight = &p->weights[number - 1 - p->n_variables - p->n_constants];
    return POPRT_OK;
}

/* Fails for a name that no variable and no constant has. */
static poprt_status fail_unknown(const prt_session *s, prt_str name, const prt_weight *w)
{
    const char *advice = s->program->n_variables != 0
        ? ""
        : "; the option constant_weights=false keeps floating-point weights and integers of 8 bits";
    if (w == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, name.data, "the executable has no weight of this name");
    if (w->constant != PRT_NO_CONSTANT)
        return prt_fail(POPRT_E_STATE, name.data,
            "the executable has this weight in another order, so that it cannot be shared");
    if (w->pass.size == 0)
        return prt_fail(POPRT_E_NOT_FOUND, name.data,
            "no operator of the model reads the weight, so its value is not in the executable%s",
            advice);
    return prt_fail(POPRT_E_NOT_FOUND, name.data,
        "the pass %.*s computed other constants from the weight, so its value is no longer in the "
        "executable%s",
        PRT_STR_ARG(w->pass), advice);
}

/* ---- variables without contents */

poprt_status prt_session_find_lacking(prt_session *s)
{
    const prt_program *p = s->program;
    s->lacks = PRT_NEW_N(s->arena, bool, p->n_variables);
    if (s->lacks == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_variables; i++) {
        s->lacks[i] = prt_variable_is_empty(p, &p->variables[i]);
        s->n_lacking += s->lacks[i];
    }
    return POPRT_OK;
}

void prt_session_note_contents(prt_session *s, uint32_t variable)
{
    s->n_lacking -= s->lacks[variable];
    s->lacks[variable] = false;
}

static poprt_status fail_lacking(const prt_session *s, uint32_t i)
{
    return prt_fail(POPRT_E_STATE, s->program->variables[i].name.data,
        "the executable was saved without variables, and %u of them have no contents: set them by "
        "poprt_session_load_variables, poprt_session_reset_weights or poprt_session_write_weight",
        s->n_lacking);
}

poprt_status prt_session_check_contents(const prt_session *s)
{
    uint32_t i = 0;
    if (s->n_lacking == 0)
        return POPRT_OK;
    while (!s->lacks[i])
        i++;
    return fail_lacking(s, i);
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

static uint32_t factor_of(const prt_program *p)
{
    return p->has_flow ? p->scaling.factor : PRT_NO_VARIABLE;
}

/* Returns a scalar's value with the factor of the loss scale. */
static double scaled(const prt_session *s, uint32_t i, double factor)
{
    const int32_t power = s->program->variables[i].loss_scale;
    if (power == 0)
        return s->scalars[i];
    return power > 0 ? s->scalars[i] * factor : s->scalars[i] / factor;
}

static void store_scalar(prt_session *s, uint32_t i, double factor)
{
    prt_store_f64(s->program->variables[i].type->dtype, prt_store_current(s->store, i, 0), 0,
        scaled(s, i, factor));
}

static double loss_scale_factor(const prt_session *s)
{
    const uint32_t by = factor_of(s->program);
    return by != PRT_NO_VARIABLE ? (double)*(const float *)prt_store_current(s->store, by, 0) : 1.0;
}

void prt_session_scale_scalars(prt_session *s)
{
    const prt_program *p = s->program;
    if (factor_of(p) == PRT_NO_VARIABLE || s->memory.measures)
        return;
    const double factor = loss_scale_factor(s);
    for (uint32_t i = 0; i < p->n_variables; i++)
        if (p->variables[i].role == PRT_VARIABLE_scalar && p->variables[i].loss_scale != 0)
            store_scalar(s, i, factor);
}

bool prt_session_may_scale(const prt_session *s, float factor)
{
    const prt_program *p = s->program;
    if (!isfinite(factor) || factor <= 0.0f)
        return false;
    for (uint32_t i = 0; i < p->n_variables; i++) {
        const prt_variable *v = &p->variables[i];
        double stored = 0.0;
        if (v->role != PRT_VARIABLE_scalar || v->loss_scale == 0)
            continue;
        prt_store_f64(v->type->dtype, &stored, 0, scaled(s, i, (double)factor));
        stored = prt_load_f64(v->type->dtype, &stored, 0);
        if (!isfinite(stored) || (stored == 0.0) != (s->scalars[i] == 0.0))
            return false;
    }
    return true;
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
    prt_session_note_contents(s, i);
    s->has_sums = s->has_sums || v->role == PRT_VARIABLE_accumulator;
    if (v->role == PRT_VARIABLE_scalar && own.size != 0) {
        s->scalars[i] = prt_load_f64(own.dtype, from->data, 0);
        store_scalar(s, i, loss_scale_factor(s));
    }
    if (i == factor_of(s->program))
        prt_session_scale_scalars(s);
    return POPRT_OK;
}

poprt_status prt_session_set_scalar(prt_session *s, prt_str name, double value)
{
    named found;
    PRT_TRY(find(s, name, &found));
    const uint32_t i = found.variable;
    if (i == PRT_NO_VARIABLE)
        return POPRT_OK;
    if (s->program->variables[i].role != PRT_VARIABLE_scalar || prt_store_size(s->store, i) == 0)
        return prt_fail(POPRT_E_STATE, name.data, "this variable is not a hyper-parameter");
    s->scalars[i] = value;
    store_scalar(s, i, loss_scale_factor(s));
    return POPRT_OK;
}

poprt_status prt_session_weight(prt_session *s, prt_str name, prt_tensor *out)
{
    named found;
    PRT_TRY(find(s, name, &found));
    if (found.variable != PRT_NO_VARIABLE)
        return variable_tensor(s, found.variable, out);
    const uint32_t i = found.constant;
    if (i == PRT_NO_CONSTANT)
        return fail_unknown(s, name, found.weight);
    const prt_type *t = s->program->constants[i].type;
    if (!prt_tensor_init(out, t->dtype, (uint32_t)t->rank, t->dims,
            (void *)(uintptr_t)(s->updated[i] ? s->updates[i] : s->weights[i])->data))
        return prt_fail(POPRT_E_INTERNAL, name.data, "weight has an impossible shape");
    return POPRT_OK;
}

poprt_status prt_session_weight_type(prt_session *s, prt_str name, const prt_type **out)
{
    const prt_program *p = s->program;
    named found;
    PRT_TRY(find(s, name, &found));
    if (found.variable != PRT_NO_VARIABLE)
        *out = p->variables[found.variable].type;
    else if (found.constant != PRT_NO_CONSTANT)
        *out = p->constants[found.constant].type;
    else if (found.weight != NULL && found.weight->constant != PRT_NO_CONSTANT)
        *out = found.weight->form.type;
    else
        return fail_unknown(s, name, found.weight);
    return POPRT_OK;
}

poprt_status prt_session_copy_weight(prt_session *s, prt_str name, void *to)
{
    named found;
    prt_tensor from;
    PRT_TRY(find(s, name, &found));
    const prt_weight *w = found.weight;
    if (w != NULL && w->constant != PRT_NO_CONSTANT)
        return prt_weight_form_restore(&w->form, s->program->constants[w->constant].blob->data,
            &s->memory.allocator, to);
    PRT_TRY(prt_session_weight(s, name, &from));
    if (found.variable != PRT_NO_VARIABLE && s->lacks[found.variable])
        return fail_lacking(s, found.variable);
    if (from.size != 0)
        memcpy(to, from.data, from.size);
    return POPRT_OK;
}

/* Returns whether a step writes the constant that is its input `in`. */
static bool writes_input(const prt_eval_params *params, uint32_t in)
{
    return (in == 0 && (params->def->traits & PRT_STATEFUL) != 0) ||
        prt_op_changes_input(params->def, params->attrs, in);
}

/* Returns whether an operator writes the constant: CopyVarUpdate, or a Call whose callee does. */
static bool is_written(const prt_session *s, uint32_t constant)
{
    const prt_program *p = s->program;
    for (uint32_t k = 0; k < p->n_blocks; k++)
        for (uint32_t i = 0; i < p->blocks[k].n_steps; i++) {
            const prt_step *step = &p->blocks[k].steps[i];
            for (uint32_t in = 0; in < step->n_in; in++) {
                const uint32_t x = p->args[step->args + in];
                if (x != PRT_NO_BUFFER && p->blocks[k].buffers[x].space == PRT_SPACE_CONSTANT &&
                    p->blocks[k].buffers[x].ref == constant &&
                    writes_input(&p->params[step->params], in))
                    return true;
            }
        }
    return false;
}

poprt_status prt_session_may_set_weight(prt_session *s, prt_str name, bool *out)
{
    named found;
    PRT_TRY(find(s, name, &found));
    *out = found.weight == NULL &&
        (found.constant == PRT_NO_CONSTANT || is_written(s, found.constant));
    return POPRT_OK;
}

poprt_status prt_session_set_weight(prt_session *s, prt_str name, const prt_tensor *from)
{
    named found;
    prt_tensor own;
    PRT_TRY(find(s, name, &found));
    if (found.variable != PRT_NO_VARIABLE)
        return set_variable(s, found.variable, from);
    const uint32_t i = found.constant;
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
