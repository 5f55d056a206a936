/* SPDX-License-Identifier: MIT */
/* graph.c — writes GraphDefs for fuzz_graph: TEXT... OUT..., texts as in graphdef_text.h. */
#include <check.h>
#include <stdio.h>

#include "support/graphdef_text.h"

enum { MAX_TEXT = 1 << 14 };

static char **paths;
static int n_graphs;

/* The parser of texts reports mistakes as a failed test. */
START_TEST(texts_are_written_as_graphs)
{
    for (int i = 0; i < n_graphs; i++) {
        static char text[MAX_TEXT];
        FILE *in = fopen(paths[i], "rb"), *out = fopen(paths[n_graphs + i], "wb");
        ck_assert_msg(in != NULL && out != NULL, "%s cannot be opened", paths[i]);
        text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
        const msg *graph = graphdef_from_text(text);
        ck_assert_uint_eq(fwrite(graph->data, 1, graph->size, out), graph->size);
        ck_assert_int_eq(fclose(out), 0);
        (void)fclose(in);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("graphs");
    TCase *all = tcase_create("all");
    tcase_add_test(all, texts_are_written_as_graphs);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    paths = argv + 1;
    n_graphs = argc / 2;
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
