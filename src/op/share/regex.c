/* SPDX-License-Identifier: MIT */
/*
 * regex.c — compiles patterns to the code of an NFA (Thompson's construction), which regex_match.c
 * simulates character by character without backtracking.
 *
 * Jumps are relative, so a piece of code can be moved and copied: an operator inserts a split
 * before its operand, and {n,m} copies the operand several times. Open groups are kept on an
 * explicit stack, so nothing here is recursive. A split prefers its first target: one more round
 * for a greedy repetition, the end for a lazy one, and the first alternative.
 */
#include "op/share/regex_code.h"

/* The bits of flags, in the order of their letters in parse_flags. */
enum { FOLD = 1, LINES = 2, DOT_ALL = 4, LAZY = 8 };

typedef struct group {
    int32_t start, alternative; /* pcs of the start of the group and of its current alternative */
    /* linked list, through x, of jumps to the end of the group; -1 terminates it */
    int32_t jumps;
    uint32_t number; /* of a group whose span is recorded; 0: of any other */
    uint32_t flags;  /* of the code around the group */
} group;

typedef struct parser {
    prt_regex *r;
    const char *at, *end;
    group groups[PRT_REGEX_MAX_DEPTH];
    int32_t depth;
    int32_t atom; /* pc of the last operand; -1: no operand to repeat */
    uint32_t flags;
    size_t max_ranges;
    const char *why;
} parser;

static poprt_status bad(parser *p, poprt_status status, const char *why)
{
    p->why = why;
    return status;
}

/* ---- code ---- */

static poprt_status emit(parser *p, prt_regex_op op, int32_t x, int32_t y)
{
    if (p->r->n_code >= PRT_REGEX_MAX_CODE)
        return bad(p, POPRT_E_LIMIT, "the pattern is too large");
    p->r->code[p->r->n_code++] =
        (prt_regex_code){ .op = (uint8_t)op, .fold = (p->flags & FOLD) != 0, .x = x, .y = y };
    return POPRT_OK;
}

/* Inserts one instruction before `at` and moves the code after it. No code before `at` jumps
 * beyond it yet. */
static poprt_status insert_split(parser *p, int32_t at, int32_t x, int32_t y)
{
    PRT_TRY(emit(p, PRT_REGEX_SPLIT, 0, 0));
    memmove(&p->r->code[at + 1], &p->r->code[at],
        (size_t)(p->r->n_code - 1 - at) * sizeof(prt_regex_code));
    p->r->code[at] = (prt_regex_code){ .op = PRT_REGEX_SPLIT, .x = x, .y = y };
    return POPRT_OK;
}

static poprt_status add_range(parser *p, uint32_t first, uint32_t last)
{
    if ((size_t)p->r->n_ranges >= p->max_ranges)
        return bad(p, POPRT_E_LIMIT, "the pattern has too many ranges");
    p->r->ranges[p->r->n_ranges++] = (prt_regex_range){ first, last };
    return POPRT_OK;
}

/* ---- sets ---- */

/* Named sets: \d \w \s, and POSIX names in classes. Each is a list of pairs of first and last
 * character. */
static const struct {
    const char *name;
    const char *pairs;
} sets[] = {
    { "d", "09" },
    { "w", "09AZ__az" },
    { "s", "\t\n\f\r  " },
    { "alnum", "09AZaz" },
    { "alpha", "AZaz" },
    { "blank", "\t\t  " },
    { "digit", "09" },
    { "graph", "!~" },
    { "lower", "az" },
    { "print", " ~" },
    { "punct", "!/:@[`{~" },
    { "space", "\t\r  " },
    { "upper", "AZ" },
    { "word", "09AZ__az" },
    { "xdigit", "09AFaf" },
};

/* Adds the ranges of a set or, if `negated`, of all characters not in it. */
static poprt_status add_set(parser *p, size_t index, bool negated)
{
    uint32_t next = 0; /* first character not yet covered */
    const char *s = sets[index].pairs;
    /* without case, a set of one case stands for both */
    if (negated && (p->flags & FOLD) != 0 && (strcmp(s, "az") == 0 || strcmp(s, "AZ") == 0))
        s = "AZaz";
    for (; *s != '\0'; s += 2) {
        const uint32_t first = (unsigned char)s[0], last = (unsigned char)s[1];
        if (!negated)
            PRT_TRY(add_range(p, first, last));
        else if (first > next)
            PRT_TRY(add_range(p, next, first - 1));
        next = last + 1;
    }
    return negated ? add_range(p, next, UINT32_MAX) : POPRT_OK;
}

static size_t find_set(const char *name, size_t size)
{
    for (size_t i = 0; i < PRT_COUNT_OF(sets); i++)
        if (strlen(sets[i].name) == size && memcmp(sets[i].name, name, size) == 0)
            return i;
    return PRT_COUNT_OF(sets);
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses the rest of "\x": two digits, or any number in braces. */
static poprt_status parse_hex(parser *p, uint32_t *c)
{
    const bool braces = p->at < p->end && *p->at == '{';
    uint32_t value = 0, digits = 0;
    p->at += braces;
    for (; p->at < p->end && hex_of(*p->at) >= 0 && (braces || digits < 2); digits++, p->at++) {
        value = value * 16 + (uint32_t)hex_of(*p->at);
        if (value > 0x10ffff)
            return bad(p, POPRT_E_ARG, "\\x is above the last Unicode character, 10FFFF");
    }
    if (digits == 0 || (!braces && digits < 2) || (braces && (p->at == p->end || *p->at != '}')))
        return bad(p, POPRT_E_ARG, "\\x has no hexadecimal number");
    p->at += braces;
    *c = value;
    return POPRT_OK;
}

/* Parses the rest of an escape: one character into `c`, or a set (*is_set), whose ranges are
 * added. */
static poprt_status parse_escape(parser *p, uint32_t *c, bool *is_set)
{
    static const char letters[] = "ntrfva", meanings[] = "\n\t\r\f\v\a";
    *is_set = false;
    if (p->at == p->end)
        return bad(p, POPRT_E_ARG, "the pattern ends in a backslash");
    const char ch = *p->at;
    const char lower = (char)(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch);
    const char *letter = memchr(letters, ch, sizeof(letters) - 1);
    if (lower == 'd' || lower == 'w' || lower == 's') {
        p->at++;
        *is_set = true;
        return add_set(p, find_set(&lower, 1), lower != ch);
    }
    if (ch == 'x') {
        p->at++;
        return parse_hex(p, c);
    }
    if (letter != NULL) {
        p->at++;
        *c = (unsigned char)meanings[letter - letters];
        return POPRT_OK;
    }
    if (prt_regex_is_word((unsigned char)ch) && ch != '_')
        return bad(p, POPRT_E_UNSUPPORTED, "an escape sequence is not supported");
    *c = prt_regex_decode(&p->at, p->end);
    return POPRT_OK;
}

/* Parses "[:name:]" or "[:^name:]" inside a class. Returns false if the text is not of this
 * form. */
static bool parse_posix(parser *p, poprt_status *status)
{
    if (p->end - p->at < 4 || p->at[0] != '[' || p->at[1] != ':')
        return false;
    const bool negated = p->at[2] == '^';
    const char *name = p->at + 2 + negated, *stop = name;
    while (p->end - stop >= 2 && !(stop[0] == ':' && stop[1] == ']'))
        stop++;
    if (p->end - stop < 2)
        return false;
    const size_t set = find_set(name, (size_t)(stop - name));
    *status = set < PRT_COUNT_OF(sets)
        ? add_set(p, set, negated)
        : bad(p, POPRT_E_ARG, "a class name is not a POSIX class name");
    p->at = stop + 2;
    return true;
}

/* Parses one end of a range in a class. */
static poprt_status parse_member(parser *p, uint32_t *c, bool *is_set)
{
    *is_set = false;
    if (p->at == p->end)
        return bad(p, POPRT_E_ARG, "a class is not closed");
    if (*p->at != '\\') {
        *c = prt_regex_decode(&p->at, p->end);
        return POPRT_OK;
    }
    p->at++;
    return parse_escape(p, c, is_set);
}

/* Parses the rest of a class, after "[". */
static poprt_status parse_class(parser *p)
{
    const int32_t first_range = p->r->n_ranges;
    const bool negated = p->at < p->end && *p->at == '^';
    p->at += negated;
    for (bool first = true; p->at == p->end || *p->at != ']' || first; first = false) {
        uint32_t from = 0, to = 0;
        bool is_set;
        poprt_status status = POPRT_OK;
        if (parse_posix(p, &status)) {
            PRT_TRY(status);
            continue;
        }
        PRT_TRY(parse_member(p, &from, &is_set));
        if (is_set)
            continue;
        to = from;
        if (p->end - p->at >= 2 && p->at[0] == '-' && p->at[1] != ']') {
            p->at++;
            PRT_TRY(parse_member(p, &to, &is_set));
            if (is_set || to < from)
                return bad(p, POPRT_E_ARG, "a range in a class ends before it starts");
        }
        PRT_TRY(add_range(p, from, to));
    }
    p->at++;
    PRT_TRY(emit(p, PRT_REGEX_SET, first_range, p->r->n_ranges - first_range));
    p->r->code[p->r->n_code - 1].negated = negated;
    return POPRT_OK;
}

/* ---- repetition ---- */

static poprt_status copy_piece(parser *p, const prt_regex_code *piece, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        PRT_TRY(emit(p, PRT_REGEX_JUMP, 0, 0));
        p->r->code[p->r->n_code - 1] = piece[i];
    }
    return POPRT_OK;
}

/* Emits a split at `at`, before code that is there already, or at the end. */
static poprt_status split(parser *p, int32_t at, int32_t more, int32_t end, bool lazy)
{
    return insert_split(p, at, lazy ? end : more, lazy ? more : end);
}

/* Repeats the last operand `least` to `most` times; `most` -1: without limit. x* is (x+)?, so that
 * a round without characters ends the loop. */
static poprt_status repeat(parser *p, int32_t least, int32_t most, bool lazy)
{
    const int32_t at = p->atom, n = p->r->n_code - at;
    const int32_t copies = most < 0 ? (least > 0 ? least : 1) : most;
    if (copies > 0 && (n + 2) * (int64_t)copies > PRT_REGEX_MAX_CODE)
        return bad(p, POPRT_E_LIMIT, "the pattern is too large");
    /* The first copy is at `at`; a split in front of it moves it by one. */
    const int32_t optional = least == 0 && copies > 0;
    if (copies == 0)
        p->r->n_code = at;
    else if (optional != 0)
        PRT_TRY(split(p, at, 1, copies * (n + 1) + (most < 0), lazy));
    for (int32_t k = 1; k < copies; k++) {
        if (k >= least)
            PRT_TRY(split(p, p->r->n_code, 1, (copies - k) * (n + 1), lazy));
        PRT_TRY(copy_piece(p, &p->r->code[at + optional], n));
    }
    return most < 0 ? split(p, p->r->n_code, -n, 1, lazy) : POPRT_OK;
}

static bool parse_number(parser *p, int32_t *to)
{
    const char *start = p->at;
    *to = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        *to = *to > PRT_REGEX_MAX_REPEAT ? *to : *to * 10 + (*p->at - '0');
    return p->at > start;
}

/* Parses "{n}", "{n,}" or "{n,m}". Otherwise the brace is a literal, and `at` does not move. */
static bool parse_counts(parser *p, int32_t *least, int32_t *most)
{
    const char *start = p->at++;
    bool good = parse_number(p, least);
    *most = *least;
    if (good && p->at < p->end && *p->at == ',') {
        p->at++;
        if (!parse_number(p, most))
            *most = -1;
    }
    good = good && p->at < p->end && *p->at == '}';
    p->at = good ? p->at + 1 : start;
    return good;
}

/* Parses a repetition operator, if there is one. */
static poprt_status parse_repeat(parser *p, bool *found)
{
    int32_t least = 0, most = -1;
    *found = true;
    switch (*p->at) {
    case '*':
        p->at++;
        break;
    case '+':
        p->at++;
        least = 1;
        break;
    case '?':
        p->at++;
        most = 1;
        break;
    case '{':
        *found = parse_counts(p, &least, &most);
        break;
    default:
        *found = false;
    }
    if (!*found)
        return POPRT_OK;
    if (p->atom < 0)
        return bad(p, POPRT_E_ARG, "a repetition operator has no operand");
    if (least > PRT_REGEX_MAX_REPEAT || most > PRT_REGEX_MAX_REPEAT || (most >= 0 && most < least))
        return bad(p, POPRT_E_ARG, "a repetition count is above 1000, or below its minimum");
    const bool marked = p->at < p->end && *p->at == '?';
    p->at += marked;
    PRT_TRY(repeat(p, least, most, marked != ((p->flags & LAZY) != 0)));
    p->atom = -1;
    return POPRT_OK;
}

/* ---- groups ---- */

/* Parses the letters of flags that are set and, after a minus, of flags that are removed. */
static poprt_status parse_flags(parser *p, uint32_t *flags)
{
    static const char letters[] = "imsU";
    bool removed = false, minus = false; /* minus: the character before is one */
    for (; p->at < p->end; p->at++) {
        const char *letter = memchr(letters, *p->at, sizeof(letters) - 1);
        if (letter == NULL && (removed || *p->at != '-'))
            break;
        minus = letter == NULL;
        removed = removed || minus;
        const uint32_t bit = minus ? 0 : 1u << (letter - letters);
        *flags = removed ? *flags & ~bit : *flags | bit;
    }
    return minus ? bad(p, POPRT_E_ARG, "flags end in a minus") : POPRT_OK;
}

/* Parses the rest of "(?", up to the contents of the group or the end of flags without a group. */
static poprt_status parse_kind(parser *p, bool *named, bool *is_group)
{
    const char *stop = p->end - p->at > 2 && p->at[0] == 'P' && p->at[1] == '<'
        ? memchr(p->at, '>', (size_t)(p->end - p->at))
        : NULL;
    *named = stop != NULL;
    *is_group = true;
    if (stop != NULL) {
        p->at = stop + 1;
        return POPRT_OK;
    }
    PRT_TRY(parse_flags(p, &p->flags));
    if (p->at == p->end || (*p->at != ':' && *p->at != ')'))
        return bad(p, POPRT_E_UNSUPPORTED,
            "after (? only :, P<name> and the flags i, m, s and U are supported");
    *is_group = *p->at++ == ':';
    return POPRT_OK;
}

static poprt_status open_group(parser *p)
{
    const uint32_t flags = p->flags;
    bool counts = true, is_group = true; /* counts: the group has a number */
    if (p->depth == PRT_REGEX_MAX_DEPTH)
        return bad(p, POPRT_E_LIMIT, "groups are nested too deeply");
    if (p->at < p->end && *p->at == '?') {
        p->at++;
        PRT_TRY(parse_kind(p, &counts, &is_group));
    }
    if (!is_group)
        return POPRT_OK;
    p->r->n_groups += counts;
    const uint32_t number = counts && p->r->n_groups < p->r->n_spans ? p->r->n_groups : 0;
    group *g = &p->groups[p->depth++];
    *g = (group){ .start = p->r->n_code, .jumps = -1, .number = number, .flags = flags };
    if (number != 0)
        PRT_TRY(emit(p, PRT_REGEX_SAVE, (int32_t)(2 * number), 0));
    g->alternative = p->r->n_code;
    p->atom = -1;
    return POPRT_OK;
}

/* Parses "|": the code of the current alternative becomes one arm of a split. */
static poprt_status next_alternative(parser *p)
{
    group *g = &p->groups[p->depth - 1];
    const int32_t n = p->r->n_code - g->alternative;
    PRT_TRY(insert_split(p, g->alternative, 1, n + 2));
    PRT_TRY(emit(p, PRT_REGEX_JUMP, g->jumps, 0));
    g->jumps = p->r->n_code - 1;
    g->alternative = p->r->n_code;
    p->atom = -1;
    return POPRT_OK;
}

static poprt_status close_group(parser *p)
{
    const group *g = &p->groups[--p->depth];
    for (int32_t at = g->jumps; at >= 0;) {
        const int32_t before = p->r->code[at].x;
        p->r->code[at].x = p->r->n_code - at;
        at = before;
    }
    if (g->number != 0)
        PRT_TRY(emit(p, PRT_REGEX_SAVE, (int32_t)(2 * g->number + 1), 0));
    p->atom = g->start;
    p->flags = g->flags;
    return POPRT_OK;
}

/* ---- the pattern ---- */

static poprt_status parse_character(parser *p)
{
    p->atom = p->r->n_code;
    const uint32_t c = prt_regex_decode(&p->at, p->end);
    PRT_TRY(add_range(p, c, c));
    return emit(p, PRT_REGEX_SET, p->r->n_ranges - 1, 1);
}

static bool at_escape(const parser *p, char letter)
{
    return p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == letter;
}

/* Parses "\Q", characters without meaning, and "\E" or the end of the pattern. */
static poprt_status parse_quotation(parser *p)
{
    for (p->at += 2; p->at < p->end && !at_escape(p, 'E');)
        PRT_TRY(parse_character(p));
    p->at += p->at < p->end ? 2 : 0;
    return POPRT_OK;
}

static poprt_status parse_atom(parser *p)
{
    const char ch = *p->at;
    const int32_t first_range = p->r->n_ranges;
    uint32_t c = 0;
    bool is_set = false;
    p->atom = p->r->n_code;
    if (ch == '^' || ch == '$') {
        const bool lines = (p->flags & LINES) != 0;
        p->at++;
        return emit(p,
            ch == '^' ? (lines ? PRT_REGEX_LINE_START : PRT_REGEX_START)
                      : (lines ? PRT_REGEX_LINE_END : PRT_REGEX_END),
            0, 0);
    }
    if (ch == '[') {
        p->at++;
        return parse_class(p);
    }
    if (ch == '\\' && p->end - p->at >= 2 && strchr("AzbB", p->at[1]) != NULL && p->at[1] != '\0') {
        const char kind = p->at[1];
        p->at += 2;
        return emit(p,
            kind == 'A'       ? PRT_REGEX_START
                : kind == 'z' ? PRT_REGEX_END
                : kind == 'b' ? PRT_REGEX_WORD
                              : PRT_REGEX_NO_WORD,
            0, 0);
    }
    if (ch == '.') {
        p->at++;
        if ((p->flags & DOT_ALL) == 0)
            PRT_TRY(add_range(p, 0, '\n' - 1));
        PRT_TRY(add_range(p, (p->flags & DOT_ALL) != 0 ? 0 : '\n' + 1, UINT32_MAX));
    } else if (ch == '\\') {
        p->at++;
        PRT_TRY(parse_escape(p, &c, &is_set));
        if (!is_set)
            PRT_TRY(add_range(p, c, c));
    } else {
        return parse_character(p);
    }
    return emit(p, PRT_REGEX_SET, first_range, p->r->n_ranges - first_range);
}

static poprt_status parse(parser *p)
{
    p->groups[p->depth++] = (group){ .jumps = -1 };
    p->atom = -1;
    while (p->at < p->end) {
        bool repeated;
        PRT_TRY(parse_repeat(p, &repeated));
        if (repeated)
            continue;
        switch (*p->at) {
        case '(':
            p->at++;
            PRT_TRY(open_group(p));
            break;
        case ')':
            p->at++;
            if (p->depth < 2)
                return bad(p, POPRT_E_ARG, "a closing parenthesis has no opening one");
            PRT_TRY(close_group(p));
            break;
        case '|':
            p->at++;
            PRT_TRY(next_alternative(p));
            break;
        default:
            PRT_TRY(at_escape(p, 'Q') ? parse_quotation(p) : parse_atom(p));
        }
    }
    if (p->depth != 1)
        return bad(p, POPRT_E_ARG, "a group is not closed");
    PRT_TRY(close_group(p));
    return emit(p, PRT_REGEX_MATCH, 0, 0);
}

/* Allocates the memory of prt_regex_search, which depends on the size of the code. */
static poprt_status prepare_search(prt_regex *r, prt_regex_memory memory)
{
    const size_t n = (size_t)r->n_code;
    r->todo = memory.alloc(memory.user, (n + 1) * sizeof(*r->todo));
    /* a row for each thread of both lists, and one for the thread that is followed */
    r->spans_now = memory.alloc(memory.user, (2 * n + 1) * 2 * r->n_spans * sizeof(size_t));
    if (r->todo == NULL || r->spans_now == NULL)
        return POPRT_E_NOMEM;
    r->spans_next = r->spans_now + n * 2 * r->n_spans;
    r->spans = r->spans_next + n * 2 * r->n_spans;
    return POPRT_OK;
}

poprt_status prt_regex_create(prt_str pattern, uint32_t n_spans, prt_regex_memory memory,
    prt_regex **out, const char **why)
{
    /* A character of the pattern produces at most this many ranges (\W) and, before repetition,
     * three instructions. The code array has its maximum size, and the parser checks the limit. */
    enum { RANGES_PER_CHARACTER = 8 };
    const size_t max_ranges = ((size_t)pattern.size + 1) * RANGES_PER_CHARACTER;
    *why = "out of memory";
    prt_regex *r = memory.alloc(memory.user, sizeof(*r));
    parser *p = memory.alloc(memory.user, sizeof(*p));
    if (pattern.size > PRT_REGEX_MAX_CODE) {
        *why = "the pattern is too large";
        return POPRT_E_LIMIT;
    }
    if (r == NULL || p == NULL)
        return POPRT_E_NOMEM;
    *r = (prt_regex){ .n_spans = n_spans < PRT_REGEX_MAX_SPANS ? n_spans : PRT_REGEX_MAX_SPANS };
    r->code = memory.alloc(memory.user, PRT_REGEX_MAX_CODE * sizeof(prt_regex_code));
    r->ranges = memory.alloc(memory.user, max_ranges * sizeof(prt_regex_range));
    r->now = memory.alloc(memory.user, PRT_REGEX_MAX_CODE * 5 * sizeof(int32_t));
    r->seen = memory.alloc(memory.user, PRT_REGEX_MAX_CODE * sizeof(uint64_t));
    if (r->code == NULL || r->ranges == NULL || r->now == NULL || r->seen == NULL)
        return POPRT_E_NOMEM;
    r->next = r->now + PRT_REGEX_MAX_CODE;
    r->stack = r->next + PRT_REGEX_MAX_CODE;
    memset(r->seen, 0, PRT_REGEX_MAX_CODE * sizeof(uint64_t));
    *p = (parser){ .r = r, .at = pattern.data, .max_ranges = max_ranges };
    p->end = pattern.data != NULL ? pattern.data + pattern.size : NULL;
    const poprt_status status = parse(p);
    *why = p->why;
    *out = r;
    if (status != POPRT_OK || n_spans == 0)
        return status;
    *why = "out of memory";
    return prepare_search(r, memory);
}
