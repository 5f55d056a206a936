/* SPDX-License-Identifier: MIT */
/* test_loss.c — losses, CTC and its beam search; sums over all alignments worked out by hand.
 * Covers: ctc.c, ctc_beam.c, onnx_hooks.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(l1_and_identity_losses_are_reduced)
{
    const char *x = "x = const f32[2,2] {1,-2,3,-4}\n";
    const struct {
        const char *op, *want;
    } cases[] = { { "gc_l1 x {lambda=2}", "f32[] {5}" },
        { "gc_l1 x {lambda=2,reduction=Sum}", "f32[] {20}" },
        { "gc_l1 x {reduction=None}", "f32[2,2] {1,2,3,4}" },
        { "gc_identity_loss x", "f32[] {-0.5}" },
        { "gc_identity_loss x {reduction=Sum}", "f32[] {-2}" },
        { "gc_identity_loss x {reduction=NoReduction}", "f32[2,2] {1,-2,3,-4}" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "%sy = %s\nreturn y\n", x, cases[i].op);
        ck_result(text, cases[i].want);
    }
    ck_failure("x = const f32[1] {1}\ny = gc_l1 x {reduction=mean}\nreturn y\n", POPRT_E_ARG,
        "Sum, Mean, None");
    ck_failure("x = const f32[] {1}\ny = gc_l1 x\nreturn y\n", POPRT_E_SHAPE, "scalar");
}
END_TEST

#define NLL "p = const f32[3,2] {0.25,0.75,1,0,0.5,0.5}\nl = const i32[3] {0,0,7}\n"

START_TEST(nll_ignores_the_chosen_index)
{
    ck_result_within(NLL "y = gc_nll p l {reduction=None}\nreturn y\n",
        "f32[3] {1.3862944,0,16.118096}", 1e-6);
    ck_result_within(NLL "y = gc_nll p l {ignoreIndex=7}\nreturn y\n", "f32[] {0.69314718}", 1e-6);
    ck_result(NLL "y = gc_nll p l {ignoreIndex=0,inputIsLogProbability=1}\nreturn y\n",
        "f32[] {0}");
    ck_result(NLL "y = gc_nll p l {inputIsLogProbability=1,reduction=Sum}\nreturn y\n",
        "f32[] {-1.25}");
    ck_result("p = const f32[0,2] {}\nl = const i32[0] {}\ny = gc_nll p l {ignoreIndex=1}\n"
              "return y\n",
        "f32[] {0}");
    ck_failure("p = const f32[1,2] {1,0}\nl = const i32[2] {1,0}\ny = gc_nll p l\nreturn y\n",
        POPRT_E_SHAPE, "label");
}
END_TEST

/* Two frames; the blank and one label have probability 1/2 each: three of four paths give "1". */
#define HALVES                                                                                     \
    "p = const f32[2,1,2] {-0.69314718,-0.69314718,-0.69314718,-0.69314718}\n"                     \
    "f = const i32[1] {2}\n"

START_TEST(ctc_sums_over_all_alignments)
{
    ck_result_within(HALVES "t = const i32[1,1] {1}\nn = const i32[1] {1}\ny = gc_ctc p t f n\n"
                            "return y\n",
        "f32[] {0.28768207}", 1e-6);
    ck_result_within(HALVES "t = const i32[1,1] {1}\nn = const i32[1] {1}\ny,g = gc_ctc p t f n\n"
                            "return g\n",
        "f32[2,1,2] {0.16666667,-0.16666667,0.16666667,-0.16666667}", 1e-6);
    ck_result_within(HALVES "t = const i32[1,1] {1}\nn = const i32[1] {0}\n"
                            "y = gc_ctc p t f n {reduction=None}\nreturn y\n",
        "f32[1] {1.3862944}", 1e-6);
    /* A repeated label needs a blank in between: three frames. */
    ck_result(HALVES "t = const i32[1,2] {1,1}\nn = const i32[1] {2}\n"
                     "y = gc_ctc p t f n {reduction=Sum}\nreturn y\n",
        "f32[] {inf}");
    ck_result(HALVES "t = const i32[1,2] {1,1}\nn = const i32[1] {2}\n"
                     "y,g = gc_ctc p t f n {zeroInfinity=1,reduction=Sum}\nreturn y\n",
        "f32[] {0}");
    ck_result(HALVES "t = const i32[1,2] {1,1}\nn = const i32[1] {2}\n"
                     "y,g = gc_ctc p t f n {zeroInfinity=1}\nreturn g\n",
        "f32[2,1,2] {0,0,0,0}");
    ck_result("p = const f32[1,1,2] {-1,-1}\nf = const i32[1] {0}\nt = const i32[1,0] {}\n"
              "y = gc_ctc p t f f\nreturn y\n",
        "f32[] {0}");
}
END_TEST

START_TEST(wrong_ctc_targets_are_refused)
{
    const struct {
        const char *text, *part;
    } cases[] = { { "t = const i32[1,1] {2}\nn = const i32[1] {1}\n", "target 0" },
        { "t = const i32[1,1] {0}\nn = const i32[1] {1}\n", "but the blank" },
        { "t = const i32[1,1] {1}\nn = const i32[1] {2}\n", "target length" },
        { "t = const i32[1,1] {1}\nn = const i32[1] {-1}\n", "target length" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), HALVES "%sy = gc_ctc p t f n\nreturn y\n",
            cases[i].text);
        ck_failure(text, POPRT_E_ARG, cases[i].part);
    }
    ck_failure(HALVES "t = const i32[1,1] {1}\ny = gc_ctc p t f f {blank=2}\nreturn y\n",
        POPRT_E_ARG, "blank 2");
    ck_failure(HALVES "t = const i32[2,1] {1,1}\ny = gc_ctc p t f f\nreturn y\n", POPRT_E_SHAPE,
        "batch");
    ck_failure(HALVES "t = const i32[1,1] {1}\ny = gc_ctc p t f f {outDataType=6}\nreturn y\n",
        POPRT_E_TYPE, "outDataType");
    ck_type("p = input f16[t,n,c]\nl = input i32[n,s]\nf = input i32[n]\n"
            "y,g = gc_ctc p l f f {outDataType=1}\nreturn g\n",
        "f32[t,n,c]");
}
END_TEST

/* Two frames with probability 0.6 for the blank and 0.4 for a label: "" has 0.36, "1" 0.64. */
#define FRAMES                                                                                     \
    "p = const f32[2,1,2] {-0.51082562,-0.91629073,-0.51082562,-0.91629073}\n"                     \
    "f = const u32[1] {2}\n"
#define SEARCH(attrs, out)                                                                         \
    FRAMES "y,n,l = gc_ctc_beam_search_decoder p f {" attrs "}\nreturn " out "\n"

START_TEST(beam_search_returns_the_likeliest_paths)
{
    ck_result_within(SEARCH("top_paths=2", "y"), "f32[1,2] {-0.4462871,-1.0216513}", 1e-6);
    ck_result(SEARCH("top_paths=2", "n"), "u32[1,2] {1,0}");
    ck_result(SEARCH("top_paths=2", "l"), "u32[1,2,2] {1,0,0,0}");
    /* A single beam drops the label after the first frame. */
    ck_result_within(SEARCH("beam_width=1", "y"), "f32[1,1] {-1.0216513}", 1e-6);
    /* With the label as the blank, "0" is the likely path; there are two sequences in all. */
    ck_result(SEARCH("blank=1,top_paths=3", "l"), "u32[1,3,2] {0,1,1,1,1,1}");
    ck_result_within(SEARCH("blank=1,top_paths=3", "y"), "f32[1,3] {-0.17435339,-1.8325815,-inf}",
        1e-6);
    ck_failure(SEARCH("beam_width=2,top_paths=3", "y"), POPRT_E_ARG, "top_paths");
    ck_failure(SEARCH("blank=2", "y"), POPRT_E_ARG, "blank 2");
    ck_failure("p = const f32[1,1,2] {0,0}\nf = const u32[1] {2}\n"
               "y = gc_ctc_beam_search_decoder p f\nreturn y\n",
        POPRT_E_ARG, "data length");
    ck_result("p = const f32[0,1,2] {}\nf = const u32[1] {0}\n"
              "y = gc_ctc_beam_search_decoder p f\nreturn y\n",
        "f32[1,1] {0}");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/loss", l1_and_identity_losses_are_reduced, nll_ignores_the_chosen_index,
    ctc_sums_over_all_alignments, wrong_ctc_targets_are_refused,
    beam_search_returns_the_likeliest_paths)
