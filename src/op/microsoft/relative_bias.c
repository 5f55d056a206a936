/* SPDX-License-Identifier: MIT */
/*
 * relative_bias.c — attention biases by the distance of key and query: RelativePositionBias, with
 * the distance buckets of T5, and GatedRelativePositionBias, which scales a given bias by gates
 * computed from the query.
 */
#include <math.h>

#include "op/check.h"
#include "op/share/reals.h"

/* ---- RelativePositionBias ---- */

enum { IN_TABLE, IN_QUERIES, IN_KEYS };

static poprt_status infer_relative(prt_infer *c)
{
    const prt_ms_relative_position_bias_attrs *a = c->attrs;
    int64_t queries, keys;
    if (a->max_distance < 1 || a->max_distance > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "max_distance is %lld; accepted: 1 to 2^31 - 1",
            (long long)a->max_distance);
    PRT_TRY(prt_infer_rank(c, IN_TABLE, 2));
    PRT_TRY(prt_infer_scalar(c, IN_QUERIES, &queries));
    PRT_TRY(prt_infer_scalar(c, IN_KEYS, &keys));
    const int64_t buckets = prt_infer_dim(c, IN_TABLE, 0);
    if (prt_dim_is_number(buckets) && buckets < (a->is_bidirectional != 0 ? 4 : 2))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "%lld buckets are too few; 4 with is_bidirectional, otherwise 2, are needed",
            (long long)buckets);
    if ((prt_dim_is_number(queries) && queries < 0) || (prt_dim_is_number(keys) && keys < 0))
        return prt_infer_fail(c, POPRT_E_ARG,
            "there are %lld queries and %lld keys; at least 0 is needed", (long long)queries,
            (long long)keys);
    const int64_t dims[4] = { 1, prt_infer_dim(c, IN_TABLE, 1), queries, keys };
    return prt_infer_exact(c, 0, c->in[IN_TABLE].dtype, 4, dims);
}

/* Returns the bucket of a distance. The first half of the buckets is one distance each; the others
   grow logarithmically. With two directions each direction has half of the buckets. */
static int64_t bucket_of(int64_t ahead, int64_t buckets, bool both, int64_t most)
{
    int64_t first = 0, distance = -ahead;
    if (both) {
        buckets /= 2;
        first = ahead > 0 ? buckets : 0;
        distance = ahead > 0 ? ahead : -ahead;
    }
    distance = distance > 0 ? distance : 0;
    const int64_t exact = buckets / 2;
    if (distance < exact)
        return first + distance;
    const double all = log((double)most / (double)exact);
    const double part = log((double)distance / (double)exact);
    const double far = all > 0 ? part / all * (double)(buckets - exact) : (double)buckets;
    return first + (far < (double)(buckets - 1 - exact) ? exact + (int64_t)far : buckets - 1);
}

/* Reads the table as [heads, buckets], regardless of its shape. */
static poprt_status eval_relative(prt_eval *c)
{
    const prt_ms_relative_position_bias_attrs *a = c->attrs;
    const prt_tensor *table = c->in[IN_TABLE], *y = c->out[0];
    if (y == NULL || prt_tensor_count(y) == 0)
        return POPRT_OK;
    const int64_t buckets = table->dims[0], heads = y->dims[1], rows = y->dims[2];
    const int64_t cols = y->dims[3];
    size_t to = 0;
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = 0; i < rows; i++) {
            PRT_TRY(c->host->check(c));
            for (int64_t j = 0; j < cols; j++, to++)
                prt_element_copy(y->dtype, y->data, to, table->data,
                    (size_t)(h * buckets +
                        bucket_of(j - i, buckets, a->is_bidirectional != 0, a->max_distance)),
                    1);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_relative_position_bias = { .infer = infer_relative,
    .eval = eval_relative };

/* ---- GatedRelativePositionBias ---- */

enum { IN_QUERY, IN_ADDED, IN_BIAS, IN_WEIGHT, IN_SHIFT, IN_ECO, IN_OFFSETS };

static poprt_status infer_gated(prt_infer *c)
{
    const prt_ms_gated_relative_position_bias_attrs *a = c->attrs;
    const bool packed = prt_infer_has(c, IN_OFFSETS);
    const int64_t hidden = prt_infer_dim(c, IN_QUERY, packed ? 1 : 2);
    int64_t rows = packed ? prt_infer_dim(c, IN_OFFSETS, 1) : prt_infer_dim(c, IN_QUERY, 1), dim;
    if (a->num_heads < 1 || (prt_dim_is_number(hidden) && hidden % a->num_heads != 0))
        return prt_infer_fail(c, POPRT_E_ARG, "%lld elements do not divide into %lld heads",
            (long long)hidden, (long long)a->num_heads);
    PRT_TRY(prt_infer_rank(c, IN_QUERY, packed ? 2 : 3));
    PRT_TRY(prt_infer_rank(c, IN_OFFSETS, 2));
    PRT_TRY(prt_infer_vector(c, IN_ADDED, hidden));
    PRT_TRY(prt_infer_rank(c, IN_BIAS, 4));
    PRT_TRY(prt_infer_merge(c, 1, prt_infer_dim(c, IN_BIAS, 0), "rel_pos", &dim));
    PRT_TRY(prt_infer_merge(c, a->num_heads, prt_infer_dim(c, IN_BIAS, 1), "the heads", &dim));
    PRT_TRY(prt_infer_merge(c, rows, prt_infer_dim(c, IN_BIAS, 2), "the sequence", &rows));
    PRT_TRY(prt_infer_merge(c, rows, prt_infer_dim(c, IN_BIAS, 3), "the sequence", &rows));
    PRT_TRY(prt_infer_rank(c, IN_WEIGHT, 2));
    PRT_TRY(prt_infer_merge(c, prt_dim_floordiv(c->dims, hidden, a->num_heads),
        prt_infer_dim(c, IN_WEIGHT, 0), "the head size", &dim));
    const int64_t gates = prt_infer_dim(c, IN_WEIGHT, 1);
    if (prt_dim_is_number(gates) && gates % 2 != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld columns are not even, as two gates need",
            (long long)gates);
    PRT_TRY(prt_infer_vector(c, IN_SHIFT, gates));
    for (uint32_t k = 0; prt_infer_ranked(c, IN_ECO) && k < (uint32_t)c->in[IN_ECO].rank; k++)
        PRT_TRY(
            prt_infer_merge(c, k == 1 ? a->num_heads : 1, c->in[IN_ECO].dims[k], "eco_a", &dim));
    PRT_TRY(prt_infer_rank(c, IN_ECO, 4));
    const int64_t dims[4] = { prt_infer_dim(c, packed ? IN_OFFSETS : IN_QUERY, 0), a->num_heads,
        rows, rows };
    return prt_infer_exact(c, 0, c->in[IN_QUERY].dtype, 4, dims);
}

/* Returns the factor of a row of the bias, from a query of `size` elements at `at` (SIZE_MAX:
   padding, which is zero) and head `h`. */
static double gate(const prt_eval *c, size_t at, size_t h, size_t size)
{
    const prt_tensor *w = c->in[IN_WEIGHT];
    const size_t cols = (size_t)w->dims[1];
    double gates[2] = { 0, 0 };
    for (size_t j = 0; j < cols; j++) {
        double sum = prt_real_at(c->in[IN_SHIFT], j);
        for (size_t d = 0; d < size; d++) {
            const double q = at == SIZE_MAX ? 0 : prt_real_at(c->in[IN_QUERY], at + d);
            sum += (q + prt_real_at(c->in[IN_ADDED], h * size + d)) * prt_real_at(w, d * cols + j);
        }
        gates[j >= cols / 2] += sum;
    }
    const double u = 1 / (1 + exp(-gates[0])), r = 1 / (1 + exp(-gates[1]));
    return u * (r * prt_real_at(c->in[IN_ECO], h) - 1) + 2;
}

/* Finds the packed index of each token of the padded batch; SIZE_MAX for padding. */
static poprt_status unpack(prt_eval *c, size_t places, size_t *from)
{
    const int32_t *offset = c->in[IN_OFFSETS]->data;
    const size_t tokens = (size_t)c->in[IN_QUERY]->dims[0];
    if (tokens > places)
        return prt_eval_fail(c, POPRT_E_SHAPE, "there are %zu tokens for %zu places", tokens,
            places);
    for (size_t i = 0; i < places; i++)
        from[i] = SIZE_MAX;
    for (size_t i = 0; i < tokens; i++) {
        if (offset[i] < 0 || (size_t)offset[i] >= places)
            return prt_eval_fail(c, POPRT_E_ARG, "token %zu has place %d; there are %zu places", i,
                (int)offset[i], places);
        from[offset[i]] = i;
    }
    return POPRT_OK;
}

static poprt_status eval_gated(prt_eval *c)
{
    const prt_tensor *y = c->out[0], *query = c->in[IN_QUERY], *bias = c->in[IN_BIAS];
    if (y == NULL || prt_tensor_count(y) == 0)
        return POPRT_OK;
    const size_t batch = (size_t)y->dims[0], heads = (size_t)y->dims[1], rows = (size_t)y->dims[2];
    const size_t hidden = (size_t)query->dims[query->rank - 1], size = hidden / heads;
    size_t *from = prt_eval_scratch(c, batch, rows * sizeof(size_t));
    if (from == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < batch * rows; i++)
        from[i] = i;
    if (prt_eval_has(c, IN_OFFSETS))
        PRT_TRY(unpack(c, batch * rows, from));
    for (size_t row = 0; row < batch * heads * rows; row++) {
        const size_t b = row / rows / heads, h = row / rows % heads, i = row % rows;
        const size_t token = from[b * rows + i];
        const double by =
            gate(c, token == SIZE_MAX ? SIZE_MAX : token * hidden + h * size, h, size);
        for (size_t j = 0; j < rows; j++) {
            const double value = by * prt_real_at(bias, (h * rows + i) * rows + j);
            prt_reals_store(y->dtype, y->data, row * rows + j, 1, 1, &value);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gated_relative_position_bias = { .infer = infer_gated,
    .eval = eval_gated };
