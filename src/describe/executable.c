/* SPDX-License-Identifier: MIT */
/* executable.c — describes an executable: blocks, buffers, memory plan and steps. */
#include "describe/describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "op/op.h"

static const char *const spaces[] = {
    [PRT_SPACE_PLANNED] = "planned",
    [PRT_SPACE_CONSTANT] = "constant",
    [PRT_SPACE_INPUT] = "input",
    [PRT_SPACE_OUTPUT] = "output",
    [PRT_SPACE_CAPTURE] = "capture",
    [PRT_SPACE_DYNAMIC] = "dynamic",
    [PRT_SPACE_VIEW] = "view of",
    [PRT_SPACE_PART] = "part of",
    [PRT_SPACE_COLUMNS] = "columns of",
    [PRT_SPACE_VARIABLE] = "variable",
};

static const prt_eval_params *params_of(const prt_program *p, const prt_step *step)
{
    return &p->params[step->params];
}

static poprt_status add_steps(prt_description *d, const prt_program *p, uint64_t *steps)
{
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const prt_block *block = &p->blocks[b];
        *steps += block->n_steps;
        for (uint32_t s = 0; s < block->n_steps; s++) {
            const prt_op_def *def = params_of(p, &block->steps[s])->def;
            PRT_TRY(prt_describe_add_op(d, prt_str_of(def->domain), prt_str_of(def->name), 0));
        }
    }
    return POPRT_OK;
}

/* Adds the facts on the memory of a run: planned blocks, and buffers sized at run time. */
static poprt_status add_plan(prt_description *d, const prt_program *p)
{
    uint64_t bytes = 0, peak = 0, planned = 0, dynamic = 0, open = 0;
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const prt_block *block = &p->blocks[b];
        if (block->is_static) {
            bytes += block->plan_size;
            peak += block->plan_peak;
        } else {
            open++;
        }
        for (uint32_t i = 0; i < block->n_buffers; i++) {
            planned += block->buffers[i].space == PRT_SPACE_PLANNED;
            dynamic += block->buffers[i].space == PRT_SPACE_DYNAMIC;
        }
    }
    const prt_str none = { NULL, 0 };
    PRT_TRY(prt_describe_add_fact(d, "plan bytes", "plan_bytes", none, bytes));
    PRT_TRY(prt_describe_add_fact(d, "most live", "plan_largest_live_set", none, peak));
    char ratio[32];
    const uint64_t thousandths =
        peak != 0 ? (uint64_t)((double)bytes / (double)peak * 1000.0 + 0.5) : 1000;
    (void)snprintf(ratio, sizeof(ratio), "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
        thousandths % 1000);
    const char *kept = prt_arena_copy(d->arena, ratio, strlen(ratio) + 1);
    if (kept == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_describe_add_fact(d, "plan ratio", "plan_ratio", prt_str_of(kept), 0));
    PRT_TRY(prt_describe_add_fact(d, "planned", "planned_buffers", none, planned));
    PRT_TRY(prt_describe_add_fact(d, "dynamic", "dynamic_buffers", none, dynamic));
    return prt_describe_add_fact(d, "open blocks", "blocks_planned_at_run", none, open);
}

static poprt_status add_session(prt_description *d, const poprt_memory_info *memory)
{
    const prt_str none = { NULL, 0 };
    if (memory->is_planned == 0)
        return POPRT_OK;
    PRT_TRY(prt_describe_add_fact(d, "session bytes", "session_bytes", none,
        memory->created + memory->scratch));
    PRT_TRY(prt_describe_add_fact(d, "scratch bytes", "scratch_bytes", none, memory->scratch));
    return prt_describe_add_fact(d, "output bytes", "output_bytes", none, memory->outputs);
}

static poprt_status describe(const prt_program *p, const prt_io_table *io, const char *file,
    const poprt_memory_info *memory, prt_arena *arena, bool json, prt_sink *sink)
{
    const prt_str none = { NULL, 0 };
    prt_description d = { .arena = arena,
        .kind = "popef",
        .io = io,
        .file = file,
        .ops = prt_map_in(arena) };
    uint64_t steps = 0;
    d.n_weights = p->n_constants;
    d.weight_bytes = prt_program_weight_bytes(p);
    PRT_TRY(add_steps(&d, p, &steps));
    PRT_TRY(add_plan(&d, p));
    PRT_TRY(add_session(&d, memory));
    prt_str *names = PRT_NEW_N(arena, prt_str, p->n_blocks);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t b = 0; b < p->n_blocks; b++)
        names[b] = p->blocks[b].name;
    if (p->n_graphs != 0)
        PRT_TRY(prt_describe_add_graphs(&d, p->n_graphs, names, p->n_blocks));
    PRT_TRY(prt_describe_add_fact(&d, "blocks", "blocks", none, p->n_blocks));
    PRT_TRY(prt_describe_add_fact(&d, "steps", "steps", none, steps));
    if (p->name.size != 0)
        PRT_TRY(prt_describe_add_fact(&d, "program", "program", p->name, 0));
    PRT_TRY(prt_describe_add_fact(&d, "made by", "made_by",
        p->source.data != NULL ? p->source : PRT_STR(""), 0));
    return json ? prt_describe_json(&d, sink) : prt_describe_summary(&d, sink);
}

static void print_buffer(prt_sink *sink, const prt_program *p, const prt_block *block, uint32_t i)
{
    const prt_buffer *buffer = &block->buffers[i];
    const bool is_variable = buffer->space == PRT_SPACE_VARIABLE;
    char type[PRT_SINK_LINE / 2];
    prt_type_print(p->dims, buffer->type, type, sizeof(type));
    prt_sink_print(sink, "  %%%u %s %s", i, type, spaces[buffer->space]);
    if (buffer->space == PRT_SPACE_PLANNED && block->is_static)
        prt_sink_print(sink, " at %zu", buffer->offset);
    else if (buffer->space >= PRT_SPACE_VIEW && !is_variable)
        prt_sink_print(sink, " %%%u", buffer->ref);
    else if (buffer->space != PRT_SPACE_PLANNED && buffer->space != PRT_SPACE_DYNAMIC)
        prt_sink_print(sink, " %u", buffer->ref);
    if (buffer->space >= PRT_SPACE_PART && !is_variable)
        prt_sink_print(sink, " at %zu", buffer->offset);
    if (buffer->space == PRT_SPACE_PLANNED || buffer->space >= PRT_SPACE_DYNAMIC)
        prt_sink_print(sink, " steps %u-%u", buffer->first, buffer->last);
    prt_sink_print(sink, "  ");
    prt_sink_name(sink, buffer->name, 0);
    prt_sink_print(sink, "\n");
}

static void print_args(prt_sink *sink, const uint32_t *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (args[i] == PRT_NO_BUFFER)
            prt_sink_print(sink, " -");
        else
            prt_sink_print(sink, " %%%u", args[i]);
    }
}

static void print_step(prt_sink *sink, const prt_program *p, const prt_block *block, uint32_t s)
{
    const prt_step *step = &block->steps[s];
    const prt_eval_params *params = params_of(p, step);
    const uint32_t *args = p->args + step->args;
    prt_sink_print(sink, "  %u: %s %s", s, prt_kernel_name(step->kernel), params->def->key);
    print_args(sink, args, step->n_in);
    prt_sink_print(sink, " ->");
    print_args(sink, args + step->n_in, step->n_out);
    for (uint32_t r = 0; r < params->n_regions; r++)
        prt_sink_print(sink, " block %u", params->regions[r]);
    prt_sink_print(sink, "  ");
    prt_sink_name(sink, params->origin, 0);
    prt_sink_print(sink, "\n");
}

static poprt_status print_text(const prt_program *p, prt_sink *sink)
{
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const prt_block *block = &p->blocks[b];
        prt_sink_print(sink, "block %u ", b);
        prt_sink_name(sink, block->name, 0);
        if (block->is_static)
            prt_sink_print(sink, " plan %zu bytes, most live %zu", block->plan_size,
                block->plan_peak);
        prt_sink_print(sink, "\n inputs");
        print_args(sink, block->inputs, block->n_inputs);
        prt_sink_print(sink, "\n outputs");
        print_args(sink, block->outputs, block->n_outputs);
        prt_sink_print(sink, "\n buffers\n");
        for (uint32_t i = 0; i < block->n_buffers; i++)
            print_buffer(sink, p, block, i);
        prt_sink_print(sink, " steps\n");
        for (uint32_t s = 0; s < block->n_steps; s++)
            print_step(sink, p, block, s);
    }
    return prt_sink_finish(sink);
}

/* Writes a block as a graph: a node for each step and buffer, except constants. */
static void print_block_dot(prt_sink *sink, const prt_program *p, uint32_t b)
{
    const prt_block *block = &p->blocks[b];
    if (b != 0)
        prt_sink_print(sink, "  subgraph cluster_b%u {\n", b);
    for (uint32_t i = 0; i < block->n_buffers; i++) {
        if (block->buffers[i].space == PRT_SPACE_CONSTANT)
            continue;
        prt_sink_print(sink, "  b%u_v%u [shape=ellipse, label=\"", b, i);
        prt_sink_dot(sink, block->buffers[i].name);
        prt_sink_print(sink, "\"];\n");
    }
    for (uint32_t s = 0; s < block->n_steps; s++) {
        prt_sink_print(sink, "  b%u_s%u [label=\"", b, s);
        prt_sink_dot(sink, prt_str_of(params_of(p, &block->steps[s])->def->name));
        prt_sink_print(sink, "\"];\n");
    }
    if (b != 0)
        prt_sink_print(sink, "  }\n");
    for (uint32_t s = 0; s < block->n_steps; s++) {
        const prt_step *step = &block->steps[s];
        for (uint32_t i = 0; i < step->n_in + step->n_out; i++) {
            const uint32_t arg = p->args[step->args + i];
            if (arg == PRT_NO_BUFFER || block->buffers[arg].space == PRT_SPACE_CONSTANT)
                continue;
            if (i < step->n_in)
                prt_sink_print(sink, "  b%u_v%u -> b%u_s%u;\n", b, arg, b, s);
            else
                prt_sink_print(sink, "  b%u_s%u -> b%u_v%u;\n", b, s, b, arg);
        }
    }
}

static poprt_status print_dot(const prt_program *p, prt_sink *sink)
{
    prt_sink_print(sink, "digraph program {\n  node [shape=box];\n");
    for (uint32_t b = 0; b < p->n_blocks; b++)
        print_block_dot(sink, p, b);
    prt_sink_print(sink, "}\n");
    return prt_sink_finish(sink);
}

poprt_status prt_describe_executable(const prt_program *program, const prt_io_table *io,
    const char *file, const poprt_memory_info *memory, int32_t format, prt_arena *arena,
    prt_sink *sink)
{
    switch (format) {
    case POPRT_FORMAT_TEXT:
        return print_text(program, sink);
    case POPRT_FORMAT_DOT:
        return print_dot(program, sink);
    case POPRT_FORMAT_STEPS:
        return prt_describe_steps(program, sink);
    case POPRT_FORMAT_GRAPHS_JSON:
        return prt_describe_blocks(program, arena, sink);
    case POPRT_FORMAT_STEPS_JSON:
        return prt_describe_steps_json(program, arena, sink);
    default:
        return describe(program, io, file, memory, arena, format == POPRT_FORMAT_JSON, sink);
    }
}
