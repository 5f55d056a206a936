/* SPDX-License-Identifier: MIT */
/* lookup.c — hash table with open addressing and linear probing, at most half full. */
#include "op/ml/lookup.h"

#include "op/share/order.h"

static uint64_t hash_of(int32_t dtype, const void *data, size_t i)
{
    if (dtype == PRT_DTYPE_string) {
        const poprt_string s = ((const poprt_string *)data)[i];
        return prt_hash(s.data != NULL ? s.data : "", s.size, 1);
    }
    const uint64_t key = prt_order_key(dtype, data, i);
    return prt_hash(&key, sizeof(key), 1);
}

static bool same(int32_t dtype, const void *a, size_t i, const void *b, size_t j)
{
    if (dtype == PRT_DTYPE_string) {
        const poprt_string s = ((const poprt_string *)a)[i], t = ((const poprt_string *)b)[j];
        return s.size == t.size && (s.size == 0 || memcmp(s.data, t.data, s.size) == 0);
    }
    return prt_order_key(dtype, a, i) == prt_order_key(dtype, b, j);
}

/* Returns the slot of an element, or the free slot where it would be inserted. */
static uint32_t *slot_of(const prt_lookup *l, const void *data, size_t i)
{
    for (size_t at = hash_of(l->dtype, data, i) & l->mask;; at = (at + 1) & l->mask)
        if (l->slots[at] == 0 || same(l->dtype, l->keys, l->slots[at] - 1, data, i))
            return &l->slots[at];
}

poprt_status prt_lookup_init(prt_eval *c, prt_lookup *l, int32_t dtype, const void *keys,
    uint32_t count, bool first)
{
    size_t capacity = 16;
    while (capacity < (size_t)count * 2)
        capacity *= 2;
    *l = (prt_lookup){ .dtype = dtype, .keys = keys, .mask = capacity - 1 };
    l->slots = prt_eval_scratch(c, capacity, sizeof(*l->slots));
    if (l->slots == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *slot = slot_of(l, keys, i);
        if (*slot == 0 || !first)
            *slot = i + 1;
    }
    return POPRT_OK;
}

int64_t prt_lookup_find(const prt_lookup *l, const void *data, size_t i)
{
    return (int64_t)*slot_of(l, data, i) - 1;
}

poprt_string *prt_lookup_strings(prt_eval *c, prt_strs list)
{
    poprt_string *s = prt_eval_scratch(c, (size_t)list.count + 1, sizeof(*s));
    for (uint32_t i = 0; s != NULL && i < list.count; i++)
        s[i] = (poprt_string){ list.data[i].data, list.data[i].size };
    return s;
}
