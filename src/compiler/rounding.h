/* SPDX-License-Identifier: MIT */
/* rounding.h — stochastic rounding of float16 results, which an option chooses. */
#ifndef PRT_COMPILER_ROUNDING_H
#define PRT_COMPILER_ROUNDING_H

#include "ir/ir.h"

/* Lets every operator of the module that computes float16 results compute them in float32, and adds
 * a StochasticRound of each. Graphs of bodies and entries are included. Applied once, after
 * gradients are built and before any pass. */
poprt_status prt_round_stochastically(prt_module *module);

#endif
