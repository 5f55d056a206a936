/* SPDX-License-Identifier: MIT */
/* lowered.h — kernels of plug-ins (op/lower.h) within a program: decoding and checking. */
#ifndef PRT_PROGRAM_LOWERED_H
#define PRT_PROGRAM_LOWERED_H

#include "program/source.h"

/* Decodes the kernel of an operator that was found; a failure is recorded in the source. The
 * constants must have been read. */
void prt_lowered_decode(prt_source *s, prt_eval_params *params);

/* Checks a step whose arguments are checked: all numbers must be in range, and a dropped input must
 * not be an argument. */
poprt_status prt_lowered_check(const prt_program *p, const prt_step *step);

#endif
