/* SPDX-License-Identifier: MIT */
/*
 * libc_redirects.c — the functions that foreign decoders call in place of the C library's functions
 * to end a process, to print and to read the environment (names.txt). An assertion or a call of
 * exit, which damaged files may reach, ends only the decoding.
 */
#include <stdarg.h>
#include <stdio.h>

#include "image/heap.h"

_Noreturn void prt_image_exit(int status);
_Noreturn void prt_image_abort(void);
_Noreturn void prt_image_assert_fail(const char *what, const char *file, unsigned line,
    const char *function);
char *prt_image_getenv(const char *name);
int prt_image_fprintf(FILE *to, const char *format, ...);
int prt_image_fprintf_chk(FILE *to, int flag, const char *format, ...);
int prt_image_fputc(int c, FILE *to);
size_t prt_image_fwrite(const void *from, size_t size, size_t count, FILE *to);

/* The decoders refer to these variables in the object that holds them; no function uses their
 * value. */
extern FILE *const prt_image_stderr __attribute__((visibility("hidden")));
extern FILE *const prt_image_stdout __attribute__((visibility("hidden")));
FILE *const prt_image_stderr = NULL;
FILE *const prt_image_stdout = NULL;

void prt_image_exit(int status)
{
    (void)status;
    prt_image_abort();
}

void prt_image_abort(void)
{
    prt_image_escape(prt_fail(POPRT_E_PARSE, NULL, "the decoder aborted"));
}

void prt_image_assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
    (void)file;
    (void)line;
    prt_image_escape(prt_fail(POPRT_E_PARSE, NULL, "the decoder aborted: %s in %s", what,
        function != NULL ? function : "?"));
}

char *prt_image_getenv(const char *name)
{
    (void)name;
    return NULL;
}

int prt_image_fprintf(FILE *to, const char *format, ...)
{
    (void)to;
    (void)format;
    return 0;
}

int prt_image_fprintf_chk(FILE *to, int flag, const char *format, ...)
{
    (void)to;
    (void)flag;
    (void)format;
    return 0;
}

int prt_image_fputc(int c, FILE *to)
{
    (void)to;
    return c;
}

size_t prt_image_fwrite(const void *from, size_t size, size_t count, FILE *to)
{
    (void)from;
    (void)size;
    (void)to;
    return count;
}
