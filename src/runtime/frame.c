/* SPDX-License-Identifier: MIT */
/* frame.c — frames: bound to the program once, resolved whenever symbolic dims change. */
#include "runtime/frame.h"

#include <stdio.h>

#include "op/alias.h"
#include "program/sharing.h"

/* ---- binding ---- */

static prt_tensor *value_of(prt_frame *f, uint32_t buffer)
{
    while (f->block->buffers[buffer].space == PRT_SPACE_CAPTURE) {
        buffer = f->block->buffers[buffer].ref;
        f = f->outer;
    }
    return &f->values[buffer];
}

/* Finds whether an output with memory of its own shares it with an input, and the input of which
 * output 0 is a view. */
static void find_aliases(const prt_block *b, const uint32_t *args, prt_frame_step *to)
{
    for (uint32_t i = 0; i < to->n_in; i++) {
        if (args[i] == PRT_NO_BUFFER)
            continue;
        for (uint32_t o = 0; o < to->n_out; o++) {
            const uint32_t out = to->out_buffers[o];
            if (out == PRT_NO_BUFFER)
                continue;
            const bool view = b->buffers[out].space == PRT_SPACE_VIEW;
            to->aliases_input = to->aliases_input ||
                (!view && prt_sharing_overlap(b, out, args[i]) &&
                    !prt_sharing_concat_columns(b, to->params, args, to->n_in, to->n_out, i, o));
            if (view && o == 0 && i < UINT8_MAX && to->in_place_input == 0 &&
                b->buffers[out].ref == args[i])
                to->in_place_input = (uint8_t)(i + 1);
        }
    }
}

static poprt_status bind_step(prt_frame *f, const prt_step *step, prt_frame_step *to)
{
    prt_session *s = f->session;
    const uint32_t *args = s->program->args + step->args;
    to->params = &s->program->params[step->params];
    to->fast = s->kern != NULL ? prt_fast_of(to->params->def->id) : NULL;
    to->n_in = step->n_in;
    to->n_out = step->n_out;
    to->out_buffers = args + step->n_in;
    to->in = PRT_NEW_N(s->arena, const prt_tensor *, step->n_in);
    to->out = PRT_NEW_N(s->arena, prt_tensor *, step->n_out);
    if (to->in == NULL || to->out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < step->n_in; i++)
        to->in[i] = args[i] != PRT_NO_BUFFER ? value_of(f, args[i]) : NULL;
    for (uint32_t i = 0; i < step->n_out; i++)
        to->out[i] = to->out_buffers[i] != PRT_NO_BUFFER ? &f->values[to->out_buffers[i]] : NULL;
    find_aliases(f->block, args, to);
    to->columns = prt_columns_of(f, to);
    if (prt_alias_may_view(to->params->def)) {
        to->offsets = PRT_NEW_N(s->arena, size_t, step->n_out);
        return to->offsets != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Returns whether the buffer is a part of another one. */
static bool is_inside(const prt_buffer *buffer)
{
    return buffer->space == PRT_SPACE_PART || buffer->space == PRT_SPACE_COLUMNS;
}

static poprt_status bind_frame(prt_session *s, uint32_t index)
{
    prt_frame *f = &s->frames[index];
    const prt_block *b = &s->program->blocks[index];
    *f = (prt_frame){ .session = s, .block = b };
    f->outer = b->parent != index ? &s->frames[b->parent] : NULL;
    f->is_update = index != 0 && index == prt_program_entry(s->program, PRT_ENTRY_update);
    f->values = PRT_NEW_N(s->arena, prt_tensor, b->n_buffers);
    f->expected = PRT_NEW_N(s->arena, prt_tensor, b->n_buffers);
    f->slots = PRT_NEW_N(s->arena, prt_arena *, b->n_buffers);
    f->offsets = PRT_NEW_N(s->arena, size_t, b->n_buffers);
    f->steps = PRT_NEW_N(s->arena, prt_frame_step, b->n_steps);
    f->planned = PRT_NEW_N(s->arena, void *, b->n_buffers);
    f->finalized = PRT_NEW_N(s->arena, bool, b->n_buffers);
    f->active_steps = PRT_NEW_N(s->arena, uint32_t, b->n_steps);
    f->parts = PRT_NEW_N(s->arena, uint32_t, b->n_buffers);
    if (f->finalized == NULL || f->active_steps == NULL || f->parts == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (is_inside(&b->buffers[i]) && b->buffers[b->buffers[i].ref].space == PRT_SPACE_OUTPUT)
            f->parts[f->n_parts++] = i;
    if (f->values == NULL || f->expected == NULL || f->slots == NULL || f->offsets == NULL ||
        f->planned == NULL || f->steps == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &f->scratch));
    for (uint32_t i = 0; i < b->n_steps; i++)
        PRT_TRY(bind_step(f, &b->steps[i], &f->steps[i]));
    return POPRT_OK;
}

void prt_frame_place_parts(prt_frame *f)
{
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const uint32_t part = f->parts[i];
        const prt_buffer *buffer = &f->block->buffers[part];
        char *memory = f->planned[buffer->ref];
        f->values[part].data = f->planned[part] = memory != NULL ? memory + buffer->offset : NULL;
    }
}

enum {
    WEIGHTS_IN_CACHE = 8 << 20
}; /* bytes of weights that stay in the last cache level from run to run */

/* Returns whether the weights stay in the cache. Tables of Gather do not count, since only some of
 * their rows are read. */
static bool weights_fit_cache(const prt_program *p)
{
    size_t bytes = prt_program_weight_bytes(p);
    for (uint32_t k = 0; k < p->n_blocks; k++)
        for (uint32_t i = 0; i < p->blocks[k].n_steps; i++) {
            const prt_step *step = &p->blocks[k].steps[i];
            const uint32_t x = step->n_in != 0 ? p->args[step->args] : PRT_NO_BUFFER;
            if (p->params[step->params].def->id != PRT_OP_gather || x == PRT_NO_BUFFER ||
                p->blocks[k].buffers[x].space != PRT_SPACE_CONSTANT)
                continue;
            const size_t table = p->constants[p->blocks[k].buffers[x].ref].blob->size;
            bytes -= table < bytes ? table : bytes;
        }
    return bytes <= WEIGHTS_IN_CACHE;
}

poprt_status prt_frames_create(prt_session *s)
{
    const prt_program *p = s->program;
    uint32_t most = 0;
    s->weights_in_cache = weights_fit_cache(p);
    s->frames = PRT_NEW_N(s->arena, prt_frame, p->n_blocks);
    if (s->frames == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < p->n_blocks; k++) {
        PRT_TRY(bind_frame(s, k));
        for (uint32_t i = 0; i < p->blocks[k].n_steps; i++) {
            const prt_step *step = &p->blocks[k].steps[i];
            most = step->n_in + step->n_out > most ? step->n_in + step->n_out : most;
        }
    }
    for (uint32_t k = 0; k < p->n_blocks; k++)
        PRT_TRY(prt_frame_find_slot_reuse(&s->frames[k]));
    s->infer_shapes = PRT_NEW_N(s->arena, prt_shape, (size_t)most + 1);
    s->infer_content = PRT_NEW_N(s->arena, prt_content, (size_t)most + 1);
    s->infer_values = PRT_NEW_N(s->arena, const prt_tensor *, (size_t)most + 1);
    if (s->infer_shapes == NULL || s->infer_content == NULL || s->infer_values == NULL)
        return POPRT_E_NOMEM;
    return prt_arena_create(&s->memory.allocator, 0, &s->infer_scratch);
}

void prt_frames_release(prt_session *s)
{
    for (uint32_t k = 0; s->frames != NULL && k < s->program->n_blocks; k++) {
        prt_frame *f = &s->frames[k];
        if (f->slots != NULL)
            for (uint32_t i = 0; i < f->block->n_buffers; i++)
                prt_arena_release(f->slots[i]);
        prt_arena_release(f->scratch);
        prt_counted_free(&s->memory, f->memory, f->memory_size);
    }
    for (uint32_t i = 0; i < s->n_free_slots; i++)
        prt_arena_release(s->free_slots[i]);
    prt_arena_release(s->infer_scratch);
}

/* ---- resolving ---- */

/* Operands precede their expressions, so one walk evaluates all of them. */
static void evaluate_dims(prt_session *s)
{
    const prt_dims *dims = s->program->dims;
    const size_t n = prt_dims_count(dims);
    for (size_t i = 0; i < n; i++) {
        const prt_dim_node *node = prt_dims_at(dims, i);
        if (node->op == PRT_DIM_SYMBOL) {
            s->dim_values[i] = s->bound[i];
            continue;
        }
        const int64_t a =
            prt_dim_is_expr(node->a) ? s->dim_values[prt_dim_index(node->a)] : node->a;
        const int64_t b =
            prt_dim_is_expr(node->b) ? s->dim_values[prt_dim_index(node->b)] : node->b;
        s->dim_values[i] = prt_dim_is_number(a) && prt_dim_is_number(b)
            ? prt_dim_apply((prt_dim_op)node->op, a, b)
            : PRT_DIM_UNKNOWN;
    }
}

/* Sets the known members of a buffer's header. Returns false when a known dim is negative. */
static bool resolve_type(const prt_session *s, const prt_type *type, prt_tensor *to)
{
    *to = (prt_tensor){ .kind = type->kind, .dtype = type->dtype, .size = SIZE_MAX };
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0) {
        to->rank = UINT32_MAX;
        return true;
    }
    int64_t dims[PRT_MAX_RANK] = { 0 };
    bool known = true;
    for (int32_t i = 0; i < type->rank; i++) {
        dims[i] = prt_dim_is_expr(type->dims[i]) ? s->dim_values[prt_dim_index(type->dims[i])]
                                                 : type->dims[i];
        known = known && dims[i] != PRT_DIM_UNKNOWN;
        if (prt_dim_is_number(dims[i]) && dims[i] < 0)
            return false;
    }
    if (known && type->dtype != PRT_DTYPE_undefined)
        return prt_tensor_init(to, type->dtype, (uint32_t)type->rank, dims, NULL);
    to->rank = (uint32_t)type->rank;
    memcpy(to->dims, dims, sizeof(dims));
    return true;
}

bool prt_frame_is_final(const prt_tensor *expected)
{
    return expected->size != SIZE_MAX && expected->dtype != PRT_DTYPE_string;
}

enum { MOST_ALIVE = 256 }; /* maximum of buffers alive at once; bounds the time to find scratch */

typedef struct live_range {
    size_t at, end;
    uint32_t last;
} live_range;

/* Finds the largest range between the live buffers, which are sorted by address. */
static void find_idle_range(const prt_frame *f, prt_frame_step *step, const live_range *alive,
    uint32_t n)
{
    size_t end = 0;
    step->scratch_size = 0;
    for (uint32_t i = 0; i <= n; i++) {
        const size_t at = i < n ? alive[i].at : f->memory_size;
        if (at > end && at - end > step->scratch_size) {
            step->scratch_at = end;
            step->scratch_size = at - end;
        }
        if (i < n && alive[i].end > end)
            end = prt_size_align(alive[i].end, PRT_BUFFER_ALIGN);
    }
}

/* Finds the planned memory that is idle during each step. Kernels use it as scratch, because it is
 * allocated already and often in the cache. */
static poprt_status find_idle_ranges(prt_frame *f)
{
    const prt_block *b = f->block;
    prt_arena *scratch = f->session->infer_scratch;
    uint32_t n = 0;
    uint32_t *head = PRT_NEW_N(scratch, uint32_t, b->n_steps); /* counted from 1 */
    uint32_t *next = PRT_NEW_N(scratch, uint32_t, b->n_buffers);
    live_range *alive = PRT_NEW_N(scratch, live_range, MOST_ALIVE);
    if (head == NULL || next == NULL || alive == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < b->n_buffers; i++) {
        const prt_buffer *x = &b->buffers[i];
        if (x->space != PRT_SPACE_PLANNED || x->first >= b->n_steps)
            continue;
        next[i] = head[x->first];
        head[x->first] = i + 1;
    }
    for (uint32_t k = 0; k < b->n_steps; k++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++)
            if (alive[i].last >= k)
                alive[kept++] = alive[i];
        n = kept;
        for (uint32_t i = head[k]; i != 0; i = next[i - 1], n++) {
            const size_t at = f->offsets[i - 1];
            uint32_t to = n;
            if (n == MOST_ALIVE)
                return POPRT_OK;
            for (; to > 0 && alive[to - 1].at > at; to--)
                alive[to] = alive[to - 1];
            alive[to] = (live_range){ .at = at,
                .end = at + f->expected[i - 1].size,
                .last = b->buffers[i - 1].last };
        }
        find_idle_range(f, &f->steps[k], alive, n);
    }
    return POPRT_OK;
}

/* Reports that the plan could not be allocated, and names its largest buffer. */
static poprt_status fail_plan(const prt_frame *f, size_t total)
{
    const prt_block *b = f->block;
    const char *name = "";
    size_t largest = 0;
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (b->buffers[i].space == PRT_SPACE_PLANNED && f->expected[i].size > largest) {
            largest = f->expected[i].size;
            name = b->buffers[i].name.size != 0 ? b->buffers[i].name.data : "a value without name";
        }
    char why[512];
    (void)snprintf(why, sizeof(why), "%s", prt_error_last()->message);
    return prt_fail(POPRT_E_NOMEM, name,
        "%s: values between steps take %zu bytes, and the largest is this one with %zu", why, total,
        largest);
}

static poprt_status plan_frame(prt_frame *f)
{
    prt_session *s = f->session;
    const prt_block *b = f->block;
    size_t total = b->plan_size;
    if (b->is_static) {
        for (uint32_t i = 0; i < b->n_buffers; i++)
            f->offsets[i] = b->buffers[i].offset;
    } else {
        prt_arena *scratch = s->infer_scratch;
        size_t *sizes = PRT_NEW_N(scratch, size_t, b->n_buffers);
        if (sizes == NULL)
            return POPRT_E_NOMEM;
        for (uint32_t i = 0; i < b->n_buffers; i++)
            sizes[i] = b->buffers[i].space == PRT_SPACE_PLANNED ? f->expected[i].size : SIZE_MAX;
        PRT_TRY(prt_block_plan(b, sizes, f->offsets, &total, NULL, scratch));
        prt_arena_reset(scratch);
    }
    if (total > f->memory_size) {
        prt_counted_free(&s->memory, f->memory, f->memory_size);
        f->memory = NULL;
        f->memory_size = 0;
        void *memory;
        if (prt_counted_alloc(&s->memory, total, &memory) != POPRT_OK)
            return fail_plan(f, total);
        f->memory = memory;
        f->memory_size = total;
        f->touched = false;
        if (b->is_static) { /* only once, like the plan */
            PRT_TRY(find_idle_ranges(f));
            prt_arena_reset(s->infer_scratch);
        }
    }
    return POPRT_OK;
}

static poprt_status resolve_buffers(prt_frame *f)
{
    prt_session *s = f->session;
    const prt_block *b = f->block;
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (!resolve_type(s, b->buffers[i].type, &f->expected[i]))
            return prt_fail(POPRT_E_SHAPE, b->buffers[i].name.data,
                "has a negative dimension with the dimensions given");
    PRT_TRY(plan_frame(f));
    for (uint32_t i = 0; i < b->n_buffers; i++) {
        const prt_buffer *buffer = &b->buffers[i];
        const bool part = is_inside(buffer);
        const uint32_t root = part ? buffer->ref : i;
        if (buffer->space == PRT_SPACE_COLUMNS)
            f->expected[i].pitch = (size_t)f->expected[root].dims[f->expected[root].rank - 1];
        f->values[i] = f->expected[i];
        f->planned[i] = NULL;
        const bool planned =
            b->buffers[root].space == PRT_SPACE_PLANNED && prt_frame_is_final(&f->expected[i]);
        if (planned && f->memory != NULL)
            f->planned[i] = f->memory + f->offsets[root] + (part ? buffer->offset : 0);
        f->values[i].data = f->planned[i];
        f->finalized[i] = planned || buffer->space == PRT_SPACE_CONSTANT;
        if (buffer->space == PRT_SPACE_VARIABLE) {
            f->values[i].data = prt_store_working(s->store, buffer->ref, s->replica);
            f->finalized[i] = !prt_store_is_per_replica(s->store, buffer->ref);
        }
        if (buffer->space != PRT_SPACE_CONSTANT)
            continue;
        f->values[i].data = (void *)(uintptr_t)s->weights[b->buffers[i].ref]->data;
        /* Shapes may have been derived from the old contents: steps that read it infer again. */
        if (s->replaced[b->buffers[i].ref])
            f->expected[i].size = SIZE_MAX;
    }
    return POPRT_OK;
}

/* Entry `update` must not fail: its steps have their shapes and addresses before it runs. */
static poprt_status check_update(const prt_frame *f)
{
    for (uint32_t i = 0; f->is_update && i < f->block->n_steps; i++)
        if (!f->steps[i].is_static || f->steps[i].mode != PRT_STEP_eval)
            return prt_fail(POPRT_E_PARSE, f->steps[i].params->origin.data,
                "program is inconsistent: the shapes of the update are not known");
    return POPRT_OK;
}

poprt_status prt_frame_resolve(prt_frame *f)
{
    PRT_TRY(resolve_buffers(f));
    PRT_TRY(prt_frame_finalize(f));
    return check_update(f);
}

void prt_frame_use_replica(prt_frame *f)
{
    const prt_session *s = f->session;
    for (uint32_t i = 0; i < f->block->n_buffers; i++) {
        const prt_buffer *b = &f->block->buffers[i];
        if (b->space == PRT_SPACE_VARIABLE && prt_store_is_per_replica(s->store, b->ref))
            f->values[i].data = prt_store_working(s->store, b->ref, s->replica);
    }
}

poprt_status prt_frames_resolve(prt_session *s)
{
    s->resolved = false;
    evaluate_dims(s);
    for (uint32_t k = 0; k < s->program->n_blocks; k++) {
        prt_frame *f = &s->frames[k];
        f->invalid_shapes = f->outer != NULL && f->outer->invalid_shapes;
        const poprt_status status = f->invalid_shapes ? POPRT_OK : prt_frame_resolve(f);
        if (status != POPRT_OK && (f->outer == NULL || status == POPRT_E_NOMEM))
            return status;
        f->invalid_shapes = f->invalid_shapes || status != POPRT_OK;
    }
    s->resolved = true;
    return POPRT_OK;
}

/* ---- inferring and checking ---- */

#ifndef PRT_NO_COMPILER
/* Sets the types of inputs that a kernel of a plug-in has dropped. */
static void set_dropped_types(prt_session *s, const prt_lowered *how)
{
    for (uint32_t i = 0; how != NULL && i < how->n_dropped; i++) {
        const prt_type *type = how->dropped[i].type;
        prt_shape *shape = &s->infer_shapes[how->dropped[i].input];
        *shape = (prt_shape){ .kind = PRT_VALUE_TENSOR, .dtype = type->dtype, .rank = type->rank };
        for (int32_t k = 0; k < type->rank; k++)
            shape->dims[k] = type->dims[k];
    }
}
#endif

prt_infer prt_frame_infer(prt_session *s, const prt_frame_step *step)
{
    prt_shape *out = s->infer_shapes + step->n_in;
    for (uint32_t i = 0; i < step->n_out; i++)
        out[i].kind = step->out[i] != NULL ? PRT_VALUE_UNKNOWN : PRT_VALUE_ABSENT;
    memset(s->infer_content, 0, (step->n_in + step->n_out) * sizeof(prt_content));
    prt_arena_reset(s->infer_scratch);
#ifndef PRT_NO_COMPILER
    set_dropped_types(s, step->params->lowered);
#endif
    return (prt_infer){ .def = step->params->def,
        .attrs = step->params->attrs,
        .origin = step->params->origin,
        .n_in = step->n_in,
        .n_out = step->n_out,
        .in = s->infer_shapes,
        .content = s->infer_content,
        .out = out,
        .out_content = s->infer_content + step->n_in,
        .scratch = s->infer_scratch };
}

static void print_dims(char *to, size_t size, const prt_tensor *t)
{
    size_t at = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < t->rank && i < PRT_MAX_RANK && at < size; i++) {
        const int n = t->dims[i] == PRT_DIM_UNKNOWN
            ? snprintf(to + at, size - at, "%s?", i != 0 ? "," : "")
            : snprintf(to + at, size - at, "%s%lld", i != 0 ? "," : "", (long long)t->dims[i]);
        at += n > 0 ? (size_t)n : 0;
    }
}

poprt_status prt_frame_check(const prt_tensor *t, const prt_tensor *expected, const char *name,
    const char *what)
{
    if (expected->kind != PRT_VALUE_UNKNOWN && t->kind != expected->kind)
        return prt_fail(POPRT_E_TYPE, name,
            "%s is of another kind than expected (tensor, sequence, optional, map)", what);
    if (t->kind != PRT_VALUE_TENSOR)
        return POPRT_OK;
    if (expected->dtype != PRT_DTYPE_undefined && t->dtype != expected->dtype)
        return prt_fail(POPRT_E_TYPE, name, "%s is %s, expected %s", what,
            prt_dtype_of(t->dtype)->name, prt_dtype_of(expected->dtype)->name);
    if (expected->kind == PRT_VALUE_UNKNOWN || expected->rank == UINT32_MAX)
        return POPRT_OK;
    bool fits = t->rank == expected->rank;
    for (uint32_t i = 0; fits && i < t->rank; i++)
        fits = expected->dims[i] == PRT_DIM_UNKNOWN || expected->dims[i] == t->dims[i];
    if (fits)
        return POPRT_OK;
    char got[192], wanted[192];
    print_dims(got, sizeof(got), t);
    print_dims(wanted, sizeof(wanted), expected);
    return prt_fail(POPRT_E_SHAPE, name, "%s has shape [%s], expected [%s]", what, got, wanted);
}
