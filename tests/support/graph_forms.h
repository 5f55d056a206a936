/* SPDX-License-Identifier: MIT */
/*
 * graph_forms.h — runs a graph of constants, given as text, in every form: by the reference
 * evaluator, compiled unchanged, from PopEF, and compiled with named constants replaced by inputs
 * of the same shape, with a symbol for each dim, or of unknown rank.
 */
#ifndef PRT_TESTS_SUPPORT_GRAPH_FORMS_H
#define PRT_TESTS_SUPPORT_GRAPH_FORMS_H

#include "ir/ir.h"
#include "runtime/session.h"

typedef enum graph_form {
    FORM_EVALUATOR,
    FORM_COMPILED,
    FORM_STORED,
    FORM_INPUTS,
    FORM_SYMBOLS,
    FORM_UNRANKED,
    FORMS
} graph_form;

extern const char *const graph_form_names[FORMS];

enum { MAX_WHY = 400, MAX_OUT = 64 };

/* The result of a run: a status, or tensors whose memory the other members own. */
typedef struct outcome {
    poprt_status status;
    char message[MAX_WHY];
    uint32_t n_out;
    prt_tensor out[MAX_OUT];
    prt_module *module;
    prt_arena *arena;
    prt_session *session;
    prt_module *values; /* owns the inputs' memory, to which strings in the outputs may point */
} outcome;

void graph_run(prt_str graph, graph_form form, outcome *out);
void outcome_close(outcome *out);

/* Ends the program with the last error unless this holds. */
void must(bool holds, const char *what);

/* Removes the next line from `text` and returns it without its line end. */
prt_str next_line(prt_str *text);

bool starts_with(prt_str text, const char *with);

#endif
