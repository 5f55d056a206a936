/* SPDX-License-Identifier: MIT */
/*
 * check_main.h — makes a test file a program: a suite of the tests that it names. Check runs each
 * test in a separate process and prints a summary line.
 *
 *     START_TEST(something_holds)
 *     {
 *         ck_assert(…);
 *     }
 *     END_TEST
 *
 *     PRT_TEST_MAIN("base/str", something_holds)
 *
 * Every ck_assert writes to a pipe, so loops of millions count failures and assert once.
 */
#ifndef PRT_TESTS_SUPPORT_CHECK_MAIN_H
#define PRT_TESTS_SUPPORT_CHECK_MAIN_H

#include <check.h>
#include <stdlib.h>

/* Time limit of a test in seconds, also with sanitizers on a busy machine. */
#define PRT_TEST_TIMEOUT 240

#define PRT_TEST_MAIN(suite, ...)                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = { __VA_ARGS__ };                                              \
        return prt_check_main(suite, tests, sizeof(tests) / sizeof(tests[0]));                     \
    }

static inline int prt_check_main(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, PRT_TEST_TIMEOUT);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
