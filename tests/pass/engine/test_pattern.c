/* SPDX-License-Identifier: MIT */
/* test_pattern.c — pattern language: parsing, matching, each match reported once, limits. */
#include <stdio.h>

#include "pass/engine/pattern.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static prt_pattern *parse(prt_graph *g, uint32_t n, const char *const *chains)
{
    prt_str texts[8];
    prt_pattern *pt = NULL;
    for (uint32_t i = 0; i < n; i++)
        texts[i] = prt_str_of(chains[i]);
    ck_assert_int_eq(prt_pattern_parse(g->module->arena, n, texts, &pt), POPRT_OK);
    return pt;
}

/* All matches as "label=node label=node; …". */
static void assert_finds(const char *text, uint32_t n, const char *const *chains,
    const char *expected)
{
    char all[1024] = "";
    prt_graph *g = graph_from_text(text);
    prt_pattern *pt = parse(g, n, chains);
    for (bool found = true;;) {
        ck_assert_int_eq(prt_pattern_next(pt, g, &found), POPRT_OK);
        if (!found)
            break;
        for (uint32_t i = 0; i < prt_pattern_count(pt); i++) {
            const prt_str label = prt_pattern_label(pt, i);
            const prt_op *op = prt_pattern_node_at(pt, i);
            ck_assert_ptr_eq(prt_pattern_node(pt, label), op);
            (void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%.*s=%s ",
                PRT_STR_ARG(label), prt_op_label(op));
        }
        strcat(all, "; ");
    }
    ck_assert_str_eq(all, expected);
    module_free(g);
}

static const char branch[] = "x = input f32[2]\na = exp x\nb = neg a\nc = abs a\nd = mul b c\n"
                             "e = exp d\nf = neg e\ny = mul f f\nreturn y\n";

START_TEST(chains_are_found)
{
    static const char *const one[] = { "s:0->Exp:1->Neg:2->e:3" };
    assert_finds(branch, 1, one, "1=a 2=b ; 1=e 2=f ; ");
    static const char *const blanks[] = { " Mul : m -> Exp:e " };
    assert_finds(branch, 1, blanks, "m=d e=e ; ");
    static const char *const none[] = { "Neg:1->Exp:2" };
    assert_finds(branch, 1, none, "");
}
END_TEST

START_TEST(equal_tokens_join_chains)
{
    static const char *const diamond[] = { "s:0->Exp:1->Neg:2->Mul:4->e:5", "Exp:1->Abs:3->Mul:4" };
    assert_finds(branch, 2, diamond, "1=a 2=b 4=d 3=c ; ");
    static const char *const wrong[] = { "Exp:1->Neg:2->Mul:4", "Exp:1->Neg:3->Mul:4" };
    assert_finds(branch, 2, wrong, "");
}
END_TEST

START_TEST(nodes_without_arrows_between_them_are_found_too)
{
    static const char *const separate[] = { "Abs:1", "Exp:2" };
    assert_finds(branch, 2, separate, "1=c 2=a ; 1=c 2=e ; ");
}
END_TEST

START_TEST(an_edit_makes_new_matches)
{
    static const char *const two[] = { "Exp:1->Neg:2" };
    prt_graph *g = graph_from_text(branch);
    prt_pattern *pt = parse(g, 1, two);
    bool found;
    uint32_t n = 0;
    while (prt_pattern_next(pt, g, &found) == POPRT_OK && found && ++n < 10)
        prt_value_replace(&prt_pattern_node(pt, PRT_STR("2"))->out[0],
            &prt_pattern_node(pt, PRT_STR("1"))->out[0]);
    ck_assert_uint_eq(n, 2);
    module_free(g);
}
END_TEST

static void assert_refused(const char *text, const char *part)
{
    prt_graph *g = graph_from_text(branch);
    const prt_str chain = prt_str_of(text);
    prt_pattern *pt;
    ck_assert_int_eq(prt_pattern_parse(g->module->arena, 1, &chain, &pt), POPRT_E_PARSE);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    module_free(g);
}

START_TEST(wrong_texts_are_refused)
{
    assert_refused("", "a token is");
    assert_refused("Exp", "a token is");
    assert_refused("Exp:1->", "a token is");
    assert_refused("Exp:->Neg:2", "missing");
    assert_refused(":1", "missing");
    assert_refused("s:0->e:1", "no node");
    assert_refused("Exp:1->Neg:1", "another operator");
}
END_TEST

START_TEST(matching_has_a_limit_of_work)
{
    static char text[40000];
    size_t n = (size_t)snprintf(text, sizeof(text), "x = input f32[2]\n");
    for (uint32_t i = 0; i < 400; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "a%u = exp x\nb%u = neg a%u\n", i, i, i);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "return b0\n");
    static const char *const far[] = { "Exp:1", "Exp:2", "Exp:3", "Abs:4" };
    prt_graph *g = graph_from_text(text);
    prt_pattern *pt = parse(g, 4, far);
    bool found;
    ck_assert_int_eq(prt_pattern_next(pt, g, &found), POPRT_E_LIMIT);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/pattern", chains_are_found, equal_tokens_join_chains,
    nodes_without_arrows_between_them_are_found_too, an_edit_makes_new_matches,
    wrong_texts_are_refused, matching_has_a_limit_of_work)
