/* SPDX-License-Identifier: MIT */
/* level_avx2.c — the kernels at this level; the build gives the flags. */
#include "kern/level.inl"
