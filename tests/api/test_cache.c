/* SPDX-License-Identifier: MIT */
/*
 * test_cache.c — caches. A loop that binds its caches once gives the same bits as a loop that
 * binds the outputs of the previous run, both where attention appends in place and where rows are
 * copied. No other memory is written.
 * Covers: stepio_cache.c.
 */
#include <sys/mman.h>

#include "api_test.h"
#include "models.h"

#define DECODER PRT_TEST_DATA "/decoder/model.onnx"

enum { HEADS = 2, SIZE = 8, WORDS = 24, CAPACITY = 48, STEPS = 20, FIRST = 3, SLOTS = 3 };

static const char *const inputs[SLOTS] = { "past_key", "past_value", "history" };
static const char *const outputs[SLOTS] = { "present_key", "present_value", "history_now" };
static const int64_t heads[SLOTS] = { HEADS, HEADS, 1 }, sizes[SLOTS] = { SIZE, SIZE, 4 };

/* The inputs of one run other than the past, and its output. */
typedef struct word {
    int64_t id, place, mask[512], one[2], all[2];
    float logits[WORDS];
} word;

static poprt_session *open_session(const char *optimize, const char *cpu)
{
    poprt_model *model = NULL;
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "optimize", optimize));
    if (cpu != NULL)
        ck_assert_ok(poprt_config_set(config, "cpu", cpu));
    ck_assert_ok(poprt_model_load_file(NULL, DECODER, NULL, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    poprt_executable_release(exec);
    poprt_config_release(config);
    poprt_model_release(model);
    return session;
}

static poprt_tensor tensor(void *data, const int64_t *dims, uint32_t rank, int32_t dtype)
{
    poprt_tensor t = { .data = data, .dims = dims, .rank = rank, .dtype = dtype };
    t.size = dtype == POPRT_DTYPE_INT64 ? 8 : 4;
    for (uint32_t i = 0; i < rank; i++)
        t.size *= (size_t)dims[i];
    return t;
}

static void bind_word(poprt_stepio *io, word *w, int64_t past)
{
    *w = (word){ .id = (past * 7 + 3) % WORDS,
        .place = past,
        .one = { 1, 1 },
        .all = { 1, past + 1 } };
    for (int64_t i = 0; i <= past; i++)
        w->mask[i] = i != 1;
    const poprt_tensor id = tensor(&w->id, w->one, 2, POPRT_DTYPE_INT64);
    const poprt_tensor place = tensor(&w->place, w->one, 2, POPRT_DTYPE_INT64);
    const poprt_tensor mask = tensor(w->mask, w->all, 2, POPRT_DTYPE_INT64);
    const poprt_tensor logits = { .data = w->logits,
        .size = sizeof(w->logits),
        .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_stepio_bind(io, "input_ids", &id));
    ck_assert_ok(poprt_stepio_bind(io, "position_ids", &place));
    ck_assert_ok(poprt_stepio_bind(io, "attention_mask", &mask));
    ck_assert_ok(poprt_stepio_bind(io, "logits", &logits));
}

static void slot_dims(int slot, int64_t rows, int64_t *dims)
{
    const int64_t four[4] = { 1, heads[slot], rows, sizes[slot] }, three[3] = { 1, rows, 4 };
    memcpy(dims, slot == 2 ? three : four, (slot == 2 ? 3 : 4) * sizeof(int64_t));
}

static uint32_t slot_rank(int slot)
{
    return slot == 2 ? 3 : 4;
}

/* An element of the past that both loops begin with. */
static float first_value(int slot, int64_t head, int64_t row, int64_t d)
{
    return (float)((slot * 31 + head * 17 + row * 5 + d * 3) % 13) * 0.25f - 1.5f;
}

typedef struct trace {
    float logits[STEPS][WORDS];
    float rows[SLOTS][HEADS * (FIRST + STEPS) * SIZE]; /* after the last step, without gaps */
} trace;

/* Copies the outputs of each step and binds the copies as inputs of the next step. */
static void run_plain(poprt_session *session, trace *t)
{
    poprt_stepio *io = NULL;
    word w;
    int64_t dims[SLOTS][4];
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (int s = 0; s < SLOTS; s++)
        for (int64_t i = 0; i < heads[s] * FIRST * sizes[s]; i++)
            t->rows[s][i] =
                first_value(s, i / sizes[s] / FIRST, i / sizes[s] % FIRST, i % sizes[s]);
    for (int k = 0; k < STEPS; k++) {
        bind_word(io, &w, FIRST + k);
        for (int s = 0; s < SLOTS; s++) {
            slot_dims(s, FIRST + k, dims[s]);
            const poprt_tensor past =
                tensor(t->rows[s], dims[s], slot_rank(s), POPRT_DTYPE_FLOAT32);
            ck_assert_ok(poprt_stepio_bind(io, inputs[s], &past));
        }
        ck_assert_ok(poprt_session_run(session, io));
        memcpy(t->logits[k], w.logits, sizeof(w.logits));
        for (int s = 0; s < SLOTS; s++) {
            poprt_tensor out;
            ck_assert_ok(poprt_stepio_output(io, 7 + (size_t)s, &out));
            memcpy(t->rows[s], out.data, out.size);
        }
    }
    poprt_stepio_release(io);
}

typedef struct caches {
    float data[SLOTS][HEADS * CAPACITY * SIZE];
    poprt_tensor memory[SLOTS];
    int64_t dims[SLOTS][4];
} caches;

static float *cache_row(caches *c, int slot, int64_t head, int64_t row)
{
    return c->data[slot] + (head * CAPACITY + row) * sizes[slot];
}

static void caches_init(caches *c)
{
    for (int s = 0; s < SLOTS; s++) {
        slot_dims(s, CAPACITY, c->dims[s]);
        c->memory[s] = tensor(c->data[s], c->dims[s], slot_rank(s), POPRT_DTYPE_FLOAT32);
        for (int64_t h = 0; h < heads[s]; h++)
            for (int64_t r = 0; r < CAPACITY; r++)
                for (int64_t d = 0; d < sizes[s]; d++)
                    cache_row(c, s, h, r)[d] = r < FIRST ? first_value(s, h, r, d) : -77.0f;
    }
}

static void bind_caches(poprt_stepio *io, caches *c, int64_t rows)
{
    for (int s = 0; s < SLOTS; s++)
        ck_assert_ok(poprt_stepio_bind_cache(io, inputs[s], outputs[s], &c->memory[s], rows));
}

static int64_t bound_rows(poprt_stepio *io, int slot)
{
    int64_t rows = -1;
    ck_assert_ok(poprt_stepio_cache_rows(io, inputs[slot], &rows));
    return rows;
}

/* Runs steps `from` to `end` - 1 and compares them with the steps of the plain loop. */
static void run_cached(poprt_session *session, poprt_stepio *io, int from, int end, const trace *t)
{
    word w;
    for (int k = from; k < end; k++) {
        bind_word(io, &w, FIRST + k);
        for (int s = 0; s < SLOTS; s++)
            ck_assert_int_eq(bound_rows(io, s), FIRST + k);
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_mem_eq(w.logits, t->logits[k], sizeof(w.logits));
    }
}

static void assert_caches(caches *c, const trace *t)
{
    for (int s = 0; s < SLOTS; s++)
        for (int64_t h = 0; h < heads[s]; h++) {
            ck_assert_mem_eq(cache_row(c, s, h, 0), t->rows[s] + h * (FIRST + STEPS) * sizes[s],
                (size_t)((FIRST + STEPS) * sizes[s]) * sizeof(float));
            for (int64_t r = FIRST + STEPS; r < CAPACITY; r++)
                for (int64_t d = 0; d < sizes[s]; d++)
                    ck_assert_float_eq(cache_row(c, s, h, r)[d], -77.0f);
        }
}

START_TEST(cached_and_plain_loops_agree)
{
    static const char *const levels[] = { NULL, "portable", "reference" };
    static trace t;
    static caches c;
    for (size_t i = 0; i < 6; i++) {
        poprt_session *session = open_session(i % 2 == 0 ? "true" : "false", levels[i / 2]);
        poprt_stepio *io = NULL;
        run_plain(session, &t);
        caches_init(&c);
        ck_assert_ok(poprt_stepio_create(session, &io));
        bind_caches(io, &c, FIRST);
        run_cached(session, io, 0, STEPS, &t);
        assert_caches(&c, &t);
        /* returns to an earlier length and continues */
        bind_caches(io, &c, FIRST + 5);
        run_cached(session, io, 5, STEPS, &t);
        assert_caches(&c, &t);
        poprt_stepio_release(io);
        poprt_session_release(session);
    }
}
END_TEST

/* The rows of the past are in write-protected pages, so a write to them would crash. */
START_TEST(rows_of_the_past_are_not_written)
{
    enum { PAGE = 4096, ROWS = PAGE / (SIZE * 4), MOST = 2 * ROWS, ALL = HEADS * 2 * PAGE };
    poprt_session *session = open_session("true", NULL);
    poprt_stepio *io = NULL;
    word w;
    float history[MOST * 4] = { 0 };
    const int64_t dims[4] = { 1, HEADS, MOST, SIZE }, seen[3] = { 1, MOST, 4 };
    char *pages = mmap(NULL, 2 * ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (int s = 0; s < 2; s++) {
        const poprt_tensor memory = tensor(pages + s * ALL, dims, 4, POPRT_DTYPE_FLOAT32);
        ck_assert_ok(poprt_stepio_bind_cache(io, inputs[s], outputs[s], &memory, ROWS));
    }
    const poprt_tensor memory = tensor(history, seen, 3, POPRT_DTYPE_FLOAT32);
    ck_assert_ok(poprt_stepio_bind_cache(io, inputs[2], outputs[2], &memory, ROWS));
    for (int h = 0; h < 2 * HEADS; h++)
        ck_assert_int_eq(mprotect(pages + h * 2 * PAGE, PAGE, PROT_READ), 0);
    bind_word(io, &w, ROWS);
    ck_assert_ok(poprt_session_run(session, io));
    for (int h = 0; h < 2 * HEADS; h++)
        ck_assert_float_ne(((float *)(void *)(pages + (h * 2 + 1) * PAGE))[0], 0);
    ck_assert_int_eq(bound_rows(io, 0), ROWS + 1);
    poprt_stepio_release(io);
    poprt_session_release(session);
    (void)munmap(pages, 2 * ALL);
}
END_TEST

START_TEST(a_full_cache_refuses_rows)
{
    static caches c;
    static const char *const settings[] = { "true", "false" };
    for (int i = 0; i < 2; i++) {
        poprt_session *session = open_session(settings[i], NULL);
        poprt_stepio *io = NULL;
        word w;
        caches_init(&c);
        ck_assert_ok(poprt_stepio_create(session, &io));
        bind_caches(io, &c, CAPACITY);
        bind_word(io, &w, CAPACITY);
        ck_assert_fails(poprt_session_run(session, io), POPRT_E_ARG);
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "room for 48"));
        ck_assert_int_eq(bound_rows(io, 0), CAPACITY);
        bind_caches(io, &c, CAPACITY - 1);
        bind_word(io, &w, CAPACITY - 1);
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_int_eq(bound_rows(io, 0), CAPACITY);
        poprt_stepio_release(io);
        poprt_session_release(session);
    }
}
END_TEST

START_TEST(caches_that_do_not_fit_are_refused)
{
    static caches c;
    poprt_session *session = open_session("true", NULL);
    poprt_stepio *io = NULL;
    poprt_tensor out, other;
    int64_t rows, dims[4];
    word w;
    caches_init(&c);
    ck_assert_ok(poprt_stepio_create(session, &io));
    const char *in = inputs[0], *to = outputs[0];
    ck_assert_fails(poprt_stepio_cache_rows(io, in, &rows), POPRT_E_STATE);
    ck_assert_fails(poprt_stepio_bind_cache(io, "past", to, c.memory, 0), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_stepio_bind_cache(io, in, in, c.memory, 0), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, c.memory, -1), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, c.memory, CAPACITY + 1), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_bind_cache(io, in, outputs[2], c.memory, 0), POPRT_E_SHAPE);
    other = c.memory[0];
    other.size--;
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, &other, 0), POPRT_E_ARG);
    other = c.memory[0];
    other.data = NULL;
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, &other, 0), POPRT_E_ARG);
    other = c.memory[0];
    other.dtype = POPRT_DTYPE_INT32;
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, &other, 0), POPRT_E_TYPE);
    other = c.memory[0];
    memcpy(dims, other.dims, sizeof(dims));
    dims[1] = 1;
    other.dims = dims;
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, &other, 0), POPRT_E_SHAPE);
    other.rank = 1;
    ck_assert_fails(poprt_stepio_bind_cache(io, in, to, &other, 0), POPRT_E_SHAPE);

    /* once one of them is bound to other memory, neither is a cache */
    bind_caches(io, &c, FIRST);
    bind_word(io, &w, FIRST);
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_fails(poprt_stepio_output(io, 7, &out), POPRT_E_STATE);
    dims[1] = HEADS;
    dims[2] = FIRST;
    other = tensor(c.data[0], dims, 4, POPRT_DTYPE_FLOAT32);
    ck_assert_ok(poprt_stepio_bind(io, in, &other));
    ck_assert_fails(poprt_stepio_cache_rows(io, in, &rows), POPRT_E_STATE);
    for (int s = 1; s < SLOTS; s++)
        ck_assert_ok(poprt_stepio_bind_cache(io, inputs[s], outputs[s], &c.memory[s], FIRST));
    bind_word(io, &w, FIRST);
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 7, &out));
    ck_assert_int_eq(out.dims[2], FIRST + 1);
    ck_assert_ok(poprt_stepio_bind(io, outputs[1], NULL));
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_STATE);
    poprt_stepio_release(io);
    poprt_session_release(session);
}
END_TEST

START_TEST(unaligned_caches_give_the_same_bits)
{
    static trace t;
    static caches c;
    static char bytes[SLOTS][sizeof(c.data[0]) + 1];
    poprt_session *session = open_session("true", NULL);
    poprt_stepio *io = NULL;
    run_plain(session, &t);
    caches_init(&c);
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (int s = 0; s < SLOTS; s++) {
        memcpy(bytes[s] + 1, c.data[s], sizeof(c.data[s]));
        poprt_tensor memory = c.memory[s];
        memory.data = bytes[s] + 1;
        ck_assert_ok(poprt_stepio_bind_cache(io, inputs[s], outputs[s], &memory, FIRST));
    }
    run_cached(session, io, 0, STEPS, &t);
    for (int s = 0; s < SLOTS; s++)
        memcpy(c.data[s], bytes[s] + 1, sizeof(c.data[s]));
    assert_caches(&c, &t);
    poprt_stepio_release(io);
    poprt_session_release(session);
}
END_TEST

/* A cache that has its final size from the start: existing rows are kept. */
typedef struct grouped {
    float q[16], k[8], v[8], y[16], cache[2][128];
    int32_t lengths, total;
} grouped;

static void bind_grouped(poprt_stepio *io, grouped *g, int step)
{
    static const int64_t one = 1, q[3] = { 1, 1, 16 }, k[3] = { 1, 1, 8 };
    for (int i = 0; i < 16; i++)
        g->q[i] = (float)((i * 7 + step) % 11) * 0.2f - 1;
    for (int i = 0; i < 8; i++) {
        g->k[i] = (float)((i * 5 + step) % 13) * 0.2f - 1;
        g->v[i] = (float)((i * 3 + step * 2) % 17) * 0.1f - 1;
    }
    g->lengths = step;
    g->total = step + 1;
    const poprt_tensor all[] = { tensor(g->q, q, 3, POPRT_DTYPE_FLOAT32),
        tensor(g->k, k, 3, POPRT_DTYPE_FLOAT32), tensor(g->v, k, 3, POPRT_DTYPE_FLOAT32),
        { .data = &g->lengths, .size = 4, .dims = &one, .rank = 1, .dtype = POPRT_DTYPE_INT32 },
        { .data = &g->total, .size = 4, .dims = &one, .rank = 1, .dtype = POPRT_DTYPE_INT32 },
        { .data = g->y, .size = sizeof(g->y), .dtype = POPRT_DTYPE_FLOAT32 } };
    static const char *const names[] = { "q", "k", "v", "seq", "total", "y" };
    for (int i = 0; i < 6; i++)
        ck_assert_ok(poprt_stepio_bind(io, names[i], &all[i]));
}

START_TEST(grouped_query_caches_keep_rows)
{
    static const int64_t dims[4] = { 1, 2, 16, 4 };
    static const char *const in[] = { "pk", "pv" }, *const out[] = { "nk", "nv" };
    static grouped plain, cached;
    poprt_executable *exec = compile_bytes(NULL, grouped_model, sizeof(grouped_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL, *other = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_create(session, &other));
    for (int i = 0; i < 2; i++) {
        const poprt_tensor memory = tensor(cached.cache[i], dims, 4, POPRT_DTYPE_FLOAT32);
        ck_assert_ok(poprt_stepio_bind_cache(other, in[i], out[i], &memory, 16));
    }
    for (int step = 1; step < 16; step++) {
        bind_grouped(io, &plain, step);
        bind_grouped(other, &cached, step);
        for (int i = 0; i < 2; i++) {
            const poprt_tensor past = tensor(plain.cache[i], dims, 4, POPRT_DTYPE_FLOAT32);
            ck_assert_ok(poprt_stepio_bind(io, in[i], &past));
        }
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_session_run(session, other));
        ck_assert_mem_eq(plain.y, cached.y, sizeof(plain.y));
        ck_assert_ok(poprt_session_run(session, io));
        for (int i = 0; i < 2; i++) {
            poprt_tensor now;
            ck_assert_ok(poprt_stepio_output(io, 8 + (size_t)i, &now));
            memcpy(plain.cache[i], now.data, now.size);
            ck_assert_mem_eq(plain.cache[i], cached.cache[i], sizeof(plain.cache[i]));
        }
    }
    poprt_stepio_release(other);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

PRT_TEST_MAIN("api/cache", grouped_query_caches_keep_rows, cached_and_plain_loops_agree,
    rows_of_the_past_are_not_written, a_full_cache_refuses_rows, caches_that_do_not_fit_are_refused,
    unaligned_caches_give_the_same_bits)
