/* SPDX-License-Identifier: MIT */
/* test_opsets_models.c — hand-written models as IR text. */
#include "test_opsets_models.h"

#define X234 "x = const f32[2,3,4] {0.5,-1,2,3, 4,-5,6,7, 8,9,-1,1, 0,1,2,3, -4,5,6,7, 8,-9,1,2}\n"
#define X1424                                                                                      \
    "x = const f32[1,4,2,4] {0,1,2,3,4,5,6,7, 8,9,10,11,12,13,14,15, 16,17,18,19,20,21,22,23, "    \
    "24,25,26,27,28,29,30,31}\n"
#define X1122 "x = const f32[1,1,2,2] {1,2,3,4}\n"

const hand_made hand_made_models[] = {
    /* formulas */
    { "gelu", "x = const f32[3] {-1,0,2}\ny = gelu x\nreturn y\n" },
    { "gelu_tanh", "x = const f32[3] {-1,0,2}\ny = gelu x {approximate=tanh}\nreturn y\n" },
    { "gelu_f16", "x = const f16[3] {-1,0,2}\ny = gelu x\nreturn y\n" },
    { "mish", "x = const f32[3] {-1,0,2}\ny = mish x\nreturn y\n" },
    { "swish", "x = const f32[3] {-1,0,2}\ny = swish x {alpha=1.5}\nreturn y\n" },
    { "swi_glu",
        "x = const f32[3] {-1,0,2}\nz = const f32[3] {3,4,5}\ny = swi_glu x z\nreturn y\n" },
    { "celu_f64", "x = const f64[3] {-1,0,2}\ny = celu x {alpha=0.5}\nreturn y\n" },
    { "thresholded",
        "x = const f32[4] {-1,0,2,nan}\ny = thresholded_relu x {alpha=0.5}\nreturn y\n" },
    { "or_equal_i64",
        "x = const i64[3] {1,2,3}\nz = const i64[] {2}\na = greater_or_equal x z\n"
        "b = less_or_equal x z\nreturn a, b\n" },
    { "cast_like_f16",
        "x = const f32[2] {1.5,2}\nz = const f16[1] {0}\ny = cast_like x z\nreturn y\n" },
    { "relu_i32", "x = const i32[3] {-1,0,2}\ny = relu x\nreturn y\n" },
    { "clip_i64",
        "x = const i64[3] {-1,0,9}\na = const i64[] {0}\nz = const i64[] {5}\ny = clip x a z\n"
        "return y\n" },
    { "max_i8", "x = const i8[2] {-1,5}\nz = const i8[] {3}\ny = max x z x\nreturn y\n" },
    { "add_u8", "x = const u8[2] {250,5}\nz = const u8[] {10}\ny = add x z\nreturn y\n" },
    { "pow_i32", "x = const i32[3] {-2,0,3}\nz = const f32[] {2}\ny = pow x z\nreturn y\n" },
    { "mod_of_signs",
        "x = const f32[12] {-7,7,-7,7, 6,-6,0,-0, inf,5,-5,nan}\n"
        "z = const f32[12] {3,-3,-3,3, 3,3,-3,3, 2,inf,inf,1}\ny = mod x z\nreturn y\n" },
    { "mod_f64",
        "x = const f64[4] {-7.5,7.5,1e300,-1e-300}\nz = const f64[] {-2}\ny = mod x z\n"
        "return y\n" },
    { "mod_f16",
        "x = const f16[3] {-7.5,7.5,60000}\nz = const f16[] {-2}\ny = mod x z\n"
        "return y\n" },
    { "mod_i64", "x = const i64[2] {-7,7}\nz = const i64[] {-2}\ny = mod x z\nreturn y\n" },
    { "broadcast_column",
        X234 "z = const f32[3,1] {1,2,3}\na = sub x z\nb = add z x\nc = mul x x\n"
             "return a, b, c\n" },
    { "sum_broadcasts",
        X234 "z = const f32[4] {1,2,3,4}\na = sum x z x\nb = mean x z\nreturn a, b\n" },
    { "dropout_mask", "x = const f32[3] {1,2,3}\ny, m = dropout x\nn = not m\nreturn y, m, n\n" },

    /* moves */
    { "topk_least",
        X234 "k = const i64[1] {2}\ny, i = topk x k {axis=1,largest=0,sorted=1}\nreturn y, i\n" },
    { "topk_least_indices",
        X234 "k = const i64[1] {2}\n_, i = topk x k {axis=1,largest=0,sorted=1}\nreturn i\n" },
    { "topk_most", X234 "k = const i64[1] {2}\ny, i = topk x k {axis=-1}\nreturn y, i\n" },
    { "pad_axes",
        X234 "p = const i64[2] {1,2}\nv = const f32[] {5}\na = const i64[1] {-2}\n"
             "y = pad x p v a\nreturn y\n" },
    { "split_uneven", X234 "a, b = split x {axis=1,num_outputs=2}\nreturn a, b\n" },
    { "split_even", X234 "a, b = split x {axis=-1,num_outputs=2}\nreturn a, b\n" },
    { "split_sizes", X234 "s = const i64[2] {1,3}\na, b = split x s {axis=-1}\nreturn a, b\n" },
    { "slices",
        X234 "s = const i64[2] {0,1}\ne = const i64[2] {2,99}\na = const i64[2] {1,-1}\n"
             "y = slice x s e a\nreturn y\n" },
    { "squeezes",
        "x = const f32[1,2,1] {1,2}\na = const i64[1] {-1}\ny = squeeze x a\n"
        "z = unsqueeze y a\nreturn y, z\n" },
    { "shape_part", X234 "a = shape x {start=1}\nb = shape x {start=-2,end=-1}\nreturn a, b\n" },
    { "expand", "x = const f32[2,1] {1,2}\ns = const i64[3] {3,1,4}\ny = expand x s\nreturn y\n" },
    { "tiles", "x = const f32[1,2] {1,2}\nr = const i64[2] {3,2}\ny = tile x r\nreturn y\n" },
    { "tile_one", "x = const f32[1,2] {1,2}\nr = const i64[2] {3,1}\ny = tile x r\nreturn y\n" },
    { "constant_of_shape",
        "s = const i64[2] {2,3}\ny = constant_of_shape s {value=f32[1] {4}}\nreturn y\n" },
    { "eye", "x = const f32[2,3] {1,2,3,4,5,6}\ny = eye_like x {k=1}\nreturn y\n" },
    { "range",
        "a = const i64[] {1}\nb = const i64[] {7}\nc = const i64[] {2}\ny = range a b c\n"
        "return y\n" },
    { "windows",
        "n = const i64[] {8}\na = blackman_window n\nb = hamming_window n {periodic=0}\n"
        "c = hann_window n\nreturn a, b, c\n" },
    { "trilu_diagonal", X234 "k = const i64[] {1}\na = trilu x k {upper=0}\nreturn a\n" },
    { "crop_pad", X234 "s = const i64[3] {3,2,4}\ny = center_crop_pad x s\nreturn y\n" },
    { "space_to_depth", X1424 "y = space_to_depth x {blocksize=2,mode=CRD}\nreturn y\n" },
    { "depth_to_space", X1424 "y = depth_to_space x {blocksize=2,mode=CRD}\nreturn y\n" },
    { "reshape_zero",
        "x = const f32[2,3] {1,2,3,4,5,6}\ns = const i64[1] {6}\ny = reshape x s {allowzero=1}\n"
        "return y\n" },
    { "scatter",
        "x = const f32[3] {1,2,3}\ni = const i64[1] {1}\nu = const f32[1] {9}\n"
        "y = scatter_elements x i u {axis=-1}\nreturn y\n" },

    /* reductions */
    { "reduce_no_axes",
        X234 "a = reduce_sum_square x {noop_with_empty_axes=1}\n"
             "b = reduce_l1 x {noop_with_empty_axes=1}\nreturn a, b\n" },
    { "reduce_bool",
        "x = const bool[2,2] {true,false,true,true}\na = const i64[1] {-1}\n"
        "y = reduce_min x a\nz = reduce_max x a\nreturn y, z\n" },
    { "reduce_u8",
        "x = const u8[2,2] {1,200,3,4}\na = const i64[1] {1}\ny = reduce_max x a {keepdims=0}\n"
        "return y\n" },

    /* networks */
    { "softmax_middle",
        X234 "a = softmax x {axis=1}\nb = log_softmax x {axis=0}\n"
             "c = hardmax x {axis=1}\nreturn a, b, c\n" },
    { "gemm_without_bias", "x = const f32[2,2] {1,2,3,4}\ny = gemm x x {transB=1}\nreturn y\n" },
    { "norms",
        X234 "s = const f32[4] {1,2,3,4}\nb = const f32[4] {1,0,1,0}\n"
             "y, m, i = layer_normalization x s b\nz = rms_normalization x s\n"
             "return y, m, i, z\n" },
    { "group_norm",
        X1424 "s = const f32[4] {1,2,3,4}\nb = const f32[4] {1,0,1,0}\n"
              "y = group_normalization x s b {num_groups=2}\nreturn y\n" },
    { "mean_variance", X1424 "y = mean_variance_normalization x\nreturn y\n" },
    { "batch_norm_trains",
        X1424 "s = const f32[4] {1,2,3,4}\nb = const f32[4] {1,0,1,0}\n"
              "m = const f32[4] {0,1,0,1}\nv = const f32[4] {1,2,1,2}\n"
              "y, p, q = batch_normalization x s b m v {training_mode=1}\nreturn y, p, q\n" },
    { "lp_pools",
        X1424 "y = lp_pool x {kernel_shape=[2,2],p=3}\nz = global_lp_pool x {p=1}\n"
              "return y, z\n" },
    { "attention",
        "q = const f32[1,2,2,2] {1,0,0,1, 1,1,0,2}\nk = const f32[1,1,3,2] {1,2,3,4,-1,0}\n"
        "v = const f32[1,1,3,2] {1,0,2,1,0,3}\ny = attention q k v {is_causal=1}\nreturn y\n" },
    { "attention_mask",
        "q = const f32[1,2,4] {1,0,0,1, 1,1,0,2}\nk = const f32[1,3,4] {1,2,3,4,-1,0,1,2,0,0,1,1}\n"
        "m = const bool[2,3] {true,false,true,false,false,false}\n"
        "y = attention q k k m {q_num_heads=2,kv_num_heads=2,softcap=2.0}\nreturn y\n" },
    { "attention_cache",
        "q = const f32[1,1,2,2] {1,0,0,1}\nk = const f32[1,1,2,2] {1,2,3,4}\n"
        "p = const f32[1,1,1,2] {5,6}\nm = const f32[2,3] {0,-1,0,1,0,0.5}\n"
        "y, pk, pv = attention q k k m p p {is_causal=1}\nreturn y, pk, pv\n" },
    { "rotary",
        "x = const f32[1,1,2,4] {1,2,3,4,5,6,7,8}\nc = const f32[3,2] {1,0,0.5,0.25,1,1}\n"
        "s = const f32[3,2] {0,1,0.5,0.75,0,1}\np = const i64[1,2] {2,1}\n"
        "y = rotary_embedding x c s p\nreturn y\n" },
    { "rotary_pairs",
        "x = const f32[1,2,6] {1,2,3,4,5,6,7,8,9,10,11,12}\n"
        "c = const f32[1,2,1] {1,0.5}\ns = const f32[1,2,1] {0,0.25}\n"
        "y = rotary_embedding x c s {interleaved=1,num_heads=2,rotary_embedding_dim=2}\n"
        "return y\n" },
    { "resize_nearest",
        X1122 "s = const f32[4] {1,1,2,3}\ny = resize x _ s {mode=nearest,"
              "coordinate_transformation_mode=asymmetric,nearest_mode=floor}\nreturn y\n" },
    { "resize_half_pixel", X1122 "s = const i64[4] {1,1,4,6}\ny = resize x _ _ s\nreturn y\n" },
    { "resize_linear",
        X1122 "s = const f32[2] {2,2}\ny = resize x _ s {mode=linear,axes=[2,3],"
              "coordinate_transformation_mode=asymmetric}\nreturn y\n" },
    { "resize_sizes_of_axes",
        X1122 "s = const i64[2] {3,5}\ny = resize x _ _ s {axes=[2,3],mode=linear}\nreturn y\n" },
    { "resize_computed_scales_of_axes",
        X1122 "a = const f32[2] {1,2}\ns = add a a\ny = resize x _ s {axes=[2,3],mode=linear}\n"
              "return y\n" },
    { "resize_computed_sizes_of_axes",
        X1122 "a = const i64[2] {1,2}\ns = add a a\n"
              "y = resize x _ _ s {axes=[3,2],mode=nearest}\nreturn y\n" },
    { "quantize_types",
        "x = const f32[2,2] {1,2,-3,4}\ns = const f32[2] {0.5,0.25}\n"
        "y = quantize_linear x s {axis=0,output_dtype=3}\n"
        "z = dequantize_linear y s {axis=0}\nreturn y, z\n" },
    { "lstm_batch_first",
        "x = const f32[1,2,1] {1,2}\nw = const f32[1,4,1] {1,2,3,4}\n"
        "r = const f32[1,4,1] {1,0,1,0}\n"
        "y, h, c = lstm x w r {hidden_size=1,layout=1}\nreturn y, h, c\n" },
    { "dft_axis",
        "x = const f32[1,4,1] {1,2,3,4}\na = const i64[] {1}\ny = dft x _ a\nreturn y\n" },
    { "scan_sums",
        "s = const f32[2] {0,1}\n" /* a state and a sequence of three */
        "x = const f32[3,2] {1,2,3,4,5,6}\n"
        "e, y = scan s x {num_scan_inputs=1, body {\nt = input f32[2]\nv = input f32[2]\n"
        "a = add t v\nreturn a, a\n}}\nreturn e, y\n" },
};
const size_t hand_made_count = sizeof(hand_made_models) / sizeof(hand_made_models[0]);
