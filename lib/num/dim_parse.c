/* SPDX-License-Identifier: MIT */
/* dim_parse.c — parses the expressions that exporters write as names of dims: "past + new",
 * "(seq//2)". */
#include "num/dim.h"

enum { DEPTH_MAX = 16, SIZE_MAX_TEXT = 256 }; /* nested parentheses; bytes */

typedef struct parser {
    prt_dims *dims;
    const char *at, *end;
    int64_t (*find)(void *user, prt_str name);
    void *user;
    uint32_t depth;
} parser;

static void skip_blanks(parser *p)
{
    while (p->at != p->end && *p->at == ' ')
        p->at++;
}

static bool accept(parser *p, char c)
{
    skip_blanks(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int64_t parse_sum(parser *p);

static int64_t parse_number(parser *p)
{
    int64_t value = 0;
    for (; p->at != p->end && is_digit(*p->at); p->at++) {
        if (value > INT32_MAX)
            return PRT_DIM_UNKNOWN;
        value = value * 10 + (*p->at - '0');
    }
    return value;
}

static int64_t parse_name(parser *p)
{
    const char *first = p->at;
    while (p->at != p->end && (is_letter(*p->at) || is_digit(*p->at) || *p->at == '.'))
        p->at++;
    const prt_str name = { first, (uint32_t)(p->at - first) };
    return p->find(p->user, name);
}

static int64_t parse_factor(parser *p)
{
    int64_t value = PRT_DIM_UNKNOWN;
    if (accept(p, '(')) {
        if (p->depth++ == DEPTH_MAX)
            return PRT_DIM_UNKNOWN;
        value = parse_sum(p);
        p->depth--;
        return accept(p, ')') ? value : PRT_DIM_UNKNOWN;
    }
    if (p->at != p->end && is_digit(*p->at))
        return parse_number(p);
    return p->at != p->end && is_letter(*p->at) ? parse_name(p) : value;
}

static int64_t parse_product(parser *p)
{
    int64_t value = parse_factor(p);
    while (value != PRT_DIM_UNKNOWN) {
        if (accept(p, '*')) {
            value = prt_dim_make(p->dims, PRT_DIM_MUL, value, parse_factor(p));
        } else if (accept(p, '/')) {
            (void)accept(p, '/');
            value = prt_dim_make(p->dims, PRT_DIM_FLOORDIV, value, parse_factor(p));
        } else {
            break;
        }
    }
    return value;
}

static int64_t parse_sum(parser *p)
{
    int64_t value = parse_product(p);
    while (value != PRT_DIM_UNKNOWN) {
        if (accept(p, '+'))
            value = prt_dim_make(p->dims, PRT_DIM_ADD, value, parse_product(p));
        else if (accept(p, '-'))
            value = prt_dim_make(p->dims, PRT_DIM_SUB, value, parse_product(p));
        else
            break;
    }
    return value;
}

int64_t prt_dim_parse(prt_dims *dims, prt_str text, int64_t (*find)(void *user, prt_str name),
    void *user)
{
    parser p = { .dims = dims,
        .at = text.data,
        .end = text.data + text.size,
        .find = find,
        .user = user };
    if (text.size == 0 || text.size > SIZE_MAX_TEXT)
        return PRT_DIM_UNKNOWN;
    const int64_t value = parse_sum(&p);
    skip_blanks(&p);
    return p.at == p.end ? value : PRT_DIM_UNKNOWN;
}

int64_t prt_dim_replace(prt_dims *dims, int64_t dim, int64_t symbol, int64_t to)
{
    if (dim == symbol)
        return to;
    if (!prt_dim_is_expr(dim))
        return dim;
    const prt_dim_node node = *prt_dims_at(dims, prt_dim_index(dim));
    if (node.op == PRT_DIM_SYMBOL)
        return dim;
    const int64_t a = prt_dim_replace(dims, node.a, symbol, to);
    return prt_dim_make(dims, (prt_dim_op)node.op, a, prt_dim_replace(dims, node.b, symbol, to));
}
