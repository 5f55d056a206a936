/* SPDX-License-Identifier: MIT */
/*
 * place.h — where threads run. Nothing is pinned: a thread is moved once, and the system may move
 * it on.
 */
#ifndef PRT_PAR_PLACE_H
#define PRT_PAR_PLACE_H

#include <stdint.h>

/* The processor this thread is on; -1 when the system does not say. */
int32_t prt_place_cpu(void);

/* Moves this thread to a processor it may use: the one `index` + 1 places after `avoid` (counting
 * round, leaving `avoid` out). Does nothing where there is only one. */
void prt_place_move(uint32_t index, int32_t avoid);

#endif
