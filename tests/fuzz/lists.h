/* SPDX-License-Identifier: MIT */
/*
 * lists.h — random lists of passes with options, and the properties that must hold after a list
 * has run on a model.
 */
#ifndef PRT_TESTS_FUZZ_LISTS_H
#define PRT_TESTS_FUZZ_LISTS_H

#include "pass/engine/manager.h"

/* Random decisions from bytes, two for each; after the last byte, from a generator seeded by the
 * bytes. */
typedef struct fuzz_dice {
    const uint8_t *data;
    size_t size;
    uint64_t state;
} fuzz_dice;

void fuzz_dice_init(fuzz_dice *dice, const uint8_t *data, size_t size);
/* Returns a number from 0 to n - 1; 0 for n = 0. */
size_t fuzz_below(fuzz_dice *dice, size_t n);

enum { FUZZ_HEADER = 64, FUZZ_MOST_PASSES = 6, FUZZ_MOST_ARGS = 8, FUZZ_NEWEST_OPSET = 28 };

typedef struct fuzz_item {
    const prt_pass_def *def;
    uint32_t n_args;
    prt_pass_arg args[FUZZ_MOST_ARGS];
} fuzz_item;

typedef struct fuzz_list {
    bool converts;    /* the pipeline "convert" comes first */
    const char *skip; /* a pass of the pipeline to leave out, or NULL */
    uint32_t n_settings;
    prt_pass_arg settings[FUZZ_MOST_ARGS];
    uint32_t n_items;
    fuzz_item items[FUZZ_MOST_PASSES];
    int64_t opset; /* the opset to write afterwards */
} fuzz_list;

/* Names in the options come from the model. Texts are allocated from `arena`. */
poprt_status fuzz_list_draw(fuzz_dice *dice, const prt_module *module, prt_arena *arena,
    fuzz_list *out);
/* Writes the list as a line to `to`. */
void fuzz_list_text(const fuzz_list *list, char *to, size_t size);

/* Draws a small graph of patterns that passes match. */
poprt_status fuzz_graph_draw(fuzz_dice *dice, prt_module **out);

/* Values for the main graph's inputs that have no default, in their order. */
enum { FUZZ_MOST_IO = 32 };
typedef struct fuzz_inputs {
    uint32_t count;
    prt_tensor values[FUZZ_MOST_IO];
} fuzz_inputs;

typedef struct fuzz_check {
    bool bitwise;                 /* results are compared only if they must be the same */
    int run_ms;                   /* time limit of a compared run; 0: no limit */
    uint64_t fold_bytes, fold_ns; /* limits of the passes */
    const fuzz_inputs *inputs;    /* NULL: random values */
    uint64_t seed;                /* of random values */
    bool *compared;               /* set if results were compared; may be NULL */
} fuzz_check;

/*
 * Runs the list on the module. The module must still be valid, also where a pass refused; what can
 * be written must be readable; and where inputs and types stayed as they were, results may move by
 * the sum of the bounds of the passes. Behind a step (a comparison, a Round, a Cast to integers) or
 * a sum that cancels, no bound of a pass holds: a result may also move as far as rounding errors
 * move it that are added to the original model (noise.h). False, and why, where that does not hold.
 */
bool fuzz_check_list(prt_module *module, const fuzz_list *list, const fuzz_check *check, char *why,
    size_t size);

#endif
