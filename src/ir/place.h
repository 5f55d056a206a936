/* SPDX-License-Identifier: MIT */
/*
 * place.h — where and when an op runs: an interned record. Code that distributes a graph reads
 * places only.
 *
 * In a model's file the fields are attributes such as __ipu_number (marks, extra.h). A change of a
 * mark changes the place of the op, and prt_op_set_place changes the marks, so that both agree;
 * prt_ir_verify checks it. The fields without a mark belong to the graph in memory.
 */
#ifndef PRT_IR_PLACE_H
#define PRT_IR_PLACE_H

#include "ir/ir.h"

enum { PRT_PLACE_FORWARD = 0, PRT_PLACE_BACKWARD = 1 };

/* A field below 0 is not set. */
struct prt_place {
    int32_t device, stage, phase; /* device, pipeline stage, execution phase */
    int32_t tile_set;             /* 0 compute, 1 IO */
    int32_t recompute;            /* 1: kept for the backward pass, 2: computed again */
    int32_t group;                /* replica group */
    int32_t direction;            /* PRT_PLACE_FORWARD, also if it is not set, or _BACKWARD */
    float priority;               /* of the schedule; 0: default */
};

/* Returns the place of an op, never NULL: without a record, the place with no field set. */
const prt_place *prt_op_place(const prt_op *op);

/* Gives an op a place, and the marks that belong to it. */
poprt_status prt_op_set_place(prt_op *op, const prt_place *place);

/* Reads the place from the marks of an op; fields without a mark keep their values. Callers that
 * edit `extra` directly must call it. */
poprt_status prt_op_read_place(prt_op *op);

/* Gives an op the fields without a mark of another op, where they are not set. */
poprt_status prt_op_inherit_place(prt_op *op, const prt_op *from);

/* For an op that computes another op's result too: the op takes the later of both locations (by
 * direction, phase, then stage), so that fusion never moves an op before one of its inputs. */
poprt_status prt_op_join_place(prt_op *op, const prt_op *member);

/* Returns the record of a place in a module; NULL for the place with no field set. */
poprt_status prt_place_intern(prt_module *module, const prt_place *place, const prt_place **out);

/* Returns whether the place of an op agrees with its marks. */
bool prt_op_place_agrees(const prt_op *op);

/* Access to a field by its name in the text form. Returns NULL for an unknown name. */
int32_t *prt_place_field(prt_place *place, prt_str name);
/* Returns the name of field `index`; NULL past the last one. */
const char *prt_place_name(uint32_t index);

#endif
