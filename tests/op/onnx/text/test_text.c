/* SPDX-License-Identifier: MIT */
/* test_text.c — strings and n-grams: other scripts, empty pieces, hostile pools.
 * Covers: tfidf.c, regex_full_match.c, regex.c, regex_match.c, letter_case.c. */
#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(string_concat_broadcasts)
{
    ck_assert_str_eq(op_value("x = const string[2,1] {a,b}\ny = const string[2] {c,\"\"}\n"
                              "z = string_concat x y\nreturn z\n"),
        "string[2,2]: 'ac' 'a' 'bc' 'b'");
    ck_assert_str_eq(op_value("x = const string[0] {}\ny = const string[] {c}\n"
                              "z = string_concat x y\nreturn z\n"),
        "string[0]:");
}
END_TEST

START_TEST(string_split_follows_its_delimiter)
{
    ck_assert_str_eq(op_value("x = const string[2] {\"a,,b\",c}\n"
                              "y, n = string_split x {delimiter=\",\"}\nreturn y, n\n"),
        "string[2,3]: 'a' '' 'b' 'c' '' ''");
    ck_assert_str_eq(op_value("x = const string[1] {\"  a  b c \"}\n"
                              "y, n = string_split x {maxsplit=1}\nreturn y, n\n"),
        "string[1,2]: 'a' 'b c '");
    ck_assert_str_eq(op_value("x = const string[2] {\"\",\" \"}\ny, n = string_split x\n"
                              "return n, y\n"),
        "i64[2]: 0 0");
    ck_assert_str_eq(op_value("x = const string[1] {\"\"}\n"
                              "y, n = string_split x {delimiter=\"--\"}\nreturn n, y\n"),
        "i64[1]: 1");
    ck_assert_str_eq(op_value("x = const string[0,2] {}\ny, n = string_split x\nreturn y, n\n"),
        "string[0,2,0]:");
}
END_TEST

START_TEST(normalizer_folds_case_and_drops_stopwords)
{
    ck_assert_str_eq(op_value("x = const string[3] {Monday,\"Stra\xc3\x9f"
                              "e \xc3\x84\",x}\n"
                              "y = string_normalizer x {case_change_action=LOWER, "
                              "stopwords=[monday]}\nreturn y\n"),
        "string[2]: 'stra\xc3\x9f"
        "e \xc3\xa4' 'x'");
    ck_assert_str_eq(op_value("x = const string[1,2] {\"\xd0\xb6\xff\",\"\xce\xac\"}\n"
                              "y = string_normalizer x {case_change_action=UPPER}\nreturn y\n"),
        "string[1,2]: '\xd0\x96\xff' '\xce\x86'");
    ck_assert_str_eq(op_value("x = const string[1] {a}\n"
                              "y = string_normalizer x {is_case_sensitive=1, stopwords=[a]}\n"
                              "return y\n"),
        "string[1]: ''");
    ck_assert_str_eq(op_status("x = const string[2,1] {a,b}\ny = string_normalizer x\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const string[1] {a}\n"
                               "y = string_normalizer x {case_change_action=TITLE}\nreturn y\n"),
        "POPRT_E_ARG");
}
END_TEST

#define GRAMS(counts, indexes, more)                                                               \
    "x = const i64[5] {1,2,3,2,1}\ny = tf_idf_vectorizer x {mode=TF, min_gram_length=1, "          \
    "max_gram_length=2, max_skip_count=9223372036854775807, ngram_counts=[" counts                 \
    "], ngram_indexes=[" indexes "], pool_int64s=[1,2,1,3,2,1]" more "}\nreturn y\n"

START_TEST(tf_idf_counts_ngrams)
{
    ck_assert_str_eq(op_value(GRAMS("0,2", "1,0,2,3", "")), "f32[4]: 2 2 1 2");
    ck_assert_str_eq(op_value("x = const string[2,2] {a,b,b,a}\ny = tf_idf_vectorizer x {mode=IDF, "
                              "min_gram_length=2, max_gram_length=2, max_skip_count=0, "
                              "ngram_counts=[0,0], ngram_indexes=[0], pool_strings=[a,b], "
                              "weights=[2.5]}\nreturn y\n"),
        "f32[2,1]: 2.5 0");
    ck_assert_str_eq(op_status(GRAMS("0,7", "0,1,2,3", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(GRAMS("2,0", "0,1,2,3", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(GRAMS("0,3", "0,1,2,3", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(GRAMS("0,2", "0,1,2", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(GRAMS("0,2", "0,1,2,-1", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(GRAMS("0", "0,1,2,3", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(GRAMS("0,2", "0,1,2,3", ", weights=[1]")), "POPRT_E_ARG");
}
END_TEST

#define MATCH(text, pattern)                                                                       \
    "x = const string[1] {\"" text "\"}\ny = regex_full_match x {pattern=\"" pattern               \
    "\"}\nreturn y\n"

START_TEST(regular_expressions_match_in_full)
{
    static const struct {
        const char *graph, *value;
    } cases[] = {
        { MATCH("aab", "a*b"), "bool[1]: 1" },
        { MATCH("aabc", "a*b"), "bool[1]: 0" },
        { MATCH("", "(a|b|)*"), "bool[1]: 1" },
        { MATCH("abab", "(?P<n>ab){2,3}"), "bool[1]: 1" },
        { MATCH("ab", "(?:ab){2,3}?"), "bool[1]: 0" },
        { MATCH("x-9", "[^a-c][-x][[:digit:]]"), "bool[1]: 1" },
        { MATCH("\xc3\xa9", "."), "bool[1]: 1" },
        { MATCH("a b", "^a$| a|a.+$"), "bool[1]: 1" },
        { MATCH("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "(a+)+x"), "bool[1]: 0" },
        { MATCH("a{", "a{"), "bool[1]: 1" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(op_value(cases[i].graph), cases[i].value);
    ck_assert_str_eq(op_status(MATCH("", "(a")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(MATCH("", "a**")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(MATCH("", "[b-a]")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(MATCH("", "(?=a)")), "POPRT_E_UNSUPPORTED");
    ck_assert_str_eq(op_status(MATCH("", "(?i")), "POPRT_E_UNSUPPORTED");
    ck_assert_str_eq(op_status(MATCH("", "(?i-)a")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(MATCH("", "((a{1000}){1000}){1000}")), "POPRT_E_LIMIT");
}
END_TEST

PRT_TEST_MAIN("op/text", string_concat_broadcasts, string_split_follows_its_delimiter,
    normalizer_folds_case_and_drops_stopwords, tf_idf_counts_ngrams,
    regular_expressions_match_in_full)
