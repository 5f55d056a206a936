/* SPDX-License-Identifier: MIT */
/* table.h — the operators of TensorFlow that can be converted: the rows of operators.def. */
#ifndef PRT_TENSORFLOW_TABLE_H
#define PRT_TENSORFLOW_TABLE_H

#include "base/map.h"

struct prt_tf_call;

/* Builds the operators that compute a node, and sets its outputs. A failure of status
 * POPRT_E_UNSUPPORTED goes to the report of all nodes that cannot be converted; every other
 * failure ends the conversion. */
typedef poprt_status (*prt_tf_row_fn)(struct prt_tf_call *call);

typedef struct prt_tf_row {
    const char *name;
    prt_tf_row_fn convert;
    uint16_t id;         /* operator that a shared function builds; PRT_OP_NONE */
    bool lazy;           /* the function itself asks for the inputs that it needs */
    bool writes;         /* the operator writes a resource */
    bool wraps;          /* the function converts the node by another row */
    const char *outputs; /* names, "name*N" for a list of length N; "": one plain output */
} prt_tf_row;

/* The number of rows, and the rows in the order of the table: `*at` is NULL for row 0, and set for
 * the next row. */
size_t prt_tf_row_count(void);
prt_tf_row prt_tf_next_row(size_t index, const char **at);

/* Makes a map from names to rows. */
poprt_status prt_tf_rows(prt_arena *arena, prt_map *out);

#endif
