/* SPDX-License-Identifier: MIT */
/* test_fuse_recurrent_loops.c — fuse_recurrent_loops: cell.c, gate.c and loop.c. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const fuse = "fuse_recurrent_loops";

/* The Loop becomes an operator, as `parts` describe the new graph, with the same results. */
static void becomes(const char *text, const char *parts)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, fuse, NULL));
    assert_text_has(graph_text(g), "!loop");
    assert_text_has(graph_text(g), parts);
    module_free(g);
    assert_pass_keeps_results(text, fuse, 1e-5);
}

static void stays(const char *text)
{
    assert_pass_leaves(fuse, NULL, text);
}

/* Five steps of a batch of symbolic size; 3 inputs, 2 hidden units, weights of four gates. */
#define X "x = input f32[5,b,3]\n"
#define STATES "h = input f32[b,2]\nc = input f32[b,2]\n"
#define WEIGHTS "w = input f32[3,8]\nr = input f32[2,8]\nq = input f32[8]\n"
#define NUMBERS "m = const i64[] {5}\nzero = const i32[] {0}\none = const i32[] {1}\n"
#define HEAD X STATES WEIGHTS NUMBERS
/* A body with states u and v after the iteration i and the condition k. */
#define BODY(lines) "{body {\ni = input i64[]\nk = input bool[]\n" lines "}}\n"
#define U "u = input f32[b,2]\n"
#define V "v = input f32[b,2]\n"
#define XT "t = gather x i\n"
#define SUM "s0 = matmul t w\ns1 = matmul u r\ns2 = add s0 s1\ns = add s2 q\n"
#define SPLIT(a, b, c, d) a ", " b ", " c ", " d " = split s {axis=1, num_outputs=4}\n"
#define GATES "ia = sigmoid ig\nfa = sigmoid fg\nga = tanh gg\noa = sigmoid og\n"
#define CELL "p0 = mul fa v\np1 = mul ia ga\nd = add p0 p1\n"
#define HIDDEN "da = tanh d\ne = mul oa da\n"
#define LSTM U V XT SUM SPLIT("ig", "fg", "gg", "og") GATES CELL HIDDEN
#define CALL "y, z, a = loop m _ h c "
#define RETURN "return y, z, a\n"

/* ---- LSTM */

START_TEST(gates_of_an_lstm_may_have_any_order)
{
    static const char *const splits[] = { SPLIT("ig", "fg", "gg", "og"),
        SPLIT("ig", "gg", "fg", "og"), SPLIT("og", "gg", "fg", "ig"),
        SPLIT("fg", "ig", "og", "gg") };
    for (size_t i = 0; i < PRT_COUNT_OF(splits); i++) {
        char text[4096];
        snprintf(text, sizeof(text), "%s%s%s",
            HEAD CALL "{body {\ni = input i64[]\nk = input bool[]\n" U V XT SUM, splits[i],
            GATES CELL HIDDEN "return k, e, d, e\n}}\n" RETURN);
        becomes(text, "lstm");
    }
    /* slices of the sum, and operands in another order */
    becomes(HEAD
        "i0 = const i64[1] {0}\ni2 = const i64[1] {2}\ni4 = const i64[1] {4}\n"
        "i6 = const i64[1] {6}\ni9 = const i64[1] {999}\ni1 = const i64[1] {-1}\n" CALL BODY(
            U V XT SUM "ig = slice s i0 i2 i1\nfg = slice s i2 i4 i1\n"
                       "gg = slice s i4 i6 i1\nog = slice s i6 i9 i1\n" GATES
                       "p0 = mul v fa\np1 = mul ga ia\nd = add p1 p0\n"
                       "da = tanh d\ne = mul da oa\n"
                       "return k, e, d, e\n") RETURN,
        "lstm");
}
END_TEST

START_TEST(products_and_biases_may_have_any_form)
{
    /* one product of the concatenation, a forget bias, and no other bias */
    becomes(X STATES NUMBERS "w = input f32[5,8]\nf1 = const f32[] {1}\n" CALL BODY(
                U V XT "tu = concat t u {axis=1}\ns = matmul tu w\n" SPLIT("ig", "gg", "f0",
                    "og") "fg = add f0 f1\n" GATES CELL HIDDEN "return k, e, d, e\n") RETURN,
        "lstm");
    /* the state first, and Gemm with transposed weights and biases */
    becomes(X STATES NUMBERS "w = input f32[8,5]\nq = input f32[1,8]\n" CALL BODY(
                U V XT "tu = concat u t {axis=-1}\ns = gemm tu w q {transB=1}\n" SPLIT("ig", "fg",
                    "gg", "og") GATES CELL HIDDEN "return k, e, d, e\n") RETURN,
        "lstm");
    /* own weights and biases of each gate */
    becomes(X STATES NUMBERS
        "wi = input f32[3,2]\nwf = input f32[3,2]\nwg = input f32[3,2]\nwo = input f32[3,2]\n"
        "ri = input f32[2,2]\nrf = input f32[2,2]\nrg = input f32[2,2]\nro = input f32[2,2]\n"
        "bi = input f32[2]\nbg = input f32[1]\nbo = input f32[1,2]\n" CALL BODY(U V XT
            "i0 = matmul t wi\ni1 = add i0 bi\ni2 = matmul u ri\nig = add i1 i2\n"
            "j0 = matmul t wf\nj2 = matmul u rf\nfg = add j0 j2\n"
            "g0 = matmul u rg\ng1 = add g0 bg\ng2 = matmul t wg\ngg = add g1 g2\n"
            "o0 = matmul t wo\no1 = matmul u ro\no2 = add o0 o1\nog = add bo o2\n" GATES CELL HIDDEN
            "return k, e, d, e\n") RETURN,
        "lstm");
}
END_TEST

START_TEST(activation_functions_are_kept)
{
    becomes(HEAD CALL BODY(U V XT SUM SPLIT("ig", "fg", "gg",
                "og") "ia = hard_sigmoid ig {alpha=0.25}\nfa = hard_sigmoid fg {alpha=0.25}\n"
                      "ga = relu gg\noa = hard_sigmoid og {alpha=0.25}\n" CELL
                      "da = softsign d\ne = mul oa da\n"
                      "return k, e, d, e\n") RETURN,
        "lstm activations=[HardSigmoid,Relu,Softsign] activation_alpha=[0.25] "
        "activation_beta=[0.5]");
    /* Clip(0.2 x + 0.5, 0, 1) */
#define CLIP(to, of) to "0 = mul " of " k2\n" to "1 = add " to "0 k5\n" to " = clip " to "1 k0 k1\n"
    becomes(HEAD "k0 = const f32[] {0}\nk1 = const f32[] {1}\nk2 = const f32[] {0.2}\n"
                 "k5 = const f32[] {0.5}\n" CALL BODY(U V XT SUM SPLIT("ig", "fg", "gg", "og")
                         CLIP("ia", "ig") CLIP("fa", "fg") CLIP("oa",
                             "og") "ga = tanh gg\n" CELL HIDDEN "return k, e, d, e\n") RETURN,
        "lstm activations=[HardSigmoid,Tanh,Tanh] activation_alpha=[0.2]");
    /* input and forget gate have one function in ONNX */
    stays(HEAD CALL BODY(U V XT SUM SPLIT("ig", "fg", "gg",
        "og") "ia = relu ig\nfa = sigmoid fg\nga = tanh gg\noa = sigmoid og\n" CELL HIDDEN
              "return k, e, d, e\n") RETURN);
}
END_TEST

START_TEST(peepholes_are_kept)
{
    becomes(HEAD "pi = input f32[2]\npf = input f32[1,2]\npo = input f32[2]\n" CALL BODY(
                U V XT SUM SPLIT("i0", "f0", "gg",
                    "o0") "i1 = mul pi v\nig = add i0 i1\nf1 = mul v pf\nfg = add f1 f0\n"
                          "ia = sigmoid ig\nfa = sigmoid fg\nga = tanh gg\n" CELL
                          "o1 = mul d po\nog = add o0 o1\noa = sigmoid og\n" HIDDEN
                          "return k, e, d, e\n") RETURN,
        "lstm");
    /* the output gate of an LSTM reads the new state */
    stays(HEAD "po = input f32[2]\n" CALL BODY(U V XT SUM SPLIT("ig", "fg", "gg",
        "o0") "o1 = mul v po\nog = add o0 o1\n" GATES CELL HIDDEN "return k, e, d, e\n") RETURN);
}
END_TEST

/* ---- what the Loop reads and returns */

START_TEST(steps_may_be_on_either_axis_and_reversed)
{
    becomes("x = input f32[b,5,3]\n" STATES WEIGHTS NUMBERS CALL BODY(
                U V "t = gather x i {axis=1}\n" SUM SPLIT("ig", "fg", "gg", "og") GATES CELL HIDDEN
                "return k, e, d, e\n") RETURN,
        "lstm transpose");
    /* reversed before the Loop, and its outputs after the Loop */
#define BACK                                                                                       \
    "ax = const i64[1] {1}\nn1 = const i64[1] {-1}\nnn = const i64[1] {-999}\nn0 = const i64[1] "  \
    "{0}\n"
    becomes("xx = input f32[5,b,3]\n" BACK
            "x = slice xx n1 nn n0 n1\n" STATES WEIGHTS NUMBERS CALL BODY(
                LSTM "return k, e, d, e\n") "aa = slice a n1 nn n0 n1\n"
                                            "return y, z, aa, a\n",
        "lstm direction=reverse");
    becomes("xx = input f32[5,b,3]\n" BACK
            "x = slice xx n1 nn n0 n1\n" STATES WEIGHTS NUMBERS CALL BODY(
                LSTM "return k, e, d, e\n") "at = transpose a {perm=[1,0,2]}\n"
                                            "aa = slice at n1 nn ax n1\n"
                                            "return y, z, aa\n",
        "lstm direction=reverse");
}
END_TEST

START_TEST(a_counter_may_be_the_index)
{
    becomes(HEAD "y, n, z, a = loop m _ h zero c " BODY(
                U "j = input i32[]\n" V "t = gather x j\nj1 = add j one\n" SUM SPLIT("ig", "fg",
                    "gg", "og") GATES CELL HIDDEN "return k, e, j1, d, e\n") "return y, n, z, a\n",
        "lstm");
    /* from the last step down */
    becomes(HEAD "four = const i32[] {4}\nless = const i32[] {-1}\n"
                 "y, n, z, a = loop m _ h four c " BODY(
                     U "j = input i32[]\n" V
                       "t = gather x j\nj1 = add j less\n" SUM SPLIT("ig", "fg", "gg", "og")
                           GATES CELL HIDDEN "return k, e, j1, d, e\n") "return y, n, z, a\n",
        "lstm direction=reverse");
    stays(HEAD "y, n, z, a = loop m _ h one c " BODY(
        U "j = input i32[]\n" V "t = gather x j\nj1 = add j one\n" SUM SPLIT("ig", "fg", "gg", "og")
            GATES CELL HIDDEN "return k, e, j1, d, e\n") "return y, n, z, a\n");
}
END_TEST

START_TEST(fewer_iterations_than_steps_read_the_first_steps)
{
    becomes(X STATES WEIGHTS "m = const i64[] {3}\n" CALL BODY(LSTM "return k, e, d, e\n") RETURN,
        "lstm max");
    /* no iteration; the outputs of no step are not compared, since a Loop does not know the batch
     */
    becomes(X STATES WEIGHTS
        "m = const i64[] {-3}\n" CALL BODY(LSTM "return k, e, d, e\n") "return y, z\n",
        "lstm max");
    becomes(X STATES WEIGHTS
        "m = const i64[] {0}\n" CALL BODY(LSTM "return k, e, d, e\n") "return y, z\n",
        "lstm max");
    /* a number that only a run knows */
    becomes("x = input f32[t,b,3]\n" STATES WEIGHTS "n = shape x\ni0 = const i64[] {0}\n"
            "m = gather n i0\n" CALL BODY(
                U V "xt = gather x i\ns0 = matmul xt w\ns1 = matmul u r\n"
                    "s2 = add s0 s1\ns = add s2 q\n" SPLIT("ig", "fg", "gg", "og") GATES CELL HIDDEN
                "return k, e, d, e\n") RETURN,
        "lstm !max");
}
END_TEST

START_TEST(results_may_have_axes_of_one_element)
{
    becomes(HEAD "n0 = const i64[1] {0}\nn1 = const i64[1] {1}\nl = input f32[1,b,2]\n"
                 "y, z, g, a = loop m _ h c l " BODY(
                     U V "last = input f32[1,b,2]\n" XT SUM SPLIT("ig", "fg", "gg", "og")
                         GATES CELL HIDDEN "e0 = unsqueeze e n0\ne1 = unsqueeze e n1\n"
                                           "return k, e, d, e0, e1\n") "return y, z, g, a\n",
        "lstm unsqueeze");
    /* of no iteration, the value before the loop */
    stays(X STATES WEIGHTS "m = input i64[]\nl = input f32[b,2]\n"
                           "y, g, z = loop m _ h l c " BODY(
                               U "last = input f32[b,2]\n" V XT SUM SPLIT("ig", "fg", "gg", "og")
                                   GATES CELL HIDDEN "return k, e, e, d\n") "return y, g\n");
}
END_TEST

START_TEST(a_tensor_that_is_written_step_by_step_becomes_the_outputs)
{
#define WRITE                                                                                      \
    "i1 = reshape i sh\nj = add i1 step\ne0 = unsqueeze e n0\nbefore = slice l n0 i1\n"            \
    "after = slice l j most\nll = concat before e0 after {axis=0}\n"
    static const char numbers[] = "n0 = const i64[1] {0}\nstep = const i64[1] {1}\n"
                                  "most = const i64[1] {999}\nsh = const i64[1] {1}\n";
    char text[4096];
    static const char *const loops = "y, z, o = loop m _ h c f " BODY(
        U V "l = input f32[?,b,2]\n" XT SUM SPLIT("ig", "fg", "gg", "og") GATES CELL HIDDEN WRITE
        "return k, e, d, ll\n") "return y, z, o\n";
    snprintf(text, sizeof(text), "%s%s%s%s", HEAD, "f = input f32[5,b,2]\n", numbers, loops);
    becomes(text, "lstm");
    /* a longer tensor keeps its other elements */
    snprintf(text, sizeof(text), "%s%s%s%s", HEAD, "f = input f32[6,b,2]\n", numbers, loops);
    stays(text);
}
END_TEST

START_TEST(other_results_keep_the_loop)
{
    /* the states of all steps */
    stays(HEAD CALL BODY(LSTM "return k, e, d, d\n") RETURN);
    /* another state */
    stays(HEAD "y, z, p = loop m _ h c h " BODY(U V "o = input f32[b,2]\n" XT SUM SPLIT("ig", "fg",
        "gg", "og") GATES CELL HIDDEN "oo = add o e\nreturn k, e, d, oo\n") "return y, z, p\n");
    /* a condition that ends the loop */
    stays(HEAD "y, z, a = loop m _ h c " BODY(LSTM "kk = less i m\nreturn kk, e, d, e\n") RETURN);
    /* a first state that is broadcast */
    stays(X "h = input f32[1,2]\nc = input f32[b,2]\n" WEIGHTS NUMBERS
            "y, z, a = loop m _ h c {body {\ni = input i64[]\nk = input bool[]\n"
            "u = input f32[?,2]\n" V XT SUM SPLIT("ig", "fg", "gg", "og") GATES CELL HIDDEN
        "return k, e, d, e\n}}\n" RETURN);
}
END_TEST

START_TEST(cells_that_differ_from_an_lstm_stay)
{
    /* the old hidden state times the forget gate */
    stays(HEAD CALL BODY(U V XT SUM SPLIT("ig", "fg", "gg", "og") GATES
        "p0 = mul fa u\np1 = mul ia ga\nd = add p0 p1\n" HIDDEN "return k, e, d, e\n") RETURN);
    /* a difference */
    stays(HEAD CALL BODY(U V XT SUM SPLIT("ig", "fg", "gg", "og") GATES
        "p0 = mul fa v\np1 = mul ia ga\nd = sub p0 p1\n" HIDDEN "return k, e, d, e\n") RETURN);
    /* a product of the cell state */
    stays(HEAD CALL BODY(
        U V XT "s0 = matmul t w\ns1 = matmul v r\ns2 = add s0 s1\ns = add s2 q\n" SPLIT("ig", "fg",
            "gg", "og") GATES CELL HIDDEN "return k, e, d, e\n") RETURN);
    /* a normalised sum */
    stays(HEAD CALL BODY(U V XT SUM
        "sn = softmax s {axis=1}\nig, fg, gg, og = split sn {axis=1, num_outputs=4}\n" GATES CELL
            HIDDEN "return k, e, d, e\n") RETURN);
    /* a projection of the output */
    stays(HEAD "pr = input f32[2,2]\n" CALL BODY(LSTM "ep = matmul e pr\nreturn k, ep, d, ep\n")
            RETURN);
    /* split along the batch */
    stays("x = input f32[5,8,3]\nh = input f32[8,2]\nc = input f32[2,2]\n"
          "w = input f32[3,2]\nr = input f32[2,2]\nq = input f32[2]\nm = const i64[] {5}\n"
          "y, z = loop m _ h c {body {\ni = input i64[]\nk = input bool[]\nu = input f32[8,2]\n"
          "v = input f32[2,2]\n" XT SUM
          "ig, fg, gg, og = split s {axis=0, num_outputs=4}\n" GATES CELL HIDDEN
          "ee = concat e e e e {axis=0}\nreturn k, ee, d\n}}\nreturn y, z\n");
}
END_TEST

/* ---- lengths of sequences */

#define LENGTHS "len = input i32[b]\naxis = const i64[1] {1}\nrep = const i64[2] {1,2}\n"
#define MASKED(keep)                                                                               \
    "y, z, n, a = loop m _ h c zero " BODY(                                                        \
        U V "j = input i32[]\nj1 = add j one\n" XT SUM SPLIT("ig", "fg", "gg", "og")               \
            GATES CELL HIDDEN keep "return k, hm, cm, j1, em\n") RETURN

START_TEST(a_mask_of_lengths_becomes_sequence_lens)
{
    becomes(HEAD LENGTHS "f0 = const f32[] {0}\n" MASKED(
                "k0 = less j len\nk1 = unsqueeze k0 axis\nk2 = tile k1 rep\n"
                "hm = where k2 e u\ncm = where k2 d v\nem = where k2 e f0\n"),
        "lstm expand");
    /* the condition that a sequence has ended */
    becomes(HEAD LENGTHS "f0 = const f32[] {0}\n" MASKED(
                "k0 = greater_or_equal j len\nk1 = unsqueeze k0 axis\n"
                "hm = where k1 u e\ncm = where k1 v d\nem = where k1 f0 e\n"),
        "lstm expand");
    becomes(HEAD "len = input i32[b,1]\nf0 = const f32[] {0}\n" MASKED(
                "k0 = greater len j\nk1 = not k0\n"
                "hm = where k0 e u\ncm = where k1 v d\nem = where k1 f0 e\n"),
        "lstm expand");
}
END_TEST

START_TEST(other_masks_keep_the_loop)
{
    /* outputs that are not zero after the end */
    stays(HEAD LENGTHS MASKED("k0 = less j len\nk1 = unsqueeze k0 axis\n"
                              "hm = where k1 e u\ncm = where k1 d v\nem = where k1 e u\n"));
    /* one state only */
    stays(HEAD LENGTHS "f0 = const f32[] {0}\n" MASKED(
        "k0 = less j len\nk1 = unsqueeze k0 axis\n"
        "hm = where k1 e u\ncm = identity d\nem = where k1 e f0\n"));
    /* the opposite condition */
    stays(HEAD LENGTHS "f0 = const f32[] {0}\n" MASKED(
        "k0 = less j len\nk1 = unsqueeze k0 axis\n"
        "hm = where k1 u e\ncm = where k1 v d\nem = where k1 f0 e\n"));
    /* along the hidden units */
    stays(HEAD "len = input i32[2]\nf0 = const f32[] {0}\n" MASKED(
        "k0 = less j len\nhm = where k0 e u\ncm = where k0 d v\nem = where k0 e f0\n"));
    /* a mask for each step */
    stays(HEAD "mask = input bool[5,b,1]\nf0 = const f32[] {0}\n" MASKED(
        "k0 = gather mask j\n"
        "hm = where k0 e u\ncm = where k0 d v\nem = where k0 e f0\n"));
}
END_TEST

/* ---- GRU */

#define GRU_HEAD                                                                                   \
    X "h = input f32[b,2]\nw = input f32[3,6]\nr = input f32[2,6]\nm = const i64[] {5}\n"
#define GRU_CALL "f1 = const f32[] {1}\ny, a = loop m _ h "
#define GRU_RETURN "return k, e, e\n"
#define THREE(of, p) p "0, " p "1, " p "2 = split " of " {axis=1, num_outputs=3}\n"
#define GRU_UPDATE "zc = sub f1 za\np0 = mul za u\np1 = mul zc ga\ne = add p0 p1\n"

START_TEST(a_gru_may_apply_the_reset_gate_after_the_product)
{
    becomes(GRU_HEAD "bx = input f32[6]\nbh = input f32[1,6]\n" GRU_CALL BODY(
                U XT "s0 = matmul t w\ns = add s0 bx\n" THREE("s",
                    "x") "v0 = matmul u r\n"
                         "v = add v0 bh\n" THREE("v",
                             "h") "zg = add x0 h0\nza = sigmoid zg\nrg = add x1 h1\n"
                                  "ra = sigmoid rg\nrh = mul ra h2\ngg = add x2 rh\n"
                                  "ga = tanh gg\n" GRU_UPDATE GRU_RETURN) "return y, a\n",
        "gru linear_before_reset=1");
    /* the form g + z * (h - g), and the reset gate first */
    becomes(GRU_HEAD "bx = input f32[6]\n" GRU_CALL BODY(U XT
                "s0 = matmul t w\ns = add s0 bx\n" THREE("s", "x") "v = matmul u r\n" THREE("v",
                    "h") "zg = add x1 h1\nza = sigmoid zg\nrg = add x0 h0\n"
                         "ra = sigmoid rg\nrh = mul h2 ra\ngg = add rh x2\n"
                         "ga = tanh gg\np0 = sub u ga\np1 = mul p0 za\n"
                         "e = add ga p1\n" GRU_RETURN) "return y, a\n",
        "gru linear_before_reset=1");
}
END_TEST

START_TEST(a_gru_may_apply_the_reset_gate_before_the_product)
{
    becomes(X "h = input f32[b,2]\nm = const i64[] {5}\nw = input f32[3,6]\nr = input f32[2,4]\n"
              "rr = input f32[2,2]\n" GRU_CALL BODY(U XT "s = matmul t w\n" THREE("s",
                  "x") "v = matmul u r\nh0, h1 = split v {axis=1, num_outputs=2}\n"
                       "zg = add x0 h0\nza = sigmoid zg\nrg = add x1 h1\nra = sigmoid rg\n"
                       "rh = mul ra u\ng0 = matmul rh rr\ngg = add x2 g0\nga = tanh gg\n" GRU_UPDATE
                           GRU_RETURN) "return y, a\n",
        "gru !linear_before_reset");
    /* the cell of TensorFlow 1: products of concatenations, reset gate first */
    becomes(X "h = input f32[b,2]\nm = const i64[] {5}\nw = input f32[5,4]\nwc = input f32[5,2]\n"
              "q = input f32[4]\nqc = input f32[2]\n" GRU_CALL BODY(
                  U XT "tu = concat t u {axis=1}\ns0 = matmul tu w\ns = add s0 q\n"
                       "sa = sigmoid s\nra, za = split sa {axis=1, num_outputs=2}\n"
                       "rh = mul ra u\ntr = concat t rh {axis=1}\ng0 = matmul tr wc\n"
                       "gg = add g0 qc\nga = tanh gg\n" GRU_UPDATE GRU_RETURN) "return y, a\n",
        "gru !linear_before_reset");
    /* the old state without the reset gate */
    stays(X
        "h = input f32[b,2]\nm = const i64[] {5}\nw = input f32[3,6]\nr = input f32[2,6]\n" GRU_CALL
            BODY(U XT "s0 = matmul t w\ns1 = matmul u r\ns = add s0 s1\n" THREE("s",
                "x") "za = sigmoid x0\nra = sigmoid x1\nga = tanh x2\n" GRU_UPDATE
                    GRU_RETURN) "return y, a\n");
}
END_TEST

/* ---- RNN */

START_TEST(a_simple_cell_becomes_rnn)
{
#define RNN_HEAD                                                                                   \
    X "h = input f32[b,2]\nw = input f32[3,2]\nr = input f32[2,2]\nq = input f32[2]\n"             \
      "m = const i64[] {5}\ny, a = loop m _ h "
    becomes(RNN_HEAD BODY(U XT SUM "e = tanh s\nreturn k, e, e\n") "return y, a\n",
        "rnn !activations");
    becomes(RNN_HEAD BODY(U XT SUM "e = relu s\nreturn k, e, e\n") "return y, a\n",
        "rnn activations=[Relu]");
    stays(RNN_HEAD BODY(U XT SUM "f = tanh s\ne = add f u\nreturn k, e, e\n") "return y, a\n");
    /* no product of the state */
    stays(RNN_HEAD BODY(U XT "s = matmul t w\ne = tanh s\nreturn k, e, e\n") "return y, a\n");
}
END_TEST

START_TEST(first_states_of_zero_are_left_out)
{
    becomes("x = input f32[5,4,3]\nh = const f32[4,2] zeros\nc = const f32[4,2] zeros\n" WEIGHTS
                NUMBERS CALL "{body {\ni = input i64[]\nk = input bool[]\nu = input f32[4,2]\n"
            "v = input f32[4,2]\n" XT SUM SPLIT("ig", "fg", "gg", "og") GATES CELL HIDDEN
        "return k, e, d, e\n}}\n" RETURN,
        "lstm");
}
END_TEST

PRT_TEST_MAIN("pass/recurrent/fuse_recurrent_loops", gates_of_an_lstm_may_have_any_order,
    products_and_biases_may_have_any_form, activation_functions_are_kept, peepholes_are_kept,
    steps_may_be_on_either_axis_and_reversed, a_counter_may_be_the_index,
    fewer_iterations_than_steps_read_the_first_steps, results_may_have_axes_of_one_element,
    a_tensor_that_is_written_step_by_step_becomes_the_outputs, other_results_keep_the_loop,
    cells_that_differ_from_an_lstm_stay, a_mask_of_lengths_becomes_sequence_lens,
    other_masks_keep_the_loop, a_gru_may_apply_the_reset_gate_after_the_product,
    a_gru_may_apply_the_reset_gate_before_the_product, a_simple_cell_becomes_rnn,
    first_states_of_zero_are_left_out)
