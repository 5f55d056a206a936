/* SPDX-License-Identifier: MIT */
/* state.h — the first contents of states and scalars, and the names that training reserves. */
#ifndef PRT_TRAIN_STATE_H
#define PRT_TRAIN_STATE_H

#include "ir/ir.h"
#include "train/optimizer.h"

/* Fails with POPRT_E_ARG if an input or an output of a node has a name that training reserves. */
poprt_status prt_training_check_names(const prt_module *module);

/* Sets the first value of a scalar. */
poprt_status prt_training_fill(prt_module *module, prt_ir_variable *v, double value);

/* Sets the first contents of a state: those of the initializer of its name, if the model has one,
 * which then is not a constant any more; else as the plan says. Fails with POPRT_E_TYPE or
 * POPRT_E_SHAPE if the initializer is of another type. */
poprt_status prt_training_first_state(prt_module *module, prt_ir_variable *v,
    const prt_optimizer_state *state, const prt_ir_variable *weight);
/* The same for a variable that begins as `fill` without such an initializer. */
poprt_status prt_training_first_value(prt_module *module, prt_ir_variable *v);

/* Takes the contents of the initializer `name`, of the variable's type, as its first contents. Sets
 * `adopted` to whether the model has it. */
poprt_status prt_training_adopt(prt_module *module, prt_ir_variable *v, prt_str name,
    bool *adopted);

/* Returns the prefix of PopART's own tensors that a name begins with, or NULL. */
const char *prt_training_reserved_prefix(prt_str name);

/* Fails with POPRT_E_ARG if an initializer is a state of another optimizer. */
poprt_status prt_training_check_states(const prt_module *module);

#endif
