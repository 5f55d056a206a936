/* SPDX-License-Identifier: MIT */
/* test_encode.c — OneHotEncoder, CategoryMapper, LabelEncoder: absent keys, invalid lists.
 * Covers: lookup.c, ml.c. */
#include "support/check_main.h"
#include "support/op_check.h"
#include "support/op_text.h"

START_TEST(one_hot_marks_the_category)
{
    ck_result("x = const i64[2,2] {3,1,9,1}\ny = ml_one_hot_encoder x {cats_int64s=[1,2,3]}\n"
              "return y\n",
        "f32[2,2,3] {0,0,1, 1,0,0, 0,0,0, 1,0,0}");
    /* Numbers are truncated; if categories are equal, the last one counts. */
    ck_result("x = const f32[1,3] {-1,2.7,3}\ny = ml_one_hot_encoder x {cats_int64s=[2,3,2]}\n"
              "return y\n",
        "f32[1,3,3] {0,0,0, 0,0,1, 0,1,0}");
    ck_result("x = const string[2] {b,\"\"}\ny = ml_one_hot_encoder x {cats_strings=[\"\",b]}\n"
              "return y\n",
        "f32[2,2] {0,1, 1,0}");
    ck_result("x = const f64[] {nan}\ny = ml_one_hot_encoder x {cats_int64s=[0]}\nreturn y\n",
        "f32[1] {1}");
    ck_result("x = const i32[0] {}\ny = ml_one_hot_encoder x {cats_int64s=[0,1]}\nreturn y\n",
        "f32[0,2] {}");
    ck_type("x = input i32[n,2]\ny = ml_one_hot_encoder x {cats_int64s=[4,5]}\nreturn y\n",
        "f32[n,2,2]");
}
END_TEST

START_TEST(unknown_categories_are_refused)
{
    ck_failure("x = const i64[2] {1,7}\ny = ml_one_hot_encoder x {cats_int64s=[1], zeros=0}\n"
               "return y\n",
        POPRT_E_ARG, "element 1 is not one of the 1 categories");
    ck_failure("x = const i64[1] {1}\ny = ml_one_hot_encoder x {cats_strings=[a]}\nreturn y\n",
        POPRT_E_TYPE, "the categories are strings");
    ck_failure("x = const i64[1] {1}\ny = ml_one_hot_encoder x\nreturn y\n", POPRT_E_ARG,
        "exactly one of the lists");
    ck_failure("x = const i64[1] {1}\n"
               "y = ml_one_hot_encoder x {cats_strings=[a], cats_int64s=[1]}\nreturn y\n",
        POPRT_E_ARG, "exactly one of the lists");
}
END_TEST

#define MAPPER "{cats_strings=[a,b,a], cats_int64s=[2,3,4], default_string=none}"

START_TEST(mapper_maps_both_ways)
{
    ck_result("x = const string[3] {a,b,c}\ny = ml_category_mapper x " MAPPER "\nreturn y\n",
        "i64[3] {4,3,-1}");
    ck_result("x = const i64[2,2] {2,3,4,5}\ny = ml_category_mapper x " MAPPER "\nreturn y\n",
        "string[2,2] {a,b,a,none}");
    ck_type("x = input string[n]\ny = ml_category_mapper x " MAPPER "\nreturn y\n", "i64[n]");
    ck_failure("x = const i64[1] {1}\n"
               "y = ml_category_mapper x {cats_strings=[a], cats_int64s=[1,2]}\nreturn y\n",
        POPRT_E_ARG, "has 2 entries");
}
END_TEST

START_TEST(labels_map_keys_to_values)
{
    ck_result("x = const string[3] {Sally,Dori,Amy}\n"
              "y = ml_label_encoder x {keys_strings=[Amy,Sally], values_int64s=[5,6]}\nreturn y\n",
        "i64[3] {6,-1,5}");
    /* Any NaN equals NaN, -0 equals 0; if keys are equal, the last one counts. */
    ck_result("x = const f32[5] {1,nan,0,-0.0,5}\ny = ml_label_encoder x "
              "{keys_floats=[1,nan,-0.0,1], values_strings=[x,n,z,w], default_string=q}\n"
              "return y\n",
        "string[5] {w,n,z,z,q}");
    ck_result("x = const i64[2] {1,2}\n"
              "y = ml_label_encoder x {keys_int64s=[1], values_floats=[2.5]}\nreturn y\n",
        "f32[2] {2.5,-0.0}");
    ck_result("x = const i32[3] {1,2,3}\ny = ml_label_encoder x {keys_tensor=i32[2] {1,2}, "
              "values_tensor=i16[2] {5,6}}\nreturn y\n",
        "i16[3] {5,6,-1}");
    ck_result("x = const f64[2] {0.1,0.2}\ny = ml_label_encoder x {keys_tensor=f64[1] {0.1}, "
              "values_tensor=string[1] {tenth}, default_tensor=string[1] {other}}\nreturn y\n",
        "string[2] {tenth,other}");
    ck_result("x = const i16[2] {7,8}\ny = ml_label_encoder x {keys_tensor=i16[1] {7}, "
              "values_tensor=f64[1] {0.5}}\nreturn y\n",
        "f64[2] {0.5,-0.0}");
    ck_result("x = const i64[0,3] {}\n"
              "y = ml_label_encoder x {keys_int64s=[1], values_int64s=[2]}\nreturn y\n",
        "i64[0,3] {}");
    ck_type("x = input i64[n,2]\n"
            "y = ml_label_encoder x {keys_int64s=[1], values_strings=[a]}\nreturn y\n",
        "string[n,2]");
}
END_TEST

START_TEST(wrong_label_lists_are_refused)
{
    ck_failure("x = const i64[1] {1}\n"
               "y = ml_label_encoder x {keys_int64s=[1,2], values_int64s=[2]}\nreturn y\n",
        POPRT_E_ARG, "keys_* has 2 entries");
    ck_failure("x = const i64[1] {1}\ny = ml_label_encoder x {keys_int64s=[1]}\nreturn y\n",
        POPRT_E_ARG, "0 of the lists values_* are given");
    ck_failure("x = const i64[1] {1}\ny = ml_label_encoder x "
               "{keys_int64s=[1], keys_floats=[1], values_int64s=[1]}\nreturn y\n",
        POPRT_E_ARG, "2 of the lists keys_*");
    ck_failure("x = const f32[1] {1}\n"
               "y = ml_label_encoder x {keys_int64s=[1], values_int64s=[2]}\nreturn y\n",
        POPRT_E_TYPE, "the input is float32, but keys_* has int64");
    ck_failure("x = const i64[1] {1}\ny = ml_label_encoder x {keys_int64s=[1], "
               "values_int64s=[2], default_tensor=f32[1] {1}}\nreturn y\n",
        POPRT_E_TYPE, "one of int64 is needed");
    ck_failure("x = const i64[1] {1}\ny = ml_label_encoder x {keys_int64s=[1], "
               "values_tensor=u8[1] {1}}\nreturn y\n",
        POPRT_E_TYPE, "are not supported");
}
END_TEST

PRT_TEST_MAIN("op/ml/encode", one_hot_marks_the_category, unknown_categories_are_refused,
    mapper_maps_both_ways, labels_map_keys_to_values, wrong_label_lists_are_refused)
