/* SPDX-License-Identifier: MIT */
/*
 * elementwise.h — the program of Elementwise: instructions on registers. Registers are the inputs,
 * then the numbers, then what the instructions give, in order; an instruction sees what comes
 * before its own. They hold float32 or truth.
 */
#ifndef PRT_OP_INTERNAL_ELEMENTWISE_H
#define PRT_OP_INTERNAL_ELEMENTWISE_H

#include "op/share/broadcast.h"

typedef enum prt_instruction_form {
    PRT_FORM_two,
    PRT_FORM_one,
    PRT_FORM_act,
    PRT_FORM_compare,
    PRT_FORM_logic,
    PRT_FORM_choose,
    PRT_FORM_number,
    PRT_FORM_COUNT
} prt_instruction_form;

typedef enum prt_instruction_code {
#define INSTRUCTION(name, form, kind) PRT_INSTRUCTION_##name,
#include "op/internal/elementwise.def"
    PRT_INSTRUCTION_COUNT
} prt_instruction_code;

enum {
    PRT_PROGRAM_INPUTS = PRT_ROWS_MAX, /* at most, as of what follows */
    PRT_PROGRAM_NUMBERS = 32,
    PRT_PROGRAM_STEPS = 32, /* instructions */
    PRT_PROGRAM_REGISTERS = PRT_PROGRAM_INPUTS + PRT_PROGRAM_NUMBERS + PRT_PROGRAM_STEPS
};

/* As it lies in the attribute: four integers. Operands that the form has no use for are 0. */
typedef struct prt_instruction {
    int64_t code;
    int64_t operand[3];
} prt_instruction;

typedef struct prt_program_view {
    uint32_t n_in, n_numbers, n_steps;
    const float *numbers;
    const prt_instruction *steps;
} prt_program_view;

/* Of checked attributes (at infer). */
prt_program_view prt_elementwise_program(const prt_elementwise_attrs *a, uint32_t n_in);

/* The instruction of an operator of the table (on inputs in order; but Greater and GreaterOrEqual,
 * which are turned) and that of Pow by a number; -1 for none. Activations: prt_fused_act_of. */
int64_t prt_instruction_of(uint32_t op);
int64_t prt_instruction_of_power(double exponent);

prt_instruction_form prt_instruction_form_of(int64_t code);
/* PRT_TWO_*, PRT_ONE_* and so on, as the form has it. */
int prt_instruction_kind(int64_t code);
/* Operands that are registers of values; all that are registers, numbers too. */
uint32_t prt_form_operands(prt_instruction_form form);
uint32_t prt_form_registers(prt_instruction_form form);
/* Whether the result, or operand i, is truth. */
bool prt_form_is_truth(prt_instruction_form form);
bool prt_form_takes_truth(prt_instruction_form form, uint32_t i);

#endif
