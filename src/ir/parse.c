/* SPDX-License-Identifier: MIT */
/*
 * parse.c — parses statements of the text form (grammar in print.c) into an empty module. Types are
 * inferred as the ops are read, so that an error is reported at its op.
 */
#include "ir/scan.h"
#include "ir/place.h"

enum { MAX_LABEL = 1 << 20, MAX_SLOTS = 1 << 16 };

/* A name or label on the left of a statement, before its value exists. */
typedef struct target {
    prt_str name;   /* size 0: a label, or an unread output */
    uint32_t label; /* label + 1; 0: no label */
} target;

typedef PRT_VEC(target) targets;
typedef PRT_VEC(prt_value *) values;

typedef struct parser {
    prt_scan s;
    values labels; /* value %k at index k */
} parser;

static poprt_status parse_graph(parser *p, prt_graph *graph, bool inner);

/* ---- lookup of values by name and label */

static bool is_visible(const prt_value *v, const prt_graph *from)
{
    for (; from != NULL; from = from->owner != NULL ? from->owner->graph : NULL)
        if (v->graph == from)
            return true;
    return false;
}

static poprt_status parse_operand(parser *p, const prt_graph *graph, prt_value **out)
{
    prt_scan *s = &p->s;
    const size_t before = s->at;
    const prt_value *v = NULL;
    prt_str name = { NULL, 0 };
    if (prt_scan_accept_word(s, "_")) {
        *out = NULL;
        return POPRT_OK;
    }
    if (prt_scan_accept(s, '%')) {
        uint32_t label;
        PRT_TRY(prt_scan_u32(s, &label));
        if (label < p->labels.count)
            v = p->labels.data[label];
    } else {
        PRT_TRY(prt_scan_name(s, &name));
        v = prt_map_find(&s->module->names, name);
    }
    if (v == NULL || !is_visible(v, graph)) {
        s->at = before;
        if (name.data == NULL)
            return prt_scan_fail(s, POPRT_E_PARSE, "no value with this number is visible here");
        return prt_scan_fail(s, POPRT_E_PARSE, "no value '%.*s' is visible here",
            PRT_STR_ARG(name));
    }
    *out = (prt_value *)(uintptr_t)v;
    return POPRT_OK;
}

static poprt_status parse_target(parser *p, targets *to)
{
    prt_scan *s = &p->s;
    target t = { 0 };
    if (prt_scan_accept(s, '%')) {
        PRT_TRY(prt_scan_u32(s, &t.label));
        if (t.label >= MAX_LABEL)
            return prt_scan_fail(s, POPRT_E_LIMIT, "number is above %d", MAX_LABEL);
        t.label++;
    } else if (!prt_scan_accept_word(s, "_")) {
        PRT_TRY(prt_scan_name(s, &t.name));
    }
    if (to->count == MAX_SLOTS)
        return prt_scan_fail(s, POPRT_E_LIMIT, "more than %d outputs", MAX_SLOTS);
    return PRT_VEC_PUSH(s->arena, to, t) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Gives a new value its name or label from the left of the statement. */
static poprt_status name_value(parser *p, const target *t, prt_value *v)
{
    prt_scan *s = &p->s;
    if (t->name.size != 0) {
        const poprt_status status = prt_value_set_name(v, t->name);
        return status == POPRT_OK || status == POPRT_E_NOMEM ? status : prt_scan_place(s, status);
    }
    if (t->label == 0)
        return POPRT_OK;
    while (p->labels.count < t->label)
        if (!PRT_VEC_PUSH(s->arena, &p->labels, NULL))
            return POPRT_E_NOMEM;
    if (p->labels.data[t->label - 1] != NULL)
        return prt_scan_fail(s, POPRT_E_PARSE, "two values have the number %u", t->label - 1);
    p->labels.data[t->label - 1] = v;
    return POPRT_OK;
}

/* ---- inputs and constants */

static bool at_end_of_statement(prt_scan *s)
{
    const char c = prt_scan_peek(s);
    return s->at >= s->size || c == '\n' || c == ';' || c == '}';
}

static poprt_status parse_input(parser *p, prt_graph *graph, const target *t)
{
    prt_scan *s = &p->s;
    const prt_type *type;
    PRT_TRY(prt_scan_type(s, &type));
    prt_value *v = prt_graph_add_input(graph, PRT_STR(""), type);
    if (v == NULL)
        return POPRT_E_NOMEM;
    if (!at_end_of_statement(s)) {
        prt_blob *blob;
        PRT_TRY(prt_scan_data(s, type, &blob));
        PRT_TRY(prt_module_keep(s->module, blob));
        v->constant = blob;
    }
    return name_value(p, t, v);
}

static poprt_status parse_const(parser *p, prt_graph *graph, const target *t)
{
    prt_scan *s = &p->s;
    const prt_type *type;
    prt_blob *blob;
    PRT_TRY(prt_scan_type(s, &type));
    PRT_TRY(prt_scan_data(s, type, &blob));
    prt_value *v = prt_graph_add_constant(graph, PRT_STR(""), type, blob);
    if (v == NULL)
        return POPRT_E_NOMEM;
    v->initializer = t->name.size != 0 ? PRT_INITIALIZER_only : PRT_INITIALIZER_none;
    return name_value(p, t, v);
}

static poprt_status parse_variable(parser *p, prt_graph *graph, const target *t)
{
    prt_scan *s = &p->s;
    const prt_type *type;
    prt_str word;
    uint32_t role = 0;
    PRT_TRY(prt_scan_name(s, &word));
    while (role < PRT_VARIABLE_ROLE_COUNT && !prt_str_is(word, prt_variable_role_name(role)))
        role++;
    PRT_TRY(prt_scan_type(s, &type));
    if (role == PRT_VARIABLE_ROLE_COUNT || !prt_type_is_tensor(type) || !prt_type_is_static(type) ||
        type->dtype == PRT_DTYPE_string || graph->owner != NULL || t->name.size == 0)
        return prt_scan_fail(s, POPRT_E_PARSE,
            "a variable needs a name, a role and the type of a numeric tensor whose dimensions are "
            "numbers, and belongs to the main graph");
    prt_ir_variable *v = prt_module_add_variable(s->module, t->name, type, role);
    if (v == NULL)
        return POPRT_E_NOMEM;
    if (!at_end_of_statement(s)) {
        prt_blob *blob;
        PRT_TRY(prt_scan_data(s, type, &blob));
        PRT_TRY(prt_module_keep(s->module, blob));
        v->init = blob;
    }
    prt_value *value = prt_graph_variable(graph, v);
    return value != NULL ? name_value(p, t, value) : POPRT_E_NOMEM;
}

/* ---- ops */

static poprt_status parse_region(parser *p, prt_op *op, prt_str name)
{
    prt_scan *s = &p->s;
    prt_arena *arena = s->module->arena;
    if (op->def != NULL) {
        const uint32_t index = prt_op_attr(op->def, name);
        if (index == UINT32_MAX || op->def->attrs[index].kind != PRT_ATTR_graph)
            return prt_scan_fail(s, POPRT_E_PARSE, "operator %s has no region '%.*s'", op->def->key,
                PRT_STR_ARG(name));
        if (prt_attr_given(op->attrs, index))
            return prt_scan_fail(s, POPRT_E_PARSE, "region '%.*s' is given twice",
                PRT_STR_ARG(name));
        *(uint64_t *)op->attrs |= (uint64_t)1 << index;
        *(uint32_t *)(void *)((char *)op->attrs + op->def->attrs[index].offset) = op->n_regions;
    }
    if (s->depth >= PRT_TEXT_DEPTH)
        return prt_scan_fail(s, POPRT_E_LIMIT, "regions are more than %d levels deep",
            PRT_TEXT_DEPTH);
    prt_graph **grown = PRT_NEW_N(arena, prt_graph *, (size_t)op->n_regions + 1);
    if (grown == NULL)
        return POPRT_E_NOMEM;
    if (op->n_regions != 0)
        memcpy(grown, op->regions, op->n_regions * sizeof(prt_graph *));
    prt_graph *region = prt_graph_create(s->module, op);
    if (region == NULL)
        return POPRT_E_NOMEM;
    grown[op->n_regions] = region;
    op->regions = grown;
    op->n_regions++;
    s->depth++;
    PRT_TRY(parse_graph(p, region, true));
    s->depth--;
    return POPRT_OK;
}

static poprt_status parse_braces(parser *p, prt_op *op)
{
    prt_scan *s = &p->s;
    for (;;) {
        prt_scan_space(s, true);
        while (prt_scan_accept(s, ','))
            prt_scan_space(s, true);
        if (prt_scan_accept(s, '}'))
            return POPRT_OK;
        prt_str name;
        PRT_TRY(prt_scan_name(s, &name));
        if (prt_scan_accept(s, '{')) {
            PRT_TRY(parse_region(p, op, name));
            continue;
        }
        if (op->def == NULL)
            return prt_scan_fail(s, POPRT_E_UNSUPPORTED,
                "attributes of operators outside the table cannot be given as text");
        const uint32_t index = prt_op_attr(op->def, name);
        if (index == UINT32_MAX)
            return prt_scan_fail(s, POPRT_E_PARSE, "operator %s has no attribute '%.*s'",
                op->def->key, PRT_STR_ARG(name));
        PRT_TRY(prt_scan_expect(s, '='));
        PRT_TRY(prt_scan_attr(s, op, index));
    }
}

/* Reads the operator: a key of the table, or a quoted name. */
static poprt_status parse_op_name(parser *p, const prt_op_def **def, prt_str *domain, prt_str *name)
{
    prt_scan *s = &p->s;
    const size_t before = s->at;
    const bool quoted = prt_scan_peek(s) == '"';
    prt_str text;
    PRT_TRY(prt_scan_name(s, &text));
    *def = quoted ? NULL : prt_op_by_key(text);
    if (!quoted) {
        if (*def != NULL)
            return POPRT_OK;
        s->at = before;
        return prt_scan_fail(s, POPRT_E_PARSE, "no operator '%.*s'", PRT_STR_ARG(text));
    }
    uint32_t dot = text.size;
    while (dot > 0 && text.data[dot - 1] != '.')
        dot--;
    *domain = prt_module_str(s->module, (prt_str){ text.data, dot > 0 ? dot - 1 : 0 });
    *name = prt_module_str(s->module, (prt_str){ text.data + dot, text.size - dot });
    if (domain->data == NULL || name->data == NULL)
        return POPRT_E_NOMEM;
    *def = prt_op_find_in(s->module->ops, *domain, *name);
    return POPRT_OK;
}

/* Reads "{field=number, ...}". */
static poprt_status parse_place(prt_scan *s, prt_op *op)
{
    prt_place place = *prt_op_place(op);
    PRT_TRY(prt_scan_expect(s, '{'));
    do {
        prt_str name, number;
        PRT_TRY(prt_scan_name(s, &name));
        PRT_TRY(prt_scan_expect(s, '='));
        number = prt_scan_number(s);
        const bool priority = prt_str_is(name, "priority");
        int32_t *field = prt_place_field(&place, name);
        if (field == NULL && !priority)
            return prt_scan_fail(s, POPRT_E_PARSE, "a place has no field '%.*s'",
                PRT_STR_ARG(name));
        if (!prt_text_to_element(priority ? PRT_DTYPE_f32 : PRT_DTYPE_i32, number,
                priority ? (void *)&place.priority : field, 0))
            return prt_scan_fail(s, POPRT_E_PARSE, "'%.*s' is not a number", PRT_STR_ARG(number));
    } while (prt_scan_accept(s, ','));
    PRT_TRY(prt_scan_expect(s, '}'));
    return prt_op_set_place(op, &place);
}

static poprt_status parse_op_types(parser *p, prt_op *op)
{
    if (!prt_scan_accept(&p->s, ':'))
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_out; i++) {
        if (i != 0)
            PRT_TRY(prt_scan_expect(&p->s, ','));
        PRT_TRY(prt_scan_type(&p->s, &op->out[i].type));
    }
    return POPRT_OK;
}

static poprt_status parse_op(parser *p, prt_graph *graph, const targets *outs)
{
    prt_scan *s = &p->s;
    const prt_op_def *def;
    prt_str domain, name;
    values in = { 0 };
    const size_t start = s->at;
    PRT_TRY(parse_op_name(p, &def, &domain, &name));
    for (char c; !at_end_of_statement(s) && (c = prt_scan_peek(s)) != '{' && c != '@' && c != '!' &&
         c != ':';) {
        prt_value *v;
        PRT_TRY(parse_operand(p, graph, &v));
        if (in.count == MAX_SLOTS)
            return prt_scan_fail(s, POPRT_E_LIMIT, "more than %d operands", MAX_SLOTS);
        if (!PRT_VEC_PUSH(s->arena, &in, v))
            return POPRT_E_NOMEM;
    }
    prt_op *op = prt_graph_add_op(graph, NULL, def, (uint32_t)in.count, (uint32_t)outs->count, 0);
    if (op == NULL)
        return POPRT_E_NOMEM;
    if (def == NULL) {
        op->domain = domain;
        op->name = name;
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        prt_op_set_input(op, i, in.data[i]);
    if (prt_scan_accept(s, '{'))
        PRT_TRY(parse_braces(p, op));
    if (prt_scan_accept(s, '@')) {
        PRT_TRY(prt_scan_name(s, &op->origin));
        op->origin = prt_module_str(s->module, op->origin);
        if (op->origin.data == NULL)
            return POPRT_E_NOMEM;
    }
    if (prt_scan_accept(s, '!'))
        PRT_TRY(parse_place(s, op));
    PRT_TRY(parse_op_types(p, op));
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(name_value(p, &outs->data[i], &op->out[i]));
    if (def == NULL)
        return POPRT_OK;
    const poprt_status status = prt_ir_infer_new_op(op);
    if (status == POPRT_OK || status == POPRT_E_NOMEM)
        return status;
    s->at = start;
    return prt_scan_place(s, status);
}

/* ---- graphs */

/* Notes an output's name; fails if it belongs to another value of the interface. */
static poprt_status note_name(prt_scan *s, prt_map *taken, prt_str name, const prt_value *v)
{
    bool clash;
    PRT_TRY(prt_graph_claim_name(taken, name, v, &clash));
    return clash ? prt_scan_fail(s, POPRT_E_PARSE, "an input or another output has the name '%.*s'",
                       PRT_STR_ARG(name))
                 : POPRT_OK;
}

static poprt_status parse_return(parser *p, prt_graph *graph)
{
    prt_scan *s = &p->s;
    values outs = { 0 };
    PRT_VEC(prt_str) names = { 0 };
    prt_map taken = prt_map_in(s->arena);
    for (size_t i = 0; graph->owner == NULL && i < graph->inputs.count; i++)
        PRT_TRY(note_name(s, &taken, graph->inputs.data[i]->name, graph->inputs.data[i]));
    while (!at_end_of_statement(s)) {
        prt_value *v;
        if (outs.count != 0)
            PRT_TRY(prt_scan_expect(s, ','));
        PRT_TRY(parse_operand(p, graph, &v));
        prt_str name = v != NULL ? v->name : PRT_STR("");
        if (prt_scan_accept_word(s, "as")) {
            PRT_TRY(prt_scan_name(s, &name));
            name = prt_module_str(s->module, name);
            if (name.data == NULL)
                return POPRT_E_NOMEM;
        }
        if (outs.count == MAX_SLOTS)
            return prt_scan_fail(s, POPRT_E_LIMIT, "more than %d outputs", MAX_SLOTS);
        if (graph->owner == NULL)
            PRT_TRY(note_name(s, &taken, name, v));
        if (!PRT_VEC_PUSH(s->arena, &outs, v) || !PRT_VEC_PUSH(s->arena, &names, name))
            return POPRT_E_NOMEM;
    }
    return prt_graph_set_outputs(graph, (uint32_t)outs.count, outs.data, names.data);
}

static poprt_status parse_statement(parser *p, prt_graph *graph)
{
    prt_scan *s = &p->s;
    targets outs = { 0 };
    while (prt_scan_peek(s) != '=') {
        if (outs.count != 0)
            PRT_TRY(prt_scan_expect(s, ','));
        PRT_TRY(parse_target(p, &outs));
    }
    PRT_TRY(prt_scan_expect(s, '='));
    static const struct {
        const char *word;
        poprt_status (*parse)(parser *p, prt_graph *graph, const target *t);
    } leaves[] = { { "input", parse_input }, { "const", parse_const },
        { "variable", parse_variable } };
    for (size_t i = 0; i < PRT_COUNT_OF(leaves); i++) {
        if (!prt_scan_accept_word(s, leaves[i].word))
            continue;
        if (outs.count != 1)
            return prt_scan_fail(s, POPRT_E_PARSE,
                "input, const and variable define exactly one value");
        return leaves[i].parse(p, graph, outs.data);
    }
    return parse_op(p, graph, &outs);
}

/* Reads statements until the end of the text, or until the closing brace of a region. */
static poprt_status parse_graph(parser *p, prt_graph *graph, bool inner)
{
    prt_scan *s = &p->s;
    bool returned = false;
    for (;;) {
        prt_scan_space(s, true);
        if (s->at >= s->size ? !inner : inner && s->text[s->at] == '}')
            break;
        if (s->at >= s->size)
            return prt_scan_fail(s, POPRT_E_PARSE, "region has no closing brace");
        if (returned)
            return prt_scan_fail(s, POPRT_E_PARSE, "statement after return");
        returned = prt_scan_accept_word(s, "return");
        PRT_TRY(returned ? parse_return(p, graph) : parse_statement(p, graph));
        const char c = prt_scan_peek(s);
        if (s->at < s->size && c != '\n' && c != ';' && !(inner && c == '}'))
            return prt_scan_fail(s, POPRT_E_PARSE, "expected the end of the statement");
    }
    if (!returned)
        return prt_scan_fail(s, POPRT_E_PARSE, "graph has no return");
    s->at += inner;
    return POPRT_OK;
}

poprt_status prt_ir_parse(prt_module *module, prt_str text)
{
    if (module->main->first != NULL || module->main->n_values != 0)
        return prt_fail(POPRT_E_STATE, NULL, "text can only be parsed into an empty module");
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(module->allocator, 0, &arena));
    parser p = { .s = { .text = text.data, .size = text.size, .module = module, .arena = arena } };
    const poprt_status status = parse_graph(&p, module->main, false);
    prt_arena_release(arena);
    return status;
}
