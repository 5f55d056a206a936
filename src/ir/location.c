/* SPDX-License-Identifier: MIT */
/* location.c — reads the places of nodes from their notes; see location.h. */
#include "ir/location.h"

#include <stdio.h>

#include "ir/extra.h"

/* A frame of a stack; data NULL: not found. */
typedef struct frame {
    prt_str file, line, function;
} frame;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static prt_str range(const char *begin, const char *end)
{
    return (prt_str){ begin, (uint32_t)(end - begin) };
}

static const char *find_text(const char *at, const char *end, const char *text)
{
    const size_t n = strlen(text);
    for (; (size_t)(end - at) >= n; at++)
        if (memcmp(at, text, n) == 0)
            return at;
    return NULL;
}

/* Reads digits and the text behind them. Returns NULL if there are no digits or another text. */
static const char *read_line_number(const char *at, const char *end, const char *behind,
    prt_str *line)
{
    const char *begin = at;
    const size_t n = strlen(behind);
    while (at < end && is_digit(*at))
        at++;
    *line = range(begin, at);
    return at != begin && (size_t)(end - at) >= n && memcmp(at, behind, n) == 0 ? at + n : NULL;
}

/* Reads a line of Python's traceback: File "model.py", line 12, in forward */
static bool read_traceback(const char *at, const char *end, frame *f)
{
    static const char open[] = "File \"", between[] = "\", line ";
    const char *file = find_text(at, end, open);
    const char *close = file != NULL ? find_text(file, end, between) : NULL;
    if (close == NULL)
        return false;
    f->file = range(file + sizeof(open) - 1, close);
    close += sizeof(between) - 1;
    const char *function = read_line_number(close, end, ", in ", &f->line);
    f->function = function != NULL ? range(function, end) : PRT_STR("");
    return f->line.size != 0;
}

/* Reads a line of PyTorch's doc strings: model.py(12): forward */
static bool read_doc_line(const char *at, const char *end, frame *f)
{
    for (const char *open = end; open > at; open--) {
        const char *function =
            open[-1] == '(' ? read_line_number(open, end, "): ", &f->line) : NULL;
        if (function == NULL)
            continue;
        f->file = range(at, open - 1);
        f->function = range(function, end);
        return f->file.size != 0;
    }
    return false;
}

static bool is_installed(const frame *f)
{
    const char *end = f->file.data + f->file.size;
    return find_text(f->file.data, end, "/site-packages/") != NULL ||
        find_text(f->file.data, end, "/dist-packages/") != NULL;
}

/* Finds the frame that counts. A traceback ends with the innermost frame, a doc string begins with
 * it. */
static bool find_frame(prt_str text, bool traceback, frame *found)
{
    const char *at = text.data, *const end = text.data + text.size;
    bool any = false, own = false;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        frame f = { .file = PRT_STR(""), .line = PRT_STR(""), .function = PRT_STR("") };
        stop = stop != NULL ? stop : end;
        if (traceback ? read_traceback(at, stop, &f) : read_doc_line(at, stop, &f)) {
            const bool mine = !is_installed(&f);
            const bool better = mine != own ? mine : traceback;
            if (!any || better)
                *found = f;
            any = true;
            own = own || mine;
        }
        at = stop + 1;
    }
    return any;
}

/* Prints "file:line, in function". Of a long file name the end is kept. */
static void print_frame(const frame *f, char *to)
{
    enum { MOST_FILE = 119, MOST_FUNCTION = 100, MOST_LINE = 10 };
    prt_str file = f->file;
    if (file.size > MOST_FILE)
        file = (prt_str){ file.data + file.size - MOST_FILE, MOST_FILE };
    const int line = (int)(f->line.size < MOST_LINE ? f->line.size : MOST_LINE);
    const int function = (int)(f->function.size < MOST_FUNCTION ? f->function.size : MOST_FUNCTION);
    const bool known = !(line == 1 && f->line.data[0] == '0');
    (void)snprintf(to, PRT_LOCATION_SIZE, "%.*s%s%.*s%s%.*s", PRT_STR_ARG(file), known ? ":" : "",
        known ? line : 0, f->line.data, function != 0 ? ", in " : "", function, f->function.data);
}

static void find_own(const prt_op *op, char *to)
{
    prt_str stack, doc, scope;
    frame f;
    to[0] = '\0';
    prt_op_notes(op, &stack, &doc, &scope);
    if (find_frame(stack, true, &f) || find_frame(doc, false, &f))
        print_frame(&f, to);
    else
        (void)snprintf(to, PRT_LOCATION_SIZE, "%.*s",
            (int)(scope.size < PRT_LOCATION_SIZE ? scope.size : PRT_LOCATION_SIZE - 1), scope.data);
    for (char *p = to; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
}

void prt_location_of_doc(prt_str doc, char to[PRT_LOCATION_SIZE])
{
    frame f;
    to[0] = '\0';
    if (find_frame(doc, false, &f))
        print_frame(&f, to);
}

/* Returns the place noted for a node, or for the first merged node that has one; or NULL. */
static const char *find_noted(const prt_map *noted, const prt_op *op)
{
    const char *text = prt_map_find(noted, prt_str_of(prt_op_label(op)));
    const char *at = op->merged.data, *const end = at + op->merged.size;
    while (text == NULL && at < end) {
        const char *stop = memchr(at, '+', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        text = prt_map_find(noted, range(at, stop));
        at = stop + 1;
    }
    return text;
}

void prt_op_location(const prt_op *op, char to[PRT_LOCATION_SIZE])
{
    const prt_map *noted = op->graph->module->locations;
    find_own(op, to);
    const char *text = to[0] == '\0' && noted != NULL ? find_noted(noted, op) : NULL;
    if (text != NULL)
        (void)snprintf(to, PRT_LOCATION_SIZE, "%s", text);
}

/* The readers of models bound the depth of the recursion. */
static poprt_status note_graph(prt_module *m, prt_map *to, const prt_graph *graph)
{
    char text[PRT_LOCATION_SIZE];
    prt_for_each_op (op, graph) {
        const prt_str label = prt_str_of(prt_op_label(op));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(note_graph(m, to, op->regions[i]));
        find_own(op, text);
        if (text[0] == '\0' || prt_map_find(to, label) != NULL)
            continue;
        const prt_str key = prt_module_str(m, label), value = prt_module_str(m, prt_str_of(text));
        if (key.data == NULL || value.data == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(to, key, (void *)(uintptr_t)value.data));
    }
    return POPRT_OK;
}

poprt_status prt_module_note_locations(prt_module *module)
{
    prt_map *map = PRT_NEW(module->arena, prt_map);
    if (map == NULL)
        return POPRT_E_NOMEM;
    *map = prt_map_in(module->arena);
    PRT_TRY(note_graph(module, map, module->main));
    module->locations = map;
    return POPRT_OK;
}
