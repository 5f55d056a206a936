/* SPDX-License-Identifier: MIT */
/* lowered.h — what a program says of the kernels of plug-ins (op/lower.h): read, and believed. */
#ifndef PRT_PROGRAM_LOWERED_H
#define PRT_PROGRAM_LOWERED_H

#include "program/source.h"

/* Of an operator that was found; failures are the source's. Constants must have been read. */
void prt_lowered_decode(prt_source *s, prt_eval_params *params);

/* Of a step whose arguments are checked: everything is in range, and what a kernel does without is
 * no argument. */
poprt_status prt_lowered_check(const prt_program *p, const prt_step *step);

#endif
