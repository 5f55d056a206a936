/* SPDX-License-Identifier: MIT */
/* graphdef_text.c — parses GraphDefs as text, and converts them. */
#include "support/graphdef_text.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>

#include "support/graph_text.h"

static const struct {
    const char *name;
    int type, field; /* DataType, and the field of TensorProto with its elements */
} types[] = { { "float", 1, 5 }, { "double", 2, 6 }, { "int32", 3, 7 }, { "uint8", 4, 7 },
    { "int16", 5, 7 }, { "int8", 6, 7 }, { "string", 7, 8 }, { "complex64", 8, 9 },
    { "int64", 9, 10 }, { "bool", 10, 11 }, { "bfloat16", 14, 13 }, { "uint16", 17, 7 },
    { "half", 19, 13 }, { "resource", 20, 0 }, { "variant", 21, 0 }, { "uint32", 22, 16 },
    { "uint64", 23, 17 } };

static const char *skip(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Skips blanks and reads a word of names of nodes. */
static const char *word(const char *at, char out[128])
{
    size_t n = 0;
    at = skip(at);
    while (isalnum((unsigned char)*at) || (*at != '\0' && strchr("_/.:^-", *at) != NULL)) {
        ck_assert_uint_lt(n, 127);
        out[n++] = *at++;
    }
    out[n] = '\0';
    ck_assert_msg(n != 0, "a name is missing at '%.30s'", at);
    return at;
}

static const char *expect(const char *at, char c)
{
    at = skip(at);
    ck_assert_msg(*at == c, "'%c' is missing at '%.30s'", c, at);
    return at + 1;
}

static bool next_is(const char **at, char c)
{
    *at = skip(*at);
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static int type_index(const char *name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* A double quoted text without escapes. */
static const char *quoted(const char *at, char out[128])
{
    const size_t n = strcspn(at, "\"");
    ck_assert_uint_lt(n, 128);
    memcpy(out, at, n);
    out[n] = '\0';
    return expect(at + n, '"');
}

/* The dims behind a bracket, as a TensorShapeProto. */
static const char *shape(const char *at, msg *out)
{
    while (!next_is(&at, ']')) {
        (void)next_is(&at, ',');
        if (next_is(&at, '*'))
            (void)msg_int(out, 3, 1);
        else if (next_is(&at, '?'))
            (void)msg_msg(out, 2, msg_int(msg_new(), 1, -1));
        else {
            char *end;
            (void)msg_msg(out, 2, msg_int(msg_new(), 1, strtoll(at, &end, 10)));
            ck_assert_msg(end != at, "a dim is missing at '%.30s'", at);
            at = end;
        }
    }
    return at;
}

/* One element of a tensor. */
static const char *element(const char *at, int field, msg *out)
{
    char *end = NULL;
    char text[128];
    if (field == 8) {
        at = quoted(expect(at, '"'), text);
        (void)msg_text(out, 8, text);
        return at;
    }
    const double value = strtod(at, &end);
    ck_assert_msg(end != at, "a number is missing at '%.30s'", at);
    if (field == 5 || field == 9)
        (void)msg_f32(out, (uint32_t)field, (float)value);
    else if (field == 6)
        (void)msg_raw(msg_varint(out, 6u << 3 | 1), &value, sizeof(value));
    else
        (void)msg_int(out, (uint32_t)field, strtoll(at, &end, 0));
    return end;
}

/* A tensor behind its type: dims and elements. */
static const char *tensor(const char *at, int type, msg *out)
{
    msg *dims = msg_new();
    (void)msg_int(out, 1, types[type].type);
    at = shape(expect(at, '['), dims);
    (void)msg_msg(out, 2, dims);
    at = expect(at, '{');
    while (!next_is(&at, '}')) {
        (void)next_is(&at, ',');
        at = element(skip(at), types[type].field, out);
    }
    return at;
}

/* A number: an integer, or a float if it has a point or an exponent. */
static const char *number(const char *at, uint32_t of_int, uint32_t of_float, msg *out)
{
    char *end;
    const size_t n = strspn(at, "+-0123456789");
    if (at[n] == '.' || at[n] == 'e')
        (void)msg_f32(out, of_float, strtof(at, &end));
    else
        (void)msg_int(out, of_int, strtoll(at, &end, 10));
    ck_assert_msg(end != at, "a value is missing at '%.30s'", at);
    return end;
}

static const char *list(const char *at, msg *out)
{
    char text[128];
    while (!next_is(&at, ')')) {
        (void)next_is(&at, ',');
        at = skip(at);
        if (*at == '"') {
            at = quoted(at + 1, text);
            (void)msg_text(out, 2, text);
        } else if (*at == '[') {
            msg *dims = msg_new();
            at = shape(at + 1, dims);
            (void)msg_msg(out, 7, dims);
        } else if (*at == '@') {
            at = word(at + 1, text);
            (void)msg_msg(out, 9, msg_text(msg_new(), 1, text));
        } else if (isalpha((unsigned char)*at)) {
            at = word(at, text);
            ck_assert_msg(type_index(text) >= 0, "'%s' is no type", text);
            (void)msg_int(out, 6, types[type_index(text)].type);
        } else {
            at = number(at, 3, 4, out);
        }
    }
    return at;
}

static const char *value(const char *at, msg *out)
{
    char text[128];
    msg *inner = msg_new();
    at = skip(at);
    if (*at == '"') {
        at = quoted(at + 1, text);
        (void)msg_text(out, 2, text);
    } else if (*at == '[') {
        at = shape(at + 1, inner);
        (void)msg_msg(out, 7, inner);
    } else if (*at == '(') {
        at = list(at + 1, inner);
        (void)msg_msg(out, 1, inner);
    } else if (*at == '@') {
        at = word(at + 1, text);
        (void)msg_msg(out, 10, msg_text(inner, 1, text));
    } else if (isalpha((unsigned char)*at)) {
        at = word(at, text);
        const int type = type_index(text);
        ck_assert_msg(type >= 0 || strcmp(text, "true") == 0 || strcmp(text, "false") == 0,
            "'%s' is no value", text);
        if (type < 0)
            (void)msg_int(out, 5, text[0] == 't');
        else if (*at == '[') {
            at = tensor(at, type, inner);
            (void)msg_msg(out, 8, inner);
        } else
            (void)msg_int(out, 6, types[type].type);
    } else {
        at = number(at, 3, 4, out);
    }
    return at;
}

/* A node, whose name was read. */
static const char *node(const char *at, const char *name, msg *out)
{
    char text[128];
    at = word(expect(at, '='), text);
    (void)msg_text(msg_text(out, 1, name), 2, text);
    at = expect(at, '(');
    while (!next_is(&at, ')')) {
        (void)next_is(&at, ',');
        at = word(at, text);
        (void)msg_text(out, 3, text);
    }
    /* Attributes stand on the same line. */
    for (;;) {
        msg *attr = msg_new();
        while (*at == ' ')
            at++;
        if (*at == '\n' || *at == '\0')
            return at;
        at = word(at, text);
        at = value(expect(at, '='), attr);
        (void)msg_msg(out, 5, msg_msg(msg_text(msg_new(), 1, text), 2, attr));
    }
}

static const char *argument(const char *at, uint32_t field, msg *signature, char name[128])
{
    char type[128];
    at = word(at, name);
    if (name[strlen(name) - 1] == ':')
        name[strlen(name) - 1] = '\0';
    at = word(at, type);
    ck_assert_msg(type_index(type) >= 0, "'%s' is no type", type);
    (void)msg_msg(signature, field,
        msg_int(msg_text(msg_new(), 1, name), 3, types[type_index(type)].type));
    return at;
}

static const char *function(const char *at, msg *out)
{
    char name[128], text[128];
    msg *signature = msg_new();
    at = word(at, name);
    (void)msg_text(signature, 1, name);
    at = expect(at, '(');
    while (!next_is(&at, ')')) {
        (void)next_is(&at, ',');
        at = argument(at, 2, signature, name);
    }
    at = expect(expect(at, '-'), '>');
    at = expect(at, '(');
    while (!next_is(&at, ')')) {
        (void)next_is(&at, ',');
        if (next_is(&at, '^')) {
            at = word(at, text);
            (void)msg_msg(out, 6, msg_text(msg_text(msg_new(), 1, text), 2, text));
            continue;
        }
        at = argument(at, 3, signature, name);
        at = word(expect(at, '='), text);
        (void)msg_msg(out, 4, msg_text(msg_text(msg_new(), 1, name), 2, text));
    }
    (void)msg_msg(out, 1, signature);
    at = expect(at, '{');
    while (!next_is(&at, '}')) {
        msg *n = msg_new();
        at = word(at, name);
        at = node(at, name, n);
        (void)msg_msg(out, 3, n);
    }
    return at;
}

msg *graphdef_from_text(const char *text)
{
    msg *graph = msg_new(), *library = msg_new();
    for (const char *at = skip(text); *at != '\0'; at = skip(at)) {
        char name[128];
        msg *item = msg_new();
        at = word(at, name);
        if (strcmp(name, "def") == 0) {
            at = function(at, item);
            (void)msg_msg(library, 1, item);
        } else {
            at = node(at, name, item);
            (void)msg_msg(graph, 1, item);
        }
    }
    (void)msg_msg(graph, 2, library);
    return msg_msg(graph, 4, msg_int(msg_new(), 1, 1286));
}

poprt_status graphdef_read(const char *text, const prt_tf_options *options, prt_module **out)
{
    static const prt_tf_options none;
    const msg *graph = graphdef_from_text(text);
    prt_blob *bytes = NULL;
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, graph->data, graph->size, NULL, NULL, &bytes),
        POPRT_OK);
    const poprt_status status =
        prt_tf_read_bytes(&prt_mem_libc, bytes, "text", options != NULL ? options : &none, out);
    prt_blob_release(bytes);
    return status;
}

prt_graph *graphdef_convert(const char *text)
{
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, NULL, &m) == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m->main;
}

void assert_graphdef_has(const char *text, const char *parts)
{
    prt_graph *g = graphdef_convert(text);
    assert_text_has(graph_text(g), parts);
    module_free(g);
}

void assert_graphdef_refused(const char *text, const char *parts)
{
    prt_module *m = NULL;
    const poprt_status status = graphdef_read(text, NULL, &m);
    ck_assert_msg(status != POPRT_OK, "the model is accepted; the error should have: %s", parts);
    assert_text_has(last_error(), parts);
}

void assert_graphdef_results(const char *text, const char *graph, double tolerance)
{
    prt_graph *converted = graphdef_convert(text), *expected = graph_from_text(graph);
    assert_same_results(converted, expected, tolerance, 1);
    module_free(converted);
    module_free(expected);
}
