/* SPDX-License-Identifier: MIT */
/*
 * host_concat.c — apply_host_concat_split: inputs of one element type and shape become rows of one
 * input, which the graph splits and reshapes. Difference from the reference: Split and Reshape
 * replace its custom node; both are views, so nothing is copied.
 *
 * metadata_props["HostConcatRunnerConfig"] tells callers how the rows map to the original inputs:
 * {"NEW NAME": {"tensor_name", "input_tensor_names": [...], "shape": [n, size], "data_size_bytes",
 * "dtype"}}.
 */
#include <stdio.h>

#include "ir/extra.h"
#include "ir/interface.h"
#include "pass/engine/pass.h"

enum { LEAST_INPUTS = 2 };

typedef struct group {
    prt_pass *p;
    prt_graph *graph;
    prt_json_out config;
    const prt_type *type;  /* type of each original input */
    uint64_t count, bytes; /* elements and bytes of one original input */
    uint32_t made;
} group;

/* Accepts "fp32", as the reference writes it, "float32" and "f32". */
static int32_t dtype_of(prt_arena *arena, prt_str name)
{
    const bool fp = name.size > 2 && memcmp(name.data, "fp", 2) == 0;
    const prt_str id = fp ? (prt_str){ name.data + 1, name.size - 1 } : name;
    char *text = prt_arena_text(arena, id.data, id.size);
    if (text == NULL)
        return PRT_DTYPE_undefined;
    if (fp)
        text[0] = 'f'; /* the text is "p32" at this point */
    const int32_t dtype = prt_dtype_by_name(text);
    return dtype != PRT_DTYPE_undefined ? dtype : prt_dtype_by_id(prt_str_of(text));
}

/* Reads an item [element type, shape, most inputs of a group]; the last member is optional. */
static poprt_status read_item(prt_pass *p, const prt_json *item, const prt_type **type,
    int64_t *most)
{
    int64_t dims[PRT_MAX_RANK];
    prt_str name;
    const bool fits = item->kind == PRT_JSON_ARRAY && (item->count == 2 || item->count == 3) &&
        prt_json_text(&item->items[0], &name) && item->items[1].kind == PRT_JSON_ARRAY &&
        item->items[1].count <= PRT_MAX_RANK;
    *most = INT32_MAX;
    if (!fits || (item->count == 3 && !prt_json_i64(&item->items[2], most)))
        return prt_fail(POPRT_E_ARG, "merged_inputs",
            "an item is [\"TYPE\", [DIMS...]] or [\"TYPE\", [DIMS...], NUMBER OF INPUTS]");
    for (uint32_t i = 0; i < item->items[1].count; i++)
        if (!prt_json_i64(&item->items[1].items[i], &dims[i]) || dims[i] < 1)
            return prt_fail(POPRT_E_ARG, "merged_inputs",
                "dimensions must be integers of 1 or more");
    const int32_t dtype = dtype_of(p->arena, name);
    if (dtype == PRT_DTYPE_undefined || dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_ARG, "merged_inputs", "'%.*s' is not an element type of numbers",
            PRT_STR_ARG(name));
    if (*most < LEAST_INPUTS)
        return prt_fail(POPRT_E_ARG, "merged_inputs", "a group needs at least %d inputs",
            LEAST_INPUTS);
    *type = prt_type_tensor(p->module->types, dtype, (int32_t)item->items[1].count, dims);
    return *type != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void describe(group *g, prt_value *const *inputs, uint32_t n, const prt_value *merged)
{
    prt_json_open(&g->config, merged->name.data, '{');
    prt_json_put_text(&g->config, "tensor_name", merged->name);
    prt_json_open(&g->config, "input_tensor_names", '[');
    for (uint32_t i = 0; i < n; i++)
        prt_json_put_text(&g->config, NULL, inputs[i]->name);
    prt_json_close(&g->config, ']');
    prt_json_open(&g->config, "shape", '[');
    prt_json_put_i64(&g->config, NULL, n);
    prt_json_put_i64(&g->config, NULL, (int64_t)g->count);
    prt_json_close(&g->config, ']');
    prt_json_put_i64(&g->config, "data_size_bytes", (int64_t)(n * g->bytes));
    prt_json_put_text(&g->config, "dtype", prt_str_of(prt_dtype_of(g->type->dtype)->name));
    prt_json_close(&g->config, '}');
}

static prt_build at_start(prt_graph *graph)
{
    return graph->first != NULL ? prt_build_before(graph->first) : prt_build_at_end(graph);
}

/* Replaces the inputs by rows of `merged`, reshaped. */
static poprt_status split(group *g, prt_value *const *inputs, uint32_t n, prt_value *merged)
{
    prt_build b = at_start(g->graph);
    const prt_split_attrs axis = PRT_ATTRS_OF(split);
    int64_t *ones = PRT_NEW_N(g->p->arena, int64_t, n);
    if (ones == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        ones[i] = 1;
    prt_value *const in[] = { merged, prt_build_i64s(&b, n, ones) };
    prt_value *shape = prt_build_i64s(&b, (uint32_t)g->type->rank, g->type->dims);
    prt_op *rows = prt_build_op_n(&b, PRT_OP_split, &axis, 2, in, n);
    for (uint32_t i = 0; i < n && rows != NULL; i++) {
        prt_value *y = prt_build_binary(&b, PRT_OP_reshape, &rows->out[i], shape);
        if (y == NULL)
            break;
        prt_value_replace(inputs[i], y);
        const prt_str name = inputs[i]->name;
        inputs[i]->name = PRT_STR("");
        inputs[i]->constant = NULL;
        PRT_TRY(prt_value_set_name(y, name));
    }
    return prt_build_status(&b);
}

static poprt_status merge(group *g, prt_value *const *inputs, uint32_t n)
{
    char text[64];
    const int64_t dims[] = { n, (int64_t)g->count };
    prt_module *m = g->p->module;
    (void)snprintf(text, sizeof(text), "host_concat_%u", g->made++);
    const prt_str name = prt_module_fresh_name(m, text);
    const prt_type *type = prt_type_tensor(m->types, g->type->dtype, 2, dims);
    if (name.data == NULL || type == NULL)
        return POPRT_E_NOMEM;
    prt_value *merged = prt_graph_add_input(g->graph, name, type);
    if (merged == NULL)
        return POPRT_E_NOMEM;
    describe(g, inputs, n, merged);
    return split(g, inputs, n, merged);
}

/* Returns whether the input is part of the group. Inputs that are also outputs stay, since an
 * output would lose its name. */
static bool belongs(const group *g, const prt_value *v)
{
    return v->type == g->type && v->constant == NULL && !prt_value_is_output(v);
}

static poprt_status merge_item(group *g, const prt_json *item, bool *changed)
{
    PRT_VEC(prt_value *) inputs = { 0 };
    size_t bytes;
    int64_t most;
    PRT_TRY(read_item(g->p, item, &g->type, &most));
    if (!prt_type_count(g->type, &g->count) || !prt_type_size(g->type, &bytes) ||
        g->count > INT32_MAX)
        return prt_fail(POPRT_E_LIMIT, "merged_inputs", "a shape has too many elements");
    g->bytes = bytes;
    const size_t n_inputs = g->graph->inputs.count;
    for (size_t i = 0; i < n_inputs; i++)
        if (belongs(g, g->graph->inputs.data[i]) &&
            !PRT_VEC_PUSH(g->p->arena, &inputs, g->graph->inputs.data[i]))
            return POPRT_E_NOMEM;
    for (size_t i = 0; inputs.count - i >= LEAST_INPUTS;) {
        const size_t left = inputs.count - i;
        const uint32_t n = (uint32_t)(left < (size_t)most ? left : (size_t)most);
        PRT_TRY(merge(g, &inputs.data[i], n));
        i += n;
        *changed = true;
    }
    return POPRT_OK;
}

static bool is_merged(const prt_value *input)
{
    return input->name.size == 0;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    group g = { .p = p, .graph = graph };
    prt_json *items;
    prt_str text;
    bool merged = false;
    PRT_TRY(prt_pass_json(p, "merged_inputs", &items));
    if (items == NULL || items->kind != PRT_JSON_ARRAY)
        return prt_fail(POPRT_E_ARG, "merged_inputs",
            "an array is needed: [[\"fp32\", [512, 1], 50], ...]");
    prt_json_out_init(&g.config, p->arena, false);
    prt_json_open(&g.config, NULL, '{');
    for (uint32_t i = 0; i < items->count; i++)
        PRT_TRY(merge_item(&g, &items->items[i], &merged));
    prt_json_close(&g.config, '}');
    PRT_TRY(prt_json_out_finish(&g.config, &text));
    if (!merged) {
        prt_pass_note(p, "merged_inputs", "no two inputs have these types and shapes");
        return POPRT_OK;
    }
    prt_graph_drop_inputs(graph, is_merged);
    *changed = true;
    return prt_module_set_metadata(p->module, "HostConcatRunnerConfig", text);
}

const prt_pass_hooks prt_pass_apply_host_concat_split = { .run = run };
