/* SPDX-License-Identifier: MIT */
/*
 * elementwise.h — the program of Elementwise: a list of instructions on registers. The registers
 * are the inputs, then the constants (`numbers`), then the result of each instruction in order. An
 * instruction reads only registers before its own. A register holds float32 values or booleans
 * ("truth").
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
    PRT_PROGRAM_INPUTS = PRT_ROWS_MAX, /* maximum number of inputs */
    PRT_PROGRAM_NUMBERS = 32,          /* maximum number of constants */
    PRT_PROGRAM_STEPS = 32,            /* maximum number of instructions */
    PRT_PROGRAM_REGISTERS = PRT_PROGRAM_INPUTS + PRT_PROGRAM_NUMBERS + PRT_PROGRAM_STEPS
};

/* One instruction as the attribute `program` stores it: four integers. Operands that its form does
   not use are 0. */
typedef struct prt_instruction {
    int64_t code;
    int64_t operand[3];
} prt_instruction;

typedef struct prt_program_view {
    uint32_t n_in, n_numbers, n_steps;
    const float *numbers;
    const prt_instruction *steps;
} prt_program_view;

/* Returns a view of the program in checked attributes (see infer). The view borrows the
   attributes. */
prt_program_view prt_elementwise_program(const prt_elementwise_attrs *a, uint32_t n_in);

/* Returns the code of the instruction that computes operator `op` with its inputs in order, or -1
   if there is no such instruction. Greater and GreaterOrEqual map to less and less_or_equal: the
   caller swaps their inputs. For activations see prt_fused_act_of. */
int64_t prt_instruction_of(uint32_t op);
/* Returns the code for Pow with a constant exponent, or -1 if there is no such instruction. */
int64_t prt_instruction_of_power(double exponent);

prt_instruction_form prt_instruction_form_of(int64_t code);
/* Returns PRT_BINARY_*, PRT_UNARY_* and so on, according to the form. */
int prt_instruction_kind(int64_t code);
/* Returns the number of operands that are values; of all register operands, constants included. */
uint32_t prt_form_operands(prt_instruction_form form);
uint32_t prt_form_registers(prt_instruction_form form);
/* Returns whether the result, or operand i, is boolean. */
bool prt_form_is_truth(prt_instruction_form form);
bool prt_form_takes_truth(prt_instruction_form form, uint32_t i);

#endif
