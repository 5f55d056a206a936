/* SPDX-License-Identifier: MIT */
/* equation.c — parser of Einsum equations. */
#include "op/share/equation.h"

#include <string.h>

/* Reads one term from *at up to ',', '-' or the end. Returns NULL or an error text. */
static const char *parse_term(const char **at, const char *end, prt_equation_term *t)
{
    *t = (prt_equation_term){ 0 };
    for (; *at < end && **at != ',' && **at != '-'; (*at)++) {
        const char ch = **at;
        if (ch == ' ')
            continue;
        if (ch == '.') {
            if (t->dots || end - *at < 3 || (*at)[1] != '.' || (*at)[2] != '.')
                return "has a stray dot";
            t->dots = true;
            t->dots_at = t->count;
            *at += 2;
            continue;
        }
        const bool upper = ch >= 'A' && ch <= 'Z';
        if (!upper && !(ch >= 'a' && ch <= 'z'))
            return "has a character other than letters, spaces, ',', '...' and '->'";
        if (t->count == PRT_MAX_RANK)
            return "has a term with too many letters";
        t->label[t->count++] = (uint8_t)(upper ? ch - 'A' : ch - 'a' + 26);
    }
    return NULL;
}

const char *prt_equation_parse(prt_str text, uint32_t n_in, prt_equation *e)
{
    const char *at = text.size != 0 ? text.data : "", *end = at + text.size;
    *e = (prt_equation){ 0 };
    for (;;) {
        if (e->n_in == PRT_EQUATION_TERMS)
            return "has too many terms";
        const char *wrong = parse_term(&at, end, &e->in[e->n_in++]);
        if (wrong != NULL)
            return wrong;
        if (at == end || *at != ',')
            break;
        at++;
    }
    if (at < end) {
        if (end - at < 2 || at[1] != '>')
            return "has a stray '-'";
        at += 2;
        e->has_out = true;
        const char *wrong = parse_term(&at, end, &e->out);
        if (wrong != NULL)
            return wrong;
    }
    if (at != end)
        return "has text after its output term";
    return e->n_in == n_in ? NULL : "must have one term for each input of the operator";
}

/* Inserts the ellipsis dims of a term of `rank` between its letters, aligned to the right. */
static bool expand_dots(const prt_equation *e, prt_equation_term *t, uint32_t rank)
{
    if (rank < t->count || (!t->dots && rank != t->count))
        return false;
    const uint32_t dots = rank - t->count;
    memmove(t->label + t->dots_at + dots, t->label + t->dots_at, t->count - t->dots_at);
    for (uint32_t i = 0; i < dots; i++)
        t->label[t->dots_at + i] = (uint8_t)(PRT_EQUATION_LETTERS + e->dots - dots + i);
    t->count = rank;
    t->dots = false;
    return true;
}

/* Sets the output of an equation without "->": ellipsis dims, then letters that occur once, in
 * order. */
static const char *implicit_output(prt_equation *e)
{
    e->out.dots = true;
    for (uint8_t label = 0; label < PRT_EQUATION_LETTERS; label++)
        if (e->seen[label] == 1) {
            if (e->out.count == PRT_MAX_RANK)
                return "has an output of too many dims";
            e->out.label[e->out.count++] = label;
        }
    return NULL;
}

static const char *check_output(const prt_equation *e)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < e->out.count; i++) {
        const uint8_t label = e->out.label[i];
        if (label < PRT_EQUATION_LETTERS && e->seen[label] == 0)
            return "has an output letter that occurs in no input term";
        if ((used >> label & 1) != 0)
            return "has an output letter twice";
        used |= (uint64_t)1 << label;
    }
    return NULL;
}

/* Merges the size of a label that occurs again; dims of 1 broadcast. Returns false if sizes
 * differ. */
static bool merge_size(int64_t *size, uint32_t seen, int64_t dim)
{
    if (seen == 0 || (prt_dim_is_number(*size) && *size == 1))
        *size = dim;
    else if (prt_dim_is_number(dim) && dim == 1)
        return true;
    else if (prt_dim_is_number(dim) && prt_dim_is_number(*size))
        return dim == *size;
    else if (!prt_dim_is_number(*size))
        *size = prt_dim_is_number(dim) || dim == *size ? dim : PRT_DIM_UNKNOWN;
    return true;
}

const char *prt_equation_resolve(prt_equation *e, const uint32_t *ranks, const int64_t *const *dims)
{
    for (uint32_t i = 0; i < e->n_in; i++) {
        if (ranks[i] < e->in[i].count || (!e->in[i].dots && ranks[i] != e->in[i].count))
            return "has a term that does not match the rank of its input";
        if (ranks[i] - e->in[i].count > e->dots)
            e->dots = ranks[i] - e->in[i].count;
    }
    for (uint32_t i = 0; i < e->n_in; i++) {
        (void)expand_dots(e, &e->in[i], ranks[i]);
        for (uint32_t k = 0; k < ranks[i]; k++) {
            const uint8_t label = e->in[i].label[k];
            if (!merge_size(&e->size[label], e->seen[label]++, dims[i][k]))
                return "has a letter that stands for dims of different sizes";
        }
    }
    if (!e->has_out) {
        const char *wrong = implicit_output(e);
        if (wrong != NULL)
            return wrong;
    }
    if (e->out.dots && e->out.count + e->dots > PRT_MAX_RANK)
        return "has an output of too many dims";
    if (e->out.dots)
        (void)expand_dots(e, &e->out, e->out.count + e->dots);
    return check_output(e);
}
