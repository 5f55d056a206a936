/* SPDX-License-Identifier: MIT */
/* test_fused_attention.c — values worked out by hand, and attributes that do not match the
 * inputs. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define INPUTS "q = input f32[1,2,4]\nk = input f32[1,3,4]\nv = input f32[1,3,2]\n"

/* One head of one element: scores are products of the factors, weights their exponents. */
START_TEST(values_are_weighted_by_scores)
{
    /* exp(log 3 * 1) : exp(0) is 3 : 1 */
    prt_graph *a = graph_from_text(
        "q = const f32[1,1,1] {1.0986123}\nk = const f32[1,2,1] {2,0}\nv = const f32[1,2,1] {4,8}\n"
        "y = fused_attention q k v {sizes=[1,1,1,1,0,2,1,1],query=[0,1,1,1],key=[0,2,1,1],"
        "value=[0,2,1,1],order=[0,1,2],shape=[1],scale=0.5}\nreturn y\n");
    prt_graph *b = graph_from_text("c = const f32[1] {5}\ny = identity c\nreturn y\n");
    assert_same_results(a, b, 1e-6, 1);
    module_free(a);
    module_free(b);
    /* The second query sees both keys, the first one the first. */
    a = graph_from_text(
        "q = const f32[1,2,1] {7,0}\nk = const f32[1,2,1] {2,0}\nv = const f32[1,2,1] {4,8}\n"
        "y = fused_attention q k v {sizes=[1,1,1,2,0,2,1,1],query=[0,2,2,1],key=[0,2,1,1],"
        "value=[0,2,1,1],order=[0,1,2],shape=[2],causal=1}\nreturn y\n");
    b = graph_from_text("c = const f32[2] {4,6}\ny = identity c\nreturn y\n");
    assert_same_results(a, b, 1e-6, 1);
    module_free(a);
    module_free(b);
}
END_TEST

/* A query without keys gives NaN, or zeros with the attribute for it; so does a query with a NaN
 * score. */
START_TEST(guarded_queries_give_zeros)
{
    prt_graph *a = graph_from_text(
        "q = const f32[1,3,1] {7,1,0}\nk = const f32[1,2,1] {2,0}\nv = const f32[1,2,1] {4,8}\n"
        "b = const f32[3,2] {-inf,-inf,nan,-inf,0,0}\n"
        "y = fused_attention q k v b {sizes=[1,1,1,3,0,2,1,1],query=[0,3,3,1],key=[0,2,1,1],"
        "value=[0,2,1,1],order=[0,1,2],shape=[3],bias=[0,0,2,1],guarded=1}\nreturn y\n");
    prt_graph *b = graph_from_text("c = const f32[3] {0,0,6}\ny = identity c\nreturn y\n");
    assert_same_results(a, b, 1e-6, 1);
    module_free(a);
    module_free(b);
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    static const char *const cases[][2] = {
        { "sizes=[1,1,1,2,0,3,4,2],query=[0,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,3]",
            "shape has 6 elements, but the result has 4" },
        { "sizes=[1,1,1,2,0,3,4,2],query=[1,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "input 0 has 8 elements; element 8 would be read" },
        { "sizes=[1,1,1,2,0,3,4,2],query=[0,8,4,4],key=[0,12,4,4],"
          "value=[9223372036854775807,6,2,9223372036854775807],order=[0,1,2],shape=[1,2,2]",
            "strides that are too large" },
        { "sizes=[1,1,1,2,0,3,4,2],query=[0,8,4,-4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "the view of input 0 has a negative number" },
        { "sizes=[1,1,1,2,0,3,4,2],query=[0,8,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "the view of input 0 has 3 numbers" },
        { "sizes=[1,1,1,2,0,3,4,2],query=[0,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,1],"
          "shape=[1,2,2]",
            "not a permutation" },
        { "sizes=[1,1,1,2,0,3,4],query=[0,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "a wrong length" },
        { "sizes=[1,1,0,2,0,3,4,2],query=[0,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "1 query heads, which is not a multiple of 0 key heads" },
        { "sizes=[1,1,1,2,5,3,4,2],query=[0,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "must be given together" },
        { "sizes=[1,1,1,-2,0,3,4,2],query=[0,8,4,4],key=[0,12,4,4],value=[0,6,2,2],order=[0,1,2],"
          "shape=[1,2,2]",
            "sizes[3] is -2" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), INPUTS "y = fused_attention q k v {%s}\nreturn y\n",
            cases[i][0]);
        const char *error = graph_error(text);
        ck_assert_msg(strstr(error, cases[i][1]) != NULL, "%s\n%s", text, error);
    }
}
END_TEST

PRT_TEST_MAIN("op/fused_attention", values_are_weighted_by_scores, guarded_queries_give_zeros,
    wrong_attributes_are_refused)
