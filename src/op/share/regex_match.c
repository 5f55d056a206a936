/* SPDX-License-Identifier: MIT */
/*
 * regex_match.c — NFA simulation with thread lists (Pike). Each thread is a pc; all consume the
 * same character, and no pc is in a list twice. A character therefore costs at most the size of the
 * code.
 */
#include "op/share/letter_case.h"
#include "op/share/regex_code.h"

/* ---- characters ---- */

uint32_t prt_regex_decode(const char **at, const char *end)
{
    const unsigned char a = (unsigned char)*(*at)++;
    const uint32_t more =
        a < 0xc2 || a >= 0xf5 ? 0 : 1 + (uint32_t)(a >= 0xe0) + (uint32_t)(a >= 0xf0);
    if (a < 0x80)
        return a;
    if (more == 0 || (size_t)(end - *at) < more)
        return PRT_REGEX_NO_CHARACTER;
    uint32_t c = a & (0x3fu >> more);
    for (uint32_t i = 0; i < more; i++) {
        const unsigned char b = (unsigned char)(*at)[i];
        if ((b & 0xc0) != 0x80)
            return PRT_REGEX_NO_CHARACTER;
        c = c << 6 | (b & 0x3fu);
    }
    *at += more;
    return c;
}

bool prt_regex_is_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- matching ---- */

prt_regex_place prt_regex_place_of(const char *text, size_t size, size_t at)
{
    const char *peek = text + at;
    prt_regex_place place = { .start = at == 0, .end = at == size };
    place.line_start = at == 0 || text[at - 1] == '\n';
    place.line_end = at == size || text[at] == '\n';
    place.word_before = at > 0 && prt_regex_is_word((unsigned char)text[at - 1]);
    place.word_after = at < size && prt_regex_is_word(prt_regex_decode(&peek, text + size));
    return place;
}

bool prt_regex_holds(prt_regex_op op, const prt_regex_place *at)
{
    const bool edge = at->word_before != at->word_after;
    switch (op) {
    case PRT_REGEX_START:
        return at->start;
    case PRT_REGEX_END:
        return at->end;
    case PRT_REGEX_LINE_START:
        return at->line_start;
    case PRT_REGEX_LINE_END:
        return at->line_end;
    case PRT_REGEX_WORD:
        return edge;
    default:
        return !edge;
    }
}

/* Adds `pc` and all pcs reachable from it without consuming a character. Returns true if MATCH
 * is one of them. */
static bool follow(prt_regex *r, int32_t pc, const prt_regex_place *at, int32_t *list,
    int32_t *count)
{
    int32_t depth = 0; /* each pc pushes at most two entries, and the stack has that capacity */
    bool matched = false;
    r->stack[depth++] = pc;
    while (depth > 0) {
        pc = r->stack[--depth];
        if (r->seen[pc] == r->round)
            continue;
        r->seen[pc] = r->round;
        const prt_regex_code *c = &r->code[pc];
        int32_t go[2] = { 0, 0 };
        if (c->op == PRT_REGEX_SET)
            list[(*count)++] = pc;
        else if (c->op == PRT_REGEX_MATCH)
            matched = true;
        else if (c->op == PRT_REGEX_SPLIT || c->op == PRT_REGEX_JUMP)
            go[0] = c->x;
        else if (c->op == PRT_REGEX_SAVE || prt_regex_holds((prt_regex_op)c->op, at))
            go[0] = 1;
        if (c->op == PRT_REGEX_SPLIT)
            go[1] = c->y;
        for (uint32_t i = 0; i < 2; i++)
            if (go[i] != 0 && r->seen[pc + go[i]] != r->round)
                r->stack[depth++] = pc + go[i];
    }
    return matched;
}

static bool in_ranges(const prt_regex *r, const prt_regex_code *c, uint32_t character)
{
    for (int32_t i = c->x; i < c->x + c->y; i++)
        if (character >= r->ranges[i].first && character <= r->ranges[i].last)
            return true;
    return false;
}

bool prt_regex_takes(const prt_regex *r, const prt_regex_code *c, uint32_t character)
{
    const bool member = in_ranges(r, c, character) ||
        (c->fold &&
            (in_ranges(r, c, prt_lower_case(character)) ||
                in_ranges(r, c, prt_upper_case(character))));
    return member != c->negated;
}

size_t prt_regex_longest(prt_regex *r, const char *text, size_t size, size_t from)
{
    const char *at = text + from, *end = text + size;
    prt_regex_place here = prt_regex_place_of(text, size, from);
    int32_t n_now = 0;
    r->round++;
    size_t longest = follow(r, 0, &here, r->now, &n_now) ? from : SIZE_MAX;
    while (at < end && n_now > 0) {
        const uint32_t c = prt_regex_decode(&at, end);
        int32_t n_next = 0;
        here = prt_regex_place_of(text, size, (size_t)(at - text));
        r->round++;
        for (int32_t i = 0; i < n_now; i++)
            if (prt_regex_takes(r, &r->code[r->now[i]], c) &&
                follow(r, r->now[i] + 1, &here, r->next, &n_next))
                longest = (size_t)(at - text);
        int32_t *swap = r->now;
        r->now = r->next;
        r->next = swap;
        n_now = n_next;
    }
    return longest;
}

bool prt_regex_matches(prt_regex *r, const char *text, size_t size)
{
    return prt_regex_longest(r, text, size, 0) == size;
}

uint32_t prt_regex_groups(const prt_regex *r)
{
    return r->n_groups;
}
