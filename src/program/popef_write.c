/* SPDX-License-Identifier: MIT */
/*
 * popef_write.c — writes a program as PopEF: METADATA, POPLAR_EXECUTABLE, then a DATA_TENSOR for
 * each weight. Layout of a blob (little-endian):
 *
 *     0   magic "POPEF-C\0"          24  type   28  header size 64
 *     8   version, 16 bytes          32  total size   40  content size
 *     48  flags   52  CRC-32C of the descriptor   56  zero
 *     64  u32 length of descriptor, descriptor (JSON), zeros, payload, zeros to a multiple of 8
 *
 * The payload is the last `payloadSize` bytes of the content (a field of the descriptor), and its
 * CRC-32C is the descriptor's `crc`. Tensor payloads begin at multiples of 64 in the file; payloads
 * of 1 MiB and more begin at multiples of 4096. A mapping can therefore be used in place.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/crc.h"
#include "program/codec.h"
#include "program/popef_emit.h"
#include "program/popef_weights.h"
#include "poprt/base.h"
#include "tensor/tensor.h"

/* Program indices of PopART, which say when an anchor is transferred. */
enum { WEIGHTS_FROM_HOST = 0, PROGRAM = 5, WEIGHTS_TO_HOST = 7 };

static void put_anchor(prt_json_out *j, const prt_dims *dims, prt_str name, const char *prefix,
    const char *type, const prt_type *info, int64_t program)
{
    char handle[512];
    (void)snprintf(handle, sizeof(handle), "%s%.400s", prefix, name.data);
    prt_json_open(j, NULL, '{');
    prt_json_put_text(j, "name", name);
    prt_json_put_text(j, "handle", prt_str_of(handle));
    prt_popef_put_tensor_info(j, dims, info);
    prt_json_put_bool(j, "isPerReplica", false);
    prt_json_put_text(j, "type", prt_str_of(type));
    prt_json_open(j, "programs", '[');
    prt_json_put_i64(j, NULL, program);
    prt_json_close(j, ']');
    prt_json_close(j, '}');
}

static void put_anchors(prt_json_out *j, const prt_program *p)
{
    prt_json_open(j, "anchors", '[');
    for (uint32_t i = 0; i < p->n_inputs; i++)
        put_anchor(j, p->dims, p->inputs[i].name, "h2d_", "INPUT", p->inputs[i].type, PROGRAM);
    for (uint32_t i = 0; i < p->n_outputs; i++)
        put_anchor(j, p->dims, p->outputs[i].name, "anchor_d2h_", "OUTPUT", p->outputs[i].type,
            PROGRAM);
    for (uint32_t i = 0; i < p->n_constants; i++) {
        const prt_constant *c = &p->constants[i];
        put_anchor(j, p->dims, c->name, "h2d_", "INPUT", c->type, WEIGHTS_FROM_HOST);
        put_anchor(j, p->dims, c->name, "weight_d2h_", "OUTPUT", c->type, WEIGHTS_TO_HOST);
    }
    prt_json_close(j, ']');
}

static void put_program_flow(prt_json_out *j)
{
    prt_json_open(j, "programFlow", '{');
    prt_json_open(j, "load", '[');
    prt_json_put_i64(j, NULL, WEIGHTS_FROM_HOST);
    prt_json_close(j, ']');
    prt_json_open(j, "main", '[');
    prt_json_put_i64(j, NULL, PROGRAM);
    prt_json_close(j, ']');
    prt_json_open(j, "save", '[');
    prt_json_close(j, ']');
    prt_json_close(j, '}');
    prt_json_open(j, "programsMap", '{');
    prt_json_put_text(j, "0", PRT_STR("WeightsFromHost"));
    prt_json_put_text(j, "5", PRT_STR("Program"));
    prt_json_put_text(j, "7", PRT_STR("WeightsToHost"));
    prt_json_close(j, '}');
}

static poprt_status write_metadata(prt_popef_writer *w, const prt_program *p, prt_str name)
{
    prt_json_out j;
    prt_json_out_init(&j, w->arena, false);
    prt_json_open(&j, NULL, '{');
    prt_json_put_text(&j, "executable", name);
    prt_json_put_text(&j, "libpoprt", PRT_STR(POPRT_VERSION_STRING));
    prt_json_put_i64(&j, "replicationFactor", 1);
    prt_json_put_i64(&j, "numIpus", 1);
    prt_json_put_i64(&j, "ipuVersion", 2);
    prt_json_put_bool(&j, "isPOD", false);
    prt_json_put_i64(&j, "numProcesses", 1);
    prt_json_put_bool(&j, "isInference", true);
    prt_json_put_text(&j, "seedHandle", PRT_STR(""));
    prt_json_open(&j, "engineOptions", '[');
    prt_json_close(&j, ']');
    prt_json_open(&j, "deviceOptions", '[');
    prt_json_close(&j, ']');
    prt_json_put_i64(&j, "deviceIterations", 1);
    if (p->n_graphs != 0)
        prt_json_put_i64(&j, "fusedModels", p->n_graphs);
    put_anchors(&j, p);
    put_program_flow(&j);
    prt_json_put_i64(&j, "payloadSize", 0);
    prt_json_put_i64(&j, "crc", 0);
    prt_json_close(&j, '}');
    prt_str text = { NULL, 0 };
    PRT_TRY(prt_json_out_finish(&j, &text));
    return prt_popef_emit_blob(w, PRT_POPEF_METADATA, 0, text, NULL, 0, 8);
}

static poprt_status write_executable(prt_popef_writer *w, const prt_program *p, prt_str name,
    const void *bytes, size_t size)
{
    prt_json_out j;
    prt_json_out_init(&j, w->arena, false);
    prt_json_open(&j, NULL, '{');
    prt_json_put_text(&j, "name", name);
    prt_json_put_bool(&j, "compressed", false);
    prt_popef_put_folded(&j, p);
    if (p->options.size != 0)
        prt_json_put_text(&j, "options", p->options);
    prt_json_put_i64(&j, "payloadSize", (int64_t)size);
    prt_json_put_i64(&j, "crc", prt_crc32c(0, bytes, size));
    prt_json_close(&j, '}');
    prt_str text = { NULL, 0 };
    PRT_TRY(prt_json_out_finish(&j, &text));
    return prt_popef_emit_blob(w, PRT_POPEF_EXECUTABLE, 0, text, bytes, size, 8);
}

/* Returns the bytes of a weight as stored: elements as in memory; strings as u32 length and
 * characters. */
static poprt_status payload_of(const prt_constant *c, prt_arena *arena, const void **bytes,
    size_t *size)
{
    *bytes = c->blob->data;
    *size = c->blob->size;
    if (c->type->dtype != PRT_DTYPE_string)
        return POPRT_OK;
    const poprt_string *strings = (const poprt_string *)(const void *)c->blob->data;
    const size_t n = c->blob->size / sizeof(poprt_string);
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (strings[i].size > UINT32_MAX || !prt_size_add(sum, 4 + strings[i].size, &sum))
            return prt_fail(POPRT_E_LIMIT, c->name.data, "strings are too long");
    unsigned char *to = prt_arena_alloc(arena, sum);
    if (to == NULL)
        return POPRT_E_NOMEM;
    *bytes = to;
    *size = sum;
    for (size_t i = 0; i < n; i++) {
        prt_popef_store(to, strings[i].size, 4);
        if (strings[i].size != 0)
            memcpy(to + 4, strings[i].data, strings[i].size);
        to += 4 + strings[i].size;
    }
    return POPRT_OK;
}

static poprt_status write_constant(prt_popef_writer *w, const prt_program *p, const prt_constant *c)
{
    const void *bytes = NULL;
    size_t size = 0;
    PRT_TRY(payload_of(c, w->arena, &bytes, &size));
    const uint32_t sum = prt_crc32c(0, bytes, size);
    const bool differs = c->sum_kind != PRT_SUM_COMPUTED && sum != c->sum;
    if (differs && c->sum_kind == PRT_SUM_FROM_FILE)
        return prt_fail(POPRT_E_PARSE, c->name.data,
            "the weight fails the checksum of the file it was read from, which is damaged; it is "
            "not written as if it were sound");
    prt_json_out j;
    prt_json_out_init(&j, w->arena, false);
    prt_json_open(&j, NULL, '{');
    prt_json_put_text(&j, "name", c->name);
    prt_popef_put_tensor_info(&j, p->dims, c->type);
    prt_popef_put_weights(&j, p, (uint32_t)(c - p->constants));
    prt_json_put_i64(&j, "payloadSize", (int64_t)size);
    prt_json_put_i64(&j, "crc", differs ? 0 : sum);
    prt_json_close(&j, '}');
    prt_str text = { NULL, 0 };
    PRT_TRY(prt_json_out_finish(&j, &text));
    return prt_popef_emit_blob(w, PRT_POPEF_TENSOR, differs ? PRT_POPEF_NO_CRC : 0, text, bytes,
        size, prt_popef_payload_align(size));
}

static poprt_status write_all(prt_popef_writer *w, const prt_program *p)
{
    const void *bytes = NULL;
    size_t size = 0;
    PRT_TRY(prt_program_encode(p, w->arena, &bytes, &size));
    char name[32];
    (void)snprintf(name, sizeof(name), "%" PRIu64, prt_hash(bytes, size, 0));
    const prt_str label = prt_str_of(name);
    PRT_TRY(write_metadata(w, p, label));
    PRT_TRY(write_executable(w, p, label, bytes, size));
    for (uint32_t i = 0; i < p->n_constants; i++)
        PRT_TRY(write_constant(w, p, &p->constants[i]));
    return POPRT_OK;
}

poprt_status prt_popef_write(const prt_program *program, poprt_write_fn write, void *user)
{
    prt_popef_writer w = { .write = write, .user = user };
    PRT_TRY(prt_arena_create(program->allocator, 0, &w.arena));
    const poprt_status status = write_all(&w, program);
    prt_arena_release(w.arena);
    return status;
}
