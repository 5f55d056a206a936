/* SPDX-License-Identifier: MIT */
/* test_conv_algorithm.c — candidate algorithms that passes offer for autotuning; every choice
 * gives the same values. */
#include <stdio.h>
#include <stdlib.h>

#include "pass/engine/candidates.h"
#include "pass/engine/manager.h"
#include "support/check_main.h"
#include "support/graph_text.h"

/* Chooses the candidate `other` places after the one of the rule. */
typedef struct asked {
    uint32_t other;
    uint32_t n;
    prt_candidates last; /* attributes are gone */
} asked;

static uint32_t choose(void *user, const prt_candidates *c)
{
    asked *a = user;
    ck_assert_uint_ge(c->n_candidates, 2);
    ck_assert_uint_lt(c->rule, c->n_candidates);
    ck_assert_ptr_null(strchr(c->key, ' '));
    for (uint32_t i = 0; i < c->n_candidates; i++) {
        ck_assert_uint_ge(c->list[i].n_steps, 1);
        ck_assert_int_eq(c->list[i].steps[0].in[0].kind, PRT_VALUE_TENSOR);
    }
    a->n++;
    a->last = *c;
    return (c->rule + a->other) % c->n_candidates;
}

/* A graph with constants w0, w1, ... of the given dims before `rest`. */
typedef struct weights {
    int dims[4];
} weights;

static char *with_weights(const char *inputs, uint32_t n, const weights *w, const char *rest)
{
    size_t size = strlen(inputs) + strlen(rest) + 64;
    for (uint32_t i = 0; i < n; i++)
        size += 64 + 8 * (size_t)(w[i].dims[0] * w[i].dims[1] * w[i].dims[2] * w[i].dims[3]);
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size, "%s", inputs);
    for (uint32_t i = 0; i < n; i++) {
        const int *d = w[i].dims;
        at += (size_t)snprintf(text + at, size - at, "w%u = const f32[%d,%d,%d,%d] {", i, d[0],
            d[1], d[2], d[3]);
        for (int k = 0; k < d[0] * d[1] * d[2] * d[3]; k++)
            at += (size_t)snprintf(text + at, size - at, "%s%d", k != 0 ? "," : "", k * 7 % 19 - 9);
        at += (size_t)snprintf(text + at, size - at, "}\n");
    }
    (void)snprintf(text + at, size - at, "%s", rest);
    return text;
}

/* Returns `text` after channels_last with these options: by rule or, with `a`, by choice. */
static prt_graph *run_with(const char *text, const char *winograd, const char *growth, asked *a)
{
    prt_graph *g = graph_from_text(text);
    prt_pass_manager *pm = NULL;
    const prt_pass_arg args[2] = { { "winograd", winograd }, { "winograd_growth", growth } };
    const prt_chooser chooser = { .user = a, .choose = choose };
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, "channels_last", 2, args), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, "fuse_separable", 0, NULL), POPRT_OK);
    prt_pass_manager_set_chooser(pm, a != NULL ? &chooser : NULL);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    prt_pass_manager_release(pm);
    return g;
}

static prt_graph *run_pass_on(const char *text, asked *a)
{
    return run_with(text, "large", "10", a);
}

static bool has_text(const prt_graph *g, const char *part)
{
    return strstr(graph_text(g), part) != NULL;
}

/* Asserts that `part` is in the result of the rule if `ruled`, or else in the result of the
 * candidate `other` places after it. Both results give the same values. */
static asked check_choice(const char *text, const char *part, bool ruled, uint32_t other)
{
    asked rule = { .other = 0 }, chosen = { .other = other };
    prt_graph *before = graph_from_text(text), *alone = run_pass_on(text, NULL);
    prt_graph *same = run_pass_on(text, &rule), *another = run_pass_on(text, &chosen);
    ck_assert_str_eq(graph_text(alone), graph_text(same));
    ck_assert_int_eq(has_text(same, part), ruled);
    ck_assert_int_eq(has_text(another, part), !ruled);
    ck_assert_uint_ge(rule.n, 1);
    assert_same_results(before, same, 1e-4, 5);
    assert_same_results(before, another, 1e-4, 5);
    module_free(before);
    module_free(alone);
    module_free(same);
    module_free(another);
    return chosen;
}

START_TEST(options_exclude_algorithms)
{
    static const struct {
        const char *winograd, *rule;
        uint32_t candidates; /* that are asked about */
    } rows[] = { { "large", "form=winograd,", 3 }, { "small", "form=winograd2", 2 },
        { "off", "form=panels", 0 }, { "split", "form=panels", 0 },
        { "largest", "form=winograd,", 4 } };
    const weights w = { { 32, 32, 3, 3 } };
    char *text = with_weights("x = input f32[1,32,24,24]\n", 1, &w, "y = conv x w0\nreturn y\n");
    prt_graph *before = graph_from_text(text);
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        asked a = { .other = 0 };
        prt_graph *ruled = run_with(text, rows[i].winograd, "10", NULL);
        prt_graph *chosen = run_with(text, rows[i].winograd, "10", &a);
        ck_assert(has_text(ruled, rows[i].rule));
        ck_assert_str_eq(graph_text(ruled), graph_text(chosen));
        ck_assert_uint_eq(a.n != 0 ? a.last.n_candidates : 0, rows[i].candidates);
        assert_same_results(before, ruled, 1e-4, 5);
        module_free(ruled);
        module_free(chosen);
    }
    module_free(before);
    free(text);
}
END_TEST

/* Images that tiles of 6 by 6 outputs fill have the largest: 30 by 30 does, 28 by 28 does not. */
START_TEST(largest_tiles_are_for_large_images)
{
    static const struct {
        const char *input, *winograd, *rule;
    } rows[] = { { "x = input f32[1,32,30,30]\n", "largest", "form=winograd6" },
        { "x = input f32[1,32,30,30]\n", "large", "form=winograd," },
        { "x = input f32[1,32,28,28]\n", "largest", "form=winograd," } };
    const weights w = { { 32, 32, 3, 3 } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        char *text =
            with_weights(rows[i].input, 1, &w, "y = conv x w0 {pads=[1,1,1,1]}\nreturn y\n");
        prt_graph *before = graph_from_text(text);
        prt_graph *g = run_with(text, rows[i].winograd, "10", NULL);
        ck_assert_msg(has_text(g, rows[i].rule), "%s", graph_text(g));
        assert_same_results(before, g, 1e-4, 5);
        module_free(before);
        module_free(g);
        free(text);
    }
}
END_TEST

/* Kernels of 5 by 5: their weights are transformed beforehand or not at all. */
START_TEST(five_by_five_has_two_algorithms)
{
    static const struct {
        const char *winograd, *growth, *rule;
        uint32_t candidates;
    } rows[] = { { "large", "44", "form=winograd5, transformed=1", 2 },
        { "large", "43", "form=panels", 0 }, { "small", "300", "form=panels", 0 },
        { "off", "300", "form=panels", 0 } };
    const weights w = { { 32, 32, 5, 5 } };
    char *text = with_weights("x = input f32[1,32,24,24]\n", 1, &w,
        "y = conv x w0 {pads=[2,2,2,2]}\nreturn y\n");
    prt_graph *before = graph_from_text(text);
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        asked a = { .other = 0 };
        for (int k = 0; k < 2; k++) {
            prt_graph *g = run_with(text, rows[i].winograd, rows[i].growth, k != 0 ? &a : NULL);
            ck_assert_msg(has_text(g, rows[i].rule), "%s", graph_text(g));
            assert_same_results(before, g, 1e-4, 5);
            module_free(g);
        }
        ck_assert_uint_eq(a.n != 0 ? a.last.n_candidates : 0, rows[i].candidates);
    }
    module_free(before);
    free(text);
}
END_TEST

/* The growth limit decides how many of three convolutions keep transformed weights, which are
 * four times as large. */
START_TEST(the_growth_of_weights_is_bounded)
{
    static const struct {
        const char *growth;
        uint32_t kept;
    } rows[] = { { "0", 0 }, { "99", 0 }, { "101", 1 }, { "199", 1 }, { "300", 3 } };
    const weights w[3] = { { { 16, 16, 3, 3 } }, { { 16, 16, 3, 3 } }, { { 16, 16, 3, 3 } } };
    char *text = with_weights("x = input f32[1,16,24,24]\n", 3, w,
        "a = conv x w0 {pads=[1,1,1,1]}\nb = conv a w1 {pads=[1,1,1,1]}\n"
        "y = conv b w2 {pads=[1,1,1,1]}\nreturn y\n");
    prt_graph *before = graph_from_text(text);
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        prt_graph *g = run_with(text, "large", rows[i].growth, NULL);
        uint32_t kept = 0;
        for (const char *at = graph_text(g); (at = strstr(at, "form=winograd,")) != NULL; at++)
            kept += strncmp(at, "form=winograd, transformed=1", 28) == 0;
        ck_assert_msg(kept == rows[i].kept, "%s: %s", rows[i].growth, graph_text(g));
        assert_same_results(before, g, 1e-4, 5);
        module_free(g);
    }
    module_free(before);
    free(text);
}
END_TEST

START_TEST(three_by_three_has_three_algorithms)
{
    const weights w = { { 10, 8, 3, 3 } };
    char *text = with_weights("x = input f32[2,8,9,7]\nb = input f32[10]\n", 1, &w,
        "y = fused_conv x w0 b {pads=[1,1,1,1],activation=\"Relu\"}\nreturn y\n");
    (void)check_choice(text, "form=winograd2", false, 2);
    const asked a = check_choice(text, "form=winograd,", false, 1);
    ck_assert_uint_eq(a.last.n_candidates, 3);
    ck_assert_str_eq(a.last.key, "conv:2x9x7x8:1x8x10:k3x3:p1x1x1x1:Relu:b");
    ck_assert(a.last.close);
    ck_assert_uint_eq(a.last.rule, 0);
    ck_assert_uint_eq((uint32_t)a.last.work, 2 * 9 * 7 * 10 * 9 * 8);
    ck_assert_int_eq(a.last.list[0].steps[0].in[0].dims[3], 8);
    free(text);
}
END_TEST

/* Large tiles or small ones, whichever take fewest products and weights. */
START_TEST(the_rule_may_be_either)
{
    static const struct {
        int in; /* pixels each way, two more than of the output */
        const char *form, *key;
        uint32_t rule, other;
    } rows[] = { { 14, "form=winograd,", "conv:1x14x14x32:1x32x32:k3x3:p0x0x0x0:-:r", 1, 2 },
        { 12, "form=winograd2", "conv:1x12x12x32:1x32x32:k3x3:p0x0x0x0:-:r", 2, 1 },
        { 9, "form=winograd2", "conv:1x9x9x32:1x32x32:k3x3:p0x0x0x0:-:r", 2, 1 },
        { 7, "form=panels", "conv:1x7x7x32:1x32x32:k3x3:p0x0x0x0:-:r", 0, 1 } };
    const weights w = { { 32, 32, 3, 3 } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        char head[96];
        (void)snprintf(head, sizeof(head), "x = input f32[n,32,%d,%d]\nr = input f32[n,32,%d,%d]\n",
            rows[i].in, rows[i].in, rows[i].in - 2, rows[i].in - 2);
        char *text = with_weights(head, 1, &w, "y = fused_conv x w0 _ r\nreturn y\n");
        const asked a = check_choice(text, rows[i].form, true, rows[i].other);
        ck_assert_str_eq(a.last.key, rows[i].key);
        ck_assert_uint_eq(a.last.rule, rows[i].rule);
        free(text);
    }
}
END_TEST

/* Panels, or one of Winograd's large forms, whose weights are never kept. Frees `text`. */
static void check_two(char *text, const char *form, uint32_t rule)
{
    const asked a = check_choice(text, form, true, 1);
    ck_assert_uint_eq(a.last.n_candidates, 2);
    ck_assert_uint_eq(a.last.rule, rule);
    prt_graph *g = run_with(text, "large", "1000", NULL);
    ck_assert(has_text(g, form) && !has_text(g, "transformed=1"));
    module_free(g);
    g = run_with(text, "small", "1000", NULL);
    ck_assert(has_text(g, "form=panels"));
    module_free(g);
    free(text);
}

/* Large tiles alone know steps of two. */
START_TEST(stride_two_has_two_algorithms)
{
    static const struct {
        const char *pixels, *form;
        uint32_t rule;
    } rows[] = { { "48", "form=winograd,", 1 }, { "33", "form=panels", 0 } };
    const weights w = { { 32, 32, 3, 3 } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        char head[64];
        (void)snprintf(head, sizeof(head), "x = input f32[1,32,%s,%s]\n", rows[i].pixels,
            rows[i].pixels);
        check_two(with_weights(head, 1, &w,
                      "y = conv x w0 {strides=[2,2],pads=[1,1,1,1]}\nreturn y\n"),
            rows[i].form, rows[i].rule);
    }
}
END_TEST

/* Kernels along one axis: as panels, or by tiles of lines. */
START_TEST(lines_have_two_algorithms)
{
    static const struct {
        const char *pixels, *attrs, *form;
        int kernel[2];
        uint32_t rule;
    } rows[] = { { "17,17", "{pads=[0,3,0,3]}", "form=winograd_line", { 1, 7 }, 1 },
        { "17,17", "{pads=[3,0,3,0]}", "form=winograd_line", { 7, 1 }, 1 },
        { "5,17", "{dilations=[2,1]}", "form=panels", { 3, 1 }, 0 },
        { "29,9", "{dilations=[3,1]}", "form=winograd_line", { 5, 1 }, 1 } };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        const weights w = { { 32, 32, rows[i].kernel[0], rows[i].kernel[1] } };
        char head[64], rest[64];
        (void)snprintf(head, sizeof(head), "x = input f32[1,32,%s]\n", rows[i].pixels);
        (void)snprintf(rest, sizeof(rest), "y = conv x w0 %s\nreturn y\n", rows[i].attrs);
        check_two(with_weights(head, 1, &w, rest), rows[i].form, rows[i].rule);
    }
}
END_TEST

/* Few channels and few pixels are far from the threshold of the rule. */
START_TEST(distant_candidates_are_not_close)
{
    const weights w = { { 12, 5, 3, 3 } };
    char *text = with_weights("x = input f32[1,5,4,4]\n", 1, &w, "y = conv x w0\nreturn y\n");
    asked a = { .other = 0 };
    module_free(run_pass_on(text, &a));
    ck_assert_uint_eq(a.n, 1);
    ck_assert(!a.last.close);
    free(text);
}
END_TEST

START_TEST(other_windows_have_one_algorithm)
{
    static const char *const rests[] = { "y = conv x w0 {strides=[2,1]}\nreturn y\n",
        "y = conv x w1\nreturn y\n" };
    const weights w[2] = { { { 8, 8, 3, 3 } }, { { 8, 8, 3, 2 } } };
    for (size_t i = 0; i < PRT_COUNT_OF(rests); i++) {
        char *text = with_weights("x = input f32[1,8,9,9]\n", 2, w, rests[i]);
        asked a = { .other = 1 };
        prt_graph *g = run_pass_on(text, &a);
        ck_assert_uint_eq(a.n, 0);
        ck_assert(has_text(g, "nhwc_conv"));
        module_free(g);
        free(text);
    }
    char *text = with_weights("x = input f32[1,8,h,9]\n", 1, w, "y = conv x w0\nreturn y\n");
    asked a = { .other = 1 };
    module_free(run_pass_on(text, &a)); /* an unknown size cannot be timed */
    ck_assert_uint_eq(a.n, 0);
    free(text);
}
END_TEST

START_TEST(separable_parts_are_one_or_apart)
{
    const weights w[3] = { { { 24, 6, 1, 1 } }, { { 24, 1, 3, 3 } }, { { 6, 24, 1, 1 } } };
    char *text = with_weights("x = input f32[1,6,10,10]\n", 3, w,
        "a = conv x w0\nb = fused_conv a w1 {group=24,pads=[1,1,1,1],activation=\"Relu\"}\n"
        "c = conv b w2\nreturn c\n");
    const asked a = check_choice(text, "nhwc_separable", false, 1);
    ck_assert_uint_eq(a.last.list[0].n_steps, 3);
    ck_assert_uint_eq(a.last.list[1].n_steps, 1);
    ck_assert(!a.last.close);
    free(text);
}
END_TEST

PRT_TEST_MAIN("pass/layout/conv_algorithm", options_exclude_algorithms,
    largest_tiles_are_for_large_images, five_by_five_has_two_algorithms,
    the_growth_of_weights_is_bounded, three_by_three_has_three_algorithms, the_rule_may_be_either,
    stride_two_has_two_algorithms, lines_have_two_algorithms, distant_candidates_are_not_close,
    other_windows_have_one_algorithm, separable_parts_are_one_or_apart)
