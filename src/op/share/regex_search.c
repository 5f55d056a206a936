/* SPDX-License-Identifier: MIT */
/*
 * regex_search.c — NFA simulation that records spans (Pike). The thread list is in order of
 * preference: a match ends the threads after it, and the first match that is left is the result.
 * Each thread carries its own row of positions, two for each span.
 */
#include "op/share/regex_code.h"

/* Adds the threads reachable from `pc` without consuming a character, preferred ones first.
 * `r->spans` are the positions recorded so far, and are the same on return. */
static void follow(prt_regex *r, int32_t pc, const prt_regex_place *place, size_t at, int32_t *list,
    size_t *rows, int32_t *count)
{
    const size_t width = 2 * (size_t)r->n_spans;
    int32_t depth = 0; /* each pc pushes at most one entry, and the stack has that capacity */
    r->todo[depth++] = (prt_regex_todo){ .pc = pc };
    while (depth > 0) {
        const prt_regex_todo next = r->todo[--depth];
        if (next.pc < 0)
            r->spans[next.bound] = next.position;
        for (pc = next.pc; pc >= 0 && r->seen[pc] != r->round;) {
            const prt_regex_code *c = &r->code[pc];
            r->seen[pc] = r->round;
            if (c->op == PRT_REGEX_SET || c->op == PRT_REGEX_MATCH) {
                memcpy(rows + (size_t)*count * width, r->spans, width * sizeof(size_t));
                list[(*count)++] = pc;
                break;
            }
            if (c->op == PRT_REGEX_SPLIT)
                r->todo[depth++] = (prt_regex_todo){ .pc = pc + c->y };
            if (c->op == PRT_REGEX_SAVE) {
                r->todo[depth++] = (prt_regex_todo){ -1, c->x, r->spans[c->x] };
                r->spans[c->x] = at;
            } else if (c->op >= PRT_REGEX_START && !prt_regex_holds((prt_regex_op)c->op, place)) {
                break;
            }
            pc += c->op == PRT_REGEX_SPLIT || c->op == PRT_REGEX_JUMP ? c->x : 1;
        }
    }
}

/* Starts a thread at byte `at`, after all others. */
static void start(prt_regex *r, const prt_regex_place *place, size_t at, int32_t *count)
{
    for (uint32_t i = 0; i < 2 * r->n_spans; i++)
        r->spans[i] = SIZE_MAX;
    r->spans[0] = at;
    follow(r, 0, place, at, r->now, r->spans_now, count);
}

/* Moves the threads over one character, which is invalid UTF-8 if not `valid`. A thread that has
 * matched writes its spans and ends the threads after it; returns true then. */
static bool step(prt_regex *r, int32_t n_now, uint32_t character, bool valid,
    const prt_regex_place *place, size_t at, size_t after, int32_t *n_next, prt_regex_span *spans)
{
    const size_t width = 2 * (size_t)r->n_spans;
    for (int32_t i = 0; i < n_now; i++) {
        const prt_regex_code *c = &r->code[r->now[i]];
        const size_t *row = r->spans_now + (size_t)i * width;
        if (c->op == PRT_REGEX_MATCH) {
            for (uint32_t k = 0; k < r->n_spans; k++)
                spans[k] = (prt_regex_span){ row[2 * k], row[2 * k + 1] };
            spans[0].end = at;
            return true;
        }
        if (!valid || !prt_regex_takes(r, c, character))
            continue;
        memcpy(r->spans, row, width * sizeof(size_t));
        follow(r, r->now[i] + 1, place, after, r->next, r->spans_next, n_next);
    }
    return false;
}

bool prt_regex_search(prt_regex *r, const char *text, size_t size, size_t from,
    prt_regex_span *spans)
{
    const char *end = text + size;
    prt_regex_place place = prt_regex_place_of(text, size, from);
    bool found = false;
    int32_t n_now = 0;
    r->round++;
    for (size_t at = from;;) {
        const char *next = text + at;
        int32_t n_next = 0;
        if (!found)
            start(r, &place, at, &n_now);
        if (n_now == 0 && found)
            return true;
        const uint32_t c = at < size ? prt_regex_decode(&next, end) : 0;
        const size_t after = (size_t)(next - text);
        const bool valid = at < size && (c != PRT_REGEX_NO_CHARACTER || after - at > 1);
        r->round++;
        place = prt_regex_place_of(text, size, after);
        if (step(r, n_now, c, valid, &place, at, after, &n_next, spans))
            found = true;
        if (at == size)
            return found;
        int32_t *list = r->now;
        size_t *rows = r->spans_now;
        r->now = r->next;
        r->next = list;
        r->spans_now = r->spans_next;
        r->spans_next = rows;
        n_now = n_next;
        at = after;
    }
}
