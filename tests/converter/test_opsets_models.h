/* SPDX-License-Identifier: MIT */
/* test_opsets_models.h — models that reach rows of upgrade.def that ONNX's cases do not. */
#ifndef PRT_TESTS_CONVERTER_TEST_OPSETS_MODELS_H
#define PRT_TESTS_CONVERTER_TEST_OPSETS_MODELS_H

#include <stddef.h>

/* A graph without inputs, in canonical operators. */
typedef struct hand_made {
    const char *name, *text;
} hand_made;

extern const hand_made hand_made_models[];
extern const size_t hand_made_count;

#endif
