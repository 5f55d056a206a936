/* SPDX-License-Identifier: MIT */
/*
 * run.c — execution of a frame: its steps in order.
 *
 * A static step has its output headers and memory already. Any other step first infers the shapes
 * of its outputs from the actual inputs; if inference cannot tell, the kernel sets them. A value
 * that differs from the program's expectation stops the run, because later steps rely on it.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "runtime/frame.h"

/* The current step, as the context of the host callbacks of its kernel. */
typedef struct running {
    prt_frame *frame;
    const prt_frame_step *step;
} running;

/* Returns scratch for this call: planned memory that is idle during the step, or the arena. */
static void *alloc_scratch(const running *r, size_t size)
{
    prt_frame *f = r->frame;
    if (f->scratch_offset < r->step->scratch_size &&
        size <= r->step->scratch_size - f->scratch_offset) {
        void *memory = f->memory + r->step->scratch_at + f->scratch_offset;
        f->scratch_offset = prt_size_align(f->scratch_offset + size, PRT_BUFFER_ALIGN);
        return memory;
    }
    f->scratch_used = true;
    return prt_arena_alloc_raw(f->scratch, size);
}

static void *host_alloc(prt_eval *c, uint32_t out, size_t size)
{
    const running *r = c->user;
    if (out == UINT32_MAX || c->out[out] == NULL) { /* scratch of this call, or an omitted output */
        void *memory = alloc_scratch(r, size);
        return memory != NULL ? memset(memory, 0, size) : NULL;
    }
    prt_arena *slot = prt_frame_slot(r->frame, r->step->out_buffers[out], size);
    return slot != NULL ? prt_arena_alloc(slot, size) : NULL;
}

/* In debug builds scratch is filled, so that reading undefined contents shows. */
static void *host_scratch(prt_eval *c, size_t size)
{
    void *memory = alloc_scratch(c->user, size);
#ifdef PRT_DEBUG
    if (memory != NULL && !c->is_measuring)
        memset(memory, 0xff, size);
#endif
    return memory;
}

/* Returns slices at the end of the idle memory, which is at the same address in most steps. */
static void *host_idle_scratch(prt_eval *c, size_t parts, size_t least, size_t *each)
{
    const running *r = c->user;
    prt_frame *f = r->frame;
    const size_t line = PRT_BUFFER_ALIGN, size = r->step->scratch_size / line * line,
                 used = f->scratch_offset;
    unsigned char *end = f->memory + r->step->scratch_at + size;
    const size_t left = used < size ? size - used : 0, most = left / parts / line * line;
#ifdef PRT_DEBUG
    if (left != 0 && !c->is_measuring)
        memset(end - left, 0xff, left);
#endif
    if (least > f->scratch_slice && least <= most)
        f->scratch_slice = prt_size_align(least, line);
    *each = least != 0 && f->scratch_slice < most ? f->scratch_slice : most;
    return *each != 0 && least <= most ? end - parts * *each : NULL;
}

static poprt_status host_check(prt_eval *c)
{
    const prt_frame *f = ((const running *)c->user)->frame;
    if (!f->is_update && atomic_load_explicit(&f->session->cancel, memory_order_relaxed))
        return prt_fail(POPRT_E_CANCELLED, c->origin.data, "run was cancelled");
    return POPRT_OK;
}

static uint64_t host_seed(prt_eval *c)
{
    prt_session *s = ((const running *)c->user)->frame->session;
    return prt_session_mix(s->run_seed, s->random_calls++);
}

static poprt_status host_call(prt_eval *c, uint32_t region, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out)
{
    prt_frame *f = ((const running *)c->user)->frame;
    const prt_eval_params *params = ((const running *)c->user)->step->params;
    if (region >= params->n_regions)
        return prt_eval_fail(c, POPRT_E_PARSE, "has no region %u", region);
    prt_frame *body = &f->session->frames[params->regions[region]];
    const prt_block *b = body->block;
    if (n_in != b->n_inputs || n_out != b->n_outputs)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "its body takes %u inputs and returns %u outputs; it is called with %u and %u",
            b->n_inputs, b->n_outputs, n_in, n_out);
    if (body->invalid_shapes)
        PRT_TRY(prt_frame_resolve(body));
    body->invalid_shapes = false;
    for (uint32_t i = 0; i < n_in; i++) {
        const uint32_t buffer = b->inputs[i];
        if (in[i] == NULL)
            return prt_eval_fail(c, POPRT_E_SHAPE, "body input %u has no value", i);
        PRT_TRY(prt_frame_check(in[i], &body->expected[buffer], c->origin.data, "a body's input"));
        body->values[buffer] = *in[i];
    }
    body->caller = f;
    body->calling_step = ((const running *)c->user)->step;
    PRT_TRY(c->is_measuring ? prt_frame_dry_run_body(body) : prt_frame_run(body));
    for (uint32_t i = 0; i < n_out; i++) {
        const prt_frame *at = body;
        uint32_t buffer = b->outputs[i];
        while (at->block->buffers[buffer].space == PRT_SPACE_CAPTURE) {
            buffer = at->block->buffers[buffer].ref;
            at = at->outer;
        }
        out[i] = at->values[buffer];
        if (c->is_measuring && out[i].data == NULL && out[i].size != 0)
            return prt_eval_fail(c, POPRT_E_UNSUPPORTED, "the body did not set output %u", i);
    }
    return POPRT_OK;
}

static poprt_status host_region_signature(prt_eval *c, uint32_t region, uint32_t in,
    prt_region_signature *to)
{
    const prt_frame *f = ((const running *)c->user)->frame;
    const prt_eval_params *params = ((const running *)c->user)->step->params;
    if (region >= params->n_regions)
        return prt_eval_fail(c, POPRT_E_PARSE, "has no region %u", region);
    const prt_frame *body = &f->session->frames[params->regions[region]];
    *to = (prt_region_signature){ .n_in = body->block->n_inputs,
        .n_out = body->block->n_outputs,
        .in = { .kind = PRT_VALUE_UNKNOWN } };
    if (in < to->n_in)
        to->in = body->expected[body->block->inputs[in]];
    to->in.data = NULL;
    return POPRT_OK;
}

/* Returns the buffer of an input, resolved through captures; NULL for an omitted input. */
static const prt_buffer *input_buffer(const prt_eval *c, uint32_t in)
{
    const running *r = c->user;
    const prt_frame *f = r->frame;
    const uint32_t *args = r->step->out_buffers - r->step->n_in;
    uint32_t index = in < r->step->n_in ? args[in] : PRT_NO_BUFFER;
    if (index == PRT_NO_BUFFER)
        return NULL;
    for (; f->block->buffers[index].space == PRT_SPACE_CAPTURE; f = f->outer)
        index = f->block->buffers[index].ref;
    return &f->block->buffers[index];
}

/* Returns the buffer that an input of a step stands for, through captures, and through the inputs
 * that a callee changes for its caller; NULL for an omitted input. */
static const prt_buffer *changed_buffer(const prt_eval *c, uint32_t in)
{
    const running *r = c->user;
    const prt_frame *f = r->frame;
    const prt_frame_step *step = r->step;
    for (;;) {
        uint32_t index = in < step->n_in ? (step->out_buffers - step->n_in)[in] : PRT_NO_BUFFER;
        if (index == PRT_NO_BUFFER)
            return NULL;
        for (; f->block->buffers[index].space == PRT_SPACE_CAPTURE; f = f->outer)
            index = f->block->buffers[index].ref;
        const prt_buffer *buffer = &f->block->buffers[index];
        if (buffer->space != PRT_SPACE_INPUT || f->caller == NULL ||
            !prt_op_changes_input(f->calling_step->params->def, f->calling_step->params->attrs,
                buffer->ref))
            return buffer;
        in = buffer->ref;
        step = f->calling_step;
        f = f->caller;
    }
}

static poprt_status host_update(prt_eval *c, uint32_t in, const prt_tensor *value)
{
    const prt_buffer *buffer = changed_buffer(c, in);
    if (buffer == NULL || buffer->space != PRT_SPACE_CONSTANT)
        return POPRT_OK;
    return prt_session_update(((const running *)c->user)->frame->session, buffer->ref, value);
}

static void host_print(prt_eval *c, const char *line)
{
    const prt_session *s = ((const running *)c->user)->frame->session;
    if (s->print != NULL)
        s->print(s->print_user, line);
}

static prt_str host_name(prt_eval *c, uint32_t in)
{
    const prt_buffer *buffer = input_buffer(c, in);
    return buffer != NULL ? buffer->name : PRT_STR("");
}

static const prt_eval_host host = { .alloc = host_alloc,
    .scratch = host_scratch,
    .idle_scratch = host_idle_scratch,
    .call = host_call,
    .region_signature = host_region_signature,
    .check = host_check,
    .seed = host_seed,
    .update = host_update,
    .print = host_print,
    .name = host_name };

/* Returns the planned memory of a value whose size is as planned; NULL otherwise. */
static void *planned_memory_of(const prt_frame *f, uint32_t buffer, const prt_tensor *value)
{
    const prt_tensor *expected = &f->expected[buffer];
    return expected->size == value->size && expected->dtype == value->dtype ? f->planned[buffer]
                                                                            : NULL;
}

/* Allocates a value in a slot; strings are empty. */
static poprt_status place_in_slot(prt_frame *f, uint32_t buffer, prt_tensor *value)
{
    prt_arena *slot = prt_frame_slot(f, buffer, value->size);
    if (slot == NULL)
        return POPRT_E_NOMEM;
    value->data = value->dtype == PRT_DTYPE_string ? prt_arena_alloc(slot, value->size)
                                                   : prt_arena_alloc_raw(slot, value->size);
    return value->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* A column-strided output cannot be placed elsewhere: it uses its planned memory, or fails. */
static poprt_status place_columns(prt_frame *f, uint32_t buffer, const prt_shape *s)
{
    prt_tensor t = { .kind = PRT_VALUE_UNKNOWN };
    prt_tensor *value = &f->values[buffer];
    if (prt_shape_is_known(s))
        (void)prt_tensor_init(&t, s->dtype, (uint32_t)s->rank, s->dims, NULL);
    PRT_TRY(
        prt_frame_check(&t, &f->expected[buffer], f->block->buffers[buffer].name.data, "value"));
    *value = f->expected[buffer];
    value->data = f->planned[buffer];
    return POPRT_OK;
}

/* Sets header and memory of an output whose shape is known only in the run. */
static poprt_status place_output(prt_frame *f, uint32_t buffer, const prt_shape *s)
{
    prt_tensor *value = &f->values[buffer];
    const prt_tensor *expected = &f->expected[buffer];
    if (expected->pitch != 0)
        return place_columns(f, buffer, s);
    if (!prt_shape_is_known(s)) {
        *value = (prt_tensor){ .kind = s->kind, .dtype = s->dtype };
        if (s->dtype == PRT_DTYPE_undefined)
            value->dtype = expected->dtype;
        if (s->kind == PRT_VALUE_UNKNOWN) { /* the declared shape, for loops without iterations */
            value->rank = expected->rank;
            memcpy(value->dims, expected->dims, sizeof(value->dims));
        }
        return POPRT_OK;
    }
    if (!prt_tensor_init(value, s->dtype, (uint32_t)s->rank, s->dims, NULL))
        return prt_fail(POPRT_E_LIMIT, f->block->buffers[buffer].name.data, "value is too large");
    if (f->block->buffers[buffer].space == PRT_SPACE_VIEW) /* placed by find_mode */
        return POPRT_OK;
    const prt_tensor *cache = f == f->session->frames ? f->session->caches[buffer] : NULL;
    if (cache != NULL) {
        value->data = cache->data;
        value->capacity = cache->capacity;
        return prt_cache_check(value, cache, f->block->buffers[buffer].name.data);
    }
    value->data = planned_memory_of(f, buffer, value);
    if (value->data != NULL)
        return POPRT_OK;
    return place_in_slot(f, buffer, value);
}

/* Allocates an output planned as a view that is not one: over its in-place input where possible,
 * else in a slot. */
static poprt_status place_view(prt_frame *f, const prt_frame_step *step, uint32_t i)
{
    prt_tensor *y = step->out[i];
    if (i == 0 && prt_frame_may_write_in_place(step)) {
        y->data = step->in[step->in_place_input - 1]->data;
        return POPRT_OK;
    }
    return place_in_slot(f, step->out_buffers[i], y);
}

/* Picks the step's mode from its resolved shapes, and allocates outputs that were planned as views
 * but are not. */
static poprt_status find_mode(prt_frame *f, prt_frame_step *step, bool known)
{
    step->mode = PRT_STEP_eval;
    if (step->columns != PRT_COLUMNS_none)
        known = false;
    if (known && prt_frame_views(step, step->offsets))
        step->mode = PRT_STEP_views;
    else if (known && prt_frame_may_concat(step))
        step->mode = PRT_STEP_concat;
    if (step->mode != PRT_STEP_eval)
        return POPRT_OK;
    if (!prt_frame_may_eval(step))
        return POPRT_E_PARSE;
    for (uint32_t i = 0; i < step->n_out; i++)
        if (known && step->out[i] != NULL &&
            f->block->buffers[step->out_buffers[i]].space == PRT_SPACE_VIEW)
            PRT_TRY(place_view(f, step, i));
    return POPRT_OK;
}

static poprt_status infer_step(prt_frame *f, prt_frame_step *step)
{
    prt_session *s = f->session;
    for (uint32_t i = 0; i < step->n_in; i++)
        prt_shape_of_tensor(step->in[i], &s->infer_shapes[i]);
    prt_infer c = prt_frame_infer(s, step);
    c.value = step->in;
    PRT_TRY(prt_op_infer(&c));
    bool known = true;
    step->packed = true; /* assumed */
    for (uint32_t i = 0; i < step->n_out; i++) {
        const uint32_t buffer = step->out_buffers[i];
        if (buffer == PRT_NO_BUFFER)
            continue;
        known = known && prt_shape_is_known(&c.out[i]);
        if (f->slots[buffer] != NULL)
            prt_arena_reset(f->slots[buffer]);
        PRT_TRY(place_output(f, buffer, &c.out[i]));
    }
    return find_mode(f, step, known);
}

/* Clears outputs with packed elements: a store keeps the other bits of a byte, which must be
 * defined. */
static void clear_packed(const prt_frame_step *step)
{
    for (uint32_t i = 0; i < step->n_out; i++)
        if (step->out[i] != NULL && step->out[i]->kind == PRT_VALUE_TENSOR &&
            step->out[i]->data != NULL && prt_dtype_bits(step->out[i]->dtype) < 8)
            memset(step->out[i]->data, 0, step->out[i]->size);
}

/* Returns whether the header of a tensor is exactly as expected, the usual case. */
static inline bool matches_expected(const prt_tensor *x, const prt_tensor *expected)
{
    return x->kind == PRT_VALUE_TENSOR && expected->kind == PRT_VALUE_TENSOR &&
        x->dtype == expected->dtype && x->rank == expected->rank &&
        prt_dims_equal(x->dims, expected->dims, x->rank);
}

static poprt_status check_outputs(const prt_frame *f, const prt_frame_step *step)
{
    for (uint32_t i = 0; i < step->n_out; i++) {
        const uint32_t buffer = step->out_buffers[i];
        if (buffer == PRT_NO_BUFFER || matches_expected(&f->values[buffer], &f->expected[buffer]))
            continue;
        if (f->values[buffer].kind == PRT_VALUE_UNKNOWN)
            return prt_fail(POPRT_E_INTERNAL, step->params->origin.data, "%s left output %u unset",
                step->params->def->name, i);
        PRT_TRY(prt_frame_check(&f->values[buffer], &f->expected[buffer], step->params->origin.data,
            "its result"));
    }
    return POPRT_OK;
}

/* Moves results that a kernel allocated to their planned memory, where views and parts expect
 * them. */
static void move_to_planned_memory(prt_frame *f, const prt_frame_step *step)
{
    for (uint32_t i = 0; i < step->n_out; i++) {
        const uint32_t buffer = step->out_buffers[i];
        prt_tensor *value = buffer != PRT_NO_BUFFER ? &f->values[buffer] : NULL;
        void *planned = value != NULL && value->kind == PRT_VALUE_TENSOR && value->size != 0
            ? planned_memory_of(f, buffer, value)
            : NULL;
        if (planned == NULL || planned == value->data)
            continue;
        memmove(planned, value->data, value->size);
        value->data = planned;
    }
}

/* A rehearsal skips reference kernels of large tensors, because their loops would run, and the
 * callbacks of plug-ins. */
static bool is_left_out(const prt_eval *c)
{
    enum { MOST = 16 << 20 }; /* bytes of inputs and outputs */
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->n_in && bytes <= MOST; i++)
        bytes += c->in[i] != NULL ? c->in[i]->size : 0;
    for (uint32_t i = 0; i < c->n_out && bytes <= MOST; i++)
        bytes += c->out[i] != NULL ? c->out[i]->size : 0;
    return bytes > MOST || c->def->id >= PRT_OP_COUNT;
}

/* Calls the fast operator, or the reference kernel. */
static poprt_status eval_step(prt_frame *f, prt_frame_step *step)
{
    running now = { .frame = f, .step = step };
    prt_eval c = { .def = step->params->def,
        .attrs = step->params->attrs,
        .origin = step->params->origin,
        .n_in = step->n_in,
        .n_out = step->n_out,
        .in = step->in,
        .out = step->out,
        .host = &host,
        .par = f->session->par,
        .prefetch_hint = step->prefetch_hint,
        .weights_in_cache = f->session->weights_in_cache,
        .any_log2_scale = f->session->any_log2_scale,
        .strassen = f->session->strassen,
        .bf16x3 = f->session->bf16x3,
        .is_measuring = f->session->memory.measures,
        .user = &now };
#ifndef PRT_NO_COMPILER
    c.lowered = step->params->lowered;
    c.weights = f->session->weights;
#endif
    if (step->packed)
        clear_packed(step);
    bool done = step->fast != NULL && step->columns != PRT_COLUMNS_copied;
    if (done)
        PRT_TRY(step->fast(&c, f->session->kern, &done));
    if (!done && c.is_measuring && is_left_out(&c))
        return POPRT_OK;
    if (!done)
        PRT_TRY(step->columns == PRT_COLUMNS_none ? prt_op_eval(&c) : prt_columns_eval(&c));
    PRT_TRY(check_outputs(f, step));
    if (!step->is_static)
        move_to_planned_memory(f, step);
    return POPRT_OK;
}

/* Frees the scratch of the previous step. */
static inline poprt_status begin_step(prt_frame *f)
{
    if (f->scratch_used) {
        PRT_TRY(
            prt_arena_reset_merged(f->scratch)); /* later steps get one block of the total size */
        f->scratch_used = false;
    }
    f->scratch_offset = 0;
    return POPRT_OK;
}

static poprt_status run_step(prt_frame *f, prt_frame_step *step)
{
    PRT_TRY(begin_step(f));
    if (!step->is_static)
        PRT_TRY(infer_step(f, step));
    else if (step->in_place_input != 0 && step->mode == PRT_STEP_eval)
        step->out[0]->data = step->in[step->in_place_input - 1]->data;
    switch (step->mode) {
    case PRT_STEP_views:
        prt_frame_place_views(f, step, step->offsets);
        return step->is_static ? POPRT_OK : check_outputs(f, step);
    case PRT_STEP_concat:
        prt_frame_concat(step);
        return step->is_static ? POPRT_OK : check_outputs(f, step);
    default:
        return eval_step(f, step);
    }
}

poprt_status prt_frame_dry_run_step(prt_frame *f, prt_frame_step *step)
{
    PRT_TRY(begin_step(f));
    if (!step->is_static)
        PRT_TRY(infer_step(f, step));
    if (step->mode == PRT_STEP_views)
        prt_frame_place_views(f, step, step->offsets);
    if (step->mode != PRT_STEP_eval)
        return POPRT_OK;
    if (step->is_static && step->in_place_input != 0)
        step->out[0]->data = step->in[step->in_place_input - 1]->data;
    return eval_step(f, step);
}

/* Runs a step of a session that is watched or checked. */
static poprt_status watch_step(prt_frame *f, prt_frame_step *step, uint32_t index)
{
    const prt_session *s = f->session;
    const uint64_t start = prt_clock_ns();
    const poprt_status status = s->check_floating_point || s->check_kernels
        ? prt_frame_check_step(f, step, run_step)
        : run_step(f, step);
    if (s->watch != NULL)
        s->watch(s->watch_user, (uint32_t)(f - s->frames), index, start, prt_clock_ns());
    return status;
}

/* Adds the name of the step's node to a failure without a node. */
static poprt_status name_step(const prt_frame_step *step, poprt_status status)
{
    (void)prt_fail_about(status, step->params->origin.data);
    return prt_fail_at_location(status, step->params->location.data);
}

poprt_status prt_frame_run(prt_frame *f)
{
    const prt_session *s = f->session;
    const bool watched = s->watch != NULL || s->check_floating_point || s->check_kernels;
    for (uint32_t i = 0; i < f->n_active_steps; i++) {
        prt_frame_step *step = &f->steps[f->active_steps[i]];
        if (!f->is_update && atomic_load_explicit(&f->session->cancel, memory_order_relaxed))
            return prt_fail(POPRT_E_CANCELLED, step->params->origin.data, "run was cancelled");
        const poprt_status status =
            watched ? watch_step(f, step, f->active_steps[i]) : run_step(f, step);
        if (status != POPRT_OK)
            return name_step(step, status);
        prt_frame_free_slots(f, f->active_steps[i]);
    }
    return POPRT_OK;
}
