/* SPDX-License-Identifier: MIT */
/* hash.h — the published hash functions that operators on strings use. All read any bytes. */
#ifndef PRT_OP_CONTRIB_HASH_H
#define PRT_OP_CONTRIB_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns FarmHash's Fingerprint64. */
uint64_t prt_hash_fingerprint64(const void *bytes, size_t size);

/* Returns MurmurHash64A with the seed and the treatment of the last bytes of TensorFlow's Hash64.
 */
uint64_t prt_hash_murmur64(const void *bytes, size_t size);

/* Returns SipHash-2-4 with the key (k0, k1). */
uint64_t prt_hash_sip24(const void *bytes, size_t size, uint64_t k0, uint64_t k1);

#endif
