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
#include "program/popef.h"
#include "poprt/base.h"
#include "tensor/tensor.h"

enum { FLAG_NO_CRC = 2 };
enum { HEADER_SIZE = 64, SMALL_ALIGN = 64, PAGE_ALIGN = 4096, PAGE_FROM = 1 << 20 };

typedef struct writer {
    poprt_write_fn write;
    void *user;
    prt_arena *arena;
    uint64_t at;
} writer;

static poprt_status emit(writer *w, const void *bytes, size_t size)
{
    if (size != 0 && w->write(w->user, bytes, size) != 0)
        return prt_fail(POPRT_E_IO, NULL, "the write function failed at byte %" PRIu64, w->at);
    w->at += size;
    return POPRT_OK;
}

static poprt_status emit_zeros(writer *w, size_t size)
{
    static const unsigned char zeros[256];
    for (; size > 0; size -= size < sizeof(zeros) ? size : sizeof(zeros))
        PRT_TRY(emit(w, zeros, size < sizeof(zeros) ? size : sizeof(zeros)));
    return POPRT_OK;
}

static void store(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static poprt_status emit_blob(writer *w, uint32_t type, uint32_t flags, prt_str descriptor,
    const void *payload, size_t size, size_t align)
{
    const uint64_t begin = w->at + HEADER_SIZE + 4 + descriptor.size;
    const uint64_t payload_at = (begin + align - 1) / align * align;
    const uint64_t content = payload_at - (w->at + HEADER_SIZE) + size;
    const uint64_t total = (HEADER_SIZE + content + 7) / 8 * 8;
    unsigned char header[HEADER_SIZE + 4] = "POPEF-C";
    (void)snprintf((char *)header + 8, 16, "1.0.0");
    store(header + 24, type, 4);
    store(header + 28, HEADER_SIZE, 4);
    store(header + 32, total, 8);
    store(header + 40, content, 8);
    store(header + 48, flags, 4);
    store(header + 52, prt_crc32c(0, descriptor.data, descriptor.size), 4);
    store(header + HEADER_SIZE, descriptor.size, 4);
    PRT_TRY(emit(w, header, sizeof(header)));
    PRT_TRY(emit(w, descriptor.data, descriptor.size));
    PRT_TRY(emit_zeros(w, (size_t)(payload_at - begin)));
    PRT_TRY(emit(w, payload, size));
    return emit_zeros(w, (size_t)(total - HEADER_SIZE - content));
}

/* In `shape`, a symbolic or unknown dimension is -1 and its text is in dimNames. */
static void put_tensor_info(prt_json_out *j, const prt_dims *dims, const prt_type *type)
{
    while (type != NULL && type->kind != PRT_VALUE_TENSOR)
        type = type->elem;
    prt_json_open(j, "tensorInfo", '{');
    prt_json_put_text(j, "dataType",
        prt_str_of(type != NULL ? prt_dtype_of(type->dtype)->popef : "UNKNOWN"));
    prt_json_open(j, "shape", '[');
    bool symbolic = false;
    for (int32_t i = 0; type != NULL && i < type->rank; i++) {
        const bool number = prt_dim_is_number(type->dims[i]);
        symbolic = symbolic || !number;
        prt_json_put_i64(j, NULL, number ? type->dims[i] : -1);
    }
    prt_json_close(j, ']');
    if (symbolic) {
        prt_json_open(j, "dimNames", '[');
        for (int32_t i = 0; i < type->rank; i++) {
            char text[256];
            prt_dim_print(dims, type->dims[i], text, sizeof(text));
            prt_json_put_text(j, NULL, prt_str_of(text));
        }
        prt_json_close(j, ']');
    }
    prt_json_close(j, '}');
}

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
    put_tensor_info(j, dims, info);
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

static poprt_status write_metadata(writer *w, const prt_program *p, prt_str name)
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
    return emit_blob(w, PRT_POPEF_METADATA, 0, text, NULL, 0, 8);
}

static poprt_status write_executable(writer *w, prt_str name, const void *bytes, size_t size)
{
    prt_json_out j;
    prt_json_out_init(&j, w->arena, false);
    prt_json_open(&j, NULL, '{');
    prt_json_put_text(&j, "name", name);
    prt_json_put_bool(&j, "compressed", false);
    prt_json_put_i64(&j, "payloadSize", (int64_t)size);
    prt_json_put_i64(&j, "crc", prt_crc32c(0, bytes, size));
    prt_json_close(&j, '}');
    prt_str text = { NULL, 0 };
    PRT_TRY(prt_json_out_finish(&j, &text));
    return emit_blob(w, PRT_POPEF_EXECUTABLE, 0, text, bytes, size, 8);
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
        store(to, strings[i].size, 4);
        if (strings[i].size != 0)
            memcpy(to + 4, strings[i].data, strings[i].size);
        to += 4 + strings[i].size;
    }
    return POPRT_OK;
}

static poprt_status write_constant(writer *w, const prt_program *p, const prt_constant *c)
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
    put_tensor_info(&j, p->dims, c->type);
    prt_json_put_i64(&j, "payloadSize", (int64_t)size);
    prt_json_put_i64(&j, "crc", differs ? 0 : sum);
    prt_json_close(&j, '}');
    prt_str text = { NULL, 0 };
    PRT_TRY(prt_json_out_finish(&j, &text));
    return emit_blob(w, PRT_POPEF_TENSOR, differs ? FLAG_NO_CRC : 0, text, bytes, size,
        size >= PAGE_FROM ? PAGE_ALIGN : SMALL_ALIGN);
}

static poprt_status write_all(writer *w, const prt_program *p)
{
    const void *bytes = NULL;
    size_t size = 0;
    PRT_TRY(prt_program_encode(p, w->arena, &bytes, &size));
    char name[32];
    (void)snprintf(name, sizeof(name), "%" PRIu64, prt_hash(bytes, size, 0));
    const prt_str label = prt_str_of(name);
    PRT_TRY(write_metadata(w, p, label));
    PRT_TRY(write_executable(w, label, bytes, size));
    for (uint32_t i = 0; i < p->n_constants; i++)
        PRT_TRY(write_constant(w, p, &p->constants[i]));
    return POPRT_OK;
}

poprt_status prt_popef_write(const prt_program *program, poprt_write_fn write, void *user)
{
    writer w = { .write = write, .user = user };
    PRT_TRY(prt_arena_create(program->allocator, 0, &w.arena));
    const poprt_status status = write_all(&w, program);
    prt_arena_release(w.arena);
    return status;
}
