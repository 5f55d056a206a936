/* SPDX-License-Identifier: MIT */
/* test_elementwise.c — programs of Elementwise at every level against the reference: each
 * instruction, random programs, and inputs that broadcast along all axes. */
#include <stdio.h>
#include <stdlib.h>

#include "op/internal/elementwise.h"
#include "support/check_main.h"
#include "support/fast_check.h"

/* Shapes of three inputs: long rows, short rows, rows of one element; tiles that start at a row
 * and tiles that start inside one. */
static const char *const shapes[][3] = { { "3,4,50", "3,4,50", "50" },
    { "2,40,41,24", "24", "2,1,1,24" }, { "2,40,41,24", "2,40,41,1", "" },
    { "5,1", "1,33", "5,33" }, { "3,40000", "40000", "3,1" }, { "0,4", "4", "4" },
    { "1,3,50,50,2", "1,3,1,1,2", "1,1,50,50,2" }, { "", "7", "1" }, { "", "", "" },
    { "70,3,1", "1,3,700", "3,1" }, { "2,3,1000", "2,1,1000", "1" }, { "9,1,5", "7,1", "9,7,5" } };

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* Input p, of the shape of a, is bool; inputs a, b, c and the numbers 0.5, 2 and -1 follow. */
enum { FIXED = 7, A = 1, B = 2, C = 3, HALF = 4 };

static void check(const char *const shape[3], const char *program, double low, double high,
    double bound)
{
    char text[2048];
    (void)snprintf(text, sizeof(text),
        "a = input f32[%s]\nb = input f32[%s]\nc = input f32[%s]\nz = const f32[] {0.25}\n"
        "p = less a z\ny = elementwise p a b c {program=[%s],numbers=[0.5,2,-1]}\nreturn y\n",
        shape[0], shape[1], shape[2], program);
    fast_check(text, low, high, bound);
}

/* Writes one instruction as text, with as many operands as it takes. */
static void write_instruction(char *text, size_t size, int64_t code, const int64_t *from)
{
    const prt_instruction_form form = prt_instruction_form_of(code);
    const size_t used = strlen(text);
    const uint32_t n = prt_form_registers(form);
    (void)snprintf(text + used, size - used, "%s%d,%d,%d,%d", used != 0 ? "," : "", (int)code,
        (int)from[0], n > 1 ? (int)from[1] : 0, n > 2 ? (int)from[2] : 0);
}

/* Each instruction alone, on inputs and on numbers; bool values select or become a number. */
START_TEST(each_instruction_equals_the_reference)
{
    for (int64_t code = 0; code < PRT_INSTRUCTION_COUNT; code++) {
        const prt_instruction_form form = prt_instruction_form_of(code);
        for (size_t i = (size_t)code % FAST_SHARE; i < SHAPES; i += FAST_SHARE)
            for (int with = 0; with < 3; with++) {
                static const int64_t operands[3][3] = { { A, B, C }, { B, HALF, A },
                    { HALF, C, HALF } };
                const bool chooses =
                    form == PRT_FORM_choose || form == PRT_FORM_logic || form == PRT_FORM_number;
                int64_t from[3] = { operands[with][0], operands[with][1], operands[with][2] };
                char text[256] = "";
                if (form == PRT_FORM_act)
                    from[1] = HALF, from[2] = HALF + 1;
                if (chooses)
                    from[0] = 0;
                if (form == PRT_FORM_logic)
                    from[1] = 0;
                write_instruction(text, sizeof(text), code, from);
                if (prt_form_is_truth(form)) {
                    const int64_t last[3] = { FIXED };
                    write_instruction(text, sizeof(text), PRT_INSTRUCTION_number, last);
                }
                check(shapes[i], text, 0.125, 2, 1e-6);
                check(shapes[i], text, -2, 2, 1e-6);
            }
    }
}
END_TEST

/* Writes a random program of smooth or exact functions. */
static void write_random_program(char *text, size_t size, uint32_t steps)
{
    static const int64_t codes[] = { PRT_INSTRUCTION_add, PRT_INSTRUCTION_sub, PRT_INSTRUCTION_mul,
        PRT_INSTRUCTION_max, PRT_INSTRUCTION_min, PRT_INSTRUCTION_prelu, PRT_INSTRUCTION_abs,
        PRT_INSTRUCTION_neg, PRT_INSTRUCTION_relu, PRT_INSTRUCTION_clip, PRT_INSTRUCTION_sigmoid,
        PRT_INSTRUCTION_tanh, PRT_INSTRUCTION_silu, PRT_INSTRUCTION_gelu, PRT_INSTRUCTION_where,
        PRT_INSTRUCTION_leaky_relu, PRT_INSTRUCTION_hard_swish, PRT_INSTRUCTION_sin };
    text[0] = '\0';
    for (uint32_t s = 0; s < steps; s++) {
        const int64_t code = codes[(size_t)rand() % PRT_COUNT_OF(codes)];
        const int64_t registers = FIXED + s - A;
        int64_t from[3];
        for (size_t i = 0; i < 3; i++)
            from[i] = rand() % 3 != 0 ? A + registers - 1 - rand() % (registers < 4 ? registers : 4)
                                      : A + rand() % registers;
        if (prt_instruction_form_of(code) == PRT_FORM_act)
            from[1] = HALF + 2, from[2] = HALF + rand() % 2;
        if (code == PRT_INSTRUCTION_where)
            from[0] = 0;
        write_instruction(text, size, code, from);
    }
}

START_TEST(random_programs_equal_the_reference)
{
    srand(11);
    for (size_t i = 0; i < FAST_CASES(120); i++) {
        char text[1024];
        write_random_program(text, sizeof(text), 1 + (uint32_t)(i % PRT_PROGRAM_STEPS));
        check(shapes[i % SHAPES], text, -1, 1, 1e-5);
    }
}
END_TEST

/* Binary operators work by tiles if rows are short. */
START_TEST(binary_operators_equal_the_reference)
{
    static const char *const ops[] = { "add", "sub", "mul", "div", "max", "min", "prelu" };
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t k = 0; k < PRT_COUNT_OF(ops); k++)
            for (int transposed = 0; transposed < 2; transposed++) {
                char text[256];
                if (transposed != 0 && strcmp(ops[k], "prelu") == 0)
                    continue; /* the slope must broadcast to the input */
                (void)snprintf(text, sizeof(text),
                    "a = input f32[%s]\nb = input f32[%s]\ny = %s %s\nreturn y\n", shapes[i][0],
                    strcmp(ops[k], "prelu") == 0 ? "" : shapes[i][1], ops[k],
                    transposed != 0 ? "b a" : "a b");
                fast_check(text, 0.125, 2, 1e-6);
            }
    fast_check("a = input f32[7,9,33]\nb = input f32[9,33]\ny = prelu a b\nreturn y\n", -1, 1,
        1e-6);
}
END_TEST

START_TEST(nan_and_infinity_equal_the_reference)
{
    fast_check("x = const f32[8] {nan,inf,-inf,-0,0,1,-1,3}\nr = const f32[3,1] {1,2,-1}\n"
               "y = elementwise x r {program=[4,0,1,0,5,0,4,0,0,3,4,0],numbers=[2,3]}\nreturn y\n",
        0, 1, 0);
}
END_TEST

PRT_TEST_MAIN("fast/elementwise", each_instruction_equals_the_reference,
    random_programs_equal_the_reference, binary_operators_equal_the_reference,
    nan_and_infinity_equal_the_reference)
