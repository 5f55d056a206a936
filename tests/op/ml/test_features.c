/* SPDX-License-Identifier: MIT */
/* test_features.c — ArrayFeatureExtractor, FeatureVectorizer, Binarizer, Scaler, Imputer,
 * Normalizer.
 * Covers: scale.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(extractor_picks_columns)
{
    ck_result("x = const f32[2,3] {1,2,3,4,5,6}\ni = const i64[2] {2,0}\n"
              "y = ml_array_feature_extractor x i\nreturn y\n",
        "f32[2,2] {3,1,6,4}");
    ck_result("x = const string[3] {a,b,c}\ni = const i64[1,2] {1,1}\n"
              "y = ml_array_feature_extractor x i\nreturn y\n",
        "string[1,2] {b,b}");
    ck_result("x = const i32[2,1,2] {1,2,3,4}\ni = const i64[] {1}\n"
              "y = ml_array_feature_extractor x i\nreturn y\n",
        "i32[2,1,1] {2,4}");
    ck_type("x = input f64[n,4]\ni = input i64[k]\ny = ml_array_feature_extractor x i\nreturn y\n",
        "f64[n,k]");
    ck_failure("x = const f32[2] {1,2}\ni = const i64[1] {2}\n"
               "y = ml_array_feature_extractor x i\nreturn y\n",
        POPRT_E_ARG, "index 0 is 2; there are 2 features");
    ck_failure("x = const f32[2] {1,2}\ni = const i64[1] {-1}\n"
               "y = ml_array_feature_extractor x i\nreturn y\n",
        POPRT_E_ARG, "index 0 is -1");
    ck_failure("x = const f32[] {1}\ni = const i64[1] {0}\n"
               "y = ml_array_feature_extractor x i\nreturn y\n",
        POPRT_E_SHAPE, "scalar");
}
END_TEST

START_TEST(vectorizer_joins_its_inputs)
{
    ck_result("a = const i64[2,2] {1,2,3,4}\nb = const i64[2,1] {5,6}\n"
              "y = ml_feature_vectorizer a b {inputdimensions=[2,1]}\nreturn y\n",
        "f32[2,3] {1,2,5,3,4,6}");
    /* The first input is cut to one feature, the second one is padded to two. */
    ck_result("a = const f32[2] {1,2}\nb = const f32[1] {5}\n"
              "y = ml_feature_vectorizer a b {inputdimensions=[1,2]}\nreturn y\n",
        "f32[1,3] {1,5,0}");
    ck_result("a = const f64[1,2,2] {1,2,3,4}\ny = ml_feature_vectorizer a\nreturn y\n",
        "f32[1,4] {1,2,3,4}");
    ck_type("a = input f32[n,2]\nb = input f32[n,k]\ny = ml_feature_vectorizer a b\nreturn y\n",
        "f32[n,(k+2)]");
    ck_failure("a = const f32[2,1] {1,2}\nb = const f32[1] {5}\n"
               "y = ml_feature_vectorizer a b {inputdimensions=[1,1]}\nreturn y\n",
        POPRT_E_SHAPE, "the number of rows");
    ck_failure("a = const f32[1] {1}\ny = ml_feature_vectorizer a {inputdimensions=[1,1]}\n"
               "return y\n",
        POPRT_E_ARG, "2 numbers for 1 inputs");
    ck_failure("a = const f32[1] {1}\ny = ml_feature_vectorizer a _\nreturn y\n", POPRT_E_PARSE,
        "input 1 is missing");
    ck_failure("a = const f32[1] {1}\ny = ml_feature_vectorizer a {inputdimensions=[-1]}\n"
               "return y\n",
        POPRT_E_ARG, "inputdimensions[0] is -1");
}
END_TEST

START_TEST(binarizer_compares_exactly)
{
    ck_result("x = const f32[4] {0.5,0.25,nan,inf}\ny = ml_binarizer x {threshold=0.25}\n"
              "return y\n",
        "f32[4] {1,0,0,1}");
    /* 2^60 + 1 is above 2^60, although a double cannot tell them apart. */
    ck_result("x = const i64[3] {1152921504606846977,1152921504606846976,-5}\n"
              "y = ml_binarizer x {threshold=1152921504606846976}\nreturn y\n",
        "i64[3] {1,0,0}");
    ck_result("x = const i32[3] {-2,-1,0}\ny = ml_binarizer x {threshold=-1.5}\nreturn y\n",
        "i32[3] {0,1,1}");
    ck_result("x = const i64[2] {9223372036854775807,0}\ny = ml_binarizer x {threshold=1e30}\n"
              "return y\n",
        "i64[2] {0,0}");
    ck_result("x = const i64[1] {-9223372036854775808}\ny = ml_binarizer x {threshold=-inf}\n"
              "return y\n",
        "i64[1] {1}");
    ck_result("x = const f64[0,2] {}\ny = ml_binarizer x\nreturn y\n", "f64[0,2] {}");
}
END_TEST

START_TEST(scaler_scales_each_feature)
{
    ck_result("x = const f32[2,2] {1,2,3,4}\n"
              "y = ml_scaler x {offset=[1,2], scale=[2,0.5]}\nreturn y\n",
        "f32[2,2] {0,0,4,1}");
    ck_result("x = const i64[3] {1,2,3}\ny = ml_scaler x {offset=[1], scale=[2]}\nreturn y\n",
        "f32[3] {0,2,4}");
    ck_result("x = const f64[1,2,2] {1,2,3,4}\ny = ml_scaler x {scale=[10]}\nreturn y\n",
        "f32[1,2,2] {10,20,30,40}");
    ck_type("x = input i32[n,m]\ny = ml_scaler x {scale=[1,2]}\nreturn y\n", "f32[n,m]");
    ck_failure("x = const f32[1,3] {1,2,3}\ny = ml_scaler x {scale=[1,2]}\nreturn y\n", POPRT_E_ARG,
        "scale has 2 numbers for 3 features");
    ck_failure("x = const f32[1,3] {1,2,3}\ny = ml_scaler x {offset=[1,2]}\nreturn y\n",
        POPRT_E_ARG, "offset has 2 numbers");
}
END_TEST

START_TEST(imputer_replaces_the_given_value)
{
    ck_result("x = const f32[2,2] {nan,2,3,nan}\ny = ml_imputer x "
              "{imputed_value_floats=[7,8], replaced_value_float=nan}\nreturn y\n",
        "f32[2,2] {7,2,3,8}");
    ck_result("x = const i64[3] {1,0,1}\ny = ml_imputer x "
              "{imputed_value_int64s=[9], replaced_value_int64=1}\nreturn y\n",
        "i64[3] {9,0,9}");
    ck_result("x = const f64[2] {0,0.1}\ny = ml_imputer x {imputed_value_floats=[0.5]}\n"
              "return y\n",
        "f64[2] {0.5,0.1}");
    ck_result("x = const i32[2] {-1,4}\ny = ml_imputer x "
              "{imputed_value_int64s=[-2147483648], replaced_value_int64=-1}\nreturn y\n",
        "i32[2] {-2147483648,4}");
    ck_failure("x = const i32[1] {1}\ny = ml_imputer x {imputed_value_int64s=[2147483648]}\n"
               "return y\n",
        POPRT_E_ARG, "does not fit int32");
    ck_failure("x = const f32[1] {1}\ny = ml_imputer x {imputed_value_int64s=[1]}\nreturn y\n",
        POPRT_E_ARG, "imputed_value_floats is missing");
    ck_failure("x = const f32[3] {1,2,3}\ny = ml_imputer x {imputed_value_floats=[1,2]}\n"
               "return y\n",
        POPRT_E_ARG, "2 numbers for 3 features");
}
END_TEST

#define NORMALIZE(how)                                                                             \
    "x = const f32[3,3] {-1,-2,-3,0,0,0,1,-2,0}\ny = ml_normalizer x {norm=" how "}\nreturn y\n"

START_TEST(normalizer_divides_by_each_norm)
{
    ck_result(NORMALIZE("MAX"), "f32[3,3] {1,2,3,0,0,0,1,-2,0}");
    ck_result_within(NORMALIZE("L1"),
        "f32[3,3] {-0.16666667,-0.33333333,-0.5,0,0,0,0.33333333,-0.66666667,0}", 1e-7);
    ck_result_within(NORMALIZE("L2"),
        "f32[3,3] {-0.26726124,-0.53452248,-0.80178373,0,0,0,0.4472136,-0.89442719,0}", 1e-7);
    ck_result("x = const i64[2] {2,4}\ny = ml_normalizer x\nreturn y\n", "f32[2] {0.5,1}");
    ck_result("x = const f64[2,0] {}\ny = ml_normalizer x\nreturn y\n", "f32[2,0] {}");
    ck_failure("x = const f32[1] {1}\ny = ml_normalizer x {norm=L3}\nreturn y\n", POPRT_E_ARG,
        "not one of MAX, L1, L2");
    ck_failure("x = const f32[1,1,1] {1}\ny = ml_normalizer x\nreturn y\n", POPRT_E_SHAPE,
        "rank 3");
}
END_TEST

PRT_TEST_MAIN("op/ml/features", extractor_picks_columns, vectorizer_joins_its_inputs,
    binarizer_compares_exactly, scaler_scales_each_feature, imputer_replaces_the_given_value,
    normalizer_divides_by_each_norm)
