/* SPDX-License-Identifier: MIT */
/* level_avx2.c — the kernels at this level; the build gives the flags. */
#define PRT_LEVEL_NAME "avx2"
#include "kern/level_impl.h"
