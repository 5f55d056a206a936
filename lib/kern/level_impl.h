/* SPDX-License-Identifier: MIT */
/* level_impl.h — every family at the level of the including file, and their table. */
#include <stdbool.h>

#include "kern/kern.h"

#include "kern/act_run_impl.h"
#include "kern/gemm_impl.h"

extern const prt_kern PRT_LEVEL(prt_kern_level);

const prt_kern PRT_LEVEL(prt_kern_level) = {
    .level = PRT_LEVEL_NAME,
    .gemm_panel = PRT_LEVEL(prt_gemm_panel),
    .act = PRT_LEVEL(prt_act_run),
};
