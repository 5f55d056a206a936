/* SPDX-License-Identifier: MIT */
/* snappy.h — decompression of Snappy's raw format, for blocks of sorted string tables. */
#ifndef PRT_TENSORFLOW_SNAPPY_H
#define PRT_TENSORFLOW_SNAPPY_H

#include "base/arena.h"
#include "converter/wire.h"

/* Decompresses `from` into the arena. Fails with POPRT_E_PARSE on malformed input, before memory is
 * allocated if the stated size cannot come from so few bytes. */
poprt_status prt_snappy_decode(prt_arena *arena, prt_bytes from, prt_bytes *out);

#endif
