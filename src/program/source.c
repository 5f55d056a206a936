/* SPDX-License-Identifier: MIT */
/* source.c — reads the stream; every length is checked against the bytes left. */
#include "program/source.h"

void prt_source_fail(prt_source *s, poprt_status status)
{
    if (s->status == POPRT_OK)
        s->status = status;
}

void prt_source_fail_damaged(prt_source *s, const char *what)
{
    if (s->status == POPRT_OK)
        s->status = prt_fail(POPRT_E_PARSE, NULL, "executable is damaged: %s", what);
}

const unsigned char *prt_source_read(prt_source *s, size_t size)
{
    if (s->status != POPRT_OK)
        return NULL;
    if (size > (size_t)(s->end - s->at)) {
        prt_source_fail_damaged(s, "the data ends too early");
        return NULL;
    }
    const unsigned char *p = s->at;
    s->at += size;
    return p;
}

uint64_t prt_get_u64(prt_source *s)
{
    const unsigned char *p = prt_source_read(s, 8);
    uint64_t v = 0;
    for (int i = 7; p != NULL && i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

uint32_t prt_get_u32(prt_source *s)
{
    const unsigned char *p = prt_source_read(s, 4);
    return p == NULL
        ? 0
        : (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

int64_t prt_get_i64(prt_source *s)
{
    return (int64_t)prt_get_u64(s);
}

float prt_get_f32(prt_source *s)
{
    const uint32_t bits = prt_get_u32(s);
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

uint32_t prt_get_count(prt_source *s, size_t least)
{
    const uint32_t n = prt_get_u32(s);
    if (s->status == POPRT_OK && n > (size_t)(s->end - s->at) / least) {
        prt_source_fail_damaged(s, "a count is larger than what follows");
        return 0;
    }
    return n;
}

prt_str prt_get_str(prt_source *s)
{
    const uint32_t n = prt_get_count(s, 1);
    const unsigned char *p = prt_source_read(s, n);
    if (p == NULL)
        return PRT_STR("");
    const char *text = prt_arena_text(s->arena, (const char *)p, n);
    if (text == NULL) {
        prt_source_fail(s, POPRT_E_NOMEM);
        return PRT_STR("");
    }
    return (prt_str){ text, n };
}

void *prt_get_array(prt_source *s, uint32_t count, size_t size)
{
    void *p = s->status == POPRT_OK ? prt_arena_alloc_n(s->arena, count, size) : NULL;
    if (p == NULL)
        prt_source_fail(s, POPRT_E_NOMEM);
    return p;
}

/* Reads a dim of a type: a non-negative number, unknown, or a known expression. */
static int64_t get_dim(prt_source *s)
{
    const int64_t d = prt_get_i64(s);
    if (prt_dim_is_number(d)
            ? d < 0
            : d != PRT_DIM_UNKNOWN && prt_dim_index(d) >= prt_dims_count(s->program->dims))
        prt_source_fail_damaged(s, "a dimension is neither a number nor a known expression");
    return d;
}

const prt_type *prt_get_type(prt_source *s)
{
    struct {
        int32_t kind, dtype;
    } wraps[PRT_MAX_TYPE_DEPTH];
    prt_types *types = s->program->types;
    const prt_type *type = NULL;
    uint32_t depth = 0;
    for (;;) {
        const int32_t kind = (int32_t)prt_get_u32(s), dtype = (int32_t)prt_get_u32(s);
        const int32_t rank = (int32_t)prt_get_u32(s);
        if (kind < PRT_VALUE_TENSOR || kind > PRT_VALUE_UNKNOWN || dtype < 0 ||
            dtype >= PRT_DTYPE_COUNT || rank < PRT_RANK_UNKNOWN || rank > PRT_MAX_RANK)
            prt_source_fail_damaged(s, "a type is none");
        int64_t dims[PRT_MAX_RANK] = { 0 };
        for (int32_t i = 0; s->status == POPRT_OK && i < rank; i++)
            dims[i] = get_dim(s);
        if (s->status != POPRT_OK)
            return NULL;
        if (kind == PRT_VALUE_TENSOR) {
            type = prt_type_tensor(types, dtype, rank, dims);
            break;
        }
        const bool more = prt_get_u32(s) != 0;
        if (!more) {
            type = prt_type_wrap(types, kind, dtype, NULL);
            break;
        }
        if (depth == PRT_MAX_TYPE_DEPTH) {
            prt_source_fail_damaged(s, "a type is nested too deep");
            return NULL;
        }
        wraps[depth].kind = kind;
        wraps[depth++].dtype = dtype;
    }
    while (type != NULL && depth > 0) {
        depth--;
        type = prt_type_wrap(types, wraps[depth].kind, wraps[depth].dtype, type);
    }
    if (type == NULL)
        prt_source_fail(s, POPRT_E_NOMEM);
    return type;
}
