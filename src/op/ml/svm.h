/* SPDX-License-Identifier: MIT */
/* svm.h — kernels over support vectors, shared by SVMClassifier and SVMRegressor. */
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

/* Support vectors [count, features]; for linear models the rows are the weights themselves. */
typedef struct prt_svm {
    prt_svm_kernel kernel;
    double gamma, coef0, degree;
    const float *vectors;
    size_t count, features;
    const prt_kern_rows *fast; /* NULL: sums in double */
    float *row;                /* with `fast`: scratch, features + count floats */
} prt_svm;

/* Checks and reads kernel_type and kernel_params (gamma, coef0, degree; an empty list means
   zeros). */
poprt_status prt_svm_check(const prt_infer *c, prt_str type, prt_f32s params);
prt_svm prt_svm_of(prt_str type, prt_f32s params);

/* Fails unless `vectors`, the length of list `name`, is `count` times the number of features of
   input 0. */
poprt_status prt_svm_check_vectors(const prt_infer *c, const char *name, uint32_t vectors,
    int64_t count, int64_t features);

/* Allocates `row` in scratch if `fast` is set. */
poprt_status prt_svm_alloc_row(prt_eval *c, prt_svm *s);

/* Evaluate the operators, with the row kernels of one instruction set level or, if NULL, in
   double. */
poprt_status prt_svm_regress(prt_eval *c, const prt_kern_rows *fast);
poprt_status prt_svm_classify(prt_eval *c, const prt_kern_rows *fast);

/* Sets to[k] to the kernel of row x and vector k. */
void prt_svm_row(const prt_svm *s, const double *x, double *to);

/* Pairwise coupling: computes the probabilities p of n classes from the pairwise probabilities,
   where r[i*n+j] is the probability of i against j. `scratch` holds n*n + n numbers. */
void prt_svm_couple(size_t n, const double *r, double *p, double *scratch);

#endif
