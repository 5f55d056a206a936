/* SPDX-License-Identifier: MIT */
/*
 * history.h — what the operators of ONNX's own domains could take at each opset: the rows of
 * ops.def, which describe the newest schemas, and history.def with the older ones, which ai.onnx
 * and ai.onnx.ml have. An operator's name tells its domain; opsets are those of that domain.
 */
#ifndef PRT_CONVERTER_HISTORY_H
#define PRT_CONVERTER_HISTORY_H

#include "ir/ir.h"

#define PRT_HISTORY_ML "ai.onnx.ml"

typedef struct prt_schema {
    const char *name;
    uint32_t since;
    uint32_t min_in, max_in, max_out; /* UINT32_MAX: any number */
    const char *attrs;                /* names with blanks between; NULL: the operator is gone */
    const unsigned char *types;       /* numbers of TYPES rows, inputs first */
    uint32_t n_types;
} prt_schema;

/* The domain as the rows of ops.def spell it, where its schemas are known at each opset: ai.onnx,
 * ai.onnx.ml and the preview domains; else NULL. */
const char *prt_history_domain(prt_str domain);

/* Is the newest schema of this name one of another of these domains? */
bool prt_history_is_elsewhere(prt_str name, const char *domain);

/* The opset of the newest schema of ai.onnx known here, and of a domain. */
int64_t prt_history_newest(void);
int64_t prt_history_newest_of(const char *domain);

/* First opset that has an operator of this name; 0 when nothing is known of it. */
int64_t prt_history_first(prt_str name);

/* Version of the schema that is in force at an opset; 0 where the operator does not exist or is
 * deprecated. */
int64_t prt_history_version(prt_str name, int64_t opset);

/*
 * Whether an op may stand in a model of this opset as it is: number of inputs and outputs,
 * attributes that are given and not their default, element types where they are known. Otherwise
 * `why` (of `size` bytes) gets a sentence about it. What an attribute that is allowed says is not
 * looked at.
 */
bool prt_history_fits(const prt_op *op, int64_t opset, char *why, size_t size);

/* Does the schema in force at `opset` take this element type, or kind of value, there? */
bool prt_history_takes(prt_str name, int64_t opset, uint32_t input, const prt_type *type);

/* Has the schema an attribute of this name? An operator that is not there has none. */
bool prt_history_has_attr(prt_str name, int64_t opset, const char *attr);

/* Names of the attributes that the schema has, with commas between, cut to fit; "none". */
void prt_history_list_attrs(prt_str name, int64_t opset, char *to, size_t size);

/* Is attribute k one that has to be written, rather than left to its default? */
bool prt_history_says(const prt_op *op, uint32_t k);

/* The least opset from `from` on that an op of ai.onnx fits; 0 when none does. */
int64_t prt_history_least(const prt_op *op, int64_t from);

#endif
