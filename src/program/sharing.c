/* SPDX-License-Identifier: MIT */
/*
 * sharing.c — soundness of views and parts.
 *
 * Contents are never trusted, so a wrong plan that overwrites values between steps is harmless. But
 * a step must not write memory that it reads at the same time, or memory outside the session.
 * check.c ensures that different roots alive at a step do not overlap. Here the root of every
 * argument is found and must be alive, and arguments with the same root are compared.
 */
#include "program/sharing.h"

#include "op/alias.h"

/* The location of a buffer: all of buffer `root`, or some of its bytes. */
typedef struct place {
    uint32_t root;     /* PRT_NO_BUFFER: not written yet */
    size_t from, size; /* bytes; SIZE_MAX: unknown. A view counts as the whole buffer it lies in */
    bool columns;      /* `from` and `size` refer to each row of the root */
} place;

typedef struct checker {
    const prt_program *program;
    const prt_block *block;
    place *places; /* by buffer */
} checker;

static poprt_status bad(const prt_block *block, const char *what)
{
    return prt_fail(POPRT_E_PARSE, block->name.data, "program is inconsistent: %s", what);
}

bool prt_sharing_in_place(const prt_eval_params *params, uint32_t n_in, uint32_t in)
{
#ifndef PRT_NO_COMPILER
    if (params->lowered != NULL)
        return in < n_in && in < 64 && (params->lowered->in_place_inputs >> in & 1) != 0;
#endif
    return prt_alias_in_place(params->def, n_in, in);
}

static size_t row_size(const prt_type *type)
{
    return (size_t)type->dims[type->rank - 1] * (prt_dtype_bits(type->dtype) / 8);
}

/* Checks that the rows are ranges of the root's rows: all axes but the last are equal. */
static bool fits_as_columns(const prt_buffer *buffer, const prt_type *whole)
{
    const prt_type *type = buffer->type;
    if (type->rank == 0 || whole->rank != type->rank || whole->dtype != type->dtype)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]) || type->dims[i] < 0 ||
            (i + 1 < type->rank ? whole->dims[i] != type->dims[i] : whole->dims[i] < type->dims[i]))
            return false;
    return buffer->offset % (prt_dtype_bits(type->dtype) / 8) == 0 &&
        buffer->offset <= row_size(whole) - row_size(type);
}

static poprt_status check_columns(const prt_block *block, const prt_buffer *buffer)
{
    const prt_buffer *in = &block->buffers[buffer->ref];
    size_t size;
    if (!block->is_static || (in->space != PRT_SPACE_PLANNED && in->space != PRT_SPACE_OUTPUT) ||
        !prt_type_is_tensor(in->type) || in->type->rank < 0 || !prt_type_size(in->type, &size) ||
        !fits_as_columns(buffer, in->type))
        return bad(block, "columns do not fit the rows of their buffer");
    return POPRT_OK;
}

poprt_status prt_sharing_check_buffer(const prt_block *block, const prt_buffer *buffer)
{
    const prt_type *type = buffer->type;
    size_t size, whole;
    if (!prt_type_is_tensor(type) || type->rank < 0 || type->rank > PRT_MAX_RANK ||
        type->dtype == PRT_DTYPE_string || type->dtype == PRT_DTYPE_undefined ||
        prt_dtype_bits(type->dtype) < 8)
        return bad(block, "a buffer that shares memory is not a numeric tensor");
    if (buffer->ref >= block->n_buffers)
        return bad(block, "a buffer shares memory with a missing buffer");
    if (buffer->space == PRT_SPACE_COLUMNS)
        return check_columns(block, buffer);
    if (buffer->space == PRT_SPACE_VIEW && block->buffers[buffer->ref].space == PRT_SPACE_COLUMNS)
        return bad(block, "a view is of columns");
    if (buffer->space == PRT_SPACE_VIEW)
        return POPRT_OK;
    const prt_buffer *in = &block->buffers[buffer->ref];
    if (!block->is_static || (in->space != PRT_SPACE_PLANNED && in->space != PRT_SPACE_OUTPUT) ||
        !prt_type_is_tensor(in->type) || in->type->dtype == PRT_DTYPE_string ||
        !prt_type_size(type, &size) || !prt_type_size(in->type, &whole) || buffer->offset > whole ||
        size > whole - buffer->offset || buffer->offset % (prt_dtype_bits(type->dtype) / 8) != 0)
        return bad(block, "a part exceeds the buffer it lies in");
    return POPRT_OK;
}

bool prt_sharing_is_update(const prt_block *block, const prt_op_def *def, const uint32_t *args,
    uint32_t o, uint32_t n_in)
{
    if ((def->traits & PRT_UPDATES) == 0 || o >= n_in || args[o] == PRT_NO_BUFFER)
        return false;
    const prt_buffer *x = &block->buffers[args[o]], *y = &block->buffers[args[n_in + o]];
    return x->space == PRT_SPACE_VARIABLE && y->space == PRT_SPACE_VARIABLE && x->ref == y->ref;
}

static place place_of(const prt_block *b, uint32_t buffer)
{
    const prt_buffer *x = &b->buffers[buffer];
    place p = { .root = buffer, .from = 0, .size = SIZE_MAX };
    if (!prt_type_is_tensor(x->type) || !prt_type_size(x->type, &p.size))
        p.size = SIZE_MAX;
    if (x->space == PRT_SPACE_VIEW)
        p.root = PRT_NO_BUFFER;
    if (x->space == PRT_SPACE_PART) {
        p.root = x->ref;
        p.from = x->offset;
    }
    if (x->space == PRT_SPACE_COLUMNS)
        p = (place){ .root = x->ref,
            .from = x->offset,
            .size = row_size(x->type),
            .columns = true };
    return p;
}

static bool is_disjoint(const place *a, const place *b)
{
    return a->root != b->root ||
        (a->columns == b->columns && a->size != SIZE_MAX && b->size != SIZE_MAX &&
            (a->from + a->size <= b->from || b->from + b->size <= a->from));
}

static bool is_same(const place *a, const place *b)
{
    return a->root == b->root && a->from == b->from && a->size == b->size &&
        a->columns == b->columns;
}

/* Returns whether buffer `part` lies in one of its places; for PRT_NO_BUFFER, whether all parts
 * do. */
static bool are_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out, uint32_t part)
{
    const bool joins = prt_alias_is_concat(params->def);
    const uint32_t *parts = joins ? args : args + n_in, n = joins ? n_in : n_out;
    const uint32_t whole = n_in == 0 || n_out == 0 ? PRT_NO_BUFFER : joins ? args[n_in] : args[0];
    if (whole == PRT_NO_BUFFER || n > PRT_CONCAT_COLUMNS_MAX)
        return false;
    const prt_type *type = block->buffers[whole].type;
    if (!prt_type_is_tensor(type) || type->rank < 1 ||
        !prt_alias_is_along_columns(params->def, params->attrs, (uint32_t)type->rank))
        return false;
    place at = place_of(block, whole);
    at.from = at.columns ? at.from : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i] == PRT_NO_BUFFER)
            return false;
        const prt_type *here = block->buffers[parts[i]].type;
        if (!prt_type_is_tensor(here) || here->rank != type->rank ||
            !prt_dim_is_number(here->dims[type->rank - 1]))
            return false;
        at.size = row_size(here);
        at.columns = true;
        const place is = place_of(block, parts[i]);
        if (part == PRT_NO_BUFFER && !is_same(&is, &at))
            return false;
        if (part == parts[i] && is_same(&is, &at))
            return true;
        at.from += at.size;
    }
    return part == PRT_NO_BUFFER;
}

bool prt_sharing_all_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out)
{
    return are_concat_columns(block, params, args, n_in, n_out, PRT_NO_BUFFER);
}

bool prt_sharing_concat_columns(const prt_block *block, const prt_eval_params *params,
    const uint32_t *args, uint32_t n_in, uint32_t n_out, uint32_t in, uint32_t out)
{
    const uint32_t part = args[prt_alias_is_concat(params->def) ? in : n_in + out];
    return part != PRT_NO_BUFFER && are_concat_columns(block, params, args, n_in, n_out, part);
}

bool prt_sharing_overlap(const prt_block *block, uint32_t a, uint32_t b)
{
    while (block->buffers[a].space == PRT_SPACE_VIEW)
        a = block->buffers[a].ref;
    while (block->buffers[b].space == PRT_SPACE_VIEW)
        b = block->buffers[b].ref;
    const place x = place_of(block, a), y = place_of(block, b);
    return !is_disjoint(&x, &y);
}

static poprt_status check_alive(const checker *c, uint32_t buffer, uint32_t step)
{
    const uint32_t root = c->places[buffer].root;
    if (root == PRT_NO_BUFFER)
        return bad(c->block, "a step reads a view before it is made");
    const prt_buffer *x = &c->block->buffers[root];
    if (x->space == PRT_SPACE_PLANNED && (x->first > step || x->last < step))
        return bad(c->block, "a step uses memory outside its lifetime");
    return POPRT_OK;
}

/* Checks that a view is made by one step from one of its inputs: either as bytes of input 0, or in
 * place of an input in the block's own memory. */
static poprt_status make_view(const checker *c, const prt_step *step, uint32_t out)
{
    const prt_buffer *x = &c->block->buffers[out];
    const uint32_t *args = &c->program->args[step->args];
    const prt_op_def *def = c->program->params[step->params].def;
    if (c->places[out].root != PRT_NO_BUFFER)
        return bad(c->block, "a view is made twice");
    for (uint32_t i = 0; i < step->n_in; i++) {
        if (args[i] != x->ref)
            continue;
        const place *of = &c->places[x->ref];
        const uint32_t space = c->block->buffers[of->root].space;
        const bool view = i == 0 && prt_alias_may_view(def) && space != PRT_SPACE_DYNAMIC;
        if (!view &&
            (out != args[step->n_in] || space != PRT_SPACE_PLANNED ||
                !prt_sharing_in_place(&c->program->params[step->params], step->n_in, i)))
            return bad(c->block, "a step cannot make its output a view");
        c->places[out] = *of;
        return POPRT_OK;
    }
    return bad(c->block, "a view does not refer to an input of its step");
}

/* Checks output `o` against the inputs and the earlier outputs. A step that makes views of its
 * input, or concatenates its inputs, only moves bytes with memmove semantics, so its arguments may
 * overlap. For a step in place, another view of the same memory as input gives wrong values at
 * worst. */
static poprt_status check_output(const checker *c, const prt_step *step, uint32_t o)
{
    const prt_op_def *def = c->program->params[step->params].def;
    const uint32_t *args = &c->program->args[step->args];
    const place *out = &c->places[args[step->n_in + o]];
    const bool moves = prt_alias_may_view(def) || (prt_alias_is_concat(def) && o == 0);
    for (uint32_t i = 0; i < step->n_in + o; i++) {
        if (args[i] == PRT_NO_BUFFER || is_disjoint(&c->places[args[i]], out) ||
            (i == o && i < step->n_in &&
                prt_sharing_is_update(c->block, def, args, o, step->n_in)) ||
            (moves && !out->columns && !c->places[args[i]].columns))
            continue;
        if (i < step->n_in &&
            prt_sharing_concat_columns(c->block, &c->program->params[step->params], args,
                step->n_in, step->n_out, i, o))
            continue;
        const bool in_place = i < step->n_in && o == 0 && is_same(&c->places[args[i]], out) &&
            prt_sharing_in_place(&c->program->params[step->params], step->n_in, i);
        if (!in_place)
            return bad(c->block, "a step writes memory that it reads");
    }
    return POPRT_OK;
}

static poprt_status check_step(const checker *c, uint32_t index)
{
    const prt_step *step = &c->block->steps[index];
    const uint32_t *args = &c->program->args[step->args];
    const prt_eval_params *params = &c->program->params[step->params];
    for (uint32_t i = 0; i < step->n_in; i++)
        if (args[i] != PRT_NO_BUFFER)
            PRT_TRY(check_alive(c, args[i], index));
    for (uint32_t r = 0; r < params->n_regions; r++) {
        const prt_block *body = &c->program->blocks[params->regions[r]];
        for (uint32_t i = 0; i < body->n_buffers; i++)
            if (body->buffers[i].space == PRT_SPACE_CAPTURE)
                PRT_TRY(check_alive(c, body->buffers[i].ref, index));
    }
    bool columns = false;
    for (uint32_t i = 0; i < step->n_in + step->n_out; i++)
        columns = columns ||
            (args[i] != PRT_NO_BUFFER && c->block->buffers[args[i]].space == PRT_SPACE_COLUMNS);
    if (columns && params->lowered != NULL)
        return bad(c->block, "a kernel of a plug-in has columns");
    for (uint32_t o = 0; o < step->n_out; o++) {
        const uint32_t out = args[step->n_in + o];
        if (out == PRT_NO_BUFFER)
            continue;
        if (c->block->buffers[out].space == PRT_SPACE_VIEW && columns)
            return bad(c->block, "a step with columns makes a view");
        if (c->block->buffers[out].space == PRT_SPACE_VIEW)
            PRT_TRY(make_view(c, step, out));
        PRT_TRY(check_alive(c, out, index));
        PRT_TRY(check_output(c, step, o));
    }
    return POPRT_OK;
}

poprt_status prt_sharing_check(const prt_program *program, uint32_t block, prt_arena *scratch)
{
    const prt_block *b = &program->blocks[block];
    checker c = { .program = program, .block = b };
    c.places = PRT_NEW_N(scratch, place, b->n_buffers);
    if (c.places == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < b->n_buffers; i++)
        c.places[i] = place_of(b, i);
    for (uint32_t i = 0; i < b->n_steps; i++)
        PRT_TRY(check_step(&c, i));
    for (uint32_t i = 0; i < b->n_outputs; i++)
        PRT_TRY(check_alive(&c, b->outputs[i], b->n_steps));
    return POPRT_OK;
}
