/* SPDX-License-Identifier: MIT */
/* test_dft.c — DFT, STFT, windows and mel weights: one-sided spectra, lengths, symbolic sizes,
 * errors.
 * Covers: window.c. */
#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(dft_has_its_values_and_types)
{
    ck_assert_str_eq(op_value("x = const f32[1,4,1] {1,1,1,1}\ny = dft x\nr = round y\n"
                              "z = abs r\nreturn z\n"),
        "f32[1,4,2]: 4 0 0 0 0 0 0 0");
    ck_assert_str_eq(op_type("x = input f32[b,n,1]\ny = dft x {onesided=1}\nreturn y\n"),
        "f32[b,((n/2)+1),2]");
    ck_assert_str_eq(op_type("x = input f32[b,5,2]\nl = const i64[] {8}\n"
                             "y = dft x l {onesided=1, inverse=1}\nreturn y\n"),
        "f32[b,8,1]");
    ck_assert_str_eq(op_status("x = const f32[1,4,1] ones\na = const i64[] {2}\n"
                               "y = dft x _ a\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,4,3] ones\ny = dft x\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,4,1] ones\nl = const i64[] {0}\ny = dft x l\n"
                               "return y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[1,4,1] ones\nl = const i64[2] {4,4}\ny = dft x l\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1,2] ones\n"
                               "y = dft x {onesided=1, inverse=1}\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[1,4,1] ones\nl = const i64[] {4611686018427387903}\n"
                               "y = dft x l\nreturn y\n"),
        "POPRT_E_LIMIT");
}
END_TEST

START_TEST(stft_has_its_values_and_types)
{
    ck_assert_str_eq(op_type("x = input f32[b,n,1]\ns = const i64[] {2}\nf = const i64[] {4}\n"
                             "y = stft x s _ f\nreturn y\n"),
        "f32[b,((n/2)-1),3,2]");
    ck_assert_str_eq(op_value("x = const f32[1,4,1] {1,2,3,4}\ns = const i64[] {2}\n"
                              "w = const f32[2] {1,0}\ny = stft x s w\nreturn y\n"),
        "f32[1,2,2,2]: 1 0 1 0 3 0 3 0");
    /* Real signals without the last dim, which some files have. */
    ck_assert_str_eq(op_type("x = input f32[b,n]\ns = const i64[] {2}\nf = const i64[] {4}\n"
                             "y = stft x s _ f\nreturn y\n"),
        "f32[b,((n/2)-1),3,2]");
    ck_assert_str_eq(op_value("x = const f32[2,3] {1,2,3,4,5,6}\ns = const i64[] {1}\n"
                              "w = const f32[2] {1,0}\ny = stft x s w\nreturn y\n"),
        "f32[2,2,2,2]: 1 0 1 0 2 0 2 0 4 0 4 0 5 0 5 0");
    ck_assert_str_eq(op_status("x = const f32[4] ones\ns = const i64[] {1}\ny = stft x s\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,4,1] ones\ns = const i64[] {0}\ny = stft x s\n"
                               "return y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[1,4,1] ones\ns = const i64[] {1}\n"
                               "f = const i64[] {5}\ny = stft x s _ f\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,4,2] ones\ns = const i64[] {1}\ny = stft x s\n"
                               "return y\n"),
        "POPRT_E_ARG");
}
END_TEST

START_TEST(windows_have_their_values)
{
    ck_assert_str_eq(op_value("n = const i32[] {4}\ny = hann_window n {output_datatype=11}\n"
                              "return y\n"),
        "f64[4]: 0 0.5 1 0.5");
    ck_assert_str_eq(op_value("n = const i32[] {0}\ny = hamming_window n\nreturn y\n"), "f32[0]:");
    ck_assert_str_eq(op_status("n = const i32[] {-1}\ny = blackman_window n\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("n = const i64[] {4}\ny = blackman_window n {output_datatype=8}\n"
                               "return y\n"),
        "POPRT_E_TYPE");
}
END_TEST

#define MEL(rate, low, high)                                                                       \
    "b = const i64[] {2}\nd = const i64[] {4}\nr = const i64[] {" rate "}\nl = const f32[] {" low  \
    "}\nh = const f32[] {" high "}\ny = mel_weight_matrix b d r l h\nreturn y\n"

START_TEST(wrong_mel_edges_are_refused)
{
    ck_assert_str_eq(op_status(MEL("8000", "0", "4000")), "POPRT_OK");
    /* Any edges stay inside the matrix. */
    ck_assert_str_eq(op_status(MEL("1", "-1e30", "1e30")), "POPRT_OK");
    ck_assert_str_eq(op_status(MEL("1", "nan", "inf")), "POPRT_OK");
    ck_assert_str_eq(op_status(MEL("0", "0", "4000")), "POPRT_E_ARG");
}
END_TEST

PRT_TEST_MAIN("op/dft", dft_has_its_values_and_types, stft_has_its_values_and_types,
    windows_have_their_values, wrong_mel_edges_are_refused)
