/* SPDX-License-Identifier: MIT */
/*
 * packed.c — packed_transformer: a model for batches [B, S] takes samples packed end to end. A new
 * input unpack_info [max_valid_num, segments] gives their lengths.
 *
 * The pass follows values from the packed inputs; each has one form:
 *
 *     packed    [B, S, ...]: tokens in order, of as many samples as fit
 *     flat      [B * S, ...]: the same tokens after a Reshape
 *     unpacked  [max_valid_num, sum of segment_max_size, ...]: one sample a row
 *
 * Operators that process each token independently (element-wise operators, MatMul with weights,
 * norms over the last axis, lookups) stay packed, which saves the work on padding. For any other
 * operator the pass unpacks the operands (Unpack), so that it works on samples. Merged heads of
 * attention, and sums of packed values with values by position, are packed again (Repack). Outputs
 * are unpacked: row i belongs to sample i.
 *
 * Masks are values of rank 2. They are unpacked first, so that positions after the end of a sample
 * are 0, which must mean "masked".
 *
 * Differences from the reference: dynamic_groups need not list all packed inputs, since integer
 * inputs with the shape of a listed one are packed too (a published command line lists input_ids
 * only). The start of the head needs no pattern, since the first operator that mixes tokens gets
 * samples; head_pattern adds operators that must get samples. Shapes must be static, and no region
 * may read packed values. An output that is a packed input under the same name stays packed,
 * because a name belongs to one value.
 */
#include "pass/attention/packed.h"
#include "pass/engine/match.h"
#include "pass/engine/pattern.h"

enum { MOST_CHAINS = 32 };

/* ---- options, inputs, outputs */

static poprt_status read_segments(prt_packer *k)
{
    const char *at = prt_pass_text(k->p, "segment_max_size");
    k->samples = prt_pass_i64(k->p, "max_valid_num");
    if (k->samples < 1 || k->samples > INT32_MAX)
        return prt_fail(POPRT_E_ARG, "max_valid_num", "max_valid_num is %lld; at least 1 is needed",
            (long long)k->samples);
    while (*at != '\0') {
        int64_t size = 0;
        at += strspn(at, " +");
        for (; *at >= '0' && *at <= '9' && size <= INT32_MAX; at++)
            size = size * 10 + (*at - '0');
        if (size < 1 || size > INT32_MAX || (*at != '\0' && *at != '+' && *at != ' ') ||
            k->n_segments == PRT_PACKED_SEGMENTS)
            return prt_fail(POPRT_E_ARG, "segment_max_size",
                "'%.100s' is not a list of up to 64 sizes such as 13+51",
                prt_pass_text(k->p, "segment_max_size"));
        k->segments[k->n_segments++] = size;
        k->length += size;
        at += strspn(at, " +");
    }
    if (k->n_segments == 0)
        return prt_fail(POPRT_E_ARG, "segment_max_size", "segment_max_size is needed");
    return POPRT_OK;
}

/* Strips brackets, quotes and spaces from both ends of an item. */
static prt_str strip_item(prt_str item)
{
    static const char around[] = "[]'\" ";
    while (item.size != 0 && strchr(around, item.data[0]) != NULL)
        item = (prt_str){ item.data + 1, item.size - 1 };
    while (item.size != 0 && strchr(around, item.data[item.size - 1]) != NULL)
        item.size--;
    return item;
}

static poprt_status pack_input(prt_packer *k, prt_value *input)
{
    const prt_type *type = prt_match_static(input);
    if (type == NULL || type->rank < 2)
        return prt_fail(POPRT_E_UNSUPPORTED, input->name.data,
            "packed inputs need a known shape of two dims or more");
    if (k->like == NULL) {
        k->like = input;
        k->batch = type->dims[0];
        k->tokens = type->dims[1];
    }
    if (!prt_packed_is_tokens(k, type) || k->batch < 1 || k->tokens < 1 || k->batch > INT32_MAX ||
        k->tokens > INT32_MAX)
        return prt_fail(POPRT_E_SHAPE, input->name.data,
            "packed inputs have one shape; this one is not [%lld, %lld, ...]", (long long)k->batch,
            (long long)k->tokens);
    return prt_packed_record(k, input, PRT_LAYOUT_PACKED, type);
}

static prt_value *find_input(const prt_graph *graph, prt_str name)
{
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (prt_str_equal(graph->inputs.data[i]->name, name))
            return graph->inputs.data[i];
    return NULL;
}

/* Returns whether an integer input is packed without being listed in a group: it has rank 2 and, if
 * there are groups, the shape of the listed inputs. */
static bool joins(const prt_packer *k, const prt_value *input)
{
    const prt_type *type = prt_match_ranked(input);
    return type != NULL && type->rank == 2 && prt_dtype_is_integer(type->dtype) &&
        prt_packed_fact_of(k, input).layout == PRT_LAYOUT_UNCHANGED &&
        (*prt_pass_text(k->p, "dynamic_groups") == '\0' || prt_packed_is_tokens(k, type));
}

/* Packs the inputs listed in dynamic_groups, then the ids, masks and positions of the same
 * shape. */
static poprt_status pack_inputs(prt_packer *k)
{
    prt_str item;
    for (const char *cursor = NULL; prt_pass_next(k->p, "dynamic_groups", &cursor, &item);) {
        const prt_str name = strip_item(item);
        prt_value *input = find_input(k->graph, name);
        if (name.size == 0)
            continue;
        if (input == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, "dynamic_groups", "the model has no input '%.*s'",
                PRT_STR_ARG(name));
        PRT_TRY(pack_input(k, input));
    }
    for (size_t i = 0; i < k->graph->inputs.count; i++)
        if (joins(k, k->graph->inputs.data[i]))
            PRT_TRY(pack_input(k, k->graph->inputs.data[i]));
    return POPRT_OK;
}

static poprt_status add_info(prt_packer *k)
{
    static const prt_str name = PRT_STR_INIT("unpack_info");
    const int64_t dims[2] = { k->samples, k->n_segments };
    const prt_type *type = prt_type_tensor(k->p->module->types, PRT_DTYPE_i32, 2, dims);
    if (prt_map_find(&k->p->module->names, name) != NULL)
        return prt_fail(POPRT_E_ARG, name.data, "the model has a value of this name already");
    k->info = type != NULL ? prt_graph_add_input(k->graph, name, type) : NULL;
    return k->info != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status find_heads(prt_packer *k)
{
    prt_str chains[MOST_CHAINS], item;
    uint32_t n = 0;
    prt_pattern *pattern;
    bool found;
    for (const char *cursor = NULL;
         n < MOST_CHAINS && prt_pass_next(k->p, "head_pattern", &cursor, &item);)
        chains[n++] = strip_item(item);
    if (n == 0)
        return POPRT_OK;
    PRT_TRY(prt_pattern_parse(k->p->arena, n, chains, &pattern));
    for (uint32_t i = 0; i < k->graph->n_ops; i++)
        if (!PRT_VEC_PUSH(k->p->arena, &k->heads, false))
            return POPRT_E_NOMEM;
    PRT_TRY(prt_pattern_next(pattern, k->graph, &found));
    if (!found)
        prt_pass_warn(k->p, "head_pattern", "matches nothing");
    for (; found && prt_pattern_count(pattern) != 0;) {
        PRT_TRY(prt_pass_check(k->p));
        k->heads.data[prt_pattern_node_at(pattern, 0)->id] = true;
        PRT_TRY(prt_pattern_next(pattern, k->graph, &found));
    }
    return POPRT_OK;
}

static bool is_input_by_name(const prt_graph *graph, uint32_t output)
{
    const prt_value *v = graph->ret->in[output].value;
    return prt_value_is_input(v) && prt_str_equal(v->name, graph->output_names.data[output]);
}

static poprt_status unpack_outputs(prt_packer *k)
{
    prt_op *ret = k->graph->ret;
    prt_build b = prt_build_at_end(k->graph);
    for (uint32_t i = 0; i < ret->n_in; i++) {
        prt_value *v = prt_op_input(ret, i);
        const prt_packed_layout f = prt_packed_fact_of(k, v).layout;
        if ((f != PRT_LAYOUT_PACKED && f != PRT_LAYOUT_FLAT) || is_input_by_name(k->graph, i))
            continue;
        prt_value *u = prt_packed_unpack(k, &b, v);
        PRT_TRY(prt_build_status(&b));
        for (uint32_t other = i; other < ret->n_in; other++)
            if (prt_op_input(ret, other) == v && !is_input_by_name(k->graph, other))
                prt_op_set_input(ret, other, u);
        const prt_str name = v->name;
        if (v->def == NULL || name.size == 0 || u->name.size != 0 || prt_value_is_output(v))
            continue;
        v->name = PRT_STR("");
        PRT_TRY(prt_value_set_name(u, name));
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_packer k = { .p = p, .graph = graph };
    PRT_TRY(read_segments(&k));
    PRT_TRY(pack_inputs(&k));
    if (k.like == NULL) {
        prt_pass_note(p, "", "found no input with tokens; nothing is packed");
        return POPRT_OK;
    }
    PRT_TRY(find_heads(&k));
    PRT_TRY(add_info(&k));
    *changed = true;
    prt_for_each_op (op, graph) {
        PRT_TRY(prt_pass_check(p));
        PRT_TRY(prt_packed_visit(&k, op));
    }
    PRT_TRY(unpack_outputs(&k));
    if (!k.masked)
        prt_pass_warn(p, "",
            "no mask among the inputs is unpacked: samples shorter than "
            "%lld tokens will attend to the padding after them",
            (long long)k.length);
    return prt_ir_infer(graph);
}

const prt_pass_hooks prt_pass_packed_transformer = { .run = run };
