/* SPDX-License-Identifier: MIT */
/* expand.h — rewrites of the pass expand_formulas, one for each operator. */
#ifndef PRT_PASS_EXPAND_EXPAND_H
#define PRT_PASS_EXPAND_EXPAND_H

#include "pass/engine/match.h"

bool prt_expand_attention(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_conv(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_plain_gemm(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_gemm(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_dft(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_stft(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_einsum(prt_pass *p, prt_build *b, prt_op *root);
/* Like prt_expand_einsum, where each label has one size: ONNX lets a size of 1 be broadcast. */
bool prt_expand_equal_einsum(prt_build *b, prt_op *root);
bool prt_expand_max_pool(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_average_pool(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_l1(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_log_sum_exp(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_lp_pool(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_hardmax(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_resize(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_rotary(prt_pass *p, prt_build *b, prt_op *root);
bool prt_expand_ms_rotary(prt_pass *p, prt_build *b, prt_op *root);

#endif
