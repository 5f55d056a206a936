/* SPDX-License-Identifier: MIT */
/*
 * popef_read.c — reads a program from PopEF: the only executable of the file, its metadata, and its
 * weights as views of the mapping. Weights are not read here, so opening costs the same for any
 * size.
 */
#include "base/map.h"
#include "program/codec.h"
#include "program/popef.h"
#include "program/popef_weights.h"
#include "tensor/tensor.h"

static poprt_status find_executable(const prt_popef_index *index, const prt_popef_blob **out)
{
    const prt_popef_blob *found = NULL;
    for (uint32_t i = 0; i < index->count; i++) {
        if (index->blobs[i].type != PRT_POPEF_EXECUTABLE)
            continue;
        if (found != NULL)
            return prt_fail(POPRT_E_PARSE, index->blobs[i].name.data,
                "the file holds several executables; one is expected");
        found = &index->blobs[i];
    }
    if (found == NULL)
        return prt_fail(POPRT_E_PARSE, NULL, "the file holds no executable");
    if (found->name.size == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "the executable has no name");
    *out = found;
    return POPRT_OK;
}

/* Checks that exactly one metadata blob names the executable. A blob that was not read may be
 * it. */
static poprt_status find_metadata(const prt_popef_index *index, prt_str name)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < index->count; i++) {
        const prt_popef_blob *b = &index->blobs[i];
        prt_str link;
        if (b->type == PRT_POPEF_METADATA &&
            (b->descriptor == NULL ||
                (prt_json_text(prt_json_get(b->descriptor, "executable"), &link) &&
                    prt_str_equal(link, name))))
            found++;
    }
    if (found != 1)
        return prt_fail(POPRT_E_PARSE, name.data,
            "%u metadata blobs describe this executable; one is needed", found);
    return POPRT_OK;
}

/* Strings are stored as a u32 length and characters, and become poprt_string in memory. */
static poprt_status read_strings(prt_program *p, const unsigned char *at, uint64_t size,
    uint64_t count, prt_constant *c)
{
    PRT_TRY(prt_blob_create(p->allocator, (size_t)count * sizeof(poprt_string), &c->blob));
    poprt_string *strings = (poprt_string *)(void *)prt_blob_bytes(c->blob);
    for (uint64_t i = 0; i < count; i++) {
        if (size < 4)
            return prt_fail(POPRT_E_PARSE, c->name.data, "string payload is too short");
        const uint32_t n =
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        at += 4;
        size -= 4;
        if (n > size)
            return prt_fail(POPRT_E_PARSE, c->name.data, "string payload is too short");
        strings[i] = (poprt_string){ (const char *)at, n }; /* within the mapping */
        at += n;
        size -= n;
    }
    return size == 0 ? POPRT_OK
                     : prt_fail(POPRT_E_PARSE, c->name.data, "string payload is too long");
}

static poprt_status attach(prt_program *p, prt_blob *file, const prt_popef_blob *b, prt_constant *c)
{
    uint64_t count;
    size_t size;
    c->sum_kind = b->has_sum ? PRT_SUM_FROM_FILE : PRT_SUM_ABSENT;
    c->sum = b->sum;
    if (!prt_type_count(c->type, &count) || !prt_type_size(c->type, &size))
        return prt_fail(POPRT_E_PARSE, c->name.data, "weight has an impossible shape");
    if (c->type->dtype == PRT_DTYPE_string) {
        if (count > b->payload_size / 4)
            return prt_fail(POPRT_E_PARSE, c->name.data, "string payload is too short");
        return read_strings(p, file->data + b->payload, b->payload_size, count, c);
    }
    if (b->payload_size != size)
        return prt_fail(POPRT_E_PARSE, c->name.data,
            "weight has %llu bytes where its shape needs %zu", (unsigned long long)b->payload_size,
            size);
    return prt_blob_view(file, (size_t)b->payload, size, &c->blob);
}

static poprt_status attach_all(prt_program *p, prt_blob *file, const prt_popef_index *index,
    const prt_popef_blob *exec, prt_arena *scratch)
{
    prt_map by_name = prt_map_in(scratch);
    const prt_json **descriptors = PRT_NEW_N(scratch, const prt_json *, p->n_constants);
    if (descriptors == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < index->count; i++)
        if (index->blobs[i].type == PRT_POPEF_TENSOR && index->blobs[i].name.data != NULL) {
            if (prt_map_find(&by_name, index->blobs[i].name) != NULL)
                return prt_fail(POPRT_E_PARSE, index->blobs[i].name.data,
                    "two weights have this name");
            PRT_TRY(prt_map_set(&by_name, index->blobs[i].name, &index->blobs[i]));
        }
    for (uint32_t i = 0; i < p->n_constants; i++) {
        const prt_popef_blob *b = prt_map_find(&by_name, p->constants[i].name);
        if (b == NULL)
            return prt_fail(POPRT_E_PARSE, p->constants[i].name.data,
                "weight is missing from the file");
        PRT_TRY(attach(p, file, b, &p->constants[i]));
        descriptors[i] = b->descriptor;
    }
    return prt_popef_get_weights(p, exec->descriptor, descriptors);
}

static poprt_status read_program(prt_program *p, prt_blob *file, prt_popef_depth depth,
    prt_arena *scratch)
{
    prt_popef_index index = { 0 };
    const prt_popef_blob *exec = NULL;
    PRT_TRY(prt_popef_index_read(file, depth, scratch, &index));
    PRT_TRY(find_executable(&index, &exec));
    PRT_TRY(find_metadata(&index, exec->name));
    p->name =
        (prt_str){ prt_arena_text(p->arena, exec->name.data, exec->name.size), exec->name.size };
    if (p->name.data == NULL)
        return POPRT_E_NOMEM;
    if (prt_json_text(prt_json_get(exec->descriptor, "options"), &p->options))
        p->options.data = prt_arena_text(p->arena, p->options.data, p->options.size);
    if (p->options.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_program_decode(p, file->data + exec->payload, (size_t)exec->payload_size));
    PRT_TRY(attach_all(p, file, &index, exec, scratch));
    PRT_TRY(prt_program_check(p));
    prt_program_mark_inputs(p);
    return POPRT_OK;
}

poprt_status prt_popef_read(const prt_allocator *allocator, size_t limit, prt_blob *file,
    prt_popef_depth depth, const struct prt_op_set *ops, prt_program **out)
{
    prt_program *p = NULL;
    PRT_TRY(prt_program_create(allocator, limit, &p));
    p->ops = ops;
    p->file = prt_blob_retain(file);
    prt_arena *scratch = NULL;
    poprt_status status = prt_arena_create(allocator, limit, &scratch);
    if (status == POPRT_OK)
        status = read_program(p, file, depth, scratch);
    prt_arena_release(scratch);
    if (status != POPRT_OK) {
        prt_program_release(p);
        return prt_fail_at_stage(status, "open");
    }
    *out = p;
    return POPRT_OK;
}
