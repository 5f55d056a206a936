/* SPDX-License-Identifier: MIT */
/* half.h — conversion between float16 and float32 without branches, so that compilers vectorise
 * loops over it. */
#ifndef PRT_NUM_HALF_H
#define PRT_NUM_HALF_H

#include <stdint.h>
#include <string.h>

static inline float prt_half_to_f32(uint16_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    const float small = (float)(int32_t)rest * 0x1p-24f; /* subnormals */
    const uint32_t normal = (rest << 13) + (112u << 23); /* changes the bias of the exponent */
    const uint32_t quiet = rest > 0x7c00u ? 0x400000u : 0;
    const uint32_t special = 0x7f800000u | quiet | (rest & 0x3ffu) << 13;
    uint32_t bits;
    float value;
    memcpy(&bits, &small, sizeof(bits));
    bits = (rest < 0x400u ? bits : rest < 0x7c00u ? normal : special) | sign;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Rounds to nearest even. Values beyond the range become infinity; NaN keeps the high bits of its
 * payload. */
static inline uint16_t prt_f32_to_half(float value)
{
    uint32_t bits, shifted;
    memcpy(&bits, &value, sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    const uint32_t normal = ((rest + 0xfffu + (rest >> 13 & 1u)) >> 13) - (112u << 10);
    /* The last bit of a float in [0.5, 1) has the value 2^-24, as that of a subnormal half has. */
    float size;
    memcpy(&size, &rest, sizeof(size));
    size += 0.5f;
    memcpy(&shifted, &size, sizeof(shifted));
    const uint32_t small = shifted - 0x3f000000u;
    const uint32_t nan = 0x7e00u | (rest >> 13 & 0x3ffu);
    const uint32_t large = rest > 0x7f800000u ? nan : 0x7c00u;
    const uint32_t half = rest < 0x38800000u ? small : rest < 0x477ff000u ? normal : large;
    return (uint16_t)(half | sign);
}

#endif
