/* SPDX-License-Identifier: MIT */
/*
 * dims.c — how complete shape inference is: counts dims that are numbers, expressions or unknown,
 * and finds the operators where unknown dims begin.
 */
#include <stdio.h>

#include "describe/describe.h"
#include "ir/ir.h"

enum { NAMED = 8, NAME_SIZE = 100 };

/* Counts the dims of a type and returns the number of unknown ones. A value of unknown rank counts
 * as one unknown dim. */
static uint64_t count_dims(const prt_type *type, prt_dim_counts *to)
{
    uint64_t unknown = 0;
    if (type->kind != PRT_VALUE_TENSOR)
        return type->kind == PRT_VALUE_UNKNOWN;
    if (type->rank < 0)
        return 1;
    for (int32_t i = 0; i < type->rank; i++) {
        to->known += prt_dim_is_number(type->dims[i]);
        to->symbolic += prt_dim_is_expr(type->dims[i]);
        unknown += type->dims[i] == PRT_DIM_UNKNOWN;
    }
    return unknown;
}

/* Appends the type and name of an operator, such as "NonZero name". Control characters become
 * '?'. */
static void name_op(const prt_op *op, prt_dim_counts *to)
{
    char word[2 * NAME_SIZE];
    if (to->origins++ >= NAMED)
        return;
    const int n = snprintf(word, sizeof(word), "%s%.*s %.*s", to->size != 0 ? ", " : "", NAME_SIZE,
        op->name.data != NULL ? op->name.data : "", NAME_SIZE / 2, prt_op_label(op));
    for (int i = 0; i < n && i < (int)sizeof(word) - 1 && to->size + 1 < sizeof(to->from); i++)
        to->from[to->size++] = (unsigned char)word[i] < 0x20 ? '?' : word[i];
    to->from[to->size] = '\0';
}

void prt_describe_count_dims(const prt_graph *graph, prt_dim_counts *to)
{
    prt_dim_counts ignored = { 0 };
    prt_for_each_op (op, graph) {
        uint64_t unknown = 0;
        bool first = true;
        for (uint32_t i = 0; i < op->n_in; i++)
            first = first &&
                (op->in[i].value == NULL || count_dims(op->in[i].value->type, &ignored) == 0);
        for (uint32_t i = 0; i < op->n_out; i++)
            if (op->out[i].name.size != 0 || op->out[i].uses != NULL)
                unknown += count_dims(op->out[i].type, to);
        to->unknown += unknown;
        if (unknown != 0 && first)
            name_op(op, to);
    }
}

void prt_describe_print_dims(const prt_dim_counts *counts, char *to, size_t size)
{
    (void)snprintf(to, size, "%llu known, %llu symbolic, %llu unknown",
        (unsigned long long)counts->known, (unsigned long long)counts->symbolic,
        (unsigned long long)counts->unknown);
}

static poprt_status add_text(prt_description *d, const char *label, const char *key,
    const char *text)
{
    const size_t size = strlen(text);
    const char *copy = prt_arena_text(d->arena, text, size);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    return prt_describe_add_fact(d, label, key, (prt_str){ copy, (uint32_t)size }, 0);
}

poprt_status prt_describe_add_dims(prt_description *d, const prt_dim_counts *counts)
{
    char text[128];
    prt_describe_print_dims(counts, text, sizeof(text));
    PRT_TRY(add_text(d, "dims", NULL, text));
    PRT_TRY(prt_describe_add_fact(d, NULL, "dims_known", (prt_str){ NULL, 0 }, counts->known));
    PRT_TRY(
        prt_describe_add_fact(d, NULL, "dims_symbolic", (prt_str){ NULL, 0 }, counts->symbolic));
    PRT_TRY(prt_describe_add_fact(d, NULL, "dims_unknown", (prt_str){ NULL, 0 }, counts->unknown));
    return counts->origins != 0 ? add_text(d, "unknown from", "dims_unknown_from", counts->from)
                                : POPRT_OK;
}
