/* SPDX-License-Identifier: MIT */
/*
 * ml.h — what operators of ai.onnx.ml share: rows of features, labels, transforms of scores, and
 * checks that run both while types are inferred and before a value is computed.
 *
 * Where the standard is silent these operators do what ONNX Runtime does.
 */
#ifndef PRT_OP_ML_ML_H
#define PRT_OP_ML_ML_H

#include "op/op.h"

/* Where a model's data is checked: in infer with its scratch memory, or in eval with its own.
 * Exactly one of the two is set. */
typedef struct prt_ml_site {
    prt_infer *infer;
    prt_eval *eval;
} prt_ml_site;

poprt_status prt_ml_fail(const prt_ml_site *site, poprt_status status, const char *fmt, ...)
    PRT_PRINTF(3, 4);

/* Zeroed memory for this call; NULL (failure recorded) when refused. */
void *prt_ml_alloc(const prt_ml_site *site, size_t count, size_t size);

/* Dims of input 0 as rows of features: [N,C], or [C] for one row. Each a dim or unknown. */
poprt_status prt_ml_infer_rows(prt_infer *c, int64_t *rows, int64_t *features);

/* The same of a value that has passed it. */
static inline size_t prt_ml_rows(const prt_tensor *x)
{
    return x->rank == 2 ? (size_t)x->dims[0] : 1;
}
static inline size_t prt_ml_features(const prt_tensor *x)
{
    return (size_t)x->dims[x->rank - 1];
}

/* For k < count, to[k] = the sum over i < n of x[i] * v[k * n + i], or of the squares of what x[i]
 * and v[k * n + i] differ by. */
void prt_ml_dots(size_t n, size_t count, const double *x, const float *v, double *to);
void prt_ml_distances(size_t n, size_t count, const double *x, const float *v, double *to);

/* ---- labels of classes ---- */

typedef struct prt_ml_labels {
    prt_strs strings;
    prt_i64s ints;
} prt_ml_labels;

/* Strings where there are any. */
static inline uint32_t prt_ml_label_count(const prt_ml_labels *labels)
{
    return labels->strings.count != 0 ? labels->strings.count : labels->ints.count;
}
static inline int32_t prt_ml_label_dtype(const prt_ml_labels *labels)
{
    return labels->strings.count != 0 ? PRT_DTYPE_string : PRT_DTYPE_i64;
}

/* Fails unless exactly one of the two lists has labels. `what` names the attributes. */
poprt_status prt_ml_check_labels(const prt_infer *c, const prt_ml_labels *labels, const char *what);

/* Label k into element `row` of y. */
void prt_ml_put_label(const prt_ml_labels *labels, size_t k, prt_tensor *y, size_t row);

/* "1" or "0", where one score decides between classes that have no two labels. */
void prt_ml_put_sign(bool positive, prt_tensor *y, size_t row);

/* ---- scores ---- */

/* Numbered as TreeEnsemble does. */
typedef enum prt_ml_transform {
    PRT_ML_NONE,
    PRT_ML_SOFTMAX,
    PRT_ML_LOGISTIC,
    PRT_ML_SOFTMAX_ZERO,
    PRT_ML_PROBIT,
    PRT_ML_TRANSFORMS
} prt_ml_transform;

/* By its name; false when there is none of this name. */
bool prt_ml_transform_find(prt_str name, prt_ml_transform *out);
poprt_status prt_ml_check_transform(const prt_infer *c, prt_str name);
static inline prt_ml_transform prt_ml_transform_of(prt_str name)
{
    prt_ml_transform t = PRT_ML_NONE;
    (void)prt_ml_transform_find(name, &t);
    return t;
}

/* The scores of one row, in place. One score alone is only changed by PROBIT. */
void prt_ml_transform_scores(prt_ml_transform t, double *scores, size_t n);

/*
 * One score that decides between two classes becomes theirs in `pair`: a probability p becomes
 * 1 - p and p, a signed score s becomes -s and s.
 */
void prt_ml_two_scores(prt_ml_transform t, double score, bool probability, double *pair);

double prt_ml_logistic(double x);

#endif
