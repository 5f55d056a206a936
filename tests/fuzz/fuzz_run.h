/* SPDX-License-Identifier: MIT */
/* fuzz_run.h — runs whatever program came out, with zeros for inputs, for a bounded time. */
#ifndef PRT_TESTS_FUZZ_FUZZ_RUN_H
#define PRT_TESTS_FUZZ_FUZZ_RUN_H

#include "program/program.h"

void fuzz_run_program(prt_program *program);

#endif
