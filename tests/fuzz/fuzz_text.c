/* SPDX-License-Identifier: MIT */
/*
 * fuzz_text.c — any bytes as the text of a graph. A text that parses must verify, print, be cloned
 * to the same text, and still verify after the passes.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "pass/engine/manager.h"

enum { MOST_TEXT = 1 << 16 };

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static bool is_broken(const prt_module *module)
{
    return prt_ir_verify(module) == POPRT_E_INTERNAL;
}

static void convert(prt_module *module)
{
    prt_pass_manager *pm = NULL;
    const prt_pass_limits limits = { .fold_bytes = 1 << 20, .fold_ns = 100000000 };
    if (prt_pass_manager_create(fuzz_allocator(), &pm) != POPRT_OK)
        return;
    prt_pass_manager_set_limits(pm, &limits);
    if (prt_pass_manager_add_pipeline(pm, "convert", NULL) == POPRT_OK) {
        const poprt_status status = prt_pass_manager_run(pm, module, NULL);
        require(status != POPRT_E_INTERNAL && !is_broken(module));
    }
    prt_pass_manager_release(pm);
}

static void use(prt_module *module)
{
    prt_module *copy = NULL;
    prt_arena *arena = NULL;
    prt_str text, again;
    require(!is_broken(module));
    if (prt_arena_create(fuzz_allocator(), 0, &arena) == POPRT_OK &&
        prt_ir_print(module->main, arena, &text) == POPRT_OK &&
        prt_ir_clone(module, &copy) == POPRT_OK &&
        prt_ir_print(copy->main, arena, &again) == POPRT_OK)
        require(prt_str_equal(text, again));
    prt_module_release(copy);
    prt_arena_release(arena);
    convert(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prt_module *module = NULL;
    if (size > MOST_TEXT || prt_module_create(fuzz_allocator(), 0, &module) != POPRT_OK)
        return 0;
    if (prt_ir_parse(module, (prt_str){ (const char *)data, (uint32_t)size }) == POPRT_OK)
        use(module);
    prt_module_release(module);
    fuzz_expect_empty();
    return 0;
}
