/* SPDX-License-Identifier: MIT */
/* level_avx512.c — the kernels at this level; the build gives the flags. */
#include "kern/level.inl"
