/* SPDX-License-Identifier: MIT */
/* io_table.h — inputs, outputs and metadata of a model as the structs of the public interface. */
#ifndef PRT_DESCRIBE_IO_TABLE_H
#define PRT_DESCRIBE_IO_TABLE_H

#include "base/arena.h"
#include "base/str.h"
#include "poprt/model.h"
#include "program/program.h"

/* Inputs and outputs as the public interface returns them. */
typedef struct prt_io_table {
    prt_arena *arena;
    size_t count[2]; /* by direction, POPRT_INPUT or POPRT_OUTPUT */
    poprt_io_info *info[2];
    poprt_model_info about;
} prt_io_table;

/* An input or output to convert. */
typedef struct prt_io_entry {
    prt_str name;
    const prt_type *type;
    int32_t graph; /* as in poprt_io_info */
} prt_io_entry;

poprt_status prt_io_table_create(const prt_allocator *allocator, const prt_dims *dims,
    const prt_io_entry *inputs, size_t n_inputs, const prt_io_entry *outputs, size_t n_outputs,
    const prt_facts *facts, prt_io_table *out);
/* model_info.c: fills `out`; the texts are copied into `arena`. */
poprt_status prt_info_fill(prt_arena *arena, const prt_facts *facts, poprt_model_info *out);
void prt_io_table_deinit(prt_io_table *table);
poprt_status prt_io_table_at(const prt_io_table *table, int32_t direction, size_t index,
    poprt_io_info *out);
size_t prt_io_table_count(const prt_io_table *table, int32_t direction);

#endif
