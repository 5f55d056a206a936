/* SPDX-License-Identifier: MIT */
/* immintrin.h — AVX-512 with VNNI and bfloat16, and the tiles of AMX, emulated with AVX2: the
 * subset that lib/kern uses. With the build option `emulate`, processors without AVX-512 and AMX
 * test these kernels. Slow, and as strict as the processor: misaligned accesses that must be
 * aligned trap, masked elements are not touched, products of bfloat16 round as Intel describes
 * them. The folder of this file comes first in the include path, so kernels that include
 * <immintrin.h> get it. While the compiler's own header is read, this file hides the processor's
 * features from it. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2. */
#ifndef PRT_EMULATE_IMMINTRIN_H
#define PRT_EMULATE_IMMINTRIN_H

#pragma push_macro("__AVX512F__")
#pragma push_macro("__AVX512DQ__")
#pragma push_macro("__AVX512VNNI__")
#undef __AVX512F__
#undef __AVX512DQ__
#undef __AVX512VNNI__
#include_next <immintrin.h>
#pragma pop_macro("__AVX512F__")
#pragma pop_macro("__AVX512DQ__")
#pragma pop_macro("__AVX512VNNI__")

#include "products.h"
#include "registers.h"

#define _mm256_mask_storeu_epi8 emu256_mask_storeu_epi8
#define _mm256_maskz_loadu_epi8 emu256_maskz_loadu_epi8
#define _mm512_abs_ps emu_abs_ps
#define _mm512_add_epi32 emu_add_epi32
#define _mm512_add_ps emu_add_ps
#define _mm512_adds_epi16 emu_adds_epi16
#define _mm512_and_ps emu_and_ps
#define _mm512_and_si512 emu_and_si512
#define _mm512_andnot_ps emu_andnot_ps
#define _mm512_castps_si512 emu_castps_si512
#define _mm512_castsi256_si512 emu_castsi256_si512
#define _mm512_castsi512_ps emu_castsi512_ps
#define _mm512_castsi512_si128 emu_castsi512_si128
#define _mm512_castsi512_si256 emu_castsi512_si256
#define _mm512_cmp_ps_mask emu_cmp_ps_mask
#define _mm512_cvtepi32_pd emu_cvtepi32_pd
#define _mm512_cvtepi32_ps emu_cvtepi32_ps
#define _mm512_cvtepi8_epi32 emu_cvtepi8_epi32
#define _mm512_cvtepu8_epi32 emu_cvtepu8_epi32
#define _mm512_cvtne2ps_pbh emu_cvtne2ps_pbh
#define _mm512_cvtpd_epi32 emu_cvtpd_epi32
#define _mm512_cvtph_ps emu_cvtph_ps
#define _mm512_cvtps_epi32 emu_cvtps_epi32
#define _mm512_cvtps_ph emu_cvtps_ph
#define _mm512_div_ps emu_div_ps
#define _mm512_dpbf16_ps emu_dpbf16_ps
#define _mm512_dpbusd_epi32 emu_dpbusd_epi32
#define _mm512_extracti32x4_epi32 emu_extracti32x4_epi32
#define _mm512_extracti64x4_epi64 emu_extracti64x4_epi64
#define _mm512_fmadd_ps emu_fmadd_ps
#define _mm512_fnmadd_ps emu_fnmadd_ps
#define _mm512_getexp_ps emu_getexp_ps
#define _mm512_getmant_ps emu_getmant_ps
#define _mm512_inserti64x4 emu_inserti64x4
#define _mm512_load_ps emu_load_ps
#define _mm512_loadu_pd emu_loadu_pd
#define _mm512_loadu_ps emu_loadu_ps
#define _mm512_loadu_si512 emu_loadu_si512
#define _mm512_madd_epi16 emu_madd_epi16
#define _mm512_mask_blend_epi16 emu_mask_blend_epi16
#define _mm512_mask_blend_ps emu_mask_blend_ps
#define _mm512_mask_loadu_ps emu_mask_loadu_ps
#define _mm512_mask_storeu_epi32 emu_mask_storeu_epi32
#define _mm512_mask_storeu_epi8 emu_mask_storeu_epi8
#define _mm512_mask_storeu_ps emu_mask_storeu_ps
#define _mm512_maskz_loadu_epi32 emu_maskz_loadu_epi32
#define _mm512_maskz_loadu_epi8 emu_maskz_loadu_epi8
#define _mm512_maskz_loadu_ps emu_maskz_loadu_ps
#define _mm512_max_ps emu_max_ps
#define _mm512_min_ps emu_min_ps
#define _mm512_movepi16_mask emu_movepi16_mask
#define _mm512_mul_pd emu_mul_pd
#define _mm512_mul_ps emu_mul_ps
#define _mm512_or_ps emu_or_ps
#define _mm512_or_si512 emu_or_si512
#define _mm512_packs_epi16 emu_packs_epi16
#define _mm512_packs_epi32 emu_packs_epi32
#define _mm512_packus_epi16 emu_packus_epi16
#define _mm512_permutex2var_epi16 emu_permutex2var_epi16
#define _mm512_permutex2var_epi32 emu_permutex2var_epi32
#define _mm512_permutex2var_ps emu_permutex2var_ps
#define _mm512_permutexvar_epi16 emu_permutexvar_epi16
#define _mm512_permutexvar_epi32 emu_permutexvar_epi32
#define _mm512_permutexvar_ps emu_permutexvar_ps
#define _mm512_range_ps emu_range_ps
#define _mm512_rcp14_ps emu_rcp14_ps
#define _mm512_reduce_add_ps emu_reduce_add_ps
#define _mm512_reduce_max_ps emu_reduce_max_ps
#define _mm512_reduce_ps emu_reduce_ps
#define _mm512_roundscale_ps emu_roundscale_ps
#define _mm512_scalef_ps emu_scalef_ps
#define _mm512_set1_epi16 emu_set1_epi16
#define _mm512_set1_epi32 emu_set1_epi32
#define _mm512_set1_epi8 emu_set1_epi8
#define _mm512_set1_ps emu_set1_ps
#define _mm512_setr_epi32 emu_setr_epi32
#define _mm512_setr_ps emu_setr_ps
#define _mm512_setzero_ps emu_setzero_ps
#define _mm512_setzero_si512 emu_setzero_si512
#define _mm512_slli_epi16 emu_slli_epi16
#define _mm512_slli_epi32 emu_slli_epi32
#define _mm512_sqrt_ps emu_sqrt_ps
#define _mm512_srai_epi16 emu_srai_epi16
#define _mm512_srli_epi16 emu_srli_epi16
#define _mm512_srli_epi32 emu_srli_epi32
#define _mm512_srlv_epi16 emu_srlv_epi16
#define _mm512_store_ps emu_store_ps
#define _mm512_store_si512 emu_store_si512
#define _mm512_storeu_ps emu_storeu_ps
#define _mm512_storeu_si512 emu_storeu_si512
#define _mm512_stream_ps emu_store_ps
#define _mm512_sub_ps emu_sub_ps
#define _mm512_test_epi16_mask emu_test_epi16_mask
#define _mm512_unpackhi_epi16 emu_unpackhi_epi16
#define _mm512_unpackhi_epi8 emu_unpackhi_epi8
#define _mm512_unpacklo_epi16 emu_unpacklo_epi16
#define _mm512_unpacklo_epi8 emu_unpacklo_epi8
#define _mm512_xor_ps emu_xor_ps
#define _mm512_xor_si512 emu_xor_si512
#define _mm_mask_storeu_epi8 emu128_mask_storeu_epi8
#define _tile_dpbf16ps emu_tile_dpbf16ps
#define _tile_dpbusd emu_tile_dpbusd
#define _tile_loadconfig emu_tile_loadconfig
#define _tile_loadd emu_tile_loadd
#define _tile_release emu_tile_release
#define _tile_stored emu_tile_stored
#define _tile_zero emu_tile_zero

#endif
