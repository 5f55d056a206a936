/* SPDX-License-Identifier: MIT */
/*
 * test_table.c — every operator of the table (table.c) with inputs and attributes that it does not
 * expect: the node is converted, or refused with a message.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"
#include "support/onnx_bytes.h"
#include "tensorflow/table.h"

static void convert(const char *text, size_t *converted, size_t *refused)
{
    prt_module *m = NULL;
    const prt_tf_options options = { .outputs = "y" };
    if (graphdef_read(text, &options, &m) == POPRT_OK)
        ++*converted;
    else
        *refused += last_error()[0] != '\0';
    prt_module_release(m);
}

START_TEST(unexpected_inputs_are_refused)
{
    enum { MOST = 6 };
    static const char *const inputs[] = { "float shape=[2,3]", "int32 shape=[2]", "bool shape=[]",
        "string shape=[2]", "float", "int64 shape=[?,?]" };
    size_t converted = 0, refused = 0;
    const char *next = NULL;
    for (size_t i = 0; i < prt_tf_row_count(); i++) {
        const prt_tf_row row = prt_tf_next_row(i, &next);
        for (size_t kind = 0; kind < PRT_COUNT_OF(inputs); kind++)
            for (int n = 0; n < MOST; n++) {
                char text[1000];
                size_t at = 0;
                for (int k = 0; k < MOST; k++)
                    at += (size_t)snprintf(text + at, sizeof(text) - at,
                        "x%d = Placeholder() dtype=%s\n", k, inputs[kind]);
                at += (size_t)snprintf(text + at, sizeof(text) - at, "y = %s(", row.name);
                for (int k = 0; k < n; k++)
                    at += (size_t)snprintf(text + at, sizeof(text) - at, "%sx%d",
                        k != 0 ? ", " : "", k);
                (void)snprintf(text + at, sizeof(text) - at, ")\n");
                convert(text, &converted, &refused);
            }
    }
    ck_assert_uint_gt(converted, 100);
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

PRT_TEST_MAIN("tensorflow/table", unexpected_inputs_are_refused)
