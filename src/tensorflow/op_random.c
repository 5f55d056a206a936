/* SPDX-License-Identifier: MIT */
/*
 * op_random.c — random numbers of the same distributions as TensorFlow's; the numbers differ. A
 * stateless operator has its seed as an input, which must be constant.
 */
#include "tensorflow/formulas.h"
#include "tensorflow/special.h"

static bool is_stateless(const prt_tf_call *n)
{
    return strncmp(n->node->row->name, "Stateless", 9) == 0;
}

/* Reads the seed of the attributes, or of input `i` of a stateless operator. 0: not given. */
static float seed_of(prt_tf_call *n, uint32_t i)
{
    int64_t seed[2] = { 0 };
    uint32_t count = 2;
    if (is_stateless(n)) {
        if (prt_tf_need_ints(n, i, "the seed", 2, seed, &count))
            prt_tf_warn(n, "its random numbers are not those of TensorFlow");
    } else {
        seed[0] = prt_tf_attr_i64(n, "seed", 0);
        seed[1] = prt_tf_attr_i64(n, "seed2", 0);
    }
    return (float)((uint64_t)seed[0] * 31 ^ (uint64_t)seed[1]);
}

/* The key of a generator is the seed, and its counter is 0: no numbers of TensorFlow follow. */
poprt_status prt_tf_row_random_key(prt_tf_call *n)
{
    static const uint64_t zeros[2];
    const int64_t one = 1, two = 2;
    int64_t seed[2] = { 0 };
    uint32_t count;
    if (!prt_tf_need_ints(n, 0, "the seed", 2, seed, &count))
        return prt_tf_end(n);
    const uint64_t key = (uint64_t)seed[0] * 31 ^ (uint64_t)seed[1];
    prt_tf_set(n, 0, prt_build_tensor(&n->b, PRT_DTYPE_u64, 1, &one, &key));
    prt_tf_set(n, 1, prt_build_tensor(&n->b, PRT_DTYPE_u64, 1, &two, zeros));
    return prt_tf_end(n);
}

/* 1 is the number of Philox. */
poprt_status prt_tf_row_random_algorithm(prt_tf_call *n)
{
    return prt_tf_end_with(n, prt_build_scalar(&n->b, PRT_DTYPE_i32, 1));
}

/* Draws numbers of [low, high), or normal ones of mean `low` and deviation `high`. */
static prt_value *draw(prt_tf_call *n, uint32_t id, prt_value *shape, int32_t dtype, double low,
    double high, float seed)
{
    prt_random_uniform_like_attrs attrs = PRT_ATTRS_OF(random_uniform_like);
    PRT_ATTR_SET(attrs, random_uniform_like, dtype, dtype);
    PRT_ATTR_SET(attrs, random_uniform_like, low, (float)low);
    PRT_ATTR_SET(attrs, random_uniform_like, high, (float)high);
    if (seed != 0)
        PRT_ATTR_SET(attrs, random_uniform_like, seed, seed);
    prt_random_normal_like_attrs normal = PRT_ATTRS_OF(random_normal_like);
    PRT_ATTR_SET(normal, random_normal_like, dtype, dtype);
    if (seed != 0)
        PRT_ATTR_SET(normal, random_normal_like, seed, seed);
    prt_value *like = prt_build_expand(&n->b, prt_build_scalar(&n->b, PRT_DTYPE_f32, 0), shape);
    if (like == NULL)
        return NULL;
    return prt_build_op(&n->b, id,
        id == PRT_OP_random_normal_like ? (const void *)&normal : (const void *)&attrs, 1, &like);
}

/* Truncated normal numbers are quantiles of uniform ones: erf(√2) is the share of those within two
 * deviations. */
poprt_status prt_tf_row_random(prt_tf_call *n)
{
    static const double share = 0.954499736103642, root = 1.41421356237309505;
    const uint32_t id = n->node->row->id;
    const int32_t dtype = prt_tf_attr_dtype(n, "dtype", PRT_DTYPE_f32);
    const float seed = seed_of(n, 1);
    prt_value *shape = prt_tf_in_i64(n, 0, true);
    if (id != PRT_OP_erf)
        return prt_tf_end_with(n, draw(n, id, shape, dtype, 0, 1, seed));
    prt_value *u = draw(n, PRT_OP_random_uniform_like, shape, PRT_DTYPE_f32, -share, share, seed);
    prt_value *y = prt_tf_erfinv(n, u);
    y = BINARY(mul, y, prt_build_scalar(&n->b, PRT_DTYPE_f32, root));
    return prt_tf_end_with(n, prt_build_cast(&n->b, y, dtype));
}

/* The bounds are the last inputs. */
poprt_status prt_tf_row_random_int(prt_tf_call *n)
{
    const uint32_t first = n->n_in > 2 ? n->n_in - 2 : 1;
    const float seed = seed_of(n, 1);
    prt_value *low = prt_tf_in(n, first), *high = prt_tf_in(n, first + 1);
    prt_value *u =
        draw(n, PRT_OP_random_uniform_like, prt_tf_in_i64(n, 0, true), PRT_DTYPE_f64, 0, 1, seed);
    prt_value *count = prt_build_cast(&n->b, BINARY(sub, high, low), PRT_DTYPE_f64);
    prt_value *y = prt_build_unary(&n->b, PRT_OP_floor, BINARY(mul, u, count));
    return prt_tf_end_with(n, BINARY(add, prt_build_cast_as(&n->b, y, low), low));
}

poprt_status prt_tf_row_multinomial(prt_tf_call *n)
{
    int64_t count;
    prt_value *x = prt_tf_in(n, 0);
    const float seed = seed_of(n, 2);
    prt_multinomial_attrs attrs = PRT_ATTRS_OF(multinomial);
    if (!prt_tf_need_int(n, 1, "the number of samples", &count))
        return prt_tf_end(n);
    PRT_ATTR_SET(attrs, multinomial, sample_size, count);
    PRT_ATTR_SET(attrs, multinomial, dtype, prt_tf_attr_dtype(n, "output_dtype", PRT_DTYPE_i64));
    if (seed != 0)
        PRT_ATTR_SET(attrs, multinomial, seed, seed);
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_multinomial, &attrs, 1, &x));
}

/* The rows in the order of random numbers. */
poprt_status prt_tf_row_random_shuffle(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *rows = prt_build_size_of(&n->b, x, 0);
    prt_value *keys = draw(n, PRT_OP_random_uniform_like, rows, PRT_DTYPE_f32, 0, 1, seed_of(n, 1));
    prt_op *op = keys == NULL
        ? NULL
        : prt_build_op_n(&n->b, PRT_OP_topk, NULL, 2, (prt_value *[]){ keys, rows }, 2);
    return op == NULL ? prt_tf_end(n)
                      : prt_tf_end_with(n, prt_build_gather(&n->b, x, &op->out[1], 0));
}
