/* SPDX-License-Identifier: MIT */
/* packed.h — values in packed and unpacked form, for packed_transformer; see packed.c. */
#ifndef PRT_PASS_ATTENTION_PACKED_H
#define PRT_PASS_ATTENTION_PACKED_H

#include "pass/engine/match.h"

enum { PRT_PACKED_SEGMENTS = 64 };

typedef enum prt_packed_form {
    PRT_FORM_PLAIN,
    PRT_FORM_PACKED,
    PRT_FORM_FLAT,
    PRT_FORM_UNPACKED
} prt_packed_form;

/* What is known of a value: its form, and its type before the pass. */
typedef struct prt_packed_fact {
    prt_packed_form form;
    const prt_type *type;
} prt_packed_fact;

typedef struct prt_packer {
    prt_pass *p;
    prt_graph *graph;
    PRT_VEC(prt_packed_fact) facts; /* by value id */
    PRT_VEC(bool) heads;            /* by op id: head_pattern begins here */
    int64_t samples, length, segments[PRT_PACKED_SEGMENTS], batch, tokens; /* batch, tokens: B, S */
    uint32_t n_segments;
    prt_value *info, *like;
    bool masked; /* some value of rank 2 was unpacked */
} prt_packer;

/* ---- packed_walk.c */
prt_packed_fact prt_packed_fact_of(const prt_packer *k, const prt_value *v);
/* Fails where a region reads packed tokens. */
poprt_status prt_packed_learn(prt_packer *k, const prt_value *v, prt_packed_form f,
    const prt_type *type);
/* [B, S, ...] */
bool prt_packed_is_tokens(const prt_packer *k, const prt_type *type);
/* A value of tokens as samples: the Unpack that is there, or a new one in `b`. */
prt_value *prt_packed_unpack(prt_packer *k, prt_build *b, prt_value *v);
/* Gives an op operands of the form that it needs, and learns of its outputs. */
poprt_status prt_packed_visit(prt_packer *k, prt_op *op);

/* ---- packed_shape.c */
/*
 * What a Reshape from `x` to `y` gives when the dims of its input are those of `now` instead: dims
 * that stay, that are merged, and ones that come in between are followed from the front. False
 * where a dim that has changed would be split, or dims are not known.
 */
bool prt_packed_reshape(const prt_type *x, const prt_type *y, const prt_type *now, int64_t *out);

#endif
