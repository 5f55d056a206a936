/* SPDX-License-Identifier: MIT */
/*
 * ml.h — shared parts of the operators of ai.onnx.ml: rows of features, labels, transforms of
 * scores, and checks that run during type inference and before evaluation.
 *
 * Where the standard leaves a behaviour open, these operators follow ONNX Runtime.
 */
#ifndef PRT_OP_ML_ML_H
#define PRT_OP_ML_ML_H

#include "op/op.h"

/* The context in which a model's data is checked: infer, with its scratch memory, or eval, with its
   own. Exactly one of the two is set. */
typedef struct prt_ml_site {
    prt_infer *infer;
    prt_eval *eval;
} prt_ml_site;

/* Records a failure with a printf-style message. Returns `status`. */
poprt_status prt_ml_fail(const prt_ml_site *site, poprt_status status, const char *fmt, ...)
    PRT_PRINTF(3, 4);

/* Returns zeroed scratch memory that lives as long as this infer or eval. Returns NULL, with the
   failure recorded, on allocation failure. */
void *prt_ml_alloc(const prt_ml_site *site, size_t count, size_t size);

/* Returns the dims of input 0 as rows of features: [N,C], or [C] for one row. A dim may be unknown.
   Fails with POPRT_E_SHAPE for other ranks. */
poprt_status prt_ml_infer_rows(prt_infer *c, int64_t *rows, int64_t *features);

/* The same for a tensor whose shape has passed prt_ml_infer_rows. */
static inline size_t prt_ml_rows(const prt_tensor *x)
{
    return x->rank == 2 ? (size_t)x->dims[0] : 1;
}
static inline size_t prt_ml_features(const prt_tensor *x)
{
    return (size_t)x->dims[x->rank - 1];
}

/* For k < count, sets to[k] to the dot product of x and v + k * n, or to their squared Euclidean
   distance. */
void prt_ml_dots(size_t n, size_t count, const double *x, const float *v, double *to);
void prt_ml_distances(size_t n, size_t count, const double *x, const float *v, double *to);

/* ---- labels of classes ---- */

typedef struct prt_ml_labels {
    prt_strs strings;
    prt_i64s ints;
} prt_ml_labels;

/* Number and type of the labels. If there are strings, they take precedence. */
static inline uint32_t prt_ml_label_count(const prt_ml_labels *labels)
{
    return labels->strings.count != 0 ? labels->strings.count : labels->ints.count;
}
static inline int32_t prt_ml_label_dtype(const prt_ml_labels *labels)
{
    return labels->strings.count != 0 ? PRT_DTYPE_string : PRT_DTYPE_i64;
}

/* Fails with POPRT_E_ARG unless exactly one of the two lists has labels. `what` names the
   attributes. */
poprt_status prt_ml_check_labels(const prt_infer *c, const prt_ml_labels *labels, const char *what);

/* Writes label k into element `row` of y. */
void prt_ml_write_label(const prt_ml_labels *labels, size_t k, prt_tensor *y, size_t row);

/* Writes 1 or 0 (as text or integer) into element `row` of y, where one score decides and there are
   not two labels. */
void prt_ml_write_sign(bool positive, prt_tensor *y, size_t row);

/* ---- scores ---- */

/* Numbered as in TreeEnsemble. */
typedef enum prt_ml_transform {
    PRT_ML_NONE,
    PRT_ML_SOFTMAX,
    PRT_ML_LOGISTIC,
    PRT_ML_SOFTMAX_ZERO,
    PRT_ML_PROBIT,
    PRT_ML_TRANSFORMS
} prt_ml_transform;

/* Finds a transform by its name. Returns false for an unknown name. */
bool prt_ml_transform_find(prt_str name, prt_ml_transform *out);
poprt_status prt_ml_check_transform(const prt_infer *c, prt_str name);
static inline prt_ml_transform prt_ml_transform_of(prt_str name)
{
    prt_ml_transform t = PRT_ML_NONE;
    (void)prt_ml_transform_find(name, &t);
    return t;
}

/* Transforms the scores of one row in place. A single score is changed only by PROBIT. */
void prt_ml_transform_scores(prt_ml_transform t, double *scores, size_t n);

/* Expands one score that decides between two classes into two scores. A probability p becomes 1 - p
   and p; a signed score s becomes -s and s. */
void prt_ml_two_scores(prt_ml_transform t, double score, bool probability, double *pair);

double prt_ml_logistic(double x);

#endif
