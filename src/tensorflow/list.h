/* SPDX-License-Identifier: MIT */
/*
 * list.h — TensorLists and TensorArrays. A list is a fact of the conversion and not a value of the
 * graph: each operator on it makes a new prt_tf_list. The elements are one of
 *
 *   a tensor    [n, element…], when the shapes of all elements are equal
 *   a sequence  when shapes are not known before a loop that appends to the list
 *   a scan      inside of a loop that sets element i in iteration i: the loop stacks the elements
 *   nothing     no element was set: `size` elements of zeros, of shape `dims`
 */
#ifndef PRT_TENSORFLOW_LIST_H
#define PRT_TENSORFLOW_LIST_H

#include "tensorflow/convert.h"

typedef enum prt_tf_list_form {
    PRT_TF_LIST_unset,
    PRT_TF_LIST_tensor,
    PRT_TF_LIST_sequence,
    PRT_TF_LIST_scan
} prt_tf_list_form;

/* What a loop that tries to stack a list learns from its body. */
typedef struct prt_tf_scan {
    bool refused;           /* the body uses the list in another way */
    const prt_graph *graph; /* the body */
    prt_value *item;        /* the element of this iteration; NULL: not set yet */
    prt_value *index;       /* its index; NULL: the element was appended */
} prt_tf_scan;

typedef struct prt_tf_list {
    prt_tf_list_form form;
    int32_t dtype;
    int32_t rank;               /* of an element; PRT_RANK_UNKNOWN */
    int64_t dims[PRT_MAX_RANK]; /* of an element: numbers, expressions or unknown */
    bool grows;                 /* an element behind the last one may be set */
    prt_value *size;            /* int64 of rank 0, of an unset list or a scan; else perhaps NULL */
    prt_value *value;           /* of a tensor or a sequence */
    prt_tf_scan *scan;
} prt_tf_list;

/* Returns the list of input i; records the failure and returns NULL for another kind of value. */
const prt_tf_list *prt_tf_in_list(prt_tf_call *call, uint32_t i);
/* Sets output k to a copy of a list. */
void prt_tf_set_list(prt_tf_call *call, uint32_t k, const prt_tf_list *list);
/* Makes a value of a list, which is copied; kind PRT_TF_none without memory. */
prt_tf_value prt_tf_list_value(prt_tf_converter *c, const prt_tf_list *list);

/* Returns the elements of a list as a tensor [n, element…]; NULL if a dimension of unset elements
 * is not known, which is recorded in the builder. */
prt_value *prt_tf_list_tensor(prt_build *b, const prt_tf_list *list);
/* Returns the number of elements: int64, rank 0. */
prt_value *prt_tf_list_length(prt_build *b, const prt_tf_list *list);

/* Returns whether zeros of the shape of an element can be made: its dimensions are numbers or those
 * of inputs of the model. */
bool prt_tf_list_has_shape(const prt_module *m, const prt_tf_list *list);

/* Returns zeros [count, …] with the dims of `like` from axis `from` on. */
prt_value *prt_tf_zero_rows(prt_build *b, prt_value *count, prt_value *like, int64_t from);
/* Returns a tensor with rows of zeros behind it, so that it has at least `size` rows. */
prt_value *prt_tf_pad_rows(prt_build *b, prt_value *tensor, prt_value *size);

/* Makes a list of a tensor [n, element…]. */
prt_tf_list prt_tf_list_of_tensor(prt_value *tensor);
/* Makes a list of a sequence, with the element type of `like`. */
prt_tf_list prt_tf_list_of_sequence(const prt_tf_list *like, prt_value *sequence);
/* Returns an empty sequence with the element type of a list. */
prt_value *prt_tf_list_empty_sequence(prt_build *b, const prt_tf_list *list);

#endif
