/* SPDX-License-Identifier: MIT */
/* derive.c — see derive.h. */
#include "program/derive.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "base/map.h"

/* Copies the members of a program that do not change, which are all behind the counter of its
 * references. The new program retains the old one. */
static poprt_status copy_program(prt_program *from, prt_program **out)
{
    const size_t head = offsetof(prt_program, arena);
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(from->allocator, 0, &arena));
    prt_program *p = PRT_NEW(arena, prt_program);
    if (p == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    memcpy((char *)p + head, (const char *)from + head, sizeof(*p) - head);
    atomic_init(&p->refs, 1);
    p->arena = arena;
    p->base = prt_program_retain(from);
    p->file = prt_blob_retain(from->file);
    p->constants = NULL;
    p->n_constants = 0;
    *out = p;
    return POPRT_OK;
}

static poprt_status copy_constants(prt_program *p)
{
    const prt_program *from = p->base;
    p->constants = PRT_NEW_N(p->arena, prt_constant, (size_t)from->n_constants + p->n_variables);
    if (p->constants == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < from->n_constants; i++) {
        const prt_constant *c = &from->constants[i];
        p->constants[i] = (prt_constant){ .name = c->name,
            .type = c->type,
            .blob = prt_blob_retain(c->blob),
            .sum_kind = c->sum_kind,
            .sum = c->sum,
            .is_prepared = c->is_prepared };
    }
    p->n_constants = from->n_constants;
    return POPRT_OK;
}

static void set_constant(prt_constant *c, const prt_type *type, prt_blob *blob)
{
    prt_blob *old = c->blob;
    c->type = type;
    c->blob = prt_blob_retain(blob);
    c->sum_kind = PRT_SUM_COMPUTED;
    c->sum = 0;
    prt_blob_release(old);
}

/* Names a new constant like its variable, or with a number behind it if that name is in use. */
static poprt_status name_constant(prt_program *p, prt_map *names, prt_str wanted, prt_constant *c)
{
    const size_t size = (size_t)wanted.size + 16;
    char *text = prt_arena_alloc(p->arena, size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0;; k++) {
        const int n = k == 0 ? snprintf(text, size, "%.*s", PRT_STR_ARG(wanted))
                             : snprintf(text, size, "%.*s.%u", PRT_STR_ARG(wanted), k);
        c->name = (prt_str){ text, (uint32_t)n };
        if (prt_map_find(names, c->name) == NULL)
            return prt_map_set(names, c->name, c);
    }
}

static poprt_status add_constant(prt_program *p, prt_map *names, prt_variable *v, prt_blob *blob)
{
    prt_constant *c = &p->constants[p->n_constants];
    PRT_TRY(name_constant(p, names, v->name, c));
    set_constant(c, v->type, blob);
    v->init = p->n_constants++;
    return POPRT_OK;
}

/* Weights of the model that a dropped constant held are no longer there. */
static poprt_status forget_weights(prt_program *p, uint32_t constant, prt_weight **own)
{
    for (uint32_t i = 0; i < p->n_weights; i++) {
        if (p->weights[i].constant != constant)
            continue;
        if (*own == NULL) {
            *own = prt_arena_copy(p->arena, p->weights, p->n_weights * sizeof(**own));
            if (*own == NULL)
                return POPRT_E_NOMEM;
            p->weights = *own;
        }
        (*own)[i].constant = PRT_NO_CONSTANT;
        (*own)[i].pass = PRT_STR("");
    }
    return POPRT_OK;
}

static bool may_drop(const prt_program *p, const prt_variable *v, const uint32_t *uses)
{
    size_t size;
    return (v->role == PRT_VARIABLE_weight || v->role == PRT_VARIABLE_statistic ||
               v->role == PRT_VARIABLE_state) &&
        v->init != PRT_NO_CONSTANT && uses[v->init] == 1 && prt_type_size(v->type, &size) &&
        size != 0 && !prt_variable_is_empty(p, v);
}

/* Counts the variables that begin with each constant; constants that steps read count as 2. */
static poprt_status count_uses(const prt_program *p, prt_arena *scratch, uint32_t **out)
{
    bool *initial = PRT_NEW_N(scratch, bool, p->n_constants);
    uint32_t *uses = PRT_NEW_N(scratch, uint32_t, p->n_constants);
    if (initial == NULL || uses == NULL)
        return POPRT_E_NOMEM;
    prt_program_find_initial(p, initial);
    for (uint32_t i = 0; i < p->n_constants; i++)
        uses[i] = initial[i] ? 0 : 2;
    for (uint32_t i = 0; i < p->n_variables; i++)
        if (p->variables[i].init != PRT_NO_CONSTANT)
            uses[p->variables[i].init]++;
    *out = uses;
    return POPRT_OK;
}

static poprt_status set_contents(prt_program *p, const prt_first_contents *contents,
    prt_arena *scratch)
{
    static const int64_t no_elements[1] = { 0 };
    static const prt_type none = { PRT_VALUE_TENSOR, PRT_DTYPE_u8, 1, no_elements, NULL };
    prt_variable *variables =
        prt_arena_copy(p->arena, p->variables, p->n_variables * sizeof(*variables));
    prt_weight *weights = NULL;
    prt_map names = prt_map_in(scratch);
    prt_blob *empty = NULL;
    uint32_t *uses = NULL;
    if (variables == NULL)
        return POPRT_E_NOMEM;
    p->variables = variables;
    PRT_TRY(count_uses(p, scratch, &uses));
    for (uint32_t i = 0; i < p->n_constants; i++)
        PRT_TRY(prt_map_set(&names, p->constants[i].name, &p->constants[i]));
    PRT_TRY(prt_blob_create(p->allocator, 0, &empty));
    poprt_status status = POPRT_OK;
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_variables; i++) {
        prt_variable *v = &variables[i];
        if (contents[i].blob != NULL && v->init != PRT_NO_CONSTANT && uses[v->init] == 1) {
            set_constant(&p->constants[v->init], v->type, contents[i].blob);
        } else if (contents[i].blob != NULL) {
            status = add_constant(p, &names, v, contents[i].blob);
        } else if (contents[i].drops && may_drop(p, v, uses)) {
            set_constant(&p->constants[v->init], &none, empty);
            status = forget_weights(p, v->init, &weights);
        }
    }
    prt_blob_release(empty);
    return status;
}

/* Removes names and places of nodes, eliminated nodes, and facts; properties that name programs
 * stay. */
static poprt_status strip(prt_program *p)
{
    const prt_facts *f = &p->base->facts;
    const prt_str none = PRT_STR("");
    prt_eval_params *params = prt_arena_copy(p->arena, p->params, p->n_params * sizeof(*params));
    prt_property *properties = PRT_NEW_N(p->arena, prt_property, f->n_properties);
    if (params == NULL || properties == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_params; i++)
        params[i].origin = params[i].merged = params[i].location = none;
    p->params = params;
    p->n_eliminated = 0;
    p->facts = (prt_facts){ none, none, none, none, none, none, 0, 0, 0, 0, properties };
    for (uint32_t i = 0; i < f->n_properties; i++)
        if (f->properties[i].key.size > sizeof(PRT_PROGRAM_KEY) - 1 &&
            memcmp(f->properties[i].key.data, PRT_PROGRAM_KEY, sizeof(PRT_PROGRAM_KEY) - 1) == 0)
            properties[p->facts.n_properties++] = f->properties[i];
    return POPRT_OK;
}

poprt_status prt_program_derive(prt_program *from, const prt_first_contents *contents, bool bare,
    prt_program **out)
{
    prt_program *p = NULL;
    prt_arena *scratch = NULL;
    PRT_TRY(copy_program(from, &p));
    poprt_status status = copy_constants(p);
    if (status == POPRT_OK)
        status = prt_arena_create(from->allocator, 0, &scratch);
    if (status == POPRT_OK && contents != NULL)
        status = set_contents(p, contents, scratch);
    if (status == POPRT_OK && bare)
        status = strip(p);
    prt_arena_release(scratch);
    if (status != POPRT_OK) {
        prt_program_release(p);
        return status;
    }
    *out = p;
    return POPRT_OK;
}
