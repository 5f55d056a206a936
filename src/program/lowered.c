/* SPDX-License-Identifier: MIT */
/* lowered.c — kernels of plug-ins in the executable payload. */
#include "program/lowered.h"

#include "op/op.h"

/* Returns the index of a kernel by its name, since the plug-in may have another version than the
 * one used to compile. */
static uint32_t find_kernel(prt_source *s, const prt_eval_params *p, prt_str name)
{
    const prt_op_row *row = prt_op_row_of(p->def);
    for (uint32_t i = 0; row != NULL && i < row->n_kernels; i++)
        if (prt_str_is(name, row->kernels[i]))
            return i;
    prt_source_fail(s,
        prt_fail(POPRT_E_PLUGIN, p->origin.data,
            "executable needs kernel %.100s of operator %.200s, which %s%.100s does not have: load "
            "the "
            "plug-in's version that the model was compiled with, or compile the model again",
            name.data, p->def->key, row != NULL ? "plug-in " : "the library",
            row != NULL ? row->plugin : ""));
    return 0;
}

static void get_constants(prt_source *s, prt_lowered *how)
{
    how->n_constants = prt_get_count(s, 4);
    uint32_t *constants = prt_get_array(s, how->n_constants, sizeof(uint32_t));
    for (uint32_t i = 0; s->status == POPRT_OK && i < how->n_constants; i++) {
        constants[i] = prt_get_u32(s);
        if (s->status == POPRT_OK && constants[i] >= s->program->n_constants)
            prt_source_fail_damaged(s, "a kernel refers to a missing constant");
        else if (s->status == POPRT_OK)
            s->program->constants[constants[i]].is_prepared = true;
    }
    how->constants = constants;
}

static void get_dropped(prt_source *s, prt_lowered *how)
{
    how->n_dropped = prt_get_count(s, 16);
    prt_lowered_input *dropped = prt_get_array(s, how->n_dropped, sizeof(*dropped));
    for (uint32_t i = 0; s->status == POPRT_OK && i < how->n_dropped; i++) {
        dropped[i].input = prt_get_u32(s);
        dropped[i].type = prt_get_type(s);
    }
    how->dropped = dropped;
}

void prt_lowered_decode(prt_source *s, prt_eval_params *p)
{
    if (prt_get_u32(s) == 0)
        return;
    prt_lowered *how = prt_get_array(s, 1, sizeof(*how));
    const prt_str kernel = prt_get_str(s);
    if (s->status != POPRT_OK)
        return;
    how->kernel = find_kernel(s, p, kernel);
    how->scratch = prt_get_u64(s);
    how->items = prt_get_u64(s);
    how->in_place_inputs = prt_get_u64(s);
    how->read_constants = prt_get_u64(s);
    get_constants(s, how);
    get_dropped(s, how);
    p->lowered = how;
}

static poprt_status bad(const prt_eval_params *params, const char *what)
{
    return prt_fail(POPRT_E_PARSE, params->origin.data, "program is inconsistent: %s", what);
}

/* Returns whether the type is a vector of bytes. */
static bool is_bytes(const prt_type *type)
{
    return prt_type_is_tensor(type) && type->rank == 1 && type->dtype == PRT_DTYPE_u8;
}

poprt_status prt_lowered_check(const prt_program *p, const prt_step *step)
{
    const prt_eval_params *params = &p->params[step->params];
    const prt_lowered *how = params->lowered;
    const uint32_t *args = &p->args[step->args];
    if (how->items == 0 || how->items > PRT_LOWER_MAX_ITEMS)
        return bad(params, "a kernel has no items of work, or too many");
    if (how->scratch > PRT_LOWER_MAX_SCRATCH)
        return bad(params, "a kernel needs more scratch than the limit");
    if (how->n_constants > PRT_LOWER_MAX_CONSTANTS)
        return bad(params, "a kernel has more constants than the limit");
    for (uint32_t i = 0; i < how->n_constants; i++)
        if (!is_bytes(p->constants[how->constants[i]].type))
            return bad(params, "a constant prepared for a kernel is not a vector of bytes");
    for (uint32_t i = 0; i < how->n_dropped; i++) {
        const prt_lowered_input *in = &how->dropped[i];
        size_t size;
        if (in->input >= step->n_in || args[in->input] != PRT_NO_BUFFER ||
            !prt_type_is_tensor(in->type) || in->type->dtype == PRT_DTYPE_undefined ||
            in->type->dtype == PRT_DTYPE_string || !prt_type_size(in->type, &size))
            return bad(params,
                "an input dropped by a kernel is an argument, or has no static type");
    }
    return POPRT_OK;
}
