/* SPDX-License-Identifier: MIT */
/* trace.c — poprt/trace.h: spans of several threads on one time line, written as JSON trace
 * events. */
#define _POSIX_C_SOURCE 200809L
#include "api/watch.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"

enum { MOST_SPANS = 1 << 22, MOST_NAME = 255 };

/* A span. The texts belong to the arena, or to an executable that the trace keeps. */
typedef struct span {
    uint32_t channel;     /* index */
    uint32_t block, step; /* of a step; else 0 */
    const char *name;
    const char *op; /* of a step; else NULL */
    const char *form, *location;
    uint64_t start_ns, stop_ns; /* stop 0: still open */
} span;

typedef struct channel {
    const char *name;
    PRT_VEC(size_t) open; /* indices of open spans, or MISSED */
} channel;

#define MISSED SIZE_MAX

struct poprt_trace {
    poprt_env *env;
    prt_arena *arena;
    pthread_mutex_t lock;
    size_t most, missed;
    PRT_VEC(span) spans;
    PRT_VEC(channel) channels;
    PRT_VEC(poprt_executable *) executables;
};

poprt_status poprt_trace_create(poprt_env *env, size_t most, poprt_trace **out)
{
    poprt_env *owner = NULL;
    PRT_REQUIRE(out);
    PRT_TRY(prt_env_acquire(env, &owner));
    poprt_trace *trace = prt_mem_alloc(&owner->allocator, sizeof(*trace));
    poprt_status status = trace != NULL ? POPRT_OK : POPRT_E_NOMEM;
    if (status == POPRT_OK)
        status = prt_arena_create(&owner->allocator, 0, &trace->arena);
    if (status == POPRT_OK && pthread_mutex_init(&trace->lock, NULL) != 0) {
        prt_arena_release(trace->arena);
        status = prt_fail_nomem(sizeof(*trace));
    }
    if (status != POPRT_OK) {
        if (trace != NULL)
            prt_mem_free(&owner->allocator, trace);
        poprt_env_release(owner);
        return status;
    }
    trace->env = owner;
    trace->most = most != 0 ? most : MOST_SPANS;
    *out = trace;
    return POPRT_OK;
}

void poprt_trace_release(poprt_trace *trace)
{
    if (trace == NULL)
        return;
    poprt_env *env = trace->env;
    for (size_t i = 0; i < trace->executables.count; i++)
        poprt_executable_release(trace->executables.data[i]);
    prt_arena_release(trace->arena);
    (void)pthread_mutex_destroy(&trace->lock);
    prt_mem_free(&env->allocator, trace);
    poprt_env_release(env);
}

/* ---- recording; the lock is held */

static void lock(poprt_trace *trace)
{
    (void)pthread_mutex_lock(&trace->lock);
}

static void unlock(poprt_trace *trace)
{
    (void)pthread_mutex_unlock(&trace->lock);
}

/* Finds a channel; makes it if `name` is new. */
static poprt_status find_channel(poprt_trace *trace, const char *name, uint32_t *out)
{
    for (size_t i = 0; i < trace->channels.count; i++)
        if (strcmp(trace->channels.data[i].name, name) == 0) {
            *out = (uint32_t)i;
            return POPRT_OK;
        }
    const channel made = { .name = prt_arena_text(trace->arena, name, strlen(name)) };
    if (made.name == NULL || !PRT_VEC_PUSH(trace->arena, &trace->channels, made))
        return POPRT_E_NOMEM;
    *out = (uint32_t)trace->channels.count - 1;
    return POPRT_OK;
}

/* Adds a span; if there are too many, or no memory, counts it. */
static void add(poprt_trace *trace, const char *name, span s)
{
    lock(trace);
    if (trace->spans.count >= trace->most || find_channel(trace, name, &s.channel) != POPRT_OK ||
        !PRT_VEC_PUSH(trace->arena, &trace->spans, s))
        trace->missed++;
    unlock(trace);
}

void prt_trace_add_run(poprt_trace *trace, const char *file, uint64_t start_ns, uint64_t stop_ns)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    add(trace, "runs",
        (span){ .name = name[0] != '\0' ? name : "run", .start_ns = start_ns, .stop_ns = stop_ns });
}

void prt_trace_add_step(poprt_trace *trace, const poprt_step *step)
{
    add(trace, "steps",
        (span){ .block = step->block,
            .step = step->index,
            .name = step->node[0] != '\0' ? step->node : step->op,
            .op = step->op,
            .form = step->form,
            .location = step->location,
            .start_ns = step->start_ns,
            .stop_ns = step->stop_ns });
}

poprt_status prt_trace_keep(poprt_trace *trace, poprt_executable *exec)
{
    bool has = false;
    lock(trace);
    for (size_t i = 0; i < trace->executables.count; i++)
        has = has || trace->executables.data[i] == exec;
    const bool kept = has || PRT_VEC_PUSH(trace->arena, &trace->executables, exec);
    unlock(trace);
    if (!has && kept)
        (void)poprt_executable_retain(exec);
    return kept ? POPRT_OK : POPRT_E_NOMEM;
}

/* Begins a span. One that cannot be kept is counted, but has its place among the open ones. */
static poprt_status begin(poprt_trace *trace, const char *name_of_channel, const char *name,
    uint64_t now)
{
    span s = { .start_ns = now };
    size_t index = MISSED;
    PRT_TRY(find_channel(trace, name_of_channel, &s.channel));
    if (trace->spans.count < trace->most) {
        s.name = prt_arena_text(trace->arena, name, strlen(name));
        if (s.name == NULL || !PRT_VEC_PUSH(trace->arena, &trace->spans, s))
            return POPRT_E_NOMEM;
        index = trace->spans.count - 1;
    } else {
        trace->missed++;
    }
    return PRT_VEC_PUSH(trace->arena, &trace->channels.data[s.channel].open, index) ? POPRT_OK
                                                                                    : POPRT_E_NOMEM;
}

static poprt_status end(poprt_trace *trace, const char *name, uint64_t now)
{
    for (size_t i = 0; i < trace->channels.count; i++) {
        channel *c = &trace->channels.data[i];
        if (strcmp(c->name, name) != 0 || c->open.count == 0)
            continue;
        const size_t index = c->open.data[--c->open.count];
        if (index != MISSED)
            trace->spans.data[index].stop_ns = now;
        return POPRT_OK;
    }
    return prt_fail(POPRT_E_STATE, name, "the channel has no open span");
}

static poprt_status check_text(const char *parameter, const char *text)
{
    const size_t size = strlen(text);
    if (size == 0 || size > MOST_NAME)
        return prt_fail(POPRT_E_ARG, parameter, "must have 1 to %d bytes", MOST_NAME);
    return POPRT_OK;
}

poprt_status poprt_trace_begin(poprt_trace *trace, const char *name_of_channel, const char *name)
{
    if (trace == NULL)
        return POPRT_OK;
    PRT_REQUIRE(name_of_channel);
    PRT_REQUIRE(name);
    PRT_TRY(check_text("channel", name_of_channel));
    PRT_TRY(check_text("name", name));
    const uint64_t now = prt_clock_ns();
    lock(trace);
    const poprt_status status = begin(trace, name_of_channel, name, now);
    unlock(trace);
    return prt_fail_at_stage(status, "trace");
}

poprt_status poprt_trace_end(poprt_trace *trace, const char *name_of_channel)
{
    if (trace == NULL)
        return POPRT_OK;
    PRT_REQUIRE(name_of_channel);
    const uint64_t now = prt_clock_ns();
    lock(trace);
    const poprt_status status = end(trace, name_of_channel, now);
    unlock(trace);
    return prt_fail_at_stage(status, "trace");
}

size_t poprt_trace_count(poprt_trace *trace)
{
    if (trace == NULL)
        return 0;
    lock(trace);
    const size_t count = trace->spans.count;
    unlock(trace);
    return count;
}

size_t poprt_trace_missed(poprt_trace *trace)
{
    if (trace == NULL)
        return 0;
    lock(trace);
    const size_t missed = trace->missed;
    unlock(trace);
    return missed;
}

/* ---- writing */

/* Writes the name of a channel, which viewers show as that of a thread. */
static void put_channel(prt_json_out *json, const char *name, size_t index)
{
    prt_json_open(json, NULL, '{');
    prt_json_put_text(json, "name", PRT_STR("thread_name"));
    prt_json_put_text(json, "ph", PRT_STR("M"));
    prt_json_put_i64(json, "pid", 1);
    prt_json_put_i64(json, "tid", (int64_t)index + 1);
    prt_json_open(json, "args", '{');
    prt_json_put_text(json, "name", prt_str_of(name));
    prt_json_close(json, '}');
    prt_json_close(json, '}');
}

static void put_step_args(prt_json_out *json, const span *s)
{
    prt_json_open(json, "args", '{');
    prt_json_put_text(json, "operator", prt_str_of(s->op));
    if (s->form[0] != '\0')
        prt_json_put_text(json, "form", prt_str_of(s->form));
    if (s->location[0] != '\0')
        prt_json_put_text(json, "location", prt_str_of(s->location));
    prt_json_put_i64(json, "block", s->block);
    prt_json_put_i64(json, "step", s->step);
    prt_json_close(json, '}');
}

static void put_span(prt_json_out *json, const poprt_trace *trace, const span *s, uint64_t origin,
    uint64_t now)
{
    const uint64_t stop = s->stop_ns != 0 ? s->stop_ns : now;
    prt_json_open(json, NULL, '{');
    prt_json_put_text(json, "name", prt_str_of(s->name));
    prt_json_put_text(json, "cat",
        prt_str_of(s->op != NULL ? s->op : trace->channels.data[s->channel].name));
    prt_json_put_text(json, "ph", PRT_STR("X"));
    prt_json_put_f64(json, "ts", (double)(s->start_ns - origin) * 1e-3);
    prt_json_put_f64(json, "dur", (double)(stop - s->start_ns) * 1e-3);
    prt_json_put_i64(json, "pid", 1);
    prt_json_put_i64(json, "tid", (int64_t)s->channel + 1);
    if (s->op != NULL)
        put_step_args(json, s);
    prt_json_close(json, '}');
}

static poprt_status print(const poprt_trace *trace, prt_arena *arena, prt_str *out)
{
    prt_json_out json;
    const uint64_t now = prt_clock_ns();
    uint64_t origin = now;
    for (size_t i = 0; i < trace->spans.count; i++)
        if (trace->spans.data[i].start_ns < origin)
            origin = trace->spans.data[i].start_ns;
    prt_json_out_init(&json, arena, false);
    prt_json_open(&json, NULL, '{');
    prt_json_put_text(&json, "displayTimeUnit", PRT_STR("ns"));
    prt_json_open(&json, "traceEvents", '[');
    for (size_t i = 0; i < trace->channels.count; i++)
        put_channel(&json, trace->channels.data[i].name, i);
    for (size_t i = 0; i < trace->spans.count; i++)
        put_span(&json, trace, &trace->spans.data[i], origin, now);
    prt_json_close(&json, ']');
    prt_json_close(&json, '}');
    return prt_json_out_finish(&json, out);
}

poprt_status poprt_trace_write(poprt_trace *trace, poprt_write_fn write, void *user)
{
    prt_arena *arena = NULL;
    prt_str text;
    PRT_REQUIRE(trace);
    PRT_REQUIRE(write);
    PRT_TRY(prt_arena_create(&trace->env->allocator, 0, &arena));
    lock(trace);
    poprt_status status = print(trace, arena, &text);
    unlock(trace);
    if (status == POPRT_OK && write(user, text.data, text.size) != 0)
        status = prt_fail(POPRT_E_IO, NULL, "the caller's write function returned an error");
    prt_arena_release(arena);
    return prt_fail_at_stage(status, "trace");
}

poprt_status poprt_trace_write_file(poprt_trace *trace, const char *path)
{
    prt_file_writer *writer = NULL;
    PRT_REQUIRE(trace);
    PRT_REQUIRE(path);
    poprt_status status = prt_file_writer_create(&trace->env->allocator, path, &writer);
    if (status == POPRT_OK) {
        status = poprt_trace_write(trace, prt_file_writer_sink, writer);
        status = prt_file_writer_finish(writer, status);
    }
    return prt_fail_in_file(prt_fail_at_stage(status, "trace"), path);
}
