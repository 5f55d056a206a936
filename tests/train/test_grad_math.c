/* SPDX-License-Identifier: MIT */
/*
 * test_grad_math.c — gradients of Einsum, products, remainders, bounds, spectra and grids against
 * differences.
 * Covers: grad_einsum.c, grad_signal.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/gradient_check.h"

START_TEST(einsum)
{
    static const char *const rows[][2] = {
        { "[2,3] [3,4]", "ij,jk->ik" },
        { "[2,3] [3,4]", "ij,jk" },
        { "[2,2,3] [2,3,2]", "bij,bjk->bki" },
        { "[3,3]", "ii->i" },
        { "[3,3]", "ii" },
        { "[2,3] [3]", "ij,j->" },
        { "[2,3] [2,3]", "ij,ij->ij" },
        { "[2,3] [2]", "ij,k->k" },
        { "[2,1,2,3] [3,3,2]", "...ij,...jk->...ik" },
        { "[2,3,2]", "a...b->...b" },
        { "[1,3] [2,3]", "ij,ij->j" },
        { "[2,3] [3,2] [2,2]", "ab,bc,cd->ad" },
        { "[2,2,3] [3,3]", "iij,jj->i" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        char text[512], names[16] = "", *at = text, shapes[64];
        size_t left = sizeof(text);
        (void)snprintf(shapes, sizeof(shapes), "%s", rows[i][0]);
        char name = 'a';
        for (const char *s = strtok(shapes, " "); s != NULL; s = strtok(NULL, " "), name++) {
            const int n = snprintf(at, left, "%c = input f64%s\n", name, s);
            at += n;
            left -= (size_t)n;
            (void)snprintf(names + strlen(names), sizeof(names) - strlen(names), " %c", name);
        }
        (void)snprintf(at, left, "y = einsum%s {equation=\"%s\"}\nreturn y\n", names, rows[i][1]);
        check_gradients(text, -1, 1);
    }
}
END_TEST

/* Each row is a graph without the statement that returns y. */
static void check_rows(size_t n, const char *const *rows, double low, double high)
{
    for (size_t i = 0; i < n; i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), "%sreturn y\n", rows[i]);
        check_gradients(text, low, high);
    }
}

#define CHECK_ROWS(rows, low, high) check_rows(PRT_COUNT_OF(rows), rows, low, high)

START_TEST(products)
{
    static const char *const rows[] = {
        "x = input f64[2,3]\ny = reduce_prod x {keepdims=0}\n",
        "x = input f64[2,3,2]\na = const i64[2] {0,-1}\ny = reduce_prod x a\n",
        "x = input f64[2,3,2]\na = const i64[1] {1}\ny = reduce_prod x a {keepdims=0}\n",
        "x = input f64[2,3]\na = const i64[0] {}\n"
        "y = reduce_prod x a {noop_with_empty_axes=1}\n",
        "x = input f64[2,3]\nk = const f64[3] {1,0,1}\nz = mul x k\na = const i64[1] {1}\n"
        "y = reduce_prod z a\n",
        "a = input f64[2,3]\nb = input f64[2,3]\ny = swi_glu a b {alpha=1.5}\n",
    };
    CHECK_ROWS(rows, -2, 2);
}
END_TEST

START_TEST(remainders_and_bounds)
{
    static const char *const rows[] = {
        "a = input f64[2,3]\nb = input f64[3]\nk = const f64[] {4}\nd = add b k\n"
        "c = mul a d\ny = mod c b {fmod=1}\n",
        "a = input f64[2,3]\nb = input f64[3]\ny = mod a b {fmod=1}\n",
    };
    CHECK_ROWS(rows, 0.3, 3);
    check_gradients("x = input f64[2,5]\nlo = input f64[]\nhi = input f64[]\n"
                    "one = const f64[] {1.3}\nlow = sub lo one\nup = add hi one\n"
                    "y = clip x low up\nreturn y\n",
        -2, 2);
}
END_TEST

START_TEST(spectra)
{
    static const char *const rows[] = {
        "x = input f64[2,5,1]\ny = dft x\n",
        "x = input f64[2,5,2]\na = const i64[] {0}\ny = dft x _ a {inverse=1}\n",
        "x = input f64[2,3,5,1]\nn = const i64[] {7}\na = const i64[] {1}\n"
        "y = dft x n a {onesided=1}\n",
        "x = input f64[1,4,2]\nn = const i64[] {6}\ny = dft x n {inverse=1,onesided=1}\n",
        "x = input f64[2,9,1]\ns = const i64[] {2}\nw = input f64[4]\ny = stft x s w\n",
        "x = input f64[1,9,2]\ns = const i64[] {3}\nn = const i64[] {5}\n"
        "y = stft x s _ n {onesided=0}\n",
    };
    CHECK_ROWS(rows, -1, 1);
}
END_TEST

START_TEST(grids_and_blocks)
{
    static const char *const rows[] = {
        "x = input f64[2,2,3]\ns = const i64[4] {2,1,3,4}\ny = affine_grid x s\n",
        "x = input f64[1,3,4]\ns = const i64[5] {1,2,2,3,2}\ny = affine_grid x s "
        "{align_corners=1}\n",
        "x = input f64[2,8,9]\ni = const i64[2] {4,4}\nb = const i64[2] {2,2}\n"
        "y = col2im x i b\n",
        "x = input f64[1,3,6]\ni = const i64[1] {11}\nb = const i64[1] {3}\n"
        "y = col2im x i b {strides=[2],pads=[1,1],dilations=[1]}\n",
        "a = input f64[]\nd = input f64[]\nk = const f64[] {9}\nl = add a k\n"
        "r = range a l d\nq = mul r r\ny = reduce_sum q {keepdims=0}\n",
    };
    CHECK_ROWS(rows, 0.3, 2);
}
END_TEST

PRT_TEST_MAIN("train/grad_math", einsum, products, remainders_and_bounds, spectra, grids_and_blocks)
