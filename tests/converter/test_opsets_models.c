/* SPDX-License-Identifier: MIT */
/* test_opsets_models.c — the models, as IR text. */
#include "test_opsets_models.h"

const hand_made hand_made_models[] = {
    { "gelu", "x = const f32[3] {-1,0,2}\ny = gelu x\nreturn y\n" },
};
const size_t hand_made_count = sizeof(hand_made_models) / sizeof(hand_made_models[0]);
