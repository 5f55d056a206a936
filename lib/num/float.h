/* SPDX-License-Identifier: MIT */
/*
 * float.h — conversions of the small float formats from and to float, rounding to nearest even.
 * Formats: IEEE binary16; bfloat16; the float8 family of ONNX (E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ,
 * E8M0), float6 E2M3 and E3M2, and float4 E2M1. PopRT's F143 and F152 are the FNUZ pair (bias 8 and
 * 16; 0x80 is NaN).
 */
#ifndef PRT_NUM_FLOAT_H
#define PRT_NUM_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

float prt_f16_to_f32(uint16_t bits);
uint16_t prt_f32_to_f16(float value);
uint16_t prt_f64_to_f16(double value); /* rounds once, not twice */
float prt_bf16_to_f32(uint16_t bits);
uint16_t prt_f32_to_bf16(float value);
uint16_t prt_f64_to_bf16(double value);

float prt_f8e4m3fn_to_f32(uint8_t bits);
float prt_f8e4m3fnuz_to_f32(uint8_t bits);
float prt_f8e5m2_to_f32(uint8_t bits);
float prt_f8e5m2fnuz_to_f32(uint8_t bits);
float prt_f8e8m0_to_f32(uint8_t bits);
float prt_f4e2m1_to_f32(uint8_t bits); /* low four bits */
float prt_f6e2m3_to_f32(uint8_t bits); /* low six bits */
float prt_f6e3m2_to_f32(uint8_t bits);

/* With `saturate`, values beyond the range become the largest finite value, as in ONNX Cast.
 * Infinity does so too, except in the FNUZ pair and E8M0, where it gives NaN. Without `saturate`
 * they become infinity, or NaN in a format without infinity. Conversions from double round once. */
uint8_t prt_f64_to_f8e4m3fn(double value, bool saturate);
uint8_t prt_f64_to_f8e4m3fnuz(double value, bool saturate);
uint8_t prt_f64_to_f8e5m2(double value, bool saturate);
uint8_t prt_f64_to_f8e5m2fnuz(double value, bool saturate);
uint8_t prt_f64_to_f8e8m0(double value, bool saturate); /* nearest power of two, ties up; no sign */
/* These formats have neither infinity nor NaN: they always saturate, and NaN gives the largest
 * value. */
uint8_t prt_f64_to_f4e2m1(double value);
uint8_t prt_f64_to_f6e2m3(double value);
uint8_t prt_f64_to_f6e3m2(double value);

#endif
