/* SPDX-License-Identifier: MIT */
/* test_linear.c — LinearClassifier, LinearRegressor and the transforms of scores. Expected
 * numbers that are not round come from ONNX Runtime.
 * Covers: dot_products.c, ml.c. */
#include "support/check_main.h"
#include "support/op_check.h"
#include "support/op_text.h"

#define THREE(post, out)                                                                           \
    "x = const f32[2,1] {0.3,-0.9}\n"                                                              \
    "y, z = ml_linear_classifier x {coefficients=[0.5,0.25,-0.25], intercepts=[0.5,0.25,0.5], "    \
    "classlabels_ints=[1,2,3], post_transform=" post "}\nreturn " out "\n"

START_TEST(post_transforms_have_their_values)
{
    ck_result(THREE("NONE", "y"), "i64[2] {1,3}");
    ck_result_within(THREE("NONE", "z"), "f32[2,3] {0.65,0.325,0.425,0.05,0.025,0.725}", 1e-6);
    ck_result_within(THREE("LOGISTIC", "z"),
        "f32[2,3] {0.65701044,0.58054233,0.60467911,0.51249743,0.50624967,0.67370713}", 1e-6);
    ck_result_within(THREE("SOFTMAX", "z"),
        "f32[2,3] {0.3966611,0.2865985,0.31674034,0.25384945,0.24758188,0.49856871}", 1e-6);
    ck_result_within(THREE("SOFTMAX_ZERO", "z"),
        "f32[2,3] {0.3966611,0.2865985,0.31674034,0.25384945,0.24758188,0.49856871}", 1e-6);
    ck_result_within(THREE("PROBIT", "z"),
        "f32[2,3] {0.38534024,-0.45379275,-0.18912059,-1.64466965,-1.95904887,0.59782374}", 1e-5);
    ck_failure(THREE("SQUARE", "z"), POPRT_E_ARG, "post_transform is \"SQUARE\"");
}
END_TEST

/* Zero scores stay zero, and so does a row of zeros. */
START_TEST(softmax_zero_keeps_zeros)
{
    ck_result_within("x = const f32[2] {1,0}\ny, z = ml_linear_classifier x {coefficients=[1,0,0,1,"
                     "-1,0], intercepts=[0,0,0], classlabels_ints=[1,2,3], "
                     "post_transform=SOFTMAX_ZERO}\nreturn z\n",
        "f32[1,3] {0.880797,0,0.119203}", 1e-6);
    ck_result("x = const f32[1] {0}\ny, z = ml_linear_classifier x {coefficients=[1,1], "
              "intercepts=[0,0], classlabels_ints=[1,2], post_transform=SOFTMAX_ZERO}\n"
              "return z\n",
        "f32[1,2] {0,0}");
}
END_TEST

#define ONE(labels, post, out)                                                                     \
    "x = const f32[2,1] {0.3,-0.9}\n"                                                              \
    "y, z = ml_linear_classifier x {coefficients=[0.5], intercepts=[0.1], " labels                 \
    ", post_transform=" post "}\nreturn " out "\n"

START_TEST(one_row_of_weights_gives_two_classes)
{
    ck_result(ONE("classlabels_strings=[a,b]", "NONE", "y"), "string[2] {b,a}");
    ck_result_within(ONE("classlabels_ints=[5,7]", "NONE", "z"), "f32[2,2] {0.75,0.25,1.35,-0.35}",
        1e-6);
    ck_result_within(ONE("classlabels_ints=[5,7]", "LOGISTIC", "z"),
        "f32[2,2] {0.43782347,0.56217653,0.5866176,0.41338241}", 1e-6);
    ck_result(ONE("classlabels_ints=[5]", "NONE", "y"), "i64[2] {1,0}");
    ck_result_within(ONE("classlabels_ints=[5]", "LOGISTIC", "z"), "f32[2,1] {0.25,-0.35}", 1e-6);
    ck_failure(ONE("classlabels_ints=[1,2,3]", "NONE", "z"), POPRT_E_ARG,
        "1 sets of weights for 3 labels");
    ck_failure(ONE("classlabels_ints=[1,2], classlabels_strings=[a]", "NONE", "z"), POPRT_E_ARG,
        "exactly one");
}
END_TEST

START_TEST(classifier_shapes_are_checked)
{
    ck_result("x = const i64[0,2] {}\ny, z = ml_linear_classifier x {coefficients=[1,2,3,4], "
              "intercepts=[0,0], classlabels_ints=[1,2]}\nreturn z\n",
        "f32[0,2] {}");
    /* Without intercepts, the number of coefficients gives the number of classes. */
    ck_result("x = const f64[2] {1,2}\ny, z = ml_linear_classifier x {coefficients=[1,2,3,-4], "
              "classlabels_ints=[1,2]}\nreturn z\n",
        "f32[1,2] {5,-5}");
    ck_type("x = input f32[n,2]\ny, z = ml_linear_classifier x {coefficients=[1,2,3,-4], "
            "classlabels_ints=[1,2]}\nreturn z\n",
        "f32[n,2]");
    ck_failure("x = const f32[2] {1,2}\ny, z = ml_linear_classifier x {coefficients=[1,2,3], "
               "intercepts=[0,0], classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "3 coefficients for 2 sets of weights and 2 features");
    ck_failure("x = const f32[0] {}\ny, z = ml_linear_classifier x {coefficients=[1], "
               "classlabels_ints=[1,2]}\nreturn z\n",
        POPRT_E_ARG, "0 sets of weights");
}
END_TEST

START_TEST(regressor_sums_weighted_features)
{
    ck_result("x = const f32[2,2] {1,2,3,4}\ny = ml_linear_regressor x "
              "{coefficients=[1,10,0.5,0], intercepts=[0.5,1], targets=2}\nreturn y\n",
        "f32[2,2] {21.5,1.5,43.5,2.5}");
    ck_result("x = const i32[2] {1,2}\ny = ml_linear_regressor x {coefficients=[1,10]}\n"
              "return y\n",
        "f32[1,1] {21}");
    /* Only PROBIT changes a single score. */
    ck_result("x = const f64[1] {3}\n"
              "y = ml_linear_regressor x {coefficients=[1], post_transform=SOFTMAX}\nreturn y\n",
        "f32[1,1] {3}");
    ck_result_within("x = const f64[1] {0.7}\n"
                     "y = ml_linear_regressor x {coefficients=[1], post_transform=PROBIT}\n"
                     "return y\n",
        "f32[1,1] {0.52444589}", 1e-5);
    ck_failure("x = const f32[1] {1}\ny = ml_linear_regressor x {coefficients=[1], targets=0}\n"
               "return y\n",
        POPRT_E_ARG, "targets is 0");
    ck_failure("x = const f32[1] {1}\n"
               "y = ml_linear_regressor x {coefficients=[1], intercepts=[1,2]}\nreturn y\n",
        POPRT_E_ARG, "2 intercepts for 1 targets");
    ck_failure("x = const f32[2] {1,1}\ny = ml_linear_regressor x {coefficients=[1]}\nreturn y\n",
        POPRT_E_ARG, "1 coefficients");
}
END_TEST

PRT_TEST_MAIN("op/ml/linear", post_transforms_have_their_values, softmax_zero_keeps_zeros,
    one_row_of_weights_gives_two_classes, classifier_shapes_are_checked,
    regressor_sums_weighted_features)
