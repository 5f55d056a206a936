/* SPDX-License-Identifier: MIT */
/* table.c — the table of operators.def. */
#include "tensorflow/table.h"

#include "tensorflow/rows.h"

#define OP(name, function, outputs)                                                                \
    { name, prt_tf_row_##function, PRT_OP_NONE, false, false, false, outputs },
#define OP_IS(name, function, id)                                                                  \
    { name, prt_tf_row_##function, PRT_OP_##id, false, false, false, "" },
#define OP_LAZY(name, function, outputs)                                                           \
    { name, prt_tf_row_##function, PRT_OP_NONE, true, false, false, outputs },
#define OP_WRITES(name, function, outputs)                                                         \
    { name, prt_tf_row_##function, PRT_OP_NONE, false, true, false, outputs },
static const prt_tf_row rows[] = {
#include "tensorflow/operators.def"
};

const prt_tf_row *prt_tf_all_rows(size_t *count)
{
    *count = PRT_COUNT_OF(rows);
    return rows;
}

poprt_status prt_tf_rows(prt_arena *arena, prt_map *out)
{
    *out = prt_map_in(arena);
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        PRT_TRY(prt_map_set(out, prt_str_of(rows[i].name), (void *)(uintptr_t)&rows[i]));
    return POPRT_OK;
}
