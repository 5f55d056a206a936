/* SPDX-License-Identifier: MIT */
/* fuzz_options.c — any bytes as a text of options. A refused text leaves the config as it was. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "poprt/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    poprt_config *config = NULL;
    const char *seed = NULL;
    if (poprt_config_create(NULL, &config) != POPRT_OK)
        return 0;
    if (poprt_config_load_text(config, NULL, (const char *)data, size) != POPRT_OK &&
        (poprt_config_get(config, "seed", &seed) != POPRT_OK || strcmp(seed, "0") != 0))
        __builtin_trap();
    poprt_config_release(config);
    return 0;
}
