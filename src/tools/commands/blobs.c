/* SPDX-License-Identifier: MIT */
/* blobs.c — lists a PopEF file blob by blob. */
#include "tools/commands/blobs.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "program/popef.h"

/* Returns PopEF's name of a blob type. */
static const char *type_name(uint32_t type)
{
    static const char *const names[] = { "POPLAR_EXECUTABLE", "METADATA", "DATA_TENSOR",
        "DATA_FEED", "OPAQUE" };
    return type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

/* Prints the element type and shape of a tensor or feed from its descriptor. */
static void print_info(const prt_json *descriptor)
{
    const prt_json *info = prt_json_get(descriptor, "tensorInfo");
    const prt_json *shape = prt_json_get(info, "shape");
    prt_str dtype = { NULL, 0 };
    if (!prt_json_text(prt_json_get(info, "dataType"), &dtype))
        return;
    (void)printf("  %.*s[", PRT_STR_ARG(dtype));
    for (uint32_t i = 0; shape != NULL && i < shape->count; i++)
        (void)printf("%s%.0f", i != 0 ? "," : "", shape->items[i].number);
    (void)printf("]");
}

void prt_blobs_print_index(const prt_popef_index *index)
{
    (void)printf("%12s  %-17s  %-7s  %12s  name\n", "offset", "type", "version", "size");
    for (uint32_t i = 0; i < index->count; i++) {
        const prt_popef_blob *b = &index->blobs[i];
        prt_str name = b->name;
        if (b->type == PRT_POPEF_METADATA)
            (void)prt_json_text(prt_json_get(b->descriptor, "executable"), &name);
        (void)printf("%12" PRIu64 "  %-17s  %-7s  %12" PRIu64 "  %.*s", b->offset,
            type_name(b->type), b->version, b->size, PRT_STR_ARG(name));
        print_info(b->descriptor);
        (void)printf("\n");
    }
}

poprt_status prt_blobs_print(prt_tool *tool, const char *path, bool verify)
{
    prt_blob *file = NULL;
    prt_popef_index index = { 0 };
    PRT_TRY(prt_file_map(NULL, path, &file));
    const poprt_status status =
        prt_popef_index_read(file, verify ? PRT_POPEF_VERIFY : PRT_POPEF_LIST, tool->arena, &index);
    if (status == POPRT_OK)
        prt_blobs_print_index(&index);
    if (status == POPRT_OK && verify)
        (void)printf("%s: intact, the checksums of all %u blobs match\n", path, index.count);
    prt_blob_release(file);
    return prt_fail_in_file(status, path);
}
