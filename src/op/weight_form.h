/* SPDX-License-Identifier: MIT */
/*
 * weight_form.h — how a constant holds a weight of the model that passes rearranged. The steps say,
 * in their order, what passes did to the weight; every step can be undone without a change of a
 * bit. A constant may hold several weights, and more elements than theirs.
 */
#ifndef PRT_OP_WEIGHT_FORM_H
#define PRT_OP_WEIGHT_FORM_H

#include "base/mem.h"
#include "base/str.h"
#include "tensor/type.h"

enum { PRT_WEIGHT_STEPS = 8, PRT_WEIGHT_STEP_KINDS = 5 };

typedef enum prt_weight_step_kind {
    PRT_WEIGHT_transpose, /* of a tensor of `dims`: axis i of the result is axis more[i] */
    PRT_WEIGHT_part,      /* written into a tensor of `dims` along axis more[0], from index more[1]
                           * on, over more[2] indices; other axes are equal */
    PRT_WEIGHT_panels,    /* float32: dims[0] matrices of dims[1] rows, each of dims[2] columns and
                           * dims[3] more, in panels (kern/gemm/gemm.h): first those of the
                           * dims[2] columns */
    PRT_WEIGHT_convert,   /* from element type dims[0] to dims[1], which has all its numbers */
    PRT_WEIGHT_integers   /* integers of more[0] bits, signed if more[1] is 1, that are packed
                           * without gaps, element (k, j) of dims[0] rows and dims[1] columns at
                           * k * dims[2] + j * dims[3]; in panels of int8 or int4
                           * (kern/gemm/low_precision.h) of numbers from -half to half - 1 */
} prt_weight_step_kind;

typedef struct prt_weight_step {
    uint32_t kind, rank; /* rank: of `dims` */
    int64_t dims[PRT_MAX_RANK], more[PRT_MAX_RANK];
} prt_weight_step;

typedef struct prt_weight_form {
    prt_str name;         /* of the weight */
    const prt_type *type; /* of the weight: a numeric tensor whose dims are numbers */
    uint32_t n_steps;
    const prt_weight_step *steps;
} prt_weight_form;

/* The word of a kind, and its kind; PRT_WEIGHT_STEP_KINDS for another word. */
const char *prt_weight_step_name(uint32_t kind);
uint32_t prt_weight_step_of(prt_str name);

/* Returns whether the steps can lead from the weight to a constant of this type. */
bool prt_weight_form_check(const prt_weight_form *form, const prt_type *constant);

/* Writes the weight from the bytes of the constant, at any address. The form must have been
 * checked. Fails without memory. */
poprt_status prt_weight_form_restore(const prt_weight_form *form, const void *constant,
    const prt_allocator *allocator, void *to);

#endif
