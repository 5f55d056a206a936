/* SPDX-License-Identifier: MIT */
/*
 * fuzz_popef.c — any bytes as a PopEF file, in an environment with the worked example of a plug-in
 * with a kernel. Checksums would reject nearly every mutation, so they are corrected first. The
 * weights of an accepted file are restored, and it is run.
 */
#include <string.h>

#include "base/crc.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_run.h"
#include "plugin/plugin.h"
#include "poprt/plugin.h"
#include "program/popef.h"

const poprt_plugin *packed_dense_entry(const poprt_host *host);

static uint64_t load(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* Corrects the descriptor checksums of all reachable blobs; payloads are marked as unchecked. */
static void repair(unsigned char *d, size_t n)
{
    for (size_t at = 0; at + 68 <= n;) {
        const uint64_t header = load(d + at + 28, 4), size = load(d + at + 32, 8);
        if (header < 64 || size < header + 4 || size > n - at)
            return;
        const uint64_t length = load(d + at + header, 4);
        if (length > size - header - 4)
            return;
        const uint32_t crc = prt_crc32c(0, d + at + header + 4, length);
        for (int i = 0; i < 4; i++)
            d[at + 52 + (size_t)i] = (unsigned char)(crc >> (8 * i));
        d[at + 48] |= 2;
        at += size;
    }
}

/* Restores the weights that constants hold in other forms. */
static void restore_weights(const prt_program *program)
{
    for (uint32_t i = 0; i < program->n_weights; i++) {
        const prt_weight *w = &program->weights[i];
        size_t size;
        if (w->constant == PRT_NO_CONSTANT || !prt_type_size(w->form.type, &size))
            continue;
        void *to = prt_mem_alloc(fuzz_allocator(), size);
        if (to != NULL)
            (void)prt_weight_form_restore(&w->form, program->constants[w->constant].blob->data,
                fuzz_allocator(), to);
        prt_mem_free(fuzz_allocator(), to);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const poprt_host host = { .struct_size = sizeof(host), .abi = POPRT_PLUGIN_ABI };
    prt_blob *blob = NULL;
    prt_plugins *plugins = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        return 0;
    if (prt_plugins_create(fuzz_allocator(), NULL, NULL, &plugins) != POPRT_OK ||
        prt_plugins_add(plugins, packed_dense_entry(&host)) != POPRT_OK)
        __builtin_trap();
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    repair(prt_blob_bytes(blob), size);
    prt_program *program = NULL;
    if (prt_popef_read(fuzz_allocator(), FUZZ_MEMORY / 4, blob, PRT_POPEF_RUN,
            prt_plugins_ops(plugins), &program) == POPRT_OK) {
        restore_weights(program);
        fuzz_run_program(program);
        prt_program_release(program);
    }
    prt_blob_release(blob);
    prt_plugins_release(plugins);
    fuzz_expect_empty();
    return 0;
}
