/* SPDX-License-Identifier: MIT */
/*
 * tune_watch.c — the time of a candidate on this machine under the conditions of a model: weights
 * are read from memory, while values that earlier steps would have written are in the cache.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/status.h"
#include "compiler/tune.h"
#include "cpu/cpu.h"
#include "fast/fast.h"

enum {
    LINE = 64,              /* bytes of a cache line */
    LEAST_SWEEP = 64 << 20, /* minimum of bytes read to evict the caches */
    MOST_SWEEP = 128 << 20, /* maximum of these bytes */
    MOST_BYTES = 1 << 30    /* bytes of all values of a choice */
};

typedef struct step {
    const prt_op_def *def;
    const void *attrs;
    prt_fast_fn fast;
    uint32_t n_in;
    prt_tensor values[PRT_CANDIDATE_INPUTS], y;
    const prt_tensor *in[PRT_CANDIDATE_INPUTS];
} step;

typedef struct watch {
    prt_tune_watch face;
    const prt_allocator *allocator;
    const prt_par *par;
    const prt_kern *kern;
    size_t memory_limit, sweep; /* in bytes */
    unsigned char *memory;      /* read to evict the caches; allocated by the first choice */
    prt_arena *values;
    char *scratch; /* NULL: scratch is allocated in `values`, and `most` records the size needed */
    size_t used, most;
    uint64_t waiting; /* ns spent on preparation */
    uint32_t n_candidates, n_steps[PRT_CANDIDATES_MAX];
    step steps[PRT_CANDIDATES_MAX][PRT_CANDIDATE_STEPS];
} watch;

/* ---- a host for kernels ---- */

static void *host_scratch(prt_eval *c, size_t size)
{
    watch *w = c->user;
    const size_t at = w->used;
    if (size > MOST_BYTES - LINE - at)
        return NULL;
    w->used += (size + LINE - 1) / LINE * LINE;
    w->most = w->used > w->most ? w->used : w->most;
    return w->scratch != NULL ? w->scratch + at : prt_arena_alloc_raw(w->values, size);
}

static void *host_alloc(prt_eval *c, uint32_t out, size_t size)
{
    (void)out;
    void *memory = host_scratch(c, size);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

static poprt_status host_check(prt_eval *c)
{
    (void)c;
    return POPRT_OK;
}

static const prt_eval_host host = { .alloc = host_alloc,
    .scratch = host_scratch,
    .check = host_check };

static poprt_status run_step(watch *w, step *s)
{
    prt_tensor *out[1] = { &s->y };
    prt_eval c = { .def = s->def,
        .attrs = s->attrs,
        .origin = PRT_STR("tune"),
        .n_in = s->n_in,
        .n_out = 1,
        .in = s->in,
        .out = out,
        .host = &host,
        .par = w->par,
        .user = w };
    bool done = true;
    w->used = 0;
    PRT_TRY(s->fast(&c, w->kern, &done));
    return done ? POPRT_OK
                : prt_fail(POPRT_E_UNSUPPORTED, s->def->name, "no fast operator supports it");
}

static poprt_status run_candidate(watch *w, uint32_t candidate)
{
    for (uint32_t i = 0; i < w->n_steps[candidate]; i++)
        PRT_TRY(run_step(w, &w->steps[candidate][i]));
    return POPRT_OK;
}

/* ---- preparing a candidate ---- */

/* Returns zeroed memory aligned to a cache line, as in a session. */
static void *alloc_aligned(watch *w, size_t size)
{
    char *p = size <= MOST_BYTES ? prt_arena_alloc(w->values, size + LINE) : NULL;
    return p != NULL ? p + (LINE - (uintptr_t)p % LINE) % LINE : NULL;
}

/* Fills a tensor with pseudo-random numbers in [-0.25, 0.25). */
static poprt_status fill_data(watch *w, prt_tensor *t)
{
    uint32_t state = 1;
    if (t->dtype != PRT_DTYPE_f32)
        return prt_fail(POPRT_E_UNSUPPORTED, "tune", "a value is not float32");
    float *data = alloc_aligned(w, t->size);
    if (data == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < t->size / sizeof(float); i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = ((float)(state >> 8) - 8388608.0f) * (1.0f / 33554432.0f);
    }
    t->data = data;
    return POPRT_OK;
}

static poprt_status shape_result(watch *w, step *s)
{
    prt_shape in[PRT_CANDIDATE_INPUTS], out = { .kind = PRT_VALUE_UNKNOWN };
    prt_content content[PRT_CANDIDATE_INPUTS + 1] = { { 0 } };
    prt_infer c = { .def = s->def,
        .attrs = s->attrs,
        .origin = PRT_STR("tune"),
        .n_in = s->n_in,
        .n_out = 1,
        .in = in,
        .value = s->in,
        .content = content,
        .out = &out,
        .out_content = content + PRT_CANDIDATE_INPUTS,
        .scratch = w->values };
    for (uint32_t i = 0; i < s->n_in; i++)
        prt_shape_of_tensor(s->in[i], &in[i]);
    PRT_TRY(prt_op_infer(&c));
    if (!prt_shape_is_known(&out) ||
        !prt_tensor_init(&s->y, out.dtype, (uint32_t)out.rank, out.dims, NULL))
        return prt_fail(POPRT_E_SHAPE, "tune", "sizes are not known");
    return fill_data(w, &s->y);
}

static poprt_status make_step(watch *w, const prt_candidate_step *from, const prt_tensor *before,
    step *s)
{
    *s = (step){ .def = prt_op_of(from->op),
        .attrs = from->attrs,
        .fast = prt_fast_of(from->op),
        .n_in = from->n_in };
    if (s->fast == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, s->def->name, "has no fast operator");
    for (uint32_t i = 0; i < s->n_in; i++) {
        s->values[i] = from->in[i];
        if (i == 0 && before != NULL)
            s->values[i] = *before;
        else if (from->in[i].kind != PRT_VALUE_ABSENT)
            PRT_TRY(fill_data(w, &s->values[i]));
        s->in[i] = s->values[i].kind != PRT_VALUE_ABSENT ? &s->values[i] : NULL;
    }
    return shape_result(w, s);
}

static poprt_status make_candidates(watch *w, const prt_candidates *c)
{
    w->n_candidates = c->n_candidates;
    for (uint32_t i = 0; i < c->n_candidates; i++) {
        w->n_steps[i] = c->list[i].n_steps;
        for (uint32_t k = 0; k < w->n_steps[i]; k++)
            PRT_TRY(make_step(w, &c->list[i].steps[k], k != 0 ? &w->steps[i][k - 1].y : NULL,
                &w->steps[i][k]));
        PRT_TRY(run_candidate(w, i));
    }
    w->scratch = alloc_aligned(w, w->most);
    return w->scratch != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void end(void *user)
{
    watch *w = user;
    prt_arena_release(w->values);
    w->values = NULL;
    w->scratch = NULL;
    w->most = 0;
    w->n_candidates = 0;
}

static poprt_status begin(void *user, const prt_candidates *c)
{
    watch *w = user;
    const uint64_t start = prt_clock_ns();
    end(w);
    if (w->memory_limit != 0 && w->memory_limit <= w->sweep)
        return prt_fail(POPRT_E_LIMIT, "tune", "memory_limit leaves too little for timing");
    const size_t left = w->memory_limit != 0 ? w->memory_limit - w->sweep : MOST_BYTES;
    if (w->memory == NULL) {
        w->memory = prt_mem_alloc(w->allocator, w->sweep);
        if (w->memory == NULL)
            return POPRT_E_NOMEM;
        memset(w->memory, 1, w->sweep);
    }
    PRT_TRY(prt_arena_create(w->allocator, left < MOST_BYTES ? left : MOST_BYTES, &w->values));
    PRT_TRY(make_candidates(w, c));
    w->waiting = prt_clock_ns() - start;
    return POPRT_OK;
}

/* ---- time ---- */

/* Reads a byte of every cache line. */
static void touch(const void *bytes, size_t size)
{
    const volatile unsigned char *p = bytes;
    for (size_t i = 0; i < size; i += LINE)
        (void)p[i];
}

static void sweep_part(void *user, uint32_t i)
{
    const watch *w = user;
    const size_t size = w->sweep / w->par->width;
    touch(w->memory + i * size, size);
}

/* Touches the values that earlier steps would have written, and the memory of results. */
static void touch_step(const step *s)
{
    const prt_tensor *residual = s->in[s->def->id == PRT_OP_nhwc_separable ? 7 : 3];
    touch(s->y.data, s->y.size);
    if (residual != NULL)
        touch(residual->data, residual->size);
}

static poprt_status run(void *user, uint32_t candidate, prt_tune_sample *lap)
{
    watch *w = user;
    const uint64_t start = prt_clock_ns();
    prt_par_for(w->par, w->par->width, sweep_part, w);
    touch(w->scratch, w->most);
    for (uint32_t i = w->n_steps[candidate]; i > 0; i--)
        touch_step(&w->steps[candidate][i - 1]);
    touch(w->steps[candidate][0].in[0]->data, w->steps[candidate][0].in[0]->size);
    const uint64_t ready = prt_clock_ns();
    PRT_TRY(run_candidate(w, candidate));
    const uint64_t stop = prt_clock_ns();
    *lap = (prt_tune_sample){ .ns = stop - ready, .cost = stop - start + w->waiting };
    w->waiting = 0;
    return POPRT_OK;
}

poprt_status prt_tune_watch_create(const prt_allocator *allocator, size_t memory_limit,
    const prt_par *par, prt_tune_watch **out)
{
    watch *w = prt_mem_alloc(allocator, sizeof(*w));
    const uint64_t sweep = 2 * prt_cpu_cache(3);
    if (w == NULL)
        return POPRT_E_NOMEM;
    memset(w, 0, sizeof(*w));
    w->allocator = allocator;
    w->par = par;
    w->kern = prt_kern_of(prt_cpu_features());
    w->memory_limit = memory_limit;
    w->sweep = sweep < LEAST_SWEEP ? LEAST_SWEEP : sweep > MOST_SWEEP ? MOST_SWEEP : (size_t)sweep;
    w->face = (prt_tune_watch){ .user = w, .begin = begin, .run = run, .end = end };
    *out = &w->face;
    return POPRT_OK;
}

void prt_tune_watch_release(prt_tune_watch *face)
{
    if (face == NULL)
        return;
    watch *w = face->user;
    end(w);
    prt_mem_free(w->allocator, w->memory);
    prt_mem_free(w->allocator, w);
}
