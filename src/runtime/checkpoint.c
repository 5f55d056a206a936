/* SPDX-License-Identifier: MIT */
/*
 * checkpoint.c — the variables of a session as a PopEF file without an executable: METADATA with
 * the counters of training, then a DATA_TENSOR for each weight, state and statistic (of every
 * replica), and, as float64, for each scalar.
 *
 * A file is checked as a whole before it changes anything: every checksum, every name and type, and
 * the optimizer that it belongs to.
 */
#include <stdio.h>

#include "base/crc.h"
#include "base/map.h"
#include "poprt/base.h"
#include "program/popef_emit.h"
#include "runtime/flow_run.h"

/* Accumulators and gradients hold nothing between runs. */
static bool is_saved(const prt_variable *v)
{
    return v->role != PRT_VARIABLE_accumulator && v->role != PRT_VARIABLE_gradient;
}

static uint32_t copies_of(const prt_session *s, uint32_t variable)
{
    return prt_store_is_per_replica(s->store, variable) ? prt_store_replicas(s->store) : 1;
}

/* ---- writing */

static poprt_status write_metadata(prt_popef_writer *w, const prt_session *s)
{
    prt_json_out j;
    prt_str text = { NULL, 0 };
    prt_json_out_init(&j, w->arena, false);
    prt_json_open(&j, NULL, '{');
    prt_json_put_text(&j, "libpoprt", PRT_STR(POPRT_VERSION_STRING));
    prt_json_put_bool(&j, "checkpoint", true);
    prt_json_put_text(&j, "optimizer", s->program->optimizer);
    prt_json_put_i64(&j, "updates", (int64_t)s->update_count);
    prt_json_put_i64(&j, "microBatches", (int64_t)s->micro_batches);
    prt_json_put_i64(&j, "seed", (int64_t)s->seed);
    prt_json_put_i64(&j, "payloadSize", 0);
    prt_json_put_i64(&j, "crc", 0);
    prt_json_close(&j, '}');
    PRT_TRY(prt_json_out_finish(&j, &text));
    return prt_popef_emit_blob(w, PRT_POPEF_METADATA, 0, text, NULL, 0, 8);
}

static poprt_status write_variable(prt_popef_writer *w, const prt_session *s, uint32_t i,
    uint32_t replica)
{
    const prt_variable *v = &s->program->variables[i];
    const bool scalar = v->role == PRT_VARIABLE_scalar;
    const void *data =
        scalar ? (const void *)&s->scalars[i] : prt_store_current(s->store, i, replica);
    const size_t size = scalar ? sizeof(double) : prt_store_size(s->store, i);
    const prt_type number = { .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_f64, .rank = 0 };
    prt_json_out j;
    prt_str text = { NULL, 0 };
    prt_json_out_init(&j, w->arena, false);
    prt_json_open(&j, NULL, '{');
    prt_json_put_text(&j, "name", v->name);
    prt_json_put_i64(&j, "replica", replica);
    prt_popef_put_tensor_info(&j, s->program->dims, scalar ? &number : v->type);
    prt_json_put_i64(&j, "payloadSize", (int64_t)size);
    prt_json_put_i64(&j, "crc", prt_crc32c(0, data, size));
    prt_json_close(&j, '}');
    PRT_TRY(prt_json_out_finish(&j, &text));
    return prt_popef_emit_blob(w, PRT_POPEF_TENSOR, 0, text, data, size,
        prt_popef_payload_align(size));
}

static poprt_status write_all(prt_popef_writer *w, const prt_session *s)
{
    PRT_TRY(write_metadata(w, s));
    for (uint32_t i = 0; i < s->program->n_variables; i++)
        for (uint32_t r = 0; is_saved(&s->program->variables[i]) && r < copies_of(s, i); r++)
            PRT_TRY(write_variable(w, s, i, r));
    return POPRT_OK;
}

/* Writes a file whose blobs `all` writes. */
static poprt_status write_file(prt_session *s, poprt_write_fn write, void *user,
    poprt_status (*all)(prt_popef_writer *w, const prt_session *s))
{
    prt_popef_writer w = { .write = write, .user = user };
    PRT_TRY(prt_session_check_contents(s));
    PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &w.arena));
    const poprt_status status = all(&w, s);
    prt_arena_release(w.arena);
    return status;
}

poprt_status prt_session_write_checkpoint(prt_session *s, poprt_write_fn write, void *user)
{
    return write_file(s, write, user, write_all);
}

/* ---- reading */

typedef struct reader {
    prt_session *s;
    const prt_blob *file;
    prt_popef_index index;
    prt_map by_name; /* name and replica -> blob */
    prt_arena *arena;
    int64_t updates, micro_batches, seed;
} reader;

static poprt_status key_of(reader *r, prt_str name, int64_t replica, prt_str *out)
{
    const size_t size = (size_t)name.size + 32;
    char *text = prt_arena_alloc(r->arena, size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    const int n = snprintf(text, size, "%lld %.*s", (long long)replica, PRT_STR_ARG(name));
    *out = (prt_str){ text, n > 0 ? (uint32_t)n : 0 };
    return POPRT_OK;
}

static poprt_status read_metadata(reader *r)
{
    const prt_json *found = NULL;
    prt_str optimizer = PRT_STR("");
    bool is_checkpoint = false;
    for (uint32_t i = 0; i < r->index.count; i++)
        if (r->index.blobs[i].type == PRT_POPEF_METADATA)
            found = r->index.blobs[i].descriptor;
    if (found == NULL || !prt_json_bool(prt_json_get(found, "checkpoint"), &is_checkpoint) ||
        !is_checkpoint)
        return prt_fail(POPRT_E_PARSE, NULL, "this PopEF file is not a checkpoint");
    if (!prt_json_text(prt_json_get(found, "optimizer"), &optimizer) ||
        !prt_json_i64(prt_json_get(found, "updates"), &r->updates) ||
        !prt_json_i64(prt_json_get(found, "microBatches"), &r->micro_batches) ||
        !prt_json_i64(prt_json_get(found, "seed"), &r->seed) || r->updates < 0 ||
        r->micro_batches < 0)
        return prt_fail(POPRT_E_PARSE, NULL, "the checkpoint does not state its counters");
    if (!prt_str_equal(optimizer, r->s->program->optimizer))
        return prt_fail(POPRT_E_ARG, NULL,
            "the checkpoint belongs to another optimizer: its kind, settings, constant values or "
            "clipping differ from those of the executable");
    return POPRT_OK;
}

static poprt_status list_tensors(reader *r)
{
    for (uint32_t i = 0; i < r->index.count; i++) {
        const prt_popef_blob *b = &r->index.blobs[i];
        int64_t replica = 0;
        prt_str key;
        if (b->type != PRT_POPEF_TENSOR)
            continue;
        (void)prt_json_i64(prt_json_get(b->descriptor, "replica"), &replica);
        PRT_TRY(key_of(r, b->name, replica, &key));
        if (prt_map_find(&r->by_name, key) != NULL)
            return prt_fail(POPRT_E_PARSE, b->name.data, "the checkpoint has this tensor twice");
        PRT_TRY(prt_map_set(&r->by_name, key, (void *)(uintptr_t)b));
    }
    return POPRT_OK;
}

/* Returns whether the descriptor of a blob states this type. */
static bool has_type(const prt_popef_blob *b, int32_t dtype, int32_t rank, const int64_t *dims)
{
    const prt_json *info = prt_json_get(b->descriptor, "tensorInfo");
    const prt_json *shape = prt_json_get(info, "shape");
    prt_str name;
    if (!prt_json_text(prt_json_get(info, "dataType"), &name) ||
        !prt_str_is(name, prt_dtype_of(dtype)->popef) || shape == NULL ||
        shape->kind != PRT_JSON_ARRAY || shape->count != (uint32_t)rank)
        return false;
    for (int32_t i = 0; i < rank; i++) {
        int64_t dim = -1;
        if (!prt_json_i64(&shape->items[i], &dim) || dim != dims[i])
            return false;
    }
    return true;
}

/* Returns the bytes of a variable in the file. A tensor of another replica count is not there: then
 * those of replica 0 are returned. */
static poprt_status find(reader *r, uint32_t i, uint32_t replica, const void **out)
{
    const prt_variable *v = &r->s->program->variables[i];
    const bool scalar = v->role == PRT_VARIABLE_scalar;
    const size_t size = scalar ? sizeof(double) : prt_store_size(r->s->store, i);
    prt_str key;
    PRT_TRY(key_of(r, v->name, replica, &key));
    const prt_popef_blob *b = prt_map_find(&r->by_name, key);
    if (b == NULL && replica != 0) {
        PRT_TRY(key_of(r, v->name, 0, &key));
        b = prt_map_find(&r->by_name, key);
    }
    if (b == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, v->name.data,
            "the checkpoint does not have this tensor: it is of another model");
    if (b->payload_size != size ||
        !(scalar ? has_type(b, PRT_DTYPE_f64, 0, NULL)
                 : has_type(b, v->type->dtype, v->type->rank, v->type->dims)))
        return prt_fail(POPRT_E_SHAPE, v->name.data,
            "this tensor has another type or shape in the checkpoint: it is of another model");
    *out = r->file->data + b->payload;
    return POPRT_OK;
}

static poprt_status visit(reader *r, bool writes)
{
    prt_session *s = r->s;
    for (uint32_t i = 0; i < s->program->n_variables; i++) {
        const prt_variable *v = &s->program->variables[i];
        const void *from = NULL;
        for (uint32_t k = 0; is_saved(v) && k < copies_of(s, i); k++) {
            PRT_TRY(find(r, i, k, &from));
            if (writes && v->role == PRT_VARIABLE_scalar)
                memcpy(&s->scalars[i], from, sizeof(double));
            else if (writes && prt_store_size(s->store, i) != 0)
                memcpy(prt_store_current(s->store, i, k), from, prt_store_size(s->store, i));
            if (writes)
                prt_session_note_contents(s, i);
        }
    }
    return POPRT_OK;
}

static poprt_status read_all(reader *r)
{
    prt_session *s = r->s;
    r->by_name = prt_map_in(r->arena);
    PRT_TRY(prt_popef_index_read(r->file, PRT_POPEF_SEALED, r->arena, &r->index));
    PRT_TRY(read_metadata(r));
    PRT_TRY(list_tensors(r));
    PRT_TRY(visit(r, false));
    PRT_TRY(visit(r, true));
    s->update_count = (uint64_t)r->updates;
    s->micro_batches = (uint64_t)r->micro_batches;
    s->seed = s->run_seed = (uint64_t)r->seed;
    for (uint32_t i = 0; i < s->program->n_variables; i++)
        if (s->program->variables[i].role == PRT_VARIABLE_scalar)
            prt_store_f64(s->program->variables[i].type->dtype, prt_store_current(s->store, i, 0),
                0, s->scalars[i]);
    prt_session_scale_scalars(s);
    return POPRT_OK;
}

/* Reads a file by `all`. */
static poprt_status read_file(prt_session *s, const prt_blob *file, poprt_status (*all)(reader *r))
{
    reader r = { .s = s, .file = file };
    PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &r.arena));
    const poprt_status status = all(&r);
    prt_arena_release(r.arena);
    return status;
}

poprt_status prt_session_read_checkpoint(prt_session *s, const prt_blob *file)
{
    return read_file(s, file, read_all);
}

/* ---- files of variables alone */

static poprt_status write_variables(prt_popef_writer *w, const prt_session *s)
{
    for (uint32_t i = 0; i < s->program->n_variables; i++) {
        const prt_variable *v = &s->program->variables[i];
        if (is_saved(v) && v->role != PRT_VARIABLE_scalar)
            PRT_TRY(write_variable(w, s, i, 0));
    }
    return POPRT_OK;
}

poprt_status prt_session_write_variables(prt_session *s, poprt_write_fn write, void *user)
{
    return write_file(s, write, user, write_variables);
}

/* Returns the variable of a tensor blob. */
static poprt_status variable_of(const reader *r, const prt_popef_blob *b, const prt_variable **out)
{
    const prt_variable *v = prt_map_find(&r->by_name, b->name);
    size_t size;
    if (v == NULL || !is_saved(v) || v->role == PRT_VARIABLE_scalar)
        return prt_fail(POPRT_E_NOT_FOUND, b->name.data,
            "the executable has no weight, statistic or state of this name");
    if (!prt_type_size(v->type, &size) || size != b->payload_size ||
        !has_type(b, v->type->dtype, v->type->rank, v->type->dims))
        return prt_fail(POPRT_E_SHAPE, v->name.data,
            "this tensor has another type or shape in the file");
    *out = v;
    return POPRT_OK;
}

static poprt_status read_variables(reader *r)
{
    const prt_program *p = r->s->program;
    const prt_variable *v = NULL;
    uint32_t tensors = 0;
    r->by_name = prt_map_in(r->arena);
    PRT_TRY(prt_popef_index_read(r->file, PRT_POPEF_SEALED, r->arena, &r->index));
    for (uint32_t i = 0; i < p->n_variables; i++)
        PRT_TRY(
            prt_map_set(&r->by_name, p->variables[i].name, (void *)(uintptr_t)&p->variables[i]));
    for (uint32_t i = 0; i < r->index.count; i++)
        if (r->index.blobs[i].type == PRT_POPEF_TENSOR) {
            PRT_TRY(variable_of(r, &r->index.blobs[i], &v));
            tensors++;
        }
    if (tensors == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "the file has no tensors");
    for (uint32_t i = 0; i < r->index.count; i++) {
        const prt_popef_blob *b = &r->index.blobs[i];
        prt_tensor from;
        if (b->type != PRT_POPEF_TENSOR)
            continue;
        PRT_TRY(variable_of(r, b, &v));
        if (!prt_tensor_init(&from, v->type->dtype, (uint32_t)v->type->rank, v->type->dims,
                (void *)(uintptr_t)(r->file->data + b->payload)))
            return prt_fail(POPRT_E_INTERNAL, v->name.data, "variable has an impossible shape");
        PRT_TRY(prt_session_set_weight(r->s, v->name, &from));
    }
    return POPRT_OK;
}

poprt_status prt_session_read_variables(prt_session *s, const prt_blob *file)
{
    return read_file(s, file, read_variables);
}

/* ---- counters */

void prt_session_progress(const prt_session *s, prt_session_counters *out)
{
    *out = (prt_session_counters){ s->update_count, s->micro_batches, s->seed };
}

void prt_session_set_seed(prt_session *s, uint64_t seed, uint64_t micro_batches)
{
    s->seed = s->run_seed = seed;
    s->micro_batches = micro_batches;
    s->random_calls = 0;
}
