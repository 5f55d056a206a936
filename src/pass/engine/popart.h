/* SPDX-License-Identifier: MIT */
/*
 * popart.h — PopART's patterns (popart.def): which of them are on, and what this means for the
 * passes that they stand for. A pass runs if no pattern stands for it, or if one of them is on.
 */
#ifndef PRT_PASS_ENGINE_POPART_H
#define PRT_PASS_ENGINE_POPART_H

#include "pass/engine/pass.h"

typedef enum prt_popart_id {
#define PATTERN(name, initial, mandatory, passes, doc) PRT_POPART_##name,
#include "pass/popart.def"
    PRT_POPART_COUNT
} prt_popart_id;

typedef struct prt_popart_pattern {
    const char *name;
    bool initial, mandatory;
    const char *passes; /* separated by commas; "": it has no counterpart */
    const char *doc;
} prt_popart_pattern;

/* The patterns that are on; bit i of word i / 64. */
typedef struct prt_popart_set {
    uint64_t on[(PRT_POPART_COUNT + 63) / 64];
} prt_popart_set;

/* Texts are lists of names, separated by commas or blanks. */
typedef struct prt_popart_options {
    const char *level; /* no_patterns, minimal, default or all */
    const char *only;  /* if it is not empty: these patterns and no others, in place of `level` */
    const char *enable, *disable;
    bool asserts; /* refuse lists that leave out a mandatory pattern */
} prt_popart_options;

/* Returns a row; NULL past the end. */
const prt_popart_pattern *prt_popart_of(uint32_t index);
/* Finds a pattern by name. Fails with POPRT_E_NOT_FOUND, and names the nearest ones. */
poprt_status prt_popart_find(prt_str name, uint32_t *out);
/* Chooses the patterns. Fails with POPRT_E_NOT_FOUND for an unknown name, and with POPRT_E_ARG if
 * `asserts` is set and a list leaves out a mandatory pattern. */
poprt_status prt_popart_choose(const prt_popart_options *options, prt_popart_set *out);
bool prt_popart_has(const prt_popart_set *set, uint32_t id);
/* Returns whether a pass runs. */
bool prt_popart_runs(const prt_popart_set *set, const prt_pass_def *def);
/* Returns whether a node excludes the pass: its mark __exclude_patterns lists every pattern that
 * stands for the pass and is on. */
bool prt_popart_excludes(const prt_pass *p, const prt_op *op);
/* Returns whether the mark __exclude_patterns of a node lists a pattern. */
bool prt_popart_is_excluded(const prt_op *op, uint32_t id, prt_arena *scratch);

#endif
