/* SPDX-License-Identifier: MIT */
/* fuzz_image.c — any bytes as a picture, with a limit of memory; every decoded pixel is read. */
#include "base/arena.h"
#include "fuzz/fuzz.h"
#include "image/image.h"

static void *alloc(void *user, size_t size)
{
    return prt_arena_alloc(user, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prt_arena *arena = NULL;
    prt_image image = { 0 };
    if (prt_arena_create(fuzz_allocator(), FUZZ_MEMORY / 4, &arena) == POPRT_OK &&
        prt_image_decode(&(prt_image_memory){ .user = arena, .alloc = alloc }, data, size,
            &image) == POPRT_OK) {
        const volatile unsigned char *pixels = image.pixels;
        for (size_t i = 0; i < image.width * image.height * image.channels; i++)
            (void)pixels[i];
    }
    prt_arena_release(arena);
    fuzz_expect_empty();
    return 0;
}
