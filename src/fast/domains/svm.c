/* SPDX-License-Identifier: MIT */
/* svm.c — SVMClassifier and SVMRegressor of float32, with float32 sums. */
#include "op/ml/svm.h"

#include "fast/fast.h"

poprt_status prt_fast_svm(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has(c, 0))
        return prt_fast_use_reference(done);
    return c->def->id == PRT_OP_ml_svm_regressor ? prt_svm_regress(c, &k->rows)
                                                 : prt_svm_classify(c, &k->rows);
}
