/* SPDX-License-Identifier: MIT */
/* interface.h — what a model takes and gives: finding, shaping, adding, removing. */
#ifndef PRT_IR_INTERFACE_H
#define PRT_IR_INTERFACE_H

#include "ir/ir.h"

/* An input of the main graph; NULL when it has none of this name. */
prt_value *prt_module_find_input(const prt_module *module, const char *name);

/*
 * Gives an input a shape; a negative dimension leaves what is there. Only variable dimensions can
 * be set, and a symbol that gets a number gets it in all inputs. Nothing is inferred anew.
 */
poprt_status prt_module_set_input_shape(prt_module *module, const char *input, const int64_t *dims,
    uint32_t rank);

/* A symbolic dimension of inputs gets a number, also where others are said by it. POPRT_E_NOT_FOUND
 * when no input has it. Nothing is inferred anew. */
poprt_status prt_module_set_dim(prt_module *module, prt_str name, int64_t number);

/* Dims of inputs whose names say how large they are by the names of others ("past + new") become
 * these expressions. Nothing is inferred anew. */
poprt_status prt_module_relate_dims(prt_module *module);

/* Takes inputs out of a graph's list, for which `goes` holds; nobody may read them. */
void prt_graph_drop_inputs(prt_graph *graph, bool (*goes)(const prt_value *input));

bool prt_graph_has_output(const prt_graph *graph, prt_str name);
/* Outputs whose `keep` is false are no outputs any more; what made them stays. */
poprt_status prt_graph_keep_outputs(prt_graph *graph, prt_arena *scratch, const bool *keep);
poprt_status prt_graph_add_output(prt_graph *graph, prt_arena *scratch, prt_value *value,
    prt_str name);

#endif
