/* SPDX-License-Identifier: MIT */
/* checkpoint_program.h — the program whose checkpoints are fuzzed. */
#ifndef PRT_TESTS_FUZZ_CHECKPOINT_PROGRAM_H
#define PRT_TESTS_FUZZ_CHECKPOINT_PROGRAM_H

#include "runtime/session.h"

/* Creates a session of a program with variables of every saved role and two replicas. Both results
 * are the caller's. Aborts on a failure. */
prt_session *fuzz_checkpoint_session(const prt_allocator *allocator, prt_program **program);

#endif
