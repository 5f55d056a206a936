/* SPDX-License-Identifier: MIT */
/* fuzz_run.h — runs a program for a bounded time. */
#ifndef PRT_TESTS_FUZZ_FUZZ_RUN_H
#define PRT_TESTS_FUZZ_FUZZ_RUN_H

#include "runtime/session.h"

/* Runs with zeros as inputs, with the reference kernels and with the fast operators. */
void fuzz_run_program(prt_program *program);

/* Runs once; the run is cancelled after `ms` milliseconds. */
poprt_status fuzz_run_session(prt_session *session, int ms, const prt_tensor *in, prt_tensor *out);

#endif
