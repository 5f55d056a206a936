/* SPDX-License-Identifier: MIT */
/* rules.c — the table of operators, and the permutations of their ports. */
#include "pass/transpose/rules.h"

#include "op/share/shape_values.h"

#define ALL PRT_MOVE_ALL

/* The row of all operators with PRT_ELEMENTWISE. */
static const prt_move_rule elementwise = { PRT_OP_COUNT, PRT_MOVE_elementwise, ALL, 1,
    PRT_MOVE_no_attr, 0, 0 };

static const prt_move_rule rules[] = {
    { PRT_OP_expand, PRT_MOVE_elementwise, 1, 1, PRT_MOVE_no_attr, 0, 1 << 1 },
    { PRT_OP_identity, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_cast_like, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_dropout, PRT_MOVE_same, 1, 3, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_transpose, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_dynamic_quantize_linear, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_quantize_linear, PRT_MOVE_same, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_dequantize_linear, PRT_MOVE_same, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_concat, PRT_MOVE_same, ALL, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_split, PRT_MOVE_same, 1, ALL, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_softmax, PRT_MOVE_same, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_log_softmax, PRT_MOVE_same, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_hardmax, PRT_MOVE_same, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_lp_normalization, PRT_MOVE_same, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_mean_variance_normalization, PRT_MOVE_same, 1, 1, PRT_MOVE_list, 0, 0 },
    { PRT_OP_topk, PRT_MOVE_same, 1, 3, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_gather_elements, PRT_MOVE_same, 3, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_scatter_elements, PRT_MOVE_same, 7, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_cumsum, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_slice, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 3, 0 },
    { PRT_OP_pad, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 3, 1 << 1 },
    { PRT_OP_tile, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 1 << 1 },
    { PRT_OP_resize, PRT_MOVE_same, 1, 1, PRT_MOVE_list, 0, 1 << 1 | 1 << 2 | 1 << 3 },
    { PRT_OP_global_average_pool, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_global_max_pool, PRT_MOVE_same, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_reduce_l1, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_l2, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_log_sum, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_log_sum_exp, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_max, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_mean, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_min, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_prod, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_sum, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reduce_sum_square, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_argmax, PRT_MOVE_axes, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_argmin, PRT_MOVE_axes, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_gather, PRT_MOVE_axes, 1, 1, PRT_MOVE_axis, 0, 0 },
    { PRT_OP_squeeze, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_unsqueeze, PRT_MOVE_axes, 1, 1, PRT_MOVE_no_attr, 1, 0 },
    { PRT_OP_reshape, PRT_MOVE_reshape, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_flatten, PRT_MOVE_reshape, 1, 1, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_shape, PRT_MOVE_dims, 0, 0, PRT_MOVE_no_attr, 0, 0 },
    { PRT_OP_size, PRT_MOVE_dims, 0, 0, PRT_MOVE_no_attr, 0, 0 },
};

/* ---- which operators can move */

bool prt_move_is_single(const prt_value *v)
{
    const prt_type *type = prt_match_ranked(v);
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        if (type->dims[i] != 1)
            return false;
    return type != NULL;
}

static bool has_rank(const prt_value *v, int32_t rank)
{
    const prt_type *type = prt_match_ranked(v);
    return type != NULL && type->rank == rank;
}

static const prt_type *input_type(const prt_op *op)
{
    const prt_type *type =
        prt_op_input(op, 0) != NULL ? prt_match_ranked(prt_op_input(op, 0)) : NULL;
    return type != NULL && type->rank <= PRT_MAX_RANK ? type : NULL;
}

static const prt_type *output_type(const prt_op *op)
{
    const prt_type *type = op->n_out != 0 ? prt_match_ranked(&op->out[0]) : NULL;
    return type != NULL && type->rank <= PRT_MAX_RANK ? type : NULL;
}

/* Returns whether a list has `count` numbers, or none. */
static bool has_count(const prt_value *v, int64_t count)
{
    const int64_t dim = has_rank(v, 1) ? prt_match_dim(v, 0) : -1;
    return dim == 0 || dim == count;
}

static bool check_elementwise(const prt_op *op, const prt_move_rule *rule)
{
    const prt_type *y = output_type(op);
    if (op->n_out != 1 || y == NULL)
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = prt_op_input(op, i);
        const prt_type *x = v != NULL ? prt_match_ranked(v) : NULL;
        if (v != NULL && prt_move_has(rule->inputs, i) && (x == NULL || x->rank > y->rank))
            return false;
        if (v != NULL && prt_move_has(rule->lists, i) &&
            (!has_count(v, y->rank) || prt_match_dim(v, 0) == 0))
            return false;
    }
    return true;
}

/* Returns whether the scale is one number, or one for each item of an axis. */
static bool check_scale(const prt_op *op)
{
    const prt_quantize_linear_attrs *q = op->attrs;
    const prt_dequantize_linear_attrs *d = op->attrs;
    const prt_value *scale = prt_op_input(op, 1);
    const int64_t block = prt_op_is(op, PRT_OP_quantize_linear) ? q->block_size : d->block_size;
    return block == 0 && scale != NULL && (prt_move_is_single(scale) || has_rank(scale, 1));
}

/* Runtimes have cubic and antialiased Resize, and Resize of volumes, for channels first only. */
static bool check_resize(const prt_op *op)
{
    const prt_resize_attrs *a = op->attrs;
    const int32_t rank = input_type(op)->rank;
    const int64_t count = a->axes.count != 0 ? (int64_t)a->axes.count : (int64_t)rank;
    if (!prt_str_is(a->mode, "nearest") &&
        (!prt_str_is(a->mode, "linear") || a->antialias != 0 || rank > 4))
        return false;
    for (uint32_t i = 1; i < op->n_in; i++)
        if (op->in[i].value != NULL && !has_count(op->in[i].value, i == 1 ? 2 * count : count))
            return false;
    return true;
}

static bool check_same(const prt_op *op, const prt_move_rule *rule)
{
    const int32_t rank = input_type(op)->rank;
    int64_t axes[PRT_MAX_RANK];
    uint32_t n;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (prt_move_has(rule->inputs, i) &&
            (op->in[i].value == NULL || !has_rank(op->in[i].value, rank)))
            return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_move_has(rule->outputs, i) && !has_rank(&op->out[i], rank))
            return false;
    if (rule->axes != 0 && prt_op_input(op, rule->axes) != NULL &&
        !prt_match_i64s(op, rule->axes, PRT_MAX_RANK, axes, &n))
        return false;
    switch (op->def->id) {
    case PRT_OP_dropout:
        return prt_op_input(op, 2) == NULL || (prt_match_integer(op, 2, axes) && axes[0] == 0);
    case PRT_OP_quantize_linear:
    case PRT_OP_dequantize_linear:
        return check_scale(op);
    case PRT_OP_mean_variance_normalization:
        return ((const prt_mean_variance_normalization_attrs *)op->attrs)->axes.count != 0;
    case PRT_OP_slice:
        return prt_op_input(op, 3) != NULL || prt_match_dim(prt_op_input(op, 1), 0) >= 0;
    case PRT_OP_pad:
        return prt_op_input(op, 3) != NULL || has_count(prt_op_input(op, 1), 2 * (int64_t)rank);
    case PRT_OP_tile:
        return has_count(prt_op_input(op, 1), rank);
    case PRT_OP_resize:
        return check_resize(op);
    default:
        return true;
    }
}

bool prt_move_axes_of(const prt_op *op, uint32_t *set)
{
    const prt_type *x = input_type(op), *y = output_type(op);
    const bool inserts = prt_op_is(op, PRT_OP_unsqueeze);
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 1, axis;
    *set = 0;
    if (x == NULL || y == NULL)
        return false;
    if (prt_op_is(op, PRT_OP_argmax) || prt_op_is(op, PRT_OP_argmin))
        axes[0] = ((const prt_argmax_attrs *)op->attrs)->axis;
    else if (prt_op_is(op, PRT_OP_gather))
        axes[0] = ((const prt_gather_attrs *)op->attrs)->axis;
    else if (!inserts && !prt_op_is(op, PRT_OP_squeeze))
        return prt_match_reduce_axes(op, set);
    else if (prt_op_input(op, 1) != NULL && !prt_match_i64s(op, 1, PRT_MAX_RANK, axes, &n))
        return false;
    else if (prt_op_input(op, 1) == NULL) /* Squeeze without axes removes every 1 */
        for (n = 0; n < (uint32_t)x->rank; n++)
            axes[n] = n;
    const bool all = prt_op_is(op, PRT_OP_squeeze) && prt_op_input(op, 1) == NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (!prt_match_axis(axes[i], inserts ? y->rank : x->rank, &axis))
            return false;
        if (all && !prt_dim_is_number(x->dims[axis]))
            return false;
        if (!all || x->dims[axis] == 1)
            *set |= 1u << axis;
    }
    return true;
}

const prt_move_rule *prt_move_rule_of(const prt_op *op)
{
    const prt_move_rule *rule = NULL;
    uint32_t set;
    if (op->def == NULL || op->def->id >= PRT_OP_COUNT || op->n_regions != 0 || op->n_in == 0 ||
        prt_op_is(op, PRT_OP_elementwise))
        return NULL;
    for (size_t i = 0; i < PRT_COUNT_OF(rules); i++)
        if (rules[i].op == op->def->id)
            rule = &rules[i];
    if (rule == NULL && (op->def->traits & PRT_ELEMENTWISE) != 0)
        rule = &elementwise;
    if (rule == NULL || input_type(op) == NULL)
        return NULL;
    switch (rule->kind) {
    case PRT_MOVE_elementwise:
        return check_elementwise(op, rule) ? rule : NULL;
    case PRT_MOVE_same:
        return check_same(op, rule) ? rule : NULL;
    case PRT_MOVE_axes:
        return prt_move_axes_of(op, &set) ? rule : NULL;
    case PRT_MOVE_reshape:
        return output_type(op) != NULL ? rule : NULL;
    default:
        return rule;
    }
}

/* ---- groups of axes that input 0 and output 0 have in common */

enum { LOOSE = 0xff }; /* the other side has no such axis */

typedef struct side {
    uint32_t rank;
    uint8_t group[PRT_MAX_RANK]; /* of each axis, in ascending order; or LOOSE */
} side;

typedef struct pairing {
    side in, out;
} pairing;

/* Pairs the axes of an operator that removes, inserts or replaces the axes of a set. */
static bool pair_axes(const prt_op *op, pairing *to)
{
    const bool inserts = prt_op_is(op, PRT_OP_unsqueeze), gathers = prt_op_is(op, PRT_OP_gather);
    const prt_type *indices = gathers ? prt_match_ranked(prt_op_input(op, 1)) : NULL;
    uint32_t set, more = 0;
    if (!prt_move_axes_of(op, &set) || (gathers && indices == NULL))
        return false;
    to->in.rank = (uint32_t)input_type(op)->rank;
    to->out.rank = (uint32_t)output_type(op)->rank;
    side *longer = inserts ? &to->out : &to->in, *other = inserts ? &to->in : &to->out;
    const bool keeps = !gathers && to->in.rank == to->out.rank;
    const uint32_t width = gathers ? (uint32_t)indices->rank : keeps ? 1 : 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < longer->rank; i++) {
        const bool chosen = (set >> i & 1) != 0;
        more = chosen ? width : 1;
        if (at + more > other->rank)
            return false;
        longer->group[i] = more != 0 ? (uint8_t)i : LOOSE;
        for (uint32_t k = 0; k < more; k++)
            other->group[at++] = (uint8_t)i;
    }
    return at == other->rank;
}

static bool is_same_dim(int64_t a, int64_t b)
{
    return a == b && a != PRT_DIM_UNKNOWN;
}

/* Extends a group from axes *i and *k until both sides have the same product. */
static bool pair_products(const prt_type *x, const prt_type *y, pairing *to, uint8_t group,
    int32_t *i, int32_t *k)
{
    int64_t in = 1, out = 1;
    do {
        const bool grow_in = in <= out && *i < x->rank;
        const int32_t at = grow_in ? *i : *k;
        if (!grow_in && *k >= y->rank)
            return false;
        const int64_t dim = grow_in ? x->dims[at] : y->dims[at];
        int64_t *product = grow_in ? &in : &out;
        if (!prt_dim_is_number(dim) || dim < 1 || __builtin_mul_overflow(*product, dim, product))
            return false;
        if (grow_in)
            to->in.group[(*i)++] = group;
        else
            to->out.group[(*k)++] = group;
    } while (in != out);
    return true;
}

/* Pairs the groups of axes that a Reshape merges and splits. A 1 without counterpart is loose. */
static bool pair_reshape(const prt_op *op, pairing *to)
{
    const prt_type *x = input_type(op), *y = output_type(op);
    int32_t i = 0, k = 0;
    uint8_t group = 0;
    to->in.rank = (uint32_t)x->rank;
    to->out.rank = (uint32_t)y->rank;
    while (i < x->rank || k < y->rank) {
        if (i < x->rank && k < y->rank && is_same_dim(x->dims[i], y->dims[k])) {
            to->in.group[i++] = to->out.group[k++] = group++;
        } else if (i < x->rank && x->dims[i] == 1) {
            to->in.group[i++] = LOOSE;
        } else if (k < y->rank && y->dims[k] == 1) {
            to->out.group[k++] = LOOSE;
        } else if (!pair_products(x, y, to, group++, &i, &k)) {
            return false;
        }
    }
    return true;
}

/* Appends the axes of a group, each after the loose axes before it. */
static void append_group(const side *s, uint8_t group, prt_perm *p, uint32_t *n)
{
    uint32_t last = s->rank;
    while (last > 0 && s->group[last - 1] == LOOSE)
        last--;
    for (uint32_t i = 0; i < s->rank; i++) {
        if (s->group[i] != group)
            continue;
        uint32_t first = i;
        while (first > 0 && s->group[first - 1] == LOOSE)
            first--;
        for (uint32_t k = first; k <= i; k++)
            *p = prt_perm_set(*p, (*n)++, k);
        for (uint32_t k = last; i + 1 == last && k < s->rank; k++)
            *p = prt_perm_set(*p, (*n)++, k);
    }
}

/* Computes the permutation of side `to` for the permutation `p` of side `from`. Returns false if
 * that one divides a group. */
static bool carry(const side *from, prt_perm p, const side *to, prt_perm *out)
{
    uint32_t seen = 0, n = 0, current = LOOSE, before = 0;
    *out = PRT_PERM_IDENTITY;
    for (uint32_t i = 0; i < from->rank; i++) {
        const uint32_t axis = prt_perm_at(p, i), group = from->group[axis];
        if (group == LOOSE)
            continue;
        if (group == current ? axis < before : (seen >> group & 1) != 0)
            return false;
        if (group != current) {
            /* The group begins with its first axis. */
            for (uint32_t k = 0; k < axis; k++)
                if (from->group[k] == group)
                    return false;
            append_group(to, (uint8_t)group, out, &n);
        }
        seen |= 1u << group;
        current = group;
        before = axis;
    }
    return n == to->rank || n == 0;
}

/* Returns whether two permutations differ only in the places of loose axes. */
static bool is_alike(const side *s, prt_perm a, prt_perm b)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < s->rank && s->group[prt_perm_at(a, i)] == LOOSE)
            i++;
        while (k < s->rank && s->group[prt_perm_at(b, k)] == LOOSE)
            k++;
        if (i == s->rank || k == s->rank)
            return i == k;
        if (prt_perm_at(a, i++) != prt_perm_at(b, k++))
            return false;
    }
}

/* ---- permutations of ports */

bool prt_move_shape(const prt_type *x, prt_perm px, const prt_type *y, prt_perm py, int64_t *shape)
{
    uint32_t inferred = 0;
    for (uint32_t i = 0; i < (uint32_t)y->rank; i++) {
        const int64_t dim = y->dims[prt_perm_at(py, i)];
        const bool copied = i < (uint32_t)x->rank && is_same_dim(x->dims[prt_perm_at(px, i)], dim);
        shape[i] = prt_dim_is_number(dim) ? dim : copied ? 0 : -1;
        inferred += shape[i] == -1;
        if (dim == 0)
            return false;
    }
    return inferred <= 1;
}

/* Returns the second permutation that the family of a port has already; 0: none. */
static prt_perm known(const prt_plan *plan, const prt_plan_node *node, const prt_port *port)
{
    const prt_family *f = port->family != PRT_PLAN_NONE ? &plan->families.data[port->family] : NULL;
    if (f == NULL || f->a == 0 || port->layout != (node->at_a ? f->a : f->b))
        return 0;
    return prt_perm_then(prt_perm_inverse(port->layout), node->at_a ? f->b : f->a);
}

static bool derive_pair(const prt_plan *plan, const prt_plan_node *node, uint32_t from)
{
    const prt_op *op = node->op;
    prt_port *in = &plan->ports.data[node->first], *out = in + op->n_in;
    prt_port *port = &plan->ports.data[from], *other = port == in ? out : in;
    pairing pair;
    prt_perm moved, back;
    if (port != in && port != out)
        return false;
    const bool reshapes = node->rule->kind == PRT_MOVE_reshape;
    if (!(reshapes ? pair_reshape(op, &pair) : pair_axes(op, &pair)))
        return false;
    const side *here = port == in ? &pair.in : &pair.out;
    const side *there = port == in ? &pair.out : &pair.in;
    if (!carry(here, port->moved, there, &moved))
        return false;
    const prt_perm wanted = known(plan, node, other);
    if (wanted != 0 && carry(there, wanted, here, &back) && is_alike(here, back, port->moved))
        moved = wanted;
    other->moved = moved;
    int64_t shape[PRT_MAX_RANK];
    return !reshapes ||
        prt_move_shape(input_type(op), in->moved, output_type(op), out->moved, shape);
}

static bool derive_elementwise(const prt_plan *plan, const prt_plan_node *node, uint32_t from)
{
    const prt_op *op = node->op;
    prt_port *in = &plan->ports.data[node->first], *port = &plan->ports.data[from];
    const uint32_t rank = (uint32_t)output_type(op)->rank, at = (uint32_t)(port - in);
    prt_perm moved = port->moved;
    if (at < op->n_in) {
        const uint32_t shift = rank - (uint32_t)port->use->value->type->rank;
        if (!prt_move_has(node->rule->inputs, at) || prt_move_is_single(port->use->value))
            return false;
        moved = PRT_PERM_IDENTITY;
        for (uint32_t i = shift; i < rank; i++)
            moved = prt_perm_set(moved, i, prt_perm_at(port->moved, i - shift) + shift);
    }
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = prt_op_input(op, i);
        if (v == NULL || !prt_move_has(node->rule->inputs, i) || prt_move_is_single(v))
            continue;
        const uint32_t shift = rank - (uint32_t)v->type->rank;
        in[i].moved = PRT_PERM_IDENTITY;
        for (uint32_t k = 0, n = 0; k < rank; k++)
            if (prt_perm_at(moved, k) >= shift)
                in[i].moved = prt_perm_set(in[i].moved, n++, prt_perm_at(moved, k) - shift);
    }
    in[op->n_in].moved = moved;
    return true;
}

bool prt_move_derive(const prt_plan *plan, const prt_plan_node *node, uint32_t from)
{
    const prt_move_rule *rule = node->rule;
    prt_port *in = &plan->ports.data[node->first], *out = in + node->op->n_in;
    const uint32_t at = from - node->first, n_in = node->op->n_in;
    const prt_perm moved = plan->ports.data[from].moved;
    if (at >= n_in + node->op->n_out)
        return false;
    if (rule->kind == PRT_MOVE_elementwise)
        return derive_elementwise(plan, node, from);
    if (rule->kind != PRT_MOVE_same)
        return derive_pair(plan, node, from);
    if (at < n_in ? !prt_move_has(rule->inputs, at) : !prt_move_has(rule->outputs, at - n_in))
        return false;
    for (uint32_t i = 0; i < n_in; i++)
        if (prt_move_has(rule->inputs, i))
            in[i].moved = moved;
    for (uint32_t i = 0; i < node->op->n_out; i++)
        if (prt_move_has(rule->outputs, i))
            out[i].moved = moved;
    return true;
}
