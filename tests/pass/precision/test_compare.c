/* SPDX-License-Identifier: MIT */
/*
 * test_compare.c — check_with_fake_data and layer_precision_compare, alone and after other
 * passes.
 * Covers: log_text.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "pass/engine/manager.h"
#include "pass/precision/feed.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

static char said[8192];

static void record_message(void *user, prt_pass_level level, const char *pass, const char *subject,
    const char *message)
{
    const size_t n = strlen(said);
    (void)user;
    (void)subject;
    if (strstr(pass, "compare") != NULL || strstr(pass, "check") != NULL)
        (void)snprintf(said + n, sizeof(said) - n, "%s%s\n", level == PRT_PASS_WARNS ? "! " : "",
            message);
}

/* Runs an optional pass, then a comparison with the model before both, or with `origin`. A
 * failure is recorded too. */
static poprt_status run_list(prt_graph *g, const char *pass, const char *check, const char *folder,
    const prt_module *origin, const prt_feed *feed)
{
    const prt_pass_observer observer = { .report = record_message };
    const prt_pass_arg arg = { "output_dir", folder };
    prt_pass_manager *pm = NULL;
    said[0] = '\0';
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    if (pass != NULL)
        ck_assert_int_eq(prt_pass_manager_add(pm, pass, 0, NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, check, folder != NULL, &arg), POPRT_OK);
    prt_pass_manager_set_observer(pm, &observer);
    prt_pass_manager_set_reference(pm, origin, feed);
    const poprt_status status = prt_pass_manager_run(pm, g->module, NULL);
    if (status != POPRT_OK)
        (void)snprintf(said, sizeof(said), "failed: %s", prt_error_last()->message);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    prt_pass_manager_release(pm);
    return status;
}

static void check_model(const char *text, const char *pass, poprt_status status, const char *want)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_int_eq(run_list(g, pass, "check_with_fake_data", NULL, NULL, NULL), status);
    ck_assert_msg(strstr(said, want) != NULL, "%s", said);
    module_free(g);
}

#define PRODUCT "x = input f32[n,3]\nw = const f32[3,2] {1,2,3,4,5,6}\ny = matmul x w\nreturn y\n"

START_TEST(outputs_are_compared)
{
    check_model(PRODUCT, NULL, POPRT_OK, "output y is the same within 0 of");
    check_model(PRODUCT, "float_to_half", POPRT_OK, "output y is the same within 0.00");
    ck_assert_ptr_null(strchr(said, '!'));
    /* 1e6 does not fit into half precision */
    check_model("x = input f32[2]\nc = const f32[] {1e6}\ny = mul x c\nreturn y\n", "float_to_half",
        POPRT_E_LIMIT, "failed: output y differs by ");
    /* and NaN is not close to any number */
    check_model("x = input f32[2]\nc = const f32[] {0}\nz = mul x c\ny = div z z\nreturn y\n", NULL,
        POPRT_OK, "output y is the same within 0 of 0");
}
END_TEST

START_TEST(another_model_may_be_the_one_before)
{
    prt_graph *a = graph_from_text(PRODUCT);
    prt_graph *b = graph_from_text("x = input f32[4,3]\nw = const f32[3,2] {1,2,3,4,5,7}\n"
                                   "y = matmul x w\nreturn y\n");
    ck_assert_int_eq(run_list(b, NULL, "check_with_fake_data", NULL, a->module, NULL),
        POPRT_E_LIMIT);
    ck_assert_msg(strstr(said, "output y differs by ") != NULL, "%s", said);
    prt_graph *c = graph_from_text("x = input f32[4,3]\ny = transpose x\nreturn y\n");
    ck_assert_int_eq(run_list(c, NULL, "check_with_fake_data", NULL, a->module, NULL),
        POPRT_E_SHAPE);
    ck_assert_msg(strstr(said, "output y has another kind or shape") != NULL, "%s", said);
    prt_graph *d = graph_from_text("x = input f32[4,3]\nz = transpose x\nreturn z\n");
    ck_assert_int_eq(run_list(d, NULL, "check_with_fake_data", NULL, a->module, NULL),
        POPRT_E_UNSUPPORTED);
    ck_assert_msg(strstr(said, "no tensor is an output of the model") != NULL, "%s", said);
    module_free(a);
    module_free(b);
    module_free(c);
    module_free(d);
}
END_TEST

START_TEST(models_that_cannot_run_are_reported)
{
    check_model("x = input f32[2]\ny = \"my.Op\" x : f32[2]\nreturn y\n", NULL, POPRT_E_UNSUPPORTED,
        "nothing could be compared: operator Op is not known");
    check_model("x = input f32\ny = neg x\nreturn y\n", NULL, POPRT_E_UNSUPPORTED,
        "nothing could be compared: no data");
}
END_TEST

static const char *read_log(const char *folder, char *to, size_t size)
{
    char path[512];
    prt_blob *file = NULL;
    (void)snprintf(path, sizeof(path), "%s/precision_compare.log", folder);
    ck_assert_int_eq(prt_file_map(&prt_mem_libc, path, &file), POPRT_OK);
    ck_assert_uint_lt(file->size, size);
    memcpy(to, file->data, file->size);
    to[file->size] = '\0';
    prt_blob_release(file);
    (void)unlink(path);
    return to;
}

START_TEST(layers_are_compared)
{
    static char text[65536];
    char folder[] = "/tmp/poprt_compare_XXXXXX";
    float data[2 * 3] = { 1, 0, 0, 0, 0, 1 };
    const int64_t dims[2] = { 2, 3 };
    prt_feed_array a = { .name = PRT_STR("x") };
    const prt_feed feed = { .n_arrays = 1, .arrays = &a };
    ck_assert(prt_tensor_init(&a.tensor, PRT_DTYPE_f32, 2, dims, data));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    /* 1, 2 and 5, 6 become 1, 2 and 5, 6.5: 6.5 is the F143 number nearest to 6.3 */
    prt_graph *g = graph_from_text("x = input f32[2,3]\nw = const f32[3,2] {1,2,3,4,5,6.3}\n"
                                   "y = matmul x w @fc\nz = relu y\nreturn z\n");
    ck_assert_int_eq(run_list(g, "float_to_fp8", "layer_precision_compare", folder, NULL, &feed),
        POPRT_OK);
    read_log(folder, text, sizeof(text));
    ck_assert_msg(strstr(text, "fc: cos_dist ") == text, "%s", text);
    ck_assert_msg(strstr(text, " mse 0.00999998") != NULL, "%s", text);
    ck_assert_msg(strstr(text, " mae 0.04999995") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "original: mean 3.575 std ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "quantized: mean 3.625 ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "min 1.0 max 6.5") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "histogram 1 0 0 0 0 1 0") != NULL, "%s", text);
    module_free(g);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(every_layer_of_a_model_is_compared)
{
    static char text[65536];
    char folder[] = "/tmp/poprt_compare_XXXXXX";
    uint32_t n = 0;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    prt_graph *g = trained_model("encoder");
    ck_assert_int_eq(run_list(g, "float_to_half", "layer_precision_compare", folder, NULL, NULL),
        POPRT_OK);
    read_log(folder, text, sizeof(text));
    for (const char *at = text; (at = strstr(at, ": cos_dist ")) != NULL; at++)
        n++;
    ck_assert_uint_eq(n, 14);
    module_free(g);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

PRT_TEST_MAIN("pass/precision/compare", outputs_are_compared, another_model_may_be_the_one_before,
    models_that_cannot_run_are_reported, layers_are_compared, every_layer_of_a_model_is_compared)
