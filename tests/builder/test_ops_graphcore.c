/* SPDX-License-Identifier: MIT */
/* test_ops_graphcore.c — one operator of each kind of ai.graphcore, built by its function, compiled
 * and run. */
#include "ops.h"

/* Abort has no output. */
static poprt_id abort_after(poprt_builder *b)
{
    const poprt_id x = F(1);
    const poprt_id zero = poprt_op_sub(b, x, x, NULL);
    poprt_op_gc_abort(b, poprt_op_cast(b, zero, ATTRS(cast, .to = poprt_int(POPRT_DTYPE_BOOL))),
        NULL);
    return zero;
}

/* Two sequences of two rows, of a table of four. */
static poprt_id packed_block(poprt_builder *b)
{
    static const int32_t offsets[] = { 0, 2 }, lengths[] = { 2, 2 };
    const poprt_tensor o = { (void *)(uintptr_t)offsets, 8, (const int64_t[]){ 2 }, 1,
        POPRT_DTYPE_INT32 };
    const poprt_tensor l = { (void *)(uintptr_t)lengths, 8, (const int64_t[]){ 2 }, 1,
        POPRT_DTYPE_INT32 };
    const poprt_id at = poprt_builder_constant(b, NULL, &o, 0);
    const poprt_id n = poprt_builder_constant(b, NULL, &l, 0);
    poprt_builder *body = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, "rows", &body));
    const poprt_id rows = add_input(body, POPRT_DTYPE_FLOAT32, DIMS(1, 2, 3));
    ck_assert_ok(poprt_builder_output(body, poprt_op_neg(body, rows, NULL)));
    const poprt_id y = poprt_op_gc_packed_data_block(b, 5, LIST(F(4, 3), at, n, at, n),
        ATTRS(gc_packed_data_block, .maxSequenceLengths = POPRT_INTS(2), .resultSize = poprt_int(4),
            .callbackBatchSize = poprt_int(1), .callback = body));
    poprt_builder_release(body);
    return y;
}

CASE(add_bias, poprt_op_gc_add_bias(b, F(1, 3, 2, 2), F(3), NULL))
CASE(atan2, poprt_op_gc_atan2(b, F(2), F(2), NULL))
CASE(auto_loss_scale_proxy, poprt_op_gc_auto_loss_scale_proxy(b, F(2), NULL))
CASE(attention_mask, poprt_op_gc_attention_mask(b, I32(2, 4), F(2, 1, 4, 4), NULL))
CASE(batch_normalization,
    poprt_op_gc_batch_normalization(b, F(2, 3, 4), F(3), F(3), F(3), F(3), NULL, 1, NULL))
CASE(batch_normalization_training,
    poprt_op_gc_batch_normalization(b, F(2, 3, 4), F(3), F(3), F(3), F(3), NULL, 5, NULL))
CASE(binary_const_scalar,
    poprt_op_gc_binary_const_scalar(b, F(2), ATTRS(gc_binary_const_scalar, .op = "Mul")))
CASE(bitwise_and, poprt_op_gc_bitwise_and(b, I32(2), I32(2), NULL))
CASE(bitwise_not, poprt_op_gc_bitwise_not(b, I32(2), NULL))
CASE(bitwise_or, poprt_op_gc_bitwise_or(b, I32(2), I32(2), NULL))
CASE(bitwise_xnor, poprt_op_gc_bitwise_xnor(b, I32(2), I32(2), NULL))
CASE(bitwise_xor, poprt_op_gc_bitwise_xor(b, I32(2), I32(2), NULL))
CASE(bucketize, poprt_op_gc_bucketize(b, F(2, 3), F(4), ATTRS(gc_bucketize, .right = poprt_int(1))))
CASE(conv_flip_weights, poprt_op_gc_conv_flip_weights(b, F(2, 3, 3, 3), NULL))
CASE(copy_var_update, poprt_op_gc_copy_var_update(b, add_weight(b, "v", DIMS(2)), F(2), NULL))
CASE(ctc,
    poprt_op_gc_ctc(b, F(4, 2, 5), I32(2, 3), I32(2), I32(2),
        ATTRS(gc_ctc, .reduction = "Sum", .zeroInfinity = poprt_int(1)), 1, NULL))
CASE(ctc_beam_search_decoder,
    poprt_op_gc_ctc_beam_search_decoder(b, F(4, 2, 5), INPUT(b, POPRT_DTYPE_UINT32, 2),
        ATTRS(gc_ctc_beam_search_decoder, .beam_width = poprt_int(4), .top_paths = poprt_int(2)), 3,
        NULL))
CASE(depth_to_space,
    poprt_op_gc_depth_to_space(b, F(1, 8, 2, 2),
        ATTRS(gc_depth_to_space, .blocksize = poprt_int(2), .mode = "CRD")))
CASE(detach, poprt_op_gc_detach(b, F(2), NULL))
CASE(dynamic_add,
    poprt_op_gc_dynamic_add(b, F(4, 3), U32(1), F(2, 3),
        ATTRS(gc_dynamic_add, .axes = POPRT_INTS(0), .sizes = POPRT_INTS(2))))
CASE(dynamic_slice,
    poprt_op_gc_dynamic_slice(b, F(4, 3), U32(1), 0,
        ATTRS(gc_dynamic_slice, .axes = POPRT_INTS(0), .sizes = POPRT_INTS(2),
            .noOverlap = poprt_int(1))))
CASE(dynamic_update,
    poprt_op_gc_dynamic_update(b, F(4, 3), U32(1), F(2, 3),
        ATTRS(gc_dynamic_update, .axes = POPRT_INTS(0), .sizes = POPRT_INTS(2))))
CASE(dynamic_zero,
    poprt_op_gc_dynamic_zero(b, F(4, 3), U32(1),
        ATTRS(gc_dynamic_zero, .axes = POPRT_INTS(0), .sizes = POPRT_INTS(2))))
CASE(expm1, poprt_op_gc_expm1(b, F(2), NULL))
CASE(fmod, poprt_op_gc_fmod(b, F(2), F(2), NULL))
CASE(gelu, poprt_op_gc_gelu(b, F(2), NULL))
CASE(gelu_erf, poprt_op_gc_gelu_erf(b, F(2), NULL))
CASE(group_normalization,
    poprt_op_gc_group_normalization(b, F(2, 4, 3), F(4), F(4),
        ATTRS(gc_group_normalization, .num_groups = poprt_int(2), .epsilon = poprt_float(1e-3f)), 3,
        NULL))
CASE(grouped_gather,
    poprt_op_gc_grouped_gather(b, F(2, 3, 4), I32(2, 2),
        ATTRS(gc_grouped_gather, .axis = poprt_int(1), .group_size = poprt_int(2))))
CASE(histogram,
    poprt_op_gc_histogram(b, F(8), ATTRS(gc_histogram, .levels = POPRT_FLOATS(0.5f, 2))))
CASE(host_load, poprt_op_gc_host_load(b, F(2), NULL))
CASE(remote_load, poprt_op_gc_remote_load(b, F(2), U32(1), NULL))
CASE(identity_loss,
    poprt_op_gc_identity_loss(b, F(2, 3), ATTRS(gc_identity_loss, .reduction = "Sum")))
CASE(increment_mod,
    poprt_op_gc_increment_mod(b, F(2),
        ATTRS(gc_increment_mod, .increment = poprt_float(1), .modulus = poprt_float(4))))
CASE(init,
    poprt_op_gc_init(b,
        ATTRS(gc_init, .shape = POPRT_INTS(2, 2), .data_type = poprt_int(11),
            .init_type = poprt_int(1))))
CASE(l1, poprt_op_gc_l1(b, F(2, 3), ATTRS(gc_l1, .lambda = poprt_float(0.5f))))
CASE(log1p, poprt_op_gc_log1p(b, F(2), NULL))
CASE(lstm,
    poprt_op_gc_lstm(b, F(3, 2, 4), F(4, 9, 5), F(4, 5), F(2, 2, 5), 0,
        ATTRS(gc_lstm, .output_full_sequence = poprt_int(0)), 2, NULL))
CASE(multi_conv,
    poprt_op_gc_multi_conv(b, 6,
        LIST(F(1, 2, 4, 4), F(3, 2, 3, 3), F(3), F(1, 1, 5, 5), F(2, 1, 3, 3), 0),
        ATTRS(gc_multi_conv, .numConvs = poprt_int(2)), 2, NULL))
CASE(nearby_int, poprt_op_gc_nearby_int(b, F(2), NULL))
CASE(nll,
    poprt_op_gc_nll(b, F(2, 3), I32(2),
        ATTRS(gc_nll, .reduction = "None", .ignoreIndex = poprt_int(0))))
CASE(nop, poprt_op_gc_nop(b, F(2), NULL))
CASE(normalize_image,
    poprt_op_gc_normalize_image(b, F(1, 4, 4, 3), F(3), F(3),
        ATTRS(gc_normalize_image, .scale = poprt_float(0.5f))))
CASE(print_tensor,
    poprt_op_gc_print_tensor(b, F(2),
        ATTRS(gc_print_tensor, .title = "t", .print_gradient = poprt_int(0))))
CASE(reduce_median,
    poprt_op_gc_reduce_median(b, F(2, 5), ATTRS(gc_reduce_median, .axes = POPRT_INTS(1)), 2, NULL))
CASE(remainder, poprt_op_gc_remainder(b, F(2), F(2), NULL))
CASE(replicated_all_gather, poprt_op_gc_replicated_all_gather(b, F(2), 0, NULL))
CASE(replicated_all_reduce, poprt_op_gc_replicated_all_reduce(b, F(2), NULL))
CASE(replicated_reduce_scatter, poprt_op_gc_replicated_reduce_scatter(b, F(2), 0, NULL))
CASE(all_reduce,
    poprt_op_gc_all_reduce(b, 1, LIST(F(2)), ATTRS(gc_all_reduce, .ipus = POPRT_INTS(0)), 1, NULL))
CASE(reshape, poprt_op_gc_reshape(b, F(2, 3), ATTRS(gc_reshape, .shape = POPRT_INTS(3, -1))))
CASE(reverse, poprt_op_gc_reverse(b, F(2, 3), ATTRS(gc_reverse, .dimensions = POPRT_INTS(1))))
CASE(round, poprt_op_gc_round(b, F(2), NULL))
CASE(scale, poprt_op_gc_scale(b, F(2), ATTRS(gc_scale, .scale = poprt_float(3))))
CASE(scaled_add,
    poprt_op_gc_scaled_add(b, F(2), F(2), 0, 0, ATTRS(gc_scaled_add, .scale1 = poprt_float(2))))
CASE(scatter_reduce,
    poprt_op_gc_scatter_reduce(b, F(4, 3), I32(4), 0,
        ATTRS(gc_scatter_reduce, .axis = poprt_int(0), .axis_size = poprt_int(3),
            .reduction = "max")))
CASE(sequence_slice,
    poprt_op_gc_sequence_slice(b, F(4, 3), F(5, 3), U32(1), U32(1), U32(1),
        ATTRS(gc_sequence_slice, .zeroUnused = poprt_int(1))))
CASE(shaped_dropout,
    poprt_op_gc_shaped_dropout(b, F(2, 3),
        ATTRS(gc_shaped_dropout, .shape = POPRT_INTS(2, 1), .ratio = poprt_float(0.25f))))
CASE(slice,
    poprt_op_gc_slice(b, F(4, 3),
        ATTRS(gc_slice, .starts = POPRT_INTS(1), .ends = POPRT_INTS(3), .axes = POPRT_INTS(0))))
CASE(sort, poprt_op_gc_sort(b, F(2, 3), ATTRS(gc_sort, .descending = poprt_int(1)), 2, NULL))
CASE(spline_basis,
    poprt_op_gc_spline_basis(b, F(4, 2), I32(2), INPUT(b, POPRT_DTYPE_UINT8, 2),
        ATTRS(gc_spline_basis, .degree = poprt_int(1)), 2, NULL))
CASE(spline_weighting,
    poprt_op_gc_spline_weighting(b, F(4, 2), F(5, 2, 3), F(4, 4), I32(4, 4), NULL))
CASE(square, poprt_op_gc_square(b, F(2), NULL))
CASE(subsample, poprt_op_gc_subsample(b, F(4, 6), ATTRS(gc_subsample, .strides = POPRT_INTS(2, 3))))
CASE(swish, poprt_op_gc_swish(b, F(2), NULL))
CASE(tensor_remap,
    poprt_op_gc_tensor_remap(b, F(2), ATTRS(gc_tensor_remap, .remap_type = poprt_int(1))))
CASE(zeros, poprt_op_gc_zeros(b, ATTRS(gc_zeros, .shape = POPRT_INTS(2, 3))))
CASE(zeros_like, poprt_op_gc_zeros_like(b, F(2), NULL))
CASE(fp8,
    poprt_op_gc_cast_then_pow2_scale(b,
        poprt_op_gc_pow2_scale_then_cast(b, INPUT(b, POPRT_DTYPE_FLOAT16, 2),
            INPUT(b, POPRT_DTYPE_INT8, 1), NULL),
        INPUT(b, POPRT_DTYPE_INT8, 1), NULL))
CASE(abort_of_a_false_condition, abort_after(b))
CASE(packed_data_block, packed_block(b))

START_TEST(operators_of_graphcore_run)
{
    static const struct op_case cases[] = { ROW(add_bias), ROW(atan2), ROW(auto_loss_scale_proxy),
        ROW(attention_mask), ROW(batch_normalization), ROW(batch_normalization_training),
        ROW(binary_const_scalar), ROW(bitwise_and), ROW(bitwise_not), ROW(bitwise_or),
        ROW(bitwise_xnor), ROW(bitwise_xor), ROW(bucketize), ROW(conv_flip_weights),
        ROW(copy_var_update), ROW(ctc), ROW(ctc_beam_search_decoder), ROW(depth_to_space),
        ROW(detach), ROW(dynamic_add), ROW(dynamic_slice), ROW(dynamic_update), ROW(dynamic_zero),
        ROW(expm1), ROW(fmod), ROW(gelu), ROW(gelu_erf), ROW(group_normalization),
        ROW(grouped_gather), ROW(histogram), ROW(identity_loss), ROW(increment_mod), ROW(init),
        ROW(l1), ROW(log1p), ROW(lstm), ROW(multi_conv), ROW(nearby_int), ROW(nll), ROW(nop),
        ROW(normalize_image), ROW(print_tensor), ROW(reduce_median), ROW(remainder),
        ROW(replicated_all_gather), ROW(replicated_all_reduce), ROW(replicated_reduce_scatter),
        ROW(all_reduce), BUILD(remote_load), ROW(host_load), ROW(reshape), ROW(reverse), ROW(round),
        ROW(scale), ROW(scaled_add), ROW(scatter_reduce), ROW(sequence_slice), ROW(shaped_dropout),
        ROW(slice), ROW(sort), ROW(spline_basis), ROW(spline_weighting), ROW(square),
        ROW(subsample), ROW(swish), ROW(tensor_remap), ROW(zeros), ROW(zeros_like), ROW(fp8),
        ROW(abort_of_a_false_condition), ROW(packed_data_block) };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        run_case(&cases[i], 11);
}
END_TEST

PRT_TEST_MAIN("builder/ops_graphcore", operators_of_graphcore_run)
