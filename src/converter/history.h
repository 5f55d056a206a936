/* SPDX-License-Identifier: MIT */
/*
 * history.h — the schemas of the operators in ONNX's own domains at each opset: the rows of ops.def
 * describe the newest schemas, history.def the older ones of ai.onnx and ai.onnx.ml. An operator's
 * name determines its domain; opsets are opsets of that domain.
 */
#ifndef PRT_CONVERTER_HISTORY_H
#define PRT_CONVERTER_HISTORY_H

#include "ir/ir.h"

#define PRT_HISTORY_ML "ai.onnx.ml"

/* Returns the domain as the rows of ops.def spell it, if its schemas are known at each opset:
 * ai.onnx, ai.onnx.ml and the preview domains; else NULL. */
const char *prt_history_domain(prt_str domain);

/* Returns whether the newest schema of this name belongs to another one of these domains. */
bool prt_history_is_other_domain(prt_str name, const char *domain);

/* Return the opset of the newest known schema of ai.onnx, or of a domain. */
int64_t prt_history_newest(void);
int64_t prt_history_newest_of(const char *domain);

/* Returns the first opset that has an operator of this name; 0 if the name is unknown. */
int64_t prt_history_first(prt_str name);

/* Returns the version of the schema in force at an opset; 0 if the operator does not exist there or
 * is deprecated. */
int64_t prt_history_version(prt_str name, int64_t opset);

/*
 * Returns whether an op may stand unchanged in a model of this opset. Checks the numbers of inputs
 * and outputs, the attributes that differ from their default, and known element types. On false,
 * `why` (of `size` bytes) gets a sentence with the reason. Attribute values are not checked.
 */
bool prt_history_fits(const prt_op *op, int64_t opset, char *why, size_t size);
/* The same, but for element types. */
bool prt_history_fits_form(const prt_op *op, int64_t opset, char *why, size_t size);

/* Returns whether the schema in force at `opset` accepts this element type or kind of value
 * there. */
bool prt_history_supports(prt_str name, int64_t opset, uint32_t input, const prt_type *type);

/* Returns whether the schema has an attribute of this name; false if the operator does not
 * exist. */
bool prt_history_has_attr(prt_str name, int64_t opset, const char *attr);

/* Lists the names of the schema's attributes, separated by commas and truncated to fit, or
 * "none". */
void prt_history_list_attrs(prt_str name, int64_t opset, char *to, size_t size);

/* Returns whether attribute k has to be written because it differs from its default. */
bool prt_history_must_write(const prt_op *op, uint32_t k);

/* Returns the least opset >= `from` that an op of ai.onnx fits; 0 if it fits no opset. */
int64_t prt_history_lowest_opset(const prt_op *op, int64_t from);

#endif
