/* SPDX-License-Identifier: MIT */
/* graph_forms.c — runs a graph of constants in every form. */
#define _POSIX_C_SOURCE 200809L
#include "support/graph_forms.h"

#include <stdio.h>
#include <stdlib.h>

#include "compiler/compile.h"
#include "ir/interp.h"
#include "support/program_text.h"

enum { MAX_IN = 64 };

const char *const graph_form_names[FORMS] = { "evaluator", "compiled", "stored", "inputs",
    "symbols", "unranked" };

void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s: %s\n", what, prt_error_last()->message);
    exit(EXIT_FAILURE);
}

prt_str next_line(prt_str *text)
{
    const char *end = text->size != 0 ? memchr(text->data, '\n', text->size) : NULL;
    const uint32_t size = end != NULL ? (uint32_t)(end - text->data) : text->size;
    const prt_str line = { text->data, size };
    text->data += size + (end != NULL);
    text->size -= size + (end != NULL);
    return line;
}

bool starts_with(prt_str text, const char *with)
{
    const size_t n = strlen(with);
    return text.size >= n && memcmp(text.data, with, n) == 0;
}

void outcome_close(outcome *o)
{
    prt_session_release(o->session);
    prt_module_release(o->module);
    prt_module_release(o->values);
    prt_arena_release(o->arena);
}

static bool fails(outcome *o, poprt_status status)
{
    o->status = status;
    if (status != POPRT_OK)
        (void)snprintf(o->message, sizeof(o->message), "%s: %s", prt_status_name(status),
            prt_error_last()->message);
    return status != POPRT_OK;
}

static bool parse_into(outcome *o, prt_str text)
{
    must(prt_module_create(NULL, 0, &o->module) == POPRT_OK, "module");
    if (fails(o, prt_ir_parse(o->module, text)) || fails(o, prt_ir_verify(o->module)))
        return false;
    o->n_out = o->module->main->ret->n_in;
    must(o->n_out <= MAX_OUT, "too many outputs");
    return true;
}

static void evaluate(prt_str graph, outcome *o)
{
    if (parse_into(o, graph))
        (void)fails(o, prt_ir_run(o->module->main, 0, NULL, o->n_out, o->out, o->module->arena));
}

/* Writes a program as PopEF and reads it back. */
static bool store(outcome *o, prt_program **program)
{
    test_bytes bytes;
    poprt_status status = popef_write(*program, &bytes);
    prt_program_release(*program);
    *program = NULL;
    if (status == POPRT_OK)
        status = program_from_bytes(bytes.data, bytes.size, true, program);
    free(bytes.data);
    return !fails(o, status);
}

/* Compiles the parsed graph and runs it on `in`. */
static void compile_and_run(outcome *o, graph_form form, const prt_tensor *in)
{
    const prt_compile_options how = { 0 };
    const prt_session_options options = { 0 };
    prt_program *program = NULL;
    if (fails(o, prt_compile(o->module, &how, &program)))
        return;
    if ((form != FORM_STORED || store(o, &program)) &&
        !fails(o, prt_session_create(program, &options, &o->session)))
        (void)fails(o, prt_session_run(o->session, in, o->out));
    prt_program_release(program);
}

/* Writes "x = const i8[2] {1,2}" as "x = input i8[2]", with a symbol for each dim, or of unknown
 * rank. */
static void put_input(FILE *to, prt_str line, size_t name_size, graph_form form)
{
    const size_t type = name_size + strlen(" = const ");
    (void)fprintf(to, "%.*s = input ", (int)name_size, line.data);
    unsigned k = 0;
    bool digit = false, dims = false;
    for (size_t i = type; i < line.size && line.data[i] != ' '; i++) {
        const char c = line.data[i];
        if (c == '[' && form == FORM_UNRANKED) {
            (void)fputs("[*]", to);
            break;
        }
        dims |= c == '[';
        const bool number = dims && c >= '0' && c <= '9';
        if (!number || form != FORM_SYMBOLS)
            (void)fputc(c, to);
        else if (!digit)
            (void)fprintf(to, "%.*s_%u", (int)name_size, line.data, k++);
        digit = number;
    }
    (void)fputc('\n', to);
}

/* Returns the graph with constants replaced by inputs, and their values from the evaluator's
 * module in `in`. */
static prt_str with_inputs(prt_str graph, const prt_module *values, graph_form form, prt_tensor *in,
    uint32_t *n_in, prt_arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    must(to != NULL, "memory");
    *n_in = 0;
    while (graph.size != 0) {
        const prt_str line = next_line(&graph);
        size_t n = 0;
        while (n < line.size && line.data[n] != ' ')
            n++;
        const prt_str rest = { line.data + n, line.size - (uint32_t)n };
        const prt_str name = { line.data, (uint32_t)n };
        const prt_value *v =
            n != 0 && starts_with(rest, " = const ") ? prt_map_find(&values->names, name) : NULL;
        if (v != NULL && *n_in < MAX_IN && prt_value_aligned(v, arena, &in[*n_in])) {
            put_input(to, line, n, form);
            (*n_in)++;
        } else {
            (void)fprintf(to, "%.*s\n", (int)line.size, line.data);
        }
    }
    (void)fclose(to);
    must(size <= UINT32_MAX, "text");
    return (prt_str){ text, (uint32_t)size };
}

void graph_run(prt_str graph, graph_form form, outcome *o)
{
    *o = (outcome){ 0 };
    if (form == FORM_EVALUATOR) {
        evaluate(graph, o);
        return;
    }
    if (form == FORM_COMPILED || form == FORM_STORED) {
        if (parse_into(o, graph))
            compile_and_run(o, form, NULL);
        return;
    }
    prt_tensor in[MAX_IN];
    uint32_t n_in;
    outcome values = { 0 };
    must(prt_arena_create(NULL, 0, &o->arena) == POPRT_OK, "arena");
    (void)parse_into(&values, graph);
    const prt_str text = with_inputs(graph, values.module, form, in, &n_in, o->arena);
    if (parse_into(o, text))
        compile_and_run(o, form, in);
    free((void *)(uintptr_t)text.data);
    o->values = values.module;
}
