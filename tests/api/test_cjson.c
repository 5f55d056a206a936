/* SPDX-License-Identifier: MIT */
/* test_cjson.c — a host that shares cJSON with the library and whose cJSON runs out of memory. */
#include "support/limited_cjson.h"

#include "api_test.h"
#include "models.h"

static poprt_status open_popef(const buffer *b)
{
    poprt_executable *exec = NULL;
    const poprt_status status = poprt_executable_load_bytes(NULL, b->data, b->size, NULL, &exec);
    poprt_executable_release(exec);
    return status;
}

/* For every number of allocations before the first failure, the call fails with out of memory.
 * With enough allocations it gives the expected status. */
START_TEST(opening_popef_reports_out_of_memory)
{
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    buffer b = { 0 };
    unsigned count = 0;
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &b));
    poprt_executable_release(exec);
    limit_cjson(0);
    while (open_popef(&b) != POPRT_OK) {
        ck_assert_str_eq(poprt_status_name(poprt_last_error()->status), "POPRT_E_NOMEM");
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "memory"));
        ck_assert_uint_lt(++count, 1000);
        limit_cjson(count);
    }
    ck_assert_uint_gt(count, 10);
    cJSON_InitHooks(NULL);
    free(b.data);
}
END_TEST

START_TEST(json_options_report_out_of_memory)
{
    static const char text[] = "{\"strassen\":false,\"dim.batch\":\"2\"}";
    poprt_config *config = NULL;
    unsigned count = 0;
    ck_assert_ok(poprt_config_create(NULL, &config));
    limit_cjson(0);
    while (poprt_config_merge_json(config, text, strlen(text)) != POPRT_OK) {
        ck_assert_str_eq(poprt_status_name(poprt_last_error()->status), "POPRT_E_NOMEM");
        ck_assert_uint_lt(++count, 1000);
        limit_cjson(count);
    }
    ck_assert_uint_gt(count, 2);
    cJSON_InitHooks(NULL);
    poprt_config_release(config);
}
END_TEST

PRT_TEST_MAIN("api/cjson", opening_popef_reports_out_of_memory, json_options_report_out_of_memory)
