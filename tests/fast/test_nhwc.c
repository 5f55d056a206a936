/* SPDX-License-Identifier: MIT */
/* test_nhwc.c — both forms of 3 by 3, of any number of channels, against the reference. */
#include <stdio.h>
#include <stdlib.h>

#include "op/nhwc.h"
#include "support/check_main.h"
#include "support/fast_check.h"

/* Channels, filters, height, width. */
typedef struct sizes {
    int c, f, h, w;
} sizes;

/* `w = const …` in a form. */
static char *weights_text(const sizes *s, prt_nhwc_form form)
{
    const prt_nhwc_weights w = { .form = form, .group = 1, .channels = (size_t)s->c,
        .filters = (size_t)s->f, .taps = 9 };
    const size_t plain = w.channels * w.filters * 9;
    size_t count, at;
    ck_assert(prt_nhwc_weights_size(&w, &count));
    float *from = malloc(plain * sizeof(float)), *to = calloc(count, sizeof(float));
    char *text = malloc(count * 20 + 64);
    for (size_t i = 0; i < plain; i++)
        from[i] = (float)((int)(i * 7 % 19) - 9) / 9.0f;
    prt_nhwc_weights_pack(&w, from, to);
    at = (size_t)sprintf(text, "w = const f32[%zu] {", count);
    for (size_t i = 0; i < count; i++)
        at += (size_t)sprintf(text + at, "%s%.9g", i != 0 ? "," : "", (double)to[i]);
    (void)sprintf(text + at, "}\n");
    free(from);
    free(to);
    return text;
}

static void check(const sizes *s, prt_nhwc_form form)
{
    char *weights = weights_text(s, form);
    const size_t size = strlen(weights) + 512;
    char *text = malloc(size);
    (void)snprintf(text, size, "x = input f32[2,%d,%d,%d]\n%sb = input f32[%d]\n"
        "r = input f32[2,%d,%d,%d]\n"
        "y = nhwc_conv x w b r {form=%s,channels=%d,filters=%d,kernel_shape=[3,3],"
        "pads=[1,1,1,1],activation=\"Relu\"}\nreturn y\n", s->h, s->w, s->c, weights, s->f, s->h,
        s->w, s->f, prt_nhwc_form_name(form), s->c, s->f);
    fast_check(text, -1, 1, form == PRT_NHWC_winograd ? 1e-4 : 1e-5);
    free(text);
    free(weights);
}

START_TEST(three_by_three)
{
    static const sizes all[] = { { 5, 3, 7, 9 }, { 8, 64, 4, 4 }, { 16, 16, 13, 5 },
        { 17, 65, 6, 6 }, { 33, 20, 1, 11 }, { 24, 70, 9, 2 } };
    for (size_t i = 0; i < PRT_COUNT_OF(all); i++) {
        check(&all[i], PRT_NHWC_panels);
        check(&all[i], PRT_NHWC_winograd);
    }
}
END_TEST

PRT_TEST_MAIN("fast/nhwc", three_by_three)
