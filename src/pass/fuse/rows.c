/* SPDX-License-Identifier: MIT */
/*
 * rows.c — rows_as_matrix: operators that treat all rows (the last axis) alike get matrices [rows,
 * columns] instead of tensors [batch, length, columns]; MatMul with a bias becomes Gemm.
 *
 *     MatMul → Add → Reshape [B,S,H,D]          Gemm → Reshape [B,S,H,D]
 *     Gemm → Reshape [B,S,C] → Gelu → Reshape [BS,C] → Gemm     Gemm → Gelu → Gemm
 *
 * Members are element-wise operators, normalisations, Softmax, Split and Concat along the last
 * axis, products with a constant matrix, and views that keep the last axis, which are removed. A
 * value between a member and another operator costs a Reshape, unless a view is there already. The
 * members are a cut through the graph, found in three steps. All operators that can be members are
 * members at first. Operators whose removal saves more nodes than it costs are removed. Connected
 * parts that save nothing are dropped.
 *
 * Deviation: a Gemm rounds once where MatMul and Add round twice.
 */
#include "pass/fuse/rows.h"

enum { ROUNDS = 4 }; /* walks over the graph that remove members, at most */
#define MAX_STEPS                                                                                  \
    ((uint64_t)1 << 26) /* limit of visited uses; after it no further member is removed */

typedef struct finder {
    prt_rows *r;
    uint32_t *leader; /* by op id: union-find over connected members */
    int64_t *saved;   /* nodes saved, by leader */
    uint64_t steps;
} finder;

/* Returns the type if it has rank 2 or more and known positive dims; otherwise NULL. */
static const prt_type *matrix_like(const prt_value *v)
{
    const prt_type *type = v != NULL ? prt_match_static(v) : NULL;
    if (type == NULL || type->rank < 2)
        return NULL;
    uint64_t count;
    for (int32_t i = 0; i < type->rank; i++)
        if (type->dims[i] <= 0)
            return NULL;
    return prt_type_count(type, &count) && count <= INT64_MAX ? type : NULL;
}

static bool same_dims(const prt_type *a, const prt_type *b)
{
    return a->rank == b->rank &&
        memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(a->dims[0])) == 0;
}

bool prt_rows_is_view(const prt_op *op)
{
    return op->def != NULL &&
        (prt_op_is(op, PRT_OP_reshape) || prt_op_is(op, PRT_OP_flatten) ||
            prt_op_is(op, PRT_OP_squeeze) || prt_op_is(op, PRT_OP_unsqueeze)) &&
        matrix_like(&op->out[0]) != NULL && prt_match_static(prt_op_input(op, 0)) != NULL;
}

bool prt_rows_reads(const prt_op *op, uint32_t slot)
{
    if ((op->def->traits & PRT_ELEMENTWISE) == 0)
        return slot == 0 || prt_op_is(op, PRT_OP_concat);
    const prt_type *in = matrix_like(prt_op_input(op, slot));
    return in != NULL && same_dims(in, op->out[0].type);
}

/* Returns whether an operand is the same for every row. */
static bool is_common(const prt_op *op, uint32_t slot)
{
    const prt_value *v = prt_op_input(op, slot);
    const prt_type *type = v != NULL ? prt_match_ranked(v) : NULL;
    prt_tensor t;
    if (v == NULL || (type != NULL && type->rank <= 1))
        return true;
    if (type == NULL || !prt_match_constant(op, slot, &t))
        return false;
    for (int32_t i = 0; i + 1 < type->rank; i++)
        if (type->dims[i] != 1)
            return false;
    return true;
}

static bool has_last_axis(const prt_op *op)
{
    const uint32_t at = prt_op_attr(op->def, PRT_STR("axis"));
    const int64_t axis =
        *(const int64_t *)(const void *)((const char *)op->attrs + op->def->attrs[at].offset);
    return axis == -1 || axis == op->out[0].type->rank - 1;
}

static bool is_along_rows(const prt_op *op)
{
    switch (op->def->id) {
    case PRT_OP_softmax:
    case PRT_OP_log_softmax:
    case PRT_OP_layer_normalization:
    case PRT_OP_rms_normalization:
    case PRT_OP_split:
    case PRT_OP_concat:
        return has_last_axis(op);
    case PRT_OP_matmul: {
        prt_tensor w;
        return prt_match_constant(op, 1, &w) && w.rank == 2;
    }
    default:
        return false;
    }
}

/* Returns whether this op can work on matrices. */
static bool can_join(const prt_op *op)
{
    if (op->def == NULL || op->n_regions != 0 || (op->def->traits & PRT_PURE) == 0 ||
        op->n_out == 0 || matrix_like(&op->out[0]) == NULL)
        return false;
    if (prt_rows_is_view(op)) {
        const prt_type *in = matrix_like(prt_op_input(op, 0)), *out = op->out[0].type;
        return in != NULL && in->dims[in->rank - 1] == out->dims[out->rank - 1] &&
            prt_op_input(op, 0)->graph == op->graph &&
            (out->rank != 2 || !prt_value_is_output(&op->out[0]));
    }
    const bool plain = (op->def->traits & PRT_ELEMENTWISE) != 0 &&
        prt_op_attr(op->def, PRT_STR("axis")) == UINT32_MAX;
    if (!plain && !is_along_rows(op))
        return false;
    if (!prt_op_is(op, PRT_OP_split) && !prt_match_outputs_unused(op, 1))
        return false;
    bool any = false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = prt_op_input(op, i);
        if (v != NULL && prt_rows_reads(op, i)) {
            if (matrix_like(v) == NULL || (v->graph != op->graph && v->constant == NULL))
                return false;
            any |= v->constant == NULL;
        } else if (!is_common(op, i) && !(i == 1 && prt_op_is(op, PRT_OP_matmul))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        if (matrix_like(&op->out[i]) == NULL)
            return false;
    return any;
}

/* Returns the MatMul whose bias this Add adds; NULL if there is none. */
static prt_op *find_product(const prt_rows *r, const prt_op *add)
{
    for (uint32_t i = 0; i < 2 && prt_op_is(add, PRT_OP_add); i++) {
        prt_op *product = prt_match_interior(add, i, PRT_OP_matmul);
        const prt_type *bias = prt_match_static(prt_op_input(add, 1 - i));
        const int32_t dtype = add->out[0].type->dtype;
        prt_tensor t;
        if (product != NULL && r->member[product->id] && prt_match_constant(add, 1 - i, &t) &&
            bias != NULL && bias->rank >= 1 && is_common(add, 1 - i) &&
            same_dims(product->out[0].type, add->out[0].type) &&
            bias->dims[bias->rank - 1] == prt_match_dim(&add->out[0], -1) &&
            (dtype == PRT_DTYPE_f32 || dtype == PRT_DTYPE_f16 || dtype == PRT_DTYPE_bf16 ||
                dtype == PRT_DTYPE_f64))
            return product;
    }
    return NULL;
}

/* ---- costs */

static bool is_member(const prt_rows *r, const prt_op *op)
{
    return op != NULL && op->graph == r->graph && op != r->graph->ret && op->id < r->n_ops &&
        r->member[op->id];
}

bool prt_rows_is_bound(const prt_rows *r, const prt_value *v)
{
    prt_for_each_use (use, v)
        if (!is_member(r, use->user) &&
            (use->user->graph != r->graph || use->user == r->graph->ret ||
                use != &use->user->in[0] || !prt_rows_is_view(use->user)))
            return true;
    return false;
}

static bool is_read_by_rows(finder *f, const prt_value *v)
{
    prt_for_each_use (use, v) {
        f->steps++;
        if (is_member(f->r, use->user) &&
            prt_rows_reads(use->user, (uint32_t)(use - use->user->in)))
            return true;
    }
    return false;
}

/* Returns the number of Reshapes that the value needs between members and other operators. */
static int64_t cost_of(finder *f, const prt_value *v)
{
    const prt_type *type = matrix_like(v);
    if (type == NULL || type->rank == 2 || v->graph != f->r->graph)
        return 0;
    for (const prt_use *use = v->uses; use != NULL; use = use->next)
        f->steps++;
    if (is_member(f->r, v->def))
        return prt_rows_is_bound(f->r, v);
    if (!is_read_by_rows(f, v))
        return 0;
    return !(v->constant != NULL || (v->def != NULL && prt_rows_is_view(v->def))) ||
        prt_rows_is_bound(f->r, v);
}

/* Returns the number of nodes that are removed because the op is a member. */
static int64_t saving_of(const prt_rows *r, const prt_op *op)
{
    if (!r->member[op->id])
        return 0;
    return prt_rows_is_view(op) ||
        (r->product[op->id] != NULL && r->member[r->product[op->id]->id]);
}

static int64_t cost_around(finder *f, const prt_op *op)
{
    int64_t cost = 0;
    for (uint32_t i = 0; i < op->n_in; i++) {
        bool again = op->in[i].value == NULL;
        for (uint32_t k = 0; k < i && !again; k++)
            again = op->in[k].value == op->in[i].value;
        cost += again ? 0 : cost_of(f, op->in[i].value);
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        cost += cost_of(f, &op->out[i]);
    return cost;
}

/* Removes the op from the members if that lowers the cost; returns whether it did. */
static bool remove_if_cheaper(finder *f, const prt_op *op)
{
    const prt_op *sum =
        prt_op_is(op, PRT_OP_matmul) ? prt_match_reader(&op->out[0], PRT_OP_add) : NULL;
    const bool pair = sum != NULL && f->r->product[sum->id] == op && f->r->member[sum->id];
    const int64_t before = cost_around(f, op) - saving_of(f->r, op) - pair;
    f->r->member[op->id] = false;
    const int64_t after = cost_around(f, op);
    f->r->member[op->id] = after >= before;
    return after < before;
}

static poprt_status remove_costly(finder *f)
{
    bool left = true;
    for (uint32_t round = 0; round < ROUNDS && left; round++) {
        left = false;
        for (const prt_op *op = round % 2 == 0 ? f->r->graph->first : f->r->graph->last; op != NULL;
             op = round % 2 == 0 ? op->next : op->prev) {
            PRT_TRY(prt_pass_check(f->r->p));
            if (f->steps > MAX_STEPS)
                return POPRT_OK;
            left |= f->r->member[op->id] && remove_if_cheaper(f, op);
        }
    }
    return POPRT_OK;
}

/* ---- connected parts */

static uint32_t leader_of(finder *f, uint32_t id)
{
    while (f->leader[id] != id)
        id = f->leader[id] = f->leader[f->leader[id]];
    return id;
}

/* Connects all members that make or read the value by rows; returns one of them, or NULL. */
static const prt_op *connect(finder *f, const prt_value *v)
{
    const prt_op *any = is_member(f->r, v->def) ? v->def : NULL;
    prt_for_each_use (use, v) {
        if (!is_member(f->r, use->user) ||
            !prt_rows_reads(use->user, (uint32_t)(use - use->user->in)))
            continue;
        if (any != NULL)
            f->leader[leader_of(f, use->user->id)] = leader_of(f, any->id);
        any = use->user;
    }
    return any;
}

static void connect_value(finder *f, const prt_value *v, bool count)
{
    const prt_op *any = connect(f, v);
    if (any != NULL && count)
        f->saved[leader_of(f, any->id)] -= cost_of(f, v);
}

static void connect_all(finder *f, bool count)
{
    prt_rows *r = f->r;
    for (size_t i = 0; i < r->graph->inputs.count; i++)
        connect_value(f, r->graph->inputs.data[i], count);
    prt_for_each_op (op, r->graph) {
        for (uint32_t i = 0; i < op->n_out; i++)
            connect_value(f, &op->out[i], count);
        if (count && r->member[op->id])
            f->saved[leader_of(f, op->id)] += saving_of(r, op);
    }
}

/* Removes the members of connected parts that save nothing. Returns whether members remain. */
static bool keep_profitable(finder *f)
{
    bool found = false;
    for (uint32_t i = 0; i < f->r->n_ops; i++) {
        f->r->member[i] = f->r->member[i] && f->saved[leader_of(f, i)] > 0;
        found |= f->r->member[i];
    }
    return found;
}

poprt_status prt_rows_find(prt_rows *r, bool *found)
{
    finder f = { .r = r };
    r->member = PRT_NEW_N(r->p->arena, bool, r->n_ops);
    r->product = PRT_NEW_N(r->p->arena, prt_op *, r->n_ops);
    f.leader = PRT_NEW_N(r->p->arena, uint32_t, r->n_ops);
    f.saved = PRT_NEW_N(r->p->arena, int64_t, r->n_ops);
    if (r->member == NULL || r->product == NULL || f.leader == NULL || f.saved == NULL)
        return POPRT_E_NOMEM;
    prt_for_each_op (op, r->graph) {
        PRT_TRY(prt_pass_check(r->p));
        f.leader[op->id] = op->id;
        r->member[op->id] = can_join(op);
        r->product[op->id] = r->member[op->id] ? find_product(r, op) : NULL;
    }
    PRT_TRY(remove_costly(&f));
    connect_all(&f, false);
    connect_all(&f, true);
    *found = keep_profitable(&f);
    return POPRT_OK;
}
