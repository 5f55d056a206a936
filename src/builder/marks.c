/* SPDX-License-Identifier: MIT */
/* marks.c — checks attributes with reserved names. */
#include <float.h>

#include "builder/builder.h"

typedef struct mark {
    const char *name, *words; /* words: accepted texts, or NULL */
    int32_t kind;
    double low, high;
} mark;

static const mark marks[] = {
#define MARK(name, kind, low, high)                                                                \
    { name, NULL, POPRT_ATTR_##kind, (double)(low), (double)(high) },
#define WORDS(name, words) { name, words, POPRT_ATTR_STRING, 0, 0 },
#include "builder/marks.def"
};

bool prt_builder_is_mark(prt_str name)
{
    return name.size > 2 && memcmp(name.data, "__", 2) == 0;
}

static const char *kind_name(int32_t kind)
{
    static const char *const names[] = { "?", "INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS",
        "TENSOR", "TYPE", "GRAPH" };
    return names[kind];
}

static bool has_word(const char *words, prt_str word)
{
    for (const char *at = words; *at != '\0';) {
        const size_t size = strcspn(at, "|");
        if (word.size == size && memcmp(at, word.data, size) == 0)
            return true;
        at += size + (at[size] != '\0');
    }
    return false;
}

static poprt_status check(const mark *m, const poprt_attr *a)
{
    if (a->kind != m->kind)
        return prt_fail(POPRT_E_TYPE, a->name, "the attribute is of kind %s, but must be %s",
            kind_name(a->kind), kind_name(m->kind));
    if (m->words != NULL && !has_word(m->words, (prt_str){ a->string, a->count }))
        return prt_fail(POPRT_E_ARG, a->name, "'%.*s': accepted are %s",
            a->count < 100 ? (int)a->count : 100, a->count != 0 ? a->string : "", m->words);
    const double low = m->low, high = m->high;
    if (a->kind == POPRT_ATTR_INT && ((double)a->integer < low || (double)a->integer > high))
        return prt_fail(POPRT_E_ARG, a->name, "%lld: must be from %.0f to %.0f",
            (long long)a->integer, low, high);
    /* The comparison is false for NaN. */
    if (a->kind == POPRT_ATTR_FLOAT && !((double)a->real >= low && (double)a->real < high))
        return prt_fail(POPRT_E_ARG, a->name, "%g: must be from %g to below %g", (double)a->real,
            low, high);
    return POPRT_OK;
}

poprt_status prt_builder_check_mark(const poprt_attr *attr)
{
    for (size_t i = 0; i < PRT_COUNT_OF(marks); i++)
        if (strcmp(marks[i].name, attr->name) == 0)
            return check(&marks[i], attr);
    return POPRT_OK;
}
