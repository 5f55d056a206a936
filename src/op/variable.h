/* SPDX-License-Identifier: MIT */
/*
 * variable.h — variables: tensors that outlive a run. A weight in training, its optimizer states,
 * the accumulator of its gradient, running statistics, and hyper-parameters are variables. Graphs
 * and programs list them; the steps that write them are those of operators with PRT_UPDATES.
 */
#ifndef PRT_OP_VARIABLE_H
#define PRT_OP_VARIABLE_H

/*
 * Who writes a variable, and when the new contents count.
 *
 * weight        the update. A weight that nothing updates keeps its contents
 * state         optimizer state: the update
 * statistic     every micro-batch, in a copy that becomes current with the update
 * accumulator   every micro-batch; all zeros when a run begins and after every update
 * gradient      every micro-batch, as a whole: nothing reads its old value
 * scalar        the caller, between runs: a hyper-parameter
 */
#define PRT_VARIABLE_ROLES(X) X(weight) X(state) X(statistic) X(accumulator) X(gradient) X(scalar)

typedef enum prt_variable_role {
#define PRT_VARIABLE_ROLE(id) PRT_VARIABLE_##id,
    PRT_VARIABLE_ROLES(PRT_VARIABLE_ROLE)
#undef PRT_VARIABLE_ROLE
        PRT_VARIABLE_ROLE_COUNT
} prt_variable_role;

/* Returns the word of a role, such as "weight"; "?" for any other number. */
const char *prt_variable_role_name(unsigned role);

/* The further entries of a program, beside its main block, which runs once for every micro-batch.
 */
typedef enum prt_entry_kind {
    PRT_ENTRY_update, /* after the last micro-batch of an update: writes weights and states, and
                       * cannot fail */
    PRT_ENTRY_KIND_COUNT
} prt_entry_kind;

#endif
