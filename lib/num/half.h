/* SPDX-License-Identifier: MIT */
/* half.h — float16 from and to float32, without branches: loops over these become vectors. */
#ifndef PRT_NUM_HALF_H
#define PRT_NUM_HALF_H

#include <stdint.h>
#include <string.h>

static inline float prt_half_to_f32(uint16_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    const float small = (float)(int32_t)rest * 0x1p-24f; /* below the normal numbers */
    const uint32_t normal = (rest << 13) + (112u << 23); /* exponents count from another number */
    const uint32_t quiet = rest > 0x7c00u ? 0x400000u : 0;
    const uint32_t special = 0x7f800000u | quiet | (rest & 0x3ffu) << 13;
    uint32_t bits;
    float value;
    memcpy(&bits, &small, sizeof(bits));
    bits = (rest < 0x400u ? bits : rest < 0x7c00u ? normal : special) | sign;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* To nearest even; what is too large becomes infinity, NaN keeps what fits of its payload. */
static inline uint16_t prt_f32_to_half(float value)
{
    uint32_t bits, shifted;
    memcpy(&bits, &value, sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    const uint32_t normal = ((rest + 0xfffu + (rest >> 13 & 1u)) >> 13) - (112u << 10);
    /* The last bit of what is in [0.5, 1) counts 2^-24, as halves below the normal ones do. */
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
