/* SPDX-License-Identifier: MIT */
/*
 * op.c — operators of plug-ins: makes rows of the operator table from records, with hooks that call
 * the functions of the record, and the host functions for infer and eval. All inputs and outputs
 * are tensors, of strings only if the record allows it. The plug-in's infer checks everything else.
 */
#include <stddef.h>
#include <stdio.h>

#include "plugin/internal.h"

enum { MAX_SLOTS = 64, MAX_ATTRS = 63 };

static const prt_infer *infer_of(const poprt_infer *c)
{
    return (const prt_infer *)(const void *)c;
}

static prt_eval *eval_of(const poprt_eval *c)
{
    return (prt_eval *)(uintptr_t)c;
}

/* ---- hooks */

static poprt_status run_infer(prt_infer *c)
{
    const prt_plugin_op *op = prt_plugin_op_of(c->def);
    prt_plugin_enter();
    return prt_plugin_leave(op->plugin, op->row.def.key, c->origin.data,
        op->record.infer(&op->plugin->all->host, (poprt_infer *)(void *)c));
}

/* Runs eval. Every used output must get its memory, from infer or from the hook. */
static poprt_status run_eval(prt_eval *c)
{
    const prt_plugin_op *op = prt_plugin_op_of(c->def);
    prt_plugin_enter();
    PRT_TRY(prt_plugin_leave(op->plugin, op->row.def.key, c->origin.data,
        op->record.eval(&op->plugin->all->host, (poprt_eval *)(void *)c)));
    for (uint32_t i = 0; i < c->n_out; i++)
        if (prt_eval_wants(c, i) && c->out[i]->kind == PRT_VALUE_UNKNOWN)
            return prt_fail(POPRT_E_PLUGIN, c->origin.data,
                "plug-in %.100s, %.200s: eval did not create output %u", op->plugin->name,
                op->row.def.key, i);
    return POPRT_OK;
}

/* ---- for infer */

poprt_status prt_plugin_no_slot(const char *what, uint32_t index)
{
    return prt_fail(POPRT_E_ARG, NULL, "there is no %s %u", what, index);
}

static uint32_t infer_inputs(const poprt_infer *context)
{
    return infer_of(context)->n_in;
}

static uint32_t infer_outputs(const poprt_infer *context)
{
    return infer_of(context)->n_out;
}

static void *arena_alloc(void *context, size_t size)
{
    return prt_arena_alloc(context, size);
}

prt_plugin_memory prt_plugin_arena_memory(prt_arena *arena)
{
    return (prt_plugin_memory){ arena_alloc, arena };
}

poprt_status prt_plugin_get_attr(const prt_op_def *def, const void *attrs, const char *name,
    prt_plugin_memory memory, poprt_attr *out)
{
    const uint32_t index = name != NULL ? prt_op_attr(def, prt_str_of(name)) : UINT32_MAX;
    if (index == UINT32_MAX)
        return prt_fail(POPRT_E_NOT_FOUND, NULL, "the operator's record has no attribute %.100s",
            name != NULL ? name : "NULL");
    return prt_plugin_export_attr(&def->attrs[index], attrs, memory, out);
}

static poprt_status infer_attr(const poprt_infer *context, const char *name, poprt_attr *out)
{
    const prt_infer *c = infer_of(context);
    return prt_plugin_get_attr(c->def, c->attrs, name, prt_plugin_arena_memory(c->scratch), out);
}

static int32_t infer_has_input(const poprt_infer *context, uint32_t input)
{
    return prt_infer_has(infer_of(context), input);
}

static int32_t infer_has_output(const poprt_infer *context, uint32_t output)
{
    return prt_infer_wants(infer_of(context), output);
}

static poprt_status infer_input(const poprt_infer *context, uint32_t input, poprt_type *out)
{
    const prt_infer *c = infer_of(context);
    if (!prt_infer_has(c, input))
        return prt_plugin_no_slot("input", input);
    const prt_shape *s = &c->in[input];
    *out = (poprt_type){ .dtype = s->dtype,
        .rank = s->kind == PRT_VALUE_TENSOR ? s->rank : PRT_RANK_UNKNOWN };
    for (int32_t i = 0; i < out->rank; i++)
        out->dims[i] = s->dims[i] != PRT_DIM_UNKNOWN ? s->dims[i] : -1;
    return POPRT_OK;
}

static poprt_status infer_integers(const poprt_infer *context, uint32_t input, int64_t *to,
    uint32_t most, uint32_t *count)
{
    const prt_infer *c = infer_of(context);
    *count = 0;
    if (!prt_infer_has(c, input))
        return prt_plugin_no_slot("input", input);
    if (!prt_infer_ints(c, input, to, most, count))
        *count = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (!prt_dim_is_number(to[i])) {
            *count = 0;
            return POPRT_OK;
        }
    return POPRT_OK;
}

/* Tells whether an output may have an element type. */
static bool is_dtype(const prt_op_def *def, int32_t dtype)
{
    const bool strings = (prt_plugin_op_of(def)->record.flags & POPRT_OP_STRINGS) != 0;
    return dtype >= 0 && dtype < PRT_DTYPE_COUNT && (dtype != PRT_DTYPE_string || strings);
}

static poprt_status infer_output(poprt_infer *context, uint32_t output, const poprt_type *type)
{
    prt_infer *c = (prt_infer *)(void *)context;
    int64_t dims[PRT_MAX_RANK];
    if (output >= c->n_out)
        return prt_plugin_no_slot("output", output);
    if (type->rank < -1 || type->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, NULL, "output %u has rank %d: allowed are -1 to %d", output,
            type->rank, PRT_MAX_RANK);
    if (!is_dtype(c->def, type->dtype))
        return prt_fail(POPRT_E_TYPE, NULL, "output %u has element type %d, which it cannot have",
            output, type->dtype);
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_plugin_import_dim(c->dims, type->dims[i], &dims[i]))
            return prt_fail(POPRT_E_SHAPE, NULL, "dim %d of output %u is negative", i, output);
    return prt_infer_set(c, output, type->dtype, type->rank, dims);
}

/* ---- for eval */

static uint32_t eval_inputs(const poprt_eval *context)
{
    return eval_of(context)->n_in;
}

static uint32_t eval_outputs(const poprt_eval *context)
{
    return eval_of(context)->n_out;
}

static void *eval_alloc(void *context, size_t size)
{
    return prt_eval_scratch(context, size, 1);
}

static poprt_status eval_attr(const poprt_eval *context, const char *name, poprt_attr *out)
{
    prt_eval *c = eval_of(context);
    return prt_plugin_get_attr(c->def, c->attrs, name, (prt_plugin_memory){ eval_alloc, c }, out);
}

static int32_t eval_has_input(const poprt_eval *context, uint32_t input)
{
    return prt_eval_has(eval_of(context), input);
}

static int32_t eval_has_output(const poprt_eval *context, uint32_t output)
{
    return prt_eval_wants(eval_of(context), output);
}

void prt_plugin_export_tensor(const prt_tensor *t, poprt_tensor *out)
{
    *out = (poprt_tensor){ .data = t->data,
        .size = t->size,
        .dims = t->dims,
        .rank = t->rank,
        .dtype = t->dtype };
}

static poprt_status eval_input(const poprt_eval *context, uint32_t input, poprt_tensor *out)
{
    const prt_eval *c = eval_of(context);
    if (!prt_eval_has(c, input))
        return prt_plugin_no_slot("input", input);
    prt_plugin_export_tensor(c->in[input], out);
    return POPRT_OK;
}

static bool same_shape(const prt_tensor *t, int32_t dtype, uint32_t rank, const int64_t *dims)
{
    return t->dtype == dtype && t->rank == rank &&
        (rank == 0 || memcmp(t->dims, dims, rank * sizeof(int64_t)) == 0);
}

static poprt_status eval_output(poprt_eval *context, uint32_t output, int32_t dtype, uint32_t rank,
    const int64_t *dims, poprt_tensor *out)
{
    prt_eval *c = eval_of(context);
    if (!prt_eval_wants(c, output))
        return prt_plugin_no_slot("wanted output", output);
    if (dtype == PRT_DTYPE_undefined || !is_dtype(c->def, dtype) || rank > PRT_MAX_RANK ||
        (rank != 0 && dims == NULL))
        return prt_fail(POPRT_E_ARG, NULL, "output %u: element type %d with rank %u is not allowed",
            output, dtype, rank);
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] < 0)
            return prt_fail(POPRT_E_ARG, NULL, "output %u: dim %u is negative", output, i);
    const prt_tensor *t = c->out[output];
    if (t->kind == PRT_VALUE_TENSOR && t->data != NULL && !same_shape(t, dtype, rank, dims))
        return prt_fail(POPRT_E_SHAPE, NULL, "output %u does not have the type that infer set",
            output);
    PRT_TRY(prt_eval_shape(c, output, dtype, rank, dims));
    prt_plugin_export_tensor(c->out[output], out);
    return POPRT_OK;
}

static poprt_status eval_set_string(poprt_eval *context, uint32_t output, size_t index,
    const char *bytes, size_t size)
{
    prt_eval *c = eval_of(context);
    const prt_tensor *t = prt_eval_wants(c, output) ? c->out[output] : NULL;
    if (t == NULL || t->kind != PRT_VALUE_TENSOR || t->dtype != PRT_DTYPE_string ||
        t->data == NULL || index >= prt_tensor_count(t) || (bytes == NULL && size != 0))
        return prt_fail(POPRT_E_ARG, NULL,
            "there is no string %zu in output %u, or its text is NULL", index, output);
    if (size >= UINT32_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "a string has %zu bytes: fewer than 2^32 - 1 are allowed", size);
    char *text = c->host->alloc(c, output, size + 1);
    if (text == NULL)
        return POPRT_E_NOMEM;
    if (size != 0)
        memcpy(text, bytes, size);
    ((poprt_string *)t->data)[index] = (poprt_string){ text, size };
    return POPRT_OK;
}

static void *eval_scratch(poprt_eval *context, size_t size)
{
    return prt_eval_scratch(eval_of(context), size, 1);
}

static poprt_status eval_check(poprt_eval *context)
{
    prt_eval *c = eval_of(context);
    return c->host->check(c);
}

void prt_plugin_host_ops(poprt_host *host)
{
    host->infer_inputs = infer_inputs;
    host->infer_outputs = infer_outputs;
    host->infer_attr = infer_attr;
    host->infer_has_input = infer_has_input;
    host->infer_has_output = infer_has_output;
    host->infer_input = infer_input;
    host->infer_integers = infer_integers;
    host->infer_output = infer_output;
    host->eval_inputs = eval_inputs;
    host->eval_outputs = eval_outputs;
    host->eval_attr = eval_attr;
    host->eval_has_input = eval_has_input;
    host->eval_has_output = eval_has_output;
    host->eval_input = eval_input;
    host->eval_output = eval_output;
    host->eval_set_string = eval_set_string;
    host->eval_scratch = eval_scratch;
    host->eval_check = eval_check;
}

/* ---- rows */

/* Makes the slots [0, count). If there is no maximum, one more slot stands for any number. The name
 * of all is the text that follows them. */
static prt_slot_def *make_slots(prt_arena *arena, uint32_t min, uint32_t max, uint16_t *count)
{
    *count = (uint16_t)(max != POPRT_PLUGIN_ANY ? max : min + 1);
    static const char name[] = "of a plug-in";
    prt_slot_def *slots = prt_arena_alloc(arena, *count * sizeof(*slots) + sizeof(name));
    if (slots == NULL)
        return NULL;
    memcpy(slots + *count, name, sizeof(name));
    for (uint32_t i = 0; i < *count; i++) {
        slots[i] = (prt_slot_def){ .name_at = (uint16_t)((*count - i) * sizeof(*slots)),
            .var = "T",
            .flags = PRT_SLOT_HETEROGENEOUS | (i >= min ? PRT_SLOT_OPTIONAL : 0u) };
        if (max == POPRT_PLUGIN_ANY && i == min)
            slots[i].flags |= PRT_SLOT_VARIADIC;
    }
    return slots;
}

/* Copies the default of an attribute. Tensors may have none; types and graphs never have one. */
static poprt_status copy_default(prt_arena *arena, const prt_op_def *def, const prt_attr_def *row,
    uint32_t index, const poprt_attr *a, void *defaults)
{
    if (a->kind >= POPRT_ATTR_TENSOR && a->string == NULL)
        return POPRT_OK;
    if (a->kind == POPRT_ATTR_TYPE || a->kind == POPRT_ATTR_GRAPH)
        return prt_fail(POPRT_E_PLUGIN, def->key,
            "attribute %.100s is a type or a graph, whose default must be NULL", a->name);
    return prt_plugin_copy_attr(arena, NULL, row, index, a, defaults);
}

/* Makes the rows of the attributes, which their names follow, and the struct of their defaults:
 * `present`, then eight or sixteen bytes for each attribute. */
static poprt_status make_attrs(prt_arena *arena, const poprt_plugin_op *r, prt_op_def *def)
{
    static const uint8_t kinds[] = { [POPRT_ATTR_INT] = PRT_ATTR_i64,
        [POPRT_ATTR_FLOAT] = PRT_ATTR_f32,
        [POPRT_ATTR_STRING] = PRT_ATTR_str,
        [POPRT_ATTR_INTS] = PRT_ATTR_i64s,
        [POPRT_ATTR_FLOATS] = PRT_ATTR_f32s,
        [POPRT_ATTR_STRINGS] = PRT_ATTR_strs,
        [POPRT_ATTR_TENSOR] = PRT_ATTR_tensor,
        [POPRT_ATTR_TYPE] = PRT_ATTR_type,
        [POPRT_ATTR_GRAPH] = PRT_ATTR_graph };
    enum { WIDEST = 16, NAME = PRT_PLUGIN_ATTR_NAME + 1 };
    prt_attr_def *rows = prt_arena_alloc(arena, (sizeof(*rows) + NAME) * (r->n_attrs + 1));
    char *defaults = prt_arena_alloc(arena, WIDEST * (r->n_attrs + 1));
    if (rows == NULL || defaults == NULL)
        return POPRT_E_NOMEM;
    def->attrs = rows;
    def->defaults = defaults;
    def->attrs_size = (uint16_t)(WIDEST * (r->n_attrs + 1));
    for (uint32_t i = 0; i < r->n_attrs; i++) {
        const poprt_attr *a = &r->attrs[i];
        PRT_TRY(prt_fail_about(prt_plugin_check_attr(a), def->key));
        if (prt_op_attr(def, prt_str_of(a->name)) != UINT32_MAX)
            return prt_fail(POPRT_E_PLUGIN, def->key, "attribute %.100s is listed twice", a->name);
        char *name = (char *)(rows + r->n_attrs) + i * NAME;
        memcpy(name, a->name, strlen(a->name) + 1);
        rows[i] = (prt_attr_def){ .name_at = (uint16_t)(name - (const char *)&rows[i]),
            .offset = (uint16_t)(WIDEST * (i + 1)),
            .kind = kinds[a->kind] };
        def->n_attrs = (uint16_t)(i + 1);
        if (a->kind == POPRT_ATTR_GRAPH)
            def->traits |= PRT_CONTROL;
        PRT_TRY(prt_fail_about(copy_default(arena, def, &rows[i], i, a, defaults), def->key));
    }
    *(uint64_t *)(void *)defaults = 0;
    return POPRT_OK;
}

static poprt_status check(const poprt_plugin_op *r)
{
    const bool named = r->name != NULL && r->name[0] != '\0' && strlen(r->name) < 128 &&
        (r->domain == NULL || strlen(r->domain) < 128);
    const char *key = named ? r->name : "plug-in";
    if (!named)
        return prt_fail(POPRT_E_PLUGIN, key,
            "an operator needs a name, and a domain, of less than 128 bytes");
    if (r->infer == NULL)
        return prt_fail(POPRT_E_PLUGIN, key, "the operator has no function `infer`");
    if (r->since == 0 || r->since > INT32_MAX)
        return prt_fail(POPRT_E_PLUGIN, key,
            "the operator's `since` must be a version of at least 1");
    const uint32_t n_in = r->max_inputs == POPRT_PLUGIN_ANY ? r->min_inputs : r->max_inputs;
    const uint32_t n_out = r->max_outputs == POPRT_PLUGIN_ANY ? r->min_outputs : r->max_outputs;
    if (r->min_inputs > n_in || r->min_outputs > n_out || n_in > MAX_SLOTS || n_out > MAX_SLOTS ||
        r->max_outputs == 0)
        return prt_fail(POPRT_E_PLUGIN, key,
            "the operator's numbers of inputs and outputs must be from 0 to %d, with minimum <= "
            "maximum and at least one output",
            MAX_SLOTS);
    if (r->n_attrs > MAX_ATTRS || (r->n_attrs != 0 && r->attrs == NULL))
        return prt_fail(POPRT_E_PLUGIN, key,
            "the operator's list of attributes is NULL, or longer than %d", MAX_ATTRS);
    return POPRT_OK;
}

static char *make_key(prt_arena *arena, const char *domain, const char *name)
{
    char key[260];
    const int n = snprintf(key, sizeof(key), "%s%s%s", domain, domain[0] != '\0' ? "." : "", name);
    return prt_arena_text(arena, key, n > 0 ? (size_t)n : 0);
}

poprt_status prt_plugin_make_op(prt_plugin *plugin, const poprt_plugin_op *record,
    prt_plugin_op **out)
{
    prt_arena *arena = plugin->all->arena;
    prt_plugin_op *op = PRT_NEW(arena, prt_plugin_op);
    if (op == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_plugin_import(&op->record, sizeof(op->record), offsetof(poprt_plugin_op, lower),
        record, "poprt_plugin_op"));
    const poprt_plugin_op *r = &op->record;
    PRT_TRY(check(r));
    const char *domain = r->domain == NULL || strcmp(r->domain, "ai.onnx") == 0 ? "" : r->domain;
    op->plugin = plugin;
    op->hooks = (prt_op_hooks){ .infer = run_infer, .eval = r->eval != NULL ? run_eval : NULL };
    const bool strings = (r->flags & POPRT_OP_STRINGS) != 0;
    op->type = (prt_type_def){ "T", strings ? PRT_T_ALL : PRT_T_ALL & ~PRT_T(string) };
    op->row.plugin = plugin->name;
    op->row.grad = r->grad != NULL ? prt_plugin_run_grad : NULL;
    prt_op_def *def = &op->row.def;
    *def = (prt_op_def){ .key = make_key(arena, domain, r->name),
        .domain = domain,
        .name = r->name,
        .id = PRT_OP_NONE,
        .since = r->since,
        .traits = (r->flags & POPRT_OP_PURE) != 0 ? PRT_PURE : 0,
        .n_types = 1,
        .min_in = (uint16_t)r->min_inputs,
        .max_in = r->max_inputs,
        .min_out = (uint16_t)r->min_outputs,
        .max_out = r->max_outputs,
        .types = &op->type,
        .hooks = &op->hooks };
    def->in = make_slots(arena, r->min_inputs, r->max_inputs, &def->n_in);
    def->out = make_slots(arena, r->min_outputs, r->max_outputs, &def->n_out);
    if (def->key == NULL || def->in == NULL || def->out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(make_attrs(arena, r, def));
    PRT_TRY(prt_plugin_copy_kernels(op));
    *out = op;
    return POPRT_OK;
}
