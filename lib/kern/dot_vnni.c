/* SPDX-License-Identifier: MIT */
/* dot_vnni.c — fours of 8 bits by AVX512-VNNI; the build gives the flags. */
#include "kern/dot8_impl.h"
