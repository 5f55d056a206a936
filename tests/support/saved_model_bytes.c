/* SPDX-License-Identifier: MIT */
/* saved_model_bytes.c — writes SavedModels and checkpoints. */
#define _XOPEN_SOURCE 700
#include "support/saved_model_bytes.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/crc.h"
#include "tensorflow/sorted_table.h"
#include "tensorflow/wire.h"

enum { TF_FLOAT = 1, TF_STRING = 7, TF_INT64 = 9, MOST = 32 };

const char *saved_folder(void)
{
    char text[] = "/tmp/poprt-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(text));
    char *kept = kept_bytes(sizeof(text));
    memcpy(kept, text, sizeof(text));
    return kept;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

void saved_remove(const char *folder)
{
    ck_assert_int_eq(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void saved_write(const char *folder, const char *name, const void *data, size_t size)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* ---- meta graphs */

/* Reads the next word of a list, up to one of `ends`. Returns false at the end of the text. */
static bool next_word(const char **at, const char *ends, char out[128])
{
    *at += strspn(*at, " ,=");
    const size_t n = strcspn(*at, ends);
    ck_assert_uint_lt(n, 128);
    memcpy(out, *at, n);
    out[n] = '\0';
    *at += n;
    return n != 0;
}

msg *saved_meta(const char *graph, const char *tags)
{
    msg *info = msg_new(), *meta = msg_new();
    char tag[128];
    while (next_word(&tags, ", ", tag))
        (void)msg_text(info, PRT_TF_MetaInfo_tags, tag);
    (void)msg_msg(meta, PRT_TF_MetaGraph_meta_info_def, info);
    return msg_msg(meta, PRT_TF_MetaGraph_graph_def, graphdef_from_text(graph));
}

static void entry(msg *to, uint32_t field, const char *key, const msg *value)
{
    (void)msg_msg(to, field, msg_msg(msg_text(msg_new(), 1, key), 2, value));
}

static void ports(msg *signature, uint32_t field, const char *text)
{
    char key[128], tensor[128];
    while (next_word(&text, "=", key)) {
        ck_assert(next_word(&text, ", ", tensor));
        entry(signature, field, key, msg_text(msg_new(), PRT_TF_TensorInfo_name, tensor));
    }
}

void saved_signature(msg *meta, const char *name, const char *inputs, const char *outputs)
{
    msg *signature = msg_new();
    ports(signature, PRT_TF_Signature_inputs, inputs);
    ports(signature, PRT_TF_Signature_outputs, outputs);
    entry(meta, PRT_TF_MetaGraph_signature_def, name, signature);
}

void saved_restore(msg *meta, const char *node)
{
    (void)msg_msg(meta, PRT_TF_MetaGraph_saver_def,
        msg_text(msg_new(), PRT_TF_Saver_restore_op_name, node));
}

void saved_initialiser(msg *meta, const char *collection, const char *node)
{
    const msg *list = msg_text(msg_new(), PRT_TF_TextList_value, node);
    entry(meta, PRT_TF_MetaGraph_collection_def, collection,
        msg_msg(msg_new(), PRT_TF_Collection_node_list, list));
}

void saved_asset(msg *meta, const char *tensor, const char *file)
{
    msg *asset = msg_msg(msg_new(), PRT_TF_AssetFile_tensor_info,
        msg_text(msg_new(), PRT_TF_TensorInfo_name, tensor));
    (void)msg_msg(meta, PRT_TF_MetaGraph_asset_file_def,
        msg_text(asset, PRT_TF_AssetFile_filename, file));
}

void saved_model(const char *folder, const msg *meta, const msg *second)
{
    msg *model = msg_int(msg_new(), PRT_TF_SavedModel_schema_version, 1);
    (void)msg_msg(model, PRT_TF_SavedModel_meta_graphs, meta);
    if (second != NULL)
        (void)msg_msg(model, PRT_TF_SavedModel_meta_graphs, second);
    saved_write(folder, "saved_model.pb", model->data, model->size);
}

/* ---- checkpoints */

void saved_checkpoint(const char *folder, const char *prefix, const saved_tensor *tensors,
    size_t count)
{
    char name[128];
    table_item items[MOST] = { { PRT_STR(""), bundle_header(1, 0) } };
    msg *shard = msg_new();
    ck_assert_uint_lt(count, MOST);
    for (size_t i = 0; i < count; i++) {
        const saved_tensor *t = &tensors[i];
        const int64_t rows = t->columns != 0 ? (int64_t)t->count / t->columns : (int64_t)t->count;
        const int64_t dims[] = { rows, t->columns };
        const size_t start = shard->size;
        uint32_t crc = 0;
        if (t->texts != NULL) {
            const msg *texts = bundle_strings(t->texts, t->count, &crc);
            (void)msg_raw(shard, texts->data, texts->size);
        } else {
            (void)msg_raw(shard, t->ints != NULL ? (const void *)t->ints : (const void *)t->floats,
                t->count * (t->ints != NULL ? sizeof(int64_t) : sizeof(float)));
            crc = prt_masked_crc(prt_crc32c(0, shard->data + start, shard->size - start));
        }
        items[i + 1] = (table_item){ prt_str_of(t->key),
            bundle_entry(t->texts != NULL ? TF_STRING
                    : t->ints != NULL     ? TF_INT64
                                          : TF_FLOAT,
                t->scalar             ? 0
                    : t->columns != 0 ? 2
                                      : 1,
                dims, (int64_t)start, (int64_t)(shard->size - start), crc) };
    }
    const msg *index = table_bytes(items, count + 1, 4, false);
    (void)snprintf(name, sizeof(name), "%s.index", prefix);
    saved_write(folder, name, index->data, index->size);
    (void)snprintf(name, sizeof(name), "%s.data-00000-of-00001", prefix);
    saved_write(folder, name, shard->data, shard->size);
}

const char *full_error(void)
{
    static char text[2048];
    const poprt_error *e = prt_error_last();
    (void)snprintf(text, sizeof(text), "%s: %s: %s", e->file, e->subject, e->message);
    return text;
}
