/* SPDX-License-Identifier: MIT */
/* test_svm.c — SVMRegressor and SVMClassifier against results of ONNX Runtime.
 * Covers: svm_classifier.c, dot_products.c. */
#include "support/check_main.h"
#include "support/op_check.h"

#define ROWS "x = const f32[3,2] {1,2,-1,0.5,0,-3}\n"
#define VECTORS "support_vectors=[1,0,0,1,-1,-1,0.5,0.5]"
#define REGRESS(kernel)                                                                            \
    ROWS "y = ml_svm_regressor x {kernel_type=" kernel ", kernel_params=[0.5,1,2], n_supports=4, " \
         "coefficients=[1,-0.5,0.25,2], rho=[0.125], " VECTORS "}\nreturn y\n"

START_TEST(regressor_equals_onnx_runtime)
{
    ck_result_within(REGRESS("LINEAR"), "f32[3,1] {2.375,-1.5,-0.625}", 1e-6);
    ck_result_within(REGRESS("POLY"), "f32[3,1] {6.5625,1.515625,2.6875}", 1e-6);
    ck_result_within(REGRESS("RBF"), "f32[3,1] {0.64978105,0.70727026,0.15595238}", 1e-6);
    ck_result_within(REGRESS("SIGMOID"), "f32[3,1] {2.3153563,1.7828575,1.8541436}", 1e-6);
    ck_result(ROWS "y = ml_svm_regressor x {coefficients=[1,-0.5], rho=[0.125], one_class=1}\n"
                   "return y\n",
        "f32[3,1] {1,-1,1}");
    ck_result("x = const i64[0,2] {}\ny = ml_svm_regressor x {coefficients=[1,2], rho=[0]}\n"
              "return y\n",
        "f32[0,1] {}");
}
END_TEST

START_TEST(wrong_regressors_are_refused)
{
    ck_failure(REGRESS("CUBIC"), POPRT_E_ARG, "kernel_type is not one");
    ck_failure(ROWS "y = ml_svm_regressor x {coefficients=[1,2,3], rho=[0]}\nreturn y\n",
        POPRT_E_ARG, "coefficients has 3 numbers");
    ck_failure(ROWS "y = ml_svm_regressor x {coefficients=[1,2]}\nreturn y\n", POPRT_E_ARG,
        "rho has 0 numbers");
    ck_failure(ROWS "y = ml_svm_regressor x {coefficients=[1], n_supports=2, rho=[0], " VECTORS
                    "}\nreturn y\n",
        POPRT_E_ARG, "1 coefficients for 2 support vectors");
    ck_failure(ROWS "y = ml_svm_regressor x {coefficients=[1,1], n_supports=2, rho=[0], " VECTORS
                    "}\nreturn y\n",
        POPRT_E_ARG, "support_vectors has 8 numbers");
    ck_failure(ROWS "y = ml_svm_regressor x {coefficients=[1,1], rho=[0], kernel_params=[1]}\n"
                    "return y\n",
        POPRT_E_ARG, "kernel_params has 1 numbers");
    ck_failure(ROWS "y = ml_svm_regressor x {coefficients=[1,1], rho=[0], n_supports=-1}\n"
                    "return y\n",
        POPRT_E_ARG, "n_supports is -1");
}
END_TEST

#define COMMON "kernel_type=RBF, kernel_params=[0.5,1,2], " VECTORS
#define THREE(more, out)                                                                           \
    ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[1,-0.5,0.25,2,0.75,0.5,-1,-0.25]," \
         " vectors_per_class=[1,2,1], rho=[0.1,-0.2,0.3], classlabels_ints=[10,20,30]" more        \
         "}\nreturn " out "\n"
#define TWO(more, out)                                                                             \
    ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[1,-0.5,0.25,2], "                  \
         "vectors_per_class=[2,2], rho=[0.1], classlabels_strings=[a,b]" more "}\nreturn " out     \
         "\n"

START_TEST(three_classes_vote_by_pairs)
{
    ck_result(THREE("", "y"), "i64[3] {10,10,10}");
    ck_result_within(THREE("", "z"),
        "f32[3,3] {0.05177142,0.47451109,0.41081008,0.03296536,"
        "0.53887963,0.16181517,0.12709147,-0.19108564,0.21760014}",
        1e-6);
    ck_result_within(THREE(", post_transform=SOFTMAX", "z"),
        "f32[3,3] {0.25264716,0.38557416,0.36177868,0.26343378,0.43690521,0.29966098,0.35433289,"
        "0.25776795,0.38789919}",
        1e-6);
    ck_result_within(THREE(", prob_a=[-1,-2,-0.5], prob_b=[0.1,0.2,-0.3]", "z"),
        "f32[3,3] {0.39593887,0.39320645,0.21085453,0.40302303,0.38659847,0.2103785,0.27917999,"
        "0.38332629,0.33749381}",
        1e-5);
}
END_TEST

START_TEST(two_classes_equal_onnx_runtime)
{
    ck_result(TWO("", "y"), "string[3] {a,a,a}");
    ck_result_within(TWO("", "z"),
        "f32[3,2] {-0.62478101,0.62478101,-0.68227029,0.68227029,-0.13095237,0.13095237}", 1e-6);
    ck_result_within(TWO(", post_transform=LOGISTIC", "z"),
        "f32[3,2] {0.34869486,0.65130514,0.33575481,0.66424519,0.46730858,0.53269142}", 1e-6);
    ck_result_within(TWO(", post_transform=SOFTMAX", "z"),
        "f32[3,2] {0.37521899,0.62478101,0.31772971,0.68227029,0.86904764,0.13095237}", 1e-6);
    ck_result_within(TWO(", prob_a=[-1], prob_b=[0.1]", "z"),
        "f32[3,2] {0.62688041,0.3731195,0.63967633,0.36032361,0.5077374,0.49226257}", 1e-5);
}
END_TEST

START_TEST(linear_classes_equal_onnx_runtime)
{
    const char *mixed = ROWS "y, z = ml_svm_classifier x {coefficients=[1,-0.5,0.25,2], rho=[0.1], "
                             "classlabels_ints=[10,20]}\nreturn y\n";
    const char *scores = ROWS "y, z = ml_svm_classifier x {coefficients=[1,0.5,0.25,0.125], "
                              "rho=[0.1], classlabels_ints=[10,20]}\nreturn z\n";
    ck_result(mixed, "i64[3] {20,20,20}");
    ck_result_within(scores, "f32[3,2] {2.1,0.6,-0.65,-0.0875,-1.4,-0.275}", 1e-6);
    ck_result(ROWS "y, z = ml_svm_classifier x {coefficients=[1,0.5], rho=[0], "
                   "classlabels_ints=[7]}\nreturn y\n",
        "i64[3] {7,7,7}");
}
END_TEST

START_TEST(wrong_classifiers_are_refused)
{
    ck_failure(ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[1,1,1,1], rho=[0.1], "
                    "vectors_per_class=[2,2,0], classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "3 numbers for 2 classes");
    ck_failure(ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[1,1,1], rho=[0.1], "
                    "vectors_per_class=[2,2], classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "3 coefficients for 4 support vectors");
    ck_failure(ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[1,1,1], rho=[0.1], "
                    "vectors_per_class=[1,-1], classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "vectors_per_class[1] is -1");
    ck_failure(ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[1,1,1], rho=[0.1], "
                    "vectors_per_class=[2,1], classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "support_vectors has 8 numbers for 3 vectors");
    ck_failure(ROWS "y, z = ml_svm_classifier x {" COMMON ", coefficients=[], rho=[0.1], "
                    "vectors_per_class=[4], classlabels_ints=[1]}\nreturn z\n",
        POPRT_E_ARG, "only one class");
    ck_failure(TWO(", prob_a=[1]", "z"), POPRT_E_ARG, "prob_a has 1 numbers, prob_b has 0");
    ck_failure(THREE(", prob_a=[1], prob_b=[1]", "z"), POPRT_E_ARG, "3 pairs of classes");
    ck_failure(ROWS "y, z = ml_svm_classifier x {coefficients=[1,1,1,1], "
                    "classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "rho has 0 numbers");
}
END_TEST

PRT_TEST_MAIN("op/ml/svm", regressor_equals_onnx_runtime, wrong_regressors_are_refused,
    three_classes_vote_by_pairs, two_classes_equal_onnx_runtime, linear_classes_equal_onnx_runtime,
    wrong_classifiers_are_refused)
