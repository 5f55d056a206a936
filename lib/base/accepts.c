/* SPDX-License-Identifier: MIT */
/* accepts.c — checks and describes the values that options accept. */
#include "base/accepts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A range "LOW..HIGH" or "LOW..", with an optional '>' before LOW. */
typedef struct range {
    double low, high; /* high: infinity if there is no maximum */
    bool above;       /* true: LOW itself is not accepted */
} range;

static range read_range(const char *text)
{
    range r = { .above = *text == '>', .low = -(double)INFINITY, .high = (double)INFINITY };
    if (*text != '\0')
        r.low = strtod(text + r.above, NULL);
    const char *dots = strstr(text, "..");
    if (dots != NULL && dots[2] != '\0')
        r.high = strtod(dots + 2, NULL);
    return r;
}

static bool in_range(const range *r, double value)
{
    return (r->above ? value > r->low : value >= r->low) && value <= r->high;
}

static bool is_bool(const char *text)
{
    static const char *const words[] = { "True", "true", "1", "False", "false", "0" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool is_int(const char *accepts, const char *text)
{
    const range r = read_range(accepts);
    char *end = NULL;
    if ((*text < '0' || *text > '9') && *text != '-')
        return false;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && in_range(&r, (double)number);
}

static bool is_real(const char *accepts, const char *text)
{
    const range r = read_range(accepts);
    char *end = NULL;
    const double number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(number) && in_range(&r, number);
}

typedef struct search {
    const char *word;
    bool found;
} search;

static void compare_word(void *user, const char *word, size_t size)
{
    search *s = user;
    s->found = s->found || (strlen(s->word) == size && memcmp(s->word, word, size) == 0);
}

void prt_accepts_each_word(const char *words,
    void (*visit)(void *user, const char *word, size_t size), void *user)
{
    while (*words != '\0') {
        const size_t n = strcspn(words, "|");
        visit(user, words, n);
        words += n + (words[n] == '|');
    }
}

/* Returns the text after the word `kind`, or NULL if the text does not begin with it. */
static const char *range_of(const char *accepts, const char *kind)
{
    const size_t size = strlen(kind);
    if (strncmp(accepts, kind, size) != 0 || (accepts[size] != ' ' && accepts[size] != '\0'))
        return NULL;
    return accepts + size + (accepts[size] == ' ');
}

bool prt_accepts_words(const char *accepts)
{
    return accepts != NULL && strcmp(accepts, "bool") != 0 && range_of(accepts, "int") == NULL &&
        range_of(accepts, "real") == NULL;
}

bool prt_accepts(const char *accepts, const char *text)
{
    search s = { .word = text };
    if (accepts == NULL)
        return true;
    if (strcmp(accepts, "bool") == 0)
        return is_bool(text);
    if (range_of(accepts, "int") != NULL)
        return is_int(range_of(accepts, "int"), text);
    if (range_of(accepts, "real") != NULL)
        return is_real(range_of(accepts, "real"), text);
    prt_accepts_each_word(accepts, compare_word, &s);
    return s.found;
}

/* Writes a list of words, separated by bars, as a list with commas. */
static void write_word_list(const char *words, char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "one of ");
    for (; *words != '\0' && used + 3 < size; words++)
        if (*words == '|') {
            to[used++] = ',';
            to[used++] = ' ';
        } else {
            to[used++] = *words;
        }
    to[used] = '\0';
}

void prt_accepts_describe(const char *accepts, char *to, size_t size)
{
    if (accepts == NULL || strcmp(accepts, "bool") == 0) {
        (void)snprintf(to, size, "%s", accepts == NULL ? "a text" : "True or False");
        return;
    }
    if (prt_accepts_words(accepts)) {
        write_word_list(accepts, to, size);
        return;
    }
    const char *whole = range_of(accepts, "int");
    const range r = read_range(whole != NULL ? whole : range_of(accepts, "real"));
    int n = snprintf(to, size, "%s", whole != NULL ? "a whole number" : "a number");
    if (isfinite(r.low))
        n += snprintf(to + n, size - (size_t)n, " %s %.15g", r.above ? "above" : "from", r.low);
    if (isfinite(r.high))
        (void)snprintf(to + n, size - (size_t)n, " to %.15g", r.high);
}
