/* SPDX-License-Identifier: MIT */
/* test_map.c — ZipMap, DictVectorizer and CastMap. The text IR has no constants that are maps:
 * here ZipMap makes them, or the test passes them to one operator directly.
 * Covers: lookup.c, interp.c. */
#include "op/interp.h"

#include "support/check_main.h"
#include "support/op_check.h"

#define MAPS(labels) "x = const f32[2,3] {1,2,3,4,5,6}\ns = ml_zip_map x {" labels "}\n"
#define ITEM(i) "i = const i64[] {" #i "}\nm = sequence_at s i\n"

START_TEST(vectorizer_reverses_zip_map)
{
    ck_result(MAPS("classlabels_strings=[c,a,b]")
                  ITEM(1) "y = ml_dict_vectorizer m {string_vocabulary=[a,nobody,c]}\nreturn y\n",
        "f32[1,3] {5,0,4}");
    ck_result(MAPS("classlabels_int64s=[7,-2,0]")
                  ITEM(0) "y = ml_dict_vectorizer m {int64_vocabulary=[0,7]}\nreturn y\n",
        "f32[1,2] {3,1}");
    /* If labels are equal, the last column counts. */
    ck_result(MAPS("classlabels_int64s=[7,7,0]") ITEM(0) "y = ml_cast_map m\nreturn y\n",
        "f32[1,2] {3,2}");
    ck_result("x = const f32[2] {1,2}\ns = ml_zip_map x {classlabels_int64s=[1,0]}\n" ITEM(
                  0) "y = ml_cast_map m\nreturn y\n",
        "f32[1,2] {2,1}");
    ck_result("x = const f32[0,1] {}\ns = ml_zip_map x {classlabels_int64s=[1]}\n"
              "y = sequence_length s\nreturn y\n",
        "i64[] {0}");
}
END_TEST

START_TEST(map_types_are_inferred)
{
    ck_type("x = input f32[n,2]\ny = ml_zip_map x {classlabels_strings=[a,b]}\nreturn y\n",
        "seq(map(string,f32[]))");
    ck_type("x = input map(i64,f64[])\ny = ml_dict_vectorizer x {int64_vocabulary=[1,2]}\n"
            "return y\n",
        "f64[1,2]");
    ck_type("x = input map(i64,string[])\ny = ml_cast_map x {cast_to=TO_INT64}\nreturn y\n",
        "i64[1,?]");
    ck_type("x = input map(i64,f32[])\ny = ml_cast_map x {map_form=SPARSE, max_map=5}\n"
            "return y\n",
        "f32[1,5]");
    ck_failure("x = input map(string,f32[])\ny = ml_cast_map x\nreturn y\n", POPRT_E_TYPE,
        "not a map from int64");
    ck_failure("x = input map(i64,u8[])\ny = ml_dict_vectorizer x {int64_vocabulary=[1]}\n"
               "return y\n",
        POPRT_E_TYPE, "the map's values are uint8");
    ck_failure("x = input map(i64,f32[])\ny = ml_dict_vectorizer x {string_vocabulary=[a]}\n"
               "return y\n",
        POPRT_E_TYPE, "not a map from string");
    ck_failure("x = input map(i64,f32[])\ny = ml_dict_vectorizer x\nreturn y\n", POPRT_E_ARG,
        "exactly one of the lists");
    ck_failure("x = const f32[1,2] {1,2}\ny = ml_zip_map x {classlabels_int64s=[1]}\nreturn y\n",
        POPRT_E_SHAPE, "2 columns, but 1 labels");
    ck_failure("x = const f32[1,2] {1,2}\ny = ml_zip_map x\nreturn y\n", POPRT_E_ARG,
        "exactly one of the lists");
    ck_failure("x = input map(i64,f32[])\ny = ml_cast_map x {cast_to=TO_BOOL}\nreturn y\n",
        POPRT_E_ARG, "cast_to is not one");
    ck_failure("x = input map(i64,f32[])\ny = ml_cast_map x {map_form=THIN}\nreturn y\n",
        POPRT_E_ARG, "neither DENSE nor SPARSE");
}
END_TEST

START_TEST(cast_map_makes_dense_or_sparse_rows)
{
    ck_result(MAPS("classlabels_int64s=[4,2,0]")
                  ITEM(1) "y = ml_cast_map m {map_form=SPARSE, max_map=6}\nreturn y\n",
        "f32[1,6] {6,0,5,0,4,0}");
    ck_result(
        MAPS("classlabels_int64s=[4,2,0]")
            ITEM(0) "y = ml_cast_map m {map_form=SPARSE, max_map=5, cast_to=TO_STRING}\nreturn y\n",
        "string[1,5] {\"3.000000\",\"0.f\",\"2.000000\",\"0.f\",\"1.000000\"}");
    ck_result(
        "x = const f32[3] {-1.5,2.7e9,nan}\ns = ml_zip_map x {classlabels_int64s=[1,2,3]}\n" ITEM(
            0) "y = ml_cast_map m {cast_to=TO_INT64}\nreturn y\n",
        "i64[1,3] {-1,2700000000,0}");
    ck_result("x = const f32[2] {-2700000000,0.0000004}\n"
              "s = ml_zip_map x {classlabels_int64s=[1,2]}\n" ITEM(
                  0) "y = ml_cast_map m {cast_to=TO_STRING}\nreturn y\n",
        "string[1,2] {\"-2700000000.000000\",\"0.000000\"}");
    ck_failure(MAPS("classlabels_int64s=[4,2,0]")
                   ITEM(0) "y = ml_cast_map m {map_form=SPARSE, max_map=4}\nreturn y\n",
        POPRT_E_ARG, "key 4 is outside [0, 4)");
    ck_failure(MAPS("classlabels_int64s=[4,-2,0]")
                   ITEM(0) "y = ml_cast_map m {map_form=SPARSE, max_map=9}\nreturn y\n",
        POPRT_E_ARG, "key -2 is outside");
}
END_TEST

/* A map from int64 to strings, which no operator makes. */
START_TEST(text_values_become_numbers)
{
    static const struct {
        const char *to, *text;
        poprt_status status;
        double number;
    } cases[] = {
        { "TO_FLOAT", " 12.5", POPRT_OK, 12.5 },
        { "TO_INT64", "-9223372036854775807", POPRT_OK, -9223372036854775807.0 },
        { "TO_INT64", "2.9", POPRT_OK, 2 },
        { "TO_FLOAT", "many", POPRT_E_ARG, 0 },
        { "TO_INT64", "", POPRT_E_ARG, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const prt_op_def *def = prt_op_of(PRT_OP_ml_cast_map);
        prt_ml_cast_map_attrs a = *(const prt_ml_cast_map_attrs *)def->defaults;
        int64_t key = 3;
        const int64_t one = 1;
        poprt_string text = { cases[i].text, strlen(cases[i].text) };
        prt_tensor values, out = { .kind = PRT_VALUE_UNKNOWN };
        prt_arena *arena = NULL;
        a.cast_to = prt_str_of(cases[i].to);
        ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
        ck_assert(prt_tensor_init(&values, PRT_DTYPE_string, 1, &one, &text));
        const prt_tensor map = { .kind = PRT_VALUE_MAP,
            .dtype = PRT_DTYPE_i64,
            .data = &key,
            .count = 1,
            .items = &values };
        const prt_tensor *in[1] = { &map };
        const poprt_status status =
            prt_interp_run(def, &a, PRT_STR("node"), 1, in, 1, &out, arena, NULL, NULL);
        ck_assert_int_eq(status, cases[i].status);
        if (status == POPRT_OK)
            ck_assert_double_eq(prt_load_f64(out.dtype, out.data, 0), cases[i].number);
        prt_arena_release(arena);
    }
}
END_TEST

PRT_TEST_MAIN("op/ml/map", vectorizer_reverses_zip_map, map_types_are_inferred,
    cast_map_makes_dense_or_sparse_rows, text_values_become_numbers)
