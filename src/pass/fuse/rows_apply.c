/* SPDX-License-Identifier: MIT */
/*
 * rows_apply.c — rows_as_matrix, the edit. Every member is rebuilt on matrices, in order, next to
 * the old op. Then the old ops are removed from last to first, and their other readers get the new
 * results.
 */
#include "pass/fuse/rows.h"

typedef struct editor {
    prt_rows *r;
    prt_value **matrix;        /* by value id: the same elements as a matrix; NULL: not made yet */
    PRT_VEC(prt_op *) members; /* in order */
} editor;

static void matrix_dims(const prt_type *type, int64_t *dims)
{
    dims[0] = 1;
    for (int32_t i = 0; i + 1 < type->rank; i++)
        dims[0] *= type->dims[i];
    dims[1] = type->dims[type->rank - 1];
}

static prt_value *reshape(prt_build *b, const prt_op *like, prt_value *x, uint32_t rank,
    const int64_t *dims)
{
    prt_value *in[2] = { x, prt_build_i64s(b, rank, dims) };
    prt_op *op = in[1] != NULL ? prt_match_new(b, like, PRT_OP_reshape, NULL, 2, in, 1) : NULL;
    return op != NULL ? &op->out[0] : NULL;
}

/* Returns a value that a member reads as a matrix. NULL: a failure is in `b`. */
static prt_value *as_matrix(editor *e, prt_build *b, const prt_op *reader, prt_value *v)
{
    const bool own = v->graph == e->r->graph; /* a constant may belong to an outer graph */
    int64_t dims[2];
    matrix_dims(v->type, dims);
    if (own && e->matrix[v->id] != NULL)
        return e->matrix[v->id];
    prt_value *made = v;
    if (prt_value_is_constant(v)) {
        made = prt_match_reshape_constant(b, v, 2, dims);
    } else if (v->type->rank != 2) {
        const bool view = v->def != NULL && prt_rows_is_view(v->def) && !prt_rows_is_bound(e->r, v);
        made = reshape(b, view ? v->def : reader, view ? prt_op_input(v->def, 0) : v, 2, dims);
    }
    if (own)
        e->matrix[v->id] = made;
    return made;
}

/* Returns an operand that is the same for every row with rank 1. */
static prt_value *as_row(prt_build *b, prt_value *v)
{
    if (v == NULL || v->constant == NULL || !prt_type_is_tensor(v->type) || v->type->rank <= 1)
        return v;
    return prt_match_reshape_constant(b, v, 1, &v->type->dims[v->type->rank - 1]);
}

/* Returns the attributes for matrices: an axis attribute becomes -1. */
static const void *attrs_of(const editor *e, const prt_op *op)
{
    const uint32_t at = prt_op_attr(op->def, PRT_STR("axis"));
    if (at == UINT32_MAX)
        return op->attrs;
    char *attrs = prt_attrs_clone(op->def, e->r->p->arena, op->attrs);
    if (attrs != NULL) {
        *(int64_t *)(void *)(attrs + op->def->attrs[at].offset) = -1;
        *(uint64_t *)(void *)attrs |= (uint64_t)1 << at;
    }
    return attrs;
}

/* Makes a Gemm from the product and the Add of its bias. */
static poprt_status make_gemm(editor *e, prt_op *add)
{
    prt_op *product = e->r->product[add->id];
    prt_build b = prt_build_before(add);
    prt_value *bias = prt_op_input(add, prt_op_input(add, 0) == &product->out[0] ? 1 : 0);
    prt_value *in[3] = { as_matrix(e, &b, product, prt_op_input(product, 0)),
        prt_op_input(product, 1), as_row(&b, bias) };
    prt_op *gemm = in[0] != NULL && in[2] != NULL
        ? prt_match_new(&b, product, PRT_OP_gemm, NULL, 3, in, 1)
        : NULL;
    if (gemm != NULL)
        e->matrix[add->out[0].id] = &gemm->out[0];
    return prt_build_status(&b);
}

static poprt_status rebuild(editor *e, prt_op *op)
{
    prt_build b = prt_build_before(op);
    if (prt_rows_is_view(op)) {
        e->matrix[op->out[0].id] = as_matrix(e, &b, op, prt_op_input(op, 0));
        return prt_build_status(&b);
    }
    const void *attrs = attrs_of(e, op);
    prt_value **in = PRT_NEW_N(e->r->p->arena, prt_value *, op->n_in);
    if (attrs == NULL || in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *v = prt_op_input(op, i);
        const bool kept = v == NULL || (i == 1 && prt_op_is(op, PRT_OP_matmul));
        in[i] = kept ? v : prt_rows_reads(op, i) ? as_matrix(e, &b, op, v) : as_row(&b, v);
    }
    PRT_TRY(prt_build_status(&b));
    prt_op *made = prt_match_new(&b, op, op->def->id, attrs, op->n_in, in, op->n_out);
    for (uint32_t i = 0; made != NULL && i < op->n_out; i++)
        e->matrix[op->out[i].id] = &made->out[i];
    return prt_build_status(&b);
}

/* Makes views of `v` views of its matrix. */
static poprt_status move_views(editor *e, prt_value *v, prt_value *matrix)
{
    for (prt_use *use = v->uses, *next; use != NULL; use = next) {
        prt_op *view = use->user;
        next = use->next;
        if (view == e->r->graph->ret || view->graph != e->r->graph || use != &view->in[0] ||
            !prt_rows_is_view(view))
            continue;
        const prt_type *type = view->out[0].type;
        prt_build b = prt_build_before(view);
        prt_value *made = reshape(&b, view, matrix, (uint32_t)type->rank, type->dims);
        if (made != NULL)
            (void)prt_pass_replace(&b, &view->out[0], made);
        PRT_TRY(prt_build_status(&b));
    }
    return POPRT_OK;
}

/* Removes an old op. Later members no longer read it; other readers get its result in the old
 * shape. */
static poprt_status remove_old(editor *e, prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out && !op->dead; i++) {
        prt_value *v = &op->out[i], *matrix = e->matrix[v->id];
        prt_build b = prt_build_before(op);
        if (matrix == NULL || v->uses == NULL)
            continue;
        const bool square = v->type->rank == 2;
        if (!square)
            PRT_TRY(move_views(e, v, matrix));
        if (op->dead || v->uses == NULL)
            continue;
        prt_value *to =
            square ? matrix : reshape(&b, op, matrix, (uint32_t)v->type->rank, v->type->dims);
        if (to != NULL && !prt_pass_replace(&b, v, to) && b.status == POPRT_OK)
            return prt_fail(POPRT_E_INTERNAL, op->origin.data,
                "the result of this node cannot be replaced");
        PRT_TRY(prt_build_status(&b));
    }
    if (!op->dead)
        prt_op_erase(op);
    return POPRT_OK;
}

poprt_status prt_rows_apply(prt_rows *r)
{
    editor e = { .r = r };
    e.matrix = PRT_NEW_N(r->p->arena, prt_value *, r->graph->n_values);
    bool *taken = PRT_NEW_N(r->p->arena, bool, r->n_ops);
    if (e.matrix == NULL || taken == NULL)
        return POPRT_E_NOMEM;
    prt_for_each_op (op, r->graph) {
        if (op->id >= r->n_ops || !r->member[op->id])
            continue;
        if (!PRT_VEC_PUSH(r->p->arena, &e.members, op))
            return POPRT_E_NOMEM;
        if (r->product[op->id] != NULL && r->member[r->product[op->id]->id])
            taken[r->product[op->id]->id] = true;
    }
    for (size_t i = 0; i < e.members.count; i++) {
        prt_op *op = e.members.data[i], *product = r->product[op->id];
        PRT_TRY(prt_pass_check(r->p));
        if (!taken[op->id])
            PRT_TRY(product != NULL && taken[product->id] ? make_gemm(&e, op) : rebuild(&e, op));
    }
    for (size_t i = e.members.count; i-- > 0;)
        if (!e.members.data[i]->dead)
            PRT_TRY(remove_old(&e, e.members.data[i]));
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_rows r = { .p = p, .graph = graph, .n_ops = graph->n_ops };
    bool found = false;
    PRT_TRY(prt_rows_find(&r, &found));
    if (!found)
        return POPRT_OK;
    *changed = true;
    return prt_rows_apply(&r);
}

const prt_pass_hooks prt_pass_rows_as_matrix = { .run = run };
