/* SPDX-License-Identifier: MIT */
/*
 * upgrade.h — from any opset to canonical operators: rows of upgrade.def rewrite one node each.
 * The way back is downgrade.h.
 *
 * The reader builds every node as an op whose known attributes are filled in, then runs the rows
 * whose operator and version range fit, oldest first, then infers the op's type, so an upgrade
 * sees the types of its inputs in the main graph as far as they are known (in regions often not).
 */
#ifndef PRT_CONVERTER_UPGRADE_H
#define PRT_CONVERTER_UPGRADE_H

#include "ir/build.h"

/* An attribute as the node carried it. `kind` is ONNX's AttributeProto.AttributeType. */
typedef struct prt_node_attr {
    prt_str name;
    int32_t kind; /* 1 FLOAT, 2 INT, 3 STRING, 4 TENSOR, 5 GRAPH, 6 FLOATS, 7 INTS, 8 STRINGS,
                   * 13 TYPE_PROTO, …: PRT_ONNX_* in onnx_raw.h */
    float f;
    int64_t i;
    prt_str s;
    prt_f32s floats;
    prt_i64s ints;
    prt_strs strings;
    const prt_tensor *tensor;
    const prt_type *type;
    uint32_t graph;    /* index of the region it became */
    const void *bytes; /* the AttributeProto */
    size_t size;
    const void *field; /* the same as a field of its node, with the tag */
    size_t field_size;
    bool taken; /* by the op's row or an upgrade: not kept as an unknown attribute */
} prt_node_attr;

typedef struct prt_upgrade {
    prt_op *op;      /* the node; a hook changes it in place or replaces it */
    int64_t version; /* opset the model imports for the operator's domain */
    prt_op *inner;   /* set by a hook: the op inside of those made that computes the node and is
                      * written as it (read_as.h); NULL: `op` */
    prt_node_attr *attrs;
    uint32_t n_attrs;
} prt_upgrade;

/* An op on its way down; see downgrade.h. */
typedef struct prt_downgrade {
    prt_op *op;     /* a hook changes it in place, or replaces its outputs and sets this to NULL */
    int64_t target; /* opset it is to be written for */
} prt_downgrade;

typedef poprt_status (*prt_upgrade_fn)(prt_upgrade *u);
typedef poprt_status (*prt_downgrade_fn)(prt_downgrade *d);

/* A row of upgrade.def. */
typedef struct prt_opset_variant {
    const char *domain, *name; /* ONNX operator */
    int32_t from, to;          /* the older form: opsets >= from and < to; from 0: there was none */
    prt_upgrade_fn up;         /* NULL: nothing to do on this way, or no way */
    prt_downgrade_fn down;
} prt_opset_variant;

/* All rows, in the order of the table. */
const prt_opset_variant *prt_opset_variants(size_t *count);

/* Opset from which on the present form of an operator of ai.onnx means what it means now. */
int64_t prt_opset_variant_meaning(prt_str name);

/* Runs all rows for u->op in order; an op that becomes another climbs on by the new one's rows.
 * Afterwards u->op is the op that stands for the node, or NULL
 * when it was replaced by several and all are typed already. */
poprt_status prt_upgrade_op(prt_upgrade *u);

/* Attribute by name, marked as taken; NULL when the node has none. */
const prt_node_attr *prt_upgrade_attr(prt_upgrade *u, const char *name);

/* The common cases. Missing attributes give `absent`. */
int64_t prt_upgrade_i64(prt_upgrade *u, const char *name, int64_t absent);
float prt_upgrade_f32(prt_upgrade *u, const char *name, float absent);

/* Attribute `name` (ints; may be missing) becomes input `slot` as an i64 constant of rank 1. */
poprt_status prt_upgrade_ints_to_input(prt_upgrade *u, const char *name, uint32_t slot);

/* A failure that names the operator and the opset. */
poprt_status prt_upgrade_refuse(const prt_upgrade *u, poprt_status status, const char *what);

/* Sets an attribute of the row and marks it as given. */
#define PRT_UPGRADE_SET(u, id, field, ...)                                                         \
    prt_upgrade_set_attr(u, offsetof(prt_##id##_attrs, field),                                     \
        &(__typeof__(((prt_##id##_attrs *)0)->field)){ __VA_ARGS__ },                              \
        sizeof(((prt_##id##_attrs *)0)->field))
void prt_upgrade_set_attr(prt_upgrade *u, size_t offset, const void *value, size_t size);

/* Type of a tensor of known rank, else NULL. */
const prt_type *prt_upgrade_ranked(const prt_value *v);

/* The op becomes Reshape of `value` to the shape of `like`; it keeps its output. */
poprt_status prt_upgrade_become_reshape(prt_upgrade *u, prt_build *b, prt_value *value,
    prt_value *like);

/* The op becomes another row of the table (inputs, outputs and regions stay). Attributes of the
 * node that the new row has by name and kind are filled in unless somebody took them; the others
 * have their defaults. */
poprt_status prt_upgrade_become(prt_upgrade *u, uint32_t id);

/* Fails on an attribute that the node's operator does not have at the model's opset. */
poprt_status prt_upgrade_check_names(const prt_upgrade *u);

/* The same for a hook whose operator has no schema in ops.def or history.def: fails on an attribute
 * that is not taken, up to the `newest` version of the operator. `accepted` names the others. */
poprt_status prt_upgrade_check_taken(const prt_upgrade *u, int64_t newest, const char *accepted);

/*
 * For the reader: fills in, upgrades and types the nodes of a model in order. A region's nodes
 * stand before the op that holds it. All failures are collected into one report. Nodes of
 * operators that neither the table nor a row knows stay as they are.
 */
poprt_status prt_upgrade_all(prt_upgrade *nodes, size_t count);

#endif
