/* SPDX-License-Identifier: MIT */
/* test_elementwise.c — Elementwise: values worked out by hand, shapes, and invalid programs. */
#include <stdio.h>

#include "op/internal/elementwise.h"
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(programs_have_their_values)
{
    ck_result("x = const f32[3] {-1,2,5}\ny = elementwise x {program=[0,0,1,0,2,3,2,0],"
              "numbers=[3,0.5]}\nreturn y\n",
        "f32[3] {1,2.5,4}");
    ck_result("x = const f32[2,1] {1,2}\nz = const f32[3] {10,20,30}\n"
              "y = elementwise x z {program=[1,1,0,0,3,2,0,0]}\nreturn y\n",
        "f32[2,3] {9,19,29,4,9,14}");
    ck_result("c = const bool[2] {1,0}\nx = const f32[2] {7,8}\n"
              "y = elementwise c x {program=[40,0,1,2,41,0,0,0,0,3,4,0],numbers=[-1]}\nreturn y\n",
        "f32[2] {8,-1}");
    /* each step is rounded */
    ck_result("x = const f32[1] {16777216}\ny = elementwise x {program=[0,0,1,0,1,2,0,0],"
              "numbers=[1]}\nreturn y\n",
        "f32[1] {0}");
}
END_TEST

START_TEST(inputs_broadcast)
{
    ck_type("x = input f32[n,1,4]\nz = input f32[3,1]\n"
            "y = elementwise x z {program=[0,0,1,0]}\nreturn y\n",
        "f32[n,3,4]");
    ck_type("c = input bool[5]\nx = input f32[2,5]\n"
            "y = elementwise c x {program=[40,0,1,1]}\nreturn y\n",
        "f32[2,5]");
}
END_TEST

static void check_refused(const char *inputs, const char *attributes, poprt_status status,
    const char *part)
{
    char text[8192];
    (void)snprintf(text, sizeof(text),
        "c = const bool[2] {1,0}\nx = const f32[2] {1,2}\ny = elementwise %s {%s}\nreturn y\n",
        inputs, attributes);
    ck_failure(text, status, part);
}

START_TEST(invalid_programs_are_refused)
{
    char many[4096] = "program=[";
    check_refused("x", "program=[]", POPRT_E_ARG, "a program of 0");
    check_refused("x", "program=[7,0,0]", POPRT_E_ARG, "a program of 3");
    check_refused("x", "program=[-1,0,0,0]", POPRT_E_ARG, "instruction 0: code -1 is unknown");
    check_refused("x", "program=[7,0,0,0,1000,0,0,0]", POPRT_E_ARG,
        "instruction 1: code 1000 is unknown");
    check_refused("x", "program=[7,1,0,0]", POPRT_E_ARG, "operand 1");
    check_refused("x", "program=[7,-1,0,0]", POPRT_E_ARG, "operand -1");
    check_refused("x", "program=[7,0,1,0]", POPRT_E_ARG, "operand 1");
    check_refused("x", "program=[0,0,4611686018427387904,0]", POPRT_E_ARG, "operand 461");
    check_refused("x", "program=[0,0,2,0,7,1,0,0]", POPRT_E_ARG, "instruction 0: operand 2");
    /* parameters of activations are numbers */
    check_refused("x", "program=[25,0,0,1],numbers=[1]", POPRT_E_ARG, "operand 0");
    check_refused("x", "program=[7,0,0,0,25,0,1,2],numbers=[1]", POPRT_E_ARG, "operand 2");
    check_refused("c x", "program=[0,0,1,0]", POPRT_E_TYPE, "boolean");
    check_refused("c x", "program=[40,1,1,1]", POPRT_E_TYPE, "not boolean");
    check_refused("c x", "program=[37,0,0,0]", POPRT_E_TYPE, "the result is boolean");
    check_refused("x x x x x x x", "program=[7,0,0,0]", POPRT_E_ARG, "7 inputs");
    for (int i = 0; i <= PRT_PROGRAM_STEPS; i++)
        (void)strcat(many, i != 0 ? ",7,0,0,0" : "7,0,0,0");
    check_refused("x", strcat(many, "]"), POPRT_E_ARG, "a program of 132");
    (void)snprintf(many, sizeof(many), "program=[7,0,0,0],numbers=[");
    for (int i = 0; i <= PRT_PROGRAM_NUMBERS; i++)
        (void)strcat(many, i != 0 ? ",1" : "1");
    check_refused("x", strcat(many, "]"), POPRT_E_ARG, "33 numbers");
}
END_TEST

PRT_TEST_MAIN("op/elementwise", programs_have_their_values, inputs_broadcast,
    invalid_programs_are_refused)
