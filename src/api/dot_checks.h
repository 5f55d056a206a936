/* SPDX-License-Identifier: MIT */
/* dot_checks.h — graphs that compiling draws, by the options dot_checks, log_dir and so on. */
#ifndef PRT_API_DOT_CHECKS_H
#define PRT_API_DOT_CHECKS_H

#include "api/handles.h"
#include "program/program.h"

typedef enum prt_dot_check {
    PRT_DOT_CHECK_Fwd0,     /* the model */
    PRT_DOT_CHECK_Fwd1,     /* with the forms of operators that options choose */
    PRT_DOT_CHECK_Bwd0,     /* with gradients and updates */
    PRT_DOT_CHECK_PreAlias, /* after all passes */
    PRT_DOT_CHECK_Final     /* the steps of the program */
} prt_dot_check;

/* Returns whether the config asks for any drawing. */
bool prt_dot_checks_are_any(const poprt_config *config);

/* Returns whether the config asks for this drawing. */
bool prt_dot_checks_want(const poprt_config *config, prt_dot_check check);

/* Fails with POPRT_E_ARG for a word in dot_checks that is not a check. */
poprt_status prt_dot_checks_verify(const poprt_config *config);

/* Draws a module, or a program, if the config asks for this check. */
poprt_status prt_dot_checks_draw(const poprt_config *config, prt_dot_check check,
    const struct prt_module *module);
poprt_status prt_dot_checks_draw_program(const poprt_config *config, const prt_program *program);

#endif
