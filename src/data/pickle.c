/* SPDX-License-Identifier: MIT */
/*
 * pickle.c — a restricted reader of Python's pickles, protocols 2 to 5: a stack machine with a memo
 * that supports the opcodes of numbers, strings, containers and numpy's arrays. It refuses all
 * other opcodes by their code, and all globals except a few of numpy's by their name.
 *
 * The work is bounded by a small constant for each byte of the file: containers are shared and not
 * copied, and no value is traversed. Bytes are not copied from the file.
 */
#include "data/pickle.h"

enum {
    MEMO_GAP = 1024,    /* maximum distance of a new memo index from the others */
    MOST_DIGITS = 8,    /* bytes of the longest integer */
    MAX_GROWTH = 16,    /* array bytes for each byte of the file, and in addition */
    MIN_LIMIT = 1 << 26 /* array bytes of any file */
};

typedef struct machine {
    prt_arena *arena;
    const unsigned char *start, *at, *end;
    PRT_VEC(prt_pickled *) stack; /* NULL stands for a mark */
    PRT_VEC(prt_pickled *) memo;
    bool stopped;
} machine;

static poprt_status fail(const machine *m, const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "not a usable pickle: %s at byte %zu", what,
        (size_t)(m->at - m->start));
}

/* ---- bytes */

static poprt_status read_bytes(machine *m, uint64_t size, const unsigned char **out)
{
    if (size > (uint64_t)(m->end - m->at))
        return fail(m, "the data ends too early");
    *out = m->at;
    m->at += size;
    return POPRT_OK;
}

static poprt_status read_number(machine *m, uint32_t size, uint64_t *out)
{
    const unsigned char *p = NULL;
    PRT_TRY(read_bytes(m, size, &p));
    *out = 0;
    for (uint32_t i = size; i-- > 0;)
        *out = *out << 8 | p[i];
    return POPRT_OK;
}

/* ---- the stack */

static poprt_status push(machine *m, prt_pickled *value)
{
    return PRT_VEC_PUSH(m->arena, &m->stack, value) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status push_new(machine *m, int32_t kind, prt_pickled **out)
{
    prt_pickled *v = PRT_NEW(m->arena, prt_pickled);
    if (v == NULL)
        return POPRT_E_NOMEM;
    v->kind = kind;
    if (out != NULL)
        *out = v;
    return push(m, v);
}

static poprt_status push_number(machine *m, int64_t number)
{
    prt_pickled *v = NULL;
    PRT_TRY(push_new(m, PRT_PICKLED_NUMBER, &v));
    v->number = number;
    return POPRT_OK;
}

static poprt_status pop(machine *m, prt_pickled **out)
{
    if (m->stack.count == 0 || m->stack.data[m->stack.count - 1] == NULL)
        return fail(m, "the stack is empty");
    *out = m->stack.data[--m->stack.count];
    return POPRT_OK;
}

/* Returns the topmost value, which must have the given kind; it stays on the stack. */
static poprt_status top_of_kind(const machine *m, int32_t kind, prt_pickled **out)
{
    if (m->stack.count == 0 || m->stack.data[m->stack.count - 1] == NULL ||
        m->stack.data[m->stack.count - 1]->kind != kind)
        return fail(m, "another kind of value is on the stack");
    *out = m->stack.data[m->stack.count - 1];
    return POPRT_OK;
}

/* Finds the index of the first value above the topmost mark. */
static poprt_status find_mark(const machine *m, size_t *out)
{
    size_t i = m->stack.count;
    while (i > 0 && m->stack.data[i - 1] != NULL)
        i--;
    if (i == 0)
        return fail(m, "the stack has no mark");
    *out = i;
    return POPRT_OK;
}

static poprt_status add_items(machine *m, prt_pickled *to, size_t first)
{
    for (size_t i = first; i < m->stack.count; i++)
        if (!PRT_VEC_PUSH(m->arena, &to->items, m->stack.data[i]))
            return POPRT_E_NOMEM;
    return POPRT_OK;
}

/* Replaces the values from `first` on by one container; `mark`: and the mark below them. */
static poprt_status gather(machine *m, int32_t kind, size_t first, bool mark)
{
    prt_pickled *v = PRT_NEW(m->arena, prt_pickled);
    if (v == NULL)
        return POPRT_E_NOMEM;
    v->kind = kind;
    PRT_TRY(add_items(m, v, first));
    if (kind == PRT_PICKLED_DICT && v->items.count % 2 != 0)
        return fail(m, "a dict has a key without a value");
    m->stack.count = first - mark;
    return push(m, v);
}

static poprt_status gather_marked(machine *m, int32_t kind)
{
    size_t first = 0;
    PRT_TRY(find_mark(m, &first));
    return gather(m, kind, first, true);
}

static poprt_status gather_short_tuple(machine *m, size_t count)
{
    size_t i = m->stack.count;
    while (i > 0 && m->stack.count - i < count && m->stack.data[i - 1] != NULL)
        i--;
    if (m->stack.count - i != count)
        return fail(m, "the stack is too short for a tuple");
    return gather(m, PRT_PICKLED_TUPLE, i, false);
}

/* APPENDS and SETITEMS: move the values above the mark to the container below it. */
static poprt_status extend(machine *m, int32_t kind)
{
    size_t first = 0;
    prt_pickled *to = NULL;
    PRT_TRY(find_mark(m, &first));
    if (first < 2 || (to = m->stack.data[first - 2]) == NULL || to->kind != kind)
        return fail(m, "no container precedes the mark");
    if (kind == PRT_PICKLED_DICT && (m->stack.count - first) % 2 != 0)
        return fail(m, "a dict has a key without a value");
    PRT_TRY(add_items(m, to, first));
    m->stack.count = first - 1;
    return POPRT_OK;
}

static poprt_status append(machine *m, int32_t kind, size_t count)
{
    if (m->stack.count <= count)
        return fail(m, "the stack is too short");
    const size_t first = m->stack.count - count;
    prt_pickled *to = m->stack.data[first - 1];
    for (size_t i = first; i < m->stack.count; i++)
        if (m->stack.data[i] == NULL)
            return fail(m, "a mark lies between the items");
    if (to == NULL || to->kind != kind)
        return fail(m, "no container precedes the items");
    PRT_TRY(add_items(m, to, first));
    m->stack.count = first;
    return POPRT_OK;
}

/* ---- the memo */

static poprt_status store_memo(machine *m, uint64_t index)
{
    if (m->stack.count == 0 || m->stack.data[m->stack.count - 1] == NULL)
        return fail(m, "there is no value to store in the memo");
    if (index >= m->memo.count + MEMO_GAP)
        return fail(m, "a memo index is too large");
    while (m->memo.count <= index)
        if (!PRT_VEC_PUSH(m->arena, &m->memo, NULL))
            return POPRT_E_NOMEM;
    m->memo.data[index] = m->stack.data[m->stack.count - 1];
    return POPRT_OK;
}

static poprt_status push_memo(machine *m, uint64_t index)
{
    if (index >= m->memo.count || m->memo.data[index] == NULL)
        return fail(m, "the memo has no value at that index");
    return push(m, m->memo.data[index]);
}

/* ---- values */

/* Reads `width` bytes of length, then the text. */
static poprt_status push_text(machine *m, int32_t kind, uint32_t width)
{
    uint64_t size = 0;
    const unsigned char *p = NULL;
    prt_pickled *v = NULL;
    PRT_TRY(read_number(m, width, &size));
    PRT_TRY(read_bytes(m, size, &p));
    if (size > UINT32_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL, "the pickle has a string of more than 4 GiB");
    PRT_TRY(push_new(m, kind, &v));
    v->text = (prt_str){ (const char *)p, (uint32_t)size };
    return POPRT_OK;
}

static poprt_status push_long(machine *m, uint32_t width)
{
    uint64_t size = 0, bits = 0;
    const unsigned char *p = NULL;
    PRT_TRY(read_number(m, width, &size));
    if (size > MOST_DIGITS)
        return prt_fail(POPRT_E_LIMIT, NULL, "the pickle has a number of more than 64 bits");
    PRT_TRY(read_bytes(m, size, &p));
    for (uint64_t i = 0; i < size; i++)
        bits |= (uint64_t)p[i] << (8 * i);
    if (size != 0 && size < 8 && (p[size - 1] & 0x80) != 0)
        bits |= UINT64_MAX << (8 * size);
    return push_number(m, (int64_t)bits);
}

static poprt_status push_real(machine *m)
{
    const unsigned char *p = NULL;
    uint64_t bits = 0;
    prt_pickled *v = NULL;
    PRT_TRY(read_bytes(m, 8, &p));
    for (uint32_t i = 0; i < 8; i++)
        bits = bits << 8 | p[i];
    PRT_TRY(push_new(m, PRT_PICKLED_REAL, &v));
    memcpy(&v->real, &bits, sizeof(bits));
    return POPRT_OK;
}

/* ---- globals */

static poprt_status push_global(machine *m, prt_str module, prt_str name)
{
    int64_t global = 0;
    prt_pickled *v = NULL;
    PRT_TRY(prt_pickled_find_global(module, name, &global));
    PRT_TRY(push_new(m, PRT_PICKLED_GLOBAL, &v));
    v->number = global;
    return POPRT_OK;
}

static poprt_status read_line(machine *m, prt_str *out)
{
    const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (end == NULL || end - m->at > 1024)
        return fail(m, "a name does not end");
    *out = (prt_str){ (const char *)m->at, (uint32_t)(end - m->at) };
    m->at = end + 1;
    return POPRT_OK;
}

static poprt_status named_global(machine *m)
{
    prt_str module = { NULL, 0 }, name = { NULL, 0 };
    PRT_TRY(read_line(m, &module));
    PRT_TRY(read_line(m, &name));
    return push_global(m, module, name);
}

static poprt_status stacked_global(machine *m)
{
    prt_pickled *module = NULL, *name = NULL;
    PRT_TRY(pop(m, &name));
    PRT_TRY(pop(m, &module));
    if (name->kind != PRT_PICKLED_TEXT || module->kind != PRT_PICKLED_TEXT)
        return fail(m, "the name of a global is not text");
    return push_global(m, module->text, name->text);
}

static poprt_status reduce(machine *m)
{
    prt_pickled *args = NULL, *global = NULL, *made = NULL;
    PRT_TRY(pop(m, &args));
    PRT_TRY(pop(m, &global));
    if (global->kind != PRT_PICKLED_GLOBAL || args->kind != PRT_PICKLED_TUPLE)
        return fail(m, "the called value is not a known global");
    PRT_TRY(prt_pickled_call(m->arena, global->number, args, &made));
    return push(m, made);
}

static poprt_status build(machine *m)
{
    prt_pickled *state = NULL;
    PRT_TRY(pop(m, &state));
    if (m->stack.count == 0 || m->stack.data[m->stack.count - 1] == NULL)
        return fail(m, "no object precedes the state");
    return prt_pickled_build(m->stack.data[m->stack.count - 1], state);
}

/* ---- opcodes */

static poprt_status with_number(machine *m, uint32_t width,
    poprt_status (*what)(machine *m, uint64_t number))
{
    uint64_t number = 0;
    PRT_TRY(read_number(m, width, &number));
    return what(m, number);
}

static poprt_status push_unsigned(machine *m, uint64_t number)
{
    return push_number(m, (int64_t)number);
}

static poprt_status push_signed(machine *m, uint64_t number)
{
    return push_number(m, (int32_t)(uint32_t)number);
}

static poprt_status check_protocol(machine *m, uint64_t version)
{
    (void)m;
    return version >= 2 && version <= 5
        ? POPRT_OK
        : prt_fail(POPRT_E_VERSION, NULL, "protocol %llu of pickles is not known; 2 to 5 are",
              (unsigned long long)version);
}

static poprt_status check_frame(machine *m, uint64_t size)
{
    return size <= (uint64_t)(m->end - m->at) ? POPRT_OK : fail(m, "a frame exceeds the file");
}

static poprt_status refuse(const machine *m, unsigned char code)
{
    return prt_fail(POPRT_E_UNSUPPORTED, NULL,
        "opcode 0x%02x at byte %zu of the pickle is refused: only arrays, numbers, strings, lists, "
        "tuples and dicts are read",
        code, (size_t)(m->at - 1 - m->start));
}

/* Runs an opcode of constants, numbers and strings. */
static poprt_status step_value(machine *m, unsigned char code)
{
    switch (code) {
    case 'N':
        return push_new(m, PRT_PICKLED_NONE, NULL);
    case 0x88:
        return push_number(m, 1);
    case 0x89:
        return push_number(m, 0);
    case 'J':
        return with_number(m, 4, push_signed);
    case 'K':
        return with_number(m, 1, push_unsigned);
    case 'M':
        return with_number(m, 2, push_unsigned);
    case 0x8a:
        return push_long(m, 1);
    case 0x8b:
        return push_long(m, 4);
    case 'G':
        return push_real(m);
    case 'X':
        return push_text(m, PRT_PICKLED_TEXT, 4);
    case 0x8c:
        return push_text(m, PRT_PICKLED_TEXT, 1);
    case 0x8d:
        return push_text(m, PRT_PICKLED_TEXT, 8);
    case 'U':
    case 'C':
        return push_text(m, PRT_PICKLED_BYTES, 1);
    case 'T':
    case 'B':
        return push_text(m, PRT_PICKLED_BYTES, 4);
    case 0x8e:
    case 0x96:
        return push_text(m, PRT_PICKLED_BYTES, 8);
    default:
        return refuse(m, code);
    }
}

/* Runs an opcode of containers, the memo and globals. */
static poprt_status step(machine *m, unsigned char code)
{
    prt_pickled *v = NULL;
    switch (code) {
    case 0x80:
        return with_number(m, 1, check_protocol);
    case 0x95:
        return with_number(m, 8, check_frame);
    case '.':
        m->stopped = true;
        return POPRT_OK;
    case '(':
        return push(m, NULL);
    case '0':
        return pop(m, &v);
    case ')':
        return gather_short_tuple(m, 0);
    case 0x85:
        return gather_short_tuple(m, 1);
    case 0x86:
        return gather_short_tuple(m, 2);
    case 0x87:
        return gather_short_tuple(m, 3);
    case 't':
        return gather_marked(m, PRT_PICKLED_TUPLE);
    case ']':
        return push_new(m, PRT_PICKLED_LIST, NULL);
    case 'l':
        return gather_marked(m, PRT_PICKLED_LIST);
    case '}':
        return push_new(m, PRT_PICKLED_DICT, NULL);
    case 'd':
        return gather_marked(m, PRT_PICKLED_DICT);
    case 'a':
        return append(m, PRT_PICKLED_LIST, 1);
    case 'e':
        return extend(m, PRT_PICKLED_LIST);
    case 's':
        return append(m, PRT_PICKLED_DICT, 2);
    case 'u':
        return extend(m, PRT_PICKLED_DICT);
    case 'q':
        return with_number(m, 1, store_memo);
    case 'r':
        return with_number(m, 4, store_memo);
    case 0x94:
        return store_memo(m, m->memo.count);
    case 'h':
        return with_number(m, 1, push_memo);
    case 'j':
        return with_number(m, 4, push_memo);
    case 'c':
        return named_global(m);
    case 0x93:
        return stacked_global(m);
    case 'R':
        return reduce(m);
    case 'b':
        return build(m);
    default:
        return step_value(m, code);
    }
}

/* Adds the arrays of a dict. A few bytes may name one array many times, so their total is
 * bounded. */
static poprt_status add_arrays(prt_samples *s, const prt_pickled *dict, size_t bytes_left)
{
    for (size_t i = 0; i < dict->items.count; i += 2) {
        const prt_pickled *key = dict->items.data[i];
        prt_tensor t;
        if (key->kind != PRT_PICKLED_TEXT && key->kind != PRT_PICKLED_BYTES)
            return prt_fail(POPRT_E_PARSE, NULL, "a key of the pickled dict is not a string");
        const poprt_status status =
            prt_pickled_tensor(s->arena, dict->items.data[i + 1], &bytes_left, &t);
        if (status != POPRT_OK)
            return prt_fail_about(status, prt_arena_text(s->arena, key->text.data, key->text.size));
        PRT_TRY(prt_samples_add(s, key->text, &t));
    }
    return dict->items.count != 0 ? POPRT_OK
                                  : prt_fail(POPRT_E_NOT_FOUND, NULL, "the pickled dict is empty");
}

poprt_status prt_samples_read_pickle(prt_samples *s, prt_blob *bytes)
{
    machine m = { .arena = s->arena,
        .start = bytes->data,
        .at = bytes->data,
        .end = bytes->data + bytes->size };
    prt_pickled *dict = NULL;
    while (!m.stopped) {
        if (m.at == m.end)
            return fail(&m, "the data ends too early");
        PRT_TRY(step(&m, *m.at++));
    }
    if (top_of_kind(&m, PRT_PICKLED_DICT, &dict) != POPRT_OK)
        return prt_fail(POPRT_E_PARSE, NULL,
            "the pickle is not a dict of arrays by the names of inputs");
    const size_t most =
        bytes->size < SIZE_MAX / (2 * MAX_GROWTH) ? bytes->size * MAX_GROWTH + MIN_LIMIT : SIZE_MAX;
    return add_arrays(s, dict, most < prt_samples_bytes_left(s) ? most : prt_samples_bytes_left(s));
}
