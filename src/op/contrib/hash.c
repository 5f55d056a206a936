/* SPDX-License-Identifier: MIT */
/* hash.c — FarmHash's Fingerprint64, MurmurHash64A and SipHash-2-4. */
#include "op/contrib/hash.h"

#include <string.h>

/* Reads `size` bytes, at most 8, as a little-endian number. */
static uint64_t load(const unsigned char *p, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, p, size);
    return value;
}

static uint64_t rotate_right(uint64_t x, unsigned by)
{
    return x >> by | x << (64 - by);
}

static uint64_t shift_mix(uint64_t x)
{
    return x ^ x >> 47;
}

/* ---- Fingerprint64 ---- */

/* The constants of FarmHash and CityHash. */
static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

/* Mixes two words to one. */
static uint64_t mix(uint64_t u, uint64_t v, uint64_t by)
{
    const uint64_t a = shift_mix((u ^ v) * by);
    return shift_mix((v ^ a) * by) * by;
}

static uint64_t hash_0_to_16(const unsigned char *p, size_t n)
{
    const uint64_t by = k2 + n * 2;
    if (n >= 8) {
        const uint64_t a = load(p, 8) + k2, b = load(p + n - 8, 8);
        return mix(rotate_right(b, 37) * by + a, (rotate_right(a, 25) + b) * by, by);
    }
    if (n >= 4)
        return mix(n + (load(p, 4) << 3), load(p + n - 4, 4), by);
    if (n == 0)
        return k2;
    const uint64_t y = p[0] + ((uint64_t)p[n >> 1] << 8), z = n + ((uint64_t)p[n - 1] << 2);
    return shift_mix(y * k2 ^ z * k0) * k2;
}

static uint64_t hash_17_to_32(const unsigned char *p, size_t n)
{
    const uint64_t by = k2 + n * 2;
    const uint64_t a = load(p, 8) * k1, b = load(p + 8, 8);
    const uint64_t c = load(p + n - 8, 8) * by, d = load(p + n - 16, 8) * k2;
    return mix(rotate_right(a + b, 43) + rotate_right(c, 30) + d, a + rotate_right(b + k2, 18) + c,
        by);
}

static uint64_t hash_33_to_64(const unsigned char *p, size_t n)
{
    const uint64_t by = k2 + n * 2;
    const uint64_t a = load(p, 8) * k2, b = load(p + 8, 8);
    const uint64_t c = load(p + n - 8, 8) * by, d = load(p + n - 16, 8) * k2;
    const uint64_t y = rotate_right(a + b, 43) + rotate_right(c, 30) + d;
    const uint64_t z = mix(y, a + rotate_right(b + k2, 18) + c, by);
    const uint64_t e = load(p + 16, 8) * by, f = load(p + 24, 8);
    const uint64_t g = (y + load(p + n - 32, 8)) * by, h = (z + load(p + n - 24, 8)) * by;
    return mix(rotate_right(e + f, 43) + rotate_right(g, 30) + h, e + rotate_right(f + a, 18) + g,
        by);
}

typedef struct pair {
    uint64_t first, second;
} pair;

/* The state of texts above 64 bytes. */
typedef struct farm {
    uint64_t x, y, z;
    pair v, w;
} farm;

/* Hashes 32 bytes with two seeds, quickly. */
static pair weak_hash_32(const unsigned char *p, uint64_t a, uint64_t b)
{
    a += load(p, 8);
    b = rotate_right(b + a + load(p + 24, 8), 21);
    const uint64_t sum = a + load(p + 8, 8) + load(p + 16, 8);
    return (pair){ sum + load(p + 24, 8), b + rotate_right(sum, 44) + a };
}

/* Adds a block of 64 bytes. The last block has another multiplier and factor. */
static void add_block(farm *s, const unsigned char *p, uint64_t by, uint64_t factor)
{
    s->x = rotate_right(s->x + s->y + s->v.first + load(p + 8, 8), 37) * by;
    s->y = rotate_right(s->y + s->v.second + load(p + 48, 8), 42) * by;
    s->x ^= s->w.second * factor;
    s->y += s->v.first * factor + load(p + 40, 8);
    s->z = rotate_right(s->z + s->w.first, 33) * by;
    s->v = weak_hash_32(p, s->v.second * by, s->x + s->w.first);
    s->w = weak_hash_32(p + 32, s->z + s->w.second, s->y + load(p + 16, 8));
    const uint64_t swap = s->z;
    s->z = s->x;
    s->x = swap;
}

uint64_t prt_hash_fingerprint64(const void *bytes, size_t size)
{
    enum { SEED = 81, BLOCK = 64 };
    const unsigned char *p = bytes;
    if (size <= 16)
        return hash_0_to_16(p, size);
    if (size <= 32)
        return hash_17_to_32(p, size);
    if (size <= BLOCK)
        return hash_33_to_64(p, size);
    farm s = { .y = SEED * k1 + 113 };
    s.x = SEED * k2 + load(p, 8);
    s.z = shift_mix(s.y * k2 + 113) * k2;
    /* the last block ends with the text and may overlap the one before */
    const unsigned char *last = p + size - BLOCK;
    for (const size_t blocks = (size - 1) / BLOCK;
         p < (const unsigned char *)bytes + blocks * BLOCK; p += BLOCK)
        add_block(&s, p, k1, 1);
    const uint64_t by = k1 + ((s.z & 0xff) << 1);
    s.w.first += (size - 1) % BLOCK;
    s.v.first += s.w.first;
    s.w.first += s.v.first;
    add_block(&s, last, by, 9);
    return mix(mix(s.v.first, s.w.first, by) + shift_mix(s.y) * k0 + s.z,
        mix(s.v.second, s.w.second, by) + s.x, by);
}

/* ---- MurmurHash64A ---- */

uint64_t prt_hash_murmur64(const void *bytes, size_t size)
{
    static const uint64_t by = 0xc6a4a7935bd1e995, seed = 0xdecafcaffe;
    const unsigned char *p = bytes;
    uint64_t h = seed ^ size * by;
    for (size_t left = size; left >= 8; left -= 8, p += 8)
        h = (h ^ shift_mix(load(p, 8) * by) * by) * by;
    if (size % 8 != 0)
        h = (h ^ load(p, size % 8)) * by;
    return shift_mix(shift_mix(h) * by);
}

/* ---- SipHash-2-4 ---- */

static void sip_rounds(uint64_t v[4], unsigned rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate_right(v[1], 64 - 13) ^ v[0];
        v[3] = rotate_right(v[3], 64 - 16) ^ v[2];
        v[0] = rotate_right(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate_right(v[1], 64 - 17) ^ v[2];
        v[3] = rotate_right(v[3], 64 - 21) ^ v[0];
        v[2] = rotate_right(v[2], 32);
    }
}

static void sip_add(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

uint64_t prt_hash_sip24(const void *bytes, size_t size, uint64_t key0, uint64_t key1)
{
    const unsigned char *p = bytes;
    uint64_t v[4] = { key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d,
        key0 ^ 0x6c7967656e657261, key1 ^ 0x7465646279746573 };
    for (size_t left = size; left >= 8; left -= 8, p += 8)
        sip_add(v, load(p, 8));
    sip_add(v, load(p, size % 8) | (uint64_t)size << 56);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
