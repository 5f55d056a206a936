/* SPDX-License-Identifier: MIT */
/*
 * operators.c — poprt_operators_describe: the operator table as a list for people, as a page in
 * Markdown and as JSON.
 */
#include <stdio.h>

#include "describe/describe.h"
#include "base/json.h"
#include "converter/history.h"
#include "converter/upgrade.h"
#include "op/share/number_text.h"
#include "op/words.h"
#include "train/rules.h"

enum { NAME_WIDTH = 44, VERSION_WIDTH = 18, SET_TEXT = 512 };

/* Names for sets of element types, larger sets first. Other types are listed one by one. */
static const struct {
    uint64_t set;
    const char *name;
} groups[] = {
    { PRT_T_ANY, "any value" },
    { PRT_T_ALL, "any tensor" },
    { PRT_T_F, "float16 float32 float64" },
    { PRT_T_SINT, "int8-int64" },
    { PRT_T_UINT, "uint8-uint64" },
    { PRT_T_F8, "float8*" },
    { PRT_T_C, "complex*" },
    { PRT_T_SEQ, "sequence" },
    { PRT_T_OPT, "optional" },
    { PRT_T_MAP, "map" },
};

static void add_word(char *to, size_t *used, const char *word)
{
    const int n = snprintf(to + *used, SET_TEXT - *used, "%s%s", *used != 0 ? " " : "", word);
    if (n > 0 && *used + (size_t)n < SET_TEXT)
        *used += (size_t)n;
}

static void print_set(uint64_t set, char *to)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < PRT_COUNT_OF(groups); i++)
        if ((set & groups[i].set) == groups[i].set) {
            add_word(to, &used, groups[i].name);
            set &= ~groups[i].set;
        }
    for (int32_t dtype = 1; dtype < 60; dtype++)
        if ((set >> dtype & 1) != 0)
            add_word(to, &used, poprt_dtype_name(dtype));
}

static const char *domain_of(const char *domain)
{
    return domain[0] != '\0' ? domain : "ai.onnx";
}

enum { VERSIONS = 40 };

/* Lists the versions of an operator's schema, oldest first, and returns their number. `since` is
 * the newest version, or 0 if the operator has no row. */
static uint32_t find_versions(const char *domain, const char *name, uint32_t since,
    int64_t versions[VERSIONS])
{
    uint32_t n = 0;
    if (domain[0] == '\0')
        for (int64_t opset = 1; opset <= prt_history_newest(); opset++) {
            const int64_t v = prt_history_version(prt_str_of(name), opset);
            if (v != 0 && (n == 0 || versions[n - 1] != v) && n < VERSIONS)
                versions[n++] = v;
        }
    size_t count;
    const prt_opset_variant *forms = prt_opset_variants(&count);
    const bool has_history = n != 0; /* the history lists versions */
    for (size_t i = 0; !has_history && i < count && n < VERSIONS; i++)
        if (strcmp(forms[i].domain, domain) == 0 && strcmp(forms[i].name, name) == 0 &&
            forms[i].up != NULL && (n == 0 || versions[n - 1] < forms[i].from))
            versions[n++] = forms[i].from;
    if (since != 0 && (n == 0 || versions[n - 1] != since) && n < VERSIONS)
        versions[n++] = since;
    return n;
}

static void print_versions(const char *domain, const char *name, uint32_t since, char *to)
{
    int64_t versions[VERSIONS];
    const uint32_t n = find_versions(domain, name, since, versions);
    size_t used = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        char word[16];
        (void)snprintf(word, sizeof(word), "%lld", (long long)versions[i]);
        add_word(to, &used, word);
    }
}

/*
 * Returns the next operator without a row at or after `*at`, or NULL. A reader replaces such an
 * operator by others, according to a row of upgrade.def.
 */
static const prt_opset_variant *next_alias(size_t *at)
{
    size_t count;
    const prt_opset_variant *forms = prt_opset_variants(&count);
    for (; *at < count; ++*at) {
        const prt_opset_variant *f = &forms[*at];
        bool seen =
            f->up == NULL || prt_op_find(prt_str_of(f->domain), prt_str_of(f->name)) != NULL;
        for (size_t k = 0; k < *at && !seen; k++)
            seen = strcmp(forms[k].domain, f->domain) == 0 && strcmp(forms[k].name, f->name) == 0;
        if (!seen)
            return &forms[(*at)++];
    }
    return NULL;
}

/* Order by domain, ONNX's own domain first, then by name. */
static bool comes_before(const prt_op_def *x, const prt_op_def *y)
{
    const int domain = strcmp(x->domain, y->domain);
    return domain != 0 ? domain < 0 : strcmp(x->name, y->name) < 0;
}

/* The rows of the operator table and of an environment's plug-ins, sorted. */
typedef struct row_list {
    const prt_op_def **rows;
    size_t count;
} row_list;

static poprt_status sort_rows(prt_arena *arena, const prt_op_set *more, row_list *out)
{
    const size_t n_more = more != NULL ? more->count : 0;
    out->count = PRT_OP_COUNT + n_more;
    out->rows = PRT_NEW_N(arena, const prt_op_def *, out->count);
    if (out->rows == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < out->count; i++) {
        const prt_op_def *const row =
            i < PRT_OP_COUNT ? prt_op_of((uint32_t)i) : &more->rows[i - PRT_OP_COUNT]->def;
        size_t at = i;
        for (; at > 0 && comes_before(row, out->rows[at - 1]); at--)
            out->rows[at] = out->rows[at - 1];
        out->rows[at] = row;
    }
    return POPRT_OK;
}

static const char *const gradient_words[] = {
    [PRT_GRAD_MISSING] = "no",
    [PRT_GRAD_RULE] = "yes",
    [PRT_GRAD_ZERO] = "none",
};

/* ---- for people: one line for each operator ---- */

static void print_name(prt_sink *sink, const char *domain, const char *name, uint32_t since)
{
    char text[SET_TEXT], versions[SET_TEXT];
    (void)snprintf(text, sizeof(text), "%s%s%s", domain, domain[0] != '\0' ? "." : "", name);
    print_versions(domain, name, since, versions);
    prt_sink_print(sink, "%-*s %-*s ", NAME_WIDTH, text, VERSION_WIDTH, versions);
}

static void print_line(prt_sink *sink, const prt_op_def *def)
{
    char text[SET_TEXT];
    print_name(sink, def->domain, def->name, def->since);
    bool first = true;
    if (prt_op_plugin(def) != NULL)
        prt_sink_print(sink, " of plug-in %s", prt_op_plugin(def));
    for (uint32_t i = 0; i < def->n_types; i++) {
        if (strchr(def->types[i].var, '(') != NULL)
            continue; /* a slot with one type is printed directly */
        print_set(def->types[i].set, text);
        prt_sink_print(sink, "%s %s: %s", first ? "" : ";", def->types[i].var, text);
        first = false;
    }
    prt_sink_print(sink, "%s gradient: %s\n", first ? "" : ";",
        gradient_words[prt_grad_row_of(def).kind]);
}

static void print_list(prt_sink *sink, const row_list *list)
{
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++)
        print_line(sink, list->rows[i]);
    for (const prt_opset_variant *f; (f = next_alias(&at)) != NULL;) {
        print_name(sink, f->domain, f->name, 0);
        prt_sink_print(sink, " read as other operators\n");
    }
}

/* ---- Markdown ---- */

static const prt_type_def *type_of(const prt_op_def *def, const char *var)
{
    for (uint32_t i = 0; i < def->n_types; i++)
        if (strcmp(def->types[i].var, var) == 0)
            return &def->types[i];
    return NULL;
}

static void print_slots(prt_sink *sink, const prt_op_def *def, const char *title, uint32_t count,
    const prt_slot_def *slots)
{
    if (count == 0)
        return;
    prt_sink_print(sink, "- %s:", title);
    for (uint32_t i = 0; i < count; i++) {
        const prt_slot_def *slot = &slots[i];
        const prt_type_def *type = type_of(def, slot->var);
        char text[SET_TEXT];
        if (type != NULL && strchr(slot->var, '(') != NULL)
            print_set(type->set, text);
        else
            (void)snprintf(text, sizeof(text), "%s", slot->var);
        prt_sink_print(sink, "%s `%s` (%s%s%s)", i > 0 ? "," : "", prt_slot_name(slot), text,
            (slot->flags & PRT_SLOT_OPTIONAL) != 0 ? ", optional" : "",
            (slot->flags & PRT_SLOT_VARIADIC) != 0 ? ", any number" : "");
    }
    prt_sink_print(sink, "\n");
}

static const char *const kind_names[] = {
    [PRT_ATTR_i64] = "int",
    [PRT_ATTR_f32] = "float",
    [PRT_ATTR_str] = "string",
    [PRT_ATTR_i64s] = "ints",
    [PRT_ATTR_f32s] = "floats",
    [PRT_ATTR_strs] = "strings",
    [PRT_ATTR_tensor] = "tensor",
    [PRT_ATTR_graph] = "graph",
    [PRT_ATTR_type] = "type",
};

/* Writes a default as text. Empty for kinds whose default has no text. */
static void print_default(const prt_op_def *def, const prt_attr_def *attr, char *to)
{
    const char *at = (const char *)def->defaults + attr->offset;
    to[0] = '\0';
    if (attr->kind == PRT_ATTR_i64)
        (void)snprintf(to, SET_TEXT, "%lld", (long long)*(const int64_t *)(const void *)at);
    else if (attr->kind == PRT_ATTR_f32)
        (void)prt_print_f64(PRT_DTYPE_f32, (double)*(const float *)(const void *)at, to);
    else if (prt_attr_outer_kind(attr->kind) == PRT_ATTR_str &&
        prt_attr_text(attr->kind, at).size != 0)
        (void)snprintf(to, SET_TEXT, "\"%.*s\"", PRT_STR_ARG(prt_attr_text(attr->kind, at)));
}

static void print_section(prt_sink *sink, const prt_op_def *def)
{
    char text[SET_TEXT];
    print_versions(def->domain, def->name, def->since, text);
    prt_sink_print(sink, "\n### %s\n\n- Versions: %s\n", def->name, text);
    print_slots(sink, def, "Inputs", def->n_in, def->in);
    print_slots(sink, def, "Outputs", def->n_out, def->out);
    for (uint32_t i = 0; i < def->n_types; i++) {
        if (strchr(def->types[i].var, '(') != NULL)
            continue;
        print_set(def->types[i].set, text);
        prt_sink_print(sink, "- %s: %s\n", def->types[i].var, text);
    }
    for (uint32_t i = 0; i < def->n_attrs; i++) {
        print_default(def, &def->attrs[i], text);
        prt_sink_print(sink, "%s`%s` (%s%s%s)%s",
            i > 0 ? ", " : "- Attributes: ", prt_attr_name(&def->attrs[i]),
            kind_names[prt_attr_outer_kind(def->attrs[i].kind)], text[0] != '\0' ? ", " : "", text,
            i + 1 == def->n_attrs ? "\n" : "");
    }
    if (prt_op_plugin(def) != NULL)
        prt_sink_print(sink, "- From plug-in %s.\n", prt_op_plugin(def));
    const prt_grad_row row = prt_grad_row_of(def);
    prt_sink_print(sink, "- Gradient: %s%s%s\n", gradient_words[row.kind],
        row.kind == PRT_GRAD_MISSING && row.why != NULL ? "; " : "",
        row.kind == PRT_GRAD_MISSING && row.why != NULL ? row.why : "");
    if (def->hooks->eval == NULL)
        prt_sink_print(sink, "- Read and typed, but cannot run on one CPU device.\n");
}

static void print_page(prt_sink *sink, const row_list *list)
{
    const prt_op_def *const *rows = list->rows;
    const char *domain = NULL;
    prt_sink_print(sink,
        "# Operators\n\nGenerated from the operator table by `poprt inspect --ops --text`. Older "
        "versions of ONNX's\nown operators are converted to the newest when a model is read. "
        "int8-int64 stands for\nint8, int16, int32 and int64; uint8-uint64 likewise; float8* for "
        "float8_e4m3fn,\nfloat8_e4m3fnuz, float8_e5m2 and float8_e5m2fnuz; complex* for complex64 "
        "and\ncomplex128. An operator with gradient \"none\" ends the path of a gradient: its "
        "derivative is\nzero or does not exist. With \"no\", differentiating through it is an "
        "error.\n");
    for (size_t i = 0; i < list->count; i++) {
        if (domain == NULL || strcmp(domain, rows[i]->domain) != 0) {
            domain = rows[i]->domain;
            prt_sink_print(sink, "\n## %s\n", domain_of(domain));
        }
        print_section(sink, rows[i]);
    }
    prt_sink_print(sink, "\n## Read as other operators\n\n");
    size_t at = 0;
    for (const prt_opset_variant *f; (f = next_alias(&at)) != NULL;) {
        char versions[SET_TEXT];
        print_versions(f->domain, f->name, 0, versions);
        prt_sink_print(sink, "- %s `%s`, versions: %s\n", domain_of(f->domain), f->name, versions);
    }
}

/* ---- JSON ---- */

static void write_json_set(prt_json_out *json, const char *key, uint64_t set)
{
    prt_json_open(json, key, '[');
    for (int32_t dtype = 1; dtype < 60; dtype++)
        if ((set >> dtype & 1) != 0)
            prt_json_put_text(json, NULL, prt_str_of(poprt_dtype_name(dtype)));
    if ((set & PRT_T_SEQ) != 0)
        prt_json_put_text(json, NULL, PRT_STR("sequence"));
    if ((set & PRT_T_OPT) != 0)
        prt_json_put_text(json, NULL, PRT_STR("optional"));
    if ((set & PRT_T_MAP) != 0)
        prt_json_put_text(json, NULL, PRT_STR("map"));
    prt_json_close(json, ']');
}

static void write_json_slots(prt_json_out *json, const char *key, uint32_t count,
    const prt_slot_def *slots)
{
    prt_json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        prt_json_open(json, NULL, '{');
        prt_json_put_text(json, "name", prt_str_of(prt_slot_name(&slots[i])));
        prt_json_put_text(json, "type", prt_str_of(slots[i].var));
        prt_json_put_bool(json, "optional", (slots[i].flags & PRT_SLOT_OPTIONAL) != 0);
        prt_json_put_bool(json, "variadic", (slots[i].flags & PRT_SLOT_VARIADIC) != 0);
        prt_json_close(json, '}');
    }
    prt_json_close(json, ']');
}

static void write_json_attr(prt_json_out *json, const prt_op_def *def, const prt_attr_def *attr)
{
    const char *at = (const char *)def->defaults + attr->offset;
    prt_json_open(json, NULL, '{');
    prt_json_put_text(json, "name", prt_str_of(prt_attr_name(attr)));
    prt_json_put_text(json, "kind", prt_str_of(kind_names[prt_attr_outer_kind(attr->kind)]));
    if (attr->kind == PRT_ATTR_i64)
        prt_json_put_i64(json, "default", *(const int64_t *)(const void *)at);
    else if (attr->kind == PRT_ATTR_f32)
        prt_json_put_f64(json, "default", (double)*(const float *)(const void *)at);
    else if (prt_attr_outer_kind(attr->kind) == PRT_ATTR_str)
        prt_json_put_text(json, "default", prt_attr_text(attr->kind, at));
    prt_json_close(json, '}');
}

static poprt_status print_json(prt_sink *sink, prt_arena *arena, const row_list *list)
{
    prt_json_out json;
    prt_json_out_init(&json, arena, true);
    prt_json_open(&json, NULL, '[');
    for (size_t i = 0; i < list->count; i++) {
        const prt_op_def *def = list->rows[i];
        prt_json_open(&json, NULL, '{');
        prt_json_put_text(&json, "domain", prt_str_of(domain_of(def->domain)));
        prt_json_put_text(&json, "name", prt_str_of(def->name));
        prt_json_put_text(&json, "id", prt_str_of(def->key));
        int64_t versions[VERSIONS];
        const uint32_t n = find_versions(def->domain, def->name, def->since, versions);
        prt_json_open(&json, "versions", '[');
        for (uint32_t k = 0; k < n; k++)
            prt_json_put_i64(&json, NULL, versions[k]);
        prt_json_close(&json, ']');
        prt_json_put_bool(&json, "runs", def->hooks->eval != NULL);
        const prt_grad_row row = prt_grad_row_of(def);
        prt_json_put_text(&json, "gradient", prt_str_of(gradient_words[row.kind]));
        if (row.kind == PRT_GRAD_MISSING && row.why != NULL)
            prt_json_put_text(&json, "no_gradient_because", prt_str_of(row.why));
        if (prt_op_plugin(def) != NULL)
            prt_json_put_text(&json, "plugin", prt_str_of(prt_op_plugin(def)));
        write_json_slots(&json, "inputs", def->n_in, def->in);
        write_json_slots(&json, "outputs", def->n_out, def->out);
        prt_json_open(&json, "types", '{');
        for (uint32_t k = 0; k < def->n_types; k++)
            write_json_set(&json, def->types[k].var, def->types[k].set);
        prt_json_close(&json, '}');
        prt_json_open(&json, "attributes", '[');
        for (uint32_t k = 0; k < def->n_attrs; k++)
            write_json_attr(&json, def, &def->attrs[k]);
        prt_json_close(&json, ']');
        prt_json_close(&json, '}');
    }
    prt_json_close(&json, ']');
    prt_str text;
    PRT_TRY(prt_json_out_finish(&json, &text));
    prt_sink_str(sink, text);
    prt_sink_print(sink, "\n");
    return POPRT_OK;
}

poprt_status prt_describe_operators(const prt_op_set *ops, int32_t format, prt_arena *arena,
    prt_sink *sink)
{
    row_list list = { 0 };
    PRT_TRY(sort_rows(arena, ops, &list));
    if (format == POPRT_FORMAT_JSON)
        PRT_TRY(print_json(sink, arena, &list));
    else if (format == POPRT_FORMAT_TEXT)
        print_page(sink, &list);
    else
        print_list(sink, &list);
    return prt_sink_finish(sink);
}
