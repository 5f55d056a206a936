/* SPDX-License-Identifier: MIT */
/*
 * packed.c — packed_transformer: a model of batches [B, S] takes samples laid end to end. A new
 * input unpack_info [max_valid_num, segments] says how long they are.
 *
 * Values are followed from the packed inputs on, and each is in one form:
 *
 *     packed    [B, S, ...]: tokens in order, of as many samples as fit
 *     flat      [B * S, ...]: the same, as Reshape makes it
 *     unpacked  [max_valid_num, sum of segment_max_size, ...]: a sample a row
 *
 * Operators that treat each token alone (element-wise ones, MatMul with weights, norms over the
 * last axis, lookups) stay packed: there lies the gain. Any other one gets its operands by Unpack,
 * and works on samples. What heads of attention are merged into, and sums of packed values with
 * ones by position, go back by Repack. Outputs are unpacked, so row i is of sample i.
 *
 * Masks are values of rank 2: they are unpacked first, so that what is behind a sample is 0, which
 * must mean "not there". Ours: dynamic_groups need not name them all, inputs of integers with the
 * shape of a named one go with it (a published command line names input_ids alone); where the head
 * begins needs no pattern, because the first operator that mixes tokens asks for samples, and
 * head_pattern names one that must, though it would not. Shapes must be known, and no region may
 * read packed values.
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
                "'%.100s' is no list of sizes such as 13+51",
                prt_pass_text(k->p, "segment_max_size"));
        k->segments[k->n_segments++] = size;
        k->length += size;
        at += strspn(at, " +");
    }
    if (k->n_segments == 0)
        return prt_fail(POPRT_E_ARG, "segment_max_size", "segment_max_size is needed");
    return POPRT_OK;
}

/* An item without brackets and quotes around it. */
static prt_str bare(prt_str item)
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
    return prt_packed_learn(k, input, PRT_FORM_PACKED, type);
}

static prt_value *find_input(const prt_graph *graph, prt_str name)
{
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (prt_str_equal(graph->inputs.data[i]->name, name))
            return graph->inputs.data[i];
    return NULL;
}

/* An input of integers that is packed though no group names it: where there are groups one of them
 * must have its shape. */
static bool joins(const prt_packer *k, const prt_value *input)
{
    const prt_type *type = prt_match_ranked(input);
    return type != NULL && type->rank == 2 && prt_dtype_is_integer(type->dtype) &&
        prt_packed_fact_of(k, input).form == PRT_FORM_PLAIN &&
        (*prt_pass_text(k->p, "dynamic_groups") == '\0' || prt_packed_is_tokens(k, type));
}

/* Those of dynamic_groups, then ids, masks and positions that go with them. */
static poprt_status pack_inputs(prt_packer *k)
{
    prt_str item;
    for (const char *cursor = NULL; prt_pass_next(k->p, "dynamic_groups", &cursor, &item);) {
        const prt_str name = bare(item);
        prt_value *input = find_input(k->graph, name);
        if (name.size == 0)
            continue;
        if (input == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, "dynamic_groups", "there is no input '%.*s'",
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
        chains[n++] = bare(item);
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

static poprt_status unpack_outputs(prt_packer *k)
{
    prt_op *ret = k->graph->ret;
    prt_build b = prt_build_at_end(k->graph);
    for (uint32_t i = 0; i < ret->n_in; i++) {
        prt_value *v = prt_op_input(ret, i);
        const prt_packed_form f = prt_packed_fact_of(k, v).form;
        if (f != PRT_FORM_PACKED && f != PRT_FORM_FLAT)
            continue;
        prt_value *u = prt_packed_unpack(k, &b, v);
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(ret, i, u);
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
        prt_pass_note(p, "", "no input holds tokens: nothing is packed");
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
            "no mask of the inputs is unpacked: samples that are shorter than "
            "%lld tokens will see what is behind them",
            (long long)k.length);
    return prt_ir_infer(graph);
}

const prt_pass_hooks prt_pass_packed_transformer = { .run = run };
