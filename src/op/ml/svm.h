/* SPDX-License-Identifier: MIT */
/* svm.h — what SVMClassifier and SVMRegressor share: kernels over support vectors. */
#ifndef PRT_OP_ML_SVM_H
#define PRT_OP_ML_SVM_H

#include "kern/rows/rows.h"
#include "op/ml/ml.h"

typedef enum prt_svm_kernel {
    PRT_SVM_LINEAR,
    PRT_SVM_POLY,
    PRT_SVM_RBF,
    PRT_SVM_SIGMOID
} prt_svm_kernel;

/* Support vectors [count, features], or for linear models the weights themselves. */
typedef struct prt_svm {
    prt_svm_kernel kernel;
    double gamma, coef0, degree;
    const float *vectors;
    size_t count, features;
    const prt_kern_rows *fast; /* or NULL: sums in double */
    float *row;                /* with `fast`: features and one number a vector */
} prt_svm;

/* kernel_type and kernel_params (gamma, coef0, degree; none are zeros). */
poprt_status prt_svm_check(const prt_infer *c, prt_str type, prt_f32s params);
prt_svm prt_svm_of(prt_str type, prt_f32s params);

/* Input 0 has as many features as `vectors` numbers in `count` vectors. */
poprt_status prt_svm_check_vectors(const prt_infer *c, const char *name, uint32_t vectors,
    int64_t count, int64_t features);

/* Memory of `row`; nothing without `fast`. */
poprt_status prt_svm_room(prt_eval *c, prt_svm *s);

/* The two operators, by the kernels of a level or without. */
poprt_status prt_svm_regress(prt_eval *c, const prt_kern_rows *fast);
poprt_status prt_svm_classify(prt_eval *c, const prt_kern_rows *fast);

/* The kernel of row x with each vector. */
void prt_svm_row(const prt_svm *s, const double *x, double *to);

/* Probabilities of n classes from those of each pair: r[i*n+j] is that of i against j. `p` gets n
 * numbers; `scratch` has room for n*n + n. */
void prt_svm_couple(size_t n, const double *r, double *p, double *scratch);

#endif
