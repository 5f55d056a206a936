/* SPDX-License-Identifier: MIT */
/*
 * frame.h — branches and loops of TensorFlow 1, which are nodes among the others: Switch sends a
 * tensor to one of two sides, Merge takes the side that has one; Enter, Merge, Switch,
 * NextIteration and Exit around nodes make a loop, called a frame. Here each node of a body gets
 * its place: the list of the frames and sides of branches that it is in.
 */
#ifndef PRT_TENSORFLOW_FRAME_H
#define PRT_TENSORFLOW_FRAME_H

#include "tensorflow/convert.h"

/* A frame or one side of a branch, within the place around it. */
typedef struct prt_tf_place {
    const struct prt_tf_place *around; /* NULL: within the body itself */
    uint32_t depth;
    bool loop;
    prt_str frame;                   /* of a loop: its name */
    prt_tf_edge pred;                /* of a branch: the condition */
    uint32_t side;                   /* of a branch: output of Switch */
    const struct prt_tf_place *next; /* in the list of all places of the body */
} prt_tf_place;

/* The places of the nodes of a body. */
typedef struct prt_tf_places {
    const prt_tf_body *body;
    const prt_tf_place **of; /* of each node */
    const prt_tf_place *all;
    struct prt_tf_places *next;
} prt_tf_places;

/* Returns the places of a body, which are computed once; NULL (recorded) on failure. */
const prt_tf_places *prt_tf_places_of(prt_tf_converter *c, const prt_tf_body *body);

/* Returns whether `inner` is `outer` or within it. */
bool prt_tf_place_within(const prt_tf_place *inner, const prt_tf_place *outer);

/* Returns whether a Merge begins the iterations of a loop. */
bool prt_tf_is_loop_merge(const prt_tf_body *body, const prt_tf_node *node);

static inline bool prt_tf_node_is(const prt_tf_node *node, const char *op)
{
    return prt_str_is(node->op, op) ||
        (node->op.size > 3 && memcmp(node->op.data, "Ref", 3) == 0 &&
            prt_str_is((prt_str){ node->op.data + 3, node->op.size - 3 }, op));
}

#endif
