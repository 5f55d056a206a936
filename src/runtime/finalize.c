/* SPDX-License-Identifier: MIT */
/*
 * finalize.c — decides which steps can run without shape inference. Files are not trusted, and
 * kernels rely on the shapes of their arguments. A step is therefore static only if its operator's
 * own inference gives exactly the shapes that the program claims, from the resolved shapes and the
 * constants. If inference needs data of a run, the step infers in each run. As during compilation,
 * the contents of other inputs are unknown here, so inference gets its own pools of expressions and
 * types, which are released afterwards.
 *
 * The shapes determine which steps are views or joins; the addresses determine which of these have
 * nothing to do. A run skips them.
 */
#include "op/alias.h"
#include "runtime/frame.h"

/* Returns the frame of a captured buffer, and sets `buffer` to its index there. */
static const prt_frame *origin_of(const prt_frame *f, uint32_t *buffer)
{
    while (f->block->buffers[*buffer].space == PRT_SPACE_CAPTURE) {
        *buffer = f->block->buffers[*buffer].ref;
        f = f->outer;
    }
    return f;
}

/* Sets the shapes of the step's inputs and the values of constant ones. Returns false when the
 * shape of an input is not final. */
static bool read_inputs(const prt_frame *f, const prt_frame_step *step)
{
    prt_session *s = f->session;
    const uint32_t *in = step->out_buffers - step->n_in;
    for (uint32_t i = 0; i < step->n_in; i++) {
        s->infer_values[i] = NULL;
        s->infer_shapes[i] = (prt_shape){ .kind = PRT_VALUE_ABSENT };
        if (in[i] == PRT_NO_BUFFER)
            continue;
        uint32_t buffer = in[i];
        const prt_frame *at = origin_of(f, &buffer);
        if (!prt_frame_is_final(&at->expected[buffer]))
            return false;
        prt_shape_of_tensor(&at->expected[buffer], &s->infer_shapes[i]);
        if (at->block->buffers[buffer].space == PRT_SPACE_CONSTANT)
            s->infer_values[i] = &at->values[buffer];
    }
    return true;
}

/* Sets whether inference gave the expected header; fails when it gave another one. */
static poprt_status compare(const prt_frame *f, const prt_frame_step *step, uint32_t i,
    const prt_shape *got, bool *same)
{
    const prt_tensor *expected = &f->expected[step->out_buffers[i]];
    *same = false;
    if (!prt_shape_is_known(got))
        return POPRT_OK;
    prt_tensor t;
    if (!prt_tensor_init(&t, got->dtype, (uint32_t)got->rank, got->dims, NULL))
        return prt_fail(POPRT_E_LIMIT, step->params->origin.data, "its result is too large");
    PRT_TRY(prt_frame_check(&t, expected, step->params->origin.data, "its result"));
    *same = prt_frame_is_final(expected);
    return POPRT_OK;
}

/* Returns whether a buffer of this frame has its final address; false for captures. */
static bool is_finalized(const prt_frame *f, uint32_t buffer)
{
    const prt_frame *at = origin_of(f, &buffer);
    return at == f && at->finalized[buffer];
}

/* Finalizes views of an input whose address is final. */
static void finalize_views(prt_frame *f, prt_frame_step *step)
{
    step->mode = PRT_STEP_views;
    if (!is_finalized(f, (step->out_buffers - step->n_in)[0]))
        return;
    bool moves = false;
    for (uint32_t i = 0; i < step->n_out; i++) {
        const uint32_t buffer = step->out_buffers[i];
        if (buffer == PRT_NO_BUFFER)
            continue;
        char *at = step->in[0]->data;
        at = at != NULL ? at + step->offsets[i] : NULL;
        if (f->block->buffers[buffer].space == PRT_SPACE_VIEW) {
            step->out[i]->data = at;
            f->finalized[buffer] = true;
        }
        moves = moves || !f->finalized[buffer] || step->out[i]->data != at;
    }
    if (!moves)
        step->mode = PRT_STEP_none;
}

/* Returns whether all inputs are parts at their places in the result. */
static bool is_concatenated(const prt_frame *f, const prt_frame_step *step)
{
    const uint32_t *in = step->out_buffers - step->n_in;
    const prt_buffer *y = &f->block->buffers[step->out_buffers[0]];
    const bool part = y->space == PRT_SPACE_PART;
    size_t offset = part ? y->offset : 0;
    for (uint32_t i = 0; i < step->n_in; i++) {
        const prt_buffer *x = &f->block->buffers[in[i]];
        if (step->in[i]->size != 0 &&
            (x->space != PRT_SPACE_PART || x->offset != offset ||
                x->ref != (part ? y->ref : step->out_buffers[0])))
            return false;
        offset += step->in[i]->size;
    }
    return true;
}

/* Finalizes the mode of a step with known shapes. If its views are not views, each run allocates
 * them. */
static poprt_status finalize_mode(prt_frame *f, prt_frame_step *step)
{
    bool views = false;
    for (uint32_t i = 0; i < step->n_out; i++) {
        views = views ||
            (step->out[i] != NULL &&
                f->block->buffers[step->out_buffers[i]].space == PRT_SPACE_VIEW);
        step->packed =
            step->packed || (step->out[i] != NULL && prt_dtype_bits(step->out[i]->dtype) < 8);
    }
    if (step->columns != PRT_COLUMNS_none) {
        if (prt_columns_are_in_place(f, step))
            step->mode = PRT_STEP_none;
        return prt_frame_may_eval(step) ? POPRT_OK : POPRT_E_PARSE;
    }
    if (prt_frame_views(step, step->offsets)) {
        finalize_views(f, step);
    } else if (prt_frame_may_concat(step)) {
        step->mode = is_concatenated(f, step) ? PRT_STEP_none : PRT_STEP_concat;
    } else if (!prt_frame_may_eval(step)) {
        return POPRT_E_PARSE;
    } else if (views) {
        step->is_static = prt_frame_may_write_in_place(step);
        if (step->is_static &&
            is_finalized(f, (step->out_buffers - step->n_in)[step->in_place_input - 1])) {
            step->out[0]->data = step->in[step->in_place_input - 1]->data;
            f->finalized[step->out_buffers[0]] = true;
        }
    }
    return POPRT_OK;
}

#ifndef PRT_NO_COMPILER
/* Selects the kernel of a plug-in until a weight that it was prepared from is replaced; then eval
 * runs, if all its inputs are stored. Without fast operators, eval runs where it can. */
static poprt_status finalize_kernel(const prt_frame *f, prt_frame_step *step)
{
    const prt_session *s = f->session;
    const prt_lowered *how = step->params->lowered;
    const uint32_t *in = step->out_buffers - step->n_in;
    if (how == NULL)
        return POPRT_OK;
    bool kernel = s->kern != NULL || how->n_dropped != 0;
    for (uint32_t i = 0; i < step->n_in && i < 64; i++) {
        uint32_t buffer = in[i];
        if (buffer == PRT_NO_BUFFER || (how->read_constants >> i & 1) == 0)
            continue;
        const prt_frame *owner = origin_of(f, &buffer);
        const prt_buffer *at = &owner->block->buffers[buffer];
        if (at->space != PRT_SPACE_CONSTANT || !s->replaced[at->ref])
            continue;
        if (how->n_dropped != 0)
            return prt_fail(POPRT_E_STATE, step->params->origin.data,
                "weight %.200s was replaced, but others that %.200s was prepared from are not "
                "stored: "
                "compile the model with the new weight",
                at->name.data, step->params->def->key);
        kernel = false;
    }
    step->fast = kernel ? prt_op_row_of(step->params->def)->run : NULL;
    return POPRT_OK;
}
#endif

static poprt_status finalize_step(prt_frame *f, prt_frame_step *step, prt_dims *dims,
    prt_types *types)
{
    prt_session *s = f->session;
    step->is_static = step->packed = false;
    step->mode = PRT_STEP_eval;
#ifndef PRT_NO_COMPILER
    PRT_TRY(finalize_kernel(f, step));
#endif
    if (!read_inputs(f, step))
        return POPRT_OK;
    prt_infer c = prt_frame_infer(s, step);
    c.value = s->infer_values;
    c.dims = dims;
    c.types = types;
    PRT_TRY(prt_op_infer(&c));
    bool all = true;
    for (uint32_t i = 0; i < step->n_out; i++) {
        bool same = true;
        if (step->out[i] != NULL)
            PRT_TRY(compare(f, step, i, &c.out[i], &same));
        all = all && same;
    }
    step->is_static = all;
    return all ? finalize_mode(f, step) : POPRT_OK;
}

enum {
    STEPS_AHEAD = 3, /* steps to look ahead */
    LARGE = 1 << 15  /* bytes; below, a prefetch of one line ahead suffices */
};

/* Returns the first large constant among the second inputs of the next steps: packed weights. */
static const prt_tensor *find_prefetch_hint(const prt_frame *f, uint32_t at)
{
    for (uint32_t i = at + 1; i <= at + STEPS_AHEAD && i < f->n_active_steps; i++) {
        const prt_frame_step *step = &f->steps[f->active_steps[i]];
        uint32_t buffer = step->n_in > 1 ? (step->out_buffers - step->n_in)[1] : PRT_NO_BUFFER;
        if (buffer == PRT_NO_BUFFER || step->in[1]->size < LARGE)
            continue;
        const prt_frame *owner = origin_of(f, &buffer);
        if (owner->block->buffers[buffer].space == PRT_SPACE_CONSTANT)
            return step->in[1];
    }
    return NULL;
}

static poprt_status finalize_steps(prt_frame *f, prt_arena *arena)
{
    prt_dims *dims = NULL;
    prt_types *types = NULL;
    PRT_TRY(prt_dims_create(arena, &dims));
    PRT_TRY(prt_types_create(arena, &types));
    f->n_active_steps = 0;
    for (uint32_t i = 0; i < f->block->n_steps; i++) {
        PRT_TRY(finalize_step(f, &f->steps[i], dims, types));
        if (f->steps[i].mode != PRT_STEP_none)
            f->active_steps[f->n_active_steps++] = i;
    }
    for (uint32_t i = 0; i < f->n_active_steps; i++)
        f->steps[f->active_steps[i]].prefetch_hint = find_prefetch_hint(f, i);
    return POPRT_OK;
}

poprt_status prt_frame_finalize(prt_frame *f)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(&f->session->memory.allocator, 0, &arena));
    const poprt_status status = finalize_steps(f, arena);
    prt_arena_release(arena);
    return status;
}
