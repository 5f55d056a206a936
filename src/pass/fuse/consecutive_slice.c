/* SPDX-License-Identifier: MIT */
/*
 * consecutive_slice.c — fuse_consecutive_slice: merges a Slice of a Slice along other axes into one
 * Slice. All readers of the first Slice must be such Slices, so that it is removed. Results are
 * bitwise equal.
 */
#include "pass/engine/match.h"

enum { STARTS = 1, ENDS, AXES, STEPS }; /* inputs of Slice */

/* Constant bounds of a Slice along a set of axes. */
typedef struct cut {
    uint32_t count;
    uint32_t set; /* bit set of axes */
    int64_t starts[PRT_MAX_RANK], ends[PRT_MAX_RANK], axes[PRT_MAX_RANK], steps[PRT_MAX_RANK];
} cut;

static bool read_cut(const prt_op *op, cut *c)
{
    const prt_value *x = prt_op_input(op, 0);
    const prt_type *type = x != NULL ? prt_match_ranked(x) : NULL;
    uint32_t n;
    c->set = 0;
    if (type == NULL || !prt_op_is(op, PRT_OP_slice) ||
        !prt_match_i64s(op, STARTS, PRT_MAX_RANK, c->starts, &c->count) ||
        !prt_match_i64s(op, ENDS, PRT_MAX_RANK, c->ends, &n) || n != c->count)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        c->axes[i] = i;
        c->steps[i] = 1;
    }
    if ((prt_op_input(op, AXES) != NULL &&
            (!prt_match_i64s(op, AXES, PRT_MAX_RANK, c->axes, &n) || n != c->count)) ||
        (prt_op_input(op, STEPS) != NULL &&
            (!prt_match_i64s(op, STEPS, PRT_MAX_RANK, c->steps, &n) || n != c->count)))
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t at;
        if (!prt_match_axis(c->axes[i], type->rank, &at))
            return false;
        c->axes[i] = at;
        c->set |= 1U << at;
    }
    return true;
}

/* Returns whether `op` is a Slice of `first` along other axes; `b` becomes its bounds. */
static bool follows(const prt_op *op, const prt_op *first, const cut *a, cut *b)
{
    return op->graph == first->graph && op != op->graph->ret &&
        prt_op_input(op, 0) == &first->out[0] && read_cut(op, b) && (a->set & b->set) == 0 &&
        a->count + b->count <= PRT_MAX_RANK;
}

static void append(cut *a, const cut *b)
{
    for (uint32_t i = 0; i < b->count; i++, a->count++) {
        a->starts[a->count] = b->starts[i];
        a->ends[a->count] = b->ends[i];
        a->axes[a->count] = b->axes[i];
        a->steps[a->count] = b->steps[i];
    }
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_op *first = prt_match_producer(root, 0, PRT_OP_slice);
    cut all, next;
    (void)p;
    if (first == NULL || !read_cut(first, &all))
        return false;
    prt_for_each_use (use, &first->out[0])
        if (!follows(use->user, first, &all, &next))
            return false;
    (void)read_cut(root, &next);
    append(&all, &next);
    prt_value *in[5] = { prt_op_input(first, 0), prt_build_i64s(b, all.count, all.starts),
        prt_build_i64s(b, all.count, all.ends), prt_build_i64s(b, all.count, all.axes),
        prt_build_i64s(b, all.count, all.steps) };
    return prt_match_replace_op(b, root, PRT_OP_slice, NULL, 5, in);
}

PRT_PASS_OF_REWRITE(fuse_consecutive_slice, PRT_OP_slice, apply);
