/* SPDX-License-Identifier: MIT */
/* test_not_into_where.c — Where of a negated condition. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define INPUTS "c = input bool[2,1]\nx = input f32[2,3]\ny = input f32[]\n"

START_TEST(a_negated_condition_swaps_the_values)
{
    assert_pass_rewrites("fuse_not_into_where", NULL,
        INPUTS "n = not c\nz = where n x y\nreturn z\n", INPUTS "z = where c y x\nreturn z\n");
    assert_pass_keeps_results(INPUTS "n = not c\nz = where n x y\nreturn z\n",
        "fuse_not_into_where", 0);
}
END_TEST

START_TEST(two_negations_are_both_removed)
{
    assert_pass_rewrites("fuse_not_into_where", NULL,
        INPUTS "m = not c\nn = not m\nz = where n x y\nreturn z\n",
        INPUTS "z = where c x y\nreturn z\n");
}
END_TEST

START_TEST(a_negation_with_other_readers_stays)
{
    assert_pass_rewrites("fuse_not_into_where", NULL,
        INPUTS "n = not c\nz = where n x y\nreturn z, n\n",
        INPUTS "n = not c\nz = where c y x\nreturn z, n\n");
}
END_TEST

START_TEST(plain_conditions_and_values_stay)
{
    assert_pass_leaves("fuse_not_into_where", NULL, INPUTS "z = where c x y\nreturn z\n");
    assert_pass_leaves("fuse_not_into_where", NULL,
        "c = input bool[2]\nx = input bool[2]\nn = not x\nz = where c n x\nreturn z\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/not_into_where", a_negated_condition_swaps_the_values,
    two_negations_are_both_removed, a_negation_with_other_readers_stays,
    plain_conditions_and_values_stay)
