/* SPDX-License-Identifier: MIT */
/* variables.h — checks of variables and entries of a program from a file. */
#ifndef PRT_PROGRAM_VARIABLES_H
#define PRT_PROGRAM_VARIABLES_H

#include "program/program.h"

/* Checks the lists of variables and entries. */
poprt_status prt_variables_check(const prt_program *program);

/*
 * Checks the variables of a block whose steps and views are checked: each is written by at most one
 * step, which has the trait PRT_UPDATES and the old value as its input, and no step after it reads
 * the old value. Entry `update` has only such steps and pure ones, without bodies and plug-ins.
 */
poprt_status prt_variables_check_block(const prt_program *program, uint32_t block,
    prt_arena *scratch);

#endif
