/* SPDX-License-Identifier: MIT */
/*
 * blocks.c — POPRT_FORMAT_GRAPHS_JSON of an executable: every block as a list of its steps, in the
 * form of graphs.c. Block 0 is "main", block i is "graph<i>".
 */
#include <math.h>
#include <stdio.h>

#include "describe/describe.h"
#include "op/op.h"

static void block_name(uint32_t block, char *to, size_t size)
{
    if (block == 0)
        (void)snprintf(to, size, "main");
    else
        (void)snprintf(to, size, "graph%u", block);
}

static void put_buffer(prt_json_out *out, const prt_program *p, uint32_t block, uint32_t buffer)
{
    char text[PRT_SINK_LINE];
    if (buffer == PRT_NO_BUFFER) {
        prt_json_put_f64(out, NULL, (double)NAN);
        return;
    }
    const prt_buffer *b = &p->blocks[block].buffers[buffer];
    prt_json_open(out, NULL, '{');
    if (b->name.size == 0)
        (void)snprintf(text, sizeof(text), "%%%u.%u", block, buffer);
    prt_json_put_text(out, "name", b->name.size != 0 ? b->name : prt_str_of(text));
    prt_type_print(p->dims, b->type, text, sizeof(text));
    prt_json_put_text(out, "type", prt_str_of(text));
    if (b->space == PRT_SPACE_CONSTANT)
        prt_json_put_bool(out, "constant", true);
    prt_json_close(out, '}');
}

static void put_step(prt_json_out *out, const prt_program *p, uint32_t block, const prt_step *step)
{
    const prt_eval_params *params = &p->params[step->params];
    const prt_op_def *def = params->def;
    const uint32_t *args = p->args + step->args;
    char name[32];
    prt_json_open(out, NULL, '{');
    prt_json_put_text(out, "type", prt_str_of(def->name));
    prt_json_put_text(out, "domain", prt_str_of(def->domain[0] != '\0' ? def->domain : "ai.onnx"));
    prt_json_put_i64(out, "version", def->since);
    prt_json_put_text(out, "name", params->origin);
    prt_json_open(out, "inputs", '[');
    for (uint32_t i = 0; i < step->n_in; i++)
        put_buffer(out, p, block, args[i]);
    prt_json_close(out, ']');
    prt_json_open(out, "outputs", '[');
    for (uint32_t i = 0; i < step->n_out; i++)
        put_buffer(out, p, block, args[step->n_in + i]);
    prt_json_close(out, ']');
    prt_json_open(out, "attributes", '{');
    prt_describe_attrs(out, p->dims, def, params->attrs);
    prt_json_close(out, '}');
    prt_json_open(out, "graphs", '[');
    for (uint32_t i = 0; i < params->n_regions; i++) {
        block_name(params->regions[i], name, sizeof(name));
        prt_json_put_text(out, NULL, prt_str_of(name));
    }
    prt_json_close(out, ']');
    prt_describe_nodes(out, params);
    if (params->location.size != 0)
        prt_json_put_text(out, "location", params->location);
    prt_json_close(out, '}');
}

poprt_status prt_describe_blocks(const prt_program *p, prt_arena *arena, prt_sink *sink)
{
    prt_json_out out;
    prt_str text;
    char name[32];
    prt_json_out_init(&out, arena, true);
    prt_json_open(&out, NULL, '{');
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        block_name(b, name, sizeof(name));
        prt_json_open(&out, name, '[');
        for (uint32_t s = 0; s < p->blocks[b].n_steps; s++)
            put_step(&out, p, b, &p->blocks[b].steps[s]);
        prt_json_close(&out, ']');
    }
    prt_json_close(&out, '}');
    PRT_TRY(prt_json_out_finish(&out, &text));
    prt_sink_str(sink, text);
    prt_sink_print(sink, "\n");
    return prt_sink_finish(sink);
}
