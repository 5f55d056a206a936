/* SPDX-License-Identifier: MIT */
/* dot_vnni.c — dot4_i8 by AVX512-VNNI; the build gives the flags. */
#include "kern/int8/dot4_i8.inl"
