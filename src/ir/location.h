/* SPDX-License-Identifier: MIT */
/*
 * location.h — the place of a node in the program that made the model, read from the notes that
 * exporters and builders attach to nodes:
 *
 *     metadata_props "pkg.torch.onnx.stack_trace"   File "model.py", line 12, in forward
 *     doc_string (PyTorch, poprt_builder)           model.py(12): forward
 *     metadata_props "namespace"                    encoder/layer.0
 *
 * The first two become "model.py:12, in forward". Of several frames, the innermost one that is not
 * in an installed package counts.
 */
#ifndef PRT_IR_LOCATION_H
#define PRT_IR_LOCATION_H

#include "ir/ir.h"

enum { PRT_LOCATION_SIZE = 256 };

/* Writes the place of a node to `to`: its own, else the one noted for its label or for a node that
 * was merged into it. "" if unknown. */
void prt_op_location(const prt_op *op, char to[PRT_LOCATION_SIZE]);

/* Writes the place that a doc string states, or "". */
void prt_location_of_doc(prt_str doc, char to[PRT_LOCATION_SIZE]);

/* Notes the places of all nodes by label, so that nodes which passes make from them have places
 * too. Of nodes with equal labels, the first one counts. Fails only without memory. */
poprt_status prt_module_note_locations(prt_module *module);

#endif
