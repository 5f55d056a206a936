/* SPDX-License-Identifier: MIT */
/*
 * retype.h — an element type throughout a model becomes another one: what float_to_half,
 * float_to_mixed, float_to_bf16, int64_to_int32 and double_to_float share.
 *
 * A value of type `from` is then there in one or two forms: as it was ("full") and in type `to`.
 * One of them is what its operator gives; the other is a Cast behind it, made when somebody reads
 * it, so no pair of Casts undoes itself. Constants have no Casts: they are converted. A slot of an
 * operator whose row does not allow `to` reads or gives the full form. Values of sequence and
 * optional types cannot be cast: they are converted where all who touch them are.
 */
#ifndef PRT_PASS_PRECISION_RETYPE_H
#define PRT_PASS_PRECISION_RETYPE_H

#include "pass/engine/pass.h"

typedef enum prt_retype_mode {
    PRT_RETYPE_CONVERT, /* works on `to` wherever its row allows that */
    PRT_RETYPE_KEEP,    /* stays as it is, regions included */
    PRT_RETYPE_FOLLOW,  /* as its operands: keeps where one is full, converts where they are `to` */
    PRT_RETYPE_EDGES    /* operands and results stay; what is in its regions goes its own way */
} prt_retype_mode;

typedef struct prt_retype {
    int32_t from, to;
    bool inputs, outputs; /* those of the main graph become `to` */
    bool attrs;           /* attributes that say `from` say `to`: Cast, ConstantOfShape, … */
    bool bits;            /* values that a BitCast reads or gives stay, also inputs and outputs */
    bool exact;           /* numbers made of sizes for what reads the full form stay full */
    bool narrow;          /* constants are stored as `to` only; the full form is a Cast of that */
    bool rounds;          /* what is computed as `to` is given in full, and read from there */
    bool eager;           /* operands that no result has the type of are read as `to` as well */
    bool follow;          /* what follows constants alone converts */
    bool clip;            /* constants beyond [low, high] become those */
    bool infinities;      /* are among them */
    bool quiet;           /* clipping is within the rounding of `to` and not worth a warning */
    double low, high;
    double least; /* single constants nearer to 0 than this become this; 0: none do */
    prt_retype_mode (*mode)(const struct prt_retype *how, const prt_op *op);
    /* With `exact`: the op takes operands in some combinations of types only, so that none of them
     * may be full when others are `to`; NULL: no op does. */
    bool (*picky)(const prt_op *op);
    const void *user;
    /* Called in the end for each value of the main graph that is there in type `to`, but for
     * constants; may be NULL. */
    void (*became)(void *watch, const prt_value *v);
    void *watch;
} prt_retype;

/* On the main graph and all regions. */
poprt_status prt_retype_run(prt_pass *p, const prt_retype *how, bool *changed);

/* A constant that was converted takes the name of the one it was made from, when nobody reads that
 * one any more. */
poprt_status prt_retype_take_name(prt_value *to, prt_value *from);

#endif
