/* SPDX-License-Identifier: MIT */
/* fuzz_run.h — runs whatever program came out for a bounded time. */
#ifndef PRT_TESTS_FUZZ_FUZZ_RUN_H
#define PRT_TESTS_FUZZ_FUZZ_RUN_H

#include "runtime/session.h"

/* With zeros for inputs, with the reference kernels and with the fast forms. */
void fuzz_run_program(prt_program *program);

/* One run, cancelled after so many milliseconds of work. */
poprt_status fuzz_run_session(prt_session *session, int ms, const prt_tensor *in, prt_tensor *out);

#endif
