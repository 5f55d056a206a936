/* SPDX-License-Identifier: MIT */
/* session_report.c — the tensors of a session, and its report: memory, largest tensors, times. */
#include "api/watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "describe/sink.h"
#include "op/op.h"
#include "runtime/inspect.h"

enum { LARGEST = 10, LABEL_WIDTH = 14, NAME_WIDTH = 28 };

static const char *const kinds[] = { [PRT_TENSOR_INPUT] = "input",
    [PRT_TENSOR_OUTPUT] = "output",
    [PRT_TENSOR_CONSTANT] = "constant",
    [PRT_TENSOR_VARIABLE] = "variable",
    [PRT_TENSOR_VALUE] = "value" };

static const char *const memory_kinds[] = { [PRT_MEMORY_planned] = "planned",
    [PRT_MEMORY_dynamic] = "dynamic",
    [PRT_MEMORY_scratch] = "scratch",
    [PRT_MEMORY_inputs] = "inputs",
    [PRT_MEMORY_outputs] = "outputs",
    [PRT_MEMORY_variables] = "variables",
    [PRT_MEMORY_weights] = "weights",
    [PRT_MEMORY_tables] = "tables" };

/* ---- tensors */

size_t poprt_session_tensor_count(const poprt_session *session)
{
    return session != NULL ? prt_session_tensor_count(session->session) : 0;
}

static void export_type(const prt_session_tensor *t, poprt_tensor_info *info)
{
    const prt_type *type = t->type;
    info->value_kind = type->kind >= PRT_VALUE_TENSOR && type->kind <= PRT_VALUE_MAP
        ? (int32_t)type->kind - (int32_t)PRT_VALUE_TENSOR + POPRT_VALUE_TENSOR
        : 0;
    while (type->kind != PRT_VALUE_TENSOR && type->elem != NULL)
        type = type->elem;
    info->dtype = type->dtype;
    if (!prt_type_is_tensor(t->type) || type->rank < 0 || type->rank > PRT_MAX_RANK)
        return;
    info->rank = type->rank;
    for (int32_t i = 0; i < type->rank; i++)
        info->dims[i] = t->dims[i] != PRT_DIM_UNKNOWN ? t->dims[i] : -1;
}

/* Finds a tensor, from the one that was asked for last if that is before it: usually its
 * predecessor. */
static bool find_tensor(poprt_session *session, size_t index, prt_session_tensor *out)
{
    if (index < session->next_tensor) {
        session->next_tensor = 0;
        session->tensor_place = (prt_tensor_place){ 0 };
    }
    while (prt_session_next_tensor(session->session, &session->tensor_place, out))
        if (session->next_tensor++ == index)
            return true;
    return false;
}

poprt_status poprt_session_tensor_at(poprt_session *session, size_t index, poprt_tensor_info *out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    PRT_TRY(prt_lock_session(session));
    prt_session_tensor t;
    const bool found = find_tensor(session, index, &t);
    prt_unlock_session(session);
    if (!found)
        return prt_fail(POPRT_E_NOT_FOUND, "index", "%zu is past the last tensor", index);
    poprt_tensor_info info = { .struct_size = sizeof(info),
        .name = t.name.data != NULL ? t.name.data : "",
        .kind = (int32_t)t.kind,
        .rank = -1,
        .size = t.size,
        .block = t.block };
    export_type(&t, &info);
    return prt_export(out, &info, sizeof(info), "out");
}

/* ---- what a report tells */

/* The times of all steps of an operator. Bodies of If, Loop and Scan count for their own
 * operators. */
typedef struct op_times {
    const char *op;
    uint64_t steps, calls, ns;
} op_times;

typedef struct report {
    poprt_session *session;
    const prt_program *p;
    prt_arena *arena;
    size_t memory[PRT_MEMORY_KINDS];
    prt_session_tensor largest[LARGEST];
    uint32_t n_largest;
    PRT_VEC(op_times *) ops; /* slowest first */
    uint64_t ns;             /* of all steps */
} report;

static void find_largest(report *r)
{
    const prt_session *s = r->session->session;
    prt_tensor_place place = { 0 };
    prt_session_tensor t;
    while (prt_session_next_tensor(s, &place, &t))
        prt_session_tensor_insert(r->largest, LARGEST, &r->n_largest, &t);
}

/* Returns the time of a step without the steps of its bodies. */
static uint64_t own_time(const report *r, uint32_t block, uint32_t index)
{
    const prt_step_profile *profile = r->session->profile;
    const prt_eval_params *params = &r->p->params[r->p->blocks[block].steps[index].params];
    uint64_t ns = prt_step_times_of(profile, block, index)->total;
    for (uint32_t i = 0; i < params->n_regions; i++) {
        const uint32_t body = params->regions[i];
        for (uint32_t k = 0; k < r->p->blocks[body].n_steps; k++) {
            const uint64_t inner = prt_step_times_of(profile, body, k)->total;
            ns -= inner < ns ? inner : ns;
        }
    }
    return ns;
}

static poprt_status add_step(report *r, prt_map *by_name, uint32_t block, uint32_t index)
{
    const prt_step_times *t = prt_step_times_of(r->session->profile, block, index);
    const char *op = r->p->params[r->p->blocks[block].steps[index].params].def->key;
    if (t->calls == 0)
        return POPRT_OK;
    op_times *o = prt_map_find(by_name, prt_str_of(op));
    if (o == NULL) {
        o = PRT_NEW(r->arena, op_times);
        if (o == NULL || !PRT_VEC_PUSH(r->arena, &r->ops, o))
            return POPRT_E_NOMEM;
        o->op = op;
        PRT_TRY(prt_map_set(by_name, prt_str_of(op), o));
    }
    const uint64_t ns = own_time(r, block, index);
    o->steps++;
    o->calls += t->calls;
    o->ns += ns;
    r->ns += ns;
    return POPRT_OK;
}

/* Sums the times by operator and sorts them. There are few operators. */
static poprt_status sum_times(report *r)
{
    prt_map by_name = prt_map_in(r->arena);
    for (uint32_t b = 0; r->session->profile != NULL && b < r->p->n_blocks; b++)
        for (uint32_t i = 0; i < r->p->blocks[b].n_steps; i++)
            PRT_TRY(add_step(r, &by_name, b, i));
    for (size_t i = 1; i < r->ops.count; i++) {
        op_times *const o = r->ops.data[i];
        size_t at = i;
        for (; at > 0 && r->ops.data[at - 1]->ns < o->ns; at--)
            r->ops.data[at] = r->ops.data[at - 1];
        r->ops.data[at] = o;
    }
    return POPRT_OK;
}

static double share_of(const report *r, uint64_t ns)
{
    return r->ns != 0 ? (double)ns / (double)r->ns : 0;
}

/* ---- for people */

static void print_number(prt_sink *sink, const char *label, int width, uint64_t number)
{
    prt_sink_print(sink, "%-*s ", width, label);
    prt_sink_count(sink, number);
    prt_sink_print(sink, "\n");
}

/* Prints thousandths without the locale's decimal point. */
static void print_thousandths(prt_sink *sink, uint64_t thousandths)
{
    prt_sink_count(sink, thousandths / 1000);
    prt_sink_print(sink, ".%03" PRIu64, thousandths % 1000);
}

static void print_times(const report *r, prt_sink *sink)
{
    const prt_step_profile *profile = r->session->profile;
    if (profile == NULL) {
        prt_sink_print(sink, "Execution profiling not enabled\n");
        return;
    }
    const uint64_t runs = profile->runs != 0 ? profile->runs : 1;
    print_number(sink, "profiled runs", LABEL_WIDTH, profile->runs);
    for (size_t i = 0; i < r->ops.count; i++) {
        const op_times *o = r->ops.data[i];
        prt_sink_print(sink, "  ");
        prt_sink_name(sink, prt_str_of(o->op), NAME_WIDTH);
        print_thousandths(sink, o->ns / runs);
        prt_sink_print(sink, " us a run, ");
        print_thousandths(sink, (uint64_t)(share_of(r, o->ns) * 1e5 + 0.5));
        prt_sink_print(sink, " %%, %" PRIu64 " steps\n", o->steps);
    }
}

static poprt_status print_summary(const report *r, prt_sink *sink)
{
    char type[PRT_SINK_LINE / 2];
    if (r->session->exec->file[0] != '\0')
        prt_sink_print(sink, "%-*s %s\n", LABEL_WIDTH, "file", r->session->exec->file);
    print_number(sink, "session bytes", LABEL_WIDTH, poprt_session_memory(r->session));
    for (uint32_t i = 0; i < PRT_MEMORY_KINDS; i++) {
        prt_sink_print(sink, "  ");
        print_number(sink, memory_kinds[i], NAME_WIDTH, r->memory[i]);
    }
    print_number(sink, "weight bytes", LABEL_WIDTH, prt_program_weight_bytes(r->p));
    prt_sink_print(sink, "largest tensors\n");
    for (uint32_t i = 0; i < r->n_largest; i++) {
        const prt_session_tensor *t = &r->largest[i];
        prt_type_print(r->p->dims, t->type, type, sizeof(type));
        prt_sink_print(sink, "  ");
        prt_sink_name(sink, t->name, NAME_WIDTH);
        prt_sink_print(sink, "%s %s, ", kinds[t->kind], type);
        prt_sink_count(sink, t->size);
        prt_sink_print(sink, " bytes\n");
    }
    print_times(r, sink);
    return prt_sink_finish(sink);
}

/* ---- JSON */

static void put_memory(const report *r, prt_json_out *json)
{
    prt_json_open(json, "memory", '{');
    prt_json_put_i64(json, "session", (int64_t)poprt_session_memory(r->session));
    for (uint32_t i = 0; i < PRT_MEMORY_KINDS; i++) {
        /* The handle is a table, too. */
        const size_t own = i == PRT_MEMORY_tables ? sizeof(*r->session) : 0;
        prt_json_put_i64(json, memory_kinds[i], (int64_t)(r->memory[i] + own));
    }
    prt_json_close(json, '}');
    prt_json_put_i64(json, "weight_bytes", (int64_t)prt_program_weight_bytes(r->p));
}

static void put_largest(const report *r, prt_json_out *json)
{
    char type[PRT_SINK_LINE / 2];
    prt_json_open(json, "largest_tensors", '[');
    for (uint32_t i = 0; i < r->n_largest; i++) {
        const prt_session_tensor *t = &r->largest[i];
        prt_type_print(r->p->dims, t->type, type, sizeof(type));
        prt_json_open(json, NULL, '{');
        prt_json_put_text(json, "name", t->name);
        prt_json_put_text(json, "kind", prt_str_of(kinds[t->kind]));
        prt_json_put_text(json, "type", prt_str_of(type));
        prt_json_put_i64(json, "bytes", (int64_t)t->size);
        prt_json_put_i64(json, "block", t->block);
        prt_json_close(json, '}');
    }
    prt_json_close(json, ']');
}

static poprt_status put_live_bytes(const report *r, prt_json_out *json)
{
    const uint32_t n = r->p->blocks[0].n_steps;
    uint64_t *bytes = PRT_NEW_N(r->arena, uint64_t, n);
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    prt_session_live_bytes(r->session->session, bytes);
    prt_json_open(json, "live_bytes", '[');
    for (uint32_t i = 0; i < n; i++)
        prt_json_put_i64(json, NULL, (int64_t)bytes[i]);
    prt_json_close(json, ']');
    return POPRT_OK;
}

static void put_step(const report *r, prt_json_out *json, uint32_t block, uint32_t index)
{
    const prt_step_times *t = prt_step_times_of(r->session->profile, block, index);
    const prt_eval_params *params = &r->p->params[r->p->blocks[block].steps[index].params];
    if (t->calls == 0)
        return;
    prt_json_open(json, NULL, '{');
    prt_json_put_i64(json, "block", block);
    prt_json_put_i64(json, "step", index);
    prt_json_put_text(json, "operator", prt_str_of(params->def->key));
    prt_json_put_text(json, "form", prt_program_op_variant(params));
    prt_json_put_text(json, "node", params->origin);
    prt_json_put_text(json, "location", params->location);
    prt_json_put_i64(json, "calls", (int64_t)t->calls);
    prt_json_put_i64(json, "ns", (int64_t)t->total);
    prt_json_put_i64(json, "own_ns", (int64_t)own_time(r, block, index));
    prt_json_put_i64(json, "least_ns", (int64_t)t->least);
    prt_json_put_i64(json, "most_ns", (int64_t)t->most);
    prt_json_close(json, '}');
}

static void put_profile(const report *r, prt_json_out *json)
{
    const prt_step_profile *profile = r->session->profile;
    prt_json_open(json, "profile", '{');
    prt_json_put_bool(json, "is_on", profile->on);
    prt_json_put_i64(json, "runs", (int64_t)profile->runs);
    prt_json_put_i64(json, "run_ns", (int64_t)profile->run_ns);
    prt_json_open(json, "operators", '[');
    for (size_t i = 0; i < r->ops.count; i++) {
        const op_times *o = r->ops.data[i];
        prt_json_open(json, NULL, '{');
        prt_json_put_text(json, "operator", prt_str_of(o->op));
        prt_json_put_i64(json, "steps", (int64_t)o->steps);
        prt_json_put_i64(json, "calls", (int64_t)o->calls);
        prt_json_put_i64(json, "ns", (int64_t)o->ns);
        prt_json_put_f64(json, "share", share_of(r, o->ns));
        prt_json_close(json, '}');
    }
    prt_json_close(json, ']');
    prt_json_open(json, "steps", '[');
    for (uint32_t b = 0; b < r->p->n_blocks; b++)
        for (uint32_t i = 0; i < r->p->blocks[b].n_steps; i++)
            put_step(r, json, b, i);
    prt_json_close(json, ']');
    prt_json_close(json, '}');
}

static poprt_status print_json(const report *r, prt_sink *sink)
{
    prt_json_out json;
    prt_str text;
    prt_json_out_init(&json, r->arena, true);
    prt_json_open(&json, NULL, '{');
    prt_json_put_text(&json, "kind", PRT_STR("session"));
    prt_json_put_text(&json, "version", PRT_STR(POPRT_VERSION_STRING));
    prt_json_put_text(&json, "file", prt_str_of(r->session->exec->file));
    put_memory(r, &json);
    put_largest(r, &json);
    PRT_TRY(put_live_bytes(r, &json));
    if (r->session->profile != NULL)
        put_profile(r, &json);
    prt_json_close(&json, '}');
    PRT_TRY(prt_json_out_finish(&json, &text));
    prt_sink_str(sink, text);
    prt_sink_print(sink, "\n");
    return prt_sink_finish(sink);
}

static poprt_status write_report(report *r, bool json, prt_sink *sink)
{
    prt_session_memory_by_kind(r->session->session, r->memory);
    find_largest(r);
    PRT_TRY(sum_times(r));
    return json ? print_json(r, sink) : print_summary(r, sink);
}

poprt_status poprt_session_report(poprt_session *session, int32_t format, poprt_write_fn write,
    void *user)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(write);
    if (format != POPRT_FORMAT_SUMMARY && format != POPRT_FORMAT_JSON)
        return prt_fail(POPRT_E_ARG, "format",
            "%d is neither POPRT_FORMAT_SUMMARY nor POPRT_FORMAT_JSON", format);
    PRT_TRY(prt_lock_session(session));
    report r = { .session = session, .p = session->exec->program };
    prt_sink sink;
    prt_sink_init(&sink, write, user);
    poprt_status status = prt_arena_create(&session->env->allocator, 0, &r.arena);
    if (status == POPRT_OK)
        status = write_report(&r, format == POPRT_FORMAT_JSON, &sink);
    prt_arena_release(r.arena);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "report");
}
