/* SPDX-License-Identifier: MIT */
/*
 * upgrade.h — rewrites nodes of any opset to canonical operators; each row of upgrade.def rewrites
 * one node. downgrade.h is the opposite direction.
 *
 * The reader builds each node as an op with its known attributes filled in. It then runs the rows
 * that match the operator and the opset, oldest first, and then infers the op's type. In the main
 * graph an upgrade therefore sees the types of its inputs as far as they are known; in regions they
 * are often unknown.
 */
#ifndef PRT_CONVERTER_UPGRADE_H
#define PRT_CONVERTER_UPGRADE_H

#include "ir/build.h"

/* An attribute as given by the node. `kind` is ONNX's AttributeProto.AttributeType. */
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
    uint32_t graph;    /* index of the region made from it */
    const void *bytes; /* the AttributeProto */
    size_t size;
    const void *field; /* the AttributeProto as a field of its node, with the tag */
    size_t field_size;
    bool taken; /* read by the op's row or an upgrade; not kept as an unknown attribute */
} prt_node_attr;

typedef struct prt_upgrade {
    prt_op *op;      /* the node; a hook changes it in place or replaces it */
    int64_t version; /* opset the model imports for the operator's domain */
    prt_op *inner;   /* set by a hook that makes several ops: the op that computes the node and is
                      * written as that node (source_node.h); NULL: `op` */
    prt_node_attr *attrs;
    uint32_t n_attrs;
} prt_upgrade;

/* An op that is being downgraded; see downgrade.h. */
typedef struct prt_downgrade {
    prt_op *op;     /* a hook changes it in place, or replaces its outputs and sets this to NULL */
    int64_t target; /* opset to write the op for */
} prt_downgrade;

typedef poprt_status (*prt_upgrade_fn)(prt_upgrade *u);
typedef poprt_status (*prt_downgrade_fn)(prt_downgrade *d);

/* A row of upgrade.def. */
typedef struct prt_opset_variant {
    char domain[28], name[32]; /* ONNX operator; a pointer would take 32 bytes in the library */
    int32_t from, to;          /* opsets of the older variant: >= from and < to; from 0: no operator
                                * before */
    prt_upgrade_fn up;         /* NULL: no change is needed in this direction, or it is not
                                * supported */
    prt_downgrade_fn down;
} prt_opset_variant;

/* Returns all rows, in the order of the table. */
const prt_opset_variant *prt_opset_variants(size_t *count);

/* Returns the opset from which the present variant of an operator of ai.onnx has its present
 * meaning. */
int64_t prt_opset_variant_meaning(prt_str name);

/* Runs all rows for u->op in order; if a row changes the operator, the rows of the new operator
 * follow. Afterwards u->op is the op that stands for the node, or NULL if the node was replaced by
 * several ops, which are then all typed. */
poprt_status prt_upgrade_op(prt_upgrade *u);

/* Returns an attribute by name and marks it as taken; NULL if the node does not have it. */
const prt_node_attr *prt_upgrade_attr(prt_upgrade *u, const char *name);

/* Shorthands for scalar attributes. They return `absent` if the node lacks the attribute. */
int64_t prt_upgrade_i64(prt_upgrade *u, const char *name, int64_t absent);
float prt_upgrade_f32(prt_upgrade *u, const char *name, float absent);

/* Moves attribute `name` (ints; may be missing) to input `slot` as an i64 constant of rank 1. */
poprt_status prt_upgrade_ints_to_input(prt_upgrade *u, const char *name, uint32_t slot);

/* Fails with an error that names the operator and the opset. */
poprt_status prt_upgrade_refuse(const prt_upgrade *u, poprt_status status, const char *what);

/* Sets an attribute of the row and marks it as given. */
#define PRT_UPGRADE_SET(u, id, field, ...)                                                         \
    prt_upgrade_set_attr(u, offsetof(prt_##id##_attrs, field),                                     \
        &(__typeof__(((prt_##id##_attrs *)0)->field)){ __VA_ARGS__ },                              \
        sizeof(((prt_##id##_attrs *)0)->field))
void prt_upgrade_set_attr(prt_upgrade *u, size_t offset, const void *value, size_t size);

/* Returns the type of a tensor of known rank, else NULL. */
const prt_type *prt_upgrade_ranked(const prt_value *v);

/* Turns the op into Reshape of `value` to the shape of `like`; the op keeps its output. */
poprt_status prt_upgrade_become_reshape(prt_upgrade *u, prt_build *b, prt_value *value,
    prt_value *like);

/* Turns the op into another row of the table; its inputs, outputs and regions stay. Attributes of
 * the node that the new row has with the same name and kind are filled in unless they were taken
 * before; the others get their defaults. */
poprt_status prt_upgrade_become(prt_upgrade *u, uint32_t id);

/* Fails if the node has an attribute that its operator does not have at the model's opset. */
poprt_status prt_upgrade_check_names(const prt_upgrade *u);

/* The check for a hook whose operator has no schema in ops.def or history.def: fails on an
 * attribute that is not taken, up to the `newest` version of the operator. `accepted` names the
 * valid ones. */
poprt_status prt_upgrade_check_taken(const prt_upgrade *u, int64_t newest, const char *accepted);

/*
 * Used by the reader: fills in, upgrades and types the nodes of a model in order. The nodes of a
 * region precede the op that holds it. All failures are collected into one report. Nodes whose
 * operators have neither a table entry nor a row stay unchanged.
 */
poprt_status prt_upgrade_all(prt_upgrade *nodes, size_t count);

#endif
