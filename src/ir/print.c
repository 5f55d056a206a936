/* SPDX-License-Identifier: MIT */
/*
 * print.c — prints a graph as text, for `poprt inspect` and for tests; parse.c reads it.
 *
 *     graph     = { statement ( newline | ";" ) }
 *     statement = value "=" "input" type [ data ]
 *               | value "=" "const" type data
 *               | value "=" "variable" role type [ data ]
 *               | [ value { "," value } ] "=" op { operand } [ braces ] [ "@" name ]
 *                 [ "!{" field "=" number { "," field "=" number } "}" ]
 *                 [ ":" type { "," type } ]
 *               | "return" [ operand [ "as" name ] { "," operand [ "as" name ] } ]
 *     value     = name | "%" number | "_"
 *     op        = key of the operator table | quoted "domain.Name" of an operator outside the table
 *     operand   = value
 *     braces    = "{" { attribute "=" attribute value | region "{" graph "}" } "}"
 *
 * Names with characters other than [A-Za-z0-9_.:/-] are quoted. "%3" is a value without a name. "_"
 * is an absent operand or an unread output. Data of an input is its default; data of a variable is
 * its first contents, zeros if it has none. "@" gives the name of
 * the node, "!" the fields of its place (place.h).
 *
 * ":" gives the types of the outputs. It is printed for operators outside the table and for
 * sequences and optionals, and accepted everywhere. "return x as y" is output "y" of the graph.
 * Outputs of regions are identified by order, so their names are not printed.
 *
 * Attributes are printed if they were given or differ from the default. Items in braces are
 * separated by commas or newlines. Types and dimensions: scan_type.c; data: scan_data.c. "#" starts
 * a comment.
 *
 *     x = input f32[2,seq]
 *     c = const bool[] {true}
 *     y = transpose x {perm=[1,0]}
 *     r = if c {
 *       then_branch {
 *         t = add y y
 *         return t
 *       }
 *       else_branch {
 *         return y
 *       }
 *     }
 *     return r as output
 */
#include "ir/text.h"
#include "ir/place.h"
#include "op/words.h"

enum { TYPE_TEXT = 1000 };

/* A graph being printed, with the numbers of its unnamed values. A value gets its number when it is
 * first printed. */
typedef struct frame {
    const prt_graph *graph;
    uint32_t *numbers; /* by value id; 0: no number yet */
    struct frame *outer;
} frame;

typedef struct printer {
    prt_text_out out;
    const prt_module *module;
    uint32_t next, depth;
} printer;

static void indent(printer *p)
{
    for (uint32_t i = 0; i < p->depth; i++)
        prt_text_put(&p->out, "  ", 2);
}

static void put_name(printer *p, prt_str name)
{
    if (prt_text_is_plain(name))
        prt_text_put(&p->out, name.data, name.size);
    else
        prt_text_quote(&p->out, name.data, name.size);
}

static void put_value(printer *p, frame *f, const prt_value *v)
{
    if (v == NULL) {
        prt_text_put(&p->out, "_", 1);
        return;
    }
    if (v->name.size != 0) {
        put_name(p, v->name);
        return;
    }
    while (f != NULL && f->graph != v->graph)
        f = f->outer;
    if (f == NULL) { /* value of a graph around the printed one */
        prt_text_format(&p->out, "%%outer.%u", v->id);
        return;
    }
    if (f->numbers[v->id] == 0)
        f->numbers[v->id] = p->next++;
    prt_text_format(&p->out, "%%%u", f->numbers[v->id] - 1);
}

static void put_type(printer *p, const prt_type *type)
{
    char text[TYPE_TEXT];
    prt_type_print(p->module->dims, type, text, sizeof(text));
    prt_text_put(&p->out, text, strlen(text));
}

/* ---- data and attributes */

static void put_element(printer *p, int32_t dtype, const void *data, size_t index)
{
    char text[PRT_TEXT_ELEMENT_MAX];
    const uint8_t kind = prt_dtype_of(dtype)->kind;
    if (kind == PRT_KIND_string) {
        const poprt_string *s = (const poprt_string *)data + index;
        prt_text_quote(&p->out, s->data, s->size);
    } else if (kind == PRT_KIND_complex) {
        const int32_t half = dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
        prt_text_of_element(half, data, index * 2, text, sizeof(text));
        prt_text_format(&p->out, "(%s, ", text);
        prt_text_of_element(half, data, index * 2 + 1, text, sizeof(text));
        prt_text_format(&p->out, "%s)", text);
    } else {
        prt_text_of_element(dtype, data, index, text, sizeof(text));
        prt_text_put(&p->out, text, strlen(text));
    }
}

static bool is_uniform(const prt_tensor *t)
{
    const size_t bits = prt_dtype_bits(t->dtype), size = bits / 8;
    const uint8_t kind = prt_dtype_of(t->dtype)->kind;
    const unsigned char *bytes = t->data;
    if (bits < 8 || kind == PRT_KIND_string || kind == PRT_KIND_complex || t->size < size)
        return false;
    return memcmp(bytes, bytes + size, t->size - size) == 0;
}

static void put_data(printer *p, const prt_tensor *t)
{
    const size_t n = prt_tensor_count(t);
    if (n > PRT_TEXT_ELEMENTS && is_uniform(t)) {
        prt_text_put(&p->out, "fill ", 5);
        put_element(p, t->dtype, t->data, 0);
    } else if (n > PRT_TEXT_ELEMENTS) {
        const uint64_t hash = t->dtype == PRT_DTYPE_string ? 0 : prt_hash(t->data, t->size, 0);
        prt_text_format(&p->out, "{... %016llx}", (unsigned long long)hash);
    } else {
        prt_text_put(&p->out, "{", 1);
        for (size_t i = 0; i < n; i++) {
            if (i != 0)
                prt_text_put(&p->out, ", ", 2);
            put_element(p, t->dtype, t->data, i);
        }
        prt_text_put(&p->out, "}", 1);
    }
}

static void put_word(printer *p, prt_str text)
{
    if (prt_text_is_plain(text))
        prt_text_put(&p->out, text.data, text.size);
    else
        prt_text_quote(&p->out, text.data, text.size);
}

static void put_tensor(printer *p, const prt_tensor *t)
{
    const prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = t->dtype,
        .rank = (int32_t)t->rank,
        .dims = t->dims };
    put_type(p, &type);
    prt_text_put(&p->out, " ", 1);
    put_data(p, t);
}

static void put_list(printer *p, uint32_t kind, const void *field)
{
    const uint32_t count = kind == PRT_ATTR_i64s ? ((const prt_i64s *)field)->count
        : kind == PRT_ATTR_f32s                  ? ((const prt_f32s *)field)->count
                                                 : ((const prt_strs *)field)->count;
    prt_text_put(&p->out, "[", 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0)
            prt_text_put(&p->out, ",", 1);
        if (kind == PRT_ATTR_i64s)
            put_element(p, PRT_DTYPE_i64, ((const prt_i64s *)field)->data, i);
        else if (kind == PRT_ATTR_f32s)
            put_element(p, PRT_DTYPE_f32, ((const prt_f32s *)field)->data, i);
        else
            put_word(p, ((const prt_strs *)field)->data[i]);
    }
    prt_text_put(&p->out, "]", 1);
}

static void put_attr(printer *p, uint32_t kind, const void *field)
{
    switch (prt_attr_outer_kind(kind)) {
    case PRT_ATTR_i64:
        put_element(p, PRT_DTYPE_i64, field, 0);
        break;
    case PRT_ATTR_f32:
        put_element(p, PRT_DTYPE_f32, field, 0);
        break;
    case PRT_ATTR_str:
        put_word(p, prt_attr_text(kind, field));
        break;
    case PRT_ATTR_tensor:
        put_tensor(p, *(const prt_tensor *const *)field);
        break;
    case PRT_ATTR_type:
        put_type(p, *(const prt_type *const *)field);
        break;
    default:
        put_list(p, kind, field);
        break;
    }
}

/* Returns whether the attribute was given or differs from its default. `fresh` is a copy of the
 * defaults, used for the comparison. */
static bool is_shown(const prt_op *op, uint32_t index, unsigned char *fresh)
{
    const prt_op_def *def = op->def;
    const prt_attr_def *row = &def->attrs[index];
    const unsigned char *field = (const unsigned char *)op->attrs + row->offset;
    static const size_t sizes[] = {
#define SIZE(kind) [PRT_ATTR_##kind] = sizeof(PRT_ATTR_C_##kind)
        SIZE(i64), SIZE(f32), SIZE(str), SIZE(i64s), SIZE(f32s), SIZE(strs), SIZE(tensor),
        SIZE(graph), SIZE(type), SIZE(act), SIZE(form), SIZE(products)
#undef SIZE
    };
    if (row->kind == PRT_ATTR_graph)
        return false;
    if ((row->kind == PRT_ATTR_tensor || row->kind == PRT_ATTR_type) &&
        *(const void *const *)(const void *)field == NULL)
        return false;
    if (prt_attr_given(op->attrs, index))
        return true;
    memcpy(fresh + row->offset, field, sizes[row->kind]);
    const bool same = prt_attrs_equal(def, fresh, def->defaults);
    memcpy(fresh + row->offset, (const unsigned char *)def->defaults + row->offset,
        sizes[row->kind]);
    return !same;
}

static bool put_attrs(printer *p, const prt_op *op)
{
    bool any = false;
    if (op->def == NULL)
        return false;
    unsigned char *fresh = prt_arena_copy(p->out.arena, op->def->defaults, op->def->attrs_size);
    if (fresh == NULL) {
        p->out.failed = true;
        return false;
    }
    for (uint32_t i = 0; i < op->def->n_attrs; i++) {
        if (!is_shown(op, i, fresh))
            continue;
        prt_text_format(&p->out, "%s%s=", any ? ", " : " {", prt_attr_name(&op->def->attrs[i]));
        put_attr(p, op->def->attrs[i].kind, (const char *)op->attrs + op->def->attrs[i].offset);
        any = true;
    }
    return any;
}

/* ---- statements */

static poprt_status print_graph(printer *p, const prt_graph *graph, frame *outer);

/* Returns the name of the attribute that holds region `index`. */
static const char *region_name(const prt_op *op, uint32_t index)
{
    for (uint32_t i = 0; op->def != NULL && i < op->def->n_attrs; i++) {
        const prt_attr_def *row = &op->def->attrs[i];
        if (row->kind == PRT_ATTR_graph && prt_attr_given(op->attrs, i) &&
            *(const uint32_t *)(const void *)((const char *)op->attrs + row->offset) == index)
            return prt_attr_name(row);
    }
    return "region";
}

static poprt_status print_regions(printer *p, const prt_op *op, frame *f, bool open)
{
    if (op->n_regions == 0) {
        if (open)
            prt_text_put(&p->out, "}", 1);
        return POPRT_OK;
    }
    if (!open)
        prt_text_put(&p->out, " {", 2);
    p->depth++;
    for (uint32_t i = 0; i < op->n_regions; i++) {
        prt_text_put(&p->out, "\n", 1);
        indent(p);
        prt_text_format(&p->out, "%s {\n", region_name(op, i));
        p->depth++;
        PRT_TRY(print_graph(p, op->regions[i], f));
        p->depth--;
        indent(p);
        prt_text_put(&p->out, "}", 1);
    }
    p->depth--;
    prt_text_put(&p->out, "\n", 1);
    indent(p);
    prt_text_put(&p->out, "}", 1);
    return POPRT_OK;
}

static void print_op_name(printer *p, const prt_op *op)
{
    if (op->def != NULL && op->def->id != PRT_OP_NONE) {
        prt_text_put(&p->out, op->def->key, strlen(op->def->key));
        return;
    }
    prt_text_out full = { .arena = p->out.arena };
    prt_text_put(&full, op->domain.data, op->domain.size);
    prt_text_put(&full, ".", 1);
    prt_text_put(&full, op->name.data, op->name.size);
    if (full.failed)
        p->out.failed = true;
    else
        prt_text_quote(&p->out, full.data, full.size);
}

/* Returns whether an output has a type that parsing the text could not infer. */
static bool has_declared_type(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].type->kind != PRT_VALUE_TENSOR && op->out[i].type->kind != PRT_VALUE_UNKNOWN)
            return true;
    return op->def == NULL;
}

static void put_place(printer *p, const prt_place *place)
{
    prt_place copy = *place;
    const char *between = "", *name;
    prt_text_put(&p->out, " !{", 3);
    for (uint32_t i = 0; (name = prt_place_name(i)) != NULL; i++) {
        const int32_t value = *prt_place_field(&copy, prt_str_of(name));
        if (value < 0)
            continue;
        prt_text_format(&p->out, "%s%s=%d", between, name, value);
        between = ", ";
    }
    if (place->priority != 0) {
        prt_text_format(&p->out, "%spriority=", between);
        put_element(p, PRT_DTYPE_f32, &place->priority, 0);
    }
    prt_text_put(&p->out, "}", 1);
}

static poprt_status print_op(printer *p, const prt_op *op, frame *f)
{
    indent(p);
    for (uint32_t i = 0; i < op->n_out; i++) {
        const prt_value *v = &op->out[i];
        const bool unread = v->name.size == 0 && v->uses == NULL;
        put_value(p, f, unread ? NULL : v);
        prt_text_put(&p->out, i + 1 < op->n_out ? ", " : " ", i + 1 < op->n_out ? 2 : 1);
    }
    prt_text_put(&p->out, "= ", 2);
    print_op_name(p, op);
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_text_put(&p->out, " ", 1);
        put_value(p, f, op->in[i].value);
    }
    const bool open = put_attrs(p, op);
    PRT_TRY(print_regions(p, op, f, open));
    if (op->origin.size != 0) {
        prt_text_put(&p->out, " @", 2);
        put_name(p, op->origin);
    }
    if (op->place != NULL)
        put_place(p, op->place);
    for (uint32_t i = 0; has_declared_type(op) && i < op->n_out; i++) {
        prt_text_put(&p->out, i == 0 ? " : " : ", ", i == 0 ? 3 : 2);
        put_type(p, op->out[i].type);
    }
    prt_text_put(&p->out, "\n", 1);
    return POPRT_OK;
}

static void print_constant(printer *p, const prt_value *v, frame *f)
{
    prt_tensor t;
    if (v->name.size == 0 && v->uses == NULL)
        return;
    indent(p);
    put_value(p, f, v);
    prt_text_put(&p->out, " = const ", 9);
    put_type(p, v->type);
    prt_text_put(&p->out, " ", 1);
    if (prt_value_tensor(v, &t))
        put_data(p, &t);
    else
        prt_text_put(&p->out, "{...}", 5);
    prt_text_put(&p->out, "\n", 1);
}

static void print_input(printer *p, const prt_value *v, frame *f)
{
    prt_tensor t;
    indent(p);
    put_value(p, f, v);
    prt_text_put(&p->out, " = input ", 9);
    put_type(p, v->type);
    if (prt_value_tensor(v, &t)) {
        prt_text_put(&p->out, " ", 1);
        put_data(p, &t);
    }
    prt_text_put(&p->out, "\n", 1);
}

static void print_variable(printer *p, const prt_value *v, frame *f)
{
    const prt_ir_variable *x = v->variable;
    const char *role = prt_variable_role_name(x->role);
    prt_tensor t;
    indent(p);
    put_value(p, f, v);
    prt_text_put(&p->out, " = variable ", 12);
    prt_text_put(&p->out, role, strlen(role));
    prt_text_put(&p->out, " ", 1);
    put_type(p, v->type);
    if (x->init != NULL &&
        prt_tensor_init(&t, v->type->dtype, (uint32_t)v->type->rank, v->type->dims,
            (void *)(uintptr_t)x->init->data)) {
        prt_text_put(&p->out, " ", 1);
        put_data(p, &t);
    }
    prt_text_put(&p->out, "\n", 1);
}

static void print_return(printer *p, const prt_graph *graph, frame *f)
{
    indent(p);
    prt_text_put(&p->out, "return", 6);
    for (uint32_t i = 0; i < graph->ret->n_in; i++) {
        const prt_value *v = graph->ret->in[i].value;
        prt_text_put(&p->out, i == 0 ? " " : ", ", i == 0 ? 1 : 2);
        put_value(p, f, v);
        if (i >= graph->output_names.count || graph->owner != NULL)
            continue;
        const prt_str name = graph->output_names.data[i];
        if (name.size != 0 && (v == NULL || !prt_str_equal(name, v->name))) {
            prt_text_put(&p->out, " as ", 4);
            put_name(p, name);
        }
    }
    prt_text_put(&p->out, "\n", 1);
}

static poprt_status print_graph(printer *p, const prt_graph *graph, frame *outer)
{
    frame f = { .graph = graph, .outer = outer };
    if (p->depth > 2 * PRT_TEXT_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are more than %d levels deep",
            PRT_TEXT_DEPTH);
    f.numbers = PRT_NEW_N(p->out.arena, uint32_t, (size_t)graph->n_values + 1);
    if (f.numbers == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < graph->inputs.count; i++)
        print_input(p, graph->inputs.data[i], &f);
    for (size_t i = 0; i < graph->constants.count; i++)
        print_constant(p, graph->constants.data[i], &f);
    for (size_t i = 0; i < graph->variables.count; i++)
        print_variable(p, graph->variables.data[i], &f);
    for (const prt_op *op = graph->first; op != NULL; op = op->next)
        PRT_TRY(print_op(p, op, &f));
    print_return(p, graph, &f);
    return POPRT_OK;
}

poprt_status prt_ir_print(const prt_graph *graph, prt_arena *arena, prt_str *out)
{
    printer p = { .out = { .arena = arena }, .module = graph->module, .next = 1 };
    PRT_TRY(print_graph(&p, graph, NULL));
    return prt_text_finish(&p.out, out);
}
