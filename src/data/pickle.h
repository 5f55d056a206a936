/* SPDX-License-Identifier: MIT */
/*
 * pickle.h — values that a pickle describes. Private to src/data.
 *
 * The machine (pickle.c) makes them; what the few known globals do with their arguments is in
 * pickle_numpy.c. Nothing is executed, nothing refers to anything outside the file.
 */
#ifndef PRT_DATA_PICKLE_H
#define PRT_DATA_PICKLE_H

#include "data/samples.h"

typedef enum prt_pickled_kind {
    PRT_PICKLED_NONE,
    PRT_PICKLED_NUMBER, /* whole: bools too */
    PRT_PICKLED_REAL,
    PRT_PICKLED_TEXT,
    PRT_PICKLED_BYTES,
    PRT_PICKLED_LIST,
    PRT_PICKLED_TUPLE,
    PRT_PICKLED_DICT, /* items: key, value, key, value, … */
    PRT_PICKLED_GLOBAL,
    PRT_PICKLED_DTYPE,
    PRT_PICKLED_ARRAY
} prt_pickled_kind;

/* Globals that are known. */
typedef enum prt_pickled_global {
    PRT_GLOBAL_BYTES,       /* builtins.bytes */
    PRT_GLOBAL_ENCODE,      /* _codecs.encode */
    PRT_GLOBAL_NDARRAY,     /* numpy.ndarray */
    PRT_GLOBAL_DTYPE,       /* numpy.dtype */
    PRT_GLOBAL_RECONSTRUCT, /* numpy.core.multiarray._reconstruct */
    PRT_GLOBAL_SCALAR,      /* numpy.core.multiarray.scalar */
    PRT_GLOBAL_FROMBUFFER,  /* numpy.core.numeric._frombuffer */
    PRT_GLOBAL_COUNT
} prt_pickled_global;

typedef struct prt_pickled prt_pickled;
struct prt_pickled {
    int32_t kind;
    int64_t number; /* whole numbers; which global */
    double real;
    prt_str text; /* text, bytes */
    bool latin1;  /* bytes are code points of `text`, which is UTF-8 */
    PRT_VEC(prt_pickled *) items;
    char descr[16]; /* dtypes and arrays: as in .npy files */
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
    bool fortran;
    const prt_pickled *data; /* of an array; NULL: not known yet */
};

/* The global of a module and name; refuses all but the known ones, by name. */
poprt_status prt_pickled_find_global(prt_str module, prt_str name, int64_t *out);

/* What calling a global gives. */
poprt_status prt_pickled_call(prt_arena *arena, int64_t global, const prt_pickled *args,
    prt_pickled **out);

/* Gives an object (an array or a dtype) its state. */
poprt_status prt_pickled_build(prt_pickled *object, const prt_pickled *state);

/* An array, or a list of arrays of one type and shape, as a tensor; its bytes are taken from
 * `room`. */
poprt_status prt_pickled_tensor(prt_arena *arena, const prt_pickled *value, size_t *room,
    prt_tensor *out);

#endif
