/* SPDX-License-Identifier: MIT */
/*
 * level.inl — the kernels of all families at one instruction-set level, and their table.
 *
 * A .inl file holds static functions written once in terms of the vector of kern/vector/simd.h.
 * level_portable.c, level_avx2.c and level_avx512.c include this file and are compiled with the
 * flags of their levels. dot_vnni.c, dot_bf16.c and the AMX files include the .inl files of their
 * own families. So each kernel exists once per level, and exactly one source file of a level
 * includes a given .inl file. A .inl file includes the files that it needs; the order here does not
 * matter.
 */
#ifndef PRT_KERN_LEVEL_INL
#define PRT_KERN_LEVEL_INL

#include "kern/conv/slide.inl"
#include "kern/conv/windows.inl"
#include "kern/conv/winograd.inl"
#include "kern/gemm/gemm.inl"
#include "kern/gemm/gemv_overlap.inl"
#include "kern/gemm/low_precision.inl"
#include "kern/int8/bytes.inl"
#include "kern/int8/dot4_i8.inl"
#include "kern/kern.h"
#include "kern/move/interleave.inl"
#include "kern/move/move.inl"
#include "kern/rows/attend.inl"
#include "kern/rows/cell.inl"
#include "kern/rows/integer_logic.inl"
#include "kern/rows/rows.inl"
#include "kern/rows/stats.inl"
#include "kern/train/update.inl"
#ifndef PRT_NO_STRIDED
#include "kern/conv/winograd_strided.inl"
#define STRIDED                                                                                    \
    [PRT_WINOGRAD_4x4_3x3_STRIDE2] = { .out = 4, .in = 9, .input = run_input_strided,              \
        .weights = run_weights_strided, .output = run_output_strided },
#else
#define STRIDED
#endif
#ifndef PRT_NO_LINE
#include "kern/conv/winograd_line.inl"
#define LINE                                                                                       \
    LARGE                                                                                          \
    [PRT_WINOGRAD_LINE] = { .in = 8, .columns = 8, .input = run_input_line,                        \
        .weights = run_weights_line, .output = run_output_line },
#else
#define LINE
#endif

/* The table without the families for which some processors of a level have better kernels. */
#define LEVEL_COMMON                                                                               \
    .gemm = PRT_LEVEL(prt_gemm_run),                                                               \
    .gemm_row = run_gemm_row,                                                                      \
    .strassen_min_k = VL == 8 ? 176.0 : 64.0,                                                      \
    .gemv_overlap_rows = GEMV_OVERLAP_ROWS,                                                        \
    .low_precision = { .small_m = run_small_m, .widen = run_widen, .round = run_round,             \
        .pairs = run_round_pairs },                                                                \
    .bytes = { .pack4 = run_pack4, .row = run_row, .sum = sum_bytes,                               \
        .subtract_zeros = run_subtract_zeros, .finish = run_finish,                                \
        .requantize = run_requantize, .requantize_sums = run_requantize_sums,                      \
        .quantize = run_quantize, .blocks = run_blocks, .dequantize = run_dequantize,              \
        .add = run_add_bytes, .max = run_max_bytes, .look_up = run_look_up,                        \
        .dequantize_i32 = run_dequantize_i32 },                                                    \
    .attend = { .unscaled_softmax = run_unscaled_softmax,                                          \
        .copy_nontemporal = run_copy_nontemporal },                                                \
    .rows = { .binary = run_binary, .unary = run_unary, .act = run_act, .scale = run_scale,        \
        .taps = run_taps,                                                                          \
        .max = run_max, .softmax = run_softmax, .log_softmax = run_log_softmax,                    \
        .sum = run_sum, .squares = run_squares, .extreme = run_extreme, .add_to = run_add_to,      \
        .moments = run_moments, .centre = run_centre, .dots = run_dots, .sums = run_sums,          \
        .distances = run_distances,                                                                \
        .deviations = run_deviations, .standardise = run_standardise,                              \
        .layer_norm = run_layer_norm },                                                            \
    .integer_logic = { .compare = run_compare, .arithmetic = run_arithmetic, .logic = run_logic,   \
        .select = run_select, .cast = run_cast },                                                  \
    .cells = { .lstm = run_lstm, .gru_reset = run_gru_reset, .gru_state = run_gru_state },         \
    .windows = { .depthwise = run_depthwise, .max = run_pool_max,                                  \
        .mean = run_pool_mean },                                                                   \
    .slide = run_slide,                                                                            \
    .interleave = run_interleave,                                                                  \
    .moves = { .transpose = run_transpose, .copy = run_copy },                                     \
    .zip = run_zip,                                                                                \
    .train = { .sgd = run_sgd, .adam = run_adam, .adaptive = run_adaptive,                         \
        .combine = run_combine, .squares = run_sum_of_squares },                                   \
    .winograd = {                                                                                  \
        [PRT_WINOGRAD_4x4_3x3] = { .out = 4, .in = 6, .columns = 2, .input = run_input6,           \
            .weights = run_weights6, .output = run_output6 },                                      \
        [PRT_WINOGRAD_2x2_3x3] = { .out = 2, .in = 4, .columns = 4, .input = run_input4,           \
            .weights = run_weights4, .output = run_output4 },                                      \
        [PRT_WINOGRAD_2x2_5x5] = { .out = 2, .in = 6, .columns = 6, .input = run_input6,           \
            .output = run_output6 },                                                               \
        LINE STRIDED },

extern const prt_kern PRT_LEVEL(prt_kern_level);

const prt_kern PRT_LEVEL(prt_kern_level) = {
    .level = PRT_LEVEL_NAME,
    .dot = { .rows = 48, .i8 = PRT_LEVEL(prt_dot4_i8), .i4 = PRT_LEVEL(prt_dot_i4),
        .depthwise = PRT_LEVEL(prt_dot_depthwise) },
    LEVEL_COMMON
};

#if defined(__AVX512F__) && defined(__AVX512DQ__)
void prt_dot4_i8_vnni(const prt_dot_block *g);
size_t prt_dot_requantize_vnni(const prt_dot_block *g, const prt_requantize *q, uint8_t *y,
    size_t ldy);
void prt_dot_i4_vnni(const prt_dot_i4 *g);
void prt_dot_depthwise_vnni(const prt_depthwise_i8_block *g);
void prt_dot_depthwise3x3_vnni(const prt_depthwise_i8_block *g);
void prt_dot2_bf16_avx512(const prt_dot_block *g);
void prt_dot4_i8_amx(const prt_dot_block *g);
void prt_dot2_bf16_amx(const prt_dot_block *g);
bool prt_bf16x3_rows_amx(size_t rows, size_t k, const float *a, size_t lda, const float *scale,
    float *to, size_t ldto);
bool prt_bf16x3_pixels_amx(const prt_bf16x3_pixels *g);
void prt_bf16x3_panel_amx(prt_bf16x3_panel *p);
void prt_bf16x3_begin_amx(size_t rows, bool pieces);
void prt_bf16x3_multiply_amx(const prt_bf16x3_block *g);
void prt_bf16x3_end_amx(void);
bool prt_bf16x3_small_m_amx(const prt_bf16x3_small_m *g);
void prt_requantize_tiles_multiply_amx(const prt_requantize_tiles_block *g);

extern const prt_kern prt_kern_level_vnni, prt_kern_level_bf16, prt_kern_level_amx;

const prt_kern prt_kern_level_vnni = {
    .level = "avx512_vnni",
    .dot = { .rows = 48, .i8 = prt_dot4_i8_vnni, .requantize = prt_dot_requantize_vnni,
        .i4 = prt_dot_i4_vnni, .depthwise = prt_dot_depthwise_vnni,
        .depthwise3x3 = prt_dot_depthwise3x3_vnni },
    LEVEL_COMMON
};

const prt_kern prt_kern_level_bf16 = {
    .level = "avx512_bf16",
    .dot = { .rows = 48, .i8 = prt_dot4_i8_vnni, .requantize = prt_dot_requantize_vnni,
        .i4 = prt_dot_i4_vnni, .depthwise = prt_dot_depthwise_vnni,
        .depthwise3x3 = prt_dot_depthwise3x3_vnni,
        .bf16 = prt_dot2_bf16_avx512 },
    LEVEL_COMMON
};

#ifndef PRT_NO_AMX
const prt_kern prt_kern_level_amx = {
    .level = "avx512_amx",
    .dot = { .rows = 64, .i8 = prt_dot4_i8_amx, .requantize = prt_dot_requantize_vnni,
        .i4 = prt_dot_i4_vnni, .depthwise = prt_dot_depthwise_vnni,
        .depthwise3x3 = prt_dot_depthwise3x3_vnni, .bf16 = prt_dot2_bf16_amx },
    .bf16x3 = { .rows = prt_bf16x3_rows_amx, .pixels = prt_bf16x3_pixels_amx,
        .panel = prt_bf16x3_panel_amx, .begin = prt_bf16x3_begin_amx,
        .multiply = prt_bf16x3_multiply_amx, .end = prt_bf16x3_end_amx,
            .small_m = prt_bf16x3_small_m_amx },
    .tiles = prt_requantize_tiles_multiply_amx,
    LEVEL_COMMON
};
#endif
#endif

#endif
