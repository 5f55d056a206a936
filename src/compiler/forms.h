/* SPDX-License-Identifier: MIT */
/* forms.h — forms of operators that options choose, which change results. Applied once to the model
 * before any pass. */
#ifndef PRT_COMPILER_FORMS_H
#define PRT_COMPILER_FORMS_H

#include "ir/ir.h"

typedef struct prt_forms {
    bool non_stable_softmax; /* Softmax does not subtract the largest element */
    bool strided_groups;     /* group g of GroupNormalization is the channels g, g + G, ... */
    bool whole_products;     /* marks that ask for products in parts are ignored */
    const char *updatable;   /* initializers that can be written, separated by commas */
} prt_forms;

/* Returns whether any form differs from the default. */
bool prt_forms_are_any(const prt_forms *forms);

/* Fails with POPRT_E_NOT_FOUND for a name in `updatable` that is not an initializer, and with
 * POPRT_E_UNSUPPORTED for one that decides shapes. */
poprt_status prt_forms_apply(const prt_forms *forms, prt_module *module);

#endif
