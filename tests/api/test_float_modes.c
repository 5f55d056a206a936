/* SPDX-License-Identifier: MIT */
/*
 * test_float_modes.c — calls leave the floating-point modes of the calling thread as they are:
 * rounding, trapped exceptions and, on x86, flushing of denormals (poprt/base.h).
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <glob.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "model_calls.h"

/* The modes of the thread, without the flags of exceptions that were raised. */
static unsigned modes(void)
{
    unsigned control = 0;
#ifdef __SSE__
    control = _mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK;
#endif
#ifdef __GLIBC__
    control = control * 64 + (unsigned)fegetexcept();
#endif
    return control * 4096 + (unsigned)fegetround();
}

static void check_models(uint32_t threads)
{
    glob_t found;
    const poprt_env_options options = { .struct_size = sizeof(options), .threads = threads };
    ck_assert_int_eq(glob(PRT_TEST_DATA "/*/model.onnx", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        model_calls m = { .path = found.gl_pathv[i] };
        ck_assert_ok(poprt_env_create(&options, &m.env));
        for (m.step = STEP_LOAD; m.step < STEPS; m.step++) {
            model_prepare(&m);
            const unsigned before = modes();
            (void)model_call(&m);
            ck_assert_msg(modes() == before, "%s: step %d changes the modes", m.path, m.step);
            ck_assert_msg(m.status == POPRT_OK || m.step == STEP_RUN, "%s: step %d: %s", m.path,
                m.step, poprt_last_error()->message);
        }
        model_release(&m);
    }
    globfree(&found);
}

START_TEST(default_modes_are_left_alone)
{
    check_models(1);
    check_models(2);
}
END_TEST

START_TEST(modes_of_the_host_are_left_alone)
{
    ck_assert_int_eq(fesetround(FE_UPWARD), 0);
#ifdef __SSE__
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
    const unsigned own = modes();
    check_models(1);
    ck_assert_uint_eq(modes(), own);
    ck_assert_int_eq(fegetround(), FE_UPWARD);
}
END_TEST

PRT_TEST_MAIN("api/float_modes", default_modes_are_left_alone, modes_of_the_host_are_left_alone)
