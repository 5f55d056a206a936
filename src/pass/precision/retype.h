/* SPDX-License-Identifier: MIT */
/*
 * retype.h — replaces an element type throughout a model; shared by float_to_half, float_to_mixed,
 * float_to_bf16, int64_to_int32, double_to_float and widen_half.
 *
 * A value of type `from` then has one or two copies: the full copy, in its original type, and the
 * copy in type `to`. Its operator gives one of them; the other is a Cast, made when it is first
 * read, so that no two Casts cancel out. Constants are converted instead of cast. Slots that do not
 * allow `to` use the full copy. Sequences and optionals cannot be cast: they are converted only if
 * all operators that touch them are.
 */
#ifndef PRT_PASS_PRECISION_RETYPE_H
#define PRT_PASS_PRECISION_RETYPE_H

#include "pass/engine/pass.h"

typedef enum prt_retype_mode {
    PRT_RETYPE_CONVERT, /* uses `to` wherever the operator's row allows it */
    PRT_RETYPE_KEEP,    /* unchanged, regions included */
    /* as its operands: kept if one of them is full, converted if they are `to` */
    PRT_RETYPE_FOLLOW,
    PRT_RETYPE_EDGES /* operands and results stay; ops in its regions have modes of their own */
} prt_retype_mode;

typedef struct prt_retype {
    int32_t from, to;
    bool inputs, outputs; /* inputs and outputs of the main graph become `to` */
    bool attrs;           /* attributes that name `from` name `to`: Cast, ConstantOfShape, ... */
    bool bits;            /* values that a BitCast reads or gives stay, also inputs and outputs */
    bool exact;           /* numbers computed from sizes stay full for readers of the full copy */
    bool constants_as_to; /* constants are stored as `to` only; their full copy is a Cast */
    bool rounds;          /* results computed as `to` are cast to `from` and read from there */
    bool eager;           /* operands whose type no result has are read as `to` as well */
    bool follow;          /* ops with constant operands only are converted by FOLLOW */
    bool clip;            /* constants are clipped to [low, high] */
    bool infinities;      /* clipping includes infinities */
    bool quiet;           /* clipping is within the rounding of `to`, so it gives no warning */
    double low, high;
    double least; /* single constants nearer to 0 are raised to this value; 0: off */
    prt_retype_mode (*mode)(const struct prt_retype *how, const prt_op *op);
    /* With `exact`: returns whether the op supports only some combinations of types, so that it
     * must not mix full operands with `to`. NULL: no op does. */
    bool (*restricted)(const prt_op *op);
    const void *user;
    /* Called at the end for each value of the main graph that has a copy in type `to`, except for
     * constants; may be NULL. */
    void (*converted)(void *watch, const prt_value *v);
    void *watch;
} prt_retype;

/* Converts the main graph and all regions. */
poprt_status prt_retype_run(prt_pass *p, const prt_retype *how, bool *changed);

/* Moves the name of a constant to the one converted from it, if the old constant is unused. */
poprt_status prt_retype_move_name(prt_value *to, prt_value *from);

#endif
