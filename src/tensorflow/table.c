/* SPDX-License-Identifier: MIT */
/*
 * table.c — the table of operators.def. Its texts are one string each, and the rows are made of
 * them when a model is read: a pointer in a table of a shared library takes 32 bytes.
 */
#include "tensorflow/table.h"

#include "tensorflow/rows.h"

#define OP(name, function, outputs) prt_tf_row_##function,
#define OP_IS(name, function, id) prt_tf_row_##function,
#define OP_LAZY(name, function, outputs) prt_tf_row_##function,
#define OP_WRITES(name, function, outputs) prt_tf_row_##function,
static const prt_tf_row_fn functions[] = {
#include "tensorflow/operators.def"
};

/* A literal may have 4,095 characters: so the texts are members of a struct. */
#define MEMBER(text, count) MEMBER_(text, count)
#define MEMBER_(text, count) char text_##count[sizeof(text)];
#define OP(name, function, outputs) MEMBER(name "\0" outputs, __COUNTER__)
#define OP_IS(name, function, id) MEMBER(name "\0", __COUNTER__)
#define OP_LAZY(name, function, outputs) MEMBER(name "\0" outputs, __COUNTER__)
#define OP_WRITES(name, function, outputs) MEMBER(name "\0" outputs, __COUNTER__)
static const struct {
#include "tensorflow/operators.def"
} texts = {
#define OP(name, function, outputs) name "\0" outputs,
#define OP_IS(name, function, id) name "\0",
#define OP_LAZY(name, function, outputs) name "\0" outputs,
#define OP_WRITES(name, function, outputs) name "\0" outputs,
#include "tensorflow/operators.def"
};

enum { LAZY = 1, WRITES = 2 };

#define OP(name, function, outputs) { PRT_OP_NONE, 0 },
#define OP_IS(name, function, id) { PRT_OP_##id, 0 },
#define OP_LAZY(name, function, outputs) { PRT_OP_NONE, LAZY },
#define OP_WRITES(name, function, outputs) { PRT_OP_NONE, WRITES },
static const struct {
    uint16_t id;
    uint8_t flags;
} facts[] = {
#include "tensorflow/operators.def"
};

prt_tf_row prt_tf_next_row(size_t index, const char **at)
{
    const char *name = *at != NULL ? *at : (const char *)&texts, *outputs = name + strlen(name) + 1;
    *at = outputs + strlen(outputs) + 1;
    return (prt_tf_row){ .name = name,
        .convert = functions[index],
        .id = facts[index].id,
        .lazy = facts[index].flags == LAZY,
        .writes = facts[index].flags == WRITES,
        .outputs = outputs };
}

size_t prt_tf_row_count(void)
{
    return PRT_COUNT_OF(functions);
}

poprt_status prt_tf_rows(prt_arena *arena, prt_map *out)
{
    prt_tf_row *rows = PRT_NEW_N(arena, prt_tf_row, PRT_COUNT_OF(functions));
    const char *at = NULL;
    *out = prt_map_in(arena);
    if (rows == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < PRT_COUNT_OF(functions); i++) {
        rows[i] = prt_tf_next_row(i, &at);
        PRT_TRY(prt_map_set(out, prt_str_of(rows[i].name), &rows[i]));
    }
    return POPRT_OK;
}
