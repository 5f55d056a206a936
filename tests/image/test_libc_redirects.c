/* SPDX-License-Identifier: MIT */
/* test_libc_redirects.c — the functions that foreign decoders call in place of the C library's
 * functions: those that end the process end only the decoding, and the others print and read
 * nothing.
 * Covers: encoder_stubs.c. */
#include <stdio.h>
#include <string.h>

#include "image/heap.h"
#include "support/check_main.h"

_Noreturn void prt_image_exit(int status);
_Noreturn void prt_image_abort(void);
_Noreturn void prt_image_assert_fail(const char *what, const char *file, unsigned line,
    const char *function);
_Noreturn void prt_image_unused(void);
char *prt_image_getenv(const char *name);
int prt_image_fprintf(FILE *to, const char *format, ...);
int prt_image_fprintf_chk(FILE *to, int flag, const char *format, ...);
int prt_image_fputc(int c, FILE *to);
size_t prt_image_fwrite(const void *from, size_t size, size_t count, FILE *to);

static poprt_status exits(prt_image_context *context)
{
    (void)context;
    prt_image_exit(0);
}

static poprt_status aborts(prt_image_context *context)
{
    (void)context;
    prt_image_abort();
}

static poprt_status asserts(prt_image_context *context)
{
    (void)context;
    prt_image_assert_fail("n > 0", "jpc.c", 7, "read_tile");
}

static poprt_status asserts_outside_functions(prt_image_context *context)
{
    (void)context;
    prt_image_assert_fail("n > 0", "jpc.c", 7, NULL);
}

#if defined(PRT_IMAGE_HAS_JPEG) || defined(PRT_IMAGE_HAS_JP2) || defined(PRT_IMAGE_HAS_PNG) ||     \
    defined(PRT_IMAGE_HAS_WEBP)
#define HAS_FOREIGN_DECODERS
static poprt_status encodes(prt_image_context *context)
{
    (void)context;
    prt_image_unused();
}
#endif

static void ck_ends(prt_image_decoder decode, const char *message)
{
    prt_image_context context = { 0 };
    ck_assert_int_eq(prt_image_guard(&context, decode), POPRT_E_PARSE);
    ck_assert_str_eq(prt_error_last()->message, message);
}

START_TEST(ends_of_the_process_end_the_decoding)
{
    ck_ends(exits, "the decoder aborted");
    ck_ends(aborts, "the decoder aborted");
    ck_ends(asserts, "the decoder aborted: n > 0 in read_tile");
    ck_ends(asserts_outside_functions, "the decoder aborted: n > 0 in ?");
#ifdef HAS_FOREIGN_DECODERS
    ck_ends(encodes, "the decoder called an encoder");
#endif
}
END_TEST

static poprt_status fails_inside(prt_image_context *context)
{
    prt_image_context inner = { 0 };
    ck_assert_int_eq(prt_image_guard(&inner, aborts), POPRT_E_PARSE);
    (void)context;
    return POPRT_E_LIMIT;
}

START_TEST(a_decoder_in_a_decoder_ends_alone)
{
    prt_image_context context = { 0 };
    ck_assert_int_eq(prt_image_guard(&context, fails_inside), POPRT_E_LIMIT);
}
END_TEST

START_TEST(streams_and_environment_are_empty)
{
    ck_assert_ptr_null(prt_image_getenv("PATH"));
    ck_assert_int_eq(prt_image_fprintf(NULL, "%d", 5), 0);
    ck_assert_int_eq(prt_image_fprintf_chk(NULL, 1, "%d", 5), 0);
    ck_assert_int_eq(prt_image_fputc('a', NULL), 'a');
    ck_assert_uint_eq(prt_image_fwrite("abc", 1, 3, NULL), 3);
}
END_TEST

PRT_TEST_MAIN("image/libc_redirects", ends_of_the_process_end_the_decoding,
    a_decoder_in_a_decoder_ends_alone, streams_and_environment_are_empty)
