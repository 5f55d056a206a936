/* SPDX-License-Identifier: MIT */
/*
 * projections.c — merge_projections: merges the products that compute Q, K and V of an attention
 * from one value into one wider product, whose rows hold the parts side by side; fused_attention
 * then reads them with other strides. Two products (K and V of another sequence) are merged too.
 *
 * Requires fused_linear or plain Gemm with constant weights, without residual and activation, read
 * by the attention only. Runs before weights are packed.
 */
#include "op/words.h"
#include "pass/engine/rewrite.h"

enum { MAX_PARTS = 3 /* Q, K, V */, VIEW = 4 /* offset and three strides */ };

typedef struct part {
    prt_op *op;
    prt_tensor w, bias;
    int64_t n;      /* columns */
    int64_t offset; /* first column in the merged product */
} part;

typedef struct match {
    part parts[MAX_PARTS];
    bool member[MAX_PARTS];
    bool biased;
    int64_t k, n; /* depth, and columns of all parts together */
    int64_t view[MAX_PARTS][VIEW];
} match;

static bool is_bias(const prt_op *op, part *p)
{
    return prt_op_input(op, 2) == NULL ||
        (prt_match_constant(op, 2, &p->bias) && p->bias.dtype == PRT_DTYPE_f32 &&
            prt_tensor_count(&p->bias) == (size_t)p->n && p->bias.rank >= 1 &&
            p->bias.dims[p->bias.rank - 1] == p->n);
}

/* Returns whether the op computes x w + bias and nothing more. */
static bool is_plain(const prt_op *op)
{
    if (prt_op_is(op, PRT_OP_gemm)) {
        const prt_gemm_attrs *a = op->attrs;
        return a->transA == 0 && a->transB == 0 && a->alpha == 1.0f && a->beta == 1.0f;
    }
    const prt_fused_linear_attrs *a = op->attrs;
    return prt_op_input(op, 3) == NULL && a->columns == 0 && a->transB == 0 &&
        a->activation == PRT_ACT_none;
}

static bool find_part(const prt_op *root, uint32_t slot, part *p)
{
    p->op = prt_match_interior(root, slot, PRT_OP_fused_linear);
    if (p->op == NULL)
        p->op = prt_match_interior(root, slot, PRT_OP_gemm);
    if (p->op == NULL || !is_plain(p->op) || !prt_match_constant(p->op, 1, &p->w) ||
        p->w.dtype != PRT_DTYPE_f32 || p->w.rank != 2)
        return false;
    p->n = p->w.dims[1];
    return p->n > 0 && is_bias(p->op, p);
}

/* Converts the strides of a view of rows of n columns to strides in rows of `wide` columns. Returns
 * false if a part would not stay within a row. */
static bool widen(const int64_t *sizes, uint32_t slot, prt_i64s view, const part *p, int64_t wide,
    int64_t *to)
{
    const int64_t counts[3] = { sizes[0], sizes[slot == 0 ? 1 : 2], sizes[slot == 0 ? 3 : 5] };
    int64_t end = view.data[0] % p->n + sizes[slot == 2 ? 7 : 6];
    to[0] = view.data[0] / p->n * wide + view.data[0] % p->n + p->offset;
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t step = counts[i] > 1 ? view.data[1 + i] : 0;
        const bool rows = step % p->n == 0;
        to[1 + i] = rows ? step / p->n * wide : step;
        end += rows ? 0 : step * (counts[i] - 1);
    }
    return end <= p->n;
}

/* Finds the slots from `first` on whose products read the same value as slot `first`. Returns false
 * unless there are two or more. */
static bool find_group(const prt_op *root, uint32_t first, match *m)
{
    const prt_fused_attention_attrs *a = root->attrs;
    const prt_i64s views[MAX_PARTS] = { a->query, a->key, a->value };
    uint32_t count = 0;
    *m = (match){ .k = 0 };
    for (uint32_t i = first; i < MAX_PARTS; i++) {
        part *p = &m->parts[i];
        if (!find_part(root, i, p))
            continue;
        const bool biased = prt_op_input(p->op, 2) != NULL;
        if (count != 0 &&
            (prt_op_input(p->op, 0) != prt_op_input(m->parts[first].op, 0) || biased != m->biased))
            continue;
        if (count == 0 && i != first)
            return false;
        m->biased = biased;
        m->member[i] = true;
        m->k = p->w.dims[0];
        p->offset = m->n;
        m->n += p->n;
        count++;
    }
    for (uint32_t i = 0; count > 1 && i < MAX_PARTS; i++)
        if (m->member[i] && !widen(a->sizes.data, i, views[i], &m->parts[i], m->n, m->view[i]))
            return false;
    return count > 1;
}

/* Concatenates the weights (slot 1) or biases (slot 2) of the members along the columns, as a new
 * constant. */
static prt_value *join(prt_pass *p, prt_graph *graph, const match *m, uint32_t slot)
{
    const int64_t rows = slot == 1 ? m->k : 1, dims[2] = { rows, m->n };
    const uint32_t rank = slot == 1 ? 2 : 1;
    prt_blob *blob = NULL;
    const prt_value *like = NULL;
    size_t size;
    if (!prt_size_mul((size_t)rows, (size_t)m->n * sizeof(float), &size) ||
        prt_blob_create(p->module->allocator, size, &blob) != POPRT_OK)
        return NULL;
    unsigned char *to = prt_blob_bytes(blob);
    for (uint32_t i = 0; i < MAX_PARTS; i++) {
        const part *from = &m->parts[i];
        const prt_tensor *t = slot == 1 ? &from->w : &from->bias;
        const size_t row = (size_t)from->n * sizeof(float);
        if (!m->member[i])
            continue;
        like = prt_op_input(from->op, slot);
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + (size_t)(r * m->n + from->offset) * sizeof(float),
                (const unsigned char *)t->data + (size_t)r * row, row);
    }
    prt_value *v = prt_pass_derive(graph, like,
        prt_type_tensor(p->module->types, PRT_DTYPE_f32, (int32_t)rank, dims + 2 - rank), blob);
    for (uint32_t i = 0; v != NULL && i < MAX_PARTS; i++) {
        const prt_weight_step s = { .kind = PRT_WEIGHT_part,
            .rank = 2,
            .dims = { rows, m->n },
            .more = { 1, m->parts[i].offset, m->parts[i].n } };
        if (m->member[i] &&
            prt_value_hold(v, prt_op_input(m->parts[i].op, slot), 1, &s) != POPRT_OK)
            return NULL;
    }
    return v;
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, const match *m)
{
    const uint32_t first = m->member[0] ? 0 : 1;
    prt_value *in[3] = { prt_op_input(m->parts[first].op, 0), join(p, root->graph, m, 1),
        m->biased ? join(p, root->graph, m, 2) : NULL };
    if (in[1] == NULL || (m->biased && in[2] == NULL))
        return false;
    b->origin = m->parts[first].op->origin;
    prt_value *wide = prt_build_op(b, PRT_OP_fused_linear, NULL, m->biased ? 3 : 2, in);
    prt_fused_attention_attrs a = *(const prt_fused_attention_attrs *)root->attrs;
    prt_i64s *const views[MAX_PARTS] = { &a.query, &a.key, &a.value };
    prt_value *operands[8];
    for (uint32_t i = 0; i < root->n_in && i < 8; i++)
        operands[i] = prt_op_input(root, i);
    for (uint32_t i = 0; i < MAX_PARTS; i++)
        if (m->member[i]) {
            *views[i] = (prt_i64s){ m->view[i], VIEW };
            operands[i] = wide;
        }
    b->origin = root->origin;
    prt_op *op = wide != NULL
        ? prt_build_op_n(b, PRT_OP_fused_attention, &a, root->n_in, operands, root->n_out)
        : NULL;
    for (uint32_t i = 0; op != NULL && i < root->n_out; i++)
        if (prt_value_used(&root->out[i]))
            (void)prt_pass_replace(b, &root->out[i], &op->out[i]);
    return true;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    match m;
    for (uint32_t first = 0; first < 2; first++)
        if (find_group(root, first, &m))
            return replace(p, b, root, &m);
    return false;
}

static const prt_rewrite rewrites[] = { { PRT_OP_fused_attention, apply } };

const prt_pass_hooks prt_pass_merge_projections = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
