/* SPDX-License-Identifier: MIT */
/*
 * matmul.c — expresses other products by MatMul.
 *
 *     replace_einsum_with_matmul  Einsum of two operands, "bmk,bkn->bmn" with any or no batch dims,
 *                                 or "bmk,bnk->bmn" (the second operand is transposed), in
 *                                 lower-case letters. Sums have the same terms: equal within
 *                                 summation order. Applies only if the inner dim is known to be
 *                                 equal in both operands.
 *     replace_gemm_with_matmul    Gemm: operands transposed, alpha and beta as factors, C added. A
 *                                 constant B absorbs alpha and a constant C beta; a constant
 *                                 without other readers is transposed by the pass. Each step
 *                                 rounds: within 1 ulp of each of alpha * A * B, beta * C and the
 *                                 sum. Integers only if alpha and beta are 1.
 */
#include <math.h>

#include "pass/engine/match.h"

/* ---- Einsum */

enum { MOST_LETTERS = PRT_MAX_RANK };

/* The terms of an equation, without blanks. */
typedef struct terms {
    char text[3][MOST_LETTERS + 1];
    size_t size[3];
} terms;

/* Parses "a,b->c" of lower-case letters; returns false for anything else. */
static bool read_terms(prt_str equation, terms *t)
{
    static const char *const ends[2] = { ",", "->" };
    size_t k = 0;
    *t = (terms){ 0 };
    for (size_t i = 0; i < equation.size; i++) {
        const char c = equation.data[i];
        if (c == ' ')
            continue;
        if (c >= 'a' && c <= 'z' && t->size[k] < MOST_LETTERS) {
            t->text[k][t->size[k]++] = c;
            continue;
        }
        const size_t n = k < 2 ? strlen(ends[k]) : 0;
        if (n == 0 || equation.size - i < n || memcmp(equation.data + i, ends[k], n) != 0)
            return false;
        i += n - 1;
        k++;
    }
    return k == 2;
}

static bool has_twice(const char *text)
{
    for (; *text != '\0'; text++)
        if (strchr(text + 1, *text) != NULL)
            return true;
    return false;
}

/* Returns whether the equation is a matrix product. `*transposed`: the second operand is [n, k]. */
static bool is_product(const terms *t, bool *transposed)
{
    const size_t n = t->size[0], batch = n - 2;
    if (n < 2 || t->size[1] != n || t->size[2] != n || has_twice(t->text[0]) ||
        has_twice(t->text[1]) || has_twice(t->text[2]) ||
        memcmp(t->text[0], t->text[1], batch) != 0 || memcmp(t->text[0], t->text[2], batch) != 0)
        return false;
    const char m = t->text[0][batch], k = t->text[0][batch + 1];
    const char *right = t->text[1] + batch;
    *transposed = right[1] == k;
    const char other = right[*transposed ? 0 : 1];
    return (*transposed || right[0] == k) && other != m && t->text[2][batch] == m &&
        t->text[2][batch + 1] == other;
}

static prt_value *transpose(prt_build *b, prt_value *x, uint32_t rank)
{
    int64_t perm[PRT_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = i + 2 < rank ? i : i + 1 < rank ? i + 1 : i - 1;
    return prt_match_add_transpose(b, x, rank, perm);
}

/* Returns whether the inner dims are equal; Einsum broadcasts an inner dim of 1, MatMul does
 * not. */
static bool has_one_inner(const prt_value *a, const prt_value *b, bool transposed)
{
    const prt_type *x = a->type, *y = b->type;
    if (x->rank < 2 || y->rank != x->rank)
        return false;
    const int64_t inner = x->dims[x->rank - 1];
    return inner != PRT_DIM_UNKNOWN && inner == y->dims[y->rank - (transposed ? 1 : 2)];
}

static bool apply_einsum(prt_pass *p, prt_build *b, prt_op *root)
{
    terms t;
    bool transposed;
    prt_value *in[2] = { prt_op_input(root, 0), prt_op_input(root, 1) };
    (void)p;
    if (root->n_in != 2 || !prt_match_allows(PRT_OP_matmul, prt_match_dtype(in[0])) ||
        !read_terms(((const prt_einsum_attrs *)root->attrs)->equation, &t) ||
        !is_product(&t, &transposed) || !has_one_inner(in[0], in[1], transposed))
        return false;
    if (transposed)
        in[1] = transpose(b, in[1], (uint32_t)t.size[1]);
    return prt_match_replace_op(b, root, PRT_OP_matmul, NULL, 2, in);
}

/* ---- Gemm */

/* Returns a copy of a constant matrix, optionally transposed, times a factor. Returns NULL if it is
 * not a constant matrix, if others read it and there is no factor, if the product overflows, or if
 * the pass cannot afford the copy. */
static prt_value *folded(prt_pass *p, prt_build *b, const prt_op *root, prt_value *x,
    bool transposed, double by)
{
    prt_tensor t;
    prt_blob *blob = NULL;
    const bool only_reader = prt_value_used_once(x) && x->uses->user == root;
    if (b->status != POPRT_OK || (by == 1 && (!only_reader || !transposed)) ||
        !prt_value_is_fixed(x) || !prt_value_tensor(x, &t) || t.rank != 2 ||
        !prt_pass_reserve(p, t.size))
        return NULL;
    const int64_t dims[2] = { t.dims[transposed ? 1 : 0], t.dims[transposed ? 0 : 1] };
    const prt_type *type = prt_type_tensor(b->graph->module->types, t.dtype, 2, dims);
    b->status = POPRT_E_NOMEM;
    if (type == NULL || prt_blob_create(b->graph->module->allocator, t.size, &blob) != POPRT_OK)
        return NULL;
    bool finite = true;
    for (int64_t k = 0; k < dims[0] * dims[1]; k++) {
        const int64_t at = transposed ? k % dims[1] * dims[0] + k / dims[1] : k;
        prt_element_copy(t.dtype, prt_blob_bytes(blob), (size_t)k, t.data, (size_t)at, 1);
        if (by == 1)
            continue;
        prt_store_f64(t.dtype, prt_blob_bytes(blob), (size_t)k,
            by * prt_load_f64(t.dtype, t.data, (size_t)at));
        finite = finite && isfinite(prt_load_f64(t.dtype, prt_blob_bytes(blob), (size_t)k));
    }
    b->status = POPRT_OK;
    if (!finite) {
        prt_blob_release(blob);
        return NULL;
    }
    prt_value *y = prt_pass_derive(b->graph, x, type, blob);
    if (y == NULL)
        b->status = POPRT_E_NOMEM;
    return y;
}

static double product(double x, double with)
{
    return x * with;
}

/* Returns x times a number, by Mul. */
static prt_value *scaled(prt_build *b, const prt_op *root, prt_value *x, float by)
{
    if (by == 1.0f || b->status != POPRT_OK)
        return x;
    const int32_t dtype = prt_match_dtype(prt_op_input(root, 0));
    return prt_build_binary(b, PRT_OP_mul, x, prt_build_scalar(b, dtype, (double)by));
}

static bool apply_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gemm_attrs *a = root->attrs;
    prt_value *left = prt_op_input(root, 0), *right = prt_op_input(root, 1);
    prt_value *c = prt_op_input(root, 2);
    const int32_t dtype = prt_match_dtype(left);
    const bool ones = a->alpha == 1.0f && a->beta == 1.0f;
    if (!prt_match_allows(PRT_OP_matmul, dtype) || (!ones && !prt_dtype_is_float(dtype)))
        return false;
    prt_value *left_done = folded(p, b, root, left, a->transA != 0, 1);
    prt_value *right_done = folded(p, b, root, right, a->transB != 0, (double)a->alpha);
    const bool done = right_done != NULL && a->alpha != 1.0f;
    if (left_done == NULL)
        left_done = a->transA != 0 ? transpose(b, left, 2) : left;
    if (right_done == NULL)
        right_done = a->transB != 0 ? transpose(b, right, 2) : right;
    prt_value *y = prt_build_binary(b, PRT_OP_matmul, left_done, right_done);
    y = done ? y : scaled(b, root, y, a->alpha);
    if (c != NULL) {
        prt_value *mapped = a->beta != 1.0f
            ? prt_match_map_constant(p, b, root, 2, product, (double)a->beta)
            : NULL;
        c = mapped != NULL ? mapped : scaled(b, root, c, a->beta);
        y = prt_build_binary(b, PRT_OP_add, y, c);
    }
    return prt_match_replace(b, root, y);
}

PRT_PASS_OF_REWRITE(replace_einsum_with_matmul, PRT_OP_einsum, apply_einsum);
PRT_PASS_OF_REWRITE(replace_gemm_with_matmul, PRT_OP_gemm, apply_gemm);
