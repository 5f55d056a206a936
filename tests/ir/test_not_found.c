/* SPDX-License-Identifier: MIT */
/* test_not_found.c — errors about missing names list the nearest names of the same kind. */
#include "ir/not_found.h"

#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* `named` is in the message's list of nearest names, and `other` is not. */
static void ck_nearest(poprt_status status, const char *kind, const char *named, const char *other)
{
    char start[64];
    (void)snprintf(start, sizeof(start), "the model has no %s of this name; nearest: ", kind);
    const char *message = prt_error_last()->message;
    ck_assert_int_eq(status, POPRT_E_NOT_FOUND);
    ck_assert_msg(strncmp(message, start, strlen(start)) == 0, "%s", message);
    ck_assert_msg(strstr(message, named) != NULL, "%s", message);
    ck_assert_msg(strstr(message, other) == NULL, "%s", message);
}

START_TEST(each_kind_of_name_has_its_own_nearest_names)
{
    prt_graph *g = graph_from_text("pixels = input f32[2]\nblurred = exp pixels @blur_node\n"
                                   "score = neg blurred\nreturn score\n");
    ck_nearest(prt_fail_no_input(g, PRT_STR("pixel")), "input", "pixels", "score");
    ck_assert_str_eq(prt_error_last()->subject, "pixel");
    ck_nearest(prt_fail_no_output(g, PRT_STR("scores")), "output", "score", "blurred");
    ck_nearest(prt_fail_no_tensor(g, PRT_STR("blured")), "tensor", "blurred", "blur_node");
    ck_nearest(prt_fail_no_tensor(g, PRT_STR("pixel")), "tensor", "pixels", "blur_node");
    ck_nearest(prt_fail_no_node(g, PRT_STR("blur_nod")), "node", "blur_node", "blurred");
    module_free(g);
}
END_TEST

START_TEST(nodes_of_regions_are_considered)
{
    prt_graph *g =
        graph_from_text("c = const bool[] {true}\nx = input f32[2]\n"
                        "y = if c {\nthen_branch {\na = exp x\nreturn a\n}\n"
                        "else_branch {\nb = neg x @inner_node\nreturn b\n}\n}\nreturn y\n");
    ck_nearest(prt_fail_no_node(g, PRT_STR("inner_nod")), "node", "inner_node", "outer");
    module_free(g);
}
END_TEST

START_TEST(an_empty_model_has_no_nearest_name)
{
    prt_graph *g = graph_from_text("c = const f32[] {1}\nreturn c\n");
    ck_assert_int_eq(prt_fail_no_input(g, PRT_STR("x")), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->message, "the model has no input of this name");
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("ir/not_found", each_kind_of_name_has_its_own_nearest_names,
    nodes_of_regions_are_considered, an_empty_model_has_no_nearest_name)
