/* SPDX-License-Identifier: MIT */
/* popef.c — `poprt popef dump`: everything in a PopEF file but the bytes of its payloads. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "program/popef.h"
#include "tools/commands.h"
#include "tools/commands/blobs.h"

enum { OPT_HELP, OPT_COUNT };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
};

static int command_popef(int argc, char **argv);

const prt_opt_command prt_popef_command = { .name = "poprt popef",
    .run = command_popef,
    .args = "dump FILE",
    .brief = "list the blobs, metadata, anchors and feeds of a PopEF file",
    .summary =
        "Lists the blobs, the metadata, the anchors, the feeds and the rearranged weights of a "
        "PopEF file.",
    .more = "The file may also be a checkpoint or have variables alone.",
    .examples = "  poprt popef dump executable.popef\n",
    .options = options,
    .n_options = OPT_COUNT,
    .min_args = 2,
    .max_args = 2 };

/* ---- values of JSON; control characters in texts become '?' */

static void print_text(prt_str text)
{
    for (uint32_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        (void)putchar(c < 0x20 || c == 0x7f ? '?' : c);
    }
}

static void print_value(const prt_json *v)
{
    int64_t number;
    const bool list = v->kind == PRT_JSON_ARRAY;
    if (v->kind == PRT_JSON_ARRAY || v->kind == PRT_JSON_OBJECT) {
        (void)putchar(list ? '[' : '{');
        for (uint32_t i = 0; i < v->count; i++) {
            (void)printf("%s", i != 0 ? ", " : "");
            if (!list) {
                print_text(v->items[i].key);
                (void)printf(": ");
            }
            print_value(&v->items[i]);
        }
        (void)putchar(list ? ']' : '}');
    } else if (v->kind == PRT_JSON_BOOL) {
        (void)printf("%s", v->number != 0 ? "true" : "false");
    } else if (prt_json_i64(v, &number)) {
        (void)printf("%lld", (long long)number);
    } else if (v->kind == PRT_JSON_NUMBER) {
        (void)printf("%g", v->number);
    } else {
        print_text(v->text);
    }
}

/* Prints a member of an object, if it is there. */
static void print_member(const prt_json *object, const char *key, const char *between)
{
    const prt_json *v = prt_json_get(object, key);
    if (v == NULL)
        return;
    (void)printf("%s", between);
    print_value(v);
}

static void print_type(const prt_json *object)
{
    const prt_json *info = prt_json_get(object, "tensorInfo");
    print_member(info, "dataType", "  ");
    print_member(info, "shape", " ");
}

/* ---- sections */

static void print_metadata(const prt_json *d)
{
    (void)printf("\nmetadata\n");
    for (uint32_t i = 0; d->kind == PRT_JSON_OBJECT && i < d->count; i++) {
        const prt_json *v = &d->items[i];
        if (prt_str_is(v->key, "anchors") || prt_str_is(v->key, "payloadSize") ||
            prt_str_is(v->key, "crc"))
            continue;
        (void)printf("  ");
        print_text(v->key);
        (void)printf("  ");
        print_value(v);
        (void)putchar('\n');
    }
    const prt_json *anchors = prt_json_get(d, "anchors");
    if (anchors == NULL || anchors->kind != PRT_JSON_ARRAY)
        return;
    (void)printf("\nanchors\n");
    for (uint32_t i = 0; i < anchors->count; i++) {
        print_member(&anchors->items[i], "type", "  ");
        print_member(&anchors->items[i], "name", "  ");
        print_type(&anchors->items[i]);
        print_member(&anchors->items[i], "programs", "  programs ");
        print_member(&anchors->items[i], "handle", "  ");
        (void)putchar('\n');
    }
}

/* Prints the blobs of a type as a section: feeds, opaque blobs. */
static void print_blobs(const prt_popef_index *index, uint32_t type, const char *title,
    const char *member, const char *between)
{
    bool some = false;
    for (uint32_t i = 0; i < index->count; i++) {
        const prt_json *d = index->blobs[i].descriptor;
        if (index->blobs[i].type != type)
            continue;
        if (!some)
            (void)printf("\n%s\n", title);
        some = true;
        print_member(d, "name", "  ");
        print_type(d);
        print_member(d, member, between);
        (void)putchar('\n');
    }
}

/* Prints the weights that tensors hold in another order, and those that are no longer there. */
static void print_weights(const prt_popef_index *index)
{
    bool some = false;
    for (uint32_t i = 0; i < index->count; i++) {
        const prt_json *d = index->blobs[i].descriptor;
        const prt_json *list = prt_json_get(d, "weights"), *folded = prt_json_get(d, "folded");
        if (!some && (list != NULL || folded != NULL))
            (void)printf("\nweights that passes changed\n");
        some = some || list != NULL || folded != NULL;
        for (uint32_t k = 0; list != NULL && k < list->count; k++) {
            print_member(&list->items[k], "name", "  ");
            print_member(&list->items[k], "dtype", "  ");
            print_member(&list->items[k], "shape", " ");
            print_member(d, "name", "  in ");
            print_member(&list->items[k], "steps", "  ");
            (void)putchar('\n');
        }
        for (uint32_t k = 0; folded != NULL && k < folded->count; k++) {
            (void)printf("  ");
            print_value(&folded->items[k]);
            (void)putchar('\n');
        }
    }
}

static poprt_status dump(prt_tool *tool, const char *path)
{
    prt_blob *file = NULL;
    prt_popef_index index = { 0 };
    PRT_TRY(prt_file_map(NULL, path, &file));
    poprt_status status = prt_popef_index_read(file, PRT_POPEF_LIST, tool->arena, &index);
    if (status == POPRT_OK) {
        prt_blobs_print_index(&index);
        for (uint32_t i = 0; i < index.count; i++)
            if (index.blobs[i].type == PRT_POPEF_METADATA)
                print_metadata(index.blobs[i].descriptor);
        print_blobs(&index, PRT_POPEF_FEED, "feeds", "numTensors", "  tensors ");
        print_blobs(&index, PRT_POPEF_OPAQUE, "opaque blobs", "executable", "  of ");
        print_weights(&index);
    }
    prt_blob_release(file);
    return prt_fail_in_file(status, path);
}

static int command_popef(int argc, char **argv)
{
    prt_opts opts;
    prt_tool tool = { 0 };
    int code = PRT_EXIT_FAILED;
    prt_arena *arena = NULL;
    if (prt_arena_create(NULL, 0, &arena) != POPRT_OK)
        return PRT_REPORT();
    if (prt_opt_parse(arena, &prt_popef_command, argc, argv, &opts, &code)) {
        if (strcmp(opts.args[0], "dump") != 0) {
            code = prt_opt_usage_error(&prt_popef_command, "'%s': accepted: dump", opts.args[0]);
        } else {
            poprt_status status = prt_tool_open(&tool, 1);
            if (status == POPRT_OK)
                status = dump(&tool, opts.args[1]);
            code = status == POPRT_OK ? PRT_EXIT_DONE : PRT_REPORT();
            prt_tool_close(&tool);
        }
    }
    prt_arena_release(arena);
    return code;
}
