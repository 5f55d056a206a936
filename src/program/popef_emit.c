/* SPDX-License-Identifier: MIT */
/* popef_emit.c — writes blobs of PopEF files; the layout is described in popef_write.c. */
#include "program/popef_emit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/crc.h"
#include "poprt/base.h"

enum { HEADER_SIZE = 64, SMALL_ALIGN = 64, PAGE_ALIGN = 4096, PAGE_FROM = 1 << 20 };

static poprt_status emit(prt_popef_writer *w, const void *bytes, size_t size)
{
    if (size != 0 && w->write(w->user, bytes, size) != 0)
        return prt_fail(POPRT_E_IO, NULL, "the write function failed at byte %" PRIu64, w->at);
    w->at += size;
    return POPRT_OK;
}

static poprt_status emit_zeros(prt_popef_writer *w, size_t size)
{
    static const unsigned char zeros[256];
    for (; size > 0; size -= size < sizeof(zeros) ? size : sizeof(zeros))
        PRT_TRY(emit(w, zeros, size < sizeof(zeros) ? size : sizeof(zeros)));
    return POPRT_OK;
}

void prt_popef_store(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

poprt_status prt_popef_emit_blob(prt_popef_writer *w, uint32_t type, uint32_t flags,
    prt_str descriptor, const void *payload, size_t size, size_t align)
{
    const uint64_t begin = w->at + HEADER_SIZE + 4 + descriptor.size;
    const uint64_t payload_at = (begin + align - 1) / align * align;
    const uint64_t content = payload_at - (w->at + HEADER_SIZE) + size;
    const uint64_t total = (HEADER_SIZE + content + 7) / 8 * 8;
    unsigned char header[HEADER_SIZE + 4] = "POPEF-C";
    (void)snprintf((char *)header + 8, 16, "1.0.0");
    prt_popef_store(header + 24, type, 4);
    prt_popef_store(header + 28, HEADER_SIZE, 4);
    prt_popef_store(header + 32, total, 8);
    prt_popef_store(header + 40, content, 8);
    prt_popef_store(header + 48, flags, 4);
    prt_popef_store(header + 52, prt_crc32c(0, descriptor.data, descriptor.size), 4);
    prt_popef_store(header + HEADER_SIZE, descriptor.size, 4);
    PRT_TRY(emit(w, header, sizeof(header)));
    PRT_TRY(emit(w, descriptor.data, descriptor.size));
    PRT_TRY(emit_zeros(w, (size_t)(payload_at - begin)));
    PRT_TRY(emit(w, payload, size));
    return emit_zeros(w, (size_t)(total - HEADER_SIZE - content));
}

/* In `shape`, a symbolic or unknown dimension is -1 and its text is in dimNames. */
void prt_popef_put_tensor_info(prt_json_out *j, const prt_dims *dims, const prt_type *type)
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

size_t prt_popef_payload_align(size_t size)
{
    return size >= PAGE_FROM ? PAGE_ALIGN : SMALL_ALIGN;
}
