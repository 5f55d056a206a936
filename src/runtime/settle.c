/* SPDX-License-Identifier: MIT */
/*
 * settle.c — decides which steps can run without inferring shapes first, and trusts no file in
 * doing so: kernels rely on the shapes of their arguments, so a step is static only when its
 * operator's own inference, from the resolved shapes and the constants, gives exactly the shapes
 * that the program claims. Where inference needs data that only a run has, the step infers in
 * each run instead. Contents of other inputs are not known here, as while a model is compiled, so
 * inference gets pools of its own for expressions and types, which end with it.
 */
#include "runtime/frame.h"

/* Block and buffer that a captured buffer stands for. */
static const prt_frame *origin_of(const prt_frame *f, uint32_t *buffer)
{
    while (f->block->buffers[*buffer].space == PRT_SPACE_CAPTURE) {
        *buffer = f->block->buffers[*buffer].ref;
        f = f->outer;
    }
    return f;
}

/* Shapes of the step's inputs, and contents of those that are the program's own constants; false
 * when some input's shape is not final. */
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

/* Whether inference gave the expected header; an error when it gave another one. */
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

static poprt_status settle_step(prt_frame *f, prt_frame_step *step, prt_dims *dims,
    prt_types *types)
{
    prt_session *s = f->session;
    step->is_static = false;
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
    return POPRT_OK;
}

static poprt_status settle_frames(prt_session *s, prt_arena *arena)
{
    prt_dims *dims = NULL;
    prt_types *types = NULL;
    PRT_TRY(prt_dims_create(arena, &dims));
    PRT_TRY(prt_types_create(arena, &types));
    for (uint32_t k = 0; k < s->program->n_blocks; k++)
        for (uint32_t i = 0; i < s->frames[k].block->n_steps; i++)
            PRT_TRY(settle_step(&s->frames[k], &s->frames[k].steps[i], dims, types));
    return POPRT_OK;
}

poprt_status prt_frames_settle(prt_session *s)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &arena));
    const poprt_status status = settle_frames(s, arena);
    prt_arena_release(arena);
    return status;
}
