/* SPDX-License-Identifier: MIT */
/*
 * affinity.h — placement of threads. A thread is moved once and not pinned: the system may move it
 * again.
 */
#ifndef PRT_PAR_AFFINITY_H
#define PRT_PAR_AFFINITY_H

#include <stdint.h>

/* Returns the processor that runs this thread; -1 when the system does not say. */
int32_t prt_affinity_cpu(void);

/* Moves this thread to an allowed processor: the one `index` + 1 places after `avoid`, counting
 * cyclically and without `avoid`. Does nothing where only one processor is allowed. */
void prt_affinity_move_thread(uint32_t index, int32_t avoid);

#endif
