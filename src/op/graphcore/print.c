/* SPDX-License-Identifier: MIT */
/*
 * print.c — PrintTensor: returns its input and prints it as nested brackets under a title (or the
 * name of the value). Rows wider than maxLineWidth are broken. If the tensor has more than
 * summariseThreshold elements, each axis shows edgeItems at both ends.
 */
#include <math.h>
#include <stdio.h>

#include "op/share/number_text.h"

enum { LINE = 1024, TITLE = 128, BRACKET = 8, NUMBER = 512, MOST_DIGITS = 17 };
enum { FORMAT_AUTO, FORMAT_FIXED, FORMAT_SCIENTIFIC, FORMAT_NONE };

typedef struct printer {
    prt_eval *c;
    const prt_gc_print_tensor_attrs *a;
    bool short_form;
    int64_t edge;
    size_t width, at, begin; /* begin: indentation of a line */
    size_t next;             /* index of the next element */
    char line[LINE + 1];
} printer;

static poprt_status infer(prt_infer *c)
{
    const prt_gc_print_tensor_attrs *a = c->attrs;
    if (a->floatFormat < FORMAT_AUTO || a->floatFormat > FORMAT_NONE)
        return prt_infer_fail(c, POPRT_E_ARG, "floatFormat is %lld; accepted: 0 to 3",
            (long long)a->floatFormat);
    if (a->edgeItems < 0 || a->summariseThreshold < 0 || a->maxLineWidth < 1 || a->digits < 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "edgeItems, summariseThreshold and digits must be at least 0, maxLineWidth at least 1");
    return prt_infer_same(c);
}

/* ---- lines */

static void end_line(printer *p)
{
    for (size_t i = 0; i < p->at; i++)
        if ((unsigned char)p->line[i] < ' ')
            p->line[i] = '?';
    p->line[p->at] = '\0';
    p->c->host->print(p->c, p->line);
    p->at = 0;
}

static void write_text(printer *p, const char *text, size_t size)
{
    if (p->at + size > LINE)
        end_line(p);
    memcpy(p->line + p->at, text, size);
    p->at += size;
}

static void new_line(printer *p, size_t depth)
{
    end_line(p);
    p->begin = depth < LINE ? depth : LINE;
    memset(p->line, ' ', p->begin);
    p->at = p->begin;
}

static void write_str(printer *p, prt_str text)
{
    write_text(p, text.data, text.size < BRACKET ? text.size : BRACKET);
}

/* Writes a word of a row; on a new line if it does not fit. */
static void write_word(printer *p, uint32_t depth, const char *text, size_t size)
{
    if (p->at + size > p->width && p->at > p->begin)
        new_line(p, depth);
    write_text(p, text, size);
}

/* ---- elements */

/* Copies a number and replaces the decimal point of the locale, of any length, by a point. */
static size_t copy_with_point(const char *text, char *to)
{
    size_t n = 0;
    bool point = false;
    for (; *text != '\0'; text++) {
        const bool kept =
            (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == 'e';
        if (kept || !point)
            to[n++] = kept ? *text : '.';
        point = point || !kept;
    }
    to[n] = '\0';
    return n;
}

static size_t print_float(const printer *p, int32_t dtype, double v, char *to)
{
    char text[NUMBER];
    const int digits = p->a->digits < MOST_DIGITS ? (int)p->a->digits : MOST_DIGITS;
    if (isnan(v) || isinf(v))
        return (size_t)snprintf(to, NUMBER, "%s", isnan(v) ? "nan" : v < 0.0 ? "-inf" : "inf");
    switch (p->a->floatFormat) {
    case FORMAT_FIXED:
        (void)snprintf(text, sizeof(text), "%.*f", digits, v);
        return copy_with_point(text, to);
    case FORMAT_SCIENTIFIC:
        (void)snprintf(text, sizeof(text), "%.*e", digits, v);
        return copy_with_point(text, to);
    case FORMAT_NONE:
        return prt_print_f64(dtype, v, to);
    default:
        (void)snprintf(text, sizeof(text), "%.*e", digits > 0 ? digits - 1 : 0, v);
        (void)prt_parse_f64(to, copy_with_point(text, to), &v);
        return prt_print_f64(PRT_DTYPE_f64, v, to);
    }
}

static void write_element(printer *p, uint32_t depth)
{
    const prt_tensor *x = p->c->in[0];
    char text[NUMBER];
    size_t n;
    if (prt_dtype_is_float(x->dtype))
        n = print_float(p, x->dtype, prt_load_f64(x->dtype, x->data, p->next), text);
    else if (prt_dtype_of(x->dtype)->kind == PRT_KIND_int)
        n = (size_t)snprintf(text, sizeof(text), "%lld",
            (long long)prt_load_i64(x->dtype, x->data, p->next));
    else
        n = (size_t)snprintf(text, sizeof(text), "%llu",
            (unsigned long long)prt_load_u64(x->dtype, x->data, p->next));
    write_word(p, depth, text, n);
}

/* ---- axes */

/* Writes the gap between two parts of an axis: the separator and, unless they are elements, a new
   line. */
static void write_gap(printer *p, uint32_t depth, bool elements)
{
    if (elements || !prt_str_is(p->a->separator, " "))
        write_str(p, p->a->separator);
    if (!elements)
        new_line(p, depth);
}

/* Writes an axis; the recursion depth is the rank. */
static poprt_status write_axis(printer *p, uint32_t depth)
{
    const prt_tensor *x = p->c->in[0];
    if (depth == x->rank) {
        write_element(p, depth);
        p->next++;
        return POPRT_OK;
    }
    const int64_t dim = x->dims[depth];
    const bool elements = depth + 1 == x->rank;
    const size_t each = prt_dims_product(x->dims, depth + 1, x->rank), first = p->next;
    PRT_TRY(p->c->host->check(p->c));
    write_str(p, p->a->openBracket);
    for (int64_t i = 0; i < dim; i++) {
        if (i > 0)
            write_gap(p, depth + 1, elements);
        if (p->short_form && i == p->edge && dim / 2 >= p->edge && dim > 2 * p->edge) {
            write_word(p, depth + 1, "...", 3);
            if (p->edge == 0)
                break;
            i = dim - p->edge;
            write_gap(p, depth + 1, elements);
        }
        p->next = first + (size_t)i * each;
        PRT_TRY(write_axis(p, depth + 1));
    }
    p->next = first + (size_t)dim * each;
    write_str(p, p->a->closeBracket);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_gc_print_tensor_attrs *a = c->attrs;
    PRT_TRY(prt_eval_copy(c, 0, c->in[0]));
    if (c->host->print == NULL)
        return POPRT_OK;
    printer *p = prt_eval_scratch(c, 1, sizeof(*p));
    if (p == NULL)
        return POPRT_E_NOMEM;
    prt_str title = a->title;
    if (title.size == 0 && c->host->name != NULL)
        title = c->host->name(c, 0);
    if (title.size == 0)
        title = c->origin;
    *p = (printer){ .c = c, .a = a, .edge = a->edgeItems };
    p->short_form = prt_tensor_count(c->in[0]) > (size_t)a->summariseThreshold;
    p->width = a->maxLineWidth < LINE ? (size_t)a->maxLineWidth : LINE;
    write_text(p, title.data, title.size < TITLE ? title.size : TITLE);
    write_text(p, ": ", 2);
    p->begin = p->at;
    PRT_TRY(write_axis(p, 0));
    end_line(p);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_print_tensor = { .infer = infer, .eval = eval };
