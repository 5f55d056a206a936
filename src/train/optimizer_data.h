/* SPDX-License-Identifier: MIT */
/* optimizer_data.h — the contents of an optimizer, for the sources of optimizer.h alone. */
#ifndef PRT_TRAIN_OPTIMIZER_DATA_H
#define PRT_TRAIN_OPTIMIZER_DATA_H

#include "base/map.h"
#include "base/vec.h"
#include "train/optimizer.h"

enum { PRT_OPTIMIZER_FAMILIES = 3 };

typedef struct prt_optimizer_value_row {
    const char *key, *specific;
    float initial[PRT_OPTIMIZER_FAMILIES]; /* NaN: the family has no such value */
} prt_optimizer_value_row;

typedef struct prt_optimizer_setting_row {
    const char *key, *words;
    int32_t initial[PRT_OPTIMIZER_FAMILIES]; /* -1: the family has no such setting */
} prt_optimizer_setting_row;

typedef struct prt_optimizer_kind_row {
    const char *name;
    uint32_t family;
    const char *mode;
} prt_optimizer_kind_row;

/* Words of settings. */
enum { PRT_OPTIMIZER_COMBINED, PRT_OPTIMIZER_SEPARATE };
enum { PRT_OPTIMIZER_DECAY, PRT_OPTIMIZER_L2 };
enum { PRT_OPTIMIZER_TYPE_WEIGHT, PRT_OPTIMIZER_TYPE_FLOAT, PRT_OPTIMIZER_TYPE_FLOAT16 };

/* What is known of one weight. */
typedef struct prt_optimizer_record {
    prt_str weight;
    bool has_values, has_step;
    prt_optimizer_value values[PRT_OPTIMIZER_VALUES];
    int64_t step;
    uint32_t group; /* UINT32_MAX: none */
} prt_optimizer_record;

typedef struct prt_optimizer_group {
    float max_norm;
    prt_strs weights; /* none: all weights */
} prt_optimizer_group;

struct prt_optimizer {
    prt_arena *arena; /* holds this struct too */
    uint32_t kind;
    prt_optimizer_value values[PRT_OPTIMIZER_VALUES];
    uint8_t settings[PRT_OPTIMIZER_SETTINGS];
    int64_t step;
    prt_map by_weight;                       /* name -> prt_optimizer_record */
    PRT_VEC(prt_optimizer_record *) records; /* in the order of their creation */
    PRT_VEC(prt_optimizer_group) groups;
};

const prt_optimizer_value_row *prt_optimizer_value_row_of(uint32_t id);
const prt_optimizer_setting_row *prt_optimizer_setting_row_of(uint32_t id);
const prt_optimizer_kind_row *prt_optimizer_kind_row_of(uint32_t kind);

/* Return whether the optimizer has this value or setting. */
bool prt_optimizer_has_value(const prt_optimizer *o, uint32_t id);
bool prt_optimizer_has_setting(const prt_optimizer *o, uint32_t id);

/* Returns the record of a weight, or NULL. */
const prt_optimizer_record *prt_optimizer_record_of(const prt_optimizer *o, prt_str weight);

#endif
