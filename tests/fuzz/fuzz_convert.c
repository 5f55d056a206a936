/* SPDX-License-Identifier: MIT */
/*
 * fuzz_convert.c — a list of passes on a model. FUZZ_HEADER bytes choose the passes and their
 * options, and the remaining bytes are the model. If all passes promise the same bits, a small
 * model runs before and after. A broken promise of lists.h ends the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/onnx.h"
#include "fuzz/fuzz.h"
#include "fuzz/lists.h"

enum { SMALL = 1 << 16, RUN_MS = 200, FOLD_BYTES = 1 << 20, FOLD_NS = 200000000 };

static void check(prt_module *module, const uint8_t *header, size_t size, prt_arena *arena)
{
    char why[600], text[4096];
    fuzz_list list;
    fuzz_dice dice;
    fuzz_dice_init(&dice, header, FUZZ_HEADER);
    const fuzz_check how = { .bitwise = true,
        .run_ms = size <= SMALL ? RUN_MS : 0,
        .fold_bytes = FOLD_BYTES,
        .fold_ns = FOLD_NS,
        .seed = dice.state };
    if (fuzz_list_draw(&dice, module, arena, &list) != POPRT_OK)
        return;
    if (fuzz_check_list(module, &list, &how, why, sizeof(why)))
        return;
    fuzz_list_text(&list, text, sizeof(text));
    (void)fprintf(stderr, "%s\n%s\n", text, why);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const prt_onnx_limits limits = { .arena = FUZZ_MEMORY / 8,
        .owned = FUZZ_MEMORY / 8,
        .dense = FUZZ_MEMORY / 16 };
    prt_blob *blob = NULL;
    prt_arena *arena = NULL;
    prt_module *module = NULL;
    if (size < FUZZ_HEADER ||
        prt_blob_create(fuzz_allocator(), size - FUZZ_HEADER, &blob) != POPRT_OK)
        return 0;
    if (size != FUZZ_HEADER)
        memcpy(prt_blob_bytes(blob), data + FUZZ_HEADER, size - FUZZ_HEADER);
    if (prt_arena_create(fuzz_allocator(), FUZZ_MEMORY / 8, &arena) == POPRT_OK &&
        prt_onnx_read_bytes(fuzz_allocator(), blob, "fuzz", NULL, &limits, &module) == POPRT_OK)
        check(module, data, size, arena);
    prt_module_release(module);
    prt_arena_release(arena);
    prt_blob_release(blob);
    fuzz_expect_empty();
    return 0;
}
