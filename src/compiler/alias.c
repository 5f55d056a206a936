/* SPDX-License-Identifier: MIT */
/*
 * alias.c — places buffers in the memory of others, so that steps have nothing to copy.
 *
 * First against the order of steps: an input of a Concat is made inside its result, and a value
 * that becomes an output by a view or in place is made in the caller's memory (parts). If all steps
 * that use a buffer accept a row stride, an input of a Concat along the last axis is made as
 * columns of the result, and the input of a Split as the columns of its outputs. Then along the
 * order: views stay in their input, and results that may overwrite an input at the end of its
 * lifetime do so (also as views). Finally the lifetime of a buffer is extended to those of all
 * buffers in it.
 *
 * A step may run in place if no later step reads the memory: every buffer of the same memory must
 * be dead after the step, and the input must be the only one alive at it. Against the order, where
 * the readers are not known yet, each part stores the step that overwrites it; a buffer placed into
 * its memory later on must be dead by then.
 */
#include "compiler/draft.h"
#include "op/alias.h"
#include "pass/engine/popart.h"
#include "program/sharing.h"

/* Buffers that share one memory. */
typedef struct group {
    uint32_t first, last; /* lifetime, in steps */
    uint32_t at_last;     /* number of members alive until `last` */
} group;

typedef struct aliaser {
    prt_draft *d;
    prt_draft_block *b;
    bool is_static;      /* all sizes are known at compile time */
    uint32_t *root;      /* by buffer: the buffer whose memory it lies in */
    group *groups;       /* by root */
    uint32_t *until;     /* by buffer: the step that overwrites its memory, if any */
    bool *takes_columns; /* by buffer: all its steps accept columns */
    prt_tensor *heads;   /* by input of the current step: header, and contents of constants */
    const prt_tensor **in;
} aliaser;

static prt_buffer *at(const aliaser *a, uint32_t buffer)
{
    return &a->b->buffers.data[buffer];
}

static uint32_t output_of(const prt_draft_step *s, uint32_t i)
{
    return i < s->op->n_out ? s->args[s->op->n_in + i] : PRT_NO_BUFFER;
}

/* Makes the header of a type whose dims are numbers; returns false for other types. */
static bool header_of(const prt_type *type, prt_tensor *t)
{
    return prt_type_is_tensor(type) && type->rank >= 0 && type->rank <= PRT_MAX_RANK &&
        prt_type_is_static(type) && type->dtype != PRT_DTYPE_undefined &&
        prt_tensor_init(t, type->dtype, (uint32_t)type->rank, type->dims, NULL);
}

/* Sets `in` to the headers of a step's inputs. An input without a header has no contents either. */
static void read_inputs(const aliaser *a, const prt_draft_step *s)
{
    for (uint32_t i = 0; i < s->op->n_in; i++) {
        const prt_value *v = s->op->in[i].value;
        prt_tensor *t = &a->heads[i];
        a->in[i] = NULL;
        if (v == NULL)
            continue;
        *t = (prt_tensor){ .kind = PRT_VALUE_UNKNOWN };
        a->in[i] = t;
        if (header_of(v->type, t) && i > 0 && prt_alias_may_view(s->op->def) &&
            prt_value_is_fixed(v) && !prt_value_aligned(v, a->d->arena, t))
            t->data = NULL;
    }
}

/* Returns whether the outputs are all of input 0 for any size: for sizes that are not known yet. */
static bool is_full_view(const prt_draft_step *s)
{
    const uint32_t views = PRT_VIEW | PRT_PURE;
    return (s->op->def->traits & views) == views && s->op->in[0].value != NULL &&
        s->op->in[0].value->type->dtype == s->op->out[0].type->dtype &&
        prt_dtype_bits(s->op->out[0].type->dtype) >= 8;
}

static bool is_view(const aliaser *a, const prt_draft_step *s, uint32_t i, size_t *offset)
{
    prt_tensor y;
    bool others = false;
    for (uint32_t k = 1; k < s->op->n_out; k++)
        others = others || output_of(s, k) != PRT_NO_BUFFER;
    if (!prt_alias_may_view(s->op->def) || s->op->n_in == 0 || s->args[0] == PRT_NO_BUFFER)
        return false;
    *offset = 0;
    if (!header_of(s->op->out[i].type, &y) || a->in[0] == NULL ||
        a->in[0]->kind != PRT_VALUE_TENSOR)
        return i == 0 && is_full_view(s);
    const prt_view_query query = { .attrs = s->op->attrs,
        .n_in = s->op->n_in,
        .n_out = s->op->n_out,
        .in = a->in,
        .i = i,
        .y = &y,
        .others = others };
    return prt_alias_view(s->op->def, &query, offset);
}

/* Returns whether input k has the type of output 0 and may be overwritten with it. Elements below
 * 16 bits are excluded, because their kernels share bytes. */
static bool fits_in_place(const prt_draft_step *s, uint32_t k)
{
    const prt_value *x = s->op->in[k].value;
    const prt_type *type = s->op->out[0].type;
    const bool allowed = s->lowered != NULL ? k < 64 && (s->lowered->in_place_inputs >> k & 1) != 0
                                            : prt_alias_in_place(s->op->def, s->op->n_in, k);
    return x != NULL && x->type == type && allowed && prt_type_is_tensor(type) &&
        prt_dtype_is_float(type->dtype) && prt_dtype_bits(type->dtype) >= 16;
}

/* ---- against the order: parts ---- */

/* Returns whether `buffer` may lie in `into`: it must be dead before `into` is overwritten. */
static bool may_share(const aliaser *a, uint32_t buffer, uint32_t into)
{
    return at(a, buffer)->space == PRT_SPACE_PLANNED && at(a, buffer)->last < a->until[into];
}

static void make_part(aliaser *a, uint32_t buffer, uint32_t into, size_t offset)
{
    const prt_buffer *to = at(a, into);
    a->until[buffer] = a->until[into];
    const bool part = to->space == PRT_SPACE_PART;
    at(a, buffer)->space = PRT_SPACE_PART;
    at(a, buffer)->ref = part ? to->ref : into;
    at(a, buffer)->offset = part ? to->offset + offset : offset;
}

/* Makes the buffer columns of `into`, which may be columns itself, at byte `offset` of its rows. */
static void make_columns(aliaser *a, uint32_t buffer, uint32_t into, size_t offset)
{
    make_part(a, buffer, into, offset);
    const prt_buffer *to = at(a, into);
    at(a, buffer)->space = PRT_SPACE_COLUMNS;
    if (to->space == PRT_SPACE_COLUMNS) {
        at(a, buffer)->ref = to->ref;
        at(a, buffer)->offset = to->offset + offset;
    }
}

static size_t row_size(const aliaser *a, uint32_t buffer)
{
    const prt_type *type = at(a, buffer)->type;
    return (size_t)type->dims[type->rank - 1] * (prt_dtype_bits(type->dtype) / 8);
}

/* Returns whether the step works along the last axis of a tensor with more than one row. */
static bool has_rows(const prt_draft_step *s, const prt_type *type)
{
    prt_tensor t;
    return header_of(type, &t) && t.size != 0 &&
        prt_alias_is_along_columns(s->op->def, s->op->attrs, t.rank) &&
        prt_dims_product(t.dims, 0, t.rank - 1) > 1;
}

/* Places the inputs of a Concat along the last axis as columns of its result. */
static void make_concat_columns(aliaser *a, const prt_draft_step *s, uint32_t out)
{
    size_t offset = 0;
    if (s->op->n_in > PRT_CONCAT_COLUMNS_MAX || !has_rows(s, s->op->out[0].type))
        return;
    for (uint32_t i = 0; i < s->op->n_in; i++) {
        const uint32_t x = s->args[i];
        if (x == PRT_NO_BUFFER)
            return;
        if (may_share(a, x, out) && a->takes_columns[x] && row_size(a, x) != 0)
            make_columns(a, x, out, offset);
        offset += row_size(a, x);
    }
}

/* Places the input of a Split along the last axis, if all its outputs are columns in the order that
 * they have in the input. */
static void make_split_columns(aliaser *a, const prt_draft_step *s)
{
    const uint32_t x = s->args[0], first = output_of(s, 0);
    size_t offset = 0;
    if (x == PRT_NO_BUFFER || first == PRT_NO_BUFFER || s->op->n_out > PRT_CONCAT_COLUMNS_MAX ||
        !has_rows(s, at(a, x)->type) || at(a, first)->space != PRT_SPACE_COLUMNS ||
        !a->takes_columns[x])
        return;
    for (uint32_t i = 0; i < s->op->n_out; i++) {
        const uint32_t y = output_of(s, i);
        if (y == PRT_NO_BUFFER || at(a, y)->space != PRT_SPACE_COLUMNS ||
            at(a, y)->ref != at(a, first)->ref ||
            at(a, y)->offset != at(a, first)->offset + offset || !may_share(a, x, y))
            return;
        offset += row_size(a, y);
    }
    make_columns(a, x, first, 0);
}

static void join_inputs(aliaser *a, const prt_draft_step *s, uint32_t out)
{
    prt_tensor y;
    size_t offset = 0;
    if (!header_of(s->op->out[0].type, &y) ||
        !prt_alias_concat_is_contiguous(s->op->def, s->op->attrs, &y))
        return;
    for (uint32_t i = 0; i < s->op->n_in; i++) {
        const uint32_t x = s->args[i];
        if (x == PRT_NO_BUFFER || a->in[i]->kind != PRT_VALUE_TENSOR)
            return;
        if (may_share(a, x, out) && a->in[i]->size != 0)
            make_part(a, x, out, offset);
        offset += a->in[i]->size;
    }
}

/* Returns whether the result of a step may be a view of an input, or be written over one. */
static bool may_be_in_place(const aliaser *a, const prt_draft_step *s)
{
    return !prt_popart_is_excluded(s->op, PRT_POPART_InPlace, a->d->arena);
}

static void part_step(aliaser *a, uint32_t step)
{
    const prt_draft_step *s = &a->b->steps.data[step];
    const uint32_t out = output_of(s, 0);
    size_t offset;
    if (out == PRT_NO_BUFFER)
        return;
    const uint32_t space = at(a, out)->space;
    const bool can_hold_columns =
        space == PRT_SPACE_OUTPUT || space == PRT_SPACE_PLANNED || space == PRT_SPACE_COLUMNS;
    if (prt_alias_is_concat(s->op->def) && can_hold_columns)
        make_concat_columns(a, s, out);
    else if (prt_alias_is_split(s->op->def))
        make_split_columns(a, s);
    const bool fixed = space == PRT_SPACE_OUTPUT || space == PRT_SPACE_PART;
    if (prt_alias_is_concat(s->op->def) && (fixed || space == PRT_SPACE_PLANNED)) {
        join_inputs(a, s, out);
        return;
    }
    if (!fixed || s->op->n_in == 0 || !may_be_in_place(a, s))
        return;
    const uint32_t whole = s->args[0];
    prt_tensor y;
    if (is_view(a, s, 0, &offset)) {
        if (may_share(a, whole, out) && offset == 0 && header_of(s->op->out[0].type, &y) &&
            y.size == a->in[0]->size)
            make_part(a, whole, out, 0);
        return;
    }
    for (uint32_t k = 0; k < s->op->n_in; k++) {
        const uint32_t x = s->args[k];
        if (x == PRT_NO_BUFFER || !may_share(a, x, out) || at(a, x)->last != step ||
            !fits_in_place(s, k))
            continue;
        make_part(a, x, out, 0);
        a->until[x] = step;
        return;
    }
}

/* ---- along the order: views ---- */

static void add_to_group(aliaser *a, uint32_t buffer)
{
    const prt_buffer *x = at(a, buffer);
    group *g = &a->groups[a->root[buffer]];
    g->first = x->first < g->first ? x->first : g->first;
    if (x->last == g->last)
        g->at_last++;
    if (x->last > g->last || g->at_last == 0) {
        g->last = x->last;
        g->at_last = 1;
    }
}

static void make_view(aliaser *a, uint32_t buffer, uint32_t of)
{
    at(a, buffer)->space = PRT_SPACE_VIEW;
    at(a, buffer)->ref = of;
    a->until[buffer] = a->until[of];
    a->root[buffer] = a->root[of];
    add_to_group(a, buffer);
}

static bool has_columns(const aliaser *a, const prt_draft_step *s)
{
    for (uint32_t i = 0; i < s->op->n_in + s->op->n_out; i++)
        if (s->args[i] != PRT_NO_BUFFER && at(a, s->args[i])->space == PRT_SPACE_COLUMNS)
            return true;
    return false;
}

static void view_step(aliaser *a, uint32_t step)
{
    const prt_draft_step *s = &a->b->steps.data[step];
    size_t offset;
    if (s->op->n_in == 0 || has_columns(a, s) || !may_be_in_place(a, s))
        return;
    for (uint32_t i = 0; i < s->op->n_out; i++) {
        const uint32_t out = output_of(s, i);
        if (out == PRT_NO_BUFFER || !is_view(a, s, i, &offset) || !may_share(a, out, s->args[0]) ||
            at(a, a->root[s->args[0]])->space == PRT_SPACE_DYNAMIC)
            continue;
        make_view(a, out, s->args[0]);
    }
    const uint32_t out = output_of(s, 0);
    if (out == PRT_NO_BUFFER || at(a, out)->space != PRT_SPACE_PLANNED)
        return;
    for (uint32_t k = 0; k < s->op->n_in; k++) {
        const uint32_t x = s->args[k];
        if (x == PRT_NO_BUFFER || at(a, a->root[x])->space != PRT_SPACE_PLANNED ||
            at(a, x)->last != step || !fits_in_place(s, k))
            continue;
        const group *g = &a->groups[a->root[x]];
        if (g->last != step || g->at_last != 1)
            continue;
        make_view(a, out, x);
        return;
    }
}

/* ---- a block ---- */

static bool sizes_known(const prt_draft_block *b)
{
    size_t size;
    for (size_t i = 0; i < b->buffers.count; i++)
        if (b->buffers.data[i].space == PRT_SPACE_PLANNED &&
            !prt_type_size(b->buffers.data[i].type, &size))
            return false;
    return true;
}

/* A buffer that lies in no other one is a root, alone in its group. A planned buffer that becomes a
 * view later contains no other buffers yet, and joins its group then. */
static void find_groups(aliaser *a)
{
    const uint32_t n = (uint32_t)a->b->buffers.count;
    for (uint32_t i = 0; i < n; i++) {
        const prt_buffer *x = at(a, i);
        const bool inside = x->space == PRT_SPACE_PART || x->space == PRT_SPACE_COLUMNS;
        a->root[i] = inside ? x->ref : i;
        a->groups[i] = (group){ .first = UINT32_MAX };
    }
    for (uint32_t i = 0; i < n; i++)
        add_to_group(a, i);
}

/* Finds the buffers that only steps of this block use, which all accept columns. */
static void find_column_buffers(aliaser *a)
{
    const prt_draft_block *b = a->b;
    for (size_t i = 0; i < b->buffers.count; i++)
        a->takes_columns[i] = true;
    for (size_t k = 0; k < b->steps.count; k++) {
        const prt_draft_step *s = &b->steps.data[k];
        for (uint32_t i = 0; i < s->op->n_in + s->op->n_out; i++) {
            const uint32_t x = s->args[i];
            const bool out = i >= s->op->n_in;
            if (x != PRT_NO_BUFFER && a->takes_columns[x])
                a->takes_columns[x] = prt_alias_takes_columns(s->op->def, s->op->attrs,
                    b->buffers.data[x].type, out, out ? i - s->op->n_in : i);
        }
    }
    for (uint32_t i = 0; i < b->n_outputs; i++)
        a->takes_columns[b->outputs[i]] = false;
    for (size_t k = 0; k < a->d->blocks.count; k++) {
        const prt_draft_block *inner = a->d->blocks.data[k];
        for (size_t i = 0; inner != b && inner->parent == b->index && i < inner->buffers.count; i++)
            if (inner->buffers.data[i].space == PRT_SPACE_CAPTURE)
                a->takes_columns[inner->buffers.data[i].ref] = false;
    }
}

/* The memory of a variable has the old value until the step that writes the new one. */
static void limit_old_values(aliaser *a, uint32_t step)
{
    const prt_draft_step *s = &a->b->steps.data[step];
    for (uint32_t o = 0; o < s->op->n_out; o++) {
        const uint32_t y = output_of(s, o);
        if (y != PRT_NO_BUFFER && at(a, y)->space == PRT_SPACE_VARIABLE)
            a->until[s->args[o]] = step;
    }
}

static poprt_status alias_block(prt_draft *d, prt_draft_block *b)
{
    uint32_t most = 0;
    for (size_t i = 0; i < b->steps.count; i++)
        most = b->steps.data[i].op->n_in > most ? b->steps.data[i].op->n_in : most;
    aliaser a = { .d = d, .b = b, .is_static = sizes_known(b) };
    a.root = PRT_NEW_N(d->arena, uint32_t, b->buffers.count);
    a.groups = PRT_NEW_N(d->arena, group, b->buffers.count);
    a.until = PRT_NEW_N(d->arena, uint32_t, b->buffers.count);
    a.heads = PRT_NEW_N(d->arena, prt_tensor, most);
    a.in = PRT_NEW_N(d->arena, const prt_tensor *, most);
    a.takes_columns = PRT_NEW_N(d->arena, bool, b->buffers.count);
    if (a.takes_columns == NULL || a.root == NULL || a.groups == NULL || a.until == NULL ||
        a.heads == NULL || a.in == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < b->buffers.count; i++)
        a.until[i] = UINT32_MAX;
    for (uint32_t i = 0; i < b->steps.count; i++)
        limit_old_values(&a, i);
    find_column_buffers(&a);
    for (uint32_t i = (uint32_t)b->steps.count; a.is_static && i-- > 0;) {
        read_inputs(&a, &b->steps.data[i]);
        part_step(&a, i);
    }
    find_groups(&a);
    for (uint32_t i = 0; i < b->steps.count; i++) {
        read_inputs(&a, &b->steps.data[i]);
        view_step(&a, i);
    }
    for (uint32_t i = 0; i < b->buffers.count; i++) {
        prt_buffer *x = at(&a, i);
        const group *g = &a.groups[a.root[i]];
        if (x->space != PRT_SPACE_PLANNED && x->space != PRT_SPACE_OUTPUT)
            continue;
        x->first = g->first;
        x->last = g->last;
    }
    return POPRT_OK;
}

poprt_status prt_compile_alias(prt_draft *d)
{
    for (size_t k = 0; k < d->blocks.count && !d->options->no_memory_sharing; k++)
        PRT_TRY(alias_block(d, d->blocks.data[k]));
    return POPRT_OK;
}
