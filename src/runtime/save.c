/* SPDX-License-Identifier: MIT */
/*
 * save.c — writes the program of a session as PopEF, with the contents that its variables have now,
 * or without contents. A variable that still has its first contents is written as it was read, so
 * that a session that has not run gives the bytes of its executable.
 */
#include "program/derive.h"
#include "program/popef.h"
#include "runtime/flow_run.h"

/* Returns whether all elements have the bits of the variable's fill. */
static bool is_filled(const prt_variable *v, const unsigned char *data, size_t size)
{
    const size_t element = prt_dtype_bits(v->type->dtype) / 8;
    unsigned char fill[16] = { 0 };
    if (v->fill != 0.0f)
        prt_store_f64(v->type->dtype, fill, 0, (double)v->fill);
    for (size_t at = 0; at < size; at += element)
        if (memcmp(data + at, fill, element) != 0)
            return false;
    return true;
}

/* Returns whether a variable has its first contents. */
static bool is_unchanged(const prt_program *p, const prt_variable *v, const void *data, size_t size)
{
    if (v->init == PRT_NO_CONSTANT)
        return is_filled(v, data, size);
    const prt_constant *c = &p->constants[v->init];
    return c->type == v->type && (size == 0 || memcmp(c->blob->data, data, size) == 0);
}

static poprt_status take_contents(const prt_session *s, uint32_t i, prt_arena *arena,
    prt_first_contents *out)
{
    const prt_variable *v = &s->program->variables[i];
    const void *data = prt_store_current(s->store, i, 0);
    if (v->role == PRT_VARIABLE_accumulator || v->role == PRT_VARIABLE_gradient)
        return POPRT_OK;
    if (v->role == PRT_VARIABLE_scalar && prt_store_size(s->store, i) != 0) {
        void *scalar = prt_arena_alloc(arena, prt_store_size(s->store, i));
        if (scalar == NULL)
            return POPRT_E_NOMEM;
        prt_store_f64(v->type->dtype, scalar, 0, s->scalars[i]);
        data = scalar;
    }
    const size_t size = prt_store_size(s->store, i);
    return is_unchanged(s->program, v, data, size)
        ? POPRT_OK
        : prt_blob_borrow(s->memory.inner, data, size, NULL, NULL, &out->blob);
}

static poprt_status write_derived(const prt_session *s, const prt_first_contents *contents,
    bool bare, poprt_write_fn write, void *user)
{
    prt_program *derived = NULL;
    PRT_TRY(prt_program_derive(s->program, contents, bare, &derived));
    const poprt_status status = prt_popef_write(derived, write, user);
    prt_program_release(derived);
    return status;
}

static poprt_status write_contents(const prt_session *s, bool variables, bool bare,
    prt_arena *arena, poprt_write_fn write, void *user)
{
    const uint32_t n = s->program->n_variables;
    prt_first_contents *contents = PRT_NEW_N(arena, prt_first_contents, n);
    poprt_status status = contents != NULL ? POPRT_OK : POPRT_E_NOMEM;
    for (uint32_t i = 0; status == POPRT_OK && i < n; i++)
        if (variables)
            status = take_contents(s, i, arena, &contents[i]);
        else
            contents[i].drops = true;
    if (status == POPRT_OK)
        status = write_derived(s, contents, bare, write, user);
    for (uint32_t i = 0; contents != NULL && i < n; i++)
        prt_blob_release(contents[i].blob);
    return status;
}

poprt_status prt_session_write_program(prt_session *s, bool variables, bool bare,
    poprt_write_fn write, void *user)
{
    prt_arena *arena = NULL;
    if (variables)
        PRT_TRY(prt_session_check_contents(s));
    PRT_TRY(prt_arena_create(s->memory.inner, 0, &arena));
    const poprt_status status = write_contents(s, variables, bare, arena, write, user);
    prt_arena_release(arena);
    return status;
}
