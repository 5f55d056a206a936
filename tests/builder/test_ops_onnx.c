/* SPDX-License-Identifier: MIT */
/*
 * test_ops_onnx.c — one operator of each kind that PopART has of ai.onnx, built by its function for
 * opset 11, or for the older opset of the variant, compiled and run.
 */
#include "ops.h"

#define I(...) INTEGERS(b, __VA_ARGS__)
#define F1(value) add_scalar(b, POPRT_DTYPE_FLOAT32, &(float){ value }, sizeof(float))

static float one = 1;
static const poprt_string relu_name[] = { POPRT_TEXT("Relu") };

/* A constant of `count` float scales: 1, 1, 2, 2. */
static poprt_id floats(poprt_builder *b, int64_t count)
{
    static float scales[] = { 1, 1, 2, 2 };
    const poprt_tensor t = { scales, (size_t)count * sizeof(float), &count, 1,
        POPRT_DTYPE_FLOAT32 };
    return poprt_builder_constant(b, NULL, &t, 0);
}

/* A constant of int64 zeros. */
static poprt_id zeros(poprt_builder *b, int32_t count)
{
    static const int64_t all[8] = { 0 };
    return add_integers(b, all, count);
}

static poprt_builder *subgraph(poprt_builder *b)
{
    poprt_builder *child = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, "g", &child));
    return child;
}

/* Scan with one state and one scanned input. */
static poprt_id running_sum(poprt_builder *b)
{
    poprt_builder *body = subgraph(b);
    const poprt_id state = poprt_builder_input(body, NULL, NULL, NULL);
    const poprt_id row = poprt_builder_input(body, NULL, NULL, NULL);
    const poprt_id sum = poprt_op_add(body, state, row, NULL);
    ck_assert_ok(poprt_builder_output(body, sum));
    ck_assert_ok(poprt_builder_output(body, sum)); /* an Identity */
    const poprt_id y = poprt_op_scan(b, 2, LIST(F(3), F(4, 3)),
        ATTRS(scan, .body = body, .num_scan_inputs = poprt_int(1)), 2, NULL);
    poprt_builder_release(body);
    return y;
}

static poprt_id branch(poprt_builder *b)
{
    poprt_builder *yes = subgraph(b), *no = subgraph(b);
    const poprt_id x = F(2);
    ck_assert_ok(poprt_builder_output(yes, poprt_op_neg(yes, x, NULL)));
    ck_assert_ok(poprt_builder_output(no, x));
    const poprt_id y =
        poprt_op_if(b, B(1), ATTRS(if, .then_branch = yes, .else_branch = no), 1, NULL);
    poprt_builder_release(yes);
    poprt_builder_release(no);
    return y;
}

/* Loop whose iterations are stacked. */
static poprt_id count(poprt_builder *b)
{
    poprt_builder *body = subgraph(b);
    const poprt_id i = poprt_builder_input(body, NULL, NULL, NULL);
    ck_assert_ok(poprt_builder_output(body, poprt_builder_input(body, NULL, NULL, NULL)));
    ck_assert_ok(poprt_builder_output(body, poprt_op_add(body, i, i, NULL)));
    const int64_t trips = 4;
    const poprt_id y = poprt_op_loop(b, add_scalar(b, POPRT_DTYPE_INT64, &trips, sizeof(trips)), 0,
        0, NULL, ATTRS(loop, .body = body), 1, NULL);
    poprt_builder_release(body);
    return y;
}

/* ---- element by element */

#define UNARY(op) CASE(op, poprt_op_##op(b, F(2, 3), NULL))
UNARY(abs)
UNARY(acos)
UNARY(acosh)
UNARY(asin)
UNARY(asinh)
UNARY(atan)
UNARY(atanh)
UNARY(ceil)
UNARY(cos)
UNARY(cosh)
UNARY(erf)
UNARY(exp)
UNARY(floor)
UNARY(identity)
UNARY(isinf)
UNARY(isnan)
UNARY(log)
UNARY(neg)
UNARY(reciprocal)
UNARY(relu)
UNARY(round)
UNARY(sigmoid)
UNARY(sign)
UNARY(sin)
UNARY(sinh)
UNARY(softplus)
UNARY(softsign)
UNARY(sqrt)
UNARY(tan)
UNARY(tanh)
#define BINARY(op) CASE(op, poprt_op_##op(b, F(2, 3), F(3), NULL))
BINARY(add)
BINARY(div)
BINARY(equal)
BINARY(greater)
BINARY(less)
BINARY(mul)
BINARY(pow)
BINARY(prelu)
BINARY(sub)
CASE(and, poprt_op_and(b, B(2), B(2), NULL))
CASE(or, poprt_op_or(b, B(2), B(2), NULL))
CASE(not, poprt_op_not(b, B(2), NULL))
CASE(mod, poprt_op_mod(b, F(2), F(2), ATTRS(mod, .fmod = poprt_int(1))))
CASE(max, poprt_op_max(b, 3, LIST(F(2), F(2), F(1)), NULL))
CASE(mean, poprt_op_mean(b, 2, LIST(F(2), F(2)), NULL))
CASE(min, poprt_op_min(b, 2, LIST(F(2), F(2)), NULL))
CASE(sum, poprt_op_sum(b, 2, LIST(F(2), F(2)), NULL))
CASE(cast, poprt_op_cast(b, F(2), ATTRS(cast, .to = poprt_int(POPRT_DTYPE_INT32))))
CASE(clip, poprt_op_clip(b, F(2), F1(0), F1(2), NULL))
CASE(clip_6,
    poprt_op_clip(b, F(2), 0, 0, ATTRS(clip, .min = poprt_float(0), .max = poprt_float(6))))
CASE(dropout, poprt_op_dropout(b, F(2), 0, 0, ATTRS(dropout, .ratio = poprt_float(0.25f)), 2, NULL))
CASE(elu, poprt_op_elu(b, F(2), ATTRS(elu, .alpha = poprt_float(2))))
CASE(hard_sigmoid, poprt_op_hard_sigmoid(b, F(2), ATTRS(hard_sigmoid, .alpha = poprt_float(0.5f))))
CASE(leaky_relu, poprt_op_leaky_relu(b, F(2), ATTRS(leaky_relu, .alpha = poprt_float(0.5f))))
CASE(selu, poprt_op_selu(b, F(2), ATTRS(selu, .gamma = poprt_float(2))))
CASE(shrink, poprt_op_shrink(b, F(2), ATTRS(shrink, .lambd = poprt_float(0.25f))))
CASE(thresholded_relu,
    poprt_op_thresholded_relu(b, F(2), ATTRS(thresholded_relu, .alpha = poprt_float(0.5f))))
CASE(where, poprt_op_where(b, B(2), F(2), F(2), NULL))
CASE(cumsum, poprt_op_cumsum(b, F(2, 3), I(1), ATTRS(cumsum, .reverse = poprt_int(1))))

/* ---- reductions and selections */

#define REDUCE(op) CASE(op, poprt_op_##op(b, F(2, 3, 4), 0, ATTRS(op, .axes = POPRT_INTS(0, -1))))
REDUCE(reduce_l1)
REDUCE(reduce_l2)
REDUCE(reduce_log_sum)
REDUCE(reduce_log_sum_exp)
REDUCE(reduce_max)
REDUCE(reduce_mean)
REDUCE(reduce_min)
REDUCE(reduce_prod)
REDUCE(reduce_sum)
REDUCE(reduce_sum_square)
CASE(argmax, poprt_op_argmax(b, F(2, 3), ATTRS(argmax, .axis = poprt_int(1))))
CASE(argmin, poprt_op_argmin(b, F(2, 3), ATTRS(argmin, .keepdims = poprt_int(0))))
CASE(softmax, poprt_op_softmax(b, F(2, 3), NULL))
CASE(log_softmax, poprt_op_log_softmax(b, F(2, 3), ATTRS(log_softmax, .axis = poprt_int(0))))
CASE(topk, poprt_op_topk(b, F(2, 5), I(2), ATTRS(topk, .largest = poprt_int(0)), 2, NULL))
CASE(topk_1, poprt_op_topk(b, F(2, 5), 0, ATTRS(topk, .k = poprt_int(2)), 2, NULL))
CASE(one_hot, poprt_op_one_hot(b, I64(4), I(3), F(2), ATTRS(one_hot, .axis = poprt_int(0))))

/* ---- shapes */

CASE(concat, poprt_op_concat(b, 2, LIST(F(2, 3), F(1, 3)), ATTRS(concat, .axis = poprt_int(0))))
CASE(constant,
    poprt_op_constant(b,
        ATTRS(constant,
            .value = &(poprt_tensor){ .data = &one, .size = 4, .dtype = POPRT_DTYPE_FLOAT32 })))
CASE(constant_of_shape, poprt_op_constant_of_shape(b, I(2, 3), NULL))
CASE(depth_to_space,
    poprt_op_depth_to_space(b, F(1, 4, 2, 2), ATTRS(depth_to_space, .blocksize = poprt_int(2))))
CASE(space_to_depth,
    poprt_op_space_to_depth(b, F(1, 1, 4, 4), ATTRS(space_to_depth, .blocksize = poprt_int(2))))
CASE(expand, poprt_op_expand(b, F(1, 3), I(2, 3), NULL))
CASE(flatten, poprt_op_flatten(b, F(2, 3, 4), ATTRS(flatten, .axis = poprt_int(2))))
CASE(gather, poprt_op_gather(b, F(3, 2), I64(2), ATTRS(gather, .axis = poprt_int(1))))
CASE(pad, poprt_op_pad(b, F(2, 3), I(0, 1, 0, 2), 0, 0, ATTRS(pad, .mode = "constant")))
CASE(pad_2,
    poprt_op_pad(b, F(2, 3), 0, 0, 0,
        ATTRS(pad, .pads = POPRT_INTS(0, 1, 0, 2), .value = poprt_float(7))))
CASE(reshape, poprt_op_reshape(b, F(2, 3), I(3, 2), NULL))
CASE(scatter,
    poprt_op_scatter(b, F(3, 2), I64(1, 2), F(1, 2), ATTRS(scatter, .axis = poprt_int(0))))
CASE(scatter_elements, poprt_op_scatter_elements(b, F(3, 2), I64(1, 2), F(1, 2), NULL))
CASE(shape, poprt_op_shape(b, F(2, 3), NULL))
CASE(slice, poprt_op_slice(b, F(4, 5), I(1), I(4), I(1), I(2), NULL))
CASE(slice_1,
    poprt_op_slice(b, F(4, 5), 0, 0, 0, 0,
        ATTRS(slice, .starts = POPRT_INTS(1), .ends = POPRT_INTS(3), .axes = POPRT_INTS(0))))
CASE(split, poprt_op_split(b, F(6, 2), 0, ATTRS(split, .split = POPRT_INTS(2, 4)), 2, NULL))
CASE(squeeze, poprt_op_squeeze(b, F(1, 2, 1), 0, ATTRS(squeeze, .axes = POPRT_INTS(0))))
CASE(unsqueeze, poprt_op_unsqueeze(b, F(2), 0, ATTRS(unsqueeze, .axes = POPRT_INTS(0, 2))))
CASE(tile, poprt_op_tile(b, F(2, 3), I(2, 1), NULL))
CASE(transpose, poprt_op_transpose(b, F(2, 3, 4), ATTRS(transpose, .perm = POPRT_INTS(2, 0, 1))))

/* ---- networks */

CASE(average_pool,
    poprt_op_average_pool(b, F(1, 2, 4, 4),
        ATTRS(average_pool, .kernel_shape = POPRT_INTS(2, 2), .strides = POPRT_INTS(2, 2))))
CASE(max_pool,
    poprt_op_max_pool(b, F(1, 2, 4, 4),
        ATTRS(max_pool, .kernel_shape = POPRT_INTS(3, 3), .pads = POPRT_INTS(1, 1, 1, 1)), 1, NULL))
CASE(global_average_pool, poprt_op_global_average_pool(b, F(1, 2, 3, 3), NULL))
CASE(global_max_pool, poprt_op_global_max_pool(b, F(1, 2, 3, 3), NULL))
CASE(batch_normalization,
    poprt_op_batch_normalization(b, F(2, 3, 4), F(3), F(3), F(3), F(3),
        ATTRS(batch_normalization, .epsilon = poprt_float(1e-3f)), 1, NULL))
CASE(instance_normalization, poprt_op_instance_normalization(b, F(2, 3, 4), F(3), F(3), NULL))
CASE(lrn, poprt_op_lrn(b, F(1, 4, 3, 3), ATTRS(lrn, .size = poprt_int(3))))
CASE(conv,
    poprt_op_conv(b, F(1, 4, 5, 5), F(6, 2, 3, 3), F(6),
        ATTRS(conv, .group = poprt_int(2), .dilations = POPRT_INTS(1, 2))))
CASE(conv_transpose,
    poprt_op_conv_transpose(b, F(1, 2, 3, 3), F(2, 4, 2, 2), 0,
        ATTRS(conv_transpose, .strides = POPRT_INTS(2, 2))))
CASE(gemm,
    poprt_op_gemm(b, F(3, 2), F(4, 3), F(4),
        ATTRS(gemm, .transA = poprt_int(1), .transB = poprt_int(1), .alpha = poprt_float(2))))
CASE(matmul, poprt_op_matmul(b, F(2, 3, 4), F(4, 5), NULL))
CASE(lstm,
    poprt_op_lstm(b, F(3, 2, 4), F(1, 20, 4), F(1, 20, 5), F(1, 40), 0, 0, 0, 0,
        ATTRS(lstm, .hidden_size = poprt_int(5)), 3, NULL))
CASE(gru,
    poprt_op_gru(b, F(3, 2, 4), F(1, 15, 4), F(1, 15, 5), 0, 0, 0,
        ATTRS(gru, .hidden_size = poprt_int(5), .linear_before_reset = poprt_int(1)), 2, NULL))
CASE(rnn,
    poprt_op_rnn(b, F(3, 2, 4), F(1, 5, 4), F(1, 5, 5), 0, 0, 0,
        ATTRS(rnn, .hidden_size = poprt_int(5), .activations = poprt_strings(relu_name, 1)), 2,
        NULL))
CASE(resize,
    poprt_op_resize(b, F(1, 1, 2, 2), floats(b, 0), floats(b, 4), 0,
        ATTRS(resize, .mode = "linear")))
CASE(upsample,
    poprt_op_upsample(b, F(1, 1, 2, 2), floats(b, 4), ATTRS(upsample, .mode = "nearest")))
CASE(upsample_7,
    poprt_op_upsample(b, F(1, 1, 2, 2), 0, ATTRS(upsample, .scales = POPRT_FLOATS(1, 1, 2, 2))))
CASE(roi_align,
    poprt_op_roi_align(b, F(1, 2, 8, 8), F(3, 4), zeros(b, 3),
        ATTRS(roi_align, .output_height = poprt_int(2), .output_width = poprt_int(2))))

/* ---- random numbers */

CASE(random_normal,
    poprt_op_random_normal(b,
        ATTRS(random_normal, .shape = POPRT_INTS(2, 3), .scale = poprt_float(2))))
CASE(random_normal_like, poprt_op_random_normal_like(b, F(2), NULL))
CASE(random_uniform,
    poprt_op_random_uniform(b,
        ATTRS(random_uniform, .shape = POPRT_INTS(2, 3), .high = poprt_float(2))))
CASE(random_uniform_like, poprt_op_random_uniform_like(b, F(2), NULL))

/* ---- control flow */

CASE(scan, running_sum(b))
CASE(if, branch(b))
CASE(loop, count(b))

START_TEST(operators_of_opset_11_run)
{
    static const struct op_case cases[] = {
        ROW(abs),
        ROW(acos),
        ROW(acosh),
        ROW(asin),
        ROW(asinh),
        ROW(atan),
        ROW(atanh),
        ROW(ceil),
        ROW(cos),
        ROW(cosh),
        ROW(erf),
        ROW(exp),
        ROW(floor),
        ROW(identity),
        ROW(isinf),
        ROW(isnan),
        ROW(log),
        ROW(neg),
        ROW(reciprocal),
        ROW(relu),
        ROW(round),
        ROW(sigmoid),
        ROW(sign),
        ROW(sin),
        ROW(sinh),
        ROW(softplus),
        ROW(softsign),
        ROW(sqrt),
        ROW(tan),
        ROW(tanh),
        ROW(add),
        ROW(div),
        ROW(equal),
        ROW(greater),
        ROW(less),
        ROW(mul),
        ROW(pow),
        ROW(prelu),
        ROW(sub),
        ROW(and),
        ROW(or),
        ROW(not ),
        ROW(mod),
        ROW(max),
        ROW(mean),
        ROW(min),
        ROW(sum),
        ROW(cast),
        ROW(clip),
        ROW(dropout),
        ROW(elu),
        ROW(hard_sigmoid),
        ROW(leaky_relu),
        ROW(selu),
        ROW(shrink),
        ROW(thresholded_relu),
        ROW(where),
        ROW(cumsum),
        ROW(reduce_l1),
        ROW(reduce_l2),
        ROW(reduce_log_sum),
        ROW(reduce_log_sum_exp),
        ROW(reduce_max),
        ROW(reduce_mean),
        ROW(reduce_min),
        ROW(reduce_prod),
        ROW(reduce_sum),
        ROW(reduce_sum_square),
        ROW(argmax),
        ROW(argmin),
        ROW(softmax),
        ROW(log_softmax),
        ROW(topk),
        ROW(one_hot),
        ROW(concat),
        ROW(constant),
        ROW(constant_of_shape),
        ROW(depth_to_space),
        ROW(space_to_depth),
        ROW(expand),
        ROW(flatten),
        ROW(gather),
        ROW(pad),
        ROW(reshape),
        ROW(scatter_elements),
        ROW(shape),
        ROW(slice),
        ROW(split),
        ROW(squeeze),
        ROW(unsqueeze),
        ROW(tile),
        ROW(transpose),
        ROW(average_pool),
        ROW(max_pool),
        ROW(global_average_pool),
        ROW(global_max_pool),
        ROW(batch_normalization),
        ROW(instance_normalization),
        ROW(lrn),
        ROW(conv),
        ROW(conv_transpose),
        ROW(gemm),
        ROW(matmul),
        ROW(lstm),
        ROW(gru),
        ROW(rnn),
        ROW(resize),
        ROW(roi_align),
        ROW(random_normal),
        ROW(random_normal_like),
        ROW(random_uniform),
        ROW(random_uniform_like),
        ROW(scan),
        ROW(if),
        ROW(loop)
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        run_case(&cases[i], 11);
}
END_TEST

START_TEST(variants_of_older_opsets_run)
{
    static const struct {
        struct op_case row;
        int64_t opset;
    } cases[] = { { ROW(clip_6), 10 }, { ROW(pad_2), 10 }, { ROW(slice_1), 9 }, { ROW(topk_1), 9 },
        { ROW(upsample), 9 }, { ROW(upsample_7), 8 }, { ROW(scatter), 10 }, { ROW(scatter), 9 },
        { ROW(batch_normalization), 7 }, { ROW(dropout), 7 }, { ROW(average_pool), 7 },
        { ROW(matmul), 6 }, { ROW(reshape), 6 }, { ROW(lstm), 7 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        run_case(&cases[i].row, cases[i].opset);
}
END_TEST

/* Attributes that became inputs are inputs of the newest opset. */
CASE(newest_reduce, poprt_op_reduce_sum(b, F(2, 3), I(1), NULL))
CASE(newest_squeeze, poprt_op_squeeze(b, F(1, 2), I(0), NULL))
CASE(newest_gelu, poprt_op_gelu(b, F(2), ATTRS(gelu, .approximate = "tanh")))
CASE(newest_attention,
    poprt_op_attention(b, F(1, 2, 3, 4), F(1, 2, 3, 4), F(1, 2, 3, 4), 0, 0, 0, 0, NULL, 1, NULL))
CASE(ml_scaler,
    poprt_op_ml_scaler(b, F(2, 3),
        ATTRS(ml_scaler, .offset = POPRT_FLOATS(1), .scale = POPRT_FLOATS(2))))
CASE(ms_bias_gelu, poprt_op_ms_bias_gelu(b, F(2, 3), F(3), NULL))

START_TEST(operators_of_the_newest_opset_run)
{
    static const struct op_case cases[] = { ROW(newest_reduce), ROW(newest_squeeze),
        ROW(newest_gelu), ROW(newest_attention), ROW(ml_scaler), ROW(ms_bias_gelu) };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        run_case(&cases[i], 0);
}
END_TEST

PRT_TEST_MAIN("builder/ops_onnx", operators_of_opset_11_run, variants_of_older_opsets_run,
    operators_of_the_newest_opset_run)
