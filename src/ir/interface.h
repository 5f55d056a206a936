/* SPDX-License-Identifier: MIT */
/* interface.h — inputs and outputs of a model: lookup, shapes, adding and removing. */
#ifndef PRT_IR_INTERFACE_H
#define PRT_IR_INTERFACE_H

#include "ir/ir.h"

/* Returns an input of the main graph; NULL when it has no input of this name. */
prt_value *prt_module_find_input(const prt_module *module, const char *name);

/*
 * Sets the shape of an input; a negative dimension keeps the present one. Only variable dimensions
 * can be set. A symbol that gets a number gets it in all inputs. Types are not inferred again.
 */
poprt_status prt_module_set_input_shape(prt_module *module, const char *input, const int64_t *dims,
    uint32_t rank);

/* Replaces a symbolic dimension of the inputs by a number, also inside expressions of other
 * dimensions. Fails with POPRT_E_NOT_FOUND when no input has the symbol. Types are not inferred
 * again. */
poprt_status prt_module_set_dim(prt_module *module, prt_str name, int64_t number);

/* Replaces dimensions of inputs whose names are expressions of other names ("past + new") by those
 * expressions. Types are not inferred again. */
poprt_status prt_module_relate_dims(prt_module *module);

/* Removes from a graph's list the inputs for which `dropped` holds. They must have no uses. */
void prt_graph_drop_inputs(prt_graph *graph, bool (*dropped)(const prt_value *input));

bool prt_graph_has_output(const prt_graph *graph, prt_str name);
/* Removes the outputs whose `keep` is false from the graph's list; the ops that made them stay. */
poprt_status prt_graph_keep_outputs(prt_graph *graph, prt_arena *scratch, const bool *keep);
poprt_status prt_graph_add_output(prt_graph *graph, prt_arena *scratch, prt_value *value,
    prt_str name);

#endif
