/* SPDX-License-Identifier: MIT */
/*
 * multi_slice.c — merge_multi_slice: replaces several Slices of one value along one axis by one
 * Split. The Slices have steps of 1 and constant bounds and do not overlap. Ranges without a Slice
 * become unused outputs of the Split; Slices of the same range share an output. Results are bitwise
 * equal.
 *
 * Conditions that are not in the reference: at least two different ranges, and a known length of
 * the axis.
 */
#include <stdlib.h>

#include "pass/engine/match.h"

typedef struct cut {
    int64_t first, last;
    prt_op *op;
} cut;

typedef struct key {
    const prt_value *x;
    uint64_t axis;
} key;

/* Reads the axis and the range of a Slice with step 1 along a single axis. */
static bool read_cut(prt_op *op, key *k, cut *c)
{
    int64_t start, end, axis = 0, step = 1;
    uint32_t n, at;
    const prt_value *x = prt_op_input(op, 0);
    if (!prt_op_is(op, PRT_OP_slice) || !prt_type_is_tensor(x->type) || x->type->rank < 0 ||
        !prt_match_i64s(op, 1, 1, &start, &n) || n != 1 || !prt_match_i64s(op, 2, 1, &end, &n) ||
        n != 1 ||
        (prt_op_input(op, 3) != NULL && (!prt_match_i64s(op, 3, 1, &axis, &n) || n != 1)) ||
        (prt_op_input(op, 4) != NULL && (!prt_match_i64s(op, 4, 1, &step, &n) || n != 1)) ||
        step != 1 || !prt_match_axis(axis, x->type->rank, &at) ||
        !prt_dim_is_number(x->type->dims[at]))
        return false;
    const int64_t dim = x->type->dims[at];
    start += start < 0 ? dim : 0;
    end += end < 0 ? dim : 0;
    start = start < 0 ? 0 : start;
    end = end > dim ? dim : end;
    *k = (key){ .x = x, .axis = at };
    *c = (cut){ start, end, op };
    return start < end;
}

static int by_place(const void *a, const void *b)
{
    const cut *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->last != y->last ? (x->last < y->last ? -1 : 1) : 0;
}

/* Divides the whole axis into parts from the sorted ranges. Returns false if ranges overlap, if
 * there are fewer than two, or without memory. */
static bool find_parts(prt_pass *p, const cut *cuts, size_t n, int64_t dim, int64_t **sizes,
    uint32_t *count, uint32_t *part_of)
{
    int64_t at = 0;
    uint32_t parts = 0, used = 0;
    *sizes = PRT_NEW_N(p->arena, int64_t, 2 * n + 1);
    for (size_t i = 0; *sizes != NULL && i < n; i++) {
        if (i != 0 && cuts[i].first == cuts[i - 1].first && cuts[i].last == cuts[i - 1].last) {
            part_of[i] = part_of[i - 1];
            continue;
        }
        if (cuts[i].first < at)
            return false;
        if (cuts[i].first > at)
            (*sizes)[parts++] = cuts[i].first - at;
        part_of[i] = parts;
        (*sizes)[parts++] = cuts[i].last - cuts[i].first;
        at = cuts[i].last;
        used++;
    }
    if (*sizes != NULL && at < dim)
        (*sizes)[parts++] = dim - at;
    *count = parts;
    return *sizes != NULL && used >= 2;
}

static poprt_status merge(prt_pass *p, const prt_match_group *group, bool *changed)
{
    const size_t n = group->ops.count;
    cut *cuts = PRT_NEW_N(p->arena, cut, n);
    prt_value **to = PRT_NEW_N(p->arena, prt_value *, n);
    uint32_t *part_of = PRT_NEW_N(p->arena, uint32_t, n), count;
    int64_t *sizes;
    key k = { 0 };
    if (cuts == NULL || to == NULL || part_of == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        (void)read_cut(group->ops.data[i], &k, &cuts[i]);
    qsort(cuts, n, sizeof(cut), by_place);
    prt_op *first = group->ops.data[0];
    prt_value *x = prt_op_input(first, 0);
    if (!find_parts(p, cuts, n, x->type->dims[k.axis], &sizes, &count, part_of))
        return POPRT_OK;
    prt_build b = prt_build_before(first);
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(attrs, split, axis, (int64_t)k.axis);
    prt_value *in[2] = { x, prt_build_i64s(&b, count, sizes) };
    prt_op *split = prt_match_new(&b, first, PRT_OP_split, &attrs, 2, in, count);
    for (size_t i = 0; split != NULL && i < n;
         i++) { /* all outputs are ready before an old op is replaced */
        const bool again = i != 0 && part_of[i] == part_of[i - 1];
        to[i] = &split->out[part_of[i]];
        if (again && prt_value_is_output(&cuts[i].op->out[0]))
            to[i] = prt_build_unary(&b, PRT_OP_identity, to[i]);
    }
    for (size_t i = 0; split != NULL && i < n && b.status == POPRT_OK; i++)
        if (prt_value_used(&cuts[i].op->out[0]))
            (void)prt_pass_replace(&b, &cuts[i].op->out[0], to[i]);
    *changed = true;
    return prt_build_status(&b);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_match_groups groups = { 0 };
    prt_for_each_op (op, graph) {
        key k = { 0 };
        cut c;
        PRT_TRY(prt_pass_check(p));
        if (read_cut(op, &k, &c))
            PRT_TRY(prt_match_group_add(p->arena, &groups, &k, sizeof(k), op));
    }
    for (size_t i = 0; i < groups.list.count; i++)
        if (groups.list.data[i]->ops.count > 1)
            PRT_TRY(merge(p, groups.list.data[i], changed));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_merge_multi_slice = { .run = run };
