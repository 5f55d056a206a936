/* SPDX-License-Identifier: MIT */
/* packed.h — forms of values (packed, flat, unpacked) and state of packed_transformer; see
 * packed.c. */
#ifndef PRT_PASS_ATTENTION_PACKED_H
#define PRT_PASS_ATTENTION_PACKED_H

#include "pass/engine/match.h"

enum { PRT_PACKED_SEGMENTS = 64 };

typedef enum prt_packed_layout {
    PRT_LAYOUT_UNCHANGED,
    PRT_LAYOUT_PACKED,
    PRT_LAYOUT_FLAT,
    PRT_LAYOUT_UNPACKED
} prt_packed_layout;

/* Form of a value, and its type before the pass. */
typedef struct prt_packed_fact {
    prt_packed_layout layout;
    const prt_type *type;
} prt_packed_fact;

typedef struct prt_packer {
    prt_pass *p;
    prt_graph *graph;
    PRT_VEC(prt_packed_fact) facts; /* by value id */
    PRT_VEC(bool) heads;            /* by op id: a match of head_pattern begins at this op */
    /* batch and tokens: dims B and S of the packed inputs */
    int64_t samples, length, segments[PRT_PACKED_SEGMENTS], batch, tokens;
    uint32_t n_segments;
    prt_value *info, *like;
    bool masked; /* a value of rank 2 was unpacked */
} prt_packer;

/* ---- packed_walk.c */
prt_packed_fact prt_packed_fact_of(const prt_packer *k, const prt_value *v);
/* Records the form of a value and its type before the pass. Fails with POPRT_E_UNSUPPORTED where a
 * region reads packed tokens. */
poprt_status prt_packed_record(prt_packer *k, const prt_value *v, prt_packed_layout f,
    const prt_type *type);
/* Returns whether the type is [B, S, ...]. */
bool prt_packed_is_tokens(const prt_packer *k, const prt_type *type);
/* Returns the tokens `v` as samples: the output of an existing Unpack, or of a new one built at
 * `b`. */
prt_value *prt_packed_unpack(prt_packer *k, prt_build *b, prt_value *v);
/* Gives an op operands of the form that it needs, and records the forms of its outputs. */
poprt_status prt_packed_visit(prt_packer *k, prt_op *op);

/* ---- packed_shape.c */
/*
 * Computes the output dims of a Reshape from `x` to `y` whose input has the dims of `now`. It
 * matches unchanged, merged and inserted dims from the front. Returns false if a changed dim would
 * be split or a dim is unknown.
 */
bool prt_packed_reshape(const prt_type *x, const prt_type *y, const prt_type *now, int64_t *out);

#endif
