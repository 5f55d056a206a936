/* SPDX-License-Identifier: MIT */
/*
 * weights.c — pack_weights: packs constant matrices of products into panels in the order that
 * kernels read them (kern/gemm/gemm.h), once, when a model is compiled. MatMul, Gemm and
 * fused_linear become fused_linear with `columns`. RNN, GRU and LSTM become the operators of
 * op/internal/recurrent.def (recurrent.c), tree ensembles PackedTrees (trees.c). If a matrix has
 * other readers, they keep the original.
 */
#include "kern/gemm/gemm.h"
#include "pass/pack/pack.h"

void prt_pack_add_transpose(prt_pack *to, uint32_t rank, const int64_t *dims, const int64_t *perm)
{
    prt_weight_step *s = &to->steps[to->n_steps++];
    *s = (prt_weight_step){ .kind = PRT_WEIGHT_transpose, .rank = rank };
    memcpy(s->dims, dims, rank * sizeof(*dims));
    memcpy(s->more, perm, rank * sizeof(*perm));
}

void prt_pack_add_panels(prt_pack *to, size_t matrices, size_t rows, size_t columns, size_t more)
{
    to->steps[to->n_steps++] = (prt_weight_step){ .kind = PRT_WEIGHT_panels,
        .rank = 4,
        .dims = { (int64_t)matrices, (int64_t)rows, (int64_t)columns, (int64_t)more } };
}

prt_value *prt_pack_constant(prt_pass *p, prt_op *op, uint32_t slot, const prt_tensor *w,
    const prt_pack *how)
{
    prt_blob *blob = NULL, *copy = NULL;
    size_t size;
    /* The data may have any alignment. */
    const bool aligned = (uintptr_t)w->data % _Alignof(float) == 0;
    if (!prt_size_mul(how->count, sizeof(float), &size) ||
        (!aligned && prt_blob_create(p->module->allocator, w->size, &copy) != POPRT_OK))
        return NULL;
    if (prt_blob_create(p->module->allocator, size, &blob) != POPRT_OK) {
        prt_blob_release(copy);
        return NULL;
    }
    if (!aligned)
        memcpy(prt_blob_bytes(copy), w->data, w->size);
    how->write(how->user, aligned ? w->data : (const void *)copy->data,
        (float *)(void *)prt_blob_bytes(blob));
    prt_blob_release(copy);
    const int64_t dim = (int64_t)how->count;
    const prt_value *old = prt_op_input(op, slot);
    prt_value *v = prt_pass_derive(op->graph, old,
        prt_type_tensor(p->module->types, PRT_DTYPE_f32, 1, &dim), blob);
    return v != NULL && how->n_steps != 0 &&
            prt_value_hold(v, old, how->n_steps, how->steps) != POPRT_OK
        ? NULL
        : v;
}

/* The right operand of a product. */
typedef struct right {
    size_t k, n;
    bool transposed;
} right;

static void pack_right(const void *user, const float *from, float *to)
{
    const right *m = user;
    prt_gemm_pack_all(m->k, m->n, from, m->transposed ? 1 : m->n, m->transposed ? m->k : 1, to);
}

/* Packs a constant right operand; NULL: it is not constant, too small, or there is no memory.
 * `*repeats`: two columns are equal or one is zero. */
static prt_value *packed(prt_pass *p, prt_op *op, bool transposed, int64_t *columns, bool *repeats)
{
    static const int64_t swapped[2] = { 1, 0 };
    prt_tensor w;
    if (!prt_match_constant(op, 1, &w) || w.dtype != PRT_DTYPE_f32 || w.rank != 2 ||
        prt_tensor_count(&w) < PRT_PACK_MIN_ELEMENTS)
        return NULL;
    const right m = { .k = (size_t)w.dims[transposed],
        .n = (size_t)w.dims[!transposed],
        .transposed = transposed };
    const prt_pack_matrix matrix = { .data = w.data,
        .k = m.k,
        .n = m.n,
        .row = transposed ? 1 : m.n,
        .column = transposed ? m.k : 1 };
    *columns = (int64_t)m.n;
    *repeats = prt_pack_columns_repeat(p, &matrix);
    prt_pack how = { .write = pack_right, .user = &m };
    if (transposed)
        prt_pack_add_transpose(&how, 2, w.dims, swapped);
    prt_pack_add_panels(&how, 1, m.k, m.n, 0);
    return prt_size_mul(m.k, prt_gemm_width(m.n), &how.count)
        ? prt_pack_constant(p, op, 1, &w, &how)
        : NULL;
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, prt_fused_linear_attrs *attrs)
{
    prt_value *in[4];
    int64_t columns = 0;
    bool repeats = false;
    for (uint32_t i = 0; i < 4; i++)
        in[i] = prt_op_input(root, i);
    prt_value *w = packed(p, root, attrs->transB != 0, &columns, &repeats);
    if (w == NULL)
        return false;
    in[1] = w;
    const prt_op_def *def = prt_op_of(PRT_OP_fused_linear);
    attrs->transB = 0;
    attrs->present &= ~((uint64_t)1 << prt_op_attr(def, PRT_STR("transB")));
    PRT_ATTR_SET(*attrs, fused_linear, columns, columns);
    if (repeats)
        PRT_ATTR_SET(*attrs, fused_linear, in_order, 1);
    uint32_t n = 4;
    while (n > 2 && in[n - 1] == NULL)
        n--;
    prt_value *y = prt_build_op(b, PRT_OP_fused_linear, attrs, n, in);
    prt_match_mark(b, y, root);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static bool apply_linear(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_fused_linear_attrs attrs = *(const prt_fused_linear_attrs *)root->attrs;
    return attrs.columns == 0 && replace(p, b, root, &attrs);
}

static bool apply_matmul(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_fused_linear_attrs attrs = PRT_ATTRS_OF(fused_linear);
    const prt_value *a = prt_op_input(root, 0);
    return prt_type_is_tensor(a->type) && a->type->rank >= 2 && replace(p, b, root, &attrs);
}

static bool apply_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gemm_attrs *g = root->attrs;
    const prt_value *c = prt_op_input(root, 2), *w = prt_op_input(root, 1);
    prt_fused_linear_attrs attrs = PRT_ATTRS_OF(fused_linear);
    if (g->transA != 0 || g->alpha != 1.0f || g->beta != 1.0f || !prt_type_is_tensor(w->type) ||
        w->type->rank != 2 ||
        (c != NULL &&
            (!prt_type_is_tensor(c->type) || c->type->rank != 1 ||
                c->type->dims[0] != w->type->dims[g->transB != 0 ? 0 : 1])))
        return false;
    attrs.transB = g->transB;
    return replace(p, b, root, &attrs);
}

static const prt_rewrite rewrites[] = { { PRT_OP_fused_linear, apply_linear },
    { PRT_OP_matmul, apply_matmul }, { PRT_OP_gemm, apply_gemm },
    { PRT_OP_lstm, prt_pack_recurrent }, { PRT_OP_gru, prt_pack_recurrent },
    { PRT_OP_rnn, prt_pack_recurrent }, { PRT_OP_ml_tree_ensemble, prt_pack_trees },
    { PRT_OP_ml_tree_ensemble_classifier, prt_pack_trees },
    { PRT_OP_ml_tree_ensemble_regressor, prt_pack_trees } };

const prt_pass_hooks prt_pass_pack_weights = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
