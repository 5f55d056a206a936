/* SPDX-License-Identifier: MIT */
/* nearest.c — optimal string alignment distance over three rows of a bounded table. */
#define _POSIX_C_SOURCE 200809L
#include "base/nearest.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 64, KEEP = 3 };

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t distance(const char *a, const char *b)
{
    const size_t n = strnlen(a, MAX_WORD), m = strnlen(b, MAX_WORD);
    uint32_t rows[3][MAX_WORD + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *const row = rows[i % 3];
        const uint32_t *const above = rows[(i + 2) % 3];
        const uint32_t *const before = rows[(i + 1) % 3];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] =
                smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

static uint32_t rank(const char *word, const char *name)
{
    if (word[0] != '\0' && (strstr(name, word) != NULL || strstr(word, name) == word))
        return 1;
    return 2 * distance(word, name);
}

static void append(char *to, size_t size, const char *text)
{
    const size_t used = strlen(to);
    const size_t left = size - used - 1;
    const size_t n = strnlen(text, left);
    memcpy(to + used, text, n);
    to[used + n] = '\0';
}

void prt_nearest(const char *word, const char *const *names, size_t count, char *to, size_t size)
{
    if (size == 0)
        return;
    to[0] = '\0';
    size_t best[KEEP];
    uint32_t ranks[KEEP];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t r = rank(word, names[i]);
        size_t at = kept;
        while (at > 0 && ranks[at - 1] > r)
            at--;
        if (at == KEEP)
            continue;
        kept = kept < KEEP ? kept + 1 : KEEP;
        for (size_t j = kept - 1; j > at; j--) {
            best[j] = best[j - 1];
            ranks[j] = ranks[j - 1];
        }
        best[at] = i;
        ranks[at] = r;
    }
    for (size_t i = 0; i < kept; i++) {
        if (i > 0)
            append(to, size, ", ");
        append(to, size, names[best[i]]);
    }
}

poprt_status prt_fail_nearest(const char *name, const char *const *names, size_t count,
    const char *fmt, ...)
{
    char nearest[512], sentence[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(sentence, sizeof(sentence), fmt, args);
    va_end(args);
    prt_nearest(name, names, count, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_NOT_FOUND, name, "%s%s%s", sentence,
        nearest[0] != '\0' ? "; nearest: " : "", nearest);
}
