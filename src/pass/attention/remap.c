/* SPDX-License-Identifier: MIT */
/*
 * remap.c — auto_insert_remap: inserts Remap operators around nodes of given types, where a backend
 * should change the layout of a tensor. They are identities in this library; a note says so.
 *
 * Modes are before_TYPE and after_TYPE, with the type in lower case; "both" stands for after_matmul
 * and before_add. `before` applies to every operand that another node produces (constants and graph
 * inputs have a fixed layout), `after` to every output that is read.
 */
#include <ctype.h>

#include "pass/engine/match.h"

enum { MOST_MODES = 64 };

typedef struct mode {
    bool before;
    prt_str type;
} mode;

typedef struct modes {
    uint32_t count;
    mode list[MOST_MODES];
} modes;

static bool is_type(prt_str name, prt_str type)
{
    if (name.size != type.size)
        return false;
    for (uint32_t i = 0; i < name.size; i++)
        if (tolower((unsigned char)name.data[i]) != type.data[i])
            return false;
    return true;
}

static bool is_known(prt_str type)
{
    for (uint32_t id = 0; id < PRT_OP_COUNT; id++)
        if (is_type(prt_str_of(prt_op_of(id)->name), type))
            return true;
    return false;
}

static poprt_status add_mode(prt_str text, modes *m)
{
    static const prt_str before = PRT_STR_INIT("before_"), after = PRT_STR_INIT("after_");
    const bool is_before =
        text.size > before.size && memcmp(text.data, before.data, before.size) == 0;
    const prt_str start = is_before ? before : after;
    if (text.size <= start.size || memcmp(text.data, start.data, start.size) != 0)
        return prt_fail(POPRT_E_ARG, "remap_mode",
            "'%.*s' is not a mode: expected before_TYPE, after_TYPE or both", PRT_STR_ARG(text));
    const prt_str type = { text.data + start.size, text.size - start.size };
    if (!is_known(type))
        return prt_fail(POPRT_E_ARG, "remap_mode",
            "'%.*s' does not end with the name of an operator in lower case", PRT_STR_ARG(text));
    if (m->count == MOST_MODES)
        return prt_fail(POPRT_E_LIMIT, "remap_mode", "has more than %d items", MOST_MODES);
    m->list[m->count++] = (mode){ is_before, type };
    return POPRT_OK;
}

/* Reads the items of the list option, and replaces "both" by its two modes. */
static poprt_status read_modes(const prt_pass *p, modes *m)
{
    prt_str item;
    m->count = 0;
    for (const char *cursor = NULL; prt_pass_next(p, "remap_mode", &cursor, &item);) {
        if (!prt_str_is(item, "both")) {
            PRT_TRY(add_mode(item, m));
            continue;
        }
        PRT_TRY(add_mode(PRT_STR("after_matmul"), m));
        PRT_TRY(add_mode(PRT_STR("before_add"), m));
    }
    return POPRT_OK;
}

/* Returns whether the only reader of the value is a Remap. */
static bool is_remapped(const prt_value *v)
{
    return prt_value_used_once(v) && prt_op_is(v->uses->user, PRT_OP_gc_remap);
}

static poprt_status remap_operands(prt_op *op, uint32_t *made)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *v = prt_op_input(op, i);
        if (prt_match_dtype(v) == PRT_DTYPE_undefined || v->def == NULL || v->graph != op->graph ||
            prt_op_is(v->def, PRT_OP_gc_remap))
            continue;
        prt_build b = prt_build_before(op);
        prt_value *to = prt_build_unary(&b, PRT_OP_gc_remap, v);
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(op, i, to);
        (*made)++;
    }
    return POPRT_OK;
}

static poprt_status remap_results(prt_op *op, uint32_t *made)
{
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        if (prt_match_dtype(v) == PRT_DTYPE_undefined || !prt_value_used(v) || is_remapped(v))
            continue;
        prt_build b = prt_build_at_end(op->graph);
        b.before = op->next;
        b.origin = op->origin;
        b.like = op;
        prt_value *to = prt_build_unary(&b, PRT_OP_gc_remap, v);
        PRT_TRY(prt_build_status(&b));
        prt_op *remap = to->def;
        const bool is_output = prt_value_is_output(v);
        prt_value_replace(v, to);
        prt_op_set_input(remap, 0, v);
        if (is_output && v->name.size != 0) { /* graph outputs keep their names */
            const prt_str name = v->name;
            v->name = PRT_STR("");
            PRT_TRY(prt_value_set_name(to, name));
        }
        (*made)++;
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    modes m;
    uint32_t made = 0;
    PRT_TRY(read_modes(p, &m));
    prt_for_each_op (op, graph) {
        PRT_TRY(prt_pass_check(p));
        for (uint32_t i = 0; i < m.count; i++) {
            if (!is_type(op->name, m.list[i].type))
                continue;
            PRT_TRY(m.list[i].before ? remap_operands(op, &made) : remap_results(op, &made));
        }
    }
    if (made != 0)
        prt_pass_note(p, graph->name.data != NULL ? graph->name.data : "",
            "inserted %u Remap operators, which request another layout from a backend; in this "
            "library they are identities",
            made);
    *changed = *changed || made != 0;
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_auto_insert_remap = { .run = run };
