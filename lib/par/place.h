/* SPDX-License-Identifier: MIT */
/*
 * place.h — placement of threads. A thread is moved once and not pinned: the system may move it
 * again.
 */
#ifndef PRT_PAR_PLACE_H
#define PRT_PAR_PLACE_H

#include <stdint.h>

/* Returns the processor that runs this thread; -1 when the system does not say. */
int32_t prt_place_cpu(void);

/* Moves this thread to an allowed processor: the one `index` + 1 places after `avoid`, counting
 * cyclically and without `avoid`. Does nothing where only one processor is allowed. */
void prt_place_move(uint32_t index, int32_t avoid);

#endif
