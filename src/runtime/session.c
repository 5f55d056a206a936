/* SPDX-License-Identifier: MIT */
/*
 * session.c — creation and release of a session, its inputs and outputs, its weights.
 */
#include "runtime/session.h"

#include "base/budget.h"
#include "runtime/flow_run.h"

/* ---- counted memory ---- */

/* COUNT_HEADER: bytes in front of each allocation for its size; they keep the alignment of 64.
 * LARGE_COPY: bytes from which a measuring session reserves addresses in place of the copy of a
 * weight. */
enum { COUNT_HEADER = 64, LARGE_COPY = 1 << 16 };

static void add_bytes(prt_counted *m, size_t size)
{
    m->total += size;
    m->peak = m->total > m->peak ? m->total : m->peak;
}

static void *alloc_within_limit(prt_counted *m, size_t size, size_t align)
{
    if (m->limit != 0 && (size > m->limit || m->total > m->limit - size))
        return NULL;
    void *p = m->inner->alloc(m->inner->user, size, align < COUNT_HEADER ? COUNT_HEADER : align);
    if (p != NULL)
        add_bytes(m, size);
    return p;
}

static void *counted_alloc(void *user, size_t size, size_t align)
{
    size_t whole;
    char *p =
        prt_size_add(size, COUNT_HEADER, &whole) ? alloc_within_limit(user, whole, align) : NULL;
    if (p == NULL)
        return NULL;
    memcpy(p, &whole, sizeof(whole));
    return p + COUNT_HEADER;
}

static void counted_release(void *user, void *ptr)
{
    prt_counted *m = user;
    char *p = (char *)ptr - COUNT_HEADER;
    size_t whole;
    memcpy(&whole, p, sizeof(whole));
    m->total -= whole;
    m->inner->release(m->inner->user, p);
}

static poprt_status counted_refuse(void *user, size_t size)
{
    const prt_counted *m = user;
    return prt_budget_refuse(m->limit, m->total, size + COUNT_HEADER);
}

poprt_status prt_counted_alloc(prt_counted *m, size_t size, void **out)
{
    if (m->measures) {
        *out = prt_mem_reserve(size);
        add_bytes(m, *out != NULL ? size : 0);
        return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    *out = size > PTRDIFF_MAX ? NULL : alloc_within_limit(m, size, COUNT_HEADER);
    return *out != NULL ? POPRT_OK : prt_budget_refuse(m->limit, m->total, size);
}

void prt_counted_free(prt_counted *m, void *ptr, size_t size)
{
    if (ptr == NULL)
        return;
    m->total -= size;
    if (m->measures)
        prt_mem_unreserve(ptr, size);
    else
        m->inner->release(m->inner->user, ptr);
}

/* ---- creation and release ---- */

static poprt_status fix_dims(prt_session *s, const prt_session_options *o)
{
    const prt_dims *dims = s->program->dims;
    const size_t n = prt_dims_count(dims);
    s->dim_values = PRT_NEW_N(s->arena, int64_t, n);
    s->fixed = PRT_NEW_N(s->arena, int64_t, n);
    s->bound = PRT_NEW_N(s->arena, int64_t, n);
    if (s->dim_values == NULL || s->fixed == NULL || s->bound == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        s->dim_values[i] = s->fixed[i] = s->bound[i] = PRT_DIM_UNKNOWN;
    for (uint32_t k = 0; k < o->n_dims; k++) {
        size_t i = 0;
        while (i < n &&
            (prt_dims_at(dims, i)->op != PRT_DIM_SYMBOL ||
                !prt_str_equal(prt_dims_at(dims, i)->symbol, o->dim_names[k])))
            i++;
        if (i == n)
            return prt_fail(POPRT_E_NOT_FOUND, o->dim_names[k].data,
                "the model has no symbolic dimension of this name");
        if (o->dim_values[k] < 0 || !prt_dim_is_number(o->dim_values[k]))
            return prt_fail(POPRT_E_ARG, o->dim_names[k].data, "a dimension cannot be %lld",
                (long long)o->dim_values[k]);
        s->fixed[i] = s->bound[i] = o->dim_values[k];
    }
    return POPRT_OK;
}

/* Returns whether an input of this type binds a symbolic dim. */
static bool is_open(const prt_session *s, const prt_type *type)
{
    const prt_dims *dims = s->program->dims;
    for (int32_t i = 0; i < type->rank; i++) {
        const int64_t d = type->dims[i];
        if (prt_dim_is_expr(d) && prt_dims_at(dims, prt_dim_index(d))->op == PRT_DIM_SYMBOL &&
            s->fixed[prt_dim_index(d)] == PRT_DIM_UNKNOWN)
            return true;
    }
    return false;
}

/* Retains the program's weights, or their aligned copies, which all sessions share. A copy counts
 * for each session. */
static poprt_status retain_weights(prt_session *s)
{
    const prt_program *p = s->program;
    bool *initial = PRT_NEW_N(s->arena, bool, p->n_constants);
    if (initial == NULL)
        return POPRT_E_NOMEM;
    prt_program_find_initial(p, initial);
    for (uint32_t i = 0; i < p->n_constants; i++) {
        if (initial[i]) { /* the store has a copy */
            s->weights[i] = prt_blob_retain(p->constants[i].blob);
            continue;
        }
        const size_t copy = prt_program_weight_copy(p, i);
        const size_t limit = s->memory.limit;
        if (limit != 0 && (copy > limit || s->memory.total > limit - copy))
            return prt_budget_refuse(limit, s->memory.total, copy);
        if (s->memory.measures && copy > LARGE_COPY)
            PRT_TRY(prt_session_substitute_weight(p->constants[i].blob, &s->weights[i]));
        else if ((s->weights[i] = prt_blob_retain(prt_program_weight(p, i))) == NULL)
            return POPRT_E_NOMEM;
        add_bytes(&s->memory, copy);
    }
    return POPRT_OK;
}

static poprt_status create_variables(prt_session *s)
{
    const prt_program *p = s->program;
    if (p->has_flow)
        PRT_TRY(prt_flow_state_create(s));
    if (p->n_variables == 0)
        return POPRT_OK;
    PRT_TRY(
        prt_store_create(p, &s->memory, p->has_flow ? (uint32_t)p->flow.replicas : 1, &s->store));
    PRT_TRY(prt_session_find_lacking(s));
    return prt_session_read_scalars(s);
}

static poprt_status setup(prt_session *s, const prt_session_options *o)
{
    const prt_program *p = s->program;
    PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &s->arena));
    s->weights = PRT_NEW_N(s->arena, prt_blob *, p->n_constants);
    s->replaced = PRT_NEW_N(s->arena, bool, p->n_constants);
    s->updates = PRT_NEW_N(s->arena, prt_blob *, p->n_constants);
    s->updated = PRT_NEW_N(s->arena, bool, p->n_constants);
    s->appends = PRT_NEW_N(s->arena, uint32_t, p->n_inputs);
    s->staging = PRT_NEW_N(s->arena, prt_arena *, p->n_inputs);
    s->results = PRT_NEW_N(s->arena, prt_arena *, p->n_outputs);
    if (s->weights == NULL || s->replaced == NULL || s->updates == NULL || s->updated == NULL ||
        s->appends == NULL || s->staging == NULL || s->results == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(retain_weights(s));
    PRT_TRY(create_variables(s));
    PRT_TRY(fix_dims(s, o));
    PRT_TRY(prt_frames_create(s));
    s->caches = PRT_NEW_N(s->arena, const prt_tensor *, p->blocks[0].n_buffers);
    if (s->caches == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_cache_find(s));
    /* Without unbound symbols everything is planned now, otherwise with the first inputs. */
    for (uint32_t i = 0; i < p->n_inputs; i++)
        s->open = s->open || is_open(s, p->inputs[i].type);
    return s->open ? POPRT_OK : prt_frames_resolve(s);
}

static poprt_status create(prt_program *program, const prt_session_options *options, bool measures,
    prt_session **out)
{
    const prt_allocator *inner = options->allocator != NULL ? options->allocator : &prt_mem_libc;
    prt_session *s = prt_mem_alloc(inner, sizeof(*s));
    if (s == NULL)
        return POPRT_E_NOMEM;
    s->memory = (prt_counted){ .allocator = { .user = &s->memory,
                                   .alloc = counted_alloc,
                                   .release = counted_release,
                                   .refuse = counted_refuse },
        .inner = inner,
        .limit = options->memory_limit,
        .total = sizeof(*s),
        .measures = measures };
    s->program = prt_program_retain(program);
    s->seed = s->run_seed = options->seed;
    s->buffering_depths = options->buffering_depths;
    s->kern = options->kern;
    s->strassen = options->strassen;
    s->bf16x3 = options->bf16x3;
    s->any_log2_scale = options->any_log2_scale;
    s->check_floating_point = options->check_floating_point;
    s->check_kernels = options->check_kernels;
    s->print = options->print;
    s->print_user = options->print_user;
    atomic_init(&s->cancel, false);
    poprt_status status = prt_session_set_par(s, options);
    if (status == POPRT_OK)
        status = setup(s, options);
    if (status != POPRT_OK) {
        prt_session_release(s);
        return prt_fail_at_stage(status, "session");
    }
    *out = s;
    return POPRT_OK;
}

poprt_status prt_session_create(prt_program *program, const prt_session_options *options,
    prt_session **out)
{
    return create(program, options, false, out);
}

static poprt_status measure(prt_session *s, prt_session_needs *needs)
{
    needs->created = prt_session_memory(s);
    needs->transient = s->memory.peak - needs->created;
    needs->is_planned = s->resolved;
    if (!s->resolved)
        return POPRT_OK;
    PRT_TRY(prt_session_dry_run(s));
    PRT_TRY(prt_session_alloc_results(s, false));
    needs->scratch = prt_session_memory(s) - needs->created;
    needs->transient = s->memory.peak - prt_session_memory(s);
    PRT_TRY(prt_session_alloc_results(s, true));
    needs->outputs = prt_session_memory(s) - needs->created - needs->scratch;
    return POPRT_OK;
}

poprt_status prt_session_measure(prt_program *program, const prt_session_options *options,
    prt_session_needs *out)
{
    prt_session_options measuring = *options;
    prt_session_needs needs = { 0 };
    prt_session *s = NULL;
    measuring.allocator = &prt_mem_libc;
    measuring.memory_limit = 0;
    measuring.print = NULL;
    PRT_TRY(create(program, &measuring, true, &s));
    const poprt_status status = measure(s, &needs);
    prt_session_release(s);
    if (status == POPRT_OK)
        *out = needs;
    return status;
}

void prt_session_release(prt_session *session)
{
    if (session == NULL)
        return;
    prt_program *p = session->program;
    prt_frames_release(session);
    for (uint32_t i = 0; session->weights != NULL && i < p->n_constants; i++)
        prt_blob_release(session->weights[i]);
    for (uint32_t i = 0; session->updates != NULL && i < p->n_constants; i++)
        prt_blob_release(session->updates[i]);
    for (uint32_t i = 0; session->staging != NULL && i < p->n_inputs; i++)
        prt_arena_release(session->staging[i]);
    for (uint32_t i = 0; session->results != NULL && i < p->n_outputs; i++)
        prt_arena_release(session->results[i]);
    if (session->flow != NULL)
        prt_flow_state_release(session);
    prt_store_release(session->store);
    prt_arena_release(session->arena);
    const prt_allocator *inner = session->memory.inner;
    prt_mem_free(inner, session);
    prt_program_release(p);
}

void prt_session_watch(prt_session *session, prt_step_fn fn, void *user)
{
    session->watch = fn;
    session->watch_user = user;
}

void prt_session_cancel(prt_session *session)
{
    atomic_store_explicit(&session->cancel, true, memory_order_relaxed);
}

size_t prt_session_memory(const prt_session *session)
{
    return session->memory.total;
}

/* ---- inputs ---- */

/* Binds symbols to the dims of an input. An input of any shape binds only unbound symbols, since no
 * step depends on its shape. */
static poprt_status bind_dims(prt_session *s, uint32_t index, const prt_tensor *t)
{
    const prt_io *io = &s->program->inputs[index];
    const prt_dims *dims = s->program->dims;
    if (!prt_type_is_tensor(io->type) || (io->any_shape && (int32_t)t->rank != io->type->rank))
        return POPRT_OK;
    for (int32_t i = 0; i < io->type->rank; i++) {
        const int64_t d = io->type->dims[i];
        if (!prt_dim_is_expr(d) || prt_dims_at(dims, prt_dim_index(d))->op != PRT_DIM_SYMBOL)
            continue;
        int64_t *bound = &s->bound[prt_dim_index(d)];
        if (*bound != PRT_DIM_UNKNOWN && io->any_shape)
            continue;
        if (*bound != PRT_DIM_UNKNOWN && *bound != t->dims[i])
            return prt_fail(POPRT_E_SHAPE, io->name.data,
                "dimension %d ('%.100s') is %lld here, but %lld elsewhere", i,
                prt_dims_at(dims, prt_dim_index(d))->symbol.data, (long long)t->dims[i],
                (long long)*bound);
        *bound = t->dims[i];
    }
    return POPRT_OK;
}

static bool is_aligned(int32_t dtype, const void *data)
{
    const uintptr_t element = (prt_dtype_bits(dtype) + 7) / 8;
    return ((uintptr_t)data & ((element < 8 ? element : 8) - 1)) == 0;
}

/* Returns whether a tensor is exactly as expected and can be used in place. */
static bool is_ready(const prt_tensor *t, const prt_tensor *expected)
{
    return t->kind == PRT_VALUE_TENSOR && prt_frame_is_final(expected) &&
        t->dtype == expected->dtype && t->rank == expected->rank && t->size >= expected->size &&
        t->data != NULL && prt_dims_equal(t->dims, expected->dims, t->rank) &&
        is_aligned(t->dtype, t->data);
}

/* Sets `to` to the input as used by the run: in place, or copied to an aligned address. */
static poprt_status stage_input(prt_session *s, uint32_t index, const prt_tensor *t, bool in_place,
    prt_tensor *to)
{
    const char *name = s->program->inputs[index].name.data;
    *to = *t;
    if (t->kind != PRT_VALUE_TENSOR)
        return POPRT_OK;
    if (t->rank > PRT_MAX_RANK || !prt_tensor_init(to, t->dtype, t->rank, t->dims, t->data))
        return prt_fail(POPRT_E_SHAPE, name, "input has an impossible shape or type");
    to->capacity = t->capacity;
    if (t->size < to->size || (t->data == NULL && to->size != 0))
        return prt_fail(POPRT_E_ARG, name, "input has %zu bytes where its shape needs %zu", t->size,
            to->size);
    if (is_aligned(t->dtype, t->data) && in_place)
        return POPRT_OK;
    if (s->staging[index] == NULL)
        PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &s->staging[index]));
    prt_arena_reset(s->staging[index]);
    to->data = prt_arena_alloc_raw(s->staging[index], to->size);
    if (to->data == NULL)
        return POPRT_E_NOMEM;
    to->capacity = 0;
    if (t->capacity != 0) {
        PRT_TRY(prt_cache_check(to, t, name));
        prt_tensor from = *to;
        from.data = t->data;
        from.capacity = t->capacity;
        prt_cache_gather(&from, to->data);
    } else if (to->size != 0) {
        memcpy(to->data, t->data, to->size);
    }
    return POPRT_OK;
}

/* Returns whether an input may be used in place: it is not a cache, or a step appends to the
 * cache. */
static bool may_stay_in_place(const prt_session *s, uint32_t index, const prt_tensor *in,
    const prt_tensor *out)
{
    const uint32_t o = s->appends[index];
    return in->capacity == 0 ||
        (o != 0 && is_aligned(in->dtype, in->data) &&
            prt_cache_appends(s, index, in, o - 1, &out[o - 1]));
}

static poprt_status bind_inputs(prt_session *s, const prt_tensor *in, const prt_tensor *out)
{
    const prt_program *p = s->program;
    const size_t n_dims = prt_dims_count(p->dims);
    if (n_dims != 0)
        memcpy(s->bound, s->fixed, n_dims * sizeof(int64_t));
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const prt_io *io = &p->inputs[i];
        if (in[i].kind == PRT_VALUE_ABSENT)
            return prt_fail(POPRT_E_STATE, io->name.data, "input is not bound");
        if (prt_type_is_tensor(io->type) && in[i].kind != PRT_VALUE_TENSOR)
            return prt_fail(POPRT_E_TYPE, io->name.data, "input is not a tensor");
        if (prt_type_is_tensor(io->type) && io->type->rank >= 0 && !io->any_shape &&
            in[i].rank != (uint32_t)io->type->rank)
            return prt_fail(POPRT_E_SHAPE, io->name.data, "input has rank %u, expected %d",
                in[i].rank, io->type->rank);
    }
    for (uint32_t i = 0; n_dims != 0 && i < 2 * p->n_inputs; i++) /* any_shape comes last */
        if (p->inputs[i % p->n_inputs].any_shape == (i >= p->n_inputs))
            PRT_TRY(bind_dims(s, i % p->n_inputs, &in[i % p->n_inputs]));
    bool same = s->resolved;
    for (size_t i = 0; same && i < n_dims; i++)
        same = prt_dims_at(p->dims, i)->op != PRT_DIM_SYMBOL || s->dim_values[i] == s->bound[i];
    if (!same)
        PRT_TRY(prt_frames_resolve(s));
    prt_frame *f = &s->frames[0];
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const uint32_t buffer = f->block->inputs[i];
        prt_tensor staged;
        const bool in_place = may_stay_in_place(s, i, &in[i], out);
        if (in_place && is_ready(&in[i], &f->expected[buffer])) {
            f->values[buffer] = f->expected[buffer];
            f->values[buffer].data = in[i].data;
            f->values[buffer].capacity = in[i].capacity;
            continue;
        }
        PRT_TRY(stage_input(s, i, &in[i], in_place, &staged));
        prt_tensor expected = f->expected[buffer];
        if (p->inputs[i].any_shape)
            expected.rank = UINT32_MAX;
        PRT_TRY(prt_frame_check(&staged, &expected, p->inputs[i].name.data, "input"));
        f->values[buffer] = staged;
    }
    return POPRT_OK;
}

/* ---- outputs ---- */

static bool lies_in(const prt_tensor *inner, const void *data, size_t size)
{
    const uintptr_t a = (uintptr_t)inner->data, b = (uintptr_t)data;
    return inner->kind == PRT_VALUE_TENSOR && inner->size != 0 && size != 0 && a < b + size &&
        b < a + inner->size;
}

void *prt_session_alloc_result(prt_session *s, uint32_t i, const prt_tensor *value)
{
    if (s->results[i] == NULL &&
        prt_arena_create(&s->memory.allocator, 0, &s->results[i]) != POPRT_OK)
        return NULL;
    prt_arena_reset(s->results[i]);
    /* Not cleared, like the caller's memory. */
    return value->dtype == PRT_DTYPE_string ? prt_arena_alloc(s->results[i], value->size)
                                            : prt_arena_alloc_raw(s->results[i], value->size);
}

/* Places output i before the run: in the caller's memory if it can be used in place. */
static poprt_status place_result(prt_session *s, uint32_t i, const prt_tensor *in,
    const prt_tensor *wanted)
{
    prt_frame *f = &s->frames[0];
    const prt_program *p = s->program;
    const uint32_t buffer = f->block->outputs[i];
    const bool direct = f->block->buffers[buffer].space == PRT_SPACE_OUTPUT &&
        f->block->buffers[buffer].ref == i && prt_frame_is_final(&f->expected[buffer]);
    bool appends = false;
    for (uint32_t k = 0; wanted->kind == PRT_VALUE_TENSOR && k < p->n_inputs; k++) {
        if (wanted->capacity != 0 && wanted->capacity == in[k].capacity &&
            wanted->data == in[k].data)
            appends = appends || prt_cache_appends(s, k, &in[k], i, wanted);
        else if (lies_in(&in[k], wanted->data, wanted->size))
            return prt_fail(POPRT_E_ARG, p->outputs[i].name.data,
                "output buffer overlaps input '%.100s'", p->inputs[k].name.data);
    }
    const bool in_cache = appends && is_aligned(wanted->dtype, wanted->data);
    s->caches[buffer] = in_cache ? wanted : NULL;
    if (!direct)
        return POPRT_OK;
    prt_tensor *value = &f->values[buffer];
    *value = f->expected[buffer];
    if (wanted->capacity != 0)
        PRT_TRY(prt_cache_check(value, wanted, p->outputs[i].name.data));
    if (wanted->kind == PRT_VALUE_TENSOR && wanted->size >= value->size && wanted->data != NULL &&
        (wanted->capacity == 0 || in_cache) && is_aligned(value->dtype, wanted->data)) {
        value->data = f->planned[buffer] = wanted->data;
        value->capacity = wanted->capacity;
        return POPRT_OK;
    }
    value->data = f->planned[buffer] = prt_session_alloc_result(s, i, value);
    return value->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Returns output i to the caller, as a copy if the caller's memory was not used in place. */
static poprt_status return_result(prt_session *s, uint32_t i, prt_tensor *out)
{
    const prt_frame *f = &s->frames[0];
    const prt_tensor *value = &f->values[f->block->outputs[i]];
    if (out->kind != PRT_VALUE_TENSOR || out->data == value->data) {
        *out = *value;
        return POPRT_OK;
    }
    const prt_tensor wanted = *out;
    const char *name = s->program->outputs[i].name.data;
    if (value->kind != PRT_VALUE_TENSOR || value->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_ARG, name,
            "strings, sequences and optionals cannot be written to a buffer; leave the output "
            "unbound");
    if (wanted.capacity != 0)
        return prt_cache_scatter(value, &wanted, name, out);
    if (wanted.dtype != value->dtype)
        return prt_fail(POPRT_E_TYPE, name, "output is %s, the buffer is for %s",
            prt_dtype_of(value->dtype)->name, prt_dtype_of(wanted.dtype)->name);
    if (wanted.size < value->size)
        return prt_fail(POPRT_E_ARG, name, "output needs %zu bytes, the buffer has %zu",
            value->size, wanted.size);
    if (value->size != 0)
        memcpy(wanted.data, value->data, value->size);
    *out = *value;
    out->data = wanted.data;
    return POPRT_OK;
}

poprt_status prt_session_merge_scratch(prt_session *s)
{
    PRT_TRY(prt_arena_reset_merged(s->infer_scratch));
    for (uint32_t k = 0; k < s->program->n_blocks; k++)
        if (s->frames[k].scratch_used)
            PRT_TRY(prt_arena_reset_merged(s->frames[k].scratch));
    return POPRT_OK;
}

static void touch_memory(prt_frame *f)
{
    if (!f->touched)
        prt_mem_touch(f->memory, f->memory_size);
    f->touched = true;
}

poprt_status prt_session_run_once(prt_session *s, const prt_tensor *in, prt_tensor *out)
{
    const prt_program *p = s->program;
    /* Values that the last run wrote: if the first of them find no memory, all stay for later. */
    PRT_TRY(prt_session_apply_updates(s));
    poprt_status status = bind_inputs(s, in, out);
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_outputs; i++)
        status = place_result(s, i, in, &out[i]);
    prt_frame_place_parts(&s->frames[0]);
    if (status == POPRT_OK)
        touch_memory(&s->frames[0]);
    if (status == POPRT_OK)
        status = prt_session_run_steps(s, 0);
    for (uint32_t i = 0; status == POPRT_OK && i < p->n_outputs; i++)
        status = return_result(s, i, &out[i]);
    if (status == POPRT_OK)
        status = prt_session_merge_scratch(s);
    if (status != POPRT_OK)
        prt_session_drop_updates(s);
    return status;
}

poprt_status prt_session_run(prt_session *s, const prt_tensor *in, prt_tensor *out)
{
    PRT_TRY(prt_session_check_contents(s));
    if (s->store != NULL) {
        prt_store_clear(s->store);
        prt_store_restart(s->store);
    }
    const poprt_status status = prt_session_run_once(s, in, out);
    if (s->store != NULL && status == POPRT_OK)
        prt_store_commit(s->store);
    atomic_store_explicit(&s->cancel, false, memory_order_relaxed);
    return prt_fail_at_stage(status, "run");
}
