/* SPDX-License-Identifier: MIT */
/* external.c — writes weights to a data file before the model is written. */
#include "base/file.h"
#include "builder/builder.h"
#include "converter/onnx_write.h"

static poprt_status check(const poprt_builder *b, uint32_t count, const poprt_id *ids)
{
    prt_built_tensor *t = NULL;
    for (uint32_t i = 0; i < count; i++) {
        PRT_TRY(prt_builder_tensor(b, ids[i], "tensors", &t));
        if (t->contents.blob == NULL || t->contents.dtype == PRT_DTYPE_string)
            return prt_fail(POPRT_E_ARG, t->name.data,
                "a data file holds weights and constants, except for strings");
        for (uint32_t k = 0; k < i; k++)
            if (ids[k] == ids[i])
                return prt_fail(POPRT_E_ARG, t->name.data, "the tensor is given twice");
    }
    return POPRT_OK;
}

/* Writes the contents at aligned offsets, and the offsets to `offsets`. */
static poprt_status write(prt_root *root, uint32_t count, const poprt_id *ids,
    prt_file_writer *file, uint64_t *offsets)
{
    static const unsigned char zeros[PRT_ONNX_EXTERNAL_ALIGN];
    uint64_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        const prt_blob *blob = root->tensors.data[ids[i] - 1].contents.blob;
        const uint64_t pad = (0 - size) % PRT_ONNX_EXTERNAL_ALIGN;
        PRT_TRY(prt_file_writer_write(file, zeros, (size_t)pad));
        PRT_TRY(prt_file_writer_write(file, blob->data, blob->size));
        offsets[i] = size + pad;
        size += pad + blob->size;
    }
    return POPRT_OK;
}

poprt_status prt_builder_save_externally(poprt_builder *b, uint32_t count, const poprt_id *ids,
    const char *path)
{
    prt_root *root = b->root;
    prt_file_writer *file = NULL;
    const char *slash = strrchr(path, '/');
    const prt_str location = prt_root_text(root, prt_str_of(slash != NULL ? slash + 1 : path));
    uint64_t *offsets = PRT_NEW_N(root->arena, uint64_t, count);
    if (location.data == NULL || offsets == NULL)
        return POPRT_E_NOMEM;
    if (location.size == 0)
        return prt_fail(POPRT_E_ARG, "path", "'%s' does not name a file", path);
    PRT_TRY(check(b, count, ids));
    PRT_TRY(prt_file_writer_create(root->allocator, path, &file));
    PRT_TRY(prt_file_writer_finish(file, write(root, count, ids, file, offsets)));
    for (uint32_t i = 0; i < count; i++) {
        prt_onnx_given *c = &root->tensors.data[ids[i] - 1].contents;
        c->location = location;
        c->offset = offsets[i];
    }
    return POPRT_OK;
}
