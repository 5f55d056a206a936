/* SPDX-License-Identifier: MIT */
/*
 * steps.c — describes the steps of a program: the nodes of each step, its kernel, and the place of
 * its results; then the eliminated nodes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "describe/describe.h"
#include "base/json.h"
#include "cpu/cpu.h"
#include "fast/fast.h"
#include "op/alias.h"
#include "program/sharing.h"

enum { TEXT = 256 };

static const char *const spaces[] = {
    [PRT_SPACE_PLANNED] = "plan",
    [PRT_SPACE_CONSTANT] = "constant",
    [PRT_SPACE_INPUT] = "input",
    [PRT_SPACE_OUTPUT] = "output",
    [PRT_SPACE_CAPTURE] = "capture",
    [PRT_SPACE_DYNAMIC] = "own memory",
    [PRT_SPACE_VIEW] = "view",
    [PRT_SPACE_PART] = "part",
    [PRT_SPACE_COLUMNS] = "columns",
    [PRT_SPACE_VARIABLE] = "variable",
};

/* A step of a block, with its arguments. */
typedef struct step_view {
    const prt_program *p;
    const prt_block *block;
    const prt_step *step;
    const prt_eval_params *params;
    const uint32_t *in, *out;
} step_view;

static step_view view_step(const prt_program *p, uint32_t block, uint32_t step)
{
    step_view l = { .p = p, .block = &p->blocks[block], .step = &p->blocks[block].steps[step] };
    l.params = &p->params[l.step->params];
    l.in = p->args + l.step->args;
    l.out = l.in + l.step->n_in;
    return l;
}

static uint64_t bytes_of(const prt_buffer *b)
{
    size_t size;
    return prt_type_is_tensor(b->type) && prt_type_size(b->type, &size) ? size : 0;
}

/* Tells whether the step before has already written the result, in place. */
static bool is_written_in_place(const step_view *l)
{
    const prt_buffer *x = &l->block->buffers[l->in[0]], *y = &l->block->buffers[l->out[0]];
    const bool part = y->space == PRT_SPACE_PART;
    return l->step->n_out == 1 && x->space == PRT_SPACE_PART &&
        x->ref == (part ? y->ref : l->out[0]) && x->offset == (part ? y->offset : 0) &&
        bytes_of(x) == bytes_of(y);
}

/* Tells whether a step has no work: every result is a view of input 0, or every part of a
 * concatenation is written in place. */
static bool does_nothing(const step_view *l)
{
    const prt_op_def *def = l->params->def;
    const bool views = prt_alias_may_view(def);
    if (prt_sharing_all_concat_columns(l->block, l->params, l->in, l->step->n_in, l->step->n_out))
        return true;
    if ((!views && !prt_alias_is_concat(def)) || l->step->n_in == 0 || l->step->n_out == 0)
        return false;
    if (views && l->in[0] != PRT_NO_BUFFER && l->out[0] != PRT_NO_BUFFER && is_written_in_place(l))
        return true;
    for (uint32_t i = 0; views && i < l->step->n_out; i++)
        if (l->out[i] != PRT_NO_BUFFER && l->block->buffers[l->out[i]].space != PRT_SPACE_VIEW)
            return false;
    for (uint32_t i = 0; !views && i < l->step->n_in; i++)
        if (l->in[i] == PRT_NO_BUFFER || l->block->buffers[l->in[i]].space != PRT_SPACE_PART)
            return false;
    return true;
}

/* Returns the kernel of a step on this machine. A fast operator may still leave some cases to the
 * reference. */
static const char *kernel_of(const step_view *l)
{
    if (does_nothing(l))
        return "nothing to run";
    if (l->params->lowered != NULL)
        return prt_op_row_of(l->params->def)->kernels[l->params->lowered->kernel];
    const prt_kern *kern = prt_kern_of(prt_cpu_features());
    if (kern == NULL || prt_fast_of(l->params->def->id) == NULL)
        return "reference";
    return kern->level;
}

/* Prints the place of a result. */
static void print_place(const step_view *l, uint32_t buffer, char *to, size_t size)
{
    const prt_buffer *b = &l->block->buffers[buffer];
    const bool shared = b->space == PRT_SPACE_VIEW || b->space == PRT_SPACE_PART;
    if (b->space == PRT_SPACE_PLANNED && l->block->is_static)
        (void)snprintf(to, size, "plan at %zu", b->offset);
    else if (b->space == PRT_SPACE_VIEW && !prt_alias_may_view(l->params->def))
        (void)snprintf(to, size, "over %%%u", b->ref);
    else if (b->space == PRT_SPACE_PART)
        (void)snprintf(to, size, "in %%%u at %zu", b->ref, b->offset);
    else if (b->space == PRT_SPACE_COLUMNS)
        (void)snprintf(to, size, "in the rows of %%%u at %zu", b->ref, b->offset);
    else if (shared)
        (void)snprintf(to, size, "view of %%%u", b->ref);
    else
        (void)snprintf(to, size, "%s", spaces[b->space]);
}

static void print_result(prt_sink *sink, const step_view *l, uint32_t buffer)
{
    char type[PRT_SINK_LINE / 2], place[TEXT];
    const prt_buffer *b = &l->block->buffers[buffer];
    prt_type_print(l->p->dims, b->type, type, sizeof(type));
    print_place(l, buffer, place, sizeof(place));
    prt_sink_print(sink, "       %%%u %s, ", buffer, type);
    if (bytes_of(b) != 0) {
        prt_sink_count(sink, bytes_of(b));
        prt_sink_print(sink, " bytes, ");
    }
    prt_sink_print(sink, "%s\n", place);
}

static void print_inputs(prt_sink *sink, const step_view *l)
{
    for (uint32_t i = 0; i < l->step->n_in; i++) {
        if (l->in[i] == PRT_NO_BUFFER)
            prt_sink_print(sink, " -");
        else if (l->block->buffers[l->in[i]].space == PRT_SPACE_CONSTANT)
            prt_sink_print(sink, " w%u", l->block->buffers[l->in[i]].ref);
        else
            prt_sink_print(sink, " %%%u", l->in[i]);
    }
}

/* Writes the node of a step, and the nodes that were merged into it, one a line. */
static void print_nodes(prt_sink *sink, const prt_eval_params *params)
{
    prt_sink_print(sink, "       from ");
    prt_sink_name(sink, params->origin, 0);
    for (uint32_t i = 0; i < params->merged.size; i++) {
        if (i == 0)
            prt_sink_print(sink, " + ");
        if (params->merged.data[i] == '+')
            prt_sink_print(sink, " + ");
        else
            prt_sink_write(sink, &params->merged.data[i], 1);
    }
    prt_sink_print(sink, "\n");
}

poprt_status prt_describe_steps(const prt_program *p, prt_sink *sink)
{
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        prt_sink_print(sink, "block %u ", b);
        prt_sink_name(sink, p->blocks[b].name, 0);
        prt_sink_print(sink, ": %u steps\n", p->blocks[b].n_steps);
        for (uint32_t s = 0; s < p->blocks[b].n_steps; s++) {
            const step_view l = view_step(p, b, s);
            const prt_str form = prt_program_op_variant(l.params);
            prt_sink_print(sink, "%5u  %s%s%.*s [%s]", s, l.params->def->key,
                form.size != 0 ? " as " : "", PRT_STR_ARG(form), kernel_of(&l));
            print_inputs(sink, &l);
            for (uint32_t i = 0; i < l.params->n_regions; i++)
                prt_sink_print(sink, " block %u", l.params->regions[i]);
            prt_sink_print(sink, "\n");
            print_nodes(sink, l.params);
            for (uint32_t i = 0; i < l.step->n_out; i++)
                if (l.out[i] != PRT_NO_BUFFER)
                    print_result(sink, &l, l.out[i]);
        }
    }
    prt_sink_print(sink, "%u nodes eliminated\n", p->n_eliminated);
    for (uint32_t i = 0; i < p->n_eliminated; i++) {
        prt_sink_print(sink, "       ");
        prt_sink_name(sink, p->eliminated[i].node, 0);
        prt_sink_print(sink, " (");
        prt_sink_name(sink, p->eliminated[i].op, 0);
        prt_sink_print(sink, "): by ");
        prt_sink_name(sink, p->eliminated[i].pass, 0);
        prt_sink_print(sink, "\n");
    }
    return prt_sink_finish(sink);
}

/* ---- JSON ---- */

void prt_describe_nodes(prt_json_out *json, const prt_eval_params *params)
{
    prt_json_open(json, "nodes", '[');
    prt_json_put_text(json, NULL, params->origin);
    const char *at = params->merged.data, *end = at + params->merged.size;
    while (at < end) {
        const char *stop = memchr(at, '+', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        prt_json_put_text(json, NULL, (prt_str){ at, (uint32_t)(stop - at) });
        at = stop + 1;
    }
    prt_json_close(json, ']');
}

static void write_json_result(prt_json_out *json, const step_view *l, uint32_t buffer)
{
    char type[PRT_SINK_LINE / 2], place[TEXT];
    const prt_buffer *b = &l->block->buffers[buffer];
    prt_type_print(l->p->dims, b->type, type, sizeof(type));
    print_place(l, buffer, place, sizeof(place));
    prt_json_open(json, NULL, '{');
    prt_json_put_i64(json, "buffer", buffer);
    prt_json_put_text(json, "name", b->name);
    prt_json_put_text(json, "type", prt_str_of(type));
    prt_json_put_i64(json, "bytes", (int64_t)bytes_of(b));
    prt_json_put_text(json, "space", prt_str_of(spaces[b->space]));
    prt_json_put_text(json, "place", prt_str_of(place));
    if (b->space == PRT_SPACE_PLANNED && l->block->is_static)
        prt_json_put_i64(json, "offset", (int64_t)b->offset);
    prt_json_put_i64(json, "first", b->first);
    prt_json_put_i64(json, "last", b->last);
    prt_json_close(json, '}');
}

static void write_json_step(prt_json_out *json, const step_view *l, uint32_t block, uint32_t index)
{
    prt_json_open(json, NULL, '{');
    prt_json_put_i64(json, "block", block);
    prt_json_put_i64(json, "step", index);
    prt_json_put_text(json, "operator", prt_str_of(l->params->def->key));
    prt_json_put_text(json, "kernel", prt_str_of(kernel_of(l)));
    const prt_str form = prt_program_op_variant(l->params);
    if (form.size != 0)
        prt_json_put_text(json, "form", form);
    prt_describe_nodes(json, l->params);
    if (l->params->location.size != 0)
        prt_json_put_text(json, "location", l->params->location);
    prt_json_open(json, "inputs", '[');
    for (uint32_t i = 0; i < l->step->n_in; i++)
        prt_json_put_i64(json, NULL, l->in[i] != PRT_NO_BUFFER ? (int64_t)l->in[i] : -1);
    prt_json_close(json, ']');
    prt_json_open(json, "outputs", '[');
    for (uint32_t i = 0; i < l->step->n_out; i++)
        if (l->out[i] != PRT_NO_BUFFER)
            write_json_result(json, l, l->out[i]);
    prt_json_close(json, ']');
    prt_json_close(json, '}');
}

poprt_status prt_describe_steps_json(const prt_program *p, prt_arena *arena, prt_sink *sink)
{
    prt_json_out json;
    prt_json_out_init(&json, arena, true);
    prt_json_open(&json, NULL, '{');
    prt_json_open(&json, "steps", '[');
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (uint32_t s = 0; s < p->blocks[b].n_steps; s++) {
            const step_view l = view_step(p, b, s);
            write_json_step(&json, &l, b, s);
        }
    prt_json_close(&json, ']');
    prt_json_open(&json, "gone", '[');
    for (uint32_t i = 0; i < p->n_eliminated; i++) {
        prt_json_open(&json, NULL, '{');
        prt_json_put_text(&json, "node", p->eliminated[i].node);
        prt_json_put_text(&json, "operator", p->eliminated[i].op);
        prt_json_put_text(&json, "pass", p->eliminated[i].pass);
        prt_json_close(&json, '}');
    }
    prt_json_close(&json, ']');
    prt_json_close(&json, '}');
    prt_str text;
    PRT_TRY(prt_json_out_finish(&json, &text));
    prt_sink_str(sink, text);
    prt_sink_print(sink, "\n");
    return prt_sink_finish(sink);
}
