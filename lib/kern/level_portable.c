/* SPDX-License-Identifier: MIT */
/* level_portable.c — the kernels at this level; the build gives the flags. */
#include "kern/level.inl"
