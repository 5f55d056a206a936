/* SPDX-License-Identifier: MIT */
/*
 * equation.h — equations of Einsum. Letters and ellipsis dims become labels. Ellipsis dims are
 * aligned to the right; their labels follow the labels of all letters.
 */
#ifndef PRT_OP_SHARE_EQUATION_H
#define PRT_OP_SHARE_EQUATION_H

#include "base/str.h"
#include "num/dim.h"
#include "tensor/type.h"

enum {
    PRT_EQUATION_LETTERS = 52,
    PRT_EQUATION_LABELS = PRT_EQUATION_LETTERS + PRT_MAX_RANK,
    PRT_EQUATION_TERMS = 16
};

typedef struct prt_equation_term {
    uint8_t label[PRT_MAX_RANK]; /* includes ellipsis dims only after prt_equation_resolve */
    uint32_t count, dots_at;     /* number of letters; number of letters before the ellipsis */
    bool dots;
} prt_equation_term;

typedef struct prt_equation {
    prt_equation_term in[PRT_EQUATION_TERMS], out;
    uint32_t n_in;
    bool has_out;  /* the equation contains "->" */
    uint32_t dots; /* dims of the widest ellipsis */
    int64_t size[PRT_EQUATION_LABELS];
    uint32_t seen[PRT_EQUATION_LABELS]; /* number of occurrences in the inputs */
} prt_equation;

/* Parses the equation. Returns NULL, or the text of the error. */
const char *prt_equation_parse(prt_str text, uint32_t n_in, prt_equation *e);

/* Resolves labels and sizes from the operands' ranks and dims. Returns NULL, or the text of the
 * error. */
const char *prt_equation_resolve(prt_equation *e, const uint32_t *ranks,
    const int64_t *const *dims);

static inline bool prt_equation_has(const prt_equation_term *t, uint8_t label)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->label[i] == label)
            return true;
    return false;
}

#endif
