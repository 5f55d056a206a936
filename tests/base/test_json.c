/* SPDX-License-Identifier: MIT */
/*
 * test_json.c — the JSON reader, writer and checker, and round trips.
 * Covers: json_check.c, json_write.c.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_check.h"
#include "support/check_main.h"
#include "support/limited_cjson.h"

static prt_arena *arena;

static const prt_json *parse(const char *text)
{
    if (arena == NULL)
        ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    prt_json *root = NULL;
    return prt_json_parse(arena, text, strlen(text), &root) == POPRT_OK ? root : NULL;
}

static poprt_status refusal(const char *text, size_t size)
{
    (void)parse("0");
    prt_json *root = NULL;
    const poprt_status status = prt_json_parse(arena, text, size, &root);
    ck_assert_ptr_null(root);
    return status;
}

static bool is_f64(const prt_json *value, double wanted)
{
    double number;
    return prt_json_f64(value, &number) && !(number < wanted) && !(number > wanted);
}

START_TEST(reads_every_kind)
{
    const prt_json *root = parse("{\"n\":null,\"t\":true,\"f\":false,\"i\":-12,\"d\":1.5e3,"
                                 "\"s\":\"a\\n\\u00e9\\ud83d\\ude00\",\"a\":[1,[2],{}],\"\":0} \n");
    ck_assert_ptr_nonnull(root);
    ck_assert_int_eq(root->kind, PRT_JSON_OBJECT);
    ck_assert_uint_eq(root->count, 8);
    bool flag = false;
    int64_t i = 0;
    prt_str s;
    ck_assert_int_eq(prt_json_get(root, "n")->kind, PRT_JSON_NULL);
    ck_assert(prt_json_bool(prt_json_get(root, "t"), &flag) && flag);
    ck_assert(prt_json_bool(prt_json_get(root, "f"), &flag) && !flag);
    ck_assert(prt_json_i64(prt_json_get(root, "i"), &i));
    ck_assert_int_eq(i, -12);
    ck_assert(is_f64(prt_json_get(root, "d"), 1500));
    ck_assert(prt_json_text(prt_json_get(root, "s"), &s));
    ck_assert(prt_str_is(s, "a\n\xc3\xa9\xf0\x9f\x98\x80"));
    const prt_json *a = prt_json_get(root, "a");
    ck_assert_uint_eq(a->count, 3);
    ck_assert(is_f64(&a->items[1].items[0], 2));
    ck_assert_int_eq(a->items[2].kind, PRT_JSON_OBJECT);
    ck_assert_uint_eq(a->items[2].count, 0);
    ck_assert(is_f64(prt_json_get(root, ""), 0));
    ck_assert_ptr_null(prt_json_get(root, "x"));
    ck_assert_ptr_null(prt_json_get(a, "x"));
    ck_assert_ptr_null(prt_json_get(NULL, "x"));
}
END_TEST

START_TEST(typed_reads_are_strict)
{
    int64_t i = 7;
    double d = 7;
    bool b = true;
    prt_str s = { NULL, 7 };
    ck_assert(!prt_json_i64(NULL, &i) && !prt_json_f64(NULL, &d) && !prt_json_bool(NULL, &b));
    ck_assert(!prt_json_i64(parse("1.5"), &i));
    ck_assert(!prt_json_i64(parse("1e300"), &i));
    ck_assert(!prt_json_i64(parse("9007199254740992"), &i));
    ck_assert(!prt_json_i64(parse("true"), &i));
    ck_assert(!prt_json_f64(parse("\"1\""), &d));
    ck_assert(!prt_json_bool(parse("1"), &b));
    ck_assert(!prt_json_text(parse("1"), &s));
    static const char *const bad[] = { "\"\"", "\"-\"", "\"+1\"", "\" 1\"", "\"1 \"", "\"0x1\"",
        "\"9223372036854775808\"", "\"-9223372036854775809\"", "\"1.0\"" };
    for (size_t k = 0; k < PRT_COUNT_OF(bad); k++)
        ck_assert(!prt_json_i64(parse(bad[k]), &i));
    ck_assert_int_eq(i, 7);
    ck_assert(prt_json_i64(parse("9007199254740991"), &i));
    ck_assert_int_eq(i, INT64_C(9007199254740991));
    ck_assert(prt_json_i64(parse("\"9223372036854775807\""), &i));
    ck_assert_int_eq(i, INT64_MAX);
    ck_assert(prt_json_i64(parse("\"-9223372036854775808\""), &i));
    ck_assert_int_eq(i, INT64_MIN);
}
END_TEST

START_TEST(last_of_equal_keys_counts)
{
    ck_assert(is_f64(prt_json_get(parse("{\"a\":1,\"a\":2}"), "a"), 2));
}
END_TEST

START_TEST(malformed_texts_are_refused)
{
    static const char *const bad[] = { "", " ", "{", "[1,", "[1 2]", "{\"a\"}", "{\"a\":}", "nul",
        "\"abc", "\"\\x\"", "\"\\ud800\"", "1 2", "[1]]", "{}x", "-", "'a'", "[1,]", "\"\\",
        "1e999", "[\"k\", -1e999]" };
    for (size_t k = 0; k < PRT_COUNT_OF(bad); k++)
        ck_assert_msg(refusal(bad[k], strlen(bad[k])) == POPRT_E_PARSE, "%s", bad[k]);
    ck_assert_int_eq(refusal("[1, x]", 6), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "byte 4"));
}
END_TEST

START_TEST(zero_characters_are_refused)
{
    ck_assert_int_eq(refusal("[\"a\\u0000b\"]", 12), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "byte 3"));
    ck_assert_int_eq(refusal("{\"\\u0000\":1}", 12), POPRT_E_PARSE);
    ck_assert_int_eq(refusal("\"a\0b\"", 5), POPRT_E_PARSE);
    ck_assert_int_eq(refusal("[1]\0", 4), POPRT_E_PARSE);
    ck_assert_int_eq(refusal("\0", 1), POPRT_E_PARSE);
    prt_str s;
    ck_assert(prt_json_text(parse("\"\\\\u0000\""), &s));
    ck_assert(prt_str_is(s, "\\u0000"));
}
END_TEST

START_TEST(depth_and_count_are_bounded)
{
    static char deep[600];
    memset(deep, '[', 256);
    memset(deep + 256, ']', 256);
    ck_assert_ptr_nonnull(parse(deep));
    memset(deep, '[', 257);
    memset(deep + 257, ']', 257);
    ck_assert_int_eq(refusal(deep, 514), POPRT_E_LIMIT);
    memset(deep, '[', sizeof(deep));
    ck_assert_int_eq(refusal(deep, sizeof(deep)), POPRT_E_LIMIT);
    const size_t size = 12u << 20;
    char *many = malloc(size);
    ck_assert_ptr_nonnull(many);
    memset(many, ',', size);
    many[0] = '[';
    ck_assert_int_eq(refusal(many, size), POPRT_E_LIMIT);
    free(many);
    ck_assert_int_eq(refusal("1", (size_t)65 << 20), POPRT_E_LIMIT);
}
END_TEST

START_TEST(every_prefix_is_refused_or_read)
{
    static const char text[] = "{\"a\":[1,-2.5e1,\"x\\u0041\"],\"b\":{\"c\":null}}";
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        char *copy = malloc(n + 1); /* with a heap copy sanitizers detect a read past the end */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, n);
        ck_assert_int_eq(refusal(copy, n), POPRT_E_PARSE);
        free(copy);
    }
}
END_TEST

START_TEST(a_small_arena_is_out_of_memory)
{
    prt_arena *small = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 5000, &small), POPRT_OK);
    char text[2000];
    memset(text, '1', sizeof(text));
    for (size_t i = 0; i < sizeof(text); i += 2)
        text[i] = ',';
    text[0] = '[';
    text[sizeof(text) - 1] = ']';
    text[sizeof(text) - 2] = '1';
    prt_json *root = NULL;
    ck_assert_int_eq(prt_json_parse(small, text, sizeof(text), &root), POPRT_E_NOMEM);
    prt_json_out out;
    prt_json_out_init(&out, small, false);
    prt_json_open(&out, NULL, '[');
    for (int i = 0; i < 10000; i++)
        prt_json_put_i64(&out, NULL, i);
    prt_json_close(&out, ']');
    prt_str written;
    ck_assert_int_eq(prt_json_out_finish(&out, &written), POPRT_E_NOMEM);
    prt_arena_release(small);
}
END_TEST

static prt_str write_sample(bool pretty)
{
    prt_json_out out;
    (void)parse("0");
    prt_json_out_init(&out, arena, pretty);
    prt_json_open(&out, NULL, '{');
    prt_json_put_text(&out, "s", PRT_STR("a\"\\\n\x01"));
    prt_json_open(&out, "a", '[');
    prt_json_put_i64(&out, NULL, -5);
    prt_json_put_i64(&out, NULL, INT64_MIN);
    prt_json_put_f64(&out, NULL, 0.1);
    prt_json_put_f64(&out, NULL, (double)NAN);
    prt_json_close(&out, ']');
    prt_json_open(&out, "e", '{');
    prt_json_close(&out, '}');
    prt_json_put_bool(&out, "b", true);
    prt_json_close(&out, '}');
    prt_str text;
    ck_assert_int_eq(prt_json_out_finish(&out, &text), POPRT_OK);
    return text;
}

START_TEST(writes_compact_and_pretty)
{
    ck_assert_str_eq(write_sample(false).data,
        "{\"s\":\"a\\\"\\\\\\n\\u0001\",\"a\":[-5,\"-9223372036854775808\",0.1,null],\"e\":{},"
        "\"b\":true}");
    ck_assert_str_eq(write_sample(true).data,
        "{\n  \"s\": \"a\\\"\\\\\\n\\u0001\",\n  \"a\": [\n    -5,\n    \"-9223372036854775808\",\n"
        "    0.1,\n    null\n  ],\n  \"e\": {},\n  \"b\": true\n}");
}
END_TEST

static prt_str write_text(prt_str text)
{
    prt_json_out out;
    (void)parse("0");
    prt_json_out_init(&out, arena, false);
    prt_json_put_text(&out, NULL, text);
    prt_str written;
    ck_assert_int_eq(prt_json_out_finish(&out, &written), POPRT_OK);
    return written;
}

START_TEST(invalid_utf8_is_replaced)
{
    ck_assert_str_eq(write_text(PRT_STR("a\xff"
                                        "b"))
                         .data,
        "\"a\xef\xbf\xbd"
        "b\"");
    ck_assert_str_eq(write_text(PRT_STR("\xc0\xaf")).data, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    ck_assert_str_eq(write_text(PRT_STR("\xe2\x82")).data, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    ck_assert_str_eq(write_text(PRT_STR("\xe2\x82\xac")).data, "\"\xe2\x82\xac\"");
    ck_assert_str_eq(write_text(PRT_STR("\0")).data, "\"\xef\xbf\xbd\"");
    ck_assert_str_eq(write_text((prt_str){ NULL, 0 }).data, "\"\"");
    /* Every short byte string is written as JSON that parses. */
    for (uint32_t k = 0; k < 1u << 16; k++) {
        const char bytes[3] = { (char)(k & 0xff), (char)(k >> 8), (char)(k * 31 >> 3) };
        const prt_str written = write_text((prt_str){ bytes, 3 });
        prt_json *root = NULL;
        ck_assert_int_eq(prt_json_parse(arena, written.data, written.size, &root), POPRT_OK);
        if (k % 1024 == 0)
            prt_arena_reset(arena);
    }
}
END_TEST

static void check_doubles(void)
{
    static const double values[] = { 0.0, -0.0, 1.0, 0.1, 1e22, 1.0 / 3.0, 5e-324, 1.7e308,
        -123456.789, 1e21, 9007199254740993.0 };
    (void)parse("0");
    for (size_t i = 0; i < PRT_COUNT_OF(values); i++) {
        prt_json_out out;
        prt_json_out_init(&out, arena, false);
        prt_json_put_f64(&out, NULL, values[i]);
        prt_str text;
        ck_assert_int_eq(prt_json_out_finish(&out, &text), POPRT_OK);
        ck_assert_ptr_null(strchr(text.data, ','));
        ck_assert_msg(is_f64(parse(text.data), values[i]), "%s", text.data);
    }
}

START_TEST(doubles_come_back_in_any_locale)
{
    check_doubles();
    static const char *const names[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8" };
    for (size_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (setlocale(LC_NUMERIC, names[i]) != NULL)
            check_doubles();
}
END_TEST

/* A host's allocator set by cJSON_InitHooks fails at each allocation in turn. */
START_TEST(failing_hooks_are_out_of_memory)
{
    static const char text[] = "{\"a\":[1,-2.5e-3,{\"b\":\"\\u00e9\\ud83d\\ude00\"}],\"c\":null} ";
    unsigned count = 0;
    limit_cjson(1000);
    ck_assert_ptr_nonnull(parse(text));
    const unsigned needed = 1000 - cjson_allowed;
    for (; count < needed; count++) {
        limit_cjson(count);
        ck_assert_int_eq(refusal(text, strlen(text)), POPRT_E_NOMEM);
        ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "no memory"));
        limit_cjson(count);
        ck_assert_int_eq(refusal("{\"a\":[1,]}", 10), POPRT_E_PARSE);
    }
    ck_assert_uint_gt(count, 10);
    limit_cjson(needed);
    ck_assert_ptr_nonnull(parse(text));
    cJSON_InitHooks(NULL);
}
END_TEST

/* cJSON parses every text that the checker accepts, tried for all texts of few characters. */
START_TEST(the_check_accepts_no_more_than_cjson)
{
    static const char alphabet[] = "[]{},:\"\\a/u0d8-.e1 n";
    static const char *const whole[] = { "null", "tru", "\"\\u12aF\"", "\"\\ud800\"",
        "\"\\ud83d\\ude00\"", "\"\\udc00\"", "-", "-0", "01", "1e", "1E+2", "[1 2]", "{\"a\" 1}",
        "{\"a\":}", "\"", "\"\\", "\"\\u12",
        "\x0b"
        "1" };
    char text[6];
    size_t accepted = 0;
    for (size_t i = 0; i < PRT_COUNT_OF(whole); i++)
        if (prt_json_is_wellformed(whole[i], strlen(whole[i])))
            ck_assert_msg(parse(whole[i]) != NULL, "%s", whole[i]);
    const size_t n = sizeof(alphabet) - 1;
    for (size_t size = 1; size <= 4; size++) {
        size_t most = 1;
        for (size_t i = 0; i < size; i++)
            most *= n;
        for (size_t k = 0; k < most; k++) {
            size_t rest = k;
            for (size_t i = 0; i < size; i++, rest /= n)
                text[i] = alphabet[rest % n];
            text[size] = '\0';
            if (!prt_json_is_wellformed(text, size))
                continue;
            accepted++;
            ck_assert_msg(parse(text) != NULL, "%s", text);
        }
        prt_arena_release(arena);
        arena = NULL;
    }
    ck_assert_uint_gt(accepted, 500);
}
END_TEST

PRT_TEST_MAIN("base/json", reads_every_kind, typed_reads_are_strict, last_of_equal_keys_counts,
    malformed_texts_are_refused, zero_characters_are_refused, depth_and_count_are_bounded,
    every_prefix_is_refused_or_read, a_small_arena_is_out_of_memory, writes_compact_and_pretty,
    invalid_utf8_is_replaced, doubles_come_back_in_any_locale, failing_hooks_are_out_of_memory,
    the_check_accepts_no_more_than_cjson)
