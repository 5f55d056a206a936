/* SPDX-License-Identifier: MIT */
/*
 * pickle.h — the values described by a pickle. Private to src/data.
 *
 * pickle.c makes them; pickle_numpy.c implements the calls of the known globals. Nothing is
 * executed, and no value refers to anything outside the file.
 */
#ifndef PRT_DATA_PICKLE_H
#define PRT_DATA_PICKLE_H

#include "data/samples.h"

typedef enum prt_pickled_kind {
    PRT_PICKLED_NONE,
    PRT_PICKLED_NUMBER, /* integers, bools included */
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

/* The known globals. */
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
    int64_t number; /* the integer; the global */
    double real;
    prt_str text; /* of text and bytes */
    bool latin1;  /* the bytes are the code points of `text`, which is UTF-8 */
    PRT_VEC(prt_pickled *) items;
    char descr[16]; /* of dtypes and arrays, as in .npy files */
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
    bool fortran;
    const prt_pickled *data; /* of an array; NULL until its state is set */
};

/* Finds the global of a module and name. Fails for an unknown one, and names it. */
poprt_status prt_pickled_find_global(prt_str module, prt_str name, int64_t *out);

/* Computes the result of calling a global. */
poprt_status prt_pickled_call(prt_arena *arena, int64_t global, const prt_pickled *args,
    prt_pickled **out);

/* Sets the state of an object (an array or a dtype). */
poprt_status prt_pickled_build(prt_pickled *object, const prt_pickled *state);

/* Converts an array, or a list of arrays of one type and shape, to a tensor; its bytes are
 * subtracted from `bytes_left`. */
poprt_status prt_pickled_tensor(prt_arena *arena, const prt_pickled *value, size_t *bytes_left,
    prt_tensor *out);

#endif
