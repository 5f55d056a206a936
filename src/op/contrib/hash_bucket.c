/* SPDX-License-Identifier: MIT */
/*
 * hash_bucket.c — StringToHashBucket (MurmurHash64A), StringToHashBucketFast (Fingerprint64) and
 * StringToHashBucketStrong (SipHash-2-4): the hash of each string, modulo the number of buckets.
 */
#include "op/contrib/hash.h"
#include "op/share/broadcast.h"
#include "op/share/strings.h"

typedef enum hash { MURMUR, FINGERPRINT, SIP } hash;

/* Writes the buckets of all strings. `key` has the two words of SIP. */
static poprt_status write_buckets(prt_eval *c, hash how, int64_t buckets, const int64_t *key)
{
    const poprt_string *x = c->in[0]->data;
    if (buckets <= 0)
        return prt_eval_fail(c, POPRT_E_ARG, "num_buckets is %lld; at least 1 is needed",
            (long long)buckets);
    for (size_t i = 0; prt_eval_wants(c, 0) && i < prt_tensor_count(c->in[0]); i++) {
        const char *text = x[i].data != NULL ? x[i].data : "";
        PRT_TRY(c->host->check(c));
        const uint64_t h = how == MURMUR ? prt_hash_murmur64(text, x[i].size)
            : how == FINGERPRINT
            ? prt_hash_fingerprint64(text, x[i].size)
            : prt_hash_sip24(text, x[i].size, (uint64_t)key[0], (uint64_t)key[1]);
        ((int64_t *)c->out[0]->data)[i] = (int64_t)(h % (uint64_t)buckets);
    }
    return POPRT_OK;
}

/* ---- with the number of buckets as an input ---- */

static poprt_status bucket_infer(prt_infer *c)
{
    PRT_TRY(prt_infer_single(c, 1));
    return prt_infer_unary(c);
}

static poprt_status murmur_eval(prt_eval *c)
{
    int64_t buckets;
    PRT_TRY(prt_eval_integer(c, 1, &buckets));
    return write_buckets(c, MURMUR, buckets, NULL);
}

static poprt_status fast_eval(prt_eval *c)
{
    int64_t buckets;
    PRT_TRY(prt_eval_integer(c, 1, &buckets));
    return write_buckets(c, FINGERPRINT, buckets, NULL);
}

/* ---- with attributes ---- */

static poprt_status strong_infer(prt_infer *c)
{
    const prt_text_string_to_hash_bucket_strong_attrs *a = c->attrs;
    if (a->num_buckets <= 0)
        return prt_infer_fail(c, POPRT_E_ARG, "num_buckets is %lld; at least 1 is needed",
            (long long)a->num_buckets);
    if (a->key.count != 2)
        return prt_infer_fail(c, POPRT_E_ARG, "key has %u numbers; 2 are needed", a->key.count);
    return prt_infer_unary(c);
}

static poprt_status strong_eval(prt_eval *c)
{
    const prt_text_string_to_hash_bucket_strong_attrs *a = c->attrs;
    return write_buckets(c, SIP, a->num_buckets, a->key.data);
}

const prt_op_hooks prt_op_contrib_string_to_hash_bucket = { .infer = bucket_infer,
    .eval = murmur_eval };
const prt_op_hooks prt_op_contrib_string_to_hash_bucket_fast = { .infer = bucket_infer,
    .eval = fast_eval };
const prt_op_hooks prt_op_text_string_to_hash_bucket_strong = { .infer = strong_infer,
    .eval = strong_eval };
